"""Sentences as a key and values; the words come from a catalogue of the part that speaks.

A part keeps its sentences in `sentences.<language>.toml` beside its code, so a translator adds a
file and no code changes, and a package of somebody else's brings its own in the same way.
"""

from __future__ import annotations

import math
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from importlib import resources
from typing import Any

from divulge.work import DivulgeError

DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True)
class Sentence:
    """Something to be said: the package whose catalogue has it, its key there, and its values.

    >>> said = Sentence("divulge.assessment", "claim.exact")
    >>> str(said)
    'These figures are exact.'
    """

    catalogue: str
    key: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def render(self, language: str = DEFAULT_LANGUAGE) -> str:
        """The sentence in a language (English where the catalogue has no other)."""
        templates, words = _catalogue(self.catalogue, language)
        try:
            template = templates[self.key]
        except KeyError:
            message = f'the catalogue of {self.catalogue} has no sentence "{self.key}"'
            raise DivulgeError(message) from None
        if isinstance(template, dict):
            template = template[_form(template, self.values)]
        return _Formatter(words).format(template, **self.values)

    def to_dict(self) -> dict[str, Any]:
        """Key, values and the sentence in English."""
        return {"key": f"{self.catalogue}:{self.key}", "text": self.render()}

    def __str__(self) -> str:
        return self.render()


def _form(forms: Mapping[str, str], values: Mapping[str, Any]) -> str:
    """Which form of a sentence its counted value wants: zero, one, all or other."""
    counted = values[forms["by"]]
    if counted == 0 and "zero" in forms:
        return "zero"
    if counted == 1 and "one" in forms:
        return "one"
    if "all" in forms and counted == values.get("total"):
        return "all"
    return "other"


class _Formatter(string.Formatter):
    """Templates hold {value:how}: how is one of list, count, number, percent, points, factor."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    def format_field(self, value: Any, spec: str) -> str:
        if spec == "list":
            return self._list(value)
        if spec == "count":
            return count_in_words(value, self._words)
        if spec in _FORMATS:
            return _FORMATS[spec](value)
        return str(super().format_field(value, spec))

    def _list(self, items: Sequence[str]) -> str:
        *first, last = items
        return f"{', '.join(first)} {self._words['and']} {last}" if first else last


def count_in_words(count: float, words: Mapping[str, str] | None = None) -> str:
    """A number of things as one says it; the tables beside have every digit.

    >>> count_in_words(31), count_in_words(1234), count_in_words(12_829_382), count_in_words(2.26)
    ('31', '1,234', '12.8 million', '2.3')
    """
    million = (words or {}).get("million", "million")
    if count >= 1_000_000:
        return f"{count / 1_000_000:,.1f} {million}"
    if 0 < count < 0.05:
        return "less than 0.1"
    return f"{count:,.0f}" if count == round(count) or count >= 100 else f"{count:,.1f}"


def percent(share: float) -> str:
    """A share in percent, to three digits; never rounded to all or nothing.

    >>> percent(0.176), percent(1), percent(0.9999), percent(2e-8), percent(0)
    ('17.6%', '100%', 'over 99.9%', '0.000002%', '0%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if 0.999 < share < 1:
        return "over 99.9%"
    return f"{_three_digits(share * 100):f}%"


def _three_digits(value: float) -> Decimal:
    """A figure to three digits; what calculating adds in the last place decides no tie.

    >>> _three_digits(1.625) == _three_digits(1.6250000000000002)
    True
    """
    return Decimal(f"{float(f'{float(value):.12g}'):.3g}")


def number(value: float) -> str:
    """Any figure, short: whole numbers in full, others to four digits.

    >>> number(18430), number(0.12345), number(float("inf")), number(-0.0)
    ('18,430', '0.1235', 'infinite', '0')
    """
    if not math.isfinite(value):
        return "no number" if math.isnan(value) else "infinite"
    if value == 0:  # a loss of nothing is nothing
        return "0"
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.4g}"


def factor(value: float) -> str:
    """By how much something is multiplied.

    >>> factor(1.8), factor(48176423.0), factor(float("inf"))
    ('1.8 times', '48.2 million times', 'infinitely')
    """
    if value == float("inf"):
        return "infinitely"
    return f"{count_in_words(value) if value >= 100 else f'{_three_digits(value):f}'} times"


def points(difference: float) -> str:
    """A difference of two shares, in percentage points.

    >>> points(0.4), points(0.001)
    ('40 points', '0.1 points')
    """
    return f"{_three_digits(difference * 100):f} points"


_FORMATS = {"percent": percent, "points": points, "number": number, "factor": factor}


@lru_cache
def _catalogue(package: str, language: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The templates by dotted key, and the little words of the language."""
    folder = resources.files(package)
    file = folder / f"sentences.{language}.toml"
    if not file.is_file():
        file = folder / f"sentences.{DEFAULT_LANGUAGE}.toml"
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    words = content.pop("words", None)
    if words is None:  # a package that brings sentences need not bring "and"
        _, words = _catalogue(__package__, language)
    return dict(_flat(content)), words


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and "by" not in value:
            found.extend(_flat(value, f"{name}."))
        else:
            found.append((name, value))
    return found
