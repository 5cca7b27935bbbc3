"""Sentences as a key and values; the words come from a catalogue of the part that speaks.

A part keeps its sentences in `sentences.<language>.toml` beside its code, so a translator adds a
file and no code changes, and a package of somebody else's brings its own in the same way. What a
translation lacks is said in English. The language is that of the run (`work.current_language`).
"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from divulge.work import DivulgeError, current_language
from divulge.work.context import DEFAULT_LANGUAGE
from divulge.work.translation import NESTED_MESSAGE, read_catalogue, translate_message

Words: TypeAlias = Mapping[str, str] | None
"""The little words of a language; None: those of the run."""


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

    def render(self, language: str | None = None) -> str:
        """The sentence in a language or in that of the run (English where it has no words)."""
        language = language or current_language()
        templates, words = _load_catalogue(self.catalogue, language)
        try:
            template = templates[self.key]
        except KeyError:
            message = f'the catalogue of {self.catalogue} has no sentence "{self.key}"'
            raise DivulgeError(message) from None
        if isinstance(template, dict):
            template = template[_choose_plural_form(template, self.values)]
        return _Formatter(words, language).format(template, **self.values)

    def to_dict(self) -> dict[str, Any]:
        """The key for scripts, and the sentence in the language of the run."""
        return {"key": f"{self.catalogue}:{self.key}", "text": self.render()}

    def __str__(self) -> str:
        return self.render()


def read_phrases(catalogue: str, key: str, language: str | None = None) -> tuple[str, ...]:
    """A list of phrases out of a catalogue, such as the headings of a table.

    >>> read_phrases("divulge.assessment", "head.figures")
    ('', 'before', 'after', 'change')
    """
    phrases, _ = _load_catalogue(catalogue, language or current_language())
    return tuple(phrases[key])


def _choose_plural_form(forms: Mapping[str, str], values: Mapping[str, Any]) -> str:
    """Which form of a sentence its counted value wants: zero, one, all or other."""
    count = values[forms["by"]]
    if count == 0 and "zero" in forms:
        return "zero"
    if count == 1 and "one" in forms:
        return "one"
    if "all" in forms and count == values.get("total"):
        return "all"
    return "other"


class _Formatter(string.Formatter):
    """Templates hold {value:how}: how is one of list, count, number, percent, points, factor.

    A value may be a sentence itself: it is said in the same language. So is the text of an error,
    {value:message}.
    """

    def __init__(self, words: Mapping[str, str], language: str) -> None:
        self._words = words
        self._language = language

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What records are about, in the language where it is a word of ours and not a user's."""
        value = super().get_value(key, args, kwargs)
        return self._words.get(value, value) if key == "subjects" else value

    def format_field(self, value: Any, spec: str) -> str:
        if isinstance(value, Sentence):
            return value.render(self._language)
        if spec == "list":
            return self._join_list(value)
        if spec == NESTED_MESSAGE:
            return translate_message(value, self._language)
        if spec == "count":
            return format_count(value, self._words)
        if spec in _FORMATS:
            return _FORMATS[spec](value, self._words)
        return str(super().format_field(value, spec))

    def _join_list(self, items: Sequence[str]) -> str:
        *first, last = items
        return f"{', '.join(first)} {self._words['and']} {last}" if first else last


def format_count(count: float, words: Words = None) -> str:
    """A number of things as one says it; the tables beside have every digit.

    >>> format_count(31), format_count(1234), format_count(12_829_382), format_count(2.26)
    ('31', '1,234', '12.8 million', '2.3')
    """
    if count >= 1_000_000:
        return f"{count / 1_000_000:,.1f} {(words or read_words())['million']}"
    if 0 < count < 0.05:
        return _fill("less_than", "0.1", words)
    return f"{count:,.0f}" if count == round(count) or count >= 100 else f"{count:,.1f}"


def format_percent(share: float, words: Words = None) -> str:
    """A share in percent, to three digits; never rounded to all or nothing.

    >>> format_percent(0.176), format_percent(2e-8)
    ('17.6%', '0.000002%')
    >>> format_percent(1), format_percent(0.9999), format_percent(0)
    ('100%', 'over 99.9%', '0%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if 0.999 < share < 1:
        return _fill("over", "99.9%", words)
    return f"{_round_to_three_digits(share * 100):f}%"


def _round_to_three_digits(value: float) -> Decimal:
    """A figure to three digits; what calculating adds in the last place decides no tie.

    >>> _round_to_three_digits(1.625) == _round_to_three_digits(1.6250000000000002)
    True
    """
    return Decimal(f"{float(f'{float(value):.12g}'):.3g}")


def format_number(value: float, words: Words = None) -> str:
    """Any figure, short: whole numbers in full, others to four digits.

    >>> format_number(18430), format_number(0.12345)
    ('18,430', '0.1235')
    >>> format_number(float("inf")), format_number(-0.0)
    ('infinite', '0')
    >>> from fractions import Fraction
    >>> format_number(Fraction(1, 8))
    '0.125'
    """
    if not math.isfinite(value):
        return (words or read_words())["no_number" if math.isnan(value) else "infinite"]
    if value == 0:  # a loss of nothing is nothing
        return "0"
    value = float(value)  # a fraction has no digits before Python 3.12
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.4g}"


def format_statistic(value: float, words: Words = None) -> str:
    """A mean, a variance or a coefficient: six digits, and all of its whole ones.

    >>> format_statistic(23561.4471), format_statistic(1234567.8), format_statistic(0.00012345678)
    ('23,561.4', '1,234,568', '0.000123457')
    >>> format_statistic(40), format_statistic(3.0e21)
    ('40', '3e+21')
    """
    if not math.isfinite(value) or value == 0:
        return format_number(value, words)
    size = math.floor(math.log10(abs(value)))
    if not -5 <= size < 15:
        return f"{value:.6g}"
    text = f"{value:,.{max(0, 5 - size)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_factor(value: float, words: Words = None) -> str:
    """By how much something is multiplied.

    >>> format_factor(1.8), format_factor(48176423.0), format_factor(float("inf"))
    ('1.8 times', '48.2 million times', 'infinitely')
    """
    if value == float("inf"):
        return (words or read_words())["infinitely"]
    is_large = value >= 100
    figure = format_count(value, words) if is_large else f"{_round_to_three_digits(value):f}"
    return _fill("times", figure, words)


def format_points(difference: float, words: Words = None) -> str:
    """A difference of two shares, in percentage points.

    >>> format_points(0.4), format_points(0.001)
    ('40 points', '0.1 points')
    """
    return _fill("points", f"{_round_to_three_digits(difference * 100):f}", words)


def _fill(word: str, figure: str, words: Words) -> str:
    """A figure with the words that go with it."""
    return (words or read_words())[word].format(figure)


_FORMATS = {
    "percent": format_percent,
    "points": format_points,
    "number": format_number,
    "factor": format_factor,
}


def read_words(language: str | None = None) -> Mapping[str, str]:
    """The words in lists and figures, in a language or in that of the run."""
    return _load_catalogue(__package__, language or current_language())[1]


def load_catalogue(package: str, language: str | None = None) -> dict[str, Any]:
    """What a package says, by dotted key: templates, forms of them, or lists of phrases."""
    return dict(_load_catalogue(package, language or current_language())[0])


@lru_cache
def _load_catalogue(package: str, language: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The templates by dotted key, and the little words of the language."""
    content = read_catalogue(package, f"sentences.{language}.toml")
    words = content.pop("words", None)
    templates = dict(_flatten_keys(content))
    if language != DEFAULT_LANGUAGE:
        english, english_words = _load_catalogue(package, DEFAULT_LANGUAGE)
        is_first = package == __package__
        shared = {} if is_first else _load_catalogue(__package__, language)[1]
        return {**english, **templates}, {**english_words, **shared, **(words or {})}
    # A package that brings sentences need not bring "and".
    shared = {} if package == __package__ else _load_catalogue(__package__, language)[1]
    return templates, {**shared, **(words or {})}


def _flatten_keys(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    entries: list[tuple[str, Any]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and "by" not in value:
            entries.extend(_flatten_keys(value, f"{name}."))
        else:
            entries.append((name, value))
    return entries
