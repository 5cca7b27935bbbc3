"""Tables of facts: all of a predicate, those of the last round, and candidates for the next.

A fact stands with the number of the rule that gave it and the round in which it came.
Arguments that keep only their latest value (see `checks.monotonicity`) replace it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from divulge.rules.checks.monotonicity import UP, Directions
from divulge.rules.checks.type_inference import Types
from divulge.rules.checks.value_types import ValueType
from divulge.rules.engine.sql_values import name_sql_type
from divulge.rules.engine.task_runner import TaskRunner


@dataclass(frozen=True)
class PredicateTable:
    """The tables of one predicate: `p` all facts, `d` those of the last round, `n` candidates."""

    number: int
    kinds: tuple[ValueType, ...]

    @property
    def facts(self) -> str:
        """The table of all facts."""
        return f"p{self.number}"

    @property
    def changes(self) -> str:
        """The table of the last round's facts."""
        return f"d{self.number}"

    @property
    def candidates(self) -> str:
        """The table of what may be new."""
        return f"n{self.number}"

    @property
    def columns(self) -> list[str]:
        """The columns of the arguments; a predicate without arguments has one that is always 0."""
        return [f"a{place}" for place in range(max(1, len(self.kinds)))]

    @property
    def declaration(self) -> str:
        """The columns with their types."""
        kinds = [name_sql_type(kind) for kind in self.kinds] or ["INTEGER"]
        return ", ".join(f"{name} {kind}" for name, kind in zip(self.columns, kinds, strict=True))


class PredicateTables:
    """The tables of all predicates."""

    def __init__(self, runner: TaskRunner, types: Types) -> None:
        self._runner = runner
        self.tables: Mapping[str, PredicateTable] = {
            name: PredicateTable(number, kinds)
            for number, (name, kinds) in enumerate(sorted(types.items()))
        }
        for table in self.tables.values():
            origin = "r INTEGER, o INTEGER"
            runner.run(f"CREATE TABLE {table.facts} ({table.declaration}, {origin})")
            runner.run(f"CREATE TABLE {table.changes} ({table.declaration}, {origin})")
            runner.run(f"CREATE TABLE {table.candidates} ({table.declaration}, r INTEGER)")

    def publish(self, predicate: str, round_number: int, moving: Directions) -> int:
        """Take over what is new among the candidates; how many facts that are."""
        table = self.tables[predicate]
        run = self._runner.run
        directions = {
            place: direction for (name, place), direction in moving.items() if name == predicate
        }
        origin = f"CAST({round_number} AS INTEGER) AS o"
        news = _select_better(table, directions) if directions else _select_unknown(table)
        run(f"CREATE OR REPLACE TABLE {table.changes} AS SELECT *, {origin} FROM ({news})")
        run(f"TRUNCATE {table.candidates}")
        count = self._runner.count(f"SELECT count(*) FROM {table.changes}")
        if count and directions:
            keys = _list_keys(table, directions)
            same = " AND ".join(f"old.{key} = new.{key}" for key in keys) or "TRUE"
            run(
                f"DELETE FROM {table.facts} AS old WHERE EXISTS "
                f"(SELECT 1 FROM {table.changes} AS new WHERE {same})"
            )
        if count:
            run(f"INSERT INTO {table.facts} FROM {table.changes}")
        return count

    def take_over(self, predicate: str, round_number: int) -> int:
        """Take all candidates for facts: of one rule, where there was no fact; how many they are.

        Nobody asks for the last round's facts here, and candidates of a rule are distinct.
        """
        table = self.tables[predicate]
        origin = f"CAST({round_number} AS INTEGER) AS o"
        self._runner.run(f"INSERT INTO {table.facts} SELECT *, {origin} FROM {table.candidates}")
        self._runner.run(f"TRUNCATE {table.candidates}")
        return self._runner.count(f"SELECT count(*) FROM {table.facts}")

    def mark_all_changed(self, predicate: str) -> int:
        """Take all facts of a predicate for those of the last round."""
        table = self.tables[predicate]
        self._runner.run(f"CREATE OR REPLACE TABLE {table.changes} AS FROM {table.facts}")
        return self._runner.count(f"SELECT count(*) FROM {table.changes}")


def _list_keys(table: PredicateTable, directions: Mapping[int, str]) -> list[str]:
    return [name for place, name in enumerate(table.columns) if place not in directions]


def _select_unknown(table: PredicateTable) -> str:
    columns = ", ".join(f"new.{name}" for name in table.columns)
    same = " AND ".join(f"old.{name} = new.{name}" for name in table.columns)
    return (
        f"SELECT {columns}, min(new.r) AS r FROM {table.candidates} AS new "
        f"WHERE NOT EXISTS (SELECT 1 FROM {table.facts} AS old WHERE {same}) GROUP BY {columns}"
    )


def _select_better(table: PredicateTable, directions: Mapping[int, str]) -> str:
    """The best of candidates and known facts, where it is not known yet."""
    keys = _list_keys(table, directions)
    both = (
        f"SELECT {', '.join(table.columns)}, r, 1 AS fresh FROM {table.candidates} UNION ALL "
        f"SELECT {', '.join(f'old.{name}' for name in table.columns)}, old.r, 0 AS fresh "
        f"FROM {table.facts} AS old WHERE EXISTS (SELECT 1 FROM {table.candidates} AS new "
        f"WHERE {_match(keys)})"
    )
    best = [
        _fold_moving(table, place, direction) for place, direction in sorted(directions.items())
    ]
    grouped = ", ".join([*keys, *best, "arg_max(r, fresh * 1000000 - r) AS r"])
    group_by = f" GROUP BY {', '.join(keys)}" if keys else " HAVING count(*) > 0"
    chosen = f"SELECT {grouped} FROM ({both}) AS w{group_by}"
    columns = ", ".join(f"best.{name}" for name in table.columns)
    return (
        f"SELECT {columns}, best.r FROM ({chosen}) AS best WHERE NOT EXISTS "
        f"(SELECT 1 FROM {table.facts} AS old WHERE {_match(table.columns, 'best')})"
    )


def _match(columns: Sequence[str], other: str = "new") -> str:
    return " AND ".join(f"old.{name} = {other}.{name}" for name in columns) or "TRUE"


def _fold_moving(table: PredicateTable, place: int, direction: str) -> str:
    name = f"a{place}"
    if table.kinds[place].kind == "set":
        return f"list_sort(list_distinct(flatten(list({name})))) AS {name}"
    return f"{'max' if direction == UP else 'min'}({name}) AS {name}"
