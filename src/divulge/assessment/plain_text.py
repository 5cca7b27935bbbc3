"""Results as plain text, for `print`: tables whose columns stand below each other."""

from __future__ import annotations

from collections.abc import Iterable


def align_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in letters of one width.

    >>> print(align_table(["town", "records"], [["Roma", "12"], ["Bari", "3"]]))
    town  records
    Roma  12
    Bari  3
    """
    table = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)
