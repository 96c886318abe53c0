"""Chapter 6: what a step is used for."""
