"""What a loader is asked for, and how it is read."""
