"""Several files as one dataset: they must have the same columns, and say the same of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.data.dictionary import Attribute
from divulge.data.encoding import TableEncoder
from divulge.data.formats import (
    EncodedRecords,
    Format,
    Options,
    find_format,
    list_endings,
    parse_ending,
)
from divulge.work import (
    DivulgeError,
    Interruption,
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

MAX_NAMES_SHOWN = 5


def list_files(place: Any) -> list[Path]:
    """The files that a user means by a path, several, or a folder (its files by name).

    >>> list_files(["b.csv", "a.csv"])
    [PosixPath('b.csv'), PosixPath('a.csv')]
    """
    if isinstance(place, str | Path):
        path = usable_path(place)
        return _list_data_files(path) if path.is_dir() else [path]
    files = [usable_path(path) for path in place]
    if not files:
        raise InvalidInput("source", [Problem("", "names no file.")])
    return files


def describe_files(place: Any) -> str:
    """Files as messages name them."""
    if isinstance(place, str | Path):
        return str(place)
    files = [str(path) for path in place]
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def derive_dataset_name(place: Any) -> str:
    """A dataset's name after its files.

    >>> derive_dataset_name("data/people.csv.gz")
    'people'
    >>> derive_dataset_name(["census_1.parquet", "census_2.parquet"])
    'census_1'
    """
    first = Path(place if isinstance(place, str | Path) else place[0])
    return first.name.removesuffix(parse_ending(first)) or first.name


def read_files(
    files: Sequence[Path], column_names: Sequence[str], options: Options
) -> EncodedRecords:
    """The records of all files, one after another; nothing is used if one cannot be read."""
    format_ = _require_one_format(files)
    if len(files) > 1:
        _check_same_columns(format_, files, column_names, options)
    _plan_memory(format_, files, column_names, options).require("read fewer columns (columns=...)")
    encoder = TableEncoder(column_names)
    for path in files:
        _encode_file(format_, path, column_names, options, encoder)
    columns = _build_columns(files, encoder)
    typed = format_.convert_types(files, columns, options)
    attributes = _merge_attributes(format_, files, options)
    return EncodedRecords(typed.columns, attributes, typed.style)


def _encode_file(
    format_: Format,
    path: Path,
    column_names: Sequence[str],
    options: Options,
    encoder: TableEncoder,
) -> None:
    import pyarrow as pa

    earlier_rows = encoder.rows
    try:
        for batch in format_.read_batches(path, column_names, options):
            encoder.add_batch(batch)
    except (InvalidInput, Interruption):
        raise
    except DivulgeError as error:
        raise InvalidInput(str(path), [Problem("", f"{error}.")]) from None
    except pa.ArrowException:
        message = f"is {format_.kind} that is damaged."
        raise InvalidInput(str(path), [Problem("", message)]) from None
    if encoder.rows == earlier_rows:
        raise InvalidInput(str(path), [Problem("", "has no records.")])


def _build_columns(files: Sequence[Path], encoder: TableEncoder) -> dict[str, Column]:
    try:
        return encoder.build_columns()
    except Interruption:
        raise
    except DivulgeError as error:
        raise InvalidInput(describe_files(files), [Problem("", f"{error}.")]) from None


def _list_data_files(folder: Path) -> list[Path]:
    """The data files of a folder and the folders in it, by name; hidden ones are none of them."""
    note_input(folder)
    known_endings = set(list_endings())
    data_files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and parse_ending(path) in known_endings
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )
    if not data_files:
        message = "is a folder without a data file."
        raise InvalidInput(str(folder), [Problem("", message)])
    return data_files


def _require_one_format(files: Sequence[Path]) -> Format:
    first = find_format(files[0])
    problems = Problems(describe_files(files))
    for path in files[1:]:
        kind = find_format(path).kind
        if kind != first.kind:
            problems.add(path.name, f"is {kind}, where {files[0].name} is {first.kind}.")
    problems.raise_any()
    return first


def _check_same_columns(
    format_: Format, files: Sequence[Path], column_names: Sequence[str], options: Options
) -> None:
    """Every file has the columns of the first, holding the same kinds of values."""
    problems = Problems(describe_files(files))
    first, *others = files
    names = dict.fromkeys(format_.read_names(first, options))
    kinds = format_.read_kinds(first, options)
    for path in others:
        other_names = dict.fromkeys(format_.read_names(path, options))
        for verb, differing_names in (
            ("lacks", [name for name in names if name not in other_names]),
            ("also has", [name for name in other_names if name not in names]),
        ):
            if differing_names:
                more = len(differing_names) - MAX_NAMES_SHOWN
                shown_names = quoted(differing_names[:MAX_NAMES_SHOWN]) + (
                    f" and {more} more" if more > 0 else ""
                )
                problems.add(path.name, f"{verb} {shown_names}, unlike {first.name}.")
        other_kinds = format_.read_kinds(path, options)
        for name in column_names:
            mine, theirs = kinds.get(name), other_kinds.get(name)
            if mine and theirs and mine != theirs and "nothing" not in (mine, theirs):
                message = f"contains {theirs} where {first.name} contains {mine}."
                problems.add(f'{path.name}, column "{name}"', message)
    problems.raise_any()


def _plan_memory(
    format_: Format, files: Sequence[Path], column_names: Sequence[str], options: Options
) -> MemoryPlan:
    """Codes of all files are held together; what a file is read through serves the next one too."""
    total: dict[str, int] = {}
    for path in files:
        for what, size in format_.estimate_memory(path, column_names, options).items():
            earlier = total.get(what, 0)
            total[what] = earlier + size if what == "codes" else max(earlier, size)
    return MemoryPlan(f"reading {describe_files([f.name for f in files])}", total)


def _merge_attributes(
    format_: Format, files: Sequence[Path], options: Options
) -> Mapping[str, Attribute]:
    """What the files say; two labels for one value are one too many."""
    attributes = dict(format_.read_attributes(files[0], options))
    problems = Problems(describe_files(files))
    for path in files[1:]:
        for name, other in format_.read_attributes(path, options).items():
            attribute = attributes.get(name)
            if attribute is None:
                continue
            labels = dict(attribute.labels)
            for value, label in other.labels.items():
                if labels.setdefault(value, label) != label:
                    message = f"labels a value otherwise than {files[0].name} does."
                    problems.add(f'{path.name}, column "{name}"', message)
                    break
            if set(other.missing) != set(attribute.missing):
                message = f"has other values that mean missing than {files[0].name}."
                problems.add(f'{path.name}, column "{name}"', message)
            attributes[name] = Attribute(
                name, None, attribute.description, None, labels, missing=attribute.missing
            )
    problems.raise_any()
    return attributes
