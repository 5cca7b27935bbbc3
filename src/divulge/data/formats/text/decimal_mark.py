"""Which mark stands before the decimals of a text file's numbers, and what columns are then.

A column of `12,5` is one of numbers if the file writes its decimals so. The file as a whole tells:
one number such as `12,5` or `0,125` cannot be anything else, while `1,234` alone could be two
things, and then somebody has to say which. A number with both marks is never guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge.data import tuning
from divulge.data.column import Column, replace_values
from divulge.data.formats.dates.date_detection import (
    DatedValues,
    DoubtfulDate,
    check_given_dates,
    find_dates,
    read_given_format,
)
from divulge.data.formats.dates.date_formats import DateFormat
from divulge.data.formats.text.column_types import NoSuchDate, all_match, infer_type
from divulge.work import Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats.format import Options

DECIMAL_MARKS = (".", ",")
_COMMA = r"^-?[0-9]+(,[0-9]+)?$"
_SURE_COMMA = r"^-?(0,[0-9]+|[0-9]+,([0-9]{1,2}|[0-9]{4,}))$"
_EITHER = r"^-?[0-9]+([.,][0-9]+)?$"
_BOTH = r"^-?[0-9]{1,3}(\.[0-9]{3})*(,[0-9]+)?$"
_BOTH_TURNED = r"^-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?$"


@dataclass(frozen=True)
class FoundTypes:
    """Columns as what they hold, the decimal mark of the file, and how dates were written."""

    columns: dict[str, Column]
    decimal: str
    dates: Mapping[str, DateFormat]


def find_types(
    subject: str,
    columns: Mapping[str, Column],
    options: Options,
    names: Sequence[str] | None = None,
) -> FoundTypes:
    """Columns of text as what they hold; what cannot be told is said, with row and column.

    The names are those that options may name, if the source has columns that are no text.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> from divulge.data.formats.format import Options
    >>> found = find_types("a.csv", {"rate": encode_array(pa.array(["0,5", "12"]))}, Options())
    >>> found.columns["rate"].values.to_pylist()
    [0.5, 12.0]
    """
    problems = Problems(subject)
    _check_options(problems, options)
    as_text = set(options.text)
    known_names = list(columns if names is None else names)
    problems.extend("", check_given_dates(dict(options.dates), known_names))
    for name in (name for name in dict.fromkeys(options.text) if name not in known_names):
        problems.add("text", f'there is no column "{name}".', name, known_names)
    mark = options.decimal
    if mark is None and options.thousands:
        mark = "," if options.thousands == "." else "."
    mark = mark or _detect_decimal_mark(columns, as_text, problems)
    problems.raise_any()
    typed_columns, formats = {}, {}
    given = dict(options.dates)
    for name, column in columns.items():
        if name in as_text:
            typed_columns[name] = column
            continue
        try:
            dated = _find_column_dates(name, column, given)
        except DoubtfulDate as error:
            problems.add(_describe_place(name, column, error.place), str(error))
            continue
        if dated is not None:
            typed_columns[name] = replace_values(column, dated.values)
            formats[name] = dated.format
            continue
        normalised = _normalise_decimals(column, mark, options.thousands)
        if mark == "," and normalised is column and _has_decimal_points(column.values):
            message = (
                'writes numbers with "." where the decimal mark is ","; give thousands = "." '
                f'or text = ["{name}"].'
            )
            problems.add(
                _describe_place(name, column, _find_first_with(column.values, ".")), message
            )
            continue
        try:
            typed_columns[name] = infer_type(normalised)
        except NoSuchDate as error:
            place = _describe_place(name, column, error.place)
            message = (
                'contains a date that does not exist; correct it, or read the column with text = ["'
            )
            problems.add(place, f'{message}{name}"].')
    problems.raise_any()
    return FoundTypes(typed_columns, mark, formats)


def _find_column_dates(name: str, column: Column, given: Mapping[str, str]) -> DatedValues | None:
    """The dates of a column: as they were said to be written, or as they look; None if none."""
    own, common = given.get(name, ""), given.get("", "")
    if "%" in own:
        return read_given_format(name, column.values, own)
    if "%" in common and DateFormat(common).matches(column.values):
        return read_given_format(name, column.values, common)
    dated = find_dates(name, column.values, own or ("" if "%" in common else common))
    if own and dated is None and len(column.values):
        message = f'contains no dates of the order "{own}"; give their format, such as '
        raise DoubtfulDate(0, message + f'dates = {{ "{name}" = "%d.%m.%Y" }}.')
    return dated


def _check_options(problems: Problems, options: Options) -> None:
    for setting in ("decimal", "thousands"):
        mark = getattr(options, setting)
        allowed = DECIMAL_MARKS if setting == "decimal" else (*DECIMAL_MARKS, " ", "'", "")
        if mark is not None and mark not in allowed:
            problems.add(setting, "is not a mark of numbers.", mark, allowed)
    if options.decimal is not None and options.decimal == options.thousands:
        problems.add("thousands", "is the decimal mark too; they must differ.")


def _detect_decimal_mark(
    columns: Mapping[str, Column], as_text: set[str], problems: Problems
) -> str:
    """The decimal mark of a file that does not say; a doubt becomes a problem."""
    doubtful: list[Problem] = []
    comma = False
    for name, column in columns.items():
        if name in as_text or not _has_mark(column.values, ","):
            continue
        if all_match(column.values, _COMMA):
            if _has_match(column.values, _SURE_COMMA):
                comma = True
            else:
                message = (
                    "writes numbers with a comma before three digits, which may be thousands or "
                    'decimals; give decimal = "," or thousands = ","'
                )
                place = _describe_place(name, column, _find_first_with(column.values, ","))
                doubtful.append(Problem(place, f'{message}, or text = ["{name}"].'))
        elif _has_mark(column.values, ".") and any(
            all_match(column.values, pattern) for pattern in (_EITHER, _BOTH, _BOTH_TURNED)
        ):
            message = (
                'writes numbers with both marks, "." and ","; give both decimal and thousands, '
                f'or text = ["{name}"].'
            )
            problems.add(
                _describe_place(name, column, _find_first_with(column.values, ",")), message
            )
    if not comma:
        problems.extend("", doubtful)
    return "," if comma else "."


def _normalise_decimals(column: Column, decimal: str, thousands: str | None) -> Column:
    """The column with its numbers written as everywhere: no thousands mark, a decimal point."""
    import pyarrow.compute as pc

    if decimal == "." and not thousands:
        return column
    whole = r"[0-9]+" if not thousands else rf"[0-9]{{1,3}}([{thousands}]?[0-9]{{3}})*"
    if not all_match(column.values, rf"^-?{whole}([{decimal}][0-9]+)?([eE][+-]?[0-9]+)?$"):
        return column
    values = column.values
    if thousands:
        values = pc.replace_substring(values, thousands, "")
    return replace_values(column, pc.replace_substring(values, decimal, "."))


def _has_decimal_points(values: pa.Array) -> bool:
    return _has_mark(values, ".") and all_match(values, r"^-?[0-9]*(\.[0-9]+)?$")


def _has_mark(values: pa.Array, mark: str) -> bool:
    import pyarrow.compute as pc

    if len(values) <= tuning.MAX_RECORDS_ENCODED_SINGLY:
        return any(mark in text for text in values.to_pylist())
    return bool(pc.any(pc.match_substring(values, mark)).as_py())


def _has_match(values: pa.Array, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())


def _find_first_with(values: pa.Array, mark: str) -> int:
    import pyarrow.compute as pc

    return int(np.argmax(pc.match_substring(values, mark).to_numpy(zero_copy_only=False)))


def _describe_place(name: str, column: Column, code: int) -> str:
    """Where a value first stands (its place, never the value)."""
    record = int(np.argmax(column.codes == code)) + 1
    return f'record {record:,}, column "{name}"'
