"""Adult, as in the ARX project's data folder: the proven optimum, and who is suppressed."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import divulge as dv
from divulge.protection.recoding.class_tests import SizeTest
from divulge.protection.recoding.lattice import build_lattice
from divulge.protection.recoding.local.clusters import find_clusters
from divulge.protection.recoding.local.local_outcome import LocalOutcome
from divulge.protection.recoding.local.local_release import build_local_release
from divulge.protection.recoding.local.neighbours import bound_local_loss
from divulge.protection.recoding.local.nested import find_nested_levels

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "adult"
KEYS = [
    "sex", "age", "race", "marital-status", "education",
    "native-country", "workclass", "occupation", "salary-class",
]  # fmt: skip

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FOLDER.exists(), reason="the Adult data set is not here"),
]


@pytest.fixture(scope="module")
def adult() -> dv.Dataset:
    return dv.read(
        FOLDER / "adult.csv",
        separator=";",
        roles={"quasi_identifier": KEYS},
        hierarchies={name: str(FOLDER / f"adult_hierarchy_{name}.csv") for name in KEYS},
    )


@pytest.mark.parametrize(
    ("keys", "share", "loss", "levels", "suppressed"),
    [
        (5, 0.0, 0.486632, (0, 4, 0, 1, 3), 0),
        (5, 0.05, 0.082540, (0, 3, 0, 0, 0), 1_385),
        (8, 0.0, 0.660842, None, 0),
        (8, 0.05, 0.261757, None, None),
        (8, 1.0, 0.227062, None, None),
        (9, 0.0, 0.635544, None, 0),
        (9, 0.05, 0.269635, None, None),
        (9, 1.0, 0.227700, None, None),
    ],
)
def test_the_least_loss_of_adult_is_proven(
    adult: dv.Dataset,
    keys: int,
    share: float,
    loss: float,
    levels: tuple[int, ...] | None,
    suppressed: int | None,
) -> None:
    names = KEYS[:keys]
    p = dv.protection.recode(adult, [dv.Limit("k_anonymity", at_least=5, among=names)], share)
    assert p.proved
    assert p.loss == pytest.approx(loss, abs=5e-7)
    if levels is not None:
        assert tuple(p.levels.get(name, 0) for name in names) == levels
    if suppressed is not None:
        assert p.suppressed_records == suppressed
    recount(p, names, share)


def recount(p: dv.protection.Protected, names: list[str], share: float) -> None:
    """From the source and the hierarchies as files: classes, who is gone, and the loss."""
    with (FOLDER / "adult.csv").open() as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    ladders = {}
    for name in names:
        with (FOLDER / f"adult_hierarchy_{name}.csv").open() as file:
            ladders[name] = {row[0]: row for row in csv.reader(file, delimiter=";")}
    removed = set(p.decisions.removed_records.tolist())
    kept = [row for i, row in enumerate(rows) if i not in removed]
    coarse = [tuple(ladders[n][row[n]][p.levels.get(n, 0)] for n in names) for row in kept]
    table = p.dataset.to_arrow().select(names).to_pydict()
    assert [tuple(map(str, row)) for row in zip(*table.values(), strict=True)] == coarse
    assert min(Counter(coarse).values()) >= 5
    assert len(removed) <= share * len(rows)
    total = 0.0
    for place, name in enumerate(names):
        domain = len(ladders[name])
        level = p.levels.get(name, 0)
        leaves = Counter(ladder[level] for ladder in ladders[name].values())
        shares = sum(leaves[row[place]] / domain for row in coarse) + len(removed)
        total += (shares / len(rows) - 1 / domain) / (1 - 1 / domain)
    assert p.loss == pytest.approx(total / len(names))


@pytest.mark.parametrize(("search", "most"), [(find_nested_levels, 0.07), (find_clusters, 0.052)])
def test_local_recoding_of_adult_loses_little(
    adult: dv.Dataset, search: Callable[..., LocalOutcome], most: float
) -> None:
    """Eight keys, k = 5, nobody removed: ARX reports .169. Every class is counted as released."""
    lattice = build_lattice(adult, KEYS[:8])
    tests = [SizeTest(lattice.names, 5)]
    outcome = search(lattice, tests, seed=1)
    assert outcome.loss <= most
    released, _ = build_local_release(adult, lattice, outcome, tests=tests)
    table = released.to_arrow()
    shown = list(zip(*(table[name].to_pylist() for name in KEYS[:8]), strict=True))
    assert len(shown) == 30_162
    assert min(Counter(shown).values()) >= 5
    for name, texts in zip(KEYS[:8], zip(*shown, strict=True), strict=True):
        lines = (FOLDER / f"adult_hierarchy_{name}.csv").read_text().splitlines()
        ladders = {row[0]: row for row in csv.reader(lines, delimiter=";")}
        original = map(str, adult.to_arrow()[name].to_pylist())
        assert all(text in ladders[value] for text, value in zip(texts, original, strict=True))


def test_no_local_recoding_of_adult_loses_less_than_the_bound(adult: dv.Dataset) -> None:
    bound = bound_local_loss(build_lattice(adult, KEYS[:8]), 5)
    assert bound == pytest.approx(0.0267, abs=5e-5)
