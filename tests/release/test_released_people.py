"""A release of people with several records: judged by people, from the written files alone."""

import csv
import random
from pathlib import Path
from typing import Any

import pytest
from tests.records import plain_people as plain

from divulge.protection import OutOfReachError
from divulge.release import Release
from divulge.work import InvalidInput

KEYS = ["age", "sex", "town"]

RELEASE = """
[[dataset]]
name = "visits"
source = "visits.csv"
{settings}

[dataset.roles]
person = "pid"
quasi_identifier = ["age", "sex", "town"]
sensitive = ["ill"]
non_identifying = ["visit"]

[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
dataset = "visits"
knows = ["age", "sex", "town"]
{adversary}

{limits}

[protection]
methods = ["recode", "suppress"]
out_of_reach = "remove"
"""

CROWD = """
[[limit]]
dataset = "visits"
measure = "k_anonymity"
at_least = 2
"""

CERTAIN = """
[[limit]]
adversary = "neighbour"
measure = "deterministic.posterior"
at_most = 0.0
"""


def make_visits(seed: int, people: int = 12) -> list[dict[str, str]]:
    draw = random.Random(seed)  # noqa: S311  # made-up data
    visits: list[dict[str, str]] = []
    for person in range(people):
        for _ in range(draw.choice([1, 1, 2, 3])):
            visit = {
                "visit": f"v{len(visits)}",
                "pid": f"p{person}",
                "age": draw.choice(["young", "old", "very old"]),
                "sex": draw.choice("fm"),
                "town": draw.choice("ABC"),
                "ill": draw.choice(["flu", "cold"]),
            }
            visits.append(visit)
    return visits


def write(
    folder: Path,
    visits: list[dict[str, str]],
    limits: str = CROWD + CERTAIN,
    *,
    settings: str = "",
    adversary: str = "",
) -> Release:
    with (folder / "visits.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, visits[0])
        writer.writeheader()
        writer.writerows(visits)
    text = RELEASE.format(limits=limits, settings=settings, adversary=adversary)
    (folder / "release.toml").write_text(text)
    return Release.load(folder / "release.toml")


def read_written(out: Path, visits: list[dict[str, str]]) -> tuple[list[Any], list[Any]]:
    """What was written, with the persons whom its reader knows; and the same records before."""
    before = {visit["visit"]: visit for visit in visits}
    with (out / "release" / "visits.csv").open(newline="") as file:
        released = list(csv.DictReader(file))
    assert all("pid" not in row for row in released)
    originals = [before[row["visit"]] for row in released]
    named = [{**row, "pid": one["pid"]} for row, one in zip(released, originals, strict=True)]
    return named, originals


def test_people_are_counted_by_check(tmp_path: Path) -> None:
    one = {"pid": "a", "age": "old", "sex": "f", "town": "A", "ill": "flu"}
    alike = [{"visit": f"v{place}", **one} for place in range(3)]
    verdict = write(tmp_path, [*alike, {**alike[0], "visit": "v3", "pid": "b"}]).check()
    assert verdict.status == "pass"
    verdict = write(tmp_path, alike[:3]).check()
    assert verdict.status == "fail"
    [crowd, certain] = verdict.outcomes
    assert (crowd.value, certain.value) == (1, 1)
    assert any("1 of them with 3 records" in str(sentence) for sentence in crowd.sentences)


@pytest.mark.parametrize("seed", range(12))
def test_what_was_written_keeps_its_limits_by_people(tmp_path: Path, seed: int) -> None:
    visits = make_visits(seed)
    out = tmp_path / "out"
    assert write(tmp_path, visits).protect(out).after.status == "pass"
    named, originals = read_written(out, visits)
    for people, _ in plain.weigh_people(named, originals, KEYS, "suppressed"):
        assert people >= 2 - 1e-9
    shown = plain.count_people(named, KEYS, "one")
    assert min(shown) >= 2  # to a reader who takes hidden for a value


def test_company_for_people_does_not_cost_the_whole_file(tmp_path: Path) -> None:
    draw = random.Random(9)  # noqa: S311  # made-up data
    visits = [
        {"visit": f"v{person}.{n}", "pid": f"p{person}", "age": age, "town": town, "ill": "flu"}
        for person in range(100)
        for age, town in [(str(draw.randint(1, 4)), draw.choice("ABC"))]
        for n in range(draw.randint(1, 4))
    ]
    visits = [{**visit, "sex": draw.choice("fm")} for visit in visits]
    result = write(tmp_path, visits, CROWD.replace("at_least = 2", "at_least = 4")).protect()
    assert result.status == "pass"
    assert 0 < result.suppressed_cells < 0.3 * len(KEYS) * len(visits)


@pytest.mark.parametrize("seed", range(4))
def test_who_knows_all_records_finds_nobody_in_what_was_written(tmp_path: Path, seed: int) -> None:
    visits = make_visits(seed, people=20)
    visits = [{**visit, "age": "old", "town": "A"} for visit in visits]
    everything = 'records_known = "all"\n'
    out = tmp_path / "out"
    limits = CROWD + everything + CERTAIN
    result = write(tmp_path, visits, limits, adversary=everything).protect(out)
    assert result.after.status == "pass"
    named, _ = read_written(out, visits)
    assert all(row[name] != "suppressed" for row in named for name in KEYS)
    assert min(plain.count_people(named, KEYS, "all")) >= 2


def test_published_ids_link_records_so_that_all_are_known(tmp_path: Path) -> None:
    # Each record has company, but nobody else has both of them.
    rows = [("a", "old"), ("a", "young"), ("b", "old"), ("b", "old"), ("c", "young")]
    visits = [
        {"visit": f"v{place}", "pid": pid, "age": age, "sex": "f", "town": "A", "ill": "flu"}
        for place, (pid, age) in enumerate(rows)
    ]
    assert write(tmp_path, visits).check().status == "pass"
    linked = write(tmp_path, visits, settings='publish = ["pid"]').check()
    assert linked.status == "fail"
    assert [outcome.value for outcome in linked.outcomes] == [1, 1]
    seeking = 'model = "CAS"\nseeks = "ill"'
    release = write(tmp_path, visits, settings='publish = ["pid"]')
    text = (tmp_path / "release.toml").read_text().replace('model = "CRS"', seeking)
    (tmp_path / "release.toml").write_text(text)
    unjudged = Release.load(release.path).check()
    assert [outcome.status for outcome in unjudged.outcomes] == ["fail", "not judged"]
    with pytest.raises(OutOfReachError):
        unjudged.release.protect(tmp_path / "out")


def test_measures_of_records_are_not_judged_and_keep_nothing_from_being_protected(
    tmp_path: Path,
) -> None:
    diverse = """
[[limit]]
dataset = "visits"
measure = "distinct_l_diversity"
at_least = 1
"""
    visits = make_visits(3)
    release = write(tmp_path, visits, CROWD + diverse)
    assert [outcome.status for outcome in release.check().outcomes] == ["fail", "not judged"]
    after = release.protect(tmp_path / "out").after
    assert [outcome.status for outcome in after.outcomes] == ["pass", "not judged"]
    assert after.status == "not judged"


def test_links_are_of_records_and_not_judged_where_people_have_several(tmp_path: Path) -> None:
    visits = make_visits(3)
    towns = {visit["pid"]: visit["town"] for visit in visits}
    lived = [{**visit, "town": towns[visit["pid"]]} for visit in visits]
    limit = CROWD.rstrip() + '\nlinks = "town"\n'
    release = write(tmp_path, lived, limit)
    assert release.check().status == "not judged"
    after = release.protect(tmp_path / "out").after
    assert [outcome.status for outcome in after.outcomes] == ["not judged"]
    assert "clusters are of records" in after.outcomes[0].in_short
    # A person of two towns is no member of one cluster.
    with pytest.raises(InvalidInput, match=r'have several values of "town"'):
        write(tmp_path, visits, limit).check()


def test_a_record_of_nobody_is_not_judged(tmp_path: Path) -> None:
    visits = make_visits(1)
    visits[0]["pid"] = ""
    verdict = write(tmp_path, visits).check()
    assert verdict.status == "not judged"
    assert {outcome.status for outcome in verdict.outcomes} == {"not judged"}
