"""Every relation that is planted in a source: none tells a hidden cell of what is written.

The files are read and attacked by plain code: each attacker knows one relation, and how to use it.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

import divulge as dv
from divulge.protection.changes.changes import hide_cells
from divulge.release import Release

Row = dict[str, str]
Attacker = Callable[[list[Row], int], str | None]
"""What somebody reads for the cell of a record; None if the relation does not tell it."""

HIDDEN = "(hidden)"
PEOPLE = 660


def make_people(target: str) -> list[dict[str, object]]:
    """People in households of one to four, with a column for every relation to the target."""
    random = Random(11)  # noqa: S311  # made-up data
    rows: list[dict[str, object]] = []
    home = 0
    while len(rows) < PEOPLE:
        home += 1
        region = random.choices("abcdefgh", [30, 20, 15, 10, 8, 5, 3, 2])[0]
        street, block = random.randrange(12), random.randrange(12)
        members = random.choices([1, 2, 3, 4, 5, 6], [30, 30, 15, 12, 3, 1])[0]
        wages = [
            random.choices([0, 100, 200, 300, 700], [40, 30, 20, 8, 2])[0] for _ in range(members)
        ]
        for wage in wages:
            age = random.choices(range(20, 32), range(12, 0, -1))[0]
            upper = random.randint(0, 3)
            rows.append(
                {
                    "receipt": 7 * len(rows) + 5000,
                    "household": home,
                    "region": region
                    if target != "corner"
                    else "abcdefgh"[(street * 5 + block) % 8],
                    "size": members,
                    "wage": wage,
                    "income": sum(wages),
                    "age": age,
                    "sex": random.choice("FM"),
                    "stratum": 1000 + "abcdefgh".index(region) * 10 + home % 10,
                    "street": street,
                    "block": block,
                    "born": 2020 - age,
                    "band": f"{age // 4}",
                    "upper": upper,
                    "lower": age - upper,
                    "double": age * 2.5,
                    "form": f"{region}{random.randrange(10_000, 100_000)}",
                    "pay": (pay := round(age * random.uniform(20, 60), 1)),
                    "rate": round(pay / age, 2),
                    "share": round(100 * upper / age, 2),
                    "area": "abcdefgh".index(region) if random.random() < 0.96 else 8,
                }
            )
    return rows


def share_value(*others: str) -> Callable[[str], Attacker]:
    """Records that agree in other columns share the value."""

    def build(target: str) -> Attacker:
        def read(rows: list[Row], place: int) -> str | None:
            alike = {
                row[target]
                for n, row in enumerate(rows)
                if n != place and all(row[name] == rows[place][name] for name in others)
            } - {HIDDEN}
            return alike.pop() if len(alike) == 1 else None

        return read

    return build


def calculate(formula: Callable[[Row], float]) -> Callable[[str], Attacker]:
    """The value follows from the other cells of the record."""

    def build(target: str) -> Attacker:
        return lambda rows, place: f"{formula(rows[place]):g}"

    return build


def read_beginning(target: str) -> Attacker:
    """The first letter of a form number means what it means in other records."""

    def read(rows: list[Row], place: int) -> str | None:
        alike = {row[target] for row in rows if row["form"][0] == rows[place]["form"][0]} - {HIDDEN}
        return alike.pop() if len(alike) == 1 else None

    return read


def follow_majority(target: str) -> Attacker:
    """Most records of an area have one value."""

    def read(rows: list[Row], place: int) -> str | None:
        alike = [row[target] for row in rows if row["area"] == rows[place]["area"]]
        counts = Counter(value for value in alike if value != HIDDEN)
        [(value, count)] = counts.most_common(1) or [("", 0)]
        return value if count >= 20 and count > 0.9 * counts.total() else None

    return read


def count_members(target: str) -> Attacker:
    """The size of a household is the number of its records."""
    return lambda rows, place: str(
        sum(row["household"] == rows[place]["household"] for row in rows)
    )


def subtract_others(target: str) -> Attacker:
    """What the household's income leaves when the others' wages are known."""

    def read(rows: list[Row], place: int) -> str | None:
        mates = [
            row[target]
            for n, row in enumerate(rows)
            if n != place and row["household"] == rows[place]["household"]
        ]
        if HIDDEN in mates:
            return None
        return f"{float(rows[place]['income']) - sum(map(float, mates)):g}"

    return read


def look_around(target: str) -> Attacker:
    """Neighbours in the file belong together."""

    def read(rows: list[Row], place: int) -> str | None:
        if not 0 < place < len(rows) - 1:
            return None
        before, after = rows[place - 1][target], rows[place + 1][target]
        return before if before == after != HIDDEN else None

    return read


CASES = {
    "household": ("region", ["household"], share_value("household")),
    "members": ("size", ["household"], count_members),
    "stratum": ("region", ["stratum"], share_value("stratum")),
    "corner": ("region", ["street", "block"], share_value("street", "block")),
    "band": ("age", ["born"], calculate(lambda row: 2020 - float(row["born"]))),
    "sum": (
        "age",
        ["upper", "lower"],
        calculate(lambda row: float(row["upper"]) + float(row["lower"])),
    ),
    "product": ("age", ["double"], calculate(lambda row: float(row["double"]) / 2.5)),
    "rounded ratio": (
        "age",
        ["pay", "rate"],
        calculate(lambda row: round(float(row["pay"]) / float(row["rate"]))),
    ),
    "percent": (
        "age",
        ["upper", "share"],
        calculate(
            lambda row: (
                round(100 * float(row["upper"]) / float(row["share"]))
                if float(row["share"])
                else -1.0
            )
        ),
    ),
    "beginning": ("region", ["form"], read_beginning),
    "majority": ("region", ["area"], follow_majority),
    "income": ("wage", ["household", "income"], subtract_others),
    "order": ("region", [], look_around),
}


def write(folder: Path, name: str) -> Path:
    target, others, _ = CASES[name]
    rows = make_people(name)
    if name == "order":
        rows.sort(key=lambda row: str(row["region"]))
    keys = sorted({target, "region", "age", "sex"})
    columns = ["receipt", "household", *keys, *(o for o in others if o != "household")]
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    published = json.dumps([other for other in others if other == "household"])
    public = json.dumps(["receipt", *(o for o in others if o != "household")])
    path = folder / "release.toml"
    path.write_text(
        f"""
[[dataset]]
name = "people"
source = "people.csv"
publish = {published}
keep_order = {str(name == "order").lower()}
[dataset.roles]
household = "household"
quasi_identifier = {json.dumps(keys)}
non_identifying = {public}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
[protection]
methods = ["suppress"]
out_of_reach = "remove"
importance = {json.dumps({key: 20 for key in keys if key != target}).replace(":", " =")}
"""
    )
    return path


@pytest.mark.parametrize("name", CASES)
def test_no_relation_tells_a_hidden_cell_of_what_is_written(tmp_path: Path, name: str) -> None:
    target, _, attacker = CASES[name]
    p = Release.load(write(tmp_path, name)).protect(out=tmp_path / "out")
    assert p.status == "pass"
    with (tmp_path / "people.csv").open(newline="") as file:
        truth = {row["receipt"]: row for row in csv.DictReader(file)}
    with (tmp_path / "out" / "release" / "people.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    hidden: dict[str, int] = defaultdict(int)
    for row in rows:
        for column in list(row):
            if row.get(f"{column}_status") or row[column] == "suppressed":
                row[column] = HIDDEN
                hidden[column] += 1
    assert hidden or len(rows) < PEOPLE
    read = attacker(target)
    told = [
        place
        for place, row in enumerate(rows)
        if row[target] == HIDDEN and read(rows, place) == truth[row["receipt"]][target]
    ]
    assert not told, f"{len(told)} of {hidden[target]} are told"


@pytest.mark.parametrize("name", CASES)
def test_every_one_of_these_attackers_undoes_a_protection_that_hides_the_cell(
    tmp_path: Path, name: str
) -> None:
    target, _, attacker = CASES[name]
    write(tmp_path, name)
    people = dv.read(tmp_path / "people.csv")
    random = np.random.default_rng(2)
    hidden = random.choice(people.rows, 60, replace=False)
    with (tmp_path / "people.csv").open(newline="") as file:
        truth = list(csv.DictReader(file))
    rows = [dict(row) for row in truth]
    for place in hidden.tolist():
        rows[place][target] = HIDDEN
    read = attacker(target)
    told = {place for place in hidden.tolist() if read(rows, place) == truth[place][target]}
    assert len(told) > 20
    # The product finds the same, and says by what.
    protected = hide_cells(people, {target: np.sort(hidden)})
    found = dv.protection.refill(protected, people, keys=[target], ordered=name == "order")
    assert (found.right or 0) >= 0.9 * len(told)
