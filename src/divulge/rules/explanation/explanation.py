"""An explanation: the facts that a fact rests on, each once, down to the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

FactKey: TypeAlias = tuple[str, tuple[Any, ...]]
"""A fact: its predicate and its values."""

Source: TypeAlias = Literal["rule", "data", "program", "answer", "unopened", "missing"]
"""Where a fact comes from: a rule gave it, it was handed in or read, it stands in the program, a
plug-in answered it and says why; its rule was not looked at, since the explanation has grown too
long; it does not hold."""


@dataclass(frozen=True)
class Reason:
    """What a rule needed: a fact, the absence of one, or the answer of a plug-in.

    Where a fact is absent, values may be left open (None): no fact has the others. `words` is what
    a plug-in says of its answer.
    """

    kind: Literal["fact", "absence", "answer"]
    fact: FactKey
    words: str | None = None
    is_open: bool = False
    """Whether a plug-in says of its answer what it rests on."""


@dataclass(frozen=True)
class Contributor:
    """One contributor of an aggregate: its value, and what it rests on."""

    key: tuple[Any, ...]
    value: Any
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class ExplainedAggregate:
    """An aggregate of a rule: all its contributors, and what they come to."""

    text: str
    value: Any
    contributors: tuple[Contributor, ...]


@dataclass(frozen=True)
class FailedRule:
    """A rule that could have given a fact, and the first of its literals without a match."""

    rule: str
    place: str
    literal: str


@dataclass(frozen=True, kw_only=True)
class ExplainedFact:
    """A fact, and the rule, bindings and reasons that it follows from."""

    key: FactKey
    source: Source
    name: str | None = None
    """The rule's name in words, with holes for values."""
    rule: str | None = None
    """The rule as it is written."""
    place: str | None = None
    """Where the rule stands."""
    bindings: Mapping[str, Any] = field(default_factory=dict)
    """The variables of the rule; of a rule with aggregates those that all contributors share."""
    aggregates: tuple[ExplainedAggregate, ...] = ()
    reasons: tuple[Reason, ...] = ()
    sentences: tuple[str, ...] = ()
    """What a plug-in says of its answer."""
    failures: tuple[FailedRule, ...] = ()
    """Of a fact that does not hold: why each rule did not give it."""

    def list_facts(self) -> list[FactKey]:
        """The facts and opened answers that it rests on, each once, in the order of the text."""
        parts = [self.reasons]
        parts += [one.reasons for group in self.aggregates for one in group.contributors]
        named = [one for reasons in parts for one in reasons if one.kind == "fact" or one.is_open]
        return list(dict.fromkeys(one.fact for one in named))


@dataclass(frozen=True)
class Explanation:
    """Why a fact holds, or why it does not; values stay hidden unless they are asked for.

    `facts` are in the order of reading: the fact in question first, each one before what it rests
    on. The values of the question are shown if somebody has written them (`is_asked`).
    """

    facts: Mapping[FactKey, ExplainedFact]
    question: FactKey
    show_values: bool = False
    is_asked: bool = True

    @property
    def fact(self) -> ExplainedFact:
        """The fact in question."""
        return self.facts[self.question]

    @property
    def is_true(self) -> bool:
        """Whether the fact holds."""
        return self.fact.source != "missing"

    def list_unopened(self) -> Sequence[FactKey]:
        """Facts that were not looked into any more; ask for them one by one."""
        return [key for key, fact in self.facts.items() if fact.source == "unopened"]

    def __str__(self) -> str:
        from divulge.rules.explanation.explanation_text import write_explanation

        return write_explanation(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: facts have numbers, by which reasons name them."""
        from divulge.rules.explanation.explanation_text import list_content

        return list_content(self)

    def to_svg(self) -> str:
        """A drawing: what a fact rests on stands below it, further to the right."""
        from divulge.rules.explanation.outline import draw_outline

        return draw_outline(self)
