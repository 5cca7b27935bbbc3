"""Knowledge from the original, matches in the protected release."""

from __future__ import annotations

from collections import Counter
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import divulge as dv

SCHEMA = pa.schema([("age", pa.int64()), ("sex", pa.string()), ("s", pa.string())])


def people(rows: list[dict[str, Any]], name: str) -> dv.Dataset:
    return dv.Dataset.from_arrow(
        pa.Table.from_pylist(rows, SCHEMA),
        roles={"quasi_identifier": ["age", "sex"], "sensitive": ["s"]},
        name=name,
    )


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(20, 26), st.sampled_from("FM"), st.sampled_from("uv"),
            st.booleans(), st.booleans(),
        ),
        min_size=1, max_size=20,
    )
)  # fmt: skip
def test_a_suppressed_value_matches_anything_and_a_coarse_one_all_that_it_covers(
    drawn: list[tuple[int, str, str, bool, bool]],
) -> None:
    before: list[dict[str, Any]] = [{"age": age, "sex": sex, "s": s} for age, sex, s, _, _ in drawn]
    after = [
        {"age": None if no_age else age // 5, "sex": None if no_sex else sex, "s": s}
        for age, sex, s, no_age, no_sex in drawn
    ]
    certain = right = sure = guessed = 0.0
    for person in before:
        matches = [
            row for row in after
            if row["age"] in (None, person["age"] // 5) and row["sex"] in (None, person["sex"])
        ]  # fmt: skip
        certain += len(matches) == 1
        right += 1 / len(matches)
        secrets = Counter(row["s"] for row in matches)
        best = [s for s, n in secrets.items() if n == max(secrets.values())]
        sure += len(secrets) == 1
        guessed += (person["s"] in best) / len(best)
    original, release = people(before, "original"), people(after, "release")
    found = dv.records.attack(original, "CRS", ["age", "sex"], release=release)
    if all(row["age"] is not None for row in after):  # else some ages are never released
        assert (found.certain.posterior, found.right.posterior) == pytest.approx((certain, right))
        inferred = dv.records.attack(original, "CAS", ["age", "sex"], "s", release=release)
        assert inferred.certain.posterior == sure
        assert inferred.right.posterior == pytest.approx(guessed)


def test_table_11_protection_takes_certainty_away() -> None:
    """The census before and after coarse days, schools and towns: fewer are singled out."""
    census = dv.datasets.school_census(20_000)
    knows = ["day_of_birth", "school_code", "gender"]
    table = census.to_arrow().select([*knows, "disability"])
    days = pa.array((np.asarray(table["day_of_birth"]) - 1) // 16)
    schools = pa.array(np.asarray(table["school_code"]) // 40)
    coarse = table.set_column(0, "day_of_birth", days).set_column(1, "school_code", schools)
    release = dv.Dataset.from_arrow(coarse, name="protected")
    for model, seeks in (("CRS", None), ("CAS", "disability")):
        before = dv.records.attack(census, model, knows, seeks)
        after = dv.records.attack(census, model, knows, seeks, release=release)
        assert after.deterministic.posterior < before.deterministic.posterior / 5
        assert after.probabilistic.posterior <= before.probabilistic.posterior
        assert after.probabilistic.prior == before.probabilistic.prior


def test_an_unprotected_release_is_attacked_like_the_original() -> None:
    pupils = dv.datasets.school_year_example()
    for model, seeks in (("CRS", None), ("CAS", "disability")):
        plain = dv.records.attack(pupils, model, ["gender", "grade"], seeks)
        paired = dv.records.attack(pupils, model, ["gender", "grade"], seeks, release=pupils)
        assert paired.deterministic == plain.deterministic
        assert paired.probabilistic == pytest.approx(plain.probabilistic)


def test_a_release_that_does_not_fit_the_original_is_refused() -> None:
    pupils = dv.datasets.school_year_example()
    other = dv.datasets.language_example()
    with pytest.raises(dv.InvalidInput, match="has 4 records and the original 10"):
        dv.records.attack(pupils, "CRS", ["gender"], release=other)
    local = people([{"age": 1, "sex": "F", "s": "u"}, {"age": 2, "sex": "F", "s": "u"}], "local")
    same = people([{"age": 1, "sex": "F", "s": "u"}] * 2, "same")
    with pytest.raises(dv.InvalidInput, match='"age" was made coarser in some records'):
        dv.records.attack(same, "CRS", ["age"], release=local)
