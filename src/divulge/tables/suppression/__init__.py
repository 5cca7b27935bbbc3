"""Choosing the cells to suppress: the problem, cuts, branching, heuristics, ties."""
