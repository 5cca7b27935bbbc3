"""Frequencies under five readings of a missing value, against the paper and pairwise comparison."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import datasets as any_dataset

from divulge import Dataset, datasets, records
from divulge.records.risk.null_readings import SEMANTICS, Nulls
from divulge.work import InvalidInput

Row = tuple[Any, ...]


def rows_of(dataset: Dataset) -> list[Row]:
    return [tuple(map(repr, row.values())) for row in dataset.to_arrow().to_pylist()]


HIDDEN = repr(None)


def maybe_alike(one: Row, other: Row) -> bool:
    return all(a == b or HIDDEN in (a, b) for a, b in zip(one, other, strict=True))


def fits(released: Row, original: Row) -> bool:
    return all(a in (HIDDEN, b) for a, b in zip(released, original, strict=True))


def plain_maybe(rows: list[Row], weights: list[float], alpha: float) -> list[float]:
    found = []
    for mine in rows:
        total = 0.0
        for theirs, weight in zip(rows, weights, strict=True):
            if maybe_alike(mine, theirs):
                weaker = HIDDEN not in mine and HIDDEN in theirs
                total += weight * (alpha if weaker else 1)
        found.append(total)
    return found


def plain_bayes(released: list[Row], original: list[Row]) -> list[float]:
    complete = [row for row in released if HIDDEN not in row]
    found = []
    for victim in original:
        chances = []
        for row in released:
            if not fits(row, victim):
                continue
            hidden = [a for a, cell in enumerate(row) if cell == HIDDEN]
            if not hidden:
                chances.append(1.0)
                continue
            agree = [
                other
                for other in complete
                if all(other[a] == victim[a] for a in range(len(row)) if a not in hidden)
            ]
            same = [other for other in agree if all(other[a] == victim[a] for a in hidden)]
            independent = 1.0
            for a in hidden:
                showing = [other[a] for other in released if other[a] != HIDDEN]
                alike = showing.count(victim[a])
                independent *= alike / len(showing) if alike else 1 / (len(showing) + 1)
            chances.append((len(same) + 20 * independent) / (len(agree) + 20))
        found.append(sum(chances) / max(chances))
    return found


@st.composite
def suppressed(draw: st.DrawFn) -> tuple[Dataset, Dataset]:
    """Records without nulls, and the same with some cells suppressed."""
    rows = draw(st.integers(1, 10))
    names = [f"a{n}" for n in range(draw(st.integers(1, 4)))]
    values = {
        name: draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)) for name in names
    }
    hidden = {name: draw(st.lists(st.booleans(), min_size=rows, max_size=rows)) for name in names}
    after = {
        name: pa.array(
            [
                None if hide else value
                for value, hide in zip(values[name], hidden[name], strict=True)
            ],
            pa.int64(),
        )
        for name in names
    }
    roles = {"quasi_identifier": names}
    return Dataset.from_arrow(pa.table(values), roles), Dataset.from_arrow(pa.table(after), roles)


def test_002_figure_5_before_after_suppression_and_after_recoding() -> None:
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    assert records.frequencies(before, nulls="maybe").sample.tolist() == [1, 2, 2, 2, 2, 1, 1]
    assert records.frequencies(after, nulls="maybe").sample.tolist() == [5, 3, 3, 3, 3, 2, 2]
    known = records.frequencies(after, nulls="known", original=before)
    assert known.sample.tolist() == [1, 3, 3, 3, 3, 2, 2]
    standard = records.frequencies(after, nulls="standard")
    assert standard.sample.tolist() == [1, 2, 2, 2, 2, 2, 2]


def test_002_figure_5_says_where_counting_flatters() -> None:
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    said = str(records.frequencies(after, original=before, nulls="maybe"))
    assert "This count understates the risk" in said
    assert records.frequencies(after, original=before, nulls="maybe").others == {
        "maybe": 0, "standard": 1, "value": 1, "known": 1, "bayes": 1,
    }  # fmt: skip


def test_one_visible_record_among_five_wildcards_of_chance_one_in_forty() -> None:
    """They count as six and leave the victim at 1/1.125, or 89%."""
    sectors = [*range(40), *[None] * 5]
    released = Dataset.from_arrow(pa.table({"sector": sectors, "town": [1] * 45}))
    original = Dataset.from_arrow(
        pa.table({"sector": [*range(40), 3, 7, 7, 9, 12], "town": [1] * 45})
    )
    among = ["sector", "town"]
    maybe = records.frequencies(released, among=among, nulls="maybe")
    bayes = records.frequencies(released, nulls="bayes", among=among, original=original)
    assert maybe.sample[0] == 6
    assert bayes.sample[0] == pytest.approx(1.125)
    assert bayes.claim == "estimate"
    assert bayes.uniques == bayes.below(2) == bayes.summary()["alone_by_semantics"]["bayes"] == 45
    given_prior = records.frequencies(
        released,
        nulls="bayes",
        among=among,
        original=original,
        prior={"sector": dict.fromkeys(range(40), 1 / 40), "town": {1: 1.0}},
    )
    assert given_prior.sample[0] == pytest.approx(1.125)


@given(any_dataset(), st.sampled_from([0.0, 0.5, 1.0]))
def test_a_null_that_may_be_anything_matches_as_pairwise_comparison_says(
    dataset: Dataset, alpha: float
) -> None:
    rows = rows_of(dataset)
    found = records.frequencies(dataset, alpha=alpha, nulls="maybe")
    assert found.sample.tolist() == pytest.approx(plain_maybe(rows, [1.0] * len(rows), alpha))


@given(any_dataset())
def test_a_null_as_a_value_and_a_fresh_null(dataset: Dataset) -> None:
    rows = rows_of(dataset)
    value = records.frequencies(dataset, nulls="value").sample.tolist()
    assert value == [rows.count(row) for row in rows]
    standard = records.frequencies(dataset, nulls="standard").sample.tolist()
    assert standard == [1 if HIDDEN in row else rows.count(row) for row in rows]


@given(suppressed())
def test_who_knows_their_victim_counts_the_records_that_fit(pair: tuple[Dataset, Dataset]) -> None:
    original, released = pair
    before, after = rows_of(original), rows_of(released)
    known = records.frequencies(released, nulls="known", original=original)
    assert known.sample.tolist() == [sum(fits(row, victim) for row in after) for victim in before]
    bayes = records.frequencies(released, nulls="bayes", original=original)
    assert bayes.sample.tolist() == pytest.approx(plain_bayes(after, before))
    assert np.all(bayes.sample <= known.sample + 1e-9)
    assert np.all(known.sample <= records.frequencies(released, nulls="maybe").sample)


@given(
    st.lists(
        st.tuples(st.integers(20, 24), st.sampled_from("FM"), st.booleans(), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_a_value_made_coarser_for_some_weighs_its_part_in_what_is_shown_so(
    people: list[tuple[int, str, bool, bool]],
) -> None:
    before = [(str(age), sex) for age, sex, _, _ in people]
    after = [
        ("20 to 24" if coarse else str(age), HIDDEN if hides else sex)
        for age, sex, coarse, hides in people
    ]
    ways = {
        age: {now[0] for was, now in zip(before, after, strict=True) if was[0] == age}
        for age, _ in before
    }
    ages = [age for age, _ in before]

    def weigh(age: str, shown: str) -> float:
        parts = {
            way: ages.count(age) / sum(way in ways[other] for other in ages) for way in ways[age]
        }
        return parts.get(shown, 0.0) / max(parts.values())

    found = []
    shown_sexes = [sex for _, sex in after if sex != HIDDEN]
    for age, sex in before:
        complete = [row for row in after if row[1] != HIDDEN]
        whole = sum(weigh(age, row[0]) for row in complete if row[1] == sex)
        near = sum(weigh(age, row[0]) for row in complete)
        alike = shown_sexes.count(sex)
        independent = alike / len(shown_sexes) if alike else 1 / (len(shown_sexes) + 1)
        chance = {HIDDEN: (whole + 20 * independent) / (near + 20), sex: 1.0}
        weights = [weigh(age, row[0]) * chance.get(row[1], 0.0) for row in after]
        found.append(sum(weights) / max(weights))
    names = ["age", "sex"]
    original, released = (
        Dataset.from_arrow(
            pa.table(
                {
                    name: pa.array([None if r[a] == HIDDEN else r[a] for r in rows], pa.string())
                    for a, name in enumerate(names)
                }
            )
        )
        for rows in (before, after)
    )
    bayes = records.frequencies(released, nulls="bayes", among=names, original=original)
    assert bayes.sample.tolist() == pytest.approx(found)


def test_a_record_that_shows_more_of_a_victim_weighs_no_less() -> None:
    """Nobody is complete, and one record shows all but one value: those that hide all are no crowd."""
    shown = [("a", "x", None)] + [(None, None, None)] * 30 + [("b", None, "1")] * 20
    table = {n: pa.array([row[a] for row in shown], pa.string()) for a, n in enumerate("pqr")}
    original = {
        n: pa.array([("a", "x", "1")[a] if row[a] is None else row[a] for row in shown])
        for a, n in enumerate("pqr")
    }
    found = records.frequencies(
        Dataset.from_arrow(pa.table(table)),
        nulls="bayes",
        among=list("pqr"),
        original=Dataset.from_arrow(pa.table(original)),
    )
    assert found.sample[0] == pytest.approx(1 + 30 * (1 / 21) * 1)


@given(any_dataset(), st.data())
def test_weights_are_summed_over_those_who_are_counted(
    dataset: Dataset, data: st.DataObject
) -> None:
    weights = data.draw(st.lists(st.integers(1, 50), min_size=dataset.rows, max_size=dataset.rows))
    table = dataset.to_arrow().append_column("weight of it", pa.array(weights))
    names = dataset.names
    weighed = Dataset.from_arrow(table, {"quasi_identifier": names, "weight": "weight of it"})
    found = records.frequencies(weighed, nulls="maybe")
    rows = rows_of(dataset)
    assert found.population.tolist() == plain_maybe(rows, [float(w) for w in weights], 1.0)


def test_values_recoded_for_some_and_not_for_others_are_both_compatible() -> None:
    original = Dataset.from_arrow(pa.table({"town": ["Roma", "Roma", "Latina"]}))
    released = Dataset.from_arrow(pa.table({"town": ["Roma", "Lazio", "Lazio"]}))
    known = records.frequencies(released, nulls="known", among="town", original=original)
    assert known.sample.tolist() == [3, 3, 2]


def test_records_of_many_attributes_are_told_apart_without_overflow() -> None:
    names = [f"a{n}" for n in range(9)]
    values = {name: [n, n, n + 1, n + 2] * 200 for n, name in enumerate(names)}
    for n, name in enumerate(names):
        values[name] = [row * (n + 1) % 701 for row in range(800)]
    wide = Dataset.from_arrow(pa.table(values), {"quasi_identifier": names})
    rows = rows_of(wide)
    assert records.frequencies(wide, nulls="maybe").sample.tolist() == [
        rows.count(row) for row in rows
    ]


def test_who_hides_behind_half_a_record_stands_alone_in_every_figure() -> None:
    released = Dataset.from_arrow(pa.table({"town": ["a", "b", "b", None]}))
    halved = records.frequencies(released, alpha=0.5, among="town", nulls="maybe")
    assert halved.sample.tolist() == [1.5, 2.5, 2.5, 4]
    assert halved.uniques == halved.below(2) == halved.others["maybe"] == 1
    assert str(halved).startswith("1 of 4 records is unique (maybe).")


@pytest.mark.parametrize("nulls", SEMANTICS)
def test_without_nulls_all_readings_agree(nulls: Nulls) -> None:
    companies = datasets.inflation_and_growth_example()
    found = records.frequencies(companies, nulls=nulls, among=["Area", "Sector"])
    assert (
        found.sample.tolist()
        == records.frequencies(companies, among=["Area", "Sector"], nulls="maybe").sample.tolist()
    )
    assert found.uniques == 7


def test_groups_and_pictures_hold_every_record_once() -> None:
    companies = datasets.inflation_and_growth_example()
    found = records.frequencies(companies, among=["Area", "Sector"], nulls="maybe")
    assert sum(bar["count"] for bar in found.chart().records) == 20
    assert sum(part.certain.posterior for part in found.by("Area").values()) == 7
    assert found.assessment().certain.posterior == 7
    assert found.to_dict()["alone_by_semantics"]["maybe"] == 7


def test_what_cannot_be_counted_is_said() -> None:
    after = datasets.local_suppression_example(protected=True)
    before = datasets.local_suppression_example()
    with pytest.raises(InvalidInput, match='Did you mean "maybe"?'):
        records.frequencies(after, nulls="maybee")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="give them as original"):
        records.frequencies(after, nulls="known")
    with pytest.raises(InvalidInput, match="2 is not a share"):
        records.frequencies(after, alpha=2, nulls="maybe")
    with pytest.raises(InvalidInput, match="has 2 records and the release 7"):
        short = Dataset.from_arrow(before.to_arrow().slice(0, 2))
        records.frequencies(after, nulls="known", original=short)


def test_every_risk_shows_the_ways_of_counting_side_by_side() -> None:
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    risk = records.individual_risk(after, "exact", nulls="bayes", original=before)
    assert risk.summary()["alone_maybe"] == 0
    assert risk.summary()["alone_known"] == 1
    assert "This count understates the risk" in str(risk)
    assert "Give the original" in str(records.reidentification_risk(after, nulls="maybe"))
    beside = records.individual_risk(before, nulls="maybe").summary()
    assert {beside[f"alone_{nulls}"] for nulls in ("maybe", "value", "known", "bayes")} == {3}


@pytest.mark.parametrize("nulls", ["standard", "maybe", "known", "bayes"])
def test_hidden_cells_count_however_many_attributes_there_are(nulls: Any) -> None:
    constant = {f"q{i}": [1, 1, 1] for i in range(64)}
    hidden = pa.array([None, 2, None], pa.int64())
    table, before = pa.table({**constant, "z": hidden}), pa.table({**constant, "z": [1, 2, 3]})
    wide = {"quasi_identifier": table.column_names}
    narrow = {"quasi_identifier": ["q0", "z"]}
    found = [
        records.frequencies(
            Dataset.from_arrow(table, roles=roles),
            nulls,
            original=Dataset.from_arrow(before, roles=roles),
        ).sample.tolist()
        for roles in (wide, narrow)
    ]
    assert found[0] == found[1]


@given(seed=st.integers(0, 10**6))
def test_where_a_value_became_the_same_for_all_every_reading_counts_classes(seed: int) -> None:
    """The short way to it, and the long one that compares who may be whose."""
    draws = np.random.default_rng(seed)
    rows = int(draws.integers(1, 30))
    roles: dict[str, str | list[str]] = {"quasi_identifier": ["a", "b"], "weight": "w"}
    original = Dataset.from_arrow(
        pa.table({n: draws.integers(0, 5, rows) for n in "ab"} | {"w": draws.integers(1, 9, rows)}),
        roles=roles,
    )
    coarse = {n: original.to_arrow()[n].to_numpy() // draws.integers(1, 4) for n in "ab"}
    if draws.random() < 0.3:  # of some records only: then the readings differ
        coarse["a"] = np.where(draws.random(rows) < 0.5, 9, coarse["a"])
    released = Dataset.from_arrow(pa.table({**coarse, "w": original.to_arrow()["w"]}), roles=roles)
    for nulls in SEMANTICS:
        short = records.frequencies(released, nulls, original=original)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "divulge.records.risk.frequencies.pattern_counter._is_recoded_alike",
                lambda *_: False,
            )
            long = records.frequencies(released, nulls, original=original)
        assert short.sample.tolist() == pytest.approx(long.sample.tolist())
        assert short.population.tolist() == pytest.approx(long.population.tolist())
        assert dict(short.others) == dict(long.others)
        assert short.weighed == long.weighed
