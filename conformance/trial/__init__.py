"""One run: what is tried, judged, made small and told."""
