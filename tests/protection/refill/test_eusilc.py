"""EU-SILC (synthetic): what a protected file still tells of the cells that it hides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import divulge as dv
from divulge import protection
from divulge.data import Hierarchy
from divulge.data.missing_kinds import mark_hidden

KEYS = ["db040", "age", "rb090", "hsize", "pb220a", "pl030"]

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def people(public_data: Path) -> dv.Dataset:
    path = public_data / "eusilc" / "eusilc.csv.gz"
    if not path.is_file():
        pytest.skip("the EU-SILC data are kept outside the project")
    dataset = dv.read(path)
    return dataset.select([name for name in dataset.names if name != "rb030"])


@pytest.fixture(scope="module")
def protected(people: dv.Dataset) -> protection.Protected:
    """Protected naively: ages in steps of twenty years, then cells hidden; absence is hidden too."""
    ages = Hierarchy.intervals([0, 20, 40, 60, 80])
    described = people.describe(roles={"quasi_identifier": KEYS}, hierarchies={"age": ages})
    p = protection.protect(
        mark_hidden(described), [dv.Limit("k_anonymity", at_least=3)], original=described
    )
    # What was absent is no secret: only the original tells which cells were hidden.
    columns = {name: replace(column, tags=None) for name, column in p.dataset.columns.items()}
    return replace(p, original=described, dataset=replace(p.dataset, columns=columns))


def test_the_household_number_tells_most_regions_and_all_sizes(
    protected: protection.Protected,
) -> None:
    r = protection.refill(protected, columns=["db030"])
    figures = r.by_attribute()
    assert (figures["db040"].hidden, figures["db040"].right) == (1_321, 1_087)
    assert (figures["hsize"].hidden, figures["hsize"].right) == (385, 385)
    assert "db030 determines db040: 1,087 cells" in [str(relation) for relation in r.relations]
    assert r.right == r.claimed


def test_all_columns_together_tell_nearly_every_region(protected: protection.Protected) -> None:
    r = protection.refill(protected)
    regions = r.by_attribute()["db040"].right
    assert regions is not None
    assert regions >= 1_291
    assert r.right is not None
    assert r.right >= 0.98 * r.claimed


def test_without_the_household_number_weights_and_incomes_tell_as_much(
    protected: protection.Protected,
) -> None:
    without = [name for name in protected.dataset.names if name != "db030"]
    right = protection.refill(protected, columns=without).by_attribute()["db040"].right
    assert right is not None
    assert right >= 1_291


def test_ages_in_years_leave_the_rest_of_the_keys_to_be_told(people: dv.Dataset) -> None:
    described = people.describe(roles={"quasi_identifier": KEYS})
    r = protection.refill(protection.suppress(described, 3, "bayes"))
    assert (r.hidden, r.claimed, r.right, r.base_rate) == (7_785, 805, 802, 153)


@pytest.mark.parametrize("seed", range(5))
def test_no_relation_is_found_in_shuffled_columns(
    protected: protection.Protected, seed: int
) -> None:
    from divulge.protection.refill.cells import read_cells
    from divulge.protection.refill.search.discovery import complete_columns

    random = np.random.default_rng(seed)
    cells = read_cells(protected.dataset, protected.original, KEYS)
    shuffled = [replace(c, codes=random.permutation(c.codes)) for c in cells.columns]
    assert not complete_columns(shuffled, KEYS).relations
