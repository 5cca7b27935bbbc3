"""Two datasets of the same people in one release, joined from the written files."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from divulge.release import Release

KEYS = ("region", "age", "sex")
WAVE = """
[[dataset]]
name = "wave_{number}"
source = "wave_{number}.csv"
publish = {publish}
[dataset.roles]
person = "pid"
quasi_identifier = {keys}
sensitive = {secrets}
[[limit]]
dataset = "wave_{number}"
measure = "k_anonymity"
at_least = 3
"""


def write(
    folder: Path, *, publish: str = "[]", incomes: int = 3, keys: tuple[str, ...] = KEYS
) -> Release:
    """Two waves of a panel, of which `incomes` tells how many different ones there are."""
    random = Random(3)  # noqa: S311  # made-up data
    people = [
        (
            5000 + number,
            random.choices("abcdef", [30, 20, 15, 10, 8, 3])[0],
            random.choices(range(20, 50), range(30, 0, -1))[0],
            random.choice("FM"),
            random.randrange(incomes),
        )
        for number in range(500)
    ]
    for wave in (1, 2):
        with (folder / f"wave_{wave}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["pid", "region", "age", "sex", "income"])
            for pid, region, age, sex, income in people:
                if random.random() < 0.9:
                    writer.writerow([pid, region, age + wave - 1, sex, income])
    secrets = [name for name in (*KEYS, "income") if name not in keys]
    text = "".join(
        WAVE.format(
            number=wave, publish=publish, keys=json.dumps(keys), secrets=json.dumps(secrets)
        )
        for wave in (1, 2)
    )
    path = folder / "release.toml"
    path.write_text(text + '[protection]\nmethods = ["suppress"]\nout_of_reach = "remove"\n')
    return Release.load(path)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("publish", "incomes"), [('["pid"]', 3), ("[]", 1_000_000)], ids=["pseudonyms", "incomes"]
)
def test_waves_that_can_be_joined_are_not_judged(
    tmp_path: Path, publish: str, incomes: int
) -> None:
    p = write(tmp_path, publish=publish, incomes=incomes).protect(out=tmp_path / "out")
    assert p.status == "not judged"
    assert not (tmp_path / "out" / "release").exists()
    said = [str(each.sentence) for each in p.after.reservations]
    assert len(said) == 2
    assert all("in which values were suppressed" in sentence for sentence in said)
    # What would have gone out: the ages that one wave hides stand in the other.
    first, second = p.datasets["wave_1"], p.datasets["wave_2"]
    column = "pid" if incomes == 3 else "income"
    ages = dict(
        zip(*(second.to_arrow()[name].to_pylist() for name in (column, "age")), strict=True)
    )
    told = [
        key
        for key, age in zip(
            *(first.to_arrow()[n].to_pylist() for n in (column, "age")), strict=True
        )
        if age is None and ages.get(key) is not None
    ]
    assert told


def test_waves_of_which_nothing_is_hidden_are_judged(tmp_path: Path) -> None:
    release = write(tmp_path, publish='["pid"]', keys=("sex",))
    p = release.protect(out=tmp_path / "out")
    assert p.status == "pass"
    first, second = (read(tmp_path / "out" / "release" / f"wave_{n}.csv") for n in (1, 2))
    assert {row["pid"] for row in first} & {row["pid"] for row in second}


PANEL_MEMBER = """
[[adversary]]
name = "panel member"
attack = "records"
dataset = ["wave_1", "wave_2"]
model = "CRL"
on = "pid"
knows = {knows}
[[limit]]
adversary = "panel member"
measure = "deterministic.posterior"
at_most = {at_most}
"""


def limit_panel_member(
    release: Release, at_most: float, knows: tuple[str, ...] = KEYS, *, drop_others: bool = False
) -> Release:
    """The release with a limit on somebody who has both waves, beside its others or alone."""
    text = release.path.read_text()
    if drop_others:
        text = re.sub(r"\[\[limit\]\]\n(.+\n){3}", "", text)
    member = PANEL_MEMBER.format(knows=json.dumps(knows), at_most=at_most)
    release.path.write_text(text + member)
    return Release.load(release.path)


def test_waves_whose_joining_is_all_that_is_limited_are_judged(tmp_path: Path) -> None:
    release = write(tmp_path, publish='["pid"]')
    p = limit_panel_member(release, 0.05, drop_others=True).protect()
    assert p.suppressed_cells
    assert p.status == "pass"


@pytest.mark.parametrize("at_most", [0.99, 0.0])
def test_a_limit_on_who_has_both_does_not_hide_that_joining_undoes_the_others(
    tmp_path: Path, at_most: float
) -> None:
    release = write(tmp_path, publish='["pid"]')
    p = limit_panel_member(release, at_most).protect()
    assert {outcome.status for outcome in p.after.outcomes} == {"pass"}
    assert p.status == "not judged"
    assert "somebody who joins the two" in str(p.after.telling[0].sentence)
    # What one wave hides stands in the other (ages a year later): some are fewer than three then.
    first, second = (p.datasets[f"wave_{number}"].to_arrow().to_pylist() for number in (1, 2))
    waves = {row["pid"]: row for row in second}
    for row in first:
        twin = waves.get(row["pid"], row)
        for name in KEYS:
            if row[name] is None and twin[name] is not None:
                row[name] = twin[name] - 1 if name == "age" else twin[name]
    seen = Counter(tuple(row[name] for name in KEYS) for row in first)
    assert any(count < 3 for values, count in seen.items() if None not in values)


@pytest.mark.parametrize(("at_most", "status"), [(0.05, "pass"), (0.99, "not judged")])
def test_who_has_both_must_be_limited_as_strictly_as_who_has_one(
    tmp_path: Path, at_most: float, status: str
) -> None:
    release = write(tmp_path, publish='["pid"]')
    limit_panel_member(release, at_most, drop_others=True)
    one = PANEL_MEMBER.format(knows=json.dumps(KEYS), at_most=0.05)
    one = one.replace("panel member", "neighbour").replace('["wave_1", "wave_2"]', '"wave_1"')
    one = one.replace('"CRL"', '"CRS"').replace('on = "pid"\n', "")
    release.path.write_text(release.path.read_text() + one)
    p = Release.load(release.path).protect()
    assert p.suppressed_cells
    assert p.status == status


def test_what_further_columns_of_another_wave_tell_is_joined_too(tmp_path: Path) -> None:
    release = write(tmp_path, publish='["pid"]')
    change_wave(
        tmp_path,
        lambda row: (
            {"pid": row["pid"], "birth_year": str(2021 - int(row["age"]))}
            | {name: row[name] for name in ("sex", "income")}
        ),
    )
    first, second = release.path.read_text().split('[[dataset]]\nname = "wave_2"')
    second = second.replace('["region", "age", "sex"]', '["sex"]')
    second = second.replace('["income"]', '["income"]\nnon_identifying = ["birth_year"]')
    release.path.write_text(first + '[[dataset]]\nname = "wave_2"' + second)
    p = limit_panel_member(Release.load(release.path), 0.99, ("sex",)).protect()
    assert p.suppressed_cells
    assert p.status == "not judged"


def test_people_who_look_alike_by_chance_are_not_taken_for_the_same(tmp_path: Path) -> None:
    release = write(tmp_path)
    # Other people altogether, who agree in what is published with many of the first.
    rows = read(tmp_path / "wave_2.csv")
    for row in rows:
        row["pid"] = str(int(row["pid"]) + 100_000)
    with (tmp_path / "wave_2.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    p = Release.load(release.path).protect(out=tmp_path / "out")
    assert p.status == "pass"
    assert sum(part.suppressed_cells for part in p.records.values())


def change_wave(folder: Path, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    """Write the second wave anew, record by record."""
    rows = [change(row) for row in read(folder / "wave_2.csv")]
    with (folder / "wave_2.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_values_that_one_wave_recodes_and_the_other_shows_are_not_judged(tmp_path: Path) -> None:
    release = write(tmp_path, incomes=1_000_000, keys=("age", "sex"))
    change_wave(tmp_path, lambda row: row | {"age": str(int(row["age"]) - 1)})
    first, second = release.path.read_text().split('[[dataset]]\nname = "wave_2"')
    levels = "[dataset.hierarchies]\nage = { intervals = [[20, 30, 40, 60]] }\n[[limit]]"
    second = second.replace('[[limit]]\ndataset = "wave_2"\nmeasure = "k_anonymity"\n', "")
    second = second.replace("at_least = 3\n", "").replace('"suppress"', '"recode"')
    release.path.write_text(
        first.replace("[[limit]]", levels) + '[[dataset]]\nname = "wave_2"' + second
    )
    p = Release.load(release.path).protect()
    ages = set(p.datasets["wave_1"].to_arrow()["age"].to_pylist())
    assert len(ages) <= 4
    assert not any(str(age).isdigit() for age in ages)
    assert p.status == "not judged"
    [reservation] = p.after.telling
    assert 'records of dataset "wave_1"' in str(reservation.sentence)


def test_few_people_who_are_in_both_are_found_by_what_hardly_anybody_else_has(
    tmp_path: Path,
) -> None:
    release = write(tmp_path, incomes=1_000_000)
    change_wave(
        tmp_path,
        lambda row: (
            {"no": row.pop("pid")} | row | {"income": str(int(row["income"]) + 2_000_000)}
            if int(row["pid"]) % 5
            else {"no": row.pop("pid")} | row
        ),
    )
    first, second = release.path.read_text().split('[[dataset]]\nname = "wave_2"')
    second = second.replace('person = "pid"', 'person = "no"')
    release.path.write_text(first + '[[dataset]]\nname = "wave_2"' + second)
    p = Release.load(release.path).protect()
    assert p.status == "not judged"
    assert p.after.telling


def test_a_limit_on_who_knows_less_than_is_withheld_does_not_judge_the_joining(
    tmp_path: Path,
) -> None:
    release = write(tmp_path, publish='["pid"]')
    p = limit_panel_member(release, 1.0, ("sex",), drop_others=False).protect()
    assert "is not assessed here" in str(p.after.telling[0].sentence)


RENAMED = """
[[dataset]]
name = "people"
source = "people.csv"
roles = { quasi_identifier = ["region", "age", "sex"], non_identifying = ["pay"] }
[[dataset]]
name = "copy"
source = "copy.csv"
roles = { non_identifying = ["area", "years", "gender", "wage"] }
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
[protection]
methods = ["suppress"]
"""


def test_the_same_people_under_other_names_of_columns_are_found(tmp_path: Path) -> None:
    random = Random(3)  # noqa: S311  # made-up data
    rows = [
        (
            random.choices("abcdef", [30, 20, 15, 10, 8, 3])[0],
            random.choices(range(20, 30), range(10, 0, -1))[0],
            random.choice("FM"),
            random.randint(1_000, 99_999),
        )
        for _ in range(500)
    ]
    for name, head in (("people", "region,age,sex,pay"), ("copy", "area,years,gender,wage")):
        lines = [",".join(map(str, row)) for row in random.sample(rows, len(rows))]
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]) + "\n")
    (tmp_path / "release.toml").write_text(RENAMED)
    p = Release.load(tmp_path / "release.toml").protect(tmp_path / "out")
    assert p.suppressed_cells
    assert p.status == "not judged"
    assert not (tmp_path / "out" / "release").exists()


# What counts tell.

COMPANIES = """
[[dataset]]
name = "companies"
source = "companies.csv"
unlisted = "drop"
[dataset.roles]
identifier = ["id"]
quasi_identifier = ["area", "sector", "size"]
[[dataset]]
name = "sites"
source = "sites.csv"
unlisted = "drop"
[dataset.roles]
identifier = ["company"]
quasi_identifier = ["place", "branch"]
[[limit]]
measure = "k_anonymity"
at_least = 2
[protection]
methods = ["suppress"]
suppression_limit = 1.0
"""
AREAS, SIZES = ("North", "South", "Center"), ("small", "large")
SECTORS = ("Textiles", "Commerce", "Services")


def write_sites(folder: Path, more: str = "", shift: int = 0, both: bool = False) -> Release:
    """Companies, and where they are: the same companies under other names, in another order.

    `shift` makes the sites those of other companies; a limit is on the sites, or on both.
    """
    random = Random(7)  # noqa: S311  # made-up data
    rows = [
        [f"c{n}", random.choice(AREAS), random.choice(SECTORS), random.choice(SIZES)]
        for n in range(1, 121)
    ]
    lines = [",".join(row) for row in rows]
    sites = [f"{int(row[0][1:]) + shift},{row[1]},{row[2]}" for row in reversed(rows)]
    (folder / "companies.csv").write_text("\n".join(["id,area,sector,size", *lines, ""]))
    text = "company,place,branch\n" + "\n".join(f"c{line}" for line in sites) + "\n"
    (folder / "sites.csv").write_text(text)
    path = folder / "release.toml"
    limited = "" if both else 'dataset = "sites"\n'
    path.write_text(COMPANIES.replace("[[limit]]\n", f"[[limit]]\n{limited}") + more)
    return Release.load(path)


def count_more(folder: Path) -> dict[tuple[str, str], int]:
    """How many more show each area and sector in one published file than in the other."""
    own, theirs = (
        read(next((folder / "out" / "release").glob(f"{name}*.csv")))
        for name in ("companies", "sites")
    )
    counts: dict[tuple[str, str], int] = {}
    for row in theirs:
        key = (row["place"], row["branch"])
        counts[key] = counts.get(key, 0) + 1
    for row in own:
        key = (row["area"], row["sector"])
        counts[key] = counts.get(key, 0) - 1
    return {key: n for key, n in counts.items() if n > 0 and "suppressed" not in key}


HIDE_ONE = '[rules]\nfiles = ["asked.rules"]\n'


def test_what_rules_hide_must_not_follow_from_what_another_dataset_counts(tmp_path: Path) -> None:
    (tmp_path / "asked.rules").write_text('hide("companies", "c5", "sector").')
    p = write_sites(tmp_path, HIDE_ONE).protect(out=tmp_path / "out")
    assert p.status == "fail"
    assert not (tmp_path / "out" / "release").exists()
    assert '1 cell of dataset "companies" that rules hide can be read from' in str(p.after)
    (tmp_path / "asked.rules").write_text(
        'hide("companies", "c5", "sector"). hide("sites", "c5", "branch").'
    )
    p = write_sites(tmp_path, HIDE_ONE).protect(out=tmp_path / "out", overwrite=True)
    assert p.status == "pass"
    assert count_more(tmp_path) == {}
    # The company that a limit asks for is of another value: which is whose, nobody can tell.
    (tmp_path / "asked.rules").write_text('hide("companies", "c5", "sector").')
    p = write_sites(tmp_path, HIDE_ONE, both=True).protect(out=tmp_path / "out", overwrite=True)
    assert p.status == "pass"
    assert len(count_more(tmp_path)) == 2


def test_counts_of_other_people_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "asked.rules").write_text('hide("companies", "c5", "sector").')
    p = write_sites(tmp_path, HIDE_ONE, shift=1_000).protect(out=tmp_path / "out")
    assert p.status == "pass"


def test_a_cell_hidden_for_a_limit_that_another_dataset_counts_is_not_judged(
    tmp_path: Path,
) -> None:
    release = write_sites(tmp_path, 'never = ["area", "size"]\n', both=True)
    text = release.path.read_text().replace("at_least = 2", 'at_least = 2\nnulls = "maybe"')
    release.path.write_text(f"accept_count_only = true\n{text}")
    rows = read(tmp_path / "companies.csv")
    # The only large company of its area that weaves, beside small ones.
    south = [("Textiles", "large"), *[("Textiles", "small")] * 3, *[("Commerce", "large")] * 6]
    everybody = [row for row in rows if row["area"] != "South"] + [
        {"id": f"d{n}", "area": "South", "sector": sector, "size": size}
        for n, (sector, size) in enumerate(south)
    ]
    for name, columns in (("companies", ["id", "area", "sector", "size"]), ("sites", None)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns or ["company", "place", "branch"])
            writer.writerows(
                [row[column] for column in columns or ["id", "area", "sector"]] for row in everybody
            )
    p = Release.load(release.path).protect(out=tmp_path / "out")
    assert p.suppressed_cells == 1
    assert p.status == "not judged"
    assert 'can be read from dataset "sites"' in str(p.after)
