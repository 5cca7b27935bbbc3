"""Matching knowledge about events against a protected release."""
