"""Names of attributes come back from every format, or are refused with one that would."""

from __future__ import annotations

import csv
import gzip
import re
import struct
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Dataset
from divulge.data.column import encode_array
from divulge.data.formats.names import (
    ARROW_NAMES,
    DUCKDB_NAMES,
    PARQUET_NAMES,
    SAS_NAMES,
    SPSS_NAMES,
    STATA_NAMES,
    TEXT_NAMES,
    NameRules,
    find_allowed_name,
    find_name_rule_problems,
    format_name,
)

RULES: Mapping[str, NameRules] = {
    ".csv": TEXT_NAMES,
    ".tsv": TEXT_NAMES,
    ".csv.gz": TEXT_NAMES,
    ".parquet": PARQUET_NAMES,
    ".arrow": ARROW_NAMES,
    ".duckdb": DUCKDB_NAMES,
    ".sav": SPSS_NAMES,
    ".zsav": SPSS_NAMES,
    ".dta": STATA_NAMES,
    ".xpt": SAS_NAMES,
}
WORDS_OF_STATA = [
    "_all",
    "_b",
    "byte",
    "_coef",
    "_cons",
    "double",
    "float",
    "if",
    "in",
    "int",
    "long",
    "_n",
    "_N",
    "_pi",
    "_pred",
    "_rc",
    "_skip",
    "strL",
    "str1",
    "str7",
    "str2045",
    "using",
    "with",
]
WORDS_OF_SPSS = ["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"]
WORDS_OF_SAS = ["_N_", "_ERROR_", "_ALL_", "_NUMERIC_", "_CHARACTER_"]
# Signs that formats stumble over; a half of a letter cannot be written at all.
SIGNS = "aAéÉß\u017f\u0131İ名ि😀²½٣ \t\r\n\"',;=.0_$#@\\\x01\x1a\x7f\x85\u00a0\u0301\u2028\ufeff\uffff\0\ud800"
WORDS = st.sampled_from([*WORDS_OF_STATA, *WORDS_OF_SPSS, *WORDS_OF_SAS])
NAMES = (
    st.text(SIGNS, max_size=4)
    | st.text(max_size=80)
    | WORDS
    | WORDS.map(str.swapcase)
    | st.builds(lambda word, sign: word + sign, WORDS, st.sampled_from(SIGNS))
    | st.builds(lambda sign, count: sign * count, st.sampled_from("xé名𐐀."), st.integers(7, 70))
)
MANY_NAMES = st.lists(NAMES, min_size=1, max_size=5, unique=True)


def _names_of_csv(path: Path) -> list[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as file:
        return next(csv.reader(file, delimiter="\t" if ".tsv" in path.name else ","))


def _names_of_sav(path: Path) -> list[str]:
    """The record of long names: SHORT=long, with tabs between (PSPP's description, 7.13)."""
    raw = path.read_bytes()
    at = raw.index(struct.pack("<3i", 7, 13, 1))
    (size,) = struct.unpack_from("<i", raw, at + 12)
    pairs = raw[at + 16 : at + 16 + size].decode().split("\t")
    assert len({pair.partition("=")[0] for pair in pairs}) == len(pairs)
    return [pair.partition("=")[2] for pair in pairs]


def _names_of_duckdb(path: Path) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as session:
        return list(session.sql("SELECT * FROM records").columns)


FOREIGN_READERS: Mapping[str, Callable[[Path], list[str]]] = {
    ".csv": _names_of_csv,
    ".tsv": _names_of_csv,
    ".csv.gz": _names_of_csv,
    ".parquet": lambda path: list(pl.read_parquet_schema(path)),
    ".arrow": lambda path: list(pl.read_ipc_schema(path)),
    ".duckdb": _names_of_duckdb,
    ".sav": _names_of_sav,
    ".zsav": _names_of_sav,
    ".dta": lambda path: list(pd.read_stata(path).columns),
    ".xpt": lambda path: list(pyreadstat.read_xport(str(path))[1].column_names),
}


def _write_arrow(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)


def _write_duckdb(table: pa.Table, path: Path) -> None:
    with duckdb.connect(str(path)) as session:
        session.register("given", table)
        session.execute("CREATE TABLE records AS SELECT * FROM given")


REAL_WRITERS: Mapping[str, Callable[[pa.Table, Path], None]] = {
    ".csv": pa_csv.write_csv,
    ".parquet": pq.write_table,
    ".arrow": _write_arrow,
    ".duckdb": _write_duckdb,
    ".sav": lambda table, path: pyreadstat.write_sav(pl.DataFrame(table), path),
    ".dta": lambda table, path: pyreadstat.write_dta(pl.DataFrame(table), path),
    ".xpt": lambda table, path: pyreadstat.write_xport(
        pl.DataFrame(table), path, file_format_version=8
    ),
}


def _dataset(names: list[str]) -> Dataset:
    return Dataset({name: encode_array(pa.array([1.5, 2.5])) for name in names})


def _refusal(names: list[str], path: Path) -> dv.InvalidInput | None:
    try:
        _dataset(names).write(path)
    except dv.InvalidInput as error:
        return error
    return None


def _written_names(path: Path) -> list[str]:
    if RULES[_ending(path)] is not TEXT_NAMES:
        return dv.read(path).names
    separator = "\t" if ".tsv" in path.name else ","
    return dv.read(path, header=True, quote='"', separator=separator).names


def _ending(path: Path) -> str:
    return "".join(path.suffixes)


@pytest.mark.parametrize("ending", RULES)
@given(names=MANY_NAMES)
@example(names=["V3_A", "abcdefgh1", "abcdefgh2", "V1", "abcdefgh3"])
@example(names=["a", "a.b", "a.b.c"])
@example(names=["a\nb", "c\r", '"'])
def test_names_come_back_or_are_refused_in_our_words(ending: str, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        refusal = _refusal(names, path)
        if refusal is not None:
            assert list(Path(folder).iterdir()) == []
            assert all(line.isprintable() for line in str(refusal).split("\n"))
            assert all("Rename it, for example to" in p.message for p in refusal.problems)
            return
        assert _written_names(path) == names
        assert FOREIGN_READERS[ending](path) == names


@pytest.mark.parametrize("ending", REAL_WRITERS)
@given(names=MANY_NAMES)
def test_the_nearest_allowed_name_is_taken_by_who_writes_such_files(
    ending: str, names: list[str]
) -> None:
    rules, near = RULES[ending], list[str]()
    for name in names:
        near.append(find_allowed_name(name, near, rules))
    assert [find_allowed_name(name, near[:n], rules) for n, name in enumerate(names)] == near
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        REAL_WRITERS[ending](pa.table({name: [1.5, 2.5] for name in near}), path)
        assert _written_names(path) == near
        assert FOREIGN_READERS[ending](path) == near


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
@given(names=MANY_NAMES)
def test_whoever_follows_the_advice_is_not_refused_again(ending: str, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        refusal = _refusal(names, path)
        if refusal is None:
            return
        advice = {
            problem.place: re.findall(r'for example to "(.*)"\.$', problem.message)[0]
            for problem in refusal.problems
        }
        better = []
        for number, name in enumerate(names, start=1):
            place = f'column "{format_name(name)}"' if name.strip() else f"column {number}"
            better.append(advice.get(place, name))
        _dataset(better).write(path)
        assert _written_names(path) == better


@pytest.mark.parametrize("ending", RULES)
@given(name=NAMES)
def test_an_allowed_name_is_the_nearest_to_itself(ending: str, name: str) -> None:
    rules = RULES[ending]
    near = find_allowed_name(name, [], rules)
    assert rules.is_allowed(near)
    assert find_allowed_name(near, [], rules) == near


@pytest.mark.parametrize(
    ("ending", "name", "message"),
    [
        (".dta", "in", 'column "in": Stata reserves this word. Rename it, for example to "in_".'),
        (".sav", "to", 'column "to": SPSS reserves this word. Rename it, for example to "to_1".'),
        (".xpt", "_n_", 'column "_n_": SAS reserves this word. Rename it, for example to "_n__".'),
        (".sav", "sex.", 'takes no name that ends with ".". Rename it, for example to "sex".'),
        (".dta", "x" * 33, f'at most 32 characters. Rename it, for example to "{"x" * 32}".'),
        (".sav", "é" * 33, f'at most 64 bytes of UTF-8. Rename it, for example to "{"é" * 32}".'),
        (".xpt", "x" * 33, f'at most 32 characters. Rename it, for example to "{"x" * 32}".'),
        (".dta", "2019", 'Rename it, for example to "v2019".'),
        (".sav", "_id", 'Rename it, for example to "v_id".'),
        (".dta", "income (EUR)", 'Rename it, for example to "income_EUR".'),
        (".xpt", "Größe", 'Rename it, for example to "Grosse".'),
        (".xpt", "名", 'column "名": names for SAS begin with an English letter or _ and contain '),
        (".csv", "a\0b", r'column "a\x00b": names for text files contain no NUL character.'),
        (".parquet", "\ud800", r'column "\ud800": is not Unicode text'),
        (".duckdb", " ", 'column 1: has no name. Rename it, for example to "v".'),
        (".arrow", "", 'column 1: has no name. Rename it, for example to "v".'),
    ],
)
def test_a_refusal_names_the_attribute_and_a_name_that_is_allowed(
    ending: str, name: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(dv.InvalidInput) as caught:
        _dataset([name, "age"]).write(tmp_path / f"data{ending}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (".dta", WORDS_OF_STATA),
        (".sav", WORDS_OF_SPSS),
        (".sav", [word.lower() for word in WORDS_OF_SPSS]),
        (".xpt", WORDS_OF_SAS),
        (".xpt", [word.lower() for word in WORDS_OF_SAS]),
    ],
)
def test_every_reserved_word_is_refused(ending: str, words: list[str], tmp_path: Path) -> None:
    with pytest.raises(dv.InvalidInput) as caught:
        _dataset(words).write(tmp_path / f"data{ending}")
    assert len(caught.value.problems) == len(words)
    assert all("reserves this word" in problem.message for problem in caught.value.problems)


def test_names_that_differ_only_by_case_are_one_to_some_programs(tmp_path: Path) -> None:
    dataset = _dataset(["age", "Age", "AGE", "age_1"])
    for ending, near in ((".sav", "Age_2"), (".xpt", "Age_"), (".duckdb", "Age_")):
        with pytest.raises(dv.InvalidInput, match=f'"Age": differs .* example to "{near}"') as said:
            dataset.write(tmp_path / f"data{ending}")
        assert [p.place for p in said.value.problems] == ['column "Age"', 'column "AGE"']
    for ending in (".dta", ".parquet", ".arrow", ".csv"):
        dataset.write(tmp_path / f"data{ending}")
        assert dv.read(tmp_path / f"data{ending}").names == dataset.names
    # DuckDB leaves the case of other letters alone.
    _dataset(["É", "é"]).write(tmp_path / "letters.duckdb")
    assert dv.read(tmp_path / "letters.duckdb").names == ["É", "é"]


def test_advice_for_many_columns_is_all_different() -> None:
    names = [f"{sign}{number}" for number in range(3000) for sign in "?!"]
    said = [str(problem) for problem in find_name_rule_problems(names, STATA_NAMES)]
    advice = [text.rpartition(" to ")[2] for text in said]
    assert len(set(advice)) == len(names)


@pytest.mark.parametrize("table", ["some_records", "empty_records", "some of records", 'a "b"'])
def test_a_table_may_have_any_name(table: str, tmp_path: Path) -> None:
    _dataset(["age"]).write(tmp_path / "data.duckdb", table=table)
    assert dv.read(tmp_path / "data.duckdb", table=table).names == ["age"]


@pytest.mark.parametrize("table", ["a\0b", "\ud800", " "])
def test_a_table_that_cannot_be_named_so_is_refused(table: str, tmp_path: Path) -> None:
    with pytest.raises(dv.InvalidInput, match="writing for DuckDB, table"):
        _dataset(["age"]).write(tmp_path / "data.duckdb", table=table)


@pytest.mark.parametrize("separator", ["ab", '"', "\n", "é", "\0", "\ud800"])
def test_a_separator_that_cannot_be_one_is_refused(separator: str, tmp_path: Path) -> None:
    with pytest.raises(dv.InvalidInput, match="separator: must be one plain character"):
        _dataset(["age"]).write(tmp_path / "data.csv", separator=separator)


def test_a_data_frame_with_half_a_letter_for_a_name_is_refused() -> None:
    with pytest.raises(dv.InvalidInput, match="column 2: has a name that is not Unicode text"):
        names = pd.Index(["a", "\ud800"], dtype=object)
        Dataset.from_pandas(pd.DataFrame([[1, 2]], columns=names))


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_a_name_that_may_be_a_value_of_a_record_is_not_shown(ending: str, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("Smith Jr,Rome,rome\nJones,Bari,x\nBrown,Pisa,y \n")
    with pytest.raises(dv.InvalidInput) as caught:
        dv.read(tmp_path / "data.csv").write(tmp_path / f"data{ending}")
    said = str(caught.value)
    assert "Smith" not in said.replace(str(tmp_path), "")
    assert "rome" not in said.lower()
    assert "column 1: names for" in said
    assert 'Rename it, for example to "v1".' in said
