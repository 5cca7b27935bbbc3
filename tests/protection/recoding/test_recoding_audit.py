"""The audit of recoding: what coarse values tell one who knows the scheme, exactly and by draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from tests.protection.recoding.plain_schemes import (
    DOMAIN,
    LADDERS,
    RECORDS,
    Posteriors,
    Records,
    Scheme,
    Shown,
    count_leaves,
    recode_clusters,
    recode_full_domain,
    recode_nested,
    sort_release,
    weigh_originals,
)
from tests.protection.recoding.product_schemes import make_dataset, write_node

from divulge import Dataset, Limit, protection
from divulge.protection import Audit, Protected
from divulge.protection.changes.decision_log import DecisionLog
from divulge.work import DivulgeError

K2 = [Limit("k_anonymity", at_least=2)]
NAMES = ("a", "b")
recode_by_tuple = partial(recode_clusters, by_record=False, random_ties=False)


def read_records(dataset: Dataset) -> Records:
    table = dataset.to_arrow()
    return tuple(
        tuple(int(value) for value in row)
        for row in zip(*(table[name].to_pylist() for name in NAMES), strict=True)
    )


def publish(original: Dataset, scheme: Scheme) -> Protected:
    """A release by plain code, which can be made again."""
    [(_, shown)] = scheme(read_records(original))
    columns = {name: [write_node(each[a]) for each in shown] for a, name in enumerate(NAMES)}
    return wrap(original, columns, lambda other: publish(other, scheme))


def wrap(
    original: Dataset,
    columns: dict[str, list[str]],
    again: Callable[[Dataset], Protected],
) -> Protected:
    released = Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": list(columns)})
    return Protected(
        original=original,
        dataset=released,
        decisions=DecisionLog(original.name, ()),
        nulls="bayes",
        limits=tuple(K2),
        among=tuple(columns),
        rule="k",
        k=2,
        again=again,
    )


@cache
def weigh(scheme: Scheme) -> Posteriors:
    return weigh_originals(scheme)


def list_factors(scheme: Scheme, shown: tuple[Shown, ...]) -> list[float]:
    """By record with a coarse value, how much sharper it becomes: from all sets of records."""
    release = sort_release(shown)
    return [
        float(weigh(scheme).find_factor(release, each)) for each in shown if count_leaves(each) > 1
    ]


@pytest.mark.parametrize("scheme", [recode_full_domain, recode_nested, recode_by_tuple])
def test_recoding_every_original_again_gives_the_posterior_over_all_sets_of_records(
    scheme: Scheme,
) -> None:
    tried = 0
    for records in list(combinations_with_replacement(DOMAIN, RECORDS))[5::61]:
        [(_, shown)] = scheme(records)
        if not 1 < prod(map(count_leaves, shown)) <= 300:
            continue
        found = protection.audit(publish(make_dataset(records), scheme), candidates=300)
        assert found.sharpening is not None
        assert found.sharpening.records is not None
        factors = found.sharpening.records.informed / found.sharpening.records.naive
        assert factors.tolist() == pytest.approx(list_factors(scheme, shown))
        tried += 1
    assert tried >= 5


def audit_tuples(candidates: int, draws: int = 400) -> Audit:
    # Clusters of the closest: who stays apart would have had a closer neighbour otherwise.
    records = ((0, 0), (0, 0), (1, 0), (2, 1), (3, 1), (3, 1))
    p = publish(make_dataset(records), recode_by_tuple)
    return protection.audit(p, candidates=candidates, draws=draws)


def test_draws_estimate_what_all_originals_tell() -> None:
    exact, drawn = audit_tuples(4_000).sharpening, audit_tuples(0).sharpening
    assert exact is not None
    assert drawn is not None
    assert (exact.claim, drawn.claim) == ("exact", "estimate")
    assert exact.replays == 64
    assert drawn.replays == 400
    assert drawn.survivors / 400 == pytest.approx(exact.survivors / 64, abs=0.05)
    assert drawn.values.total == exact.values.total == drawn.cells
    assert drawn.values.mean == pytest.approx(exact.values.mean, abs=0.05)
    assert drawn.values.mean - 0.01 <= exact.values.mean <= drawn.values.mean_most + 0.01
    assert exact.values.mean_most == exact.values.mean
    assert drawn.values.worst <= exact.values.worst


def make_wide_dataset(rows: int) -> Dataset:
    random = np.random.default_rng(3)
    records = tuple((int(a), int(b)) for a, b in random.integers(0, (4, 2), (rows, 2)))
    return make_dataset(records)


def test_draws_of_levels_for_all_alike_find_nothing_beyond_chance() -> None:
    original = make_wide_dataset(60)

    def coarsen(other: Dataset) -> Protected:
        """Pairs of values, whatever they are: this scheme tells nothing."""
        shown = [(LADDERS[0][a][1], LADDERS[1][b][0]) for a, b in read_records(other)]
        columns = {name: [write_node(each[a]) for each in shown] for a, name in enumerate(NAMES)}
        return wrap(other, columns, coarsen)

    found = protection.audit(coarsen(original), draws=50).sharpening
    assert found is not None
    assert (found.replays, found.survivors, found.together) == (50, 50, None)
    assert found.values.mean < 1.02
    assert found.values.sharpened == 0
    assert found.finding == "ambiguous"


def test_where_no_draw_gives_the_release_nothing_is_known_and_nothing_claimed() -> None:
    records = read_records(make_wide_dataset(60))
    original = make_dataset(records)
    columns = {"a": [write_node(LADDERS[0][a][1]) for a, _ in records]}

    def refuse(other: Dataset) -> Protected:
        raise DivulgeError("out of reach")

    found = protection.audit(wrap(original, columns, refuse), draws=30)
    assert found.sharpening is not None
    assert found.sharpening.finding == "open"
    assert found.sharpening.survivors == 0
    assert found.sharpening.unresolved > 0
    assessment = found.assessment()
    assert assessment.claim == "estimate"
    assert assessment.not_judged is not None
    assert assessment.at_worst.probabilistic.posterior == 1
    assert "none gave this release" in str(assessment)


def test_where_all_at_once_never_survive_fewer_classes_are_drawn() -> None:
    records = tuple((a, b) for a in range(4) for b in range(2) for _ in range(3))
    original = make_dataset(records)
    columns = {
        "a": [write_node(LADDERS[0][a][1]) for a, _ in records],
        "b": [write_node(LADDERS[1][b][0]) for _, b in records],
    }

    def allow_one_class(other: Dataset) -> Protected:
        """The same release if no more than one class differs from the truth."""
        changed = {
            (record[0] // 2, record[1])
            for record, before in zip(read_records(other), records, strict=True)
            if record != before
        }
        if len(changed) > 1:
            raise DivulgeError("out of reach")
        return wrap(other, columns, allow_one_class)

    found = protection.audit(wrap(original, columns, allow_one_class), draws=120).sharpening
    assert found is not None
    assert found.together == 1
    assert found.values.total > 0
    assert found.values.mean < 1.2
    assert "the adversary is assumed to know all other records" in str(found.sentences()[-1])


def test_a_class_that_only_the_truth_gives_is_not_said_to_be_safe() -> None:
    records = ((0, 0), (1, 0)) * 20
    original = make_dataset(records)
    columns = {"a": [write_node(LADDERS[0][a][1]) for a, _ in records]}

    def allow_truth(other: Dataset) -> Protected:
        if read_records(other) != records:
            raise DivulgeError("out of reach")
        return wrap(other, columns, allow_truth)

    found = protection.audit(wrap(original, columns, allow_truth), draws=30).sharpening
    assert found is not None
    assert (found.values.total, found.unresolved) == (0, 40)


def test_the_best_levels_tell_nothing_more_and_the_audit_says_so_in_figures() -> None:
    p = protection.recode(make_dataset(((0, 0), (1, 0), (2, 1), (3, 1), (3, 1))), K2, 0.0)
    found = protection.audit(p)
    sharpening = found.sharpening
    assert sharpening is not None
    assert sharpening.claim == "exact"
    figures = found.assessment().figures
    assert figures["factor_worst"] == figures["record_factor_worst"] == 1.0
    assert figures["sharpened"] == 0
    assert found.assessment().multiplicative_leakage == pytest.approx(1)
    assert found.to_dict()["sharpening"]["finding"] == "ambiguous"


def test_frequent_values_are_guessed_before_and_their_factor_is_smaller() -> None:
    records = ((0, 0), (0, 0), (0, 0), (1, 0), (2, 0), (2, 0))

    def audit_with(prior: str) -> Audit:
        p = publish(make_dataset(records), recode_nested)
        return protection.audit(p, prior=prior)  # type: ignore[arg-type]

    uniform, frequent = (audit_with(prior).sharpening for prior in ("uniform", "frequencies"))
    assert uniform is not None
    assert frequent is not None
    # Of four people in the pair of the first two towns, three are from the first.
    assert uniform.values.guesses.prior == pytest.approx(4 / 2)
    assert frequent.values.guesses.prior == pytest.approx(4 * 3 / 4)
    assert frequent.values.mean <= uniform.values.mean


def test_a_minimal_release_with_diverse_secrets_tells_more_than_it_shows() -> None:
    # Wong et al. (2007): values became coarser because somebody's class was not diverse.
    table = pa.table({"a": ["0", "0", "1", "1"], "s": ["flu", "flu", "flu", "cough"]})
    roles = {"quasi_identifier": ["a"], "sensitive": ["s"]}
    people = Dataset.from_arrow(table, roles=roles)
    limits = [Limit("distinct_l_diversity", at_least=2, attribute="s")]
    p = protection.recode(
        people, limits, 0.0, is_a={"a": [("0", "any"), ("1", "any")]}, suppress=False
    )
    found = protection.audit(p).sharpening
    assert found is not None
    assert found.survivors < found.replays == 16
    assert found.claim == "exact"


def test_the_chart_shows_how_many_values_become_sharper_by_how_much() -> None:
    sharpening = audit_tuples(4_000).sharpening
    assert sharpening is not None
    chart = sharpening.assessment().chart()
    assert sum(row["values"] for row in chart.records) == sharpening.values.total
