"""The audit of rounded, top- and bottom-coded numbers, against every original recoded by hand."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pyarrow as pa
import pytest

import divulge as dv
from divulge.protection import Protected

AGES, INCOMES = (19, 22, 41, 41), (3, 8, 31, 31)
LADDERS = {
    "rounded": (dv.Hierarchy.rounding(5, 20, 100), dv.Hierarchy.rounding(10, 50, 100)),
    "capped": (dv.Hierarchy.capped(bottom=30, top=[95, 90, 40]), dv.Hierarchy.capped(top=[60, 30, 0])),
    "both": (
        dv.Hierarchy.rounding(10, 50, 100).with_caps(top=90),
        dv.Hierarchy.rounding(10, 50, 100).with_caps(bottom=10),
    ),
}  # fmt: skip


def recode(ages: list[int], incomes: list[int], kind: str, *, local: bool) -> Protected:
    age, income = LADDERS[kind]
    people = dv.Dataset.from_arrow(
        pa.table({"age": ages, "income": incomes}),
        roles={"quasi_identifier": ["age", "income"]},
        hierarchies={"age": age, "income": income},
    )
    limits = [dv.Limit("k_anonymity", at_least=2)]
    return dv.protection.recode(people, limits, 0.0, local=local, seed=1 if local else None)


def list_texts(p: Protected) -> list[str]:
    """The cells of a release, record by record."""
    table = p.dataset.to_arrow()
    columns = (table["age"].to_pylist(), table["income"].to_pylist())
    return [str(value) for row in zip(*columns, strict=True) for value in row]


def list_possible(shown: str, own: int, domain: list[int], ladder: dv.Hierarchy) -> list[int]:
    """The values that a cell may have been; only its own if it is shown as it was."""
    if shown == str(own):
        return [own]
    levels = range(1, ladder.height + 1)
    return [v for v in domain if any(str(ladder.at(v, level)) == shown for level in levels)]


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("kind", LADDERS)
def test_coarse_numbers_are_as_sharp_as_all_originals_say(kind: str, local: bool) -> None:
    rows = list(zip(AGES, INCOMES, strict=True))
    own = [value for row in rows for value in row]
    p = recode(own[::2], own[1::2], kind, local=local)
    shown = list_texts(p)
    domains = (sorted({*own[::2]}), sorted({*own[1::2]}))
    choices = [
        list_possible(text, value, domains[cell % 2], LADDERS[kind][cell % 2])
        for cell, (text, value) in enumerate(zip(shown, own, strict=True))
    ]
    originals = [
        each
        for each in product(*choices)
        if list_texts(recode(list(each[::2]), list(each[1::2]), kind, local=local)) == shown
    ]
    factors = [
        max(Counter(each[cell] for each in originals).values()) / len(originals) * len(possible)
        for cell, possible in enumerate(choices)
        if shown[cell] != str(own[cell])
    ]
    found = dv.protection.audit(p, knows_algorithm=True, candidates=3_000).sharpening
    assert found is not None
    assert found.claim == "exact"
    measured = found.values.informed / found.values.naive
    assert sorted(measured) == pytest.approx(sorted(factors))
    assert len(originals) > 1
