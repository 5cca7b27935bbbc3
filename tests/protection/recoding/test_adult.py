"""Adult, as in the ARX project's data folder: the proven optimum, and who is suppressed."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

import divulge as dv

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
