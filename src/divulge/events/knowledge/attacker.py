"""An attacker: what they know of an event, of how many, how they came by it, how they guess.

Whoever draws what they know decides the result, so the weight is part of every attacker: a record
drawn at random, an event, a user and then one of the user's records, or users by a given prior.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from divulge.data.dictionary import as_names
from divulge.events.history.history import History
from divulge.events.knowledge.facets import Facet, parse_facet, problems_with_facets
from divulge.work import Problem, Problems, checks

Weight: TypeAlias = Literal["record", "event", "user"]
Guess: TypeAlias = Literal["uniform", "best"]

WEIGHTS = ("record", "event", "user")
"""What is drawn at random for the adversary to know."""

GUESSES = ("uniform", "best")
"""Any user who matches, or the likeliest of them (Bayes)."""


@dataclass(frozen=True, init=False)
class Attacker:
    """What an adversary knows of a user's events, and how they guess whose these are.

    Args:
        knows: what they know of an event, in words: `day`, `item`, `kinds`, `all items`, ...
            (see `divulge.events.knowledge.facets`); nothing if empty.
        points: of how many events (or items on a day, ...) they know it.
        weight: `record`, `event` (where an item is known: distinct pairs of event and item) or
            `user`; or a prior: a mapping from users to their chances.
        guess: `uniform` among the users who match, or the `best`.

    >>> Attacker(knows=["day", "item"]).weight
    'record'
    >>> Attacker(knows=["dya"])
    Traceback (most recent call last):
    divulge.work.problems.InvalidInput: attacker, knows: "dya" is not something to know of an
        event. Did you mean "day"?
    """

    knows: tuple[str, ...]
    points: int
    weight: Weight | Mapping[Any, float]
    guess: Guess

    def __init__(
        self,
        knows: str | Sequence[str] = (),
        points: int = 1,
        weight: Weight | Mapping[Any, float] = "record",
        guess: Guess = "uniform",
        attributes: Sequence[str] | None = None,
    ) -> None:
        knows = checks.keep_iterator(knows)
        not_words = list(checks.names("knows", knows))
        problems = Problems("attacker")
        problems.extend("", not_words)
        problems.extend("", problems_with_settings(points, weight, guess))
        facet_words = () if not_words else tuple(as_names(knows))
        settings = {"knows": facet_words, "points": points, "weight": weight, "guess": guess}
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        # Without data at hand, a word that stands for no known facet may be an attribute.
        problems.extend("", self._problems_with_words(attributes))
        problems.raise_any()

    def _problems_with_words(self, attributes: Sequence[str] | None) -> Iterator[Problem]:
        from divulge.work import nearest

        for words in self.knows:
            meaning = parse_facet(words, attributes or ())
            if isinstance(meaning, Problem):
                close = nearest(words, meaning.allowed) if meaning.allowed else words
                if attributes is not None or close is not None:
                    yield meaning
        for words in checks.list_repeated(self.knows):
            yield Problem("knows", f'names "{words}" more than once.')

    @property
    def drawn(self) -> str:
        """What is drawn at random, in a word."""
        return self.weight if isinstance(self.weight, str) else "prior"

    def facets(self, history: History) -> list[Facet]:
        """What they know, checked against a history."""
        problems = Problems("attacker")
        facets = []
        for words in self.knows:
            meaning = parse_facet(words, history.dataset.names)
            if isinstance(meaning, Problem):
                problems.extend("", [meaning])
            else:
                facets.append(meaning)
        problems.extend("", problems_with_facets(history, facets))
        if isinstance(self.weight, Mapping):
            problems.extend("", problems_with_prior(self.weight, history))
        problems.raise_any()
        return facets


def problems_with_settings(
    points: int, weight: str | Mapping[Any, float], guess: str
) -> Iterator[Problem]:
    """What is wrong with an attacker, whatever the data."""
    not_a_number = list(checks.whole_number("points", points))
    yield from not_a_number
    if not isinstance(weight, Mapping):
        yield from checks.one_of("weight", weight, WEIGHTS, "a weight")
    yield from checks.one_of("guess", guess, GUESSES, "a guess")
    several = not not_a_number and points > 1
    if several and weight == "event":
        yield Problem("weight", 'several points belong to a user: weigh by "user" or "record".')
    if several and guess == "best":
        yield Problem("guess", 'with several points the guess is "uniform" among who matches.')


def problems_with_prior(prior: Mapping[Any, float], history: History) -> Iterator[Problem]:
    """A prior says a chance, not negative, of every user."""
    lacking = sum(user not in prior for user in history.user_values())
    if lacking:
        yield Problem("weight", f"the prior lacks {lacking:,} of {history.users:,} users.")
    chances = [prior[user] for user in history.user_values() if user in prior]
    if not all(checks.is_finite_number(chance) and chance >= 0 for chance in chances):
        yield Problem("weight", "the prior's chances must be numbers from 0.")
    elif not lacking and not sum(chances) > 0:
        yield Problem("weight", "the prior's chances must not all be zero.")
