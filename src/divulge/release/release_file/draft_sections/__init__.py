"""The sections of a drafted release file: datasets, hierarchies, adversaries with their limits."""
