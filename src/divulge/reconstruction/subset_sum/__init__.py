"""Subset sums of one bin: which sets of packages make its totals, and how many to expect."""
