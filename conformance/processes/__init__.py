"""Where adapters run."""
