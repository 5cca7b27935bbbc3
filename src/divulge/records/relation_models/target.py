"""One person whose values are known, looked for among records that stay where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from divulge.data.relation.relation import find_value_type
from divulge.records.relation_models.linked_relations import LinkedRelations, name_presence
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.engines import Session

TARGET = "target"


@dataclass(frozen=True)
class TargetValues:
    """What is known of one person, by column of the view."""

    values: Mapping[str, pa.Scalar]
    names: Mapping[str, str]
    """What the columns are called by the user; flags of presence have no name."""

    @property
    def condition(self) -> str:
        """Which records `r` match the target `t`."""
        same = [f"r.{column} IS NOT DISTINCT FROM t.t_{column}" for column in self.values]
        return " AND ".join(same)

    def take(self, columns: Sequence[str]) -> TargetValues:
        """What is known of them by some columns alone."""
        return TargetValues(
            {column: value for column, value in self.values.items() if column in columns},
            self.names,
        )

    def register(self, session: Session) -> None:
        """Offer the target as a table of one row; values never stand in SQL."""
        import pyarrow as pa

        columns = {
            f"t_{column}": pa.array([value.as_py()], value.type)
            for column, value in self.values.items()
        }
        session.register(TARGET, pa.table(columns))

    def count(self, session: Session, records: str = "records") -> int:
        """How many records match."""
        self.register(session)
        found = session.arrays(
            f"SELECT count(*) AS n FROM {records} AS r JOIN {TARGET} AS t ON {self.condition}"
        )
        return int(found["n"][0])

    def require_match(self, session: Session, records: str = "records") -> int:
        """How many records match.

        Raises:
            InvalidInput: if none does; which values nobody has is said.
        """
        matching = self.count(session, records)
        if matching:
            return matching
        problems = Problems("attack")
        for column, name in self.names.items():
            if column in self.values and not self.take([column]).count(session, records):
                problems.add("target", f'nobody has the value given for "{name}".')
        problems.raise_any()
        raise InvalidInput("attack", [Problem("target", "no record has these values together.")])


def read_target(linked: LinkedRelations, known: Sequence[str], target: Any) -> TargetValues:
    """The target's values as the columns have them, year by year.

    Raises:
        InvalidInput: if it does not fit what is known.
    """
    values_by_year = target if isinstance(target, list | tuple) else [target]
    if not all(values is None or isinstance(values, Mapping) for values in values_by_year):
        message = "give a value for each attribute that is known, as {attribute: value}."
        raise InvalidInput("attack", [Problem("target", message)])
    if len(values_by_year) != len(linked.relations):
        message = f"give what is known in each of the {len(linked.relations)} datasets."
        raise InvalidInput("attack", [Problem("target", message)])
    problems = Problems("attack")
    columns: dict[str, pa.Scalar] = {}
    names: dict[str, str] = {}
    for year, values in enumerate(values_by_year):
        of_year = linked.list_year_columns(year, known)
        if values is None and not of_year:
            message = f'nothing is known in dataset "{linked.relations[year].name}", so nobody is '
            message += "known to be absent from it: give {} for it."
            raise InvalidInput("attack", [Problem("target", message)])
        if values is None and year == 0:
            raise InvalidInput(
                "attack", [Problem("target", "no record has these values together.")]
            )
        if year and (of_year or values):
            columns[name_presence(year)] = _flag(values is not None)
        if values is not None:
            _read_values(problems, linked, year, of_year, values=values, columns=columns)
            names |= {column: name for name, column in of_year.items()}
    problems.raise_any()
    return TargetValues(columns, names)


def _flag(is_here: bool) -> pa.Scalar:
    import pyarrow as pa

    return pa.scalar(int(is_here), pa.int32())


def _read_values(
    problems: Problems,
    linked: LinkedRelations,
    year: int,
    of_year: Mapping[str, str],
    *,
    values: Mapping[str, Any],
    columns: dict[str, pa.Scalar],
) -> None:
    relation = linked.relations[year]
    for name, column in of_year.items():
        if name not in values:
            problems.add("target", f'says nothing of "{name}", which is known.')
            continue
        value = _convert_value(values[name], find_value_type(relation.kinds[name]))
        if value is None:
            problems.add("target", f'nobody has the value given for "{name}".')
            continue
        columns[column] = value
    for name in values:
        if name not in of_year:
            problems.add("target", f'"{name}" is not among what is known.', name, list(of_year))


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
