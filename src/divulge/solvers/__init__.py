"""The solvers of others, each by one typed door: what they do is charged as counted effort."""
