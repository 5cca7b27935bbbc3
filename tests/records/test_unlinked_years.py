"""Two years without an id: what is expected lies where hidden ids say that it is."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import divulge as dv
from divulge import work
from divulge.records import tuning
from divulge.records.unlinked.pair_likelihoods import _propagate

LINK = {
    "day_of_birth": "same",
    "month_of_birth": "same",
    "year_of_birth": "same",
    "gender": "same",
    "city_of_birth": "same",
    "school_code": "moves",
}
KNOWN = ["school_code", "year_of_birth"]


def census_years(rows: int, seed: int) -> list[dv.Dataset]:
    """Two years of a census with a key: some leave, others come, some change school."""
    whole = dv.datasets.school_census(rows + rows // 8, seed).to_arrow()
    draw = np.random.default_rng(seed)
    whole = whole.append_column("key", pa.array(draw.permutation(len(whole))))
    first = whole.slice(0, rows)
    stays = np.flatnonzero(draw.random(rows) >= 0.1)
    second = pa.concat_tables([first.take(stays), whole.slice(rows)])
    school = second["school_code"].to_numpy().copy()
    moves = draw.random(len(second)) < 0.15
    school[moves] = draw.choice(whole["school_code"].to_numpy(), int(moves.sum()))
    place = second.column_names.index("school_code")
    second = second.set_column(place, "school_code", pa.array(school))
    second = second.take(draw.permutation(len(second)))
    return [dv.Dataset.from_arrow(first, name="2014"), dv.Dataset.from_arrow(second, name="2015")]


@pytest.mark.parametrize("seed", range(20))
def test_who_is_really_found_lies_within_a_narrow_range(seed: int) -> None:
    years = census_years(2000, seed)
    found = dv.records.unlinked_years(years, LINK, KNOWN, truth="key")
    linked = dv.records.attack(years, "CRL", KNOWN, on="key").probabilistic.posterior
    figures = found.figures
    assert figures["lowest"] <= figures["measured"] <= figures["highest"]
    assert figures["highest"] - figures["lowest"] <= 0.25 * (linked - figures["alone"])
    assert figures["alone"] < found.probabilistic.posterior < linked
    assert found.claim == "estimate"
    assert figures["leaving"] == pytest.approx(0.1, abs=0.03)
    assert figures["staying.school_code"] == pytest.approx(0.85, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_a_secret_is_guessed_as_often_as_is_said_also_where_links_are_doubtful(seed: int) -> None:
    years = census_years(1500, seed)
    weak = {name: LINK[name] for name in LINK if name not in ("day_of_birth", "month_of_birth")}
    for seeks in (None, "transport"):
        figures = dv.records.unlinked_years(years, weak, KNOWN, seeks, truth="key").figures
        assert figures["lowest"] <= figures["measured"] <= figures["highest"]


def test_who_is_alone_in_all_that_stays_is_linked_as_by_an_id() -> None:
    years = census_years(400, 1)
    link = {"key": "same"}
    found = dv.records.unlinked_years(years, link, KNOWN, "transport", leaving=0.1, coming=0.1)
    linked = dv.records.attack(years, "CAL", KNOWN, "transport", on="key")
    assert found.right.posterior == pytest.approx(linked.right.posterior, abs=1)
    assert found.right.prior == linked.right.prior
    alone = dv.records.attack(years[0], "CAS", KNOWN, "transport")
    assert found.certain == alone.certain


def test_a_link_that_tells_nobody_apart_adds_nothing() -> None:
    tables = [
        pa.table(
            {"same": [0] * 40, "a": [i % 3 for i in range(40)], "s": [i % 2 for i in range(40)]}
        )
        for _ in range(2)
    ]
    years = [dv.Dataset.from_arrow(table, name=f"year {n}") for n, table in enumerate(tables)]
    found = dv.records.unlinked_years(years, {"same": "same"}, "a", "s", leaving=0.1, coming=0.1)
    assert found.probabilistic.posterior == pytest.approx(found.figures["alone"])


def test_what_grows_alike_for_all_links_years() -> None:
    first = pa.table({"age": [6, 7, 8, None], "class": [1, 1, 1, 1], "town": ["a", "b", "c", "d"]})
    second = pa.table({"age": [9, 8, 7, None], "class": [4, 3, 2, 5], "town": ["c", "b", "a", "d"]})
    years = [dv.Dataset.from_arrow(each, name=str(n)) for n, each in enumerate((first, second))]
    rates: Any = {"leaving": 0.01, "coming": 0.01, "truth": "town"}
    found = dv.records.unlinked_years(years, {"age": 1}, "class", **rates).figures
    assert (found["alone"], found["measured"]) == (0.25, 1.0)
    still = dv.records.unlinked_years(years, {"age": 0}, "class", **rates).figures
    assert still["measured"] < 1


@st.composite
def forests(draw: st.DrawFn) -> list[tuple[int, int, float]]:
    """Pairs without a circle, and their weights."""
    pairs: list[tuple[int, int, float]] = []
    group = {("a", i): i for i in range(4)} | {("b", i): 4 + i for i in range(4)}
    for a, b in draw(st.permutations([(a, b) for a in range(4) for b in range(4)])):
        one, other = group["a", a], group["b", b]
        if one != other and draw(st.booleans()):
            group = {who: (one if each == other else each) for who, each in group.items()}
            pairs.append((a, b, draw(st.sampled_from([0.1, 1.0, 7.0, 300.0]))))
    return pairs


@given(forests())
@settings(max_examples=50)
def test_pairs_are_as_likely_as_all_matchings_say(pairs: list[tuple[int, int, float]]) -> None:
    total, heft = 0.0, np.zeros(len(pairs))
    for size in range(len(pairs) + 1):
        for chosen in combinations(range(len(pairs)), size):
            ends = [("a", pairs[p][0]) for p in chosen] + [("b", pairs[p][1]) for p in chosen]
            if len(set(ends)) == len(ends):
                weight = float(np.prod([pairs[p][2] for p in chosen]))
                total += weight
                heft[list(chosen)] += weight
    first, second, weights = (np.array([pair[i] for pair in pairs]) for i in range(3))
    found = _propagate(first.astype(int), second.astype(int), weights.astype(float), 4, 4)
    assert found == pytest.approx(heft / total, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"link": {"school_code": "moves"}}, "needs an attribute that never changes"),
        ({"link": {"gendre": "same"}}, 'Did you mean "gender"'),
        ({"link": {"gender": "sometimes"}}, '"same", "moves", or a number'),
        ({"link": {"gender": 1}}, "contains no numbers that grow"),
        ({"seeks": "school_code"}, "is known already"),
        ({"truth": "id"}, 'no attribute "id"|"id"'),
        ({"leaving": 2}, "leaving"),
        ({"staying": {"gender": 0.5}}, "is not linked as what moves"),
    ],
)
def test_what_cannot_link_years_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(work.InvalidInput, match=said):
        dv.records.unlinked_years(census_years(50, 0), **{"link": LINK, "knows": KNOWN, **options})


def test_too_many_pairs_and_records_elsewhere_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    years = census_years(50, 0)
    with pytest.raises(work.InvalidInput, match="give two years"):
        dv.records.unlinked_years(years[:1], LINK, KNOWN)
    pq.write_table(years[0].to_arrow(), tmp_path / "first.parquet")
    elsewhere = dv.scan(tmp_path / "first.parquet")
    with pytest.raises(work.InvalidInput, match="in memory only"):
        dv.records.unlinked_years([elsewhere, years[1]], LINK, KNOWN)
    monkeypatch.setattr(tuning, "MAX_MATCHING_PAIRS", 100)
    with pytest.raises(work.DivulgeError, match="name more attributes that never change"):
        dv.records.unlinked_years(years, {"gender": "same"}, KNOWN)
