"""Chapter 11, what goes together: batches of chosen members, shuffled streams, subsets and mixtures."""
