"""Recoding: values become coarser, for a whole column or for one record, a level at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data import Column, Dataset, Hierarchy
from divulge.data.column import replace_values as with_values
from divulge.data.hierarchies.numbers import Caps, parse_number
from divulge.data.value_texts import format_value
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.protection.changes.decision_log import Change


def replay_recoding(column: Column, change: Change) -> Column:
    """A column after a recoding of all its values."""
    import pyarrow as pa

    became = dict(zip(map(format_value, change.was), change.became, strict=True))
    texts = [became.get(format_value(v), format_value(v)) for v in column.values.to_pylist()]
    return with_values(column, pa.array(texts, pa.string()))


def build_hierarchy_from_pairs(
    pairs: pa.Table | Iterable[tuple[Any, Any]], subject: str
) -> Hierarchy:
    """A hierarchy from "is a" pairs: a table of two columns, or tuples (value, what it is one of).

    Raises:
        InvalidInput: if a value has two parents, or the pairs go round in a circle.

    >>> pairs = [("Milano", "North"), ("North", "Italy")]
    >>> build_hierarchy_from_pairs(pairs, "Area").at("Milano", 2)
    'Italy'
    """
    import pyarrow as pa

    if isinstance(pairs, pa.Table):
        if pairs.num_columns != 2:
            message = f"has {pairs.num_columns} columns; pairs are two: a value, what it is one of."
            raise InvalidInput(subject, [Problem("is_a", message)])
        first, second = (column.to_pylist() for column in pairs.columns)
        pairs = list(zip(first, second, strict=True))
    return Hierarchy.from_pairs(
        [(format_value(one), format_value(other)) for one, other in pairs], subject
    )


def add_hierarchies(dataset: Dataset, hierarchies: Mapping[str, Any]) -> Dataset:
    """The dataset with more hierarchies: objects, files of levels, or "is a" pairs.

    Raises:
        InvalidInput: for an attribute that is not there, or a hierarchy that is no tree.
    """
    dataset.attributes(list(hierarchies), "is_a") if hierarchies else None
    attributes = dict(dataset.dictionary.attributes)
    for name, source in hierarchies.items():
        if isinstance(source, Hierarchy):
            hierarchy = source
        elif isinstance(source, str | Path):
            hierarchy = Hierarchy.from_file(source)
        else:
            hierarchy = build_hierarchy_from_pairs(source, f'hierarchy of "{name}"')
        attributes[name] = replace(attributes[name], hierarchy=hierarchy)
    return replace(dataset, dictionary=replace(dataset.dictionary, attributes=attributes))


def coarsen_to_levels(dataset: Dataset, levels: Mapping[str, int]) -> Dataset:
    """A dataset with its columns at some levels of their hierarchies."""
    columns = dict(dataset.columns)
    for name, level in levels.items():
        hierarchy = dataset.dictionary[name].hierarchy
        if hierarchy is not None and level:
            columns[name] = hierarchy.coarsen(columns[name], level)
    return replace(dataset, columns=columns)


def find_remaining_levels(
    original: Dataset, released: Dataset, levels: Mapping[str, int]
) -> dict[str, int]:
    """The levels that columns still stand at, of those that they were once taken to."""
    remaining = {}
    for name, highest_level in levels.items():
        hierarchy = original.dictionary[name].hierarchy
        assert hierarchy is not None  # noqa: S101  # it was climbed
        released_texts = {
            format_value(value) for value in released.columns[name].values.to_pylist()
        }
        for level in range(highest_level + 1):
            column = hierarchy.coarsen(original.columns[name], level)
            if released_texts <= {format_value(value) for value in column.values.to_pylist()}:
                break
        if level:
            remaining[name] = level
    return remaining


def apply_recoding(dataset: Dataset, name: str, column: Column, level: int) -> Dataset:
    """A dataset with one column at a level; its hierarchy goes on from there.

    Levels keep their numbers: up to the one that was climbed, a coarse value is itself.
    """
    columns = {**dataset.columns, name: column}
    attribute = dataset.dictionary[name]
    if attribute.hierarchy is None or level == 0:
        return replace(dataset, columns=columns)
    table = attribute.hierarchy.table
    if table is None:
        table = attribute.hierarchy.over(dataset.columns[name].values.to_pylist()).table
    rows = {
        ladder[level - 1]: [ladder[level - 1]] * (level + 1) + list(ladder[level:])
        for ladder in (table or {}).values()
    }
    if not rows:
        return replace(dataset, columns=columns)
    above = Hierarchy.from_levels(rows.values(), f'hierarchy of "{name}"')
    attributes = {**dataset.dictionary.attributes, name: replace(attribute, hierarchy=above)}
    dictionary = replace(dataset.dictionary, attributes=attributes)
    return replace(dataset, columns=columns, dictionary=dictionary)


def drop_unfitting_labels(released: Dataset, original: Dataset) -> Dataset:
    """Labels, and codes that mean missing, are of the original values: texts have none."""
    attributes = dict(released.dictionary.attributes)
    for name, column in released.columns.items():
        attribute = attributes[name]
        if column.values.type != original.columns[name].values.type and (
            attribute.labels or attribute.missing
        ):
            attributes[name] = replace(attribute, labels={}, missing=())
    return replace(released, dictionary=replace(released.dictionary, attributes=attributes))


def capped(
    dataset: Dataset, attribute: str, bottom: float | None = None, top: float | None = None
) -> Dataset:
    """Top and bottom coding: numbers beyond an edge become the edge, as text ("<= 18", ">= 90").

    >>> import pyarrow as pa
    >>> people = Dataset.from_arrow(pa.table({"age": [3, 40, 99]}))
    >>> capped(people, "age", bottom=18, top=90).to_arrow()["age"].to_pylist()
    ['<= 18', '40', '>= 90']
    """
    import pyarrow as pa

    [attribute] = dataset.attributes(attribute, "attribute")
    if bottom is not None and top is not None and bottom >= top:
        raise InvalidInput("capped", [Problem("bottom", f"{bottom:g} is not below {top:g}.")])
    column = dataset.columns[attribute]
    values = column.values.to_pylist()
    numbers = [parse_number(value) for value in values]
    caps = Caps(bottom, top)
    if any(
        number is None and value == value for number, value in zip(numbers, values, strict=True)
    ):
        message = f'"{attribute}" contains values that are not numbers.'
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("attribute", message)])
    texts = [
        (None if number is None else caps.find_label(number)) or format_value(value)
        for number, value in zip(numbers, values, strict=True)
    ]
    coded = with_values(column, pa.array(texts, pa.string()))
    capped_dataset = replace(dataset, columns={**dataset.columns, attribute: coded})
    return drop_unfitting_labels(capped_dataset, dataset)


def without_identifiers(dataset: Dataset) -> Dataset:
    """The dataset without the attributes that name people outright.

    >>> import divulge as dv
    >>> "Id" in without_identifiers(dv.datasets.local_suppression_example()).names
    False
    """
    identifiers = set(dataset.dictionary.having("identifier"))
    return dataset.select([name for name in dataset.names if name not in identifiers])


def pseudonyms(dataset: Dataset, key: bytes, attributes: Iterable[str] | None = None) -> Dataset:
    """Identifiers replaced by keyed pseudonyms: the same person, the same word, no way back.

    HMAC-SHA-256 with a secret key: whoever lacks the key cannot try out names. Keep the key out
    of the release; a new key for each release keeps releases from being linked.

    Args:
        dataset: the records.
        key: at least 16 secret bytes, `secrets.token_bytes(32)` for instance.
        attributes: which ones; all identifiers if not given.

    >>> import divulge as dv
    >>> hidden = pseudonyms(dv.datasets.local_suppression_example(), b"sixteen bytes or more")
    >>> len(set(hidden.to_arrow()["Id"].to_pylist()))
    7
    """
    import hashlib
    import hmac

    import pyarrow as pa

    raw_key: object = key
    if not isinstance(raw_key, bytes) or len(key) < 16:
        raise InvalidInput("pseudonyms", [Problem("key", "must be 16 bytes or more.")])
    identifiers = (
        dataset.dictionary.having("identifier") if attributes is None else list(attributes)
    )
    columns = dict(dataset.columns)
    for name in dataset.attributes(identifiers, "attributes") if identifiers else []:
        words = [
            hmac.new(key, f"{name}\x00{format_value(value)}".encode(), hashlib.sha256).hexdigest()[
                :24
            ]
            for value in columns[name].values.to_pylist()
        ]
        columns[name] = with_values(columns[name], pa.array(words, pa.string()))
    # A pseudonym names nobody outright.
    attributes = {
        name: replace(attribute, role="non_identifying") if name in identifiers else attribute
        for name, attribute in dataset.dictionary.attributes.items()
    }
    dictionary = replace(dataset.dictionary, attributes=attributes)
    pseudonymised = replace(dataset, columns=columns, dictionary=dictionary)
    return drop_unfitting_labels(pseudonymised, dataset)


def build_level_tables(
    column: Column, hierarchy: Hierarchy | None
) -> tuple[list[np.ndarray[Any, np.dtype[np.int32]]], list[str]]:
    """For local recoding: what each node becomes at every level, and the text of each node.

    Nodes are the values and all that is above them; the table of a level has a place for every
    node and, last, one for HIDDEN.
    """
    from divulge.protection.changes.kernels import HIDDEN

    texts = [format_value(value) for value in column.values.to_pylist()]
    number = {text: code for code, text in enumerate(texts)}
    height = (
        0 if hierarchy is None or hierarchy.lacks(column.values.to_pylist()) else hierarchy.height
    )
    ancestors: list[dict[int, int]] = [{} for _ in range(height)]
    for code, value in enumerate(column.values.to_pylist()):
        assert hierarchy is not None or height == 0  # noqa: S101  # no levels without a hierarchy
        nodes = (
            [format_value(hierarchy.at(value, level)) for level in range(1, height + 1)]
            if hierarchy and height
            else []
        )
        places = [code, *(number.setdefault(node, len(number)) for node in nodes)]
        for level in range(1, height + 1):
            for below in places[:level]:
                ancestors[level - 1][below] = places[level]
    tables = []
    for level in range(height):
        table = np.arange(len(number) + 1, dtype=np.int32)
        for below, above in ancestors[level].items():
            table[below] = above
        table[-1] = HIDDEN
        tables.append(table)
    return tables, list(number)
