"""Made-up small releases for a red team: people, households, relations between columns, all limits.

A seed gives everything. Nothing here is shared with the product but the words of a release file.
Each record has a receipt, a number of its own beyond what a float holds: published, it says nothing
of anybody, and lets the judge (who is no adversary) tell whose record a published one is.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.redteam.known import FOUND
from tests.redteam.planted import choose_planted, list_columns, plant_columns

FORMATS = (".csv", ".parquet", ".dta")
REGIONS = {"Nord": "upper", "Hill": "upper", "Sud": "lower", "Lake": "lower"}
AGE_EDGES = ((0, 20, 40, 60), (0, 40))
WITHHELD = ("name", "person", "household")
PUBLIC = ("receipt", "postcode", "birth_year", "shoe", "weight")

NEAR_EVERY, NEAR_SEEDS = 7, (0, 5)
"""Of so many seeds, those whose limits are near what the data have."""

Value = str | int | float | dt.date | None
Row = dict[str, Value]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A release as it was written, and what a judge must know of it."""

    seed: int
    path: Path
    source: Path
    rows: list[Row]
    keys: tuple[str, ...]
    k: int | None
    l_diversity: bool
    model: str | None
    at_most: float
    local: bool | str
    """Whether records are recoded one by one, or the search that must be used for that."""
    decoys: float
    planted: tuple[str, ...] = ()
    """Relations beside those that every release has: `tests.redteam.planted`."""


def write_case(folder: Path, seed: int, local: str | None = None) -> Case:
    """Write a source and its release file; the same for the same seed.

    With `local`, records are recoded one by one by that search, whatever the seed says.
    """
    random = Random(seed)  # noqa: S311  # made-up data, not secrets
    source = folder / f"people{FORMATS[seed % len(FORMATS)]}"
    rows = make_rows(random, is_small=source.suffix == ".dta")
    keys = tuple(
        name
        for name, chance in (("region", 0.9), ("age", 0.8), ("sex", 0.8), ("born", 0.25))
        if random.random() < chance
    ) or ("region", "age")
    if random.random() < 0.15:
        keys += ("postcode",)
    planted = () if local is not None or seed in FOUND else choose_planted(seed)
    plant_columns(rows, planted, seed)
    more = list_columns(planted)
    rows = [{name: row[name] for name in (*_list_columns(row, keys), *more)} for row in rows]
    limits = random.choice(("k", "k", "k", "kl", "l", "kr", "r", "ks", "s"))
    case = Case(
        seed=seed,
        path=folder / "release.toml",
        source=source,
        rows=rows,
        keys=keys,
        k=random.randint(2, 4) if "k" in limits else None,
        l_diversity="l" in limits,
        model="CRS" if "r" in limits else "CAS" if "s" in limits else None,
        at_most=random.choice((0.0, 0.05, 0.2)),
        local=random.random() < 0.15,
        # By a draw of its own: the releases of all seeds stay what they were.
        decoys=Random(f"decoys of {seed}").choice((0.0, 0.0, 0.0, 0.25, 1.0)),  # noqa: S311
        planted=planted,
    )
    if seed % NEAR_EVERY in NEAR_SEEDS:
        case = move_to_limits(case, Random(f"near {seed}"))  # noqa: S311  # made-up data
    if local is not None:
        case = replace(case, local=local)
    write_rows(source, rows)
    case.path.write_text(_describe(case, random), encoding="utf-8")
    return case


def move_to_limits(case: Case, random: Random) -> Case:
    """Limits that people of this release just keep to, or just do not.

    A share is a whole number of people, or a little less; as many alike are asked for as some class
    has, or one more.
    """
    people = {row["person"] for row in case.rows}
    classes: dict[tuple[Value, ...], set[Value]] = {}
    for row in case.rows:
        classes.setdefault(tuple(row[name] for name in case.keys), set()).add(row["person"])
    sizes = sorted({len(alike) for alike in classes.values() if 2 <= len(alike) <= 5}) or [2]
    share = random.randint(0, 4) / len(people) - random.choice((0.0, 1e-4))
    k = random.choice(sizes) + random.choice((0, 1))
    return replace(case, at_most=max(0.0, share), k=None if case.k is None else k)


def make_rows(random: Random, *, is_small: bool) -> list[Row]:
    """12 to 80 people in households (seldom up to 160), some with several records; some columns tell others."""
    people = random.randint(12, 80) if random.random() < 0.85 else random.randint(100, 160)
    regions = list(REGIONS)[: random.randint(2, 4)]
    gaps = random.choice((0.0, 0.05, 0.15))
    repeats = random.choice((0.0, 0.0, 0.3))
    weight_tells = random.random() < 0.4
    ages = random.sample(range(1, 79), random.randint(3, 12))
    first = 10_000_000 if is_small else 2**60 + 1
    rows: list[Row] = []
    household, region, shoe = 0, "", 0
    for person in range(people):
        if person == 0 or random.random() < 0.45:
            household += 1
            region = random.choice(regions)
            shoe = random.randint(30, 45)
        age = random.choice(ages)
        place = list(REGIONS).index(region)
        row: Row = {
            "name": f"Name {person}",
            "person": person,
            "household": household,
            "region": region,
            "postcode": f"P{place + 1}{random.randint(0, 2)}{random.randint(0, 1)}",
            "age": age,
            "birth_year": 2020 - age,
            "sex": random.choice(("f", "m")),
            "born": dt.date(2020 - age, random.choice((1, 7)), random.choice((3, 20))),
            "shoe": shoe,
            "weight": 10.5 + place if weight_tells else float(random.randint(2, 40)),
            "job": random.choice(("cook", "clerk", "judge")),
        }
        for name in ("region", "age", "sex", "born", "job"):
            if random.random() < gaps:
                row[name] = None
        rows.append(row)
        if random.random() < repeats:
            rows.append(_repeat(row))
    for row, receipt in zip(rows, random.sample(range(5_000), len(rows)), strict=True):
        row["receipt"] = first + receipt
    return rows


def _repeat(row: Row) -> Row:
    """Another record of the same person: every second says another sex, every third another job."""
    again = dict(row)
    number = int(str(row["person"]))
    if number % 2 and row["sex"] is not None:
        again["sex"] = "m" if row["sex"] == "f" else "f"
    if number % 3 == 0 and row["job"] is not None:
        again["job"] = "clerk" if row["job"] == "cook" else "cook"
    return again


def _list_columns(row: Row, keys: tuple[str, ...]) -> list[str]:
    """All columns but what would be a quasi-identifier, and is none in this release."""
    return [n for n in row if n in (*WITHHELD, *PUBLIC, *keys, "job")]


def list_coarser(name: str, value: Any) -> list[str]:
    """What a value may be recoded to, as the hierarchies of the release file say."""
    if value is None or name not in LADDERS:
        return []
    return LADDERS[name](value)


def _list_intervals(value: Any) -> list[str]:
    texts = []
    for edges in AGE_EDGES:
        place = sum(value >= edge for edge in edges)
        texts.append(
            f">= {edges[-1]}" if place == len(edges) else f"[{edges[place - 1]}, {edges[place]})"
        )
    return texts


LADDERS: Mapping[str, Callable[[Any], list[str]]] = {
    "region": lambda value: [REGIONS[value]],
    "age": _list_intervals,
    "born": lambda value: [f"{value.year}-{value.month:02}", f"{value.year}"],
    "postcode": lambda value: [f"{value[:3]}*", f"{value[:2]}*"],
}


def _describe(case: Case, random: Random) -> str:
    public = [n for n in PUBLIC if n in case.rows[0] and n not in (*case.keys, "weight")]
    public += list_columns(case.planted)
    hierarchies = {
        "region": "{ pairs = " + json.dumps([list(pair) for pair in REGIONS.items()]) + " }",
        "age": "{ intervals = " + json.dumps(AGE_EDGES) + " }",
        "born": '{ dates = ["month", "year"] }',
        "postcode": "{ prefixes = [3, 2] }",
    }
    lines = [
        "[[dataset]]",
        'name = "people"',
        f'source = "{case.source.name}"',
        f"publish = {json.dumps(['household'] if 'total' in case.planted else [])}",
        f"keep_order = {json.dumps('order' in case.planted)}",
        "[dataset.roles]",
        'identifier = ["name"]',
        'person = "person"',
        'household = "household"',
        'weight = "weight"',
        'sensitive = ["job"]',
        f"quasi_identifier = {json.dumps(case.keys)}",
        f"non_identifying = {json.dumps(public)}",
    ]
    if random.random() < 0.5 or case.local:
        lines += ["[dataset.hierarchies]"]
        lines += [f"{name} = {hierarchies[name]}" for name in case.keys if name in hierarchies]
        methods = random.choice((["recode", "suppress"], ["recode", "suppress"], ["suppress"]))
        if isinstance(case.local, str):
            methods = ["recode", "suppress"]
    else:
        methods = ["suppress"]
    lines += _describe_limits(case)
    lines += [
        "[protection]",
        f"methods = {json.dumps(methods)}",
        'out_of_reach = "remove"',
        f"local = {json.dumps(case.local)}",
        f"decoys = {case.decoys}",
    ]
    return "\n".join(lines) + "\n"


def _describe_limits(case: Case) -> list[str]:
    lines = []
    if case.k is not None:
        lines += ["[[limit]]", 'dataset = "people"', 'measure = "k_anonymity"']
        lines += [f"at_least = {case.k}", 'nulls = "bayes"']
    if case.l_diversity:
        lines += ["[[limit]]", 'dataset = "people"', 'measure = "distinct_l_diversity"']
        lines += ['attribute = "job"', "at_least = 2", 'nulls = "bayes"']
    if case.model is not None:
        lines += ["[[adversary]]", 'name = "neighbour"', 'attack = "records"']
        lines += ['dataset = "people"', f'model = "{case.model}"']
        lines += [f"knows = {json.dumps(case.keys)}"]
        lines += ['seeks = "job"'] if case.model == "CAS" else []
        lines += ["[[limit]]", 'adversary = "neighbour"', 'measure = "deterministic.posterior"']
        lines += [f"at_most = {case.at_most}"]
    return lines


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write a source in the format of its name, by other libraries than the product's."""
    import pandas as pd
    import polars as pl
    import pyreadstat

    frame = pl.DataFrame(rows, infer_schema_length=None)
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        columns: dict[str, Any] = {}
        for name in frame.columns:
            values = [row[name] for row in rows]
            is_text = any(isinstance(value, str) for value in values)
            columns[name] = (
                ["" if v is None else v for v in values]
                if is_text
                else pd.Series(values, dtype=object)
                if any(isinstance(v, dt.date) for v in values)
                else pd.Series(values, dtype="float64")
            )
        pyreadstat.write_dta(pd.DataFrame(columns), str(path))
