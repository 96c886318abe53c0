"""Chapter 11, reach: ranks with equal steps, samples that are drawn, loaders of one process, epochs without end."""
