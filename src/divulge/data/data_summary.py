"""A first look at data: each attribute's values as a small chart, what is missing, what is odd.

What somebody would see who scrolls through the file, without scrolling: how many values there are,
how they are spread, which codes may mean missing, and what hints at a mistake. It shows values of
the data, for the eyes of their owner; texts that nearly always differ are not among them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.dictionary_check import compare
from divulge.data.value_texts import format_value
from divulge.work.arrays import Ints

BARS = "▁▂▃▄▅▆▇█"
_MISSING_NUMBERS = frozenset(
    number * sign
    for digits in range(1, 7)
    for number in (int("9" * digits), int("9" * digits) - 1, int("9" * digits) - 2)
    for sign in (1, -1)
) | {-1, -2, -3, -4, -5, -6}
_MISSING_TEXTS = frozenset(
    {
        "na",
        "n/a",
        "n.a.",
        "nan",
        "null",
        "none",
        "nil",
        "missing",
        "unknown",
        "refused",
        "not stated",
    }
    | {"?", "-", "--", ".", "..", "*", "unk", "dk", "don't know", "k.a.", "keine angabe", "nd"}
    | {
        "ns/nr",
        "not stated",
        "no sabe",
        "não informado",
        "ignorado",
        "non renseigné",
        "non dichiarato",
    }
)


@dataclass(frozen=True, kw_only=True)
class AttributeSummary:
    """What there is to see of one attribute."""

    name: str
    description: str
    kind: str
    values: int
    missing: int
    records: int
    chart: str
    """Bars, one for each part of the range of numbers and dates; empty for others."""
    span: tuple[str, str] | None
    """The lowest and the highest, where the values have an order."""
    most_frequent: tuple[tuple[str, int], ...]
    """The most frequent categories with their records."""
    missing_codes: tuple[str, ...]
    """Codes that the dictionary declares missing, as far as they occur."""
    oddities: tuple[str, ...]

    @property
    def sketch(self) -> str:
        """The values in a line.

        >>> import pyarrow as pa
        >>> people = Dataset.from_arrow(pa.table({"age": [20, 21, 21, 24] * 9}))
        >>> summarise_attribute(people, "age").sketch
        '3 values  ▄█▁▁▄  20 to 24'
        """
        parts = [f"{self.values:,} value{'s' * (self.values != 1)}"]
        if self.span is not None:
            parts.append(f"{self.chart}  {self.span[0]} to {self.span[1]}".strip())
        elif self.most_frequent:
            shares = (
                f"{value} {count / max(1, self.records):.0%}" for value, count in self.most_frequent
            )
            parts.append(", ".join(shares))
        if self.missing:
            parts.append(f"{self.missing / max(1, self.records):.1%} missing")
        return "  ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values."""
        return {
            "attribute": self.name,
            "description": self.description,
            "kind": self.kind,
            "values": self.values,
            "missing": self.missing,
            "chart": self.chart,
            "span": None if self.span is None else list(self.span),
            "most_frequent": [list(pair) for pair in self.most_frequent],
            "missing_codes": list(self.missing_codes),
            "odd": list(self.oddities),
        }


@dataclass(frozen=True)
class DataSummary:
    """What there is to see of a dataset: each attribute, and what is odd about the records."""

    name: str
    records: int
    attributes: tuple[AttributeSummary, ...] = field(default=())
    oddities: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values."""
        return {
            "dataset": self.name,
            "records": self.records,
            "attributes": [each.to_dict() for each in self.attributes],
            "odd": list(self.oddities),
        }


def summarise(dataset: Dataset) -> DataSummary:
    """A first look at all attributes of a dataset.

    >>> import pyarrow as pa
    >>> table = pa.table({"age": [20, 21, 999] * 9, "town": ["A", "a ", "B"] * 9})
    >>> people = Dataset.from_arrow(table)
    >>> for attribute in summarise(people).attributes:
    ...     print(attribute.name, attribute.oddities)
    age ('999 may mean missing (9 records): it lies far from all other values',)
    town ('texts that differ only by capitals or blanks: "A", "a "',)
    """
    remarks: dict[str, list[str]] = {}
    for remark in compare(dataset):
        remarks.setdefault(remark.attribute, []).append(remark.message.rstrip("."))
    attributes = tuple(
        _summarise_column(dataset, name, tuple(remarks.get(name, ()))) for name in dataset.names
    )
    oddities = (*_find_repeated_columns(dataset), *_find_repeated_records(dataset))
    return DataSummary(dataset.name, dataset.rows, attributes, oddities)


def summarise_attribute(dataset: Dataset, attribute: str) -> AttributeSummary:
    """A first look at one attribute."""
    [name] = dataset.attributes(attribute, "attribute")
    return _summarise_column(dataset, name, ())


def _summarise_column(dataset: Dataset, name: str, remarks: tuple[str, ...]) -> AttributeSummary:
    about = dataset.dictionary[name]
    column = dataset.columns[name]
    values = column.values.to_pylist()
    counts = np.bincount(column.codes, minlength=len(values) + 1).astype(np.int64)
    missing = int(counts[len(values)]) if column.has_missing else 0
    counts = counts[: len(values)]
    places = _place_values(column, values)
    declared = [value for value in values if any(code.covers(value) for code in about.missing)]
    told = [format_value(value) for value in declared]
    is_secret = places is None and len(values) > tuning.NEARLY_ALL_SHARE * (dataset.rows - missing)
    suspects = _find_missing_numbers(values, places, declared)
    shown = [n for n, value in enumerate(values) if value not in suspects and value not in declared]
    oddities = (*remarks, *_find_oddities(values, counts, suspects, dataset.rows, is_secret))
    labels = about.labels
    return AttributeSummary(
        name=name,
        description=about.description,
        kind=_name_kind(column),
        values=len(values),
        missing=missing,
        records=dataset.rows,
        chart="" if places is None else _draw_bars([places[n] for n in shown], counts[shown]),
        span=None if places is None or not shown else _find_span(values, shown),
        most_frequent=() if is_secret else _list_frequent(values, counts, labels),
        missing_codes=tuple(told),
        oddities=oddities,
    )


def _name_kind(column: Column) -> str:
    import pyarrow as pa

    kind = column.values.type
    if pa.types.is_integer(kind):
        return "whole numbers"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    if pa.types.is_date(kind):
        return "dates"
    if pa.types.is_timestamp(kind):
        return "moments"
    return "truth values" if pa.types.is_boolean(kind) else "texts"


def _place_values(column: Column, values: Sequence[Any]) -> list[float] | None:
    """Where values with an order are on a line; None where they are names."""
    import pyarrow as pa

    kind = column.values.type
    if not values or pa.types.is_boolean(kind):
        return None
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return [float(value.toordinal()) for value in values]
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = [float(value) for value in values]
        return numbers if all(map(math.isfinite, numbers)) else None
    return None


def _draw_bars(places: Sequence[float], counts: Ints) -> str:
    """A bar for each part of the range, as high as its share of the fullest."""
    if len(places) < 2:
        return ""
    low, high = min(places), max(places)
    parts = min(tuning.SUMMARY_BARS, math.ceil(high - low) + 1 if high - low >= 2 else 2)
    slot = np.minimum(((np.array(places) - low) / (high - low) * parts).astype(int), parts - 1)
    filled = np.bincount(slot, weights=counts, minlength=parts)
    heights = np.ceil(filled / filled.max() * len(BARS)).astype(int)
    return "".join(BARS[max(height, 1) - 1] for height in heights)


def _find_span(values: Sequence[Any], shown: Sequence[int]) -> tuple[str, str]:
    return _format_magnitude(values[shown[0]]), _format_magnitude(values[shown[-1]])


def _format_magnitude(value: Any) -> str:
    """A number as people read it; years stay as they are.

    >>> [_format_magnitude(value) for value in (1997, 20000, 8.33333333333, 100000000.0)]
    ['1997', '20,000', '8.33333', '100,000,000']
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10_000 else f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:,.6g}"
    return format_value(value)


def _list_frequent(
    values: Sequence[Any], counts: Ints, labels: Mapping[Any, str]
) -> tuple[tuple[str, int], ...]:
    """The most frequent values that several records share, with their label if there is one."""
    order = sorted(range(len(values)), key=lambda n: (-int(counts[n]), n))[: tuning.SUMMARY_VALUES]
    return tuple(
        (labels.get(values[n], format_value(values[n])), int(counts[n]))
        for n in order
        if counts[n] > 1
    )


def _find_missing_numbers(
    values: Sequence[Any], places: Sequence[float] | None, declared: Sequence[Any]
) -> list[Any]:
    """Codes such as 999 and -1 that lie apart from all other values."""
    if places is None or len(values) < 3 or hasattr(values[0], "year"):
        return []
    suspects: list[Any] = []
    rest = [n for n, value in enumerate(values) if value not in declared]
    while len(rest) > 2:
        inner = places[rest[1]], places[rest[-2]]
        span = max(inner[1] - inner[0], 1.0)
        if places[rest[-1]] in _MISSING_NUMBERS and (places[rest[-1]] - inner[1]) > span:
            suspects.append(values[rest.pop()])
        elif places[rest[0]] in _MISSING_NUMBERS and places[rest[0]] < 0 <= inner[0]:
            suspects.append(values[rest.pop(0)])
        elif places[rest[0]] < 0 and len(rest) > 3 and _are_negative_codes(places, rest):
            suspects += [values[n] for n in rest if places[n] < 0]
            rest = [n for n in rest if places[n] >= 0]
        else:
            break
    return sorted(suspects)


def _are_negative_codes(places: Sequence[float], rest: Sequence[int]) -> bool:
    """Whether all that is below 0 are codes: several reasons why a value is missing."""
    negative = [places[n] for n in rest if places[n] < 0]
    return len(negative) <= 6 < len(rest) and all(place in _MISSING_NUMBERS for place in negative)


def _find_oddities(
    values: Sequence[Any], counts: Ints, suspects: Sequence[Any], rows: int, is_secret: bool
) -> Iterator[str]:
    if not values:
        yield "every value is missing"
    elif len(values) == 1 and int(counts[0]) == rows > 1:
        yield "all records have the same value"
    for suspect in suspects:
        records = int(counts[values.index(suspect)])
        told = f"{format_value(suspect)} may mean missing ({_count_records(records)})"
        yield f"{told}: it lies far from all other values"
    texts = [value for value in values if isinstance(value, str)]
    if is_secret or len(texts) < len(values):
        return
    for n, text in enumerate(texts):
        if text.strip().casefold() in _MISSING_TEXTS:
            yield f'"{text}" may mean missing ({_count_records(int(counts[n]))})'
    yield from _find_spellings(texts)


def _count_records(records: int) -> str:
    return f"{records:,} record{'s' * (records != 1)}"


def _find_spellings(texts: Sequence[str]) -> Iterator[str]:
    """Texts that are one but for capitals and blanks."""
    forms: dict[str, list[str]] = {}
    for text in texts:
        forms.setdefault(" ".join(text.split()).casefold(), []).append(text)
    alike = [group for group in forms.values() if len(group) > 1]
    if alike:
        shown = ", ".join(f'"{text}"' for text in alike[0])
        more = f" and {len(alike) - 1:,} more" if len(alike) > 1 else ""
        yield f"texts that differ only by capitals or blanks: {shown}{more}"


def _find_repeated_columns(dataset: Dataset) -> Iterator[str]:
    """Attributes that say the same of every record in other words."""
    first_of_kind: dict[bytes, str] = {}
    for name in dataset.names:
        column = dataset.columns[name]
        if column.cardinality < 2:
            continue
        _, first, inverse = np.unique(column.codes, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))
        pattern = order[inverse].astype(np.uint32).tobytes()
        other = first_of_kind.setdefault(pattern, name)
        if other != name:
            yield f'"{name}" says the same of every record as "{other}"'


def _find_repeated_records(dataset: Dataset) -> Iterator[str]:
    """Records that are equal in every attribute; of very many they are not looked for."""
    if dataset.rows > tuning.MAX_COMPARED_RECORDS:
        return
    combined = np.zeros(dataset.rows, np.int64)
    for name in dataset.names:
        codes = dataset.columns[name].codes.astype(np.int64)
        combined = combined * (int(codes.max(initial=0)) + 1) + codes
        combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
    repeated = dataset.rows - len(np.unique(combined))
    if repeated:
        verb = "repeats" if repeated == 1 else "repeat"
        yield f"{_count_records(repeated)} {verb} another one in every attribute"
