"""One table of totals while it is worked on: its instances, and the places still possible."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.auditing.prior import PlaceWeights
from divulge.reconstruction.auditing.table_figures import TableFigures
from divulge.reconstruction.auditing.totals import Group, TotalsMatch
from divulge.reconstruction.auditing.workers import Task
from divulge.reconstruction.problem.certificates import keep_valid_certificates
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import WITH_EXTRA, Premise, find_may_be_missing
from divulge.reconstruction.problem.result import InstanceResult
from divulge.reconstruction.problem.rounding import CERTAIN_RULES, SUM_RULES, Rule, SumIntervals
from divulge.work.arrays import Bools, Ints


@dataclass(eq=False, kw_only=True)
class TableState:
    """One table of totals while it is worked on: instances, and what is possible in each.

    `other_rules` are rules of rounding that the totals bear out as well as the one they are read
    by. `possible` is what is left if no record is missing from the totals unnoticed,
    `beyond_doubt` what is left even if some are: only that may make others certain.
    """

    totals_match: TotalsMatch
    rule: Rule
    rule_is_known: bool
    attributes: tuple[str, ...]
    units: tuple[Decimal, ...]
    amounts: Ints
    readings: list[SumIntervals]
    slack: Ints
    figures: TableFigures
    possible: list[Bools] = field(default_factory=list)
    beyond_doubt: list[Bools] = field(default_factory=list)
    results: list[InstanceResult | None] = field(default_factory=list)
    premise: Premise = "any"
    rule_is_doubted: bool = False
    other_rules: tuple[Rule, ...] = ()
    reads_any_rule: bool = False
    contradictions: set[int] = field(default_factory=set)
    weights: PlaceWeights | None = None

    def build_instance(
        self, group: Group, readings: list[SumIntervals], allowed: Bools
    ) -> Instance:
        """One instance; what suppressed codes may have added to a bin lowers what it must hold."""
        n = len(group.records)
        low = np.stack([r.low[group.rows] for r in readings], axis=1)
        return Instance.from_intervals(
            np.stack([r.amounts[group.records] for r in readings], axis=1),
            low - self.slack[group.rows],
            np.stack([r.high[group.rows] for r in readings], axis=1),
            slack_by_count=np.stack([r.slack_by_count[: n + 1] for r in readings]),
            extra_above=np.stack([r.extra_above[: n + 1] for r in readings]),
            allowed=allowed,
        )

    def build_task(self, number: int, premise: Premise, truth: Ints | None) -> Task:
        """An instance to be solved, under what is possible now."""
        group, allowed = self.totals_match.groups[number], self.possible[number]
        start = None
        if truth is not None:
            place = {int(p): b for b, p in enumerate(self.totals_match.place[group.rows])}
            bins = [place.get(int(p), -1) for p in truth[group.records]]
            start = None if -1 in bins else np.array(bins, np.int64)
        result, earlier = self.results[number], None
        if result is not None:
            earlier = keep_valid_certificates(result.certificates, allowed)
            if truth is None and result.premise == "complete" and len(earlier):
                # One that was found serves as well: it fits, so it shows no other premise.
                start = earlier[-1].astype(np.int64)
        instance = self.build_instance(group, self.readings, allowed)
        at_large = self.beyond_doubt[number] if premise == "any" else None
        return Task(
            instance=instance,
            premise=premise,
            truth=start,
            prior=self.compute_place_prior(group),
            previous=None,
            earlier=earlier,
            beyond_doubt=at_large,
        )

    def set_result(self, number: int, result: InstanceResult) -> None:
        """Take what was found of an instance; beyond doubt is what it is sure of."""
        self.results[number], self.possible[number] = result, result.possible
        sure = result.sure[:, None]
        self.beyond_doubt[number] = np.where(sure, result.possible, self.beyond_doubt[number])

    def restrict(self, number: int, keep: Bools) -> None:
        """Take away pairs that other tables exclude beyond doubt."""
        self.possible[number] = possible = self.possible[number] & keep
        self.beyond_doubt[number] = at_large = self.beyond_doubt[number] & keep
        result = self.results[number]
        if result is None or result.premise != "complete" or result.sure.all():
            return
        instance = self.build_instance(self.totals_match.groups[number], self.readings, possible)
        # What is in the totals and has no other place even so is not in doubt any more.
        same = (at_large == possible).all(axis=1) & ~find_may_be_missing(instance)
        self.results[number] = replace(result, sure=result.sure | same)

    def build_continuation_task(self, number: int) -> Task | None:
        """An instance of which more is to be proved; None if there is nothing to start from."""
        result = self.results[number]
        if result is None or result.status == "infeasible" or self.is_closed(number):
            return None
        allowed = self.possible[number]
        if (result.possible != allowed).any():
            result = result.restricted_to(allowed)
        if result is None or not len(result.certificates):
            return None
        instance = self.build_instance(self.totals_match.groups[number], self.readings, allowed)
        return Task(instance=instance, premise=result.premise, previous=result)

    @property
    def has_sum_bounds(self) -> bool:
        """Whether a total says between what the sum lies, however many records it is of."""
        by_distance = self.totals_match.totals.tolerance is not None
        return (by_distance or self.rule in SUM_RULES) and not self.reads_any_rule

    def has_same_measure(self, other: TableState) -> bool:
        """Whether both tables add up the same amounts: bounds of one are bounds of the other."""
        if self.has_sum_bounds or other.has_sum_bounds:
            return self.has_sum_bounds and other.has_sum_bounds
        same = self.rule == other.rule in CERTAIN_RULES
        same = same and self.totals_match.totals.step == other.totals_match.totals.step
        return same and not (self.reads_any_rule or other.reads_any_rule)

    def reread_by_fitting_rules(self) -> TableState:
        """The same table, nothing solved yet, read by every rule that its totals bear out.

        By whatever rule, if its own is doubted, or another rounds each amount before it adds up.
        """
        readings, any_rule = self.readings, False
        if not self.rule_is_known:
            rules = (self.rule, *self.other_rules)
            any_rule = (
                self.rule_is_doubted or not self.other_rules or not set(rules) <= set(SUM_RULES)
            )
            readings = (
                self.figures.read_by_any_rule() if any_rule else self.figures.read_by_rules(rules)
            )
        return replace(
            self,
            readings=readings,
            reads_any_rule=any_rule,
            slack=np.zeros_like(self.slack),
            possible=[np.ones_like(possible) for possible in self.possible],
            beyond_doubt=[np.ones_like(possible) for possible in self.possible],
            results=[None] * len(self.results),
            contradictions=set(),
        )

    def compute_place_prior(self, group: Group) -> npt.NDArray[np.float64] | None:
        """How likely each place is for each record of a group, before anything is allocated."""
        if self.weights is None:
            return None
        values = self.weights.value_of_record[group.records]
        where = np.ix_(self.totals_match.place[group.rows], values)
        weights: npt.NDArray[np.float64] = self.weights.together[where].T.copy()
        return weights

    def compute_party_chance(self, group: Group, parties: Ints) -> npt.NDArray[np.float64]:
        """The chance of the likeliest party of each place, if the record is there."""
        if self.weights is None:
            return np.broadcast_to(
                1 / np.maximum(parties, 1), (len(group.records), len(group.rows))
            )
        values = self.weights.value_of_record[group.records]
        where = np.ix_(self.totals_match.place[group.rows], values)
        chance: npt.NDArray[np.float64] = (
            self.weights.likeliest[where] / self.weights.together[where]
        )
        return chance.T

    def compute_chance_anywhere(self, group: Group, in_all: int) -> npt.NDArray[np.float64]:
        """The chance of the same party, if nothing tells where the record is."""
        if self.weights is None:
            return np.full((len(group.records), len(group.rows)), 1 / in_all)
        values = self.weights.value_of_record[group.records]
        where = np.ix_(self.totals_match.place[group.rows], values)
        chance: npt.NDArray[np.float64] = self.weights.likeliest[where]
        return (chance / self.weights.in_all[values]).T

    def measure_complexity(self, number: int) -> float:
        """Of the places still possible: the ways to choose among them, as a power of ten."""
        return float(np.log10(np.maximum(self.possible[number].sum(axis=1), 1)).sum())

    def count_open_pairs(self, number: int) -> int:
        """How many places of records are neither excluded nor proved."""
        result = self.results[number]
        proved = 0 if result is None else int((result.proved & self.possible[number]).sum())
        return int(self.possible[number].sum()) - proved

    def is_unsound(self, number: int) -> bool:
        """Whether an instance contradicts its totals: nothing is concluded from it."""
        result = self.results[number]
        return result is not None and result.status == "infeasible"

    def may_lack_records(self, number: int) -> bool:
        """Whether a record may be missing from the totals of an instance, whatever its size.

        A record that only the totals have can hide one that they lack.
        """
        result = self.results[number]
        return self.premise == "any" and result is not None and result.premise in WITH_EXTRA

    def find_discardable(self, number: int) -> Bools | None:
        """Records of an instance that may have been left out of its totals, if any were."""
        result = self.results[number]
        if result is None or result.premise not in ("excluded", "both"):
            return None
        return result.discardable

    def is_settled(self, number: int) -> bool:
        """Whether one place is left to every record of an instance, and that meets the totals.

        Other tables may have left them just there, which this one does not know of.
        """
        possible = self.possible[number]
        if not (possible.sum(axis=1) == 1).all():
            return False
        instance = self.build_instance(self.totals_match.groups[number], self.readings, possible)
        return instance.is_allocation(possible.argmax(axis=1))

    def is_counted(self, number: int) -> bool:
        """Whether shares are those of all allocations under what is possible now.

        And nobody has one place left only if no record is missing.
        """
        result = self.results[number]
        if result is None or not (result.sure | (result.possible.sum(axis=1) != 1)).all():
            return False
        has_shares = result.shares is not None and self.is_closed(number)
        return has_shares or self.is_settled(number)

    def is_closed(self, number: int) -> bool:
        """Whether every place left to a record of an instance is proved possible."""
        result = self.results[number]
        if result is None or result.status != "closed":
            return False
        return bool((result.possible == self.possible[number]).all())
