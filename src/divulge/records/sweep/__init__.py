"""All sets of quasi-identifiers: a cube of subsets, walked once."""
