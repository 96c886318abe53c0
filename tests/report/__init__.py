"""Tests of what a run shows: the failure block, the table, JSON, and the reproduction script."""
