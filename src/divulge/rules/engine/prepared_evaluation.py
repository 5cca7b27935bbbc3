"""A program that is evaluated again and again, while some of its data change.

Strata that depend on nothing that changes are completed once and stay in the database; only the
others are cleared and derived anew. A program that invents nulls, or joins them, is evaluated whole
each time: its nulls run through all strata.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from divulge.engines.duck import DuckSession
from divulge.rules import tuning
from divulge.rules.checks.program_check import CheckedProgram, HasStatements
from divulge.rules.engine.evaluation import FactPart, LoadedProgram, describe_given, load_program
from divulge.rules.engine.facts import Facts
from divulge.rules.engine.fixpoint import EvaluationBounds
from divulge.rules.engine.given_facts import stage_facts
from divulge.rules.engine.rule_queries import list_kept_tables
from divulge.rules.language.syntax import Atom, EqualityRule, Rule
from divulge.rules.plugin_atoms import RulePlugin


class PreparedEvaluation:
    """A program with the data that stay; each evaluation is given those that change.

    Args:
        program: the rules.
        data: the facts and datasets that stay, as `evaluate` takes them.
        plugins: functions for plug-in atoms beside those that are registered.
        asked_anew: plug-ins whose answers may change between two evaluations.
        files_from: the folder of the files that the program names; its own if not given.

    >>> from divulge.rules import Program
    >>> program = Program.parse("rich(X) :- income(X, E), bound(B), E > B.")
    >>> prepared = PreparedEvaluation(program, {"income": [("a", 10), ("b", 20)]})
    >>> prepared.evaluate({"bound": [(15,)]}).rows("rich")
    [('b',)]
    >>> prepared.evaluate({"bound": [(5,)]}).rows("rich")
    [('a',), ('b',)]
    >>> prepared.close()
    """

    def __init__(
        self,
        program: HasStatements,
        data: Mapping[str, Any] | None = None,
        *,
        plugins: Mapping[str, RulePlugin] | None = None,
        asked_anew: Collection[str] = (),
        files_from: Path | str | None = None,
    ) -> None:
        self._program = program
        self._data = dict(data or {})
        self._plugins = plugins
        self._asked_anew = frozenset(asked_anew)
        self._files_from = files_from
        self._state: _PreparedState | None = None

    def evaluate(self, data: Mapping[str, Any] | None = None) -> Facts:
        """All that follows from the data that stay and these, until the next evaluation.

        The facts are not to be closed: `close` does it.

        Raises:
            InvalidInput: if the program or its data cannot be taken, with all places.
            BoundReached: if the program was stopped at a bound.
        """
        changing = dict(data or {})
        try:
            if self._state is None or not self._state.replace_facts(changing):
                self.close()
                self._state = self._prepare(changing)
            self._state.derive()
        except BaseException:
            self.close()
            raise
        return self._state.facts

    def close(self) -> None:
        """Let go of the database; an evaluation after that begins from nothing."""
        if self._state is not None:
            self._state.facts.close()
            self._state = None

    def _prepare(self, changing: Mapping[str, Any]) -> _PreparedState:
        session = DuckSession(raw_errors=True)  # the task runner has words of rules for them
        session.__enter__()
        try:
            loaded = load_program(
                session,
                self._program,
                {**self._data, **changing},
                plugins=self._plugins,
                bounds=EvaluationBounds(tuning.MOST_NULLS),
                files_from=self._files_from,
            )
            return _PreparedState(loaded, changing, self._asked_anew)
        except BaseException:
            session.__exit__(None, None, None)
            raise


class _PreparedState:
    """A database in which all that stays is derived, and what changes can be cleared."""

    def __init__(
        self, loaded: LoadedProgram, changing: Mapping[str, Any], asked_anew: Collection[str]
    ) -> None:
        self._loaded = loaded
        self._run = loaded.runner.run
        self._asked_anew = sorted(set(asked_anew) & set(loaded.answers.tables))
        self._strata, self._predicates = find_changing(loaded.checked, changing, asked_anew)
        self._given = frozenset(changing)
        parts = list(enumerate(loaded.parts))
        self._parts = {
            part.predicate: (number, part)
            for number, part in parts
            if part.is_given and part.predicate in changing
        }
        for number, part in parts:
            if number not in dict(self._parts.values()):
                loaded.store(part, number)
        self._kept = self._keep_given_facts()
        for number, part in self._parts.values():
            loaded.store(part, number)
        stays = [n for n in range(len(loaded.checked.strata)) if n not in self._strata]
        loaded.fixpoint.complete_strata(stays)
        self._rounds = loaded.fixpoint.rounds
        self.facts = loaded.open_facts()

    def derive(self) -> None:
        """Complete the strata that depend on what changes."""
        self._loaded.fixpoint.complete_strata(self._strata)

    def replace_facts(self, changing: Mapping[str, Any]) -> bool:
        """Clear what depends on what changes, and load it anew; False if this database cannot."""
        checked = self._loaded.checked
        if frozenset(changing) != self._given or is_whole(checked):
            return False
        parts = {}
        for name, given in changing.items():
            if name not in self._parts:
                return False
            number, before = self._parts[name]
            staged = stage_facts(
                self._loaded.runner, before.staged.name, given, describe_given(name)
            )
            if staged.types != before.staged.types:
                return False
            parts[number] = FactPart(name, staged, is_given=True)
        self._clear()
        for number, part in parts.items():
            self._loaded.store(part, number)
        return True

    def _keep_given_facts(self) -> dict[str, str]:
        """Copies of facts that stay of predicates that change, by predicate."""
        kept = {}
        for name in self._predicates:
            target = self._loaded.find_target(name)
            if self._loaded.runner.count(f"SELECT count(*) FROM {target}"):
                kept[name] = f"k{self._loaded.tables.tables[name].number}"
                self._run(f"CREATE TABLE {kept[name]} AS FROM {target}")
        return kept

    def _clear(self) -> None:
        for name in self._predicates:
            table = self._loaded.tables.tables[name]
            for each in (table.facts, table.changes, table.candidates):
                self._run(f"TRUNCATE {each}")
            if name in self._kept:
                self._run(f"INSERT INTO {self._loaded.find_target(name)} FROM {self._kept[name]}")
        for numbered in self._loaded.checked.rules:
            if numbered.rule.head.predicate in self._predicates:
                for table_name in list_kept_tables(numbered.number, numbered.plan):
                    self._run(f"DROP TABLE IF EXISTS {table_name}")
        for plugin in self._asked_anew:
            self._loaded.answers.forget(plugin)
        self._loaded.fixpoint.rounds = self._rounds


def is_whole(checked: CheckedProgram) -> bool:
    """Whether a program can only be evaluated as a whole: it invents nulls, or joins them."""
    return bool(checked.equalities) or any(one.plan.existentials for one in checked.rules)


def find_changing(
    checked: CheckedProgram, given: Collection[str], plugins: Collection[str]
) -> tuple[list[int], list[str]]:
    """The strata, by number, and the predicates that depend on some facts and plug-ins."""
    changing = set(given) & set(checked.types)
    strata = []
    for number, stratum in enumerate(checked.strata):
        rules: Sequence[Rule | EqualityRule] = [*stratum.rules, *stratum.equality_rules]
        atoms = [each for rule in rules for each in rule.body if isinstance(each, Atom)]
        if set(stratum.predicates) & changing or any(
            atom.predicate in (plugins if atom.is_plugin else changing) for atom in atoms
        ):
            strata.append(number)
            changing |= set(stratum.predicates)
    return strata, sorted(changing)
