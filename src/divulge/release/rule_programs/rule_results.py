"""What the rules of a release decide: roles, hierarchies, links, directives; and its conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from divulge.assessment import Sentence
from divulge.assessment.sentence import format_number
from divulge.data import Dataset, Hierarchy
from divulge.protection import Directives
from divulge.release.rule_programs.rule_program import DEMANDS


@dataclass(frozen=True, kw_only=True)
class RuleResults:
    """What follows from the rules of a release, by dataset where it is of one."""

    counts: Mapping[str, int]
    """By predicate that rules derive, how many facts there are."""
    rules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By predicate, what the rules that derive it call themselves."""
    pairs: Mapping[str, Dataset]
    """By predicate that links may name, its facts as a dataset of two columns."""
    roles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Of attributes that the release file gives none."""
    hierarchies: Mapping[str, Mapping[str, Hierarchy]] = field(default_factory=dict)
    directives: Mapping[str, Directives] = field(default_factory=dict)
    conflicts: Sequence[Sentence] = ()
    """What a person must decide before the release can be judged."""
    derivations: Sequence[str] = ()
    """Of conflicts, what led to either side; values of records are hidden."""
    remarks: Sequence[Sentence] = ()
    """What rules say that was not followed, and why."""
    choices: Sequence[Sentence] = ()
    """What rules decide that every reader of a result should know."""
    least_values: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """By dataset and attribute that must be coarser, the values that it may show."""
    besides: Mapping[str, int] = field(default_factory=dict)
    """By predicate, what followed besides from what protection had left."""
    unrestricted: int = 0
    """Records of which rules no longer say, of what protection has left, that little is known."""

    def list_sentences(self) -> Iterator[Sentence]:
        """What follows from the rules, and what of it was not followed."""
        if self.counts:
            yield _tell_facts("rules.derived", self.counts)
        yield from self.choices
        changes = sum(self.besides.get(name, 0) for name in DEMANDS)
        if changes:
            yield Sentence("divulge.release", "rules.again", {"count": changes})
        others = {name: count for name, count in self.besides.items() if name not in DEMANDS}
        if others:
            yield _tell_facts("rules.derived_again", others)
        if self.unrestricted:
            values = {"count": self.unrestricted}
            yield Sentence("divulge.release", "rules.unrestricted", values)
        yield from self.remarks

    def list_derivations(self) -> Iterator[Sentence]:
        """What led to either side of conflicts, in several lines each."""
        for text in self.derivations:
            yield Sentence("divulge.release", "rules.derivation", {"text": text})

    def rows(self) -> list[tuple[str, int, str]]:
        """For tables: each predicate, how many facts it has, and the rules that give them."""
        return [
            (name, count, "; ".join(self.rules.get(name, ())))
            for name, count in self.counts.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """What follows, as plain values without a value of a record."""
        return {
            "facts": dict(self.counts),
            "facts_besides": dict(self.besides),
            "roles": {name: dict(roles) for name, roles in self.roles.items()},
            "hierarchies": {name: list(found) for name, found in self.hierarchies.items()},
            "choices": [str(choice) for choice in self.choices],
            "conflicts": [str(conflict) for conflict in self.conflicts],
            "derivations": list(self.derivations),
            "remarks": [str(remark) for remark in self.remarks],
        }


def _tell_facts(key: str, counts: Mapping[str, int]) -> Sentence:
    found = [f"{format_number(count)} {name}" for name, count in counts.items()]
    return Sentence("divulge.release", key, {"facts": found})
