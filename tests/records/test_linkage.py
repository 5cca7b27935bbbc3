"""Linkage to a register against a plain loop over pairs."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import divulge as dv

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "town": st.sampled_from(["A", "B", None]),
            "age": st.one_of(st.none(), st.integers(20, 24)),
            "name": st.sampled_from(["martha", "marhta", "john", "jon"]),
        }
    ),
    min_size=1,
    max_size=12,
)
SCHEMA = pa.schema(
    [("id", pa.int64()), ("town", pa.string()), ("age", pa.int64()), ("name", pa.string())]
)


def dataset(rows: list[dict[str, Any]], name: str) -> dv.Dataset:
    numbered = [{"id": number, **row} for number, row in enumerate(rows)]
    return dv.Dataset.from_arrow(pa.Table.from_pylist(numbered, SCHEMA), name=name)


KINDS = {"age": ("near", 1), "name": "equal"}


def compared(one: dict[str, Any], other: dict[str, Any]) -> dict[str, bool | None]:
    ages = (one["age"], other["age"])
    near = None if None in ages else abs(ages[0] - ages[1]) <= 1
    return {"age": near, "name": one["name"] == other["name"]}


@settings(deadline=None, max_examples=15)
@given(ROWS, ROWS, st.sampled_from([None, 0.9, {"age": 0.8}]), st.sampled_from([None, 0.5]))
def test_the_posterior_over_candidates_is_that_of_a_plain_loop_over_pairs(
    released: list[dict[str, Any]], register: list[dict[str, Any]], agreement: Any, coverage: Any
) -> None:
    arguments: dict[str, Any] = {
        "block": "town", "compare": KINDS, "truth": "id", "agreement": agreement,
        "coverage": coverage,
    }  # fmt: skip
    release, people = dataset(released, "release"), dataset(register, "register")
    found = dv.records.link(release, people, **arguments)
    odds: dict[int, dict[int, float]] = {}
    pairs = 0
    for i, one in enumerate(released):
        for j, other in enumerate(register):
            if None not in (one["town"], other["town"]) and one["town"] != other["town"]:
                continue
            pairs += 1
            odds.setdefault(i, {})[j] = 1.0
            for name, yes in compared(one, other).items():
                m, u = found.figures[f"agreement of {name}"], found.figures[f"chance of {name}"]
                if yes is not None:  # a missing value says nothing
                    odds[i][j] *= m / u if yes else (1 - m) / (1 - u)
    right, certain, belief = 0.0, 0, np.zeros(len(released))
    inside = found.figures["coverage"]
    for i, each in odds.items():
        nobody = len(each) * (1 - inside) / inside
        best = [j for j, score in each.items() if score >= max(each.values()) * (1 - 1e-9)]
        right += (i in best) / len(best)
        certain += list(each) == [i]
        belief[i] = each.get(i, 0.0) / (sum(each.values()) + nobody)
    assert found.figures["candidate_pairs"] == pairs
    assert found.right.posterior == pytest.approx(right)
    assert found.certain.posterior == certain
    assert found.risk() == pytest.approx(belief)
    assert sum(a.right.posterior for a in found.by("name").values()) == pytest.approx(right)
    table = dv.records.candidates(release, people, **arguments, most=100).to_pylist()
    likely = {(row["record"], row["person"]): row["probability"] for row in table}
    assert len(likely) == pairs
    for i, each in odds.items():
        total = sum(each.values()) + len(each) * (1 - inside) / inside
        assert {j: likely[i, j] for j in each} == pytest.approx(
            {j: score / total for j, score in each.items()}
        )


def test_hiding_the_block_hides_nobody() -> None:
    """A record without a town may be anybody's, and age still tells whose."""
    people: list[dict[str, Any]] = [
        {"town": "A", "age": 20},
        {"town": "B", "age": 22},
        {"town": "B", "age": 24},
    ]
    hidden = [{"town": None, "age": 20}, *people[1:]]
    found = dv.records.link(
        dataset(hidden, "release"), dataset(people, "register"), "town", {"age": "equal"}, "id"
    )
    assert found.figures["candidate_pairs"] == 3 + 2 * 2
    assert found.right.posterior == 3


def test_too_many_records_without_a_block_are_refused_before_they_are_compared() -> None:
    nobody = dv.Dataset.from_arrow(
        pa.table({"town": pa.nulls(30_000, pa.string()), "age": range(30_000)}), name="release"
    )
    with pytest.raises(dv.work.InvalidInput, match="30,000 records and 30,000 people"):
        dv.records.link(nobody, nobody, "town", {"age": "equal"})


def town_and_register(people: int = 600, seed: int = 3) -> tuple[dv.Dataset, dv.Dataset]:
    """Everybody of a town, and a register that differs in 5, 20 and 10 of a hundred values."""
    random = np.random.default_rng(seed)
    wrong = {"year": 0.05, "street": 0.20, "trade": 0.10}
    values = {"year": 60, "street": 40, "trade": 25}
    block = random.integers(0, 20, people)
    truth = {name: random.integers(0, number, people) for name, number in values.items()}
    noted = {
        name: np.where(random.random(people) < wrong[name],
                       random.integers(0, values[name], people), column)
        for name, column in truth.items()
    }  # fmt: skip
    ids = np.arange(people)
    made = [
        dv.Dataset.from_arrow(pa.table({"id": ids, "quarter": block, **columns}), name=name)
        for name, columns in (("release", truth), ("register", noted))
    ]
    return made[0], made[1]


COMPARE = {"year": "equal", "street": "equal", "trade": "equal"}


def test_how_often_true_pairs_agree_is_learnt_without_knowing_which_are_true() -> None:
    release, register = town_and_register()
    found = dv.records.link(release, register, "quarter", COMPARE, truth="id")
    counted = dv.records.link(release, register, "quarter", COMPARE, "id", agreement="truth")
    for name, expected in (("year", 0.95), ("street", 0.80), ("trade", 0.90)):
        assert found.figures[f"agreement of {name}"] == pytest.approx(expected, abs=0.03)
        assert found.figures[f"agreement of {name}"] == pytest.approx(
            counted.figures[f"agreement of {name}"], abs=0.02
        )
        assert found.figures[f"chance of {name}"] == pytest.approx(
            counted.figures[f"chance of {name}"], abs=0.01
        )
    assert found.figures["coverage"] == pytest.approx(1, abs=0.03)
    assert found.probabilistic.posterior > 0.95
    assert "estimated from the pairs themselves" in str(found)


def test_a_register_that_lacks_half_the_people_is_noticed() -> None:
    release, register = town_and_register()
    half = dv.Dataset.from_arrow(register.to_arrow().slice(0, 300), name="half")
    found = dv.records.link(release, half, "quarter", COMPARE, truth="id")
    assert found.figures["coverage"] == pytest.approx(0.5, abs=0.05)
    assert found.probabilistic.posterior == pytest.approx(0.5, abs=0.03)
    unknown = dv.records.link(release, half, "quarter", COMPARE)
    # Without the truth, the posterior expects as many right links as there are.
    assert unknown.probabilistic.posterior == pytest.approx(found.probabilistic.posterior, abs=0.03)
    assert unknown.certain.posterior == 0


def test_the_truth_counts_how_often_true_pairs_agree() -> None:
    release, register = town_and_register(60)
    found = dv.records.link(release, register, "quarter", COMPARE, "id", agreement="truth")
    one, other = release.to_arrow().to_pylist(), register.to_arrow().to_pylist()
    for name in COMPARE:
        share = np.mean([a[name] == b[name] for a, b in zip(one, other, strict=True)])
        assert found.figures[f"agreement of {name}"] == pytest.approx(share, abs=1e-6)


def test_names_that_are_alike_speak_for_a_pair() -> None:
    release = dataset([{"town": "A", "age": 20, "name": "martha"}], "release")
    register = dataset([{"town": "A", "age": 20, "name": n} for n in ("marhta", "john")], "people")
    found = dv.records.link(
        release, register, block="town", compare={"name": ("likeness", 0.9)}, truth="id"
    )
    assert found.right.posterior == 1
    assert found.claim == "estimate"


def test_without_a_truth_the_chance_of_the_best_candidate_is_told() -> None:
    people = dataset([{"town": "A", "age": 20, "name": "john"}] * 4, "people")
    found = dv.records.link(people, people, block=["town", "age"])
    assert found.probabilistic.posterior == pytest.approx(0.25)
    assert "expected to link 1 to the right person (25%)" in str(found)


def test_what_cannot_be_linked_is_said_at_once() -> None:
    people = dataset([{"town": "A", "age": 20, "name": "john"}], "people")
    with pytest.raises(dv.InvalidInput) as error:
        dv.records.link(people, people, block=["twon"], compare={"age": ("nearly", 2)})
    assert 'Did you mean "town"?' in str(error.value)
    assert "is not a comparison" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"agreement": 1.5}, "1.5 is not between 0 and 1"),
        ({"agreement": {"agee": 0.9}}, 'Did you mean "age"?'),
        ({"agreement": "truth"}, "name the id in truth"),
        ({"agreement": "guess"}, "is no agreement"),
        ({"coverage": 0}, "coverage: 0 is not between 0 and 1"),
        ({"compare": {"name": ("likeness", 2)}}, "likeness takes a share"),
        ({"compare": {"age": ("near", "2")}}, "needs a number after its kind"),
        ({"compare": {"name": ("near", 2)}}, '"name": near takes numbers or dates'),
        ({"block": []}, "all records would be compared with everybody"),
    ],
)
def test_evidence_that_cannot_be_is_refused(arguments: dict[str, Any], said: str) -> None:
    people = dataset([{"town": "A", "age": 20, "name": "john"}], "people")
    with pytest.raises(dv.InvalidInput) as error:
        dv.records.link(
            people, people, **{"block": "town", "compare": {"age": "equal"}, **arguments}
        )
    assert said in str(error.value)


def one_value_each(values: list[Any], kind: pa.DataType) -> dv.Dataset:
    people = len(values)
    columns = {"id": range(people), "town": ["A"] * people, "value": pa.array(values, kind)}
    return dv.Dataset.from_arrow(pa.table({n: pa.array(v) for n, v in columns.items()}))


@pytest.mark.parametrize(
    ("values", "shifted", "kind", "distance"),
    [
        ([1, 4, 9], [2, 5, 10], pa.uint64(), 1),
        ([-128, 0, 126], [-127, 1, 127], pa.int8(), 1),
        ([1.0, 2.5, 3.0], [1.1, 2.6, 3.1], pa.float64(), 0.1),
        ([2**62, 2**62 + 4, 0], [2**62 + 1, 2**62 + 5, 1], pa.int64(), 1),
    ],
)
def test_values_at_the_distance_are_near(
    values: list[Any], shifted: list[Any], kind: pa.DataType, distance: float
) -> None:
    found = dv.records.link(
        one_value_each(values, kind),
        one_value_each(shifted, kind),
        block="town",
        compare={"value": ("near", distance)},
        truth="id",
        agreement="truth",
    )
    assert found.probabilistic.posterior == 1


def test_whole_amounts_are_compared_with_those_of_a_register_that_are_not() -> None:
    release = one_value_each([1.0, 2.0], pa.float64())
    register = one_value_each([1.0, 2.5], pa.float64())
    found = dv.records.link(release, register, block="value", truth="id")
    assert found.certain.posterior == 1


def test_a_blind_guess_is_right_only_of_who_is_in_the_register() -> None:
    def people(**columns: list[Any]) -> dv.Dataset:
        return dv.Dataset.from_arrow(pa.table(columns))

    register = people(id=[1], b=["x"])
    stranger = dv.records.link(people(id=[9], b=["x"]), register, block="b", truth="id")
    assert stranger.deterministic.prior == stranger.probabilistic.prior == 0
    assert "for none of them is the right person the only candidate" in str(stranger)
    own = dv.records.link(people(id=[1], b=["x"]), register, block="b", truth="id")
    assert own.deterministic.prior == own.probabilistic.posterior == 1
    likely = dv.records.link(people(id=[1], b=["x"]), register, block="b", coverage=0.25)
    assert likely.probabilistic.prior == 0.25
