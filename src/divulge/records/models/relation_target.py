"""One person whose values are known, looked for among records that stay where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data.relation import find_value_type
from divulge.work import Problems

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from divulge.data import Relation
    from divulge.engines import Session

TARGET = "target"


def count_matches(relation: Relation, known: Sequence[str], target: Mapping[str, Any]) -> int:
    """How many records have the values that are known of the target.

    Raises:
        InvalidInput: if none has, or the target does not fit what is known.
    """
    values = _convert_target(relation, known, target)
    with relation.open() as session:
        matching = _count_matching(session, relation, values)
        if matching:
            return matching
        problems = Problems("attack")
        for name, value in values.items():
            if not _count_matching(session, relation, {name: value}):
                problems.add("target", f'nobody has the value given for "{name}".')
        problems.raise_any()
        problems.add("target", "no record has these values together.")
        problems.raise_any()
    return 0


def count_target_values(
    relation: Relation, known: Sequence[str], attribute: str, target: Mapping[str, Any]
) -> tuple[npt.NDArray[np.float64], list[str]]:
    """How often each value of an attribute occurs among the records that match; their names."""
    values = _convert_target(relation, known, target)
    column = relation.find_column(attribute)
    with relation.open() as session:
        session.register(TARGET, _build_target(relation, values))
        counts = session.table(
            f"SELECT r.{column} AS value, count(*) AS n FROM records AS r "
            f"JOIN {TARGET} AS t ON {_match(relation, values)} GROUP BY r.{column}"
        )
    found = relation.encode_values(attribute, counts.column("value").combine_chunks())
    numbers = np.bincount(found.codes, counts.column("n").to_numpy(), max(1, found.cardinality))
    labels = [str(found.value(code)) for code in range(max(1, found.cardinality))]
    return numbers.astype(np.float64), labels


def _convert_target(
    relation: Relation, known: Sequence[str], target: Mapping[str, Any]
) -> dict[str, pa.Scalar]:
    """The target's values as the columns have them."""
    problems = Problems("attack")
    values = {}
    for name in known:
        if name not in target:
            problems.add("target", f'says nothing of "{name}", which is known.')
            continue
        value = _convert_value(target[name], find_value_type(relation.kinds[name]))
        if value is None:
            problems.add("target", f'nobody has the value given for "{name}".')
            continue
        values[name] = value
    for name in target:
        if name not in known:
            problems.add("target", f'"{name}" is not among what is known.', name, list(known))
    problems.raise_any()
    return values


def _convert_value(value: Any, kind: pa.DataType) -> pa.Scalar | None:
    """A value of a column; None where no column of this type has it."""
    import pyarrow as pa

    try:
        scalar = pa.scalar(value, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, float) and scalar.as_py() != value:
        return None  # Arrow cuts a fraction off
    return scalar


def _count_matching(session: Session, relation: Relation, values: Mapping[str, pa.Scalar]) -> int:
    session.register(TARGET, _build_target(relation, values))
    found = session.arrays(
        f"SELECT count(*) AS n FROM records AS r JOIN {TARGET} AS t ON {_match(relation, values)}"
    )
    return int(found["n"][0])


def _build_target(relation: Relation, values: Mapping[str, pa.Scalar]) -> pa.Table:
    """The target as a table of one row; values never stand in SQL."""
    import pyarrow as pa

    return pa.table(
        {
            relation.find_column(name): pa.array([value.as_py()], value.type)
            for name, value in values.items()
        }
    )


def _match(relation: Relation, values: Mapping[str, Any]) -> str:
    columns = [relation.find_column(name) for name in values]
    return " AND ".join(f"r.{column} IS NOT DISTINCT FROM t.{column}" for column in columns)
