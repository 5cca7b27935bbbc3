"""What one who knows the scheme learns from coarse values: all 1,716 sets of six records, exactly.

Each of six records is as likely to be any of eight; four values in two pairs, times two; k = 2. They
see the whole release and ask, for every record in it, which original is likeliest.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement

import pytest
from tests.protection.recoding.plain_schemes import (
    DOMAIN,
    LEAST,
    RECORDS,
    Scheme,
    cost,
    list_full_domain,
    list_partitions,
    measure_leak,
    recode_clusters,
    recode_full_domain,
    recode_nested,
)
from tests.protection.recoding.product_schemes import recode_by_product

BY_TUPLE = partial(recode_clusters, by_record=False)
BY_RECORD = partial(recode_clusters, by_record=True)


@pytest.mark.parametrize(
    ("scheme", "loss", "guess_ratio", "sharpened", "worst"),
    [
        pytest.param(recode_full_domain, "0.480", "1.000", "0%", Fraction(1), id="full domain"),
        pytest.param(recode_nested, "0.356", "1.016", "0%", Fraction(3, 2), id="nested"),
        pytest.param(
            partial(BY_TUPLE, random_ties=False), "0.256", "1.064", "25%", Fraction(16, 3),
            id="clusters by tuple, fixed ties",
        ),
        pytest.param(
            partial(BY_TUPLE, random_ties=True), "0.256", "1.059", "22%", Fraction(8, 3),
            id="clusters by tuple, ties at random",
        ),
        pytest.param(
            partial(BY_RECORD, random_ties=False), "0.237", "1.043", "11%", Fraction(4),
            id="clusters by record, fixed ties",
        ),
        # 9.47%: of these records 12% more are sharpened by exactly 1.5.
        pytest.param(
            partial(BY_RECORD, random_ties=True), "0.237", "1.034", "9%", Fraction(20, 7),
            id="clusters by record, ties at random",
        ),
    ],
)  # fmt: skip
def test_the_finer_a_scheme_the_more_it_tells_who_knows_it(
    scheme: Scheme, loss: str, guess_ratio: str, sharpened: str, worst: Fraction
) -> None:
    leak = measure_leak(scheme)
    assert f"{float(leak.loss):.3f}" == loss
    assert f"{float(leak.guess_ratio):.3f}" == guess_ratio
    assert f"{float(leak.sharpened):.0%}" == sharpened
    assert leak.worst == worst


def test_levels_for_all_alike_tell_exactly_nothing_more() -> None:
    # Whoever swaps the values under a node swaps nothing that decides on levels.
    assert measure_leak(recode_full_domain).guess_ratio == 1


def test_there_are_1716_sets_of_records_and_203_partitions_of_six() -> None:
    sets = list(combinations_with_replacement(DOMAIN, RECORDS))
    assert len(sets) == 1716
    assert len(list_partitions(RECORDS)) == 203


def test_each_scheme_loses_no_more_than_the_one_before() -> None:
    for records in list(combinations_with_replacement(DOMAIN, RECORDS))[::13]:
        losses = [
            sum(map(cost, scheme(records)[0][1]))
            for scheme in (
                recode_full_domain,
                partial(BY_TUPLE, random_ties=False),
                partial(BY_RECORD, random_ties=False),
            )
        ]
        assert losses == sorted(losses, reverse=True)
        assert losses[0] == min(sum(map(cost, shown)) for shown in list_full_domain(records))


def test_nested_recoding_of_ours_loses_and_shows_what_the_plain_one_does() -> None:
    for records in list(combinations_with_replacement(DOMAIN, RECORDS))[::17]:
        [(_, plain)], [(_, ours)] = recode_nested(records), recode_by_product(records, "nested")
        assert sum(map(cost, ours)) == sum(map(cost, plain))
        assert min(Counter(ours).values()) >= LEAST
