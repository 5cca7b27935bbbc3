"""Files of hierarchies: rows of levels as ARX has them, and tau-ARGUS's code lists (.hrc).

ARX: text without a header, `value;coarser;coarser`, one value a line, fields quoted where needed;
the last level is often `*`. tau-ARGUS: one code a line, a leading string (`@`) as often as the code
is deep below the total, which is not written; a code is above all deeper ones that follow it. The
texts of codes are in a file of their own there (.cdl): `code,label`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from divulge.data.hierarchies.tables import (
    MAX_PROBLEMS_SHOWN,
    Ancestors,
    build_table_from_chains,
)
from divulge.work import InvalidInput, Problem, Problems, input_file, whole_file

HierarchyFormat: TypeAlias = Literal["arx", "argus"]
HIERARCHY_FORMATS: tuple[HierarchyFormat, ...] = get_args(HierarchyFormat)

LEAD = "@"
"""What tau-ARGUS takes for the leading string where nothing else is said."""

_SEPARATORS = (";", "\t", ",", "|")


def find_hierarchy_format(path: Path, named: str | None) -> HierarchyFormat:
    """The format of a file: the one that is named, else by the ending of its name."""
    if named is None:
        return "argus" if path.suffix.lower() == ".hrc" else "arx"
    for known in HIERARCHY_FORMATS:
        if named == known:
            return known
    message = f'"{named}" is not a format of hierarchies.'
    raise InvalidInput(str(path), [Problem("format", message, named, HIERARCHY_FORMATS)])


def read_level_rows(path: Path, separator: str | None = None) -> list[list[str]]:
    """The rows of a file of levels; separator and quotation mark are found out if not given."""
    if separator is not None and len(separator) != 1:
        message = "the separator must be one character."
        raise InvalidInput(str(path), [Problem("separator", message)])
    text = _read_text(path)
    quote = _find_quote(text)
    try:
        return _cut_rows(text, separator or _find_separator(text, quote), quote)
    except (csv.Error, TypeError, ValueError):  # a separator that is a quotation mark or a line end
        message = "cannot be cut into levels; look at its separator and quotation marks."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def write_level_rows(
    table: Mapping[str, Ancestors], path: Path, separator: str = ";", overwrite: bool = False
) -> None:
    """A table as a file of levels, as ARX reads it."""
    rows = [[value, *ancestors] for value, ancestors in table.items()]
    with (
        whole_file(path, overwrite) as part,
        part.open("w", encoding="utf-8", newline="") as stream,
    ):
        # With apostrophes about, a reader should see which mark is the quotation mark.
        is_plain = not any("'" in text for row in rows for text in row)
        writer = csv.writer(
            stream,
            delimiter=separator,
            quoting=csv.QUOTE_MINIMAL if is_plain else csv.QUOTE_ALL,
            lineterminator="\n",
        )
        writer.writerows(rows)


def read_indented_codes(
    path: Path, lead: str = LEAD, total: str | None = None
) -> dict[str, Ancestors]:
    """The table of a tau-ARGUS code list; `total` names what stands above all its codes.

    Raises:
        InvalidInput: if a code is there twice, or goes two steps down at once.
    """
    problems = Problems(str(path))
    if not lead:
        problems.add("lead", "is empty; give the leading string, such as @.")
        problems.raise_any()
    parent_of: dict[str, str | None] = {}
    way: list[str] = []
    for number, depth, code in _list_codes(_read_text(path), lead):
        if len(problems) >= MAX_PROBLEMS_SHOWN:
            break
        if not code:
            problems.add(f"line {number}", "has no code.")
        elif depth > len(way):
            problems.add(f"line {number}", "goes down more than one step.")
        elif code in parent_of or code == total:
            problems.add(f"line {number}", "has a code that stands above already.")
        else:
            parent_of[code] = way[depth - 1] if depth else total
            way[depth:] = [code]
    if not parent_of:
        problems.add("", f"is empty; a code list has one code a line, with {lead} for each step.")
    problems.raise_any()
    parents = set(parent_of.values())
    chains = {code: _climb(code, parent_of) for code in parent_of if code not in parents}
    return build_table_from_chains(chains)


def write_indented_codes(
    table: Mapping[str, Ancestors], path: Path, lead: str = LEAD, overwrite: bool = False
) -> None:
    """A table as a tau-ARGUS code list; one top of all is the total, which is not written.

    Raises:
        InvalidInput: if a code begins with the leading string, or does not fit a line.
    """
    lines = list(_indent_codes(table, lead))
    codes = {node for value, ancestors in table.items() for node in (value, *ancestors)}
    unfit = sum(
        not code.strip()
        or code.startswith(lead)
        or code != code.strip()
        or len(code.splitlines()) > 1
        for code in codes
    )
    if unfit:
        message = (
            f"{unfit:,} of {len(codes):,} codes begin with {lead}, begin or end with a space, are "
            "empty or break the line: choose another leading string, or rename them."
        )
        raise InvalidInput(str(path), [Problem("lead", message)])
    with whole_file(path, overwrite) as part:
        part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def find_unwritten_total(table: Mapping[str, Ancestors], path: Path) -> str | None:
    """What stands above all values, where a file of this name leaves it out."""
    is_list = find_hierarchy_format(path, None) == "argus"
    return _find_total(_list_chains(table)) if is_list else None


def read_code_labels(path: Path) -> dict[str, str]:
    """The texts of codes from a tau-ARGUS code list (.cdl): `code,label`, one a line."""
    labels = {}
    problems = Problems(str(path))
    for number, line in enumerate(_read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        code, comma, label = line.partition(",")
        if not comma or not code.strip():
            if len(problems) < MAX_PROBLEMS_SHOWN:
                problems.add(f"line {number}", "is not a code, a comma and a label.")
            continue
        labels[code.strip()] = label.strip()
    problems.raise_any()
    return labels


def _read_text(path: Path) -> str:
    try:
        return input_file(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        message = "cannot be read as UTF-8 text."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def _find_quote(text: str) -> str:
    """An apostrophe is a quotation mark only where every line begins and ends with it."""
    lines = [line for line in text.splitlines() if line.strip()]
    is_apostrophe = all(line[0] == line[-1] == "'" and len(line) > 1 for line in lines)
    return "'" if lines and is_apostrophe else '"'


def _find_separator(text: str, quote: str) -> str:
    """The first that cuts all lines into as many levels, two or more; else the usual one."""
    for separator in _SEPARATORS:
        try:
            widths = {len(row) for row in _cut_rows(text, separator, quote)}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            return separator
    return _SEPARATORS[0]


def _cut_rows(text: str, separator: str, quote: str) -> list[list[str]]:
    stream = io.StringIO(text, newline="")
    return [row for row in csv.reader(stream, delimiter=separator, quotechar=quote) if row]


def _list_codes(text: str, lead: str) -> Iterator[tuple[int, int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        code, depth = line.strip(), 0
        if not code:
            continue
        while code.startswith(lead):
            code, depth = code[len(lead) :], depth + 1
        yield number, depth, code.strip()


def _climb(code: str, parent_of: Mapping[str, str | None]) -> list[str]:
    chain = [code]
    while (above := parent_of.get(chain[-1])) is not None:
        chain.append(above)
    return chain


def _indent_codes(table: Mapping[str, Ancestors], lead: str) -> Iterator[str]:
    """The lines, from the top down; values of one branch stand together, in the table's order."""
    chains = _list_chains(table)
    if _find_total(chains) is not None:
        chains = [chain[1:] for chain in chains]
    yield from _indent_branches(chains, 0, lead)


def _list_chains(table: Mapping[str, Ancestors]) -> list[tuple[str, ...]]:
    """Of each value, what it is one of, from the top down to itself."""
    return [
        tuple(reversed(list(dict.fromkeys((value, *ancestors)))))
        for value, ancestors in table.items()
    ]


def _find_total(chains: Sequence[tuple[str, ...]]) -> str | None:
    """What stands above all values; None if nothing does."""
    tops = {chain[0] for chain in chains}
    return tops.pop() if len(tops) == 1 and all(len(chain) > 1 for chain in chains) else None


def _indent_branches(chains: Sequence[tuple[str, ...]], depth: int, lead: str) -> Iterator[str]:
    branches: dict[str, list[tuple[str, ...]]] = {}
    for chain in chains:
        branches.setdefault(chain[0], []).append(chain[1:])
    for code, below in branches.items():
        yield lead * depth + code
        yield from _indent_branches([chain for chain in below if chain], depth + 1, lead)
