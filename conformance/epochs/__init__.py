"""Chapters 1 to 3: how many samples and steps there are, which samples each rank gets, and in which order."""
