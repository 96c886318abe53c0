"""One program started as several instances."""
