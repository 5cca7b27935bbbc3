"""How large matrices may be that a user gives; `kernels.py` says when it pays to compile."""

from __future__ import annotations

LARGEST_GAIN_MATRIX = 10_000_000
"""Cells of an explicit matrix of guesses and secrets, 80 MB: with more it is no sensible way to
write a gain. Chosen by hand; no benchmark isolates it."""

MAX_UNUSED_CODES = 10_000_000
"""Codes beyond a hundred a record that may stay unused before they are taken for ids and refused:
it bounds memory for empty rows and columns. Chosen by hand; no benchmark isolates it."""
