"""Limits as protection sees them: the risk of every record, and which records exceed the bound."""
