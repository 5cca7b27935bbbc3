"""`reconstruct`: what tables of totals give away of the records behind them, phase by phase.

Favato et al. (2022), Section 2.4: link every record to a place of the finest table (phase 1), to
a place of a coarser table (phase 2), and with that to the finest again (phase 3); who is alone in
the places that are left is re-identified. The paper takes a coarser place into account where it is
certain. Here it is then taken as a set: the coarser places that are possible limit the finer ones,
and the other way round, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Dataset
from divulge.data.dictionary import problems_with_names
from divulge.reconstruction.amounts import Amount, Bools, Ints, NotAnAmount, decimal_of
from divulge.reconstruction.imperfect import PREMISES, Premise
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.prior import PlaceWeights, Prior, weigh_places
from divulge.reconstruction.rounding import (
    RULES,
    Reading,
    Rule,
    read_by_any_rule,
    read_totals,
    read_within,
)
from divulge.reconstruction.totals import Generalised, Group, Matched, Totals, amounts_of, matched
from divulge.reconstruction.workers import Result, Task, solve_all
from divulge.work import Problems

if TYPE_CHECKING:
    from divulge.reconstruction.findings import Reconstruction

MOST_ROUNDS = 6
DIAGNOSED_ON = 200
DOUBTFUL = 0.05
"""The share of instances without an allocation from which on a rounding rule is not believed."""
TIGHTEST_FIRST: tuple[Rule, ...] = (
    "exact",
    "round_then_sum",
    "round_then_sum_half_even",
    "round_then_sum_down",
    "sum_then_round",
    "sum_then_round_half_even",
    "sum_then_round_down",
    "unknown_clt",
    "unknown_hard",
)


@dataclass(eq=False)
class Level:
    """One table of totals while it is worked on: instances, and what is possible in each."""

    matched: Matched
    rule: Rule
    known: bool
    attributes: tuple[str, ...]
    amounts: Ints
    readings: list[Reading]
    widest: list[Reading] | None
    slack: Ints
    by_any_rule: Callable[[], list[Reading]]
    possible: list[Bools] = field(default_factory=list)
    results: list[Result | None] = field(default_factory=list)
    doubted: bool = False
    weights: PlaceWeights | None = None

    def instance(self, group: Group, readings: list[Reading], allowed: Bools) -> Instance:
        """One instance; what suppressed codes may have added to a bin lowers what it must hold."""
        n = len(group.records)
        low = np.stack([r.low[group.rows] for r in readings], axis=1)
        return Instance.of(
            np.stack([r.amounts[group.records] for r in readings], axis=1),
            low - self.slack[group.rows],
            np.stack([r.high[group.rows] for r in readings], axis=1),
            np.stack([r.widening[: n + 1] for r in readings]),
            np.stack([r.deeper[: n + 1] for r in readings]),
            allowed,
        )

    def task(self, number: int, premise: Premise, truth: Ints | None) -> Task:
        """An instance to be solved, under what is possible now."""
        group, allowed = self.matched.groups[number], self.possible[number]
        start = None
        if truth is not None:
            place = {int(p): b for b, p in enumerate(self.matched.place[group.rows])}
            found = [place.get(int(p), -1) for p in truth[group.records]]
            start = None if -1 in found else np.array(found, np.int64)
        widest = None if self.widest is None else self.instance(group, self.widest, allowed)
        instance = self.instance(group, self.readings, allowed)
        return Task(instance, premise, widest, start, self.prior(group))

    def prior(self, group: Group) -> npt.NDArray[np.float64] | None:
        """How likely each place is for each record of a group, before anything is allocated."""
        if self.weights is None:
            return None
        values = self.weights.value_of_record[group.records]
        where = np.ix_(self.matched.place[group.rows], values)
        weights: npt.NDArray[np.float64] = self.weights.together[where].T.copy()
        return weights

    def party(self, group: Group, parties: Ints) -> npt.NDArray[np.float64]:
        """The chance of the likeliest party of each place, if the record is there."""
        if self.weights is None:
            return np.broadcast_to(
                1 / np.maximum(parties, 1), (len(group.records), len(group.rows))
            )
        values = self.weights.value_of_record[group.records]
        where = np.ix_(self.matched.place[group.rows], values)
        chance: npt.NDArray[np.float64] = (
            self.weights.likeliest[where] / self.weights.together[where]
        )
        return chance.T


@dataclass(frozen=True, eq=False)
class Phase:
    """What is known after one phase: per record the places left, and the chance to name its party.

    `certain` are records whose place is known, `identified` those whose party is; `chance` is
    one over the parties in the places left, `counted` the best guess by counting allocations.
    """

    name: str
    places_left: Ints
    certain: Bools
    identified: Bools
    chance: npt.NDArray[np.float64]
    counted: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InputReport:
    """What was found in the data before anything was solved, as counts."""

    records: int
    dropped_records: int
    records_without_totals: dict[str, int]
    totals_without_records: dict[str, int]
    suppressed_codes: int
    places_without_parties: int
    parties: int


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
        rule_is_known: whether the rounding rules are beyond doubt; by default those that are
            given are, unless more than 5% of the instances contradict them, and a diagnosed one is
            not. If not, "certain" holds by whatever rule.
        premise: what to assume where no allocation fits: that records were left out of the totals
            ("excluded"), that there is one more ("extra"), either ("any"), or nothing ("complete").
        bad: records with a negative or missing amount, or one that is no whole number of units:
            "refuse" or "drop".
        truth: the true places of the records, one column a table, if the auditor has them. They
            serve as a start for proofs that a place is ambiguous, and nothing else.
        prior: how likely each sector of parties deals in what a record is about.
        seconds: for one instance; `in_all`: for all of them.
        in_all: what is not solved by then stays open; nothing is dropped.
        workers: how many processes; as many as there are cores if not given.
        fixpoint: whether places are at last taken as sets, in all tables at once.

    >>> import divulge as dv
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

    asked = _Asked(transactions, totals, parties, units, place, rule_is_known, premise, bad, truth)
    run = _Run(asked, seconds, in_all, workers)
    run.weigh(prior)
    phases = [run.prior(), run.phase("1/1")]
    run.solve(run.fine, None)
    phases.append(run.phase("1/2"))
    if run.coarse:
        for level in run.coarse:
            run.solve(level, None)
        phases.append(run.phase("2/2"))
        changed = run.limit_fine(certain_only=True)
        phases.append(run.phase("3/1"))
        run.solve(run.fine, changed)
        phases.append(run.phase("3/2"))
        if fixpoint:
            run.to_fixpoint()
            phases.append(run.phase("all tables"))
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


class _Asked:
    """The arguments, checked, as numbers."""

    def __init__(
        self,
        transactions: Dataset,
        totals: Sequence[Totals],
        parties: Dataset,
        units: dict[str, Amount],
        place: str | None,
        rule_is_known: bool | None,
        premise: Premise,
        bad: str,
        truth: Dataset | None,
    ) -> None:
        problems = Problems("reconstruct")
        if not totals:
            problems.add("totals", "give at least one table.")
        for table in totals:
            table.problems(transactions, problems)
            if table.rounding not in (*RULES, "diagnose"):
                message = f'"{table.rounding}" is not a rule of rounding.'
                problems.add("rounding", message, table.rounding, (*RULES, "diagnose"))
        if premise not in PREMISES:
            problems.add("premise", f'"{premise}" is not a premise.', premise, PREMISES)
        if bad not in ("refuse", "drop"):
            problems.add("bad", f'"{bad}" is no choice.', bad, ("refuse", "drop"))
        self.units = self._units(units, totals, problems)
        problems.raise_any()
        self.transactions, self.premise, self.truth = transactions, premise, truth
        # The table with the most columns of places is the finest.
        ranked = sorted(totals, key=lambda table: -len(table.places))
        self.place = place or ranked[0].finest
        self.totals = ranked
        problems.extend(
            "parties",
            problems_with_names("place", [self.place], parties.names, f'"{parties.name}"'),
        )
        for table in ranked[1:]:
            if table.finest not in ranked[0].places:
                message = f'the finest table must have the column "{table.finest}" too.'
                problems.add("totals, place", message, table.finest, ranked[0].places)
        if truth is not None and truth.rows != transactions.rows:
            problems.add("truth", "must have one row a record, in the same order.")
        problems.raise_any()
        self.rule_is_known = rule_is_known
        wanted = {name: name for table in ranked for name in table.summed}
        self.amounts, unusable = amounts_of(transactions, wanted, self.units, bad)
        self.used = ~unusable
        self.value_amount = next(iter(ranked[0].summed))
        self.parties = parties
        self.parties_at = self._parties()

    def _units(
        self, units: dict[str, Amount], totals: Sequence[Totals], problems: Problems
    ) -> dict[str, Decimal]:
        found = {}
        for name in dict.fromkeys(name for table in totals for name in table.summed):
            if name not in units:
                problems.add("units", f'give the unit of "{name}".', name, list(units))
                continue
            try:
                found[name] = decimal_of(units[name])
            except NotAnAmount as error:
                problems.add(f"units, {name}", f"{error}.")
                continue
            if found[name] <= 0:
                problems.add(f"units, {name}", "must be above 0.")
        return found

    def _parties(self) -> dict[str, int]:
        own = self.parties.columns[self.place]
        counts = np.bincount(own.codes, minlength=own.cardinality)
        names = [str(v) for v in own.values.to_pylist()]
        return dict(zip(names, counts[: len(names)].tolist(), strict=True))

    def level(self, table: Totals) -> Level:
        found = matched(table, self.transactions)
        names = tuple(table.summed)
        exact = table.rounding == "exact"
        steps = {name: self.units[name] if exact else Decimal(table.step) for name in names}
        totals, _ = amounts_of(
            table.dataset,
            {name: table.summed[name] for name in names},
            steps,
            "refuse",
        )
        amounts = np.stack([self.amounts[name] for name in names], axis=1)
        published = {name: [int(t) * steps[name] for t in totals[name]] for name in names}

        def read(rule: Rule) -> list[Reading]:
            if table.tolerance is not None:
                by = Decimal(table.tolerance)
                return [
                    read_within(self.amounts[name], published[name], self.units[name], by)
                    for name in names
                ]
            return [
                read_totals(
                    rule, self.amounts[name], published[name], self.units[name], steps[name]
                )
                for name in names
            ]

        rule = cast("Rule", table.rounding)
        known = self.rule_is_known if self.rule_is_known is not None else rule in RULES
        slack = np.zeros((table.dataset.rows, len(names)), np.int64)

        def by_any_rule() -> list[Reading]:
            return [
                read_by_any_rule(self.amounts[name], published[name], self.units[name], steps[name])
                for name in names
            ]

        level = Level(found, rule, known, names, amounts, [], None, slack, by_any_rule)
        if table.rounding == "diagnose":
            level.rule = self._diagnosed(level, read)
        level.readings = read(level.rule)
        if level.rule == "unknown_clt":
            level.known = False
        if not level.known and table.tolerance is None:
            level.widest = by_any_rule()
        level.possible = [self._everywhere(group) for group in found.groups]
        level.results = [None] * len(found.groups)
        return level

    def _everywhere(self, group: Group) -> Bools:
        return np.ones((len(group.records), len(group.rows)), bool)

    def _diagnosed(self, level: Level, read: Callable[[Rule], list[Reading]]) -> Rule:
        """The tightest rule by which small instances have an allocation: most of them, by vote."""
        sizes = [len(g.records) * len(g.rows) for g in level.matched.groups]
        # One package says little of the order of rounding and adding; very many take long.
        chosen = [n for n in np.argsort(sizes) if 4 <= sizes[n] <= 60][-DIAGNOSED_ON:]
        chosen = chosen or list(range(min(len(sizes), DIAGNOSED_ON)))
        best: tuple[float, int] = (2.0, 0)
        for number, rule in enumerate(TIGHTEST_FIRST):
            readings = read(rule)
            tasks = [
                Task(level.instance(g, readings, self._everywhere(g)), "complete")
                for g in (level.matched.groups[n] for n in chosen)
            ]
            found = solve_all(tasks, 0.2, workers=1, name=f"Trying {rule}")
            # Which records were left out or added does not depend on the rule: allow for some.
            failed = round(np.mean([r.status == "infeasible" for r in found]), 2)
            best = min(best, (float(failed), number))
        return TIGHTEST_FIRST[best[1]]

    def true_places(self, level: Level) -> Ints | None:
        """The true place of every record as a number of the level's names; -1 if it has none."""
        column = level.matched.totals.finest
        if self.truth is None or column not in self.truth.names:
            return None
        own = self.truth.columns[column]
        where = {name: number for number, name in enumerate(level.matched.names)}
        found = [where.get(str(v), -1) for v in own.values.to_pylist()]
        return np.append(found, -1)[own.codes]

    def report(self, levels: Sequence[Level]) -> InputReport:
        fine = levels[0].matched
        return InputReport(
            self.transactions.rows,
            int((~self.used).sum()),
            {m.totals.dataset.name: m.records_without_totals for m in (x.matched for x in levels)},
            {
                m.totals.dataset.name: len(m.totals_without_records)
                for m in (x.matched for x in levels)
            },
            _suppressed_codes(levels, self.transactions),
            sum(name not in self.parties_at for name in fine.names),
            self.parties.rows,
        )


def _suppressed_codes(levels: Sequence[Level], records: Dataset) -> int:
    """Values of ungeneralised key attributes that only totals have."""
    found = 0
    for level in levels[1:] or levels:
        for column, of in level.matched.totals.key.items():
            if of.prefix is None and of.level is None:
                mine = {
                    str(v) for v in level.matched.totals.dataset.columns[column].values.to_pylist()
                }
                theirs = {str(v) for v in records.columns[of.attribute].values.to_pylist()}
                found += len(mine - theirs)
    return found


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


class _Run:
    """The phases, one after the other, over the same levels."""

    def __init__(
        self, asked: _Asked, seconds: float, in_all: float | None, workers: int | None
    ) -> None:
        self.asked, self.seconds, self.workers = asked, seconds, workers
        self.budget = None if in_all is None else work.Budget(in_all)
        # The first instances may take a part of the time, so that some is left for the others.
        self.share = 0.3
        self.levels = [asked.level(table) for table in asked.totals]
        self.fine, self.coarse = self.levels[0], self.levels[1:]
        self.solved: dict[tuple[int, int], Solved] = {}
        for level in self.coarse:
            _spread_slack(self.fine, level)
        names = self.fine.matched.names
        self.parties = np.array([asked.parties_at.get(name, 0) for name in names], np.int64)
        self.all_parties = max(1, asked.parties.rows)
        self.rows = asked.transactions.rows
        self.sound = np.ones(self.rows, bool)
        self.truths = [asked.true_places(level) for level in self.levels]
        for level in self.levels:
            for group in level.matched.groups:
                if not asked.used[group.records].all():
                    # A record without amounts can be anywhere, and its group is not complete.
                    self.sound[group.records] = False

    def weigh(self, prior: Prior | None) -> None:
        """Take the sectors of the parties into account, in the finest table."""
        if prior is None:
            return
        asked = self.asked
        problems = Problems("reconstruct")
        problems.extend("prior", problems_with_names("sector", [prior.sector], asked.parties.names))
        named = [prior.of.attribute]
        problems.extend("prior", problems_with_names("attribute", named, asked.transactions.names))
        if min([prior.otherwise, *prior.weights.values()]) <= 0:
            problems.add("prior, weights", "must be above 0.")
        problems.raise_any()
        self.fine.weights = weigh_places(
            prior, asked.transactions, asked.parties, asked.place, self.fine.matched.names
        )

    def solve(self, level: Level, changed: Sequence[int] | None) -> None:
        """Solve instances of a level; those that changed, or all."""
        which = range(len(level.matched.groups)) if changed is None else changed
        which = [n for n in which if self.asked.used[level.matched.groups[n].records].all()]
        truth = self.truths[self.levels.index(level)]
        tasks = [level.task(n, self.asked.premise, truth) for n in which]
        if not tasks:
            return
        left = None if self.budget is None else max(0.01, self.budget.left * self.share)
        name = f"Allocating by {level.matched.totals.finest}"
        found = solve_all(tasks, self.seconds, left, self.workers, name)
        if changed is None and self._is_doubtful(level, found):
            # Too many contradictions for a rule that is right: trust only what any rule gives.
            level.doubted, level.known, level.widest = True, False, level.by_any_rule()
            tasks = [level.task(n, self.asked.premise, truth) for n in which]
            left = None if self.budget is None else max(0.01, self.budget.left * self.share)
            found = solve_all(tasks, self.seconds, left, self.workers, name)
        for n, task, result in zip(which, tasks, found, strict=True):
            self._take(level, n, task, result)

    def _is_doubtful(self, level: Level, found: Sequence[Result]) -> bool:
        """Whether a rule that was given fails more often than imperfect data explain."""
        if not level.known or self.asked.rule_is_known is not None:
            return False
        if level.matched.totals.tolerance is not None:
            return False
        failed = sum(r.premise != "complete" or r.status == "infeasible" for r in found)
        return failed > DOUBTFUL * len(found)

    def _take(self, level: Level, n: int, task: Task, result: Result) -> None:
        group = level.matched.groups[n]
        before = level.results[n]
        if result.status == "infeasible":
            # Totals and records contradict each other: nothing is concluded from them.
            if before is None or before.status == "infeasible":
                level.results[n] = result
        elif not result.proved.any():
            # Nor from totals that no allocation was found to meet: they may contradict too.
            level.results[n] = before or result
        else:
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

    def limit_fine(self, certain_only: bool) -> list[int]:
        """Limit the finest places by the coarser ones that are possible; which groups changed."""
        changed: set[int] = set()
        for level in self.coarse:
            column = level.matched.totals.finest
            allowed = _by_record(level, self.rows, certain_only)
            codes, names = self.fine.matched.coarser[column]
            to_level = _numbers(names, level.matched.names)
            for n, group in enumerate(self.fine.matched.groups):
                of_bin = to_level[codes[group.rows]]
                keep = allowed[group.records][:, of_bin]
                changed |= self._narrow(self.fine, n, keep)
        return sorted(changed)

    def limit_coarse(self) -> list[list[int]]:
        """Limit coarser places by the finest ones that are possible."""
        changed = []
        for level in self.coarse:
            column = level.matched.totals.finest
            codes, names = self.fine.matched.coarser[column]
            to_level = _numbers(names, level.matched.names)
            allowed = np.ones((self.rows, len(level.matched.names) + 1), bool)
            for n, group in enumerate(self.fine.matched.groups):
                if _is_unsound(self.fine.results[n]):
                    continue
                inside = np.zeros((len(group.records), allowed.shape[1]), bool)
                for b, number in enumerate(to_level[codes[group.rows]]):
                    inside[:, number] |= self.fine.possible[n][:, b]
                free = _discardable(self.fine.results[n])
                allowed[group.records] = inside if free is None else inside | free[:, None]
            of_level: set[int] = set()
            for n, group in enumerate(level.matched.groups):
                keep = allowed[group.records][:, level.matched.place[group.rows]]
                of_level |= self._narrow(level, n, keep)
            changed.append(sorted(of_level))
        return changed

    def _narrow(self, level: Level, n: int, keep: Bools) -> set[int]:
        """Take away pairs, but not a record's last: then the tables contradict each other."""
        narrowed = level.possible[n] & keep
        somewhere = narrowed.any(axis=1)
        free = _discardable(level.results[n])
        if free is not None:
            somewhere |= free
        if _is_unsound(level.results[n]) or not somewhere.all():
            return set()
        if (narrowed == level.possible[n]).all():
            return set()
        level.possible[n] = narrowed
        return {n}

    def to_fixpoint(self) -> None:
        """Sets of places limit each other until nothing changes."""
        for number in range(MOST_ROUNDS):
            if number:
                self.share = 0.5
            fine = self.limit_fine(certain_only=False)
            self.solve(self.fine, [n for n in fine if not _settled_all(self.fine, n)])
            coarse = self.limit_coarse()
            for level, changed in zip(self.coarse, coarse, strict=True):
                self.solve(level, [n for n in changed if not _settled_all(level, n)])
            if not fine and not any(coarse):
                return

    def prior(self) -> Phase:
        """Before anything: every party is as likely."""
        nobody = np.zeros(self.rows, bool)
        chance = np.full(self.rows, 1 / self.all_parties)
        left = np.full(self.rows, len(self.fine.matched.names), np.int64)
        return Phase("prior", left, nobody, nobody.copy(), chance, chance.copy())

    def phase(self, name: str) -> Phase:
        """Where the records can be now, and who is alone there."""
        left = np.full(self.rows, len(self.fine.matched.names), np.int64)
        certain, identified = np.zeros(self.rows, bool), np.zeros(self.rows, bool)
        chance = np.full(self.rows, 1 / self.all_parties)
        counted = chance.copy()
        for n, group in enumerate(self.fine.matched.groups):
            result = self.fine.results[n]
            parties = self.parties[self.fine.matched.place[group.rows]]
            if _is_unsound(result):
                continue
            possible = self.fine.possible[n]
            free = _discardable(result)
            somewhere = np.zeros(len(group.records), bool) if free is None else free
            sure = np.ones(len(group.records), bool) if result is None else result.sure
            sure = sure & (self.fine.rule != "unknown_clt") & self.sound[group.records]
            places = possible.sum(axis=1)
            # A place without a listed party has one that is not listed.
            people = np.where(somewhere, self.all_parties, possible @ np.maximum(parties, 1))
            listed = possible @ parties == 1
            left[group.records] = np.where(somewhere, len(self.fine.matched.names), places)
            certain[group.records] = (places == 1) & ~somewhere & sure
            identified[group.records] = (people == 1) & listed & ~somewhere & sure
            guess = 1 / np.maximum(people, 1)
            chance[group.records] = guess
            party = self.fine.party(group, parties)
            counted[group.records] = _best_guess(result, possible, party, guess)
        return Phase(name, left, certain, identified, chance, counted)


def _best_guess(
    result: Result | None,
    possible: Bools,
    party: npt.NDArray[np.float64],
    uniform: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """The best chance to name a party by counting allocations; by places left where not counted."""
    if result is None or result.shares is None:
        return uniform
    shares = np.where(possible, result.shares, 0.0)
    total = shares.sum(axis=1) + result.discarded
    best: npt.NDArray[np.float64] = (shares * party).max(axis=1, initial=0.0)
    return np.where(total > 0, best / np.maximum(total, 1e-300), uniform)


def _is_unsound(result: Result | None) -> bool:
    return result is not None and result.status == "infeasible"


def _discardable(result: Result | None) -> Bools | None:
    return None if result is None or result.premise != "excluded" else result.discardable


def _settled_all(level: Level, n: int) -> bool:
    """Whether one place is left to every record: nothing more to solve."""
    return bool((level.possible[n].sum(axis=1) == 1).all())


def _by_record(level: Level, rows: int, certain_only: bool) -> Bools:
    """Which places of a level are possible for every record; all, where nothing is known."""
    allowed = np.ones((rows, len(level.matched.names) + 1), bool)
    for n, group in enumerate(level.matched.groups):
        result = level.results[n]
        if _is_unsound(result) or result is None:
            continue
        inside = np.zeros((len(group.records), allowed.shape[1]), bool)
        inside[:, level.matched.place[group.rows]] = level.possible[n]
        free = result.discardable
        if certain_only:
            free = free | (inside.sum(axis=1) != 1)
        allowed[group.records] = inside | free[:, None]
    return allowed


def _numbers(names: Sequence[str], among: Sequence[str]) -> Ints:
    """Where names stand among others; the place after the last for one that does not."""
    where = {name: number for number, name in enumerate(among)}
    return np.array([where.get(name, len(among)) for name in names], np.int64)


def _spread_slack(fine: Level, coarse: Level) -> None:
    """What suppressed codes add to finer totals: known for a coarser place, anywhere within it.

    Rows of the coarser table whose key no record has are of records that are not published. The
    finer totals hold them too, so a bin may hold less than its total by as much.
    """
    column = coarse.matched.totals.finest
    if column not in fine.matched.coarser or not len(coarse.matched.totals_without_records):
        return
    to_fine = _key_to_key(coarse.matched.totals.key, fine.matched.totals.key)
    if to_fine is None:
        return
    codes, names = fine.matched.coarser[column]
    slack: dict[tuple[Any, ...], Ints] = {}
    shared = [
        (i, coarse.attributes.index(name))
        for i, name in enumerate(fine.attributes)
        if name in coarse.attributes
    ]
    for row in coarse.matched.totals_without_records:
        key = to_fine(coarse.matched.key_of_row[row])
        at = (*key, coarse.matched.names[coarse.matched.place[row]])
        added = slack.setdefault(at, np.zeros(len(fine.attributes), np.int64))
        for i, j in shared:
            added[i] += int(coarse.readings[j].high[row])
    unknown = [i for i in range(len(fine.attributes)) if i not in {s[0] for s in shared}]
    for row, key in enumerate(fine.matched.key_of_row):
        found = slack.get((*key, names[codes[row]]))
        if found is not None:
            fine.slack[row] = found
            for i in unknown:  # nothing is known of how much: the bin may be empty
                fine.slack[row, i] = max(0, int(fine.readings[i].low[row]))


def _key_to_key(
    coarse: dict[str, Generalised], fine: dict[str, Generalised]
) -> Callable[[tuple[str, ...]], tuple[str, ...]] | None:
    """How a key of one table becomes a key of another; None if that cannot be told."""
    columns = list(coarse.values())
    places = []
    for of in fine.values():
        match = [i for i, other in enumerate(columns) if other.at_least_as_fine_as(of)]
        if not match:
            return None
        places.append((match[0], of))
    return lambda key: tuple(
        key[i] if of.prefix is None else key[i][: of.prefix] for i, of in places
    )
