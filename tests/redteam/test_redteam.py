"""Nothing that passes is refuted by plain code that reads the published file and knows the source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.redteam.campaign import KINDS, attack_seed
from tests.redteam.differencing import combine
from tests.redteam.known import FOUND, FOUND_KINDS, FOUND_LOCAL
from tests.redteam.made_releases import Case, Row, list_coarser, write_case
from tests.redteam.oracle import (
    BOLD,
    DOCUMENTED,
    HIDDEN,
    Evidence,
    Shown,
    count_excluded,
    downcode,
    find_published,
    list_broken_limits,
    list_faults,
    read_evidence,
    read_source,
    refill,
    write_text,
)

from divulge import Release

SEEDS = [seed for seed in range(60) if seed not in FOUND][:30]


@pytest.mark.parametrize("seed", [*SEEDS, *FOUND])
def test_no_release_that_passes_is_refuted(tmp_path: Path, seed: int) -> None:
    finding = attack_seed(seed, tmp_path)
    assert finding.faults == []
    assert finding.bold == []


@pytest.mark.parametrize(
    ("seed", "local"),
    [*FOUND_LOCAL, *((seed, local) for seed in (3, 5, 8) for local in ("nested", "clusters"))],
)
def test_no_release_that_is_recoded_record_by_record_is_refuted(
    tmp_path: Path, seed: int, local: str
) -> None:
    finding = attack_seed(seed, tmp_path, local)
    assert finding.faults == []
    assert finding.bold == []


@pytest.mark.parametrize(
    ("kind", "seed"), [*((kind, seed) for kind in KINDS for seed in range(3)), *FOUND_KINDS]
)
def test_no_release_of_another_kind_that_passes_is_refuted(
    tmp_path: Path, kind: str, seed: int
) -> None:
    finding = KINDS[kind](seed, tmp_path)
    assert finding.faults == []
    assert finding.bold == []


def make_case(rows: list[Row], **settings: object) -> Case:
    case = Case(
        seed=0,
        path=Path("release.toml"),
        source=Path("people.csv"),
        rows=rows,
        keys=("region", "age"),
        k=None,
        l_diversity=False,
        model=None,
        at_most=0.0,
        local=False,
        decoys=0.0,
    )
    return replace(case, **settings)  # type: ignore[arg-type]


def publish(case: Case, hidden: set[tuple[int, str]]) -> Evidence:
    records: list[Shown] = [
        {name: HIDDEN if (place, name) in hidden else write_text(v) for name, v in row.items()}
        for place, row in enumerate(case.rows)
    ]
    return Evidence(case=case, records=records, victims=case.rows)


def shown(case: Case) -> list[tuple[Shown, Row]]:
    return list(zip(publish(case, set()).records, case.rows, strict=True))


def make_row(region: str, age: int | None, job: str, shoe: int = 40) -> Row:
    return {"region": region, "age": age, "job": job, "shoe": shoe}


def test_one_shown_record_among_wildcards_is_worth_little_more_than_one() -> None:
    # 39 others show ages of their own; five records of the region hide theirs.
    rows = [make_row("Nord", age, "cook") for age in range(40)]
    rows += [make_row("Nord", 90, "cook")] * 5
    case = make_case(rows, k=2)
    evidence = publish(case, {(place, "age") for place in range(40, 45)})
    assert evidence.effective_frequency(rows[0]) == pytest.approx(1.125)  # docs/risk.md
    assert list(list_broken_limits(evidence)) == ["k is 1.1250, and should be 2"]


def test_absent_is_a_value_and_hidden_is_not() -> None:
    rows = [make_row("Nord", None, "cook"), make_row("Nord", 30, "clerk")]
    case = make_case(rows, model="CRS")
    assert list(list_broken_limits(publish(case, set())))
    assert not list(list_broken_limits(publish(case, {(0, "age"), (1, "age")})))
    # The absent age of the first is seen; only one record can be theirs.
    only_second = publish(case, {(1, "age")})
    assert len(only_second.find_candidates(rows[1])) == 1


def test_one_secret_among_those_who_fit_is_certain() -> None:
    rows = [make_row("Nord", 30, "cook"), make_row("Nord", 30, "cook")]
    case = make_case(rows, k=2, l_diversity=True, model="CAS")
    assert list(list_broken_limits(publish(case, set()))) == [
        "l is 1, and should be 2",
        "1.0000 are certain by CAS, at most 0.0 may be",
    ]


@pytest.mark.parametrize(("each", "believed"), [(40, (DOCUMENTED, BOLD)), (18, (BOLD,)), (8, ())])
def test_a_relation_is_believed_from_its_evidence_on(
    each: int, believed: tuple[object, ...]
) -> None:
    rows = [make_row("Nord", 30, "cook", shoe=38) for _ in range(each)]
    rows += [make_row("Sud", 30, "cook", shoe=44) for _ in range(each)]
    evidence = publish(make_case(rows), {(0, "region")})
    for standard in (DOCUMENTED, BOLD):
        text = refill(evidence, standard).records[0]["region"]
        assert text == ("Nord" if standard in believed else HIDDEN)


def test_a_relation_that_is_wrong_for_a_hidden_cell_fills_nothing() -> None:
    rows = [make_row("Nord", 30, "cook", shoe=38) for _ in range(40)]
    rows += [make_row("Sud", 30, "cook", shoe=44) for _ in range(40)]
    rows += [make_row("Sud", 30, "cook", shoe=38)]
    evidence = publish(make_case(rows), {(0, "region"), (80, "region")})
    assert refill(evidence, BOLD).records == evidence.records


def test_a_year_of_birth_brings_an_age_in_bands_back() -> None:
    rows = [make_row("Nord", age, "cook") | {"birth_year": 2020 - age} for age in range(80)]
    case = make_case(rows, keys=("age",))
    bands = [{**record, "age": list_coarser("age", row["age"])[0]} for record, row in shown(case)]
    evidence = Evidence(case=case, records=bands, victims=rows)
    assert [r["age"] for r in downcode(evidence, DOCUMENTED).records] == [str(n) for n in range(80)]
    wrong = [{**record, "birth_year": "1990"} for record in bands]
    untold = replace(evidence, records=wrong)
    assert downcode(untold, DOCUMENTED).records == wrong


def test_two_files_together_show_what_either_of_them_shows() -> None:
    rows = [make_row("Nord", 30, "cook") | {"receipt": n} for n in range(3)]
    one, other = (publish(make_case(rows), {(place, "age"), (2, "age")}) for place in (0, 1))
    both = combine(one, other)
    assert [record["age"] for record in both.records] == ["30", "30", HIDDEN]


def find_passing_case(folder: Path) -> Case:
    """The first release that something may go out of."""
    for seed in SEEDS:
        case = write_case(folder, seed)
        if Release.load(case.path).protect(out=folder / "out", overwrite=True).passed:
            return case
    raise AssertionError("no release passes")


def test_what_must_not_go_out_is_noticed(tmp_path: Path) -> None:
    case = find_passing_case(tmp_path)
    evidence = read_evidence(case, find_published(tmp_path / "out"))
    named = [{**record, "name": "Name 1"} for record in evidence.records]
    assert "columns: ['name']" in list(list_faults(replace(evidence, records=named, candidates={})))
    wrong = [{**record, "job": "spy"} for record in evidence.records]
    faults = list(list_faults(replace(evidence, records=wrong, candidates={})))
    assert sum(f.startswith("job shows 'spy'") for f in faults) == len(wrong)
    # The source as it is, without its ids, breaks the limits that the release was protected for.
    assert list(list_broken_limits(read_source(case)))


def test_the_oracle_excludes_what_would_have_been_safe() -> None:
    rows: list[Row] = [{"region": "Nord", "age": age} for age in (30, 30, 40, 41, 50)]
    rows.append({"region": "Sud", "age": 30})
    evidence = publish(make_case(rows), {(3, "age"), (4, "age")})
    assert count_excluded(evidence, ["region", "age"], 3) == {
        "hidden": 2,
        "narrowed": 2,
        "misled": 0,
    }
    assert count_excluded(evidence, ["region", "age"], 4)["narrowed"] == 0
    needless = publish(make_case(rows), {(0, "age")})
    assert count_excluded(needless, ["region", "age"], 2)["misled"] == 1
