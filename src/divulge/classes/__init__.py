"""Equivalence classes of records: who looks like whom, under which reading of a missing value."""
