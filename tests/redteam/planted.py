"""Further relations that are planted in made-up releases, and how an attacker reads them.

A rate to two digits and what was paid tell an age; a form number begins with the region; a pseudonym
of the household and the sum of its ages tell the one age that is hidden; where the order is kept,
neighbours are of one region. Nothing here is shared with the product.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

HIDDEN: Final = "(hidden)"
KINDS = ("rate", "form", "total", "order")
SHARE = 0.4
"""Of the releases that have such columns."""

Records = Sequence[Mapping[str, str | None]]
Reader = Callable[[Records], list[str | None]]
"""What an attacker reads for each record; None where the relation tells nothing."""


def choose_planted(seed: int) -> tuple[str, ...]:
    """What is planted in a release: mostly nothing, else one or two relations."""
    random = Random(f"planted {seed}")  # noqa: S311  # made-up data
    if random.random() >= SHARE:
        return ()
    return tuple(sorted(random.sample(KINDS, random.choice((1, 2)))))


def plant_columns(rows: list[dict[str, Any]], planted: Sequence[str], seed: int) -> None:
    """Add the columns, or put the records in order."""
    random = Random(f"columns {seed}")  # noqa: S311  # made-up data
    if "rate" in planted:
        for row in rows:
            age = row["age"]
            row["pay"] = round((age or 1) * random.uniform(20, 60), 1)
            row["rate"] = round(row["pay"] / age, 2) if age else 0.0
    if "form" in planted:
        for row in rows:
            row["form"] = f"{(row['region'] or '?')[0]}{random.randrange(10_000, 100_000)}"
    if "total" in planted:
        sums: dict[Any, int] = defaultdict(int)
        for row in rows:
            sums[row["household"]] += row["age"] or 0
        for row in rows:
            row["total"] = sums[row["household"]]
    if "order" in planted:
        rows.sort(key=lambda row: row["region"] or "")


def list_columns(planted: Sequence[str]) -> list[str]:
    """The columns that go out because of what is planted."""
    columns = {"rate": ["pay", "rate"], "form": ["form"], "total": ["total"], "order": []}
    return [name for kind in planted for name in columns[kind]]


def list_readers(planted: Sequence[str]) -> list[tuple[str, Reader]]:
    """The attributes that are told, and how."""
    readers: Mapping[str, tuple[str, Reader]] = {
        "rate": ("age", read_rate),
        "form": ("region", read_form),
        "total": ("age", read_total),
        "order": ("region", read_neighbours),
    }
    return [readers[kind] for kind in planted]


def read_rate(records: Records) -> list[str | None]:
    """What was paid, divided by the rate, is the age."""
    return [
        str(round(float(str(record["pay"])) / float(str(record["rate"]))))
        if float(str(record["rate"]))
        else None
        for record in records
    ]


def read_form(records: Records) -> list[str | None]:
    """Forms that begin alike are of one region, if all that show theirs are."""
    shown: dict[str, set[str | None]] = defaultdict(set)
    for record in records:
        if record["region"] != HIDDEN:
            shown[str(record["form"])[0]].add(record["region"])
    told = {first: regions for first, regions in shown.items() if len(regions) == 1}
    return [next(iter(told.get(str(record["form"])[0], {None}))) for record in records]


def read_total(records: Records) -> list[str | None]:
    """The sum of the ages of a household, less those of the others."""
    homes: dict[str | None, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        homes[record["household"]].append(place)
    told: list[str | None] = [None] * len(records)
    for places in homes.values():
        for place in places:
            others = [records[other]["age"] for other in places if other != place]
            if all(age is None or age.isdigit() for age in others):
                rest = sum(int(age) for age in others if age is not None)
                told[place] = str(int(str(records[place]["total"])) - rest)
    return told


def read_neighbours(records: Records) -> list[str | None]:
    """What the records before and after have in common."""
    told: list[str | None] = [None] * len(records)
    for place in range(1, len(records) - 1):
        before, after = records[place - 1]["region"], records[place + 1]["region"]
        if before == after and before not in (HIDDEN, None):
            told[place] = before
    return told
