"""How an explanation shows values: as they are, or as labels that are the same throughout."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from divulge.rules.engine.stored_values import LabelledNull
from divulge.rules.language.cursor import escape_text
from divulge.rules.language.parser import NAME_HOLE

EQUALITY = "="
"""What stands for a predicate where two values are said to be one."""


class ValueLabels:
    """Writes values; one that is hidden has a number, the same wherever it stands.

    >>> labels = ValueLabels(("Roma",), show_values=False)
    >>> labels.show("Roma"), labels.show("Milano"), labels.show("Torino"), labels.show("Milano")
    ('Roma', '[1]', '[2]', '[1]')
    """

    def __init__(self, question: Sequence[Any], *, show_values: bool) -> None:
        self._shown = frozenset(question)
        self._show_values = show_values
        self._numbers: dict[Any, int] = {}

    def show(self, value: Any) -> str:
        """A value in a sentence; `_` for any."""
        if value is None:
            return "_"
        if isinstance(value, LabelledNull):
            return str(value)
        if self._show_values or value in self._shown:
            return write_plain(value)
        return f"[{self._numbers.setdefault(value, len(self._numbers) + 1)}]"

    def show_fact(self, predicate: str, values: Sequence[Any]) -> str:
        """A fact as the language writes it."""
        if predicate == EQUALITY:
            return " = ".join(map(self.show, values))
        return f"{predicate}({', '.join(map(self._quote, values))})"

    def fill_name(self, name: str, bindings: Mapping[str, Any]) -> str:
        """The name of a rule with the values of its variables."""

        def fill_hole(match: re.Match[str]) -> str:
            return self.show(bindings[match[1]]) if match[1] in bindings else match[1]

        return NAME_HOLE.sub(fill_hole, name)

    def _quote(self, value: Any) -> str:
        shown = self.show(value)
        return escape_text(shown) if isinstance(value, str) and shown == value else shown


def write_plain(value: Any) -> str:
    """A value as people read it: sets in order, numbers without needless zeros.

    >>> write_plain(frozenset([("area", "Roma"), ("age", 30)])), write_plain(Decimal("0.50"))
    ('{(age, 30), (area, Roma)}', '0.5')
    """
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(write_plain, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(write_plain, value)) + ")"
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
