"""Chapter 12: a training loop, around a loader that is known to be right."""
