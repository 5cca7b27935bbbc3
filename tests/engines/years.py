"""Years of a register for tests: linked by an id, with people who come, leave and move."""

from __future__ import annotations

import pyarrow as pa

YEAR_ROLES = {
    "identifier": ["key"],
    "quasi_identifier": ["Age", "town"],
    "sensitive": ["income", "ill"],
    "group": ["school"],
}


def year(number: int) -> pa.Table:
    """One year: who is in it depends on the year, and so do some of the values."""
    rows = [
        {
            "key": key,
            "Age": None if key % 11 == 0 else 6 + (key % 5) + number,
            "town": ["x", "", None, "é"][(key + number * (key % 3 == 0)) % 4],
            "income": ["low", "high", None][(key * key) % 3],
            "ill": (key + number) % 4 == 0,
            "school": key % 3 if key % 7 else None,
        }
        for key in range(40)
        if (key + number) % 6
    ]
    return pa.Table.from_pylist(rows)


def people_and_weights() -> pa.Table:
    """Several records of some people, and weights of which some are zero."""
    rows = [
        {
            "who": f"p{number * number % 23}",
            "Age": 20 + number % 4,
            "town": ["x", "y", None][number % 3],
            "income": ["low", "high", None, "low"][number % 4],
            "ill": number % 5 == 0,
            "whole": float(number % 4),
            "broken": 0.1 * (number % 5),
            "sampled": 1 + number % 9,
            "fraction": 1.0 + 0.7 * (number % 9),
            "school": number % 2,
        }
        for number in range(50)
    ]
    return pa.Table.from_pylist(rows)
