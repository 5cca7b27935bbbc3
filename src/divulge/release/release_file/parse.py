"""From the text of a release file to its tables, or to all that is wrong with them at once."""

from __future__ import annotations

import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from divulge.release.release_file.settings import FORMAT, ReleaseTable
from divulge.work import InvalidInput, Problem, Problems, input_file, version
from divulge.work.value_problems import describe_value_problem

_UNION_BRANCHES = ("HierarchyTable", "str", "int", "float", "bool")


def parse_release(path: Path) -> tuple[ReleaseTable | None, Problems]:
    """The tables of a release file (None if they are not sound), and the problems found so far.

    Raises:
        InvalidInput: if there is no file, it is not TOML at all, or its format is a newer one.
    """
    problems = Problems(str(path))
    content = _read_toml(path)
    _refuse_newer_format(path, content)
    try:
        return ReleaseTable.model_validate(content), problems
    except ValidationError as error:
        problems.extend("", translate_errors(error, ReleaseTable, content))
        return None, problems


def translate_errors(
    error: ValidationError, model: type[BaseModel], content: Mapping[str, Any]
) -> Iterator[Problem]:
    """What pydantic found, in our words, under the place as the user knows it."""
    problems = [
        (
            detail["type"],
            _build_problem(
                detail["type"],
                detail["msg"],
                detail["loc"],
                model=model,
                content=content,
                context=detail.get("ctx") or {},
            ),
        )
        for detail in error.errors(include_url=False, include_context=True, include_input=False)
    ]
    places = set()
    for kind, problem in problems:
        if _is_another_kind(kind, problem, problems):
            continue
        if problem.place not in places or kind == "extra_forbidden":
            places.add(problem.place)
            yield problem


def _is_another_kind(kind: str, problem: Problem, problems: Sequence[tuple[str, Problem]]) -> bool:
    """Whether it says only that a setting is not of one kind, while another kind was meant."""
    if not kind.endswith("_type"):
        return False
    inside = (f"{problem.place}, ", f"{problem.place} ")
    return any(
        other.place.startswith(inside)
        or (other.place == problem.place and not of_kind.endswith("_type"))
        for of_kind, other in problems
    )


def _refuse_newer_format(path: Path, content: Mapping[str, Any]) -> None:
    """A newer format may mean something else by the same words, so nothing else is said of it."""
    number = content.get("format")
    if not isinstance(number, int) or number <= FORMAT:
        return
    message = (
        f"{number} is newer than what this version reads (Divulge {version()}, format {FORMAT}). "
        f"Install a newer Divulge, or write the file in format {FORMAT}."
    )
    raise InvalidInput(str(path), [Problem("format", message)])


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        text = input_file(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(str(path), [Problem("", "is not a text file (UTF-8).")]) from None
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        message = f"cannot be read: {reason.lower()}."
        raise InvalidInput(str(path), [Problem("", message)]) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"is not TOML: {str(error)[0].lower()}{str(error)[1:]}."
        raise InvalidInput(str(path), [Problem("", message)]) from None
    except (ValueError, RecursionError):
        message = "contains a number or a nesting that is larger than can be read."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def _build_problem(
    kind: str,
    message: str,
    location: Sequence[str | int],
    *,
    model: type[BaseModel],
    content: Mapping[str, Any],
    context: Mapping[str, Any],
) -> Problem:
    if kind == "extra_forbidden":
        key = str(location[-1])
        allowed = _list_fields(model, location[:-1])
        place = _describe_place(location[:-1], content)
        return Problem(place, f'"{key}" is not a setting here.', value=key, allowed=allowed)
    place = _describe_place(location, content)
    is_list = kind in ("list_type", "tuple_type")
    if is_list and model is ReleaseTable and isinstance(content.get(place), dict):
        message = f"there may be several: write [[{place}]], with two brackets, above each."
        return Problem(place, message)
    allowed = (
        [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        if kind == "literal_error"
        else []
    )
    return Problem(place, describe_value_problem(kind, context, message), allowed=allowed)


def _describe_place(location: Sequence[str | int], content: Mapping[str, Any]) -> str:
    """`("dataset", 0, "roles")` as `dataset "pupils", roles`."""
    parts: list[str] = []
    value: Any = content
    for step in location:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            value = None
        if isinstance(step, str):
            # pydantic names the branch of a union where it stood; the user wrote no such thing.
            if value is not None or (step.isidentifier() and step not in _UNION_BRANCHES):
                parts.append(step)
        elif isinstance(value, dict) and isinstance(value.get("name"), str) and value["name"]:
            parts[-1] += f' "{value["name"]}"'
        else:
            parts[-1] += f" {step + 1}"
    return ", ".join(parts)


def _list_fields(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """The settings that are allowed at a place."""
    here: type[BaseModel] | None = model
    for step in location:
        if isinstance(step, str) and here is not None and step in here.model_fields:
            here = _find_model(here.model_fields[step].annotation)
    return list(here.model_fields) if here is not None else []


def _find_model(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation holds, through lists, dicts and unions."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation if issubclass(annotation, BaseModel) else None
    if get_origin(annotation) in (list, dict, types.UnionType) or get_args(annotation):
        for part in get_args(annotation):
            model = _find_model(part)
            if model is not None:
                return model
    return None
