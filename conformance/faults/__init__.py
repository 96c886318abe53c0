"""Chapter 10: what a user sees when something goes wrong, and what is left behind."""
