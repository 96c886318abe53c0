"""Tests of the suite by what it must catch, and by what it must not accuse."""
