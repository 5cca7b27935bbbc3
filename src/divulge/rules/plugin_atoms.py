"""Plug-in atoms: functions of Python that a program asks, such as `#risk(I, R)`.

A plug-in is asked for many inputs at once, each only once, and has one answer for each or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from divulge.work import InvalidInput, Problem

KINDS = ("text", "integer", "number", "any")
"""What an input is handed over as, and what an output is: `number` is approximate, `any` text."""

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


@dataclass(frozen=True)
class RulePlugin:
    """A function that a program may ask by `#name(...)`: the kinds of its inputs and outputs.

    The function gets one Arrow array an input and gives one sequence an output (a tuple of
    sequences if there are several), each as long as its inputs; None is no answer. Without outputs
    it gives truth values.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class AnswerReason:
    """Why a plug-in answered as it did: values of records, hidden with others, and plain sentences.

    A function with a method `why` that gives one of these for single inputs is explained by it.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    sentences: Sequence[str] = ()


@dataclass
class _Registry:
    plugins: dict[str, RulePlugin] = field(default_factory=dict)


_REGISTRY = _Registry()


def build_plugin(
    name: str,
    function: Callable[..., Any],
    inputs: int | Sequence[str],
    outputs: int | Sequence[str],
) -> RulePlugin:
    """A plug-in; numbers of inputs and outputs mean values of any kind.

    >>> build_plugin("long", lambda names: [len(str(name)) > 9 for name in names], 1, 0).inputs
    ('any',)
    """
    kinds = []
    for role, given in (("inputs", inputs), ("outputs", outputs)):
        listed = ("any",) * given if isinstance(given, int) else tuple(given)
        for kind in listed:
            if kind not in KINDS:
                problem = Problem(role, f'"{kind}" is not a kind of value.', str(kind), KINDS)
                raise InvalidInput(f'the plug-in "{name}"', [problem])
        kinds.append(listed)
    return RulePlugin(name, function, *kinds)


def plugin(
    name: str, *, inputs: int | Sequence[str], outputs: int | Sequence[str]
) -> Callable[[AnyFunction], AnyFunction]:
    """Register a function that programs may ask by `#name(...)`.

    >>> @plugin("length", inputs=["text"], outputs=["integer"])
    ... def measure_length(texts):
    ...     return [len(text.as_py()) for text in texts]
    """

    def register(function: AnyFunction) -> AnyFunction:
        _REGISTRY.plugins[name] = build_plugin(name, function, inputs, outputs)
        return function

    return register


def list_plugins(given: Mapping[str, RulePlugin] | None = None) -> dict[str, RulePlugin]:
    """The plug-ins that are registered; what is given here wins."""
    return {**_REGISTRY.plugins, **(given or {})}
