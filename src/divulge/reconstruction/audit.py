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
from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.input_report import refuse_split_places
from divulge.reconstruction.auditing.prior import Prior
from divulge.reconstruction.auditing.request import ReconstructionRequest
from divulge.reconstruction.auditing.run import Run
from divulge.reconstruction.auditing.suppressed_codes import spread_slack_across
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.auditing.totals import Totals
from divulge.reconstruction.auditing.workers import share_processes
from divulge.reconstruction.problem.amounts import Amount
from divulge.reconstruction.problem.premises import Premise
from divulge.reconstruction.reporting.result import Reconstruction
from divulge.work import Effort

if TYPE_CHECKING:
    pass


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
    request = ReconstructionRequest(
        transactions,
        totals,
        parties,
        units=units,
        place=place,
        rule_is_known=rule_is_known,
        premise=premise,
        bad=bad,
        truth=truth,
        unmatched=unmatched,
    )
    with work.partial_results(), share_processes():
        return _audit_tables(
            request, prior, seconds, in_all=in_all, workers=workers, fixpoint=fixpoint
        )


def _audit_tables(
    request: ReconstructionRequest,
    prior: Prior | None,
    seconds: float,
    *,
    in_all: float | None,
    workers: int | None,
    fixpoint: bool,
) -> Reconstruction:
    levels = request.build_table_states()
    refuse_split_places(levels[0].totals_match)
    request.build_input_report(levels).check_counterparts(request.unmatched)
    doubtful = not all(level.rule_is_known for level in levels)
    total_effort = None if in_all is None else Effort(in_all)
    first_effort = (
        total_effort.share(tuning.AUDIT_FIRST_READING_SHARE)
        if total_effort is not None and doubtful
        else total_effort
    )
    run = Run(request, levels, seconds, effort=first_effort, workers=workers)
    run.apply_prior(prior)
    phases = run.run_phases(fixpoint)
    certain = np.logical_or.reduce([phase.certain for phase in phases])
    widest_levels: list[TableState] = []
    if not all(level.rule_is_known for level in run.levels):
        # Tables limit each other, so one doubtful rule taints all: certain is what stays so if
        # every doubtful table is read by all rules that it may be rounded by.
        widest_levels = [level.reread_by_fitting_rules() for level in run.levels]
        spread_slack_across(widest_levels)
    if widest_levels and certain.any():
        remaining = None if total_effort is None else Effort(total_effort.left)
        second_run = Run(
            request,
            widest_levels,
            seconds,
            effort=remaining,
            workers=workers,
            selection=run.select_to_confirm(certain),
        )
        both = zip(phases, second_run.run_phases(fixpoint), strict=True)
        phases = [phase.confirm_by(other) for phase, other in both]
    return Reconstruction(
        transactions=request.transactions,
        found_in_data=request.build_input_report(run.levels),
        levels=tuple(run.levels),
        phases=tuple(phases),
        solved=tuple(run.solved.values()),
        used=request.used,
        parties_at=request.parties_at,
        value_amount=request.value_amount,
        sound=run.sound,
        place=request.place,
        at_fixpoint=run.at_fixpoint,
        by_any_rule=tuple(widest_levels),
        is_cut=work.is_stopped(),
    )
