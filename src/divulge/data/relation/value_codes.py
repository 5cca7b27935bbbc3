"""Values of a relation's attributes as numbers, given by the engine: only figures come home."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from divulge.data.relation.relation import Relation
    from divulge.engines import Session


def keep_value_codes(session: Session, relation: Relation, name: str) -> str:
    """Number the values of an attribute from 0, a missing one too; the name of their table.

    It has a value (`v`), its number (`code`) and how many records have it (`n`).
    """
    column = relation.find_column(name)
    table = f"codes_{column}"
    session.keep(
        table,
        f"SELECT v, CAST(row_number() OVER (ORDER BY v) - 1 AS INTEGER) AS code, n "
        f"FROM (SELECT {column} AS v, count(*) AS n FROM records GROUP BY {column}) AS q",
    )
    return table


def build_code_join(relation: Relation, name: str, alias: str) -> str:
    """The join that gives each record `r` the code of its value, as `alias.code`."""
    column = relation.find_column(name)
    return f"LEFT JOIN codes_{column} AS {alias} ON r.{column} IS NOT DISTINCT FROM {alias}.v"
