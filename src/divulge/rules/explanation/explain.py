"""Why a fact holds: its rule is bound again, then the facts that this needed, down to the data.

A fact is explained by facts that were there before it, so no fact is a reason of its own.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from divulge.rules.checks.program_check import NumberedEquality, NumberedRule
from divulge.rules.engine.equalities import Conflict
from divulge.rules.engine.facts import FactRow, Facts
from divulge.rules.explanation.aggregate_groups import AggregateGroup, choose_group
from divulge.rules.explanation.explanation import (
    Contributor,
    ExplainedAggregate,
    ExplainedFact,
    Explanation,
    FactKey,
    FailedRule,
    Reason,
)
from divulge.rules.explanation.term_values import Binding, UnknownValue, evaluate_term
from divulge.rules.explanation.value_labels import EQUALITY
from divulge.rules.language.formatter import format_literal, format_statement, format_term
from divulge.rules.language.program import Program
from divulge.rules.language.syntax import Atom, Rule
from divulge.rules.plugin_atoms import AnswerReason
from divulge.rules.tuning import MOST_EXPLAINED_FACTS
from divulge.work import InvalidInput, Problem

QUESTION = "the question"


def explain(
    facts: Facts,
    question: str | Conflict,
    *,
    show_values: bool = False,
    most_facts: int = MOST_EXPLAINED_FACTS,
) -> Explanation:
    """Say why a fact holds, or why it does not.

    Args:
        facts: what a program derived.
        question: the fact, as the language writes it; or a conflict of an equality rule: then all
            that led to its two values.
        show_values: whether values of records are shown; otherwise each has a number.
        most_facts: of so many facts the rule is looked at; others are named only.

    Raises:
        InvalidInput: if the question is no fact, or of no predicate that there is.

    >>> from divulge.rules import Program, evaluate
    >>> program = Program.parse('''
    ...     own("A", "B", 0.4). own("A", "C", 0.6). own("C", "B", 0.2).
    ...     % @name "{X} owns some of {Y}"
    ...     some(X, Y) :- own(X, Y, _).
    ... ''')
    >>> with evaluate(program) as facts:
    ...     print(explain(facts, 'some("A", "C")', show_values=True))
    1. some("A", "C"): A owns some of C
       by some(X, Y) :- own(X, Y, _).
       with X = A, Y = C
       since own("A", "C", 0.6) (given)
    """
    explainer = _Explainer(facts, most_facts)
    if isinstance(question, Conflict):
        return explainer.explain_conflict(question, show_values=show_values)
    return explainer.explain(_read_question(facts, question), show_values=show_values)


def explain_key(facts: Facts, key: FactKey) -> Explanation:
    """Say why a fact holds that is there as values."""
    return _Explainer(facts, MOST_EXPLAINED_FACTS).explain(key, show_values=False)


def _read_question(facts: Facts, question: str) -> FactKey:
    program = Program.parse(
        question if question.rstrip().endswith(".") else f"{question}.", QUESTION
    )
    statements = program.statements
    if len(statements) != 1 or not isinstance(statements[0], Rule) or statements[0].body:
        message = 'One fact can be asked for, such as rel("A", "C").'
        raise InvalidInput(QUESTION, [Problem("", message)])
    head = statements[0].head
    if head.predicate not in facts:
        message = f'There is no predicate "{head.predicate}".'
        raise InvalidInput(QUESTION, [Problem("", message, head.predicate, tuple(facts))])
    arity = len(facts.types[head.predicate])
    if len(head.arguments) != arity:
        message = f'"{head.predicate}" has {arity} terms, and the question {len(head.arguments)}.'
        raise InvalidInput(QUESTION, [Problem("", message)])
    try:
        return head.predicate, tuple(evaluate_term(term, {}) for term in head.arguments)
    except UnknownValue:
        message = "A fact has no variables. Texts stand in quotation marks."
        raise InvalidInput(QUESTION, [Problem("", message)]) from None


class _Explainer:
    """Facts still to be explained, in the order in which they are named."""

    def __init__(self, facts: Facts, most_facts: int) -> None:
        self._facts = facts
        self._most_facts = most_facts
        self._rules = {numbered.number: numbered for numbered in facts.checked.rules}
        self._answers: dict[FactKey, AnswerReason] = {}
        self._equalities = {numbered.number: numbered for numbered in facts.checked.equalities}
        self._derived = {numbered.rule.head.predicate for numbered in facts.checked.rules}

    def explain(self, question: FactKey, *, show_values: bool) -> Explanation:
        return Explanation(self._open_facts({}, [question], question), question, show_values)

    def explain_conflict(self, conflict: Conflict, *, show_values: bool) -> Explanation:
        """What led to two different values that a rule says are one."""
        question = (EQUALITY, (conflict.left, conflict.right))
        numbered = self._equalities[conflict.number]
        latest = FactRow((), None, sys.maxsize)
        first = ExplainedFact(
            key=question,
            source="rule",
            name=conflict.rule.name,
            rule=format_statement(conflict.rule),
            place=str(conflict.rule.place),
            bindings=conflict.binding,
            reasons=tuple(self._list_reasons(numbered, conflict.binding, latest)),
        )
        explained = self._open_facts({question: first}, first.list_facts(), question)
        return Explanation(explained, question, show_values, is_asked=False)

    def _open_facts(
        self, explained: dict[FactKey, ExplainedFact], first: Iterable[FactKey], question: FactKey
    ) -> dict[FactKey, ExplainedFact]:
        """Facts with all that they rest on, as far as there may be so many."""
        waiting = deque(first)
        opened = 0
        while waiting:
            key = waiting.popleft()
            if key in explained:
                continue
            if key in self._answers:
                said = self._answers[key]
                explained[key] = ExplainedFact(
                    key=key,
                    source="answer",
                    bindings=said.values,
                    sentences=tuple(said.sentences),
                )
                continue
            is_simple = key[0] not in self._derived and key != question
            if is_simple:
                explained[key] = ExplainedFact(key=key, source="data")
            elif opened == self._most_facts:
                explained[key] = ExplainedFact(key=key, source="unopened")
            else:
                opened += 1
                explained[key] = self._explain_fact(key)
                waiting += explained[key].list_facts()
        return explained

    def _explain_fact(self, key: FactKey) -> ExplainedFact:
        origin = self._find_row(key)
        if origin is None:
            failures = tuple(self._find_failures(key))
            return ExplainedFact(key=key, source="missing", failures=failures)
        numbered = None if origin.rule is None else self._rules.get(origin.rule)
        if numbered is None:
            return ExplainedFact(key=key, source="data" if origin.rule is None else "program")
        return self._explain_derived(key, numbered, origin)

    def _find_row(self, key: FactKey) -> FactRow | None:
        """The fact with the rule that first gave it, and its round."""
        predicate, values = key
        bound = {column: [value] for column, value in enumerate(values)}
        return next(iter(self._facts.find_rows(predicate, bound, limit=1)), None)

    def _explain_derived(
        self, key: FactKey, numbered: NumberedRule, origin: FactRow
    ) -> ExplainedFact:
        rule, plan = numbered.rule, numbered.plan
        binding: Mapping[str, Any] = {}
        aggregates: tuple[ExplainedAggregate, ...] = ()
        reasons: tuple[Reason, ...] = ()
        # Where only latest values are kept, what the fact once followed from may be gone: then it
        # is bound by all facts that there are.
        for before in (origin, None):
            limit = None if plan.aggregates else 1
            found = self._facts.find_bindings(numbered.number, key[1], before=before, limit=limit)
            if found and not plan.aggregates:
                binding = found[0]
                reasons = tuple(self._list_reasons(numbered, binding, origin))
                break
            group = choose_group(self._facts, numbered, found, key[1]) if found else None
            if group is not None:
                binding = group.shared
                aggregates = tuple(self._explain_aggregates(group, numbered, origin))
                break
        return ExplainedFact(
            key=key,
            source="rule",
            name=rule.name,
            rule=format_statement(rule),
            place=str(rule.place),
            bindings={name: value for name, value in binding.items() if not name.startswith("_ ")},
            aggregates=aggregates,
            reasons=reasons,
        )

    def _explain_aggregates(
        self, group: AggregateGroup, numbered: NumberedRule, origin: FactRow
    ) -> Iterator[ExplainedAggregate]:
        for aggregate, contributions in group.contributions.items():
            contributors = [
                Contributor(
                    contribution.key,
                    contribution.value,
                    tuple(self._list_reasons(numbered, contribution.binding, origin)),
                )
                for contribution in contributions
            ]
            value = group.values[aggregate]
            yield ExplainedAggregate(format_term(aggregate), value, tuple(contributors))

    def _list_reasons(
        self, numbered: NumberedRule | NumberedEquality, binding: Binding, origin: FactRow
    ) -> Iterator[Reason]:
        for step in numbered.plan.steps:
            if not isinstance(step.literal, Atom):
                continue
            pattern = _lay_atom(step.literal, binding)
            predicate = step.literal.predicate
            if step.act == "absent":
                yield Reason("absence", (predicate, pattern))
            elif step.act == "ask":
                yield self._build_answer(predicate, pattern)
            elif None not in pattern:
                yield Reason("fact", (predicate, pattern))
            else:
                found = self._facts.find_facts(predicate, pattern, before=origin, limit=1)
                yield from (Reason("fact", (predicate, values)) for values in found)

    def _build_answer(self, predicate: str, pattern: tuple[Any, ...]) -> Reason:
        """The answer of a plug-in, with what it says of it, if it says anything."""
        key = (f"#{predicate}", pattern)
        plugin = self._facts.checked.plugins.get(predicate)
        why = getattr(plugin.function, "why", None) if plugin is not None else None
        if plugin is None or why is None:
            return Reason("answer", key)
        said = why(*pattern[: len(plugin.inputs)])
        if isinstance(said, AnswerReason):
            self._answers[key] = said
            return Reason("answer", key, is_open=True)
        return Reason("answer", key, None if said is None else str(said))

    def _find_failures(self, key: FactKey) -> Iterator[FailedRule]:
        """For each rule of the predicate the first literal without a match."""
        for numbered in self._rules.values():
            if numbered.rule.head.predicate != key[0]:
                continue
            plan = numbered.plan
            matched = self._facts.count_matching_steps(numbered.number, key[1])
            if matched < 0:
                literal = format_statement(Rule(head=numbered.rule.head))[:-1]
            elif matched < len(plan.steps):
                literal = format_literal(plan.steps[matched].literal)
            else:
                literal = ", ".join(format_literal(step.literal) for step in plan.conditions)
            yield FailedRule(format_statement(numbered.rule), str(numbered.rule.place), literal)


def _lay_atom(atom: Atom, binding: Binding) -> tuple[Any, ...]:
    """The values of an atom under a binding; None where any value does."""
    values = []
    for argument in atom.arguments:
        try:
            values.append(evaluate_term(argument, binding))
        except UnknownValue:
            values.append(None)
    return tuple(values)
