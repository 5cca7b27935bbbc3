"""Texts that a spreadsheet takes for formulas: `=HYPERLINK(...)` in a text file is run when opened.

An apostrophe before such a text makes it a text again. The change is one to one, so records are
told apart by the guarded texts just as by the texts themselves: a text that already begins with
apostrophes and goes on as a formula gets one more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from divulge.data.column import Column, replace_values

if TYPE_CHECKING:
    import pyarrow as pa

# Signs of formulas, also as wide letters; a sign before a plain number, or alone, is none.
_STARTS, _SIGNS = "=@\t\r\uff1d\uff20", "+\\-\uff0b\uff0d"
_FORMULA = f"^'*([{_STARTS}]|[{_SIGNS}][^0-9.,]|[{_SIGNS}][0-9.,]+[^0-9.,])"
_FORMULA_PATTERN = re.compile(_FORMULA)


def guard_text(text: str) -> str:
    """A text as a spreadsheet shows it, and does not run it.

    >>> guard_text("=1+1"), guard_text("'=1+1"), guard_text("-5"), guard_text("Roma")
    ("'=1+1", "''=1+1", '-5', 'Roma')
    """
    return f"'{text}" if _FORMULA_PATTERN.match(text) else text


def guard_formulas(column: Column) -> Column:
    """A column whose texts no spreadsheet runs; all others as they are.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> guard_formulas(encode_array(pa.array(["@SUM(A1)", "@"]))).to_arrow().to_pylist()
    ["'@SUM(A1)", "'@"]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or not len(column.values):
        return column
    is_formula = pc.match_substring_regex(column.values, _FORMULA)
    if not pc.any(is_formula).as_py():
        return column
    return replace_values(column, _prefix_apostrophe(column.values, is_formula))


def _prefix_apostrophe(values: pa.Array, is_formula: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.if_else(is_formula, pc.binary_join_element_wise("'", values, ""), values)
