"""The phases over all tables: instances are solved, tables limit each other, rules are judged."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.cross_table_limits import limit_coarse, limit_fine
from divulge.reconstruction.auditing.effort_shares import (
    compute_round_effort,
    count_full_efforts,
)
from divulge.reconstruction.auditing.phases import (
    PartyCounts,
    Phase,
    build_phase,
    build_prior_phase,
)
from divulge.reconstruction.auditing.prior import Prior, weigh_places
from divulge.reconstruction.auditing.request import ReconstructionRequest
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.auditing.workers import Task, solve_all
from divulge.reconstruction.problem.result import InstanceResult
from divulge.work import Effort, Problems
from divulge.work.arrays import Bools


@dataclass(frozen=True, kw_only=True)
class InstanceSummary:
    """One instance that was solved: how large, with what effort, and how it ended."""

    table: str
    packages: int
    bins: int
    complexity: float
    status: str
    premise: str
    seconds: float
    certain: int
    ambiguous: int


class Run:
    """The phases, one after the other, over the same levels; of all instances or a selection."""

    def __init__(
        self,
        request: ReconstructionRequest,
        levels: Sequence[TableState],
        seconds: float,
        *,
        effort: Effort | None,
        workers: int | None,
        selection: Sequence[set[int]] | None = None,
    ) -> None:
        self.request, self.seconds, self.effort, self.workers = request, seconds, effort, workers
        self.selection = selection
        self.levels = levels
        self.fine, self.coarse = levels[0], levels[1:]
        self.solved: dict[tuple[int, int], InstanceSummary] = {}
        # Whether tables were left to limit each other until nothing changed.
        self.at_fixpoint = False
        # Of each instance that had its full effort: how often, and what was in question before.
        self.full_efforts: dict[tuple[int, int], tuple[int, int]] = {}
        names = self.fine.totals_match.names
        at_place = np.array([request.parties_at.get(name, 0) for name in names], np.int64)
        in_all = request.parties.rows + int((at_place == 0).sum())
        self.party_counts = PartyCounts(at_place, max(1, in_all))
        self.rows = request.transactions.rows
        self.sound = np.ones(self.rows, bool)
        self.truths = [request.number_true_places(level) for level in self.levels]
        for level in self.levels:
            for group in level.totals_match.groups:
                if not request.used[group.records].all():
                    # A record without amounts can be anywhere, and its group is not complete.
                    self.sound[group.records] = False

    def run_phases(self, fixpoint: bool) -> list[Phase]:
        """What is known after every phase."""
        phases = [
            build_prior_phase(self.fine, self.rows, self.party_counts),
            self.build_current_phase("1/1"),
        ]
        self.solve_instances(
            self.fine, None, tuning.RUN_FIRST_SHARE if self.coarse else tuning.RUN_ALONE_SHARE
        )
        if not self.coarse:
            while self.solve_open():
                pass
            self.prove_more()
        phases.append(self.build_current_phase("1/2", self._is_exact()))
        # Who has one place left at a glance is there only if the totals bear that out.
        phases[1] = phases[1].confirm_by(phases[2])
        if not self.coarse:
            self.at_fixpoint = True
            return phases
        for level in self.coarse:
            self.solve_instances(level, None, tuning.RUN_COARSE_SHARE / len(self.coarse))
        exact = self._is_exact()
        phases.append(self.build_current_phase("2/2", exact))
        changed = limit_fine(self.fine, self.coarse, self.rows, certain_only=True)
        phases.append(self.build_current_phase("3/1", exact))
        self.solve_instances(self.fine, changed, tuning.RUN_ROUND_SHARE)
        phases.append(self.build_current_phase("3/2", exact and self._is_exact()))
        if fixpoint:
            self.iterate_to_fixpoint()
            phases.append(self.build_current_phase("all tables"))
        self.prove_more()
        phases[-1] = replace(phases[-1], exact=self.at_fixpoint and self._is_exact())
        return phases

    def _is_exact(self) -> bool:
        """Whether all that was solved is closed, and allocations of the finest table are counted.

        Whether tables would tell more together is another question (`cross_table_coupling`).
        """
        numbers = range(len(self.fine.results))
        if not all(map(self.fine.is_counted, numbers)):
            return False
        return all(
            level.results[n] is None or level.is_closed(n) or level.is_settled(n)
            for level in self.coarse
            for n in range(len(level.results))
        )

    def select_to_confirm(self, certain: Bools) -> list[set[int]]:
        """The instances of every level on which it depends whether what is certain stays so."""
        fine = {n for n, g in enumerate(self.fine.totals_match.groups) if certain[g.records].any()}
        related = np.zeros(self.rows, bool)
        for n in fine:
            related[self.fine.totals_match.groups[n].records] = True
        others = [
            {n for n, g in enumerate(level.totals_match.groups) if related[g.records].any()}
            for level in self.coarse
        ]
        return [fine, *others]

    def apply_prior(self, prior: Prior | None) -> None:
        """Take the sectors of the parties into account, in the finest table."""
        if prior is None:
            return
        request = self.request
        problems = Problems("reconstruct")
        problems.extend("prior", prior.problems(request.transactions, request.parties))
        problems.raise_any()
        request.unused_weights = prior.unused(request.transactions, request.parties)
        if prior.weights and request.unused_weights == len(prior.weights):
            message = "no weight is of a sector and kind that parties and records have."
            problems.add("prior, weights", message)
        problems.raise_any()
        self.fine.weights = weigh_places(
            prior,
            request.transactions,
            request.parties,
            request.place,
            self.fine.totals_match.names,
        )

    def solve_instances(
        self, level: TableState, changed: Sequence[int] | None, share: float, again: bool = False
    ) -> None:
        """Solve instances of a level, those that changed or all, in a share of the effort left."""
        number = self.levels.index(level)
        numbers = range(len(level.totals_match.groups)) if changed is None else changed
        numbers = [n for n in numbers if self._is_selected(number, n)]
        truth = self.truths[number]
        tasks = [level.build_task(n, self.request.premise, truth) for n in numbers]
        if not tasks:
            return
        step_name = f"Allocating records by {level.totals_match.totals.finest}"
        round_effort = self._share_round_effort(share)
        results = solve_all(
            tasks,
            self.seconds,
            round_effort,
            workers=self.workers,
            step_name=step_name,
            again=again,
        )
        if changed is None and self.selection is None:
            self._judge_rule(level, results)
        for n, task, result in zip(numbers, tasks, results, strict=True):
            self._record_result(level, n, task, result)

    def _is_selected(self, number: int, n: int) -> bool:
        """Whether an instance of a level is to be solved: chosen, and all of its records used."""
        if self.selection is not None and n not in self.selection[number]:
            return False
        return bool(self.request.used[self.levels[number].totals_match.groups[n].records].all())

    def _share_round_effort(self, share: float) -> float | None:
        if self.effort is None:
            return None
        remaining = self.effort.left
        if self.selection is None:
            remaining = compute_round_effort(self.effort.seconds, remaining)
        return max(tuning.RUN_LEAST_SECONDS, share * remaining)

    def _judge_rule(self, level: TableState, results: Sequence[InstanceResult]) -> None:
        """Believe a rule that was given only if the totals bear it out."""
        if self.request.rule_is_known is not None or level.rule == "unknown_clt":
            return
        totals = level.totals_match.totals
        if totals.tolerance is not None or totals.rounding == "diagnose":
            return
        failed = sum(r.premise != "complete" or r.status == "infeasible" for r in results)
        level.rule_is_doubted = failed > tuning.RUN_DOUBTFUL_SHARE * len(results)
        level.rule_is_known &= not level.rule_is_doubted

    def _record_result(self, level: TableState, n: int, task: Task, result: InstanceResult) -> None:
        group = level.totals_match.groups[n]
        before = level.results[n]
        if result.status == "infeasible":
            # Totals and records contradict each other: nothing is concluded from them.
            if before is None or before.status == "infeasible":
                level.results[n] = result
            else:
                # The tables contradict each other here: what this one said alone still holds.
                level.possible[n] = before.possible
                level.beyond_doubt[n] = np.ones_like(before.possible)
                level.contradictions.add(n)
        elif result.status != "closed" and not result.proved.any():
            # Nor from totals that no allocation was found to meet: they may contradict too.
            restricted = None if before is None else before.restricted_to(level.possible[n])
            level.results[n] = restricted or before or result
        else:
            if before is not None:
                result = result.with_proofs_of(before, task.instance.allowed)
            level.set_result(n, result)
        current = level.results[n]
        assert current is not None  # noqa: S101  # set above
        singles = (current.possible.sum(axis=1) == 1) & ~current.discardable
        # What was taken away since was not found to leave an allocation.
        stale = current.status == "closed" and not (level.is_closed(n) or level.is_settled(n))
        key = self.levels.index(level), n
        earlier_summary = self.solved.get(key)
        self.solved[key] = InstanceSummary(
            table=level.totals_match.totals.dataset.name,
            packages=len(group.records),
            bins=len(group.rows),
            complexity=task.instance.complexity,
            status="open" if stale else current.status,
            premise=current.premise,
            seconds=result.seconds + (earlier_summary.seconds if earlier_summary else 0.0),
            certain=int(singles.sum()),
            ambiguous=int((current.proved.sum(axis=1) > 1).sum()),
        )

    def iterate_to_fixpoint(self) -> None:
        """Sets of places limit each other until nothing changes, and what is open has its turn."""
        while True:
            is_stable = False
            for _ in itertools.count() if self.effort is None else range(tuning.RUN_MOST_ROUNDS):
                fine = limit_fine(self.fine, self.coarse, self.rows, certain_only=False)
                self.solve_instances(
                    self.fine,
                    [n for n in fine if not self.fine.is_settled(n)],
                    tuning.RUN_ROUND_SHARE,
                )
                coarse = limit_coarse(self.fine, self.coarse, self.rows)
                for level, changed in zip(self.coarse, coarse, strict=True):
                    self.solve_instances(
                        level,
                        [n for n in changed if not level.is_settled(n)],
                        tuning.RUN_ROUND_SHARE,
                    )
                if not fine and not any(coarse):
                    is_stable = True
                    break
            if not self.solve_open() and (is_stable or self._is_effort_spent()):
                self.at_fixpoint = is_stable
                return

    def _is_effort_spent(self) -> bool:
        remaining = self._share_round_effort(1.0)
        if remaining is None or self.effort is None:
            return work.is_stopped()
        return remaining < tuning.RUN_LEAST_EFFORT_SHARE * self.effort.seconds

    def solve_open(self) -> bool:
        """Solve what is open with full effort, in half of what is left; False if nothing is.

        The easiest first; once more, as long as that shows more, where few pairs are in question.
        """
        round_effort = self._share_round_effort(tuning.RUN_OPEN_SHARE)
        if (
            round_effort is None
            or self.effort is None
            or round_effort < tuning.RUN_LEAST_EFFORT_SHARE * self.effort.seconds
        ):
            return False
        candidates = []
        for number, level in enumerate(self.levels):
            for n in range(len(level.totals_match.groups)):
                if level.is_closed(n) or level.is_unsound(n) or not self._is_selected(number, n):
                    continue
                tries, open_before = self.full_efforts.get((number, n), (0, -1))
                open_pairs = level.count_open_pairs(n)
                if open_pairs != open_before and tries < tuning.RUN_MOST_TRIES:
                    effort = (
                        level.measure_complexity(n)
                        if tries == 0
                        else open_pairs + tuning.RUN_PAIRS_PER_TRY * tries
                    )
                    candidates.append((effort, number, n))
        easy = sum(effort <= tuning.EASY_COMPLEXITY for effort, _, _ in candidates)
        selection = sorted(candidates)[: easy + count_full_efforts(self.seconds, round_effort)]
        for number, level in enumerate(self.levels):
            of_level = [n for _, at, n in selection if at == number]
            for n in of_level:
                tries, _ = self.full_efforts.get((number, n), (0, -1))
                self.full_efforts[number, n] = tries + 1, level.count_open_pairs(n)
            share = len(of_level) / max(1, sum(at >= number for _, at, _ in selection))
            self.solve_instances(level, of_level, tuning.RUN_OPEN_SHARE * share, again=True)
        return bool(selection)

    def prove_more(self) -> None:
        """Add proofs where nothing more is excluded, with what is left: walk on from certificates.

        Instances of which a walk has shown something are taken up again while there is effort left.
        """
        if self.effort is None or self.selection is not None:
            return  # whether something stays certain does not depend on proofs
        candidates = [
            (level, n) for level in self.levels for n in range(len(level.totals_match.groups))
        ]
        while candidates and self.effort.left > tuning.RUN_LEAST_EFFORT_SHARE * self.effort.seconds:
            all_of_them = [(level, n, level.build_continuation_task(n)) for level, n in candidates]
            continuations = [(level, n, task) for level, n, task in all_of_them if task is not None]
            tasks = [task for _, _, task in continuations]
            results = solve_all(
                tasks,
                self.seconds,
                self.effort.left,
                workers=self.workers,
                step_name="Proving what is possible",
            )
            candidates = []
            for (level, n, task), result in zip(continuations, results, strict=True):
                if result.findings > task.instance.packages - task.open_packages:
                    candidates.append((level, n))
                self._record_result(level, n, task, result)

    def build_current_phase(self, name: str, exact: bool = False) -> Phase:
        """What is known now."""
        return replace(build_phase(name, self.fine, self.sound, self.party_counts), exact=exact)
