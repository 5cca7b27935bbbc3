"""Tables as the command line reads them, writes them and shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from divulge.cli.commands.tables.options import parse_hierarchies, split_names
from divulge.cli.data_reader import DataReader, add_hierarchies
from divulge.cli.output import print_sentence, print_text, tolerate_closed_pipe

if TYPE_CHECKING:
    from divulge.tables import Published, Table
    from divulge.tables.table.display import Crosstab

MOST_COLUMNS, MOST_ROWS = 40, 120


def read_table(
    source: Path,
    by: Sequence[str] | None,
    value: str | None,
    contributor: str | None,
    hierarchy: Sequence[str] | None,
    reader: DataReader,
) -> Table:
    """A crosstab; or records, tabulated once for every --by and linked."""
    import divulge as dv

    tabulation = {"--value": value, "--contributor": contributor, "--hierarchy": hierarchy}
    _refuse_without_by(tabulation, by, "tables suppress")
    if not by:
        return dv.tables.read_complete_crosstab(source, find_crosstab_separator(reader))
    records = add_hierarchies(reader.read(source), dict(parse_hierarchies(hierarchy)))
    tables = [
        dv.tables.Table.from_records(records, split_names(names), value, contributor)
        for names in by
    ]
    return tables[0] if len(tables) == 1 else dv.tables.link(*tables)


def read_published(
    paths: Sequence[Path],
    by: Sequence[str] | None,
    value: str | None,
    hierarchy: Sequence[str] | None,
    reader: DataReader,
) -> Published:
    """What was published, in one file or in several that are linked."""
    from divulge import tables
    from divulge.work import InvalidInput, Problem

    if by and len(by) not in (1, len(paths)):
        message = (
            f"is given {len(by)} times for {len(paths)} files: give it once, or once per file."
        )
        raise InvalidInput("tables audit", [Problem("--by", message)])
    _refuse_without_by({"--value": value, "--hierarchy": hierarchy}, by, "tables audit")
    if not by and len(paths) > 1:
        message = (
            "several tables are linked by the names of their dimensions, and a crosstab has none "
            "for its columns: give files of one row per cell, and --by once per file."
        )
        raise InvalidInput("tables audit", [Problem("--by", message)])
    levels = dict(parse_hierarchies(hierarchy))
    published_tables = []
    for number, path in enumerate(paths):
        if path.suffix.lower() == ".jj":
            jj_file = tables.read_jj(path)
            published_tables.append(jj_file.table.publish(jj_file.primary))
        elif by:
            names = split_names(by[number if len(by) > 1 else 0])
            mine = {name: levels[name] for name in names if name in levels}
            published_tables.append(tables.read_cells(path, names, value or "count", mine))
        else:
            published_tables.append(tables.read_crosstab(path, find_crosstab_separator(reader)))
    return (
        published_tables[0]
        if len(published_tables) == 1
        else tables.link_published(*published_tables)
    )


def find_crosstab_separator(reader: DataReader) -> str:
    """What stands between the fields of a crosstab; other options are of records."""
    from divulge.work import Problems

    problems = Problems("tables")
    for option in reader.options:
        if option != "separator":
            problems.add(f"--{option}", "is of records; a crosstab takes --separator alone.")
    problems.raise_any()
    return str(reader.options.get("separator", ","))


def _refuse_without_by(
    options: Mapping[str, object], by: Sequence[str] | None, command: str
) -> None:
    """Options that say how records are tabulated, where there are none."""
    from divulge.work import Problems

    problems = Problems(command)
    for option, content in options.items():
        if content and not by:
            problems.add(option, "is of records or cells that --by names: give --by.")
    problems.raise_any()


def write_published(published: Published, out: Path | None) -> None:
    """A crosstab where there is one table and the file is CSV; else one row per cell.

    Linked tables are told apart by the names of their dimensions, which a crosstab does not have.
    """
    from divulge.tables import write_crosstab

    if out is None:
        return
    tables = range(len(published.structure.grids))
    for table in tables:
        path = out if len(tables) == 1 else out.with_stem(f"{out.stem}-{table + 1}")
        flat = len(tables) == 1 and len(published.structure.grids[table]) == 2
        if path.suffix.lower() == ".csv" and flat:
            write_crosstab(published, path, table)
        else:
            published.write(path, table)


def write_page(
    tables: Sequence[Crosstab], sentences: Sequence[str], html: Path | None, name: str
) -> None:
    """The crosstabs and what is said of them in a page."""
    from divulge.tables.table.display import render_page
    from divulge.work import whole_file

    if html is not None:
        with whole_file(html) as part:
            part.write_text(render_page(name, sentences, tables), encoding="utf-8")


def print_crosstabs(tables: Sequence[Crosstab], sentences: Sequence[str]) -> None:
    """The crosstabs and what is said of them on the terminal."""
    with tolerate_closed_pipe():
        for table in tables:
            if len(table.head) <= MOST_COLUMNS and len(table.rows) <= MOST_ROWS:
                print_text(table.to_text())
            else:
                print_sentence("tables.too_large")
        print_text("")
        for sentence in sentences:
            print_text(sentence)
