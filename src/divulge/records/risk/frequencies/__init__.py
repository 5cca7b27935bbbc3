"""Frequencies of combinations of quasi-identifiers: who looks like whom, and how many do."""
