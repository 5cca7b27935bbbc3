"""Search of the lattice of levels: the provably best, in the order of loss, or the best found."""
