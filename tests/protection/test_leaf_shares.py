"""The share of all values that a released value stands for, against plain counts of rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset, Hierarchy, Limit, protection
from divulge.protection.result.cell_utility import compute_attribute_loss, compute_leaf_shares

MARITAL = [
    ["1", "8", "8", "*"],
    ["2", "8", "8", "*"],
    ["3", "8", "8", "*"],
    ["4", "9", "8", "*"],
    ["5", "9", "8", "*"],
    ["6", "6", "6", "*"],
    ["8", "7", "6", "*"],
]


def test_a_label_at_two_levels_counts_the_values_of_its_own_level() -> None:
    """The integer files of a benchmark of Adult are such: "8" is 5 values, and 7 a level above."""
    people = Dataset.from_arrow(
        pa.table({"marital": [int(row[0]) for row in MARITAL]}),
        {"quasi_identifier": ["marital"]},
        {"marital": Hierarchy.from_levels(MARITAL)},
    )
    hierarchy = people.dictionary["marital"].hierarchy
    assert hierarchy is not None
    for level in range(4):
        column = hierarchy.coarsen(people.columns["marital"], level)
        shares, domain = compute_leaf_shares(people, column, "marital")
        plain = [
            sum(other[level] == row[level] for other in MARITAL) / len(MARITAL) for row in MARITAL
        ]
        assert domain == len(MARITAL)
        assert shares[column.codes].tolist() == plain


def test_classes_of_two_levels_do_not_merge_by_a_label_that_both_have() -> None:
    people = Dataset.from_arrow(
        pa.table({"marital": [1, 2, 3, 8]}),
        {"quasi_identifier": ["marital"]},
        {"marital": Hierarchy.from_levels(MARITAL)},
    )
    # At level 1 the first three are "8", as the last one is at level 0.
    p = protection.recode(people, [Limit("k_anonymity", at_least=2)], 0, local=True)
    assert "8" not in p.dataset.to_arrow()["marital"].to_pylist()


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=20),
    st.sampled_from(
        [
            Hierarchy.rounding(5, 20),
            Hierarchy.capped(bottom=[5, 10], top=50),
            Hierarchy.rounding(10).with_caps(top=42),
            Hierarchy.intervals([15, 30], []),
        ]
    ),
)
def test_of_a_rule_the_values_in_the_data_are_all_that_there_are(
    numbers: list[int], rule: Hierarchy
) -> None:
    people = Dataset.from_arrow(
        pa.table({"age": numbers}), {"quasi_identifier": ["age"]}, {"age": rule}
    )
    distinct = set(numbers)
    for level in range(rule.height + 1):
        column = rule.coarsen(people.columns["age"], level)
        released = Dataset({"age": column})
        plain = [
            sum(str(rule.at(other, level)) == str(rule.at(n, level)) for other in distinct)
            for n in numbers
        ]
        loss = compute_attribute_loss(people, released, np.arange(len(numbers)), "age")
        most = max(len(distinct) - 1, 1)
        assert loss == pytest.approx(np.mean([(leaves - 1) / most for leaves in plain]))


def test_recoding_chooses_caps_and_rounding_as_levels() -> None:
    ages = [20, 20, 23, 23, 40, 40, 88, 97]
    people = Dataset.from_arrow(
        pa.table({"age": ages}),
        {"quasi_identifier": ["age"]},
        {"age": Hierarchy.rounding(10, 50).with_caps(top=85)},
    )
    p = protection.recode(people, [Limit("k_anonymity", at_least=2)], 0)
    assert p.levels == {"age": 1}
    assert p.dataset.to_arrow()["age"].to_pylist()[-2:] == [">= 85", ">= 85"]
    assert p.loss == pytest.approx(2 / 8 * 1 / 4)
