"""Exact cover: allocations that are made of listed sets, one for each bin."""
