"""Chapter 5: what a loader may do before it is asked."""
