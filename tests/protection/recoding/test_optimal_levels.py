"""The best levels: equal to trying every combination, and recounted from what is released."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protection.recoding import plain

from divulge import Dataset, Hierarchy, Limit, protection, records
from divulge.protection import tuning
from divulge.work import InvalidInput

LIMITS: dict[str, tuple[list[Limit], list[plain.Test]]] = {
    "k": ([Limit("k_anonymity", at_least=3)], [plain.k_test(3)]),
    "risk": ([Limit("prosecutor_risk", at_most=0.4)], [plain.k_test(3)]),
    "distinct": (
        [
            Limit("k_anonymity", at_least=2),
            Limit("distinct_l_diversity", at_least=2, attribute="s"),
        ],
        [plain.k_test(2), plain.distinct_test(2)],
    ),
    "entropy": (
        [Limit("entropy_l_diversity", at_least=1.6, attribute="s")],
        [plain.entropy_test(1.6)],
    ),
    "recursive": (
        [Limit("recursive_l_diversity", at_least=2, attribute="s", c=2)],
        [plain.recursive_test(2, 2)],
    ),
    "closeness": (
        [Limit("k_anonymity", at_least=2), Limit("t_closeness", at_most=0.35, attribute="s")],
        [plain.k_test(2), plain.closeness_test(0.35)],
    ),
    "likeness": ([Limit("beta_likeness", at_most=0.9, attribute="s")], [plain.likeness_test(0.9)]),
}


def draw_case(seed: int) -> tuple[list[plain.Row], list[str], list[dict[str, tuple[str, ...]]]]:
    draws = random.Random(seed)  # noqa: S311  # made-up data
    ladders = []
    for attribute in range(draws.randint(1, 3)):
        leaves = [f"{attribute}{letter}" for letter in "abcdef"[: draws.randint(1, 6)]]
        depth = draws.randint(0, 3)
        levels: list[dict[str, str]] = [{leaf: leaf for leaf in leaves}]
        for level in range(1, depth + 1):
            nodes = sorted(set(levels[-1].values()))
            groups = max(1, len(nodes) - draws.randint(0, 3))
            merged = {node: f"{attribute}{level}{draws.randrange(groups)}" for node in nodes}
            levels.append({leaf: merged[node] for leaf, node in levels[-1].items()})
        ladders.append({leaf: tuple(level[leaf] for level in levels) for leaf in leaves})
    rows = [
        tuple(draws.choice(list(ladder)) for ladder in ladders) for _ in range(draws.randint(2, 24))
    ]
    return rows, [draws.choice("xyz") for _ in rows], ladders


def build_dataset(
    rows: Sequence[Sequence[str | None]],
    secrets: Sequence[str],
    ladders: Sequence[Mapping[str, tuple[str, ...]]],
) -> Dataset:
    names = [f"q{a}" for a in range(len(ladders))]
    columns = dict(zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True))
    return Dataset.from_arrow(
        pa.table({**columns, "s": secrets}),
        roles={"quasi_identifier": names, "sensitive": ["s"]},
        hierarchies={
            name: Hierarchy.from_levels([list(ladder[leaf]) for leaf in ladder])
            for name, ladder in zip(names, ladders, strict=True)
            if len(next(iter(ladder.values()))) > 1
        },
    )


@pytest.mark.parametrize("which", sorted(LIMITS))
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_the_best_levels_are_those_that_trying_all_finds(
    which: str, seed: int, share: float
) -> None:
    compare_with_enumeration(which, seed, share, "loss")


@pytest.mark.parametrize("utility", ["granularity", "precision", "entropy"])
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.2, 1.0]))
def test_every_utility_is_searched_to_the_end(utility: str, seed: int, share: float) -> None:
    compare_with_enumeration("k", seed, share, utility)


def compare_with_enumeration(which: str, seed: int, share: float, utility: str) -> None:
    rows, secrets, ladders = draw_case(seed)
    limits, tests = LIMITS[which]
    if any(limit.measure == "k_anonymity" and limit.bound > len(rows) for limit in limits):
        return
    dataset = build_dataset(rows, secrets, ladders)
    weights = [1.0 + a for a in range(len(ladders))]
    best = plain.enumerate_levels(
        rows, secrets, ladders, tests,
        most_removed=int(share * len(rows) + 1e-9), utility=utility, weights=weights,
    )  # fmt: skip
    importance = {f"q{a}": weight for a, weight in enumerate(weights)}
    try:
        chosen: Any = utility
        p = protection.recode(dataset, limits, share, utility=chosen, importance=importance)
    except protection.OutOfReachError:
        assert best is None
        return
    except InvalidInput:  # fewer values than a limit asks for
        assert best is None or len(set(secrets)) < 2
        return
    assert best is not None
    levels = tuple(p.levels.get(f"q{a}", 0) for a in range(len(ladders)))
    assert p.proved
    assert p.proof is not None
    assert p.proof.checked + p.proof.excluded + p.proof.bounded == p.proof.combinations
    assert levels in best.levels
    recount(p, rows, secrets, ladders, tests)


def recount(
    p: protection.Protected,
    rows: list[plain.Row],
    secrets: list[str],
    ladders: list[dict[str, tuple[str, ...]]],
    tests: list[plain.Test],
) -> None:
    """What is released is what the levels say, nobody in it fails, and the loss is as told."""
    names = [f"q{a}" for a in range(len(ladders))]
    levels = [p.levels.get(name, 0) for name in names]
    table = p.dataset.to_arrow().to_pydict()
    released = list(zip(*(table[name] for name in names), strict=True))
    kept = [i for i in range(len(rows)) if i not in set(p.decisions.removed_records.tolist())]
    assert released == [plain.coarsen(rows[i], ladders, levels) for i in kept]
    view = list(zip(released, table["s"], strict=True))
    assert not set().union(*(test(view) for test in tests))
    loss = plain.measure_loss(
        rows, ladders, levels, set(range(len(rows))) - set(kept),
        utility="loss", weights=[1.0] * len(names),
    )  # fmt: skip
    assert p.loss == pytest.approx(loss)


@given(seed=st.integers(0, 10**6))
def test_absent_values_are_a_class_of_their_own_at_every_level(seed: int) -> None:
    rows, secrets, ladders = draw_case(seed)
    draws = random.Random(seed + 1)  # noqa: S311  # made-up data
    gaps = [tuple(None if draws.random() < 0.2 else value for value in row) for row in rows]
    with_absence = [
        {**ladder, "absent": ("absent",) * len(next(iter(ladder.values())))} for ladder in ladders
    ]
    filled = [tuple("absent" if value is None else value for value in row) for row in gaps]
    dataset = build_dataset(gaps, secrets, ladders)
    try:
        p = protection.recode(dataset, [Limit("k_anonymity", at_least=2)], 0.3)
    except protection.OutOfReachError:
        return
    levels = [p.levels.get(f"q{a}", 0) for a in range(len(ladders))]
    kept = set(range(len(rows))) - set(p.decisions.removed_records.tolist())
    sizes = Counter(plain.coarsen(filled[i], with_absence, levels) for i in kept)
    assert min(sizes.values()) >= 2


def test_limits_that_need_the_records_are_met_in_the_order_of_loss() -> None:
    rows, secrets, ladders = draw_case(11)
    dataset = build_dataset(rows * 4, secrets * 4, ladders)
    limits = [Limit("reidentification_risk", at_most=0.2)]
    p = protection.recode(dataset, limits, 0.2)
    assert p.proved
    assert p.outcomes[0].held
    best = plain.enumerate_levels(
        rows * 4, secrets * 4, ladders, [plain.k_test(5)], most_removed=int(0.2 * 4 * len(rows))
    )
    assert best is not None
    assert tuple(p.levels.get(f"q{a}", 0) for a in range(len(ladders))) in best.levels


def test_a_limit_on_an_attack_is_met_and_not_called_proved() -> None:
    rows, secrets, ladders = draw_case(5)
    dataset = build_dataset(rows * 2, secrets * 2, ladders)
    limit = Limit("probabilistic.posterior", at_most=0.3)
    p = protection.recode(dataset, [limit], 0.0)
    assert not p.proved
    assert all(outcome.held for outcome in p.outcomes)


def test_what_another_attack_finds_can_be_a_limit_of_recoding() -> None:
    """Somebody who knows one attribute, and is right about one in twenty at the most."""
    table = pa.table(
        {"age": list(range(40)), "born": list(range(1940, 1980)), "sex": ["f", "m"] * 20}
    )
    people = Dataset.from_arrow(
        table,
        roles={"quasi_identifier": ["age", "sex"], "non_identifying": ["born"]},
        hierarchies={"age": Hierarchy.intervals([0, 2, 20, 40], [0, 20, 40], [0])},
    )

    def know_age(released: Dataset, original: Dataset) -> Any:
        return records.attack(released, "CRS", knows=["age"])

    limit = Limit("probabilistic.posterior", at_most=0.05, adversary="neighbour")
    p = protection.recode(people, [limit], 0.0, attacked={"neighbour": (know_age, ["age"])})
    assert p.levels == {"age": 2}
    assert not p.proved


def test_a_model_of_the_population_can_be_a_limit_of_recoding() -> None:
    draws = random.Random(3)  # noqa: S311  # made-up data
    ages = [draws.randint(0, 999) for _ in range(300)]
    dataset = Dataset.from_arrow(
        pa.table({"age": ages, "sex": [draws.choice("fm") for _ in ages]}),
        roles={"quasi_identifier": ["age", "sex"]},
        hierarchies={"age": Hierarchy.intervals(list(range(0, 1_001, 100)), [0, 500, 1_000])},
    )
    limit = Limit("population_uniques", at_most=0.001, sampling_fraction=0.5)
    p = protection.recode(dataset, [limit], 0.0)
    assert p.levels == {"age": 1}
    assert p.outcomes[0].held
    assert not p.outcomes_before[0].held
    assert not p.proved


def test_presence_in_a_list_of_the_population_can_be_a_limit_of_recoding() -> None:
    ages = [20, 21, 22, 30, 31, 40, 41, 42]
    town = Dataset.from_arrow(pa.table({"age": [*ages, 23, 24, 25, 32, 33, 34, 43, 44]}))
    ill = Dataset.from_arrow(
        pa.table({"age": ages}),
        roles={"quasi_identifier": ["age"]},
        hierarchies={"age": Hierarchy.intervals([20, 30, 40, 50], [20, 50])},
    )
    p = protection.recode(ill, [Limit("delta_presence", at_most=0.6, population=town)], 0.0)
    assert p.levels == {"age": 1}
    # Of six in their twenties three are in it, of five in their thirties two, of five three.
    assert p.outcomes[0].value == pytest.approx(0.6)


def test_why_a_level_was_chosen_is_said_by_the_level_below() -> None:
    dataset = build_dataset(
        [("a", "x")] * 3 + [("b", "x"), ("c", "y")],
        list("12345"),
        [{v: (v, "top") for v in "abc"}, {v: (v, "all") for v in "xy"}],
    )
    p = protection.recode(dataset, [Limit("k_anonymity", at_least=3)], 0.0)
    assert p.levels == {"q0": 1, "q1": 1}
    said = str(p.decisions[0])
    assert "at level 0, 2 records would have to be removed, and the limit is 0" in said


def test_a_lattice_too_large_to_be_searched_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(40):
        rows, secrets, ladders = draw_case(seed)
        best = plain.enumerate_levels(
            rows, secrets, ladders, [plain.k_test(2)], most_removed=int(0.3 * len(rows) + 1e-9)
        )
        dataset = build_dataset(rows, secrets, ladders)
        limits = [Limit("k_anonymity", at_least=2)]
        with monkeypatch.context() as patch:
            patch.setattr(tuning, "MOST_LEVEL_COMBINATIONS", 0)
            try:
                p = protection.recode(dataset, limits, 0.3)
            except protection.OutOfReachError:
                continue
        assert best is not None
        assert p.proof is not None
        assert p.proof.lower_bound <= best.loss + 1e-9
        assert p.loss >= best.loss - 1e-9
        if p.proved:
            assert p.loss == pytest.approx(best.loss)
            assert p.proof.checked + p.proof.bounded == p.proof.combinations


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"utility": "los"}, 'Did you mean "loss"?'),
        ({"search": "best"}, "is not one of"),
        ({"suppression_limit": 2.0}, "suppression_limit"),
    ],
)
def test_bad_arguments_are_said(change: dict[str, Any], said: str) -> None:
    rows, secrets, ladders = draw_case(1)
    dataset = build_dataset(rows, secrets, ladders)
    with pytest.raises(InvalidInput, match=said.replace("?", r"\?")):
        protection.recode(dataset, [Limit("k_anonymity", at_least=2)], **change)


def test_a_value_without_a_place_in_its_hierarchy_is_said_by_number() -> None:
    dataset = build_dataset([("a",), ("b",)], ["1", "2"], [{"a": ("a", "t"), "b": ("b", "t")}])
    short = {"q0": Hierarchy.from_levels([["a", "t"]])}
    with pytest.raises(InvalidInput, match='hierarchy of "q0" lacks 1 of 2 values'):
        protection.recode(dataset, [Limit("k_anonymity", at_least=2)], is_a=short)


def test_a_limit_that_the_coarsest_levels_miss_says_by_how_much() -> None:
    dataset = build_dataset(
        [("a", "x")] * 4 + [("b", "y")],
        list("12345"),
        [{"a": ("a", "t"), "b": ("b", "t")}, {"x": ("x",), "y": ("y",)}],
    )
    with pytest.raises(protection.OutOfReachError, match='1 of 5 .* give hierarchies for "q1"'):
        protection.recode(dataset, [Limit("k_anonymity", at_least=2)], 0.0)


def test_a_sensitive_attribute_cannot_be_recoded_too() -> None:
    rows, secrets, ladders = draw_case(1)
    dataset = build_dataset(rows, secrets, ladders)
    limits = [
        Limit("k_anonymity", at_least=2, among=["q0", "s"]),
        Limit("distinct_l_diversity", at_least=2, attribute="s"),
    ]
    with pytest.raises(InvalidInput, match="sensitive and recoded at once"):
        protection.recode(dataset, limits)


def test_of_levels_that_lose_the_same_the_finest_is_taken() -> None:
    """A level that only renames values loses nothing, and is not taken for nothing."""
    renamed = Hierarchy.from_levels(
        [[town, f"town {town}", "all"] for town in ("Roma", "Pisa", "Como")]
    )
    table = pa.table({"town": ["Roma", "Pisa", "Como"] * 4, "sex": ["f", "m"] * 6})
    people = Dataset.from_arrow(table, {"quasi_identifier": ["town", "sex"]}, {"town": renamed})
    for k, level in ((1, 0), (2, 0), (3, 2)):
        p = protection.recode(people, [Limit("k_anonymity", at_least=k)], 0.0)
        assert p.levels.get("town", 0) == level
        assert p.proved
