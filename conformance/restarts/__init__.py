"""Chapter 9: what comes after a checkpoint."""
