"""The rules of a release: one program out of its files, checked before any record is read.

A predicate of a release has a fixed meaning (`keep`, `risk`, ...); any other one with two arguments
may stand where links of records do, as a dataset of pairs would.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from divulge.records.risk.registry import MEASURES
from divulge.rules.checks.program_check import check_program
from divulge.rules.language.program import Program
from divulge.rules.language.syntax import (
    Atom,
    EqualityRule,
    FactSource,
    Rule,
    Statement,
    Variable,
    Wildcard,
    list_variables,
)
from divulge.work import InvalidInput, Problem, Problems

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "category": ("A", "C"),
    "is_a": ("A", "V", "Z"),
    "risk": ("I", "R"),
    "knows": ("I", "A"),
    "knows_only": ("I", "A"),
    "keep": ("I", "A"),
    "hide": ("I", "A"),
    "remove": ("I",),
    "recode": ("A", "Level"),
    "threshold": ("I", "T"),
    "prefer": ("A", "N"),
    "order": ("Order",),
    "method": ("Method", "N"),
}
"""What a release reads out of its rules; with the name of a dataset as one more first argument."""

KNOWLEDGE = {"knows": "knows_also", "knows_only": "knows_only"}
"""What adversaries know of single records, with the setting of an adversary that takes it."""

RISK = "risk"
VALUES = "val"
"""The cells of what is published, as it is now."""
ORIGINAL_VALUES = "original"
"""The cells before protection: what somebody knows of their victim."""

CELLS = (VALUES, "weight")
"""What rules can read of single cells that protection may change."""

OF_HIERARCHIES = ("type_of", "sub_type_of", "inst_of", "is_a")
"""What hierarchies say of the values that occur."""

DEMANDS = ("hide", "remove", "recode")
"""What must be done whatever the risk."""
GUIDANCE = ("keep", "threshold", "prefer", "order", "method")
"""What is left alone, how far single records are protected, and what is changed first."""

OF_RECORDS = ("risk", "knows", "knows_only", "keep", "hide", "remove", "threshold")
"""Those that speak of single records, by their identifier."""


@dataclass(frozen=True, kw_only=True)
class RuleProgram:
    """The rules of a release as one program, and what it is asked for."""

    program: Program
    risk_measure: str
    """The measure that `#risk(I, R)` asks."""
    value_lists: Literal["known", "secret"] = "known"
    """Whether somebody may have the list of values that attributes have."""
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Predicates that links may name, each with the names of its two columns."""

    @property
    def heads(self) -> dict[str, int]:
        """Every predicate that the program says something of, with the number of its arguments."""
        return dict(_list_heads(self.program.statements))

    @property
    def knowledge(self) -> dict[str, str]:
        """Settings of adversaries that the rules fill: what is known of single records."""
        return {place: name for name, place in KNOWLEDGE.items() if name in self.heads}

    @property
    def dataset_names(self) -> set[str]:
        """The datasets of the release that the program reads by name."""
        return {source.origin for source in self.program.sources if source.is_dataset}

    def reads(self, predicate: str) -> bool:
        """Whether some rule asks for facts of a predicate."""
        return any(
            atom.predicate == predicate for rule in self._rules for atom in _list_atoms(rule)
        )

    @property
    def asks_risk(self) -> bool:
        """Whether rules ask the risk of records by `#risk`."""
        return any(self._list_risk_atoms())

    @property
    def names_dataset_of_risk(self) -> bool:
        """Whether rules say of which dataset they ask a risk: `#risk(M, I, R)`."""
        return any(len(atom.arguments) > len(ARGUMENTS[RISK]) for atom in self._list_risk_atoms())

    def _list_risk_atoms(self) -> list[Atom]:
        return [
            each
            for rule in self._rules
            for each in rule.body
            if isinstance(each, Atom) and each.is_plugin and each.predicate == RISK
        ]

    @property
    def risk_reads_values(self) -> bool:
        """Whether the risk that rules derive depends on published values."""
        return any(
            atom.predicate == VALUES for rule in self._risk_rules for atom in _list_atoms(rule)
        )

    @property
    def risk_compares_values(self) -> bool:
        """Whether the risk depends on a comparison of published values with any but each other.

        Then a value that was made coarser may no longer be recognised, and a risk vanish with it.
        """
        return any(map(_compares_values, self._risk_rules))

    @property
    def reads_current_records(self) -> bool:
        """Whether something depends on records as they are now, and not as they were at first."""
        return self.asks_risk or any(map(self.reads, CELLS))

    def select_for_risk(self) -> RuleProgram:
        """The program without what the risk does not depend on."""
        return self.select_for([RISK])

    def select_for(self, predicates: Collection[str]) -> RuleProgram:
        """The program without what some predicates do not depend on."""
        rules = self._list_rules_for(predicates)
        needed = {id(rule) for rule in rules}
        read = {atom.predicate for rule in rules for atom in _list_atoms(rule)} | {*predicates}
        statements = [
            each
            for each in self.program.statements
            if (each.predicate in read if isinstance(each, FactSource) else id(each) in needed)
        ]
        return replace(
            self,
            program=replace(self.program, statements=tuple(statements)),
            pairs={name: names for name, names in self.pairs.items() if name in predicates},
        )

    @property
    def _risk_rules(self) -> list[Rule | EqualityRule]:
        return self._list_rules_for([RISK])

    def _list_rules_for(self, predicates: Collection[str]) -> list[Rule | EqualityRule]:
        """The rules that predicates depend on; equality rules may change any value."""
        needed, before = {*predicates}, set[str]()
        while needed != before:
            before = set(needed)
            needed |= {
                atom.predicate
                for rule in self._rules
                if isinstance(rule, EqualityRule) or rule.head.predicate in before
                for atom in _list_atoms(rule)
            }
        return [
            rule
            for rule in self._rules
            if isinstance(rule, EqualityRule) or rule.head.predicate in needed
        ]

    @property
    def _rules(self) -> list[Rule | EqualityRule]:
        return [each for each in self.program.statements if not isinstance(each, FactSource)]

    def list_rule_names(self) -> dict[str, list[str]]:
        """By predicate, what the rules that derive it call themselves; facts are left out."""
        names: dict[str, list[str]] = {}
        for number, statement in enumerate(self.program.statements):
            if isinstance(statement, Rule) and statement.body:
                names.setdefault(statement.head.predicate, []).append(self.name_rule(number) or "")
        return names

    def name_rule(self, number: int | None) -> str | None:
        """What a rule calls itself in words, or itself; None for facts of data.

        A fact without a name is called by its place: it may hold an identifier.
        """
        if number is None:
            return None
        statement = self.program.statements[number]
        name = None if isinstance(statement, FactSource) else statement.name
        if name is not None:
            return name.replace("{", "").replace("}", "")
        if isinstance(statement, FactSource) or not statement.body:
            return f"{self.program.origin}, line {statement.place.line}"
        return self.program.quote_statement(statement)


def list_risk_measures() -> list[str]:
    """The measures that rules may ask for the risk of a record."""
    return [
        name
        for name, spec in MEASURES.items()
        if spec.per_record == "risk" and not spec.needs_function and not spec.needs
    ]


def load_rule_program(
    paths: Sequence[Path], risk_measure: str, dataset_names: Sequence[str], problems: Problems
) -> RuleProgram | None:
    """Read and check the rule files of a release; None, with every problem, if one is not sound."""
    place = "rules, files"
    before = len(problems)
    programs = []
    for path in paths:
        try:
            programs.append(Program.load(path))
        except InvalidInput as error:
            problems.extend(f'{place}, "{path.name}"', error.problems)
        except OSError as error:
            reason = (error.strerror or "no reason is given").lower()
            problems.add(f'{place}, "{path.name}"', f"cannot be read: {reason}.")
    if len({path.parent for path in paths}) > 1:
        problems.add(
            place, "stand in several folders; files that rules name are beside them: use one."
        )
    if len(problems) > before or not programs:
        return None
    program = Program(
        statements=tuple(each for one in programs for each in one.statements),
        origin=", ".join(path.name for path in paths),
        folder=paths[0].parent,
        text="\n".join(one.text for one in programs),
    )
    problems.extend(place, check_program(program).problems)
    problems.extend(place, _find_head_problems(program, dataset_names))
    if len(problems) > before:
        return None
    return RuleProgram(program=program, risk_measure=risk_measure, pairs=dict(_list_pairs(program)))


def _list_atoms(rule: Rule | EqualityRule) -> list[Atom]:
    return [each for each in rule.body if isinstance(each, Atom) and not each.is_plugin]


def _compares_values(rule: Rule | EqualityRule) -> bool:
    """Whether a value of `val` stands anywhere in a rule but in the same place of such atoms."""
    reading = [atom for atom in _list_atoms(rule) if atom.predicate == VALUES]
    values = [atom.arguments[-1] for atom in reading if atom.arguments]
    if not all(isinstance(value, Variable | Wildcard) for value in values):
        return True
    names = {value.name for value in values if isinstance(value, Variable)}
    others = [each for each in rule.body if each not in reading]
    head = rule.head.arguments if isinstance(rule, Rule) else (rule.left, rule.right)
    keys = [term for atom in reading for term in atom.arguments[:-1]]
    return bool(names & set(list_variables(*others, *head, *keys)))


def _find_head_problems(program: Program, dataset_names: Sequence[str]) -> Iterator[Problem]:
    for statement in program.statements:
        for name, arity in _list_heads([statement]):
            place = program.describe_place(statement)
            arguments = ARGUMENTS.get(name)
            if name in dataset_names:
                message = f'"{name}" is a dataset of the release; call what rules derive otherwise.'
                yield Problem(place, message)
            elif arguments is not None and arity - len(arguments) not in (0, 1):
                message = (
                    f"in a release, write {name}({', '.join(arguments)}), or "
                    f"{name}({', '.join(('M', *arguments))}) with the name of a dataset."
                )
                yield Problem(place, message)
            elif name in KNOWLEDGE and arity != 2:
                message = f"in a release, write {name}(I, A)."
                yield Problem(place, message)


def _list_heads(statements: Sequence[Statement]) -> Iterator[tuple[str, int]]:
    for statement in statements:
        if isinstance(statement, Rule):
            yield statement.head.predicate, len(statement.head.arguments)
        elif isinstance(statement, FactSource):
            yield statement.predicate, len(statement.columns)


def _list_pairs(program: Program) -> Iterator[tuple[str, tuple[str, str]]]:
    """Predicates of two arguments without a meaning of their own; variables name the columns."""
    for statement in program.statements:
        for name, arity in _list_heads([statement]):
            if arity != 2 or (name in ARGUMENTS and name not in KNOWLEDGE):
                continue
            names = (
                [each.name for each in statement.head.arguments if isinstance(each, Variable)]
                if isinstance(statement, Rule)
                else []
            )
            yield name, (names[0], names[1]) if len(set(names)) == 2 else ("first", "second")
