"""Files that R's saveRDS writes: one data frame, with labels of survey packages where there are.

Read without R and without another package. Factors are texts, dates are dates, moments are in UTC.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.data.dictionary import Attribute
from divulge.data.encoding import Batch
from divulge.data.formats.file_signature import R_OBJECT
from divulge.data.formats.format import PlainFormat
from divulge.data.formats.r_data.serialization import NotReadable, RVector, Unserializer
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats.format import EncodedRecords, Options

_MISSING_INTEGER = np.iinfo(np.int32).min
_MISSING_LONG = np.iinfo(np.int64).min
_FIRST_DAY, _LAST_DAY = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")
_SECONDS_OF_DAY = int(np.timedelta64(1, "D") / np.timedelta64(1, "s"))


class RdsFile(PlainFormat):
    """A data frame that R has saved."""

    kind = R_OBJECT
    can_write = False

    def read_names(self, path: Path, options: Options) -> list[str]:  # noqa: ARG002  # text only
        """The names of the columns."""
        return list(_read_frame(path))

    def read_attributes(self, path: Path, options: Options) -> Mapping[str, Attribute]:  # noqa: ARG002  # text only
        """Descriptions, and labels of values as packages for surveys keep them."""
        return {
            name: Attribute(
                name,
                description=" ".join(vector.read_texts("label")[:1]),
                labels=_read_labels(vector),
            )
            for name, vector in _read_frame(path).items()
        }

    def estimate_memory(
        self,
        path: Path,
        column_names: Sequence[str],
        options: Options,  # noqa: ARG002  # text only
    ) -> Mapping[str, int]:
        """Codes of the columns, and the whole frame at once."""
        frame = _read_frame(path)
        rows = max((len(vector.values) for vector in frame.values()), default=0)
        return {"codes": rows * len(column_names) * 4, "frame": rows * len(frame) * 8}

    def read_batches(
        self,
        path: Path,
        column_names: Sequence[str],
        options: Options,  # noqa: ARG002  # text only
    ) -> Iterator[Batch]:
        """All records at once, as they are in the file."""
        problems = Problems(str(path))
        arrays = {}
        with work.step(f"Reading {path.name}"):
            frame = _read_frame(path)
            for name in column_names:
                try:
                    arrays[name] = _build_array(frame[name])
                except NotReadable as error:
                    problems.add(f'column "{name}"', str(error))
        problems.raise_any()
        yield Batch(arrays)

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:
        """Not written: R reads what others write."""
        del records, options
        message = "R's own files are read and not written; R reads .csv, .dta, .sav and .parquet."
        raise InvalidInput(str(path), [Problem("", message)])


def _read_frame(path: Path) -> Mapping[str, RVector]:
    state = path.stat()
    return _read_frame_once(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1)
def _read_frame_once(path: Path, _changed: int, _size: int) -> Mapping[str, RVector]:
    try:
        return _take_apart(Unserializer(_unpack(path)).read())
    except NotReadable as error:
        raise InvalidInput(str(path), [Problem("", str(error))]) from None


def _take_apart(frame: Any) -> Mapping[str, RVector]:
    """The columns of a data frame by their names."""
    if not isinstance(frame, RVector) or "data.frame" not in frame.read_texts("class"):
        raise NotReadable("contains no data frame, but another object of R.")
    names = frame.read_texts("names")
    columns = list(frame.values)
    if len(names) != len(columns) or not all(isinstance(c, RVector) for c in columns):
        raise NotReadable("is a data frame that is damaged.")
    if len({len(column.values) for column in columns}) > 1:
        raise NotReadable("has a column that is a table of its own; take it apart in R.")
    return dict(zip(names, columns, strict=True))


def _unpack(path: Path) -> bytes:
    content = path.read_bytes()
    try:
        for mark, unpack in (
            (b"\x1f\x8b", gzip.decompress),
            (b"BZh", bz2.decompress),
            (b"\xfd7zXZ", lzma.decompress),
        ):
            if content.startswith(mark):
                return unpack(content)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        raise NotReadable("is damaged or cut off.") from None
    return content


def _read_labels(vector: RVector) -> Mapping[Any, str]:
    labels = vector.attributes.get("labels")
    if labels is None:
        return {}
    values = [_to_plain(value) for value in labels.values]
    return dict(zip(values, labels.read_texts("names"), strict=False))


def _to_plain(value: Any) -> Any:
    """A value as the records have it: numbers without decimals stay what their column is."""
    return value.item() if isinstance(value, np.generic) else value


def _build_array(vector: RVector) -> pa.Array:
    """A column of R as Arrow has it."""
    import pyarrow as pa

    values, classes = vector.values, vector.read_texts("class")
    if isinstance(values, list):
        if any(isinstance(value, RVector) for value in values):
            raise NotReadable("contains lists; take them apart in R.")
        return pa.array(values, pa.string())
    if "factor" in classes:
        levels = pa.array([*vector.read_texts("levels")], pa.string())
        missing = values == _MISSING_INTEGER
        if np.any(~missing & ((values < 1) | (values > len(levels)))):
            raise NotReadable("has values that its levels lack.")
        return levels.take(pa.array(np.where(missing, 1, values) - 1, mask=missing))
    if values.dtype == np.int32:
        missing = values == _MISSING_INTEGER
        whole: Any = values.astype(bool) if vector.is_logical else values.astype(np.int64)
    elif "integer64" in classes:
        whole = values.view(np.int64)
        missing = whole == _MISSING_LONG
    else:
        missing, whole = np.isnan(values), values
    if "Date" in classes:
        days = np.floor(_check_calendar(np.where(missing, 0, whole), 1)).astype(np.int32)
        return pa.array(days, pa.int32(), mask=missing).cast(pa.date32())
    if "POSIXct" in classes:
        seconds = _check_calendar(np.where(missing, 0, whole), _SECONDS_OF_DAY)
        micros = np.round(seconds * 1e6).astype(np.int64)
        return pa.array(micros, pa.int64(), mask=missing).cast(pa.timestamp("us"))
    return pa.array(whole, mask=missing)


def _check_calendar(since_1970: Any, in_a_day: int) -> Any:
    """Dates and moments that the calendar has; R counts on beyond the years 1 to 9999."""
    low, high = (int(day.astype("int64")) for day in (_FIRST_DAY, _LAST_DAY))
    if np.any((since_1970 < low * in_a_day) | (since_1970 >= (high + 1) * in_a_day)):
        raise NotReadable("has dates that are not in the years 1 to 9999.")
    return since_1970
