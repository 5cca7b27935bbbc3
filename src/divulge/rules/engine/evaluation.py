"""A program and its data in, all that follows from them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from divulge import work
from divulge.engines.duck import DuckSession
from divulge.rules import tuning
from divulge.rules.checks.definitions import list_widths
from divulge.rules.checks.program_check import (
    CheckedProgram,
    HasStatements,
    check_program,
    name_subject,
)
from divulge.rules.checks.value_types import UNKNOWN, TypeClash, ValueType, join_given_types
from divulge.rules.engine.fact_sources import read_sources
from divulge.rules.engine.facts import Facts
from divulge.rules.engine.fixpoint import BoundReached, EvaluationBounds, Fixpoint
from divulge.rules.engine.given_facts import (
    StagedFacts,
    load_facts,
    stage_facts,
    stage_rows,
)
from divulge.rules.engine.plugin_answers import PluginAnswers
from divulge.rules.engine.predicate_tables import PredicateTables
from divulge.rules.engine.task_runner import TaskRunner
from divulge.rules.language.syntax import Rule, Variable
from divulge.rules.plugin_atoms import RulePlugin
from divulge.work import InvalidInput, Problem


def evaluate(
    program: HasStatements,
    data: Mapping[str, Any] | None = None,
    *,
    plugins: Mapping[str, RulePlugin] | None = None,
    most_nulls: int = tuning.MOST_NULLS,
    most_rounds: int | None = None,
    files_from: Path | str | None = None,
) -> Facts:
    """Derive all that follows from a program and its data.

    Args:
        program: the rules.
        data: facts by predicate (an Arrow table, a dataset, a data frame, or a list of rows), and
            datasets by the names that the program gives them.
        plugins: functions for plug-in atoms beside those that are registered.
        most_nulls: where a program stops that invents nulls without end.
        most_rounds: where a stratum stops that goes on without end; 10,000 if not given, and 2,000
            if the program may not end.
        files_from: the folder of the files that the program names; its own if not given.

    Raises:
        InvalidInput: if the program or its data cannot be taken, with all places.
        BoundReached: if it was stopped at a bound.
    """
    session = DuckSession(raw_errors=True)  # the task runner has words of rules for them
    session.__enter__()
    try:
        loaded = load_program(
            session,
            program,
            data or {},
            plugins=plugins,
            bounds=EvaluationBounds(most_nulls, most_rounds),
            files_from=files_from,
        )
        for number, part in enumerate(loaded.parts):
            loaded.store(part, number)
        try:
            loaded.fixpoint.evaluate()
        except BoundReached as stop:
            stop.facts = loaded.open_facts()
            raise
        return loaded.open_facts()
    except BoundReached:
        raise  # what was derived by then stays open
    except BaseException:
        session.__exit__(None, None, None)
        raise


@dataclass(frozen=True)
class FactPart:
    """Facts of a predicate that come from one place, and are not stored yet."""

    predicate: str
    staged: StagedFacts
    is_given: bool
    """Whether they were handed in under the name of the predicate."""


@dataclass(frozen=True, kw_only=True)
class LoadedProgram:
    """A program that was checked against its facts, with a database in which to derive."""

    session: DuckSession
    runner: TaskRunner
    checked: CheckedProgram
    tables: PredicateTables
    answers: PluginAnswers
    fixpoint: Fixpoint
    parts: Sequence[FactPart]
    names: Mapping[str, tuple[str, ...]]
    """How the columns of each predicate are called."""

    @cached_property
    def derived(self) -> frozenset[str]:
        """Predicates that rules derive; their given facts are candidates like others."""
        return frozenset(name for stratum in self.checked.strata for name in stratum.predicates)

    def find_target(self, predicate: str) -> str:
        """The table into which facts of a predicate are loaded."""
        table = self.tables.tables[predicate]
        return table.candidates if predicate in self.derived else table.facts

    def store(self, part: FactPart, number: int) -> None:
        """Load a part; its number tells its missing values from those of others."""
        load_facts(
            self.runner,
            part.staged,
            self.find_target(part.predicate),
            self.tables.tables[part.predicate].kinds,
            number,
            has_origin=part.predicate not in self.derived,
        )

    def open_facts(self) -> Facts:
        """What was derived by now; closing it closes the database."""
        return Facts(self.checked, self.session, self.runner, self.fixpoint, self.names)


def load_program(
    session: DuckSession,
    program: HasStatements,
    data: Mapping[str, Any],
    *,
    plugins: Mapping[str, RulePlugin] | None,
    bounds: EvaluationBounds,
    files_from: Path | str | None,
) -> LoadedProgram:
    """Read and check all facts, and make what is needed to derive others."""
    subject = name_subject(program)
    runner = TaskRunner(session, subject)
    with work.step("Reading facts"):
        staged, names = _stage_all(runner, program, data, files_from, subject)
    widths = list_widths(program.statements)
    given = {name: (UNKNOWN,) * widths.get(name, 0) for name in data if name not in staged}
    given |= {
        name: _join_types(name, [part.staged for part in parts], subject)
        for name, parts in staged.items()
    }
    checked = check_program(program, given, plugins=plugins)
    checked.raise_any()
    tables = PredicateTables(runner, checked.types)
    written = []
    for number, (name, facts) in enumerate(checked.facts.rows.items()):
        rules, values = zip(*facts, strict=True)
        rows = stage_rows(runner, f"w{number}", values, subject, rules)
        written.append(FactPart(name, rows, is_given=False))
    answers = PluginAnswers(runner, checked.plugins, checked.plugin_types)
    return LoadedProgram(
        session=session,
        runner=runner,
        checked=checked,
        tables=tables,
        answers=answers,
        fixpoint=Fixpoint(checked, runner, tables, answers, bounds),
        parts=[*(part for parts in staged.values() for part in parts), *written],
        names=_name_columns(program, checked.types, names),
    )


def _stage_all(
    runner: TaskRunner,
    program: HasStatements,
    data: Mapping[str, Any],
    files_from: Path | str | None,
    subject: str,
) -> tuple[dict[str, list[FactPart]], dict[str, tuple[str, ...]]]:
    """All facts from outside by predicate, and the names of their columns."""
    staged: dict[str, list[FactPart]] = {}
    names: dict[str, tuple[str, ...]] = {}
    sources = read_sources(program, data, files_from, subject)
    used = {source.dataset for source in sources if source.dataset is not None}
    handed_in = [
        (name, given, describe_given(name), True)
        for name, given in data.items()
        if name not in used and not _is_empty_list(given)
    ]
    read = [(source.predicate, source.table, source.label, False) for source in sources]
    for number, (name, given, label, is_given) in enumerate([*handed_in, *read]):
        facts = stage_facts(runner, f"s{number}", given, label)
        staged.setdefault(name, []).append(FactPart(name, facts, is_given))
        columns = getattr(given, "column_names", None) or getattr(given, "names", None)
        if columns is not None:
            names.setdefault(name, tuple(columns))
    return staged, names


def describe_given(name: str) -> str:
    """Facts that were handed in, as messages call them."""
    return f'the facts of "{name}"'


def _is_empty_list(given: Any) -> bool:
    """Whether there is nothing in it that would tell how many arguments there are."""
    return isinstance(given, list | tuple) and not given


def _join_types(name: str, parts: list[StagedFacts], subject: str) -> tuple[ValueType, ...]:
    try:
        columns = zip(*(part.types for part in parts), strict=True)
        return tuple(join_given_types(*column) for column in columns)
    except (TypeClash, ValueError):
        message = f'the facts of "{name}" come from several places and do not fit together.'
        raise InvalidInput(subject, [Problem("", message)]) from None


def _name_columns(
    program: HasStatements,
    types: Mapping[str, tuple[ValueType, ...]],
    given: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[str, ...]]:
    """Names for columns: those of the data, or of the variables of the first rule."""
    names = {name: columns for name, columns in given.items() if name in types}
    for statement in program.statements:
        if isinstance(statement, Rule) and statement.body:
            names.setdefault(
                statement.head.predicate,
                tuple(
                    argument.name if isinstance(argument, Variable) else f"argument {place}"
                    for place, argument in enumerate(statement.head.arguments, start=1)
                ),
            )
    chosen = {}
    for name, columns in types.items():
        plain = tuple(f"argument {place}" for place in range(1, len(columns) + 1))
        wanted = names.get(name, plain)
        fits = len(wanted) == len(columns) == len(set(wanted))
        chosen[name] = wanted if fits else plain
    return chosen
