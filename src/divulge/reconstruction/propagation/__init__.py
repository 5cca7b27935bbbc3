"""Constraint propagation: what is excluded without any search."""
