"""Limits on what an adversary finds: no more is hidden or made coarser than they ask for."""

from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv

KEYS = ["age", "town", "sex"]
DECADES = {f"{age}": f"{age // 10}0s" for age in range(20, 80)}


def draw_people(records: int = 400) -> dv.Dataset:
    """Some hundred people, many of them alone, with hierarchies for age and town."""
    rng = np.random.default_rng(7)
    ages = [str(age) for age in 20 + rng.binomial(59, 0.4, records)]
    towns = [f"town {n}" for n in rng.geometric(0.35, records).clip(max=8)]
    sexes = ["fm"[n] for n in rng.integers(0, 2, records)]
    return dv.Dataset.from_arrow(
        pa.table({"age": ages, "town": towns, "sex": sexes}),
        roles={"quasi_identifier": KEYS},
        hierarchies={
            "age": dv.Hierarchy.from_levels([[age, ten, "*"] for age, ten in DECADES.items()]),
            "town": dv.Hierarchy.from_levels([[f"town {n}", "*"] for n in range(1, 9)]),
        },
    )


def limit_success(at_most: float) -> dv.Limit:
    return dv.Limit("probabilistic.posterior", at_most=at_most)


@pytest.mark.parametrize(("records", "at_most"), [(400, 0.4), (400, 0.2), (400, 0.1), (60, 0.2)])
def test_no_more_is_hidden_than_as_many_alike_need(records: int, at_most: float) -> None:
    people = draw_people(records)
    p = dv.protection.protect(people, [limit_success(at_most)], ["suppress"])
    assert p.outcomes[0].held
    assert not p.suppressed_records
    k = round(1 / at_most)  # so many alike are always enough
    alike = dv.protection.protect(people, [dv.Limit("k_anonymity", at_least=k)], ["suppress"])
    assert p.suppressed_cells < alike.suppressed_cells


@pytest.mark.parametrize("at_most", [0.3, 0.1])
def test_both_together_lose_no_more_than_either(at_most: float) -> None:
    people, limits = draw_people(), [limit_success(at_most)]
    both = dv.protection.protect(people, limits, suppression_limit=1.0)
    levels = dv.protection.recode(people, limits, 0.0)
    cells = dv.protection.protect(people, limits, ["suppress"])
    assert both.outcomes[0].held
    assert both.utility.loss <= min(levels.utility.loss, cells.utility.loss) + 1e-9


def test_who_is_found_for_certain_gives_up_little() -> None:
    people = draw_people()
    limit = dv.Limit("deterministic.count", at_most=40)
    p = dv.protection.protect(people, [limit], ["suppress"])
    found = dv.records.attack(people, "CRS", knows=KEYS).certain.posterior
    assert found > 40
    assert p.outcomes[0].held
    assert p.suppressed_cells <= 2 * (found - 40)


@pytest.mark.parametrize("search", ["nested", "clusters"])
def test_single_records_are_recoded_for_an_adversary_too(
    search: Literal["nested", "clusters"],
) -> None:
    people, limits = draw_people(), [limit_success(0.3)]
    alone = dv.protection.protect(people, limits, local=search)
    alike = dv.protection.protect(people, limits)
    assert alone.outcomes[0].held
    assert alone.utility.loss <= alike.utility.loss + 1e-9
    assert f"recoding.single.{search}" in {note.key for note in alone.notes}
