"""The audit: Table 4 of Favato et al. (2022), a made-up month, imperfect data, remedies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from divulge import work
from divulge.data import Dataset
from divulge.datasets import TradeMonth, trade_month
from divulge.reconstruction import (
    Generalised,
    Prior,
    Reconstruction,
    Totals,
    reconstruct,
    what_would_help,
)
from divulge.reconstruction.auditing.remaining_risk import _find_unsettled_records
from divulge.reconstruction.auditing.request import ReconstructionRequest
from divulge.reconstruction.auditing.workers import Task
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.solving.mismatched_totals import solve_under_premise

UNITS: Any = {
    "value": "0.01",
    "weight": "0.00001",
    "freight": "0.01",
    "insurance": "0.01",
    "quantity": "0.00001",
}


def tables_of(month: TradeMonth, **more: Any) -> list[Totals]:
    """Both tables of a month, by customs unit where it tells them."""
    by_city: dict[str, str | Generalised] = {
        "heading": Generalised("product", prefix=4),
        "country": "country",
    }
    key = [name for name in ("product", "country", "customs_unit") if name in month.by_state.names]
    by_state: dict[str, str | Generalised] = dict(zip(key, key, strict=True))
    five = ["value", "weight", "freight", "insurance", "quantity"]
    return [
        Totals(month.by_city, by_city, ["city", "state"], five[:2], **more),
        Totals(month.by_state, by_state, "state", five, **more),
    ]


@pytest.fixture(scope="module")
def month() -> TradeMonth:
    return trade_month(
        transactions=900,
        importers=90,
        products=80,
        countries=4,
        customs_units=0,
        excluded=0,
        extra=0,
    )


@pytest.fixture(scope="module")
def audited(month: TradeMonth) -> Reconstruction:
    totals = tables_of(month)
    return reconstruct(
        month.transactions, totals, month.importers, units=UNITS, workers=1, seconds=0.3
    )


def table_4() -> tuple[Dataset, list[Totals], Dataset]:
    """Nineteen cities in which the target can be, three in its state, one importer in its city."""
    records = [("A", 10), ("C", 20), ("C", 30), *[("B", 10)] * 19]
    transactions = Dataset.from_arrow(
        pa.table(
            {
                "product": [f"5208{code}" for code, _ in records],
                "value": [float(value) for _, value in records],
            }
        ),
        name="transactions",
        subjects="transactions",
    )
    cities = [("Ouro Branco", "MG", 10), ("Belo Horizonte", "MG", 20), ("Extrema", "MG", 30)]
    cities += [("city 1", "SP", 20), ("city 2", "SP", 30)]
    cities += [(f"city {n}", "SP", 10) for n in range(3, 17)]
    by_city = Dataset.from_arrow(
        pa.table(
            {
                "heading": ["5208"] * 19,
                "city": [c for c, _, _ in cities],
                "state": [s for _, s, _ in cities],
                "value": [v for _, _, v in cities],
            }
        ),
        name="by city",
    )
    by_state = Dataset.from_arrow(
        pa.table(
            {
                "product": ["5208A", "5208C", "5208B"],
                "state": ["MG", "MG", "SP"],
                "value": [10, 50, 190],
            }
        ),
        name="by state",
    )
    here = {"Ouro Branco": 1, "Belo Horizonte": 276, "Extrema": 49}
    here |= {f"city {n}": 287 for n in range(1, 16)} | {"city 16": 4923 - 326 - 15 * 287}
    elsewhere = 18_430 - sum(here.values())
    where = [city for city, count in {**here, "elsewhere": elsewhere}.items() for _ in range(count)]
    parties = Dataset.from_arrow(pa.table({"city": where}), name="importers")
    heading = {"heading": Generalised("product", prefix=4)}
    return (
        transactions,
        [
            Totals(by_city, heading, ["city", "state"], ["value"]),
            Totals(by_state, {"product": "product"}, "state", ["value"]),
        ],
        parties,
    )


def test_table_4_the_probability_of_one_target_by_phase() -> None:
    transactions, totals, parties = table_4()
    found = reconstruct(transactions, totals, parties, units={"value": "1"}, workers=1, seconds=1)
    rows = {row.phase: row for row in found.table_4(0)}
    assert round(rows["prior"].parties) == 18_430
    assert round(rows["1/1"].parties) == round(rows["1/2"].parties) == 4_923
    assert round(rows["3/1"].parties) == 326
    assert rows["3/2"].probability == 1
    assert rows["1/1"].factor == pytest.approx(18_430 / 4_923)  # 3.7
    assert rows["3/1"].factor == pytest.approx(4_923 / 326)  # 15
    assert rows["3/2"].factor == pytest.approx(326)
    assert found.phases[-1].identified.tolist() == [True, *[False] * 21]
    assert found.table_6b[-1].value == 10
    of_target = {one.model: one for one in found.assessments_of(0)}
    assert of_target["1/1"].probabilistic.prior == pytest.approx(1 / 18_430)
    assert of_target["1/1"].multiplicative_leakage == pytest.approx(18_430 / 4_923)
    assert of_target["3/2"].deterministic.posterior == 1
    with pytest.raises(work.DivulgeError, match="records are 0 to 21"):
        found.assessments_of(22)


def test_in_a_complete_month_the_truth_is_always_possible(
    month: TradeMonth, audited: Reconstruction
) -> None:
    for level, column in zip(audited.levels, ("city", "state"), strict=True):
        true = month.truth.to_arrow()[column].to_pylist()
        for group, possible, result in zip(
            level.totals_match.groups, level.possible, level.results, strict=True
        ):
            assert result is not None
            assert result.status != "infeasible"
            names = [level.totals_match.names[p] for p in level.totals_match.place[group.rows]]
            for row, record in enumerate(group.records):
                assert possible[row, names.index(true[record])]


def test_who_is_named_is_named_rightly(month: TradeMonth, audited: Reconstruction) -> None:
    identities = audited.identities(month.importers, "company")
    assert len(identities) == audited.table_6b[-1].identified > 50
    city_of = dict(
        zip(
            month.importers.to_arrow()["company"].to_pylist(),
            month.importers.to_arrow()["city"].to_pylist(),
            strict=True,
        )
    )
    true = month.truth.to_arrow()["city"].to_pylist()
    assert all(city_of[company] == true[record] for record, company in identities.items())


def test_every_phase_knows_at_least_as_much(audited: Reconstruction) -> None:
    for before, after in zip(audited.phases, audited.phases[1:], strict=False):
        assert (after.places_left <= before.places_left).all()
        assert (after.certain >= before.certain).all()
    rows = audited.table_6b
    assert [row.phase for row in rows][-1] == "all tables"
    assert rows[-1].leakage > rows[1].leakage > 1


def test_who_counts_allocations_knows_at_least_as_much_where_all_are_counted() -> None:
    # So small that everything is closed at once: no budget of time decides on the figures.
    small = trade_month(
        transactions=200,
        importers=60,
        products=60,
        countries=4,
        customs_units=0,
        excluded=0,
        extra=0,
    )
    found = reconstruct(
        small.transactions, tables_of(small), small.importers, units=UNITS, workers=1, seconds=60
    )
    for level in found.levels:
        assert all(result is not None and result.status == "closed" for result in level.results)
    last = found.table_6b[-1]
    assert last.by_counting >= last.probability * 0.999


def test_no_name_is_told_unasked(month: TradeMonth, audited: Reconstruction) -> None:
    told = f"{audited} {audited!r} {audited.to_dict()} {audited.chart().to_dict()}"
    assert "company" not in told.replace("'company'", "")
    assert "city 0" not in told
    assert audited.table_6a(names=True)[0][0].startswith("city 0")


def test_suppressed_codes_are_slack_in_finer_totals(audited: Reconstruction) -> None:
    assert audited.found_in_data.suppressed_codes > 5
    assert audited.levels[0].slack.any()
    of_records = np.concatenate([group.rows for group in audited.levels[1].totals_match.groups])
    assert not audited.levels[1].slack[of_records].any()


def test_processes_and_one_process_find_the_same(
    month: TradeMonth, audited: Reconstruction
) -> None:
    totals = tables_of(month)
    found = reconstruct(
        month.transactions, totals, month.importers, units=UNITS, workers=2, seconds=0.3
    )
    closed = [
        (a, b)
        for a, b in zip(audited.levels[0].results, found.levels[0].results, strict=True)
        if a is not None and b is not None and a.status == b.status == "closed"
    ]
    assert len(closed) > 30
    assert all((a.possible == b.possible).all() and a.count == b.count for a, b in closed)


def test_time_that_is_up_drops_no_record(month: TradeMonth) -> None:
    found = reconstruct(
        month.transactions,
        tables_of(month),
        month.importers,
        units=UNITS,
        workers=1,
        in_all=0.01,
        fixpoint=False,
    )
    assert len(found.solved) == sum(len(level.totals_match.groups) for level in found.levels)
    assert (found.phases[-1].places_left >= 1).all()
    assert found.assessment.claim == "bound"


def test_what_may_be_known_at_most_is_not_less_than_what_more_time_finds() -> None:
    """Some parties are alone in their city, others are not."""
    month = trade_month(
        transactions=500, importers=90, cities=50, products=40, countries=3, excluded=0, extra=0
    )

    def audit(**time: Any) -> Reconstruction:
        tables = tables_of(month)
        told: dict[str, Any] = {"units": UNITS, "rule_is_known": True, "workers": 1}
        return reconstruct(month.transactions, tables, month.importers, **told, **time)

    hurried, patient = audit(seconds=0.001, in_all=0.01), audit(seconds=0.3)
    least, most = hurried.assessment, hurried.assessment.at_worst
    assert least.claim == "bound"
    may_be, found = hurried.at_most, patient.phases[-1]
    assert (may_be.may_be_known >= found.identified).all()
    assert (may_be.chance >= found.guess_chance - 1e-12).all()
    assert least.certain.posterior <= patient.assessment.certain.posterior
    assert patient.assessment.certain.posterior <= most.certain.posterior < least.secrets
    assert patient.assessment.right.posterior <= most.right.posterior < least.secrets


def test_what_hangs_together_over_several_tables_is_open_together() -> None:
    """What one open instance may still tell goes on to others by the records that they share."""
    product, country = list("1112223"), list("xxyyzzw")
    records = Dataset.from_arrow(
        pa.table({"product": product, "country": country, "value": [2, 2, 4, 8, 16, 32, 64]})
    )
    fine = {
        "product": list("112233"), "city": list("ababab"), "state": list("eeeeee"),
        "value": [4, 4, 8, 48, 0, 64],
    }  # fmt: skip
    coarse = {"country": list("xyzw"), "state": list("eeee"), "value": [4, 12, 48, 64]}
    tables = [
        Totals(
            Dataset.from_arrow(pa.table(fine), name="f"), {"product": "product"}, ["city", "state"]
        ),
        Totals(Dataset.from_arrow(pa.table(coarse), name="c"), {"country": "country"}, "state"),
    ]
    parties = Dataset.from_arrow(pa.table({"city": ["a", "b"]}), name="parties")
    found = reconstruct(records, tables, parties, rule_is_known=True, premise="complete", workers=1)
    assert not _find_unsettled_records(found.levels, 7).any()
    first = found.levels[0].results[0]
    assert first is not None
    found.levels[0].results[0] = replace(first, status="open")
    # Product 1 shares country y with product 2; product 3 and country w stand alone.
    assert _find_unsettled_records(found.levels, 7).tolist() == [True] * 6 + [False]


def test_no_time_at_all_is_refused(month: TradeMonth) -> None:
    with pytest.raises(work.InvalidInput, match="seconds: must be above 0"):
        reconstruct(month.transactions, tables_of(month), month.importers, seconds=0)


def test_units_and_amounts_need_not_be_told() -> None:
    """The decimals of the records show the units; amounts are the numbers that both sides have."""
    month = trade_month(transactions=150, importers=30, products=12, countries=3, customs_units=0)
    told = tables_of(month)
    silent = [Totals(table.dataset, table.by, table.place) for table in told]
    given: dict[str, Any] = {"workers": 1, "seconds": 0.2}
    by_hand = reconstruct(month.transactions, told, month.importers, units=UNITS, **given)
    found = reconstruct(month.transactions, totals=silent, parties=month.importers, **given)
    assert [level.attributes for level in found.levels] == [
        level.attributes for level in by_hand.levels
    ]
    assert (found.phases[-1].place == by_hand.phases[-1].place).all()
    [column] = found.levels[0].units[:1]
    assert column == Decimal("0.01")
    helped = what_would_help(
        month.transactions, silent[:1], month.importers, remedies=["dropped_amount"], **given
    )
    assert [one.strength for one in helped.tried] == ["none", "weight"]


def test_decimals_that_are_traces_of_arithmetic_show_no_unit() -> None:
    records = Dataset.from_arrow(pa.table({"product": ["1", "1"], "value": [0.1 + 0.2, 5.0]}))
    table = pa.table({"product": ["1", "1"], "city": ["a", "b"], "value": [0, 5]})
    totals = Totals(Dataset.from_arrow(table, name="t"), {"product": "product"}, "city")
    parties = Dataset.from_arrow(pa.table({"city": ["a", "b"]}), name="parties")
    with pytest.raises(work.InvalidInput, match='"value" has more than 9 decimals; give its unit'):
        reconstruct(records, [totals], parties, workers=1)


def test_the_rule_of_rounding_is_found_out(month: TradeMonth) -> None:
    found = reconstruct(
        month.transactions,
        tables_of(month, rounding="diagnose")[1:],
        month.importers,
        units=UNITS,
        workers=1,
        seconds=1,
    )
    assert found.levels[0].rule.startswith("sum_then_round")
    assert not found.levels[0].rule_is_known
    true = month.truth.to_arrow()["state"].to_pylist()
    level = found.levels[0]
    for group, possible in zip(level.totals_match.groups, level.possible, strict=True):
        names = [level.totals_match.names[p] for p in level.totals_match.place[group.rows]]
        for row, record in enumerate(group.records):
            if found.phases[-1].certain[record]:
                assert names[int(possible[row].argmax())] == true[record]


@pytest.mark.parametrize("declared", ["round_then_sum", "sum_then_round_down", "exact"])
def test_a_misdeclared_rule_is_doubted_and_nothing_certain_is_wrong(
    month: TradeMonth, declared: str
) -> None:
    found = reconstruct(
        month.transactions,
        tables_of(month, rounding=declared)[1:],
        month.importers,
        units=UNITS,
        workers=1,
        seconds=0.1,
    )
    [level] = found.levels
    assert level.rule_is_doubted
    assert "probably not rounded as stated" in str(found)
    true = month.truth.to_arrow()["state"].to_pylist()
    for group, possible in zip(level.totals_match.groups, level.possible, strict=True):
        names = [level.totals_match.names[p] for p in level.totals_match.place[group.rows]]
        for row, record in enumerate(group.records):
            if found.phases[-1].certain[record]:
                assert names[int(possible[row].argmax())] == true[record]


def test_a_mining_company_is_unlikely_to_import_car_parts() -> None:
    records = Dataset.from_arrow(pa.table({"product": ["87", "87"], "value": [5.0, 5.0]}), name="r")
    totals = Dataset.from_arrow(
        pa.table({"product": ["87"] * 2, "state": ["a", "b"], "value": [5, 5]}), name="t"
    )
    parties = Dataset.from_arrow(
        pa.table({"state": ["a", "a", "b"], "sector": ["mining", "cars", "mining"]}), name="p"
    )
    table = Totals(totals, {"product": "product"}, "state", ["value"])
    prior = Prior("sector", "product", {("mining", "87"): 0.1})
    plain = reconstruct(records, [table], parties, units={"value": "1"}, workers=1)
    found = reconstruct(records, [table], parties, units={"value": "1"}, workers=1, prior=prior)
    # Both places have one of two equal records: half each. In place b one company is alone, in
    # place a two are, of which the car maker is ten times as likely.
    assert plain.phases[-1].guess_chance.tolist() == [0.5, 0.5]
    assert found.phases[-1].guess_chance.tolist() == pytest.approx([0.5, 0.5])
    single = Dataset.from_arrow(pa.table({"product": ["87"] * 2, "value": [5.0, 5.0]}), name="r")
    in_a = Dataset.from_arrow(
        pa.table({"product": ["87"], "state": ["a"], "value": [10]}), name="t"
    )
    alone = Totals(in_a, {"product": "product"}, "state", ["value"])
    likely = reconstruct(single, [alone], parties, units={"value": "1"}, workers=1, prior=prior)
    assert likely.phases[-1].guess_chance.tolist() == pytest.approx([10 / 11, 10 / 11])
    assert likely.phases[-1].chance.tolist() == [0.5, 0.5]


def test_a_place_without_a_listed_party_has_one_that_is_not_listed() -> None:
    records = Dataset.from_arrow(pa.table({"product": ["1", "1"], "value": [5.0, 5.0]}), name="r")
    totals = Dataset.from_arrow(
        pa.table({"product": ["1", "1"], "state": ["a", "b"], "value": [5, 5]}), name="t"
    )
    parties = Dataset.from_arrow(pa.table({"state": ["a"]}), name="p")
    table = Totals(totals, {"product": "product"}, "state", ["value"])
    found = reconstruct(records, [table], parties, units={"value": "1"}, workers=1)
    assert not found.phases[-1].identified.any()
    assert found.phases[-1].chance.tolist() == [0.5, 0.5]


def test_a_customs_unit_that_both_sides_tell_gives_more_away() -> None:
    certain = []
    for units in (0, 6):
        month = trade_month(
            seed=5,
            transactions=900,
            importers=90,
            products=8,
            countries=2,
            customs_units=units,
            excluded=0,
            extra=0,
        )
        found = reconstruct(
            month.transactions,
            tables_of(month)[1:],
            month.importers,
            units=UNITS,
            workers=1,
            seconds=0.2,
            premise="complete",
        )
        last, truth = found.phases[-1], true_places(month.truth, "state", found)
        certain.append(int(last.certain.sum()))
        assert (last.place[last.certain] == truth[last.certain]).all()
    assert certain[1] > 1.3 * certain[0] > 0, certain


def true_places(truth: Dataset, column: str, found: Reconstruction) -> np.ndarray[Any, Any]:
    """The true place of every record, numbered as the finest table does."""
    names = found.levels[0].totals_match.names
    return np.array([names.index(place) for place in truth.to_arrow()[column].to_pylist()])


def test_excluded_records_are_found() -> None:
    month = trade_month(
        seed=3,
        transactions=900,
        importers=90,
        products=60,
        countries=4,
        customs_units=0,
        excluded=0.02,
        extra=0,
    )
    found = reconstruct(
        month.transactions,
        tables_of(month)[1:],
        month.importers,
        units=UNITS,
        workers=1,
        rule_is_known=True,
    )
    said = found.likely_excluded()
    assert month.excluded.sum() > 10
    assert said[month.excluded].mean() > 0.9
    assert month.excluded[said].mean() > 0.9


def small_instances(month: TradeMonth) -> list[Task]:
    """Instances of each table for itself, up to complexity 20, with the truth."""
    asked = ReconstructionRequest(
        month.transactions,
        tables_of(month),
        month.importers,
        units=UNITS,
        place=None,
        rule_is_known=None,
        premise="any",
        bad="refuse",
        truth=month.truth,
    )
    levels = asked.build_table_states()
    every = [
        level.build_task(number, "any", asked.number_true_places(level))
        for level in levels
        for number, group in enumerate(level.totals_match.groups)
        if len(group.rows) > 1 and len(group.records) > 3
    ]
    return [task for task in every if task.instance.complexity <= 20]


def test_up_to_two_records_left_out_of_small_instances_are_mostly_found_exactly() -> None:
    month = trade_month(
        transactions=12_000,
        importers=500,
        products=150,
        countries=8,
        customs_units=0,
        excluded=0,
        extra=0,
    )
    random = np.random.default_rng(2)
    every = small_instances(month)
    closed, exact = [], []
    for number in random.permutation(len(every))[:120]:
        one, truth = every[number].instance, every[number].truth
        assert truth is not None
        out = random.choice(one.packages, int(random.integers(1, 3)), replace=False)
        low, high = one.low.copy(), one.high.copy()
        for package in out:
            low[truth[package]] -= one.amounts[package]
            high[truth[package]] -= one.amounts[package]
        found = solve_under_premise(
            Instance.from_intervals(one.amounts, low, high), "excluded", seconds=30
        )
        closed.append(found.solution.status == "closed")
        said = () if found.discarded is None else np.flatnonzero(found.discarded > 0.5)
        exact.append(set(said) == set(out))
    assert len(closed) == len(exact) == 120
    assert np.mean(closed) >= 0.95
    assert np.mean(exact) >= 0.85


def bad_month() -> dict[str, Any]:
    return {
        "product": ["1", "2", "3", "2"],
        "value": [1.0, -2.0, None, 0.125],
    }


def test_bad_records_and_totals_are_counted_and_named() -> None:
    records = Dataset.from_arrow(pa.table(bad_month()), name="records")
    totals = Dataset.from_arrow(
        pa.table({"product": ["1", "1", "2"], "state": ["a", "a", "b"], "value": [1, 2, 3]}),
        name="totals",
    )
    parties = Dataset.from_arrow(pa.table({"state": ["a"]}), name="parties")
    table = Totals(totals, {"product": "product"}, "state", ["value"])
    with pytest.raises(work.InvalidInput) as error:
        reconstruct(records, [table], parties, units={"value": "0.01"})
    for text in ("1 row has no amount", "1 row has a negative", "1 row has an amount that"):
        assert text in str(error.value)
    with pytest.raises(work.InvalidInput, match="1 row repeats the product, state"):
        reconstruct(records, [table], parties, units={"value": "0.01"}, bad="drop")
    with pytest.raises(work.InvalidInput, match='give the unit of "value"'):
        reconstruct(records, [table], parties, units={})
    with pytest.raises(work.InvalidInput, match='Did you mean "state"'):
        wrong = Totals(totals, {"product": "product"}, "stat", ["value"])
        reconstruct(records, [wrong], parties, units={"value": "0.01"})
    once = Dataset.from_arrow(
        pa.table({"product": ["1", "9"], "state": ["a", "z"], "value": [1, 2]}), name="totals"
    )
    kept = Totals(once, {"product": "product"}, "state", ["value"])
    found = reconstruct(records, [kept], parties, units={"value": "0.01"}, bad="drop", workers=1)
    assert found.found_in_data.dropped_records == 3
    assert found.found_in_data.records_without_totals == {"totals": 3}
    assert found.found_in_data.totals_without_records == {"totals": 1}
    assert found.found_in_data.places_without_parties == 1


def test_a_contradiction_is_said_with_place_and_amount_and_nothing_follows_from_it() -> None:
    records = Dataset.from_arrow(pa.table({"product": ["1", "1"], "value": [5.0, 9.0]}), name="r")
    totals = Dataset.from_arrow(
        pa.table({"product": ["1", "1"], "state": ["a", "b"], "value": [5, 700]}), name="t"
    )
    parties = Dataset.from_arrow(pa.table({"state": ["a", "b"]}), name="p")
    table = Totals(totals, {"product": "product"}, "state", ["value"])
    found = reconstruct(
        records, [table], parties, units={"value": "1"}, premise="complete", workers=1
    )
    assert [(t, place, amount) for t, place, amount, _ in found.inconsistent()] == [
        ("t", "b", "value")
    ]
    assert not found.phases[-1].certain.any()
    assert "contradict each other" in str(found)


def test_a_run_that_was_killed_resumes(tmp_path: Path) -> None:
    code = f"""
import sys
from divulge import work
from divulge.datasets import trade_month
from tests.reconstruction.test_reconstruct import UNITS, tables_of
from divulge.reconstruction import reconstruct
month = trade_month(transactions=900, importers=90, products=80, countries=4, customs_units=0, excluded=0, extra=0)
with work.run_with(checkpoints=work.Checkpoints({str(tmp_path)!r})):
    found = reconstruct(month.transactions, tables_of(month), month.importers, units=UNITS,
                        workers=1, seconds=0.2)
print(found.table_6b[-1].identified)
"""
    first = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    end = time.monotonic() + 60
    while time.monotonic() < end and len(list(tmp_path.glob("*.npz"))) < 2:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    assert len(kept) >= 2
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=True,
    )
    assert int(told.stdout) > 50
    assert all((tmp_path / name).stat().st_mtime_ns == when for name, when in kept.items())


def test_who_bears_the_risk(audited: Reconstruction) -> None:
    groups = audited.assessment.by("country")
    assert sum(group.secrets for group in groups.values()) == audited.transactions.rows
    certain = [group.certain.posterior for group in groups.values()]
    assert sum(certain) == audited.assessment.certain.posterior
    assert np.isclose(audited.assessment.risk().sum(), audited.assessment.right.posterior)
