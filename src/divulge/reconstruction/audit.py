"""`reconstruct`: what tables of totals give away of the records behind them, phase by phase.

Favato et al. (2022), Section 2.4: link every record to a place of the finest table (phase 1), to
a place of a coarser table (phase 2), and with that to the finest again (phase 3); who is alone in
the places that are left is re-identified. The paper takes a coarser place into account where it is
certain. Here it is then taken as a set: the coarser places that are possible limit the finer ones,
and the other way round, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.data import Dataset
from divulge.reconstruction.auditing.input_report import refuse_split_places
from divulge.reconstruction.auditing.prior import Prior
from divulge.reconstruction.auditing.request import Asked
from divulge.reconstruction.auditing.run import Run
from divulge.reconstruction.auditing.suppressed_codes import spread_all
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.auditing.totals import Totals
from divulge.reconstruction.auditing.workers import shared_processes
from divulge.reconstruction.problem.amounts import Amount
from divulge.reconstruction.problem.premises import Premise
from divulge.reconstruction.reporting.result import Reconstruction
from divulge.work import Effort

if TYPE_CHECKING:
    from divulge.reconstruction.reporting.result import Reconstruction

FIRST_READING = 0.6
"""The share of the effort for the rules as given, where others must be tried as well."""


def reconstruct(
    transactions: Dataset,
    totals: Sequence[Totals],
    parties: Dataset,
    *,
    units: dict[str, Amount] | None = None,
    place: str | None = None,
    rule_is_known: bool | None = None,
    premise: Premise = "any",
    bad: str = "refuse",
    unmatched: str = "count",
    truth: Dataset | None = None,
    prior: Prior | None = None,
    seconds: float = 10.0,
    in_all: float | None = None,
    workers: int | None = None,
    fixpoint: bool = True,
) -> Reconstruction:
    """Try to find the party of every record from tables of totals, and say how far one comes.

    Args:
        transactions: the records without identities.
        totals: the published tables, each with its key, place, amounts and rounding rule
            ("diagnose" finds the tightest rule that fits); the finest places first or last.
        parties: the list of parties; it must have the column of the finest place.
        units: of every amount, the unit of which records are whole multiples; as their decimals
            show if not given.
        place: the column of the finest place, if the tables do not say.
        rule_is_known: whether the rounding rules are beyond doubt. By default one that is given
            is believed if the totals rule out every other and at most 5% of the instances
            contradict it, and a diagnosed one is not. Else "certain" is what stays so by all
            rules that the totals do not rule out.
        premise: what to assume where no allocation fits: that records were left out of the totals
            ("excluded"), that there is one more ("extra"), that one was left out and one is more
            ("both"), any of these, the first that fits ("any"), or nothing ("complete").
        bad: records with a negative or missing amount, or one that is no whole number of units:
            "refuse" or "drop".
        unmatched: records without totals, totals without records, unknown places: "count" (nothing
            is concluded from them), or "refuse".
        truth: the true places of the records, one column per table, if the auditor has them. They
            serve as a start for proofs that a place is ambiguous, and tell which records the totals
            leave out, or where they have one too many, if they contradict them; nothing else.
        prior: how likely each sector of parties deals in what a record is about.
        seconds: the effort for one instance, in nominal seconds: counted steps, about as many as a
            quiet core makes in that time, so that results do not depend on the machine.
        in_all: for all of them, about, whatever the number of processes; what is not solved by
            then stays open, and nothing is dropped.
        workers: how many processes; as many as there are cores if not given.
        fixpoint: whether places are at last taken as sets, in all tables at once.

    >>> import divulge as dv
    >>> from divulge.reconstruction import Generalised
    >>> month = dv.datasets.trade_month(transactions=150, importers=30, products=12, countries=3)
    >>> by_city = Totals(month.by_city, {"heading": Generalised("product", prefix=4),
    ...     "country": "country"}, ["city", "state"], ["value", "weight"])
    >>> by_state = Totals(month.by_state, {"product": "product", "country": "country",
    ...     "customs_unit": "customs_unit"}, "state",
    ...     ["value", "weight", "freight", "insurance", "quantity"])
    >>> found = reconstruct(month.transactions, [by_city, by_state], month.importers,
    ...     units={"value": "0.01", "weight": "0.00001", "freight": "0.01", "insurance": "0.01",
    ...            "quantity": "0.00001"}, workers=1, seconds=0.1)
    >>> [phase.name for phase in found.phases]
    ['prior', '1/1', '1/2', '2/2', '3/1', '3/2', 'all tables']
    """
    problems = work.Problems("reconstruct")
    for name, time in (("seconds", seconds), ("in_all", in_all)):
        if time is not None and not time > 0:
            problems.add(name, "must be above 0.")
    problems.raise_any()
    given = transactions, totals, parties, units, place, rule_is_known, premise, bad
    asked = Asked(*given, truth, unmatched)
    with work.partial_results(), shared_processes():
        return _reconstruct(asked, prior, seconds, in_all, workers, fixpoint)


def _reconstruct(
    asked: Asked,
    prior: Prior | None,
    seconds: float,
    in_all: float | None,
    workers: int | None,
    fixpoint: bool,
) -> Reconstruction:
    levels = asked.levels()
    refuse_split_places(levels[0].matched)
    asked.report(levels).refuse(asked.unmatched)
    doubtful = not all(level.known for level in levels)
    whole = None if in_all is None else Effort(in_all)
    first = whole.share(FIRST_READING) if whole is not None and doubtful else whole
    run = Run(asked, levels, seconds, first, workers)
    run.weigh(prior)
    phases = run.phases(fixpoint)
    certain = np.logical_or.reduce([phase.certain for phase in phases])
    widest: list[Level] = []
    if not all(level.known for level in run.levels):
        # Tables limit each other, so one doubtful rule taints all: certain is what stays so if
        # every doubtful table is read by all rules that it may be rounded by.
        widest = [level.by_whatever_rule() for level in run.levels]
        spread_all(widest)
    if widest and certain.any():
        left = None if whole is None else Effort(whole.left)
        again = Run(asked, widest, seconds, left, workers, run.to_confirm(certain))
        both = zip(phases, again.phases(fixpoint), strict=True)
        phases = [phase.confirmed_by(other) for phase, other in both]
    return Reconstruction(
        asked.transactions,
        asked.report(run.levels),
        tuple(run.levels),
        tuple(phases),
        tuple(run.solved.values()),
        asked.used,
        asked.parties_at,
        asked.value_amount,
        run.sound,
        asked.place,
        run.at_fixpoint,
        tuple(widest),
        work.is_stopped(),
    )
