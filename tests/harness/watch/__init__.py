"""Tests of `watch` and `check`: jobs of a few lines, and what is said of them."""
