"""Which sets of packages make the sums of one bin: listed, counted in advance, asked for."""
