"""What a guess is worth to the adversary, as a release file or a command line can say it.

In Python a gain is a matrix, a function or one of `divulge.qif.gains`. In a file it is a table with
one of these: `guesses` (so many tries), `within` (a number that is near enough is right), `worth`
(what naming each value rightly brings, with `wrong`, what a wrong name costs).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data.ladders import text_of
from divulge.work import InvalidInput, Problem, checks

if TYPE_CHECKING:
    from divulge.qif.gain import Gain

NAMED = ("guesses", "within", "worth", "wrong")


def gain_for(given: Any, values: Sequence[Any] | int) -> Gain | None:
    """A gain ready for use; `values` are those of the secret, in the order of its codes.

    Where the secret is the record itself, `values` is how many records there are.

    Raises:
        InvalidInput: if it does not fit the secret.

    >>> gain_for({"within": 2}, [10, 11, 15]).matrix(3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from divulge.qif.vulnerability import gain_of

    if given is None:
        return None
    number = values if isinstance(values, int) else len(values)
    if isinstance(given, Mapping):
        problems = list(problems_with_gain(given))
        if problems:
            raise InvalidInput("attack", problems)
        given = _named(given, values)
    try:
        gain = gain_of(given, number)
        gain.best(_one_observation(number))
    except ValueError as error:
        # The texts of qif tell places and sizes, never a value of a record.
        raise InvalidInput("attack", [Problem("gain", str(error))]) from None
    return gain


def problems_with_gain(given: Any) -> Iterator[Problem]:
    """Whether a gain of a file says one thing that is known."""
    if not isinstance(given, Mapping):
        return
    for name in given:
        if name not in NAMED:
            yield Problem("gain", f'"{name}" is no gain.', value=str(name), allowed=NAMED)
    if len(set(given) - {"wrong"}) != 1 or ("wrong" in given and "worth" not in given):
        yield Problem("gain", "give one of guesses, within, worth (with wrong, if you like).")
    guesses = given.get("guesses", 1)
    if not checks.is_whole_number(guesses):
        yield Problem("gain", "guesses is a whole number from 1 on.")
    for name in ("within", "wrong"):
        amount = given.get(name, 0)
        if not _is_amount(amount):
            yield Problem("gain", f"{name} is a number, 0 or more.")
    worth = given.get("worth", {})
    if not isinstance(worth, Mapping) or not all(map(_is_amount, worth.values())):
        yield Problem("gain", "worth is a table: what naming each value rightly brings, 0 or more.")


def _is_amount(given: Any) -> bool:
    return checks.is_finite_number(given) and given >= 0


def _named(given: Mapping[str, Any], values: Sequence[Any] | int) -> Any:
    from divulge.qif import gains

    if "guesses" in given:
        return gains.one_of_k_guesses(given["guesses"])
    if isinstance(values, int):
        message = "within and worth are about values of an attribute; this attack seeks records."
        raise InvalidInput("attack", [Problem("gain", message)])
    if "within" in given:
        return _near_enough(values, float(given["within"]))
    places = {name: n for n, value in enumerate(values) for name in (str(value), text_of(value))}
    found = {name: places.get(text_of(name), places.get(str(name))) for name in given["worth"]}
    lacking = sum(place is None for place in found.values())
    if lacking:
        message = f"worth names {lacking} values that the secret does not have."
        raise InvalidInput("attack", [Problem("gain", message)])
    worth = {found[name]: float(amount) for name, amount in given["worth"].items()}
    return gains.worth_of_secrets(
        [worth.get(n, 0.0) for n in range(len(values))], float(given.get("wrong", 0))
    )


def _near_enough(values: Sequence[Any], at_most: float) -> Any:
    """Guesses x secrets: 1 where two numbers are near; a missing value is near to itself only."""
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        message = "within is about numbers; the secret holds something else."
        raise InvalidInput("attack", [Problem("gain", message)]) from None
    hair = 1e-12 * max(1.0, float(np.nanmax(np.abs(numbers), initial=0.0)))
    near = np.abs(numbers[:, None] - numbers[None, :]) <= at_most + hair
    return (near | np.eye(len(numbers), dtype=bool)).astype(np.float64)


def _one_observation(secrets: int) -> Any:
    from divulge.qif import Hyper

    return Hyper.from_counts(np.ones((secrets, 1))).weights
