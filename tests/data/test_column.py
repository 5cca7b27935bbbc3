import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.data.column import column_from_codes, encode_array, replace_values
from divulge.work import DivulgeError

TEXTS = st.lists(st.none() | st.text(max_size=3))
WHOLE = st.lists(st.none() | st.integers(-(2**60), 2**60))
DECIMALS = st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False))


@given(TEXTS | WHOLE)
def test_codes_stand_for_the_values_they_came_from(values: list[object]) -> None:
    assert encode_array(pa.array(values)).to_arrow().to_pylist() == values


@given(DECIMALS)
def test_decimals_come_back_and_whole_ones_are_integers(values: list[float | None]) -> None:
    assert encode_array(pa.array(values, pa.float64())).to_arrow().to_pylist() == values


@given(TEXTS, st.randoms())
def test_the_same_values_have_the_same_codes_in_whatever_order_they_come(
    values: list[str | None], random: object
) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a Random
    one, other = (
        encode_array(pa.array(values, pa.string())),
        encode_array(pa.array(shuffled, pa.string())),
    )
    assert one.values.equals(other.values)
    assert sorted(one.codes.tolist()) == sorted(other.codes.tolist())


@given(TEXTS, st.integers(1, 4))
def test_a_column_in_pieces_is_the_column_in_one(values: list[str | None], pieces: int) -> None:
    parts = [values[start::pieces] for start in range(pieces)]
    chunked = pa.chunked_array([pa.array(part, pa.string()) for part in parts])
    whole = encode_array(pa.array([value for part in parts for value in part], pa.string()))
    assert encode_array(chunked).equals(whole)
    as_dictionary = pa.chunked_array(
        [pa.array(part, pa.string()).dictionary_encode() for part in parts]
    )
    assert encode_array(as_dictionary).equals(whole)


@pytest.mark.parametrize(
    ("distinct", "width"), [(1, "uint8"), (256, "uint8"), (257, "uint16"), (65_537, "uint32")]
)
def test_codes_are_the_smallest_that_hold_them(distinct: int, width: str) -> None:
    assert encode_array(pa.array(range(distinct))).codes.dtype.name == width


def test_a_missing_value_takes_a_code_of_its_own() -> None:
    full = encode_array(pa.array(range(256)))
    holed = encode_array(pa.array([*range(256), None]))
    assert (full.codes.dtype.name, holed.codes.dtype.name) == ("uint8", "uint16")
    assert holed.cardinality == 257
    assert holed.value(256) is None


def test_a_missing_value_is_not_an_empty_text() -> None:
    column = encode_array(pa.array(["", None]))
    assert column.codes.tolist() == [0, 1]
    assert column.to_arrow().to_pylist() == ["", None]


def test_not_a_number_is_missing_and_minus_zero_is_zero() -> None:
    column = encode_array(pa.array([float("nan"), -0.0, 0.0, 0.5]))
    assert column.to_arrow().to_pylist() == [None, 0.0, 0.0, 0.5]
    assert column.cardinality == 3


def test_a_category_that_no_record_has_is_no_value() -> None:
    held = pa.DictionaryArray.from_arrays(pa.array([2, 0, None]), pa.array(["b", "unused", "a"]))
    column = encode_array(held)
    assert column.values.to_pylist() == ["a", "b"]
    assert column.to_arrow().to_pylist() == ["a", "b", None]


def test_a_column_of_nothing_but_missing_values_is_kept() -> None:
    column = encode_array(pa.nulls(3))
    assert column.to_arrow().to_pylist() == [None, None, None]
    assert column.cardinality == 1


def test_dates_and_times_of_other_widths_are_one() -> None:
    day = dt.date(2018, 5, 30)
    assert encode_array(pa.array([day], pa.date64())).equals(
        encode_array(pa.array([day], pa.date32()))
    )
    moment = dt.datetime(2018, 5, 30, 8, 45)  # noqa: DTZ001  # data without a zone
    seconds = encode_array(pa.array([moment], pa.timestamp("s")))
    assert seconds.equals(encode_array(pa.array([moment], pa.timestamp("us"))))


def test_a_column_of_lists_is_refused_in_words() -> None:
    with pytest.raises(DivulgeError, match="an attribute is text, a number"):
        encode_array(pa.array([[1], [2]]))


@given(st.lists(st.integers(0, 4), min_size=1))
def test_recoding_is_reading_each_value_in_a_table(codes: list[int]) -> None:
    table = pa.array(["x", "y", None, "x"])
    column = column_from_codes(np.array(codes), pa.array([10, 11, 12, 13]))
    recoded = replace_values(
        column, table.take(pa.array([v - 10 for v in column.values.to_pylist()], pa.int64()))
    )
    wanted = [None if code == 4 else table[code].as_py() for code in codes]
    assert recoded.to_arrow().to_pylist() == wanted
