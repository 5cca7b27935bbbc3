"""Facts out of data: tables, datasets, rows and files, staged and then stored by their types.

A missing value becomes a null of its own. Numbers that come as binary fractions are taken as the
shortest decimal that stands for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from divulge.rules import tuning
from divulge.rules.checks.literal_facts import value_type
from divulge.rules.checks.value_bounds import NULL_MARK, find_misfit
from divulge.rules.checks.value_types import (
    ANY,
    DOUBLE,
    INTEGER,
    NULL,
    TEXT,
    TypeClash,
    ValueType,
    decimal_type,
    join_given_types,
)
from divulge.rules.engine.column_misfits import HOLLOW_COLUMN, find_column_misfit
from divulge.rules.engine.nested_columns import (
    find_nested_kind,
    has_normal_sets,
    is_nested,
    is_text,
    name_fields,
    normalise_sets,
)
from divulge.rules.engine.sql_values import (
    Typed,
    build_sql_type,
    convert,
    fill,
    write_sql,
)
from divulge.rules.engine.stored_values import LabelledNull, store_column
from divulge.rules.engine.task_runner import TaskRunner
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

NO_RULE = -1
"""The number of the rule of facts from outside."""
QUICK_DECIMAL = "DECIMAL(18, {})"


@dataclass(kw_only=True, frozen=True)
class StagedFacts:
    """Facts that the session can read, with the kinds of their columns."""

    name: str
    types: tuple[ValueType, ...]
    is_stored: bool
    """Whether values are as they will be stored, apart from a change of their kind."""
    missing: tuple[int, ...] = ()
    """Columns in which values are missing."""
    fractions: tuple[int, ...] = ()
    """Columns of binary fractions that are short decimals."""
    texts: tuple[int, ...] = ()
    """Columns of binary fractions that are read by way of their text."""
    normal_sets: tuple[int, ...] = ()
    """Columns of sets that are sorted already and repeat nothing."""
    has_rules: bool = False
    """Whether a column `r` has the number of the statement of each fact."""


def stage_facts(runner: TaskRunner, name: str, data: Any, subject: str) -> StagedFacts:
    """Make data known to the session under a name, and find the kinds of their columns."""
    if isinstance(data, Sequence) and not isinstance(data, str):
        return stage_rows(runner, name, data, subject)
    return _stage_table(runner, name, read_table(data, subject), subject)


def read_table(data: Any, subject: str) -> pa.Table:
    """Data that are handed in as an Arrow table."""
    import pyarrow as pa

    from divulge.data import Dataset

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, Dataset):
        return data.to_arrow()
    try:
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
        return Dataset.from_pandas(data).to_arrow()
    except (TypeError, AttributeError, ValueError, pa.ArrowException):
        message = (
            "facts are an Arrow table, a dataset, a data frame or a list of rows, and this is a "
            f"{type(data).__name__}."
        )
        raise InvalidInput(subject, [Problem("", message)]) from None


def stage_rows(
    runner: TaskRunner,
    name: str,
    rows: Sequence[Any],
    subject: str,
    rules: Sequence[int] | None = None,
) -> StagedFacts:
    """Rows of Python values, also those that a program writes down (`rules` are its statements)."""
    import pyarrow as pa

    width = len(rows[0]) if rows and isinstance(rows[0], Sequence) else 0
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != width:
            message = f"every row is a tuple of {width} values; row {number} is not."
            raise InvalidInput(subject, [Problem("", message)])
        for place, value in enumerate(row, start=1):
            misfit = None if rules is not None or _is_missing(value) else find_misfit(value)
            if misfit is not None:
                raise InvalidInput(
                    subject, [Problem(f"row {number}, column {place}", f"contains {misfit}.")]
                )
    kinds: list[ValueType] = []
    columns = []
    for place in range(width):
        values = [row[place] for row in rows]
        try:
            kind = join_given_types(*map(_kind_of, values))
            if kind.parts and any(map(_is_missing, values)):
                message = f"contains {HOLLOW_COLUMN}."
                raise InvalidInput(subject, [Problem(f"column {place + 1}", message)])
            labelled = [
                LabelledNull(f"m{place}_{number}") if _is_missing(value) else value
                for number, value in enumerate(values)
            ]
            columns.append(store_column(labelled, kind))
        except (TypeClash, ValueError, ArithmeticError, pa.ArrowException) as error:
            what = f" ({error})" if isinstance(error, TypeClash) else ""
            message = f"contains values that do not fit together{what}."
            raise InvalidInput(subject, [Problem(f"column {place + 1}", message)]) from None
        kinds.append(kind)
    names = [f"c{place}" for place in range(width)]
    if rules is not None:
        columns.append(pa.array(rules, pa.int32()))
        names.append("r")
    elif not columns:
        columns, names = [pa.array([0] * len(rows))], ["c0"]
    runner.load(name, pa.table(columns, names=names))
    return StagedFacts(name=name, types=tuple(kinds), is_stored=True, has_rules=rules is not None)


def _kind_of(value: Any) -> ValueType:
    if isinstance(value, LabelledNull) or _is_missing(value):
        return NULL
    return value_type(value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _stage_table(runner: TaskRunner, name: str, table: pa.Table, subject: str) -> StagedFacts:
    import pyarrow as pa

    missing = []
    columns = []
    for place, column in enumerate(table.columns):
        if pa.types.is_floating(column.type):
            column = _mark_undefined(column)
        if pa.types.is_decimal256(column.type):
            column = _shorten_decimals(column)
        misfit = find_column_misfit(column)
        if misfit is not None:
            label = f'column "{table.column_names[place]}"'
            raise InvalidInput(subject, [Problem(label, f"contains {misfit}.")])
        columns.append(name_fields(column))
        if column.null_count:
            missing.append(place)
    columns.append(pa.array(np.arange(table.num_rows)))
    runner.load(name, pa.table(columns, names=[f"c{n}" for n in range(len(columns) - 1)] + ["row"]))
    kinds = []
    fractions: list[int] = []
    texts: list[int] = []
    for place, column in enumerate(columns[:-1]):
        label = f'column "{table.column_names[place]}"'
        if pa.types.is_floating(column.type):
            kind, is_text = _find_fraction_kind(runner, name, place)
            (texts if is_text else fractions).append(place)
        else:
            kind = _find_kind(runner, f"{name}_{place}", column, label, subject)
        kinds.append(replace(kind, nullable=kind.nullable or place in missing))
    return StagedFacts(
        name=name,
        types=tuple(kinds),
        is_stored=False,
        missing=tuple(missing),
        fractions=tuple(fractions),
        texts=tuple(texts),
        normal_sets=tuple(
            place
            for place, kind in enumerate(kinds)
            if has_normal_sets(runner, name, f"c{place}", kind)
        ),
    )


def _mark_undefined(column: Any) -> Any:
    import pyarrow.compute as pc

    return pc.if_else(pc.is_nan(column), None, column) if len(column) else column


def _shorten_decimals(column: Any) -> Any:
    """Decimals of 256 bits as the usual ones, if they fit."""
    import pyarrow as pa

    try:
        return column.cast(pa.decimal128(38, column.type.scale))
    except pa.ArrowException:
        return column


def _find_kind(
    runner: TaskRunner, name: str, column: pa.ChunkedArray, label: str, subject: str
) -> ValueType:
    """The kind of a column; of texts only a look at the values tells (under a name of ours)."""
    import pyarrow as pa

    kind = column.type
    is_number_type = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    if pa.types.is_null(kind):
        return NULL
    if is_number_type:
        return decimal_type(max(0, kind.scale)) if pa.types.is_decimal(kind) else INTEGER
    if pa.types.is_dictionary(kind):
        # Each value once: a table of cells has thousands of facts for each.
        values = column.unique().cast(kind.value_type)
        return _find_kind(runner, name, pa.chunked_array([values]), label, subject)
    if is_nested(kind):
        nested = find_nested_kind(kind)
        if nested is None:
            message = "contains sets of what is neither text nor number."
            raise InvalidInput(subject, [Problem(label, message)])
        return nested
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        message = "contains bytes. Make them texts or numbers."
        raise InvalidInput(subject, [Problem(label, message)])
    if not is_text(kind):
        return TEXT
    runner.load(name, pa.table({"value": column}))
    number = "TRY_CAST(value AS DOUBLE) IS NOT NULL"
    numbers = runner.table(f"SELECT 1 AS one FROM {name} WHERE {number} LIMIT 1").num_rows
    runner.unload(name)
    return ANY if numbers else TEXT


def _find_fraction_kind(runner: TaskRunner, name: str, place: int) -> tuple[ValueType, bool]:
    """The digits that the shortest decimals of a column need, and whether they are in its texts.

    A decimal of at most 15 digits that gives the same fraction is the shortest one.
    """
    column = f"CAST(c{place} AS DOUBLE)"
    scales = range(tuning.MOST_QUICK_DIGITS + 1)
    checks = ", ".join(
        f"bool_and({column} = CAST(TRY_CAST({column} AS DECIMAL(18, {scale})) AS DOUBLE))"
        for scale in scales
    )
    row = runner.table(f"SELECT max(abs({column})) AS largest, {checks} FROM {name}")
    largest, *fits = (found[0].as_py() for found in row.columns)
    if largest is None:
        return INTEGER, False
    for scale, fit in zip(scales, fits, strict=True):
        if fit and largest * 10**scale < 1e15:
            return decimal_type(scale), False
    text = f"CAST(c{place} AS VARCHAR)"
    plain = f"CASE WHEN {text} LIKE '%e%' THEN NULL ELSE {text} END"
    digits = runner.table(
        f"SELECT max(length({plain}) - strpos({plain}, '.')), bool_or({text} LIKE '%e%') "
        f"FROM {name}"
    )
    most, exponents = (found[0].as_py() for found in digits.columns)
    is_exact = not exponents and most <= tuning.MOST_DECIMAL_DIGITS and largest < 1e18
    return (decimal_type(int(most)), True) if is_exact else (DOUBLE, False)


def select_stored(facts: StagedFacts, place: int, kind: ValueType, number: int) -> exp.Expr:
    """A staged column as it is stored; `number` tells the nulls of several tables apart."""
    column: exp.Expr = exp.column(f"c{place}")
    source = facts.types[place]
    if facts.is_stored:
        return convert(Typed(column, source), kind)
    plain = replace(source, nullable=False)
    if place in facts.texts:
        column = fill("CAST(V AS VARCHAR)", V=column)
    if source.kind in ("set", "tuple"):
        column = exp.Cast(this=column, to=build_sql_type(plain).copy())
        if place not in facts.normal_sets:
            column = normalise_sets(column, plain)
    elif source.kind in ("text", "any", "unknown"):
        column = fill("CAST(V AS VARCHAR)", V=column)
    else:
        if source.kind == "decimal" and place in facts.fractions:
            column = fill(f"CAST(V AS {QUICK_DECIMAL.format(source.scale)})", V=column)
        column = exp.Cast(this=column, to=build_sql_type(plain).copy())
    stored = convert(Typed(column, plain), kind)
    if place not in facts.missing:
        return stored
    label = exp.Literal.string(f"{NULL_MARK}m{number}_{place}_")
    return fill("coalesce(V, L || CAST(row AS VARCHAR))", V=stored, L=label)


def load_facts(
    runner: TaskRunner,
    facts: StagedFacts,
    target: str,
    kinds: Sequence[ValueType],
    number: int,
    *,
    has_origin: bool,
) -> None:
    """Copy staged facts into the table of a predicate, and let go of the data.

    A table of all facts also has the round of each (`has_origin`), candidates do not.
    """
    columns = [
        select_stored(facts, place, kind, number).as_(f"a{place}")
        for place, kind in enumerate(kinds)
    ] or [exp.Literal.number(0).as_("a0")]
    rule = exp.column("r") if facts.has_rules else exp.Literal.number(NO_RULE)
    columns.append(exp.cast(rule, "INTEGER").as_("r"))
    if has_origin:
        columns.append(exp.cast(exp.Literal.number(0), "INTEGER"))
    query = exp.select(*columns, copy=False).from_(facts.name)
    runner.run(f"INSERT INTO {target} {write_sql(query)}")
    runner.unload(facts.name)
