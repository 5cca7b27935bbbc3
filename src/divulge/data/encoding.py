"""Encoding piece by piece: a column of any length in the memory of its codes.

Every piece (a batch of a row group, a chunk of a file, one file of several) is turned into codes
of its own small list of values at once. Only when the last piece is in are the lists made one;
so nothing but codes and distinct values is held, and one column at a time is written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.data import tuning
from divulge.data.column import (
    Codes,
    Column,
    encode_array,
    encode_short_array,
    normalise_type,
    smallest_unsigned,
)
from divulge.work import DivulgeError, Interruption, allocate_array

if TYPE_CHECKING:
    import pyarrow as pa

Tags: TypeAlias = npt.NDArray[np.uint8]


class PieceMismatch(DivulgeError):
    """Two pieces of one column hold different kinds of values."""


@dataclass(frozen=True)
class Batch:
    """Some records as they come from a file: arrays by name, and tags of missing values."""

    arrays: Mapping[str, pa.Array]
    tags: Mapping[str, Tags] = field(default_factory=dict)


class ColumnEncoder:
    """One column that arrives in pieces.

    >>> import pyarrow as pa
    >>> encoder = ColumnEncoder()
    >>> for piece in (["M", None], ["F", "M"]):
    ...     encoder.add_piece(pa.array(piece))
    >>> encoder.build_column().codes.tolist()
    [1, 2, 0, 1]
    """

    # There may be a hundred thousand of them.
    __slots__ = ("_codes", "_first", "_missing", "_tags", "_values")

    def __init__(self) -> None:
        self._first: tuple[Column, pa.Array, Tags | None] | None = None
        self._codes: list[Codes] = []
        self._values: list[pa.Array] = []
        self._tags: list[Tags | None] = []
        self._missing = False

    def add_piece(self, piece: pa.Array, tags: Tags | None = None) -> None:
        """Take the next piece."""
        import pyarrow as pa

        if isinstance(piece, pa.ExtensionArray):
            piece = piece.storage
        if not self._codes and self._first is None and len(piece):
            few = encode_short_array(piece)
            if few is not None:
                # Where no other piece comes, that is all.
                self._first = (few, piece, tags)
                return
        if self._first is not None:
            _, first, its_tags = self._first
            self._first = None
            self._append_piece(first, its_tags)
        self._append_piece(piece, tags)

    def _append_piece(self, piece: pa.Array, tags: Tags | None) -> None:
        """Take a piece that is one of several, or a large one."""
        if len(piece) == 0:
            self._append_empty_piece(piece)
            return
        places, values, missing = _encode_piece(piece)
        self._missing = self._missing or missing
        self._codes.append(places)
        self._tags.append(tags)
        self._values.append(values)

    def _append_empty_piece(self, piece: pa.Array) -> None:
        """An empty piece has a kind, and that is all it has."""
        import pyarrow as pa

        kind = piece.type.value_type if pa.types.is_dictionary(piece.type) else piece.type
        self._codes.append(np.empty(0, dtype=np.uint8))
        self._tags.append(None)
        self._values.append(_normalise_piece(pa.array([], kind)))

    def build_column(self) -> Column:
        """All pieces as one column; the encoder is empty afterwards."""
        if self._first is not None:
            column, _, tags = self._first
            self._first = None
            return column if tags is None or not tags.any() else replace(column, tags=tags)
        merged = encode_array(_unify_kinds(self._values))
        has_missing = self._missing or merged.has_missing
        dtype = smallest_unsigned(len(merged.values) + has_missing)
        codes: npt.NDArray[Any] = allocate_array(sum(map(len, self._codes)), dtype)
        start = value_start = 0
        tags = self._concatenate_tags()
        self._codes.reverse()
        for values in self._values:
            piece = self._codes.pop()
            table = merged.codes[value_start : value_start + len(values)].astype(dtype)
            if has_missing:
                table = np.append(table, dtype.type(merged.missing_code))
            _translate_places(table, piece, codes[start : start + len(piece)])
            start += len(piece)
            value_start += len(values)
        self._values = []
        return Column(codes, merged.values, has_missing, tags)

    def _concatenate_tags(self) -> Tags | None:
        """The tags of all pieces; None where no value carries one."""
        if not any(tags is not None and tags.any() for tags in self._tags):
            return None
        parts = zip(self._tags, self._codes, strict=True)
        return np.concatenate([np.zeros(len(c), np.uint8) if t is None else t for t, c in parts])


def _encode_piece(piece: pa.Array) -> tuple[Codes, pa.Array, bool]:
    """The place of each value in a list of those that occur, and whether one is missing.

    A missing value has the place after the last.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(piece.type):
        return *_encode_dictionary_piece(piece), piece.null_count > 0
    normalised = _normalise_piece(piece)
    encoded_values = _encode_dense_numbers(normalised)
    if encoded_values is None:
        encoded = pc.dictionary_encode(normalised)
        encoded_values = _fill_null_indices(encoded), encoded.dictionary
    return *encoded_values, normalised.null_count > 0


def _fill_null_indices(encoded: pa.DictionaryArray) -> Codes:
    null_place = len(encoded.dictionary)
    indices = encoded.indices
    if indices.null_count:
        # Small indices may have no room for the place of a missing value.
        indices = indices.cast("int64").fill_null(null_place)
    codes: Codes = indices.to_numpy(zero_copy_only=False).astype(smallest_unsigned(null_place + 1))
    return codes


def _encode_dictionary_piece(piece: pa.DictionaryArray) -> tuple[Codes, pa.Array]:
    """Of codes that the file itself keeps: it may list more values than occur in this piece."""
    import pyarrow as pa

    values = piece.dictionary
    # A damaged file may point outside of its own list of values, or hold what is no text.
    values.validate(full=True)
    lowest, highest = _find_min_max(piece.indices)
    if lowest < 0 or highest >= max(1, len(values)):
        raise pa.ArrowInvalid("an index outside of the dictionary")
    places = _fill_null_indices(piece)
    occurs = _mark_used_places(places, len(values) + 1)
    if not occurs[:-1].all():
        places = _renumber_places(places, occurs)
        values = values.filter(pa.array(occurs[:-1]))
    return places, _normalise_piece(values)


def _encode_dense_numbers(piece: pa.Array) -> tuple[Codes, pa.Array] | None:
    """Of whole numbers or dates that lie close together, counted off; None of all others."""
    import pyarrow as pa

    if piece.null_count or not (pa.types.is_integer(piece.type) or pa.types.is_date32(piece.type)):
        return None
    storage_type = pa.int32() if pa.types.is_date32(piece.type) else piece.type
    numbers = piece.view(storage_type).to_numpy()
    lowest, highest = _find_min_max(piece.view(storage_type))
    if highest - lowest >= len(numbers):
        return None
    spread = highest - lowest + 1
    places = np.empty(len(numbers), smallest_unsigned(spread + 1))
    np.subtract(numbers, numbers.dtype.type(lowest), out=places, casting="unsafe")
    occurs = _mark_used_places(places, spread + 1)
    if not occurs[:-1].all():
        places = _renumber_places(places, occurs)
    occurring = np.flatnonzero(occurs).astype(numbers.dtype) + numbers.dtype.type(lowest)
    return places, pa.array(occurring, storage_type).view(piece.type)


def _find_min_max(numbers: pa.Array) -> tuple[int, int]:
    """The least and the largest number there is; 0 and 0 where all are missing."""
    import pyarrow.compute as pc

    ends = pc.min_max(numbers).as_py()
    return ends["min"] or 0, ends["max"] or 0


def _normalise_piece(piece: pa.Array) -> pa.Array:
    """One piece as `normalise_type` has it."""
    import pyarrow as pa

    normalised = normalise_type(pa.chunked_array([piece]))
    return normalised.chunk(0) if normalised.num_chunks == 1 else normalised.combine_chunks()


def _mark_used_places(places: Codes, count: int) -> npt.NDArray[np.bool_]:
    """Which of so many places occur."""
    occurs = np.zeros(count, dtype=bool)
    for start in range(0, len(places), tuning.PLACES_AT_A_TIME):
        occurs[places[start : start + tuning.PLACES_AT_A_TIME].astype(np.intp)] = True
    return occurs


def _renumber_places(places: Codes, occurs: npt.NDArray[np.bool_]) -> Codes:
    """The places without gaps; the last stands for what is missing, and stays in any case."""
    distinct_values = int(occurs[:-1].sum())
    dtype = smallest_unsigned(distinct_values + 1)
    table = np.append(np.cumsum(occurs[:-1]) - 1, distinct_values).astype(dtype)
    codes = np.empty(len(places), dtype)
    _translate_places(table, places, codes)
    return codes


def _translate_places(table: Codes, places: Codes, codes: Codes) -> None:
    """Write to `codes` what a table says of each place."""
    for start in range(0, len(places), tuning.PLACES_AT_A_TIME):
        part = slice(start, start + tuning.PLACES_AT_A_TIME)
        np.take(table, places[part], out=codes[part], mode="clip")


class TableEncoder:
    """Several columns that arrive together, batch by batch.

    >>> import pyarrow as pa
    >>> encoder = TableEncoder(["age"])
    >>> encoder.add_batch(Batch({"age": pa.array([25, 49])}))
    >>> encoder.build_columns()["age"].values.to_pylist()
    [25, 49]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._encoders = {name: ColumnEncoder() for name in names}
        self.rows = 0

    def add_batch(self, batch: Batch) -> None:
        """Take the next batch; a column that cannot be read is named."""
        for name, encoder in self._encoders.items():
            try:
                encoder.add_piece(batch.arrays[name], batch.tags.get(name))
            except Interruption:
                raise
            except DivulgeError as error:
                raise type(error)(f'column "{name}": {error}') from None
        self.rows += len(next(iter(batch.arrays.values()), ()))

    def build_columns(self) -> dict[str, Column]:
        """All batches as columns; the encoders are given up one by one."""
        columns = {}
        for name in list(self._encoders):
            try:
                columns[name] = self._encoders.pop(name).build_column()
            except PieceMismatch as error:
                raise PieceMismatch(f'column "{name}": {error}') from None
        return columns


def _unify_kinds(values: Sequence[pa.Array]) -> pa.ChunkedArray:
    """The lists of values as one array: whole and broken numbers agree, other kinds must be one."""
    import pyarrow as pa

    kinds = {v.type for v in values if len(v)}
    if len(kinds) <= 1:
        kind = next(iter(kinds), values[0].type if values else pa.string())
    elif all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in kinds):
        _check_exact_integers(values)
        kind = pa.float64()
    elif all(pa.types.is_string(k) or pa.types.is_large_string(k) for k in kinds):
        kind = pa.large_string()
    elif all(pa.types.is_timestamp(k) or pa.types.is_date32(k) for k in kinds) and not any(
        pa.types.is_timestamp(k) and k.tz for k in kinds
    ):
        kind = pa.timestamp("us")
    else:
        descriptions = sorted(describe_kind(k) for k in kinds)
        raise PieceMismatch(f"contains {' in one part and '.join(descriptions)} in another")
    cast_values = [v.cast(kind) if v.type != kind else v for v in values]
    return pa.chunked_array(cast_values, kind)


def _check_exact_integers(values: Sequence[pa.Array]) -> None:
    """Whole numbers that a broken number cannot hold must not be rounded silently."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for part in values:
        if pa.types.is_integer(part.type) and len(part):
            largest = max(abs(v) for v in pc.min_max(part).as_py().values())
            if largest > 2**53:
                raise PieceMismatch(
                    "contains whole numbers above 2^53 in one part and broken numbers in another"
                )


@cache
def describe_kind(kind: pa.DataType) -> str:
    """What a type holds, as a user would say it.

    >>> import pyarrow as pa
    >>> describe_kind(pa.int32()), describe_kind(pa.string())
    ('numbers', 'text')
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return describe_kind(kind.value_type)
    tests = (
        (pa.types.is_integer, "numbers"),
        (pa.types.is_floating, "numbers"),
        (pa.types.is_decimal, "decimal numbers"),
        (pa.types.is_boolean, "truth values"),
        (pa.types.is_date, "dates"),
        (pa.types.is_timestamp, "moments"),
        (pa.types.is_time, "times of day"),
        (pa.types.is_string, "text"),
        (pa.types.is_large_string, "text"),
        (pa.types.is_string_view, "text"),
        (pa.types.is_null, "nothing"),
    )
    return next((description for test, description in tests if test(kind)), str(kind))


def split_column(column: Column, size: int = tuning.RECORDS_AT_A_TIME) -> Iterator[Column]:
    """A column cut into columns of at most so many records, for writing piece by piece.

    >>> import pyarrow as pa
    >>> [len(piece.codes) for piece in split_column(encode_array(pa.array([1, 2, 3])), size=2)]
    [2, 1]
    """
    for start in range(0, len(column.codes), size):
        stop = start + size
        tags = None if column.tags is None else column.tags[start:stop]
        yield Column(column.codes[start:stop], column.values, column.has_missing, tags)
