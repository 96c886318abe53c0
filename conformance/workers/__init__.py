"""Chapter 4: what worker processes may change, and what a user may rely on."""
