"""Claims convince that are right more often than guesses from the keys alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import divulge as dv
from divulge import protection
from divulge.protection.changes.changes import hide_cells

GROUPS, SIZE, HIDDEN = 60, 8, 30


def hide_where_codes_are(right: int) -> tuple[dv.Dataset, dv.Dataset]:
    """A code that tells the town wherever that is shown, and of 30 hidden ones `right`.

    The other hidden ones are of the most frequent town, which no such code has.
    """
    code = np.repeat(np.arange(GROUPS), SIZE)
    town = 1 + code % 6
    first = np.arange(0, HIDDEN * SIZE, SIZE)
    town[first[right:]] = 0
    table = pa.table(
        {
            "town": [f"t{number}" for number in town] + ["t0"] * 200,
            "code": [1000 * number * number for number in [*code, *range(GROUPS, GROUPS + 200)]],
            "age": [number % 7 for number in range(code.size)] + list(range(200)),
        }
    )
    people = dv.Dataset.from_arrow(table, roles={"quasi_identifier": ["town", "age"]})
    return hide_cells(people, {"town": first}), people


def count_filled(right: int) -> tuple[int, int, list[int]]:
    """Cells that are claimed, verified, and filled for who believes claims."""
    hidden, people = hide_where_codes_are(right)
    r = protection.refill(hidden, people, columns=["code", "town", "age"])
    filled = [HIDDEN - part.to_arrow()["town"].null_count for part in r.refilled_partly]
    return r.claimed, r.verified or 0, filled


def test_a_claim_that_beats_guessing_is_believed_though_no_relation_is_verified() -> None:
    # 18 of 30, where guesses are right for 12: too few to be called verified, enough to find people.
    assert count_filled(right=18) == (HIDDEN, 0, [18])


def test_a_claim_that_is_right_less_often_than_a_guess_convinces_nobody() -> None:
    # 6 of 30: whoever says the most frequent town is right for 24.
    assert count_filled(right=6) == (HIDDEN, 0, [])
