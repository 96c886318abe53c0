"""Many loaders judged side by side."""
