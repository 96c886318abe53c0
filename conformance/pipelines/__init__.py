"""Chapter 8: what becomes of a graph of pipes in workers and ranks."""
