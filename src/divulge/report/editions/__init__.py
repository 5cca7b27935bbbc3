"""Editions of a result for people outside: what everybody may be told, and a certificate."""
