"""Chapter 4, what a loader has lived through, together with whatever else the other chapters ask of it."""
