"""Resistance to refilling: which published columns reveal values, and which records are at risk."""
