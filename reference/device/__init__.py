"""The emulated device: models that run replicated, and what a call returns."""
