"""The files of SPSS, Stata and SAS: records, labels, and codes that mean missing.

SPSS declares ordinary values as missing (9 = "refused"): they stay values, for they are published
as such, and the dictionary lists them. Stata and SAS tag a missing value with a letter: it is
missing, and the tag is kept beside it. These formats know no missing text, only an empty one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.data import tuning
from divulge.data.dictionary import Attribute, MissingCode
from divulge.data.encoding import Batch, Tags
from divulge.data.formats.file_signature import SAS, SPSS, SPSS_COMPRESSED, STATA
from divulge.data.formats.format import PlainFormat
from divulge.work import DivulgeError, InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats.format import EncodedRecords, Options


# What the reader itself may fall over in a damaged file, found by fuzzing it.
_READER_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    OSError,
)


class _StatisticalFile(PlainFormat):
    """What the three have in common; each names the reader that it takes."""

    kind: str
    reader: str

    def read_names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""
        return [name or "" for name in self._read_metadata(path, options).column_names]

    def read_kinds(self, path: Path, options: Options) -> Mapping[str, str]:
        """Text or numbers: dates are numbers in these formats."""
        types = self._read_metadata(path, options).readstat_variable_types
        return {name: "text" if kind == "string" else "numbers" for name, kind in types.items()}

    def read_attributes(self, path: Path, options: Options) -> Mapping[str, Attribute]:
        """Variable labels as descriptions, value labels, and the values that mean missing."""
        metadata = self._read_metadata(path, options)
        text_names = {n for n, kind in metadata.readstat_variable_types.items() if kind == "string"}
        return {
            name: Attribute(
                name,
                description=(metadata.column_names_to_labels.get(name) or "").strip(),
                labels={
                    _to_label_key(value, name in text_names): label
                    for value, label in metadata.variable_value_labels.get(name, {}).items()
                },
                missing=tuple(map(_to_missing_code, metadata.missing_ranges.get(name, ()))),
            )
            for name in metadata.column_names
        }

    def estimate_memory(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Mapping[str, int]:
        """Codes at four bytes, and some records as Python's own values."""
        rows = self._read_metadata(path, options).number_rows or path.stat().st_size // 8
        return {
            "codes": rows * (len(column_names) + 1) * 4,
            "some records": min(rows, tuning.STATISTICAL_ROWS_AT_A_TIME) * len(column_names) * 64,
        }

    def read_batches(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Iterator[Batch]:
        """The records, some at a time."""
        metadata = self._read_metadata(path, options)
        rows = metadata.number_rows
        text_names = {n for n, kind in metadata.readstat_variable_types.items() if kind == "string"}
        rows_read = 0
        with work.step(f"Reading {path.name}", rows) as step:
            while rows is None or rows_read < rows:
                table = self._read_rows(path, column_names, options, rows_read)
                count = len(table[column_names[0]])
                if not count:
                    break
                yield _build_batch(path, {name: table[name] for name in column_names}, text_names)
                rows_read += count
                step.advance(count)
        if rows is not None and rows_read != rows:
            raise self._build_damage_error(path)

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:
        """Write records with all that is said of them."""
        from divulge.data.formats.statistical_writer import write_statistical

        write_statistical(records, path, self.kind, options)

    def _read_rows(
        self, path: Path, column_names: Sequence[str], options: Options, offset: int
    ) -> dict[str, list[Any]]:
        row_options = {
            "usecols": list(column_names),
            "row_offset": offset,
            "row_limit": tuning.STATISTICAL_ROWS_AT_A_TIME,
        }
        table: dict[str, list[Any]] = self._call_reader(
            path, options, user_missing=True, **row_options
        )[0]
        return table

    def _read_metadata(self, path: Path, options: Options) -> Any:
        return self._call_reader(path, options, metadataonly=True, user_missing=True)[1]

    def _call_reader(self, path: Path, options: Options, **reader_options: Any) -> Any:
        import pyreadstat

        read = getattr(pyreadstat, self.reader)
        with self._translate_errors(path):
            return read(
                str(path), output_format="dict", encoding=options.encoding, **reader_options
            )

    @contextmanager
    def _translate_errors(self, path: Path) -> Iterator[None]:
        """What the reader stumbles over, in our words: its own may quote the file."""
        import pyreadstat

        try:
            with warnings.catch_warnings():
                # The reader would give the second of two equal names another one.
                warnings.filterwarnings("error", message=".*duplicated")
                yield
        except UserWarning:
            message = "has two columns of the same name; names must differ."
            raise InvalidInput(str(path), [Problem("", message)]) from None
        except _READER_ERRORS:
            raise self._build_damage_error(path) from None
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
            if "encoding" in str(error).lower() or "convert string" in str(error).lower():
                message = "contains text in another encoding than it says; give encoding = ..."
                raise InvalidInput(str(path), [Problem("", message)]) from None
            raise self._build_damage_error(path) from None

    def _build_damage_error(self, path: Path) -> InvalidInput:
        return InvalidInput(str(path), [Problem("", f"is {self.kind} that is damaged or cut off.")])


class Spss(_StatisticalFile):
    """SPSS's format."""

    kind = SPSS
    reader = "read_sav"


class SpssCompressed(Spss):
    """SPSS's compressed format."""

    kind = SPSS_COMPRESSED


class Stata(_StatisticalFile):
    """Stata's format."""

    kind = STATA
    reader = "read_dta"


class Sas(_StatisticalFile):
    """SAS's own format, which can be read and not written."""

    kind = SAS
    can_write = False
    reader = "read_sas7bdat"

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:  # noqa: ARG002  # refuses
        """Say what to write instead."""
        raise DivulgeError("SAS's own format can only be read; write an .xpt file for SAS instead")


def _build_batch(path: Path, table: Mapping[str, list[Any]], text_names: set[str]) -> Batch:
    import pyarrow as pa

    arrays: dict[str, pa.Array] = {}
    tags: dict[str, Tags] = {}
    for name, values in table.items():
        if name in text_names:
            arrays[name] = pa.array([value or None for value in values], pa.string())
            continue
        if any(isinstance(value, str) for value in values):
            tags[name] = np.array([_parse_tag(value) for value in values], dtype=np.uint8)
        try:
            arrays[name] = pa.array([None if isinstance(v, str) else v for v in values])
        except (pa.ArrowException, OverflowError, TypeError):
            message = "contains values that are not of one kind."
            raise InvalidInput(str(path), [Problem(f'column "{name}"', message)]) from None
    return Batch(arrays, tags)


def _parse_tag(value: Any) -> int:
    return ord(value.lower()) if isinstance(value, str) and len(value) == 1 else 0


def _to_label_key(value: Any, of_text: bool) -> Any:
    """The value that a label stands for; a tagged missing value is written `.a`."""
    if isinstance(value, str) and not of_text:
        return f".{value.lower()}"
    return _to_whole_number(value)


def _to_missing_code(value: Any) -> MissingCode:
    if not isinstance(value, Mapping):
        return MissingCode(_to_whole_number(value), _to_whole_number(value))
    return MissingCode(_to_whole_number(value["lo"]), _to_whole_number(value["hi"]))


def _to_whole_number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
