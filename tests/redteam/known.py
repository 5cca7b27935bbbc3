"""Seeds that were found: refuted and not yet mended, or mended and kept."""

from __future__ import annotations

KNOWN: dict[int, str] = {}
"""Releases that pass and are refuted, each with the reason why that is not mended yet."""

FOUND: tuple[int, ...] = (27, 30, 38, 39)
"""Seeds that were refuted once, and are mended: hidden cells were read by relations that the attack
had too few cells to believe, until the truth told it which of them hold."""
