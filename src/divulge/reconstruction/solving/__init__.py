"""One instance: the ladder of methods, and totals that do not match the records."""
