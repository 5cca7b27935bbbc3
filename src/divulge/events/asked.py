"""What may be asked for: arguments of the wrong kind are told in words, before anything is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.events.history import History

MOST_SHOWN = 40


def shown(given: Any) -> str:
    """What was given, as a message repeats it.

    >>> shown("four"), shown(2.5)
    ('"four"', '2.5')
    """
    text = f'"{given}"' if isinstance(given, str) else repr(given)
    return text if len(text) <= MOST_SHOWN else f"{type(given).__name__} of another kind"


def whole_number(place: str, given: Any, least: int = 1) -> Iterator[Problem]:
    """What is wrong with a number that counts something."""
    if isinstance(given, bool) or not isinstance(given, Integral) or int(given) < least:
        yield Problem(place, f"{shown(given)} is not a whole number from {least}.")


def share(place: str, given: Any) -> Iterator[Problem]:
    """What is wrong with a number between 0 and 1, both left out."""
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) < 1:
        yield Problem(place, f"{shown(given)} is not a number between 0 and 1.")


def one_of(place: str, given: Any, allowed: Sequence[str], what: str) -> Iterator[Problem]:
    """What is wrong with a word that should be one of some."""
    if not isinstance(given, str):
        yield Problem(place, f"{shown(given)} is not {what}.", allowed=allowed)
    elif given not in allowed:
        yield Problem(place, f"{shown(given)} is not {what}.", value=given, allowed=allowed)


def words(place: str, given: Any) -> Iterator[Problem]:
    """What is wrong with a word or several."""
    several = isinstance(given, Iterable) and all(isinstance(word, str) for word in given)
    if not isinstance(given, str) and not several:
        yield Problem(place, f"{shown(given)} is not text; give a word or a list of words.")


def kept(given: Any) -> Any:
    """The same; what can be run through only once, as a tuple.

    >>> kept(word for word in ["day", "item"]), kept("day")
    (('day', 'item'), 'day')
    """
    return tuple(given) if isinstance(given, Iterator) else given


def several(place: str, given: Any, what: str) -> Iterator[Problem]:
    """What is wrong with what should be a list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        yield Problem(place, f"{shown(given)} is not a list of {what}.")


def a_history(place: str, given: Any) -> Iterator[Problem]:
    """What is wrong with what should be a history."""
    from divulge.events.history import History

    if not isinstance(given, History):
        kind = type(given).__name__
        hint = "History(dataset, user=..., time=..., item=...)"
        yield Problem(place, f"takes a history, not a {kind}; give {hint}.")


def require_history(subject: str, given: History) -> None:
    """Refuse what is no history, before anything is asked of it."""
    problems = list(a_history("history", given))
    if problems:
        raise InvalidInput(subject, problems)
