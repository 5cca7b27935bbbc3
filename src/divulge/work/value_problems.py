"""What is wrong with a value that was given for a setting or an option, in our own words.

Settings are checked by pydantic. It says what is wrong in words for programmers, so its kinds of
errors are what is gone by here, never its texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

MUST_BE_TEXT = "must be text."
MUST_BE_WHOLE = "must be a whole number."
MUST_BE_NUMBER = "must be a number."
MUST_BE_TRUE_OR_FALSE = "must be true or false."
MUST_BE_TABLE = "must be a table of settings."
MUST_BE_LIST = "must be a list."

PLAIN_PROBLEMS = {
    "string_type": MUST_BE_TEXT,
    "string_unicode": MUST_BE_TEXT,
    "int_type": MUST_BE_WHOLE,
    "int_parsing": MUST_BE_WHOLE,
    "int_from_float": MUST_BE_WHOLE,
    "int_parsing_size": "has too many digits.",
    "float_type": MUST_BE_NUMBER,
    "float_parsing": MUST_BE_NUMBER,
    "finite_number": "must be a finite number.",
    "bool_type": MUST_BE_TRUE_OR_FALSE,
    "bool_parsing": MUST_BE_TRUE_OR_FALSE,
    "model_type": MUST_BE_TABLE,
    "model_attributes_type": MUST_BE_TABLE,
    "dict_type": MUST_BE_TABLE,
    "list_type": MUST_BE_LIST,
    "tuple_type": MUST_BE_LIST,
    "missing": "is missing.",
    "literal_error": "is not one of the allowed words.",
}
"""What is said of the kinds of errors that need no figure."""

BOUNDS = {
    "greater_than": ("gt", "must be greater than {0}."),
    "greater_than_equal": ("ge", "must be at least {0}."),
    "less_than": ("lt", "must be less than {0}."),
    "less_than_equal": ("le", "must be at most {0}."),
    "string_too_short": ("min_length", "must have at least {0} characters."),
    "string_too_long": ("max_length", "must have at most {0} characters."),
    "too_short": ("min_length", "must list at least {0}, not {1}."),
    "too_long": ("max_length", "must list at most {0}, not {1}."),
}
"""What is said of the kinds with a bound, and where pydantic has it."""

EMPTY = "must not be empty."
UNSUITABLE = "is not a value that is allowed here."
OF_AN_AUTHOR = ("value_error", "assertion_error")
"""Errors of a check that the author of the settings wrote, in the author's words."""


def describe_value_problem(kind: str, context: Mapping[str, Any], text: str) -> str:
    """What is to be said of a kind of error; the text only where a check of an author made it.

    >>> describe_value_problem("greater_than_equal", {"ge": 100}, "Input should be ...")
    'must be at least 100.'
    >>> describe_value_problem("less_than_equal", {"le": 1.0}, "Input should be ...")
    'must be at most 1.'
    >>> describe_value_problem("date_parsing", {}, "Input should be a valid date")
    'is not a value that is allowed here.'
    """
    if kind in PLAIN_PROBLEMS:
        return PLAIN_PROBLEMS[kind]
    if kind == "string_too_short" and context["min_length"] == 1:
        return EMPTY
    if kind in BOUNDS:
        name, template = BOUNDS[kind]
        return template.format(_write_bound(context[name]), context.get("actual_length"))
    if kind in OF_AN_AUTHOR:
        text = str(context["error"])
    elif kind in _list_pydantic_kinds():
        return UNSUITABLE
    return text if text.endswith(".") else f"{text}."


def _write_bound(bound: Any) -> str:
    """A bound as one would write it: 1, not 1.0."""
    is_whole = isinstance(bound, float) and bound.is_integer()
    return str(int(bound) if is_whole else bound)


def _list_pydantic_kinds() -> tuple[str, ...]:
    """All kinds that pydantic has; any other was named by whoever wrote a check of their own."""
    from pydantic_core.core_schema import ErrorType

    return get_args(ErrorType)


def list_value_templates() -> list[str]:
    """Everything that is said of values, for translators."""
    of_bounds = [template for _, template in BOUNDS.values()]
    return [*dict.fromkeys(PLAIN_PROBLEMS.values()), *of_bounds, EMPTY, UNSUITABLE]
