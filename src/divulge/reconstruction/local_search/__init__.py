"""Other allocations from one that is known: proofs that a pair is possible."""
