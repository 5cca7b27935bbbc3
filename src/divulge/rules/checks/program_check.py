"""All that is looked at before a program runs, and what is known of it then.

The checks give what the engine needs as well: an order of work for each body, the strata, the types
of all arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from divulge.rules import tuning
from divulge.rules.checks.body_plan import BodyPlan, find_fact_problems, place_of, plan_body
from divulge.rules.checks.definitions import (
    find_arity_problems,
    find_size_problems,
    find_undefined,
    list_remarks,
)
from divulge.rules.checks.literal_facts import GivenFacts, collect_facts
from divulge.rules.checks.monotonicity import Directions, find_moving_positions
from divulge.rules.checks.null_feed import find_null_remark
from divulge.rules.checks.strata import (
    Stratum,
    build_strata,
    find_early_null_problems,
    find_negation_problems,
)
from divulge.rules.checks.type_inference import (
    PlannedRule,
    Types,
    infer_types,
    list_nullable_predicates,
)
from divulge.rules.checks.value_types import (
    ANY,
    DOUBLE,
    INTEGER,
    TEXT,
    TypeClash,
    ValueType,
    join_given_types,
    widen_nullable,
)
from divulge.rules.language.syntax import EqualityRule, FactSource, Rule, Statement
from divulge.rules.plugin_atoms import RulePlugin, list_plugins
from divulge.work import InvalidInput, Problem

PLUGIN_TYPES = {"text": TEXT, "integer": INTEGER, "number": DOUBLE, "any": ANY}


class HasStatements(Protocol):
    """A program, whatever else it knows of itself."""

    @property
    def statements(self) -> Sequence[Statement]:
        """What it says, in order."""


@dataclass(frozen=True)
class NumberedRule:
    """A rule that derives, with its number among the program's statements and its plan."""

    number: int
    rule: Rule
    plan: BodyPlan


@dataclass(frozen=True)
class NumberedEquality:
    """The same of an equality rule."""

    number: int
    rule: EqualityRule
    plan: BodyPlan


@dataclass(frozen=True, kw_only=True)
class CheckedProgram:
    """What is known of a program before it runs: what is wrong, what is remarkable, what is needed.

    `remarks` are no errors. The rest is complete only if there is no problem.
    """

    program: HasStatements
    subject: str
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...]
    may_not_end: bool
    rules: tuple[NumberedRule, ...] = ()
    equalities: tuple[NumberedEquality, ...] = ()
    facts: GivenFacts
    strata: tuple[Stratum, ...] = ()
    moving: tuple[Directions, ...] = ()
    """For each stratum the arguments that keep only their latest value."""
    types: Types
    plugin_types: Types
    plugins: Mapping[str, RulePlugin]

    def raise_any(self) -> None:
        """Raise all problems as one error, if there are any."""
        if self.problems:
            raise InvalidInput(self.subject, self.problems)


def name_subject(program: HasStatements) -> str:
    """The program as messages name it."""
    return str(getattr(program, "origin", None) or "rules")


def check_program(
    program: HasStatements,
    given: Mapping[str, Sequence[ValueType]] | None = None,
    *,
    plugins: Mapping[str, RulePlugin] | None = None,
) -> CheckedProgram:
    """Check a program: what is wrong with it, each with its place, and what is worth a remark.

    Args:
        program: the program.
        given: the types of the facts that are handed in, by predicate; if it is not known which
            will be, predicates and plug-ins without a definition are remarks, not errors.
        plugins: plug-ins beside those that are registered.
    """
    statements = program.statements
    known_plugins = list_plugins(plugins)
    too_long = tuple(find_size_problems(statements))
    if too_long:  # looking at each rule would take minutes
        return _refuse_length(program, too_long)
    facts, problems = collect_facts(statements)
    problems += find_arity_problems(statements, given or {}, known_plugins)
    remarks = list(list_remarks(statements, given))
    undefined = list(find_undefined(statements, given, known_plugins))
    (remarks if given is None else problems).extend(undefined)
    rules, equalities, unsafe = _plan_rules(statements, facts, known_plugins)
    problems += unsafe
    plugin_types = _list_plugin_types(known_plugins)
    types: Types = {}
    strata: Sequence[Stratum] = ()
    moving: list[Directions] = []
    null_remark = None
    if not problems:
        types, problems = _infer_all_types(facts, given or {}, [*rules, *equalities], plugin_types)
    if not problems:
        strata = build_strata(
            [numbered.rule for numbered in rules],
            [numbered.rule for numbered in equalities],
            list_nullable_predicates(types),
        )
        problems += find_negation_problems(strata)
        problems += find_early_null_problems(strata)
        plans = {id(numbered.rule): numbered.plan for numbered in rules}
        plans |= {id(numbered.rule): numbered.plan for numbered in equalities}
        for stratum in strata:
            found, wrong = find_moving_positions(stratum, plans)
            moving.append(found)
            problems += wrong
        null_remark = find_null_remark(rules)
    return CheckedProgram(
        program=program,
        subject=name_subject(program),
        problems=_list_first(problems),
        remarks=(*_list_first(remarks), *([null_remark] if null_remark else [])),
        may_not_end=null_remark is not None,
        rules=tuple(rules),
        equalities=tuple(equalities),
        facts=facts,
        strata=tuple(strata),
        moving=tuple(moving),
        types=types,
        plugin_types=plugin_types,
        plugins=known_plugins,
    )


def _list_first(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Each problem once, and no more than a person mends at once."""
    different = list({str(problem): problem for problem in problems}.values())
    more = len(different) - tuning.MOST_PROBLEMS
    if more <= 0:
        return tuple(different)
    message = f"{more:,} more are not listed: mend these, and check again."
    return (*different[: tuning.MOST_PROBLEMS], Problem("", message))


def _refuse_length(program: HasStatements, problems: tuple[Problem, ...]) -> CheckedProgram:
    return CheckedProgram(
        program=program,
        subject=name_subject(program),
        problems=problems,
        remarks=(),
        may_not_end=False,
        facts=collect_facts(())[0],
        types={},
        plugin_types={},
        plugins={},
    )


def _list_plugin_types(plugins: Mapping[str, RulePlugin]) -> Types:
    return {
        name: tuple(PLUGIN_TYPES[kind] for kind in (*known.inputs, *known.outputs))
        for name, known in plugins.items()
    }


def _plan_rules(
    statements: Sequence[Statement], facts: GivenFacts, plugins: Mapping[str, RulePlugin]
) -> tuple[list[NumberedRule], list[NumberedEquality], list[Problem]]:
    inputs = {name: len(known.inputs) for name, known in plugins.items()}
    rules: list[NumberedRule] = []
    equalities: list[NumberedEquality] = []
    problems: list[Problem] = []
    for number, statement in enumerate(statements):
        if isinstance(statement, FactSource) or number in facts.numbers:
            continue
        if isinstance(statement, Rule):
            if not statement.body:
                problems += find_fact_problems(statement)
            plan, found = plan_body(
                statement.body, statement.head.arguments, inputs, statement.existentials
            )
            if plan is not None:
                rules.append(NumberedRule(number, statement, plan))
        else:
            plan, found = plan_body(
                statement.body, (statement.left, statement.right), inputs, is_equality=True
            )
            if plan is not None:
                equalities.append(NumberedEquality(number, statement, plan))
        problems += [place_of(problem, statement) for problem in found]
    return rules, equalities, problems


def _infer_all_types(
    facts: GivenFacts,
    given: Mapping[str, Sequence[ValueType]],
    rules: Iterable[NumberedRule | NumberedEquality],
    plugin_types: Types,
) -> tuple[Types, list[Problem]]:
    known: dict[str, Sequence[ValueType]] = dict(given)
    for name, columns in facts.types.items():
        try:
            pairs = zip(known.get(name, columns), columns, strict=True)
            known[name] = [join_given_types(*pair) for pair in pairs]
        except TypeClash as clash:
            message = f'the facts of "{name}" in the program and those handed in differ: {clash}.'
            return {}, [Problem("", message)]
    planned: list[PlannedRule] = [(numbered.rule, numbered.plan) for numbered in rules]
    types, problems = infer_types(planned, known, plugin_types)
    if not any(isinstance(rule, EqualityRule) for rule, _ in planned) or problems:
        return types, problems
    # A null may become whatever an equality rule finds: its columns hold values of any kind.
    widened = {name: [widen_nullable(kind) for kind in columns] for name, columns in types.items()}
    return infer_types(planned, widened, plugin_types)


def format_checks(checked: CheckedProgram) -> Iterator[str]:
    """What `divulge rules check` prints: errors, then remarks, one a line."""
    for kind, found in (("error", checked.problems), ("remark", checked.remarks)):
        for problem in found:
            yield f"{kind}: {problem}"


def describe_bounds(
    checked: CheckedProgram,
    most_nulls: int = tuning.MOST_NULLS,
    most_rounds: int = tuning.MOST_OPEN_ROUNDS,
) -> str:
    """How far a program can run, in one sentence."""
    if not checked.may_not_end:
        return "It ends by itself: no null leads to another."
    return (
        f"It may not end by itself, and stops at {most_nulls:,} nulls or after {most_rounds:,} "
        "rounds of a stratum."
    )
