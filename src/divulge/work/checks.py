"""One vocabulary of checks on arguments: what is wrong is said in words, before anything is done.

A check gives the problems of one argument, none if it is sound, so that a call gathers those of
all its arguments and raises them once. Predicates (`is_...`) are for what is wrong inside a list
or a table, where the message is the caller's.

>>> from divulge.work import Problems, checks
>>> problems = Problems("unicity")
>>> problems.extend("", checks.whole_number("sample", 2.5))
>>> problems.extend("", checks.share("confidence", 2, zero=False, one=False))
>>> problems.raise_any()
Traceback (most recent call last):
divulge.work.problems.InvalidInput: unicity has 2 problems:
  sample: 2.5 is not a whole number from 1.
  confidence: 2 is not a number between 0 and 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any

from divulge.work.problems import Problem

MOST_SHOWN = 40
"""So long may what was given be for a message to repeat it."""


def describe_value(given: Any) -> str:
    """What was given, as a message repeats it.

    >>> describe_value("four"), describe_value(2.5)
    ('"four"', '2.5')
    """
    text = f'"{given}"' if isinstance(given, str) else repr(given)
    if isinstance(given, Real):
        text = str(given)  # NumPy's numbers are repeated as numbers
    return text if len(text) <= MOST_SHOWN else f"{type(given).__name__} of another kind"


def list_repeated(given: Iterable[str]) -> list[str]:
    """What is given more than once, each once, in the order in which it is met first.

    >>> list_repeated(["sex", "age", "sex", "age", "zip"])
    ['sex', 'age']
    """
    return [word for word, times in Counter(given).items() if times > 1]


def is_number(given: object) -> bool:
    """Whether it is a real number; a truth value is none.

    >>> is_number(2.5), is_number("2.5"), is_number(True)
    (True, False, False)
    """
    return isinstance(given, Real) and not isinstance(given, bool)


def is_finite_number(given: object) -> bool:
    """Whether it is a real number that a float can hold, neither infinite nor undefined.

    >>> is_finite_number(2.5), is_finite_number(math.inf), is_finite_number(10**400)
    (True, False, False)
    """
    if not is_number(given):
        return False
    try:
        return math.isfinite(given)  # type: ignore[arg-type]  # a number, see above
    except OverflowError:
        return False


def is_whole_number(given: object, least: int = 1, *, floats: bool = False) -> bool:
    """Whether it counts something, from `least` on; with `floats`, 5.0 is 5.

    >>> is_whole_number(5), is_whole_number(0), is_whole_number(5.0)
    (True, False, False)
    >>> is_whole_number(5.0, floats=True), is_whole_number(5.5, floats=True)
    (True, False)
    """
    if not is_finite_number(given) or not (floats or isinstance(given, Integral)):
        return False
    number = float(given)  # type: ignore[arg-type]  # a number, see above
    return number.is_integer() and number >= least


def whole_number(
    place: str, given: Any, least: int = 1, *, floats: bool = False
) -> Iterator[Problem]:
    """What is wrong with a number that counts something."""
    if not is_whole_number(given, least, floats=floats):
        yield Problem(place, f"{describe_value(given)} is not a whole number from {least}.")


def finite_number(place: str, given: Any) -> Iterator[Problem]:
    """What is wrong with a number that may be any."""
    if not is_finite_number(given):
        yield Problem(place, "must be a finite number.")


def share(place: str, given: Any, *, zero: bool = True, one: bool = True) -> Iterator[Problem]:
    """What is wrong with a number from 0 to 1; `zero` and `one` say whether the ends belong to it.

    >>> [str(problem) for problem in share("alpha", 1.5)]
    ['alpha: 1.5 is not a share (0 to 1).']
    """
    is_inside = is_number(given) and (
        0 < given < 1 or (zero and given == 0) or (one and given == 1)
    )
    if not is_inside:
        kinds = {
            (True, True): "a share (0 to 1)",
            (False, True): "a share above 0 and up to 1",
            (True, False): "a share from 0 and below 1",
            (False, False): "a number between 0 and 1",
        }
        yield Problem(place, f"{describe_value(given)} is not {kinds[zero, one]}.")


def one_of(
    place: str, given: Any, allowed: Sequence[str], what: str = "one of them"
) -> Iterator[Problem]:
    """What is wrong with a word that should be one of some.

    >>> [str(problem) for problem in one_of("order", "wieght", ["weight", "risk"])]
    ['order: "wieght" is not one of them. Did you mean "weight"?']
    """
    if not isinstance(given, str):
        yield Problem(place, f"{describe_value(given)} is not {what}.", allowed=allowed)
    elif given not in allowed:
        yield Problem(
            place, f"{describe_value(given)} is not {what}.", value=given, allowed=allowed
        )


def names(place: str, given: Any) -> Iterator[Problem]:
    """What is wrong with a name or several."""
    is_name_list = isinstance(given, Iterable) and all(isinstance(name, str) for name in given)
    if not isinstance(given, str) and not is_name_list:
        yield Problem(
            place, f"{describe_value(given)} is not text; give a word or a list of words."
        )


def several(place: str, given: Any, what: str) -> Iterator[Problem]:
    """What is wrong with what should be a list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        yield Problem(place, f"{describe_value(given)} is not a list of {what}.")


def weights(place: str, values: Any, records: int) -> Iterator[Problem]:
    """What is wrong with an array of weights: one a record, none negative, and not all zero.

    >>> import numpy as np
    >>> [str(problem) for problem in weights("prior", np.array([1.0, -1.0]), 2)]
    ['prior: is negative in some records.']
    """
    import numpy as np

    if values.shape != (records,):
        yield Problem(place, f"has {values.size:,} numbers for {records:,} records.")
    if not np.isfinite(values).all():
        yield Problem(place, "contains something that is not a number.")
    elif values.size and values.min() < 0:
        yield Problem(place, "is negative in some records.")
    elif not values.any():
        yield Problem(place, "is zero in all records.")


def as_tuple(given: Any) -> tuple[Any, ...]:
    """One or several of what was given, as a tuple; what each is, others ask.

    >>> as_tuple(["a", "b"]), as_tuple("a")
    (('a', 'b'), ('a',))
    """
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def keep_iterator(given: Any) -> Any:
    """The same; what can be run through only once, as a tuple.

    >>> keep_iterator(word for word in ["day", "item"]), keep_iterator("day")
    (('day', 'item'), 'day')
    """
    return tuple(given) if isinstance(given, Iterator) else given
