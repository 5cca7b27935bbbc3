"""Sweeps that an engine counts: set by set in SQL, or all sets in portions that the cube walks."""
