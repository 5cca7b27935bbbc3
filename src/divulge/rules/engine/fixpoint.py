"""Semi-naive evaluation: stratum by stratum, round by round, from what the last round added.

Within a stratum, rules that do not ask for it run once; then the others until nothing is new. Then
equality rules join nulls, and when nothing follows any more a null is invented; after each the
rounds go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from divulge import work
from divulge.rules import tuning
from divulge.rules.checks.monotonicity import Directions
from divulge.rules.checks.program_check import CheckedProgram, NumberedEquality, NumberedRule
from divulge.rules.checks.strata import Stratum
from divulge.rules.checks.value_types import UNKNOWN
from divulge.rules.engine.body_query import Task
from divulge.rules.engine.equalities import (
    Conflict,
    EqualityQuery,
    apply_merges,
    compile_equality,
    find_merges,
    merge_duplicates,
    read_conflicts,
)
from divulge.rules.engine.null_inventions import Invention, compile_invention
from divulge.rules.engine.plugin_answers import PluginAnswers
from divulge.rules.engine.predicate_tables import PredicateTables
from divulge.rules.engine.rule_queries import RuleContext, compile_rule, list_kept_tables
from divulge.rules.engine.task_runner import TaskRunner
from divulge.work import DivulgeError

if TYPE_CHECKING:
    from divulge.rules.engine.facts import Facts


class BoundReached(DivulgeError):
    """A program was stopped at its bound; `facts` is what it had derived by then."""

    facts: Facts | None = None


@dataclass(frozen=True)
class EvaluationBounds:
    """How many nulls a program may invent, and how many rounds a stratum may take."""

    most_nulls: int
    most_rounds: int | None = None
    """None for what suffices programs that end by themselves, and fewer for others."""

    def choose_most_rounds(self, checked: CheckedProgram) -> int:
        """How many rounds a stratum of a program may take."""
        if self.most_rounds is not None:
            return self.most_rounds
        return tuning.MOST_OPEN_ROUNDS if checked.may_not_end else tuning.MOST_ROUNDS


@dataclass
class _StratumRules:
    """The rules of a stratum as statements."""

    once: list[tuple[NumberedRule, list[Task]]] = field(default_factory=list)
    repeated: list[tuple[NumberedRule, str, list[Task]]] = field(default_factory=list)
    """A recursive rule, the predicate of which the last round's facts are taken, what to do."""
    inventions: list[Invention] = field(default_factory=list)
    equalities: list[EqualityQuery] = field(default_factory=list)


class Fixpoint:
    """The evaluation of a program in a session."""

    def __init__(
        self,
        checked: CheckedProgram,
        runner: TaskRunner,
        tables: PredicateTables,
        answers: PluginAnswers,
        bounds: EvaluationBounds,
    ) -> None:
        self.checked = checked
        self.runner = runner
        self.tables = tables
        self.answers = answers
        self.bounds = bounds
        self.most_rounds = bounds.choose_most_rounds(checked)
        self.numbered = {id(numbered.rule): numbered for numbered in checked.rules}
        self.equalities = {id(numbered.rule): numbered for numbered in checked.equalities}
        self.context = RuleContext(
            types=checked.types,
            plugin_types=checked.plugin_types,
            plugin_inputs={name: len(known.inputs) for name, known in checked.plugins.items()},
            tables=tables.tables,
            answers=answers.tables,
            derived=frozenset(name for stratum in checked.strata for name in stratum.predicates),
        )
        self.invented = 0
        self.rounds = 0
        """Rounds of all strata so far."""
        self.conflicts: list[Conflict] = []
        self._compiled: dict[int, _StratumWork] = {}

    def evaluate(self) -> None:
        """Derive everything."""
        self.complete_strata(range(len(self.checked.strata)))

    def complete_strata(self, numbers: Sequence[int]) -> None:
        """Derive the facts of some strata, in their order; again, if what they need has changed."""
        with work.step("Applying rules", total=len(numbers)) as step:
            for number in numbers:
                if number not in self._compiled:
                    stratum, moving = self.checked.strata[number], self.checked.moving[number]
                    self._compiled[number] = _StratumWork(self, stratum, moving)
                self._compiled[number].complete()
                step.advance()


class _StratumWork:
    """One stratum on its way to completion."""

    def __init__(self, fixpoint: Fixpoint, stratum: Stratum, moving: Directions) -> None:
        self._fixpoint = fixpoint
        self._runner = fixpoint.runner
        self._tables = fixpoint.tables
        self._answers = fixpoint.answers
        self._context = fixpoint.context
        self._stratum = stratum
        self._moving = moving
        self._round = 0
        self._counts: dict[str, int] = {}
        self._rules = self._compile_rules()

    def complete(self) -> None:
        """Derive all facts of the stratum."""
        self._round = 0
        self._publish_candidates(0)  # what is given
        if self._rules.once:
            self._start_round()
            for numbered, tasks in self._rules.once:
                self._carry_out(numbered, tasks)
            if self._is_derived_once():
                [name] = self._stratum.predicates
                self._tables.take_over(name, self._fixpoint.rounds)
                return
            self._publish_candidates()
        if self._rules.repeated:
            self._mark_all_changed()
        while True:
            self._repeat_rules()
            if not self._merge_nulls() and not self._invent_nulls():
                break
        for query in self._rules.equalities:
            self._fixpoint.conflicts += read_conflicts(self._runner, query)

    def _compile_rules(self) -> _StratumRules:
        rules = _StratumRules()
        for rule in self._stratum.rules:
            numbered = self._fixpoint.numbered.get(id(rule))
            if numbered is None or self._never_fires(numbered):  # a fact that was loaded
                continue
            if numbered.plan.existentials:
                rules.inventions.append(
                    compile_invention(numbered, self._context, self._context.read_full)
                )
            elif not self._stratum.is_recursive(rule):
                tasks = compile_rule(
                    rule, numbered.number, numbered.plan, self._context, self._context.read_full
                )
                rules.once.append((numbered, tasks))
            else:
                rules.repeated += self._compile_repeated(numbered)
        for equality in self._stratum.equality_rules:
            found: NumberedEquality = self._fixpoint.equalities[id(equality)]
            if not self._never_fires(found):
                rules.equalities.append(compile_equality(found, self._context))
        return rules

    def _is_derived_once(self) -> bool:
        """Whether all facts of the stratum come from one rule that is carried out once."""
        rules = self._rules
        return (
            len(rules.once) == 1
            and not (rules.repeated or rules.inventions or rules.equalities or self._moving)
            and len(self._stratum.predicates) == 1
            and not any(self._counts.values())
        )

    def _never_fires(self, numbered: NumberedRule | NumberedEquality) -> bool:
        """Whether a predicate of the body has no fact: then its kind is not known either."""
        return any(
            UNKNOWN in self._context.types[atom.predicate] for atom in numbered.plan.select_atoms()
        )

    def _compile_repeated(
        self, numbered: NumberedRule
    ) -> list[tuple[NumberedRule, str, list[Task]]]:
        """The rule once for each atom of the stratum, which takes the last round's facts."""
        variants = []
        for place, atom in enumerate(numbered.plan.select_atoms()):
            if atom.predicate in self._stratum.predicates:
                tasks = compile_rule(
                    numbered.rule,
                    numbered.number,
                    numbered.plan,
                    self._context,
                    self._context.read_new(place),
                    is_recursive=True,
                )
                variants.append((numbered, atom.predicate, tasks))
        return variants

    def _carry_out(self, numbered: NumberedRule, tasks: Sequence[Task]) -> None:
        self._runner.carry_out(tasks, numbered.rule, self._answers.ask)

    def _publish_candidates(self, number: int | None = None) -> None:
        """Take over what is new, as facts of this round or of another."""
        round_number = self._fixpoint.rounds if number is None else number
        self._counts = {
            name: self._tables.publish(name, round_number, self._moving)
            for name in self._stratum.predicates
        }

    def _mark_all_changed(self) -> None:
        self._counts = {
            name: self._tables.mark_all_changed(name) for name in self._stratum.predicates
        }

    def _repeat_rules(self) -> None:
        """Rounds until nothing is new."""
        while any(self._counts.values()) and self._rules.repeated:
            self._start_round()
            for numbered, predicate, tasks in self._rules.repeated:
                if self._counts.get(predicate):
                    self._carry_out(numbered, tasks)
            self._publish_candidates()

    def _start_round(self) -> None:
        self._round += 1
        self._fixpoint.rounds += 1
        bound = self._fixpoint.most_rounds
        if self._round > bound:
            raise self._stop(f"after {bound:,} rounds", "most_rounds")

    def _merge_nulls(self) -> bool:
        """Apply the equality rules; whether anything changed."""
        pairs: list[tuple[str, str]] = []
        for query in self._rules.equalities:
            rule = query.numbered.rule
            self._runner.carry_out(query.tasks, rule, self._answers.ask)
            found = self._runner.table(query.pairs, rule)
            if found.num_rows:
                columns = (found.column(0).to_pylist(), found.column(1).to_pylist())
                pairs += zip(*columns, strict=True)
        merges = find_merges(pairs)
        if not merges:
            return False
        self._start_round()
        predicates = [self._tables.tables[name] for name in self._stratum.predicates]
        kinds = {table.facts: table.kinds for table in predicates}
        for invention in self._rules.inventions:
            self._carry_out(invention.numbered, invention.preparation)
            kinds[invention.memory] = tuple(value.type for value in invention.bindings.values())
        apply_merges(self._runner, merges, kinds)
        for table in predicates:
            merge_duplicates(self._runner, table)
        # What was contributed under the old names is collected anew.
        for numbered in {id(one.rule): one for one, _, _ in self._rules.repeated}.values():
            for kept in list_kept_tables(numbered.number, numbered.plan):
                self._runner.run(f"DROP TABLE IF EXISTS {kept}")
        self._mark_all_changed()
        return True

    def _invent_nulls(self) -> bool:
        """Apply the first existential rule that has something to do; whether there is one."""
        for invention in self._rules.inventions:
            self._carry_out(invention.numbered, invention.preparation)
            wanted = self._runner.count(f"SELECT count(*) FROM {invention.table}")
            if not wanted:
                continue
            self._start_round()
            bound = self._fixpoint.bounds.most_nulls
            if self._fixpoint.invented + wanted * invention.nulls > bound:
                raise self._stop(f"at {bound:,} invented nulls", "most_nulls")
            tasks = invention.write_tasks(self._fixpoint.invented)
            self._fixpoint.invented += wanted * invention.nulls
            self._carry_out(invention.numbered, tasks)
            self._publish_candidates()
            return True
        return False

    def _stop(self, where: str, setting: str) -> BoundReached:
        counts = {
            name: self._runner.count(f"SELECT count(*) FROM {self._tables.tables[name].facts}")
            for name in self._stratum.predicates
        }
        derived = ", ".join(f'{count:,} of "{name}"' for name, count in counts.items())
        return BoundReached(
            f"{self._fixpoint.checked.subject}: stopped {where}; derived by then: {derived}. Look "
            f"for a rule that leads to itself with a new value each time, or raise {setting}."
        )
