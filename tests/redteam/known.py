"""Seeds that were found: refuted and not yet mended, or mended and kept.

Under `KNOWN` are releases that pass and that an attacker refutes who believes a relation between
columns on 30 to 72 cells without an exception (age and year of birth, postcode and region) and is
right. The refill attack of the product asks for more evidence (docs/refill.md). In one other the
evidence is enough, but the product takes what is filled in a recoded column for wrong.
"""

from __future__ import annotations

LITTLE_EVIDENCE = (
    "hidden cells are read by a relation that the product has too few cells to believe"
)

RECODED = "a date recoded to its year is told by the year of birth; no shown record has that date"

KNOWN: dict[int, str] = {**dict.fromkeys((27, 30, 38, 39), LITTLE_EVIDENCE), 1214: RECODED}

FOUND: tuple[int, ...] = ()
"""Seeds beyond the fixed ones that were refuted once, and are mended."""
