"""A column as codes: every value is a small number, and a missing value is a thing of its own.

The distinct values are kept once, sorted, so that the same data always have the same codes. A
record's code is its value's place in that list; a missing value has the code after the last.
Codes are the smallest unsigned integers that hold them: a column of 5,570 towns over 48 million
records takes 96 MB instead of gigabytes of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.data import tuning
from divulge.work import DivulgeError

if TYPE_CHECKING:
    import pyarrow as pa

Codes: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

HIDDEN_TAG = 1
"""The tag of a value that protection has hidden; a missing value without it is absent."""


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One attribute of all records: codes, and the sorted distinct values they stand for.

    Stata and SAS know why a value is missing: `.a` to `.z` and `._` beside the plain `.`. Such a
    tag is kept beside the codes, as the letter's ASCII number, 0 where there is none. A value that
    protection has hidden has the tag 1 (`HIDDEN_TAG`); any other missing value was never there.
    """

    codes: Codes
    values: pa.Array
    has_missing: bool
    tags: npt.NDArray[np.uint8] | None = None

    @property
    def cardinality(self) -> int:
        """How many codes there are: distinct values, and one more if something is missing."""
        return len(self.values) + self.has_missing

    @property
    def missing_code(self) -> int:
        """The code of a missing value (used only if there is one)."""
        return len(self.values)

    def value(self, code: int) -> Any:
        """The value that a code stands for; None for a missing one."""
        return None if code == self.missing_code else self.values[code].as_py()

    def to_arrow(self) -> pa.Array:
        """The values in the order of the records; missing ones are null."""
        import pyarrow as pa

        missing = self.codes == self.missing_code if self.has_missing else None
        if len(self.values) == 0:
            return pa.nulls(len(self.codes), self.values.type)
        indices = pa.array(self.codes, mask=missing)
        return self.values.take(indices)

    def equals(self, other: Column) -> bool:
        """Whether both hold the same values in the same order."""
        return bool(
            self.has_missing == other.has_missing
            and _have_same_values(self, other)
            and np.array_equal(self.codes, other.codes)
            and _have_same_tags(self, other)
        )


def find_hidden_cells(column: Column, original: Column | None = None) -> npt.NDArray[np.bool_]:
    """Which cells are hidden: those that are marked so, or that the original shows.

    >>> import pyarrow as pa
    >>> before = encode_array(pa.array(["F", "M", None]))
    >>> find_hidden_cells(encode_array(pa.array(["F", None, None])), before).tolist()
    [False, True, False]
    """
    is_missing = column.codes == column.missing_code
    if not column.has_missing:
        return np.zeros(len(column.codes), np.bool_)
    is_hidden = np.zeros(len(column.codes), np.bool_)
    if column.tags is not None:
        is_hidden |= column.tags == HIDDEN_TAG
    if original is not None:
        is_hidden |= original.codes != original.missing_code
    return np.asarray(is_missing & is_hidden)


def encode_array(array: pa.Array | pa.ChunkedArray) -> Column:
    """Turn an Arrow array into codes.

    >>> import pyarrow as pa
    >>> column = encode_array(pa.array(["F", None, "M", "F"]))
    >>> column.codes.tolist(), column.codes.dtype.name, column.values.to_pylist()
    ([0, 2, 1, 0], 'uint8', ['F', 'M'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    if isinstance(array, pa.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)
    short_column = None if isinstance(array, pa.ChunkedArray) else encode_short_array(array)
    if short_column is not None:
        return short_column
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    if pa.types.is_dictionary(chunked.type):
        return _encode_dictionary(chunked)
    normalised = normalise_type(chunked)
    encoded = normalised.dictionary_encode()
    if encoded.num_chunks == 0:
        return Column(np.empty(0, np.uint8), pa.array([], normalised.type), False)
    dictionary = encoded.chunk(0).dictionary
    if not all(chunk.dictionary.equals(dictionary) for chunk in encoded.iterchunks()):
        # Arrow gives all chunks one list of values, so this is a precaution.
        encoded = encoded.unify_dictionaries()
        dictionary = encoded.chunk(0).dictionary
    order = pc.array_sort_indices(dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return _encode_by_rank(encoded, rank, _cast_whole_numbers(dictionary.take(pa.array(order))))


def encode_short_array(array: pa.Array) -> Column | None:
    """Encode the values of a few records; None where there are many, or of a rare kind.

    Files of many columns and few records are read in the time that a column takes, whatever its
    length. What comes out is what `encode_array` makes of them.

    >>> import pyarrow as pa
    >>> encode_short_array(pa.array([2.0, None, 1.0])).values.to_pylist()
    [1, 2]
    """
    cells_and_kind = _list_cells(array) if len(array) <= tuning.MAX_RECORDS_ENCODED_SINGLY else None
    if cells_and_kind is None:
        return None
    cells, kind = cells_and_kind
    distinct = set(cells)
    has_missing = None in distinct
    distinct.discard(None)
    values = sorted(distinct)
    places = {value: place for place, value in enumerate(values)}
    places[None] = len(values)
    codes: Codes = np.fromiter(
        map(places.__getitem__, cells),
        dtype=smallest_unsigned(len(values) + has_missing),
        count=len(cells),
    )
    return Column(codes, _build_values_array(values, kind), has_missing)


def _list_cells(array: pa.Array) -> tuple[list[Any], pa.DataType] | None:
    """The values as Python's own, and the kind that a column of them has.

    None where the kind is a rare one, or the array damaged: that is said by those who look closer.
    """
    import pyarrow as pa

    if array.type.id == pa.lib.Type_DICTIONARY:
        return _list_dictionary_cells(array)
    kind = _map_normalised_types().get(array.type.id)
    if kind is None:
        return None
    if kind.id == pa.lib.Type_DATE32:
        return array.view(pa.int32()).to_pylist(), kind
    try:
        cells = array.to_pylist()
    except UnicodeDecodeError:
        return None
    if kind.id == pa.lib.Type_DOUBLE:
        # Not-a-number is missing, and minus zero is zero.
        cells = [None if cell is None or cell != cell else cell + 0.0 for cell in cells]
    return cells, kind


def _list_dictionary_cells(array: pa.DictionaryArray) -> tuple[list[Any], pa.DataType] | None:
    """The same of codes that the array itself keeps."""
    import pyarrow as pa

    if len(array.dictionary) > tuning.MAX_RECORDS_ENCODED_SINGLY:
        return None
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return None
    dictionary_cells = _list_cells(array.dictionary)
    if dictionary_cells is None:
        return None
    values, kind = dictionary_cells
    places = array.indices.to_pylist()
    return [None if place is None else values[place] for place in places], kind


def _build_values_array(values: list[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if kind.id == pa.lib.Type_DATE32:
        return pa.array(np.array(values, np.int32)).view(kind)
    if kind.id == pa.lib.Type_INT64:
        return pa.array(np.array(values, np.int64))
    if kind.id == pa.lib.Type_DOUBLE:
        # Numbers that are all whole are whole numbers.
        whole = values and all(value.is_integer() and abs(value) < 2**53 for value in values)
        return pa.array(np.array(values, np.int64 if whole else np.float64))
    return pa.array(values, kind)


@cache
def _map_normalised_types() -> Mapping[int, pa.DataType]:
    """By what Arrow calls a type, the kind that `normalise_type` makes of it."""
    import pyarrow as pa

    whole = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32())
    return {
        **{kind.id: pa.int64() for kind in whole},
        pa.uint64().id: pa.uint64(),
        pa.float32().id: pa.float64(),
        pa.float64().id: pa.float64(),
        pa.string().id: pa.string(),
        pa.large_string().id: pa.string(),
        pa.string_view().id: pa.string(),
        pa.null().id: pa.string(),
        pa.bool_().id: pa.bool_(),
        pa.date32().id: pa.date32(),
    }


def smallest_unsigned(cardinality: int) -> np.dtype[Any]:
    """The smallest unsigned type that holds the codes 0 to cardinality - 1.

    >>> smallest_unsigned(256).name, smallest_unsigned(257).name
    ('uint8', 'uint16')
    """
    return np.min_scalar_type(max(0, cardinality - 1))


def replace_values(column: Column, values: pa.Array) -> Column:
    """The same records with other values: `values[i]` in place of the i-th, null for missing.

    Values that become equal become one, so this is how types are found and levels climbed.

    >>> import pyarrow as pa
    >>> ages = encode_array(pa.array([21, 25, 34]))
    >>> decades = replace_values(ages, pa.array(["20s", "20s", "30s"]))
    >>> decades.codes.tolist(), decades.values.to_pylist()
    ([0, 0, 1], ['20s', '30s'])
    """
    coarser = encode_array(values)
    has_missing = column.has_missing or coarser.has_missing
    dtype = smallest_unsigned(len(coarser.values) + has_missing)
    codes = np.append(coarser.codes, coarser.missing_code).astype(dtype)[column.codes]
    return Column(codes, coarser.values, has_missing, column.tags)


def column_from_codes(codes: npt.NDArray[np.integer[Any]], values: pa.Array) -> Column:
    """A column from places in a list of values; a place after the last is a missing value.

    The list may be in any order, and values that no record has are not values of the data.

    >>> import pyarrow as pa
    >>> column = column_from_codes(np.array([2, 0, 3]), pa.array(["M", "X", "F"]))
    >>> column.to_arrow().to_pylist(), column.values.to_pylist()
    (['F', 'M', None], ['F', 'M'])
    """
    import pyarrow as pa

    occurs = np.zeros(len(values) + 1, dtype=bool)
    occurs[codes] = True
    has_missing = bool(occurs[-1])
    distinct_values = int(occurs[:-1].sum())
    places = np.where(occurs, np.cumsum(occurs) - 1, distinct_values)
    table: Codes = places.astype(smallest_unsigned(distinct_values + has_missing))
    occurring = Column(table[codes], values.filter(pa.array(occurs[:-1])), has_missing)
    return replace_values(occurring, occurring.values)


def _have_same_values(one: Column, other: Column) -> bool:
    """Equal lists of values; of a column without any, no format knows the type."""
    if len(one.values) == 0:
        return len(other.values) == 0
    return bool(one.values.equals(other.values))


def _have_same_tags(one: Column, other: Column) -> bool:
    none = np.zeros(len(one.codes), dtype=np.uint8)
    mine = none if one.tags is None else one.tags
    return np.array_equal(mine, none if other.tags is None else other.tags)


def _encode_dictionary(chunked: pa.ChunkedArray) -> Column:
    """Encode what is already a dictionary, by its values and not row by row."""
    if chunked.num_chunks == 0:
        return encode_array(chunked.cast(chunked.type.value_type))
    unified = chunked.unify_dictionaries()
    dictionary = unified.chunk(0).dictionary
    indices = _encode_by_rank(unified, np.arange(len(dictionary)), dictionary)
    return column_from_codes(indices.codes, dictionary)


def _encode_by_rank(
    encoded: pa.ChunkedArray, rank: npt.NDArray[np.int64], values: pa.Array
) -> Column:
    """Codes of a unified dictionary-encoded array, through the rank of each of its values."""
    has_missing = encoded.null_count > 0
    table = np.append(rank, len(rank)).astype(smallest_unsigned(len(values) + has_missing))
    codes: npt.NDArray[Any] = np.empty(len(encoded), dtype=table.dtype)
    start = 0
    for chunk in encoded.chunks:
        # Small indices may have no room for the code of a missing value.
        indices = chunk.indices.cast("int64")
        indices = indices.fill_null(len(rank)) if chunk.null_count else indices
        codes[start : start + len(chunk)] = table[indices.to_numpy(zero_copy_only=False)]
        start += len(chunk)
    return Column(codes, values, has_missing)


def normalise_type(chunked: pa.ChunkedArray) -> pa.ChunkedArray:
    """One type per kind of value, so that the same data of two formats are equal.

    Not-a-number is missing (data frames say it so), and minus zero is zero.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = chunked.type
    if pa.types.is_integer(kind):
        return chunked.cast(pa.uint64() if pa.types.is_uint64(kind) else pa.int64())
    if pa.types.is_floating(kind):
        doubles = pc.add(chunked.cast(pa.float64()), 0.0)
        nothing = pa.scalar(None, pa.float64())
        return pc.if_else(pc.fill_null(pc.is_nan(doubles), False), nothing, doubles)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return chunked.cast(pa.string()) if chunked.nbytes < 2**31 else chunked
    if pa.types.is_timestamp(kind):
        try:
            return chunked.cast(pa.timestamp("us", tz=kind.tz))
        except pa.ArrowInvalid:  # finer than microseconds: kept as it is
            return chunked
    if pa.types.is_date64(kind):
        return chunked.cast(pa.date32())
    if pa.types.is_null(kind):
        return chunked.cast(pa.string())
    if _is_supported_type(kind):
        return chunked
    raise DivulgeError(
        f"a column of type {kind} cannot be read: an attribute is text, a number, a truth value, "
        "a date or a time"
    )


def _cast_whole_numbers(values: pa.Array) -> pa.Array:
    """Distinct numbers as integers if all are whole: some formats and data frames know no other."""
    import pyarrow as pa

    if not pa.types.is_floating(values.type) or len(values) == 0:
        return values
    numbers = values.to_numpy()
    whole = np.all(np.isfinite(numbers)) and np.all(np.abs(numbers) < 2**53)
    return values.cast(pa.int64()) if whole and np.all(numbers == np.floor(numbers)) else values


def _is_supported_type(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_time(kind)
        or pa.types.is_decimal(kind)
    )
