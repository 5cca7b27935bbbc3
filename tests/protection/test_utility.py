"""What the data lost: every figure equal to its definition, cell by cell and class by class."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset, Hierarchy, Limit, datasets, protection
from divulge.protection.changes.changes import hide_cells, replace_values, select_records
from divulge.protection.result.utility import measure_utility
from divulge.work import InvalidInput

Ladder = dict[str, tuple[str, ...]]
Cell = str | None


def draw_ladder(draws: random.Random, name: str) -> Ladder:
    """A tree over a few leaves, some of which no record need have."""
    leaves = [f"{name}{letter}" for letter in "abcdefg"[: draws.randint(1, 7)]]
    levels = [{leaf: leaf for leaf in leaves}]
    for level in range(1, draws.randint(0, 3) + 1):
        nodes = sorted(set(levels[-1].values()))
        merged = {
            node: f"{name}{level}.{draws.randrange(max(1, len(nodes) - 1))}" for node in nodes
        }
        levels.append({leaf: merged[node] for leaf, node in levels[-1].items()})
    return {leaf: tuple(level[leaf] for level in levels) for leaf in leaves}


def draw_release(seed: int) -> tuple[Dataset, Dataset, np.ndarray, list[Ladder]]:
    """Records with absent cells, some of them removed, of the others cells hidden or coarser."""
    draws = random.Random(seed)  # noqa: S311  # made-up data
    names = ["q0", "q1", "q2"][: draws.randint(1, 3)]
    ladders = [draw_ladder(draws, name) for name in names]
    rows = draws.randint(1, 25)
    columns = {
        name: [None if draws.random() < 0.15 else draws.choice(list(ladder)) for _ in range(rows)]
        for name, ladder in zip(names, ladders, strict=True)
    }
    original = Dataset.from_arrow(
        pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}),
        roles={"quasi_identifier": names},
        hierarchies={
            name: Hierarchy.from_levels([list(nodes) for nodes in ladder.values()])
            for name, ladder in zip(names, ladders, strict=True)
            if len(next(iter(ladder.values()))) > 1
        },
    )
    kept = np.array(sorted(draws.sample(range(rows), draws.randint(0, rows))), np.int64)
    released = select_records(original, kept)
    for name, ladder in zip(names, ladders, strict=True):
        coarse = {
            place: draws.choice(ladder[cell])
            for place, record in enumerate(kept.tolist())
            if (cell := columns[name][record]) is not None and draws.random() < 0.5
        }
        if coarse:
            column = replace_values(
                released.columns[name], np.array(list(coarse)), list(coarse.values())
            )
            released = replace(released, columns={**released.columns, name: column})
        hidden = [place for place in range(kept.size) if draws.random() < 0.2]
        released = hide_cells(released, {name: np.array(hidden, np.int64)})
    return original, released, kept, ladders


def list_cells(dataset: Dataset, name: str) -> list[Cell]:
    return [None if cell is None else str(cell) for cell in dataset.to_arrow()[name].to_pylist()]


def define_figures(
    original: Dataset,
    released: Dataset,
    kept: Sequence[int],
    ladders: Sequence[Ladder],
    weights: Mapping[str, float],
) -> dict[str, float]:
    """The definitions in plain Python: each cell of each record, one after the other."""
    names = [f"q{a}" for a in range(len(ladders))]
    place_of = {record: place for place, record in enumerate(kept)}
    lost: dict[str, list[tuple[float, float]]] = {
        "leaves": [],
        "granular": [],
        "levels": [],
        "bits": [],
    }
    for name, ladder in zip(names, ladders, strict=True):
        before, after = list_cells(original, name), list_cells(released, name)
        here = len(next(iter(ladder.values()))) > 1
        # Without a hierarchy, the values are those of the data.
        domain = list(ladder) if here else sorted({cell for cell in before if cell is not None})
        height = len(next(iter(ladder.values()))) - 1
        present = [i for i, cell in enumerate(before) if cell is not None]
        counts = Counter(before[i] for i in present)
        sums = {"leaves": 0.0, "levels": 0.0, "bits": 0.0}
        to_lose = 0.0
        for i in present:
            leaf = before[i]
            assert leaf is not None
            bits = math.log2(len(present) / counts[leaf])
            to_lose += bits
            label = after[place_of[i]] if i in place_of else None
            if label is None:
                sums["leaves"] += 1
                sums["levels"] += 1
                sums["bits"] += bits
                continue
            under = [other for other in domain if label in ladder[other]]
            sums["leaves"] += (len(under) - 1) / max(len(domain) - 1, 1)
            sums["levels"] += ladder[leaf].index(label) / max(height, 1)
            sums["bits"] += math.log2(sum(counts[other] for other in under) / counts[leaf])
        weight = weights.get(name, 1.0)
        is_judged = len(domain) > 1 and bool(present)
        mean = {key: total / len(present) if is_judged else 0.0 for key, total in sums.items()}
        lost["leaves"].append((weight, mean["leaves"]))
        lost["granular"].append((weight * (1 - 1 / max(len(domain), 1)), mean["leaves"]))
        lost["levels"].append((weight, mean["levels"]))
        lost["bits"].append((weight, sums["bits"] / to_lose if is_judged and to_lose else 0.0))
    means = {
        key: sum(w * x for w, x in parts) / total if (total := sum(w for w, _ in parts)) else 0.0
        for key, parts in lost.items()
    }
    shown = Counter(zip(*(list_cells(released, name) for name in names), strict=True))
    removed = original.rows - len(kept)
    classes = len(shown) + (removed > 0)
    return {
        "loss": means["leaves"],
        "granularity": 1 - means["granular"],
        "precision": 1 - means["levels"],
        "entropy": 1 - means["bits"],
        "discernibility": sum(n * n for n in shown.values()) + removed * original.rows,
        "class_size": original.rows / classes,
    }


@given(seed=st.integers(0, 10**6))
def test_every_figure_is_its_definition_cell_by_cell(seed: int) -> None:
    original, released, kept, ladders = draw_release(seed)
    names = [f"q{a}" for a in range(len(ladders))]
    weights = {"q0": 3.0} if seed % 2 else {}
    told = measure_utility(original, released, kept, names, importance=weights).to_dict()
    defined = define_figures(original, released, kept.tolist(), ladders, weights)
    assert {key: told[key] for key in defined} == pytest.approx(defined)


@pytest.mark.parametrize("utility", ["loss", "granularity", "precision", "entropy"])
@given(seed=st.integers(0, 10**6))
def test_the_search_means_by_a_utility_what_is_measured_afterwards(utility: str, seed: int) -> None:
    original, *_ = draw_release(seed)
    weights = {"q0": 2.0}
    try:
        p = protection.recode(
            original,
            [Limit("k_anonymity", at_least=2)],
            0.3,
            utility=utility,
            importance=weights,
        )
    except (protection.OutOfReachError, InvalidInput):
        return
    assert p.proof is not None
    told = p.utility_for(importance=weights).to_dict()[utility]
    assert p.proof.lower_bound == pytest.approx(told if utility == "loss" else 1 - told, abs=1e-9)


def test_a_value_that_its_hierarchy_lacks_loses_nothing_as_long_as_it_is_shown() -> None:
    people = Dataset.from_arrow(
        pa.table({"town": ["Roma", "Milano", "Oslo"]}),
        roles={"quasi_identifier": ["town"]},
        hierarchies={"town": Hierarchy.from_pairs([("Roma", "Italy"), ("Milano", "Italy")])},
    )
    told = measure_utility(people, people, np.arange(3), ["town"])
    assert (told.loss, told.granularity, told.precision, told.entropy) == (0.0, 1.0, 1.0, 1.0)


def make_people(rows: int = 400) -> Dataset:
    draws = random.Random(2)  # noqa: S311  # made-up data
    ages = [draws.randrange(80) for _ in range(rows)]
    return Dataset.from_arrow(
        pa.table(
            {
                "age": ages,
                "sex": [draws.choice("fm") for _ in ages],
                "pension": ["yes" if age >= 65 else "no" for age in ages],
                "colour": [draws.choice("rgb") for _ in ages],
            }
        ),
        roles={
            "quasi_identifier": ["age", "sex"],
            "sensitive": ["colour"],
            "non_identifying": ["pension"],
        },
        hierarchies={"age": Hierarchy.intervals([0, 40, 80], [0, 80])},
    )


def test_the_target_of_a_model_can_be_named() -> None:
    p = protection.recode(make_people(), [Limit("k_anonymity", at_least=20)])
    assert p.levels == {"age": 1}
    assert p.utility.model_of == "colour"
    told = p.utility_for(target="pension")
    assert told.model_of == "pension"
    assert told.model is not None
    assert told.model_baseline is not None
    before, after = told.model
    # Ages tell who has a pension; of the halves of a life, nobody is likelier to have one than not.
    assert before > 0.95
    assert after == pytest.approx(told.model_baseline)


def test_a_target_that_was_made_coarser_is_not_told_by_its_coarse_value() -> None:
    rows = [["f", "young"], ["m", "old"], ["f", "young"]] * 30
    people = Dataset.from_arrow(
        pa.table({"sex": [a for a, _ in rows], "age": [b for _, b in rows]}),
        roles={"quasi_identifier": ["sex", "age"]},
        hierarchies={"age": Hierarchy.from_levels([["young", "any"], ["old", "any"]])},
    )
    p = protection.recode(people, [Limit("k_anonymity", at_least=80, among=["age"])], 0.0)
    coarse = measure_utility(people, p.dataset, p.kept, ["sex", "age"], target="age")
    assert coarse.model == (1.0, 0.0)
    young = np.flatnonzero(np.arange(90) % 3 != 1)
    less = measure_utility(people, select_records(people, young), young, ["sex"], target="age")
    # The old are asked about with nothing known of them: the guess is what was learnt, young.
    assert less.model is not None
    assert less.model[0] == 1.0
    assert less.model[1] == pytest.approx(2 / 3)
    assert less.model_baseline == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"target": "agee"}, 'Did you mean "age"'),
        ({"target": "age"}, '"age" has 80 values'),
        ({"importance": {"agee": 1}}, 'Did you mean "age"'),
        ({"importance": {"age": 0}}, "not above 0"),
    ],
)
def test_what_cannot_be_measured_is_said(wish: dict[str, object], said: str) -> None:
    p = protection.suppress(make_people(), k=1)
    with pytest.raises(InvalidInput, match=said):
        p.utility_for(**wish)  # type: ignore[arg-type]


def test_few_records_have_no_model() -> None:
    companies = datasets.local_suppression_example()
    p = protection.suppress(companies, k=2)
    assert p.utility.model is None
    with pytest.raises(InvalidInput, match="7 records are too few"):
        p.utility_for(target="Area")


def test_all_records_removed_lose_everything() -> None:
    people = make_people(30)
    none = np.empty(0, np.int64)
    told = measure_utility(people, select_records(people, none), none, ["age", "sex"])
    assert [told.loss, told.granularity, told.precision] == [1.0, 0.0, 0.0]
    assert told.entropy == pytest.approx(0.0)
    assert (told.discernibility, told.class_size) == (900, 30)
