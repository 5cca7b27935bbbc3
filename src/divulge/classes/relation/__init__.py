"""Equivalence classes counted by an engine, where the records are."""
