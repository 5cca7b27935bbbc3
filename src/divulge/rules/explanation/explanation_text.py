"""An explanation in sentences, and as plain values for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.rules.explanation.value_labels import ValueLabels

if TYPE_CHECKING:
    from divulge.rules.explanation.explanation import (
        Contributor,
        ExplainedFact,
        Explanation,
        FactKey,
        Reason,
    )


def write_explanation(explanation: Explanation) -> str:
    """Sentences: each fact that a rule gave has a number, by which others name it."""
    return "\n".join(_ExplanationWriter(explanation).write_lines())


def list_content(explanation: Explanation) -> dict[str, Any]:
    """Plain values: each fact with a number, reasons by their facts' numbers."""
    return _ExplanationWriter(explanation).list_content()


def list_sentences(explanation: Explanation) -> dict[FactKey, list[str]]:
    """Each fact in words, and below what its aggregates come to."""
    writer = _ExplanationWriter(explanation)
    return {key: writer.list_lines(fact) for key, fact in explanation.facts.items()}


class _ExplanationWriter:
    """Labels of values and numbers of facts, the same throughout one explanation."""

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation
        asked = explanation.question[1] if explanation.is_asked else ()
        self._labels = ValueLabels(asked, show_values=explanation.show_values)
        facts = explanation.facts.items()
        opened = [key for key, fact in facts if fact.source in ("rule", "answer")]
        self._numbers = {key: number for number, key in enumerate(opened, start=1)}

    def write_lines(self) -> Iterator[str]:
        fact = self._explanation.fact
        if fact.source == "missing":
            yield from self._write_missing(fact)
        elif fact.source != "rule":
            yield _say(f"itself_{fact.source}", fact=self._show_fact(fact.key))
        for key in self._numbers:
            yield from self._write_fact(self._explanation.facts[key])

    def name_fact(self, fact: ExplainedFact) -> str:
        """A fact in words."""
        if fact.name is None:
            return self._show_fact(fact.key)
        return self._labels.fill_name(fact.name, fact.bindings)

    def list_lines(self, fact: ExplainedFact) -> list[str]:
        """A fact in words, and below what its aggregates come to."""
        if fact.source == "missing":
            return [line.strip() for line in self._write_missing(fact)]
        if fact.source == "answer":
            lines = [self._show_fact(fact.key)]
            if fact.bindings:
                lines.append(self._show_bindings(fact.bindings))
            return [*lines, *fact.sentences]
        totals = [f"{one.text} = {self._labels.show(one.value)}" for one in fact.aggregates]
        return [self.name_fact(fact), *totals]

    def list_content(self) -> dict[str, Any]:
        facts = self._explanation.facts
        numbers = {key: number for number, key in enumerate(facts, start=1)}
        return {
            "fact": self._show_fact(self._explanation.question),
            "holds": self._explanation.is_true,
            "values_shown": self._explanation.show_values,
            "facts": [self._list_fact(fact, numbers) for fact in facts.values()],
        }

    def _write_missing(self, fact: ExplainedFact) -> Iterator[str]:
        yield _say("missing", fact=self._show_fact(fact.key))
        if not fact.failures:
            yield "   " + _say("missing_no_rule")
        for failure in fact.failures:
            rule = _join_lines(failure.rule)
            yield "   " + _say("failure", rule=rule, literal=failure.literal)

    def _write_fact(self, fact: ExplainedFact) -> Iterator[str]:
        words = f": {self.name_fact(fact)}" if fact.name is not None else ""
        yield f"{self._numbers[fact.key]}. {self._show_fact(fact.key)}{words}"
        if fact.rule is not None:
            yield "   " + _say("rule", rule=_join_lines(fact.rule))
        if fact.bindings:
            yield "   " + _say("bindings", bindings=self._show_bindings(fact.bindings))
        if fact.reasons:
            yield "   " + _say("reasons", reasons=self._show_reasons(fact.reasons))
        for sentence in fact.sentences:
            yield f"   {sentence}"
        for aggregate in fact.aggregates:
            value, count = self._labels.show(aggregate.value), len(aggregate.contributors)
            yield "   " + _say("aggregate", aggregate=aggregate.text, value=value, count=count)
            for contributor in aggregate.contributors:
                yield "     " + self._show_contributor(contributor)

    def _show_contributor(self, contributor: Contributor) -> str:
        parts = {"reasons": self._show_reasons(contributor.reasons)}
        value = 1 if contributor.value is None else contributor.value  # mcount: each counts once
        parts["value"] = str(value) if contributor.value is None else self._labels.show(value)
        if not contributor.key:
            return _say("keyless", **parts)
        parts["who"] = ", ".join(map(self._labels.show, contributor.key))
        return _say("contributor", **parts)

    def _show_bindings(self, bindings: Mapping[str, Any]) -> str:
        return ", ".join(f"{name} = {self._labels.show(value)}" for name, value in bindings.items())

    def _show_reasons(self, reasons: Sequence[Reason]) -> str:
        return ", ".join(map(self._show_reason, reasons))

    def _show_reason(self, reason: Reason) -> str:
        fact = self._show_fact(reason.fact)
        if reason.kind == "absence":
            return _say("absence", fact=fact)
        if reason.kind == "answer" and not reason.is_open:
            if reason.words is None or not self._explanation.show_values:
                return _say("answer", fact=fact)
            return _say("answer_words", fact=fact, words=reason.words)
        if reason.fact in self._numbers:
            return _say("numbered", fact=fact, number=self._numbers[reason.fact])
        return _say(self._explanation.facts[reason.fact].source, fact=fact)

    def _show_fact(self, key: FactKey) -> str:
        return self._labels.show_fact(*key)

    def _list_fact(self, fact: ExplainedFact, numbers: Mapping[FactKey, int]) -> dict[str, Any]:
        content: dict[str, Any] = {
            "number": numbers[fact.key],
            "fact": self._show_fact(fact.key),
            "source": fact.source,
        }
        if fact.source == "rule":
            content |= {
                "name": self.name_fact(fact),
                "rule": _join_lines(fact.rule or ""),
                "place": fact.place,
                "bindings": {
                    name: self._labels.show(value) for name, value in fact.bindings.items()
                },
                "reasons": self._list_reasons(fact.reasons, numbers),
                "aggregates": [
                    {
                        "aggregate": aggregate.text,
                        "value": self._labels.show(aggregate.value),
                        "contributors": [
                            {
                                "contributor": list(map(self._labels.show, contributor.key)),
                                "value": "1"
                                if contributor.value is None
                                else self._labels.show(contributor.value),
                                "reasons": self._list_reasons(contributor.reasons, numbers),
                            }
                            for contributor in aggregate.contributors
                        ],
                    }
                    for aggregate in fact.aggregates
                ],
            }
        if fact.source == "answer":
            content["values"] = {name: self._labels.show(v) for name, v in fact.bindings.items()}
            content["sentences"] = list(fact.sentences)
        if fact.source == "missing":
            content["failures"] = [
                {"rule": _join_lines(one.rule), "place": one.place, "no_match_for": one.literal}
                for one in fact.failures
            ]
        return content

    def _list_reasons(
        self, reasons: Sequence[Reason], numbers: Mapping[FactKey, int]
    ) -> list[dict[str, Any]]:
        return [
            {"kind": reason.kind, "number": numbers[reason.fact]}
            if reason.kind == "fact" or reason.is_open
            else {"kind": reason.kind, "fact": self._show_fact(reason.fact)}
            for reason in reasons
        ]


def _join_lines(rule: str) -> str:
    return " ".join(rule.split())


def _say(key: str, **values: Any) -> str:
    from divulge.assessment import Sentence

    return str(Sentence("divulge.rules", f"explanation.{key}", values))
