"""What is wrong with how a command was called, said as every other error is.

Typer finds these before a verb is run. Its texts are its own, and partly pydantic's, so it is gone
by the kind of the error: what is said is in our words, and can be said in another language.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import typer

from divulge.work.problems import DivulgeError, InvalidInput, Problem
from divulge.work.value_problems import UNSUITABLE, describe_value_problem

ENDING_OF_RELEASES = ".toml"

SETTINGS_BY_ROLE = {"quasi_identifier": "knows", "sensitive": "seeks"}

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What Typer raises if a command is called wrongly."""


def is_help_page(error: Exception) -> bool:
    """Whether nothing is wrong but that nothing was given, and the page of help was shown."""
    return type(error).__name__ == "NoArgsIsHelpError"


def describe_usage_error(error: Any) -> DivulgeError:
    """An error of Typer's as one of ours: which command, which option, what is allowed."""
    context = getattr(error, "ctx", None)
    subject = "divulge" if context is None else str(context.command_path)
    describe = _DESCRIPTIONS.get(type(error).__name__, _describe_call)
    return InvalidInput(subject, [describe(error, context)])


def _describe_missing(error: Any, _: Any) -> Problem:
    return Problem(_name_parameter(error.param), "is missing.")


def _describe_bad_value(error: Any, _: Any) -> Problem:
    """A value of the wrong kind, out of its range, or none of the words that are allowed."""
    place = _name_parameter(error.param)
    kind = getattr(error.param, "type_descriptor", None)
    if kind is not None and kind.is_choice:
        allowed = [str(word) for word in kind.choices]
        return Problem(place, "is not one of the allowed words.", allowed=allowed)
    details: list[Any] = getattr(error.__cause__, "errors", list)()
    if not details:
        return Problem(place, UNSUITABLE)
    [first, *_] = details
    context: Mapping[str, Any] = first.get("ctx") or {}
    return Problem(place, describe_value_problem(first["type"], context, first["msg"]))


def _describe_unknown_option(error: Any, context: Any) -> Problem:
    name = str(error.option_name)
    parameters = [] if context is None else context.command.get_params(context)
    allowed = [option for each in parameters for option in each.opts if option.startswith("-")]
    return Problem("", f'"{name}" is not an option.', name, allowed)


def _describe_option_without_value(error: Any, _: Any) -> Problem:
    takes_none = "not take a value" in error.message
    return Problem(str(error.option_name), "takes no value." if takes_none else "needs a value.")


def _describe_call(error: Any, context: Any) -> Problem:
    """What is wrong with the line as a whole: a command that is none, or too many arguments."""
    commands = list(getattr(getattr(context, "command", None), "commands", {}))
    if commands:
        [name, *_] = [*re.findall("'([^']*)'", error.message), ""]
        return Problem("", f'"{name}" is not a command.', name, commands)
    if match := re.search(r" \((.*)\)$", error.message):
        return Problem("", f"there are more arguments than it takes: {match[1]}.")
    return Problem("", "cannot be called like this; its page of help (--help) says how.")


def note_options(error: DivulgeError, context: Any) -> None:
    """Name places of an error by the options of its command, and remember these for its text.

    What a release file says is named as the release file does.
    """
    arguments = context.params.values()
    if any(ENDING_OF_RELEASES in str(argument) for argument in arguments):
        return
    names = {
        str(parameter.name): _name_parameter(parameter)
        for parameter in context.command.get_params(context)
        if parameter.param_type_name == "option"
    }
    error.option_names = names  # type: ignore[attr-defined]
    if isinstance(error, InvalidInput):
        error.problems = tuple(
            replace(problem, place=_rename_place(problem.place, names))
            for problem in error.problems
        )


def write_as_options(message: str, names: Mapping[str, str]) -> str:
    """A message in which settings stand as options: `--margins suppressible`.

    >>> write_as_options('Let totals be (margins="suppressible").', {"margins": "--margins"})
    'Let totals be (--margins suppressible).'
    """
    if not names:
        return message
    value = r"""(?:"([^"]*)"|'([^']*)'|\["([^"]*)"\]|(true|True)\b)"""
    setting = rf"\b({'|'.join(map(re.escape, names))}) ?= ?{value}"

    def write_option(match: re.Match[str]) -> str:
        if match[5]:
            return names[match[1]]
        content = next(part for part in match.groups()[1:4] if part is not None)
        return f"{names[match[1]]} {shlex.quote(content)}"

    return re.sub(setting, write_option, message)


def _rename_place(place: str, names: Mapping[str, str]) -> str:
    before, comma, last = place.rpartition(", ")
    if before == "roles" or before.endswith(", roles"):
        # The options of a command give attributes their roles.
        setting = last if last in names else SETTINGS_BY_ROLE.get(last, "")
        return before.removesuffix("roles") + names.get(setting, last)
    return before + comma + names.get(last, last)


def _name_parameter(parameter: Any) -> str:
    """An option as it is written; an argument as the page of help has it."""
    if parameter is None:
        return ""
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    return str(max(parameter.opts, key=len))


_DESCRIPTIONS = {
    "MissingParameter": _describe_missing,
    "BadParameter": _describe_bad_value,
    "NoSuchOption": _describe_unknown_option,
    "BadOptionUsage": _describe_option_without_value,
}
