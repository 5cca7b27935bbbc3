"""Allocations as exact covers by listed sets."""
