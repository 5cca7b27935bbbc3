"""Tables of any number of dimensions in files, and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Command
from tests.tables.test_suppress import hierarchical

from divulge.tables import Table, intervals, read_cells, read_jj, write_jj
from divulge.work import InvalidInput

NAMES = ["region", "sex", "age"]


def cube() -> Table:
    return Table.from_cells(np.arange(1, 13).reshape(3, 2, 2), names=NAMES)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_published_cube_survives_the_round_trip(tmp_path: Path, ending: str) -> None:
    published = cube().publish({(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)})
    published.write(tmp_path / f"t.{ending}")
    again = read_cells(tmp_path / f"t.{ending}", NAMES)
    assert np.array_equal(again.suppressed, published.suppressed)
    assert np.array_equal(again.units, published.units)


def test_subtotals_are_codes_of_the_hierarchy(tmp_path: Path) -> None:
    table = hierarchical(np.arange(10, 26).reshape(4, 4))
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    published.write(tmp_path / "t.csv")
    levels = tmp_path / "levels.csv"
    levels.write_text("a;x\nb;x\nc;y\nd;y\n")
    given = {"from": levels, "to": levels}
    again = read_cells(tmp_path / "t.csv", ["from", "to"], hierarchies=given)
    assert dict(intervals(again)) == dict(intervals(published))
    text = (tmp_path / "t.csv").read_text()
    (tmp_path / "t.csv").write_text(text.replace('"y","x"', '"yy","x"'))
    with pytest.raises(
        InvalidInput, match="record .*contains a code that the hierarchy does not know"
    ):
        read_cells(tmp_path / "t.csv", ["from", "to"], hierarchies=given)


def test_cells_that_lack_or_stand_twice_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cube().publish().write(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:1], *lines[2:], lines[3]]) + "\n")
    with pytest.raises(InvalidInput) as error:
        read_cells(path, NAMES)
    assert "region 1, sex 1, age 2: is not in the file" in str(error.value)
    assert "is there twice" in str(error.value)


def test_margins_of_a_cube_that_do_not_add_up_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cube().publish().write(path)
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace(",1,", ",6,")
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidInput, match="its parts along axis 1 do not add up to it"):
        read_cells(path, NAMES)


def test_jj_files_keep_all_digits_and_protection_levels(tmp_path: Path) -> None:
    table = Table.from_cells([[1234567.5, 2], [3, 7654321.25]], measure="turnover")
    primary = np.zeros(table.structure.size, dtype=bool)
    primary[0] = True
    levels = np.arange(table.structure.size, dtype=float) + 2.5
    write_jj(table, primary, tmp_path / "t.jj", upper=levels, lower=levels)
    again = read_jj(tmp_path / "t.jj")
    assert np.array_equal(again.table.units, table.units)
    assert again.upper[0] == again.lower[0] == 250


RECORDS = """region,sex,age,firm,amount
N,F,y,a,50
N,F,o,b,40
N,M,y,c,10
S,F,o,a,7
S,M,y,b,30
S,M,o,c,30
S,M,o,d,40
N,M,o,e,22
N,M,y,f,9
S,F,y,g,12
N,F,y,h,33
"""


def test_linked_magnitude_tables_from_records_on_the_command_line(
    divulge: Command, tmp_path: Path
) -> None:
    (tmp_path / "r.csv").write_text(RECORDS)
    rules = ["--value", "amount", "--contributor", "firm", "--p-percent", "20"]
    dimensions = ["--by", "region,sex", "--by", "region,age"]
    more = ["--margins", "suppressible", "--out", "p.parquet", "--html", "p.html"]
    undecided = divulge("tables", "suppress", "r.csv", *dimensions, *rules, *more)
    assert undecided.returncode == 3, undecided.stderr
    assert "p.parquet was not written: the table was not judged" in undecided.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.html", "r.csv"]
    more += ["--method-secret", "--overwrite"]
    done = divulge("tables", "suppress", "r.csv", *dimensions, *rules, *more)
    assert done.returncode == 0, done.stderr
    assert "4 sensitive cells are suppressed (P).\n4 other cells are suppressed" in done.stdout
    assert "Table 2" in done.stdout
    assert 'title="sensitive, suppressed"' in (tmp_path / "p.html").read_text()
    audited = divulge(
        *("tables", "audit", "p-1.parquet", "p-2.parquet", *dimensions, "--value", "amount")
    )
    assert audited.returncode == 0, audited.stderr
    assert "8 cells are suppressed.\nNone of them can be computed exactly." in audited.stdout
    assert "* [" in audited.stdout


def test_a_jj_file_is_protected_on_the_command_line(divulge: Command, tmp_path: Path) -> None:
    table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    primary = table.structure.to_mask({(0, 0)})
    write_jj(table, primary, tmp_path / "t.jj", width=10)
    done = divulge("tables", "suppress", "t.jj", "--json", "--method-secret")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["cost"], told["gap"], told["primary"]) == (4, 0.0, 1)
    assert told["status"] == "pass"
    known = divulge("tables", "suppress", "t.jj", "--json", "--out", "p.csv")
    assert (known.returncode, json.loads(known.stdout)["status"]) == (3, "not judged")
    assert not (tmp_path / "p.csv").exists()


def test_options_that_a_jj_file_would_overrule_are_refused(
    divulge: Command, tmp_path: Path
) -> None:
    table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    write_jj(table, table.structure.to_mask({(0, 0)}), tmp_path / "t.jj", width=10)
    done = divulge("tables", "suppress", "t.jj", "--min-frequency", "20", "--resist-matching")
    assert done.returncode == 2
    assert "--min-frequency: a JJ file says this itself" in done.stderr
    assert "--resist-matching" in done.stderr


def test_options_that_cannot_be_read_say_how(divulge: Command, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(RECORDS)
    by = ["--by", "region,sex"]
    done = divulge("tables", "suppress", "r.csv", *by, "--dominance", "two,85")
    assert done.returncode == 2
    assert '"two,85" is not two numbers' in done.stderr
    done = divulge("tables", "suppress", "r.csv", *by, "--hierarchy", "region", "--singletons")
    assert done.returncode == 2
    assert '"region" is not name=file' in done.stderr
