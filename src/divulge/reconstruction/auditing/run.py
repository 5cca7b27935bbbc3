"""The phases over all tables: instances are solved, tables limit each other, rules are judged."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.reconstruction.auditing.cross_table_limits import limit_coarse, limit_fine
from divulge.reconstruction.auditing.effort_shares import EASY, for_rounds, in_full_effort
from divulge.reconstruction.auditing.phases import Listed, Phase, before_any_phase, phase_of
from divulge.reconstruction.auditing.prior import Prior, weigh_places
from divulge.reconstruction.auditing.request import Asked
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.auditing.workers import Task, solve_all
from divulge.reconstruction.problem.amounts import Bools
from divulge.reconstruction.problem.result import Result
from divulge.work import Effort, Problems

MOST_ROUNDS = 7
"""How often tables limit each other before open instances have their effort, if it is limited."""
FIRST_SHARE = 0.1
"""Of what is left to rounds, for the finest table: what the others tell makes it easier later."""
ALONE_SHARE = 0.6
COARSE_SHARE = 0.35
SHARE = 0.12
OPEN_SHARE = 0.5
"""Of what is left to rounds, for one pass over what is open; the rest is for what that changes."""
MOST_TRIES = 4
MORE_A_TRY = 20
"""What another try is like: as many more pairs in question."""
LEAST_LEFT = 0.02
"""Of the whole effort: with less left, walks are not taken up again."""
DOUBTFUL = 0.05
"""The share of instances without an allocation from which on a rounding rule is not believed."""


@dataclass(frozen=True)
class Solved:
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
    """The phases, one after the other, over the same levels; of chosen instances if so told."""

    def __init__(
        self,
        asked: Asked,
        levels: Sequence[Level],
        seconds: float,
        effort: Effort | None,
        workers: int | None,
        chosen: Sequence[set[int]] | None = None,
    ) -> None:
        self.asked, self.seconds, self.effort, self.workers = asked, seconds, effort, workers
        self.chosen = chosen
        self.levels = levels
        self.fine, self.coarse = levels[0], levels[1:]
        self.solved: dict[tuple[int, int], Solved] = {}
        # Whether tables were left to limit each other until nothing changed.
        self.at_fixpoint = False
        # Of each instance that had its full effort: how often, and what was in question before.
        self.in_full: dict[tuple[int, int], tuple[int, int]] = {}
        names = self.fine.matched.names
        at_place = np.array([asked.parties_at.get(name, 0) for name in names], np.int64)
        in_all = asked.parties.rows + int((at_place == 0).sum())
        self.listed = Listed(at_place, max(1, in_all))
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
        self.solve(self.fine, None, FIRST_SHARE if self.coarse else ALONE_SHARE)
        if not self.coarse:
            while self.solve_open():
                pass
            self.prove_more()
        found.append(self.phase("1/2", self._is_exact()))
        # Who has one place left at a glance is there only if the totals bear that out.
        found[1] = found[1].confirmed_by(found[2])
        if not self.coarse:
            self.at_fixpoint = True
            return found
        for level in self.coarse:
            self.solve(level, None, COARSE_SHARE / len(self.coarse))
        exact = self._is_exact()
        found.append(self.phase("2/2", exact))
        changed = limit_fine(self.fine, self.coarse, self.rows, certain_only=True)
        found.append(self.phase("3/1", exact))
        self.solve(self.fine, changed, SHARE)
        found.append(self.phase("3/2", exact and self._is_exact()))
        if fixpoint:
            self.to_fixpoint()
            found.append(self.phase("all tables"))
        self.prove_more()
        found[-1] = replace(found[-1], exact=self.at_fixpoint and self._is_exact())
        return found

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

    def to_confirm(self, certain: Bools) -> list[set[int]]:
        """The instances of every level on which it depends whether what is certain stays so."""
        fine = {n for n, g in enumerate(self.fine.matched.groups) if certain[g.records].any()}
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

    def solve(
        self, level: Level, changed: Sequence[int] | None, share: float, again: bool = False
    ) -> None:
        """Solve instances of a level, those that changed or all, in a share of the effort left."""
        number = self.levels.index(level)
        which = range(len(level.matched.groups)) if changed is None else changed
        which = [n for n in which if self._is_asked(number, n)]
        truth = self.truths[number]
        tasks = [level.task(n, self.asked.premise, truth) for n in which]
        if not tasks:
            return
        name = f"Allocating by {level.matched.totals.finest}"
        left = self._left_to_rounds(share)
        found = solve_all(tasks, self.seconds, left, self.workers, name, again)
        if changed is None and self.chosen is None:
            self._judge_rule(level, found)
        for n, task, result in zip(which, tasks, found, strict=True):
            self._take(level, n, task, result)

    def _is_asked(self, number: int, n: int) -> bool:
        """Whether an instance of a level is to be solved: chosen, and all of its records used."""
        if self.chosen is not None and n not in self.chosen[number]:
            return False
        return bool(self.asked.used[self.levels[number].matched.groups[n].records].all())

    def _left_to_rounds(self, share: float) -> float | None:
        if self.effort is None:
            return None
        left = self.effort.left
        if self.chosen is None:
            left = for_rounds(self.effort.seconds, left)
        return max(0.01, share * left)

    def _judge_rule(self, level: Level, found: Sequence[Result]) -> None:
        """Believe a rule that was given only if the totals bear it out."""
        if self.asked.rule_is_known is not None or level.rule == "unknown_clt":
            return
        totals = level.matched.totals
        if totals.tolerance is not None or totals.rounding == "diagnose":
            return
        failed = sum(r.premise != "complete" or r.status == "infeasible" for r in found)
        level.doubted = failed > DOUBTFUL * len(found)
        level.known &= not level.doubted

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
                level.beyond_doubt[n] = np.ones_like(before.possible)
                level.contradicted.add(n)
        elif result.status != "closed" and not result.proved.any():
            # Nor from totals that no allocation was found to meet: they may contradict too.
            kept = None if before is None else before.narrowed(level.possible[n])
            level.results[n] = kept or before or result
        else:
            if before is not None:
                result = result.with_proofs_of(before, task.instance.allowed)
            level.take(n, result)
        known = level.results[n]
        assert known is not None  # noqa: S101  # set above
        singles = (known.possible.sum(axis=1) == 1) & ~known.discardable
        # What was taken away since was not found to leave an allocation.
        stale = known.status == "closed" and not (level.is_closed(n) or level.is_settled(n))
        key = self.levels.index(level), n
        earlier = self.solved.get(key)
        self.solved[key] = Solved(
            level.matched.totals.dataset.name,
            len(group.records),
            len(group.rows),
            task.instance.complexity,
            "open" if stale else known.status,
            known.premise,
            result.seconds + (earlier.seconds if earlier else 0.0),
            int(singles.sum()),
            int((known.proved.sum(axis=1) > 1).sum()),
        )

    def to_fixpoint(self) -> None:
        """Sets of places limit each other until nothing changes, and what is open has its turn."""
        while True:
            settled = False
            for _ in itertools.count() if self.effort is None else range(MOST_ROUNDS):
                fine = limit_fine(self.fine, self.coarse, self.rows, certain_only=False)
                self.solve(self.fine, [n for n in fine if not self.fine.is_settled(n)], SHARE)
                coarse = limit_coarse(self.fine, self.coarse, self.rows)
                for level, changed in zip(self.coarse, coarse, strict=True):
                    self.solve(level, [n for n in changed if not level.is_settled(n)], SHARE)
                if not fine and not any(coarse):
                    settled = True
                    break
            if not self.solve_open() and (settled or self._is_effort_spent()):
                self.at_fixpoint = settled
                return

    def _is_effort_spent(self) -> bool:
        left = self._left_to_rounds(1.0)
        if left is None or self.effort is None:
            return work.is_stopped()
        return left < LEAST_LEFT * self.effort.seconds

    def solve_open(self) -> bool:
        """Solve what is open with full effort, in half of what is left; False if nothing is.

        The easiest first; once more, as long as that shows more, where few pairs are in question.
        """
        left = self._left_to_rounds(OPEN_SHARE)
        if left is None or self.effort is None or left < LEAST_LEFT * self.effort.seconds:
            return False
        waiting = []
        for number, level in enumerate(self.levels):
            for n in range(len(level.matched.groups)):
                if level.is_closed(n) or level.is_unsound(n) or not self._is_asked(number, n):
                    continue
                tries, in_question = self.in_full.get((number, n), (0, -1))
                now = level.in_question(n)
                if now != in_question and tries < MOST_TRIES:
                    effort = level.complexity(n) if tries == 0 else now + MORE_A_TRY * tries
                    waiting.append((effort, number, n))
        easy = sum(effort <= EASY for effort, _, _ in waiting)
        some = sorted(waiting)[: easy + in_full_effort(self.seconds, left)]
        for number, level in enumerate(self.levels):
            of_level = [n for _, at, n in some if at == number]
            for n in of_level:
                tries, _ = self.in_full.get((number, n), (0, -1))
                self.in_full[number, n] = tries + 1, level.in_question(n)
            share = len(of_level) / max(1, sum(at >= number for _, at, _ in some))
            self.solve(level, of_level, OPEN_SHARE * share, again=True)
        return bool(some)

    def prove_more(self) -> None:
        """Add proofs where nothing more is excluded, with what is left: walk on from certificates.

        Instances of which a walk has shown something are taken up again while there is effort left.
        """
        if self.effort is None or self.chosen is not None:
            return  # whether something stays certain does not depend on proofs
        waiting = [(level, n) for level in self.levels for n in range(len(level.matched.groups))]
        while waiting and self.effort.left > LEAST_LEFT * self.effort.seconds:
            all_of_them = [(level, n, level.task_to_go_on(n)) for level, n in waiting]
            going = [(level, n, task) for level, n, task in all_of_them if task is not None]
            tasks = [task for _, _, task in going]
            name = "Proving what is possible"
            found = solve_all(tasks, self.seconds, self.effort.left, self.workers, name)
            waiting = []
            for (level, n, task), result in zip(going, found, strict=True):
                if result.findings > task.instance.packages - task.wanting:
                    waiting.append((level, n))
                self._take(level, n, task, result)

    def phase(self, name: str, exact: bool = False) -> Phase:
        """What is known now."""
        return replace(phase_of(name, self.fine, self.sound, self.listed), exact=exact)
