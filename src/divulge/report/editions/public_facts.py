"""What everybody may be told of a result: who was thought of, which rules hold, what was done.

No figure that was found is in it, neither of the original data nor of what adversaries achieve: two
originals that are protected into the same files have the same facts. Rules are named, and their
parameters are told only by choice. Names that the owner gave to adversaries are left out, since
they may name somebody; so are attributes that are not published.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from divulge.assessment import Adversary, Outcome, find_attack
from divulge.release import ProtectedRelease, Verdict
from divulge.release.output.methods_note import list_methods
from divulge.release.output.output_files import list_published_files
from divulge.report.page_parts import name_goal, render_phrase

if TYPE_CHECKING:
    from divulge.release.publication import Publication

FEWEST_TOLD = 100
"""Fewer records than that are not told apart."""
DIGITS_TOLD = 2
"""Of the number of records that are published."""


@dataclass(frozen=True, kw_only=True)
class PublicAdversary:
    """Somebody who was thought of: what they are after, and what they know of that is published."""

    number: int
    goal: str
    attack: str
    knows: tuple[str, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PublicLimit:
    """A limit by its name, of whom it is, and whether it holds."""

    measure: str
    subject: str
    status: str
    allowed: str | None
    """What is allowed, where parameters are told."""


@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """All that an edition for people outside says of a result."""

    title: str
    publisher: str
    description: str
    status: str
    datasets: tuple[tuple[str, str], ...]
    """Those that are published as records, and about how many there are."""
    adversaries: tuple[PublicAdversary, ...]
    limits: tuple[PublicLimit, ...]
    methods: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """By files that go out together, what kinds of changes were made."""
    has_parameters: bool

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "title": self.title,
            "publisher": self.publisher,
            "description": self.description,
            "status": self.status,
            "datasets": [{"name": name, "records": said} for name, said in self.datasets],
            "adversaries": [
                {
                    "number": each.number,
                    "attack": each.attack,
                    "goal": each.goal,
                    "knows": list(each.knows),
                    "rules": list(each.rules),
                }
                for each in self.adversaries
            ],
            "limits": [
                {
                    "measure": each.measure,
                    "subject": each.subject,
                    "status": each.status,
                    **({} if each.allowed is None else {"allowed": each.allowed}),
                }
                for each in self.limits
            ],
            "methods": [
                {"files": list(files), "changes": list(changes)} for files, changes in self.methods
            ],
        }


def list_public_facts(
    found: Verdict | ProtectedRelease, *, tell_parameters: bool = False
) -> PublicFacts:
    """What everybody may be told of a verdict or of a protected release."""
    verdict = found.after if isinstance(found, ProtectedRelease) else found
    release = verdict.release
    numbers = {each.name: number for number, each in enumerate(release.adversaries, start=1)}
    return PublicFacts(
        title=release.name,
        publisher=release.publisher,
        description=release.description,
        status=verdict.status,
        datasets=tuple(
            (name, round_records(verdict.datasets[name].rows)) for name in verdict.publications
        ),
        adversaries=tuple(
            _describe_adversary(verdict, each, numbers[each.name], tell_parameters)
            for each in release.adversaries
        ),
        limits=tuple(_describe_limit(each, numbers, tell_parameters) for each in verdict.outcomes),
        methods=tuple(_list_methods(found)),
        has_parameters=tell_parameters,
    )


def round_records(count: int) -> str:
    """About how many records there are, in words.

    >>> round_records(12_345), round_records(7)
    ('about 12,000', 'fewer than 100')
    """
    if count < FEWEST_TOLD:
        return render_phrase("edition.fewer", count=FEWEST_TOLD)
    step = 10 ** (len(str(count)) - DIGITS_TOLD)
    return render_phrase("edition.about", count=round(count / step) * step)


def _describe_adversary(
    verdict: Verdict, adversary: Adversary, number: int, tell_parameters: bool
) -> PublicAdversary:
    published = _list_published_names(verdict, adversary)
    found = next((a for a in verdict.assessments if a.adversary == adversary.name), None)
    model = "" if found is None else found.model
    seeks = () if found is None else [name for name in found.seeks if name in published]
    knows = () if found is None else [name for name in found.knows if name in published]
    rules = find_attack(adversary).public_rules(adversary.settings)
    return PublicAdversary(
        number=number,
        goal=name_goal(adversary.attack, model if seeks or not _has_secret(model) else "", seeks),
        attack=f"{adversary.attack} {model}".strip(),
        knows=tuple(knows),
        rules=tuple(str(rule.with_parameters if tell_parameters else rule.name) for rule in rules),
    )


def _has_secret(model: str) -> bool:
    """Whether a model of attacks on records seeks an attribute, which the goal would name."""
    return len(model) == 3 and model[1] == "A"


def _list_published_names(verdict: Verdict, adversary: Adversary) -> Collection[str]:
    """Attributes that everybody sees, of the datasets that an adversary sees."""
    attack = find_attack(adversary)
    if attack.publishes_table():
        return set(attack.tabulated_columns(adversary.settings))
    seen: Sequence[Publication] = [
        verdict.publications[name] for name in adversary.datasets if name in verdict.publications
    ]
    return {name for publication in seen for name in publication.published}


def _describe_limit(
    outcome: Outcome, numbers: dict[str, int], tell_parameters: bool
) -> PublicLimit:
    is_on_adversary = outcome.limit.of_assessment
    subject = (
        render_phrase("edition.adversary", number=numbers[outcome.subject])
        if is_on_adversary
        else render_phrase("edition.dataset", dataset=outcome.subject)
    )
    by_count = outcome.by_count_only and outcome.held
    return PublicLimit(
        measure=str(outcome.limit.title),
        subject=subject,
        status="by count" if by_count else outcome.status,
        allowed=outcome.allowed if tell_parameters else None,
    )


def _list_methods(
    found: Verdict | ProtectedRelease,
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What the note on methods says, which goes out with the data."""
    if isinstance(found, ProtectedRelease) and found.passed:
        for files, changes in list_methods(found, *list_published_files(found)):
            yield tuple(files), tuple(changes)
