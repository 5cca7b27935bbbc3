"""Attacks on data that were protected, by somebody who knows the originals."""
