"""Hierarchies proposed from the data: intervals, quantiles, dates, prefixes, likeness, frequency.

A proposal is something to look at and to change: it says why it is as it is, and its settings can
be written into a release file. The same data give the same proposal. Edges of intervals are round
numbers, so that none of them is the value of a record that others could look for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.hierarchies.hierarchy import Hierarchy
from divulge.data.hierarchies.numbers import EVERYTHING, parse_number
from divulge.data.proposals.value_vocabulary import find_continents
from divulge.data.value_texts import format_value
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Ints

HierarchyMethod: TypeAlias = Literal[
    "intervals", "quantiles", "dates", "prefixes", "continents", "likeness", "frequency"
]
HIERARCHY_METHODS: tuple[HierarchyMethod, ...] = get_args(HierarchyMethod)

_DATE_UNITS = ("hour", "day", "month", "quarter", "year", "decade")
_CODE_TOPICS = frozenset({"work", "home", "business"})
_CATEGORY_TOPICS = frozenset({"person", "work", "home", "place", "business", "belief", "health"})
"""What numbers stand for without an order: sexes, marital states, kinds of work, regions. Years of
schooling and sizes of households have one."""
_CODE = re.compile(r"[0-9A-Za-z./-]*[0-9][0-9A-Za-z./-]*")


@dataclass(frozen=True)
class HierarchyProposal:
    """A hierarchy that the data suggest, and why."""

    attribute: str
    method: HierarchyMethod
    hierarchy: Hierarchy
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The proposal as plain values; `settings` are what a release file takes."""
        return {
            "attribute": self.attribute,
            "method": self.method,
            "reason": self.reason,
            "levels": self.hierarchy.height,
            "settings": dict(self.hierarchy.as_settings()),
        }

    def __str__(self) -> str:
        levels = self.hierarchy.height
        return f"{self.attribute}: {levels} level{'s' * (levels != 1)}, because {self.reason}"


def propose_hierarchy(
    dataset: Dataset,
    attribute: str,
    method: HierarchyMethod | None = None,
    *,
    topic: str = "",
) -> HierarchyProposal:
    """Propose how an attribute can become coarser.

    Args:
        dataset: the records.
        attribute: one of its attributes.
        method: `intervals` of one width, `quantiles`, `dates`, `prefixes` of codes, countries by
            `continents`, categories put together by the `likeness` of their words or by
            `frequency`; by what the values look like if not given.
        topic: what the attribute is about, of the experience base: numbers of one length about
            work, home or business are codes (occupations, postcodes, activities).

    Raises:
        InvalidInput: if the attribute has fewer than two values, or the method does not go with
            them.

    >>> import pyarrow as pa
    >>> people = Dataset.from_arrow(pa.table({"age": list(range(17, 91))}))
    >>> proposal = propose_hierarchy(people, "age")
    >>> [proposal.hierarchy.at(43, level) for level in range(1, 6)]
    ['[40, 45)', '[40, 50)', '[40, 60)', '[40, 80)', '*']
    >>> print(proposal)
    age: 5 levels, because its values are numbers: intervals of 5, 10, 20, 40, then all
    """
    [attribute] = dataset.attributes(attribute, "attribute")
    column = dataset.columns[attribute]
    values = column.values.to_pylist()
    subject, place = f'dataset "{dataset.name}"', f'attribute "{attribute}"'
    if method is not None and method not in HIERARCHY_METHODS:
        message = f'"{method}" is not a way to propose a hierarchy.'
        raise InvalidInput(subject, [Problem("method", message, method, HIERARCHY_METHODS)])
    if len(values) < 2:
        message = "has fewer than two values: there is nothing coarser."
        raise InvalidInput(subject, [Problem(place, message)])
    counts = np.bincount(column.codes, minlength=len(values) + 1)[: len(values)]
    if method is None and topic in _CATEGORY_TOPICS and _are_numbered_categories(column):
        method = "frequency"
    chosen = method or _choose_method(column, values, counts, topic)
    proposal = _MAKERS[chosen](values, counts)
    if proposal is None:
        message = f"{_UNSUITABLE[chosen]} Choose another method."
        raise InvalidInput(subject, [Problem(place, message)])
    hierarchy, reason = proposal
    return HierarchyProposal(attribute, chosen, hierarchy, reason)


def _choose_method(
    column: Column, values: Sequence[Any], counts: Ints, topic: str
) -> HierarchyMethod:
    import pyarrow as pa

    kind = column.values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "dates"
    if (
        pa.types.is_integer(kind)
        and topic in _CODE_TOPICS
        and _are_codes([format_value(value) for value in values])
    ):
        return "prefixes"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "quantiles" if _is_crowded(values, counts) else "intervals"
    texts = [format_value(value) for value in values]
    if not Hierarchy.dates("year").lacks(texts):
        return "dates"
    if find_continents(texts) is not None:
        return "continents"
    if _are_codes(texts):
        return "prefixes"
    if len(texts) <= tuning.MAX_VALUES_ALIKE:
        merged = len(texts) - len(set(_cluster_texts(texts, tuning.LIKENESS_SCORES[0])))
        if merged >= tuning.MIN_MERGED_SHARE * len(texts):
            return "likeness"
    return "frequency"


def _are_numbered_categories(column: Column) -> bool:
    """Whether whole numbers are names of a few categories: 1, 2, 3, with hardly a gap."""
    import pyarrow as pa

    if not pa.types.is_integer(column.values.type):
        return False
    lowest, highest = column.values[0].as_py(), column.values[-1].as_py()
    few = 2 < len(column.values) <= tuning.MAX_NUMBERED_CATEGORIES
    return few and lowest in (0, 1) and highest - lowest < 1.5 * len(column.values)


def _is_crowded(values: Sequence[Any], counts: Ints) -> bool:
    """Whether one interval of equal width would hold most of the records."""
    made = _propose_intervals(values, counts)
    if made is None:
        return True
    labels = [made[0].at(value, 1) for value in values]
    _, place = np.unique(labels, return_inverse=True)
    largest = int(np.bincount(place.reshape(-1), counts).max())
    return len(values) > tuning.PROPOSED_INTERVALS and largest > tuning.CROWDED_SHARE * counts.sum()


def _list_numbers(values: Sequence[Any]) -> list[float] | None:
    """The values as finite numbers; None if one is none."""
    numbers = [parse_number(value) for value in values]
    finite = [float(n) for n in numbers if n is not None and math.isfinite(n)]
    return finite if len(finite) == len(values) else None


def _propose_intervals(values: Sequence[Any], _: Ints) -> tuple[Hierarchy, str] | None:
    numbers = _list_numbers(values)
    if numbers is None:
        return None
    low, high = min(numbers), max(numbers)
    is_whole = all(number.is_integer() for number in numbers)
    width = _find_round_width((high - low) / tuning.PROPOSED_INTERVALS, is_whole)
    first, last = (
        math.floor(Decimal(repr(low)) / width) + 1,
        math.floor(Decimal(repr(high)) / width),
    )
    levels: list[list[float]] = []
    widths, step = [], 1
    while not levels or step * width < Decimal(repr(high)) - Decimal(repr(low)):
        edges = [_to_plain(n * width) for n in range(first, last + 1) if n % step == 0]
        levels.append(edges or [_to_plain(Decimal(repr(high)))])
        widths.append(format_value(_to_plain(step * width)))
        step *= 2
    reason = f"its values are numbers: intervals of {', '.join(widths)}, then all"
    return Hierarchy.intervals(*levels, []), reason


def _find_round_width(least: float, is_whole: bool) -> Decimal:
    """The smallest of 1, 2, 5, 10, ... that is no less; single whole numbers are no intervals."""
    exponent = math.floor(math.log10(least)) if least > 0 else 0
    for power in range(exponent, exponent + 3):
        for digit in (1, 2, 5):
            width = Decimal(digit).scaleb(power)
            if width >= Decimal(repr(least)) and (not is_whole or width >= 2):
                return width
    return Decimal(2)


def _to_plain(number: Decimal) -> float:
    return int(number) if number == number.to_integral_value() else float(number)


def _propose_quantiles(values: Sequence[Any], counts: Ints) -> tuple[Hierarchy, str] | None:
    numbers = _list_numbers(values)
    if numbers is None:
        return None
    order = np.argsort(numbers, kind="stable")
    ranked, below = np.array(numbers)[order], np.cumsum(counts[order])
    parts = min(tuning.PROPOSED_INTERVALS, len(values))
    places = np.searchsorted(below, below[-1] * np.arange(1, parts) / parts)
    rounded = {_round_to_two_digits(float(ranked[min(p + 1, len(ranked) - 1)])) for p in places}
    edges = sorted(edge for edge in rounded if ranked[0] < edge <= ranked[-1]) or [
        float(ranked[-1])
    ]
    levels = [[_to_plain(Decimal(repr(edge))) for edge in edges]]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][1::2])
    reason = (
        f"its values are numbers, and many lie close together: {len(edges) + 1} intervals of about "
        "as many records each, with round edges, then two of them together, and so on"
    )
    return Hierarchy.intervals(*levels, []), reason


def _round_to_two_digits(number: float) -> float:
    if number == 0:
        return 0.0
    return round(number, 1 - math.floor(math.log10(abs(number))))


def _propose_dates(values: Sequence[Any], _: Ints) -> tuple[Hierarchy, str] | None:
    if Hierarchy.dates("year").lacks(values):
        return None
    every = Hierarchy.dates(*_DATE_UNITS)
    units, groups = [], len(values)
    for level, unit in enumerate(_DATE_UNITS, start=1):
        count = len({every.at(value, level) for value in values})
        if count < groups:
            units.append(unit)
            groups = count
    units = units or ["decade"]
    return Hierarchy.dates(*units), f"its values are dates: by {', '.join(units)}"


def _are_codes(texts: Sequence[str]) -> bool:
    """Texts of one length with digits, many of which begin alike."""
    lengths = np.bincount([len(text) for text in texts])
    length = int(lengths.argmax())
    is_uniform = lengths[length] >= tuning.NEARLY_ALL_SHARE * len(texts)
    if not is_uniform or length < tuning.MIN_CODE_LETTERS:
        return False
    if sum(_CODE.fullmatch(text) is not None for text in texts) < tuning.NEARLY_ALL_SHARE * len(
        texts
    ):
        return False
    return len({text[: length // 2] for text in texts}) <= len(texts) / 2


def _propose_prefixes(values: Sequence[Any], _: Ints) -> tuple[Hierarchy, str] | None:
    texts = [format_value(value) for value in values]
    lengths, groups = [], len(texts)
    for length in range(max(map(len, texts)) - 1, 0, -1):
        count = len({text[:length] if len(text) > length else text for text in texts})
        if count < groups:
            lengths.append(length)
            groups = count
    kept = ", ".join(map(str, lengths))
    reason = f"its values are codes: the first {kept} characters, then all"
    return Hierarchy.prefixes(*lengths, 0), reason if lengths else "its values are codes: all"


def _propose_continents(values: Sequence[Any], _: Ints) -> tuple[Hierarchy, str] | None:
    texts = [format_value(value) for value in values]
    continents = find_continents(texts)
    if continents is None:
        return None
    # A label of a level is no value of it: a country may have the name of its continent.
    names = [name if name not in texts else f"{name} (continent)" for name in continents]
    return _build_levels(texts, [names]), "its values are countries: by continent, then all"


def _propose_likeness(values: Sequence[Any], _: Ints) -> tuple[Hierarchy, str] | None:
    texts = [format_value(value) for value in values]
    if len(texts) > tuning.MAX_VALUES_ALIKE:
        return None
    levels = [
        _name_clusters(texts, clusters)
        for score in tuning.LIKENESS_SCORES
        if len(set(clusters := _cluster_texts(texts, score))) < len(texts)
    ]
    groups = ", ".join(str(len(set(names))) for names in levels)
    reason = (
        f"many of its {len(texts)} values share words: {groups} groups, then all"
        if levels
        else "its values share no words: all"
    )
    return _build_levels(texts, levels), reason


def _cluster_texts(texts: Sequence[str], score: int) -> list[int]:
    """Values that are alike, or alike to one that is, share a number: the first one's place."""
    from rapidfuzz import fuzz, process

    words = [" ".join(re.findall(r"\w+", text.lower())) for text in texts]
    scores = process.cdist(words, words, scorer=fuzz.token_set_ratio, dtype=np.uint8)
    cluster = list(range(len(texts)))
    for one, other in np.argwhere(np.triu(scores >= score, 1)):
        first, second = sorted((cluster[one], cluster[other]))
        if first != second:
            cluster = [first if each == second else each for each in cluster]
    return cluster


def _name_clusters(texts: Sequence[str], clusters: Sequence[int]) -> list[str]:
    """The words that all values of a cluster share, else its first values."""
    members: dict[int, list[str]] = {}
    for text, cluster in zip(texts, clusters, strict=True):
        members.setdefault(cluster, []).append(text)
    names: dict[int, str] = {}
    for cluster, of in members.items():
        name = of[0] if len(of) == 1 else _name_cluster(of)
        while name in names.values():
            name += "'"
        names[cluster] = name
    return [names[cluster] for cluster in clusters]


def _name_cluster(texts: Sequence[str]) -> str:
    shared = set.intersection(*(set(re.findall(r"\w+", text.lower())) for text in texts))
    words = [word for word in re.findall(r"\w+", texts[0]) if word.lower() in shared]
    if words:
        return " ".join(dict.fromkeys(words))
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return f"{texts[0]} / {texts[1]}{more}"


def _propose_frequency(values: Sequence[Any], counts: Ints) -> tuple[Hierarchy, str]:
    texts = [format_value(value) for value in values]
    levels, merged = [], 1
    for share in tuning.RARE_SHARES:
        is_rare = counts < share * counts.sum()
        rare = int(is_rare.sum())
        if merged < rare < len(texts):
            other = f"other (below {share:.0%})"
            levels.append([other if hide else t for t, hide in zip(texts, is_rare, strict=True)])
            merged = rare
    way = "rare ones are put together, then all" if levels else "all are put together"
    reason = f"its {len(texts)} values show nothing in common: {way}"
    return _build_levels(texts, levels), reason


def _build_levels(texts: Sequence[str], levels: Sequence[Sequence[str]]) -> Hierarchy:
    rows: Iterator[tuple[str, ...]] = zip(texts, *levels, strict=True)
    return Hierarchy.from_levels([[*row, EVERYTHING] for row in rows])


_MAKERS: dict[
    HierarchyMethod, Callable[[Sequence[Any], Ints], tuple[Hierarchy, str] | None]
] = {
    "intervals": _propose_intervals,
    "quantiles": _propose_quantiles,
    "dates": _propose_dates,
    "prefixes": _propose_prefixes,
    "continents": _propose_continents,
    "likeness": _propose_likeness,
    "frequency": _propose_frequency,
}  # fmt: skip

_UNSUITABLE: dict[HierarchyMethod, str] = {
    "intervals": "contains values that are no finite numbers.",
    "quantiles": "contains values that are no finite numbers.",
    "dates": "contains values that are no dates.",
    "continents": "contains values most of which are no countries.",
    "likeness": f"has more than {tuning.MAX_VALUES_ALIKE:,} values to compare.",
}
