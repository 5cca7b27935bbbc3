"""Matching knowledge about events against the data themselves."""
