"""Graphs of pipes, read by workers and ranks."""
