"""`reconstruct`: what tables of totals give away of the records behind them, phase by phase.

Favato et al. (2022), Section 2.4: link every record to a place of the finest table (phase 1), to
a place of a coarser table (phase 2), and with that to the finest again (phase 3); who is alone in
the places that are left is re-identified. The paper takes a coarser place into account where it is
certain. Here it is then taken as a set: the coarser places that are possible limit the finer ones,
and the other way round, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.data import Dataset
from divulge.reconstruction.amounts import Amount
from divulge.reconstruction.asked import Asked
from divulge.reconstruction.coverage import refuse_split_places
from divulge.reconstruction.imperfect import Premise
from divulge.reconstruction.level import Level
from divulge.reconstruction.narrowing import limit_coarse, limit_fine
from divulge.reconstruction.phases import Listed, Phase, before_any_phase, phase_of
from divulge.reconstruction.prior import Prior, weigh_places
from divulge.reconstruction.suppressed import spread_slack
from divulge.reconstruction.totals import Totals
from divulge.reconstruction.workers import Result, Task, solve_all
from divulge.work import Problems

if TYPE_CHECKING:
    from divulge.reconstruction.findings import Reconstruction

MOST_ROUNDS = 7
FIRST_SHARE = 0.12
"""Of the time, for the finest table: what others tell of it makes it easier later."""
COARSE_SHARE = 0.4
SHARE = 0.35
LAST_SHARES = (0.5, 0.95)
DOUBTFUL = 0.05
"""The share of instances without an allocation from which on a rounding rule is not believed."""
FIRST_READING = 0.6
"""The share of the time for the rules as given, where others must be tried as well."""
TELLING = 20
"""How many instances of two packages or more must bear a rule out before it is believed."""


@dataclass(frozen=True)
class Solved:
    """One instance that was solved: how large, how long, and how it ended."""

    table: str
    packages: int
    bins: int
    complexity: float
    status: str
    premise: str
    seconds: float
    certain: int
    ambiguous: int


def reconstruct(
    transactions: Dataset,
    totals: Sequence[Totals],
    parties: Dataset,
    *,
    units: dict[str, Amount],
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
        units: of every amount, the unit of which records are whole multiples.
        place: the column of the finest place, if the tables do not say.
        rule_is_known: whether the rounding rules are beyond doubt. By default one that is given
            is believed if the totals bear it out (20 instances of two records or more, of which
            at most 5% contradict it), and a diagnosed one is not. If a rule is not believed,
            "certain" is what stays so by whatever rule.
        premise: what to assume where no allocation fits: that records were left out of the totals
            ("excluded"), that there is one more ("extra"), either ("any"), or nothing ("complete").
        bad: records with a negative or missing amount, or one that is no whole number of units:
            "refuse" or "drop".
        unmatched: records without totals, totals without records, unknown places: "count" (nothing
            is concluded from them), or "refuse".
        truth: the true places of the records, one column a table, if the auditor has them. They
            serve as a start for proofs that a place is ambiguous, and nothing else.
        prior: how likely each sector of parties deals in what a record is about.
        seconds: for one instance; `in_all`: for all of them.
        in_all: what is not solved by then stays open; nothing is dropped.
        workers: how many processes; as many as there are cores if not given.
        fixpoint: whether places are at last taken as sets, in all tables at once.

    >>> import divulge as dv
    >>> from divulge.reconstruction import Generalised
    >>> month = dv.datasets.trade_month(transactions=150, importers=30, products=12, countries=3)
    >>> by_city = Totals(month.by_city, {"heading": Generalised("product", prefix=4),
    ...     "country": "country"}, ["city", "state"], ["value", "weight"])
    >>> by_state = Totals(month.by_state, {"product": "product", "country": "country"}, "state",
    ...     ["value", "weight", "freight", "insurance", "quantity"])
    >>> found = reconstruct(month.transactions, [by_city, by_state], month.importers,
    ...     units={"value": "0.01", "weight": "0.00001", "freight": "0.01", "insurance": "0.01",
    ...            "quantity": "0.00001"}, workers=1, seconds=0.1)
    >>> [phase.name for phase in found.phases]
    ['prior', '1/1', '1/2', '2/2', '3/1', '3/2', 'all tables']
    """
    from divulge.reconstruction.findings import Reconstruction

    given = transactions, totals, parties, units, place, rule_is_known, premise, bad
    asked = Asked(*given, truth, unmatched)
    budget = None if in_all is None else work.Budget(in_all)
    levels = [asked.level(table) for table in asked.totals]
    refuse_split_places(levels[0].matched)
    asked.report(levels).refuse(unmatched)
    doubtful = not all(level.known for level in levels)
    first = work.Budget(in_all * FIRST_READING) if in_all is not None and doubtful else budget
    run = _Run(asked, levels, seconds, first, workers)
    run.weigh(prior)
    phases = run.phases(fixpoint)
    if not all(level.known for level in run.levels) and phases[-1].certain.any():
        # Tables limit each other, so one doubtful rule taints all: certain is what stays so if
        # every doubtful table is read by whatever rule.
        widest = [level.by_whatever_rule() for level in run.levels]
        again = _Run(asked, widest, seconds, budget, workers, run.to_confirm(phases[-1]))
        both = zip(phases, again.phases(fixpoint), strict=True)
        phases = [phase.confirmed_by(other) for phase, other in both]
    return Reconstruction(
        transactions,
        asked.report(run.levels),
        tuple(run.levels),
        tuple(phases),
        tuple(run.solved.values()),
        asked.used,
        asked.parties_at,
        asked.value_amount,
        run.sound,
    )


class _Run:
    """The phases, one after the other, over the same levels; of chosen instances if so told."""

    def __init__(
        self,
        asked: Asked,
        levels: Sequence[Level],
        seconds: float,
        budget: work.Budget | None,
        workers: int | None,
        chosen: Sequence[set[int]] | None = None,
    ) -> None:
        self.asked, self.seconds, self.budget, self.workers = asked, seconds, budget, workers
        self.chosen = chosen
        self.levels = levels
        self.fine, self.coarse = levels[0], levels[1:]
        self.solved: dict[tuple[int, int], Solved] = {}
        for level in self.coarse:
            spread_slack(self.fine, level)
        names = self.fine.matched.names
        at_place = np.array([asked.parties_at.get(name, 0) for name in names], np.int64)
        self.listed = Listed(at_place, max(1, asked.parties.rows))
        self.rows = asked.transactions.rows
        self.sound = np.ones(self.rows, bool)
        self.truths = [asked.true_places(level) for level in self.levels]
        for level in self.levels:
            for group in level.matched.groups:
                if not asked.used[group.records].all():
                    # A record without amounts can be anywhere, and its group is not complete.
                    self.sound[group.records] = False

    def phases(self, fixpoint: bool) -> list[Phase]:
        """What is known after every phase."""
        found = [before_any_phase(self.fine, self.rows, self.listed), self.phase("1/1")]
        self.solve(self.fine, None, FIRST_SHARE if self.coarse else 1.0)
        found.append(self.phase("1/2"))
        if not self.coarse:
            return found
        for level in self.coarse:
            self.solve(level, None, COARSE_SHARE / len(self.coarse))
        found.append(self.phase("2/2"))
        changed = limit_fine(self.fine, self.coarse, self.rows, certain_only=True)
        found.append(self.phase("3/1"))
        self.solve(self.fine, changed, SHARE)
        found.append(self.phase("3/2"))
        if fixpoint:
            self.to_fixpoint()
            found.append(self.phase("all tables"))
        return found

    def to_confirm(self, last: Phase) -> list[set[int]]:
        """The instances of every level on which it depends whether what is certain stays so."""
        fine = {n for n, g in enumerate(self.fine.matched.groups) if last.certain[g.records].any()}
        related = np.zeros(self.rows, bool)
        for n in fine:
            related[self.fine.matched.groups[n].records] = True
        others = [
            {n for n, g in enumerate(level.matched.groups) if related[g.records].any()}
            for level in self.coarse
        ]
        return [fine, *others]

    def weigh(self, prior: Prior | None) -> None:
        """Take the sectors of the parties into account, in the finest table."""
        if prior is None:
            return
        asked = self.asked
        problems = Problems("reconstruct")
        problems.extend("prior", prior.problems(asked.transactions, asked.parties))
        problems.raise_any()
        asked.unused_weights = prior.unused(asked.transactions, asked.parties)
        if prior.weights and asked.unused_weights == len(prior.weights):
            message = "no weight is of a sector and kind that parties and records have."
            problems.add("prior, weights", message)
        problems.raise_any()
        self.fine.weights = weigh_places(
            prior, asked.transactions, asked.parties, asked.place, self.fine.matched.names
        )

    def solve(self, level: Level, changed: Sequence[int] | None, share: float) -> None:
        """Solve instances of a level, those that changed or all, in a share of the time left."""
        number = self.levels.index(level)
        which = range(len(level.matched.groups)) if changed is None else changed
        which = [n for n in which if self.asked.used[level.matched.groups[n].records].all()]
        if self.chosen is not None:
            which = [n for n in which if n in self.chosen[number]]
        truth = self.truths[number]
        tasks = [level.task(n, self.asked.premise, truth) for n in which]
        if not tasks:
            return
        left = None if self.budget is None else max(0.01, self.budget.left * share)
        name = f"Allocating by {level.matched.totals.finest}"
        found = solve_all(tasks, self.seconds, left, self.workers, name)
        if changed is None and self.chosen is None:
            self._judge_rule(level, found)
        for n, task, result in zip(which, tasks, found, strict=True):
            self._take(level, n, task, result)

    def _judge_rule(self, level: Level, found: Sequence[Result]) -> None:
        """Believe a rule that was given only if the totals bear it out."""
        if not level.known or self.asked.rule_is_known is not None:
            return
        if level.matched.totals.tolerance is not None:
            return
        failed = sum(r.premise != "complete" or r.status == "infeasible" for r in found)
        # Of one package, most rules make the same total.
        telling = sum(len(r.possible) > 1 for r in found)
        level.doubted = failed > DOUBTFUL * len(found)
        level.untested = not level.doubted and telling < TELLING
        level.known = not (level.doubted or level.untested)

    def _take(self, level: Level, n: int, task: Task, result: Result) -> None:
        group = level.matched.groups[n]
        before = level.results[n]
        if result.status == "infeasible":
            # Totals and records contradict each other: nothing is concluded from them.
            if before is None or before.status == "infeasible":
                level.results[n] = result
            else:
                # The tables contradict each other here: what this one said alone still holds.
                level.possible[n] = before.possible
                level.contradicted.add(n)
        elif not result.proved.any():
            # Nor from totals that no allocation was found to meet: they may contradict too.
            level.results[n] = before or result
        else:
            if before is not None and (before.possible == level.possible[n]).all():
                result = result.with_proofs_of(before)
            level.results[n] = result
            level.possible[n] = result.possible
        known = level.results[n]
        assert known is not None  # noqa: S101  # set above
        singles = (known.possible.sum(axis=1) == 1) & ~known.discardable
        key = self.levels.index(level), n
        earlier = self.solved.get(key)
        self.solved[key] = Solved(
            level.matched.totals.dataset.name,
            len(group.records),
            len(group.rows),
            task.instance.complexity,
            known.status,
            known.premise,
            result.seconds + (earlier.seconds if earlier else 0.0),
            int(singles.sum()),
            int((known.proved.sum(axis=1) > 1).sum()),
        )

    def to_fixpoint(self) -> None:
        """Sets of places limit each other until nothing changes."""
        again = self.budget is not None
        for _ in range(MOST_ROUNDS):
            fine = limit_fine(self.fine, self.coarse, self.rows, certain_only=False)
            self.solve(self.fine, [n for n in fine if not self.fine.is_settled(n)], SHARE)
            coarse = limit_coarse(self.fine, self.coarse, self.rows)
            for level, changed in zip(self.coarse, coarse, strict=True):
                self.solve(level, [n for n in changed if not level.is_settled(n)], SHARE)
            if not fine and not any(coarse):
                if not again:
                    return
                # Time was short before, and some is left: once more for all that are open.
                again = False
                for level, share in zip([*self.coarse, self.fine], LAST_SHARES, strict=False):
                    groups = range(len(level.matched.groups))
                    self.solve(level, [n for n in groups if not level.is_closed(n)], share)

    def phase(self, name: str) -> Phase:
        """What is known now."""
        return phase_of(name, self.fine, self.sound, self.listed)
