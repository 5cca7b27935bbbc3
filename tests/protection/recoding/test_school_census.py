"""Table 11 of Alvim et al. (2022), on a made-up census: privacy after k-anonymity and t-closeness.

Their figures are of 48 million real pupils; what holds for any data is tested here: nobody is
singled out after k-anonymity, every figure is what counting the release in plain Python gives, and
the base rate of the secret is all that a best guess is left with where classes look like everybody.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

import divulge as dv
from divulge.datasets.school_census import QUASI_IDENTIFIERS


@pytest.fixture(scope="module")
def census() -> dv.Dataset:
    drawn = dv.datasets.school_census(4_000, seed=11)
    hierarchies = {
        "day_of_birth": dv.Hierarchy.intervals([1, 16], [1]),
        "month_of_birth": dv.Hierarchy.intervals([1, 7], [1]),
        "year_of_birth": dv.Hierarchy.intervals(list(range(1900, 2031, 10)), [1900]),
    }
    for name in QUASI_IDENTIFIERS[3:]:
        hierarchies[name] = dv.Hierarchy.prefixes(0)
    return drawn.describe(
        {"quasi_identifier": QUASI_IDENTIFIERS, "sensitive": ["disability"]}, hierarchies
    )


def count_plainly(released: dv.Dataset) -> dict[str, float]:
    """CRS and CAS, deterministic and probabilistic, from the rows of the release."""
    table = released.to_arrow().select([*QUASI_IDENTIFIERS, "disability"]).to_pylist()
    classes: dict[tuple[object, ...], list[object]] = defaultdict(list)
    for row in table:
        classes[tuple(row[name] for name in QUASI_IDENTIFIERS)].append(row["disability"])
    rows = len(table)
    return {
        "CRS certain": sum(len(members) == 1 for members in classes.values()) / rows,
        "CRS guess": len(classes) / rows,
        "CAS certain": sum(len(m) for m in classes.values() if len(set(m)) == 1) / rows,
        "CAS guess": sum(max(Counter(m).values()) for m in classes.values()) / rows,
        "prior": max(Counter(row["disability"] for row in table).values()) / rows,
    }


def attack(released: dv.Dataset) -> dict[str, float]:
    names = list(QUASI_IDENTIFIERS)
    crs = dv.records.attack(released, "CRS", knows=names)
    cas = dv.records.attack(released, "CAS", knows=names, seeks="disability")
    return {
        "CRS certain": crs.deterministic.posterior,
        "CRS guess": crs.probabilistic.posterior,
        "CAS certain": cas.deterministic.posterior,
        "CAS guess": cas.probabilistic.posterior,
        "prior": cas.probabilistic.prior,
    }


@pytest.mark.parametrize("k", [4, 12, 20])
def test_nobody_is_singled_out_after_k_anonymity(census: dv.Dataset, k: int) -> None:
    p = dv.protection.recode(census, [dv.Limit("k_anonymity", at_least=k)])
    figures = attack(p.dataset)
    assert p.proved
    assert figures == pytest.approx(count_plainly(p.dataset))
    assert figures["CRS certain"] == 0
    assert figures["CRS guess"] <= 1 / k


@pytest.mark.parametrize("t", [0.1, 0.3, 0.5])
def test_closeness_leaves_little_but_the_base_rate_of_the_secret(
    census: dv.Dataset, t: float
) -> None:
    limit = dv.Limit("t_closeness", at_most=t, attribute="disability")
    p = dv.protection.recode(census, [limit], 0.0)
    figures = attack(p.dataset)
    assert p.proved
    assert figures == pytest.approx(count_plainly(p.dataset))
    assert figures["CAS guess"] <= figures["prior"] + t


def test_before_recoding_most_pupils_are_singled_out(census: dv.Dataset) -> None:
    assert count_plainly(census)["CRS certain"] > 0.9
