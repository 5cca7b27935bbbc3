"""Dates and times in files: how they are written, and which way a column has."""
