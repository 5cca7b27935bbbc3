"""Seeds that were found: refuted and not yet mended, or mended and kept.

Under `KNOWN` are releases that pass and that an attacker refutes who believes a relation between
columns on 30 to 72 cells without an exception (age and year of birth, postcode and region) and is
right. The refill attack of the product asks for more evidence (docs/refill.md).
"""

from __future__ import annotations

LITTLE_EVIDENCE = (
    "hidden cells are read by a relation that the product has too few cells to believe"
)

KNOWN: dict[int, str] = dict.fromkeys((27, 30, 38, 39), LITTLE_EVIDENCE)

FOUND: tuple[int, ...] = ()
"""Seeds beyond the fixed ones that were refuted once, and are mended."""
