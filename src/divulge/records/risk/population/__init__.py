"""Risk against a population: estimated from a sample, or by a list of who is in it."""
