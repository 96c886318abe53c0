"""The museum: loaders with one fault each, and the correct one that they differ from."""
