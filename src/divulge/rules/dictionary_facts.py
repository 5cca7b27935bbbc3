"""A dataset as facts that rules for any dataset can read: its attributes, roles and values.

`microdb(M)`, `att(M, A)`, `category(M, A, C)`, `val(M, I, A, V)` and the like say of every dataset
the same, so that a rule need not name the attributes of one. A record is called by its identifier
where the dataset has one, and by its number from 1 otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from divulge.data.value_texts import format_value
from divulge.rules.language.syntax import Atom, Statement, walk_nodes
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data import Dataset
    from divulge.data.column import Column
    from divulge.data.dictionary import Role
    from divulge.data.proposals.known_attributes import Experience
    from divulge.rules.language.program import Program


ARITIES = {
    "microdb": 1,
    "att": 2,
    "category": 3,
    "decided": 2,
    "val": 4,
    "weight": 3,
    "expbase": 2,
    "type_of": 2,
    "sub_type_of": 2,
    "inst_of": 2,
    "is_a": 2,
}
"""The predicates of the dictionary, and how many arguments each has."""


@dataclass(frozen=True)
class RecordKeys:
    """What facts call each record: the values of an identifier, or numbers from 1."""

    values: pa.Array
    attribute: str | None
    """The identifier; None if records are called by their numbers."""


def read_record_keys(dataset: Dataset, *, by_number: bool = False) -> RecordKeys:
    """What facts call each record of a dataset.

    Args:
        dataset: the records.
        by_number: numbers from 1 in any case. Otherwise the identifier, if there is exactly one.

    Raises:
        InvalidInput: if the identifier is missing in some records, or several share one.

    >>> import divulge as dv
    >>> keys = read_record_keys(dv.datasets.local_suppression_example())
    >>> keys.attribute, len(keys.values)
    ('Id', 7)
    """
    import pyarrow as pa

    identifiers = dataset.dictionary.having("identifier")
    if by_number or len(identifiers) != 1:
        return RecordKeys(pa.array(np.arange(1, dataset.rows + 1)), None)
    [name] = identifiers
    column = dataset.columns[name]
    wrong = []
    missing = int(np.count_nonzero(column.codes == column.missing_code))
    if missing:
        wrong.append(f"is missing in {missing:,} of {dataset.rows:,} {dataset.subjects}")
    repeated = dataset.rows - missing - len(column.values)
    if repeated > 0:
        wrong.append(f"is the same in {repeated:,} {dataset.subjects} as in an earlier one")
    if wrong:
        message = (
            f"{' and '.join(wrong)}, so that rules could not tell whom they speak of. Call "
            "records by their numbers (by_number=True)."
        )
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem(f'identifier "{name}"', message)])
    whole = pa.types.is_integer(column.values.type)
    texts = column.values if whole else pa.array(_list_texts(column), pa.string())
    return RecordKeys(texts.take(pa.array(column.codes)), name)


def list_dictionary_facts(
    dataset: Dataset,
    program: Program | None = None,
    *,
    only: Collection[str] | None = None,
    among: Iterable[str] | None = None,
    by_number: bool = False,
    experience: Experience | None = None,
) -> dict[str, pa.Table]:
    """List what a dataset says of itself, as facts that `evaluate` takes.

    Args:
        dataset: the records.
        program: only the predicates that it reads are made; all of them if not given.
        only: of these predicates at most.
        among: the attributes whose values are told (`val`); all of them if not given.
        by_number: records are called by their numbers, also where there is an identifier.
        experience: attributes whose role is known (`expbase`); the shipped base and the user's own
            if not given.

    Returns:
        By predicate: `microdb(M)`; `att(M, A)`; `category(M, A, C)`, the roles that are declared,
        and `decided(A, C)`, the same without the dataset; `val(M, I, A, V)`, values as texts, with
        a null for a missing one; `weight(M, I, W)`, how many a record stands for (1 if no attribute
        is a weight); `expbase(A, C)`; and of hierarchies `type_of(A, X)`, `sub_type_of(X, Y)`,
        `inst_of(V, X)` and `is_a(V, Z)`.

    Raises:
        InvalidInput: if the identifier or the weight is missing or wrong in some records.

    >>> import divulge as dv
    >>> facts = list_dictionary_facts(dv.datasets.local_suppression_example())
    >>> facts["val"].num_rows, facts["category"].to_pylist()[0]["C"]
    (35, 'identifier')
    """
    names = dataset.names if among is None else dataset.attributes(among, "among")
    makers: Mapping[str, Callable[[], pa.Table]] = {
        "microdb": lambda: _build_table("M", [(dataset.name,)]),
        "att": lambda: _build_table("MA", [(dataset.name, name) for name in dataset.names]),
        "category": lambda: _build_table(
            "MAC", [(dataset.name, name, role) for name, role in _list_roles(dataset)]
        ),
        "decided": lambda: _build_table("AC", _list_roles(dataset)),
        "val": lambda: _list_values(dataset, names, by_number),
        "weight": lambda: _list_weights(dataset, by_number),
        "expbase": lambda: _build_table("AC", _list_experience(experience)),
        "type_of": lambda: _build_table("AX", _list_types(dataset)),
        "sub_type_of": lambda: _build_table("XY", _list_coarser_types(dataset)),
        "inst_of": lambda: _build_table("VX", _list_instances(dataset)),
        "is_a": lambda: _build_table("VZ", _list_coarser_values(dataset)),
    }
    makers = {name: make for name, make in makers.items() if only is None or name in only}
    if program is None:
        return {name: make() for name, make in makers.items()}
    read = _list_read_predicates(program.statements)
    return {name: make() for name, make in makers.items() if (name, ARITIES[name]) in read}


def _list_read_predicates(statements: Iterable[Statement]) -> set[tuple[str, int]]:
    """The predicates of bodies with how many arguments they have: another number is another one."""
    return {
        (node.predicate, len(node.arguments))
        for statement in statements
        for literal in getattr(statement, "body", ())
        for node in walk_nodes(literal)
        if isinstance(node, Atom) and not node.is_plugin
    }


def _build_table(names: str, rows: Iterable[tuple[str, ...]]) -> pa.Table:
    """A table of texts, also where it has no rows: rules need the kinds of its values."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.table(
        {name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)}
    )


def _list_roles(dataset: Dataset) -> list[tuple[str, Role]]:
    return [(one.name, one.role) for one in dataset.dictionary if one.role is not None]


def _list_experience(experience: Experience | None) -> list[tuple[str, Role]]:
    from divulge.data.proposals.known_attributes import Experience

    known = Experience.own() + Experience.shipped() if experience is None else experience
    return list(dict.fromkeys((attribute.name, attribute.role) for attribute in known))


def _list_texts(column: Column) -> list[str]:
    return [format_value(value) for value in column.values.to_pylist()]


def _list_values(dataset: Dataset, names: Sequence[str], by_number: bool) -> pa.Table:
    """All cells, attribute by attribute; texts are written once each and referred to by codes."""
    import pyarrow as pa

    keys = read_record_keys(dataset, by_number=by_number).values
    texts: list[str] = []
    indices = np.empty(dataset.rows * len(names), np.int32)
    missing = np.zeros(indices.size, np.bool_)
    for number, name in enumerate(names):
        column = dataset.columns[name]
        place = slice(number * dataset.rows, (number + 1) * dataset.rows)
        indices[place] = column.codes
        missing[place] = column.codes == column.missing_code
        indices[place] += len(texts)
        texts += _list_texts(column)
    values = pa.DictionaryArray.from_arrays(
        pa.array(indices, mask=missing), pa.array(texts, pa.string())
    )
    attributes = pa.DictionaryArray.from_arrays(
        pa.array(np.repeat(np.arange(len(names), dtype=np.int32), dataset.rows)),
        pa.array(names, pa.string()),
    )
    microdata = _repeat_name(dataset.name, indices.size)
    records = pa.chunked_array([keys] * len(names), keys.type)
    return pa.table({"M": microdata, "I": records, "A": attributes, "V": values})


def _repeat_name(name: str, count: int) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(count, np.int32)), pa.array([name], pa.string())
    )


def _list_weights(dataset: Dataset, by_number: bool) -> pa.Table:
    """A number for each record: 1 where the data are the whole population."""
    import pyarrow as pa

    weights = pa.array(np.ones(dataset.rows, np.int64))
    for name in dataset.dictionary.having("weight"):
        column = dataset.columns[name]
        place = f'weight "{name}"'
        kind = column.values.type
        tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        if not any(test(kind) for test in tests):
            message = "contains values that are not numbers."
            raise InvalidInput(f'dataset "{dataset.name}"', [Problem(place, message)])
        weights = column.to_arrow()
        if weights.null_count:
            message = f"is missing in {weights.null_count:,} of {dataset.rows:,} records."
            raise InvalidInput(f'dataset "{dataset.name}"', [Problem(place, message)])
    keys = read_record_keys(dataset, by_number=by_number).values
    return pa.table({"M": _repeat_name(dataset.name, dataset.rows), "I": keys, "W": weights})


def _list_types(dataset: Dataset) -> list[tuple[str, str]]:
    return [(name, _name_type(name, 0)) for name, _ in _list_paths(dataset)]


def _list_coarser_types(dataset: Dataset) -> list[tuple[str, str]]:
    return [
        (_name_type(name, level), _name_type(name, level + 1))
        for name, paths in _list_paths(dataset)
        for level in range(len(paths[0]) - 1)
    ]


def _list_instances(dataset: Dataset) -> list[tuple[str, str]]:
    pairs = (
        (value, _name_type(name, level))
        for name, paths in _list_paths(dataset)
        for path in paths
        for level, value in enumerate(path)
    )
    return list(dict.fromkeys(pairs))


def _list_coarser_values(dataset: Dataset) -> list[tuple[str, str]]:
    pairs = (pair for _, paths in _list_paths(dataset) for path in paths for pair in pairwise(path))
    return list(dict.fromkeys(pairs))


def _name_type(attribute: str, level: int) -> str:
    return f"{attribute} (level {level})"


def _list_paths(dataset: Dataset) -> list[tuple[str, list[list[str]]]]:
    """By attribute with a hierarchy, each value of the data with what it becomes level by level."""
    found = []
    for attribute in dataset.dictionary:
        hierarchy = attribute.hierarchy
        if hierarchy is None:
            continue
        values = dataset.columns[attribute.name].values.to_pylist()
        lacking = set(hierarchy.lacks(values))
        paths = [
            [format_value(hierarchy.at(value, level)) for level in range(hierarchy.height + 1)]
            for value in values
            if value not in lacking
        ]
        if paths:
            found.append((attribute.name, paths))
    return found
