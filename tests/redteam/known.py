"""Seeds that were found: refuted and not yet mended, or mended and kept."""

from __future__ import annotations

_BY_WEIGHT = "a region that was recoded is read from a weight, which few records bear out"
_BY_REVISION = "a smaller revision beside what it revises lets who knows the rest infer a job"

KNOWN: dict[int, str] = {
    20184: _BY_WEIGHT,
    20302: _BY_WEIGHT,
    20390: _BY_REVISION,
    20444: _BY_WEIGHT,
    20510: _BY_REVISION,
    20675: _BY_WEIGHT,
    20865: _BY_WEIGHT,
}
"""Releases that pass and are refuted, each with the reason why that is not mended yet."""

FOUND: tuple[int, ...] = (27, 30, 38, 39, 687, 1214, 7165, 7203)
"""Seeds that were refuted once, and are mended. In most of them hidden cells were read by relations
that the attack had too few cells to believe, until the truth told it which of them hold; in the sixth
a recoded date was hidden that no shown record has; in the seventh a revision hid that a value was
absent, which the protection that it revises had shown; in the last an adversary's limit was judged
after refilling as if they did not know their victim."""
