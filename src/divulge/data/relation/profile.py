"""What an engine tells of a relation's values: which there are, and which are no numbers.

It is what a dictionary is held against where there are no columns in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from divulge.data.relation.relation import Relation

if TYPE_CHECKING:
    from divulge.data.column import Column
    from divulge.engines import Session

NUMERIC_TEXT = r"-?[0-9]+([.,][0-9]+)?"
"""A number, as it stands in a column of texts."""


@dataclass(frozen=True)
class ValueProfile:
    """Of some attributes their values, and of texts how many are numbers."""

    columns: dict[str, Column]
    """By attribute, one record a value; of weights only the least, and a missing one."""
    other_texts: dict[str, int]
    """By attribute of texts, most of them numbers or not: how many are something else."""


def profile_relation(relation: Relation) -> ValueProfile:
    """What the dictionary of a relation is compared with; one session, a query or two."""
    import pyarrow as pa

    listed = [
        attribute.name
        for attribute in relation.dictionary
        if attribute.labels or attribute.missing or attribute.hierarchy
    ]
    weights = [name for name in relation.dictionary.having("weight") if name not in listed]
    texts = [name for name in relation.names if pa.types.is_string(relation.find_type(name))]
    if not (listed or weights or texts):
        return ValueProfile({}, {})
    with relation.open() as session:
        columns = {name: _read_values(session, relation, name) for name in listed}
        columns |= {name: _read_extremes(session, relation, name) for name in weights}
        return ValueProfile(columns, _count_other_texts(session, relation, texts))


def _read_values(session: Session, relation: Relation, name: str) -> Column:
    column = relation.find_column(name)
    found = session.table(f"SELECT {column} AS v FROM records GROUP BY {column}")
    return relation.encode_values(name, found.column("v").combine_chunks())


def _read_extremes(session: Session, relation: Relation, name: str) -> Column:
    """The least value, and a missing one if there is any."""
    import pyarrow as pa

    column = relation.find_column(name)
    found = session.table(
        f"SELECT min({column}) AS v, count(*) - count({column}) AS missing FROM records"
    )
    values = found.column("v").combine_chunks()
    if found.column("missing")[0].as_py():
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return relation.encode_values(name, values)


def _count_other_texts(session: Session, relation: Relation, names: list[str]) -> dict[str, int]:
    """How many texts are no numbers, where some are."""
    if not names:
        return {}
    parts = []
    for place, name in enumerate(names):
        column = relation.find_column(name)
        parts.append(f"count({column}) AS present{place}")
        parts.append(
            f"sum(CASE WHEN regexp_matches({column}, '^{NUMERIC_TEXT}$') THEN 1 ELSE 0 END) "
            f"AS numbers{place}"
        )
    [found] = session.table(f"SELECT {', '.join(parts)} FROM records").to_pylist()
    counts = {
        name: (int(found[f"present{place}"]), int(found[f"numbers{place}"]))
        for place, name in enumerate(names)
    }
    return {name: present - numbers for name, (present, numbers) in counts.items() if numbers}
