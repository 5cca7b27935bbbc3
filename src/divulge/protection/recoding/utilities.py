"""Utilities that a search of levels maximises: loss of cells or classes, or a registered function.

Functions of other packages go by the name under which an entry point of `divulge.utilities` lists
them, so that a release file and the command line can ask for them too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeGuard, cast, get_args

from divulge.assessment.registry import utilities
from divulge.data import Dataset
from divulge.protection.recoding.cell_costs import CELL_UTILITIES, CellUtility
from divulge.work import InvalidInput, Problem, checks
from divulge.work.arrays import Ints

ClassUtility: TypeAlias = Literal["discernibility", "class_size"]
CLASS_UTILITIES: tuple[ClassUtility, ...] = get_args(ClassUtility)

UtilityFunction: TypeAlias = Callable[[Dataset, Dataset, Ints], float]
"""From the original, the release and the places of the released records; smaller is better."""

RecodingUtility: TypeAlias = CellUtility | ClassUtility | UtilityFunction


def find_utility(utility: RecodingUtility | str) -> RecodingUtility:
    """A utility by its name, those of other packages included; a function is itself.

    Raises:
        InvalidInput: if there is no utility of this name.

    >>> find_utility("granularity")
    'granularity'
    """
    if callable(utility):
        return utility
    problems = find_utility_name_problems(utility)
    if problems:
        raise InvalidInput("utility", problems)
    if utility in (*CELL_UTILITIES, *CLASS_UTILITIES):
        return cast(RecodingUtility, utility)
    return utilities()[utility]


def find_utility_name_problems(utility: str) -> list[Problem]:
    """What is wrong with the name of a utility."""
    return list(
        checks.one_of("utility", utility, (*CELL_UTILITIES, *CLASS_UTILITIES, *utilities()))
    )


def find_utility_problems(utility: RecodingUtility, *, is_of_levels: bool) -> list[Problem]:
    """Only levels of whole columns are compared by any utility."""
    if is_of_levels or not is_scored(utility):
        return []
    message = 'takes the levels of whole columns: leave out local, or search="climb".'
    return [Problem("utility", message)]


def is_scored(utility: RecodingUtility) -> TypeGuard[ClassUtility | UtilityFunction]:
    """Whether a utility is no sum over cells."""
    return callable(utility) or utility in CLASS_UTILITIES


def choose_cell_utility(utility: RecodingUtility) -> CellUtility:
    """What cells cost in a search for a utility: its own, or loss, which settles ties."""
    return next((each for each in CELL_UTILITIES if each == utility), "loss")


def name_utility(utility: RecodingUtility) -> str:
    """What a utility is called where people read it."""
    if not callable(utility):
        return utility
    return str(getattr(utility, "__name__", type(utility).__name__))


def call_function(
    utility: UtilityFunction, original: Dataset, released: Dataset, kept: Ints
) -> float:
    """What a function says of a release.

    Raises:
        InvalidInput: if that is no number.
    """
    figure: Any = utility(original, released, kept)
    if not checks.is_finite_number(figure):
        message = f"the function gave {checks.describe_value(figure)}, which is no number."
        raise InvalidInput(f'utility of "{original.name}"', [Problem("utility", message)])
    return float(figure)
