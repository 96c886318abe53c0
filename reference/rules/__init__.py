"""Arithmetic, partition, shuffle and splitting: pure functions that follow the clauses."""
