"""Whatever can be read either comes back from a file as it was, or is refused by its column."""

from __future__ import annotations

import datetime as dt
import re
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Column, Dataset
from divulge.data.column import encode_array
from divulge.data.dictionary import Attribute, Dictionary, MissingCode
from divulge.data.faithfulness import find_writing_differences
from divulge.data.formats.capacity import SPSS, STATA
from divulge.data.formats.names import format_name

TEXT_FORMATS = (".csv", ".tsv", ".csv.gz")
TYPED_FORMATS = (".parquet", ".arrow", ".duckdb")
STATISTICAL_FORMATS = (".sav", ".zsav", ".dta", ".xpt")

# Letters that formats stumble over: blanks, ends of lines, quotation marks, byte order marks, NUL.
LETTERS = "aé名😀 \t\r\n\"',;=+-@.0\x01\x1a\x7f\u00a0\ufeff\uffff\0"
DATES = st.dates() | st.sampled_from([dt.date(1582, 10, 14), dt.date(1582, 10, 15)])
NUMBERS = st.floats(allow_nan=False) | st.sampled_from(
    [1.7976931348623157e308, -1.7976931348623155e308, 8.9884656743115785e307, 5e-324, 1e-79, 7e75]
)
KINDS: tuple[tuple[st.SearchStrategy[Any], pa.DataType], ...] = (
    (st.text(LETTERS, max_size=3), pa.string()),
    (st.text(LETTERS.replace("\0", ""), min_size=1, max_size=3).filter(str.rstrip), pa.string()),
    (st.sampled_from([n * "xy " + "z" for n in (66, 67, 85, 100, 681, 682, 10_922)]), pa.string()),
    (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    (st.integers(-(2**53), 2**53), pa.int64()),
    (st.integers(0, 2**64 - 1), pa.uint64()),
    (NUMBERS, pa.float64()),
    (st.floats(-1e9, 1e9), pa.float64()),
    (st.decimals(-(10**20), 10**20, allow_nan=False, places=3), pa.decimal128(38, 3)),
    (st.decimals(-999, 999, allow_nan=False, places=3), pa.decimal128(38, 3)),
    (st.booleans(), pa.bool_()),
    (DATES, pa.date32()),
    (st.integers(-(2**31), 2**31 - 1), pa.date32()),
    (st.datetimes(), pa.timestamp("us")),
    (st.datetimes().map(lambda m: m.replace(microsecond=0)), pa.timestamp("us")),
    (st.integers(-(2**62), 2**62), pa.timestamp("ns")),
    (st.integers(-(2**40), 2**40), pa.timestamp("us", tz="UTC")),
    (st.times(), pa.time64("us")),
    (st.integers(0, 86_399), pa.time32("s")),
    (st.integers(0, 86_400 * 10**9 - 1), pa.time64("ns")),
)


@st.composite
def records(draw: st.DrawFn, letters: str = LETTERS) -> Dataset:
    """A few records of a few columns of any kind; some values missing."""
    rows = draw(st.integers(1, 5))
    columns = {}
    for number in range(draw(st.integers(1, 3))):
        values, kind = draw(st.sampled_from(KINDS))
        cells = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        if pa.types.is_string(kind):
            cells = [c if c is None else "".join(x for x in c if x in letters) for c in cells]
        columns[f"v{number}"] = _array(cells, kind)
    return Dataset.from_arrow(pa.table(columns))


def _array(cells: list[Any], kind: pa.DataType) -> pa.Array:
    if any(isinstance(cell, int) for cell in cells) and pa.types.is_temporal(kind):
        bare = pa.int32() if kind.bit_width == 32 else pa.int64()
        return pa.array(cells, bare).cast(kind)
    return pa.array(cells, kind)


def written(dataset: Dataset, path: Path) -> list[str]:
    """Write what the format holds; the columns that it refuses, by their names alone."""
    refusal = _refusal(dataset, path)
    if refusal is None:
        return []
    assert not path.exists()
    assert not any(text in str(refusal) for text in _texts(dataset) if len(text) > 2)
    refused = {n for p in refusal.problems for n in re.findall(r'^column "(.*?)"', p.place)}
    assert refused
    kept = [name for name in dataset.names if name not in refused]
    assert not kept or written(dataset.select(kept), path) == []
    return sorted(refused)


def _refusal(dataset: Dataset, path: Path) -> dv.InvalidInput | None:
    try:
        dataset.write(path, guard_formulas=False)
    except dv.InvalidInput as error:
        return error
    return None


def _texts(dataset: Dataset) -> list[str]:
    texts = [c.values for c in dataset.columns.values() if pa.types.is_string(c.values.type)]
    return [text for values in texts for text in values.to_pylist()]


def cells_of(column: Column) -> list[Any]:
    """Values as what they are, whatever kind a format holds them as."""
    values, kind = column.to_arrow(), column.values.type
    if pa.types.is_timestamp(kind):
        unit = 10**3 if kind.unit == "us" else 1
        return [None if v is None else v * unit for v in values.cast(pa.int64()).to_pylist()]
    if pa.types.is_time(kind):
        return values.cast(pa.time64("ns")).cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]  # Arrow's
    if pa.types.is_date32(kind):
        return values.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]  # Arrow's
    cells = values.to_pylist()
    return [float(cell) if isinstance(cell, Decimal) else cell for cell in cells]


@pytest.mark.parametrize("ending", TYPED_FORMATS + STATISTICAL_FORMATS)
@given(dataset=records())
def test_a_value_comes_back_as_it_was_or_its_column_is_refused(
    ending: str, dataset: Dataset
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        refused = written(dataset, path)
        kept = [name for name in dataset.names if name not in refused]
        if not kept:
            return
        back = dv.read(path)
        assert back.names == kept
        for name in kept:
            assert cells_of(back.columns[name]) == cells_of(dataset.columns[name])
        assert find_writing_differences(dataset.select(kept), path) == []


@pytest.mark.parametrize("ending", TEXT_FORMATS)
@given(dataset=records(letters=LETTERS.replace("\0", "")))
def test_text_comes_back_from_a_text_file_and_all_else_tells_the_same_apart(
    ending: str, dataset: Dataset
) -> None:
    texts = [n for n, c in dataset.columns.items() if pa.types.is_string(c.values.type)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        assert written(dataset, path) == []
        assert find_writing_differences(dataset, path) == []
        separator = "\t" if ending == ".tsv" else ","
        back = dv.read(path, text=texts, separator=separator, quote='"', decimal=".")
        for name in texts:
            assert back.columns[name].equals(dataset.columns[name])


@pytest.mark.parametrize(
    ("ending", "reader"),
    [(".sav", "read_sav"), (".zsav", "read_sav"), (".dta", "read_dta"), (".xpt", "read_xport")],
)
@given(dataset=records())
def test_another_reader_finds_the_same_texts_and_numbers(
    ending: str, reader: str, dataset: Dataset
) -> None:
    plain = [
        name
        for name, column in dataset.columns.items()
        if not pa.types.is_temporal(column.values.type)
    ]
    if not plain:
        return
    dataset = dataset.select(plain)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        refused = written(dataset, path)
        if len(refused) == len(plain):
            return
        theirs, _ = getattr(pyreadstat, reader)(str(path), output_format="dict")
        for name in set(plain) - set(refused):
            found = [None if v == "" or v != v else v for v in theirs[name]]
            assert found == cells_of(dataset.columns[name])


@pytest.mark.parametrize("ending", STATISTICAL_FORMATS)
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a\0b", "a\0c"], "NUL"),
        (["", "a"], "empty text"),
        (["", None], "empty text"),
        ([2**53 + 1, 1], "above 2^53"),
        ([Decimal("12345678901234567890.1"), Decimal("1.5")], "decimal"),
        ([dt.date(99, 12, 31), dt.date(2020, 1, 1)], "dates from"),
        ([dt.datetime(99, 12, 31), dt.datetime(2020, 1, 1)], "dates from"),  # noqa: DTZ001  # files know no zones
        ([1.7976931348623157e308, 1.5], r"number|numbers"),
    ],
)
def test_what_a_statistical_format_changes_is_refused_with_a_reason(
    ending: str, values: list[Any], said: str, tmp_path: Path
) -> None:
    dataset = Dataset.from_arrow(pa.table({"v": pa.array(values), "w": [1, 2]}))
    with pytest.raises(
        dv.InvalidInput, match=f'column "v": .*{re.escape(said)}'.replace(r"\|", "|")
    ):
        dataset.write(tmp_path / f"data{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("ending", "keeps"), [(".sav", False), (".xpt", False), (".dta", True)])
def test_texts_that_differ_by_blanks_at_their_end_are_not_made_one(
    ending: str, keeps: bool, tmp_path: Path
) -> None:
    dataset = Dataset.from_arrow(pa.table({"v": ["a", "a ", "b"]}))
    path = tmp_path / f"data{ending}"
    if keeps:
        dataset.write(path)
        assert dv.read(path).equals(dataset)
    else:
        with pytest.raises(dv.InvalidInput, match='column "v": .*blank'):
            dataset.write(path)


@pytest.mark.parametrize(
    ("ending", "names"),
    [
        (".dta", ["in", "if", "_n", "_N", "byte", "double", "str5", "strL", "_cons", "with"]),
        (".sav", ["ALL", "and", "By", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO"]),
        (".sav", ["WITH", "é" * 33, "age\n"]),
        (".dta", ["é" * 33, "age\n", "2x", "a b"]),
        (".xpt", ["_N_", "_all_", "age\n", "é"]),
    ],
)
def test_a_name_that_a_program_does_not_take_is_named(
    ending: str, names: list[str], tmp_path: Path
) -> None:
    dataset = Dataset({name: encode_array(pa.array([1, 2])) for name in [*names, "age"]})
    with pytest.raises(dv.InvalidInput) as caught:
        dataset.write(tmp_path / f"data{ending}")
    places = [f'column "{format_name(name)}"' for name in names]
    assert [p.place for p in caught.value.problems] == places


def test_moments_are_predicted_as_they_are_read_again(tmp_path: Path) -> None:
    # Every part of a second, in every age: what is said to come back does.
    ticks = np.arange(-12_219_292_800_000_000, 253_402_300_799_999_999, 2_656_215_999_977_013)
    ticks = np.concatenate([ticks, 1_577_836_800_000_000 + np.arange(0, 10**6, 997)])
    for capacity, ending in ((SPSS, "sav"), (STATA, "dta")):
        exact = ticks[capacity.moments(ticks) == ticks]
        assert 0 < len(exact) < len(ticks)
        dataset = Dataset.from_arrow(pa.table({"when": pa.array(exact, pa.timestamp("us"))}))
        path = tmp_path / f"exact.{ending}"
        dataset.write(path)
        assert dv.read(path).equals(dataset)


def test_moments_that_came_from_spss_go_back_to_it(tmp_path: Path) -> None:
    seconds = 13_797_000_000 + np.arange(0, 4, 0.0123)
    frame = {"when": seconds, "other": seconds}
    pyreadstat.write_sav(
        __import__("polars").DataFrame(frame),
        tmp_path / "first.sav",
        variable_format={"when": "DATETIME23.2"},
    )
    first = dv.read(tmp_path / "first.sav")
    first.write(tmp_path / "second.sav")
    assert dv.read(tmp_path / "second.sav").equals(first)


def test_tags_of_numbers_that_became_text_are_no_text(tmp_path: Path) -> None:
    ages = encode_array(pa.array(["20-29", None, "30-39"]))
    tagged = Column(ages.codes, ages.values, True, np.array([0, 97, 0], np.uint8))
    for ending in (".dta", ".xpt", ".sav"):
        path = tmp_path / f"people{ending}"
        Dataset({"age": tagged}).write(path)
        assert dv.read(path).columns["age"].to_arrow().to_pylist() == ["20-29", None, "30-39"]
        assert find_writing_differences(Dataset({"age": tagged}), path) == []


@pytest.mark.parametrize("ending", [".dta", ".xpt"])
def test_a_column_of_nothing_but_tags_keeps_them(ending: str, tmp_path: Path) -> None:
    nothing = encode_array(pa.nulls(3))
    tagged = Column(nothing.codes, nothing.values, True, np.array([0, 97, 98], np.uint8))
    path = tmp_path / f"people{ending}"
    Dataset({"age": tagged}).write(path)
    assert dv.read(path).columns["age"].equals(tagged)


def test_stata_has_no_tag_but_letters(tmp_path: Path) -> None:
    ages = encode_array(pa.array([25, None]))
    tagged = Column(ages.codes, ages.values, True, np.array([0, ord("_")], np.uint8))
    with pytest.raises(dv.InvalidInput, match='column "age": Stata tags missing values'):
        Dataset({"age": tagged}).write(tmp_path / "people.dta")
    Dataset({"age": tagged}).write(tmp_path / "people.xpt")
    assert dv.read(tmp_path / "people.xpt").columns["age"].equals(tagged)


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_descriptions_and_labels_are_not_cut_either(ending: str, tmp_path: Path) -> None:
    dataset = Dataset.from_arrow(pa.table({"v": [1, 2]})).describe(descriptions={"v": "a\0b"})
    with pytest.raises(dv.InvalidInput, match='column "v", description: .*NUL'):
        dataset.write(tmp_path / f"data{ending}")
    if ending != ".xpt":
        dataset = Dataset.from_arrow(pa.table({"v": [1, 2]})).describe(labels={"v": {1: "a\0b"}})
        with pytest.raises(dv.InvalidInput, match='column "v", labels: .*NUL'):
            dataset.write(tmp_path / f"data{ending}")


@pytest.mark.parametrize(
    ("values", "labels", "code", "place"),
    [
        (["x", "y" * 10], {}, "y" * 10, "missing"),
        ([dt.date(2020, 1, 1)] * 2, {}, dt.date(2020, 1, 1), "missing"),
        ([dt.date(2020, 1, 1)] * 2, {dt.date(2020, 1, 1): "new year"}, None, "labels"),
        ([1, 2], {"abc": "x"}, None, "labels"),
        (["x", "y"], {"x\0": "x"}, None, "labels"),
    ],
)
def test_what_spss_cannot_label_or_declare_is_said_before(
    values: list[Any], labels: dict[Any, str], code: Any, place: str, tmp_path: Path
) -> None:
    missing = () if code is None else (MissingCode(code, code),)
    about = Attribute("v", labels=labels, missing=missing)
    dataset = Dataset({"v": encode_array(pa.array(values))}, Dictionary({"v": about}))
    with pytest.raises(dv.InvalidInput, match=f'column "v", {place}'):
        dataset.write(tmp_path / "data.sav")


def test_truth_values_keep_their_labels_and_codes_in_spss(tmp_path: Path) -> None:
    about = Attribute("v", labels={True: "yes"}, missing=(MissingCode(False, False),))
    dataset = Dataset({"v": encode_array(pa.array([True, False]))}, Dictionary({"v": about}))
    dataset.write(tmp_path / "data.sav")
    back = dv.read(tmp_path / "data.sav").dictionary["v"]
    assert (dict(back.labels), back.missing) == ({1: "yes"}, (MissingCode(0, 0),))


def test_labels_of_numbers_that_nobody_gave_stay_labels_of_numbers(tmp_path: Path) -> None:
    about = Attribute("v", labels={1: "yes"}, missing=(MissingCode(9, 9),))
    dataset = Dataset({"v": encode_array(pa.nulls(2))}, Dictionary({"v": about}))
    dataset.write(tmp_path / "data.sav")
    back = dv.read(tmp_path / "data.sav").dictionary["v"]
    assert (dict(back.labels), back.missing) == ({1: "yes"}, (MissingCode(9, 9),))


def test_a_refusal_of_the_writer_itself_is_passed_on_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any, **settings: Any) -> None:
        raise pyreadstat.ReadstatError("a secret value")

    monkeypatch.setattr(pyreadstat, "write_dta", refuse)
    with pytest.raises(dv.DivulgeError, match="Stata's format cannot store") as caught:
        Dataset.from_arrow(pa.table({"v": [1, 2]})).write(tmp_path / "data.dta")
    assert "secret" not in str(caught.value)


def test_sas_counts_more_variables_than_version_5_can(tmp_path: Path) -> None:
    column = encode_array(pa.array([1]))
    many = Dataset({f"v{n}": column for n in range(10_001)})
    many.write(tmp_path / "many.xpt")
    assert dv.read(tmp_path / "many.xpt", columns=["v0", "v10000"]).rows == 1
    with pytest.raises(dv.InvalidInput, match="at most 32,767 columns"):
        Dataset({f"v{n}": column for n in range(32_768)}).write(tmp_path / "more.xpt")


def test_either_data_frame_library_writes_moments_of_all_ages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [dt.datetime(1600, 1, 1, 1, 2, 3), None, dt.datetime(2500, 1, 1)]  # noqa: DTZ001  # files know no zones
    days = [dt.date(1600, 1, 1), None, dt.date(2500, 1, 1)]
    dataset = Dataset.from_arrow(pa.table({"when": moments, "day": days}))
    monkeypatch.setitem(sys.modules, "polars", None)
    for ending in (".sav", ".dta"):
        dataset.write(tmp_path / f"data{ending}")
        assert dv.read(tmp_path / f"data{ending}").equals(dataset)
