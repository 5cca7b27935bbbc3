"""What a guess is worth to the adversary, as a release file or a command line can say it.

In Python a gain is a matrix, a function or one of `divulge.qif.gains`. In a file it is a table with
one of these: `guesses` (so many tries), `within` (a number that is near enough is right), `worth`
(what naming each value rightly brings, with `wrong`, what a wrong name costs).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data.value_texts import format_value
from divulge.work import InvalidInput, Problem, checks, format_quantity

if TYPE_CHECKING:
    from divulge.qif.gain import Gain

GAIN_KEYS = ("guesses", "within", "worth", "wrong")


def build_gain(raw_gain: Any, values: Sequence[Any] | int) -> Gain | None:
    """A gain ready for use; `values` are those of the secret, in the order of its codes.

    Where the secret is the record itself, `values` is how many records there are.

    Raises:
        InvalidInput: if it does not fit the secret.

    >>> build_gain({"within": 2}, [10, 11, 15]).matrix(3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from divulge.qif.vulnerability import read_gain

    if raw_gain is None:
        return None
    number = values if isinstance(values, int) else len(values)
    if isinstance(raw_gain, Mapping):
        problems = list(problems_with_gain(raw_gain))
        if problems:
            raise InvalidInput("attack", problems)
        raw_gain = _parse_gain_table(raw_gain, values)
    try:
        gain = read_gain(raw_gain, number)
        gain.best(_build_single_observation(number))
    except ValueError as error:
        # The texts of qif tell places and sizes, never a value of a record.
        raise InvalidInput("attack", [Problem("gain", str(error))]) from None
    return gain


def problems_with_gain(gain: Any) -> Iterator[Problem]:
    """Whether a gain of a file says one thing that is known."""
    if not isinstance(gain, Mapping):
        return
    for name in gain:
        if name not in GAIN_KEYS:
            yield Problem("gain", f'"{name}" is no gain.', value=str(name), allowed=GAIN_KEYS)
    if len(set(gain) - {"wrong"}) != 1 or ("wrong" in gain and "worth" not in gain):
        yield Problem("gain", "give one of guesses, within, worth (with wrong, if you like).")
    guesses = gain.get("guesses", 1)
    if not checks.is_whole_number(guesses):
        yield Problem("gain", "guesses is a whole number from 1 on.")
    for name in ("within", "wrong"):
        amount = gain.get(name, 0)
        if not _is_amount(amount):
            yield Problem("gain", f"{name} is a number, 0 or more.")
    worth = gain.get("worth", {})
    if not isinstance(worth, Mapping) or not all(map(_is_amount, worth.values())):
        yield Problem("gain", "worth is a table: what naming each value rightly brings, 0 or more.")


def _is_amount(value: Any) -> bool:
    return checks.is_finite_number(value) and value >= 0


def _parse_gain_table(table: Mapping[str, Any], values: Sequence[Any] | int) -> Any:
    from divulge.qif import gains

    if "guesses" in table:
        return gains.one_of_k_guesses(table["guesses"])
    if isinstance(values, int):
        message = "within and worth are about values of an attribute; this attack seeks records."
        raise InvalidInput("attack", [Problem("gain", message)])
    if "within" in table:
        return _build_tolerance_matrix(values, float(table["within"]))
    code_of_name = _find_values(table["worth"], values)
    lacking = sum(place is None for place in code_of_name.values())
    if lacking:
        values = format_quantity(lacking, "value", "values")
        message = f"worth names {values} that the secret does not have."
        raise InvalidInput("attack", [Problem("gain", message)])
    worth = {code_of_name[name]: float(amount) for name, amount in table["worth"].items()}
    return gains.worth_of_secrets(
        [worth.get(n, 0.0) for n in range(len(values))], float(table.get("wrong", 0))
    )


def _find_values(names: Iterable[Any], values: Sequence[Any]) -> dict[Any, int | None]:
    """The code of each value that is named; a text None is the missing value only if no other."""
    places = {
        name: n
        for n, value in sorted(enumerate(values), key=lambda each: each[1] is not None)
        for name in (str(value), format_value(value))
    }
    codes = {name: places.get(format_value(name), places.get(str(name))) for name in names}
    if None in codes:
        codes[None] = next((n for n, value in enumerate(values) if value is None), None)
    return codes


def _build_tolerance_matrix(values: Sequence[Any], at_most: float) -> Any:
    """Guesses x secrets: 1 where two numbers are near; a missing value is near to itself only."""
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        message = "within is about numbers; the secret contains something else."
        raise InvalidInput("attack", [Problem("gain", message)]) from None
    tolerance = 1e-12 * max(1.0, float(np.nanmax(np.abs(numbers), initial=0.0)))
    near = np.abs(numbers[:, None] - numbers[None, :]) <= at_most + tolerance
    return (near | np.eye(len(numbers), dtype=bool)).astype(np.float64)


def _build_single_observation(secrets: int) -> Any:
    from divulge.qif import Hyper

    return Hyper.from_counts(np.ones((secrets, 1))).weights
