"""Several files as one dataset: they must have the same columns, and say the same of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.dictionary import Attribute
from divulge.data.encoding import TableEncoder
from divulge.data.formats import Format, Options, Records, ending_of, endings, format_of
from divulge.work import (
    DivulgeError,
    InvalidInput,
    MemoryPlan,
    Problem,
    Problems,
    note_input,
    quoted,
    usable_path,
)

if TYPE_CHECKING:
    from divulge.data.column import Column

MOST_NAMES_SHOWN = 5


def as_files(place: Any) -> list[Path]:
    """The files that a user means by a path, several, or a folder (its files by name).

    >>> as_files(["b.csv", "a.csv"])
    [PosixPath('b.csv'), PosixPath('a.csv')]
    """
    if isinstance(place, str | Path):
        path = usable_path(place)
        return _inside(path) if path.is_dir() else [path]
    files = [usable_path(path) for path in place]
    if not files:
        raise InvalidInput("source", [Problem("", "names no file.")])
    return files


def subject_of(place: Any) -> str:
    """Files as messages name them."""
    if isinstance(place, str | Path):
        return str(place)
    files = [str(path) for path in place]
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def stem(place: Any) -> str:
    """A dataset's name after its files.

    >>> stem("data/people.csv.gz"), stem(["census_1.parquet", "census_2.parquet"])
    ('people', 'census_1')
    """
    first = Path(place if isinstance(place, str | Path) else place[0])
    return first.name.removesuffix(ending_of(first)) or first.name


def read_files(files: Sequence[Path], wanted: Sequence[str], options: Options) -> Records:
    """The records of all files, one after another; nothing is used if one cannot be read."""
    format_ = _agreed_format(files)
    if len(files) > 1:
        _check_agreement(format_, files, wanted, options)
    _plan(format_, files, wanted, options).require("read fewer columns (columns=...)")
    encoder = TableEncoder(wanted)
    for path in files:
        _take(format_, path, wanted, options, encoder)
    columns = _one(files, encoder)
    return Records(format_.settle(files, columns, options), _said(format_, files, options))


def _take(
    format_: Format, path: Path, wanted: Sequence[str], options: Options, encoder: TableEncoder
) -> None:
    import pyarrow as pa

    before = encoder.rows
    try:
        for batch in format_.batches(path, wanted, options):
            encoder.add(batch)
    except InvalidInput:
        raise
    except DivulgeError as error:
        if isinstance(error, work.Cancelled | work.BudgetSpent | work.NotEnoughMemory):
            raise
        raise InvalidInput(str(path), [Problem("", f"{error}.")]) from None
    except pa.ArrowException:
        message = f"is {format_.kind} that is damaged."
        raise InvalidInput(str(path), [Problem("", message)]) from None
    if encoder.rows == before:
        raise InvalidInput(str(path), [Problem("", "has no records.")])


def _one(files: Sequence[Path], encoder: TableEncoder) -> dict[str, Column]:
    try:
        return encoder.columns()
    except DivulgeError as error:
        raise InvalidInput(subject_of(files), [Problem("", f"{error}.")]) from None


def _inside(folder: Path) -> list[Path]:
    """The data files of a folder and the folders in it, by name; hidden ones are none of them."""
    note_input(folder)
    known = set(endings())
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and ending_of(path) in known
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )
    if not found:
        message = "is a folder without a data file."
        raise InvalidInput(str(folder), [Problem("", message)])
    return found


def _agreed_format(files: Sequence[Path]) -> Format:
    first = format_of(files[0])
    problems = Problems(subject_of(files))
    for path in files[1:]:
        kind = format_of(path).kind
        if kind != first.kind:
            problems.add(path.name, f"is {kind}, where {files[0].name} is {first.kind}.")
    problems.raise_any()
    return first


def _check_agreement(
    format_: Format, files: Sequence[Path], wanted: Sequence[str], options: Options
) -> None:
    """Every file has the columns of the first, holding the same kinds of values."""
    problems = Problems(subject_of(files))
    first, *others = files
    names = dict.fromkeys(format_.names(first, options))
    kinds = format_.kinds(first, options)
    for path in others:
        here = dict.fromkeys(format_.names(path, options))
        for said, differ in (
            ("lacks", [name for name in names if name not in here]),
            ("also has", [name for name in here if name not in names]),
        ):
            if differ:
                more = len(differ) - MOST_NAMES_SHOWN
                shown = quoted(differ[:MOST_NAMES_SHOWN]) + (
                    f" and {more} more" if more > 0 else ""
                )
                problems.add(path.name, f"{said} {shown}, unlike {first.name}.")
        found = format_.kinds(path, options)
        for name in wanted:
            mine, theirs = kinds.get(name), found.get(name)
            if mine and theirs and mine != theirs and "nothing" not in (mine, theirs):
                message = f"holds {theirs} where {first.name} holds {mine}."
                problems.add(f'{path.name}, column "{name}"', message)
    problems.raise_any()


def _plan(
    format_: Format, files: Sequence[Path], wanted: Sequence[str], options: Options
) -> MemoryPlan:
    total: dict[str, int] = {}
    for path in files:
        for what, size in format_.needs(path, wanted, options).items():
            total[what] = (
                max(total.get(what, 0), size) if "one" in what else total.get(what, 0) + size
            )
    return MemoryPlan(f"reading {subject_of([f.name for f in files])}", total)


def _said(format_: Format, files: Sequence[Path], options: Options) -> Mapping[str, Attribute]:
    """What the files say; two labels for one value are one too many."""
    said = dict(format_.said(files[0], options))
    problems = Problems(subject_of(files))
    for path in files[1:]:
        for name, there in format_.said(path, options).items():
            here = said.get(name)
            if here is None:
                continue
            labels = dict(here.labels)
            for value, label in there.labels.items():
                if labels.setdefault(value, label) != label:
                    message = f"labels a value otherwise than {files[0].name} does."
                    problems.add(f'{path.name}, column "{name}"', message)
                    break
            if set(there.missing) != set(here.missing):
                message = f"has other values that mean missing than {files[0].name}."
                problems.add(f'{path.name}, column "{name}"', message)
            said[name] = Attribute(name, None, here.description, None, labels, missing=here.missing)
    problems.raise_any()
    return said
