"""Sources that somebody protected before, with their originals beside: attacked as protections are.

A limit on them holds only if it holds once hidden and coarser cells are refilled.
"""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import pytest

import divulge as dv
from divulge.release import Release

RELEASE = """
[[dataset]]
name = "people"
source = "protected.csv"
{protected}
subjects = "people"
[dataset.roles]
quasi_identifier = ["region", "age", "sex"]
non_identifying = ["stratum", "born"]

[[dataset]]
name = "before"
source = "people.csv"
[dataset.roles]
quasi_identifier = ["region", "age", "sex"]
non_identifying = ["stratum", "born"]

[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
original = "before"

[protection]
methods = ["suppress"]
out_of_reach = "remove"
"""
KEYS = ["region", "age", "sex"]


def make_people() -> list[dict[str, object]]:
    """People whose stratum tells the region, and whose year of birth tells the age."""
    random = Random(3)  # noqa: S311  # made-up data
    rows: list[dict[str, object]] = []
    for _ in range(900):
        region = random.choices("abcdefgh", [30, 20, 15, 10, 8, 5, 3, 1])[0]
        age = random.choices(range(20, 29), [9, 8, 7, 6, 5, 4, 3, 2, 1])[0]
        rows.append(
            {"region": region, "age": age, "sex": random.choice("FM"), "stratum": 10 + ord(region)}
            | {"born": 2020 - age}
        )
    return rows


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_release(folder: Path, *, what: str) -> Path:
    """A release of people whose regions were hidden, or whose ages made coarser, by somebody."""
    rows = make_people()
    write_rows(folder / "people.csv", rows)
    if what == "hidden":
        people = dv.read(folder / "people.csv", roles={"quasi_identifier": KEYS})
        naive = dv.protection.suppress(people, k=3, never=["age", "sex"], out_of_reach="remove")
        kept = [rows[place] for place in naive.kept.tolist()]
        shown = naive.dataset.to_arrow().to_pylist()
        assert any(row["region"] is None for row in shown)
    else:
        kept = rows
        shown = [{**row, "age": f"{int(str(row['age'])) // 10 * 10}s"} for row in rows]
    write_rows(folder / "people.csv", kept)
    write_rows(folder / "protected.csv", shown)
    path = folder / "release.toml"
    path.write_text(RELEASE.format(protected="protected = true" if what == "hidden" else ""))
    return path


@pytest.mark.parametrize("what", ["hidden", "coarser"])
def test_what_other_columns_tell_of_cells_that_were_hidden_before_fails(
    tmp_path: Path, what: str
) -> None:
    verdict = Release.load(write_release(tmp_path, what=what)).check()
    assert verdict.status == "fail"
    [outcome] = verdict.outcomes
    assert "inferred from other columns" in " ".join(map(str, outcome.sentences))


def test_what_was_hidden_before_passes_where_nothing_tells_it(tmp_path: Path) -> None:
    path = write_release(tmp_path, what="hidden")
    text = path.read_text().replace('non_identifying = ["stratum", "born"]', "", 1)
    path.write_text(text.replace("protected = true", 'protected = true\nunlisted = "drop"'))
    verdict = Release.load(path).check()
    assert verdict.status == "pass"
    assert verdict.refills["people"].claimed == 0


@pytest.mark.parametrize("what", ["hidden", "coarser"])
def test_protection_withstands_what_tells_of_an_earlier_one(tmp_path: Path, what: str) -> None:
    p = Release.load(write_release(tmp_path, what=what)).protect(tmp_path / "out")
    assert p.status == "pass"
    assert p.published == ["people"]
    with (tmp_path / "out" / "release" / "protected.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows
    regions = {int(str(row["stratum"])): row["region"] for row in make_people()}
    counts: dict[tuple[object, ...], int] = {}
    for row in rows:
        region = regions[int(row["stratum"])] if row["stratum"] else row["region"]
        age = 2020 - int(row["born"]) if row["born"] else row["age"]
        alike = (region, age, row["sex"])
        counts[alike] = counts.get(alike, 0) + 1
    assert min(n for alike, n in counts.items() if "suppressed" not in alike) >= 3


MARKED = """
[[dataset]]
name = "people"
source = "people.csv"
hidden = "suppressed"
roles = { quasi_identifier = ["age", "sex"] }
[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
knows = ["age", "sex"]
[[limit]]
"""
ALIKE = 'dataset = "people"\nmeasure = "k_anonymity"\nat_least = 2\n'
SINGLED_OUT = 'adversary = "neighbour"\nmeasure = "deterministic.posterior"\nat_most = 0.05\n'


@pytest.mark.parametrize("limit", [ALIKE, SINGLED_OUT])
def test_what_was_hidden_before_is_not_judged_without_its_original_and_is_nobodys_original(
    tmp_path: Path, limit: str
) -> None:
    # The fifth has no age, as everybody can see, and is the only one.
    lines = ["age,age_status,sex", *["20,,F"] * 4, ",,F", ",suppressed,F"]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "release.toml").write_text(MARKED + limit)
    release = Release.load(tmp_path / "release.toml")
    assert release.check().status == "not judged"
    p = release.protect(tmp_path / "out")
    assert p.status == "not judged"
    assert not (tmp_path / "out" / "release").exists()


def test_limits_that_hidden_cells_do_not_concern_are_still_protected(tmp_path: Path) -> None:
    lines = ["age,age_status,sex,town"]
    lines += [f"20,,{'FM'[n % 2]},{'ab'[n % 3 == 0]}" for n in range(40)]
    lines += [",suppressed,F,a", "20,,F,c"]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    text = MARKED.replace('["age", "sex"]', '["age", "sex", "town"]', 1) + ALIKE
    text += '[[limit]]\nmeasure = "k_anonymity"\ndataset = "people"\namong = ["sex", "town"]\n'
    (tmp_path / "release.toml").write_text(text + "at_least = 3\n")
    p = Release.load(tmp_path / "release.toml").protect()
    assert [outcome.status for outcome in p.after.outcomes] == ["not judged", "pass"]
    assert p.status == "not judged"


@pytest.mark.parametrize("verb", ["suppress", "recode"])
def test_a_file_that_hides_cells_already_is_no_original_for_anybody(
    tmp_path: Path, verb: str
) -> None:
    lines = ["age,age_status,sex", *["20,,F"] * 4, "30,,F", ",suppressed,F"]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    keys = {"quasi_identifier": ["age", "sex"]}
    people = dv.read(tmp_path / "people.csv", hidden="suppressed", roles=keys)
    with pytest.raises(dv.InvalidInput, match="before"):
        if verb == "suppress":
            dv.protection.suppress(people, k=2)
        else:
            dv.protection.recode(people, [dv.Limit("k_anonymity", at_least=2)])


def test_cells_that_were_absent_before_are_neither_hidden_nor_wrongly_refilled(
    tmp_path: Path,
) -> None:
    path = write_release(tmp_path, what="hidden")
    with (tmp_path / "people.csv").open() as file:
        before: list[dict[str, object]] = [dict(row) for row in csv.DictReader(file)]
    with (tmp_path / "protected.csv").open() as file:
        shown: list[dict[str, object]] = [dict(row) for row in csv.DictReader(file)]
    hidden = sum(not row["region"] for row in shown)
    # Many of the commonest regions were never said; their stratum is known all the same.
    for own, row in zip(before, shown, strict=True):
        if own["region"] in ("a", "b") and int(str(own["born"])) % 2:
            hidden -= not row["region"]
            own["region"] = row["region"] = ""
    write_rows(tmp_path / "people.csv", before)
    write_rows(tmp_path / "protected.csv", shown)
    absent = sum(not row["region"] for row in before)
    assert absent > 2 * hidden > 0
    verdict = Release.load(path).check()
    found = verdict.refills["people"]
    assert (found.hidden, found.verified) == (hidden, hidden)
    assert f"of {hidden} suppressed cells" in " ".join(found.explain())
    assert verdict.status == "fail"
