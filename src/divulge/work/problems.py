"""Errors that teach: what was wrong, where, what is allowed, the nearest match; all at once.

A message may carry names that the user wrote (files, attributes, settings), never a value out of
a record: messages end up in logs and tickets, and the tool must not leak.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MOST_ALLOWED_SHOWN = 12

HAS_PROBLEMS = "{0} has {1} problems:"
NEAREST_WORD = "Did you mean {0}?"
ALLOWED_WORDS = "Allowed: {0}."
SOME_ALLOWED_WORDS = "Allowed: {0} and {1} more."


class UnconfirmedName(str):
    """A name of an attribute that may be a value of a record: no message lists it.

    It is a text like any other, so it stays what it is in lists and as a key.

    >>> UnconfirmedName("Smith") == "Smith"
    True
    """

    __slots__ = ()


class DivulgeError(Exception):
    """Something that the user can put right; its text says what and where."""


class Interruption(DivulgeError):
    """The run ended before its answer: nothing follows about what it was asked.

    Who asks whether something can be done, and takes an error for a no, lets these pass.
    """


class InvalidInput(DivulgeError):
    """One or more problems in what the user gave, gathered and raised once."""

    def __init__(self, subject: str, problems: Sequence[Problem]) -> None:
        self.subject = subject
        self.problems = tuple(problems)
        texts = [problem.text for problem in self.problems]
        heading = HAS_PROBLEMS.format(subject, len(texts))
        places = [problem.place for problem in self.problems]
        super().__init__(self.format_message(subject, texts, heading, places))

    def format_message(
        self, subject: str, texts: Sequence[str], heading: str, places: Sequence[str]
    ) -> str:
        """Subject and place before each text: on one line, or below a heading if they are more."""
        if len(texts) == 1:
            return f"{', '.join(filter(None, [subject, *places]))}: {texts[0]}"
        pairs = zip(places, texts, strict=True)
        lines = [f"  {place}: {text}" if place else f"  {text}" for place, text in pairs]
        return "\n".join([heading, *lines])


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: its place, what is the matter, and what would be right.

    >>> print(Problem("model", '"CRX" is not an attack model.', value="CRX", allowed=["CRS"]))
    model: "CRX" is not an attack model. Did you mean "CRS"?
    """

    place: str
    message: str
    value: str | None = None
    allowed: Sequence[str] = field(default=())

    @property
    def text(self) -> str:
        """The message with its hint, without the place."""
        return " ".join(filter(None, [self.message, self.hint]))

    @property
    def hint(self) -> str:
        """The nearest allowed word, or the first of them; empty if anything is allowed."""
        allowed = [word for word in self.allowed if not isinstance(word, UnconfirmedName)]
        if not allowed:
            return ""
        match = nearest(self.value, allowed) if self.value is not None else None
        if match is not None:
            return NEAREST_WORD.format(quoted([match]))
        first_words = quoted(allowed[:MOST_ALLOWED_SHOWN])
        more = len(allowed) - MOST_ALLOWED_SHOWN
        template = SOME_ALLOWED_WORDS if more > 0 else ALLOWED_WORDS
        return template.format(first_words, more)

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


def format_quantity(count: int, one: str, other: str) -> str:
    """A number of things in a message, with the form of words that it wants.

    >>> format_quantity(1, "row has", "rows have"), format_quantity(1200, "row has", "rows have")
    ('1 row has', '1,200 rows have')
    """
    return f"{count:,} {one if count == 1 else other}"


class Problems:
    """Gathers problems of one subject (a file, a call) and raises them once.

    >>> problems = Problems("release.toml")
    >>> problems.add("limit 1", "needs at_most or at_least.")
    >>> problems.raise_any()
    Traceback (most recent call last):
    divulge.work.problems.InvalidInput: release.toml, limit 1: needs at_most or at_least.
    """

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self._problems: list[Problem] = []

    def add(
        self, place: str, message: str, value: str | None = None, allowed: Iterable[str] = ()
    ) -> None:
        """Note a problem; `value` and `allowed` give the hint."""
        self._problems.append(Problem(place, message, value, tuple(allowed)))

    def extend(self, place: str, problems: Iterable[Problem]) -> None:
        """Take over problems found by a part, under the place where they stand here."""
        for problem in problems:
            where = ", ".join(filter(None, [place, problem.place]))
            self._problems.append(Problem(where, problem.message, problem.value, problem.allowed))

    def raise_any(self) -> None:
        """Raise all problems as one error, if there are any."""
        if self._problems:
            raise InvalidInput(self.subject, self._problems)

    def __bool__(self) -> bool:
        return bool(self._problems)

    def __len__(self) -> int:
        return len(self._problems)


def nearest(value: str, allowed: Iterable[str]) -> str | None:
    """The allowed word that the given one most likely meant, or None.

    >>> nearest("agee", ["age", "sex"]), nearest("quasi", ["weight", "quasi_identifier"])
    ('age', 'quasi_identifier')
    """
    by_lower = {word.lower(): word for word in reversed(list(allowed))}
    completions = [word for word in by_lower if value and word.startswith(value.lower())]
    if len(completions) == 1:
        return by_lower[completions[0]]
    matches = difflib.get_close_matches(value.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[matches[0]] if matches else None


def quoted(words: Iterable[str]) -> str:
    """Words in quotation marks, with commas.

    >>> quoted(["age", "sex"])
    '"age", "sex"'
    """
    return ", ".join(f'"{word}"' for word in words)
