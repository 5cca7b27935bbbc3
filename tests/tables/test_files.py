"""Tables in files and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Command
from tests.tables.test_audit import FIGURE_2

import divulge as dv
from divulge.tables import (
    Table,
    intervals,
    read_crosstab,
    read_jj,
    suppress,
    write_crosstab,
    write_jj,
)
from divulge.tables.suppression.optimal import optimal_pattern
from divulge.tables.suppression.result import build_suppression_problem
from divulge.work import InvalidInput

CROSSTAB = """region,P1,P2,P3,Total
M1,7,11,60,78
M2,10,60,11,81
M3,60,12,60,132
Total,77,83,131,291
"""


def test_a_crosstab_survives_the_round_trip(tmp_path: Path) -> None:
    published = Table.from_cells(FIGURE_2).publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    write_crosstab(published, tmp_path / "t.csv")
    again = read_crosstab(tmp_path / "t.csv")
    assert np.array_equal(again.suppressed, published.suppressed)
    assert np.array_equal(again.units, published.units)
    assert intervals(again)[(0, 0)] == (0, 17)


def test_a_crosstab_with_a_byte_order_mark_has_its_own_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("r,a,b,Total\nx,*,*,5\ny,*,*,7\nTotal,6,6,12\n", encoding="utf-8-sig")
    assert read_crosstab(path).structure.describe_cell(0) == "r=x, column=a"


@pytest.mark.parametrize(
    ("text", "separator", "said"),
    [
        ("r,a,caf\xe9,Total\nx,*,*,5\ny,*,*,7\nTotal,6,6,12\n", ",", "line 1: is not UTF-8 text."),
        ("r,a,b,Total\nx,nan,*,5\ny,*,*,7\nTotal,6,6,12\n", ",", "line 2, column 2: is neither"),
        ("r,a,b,Total\nx,inf,*,5\ny,*,*,7\nTotal,6,6,12\n", ",", "line 2, column 2: is neither"),
        ("r,a,b,Total\nx,*,*,5\ny,*,*,7\nTotal,6,6,12\n", "||", "separator: must be one plain"),
        ("r,a,b,Total\nx,*,*,5\ny,*,*,7\nTotal,6,6,12\n", "", "separator: must be one plain"),
    ],
)
def test_what_is_no_crosstab_is_refused_in_words(
    tmp_path: Path, text: str, separator: str, said: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInput) as raised:
        read_crosstab(path, separator)
    assert said in str(raised.value)


def test_a_crosstab_that_is_wrong_is_refused_with_its_places(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(CROSSTAB.replace("60,132", "sixty,132").replace("M2,10,60,11,81", "M2,10,60"))
    with pytest.raises(InvalidInput) as error:
        read_crosstab(path)
    assert "line 3: has 3 fields; the head has 5" in str(error.value)
    assert "line 4, column 4: is neither a number nor a mark" in str(error.value)
    path.write_text(CROSSTAB.replace("M1,7", "M1,9"))
    with pytest.raises(
        InvalidInput, match="line 2, column 5: its parts in the row do not add up to it"
    ):
        read_crosstab(path)


def test_a_jj_file_gives_the_same_problem_and_the_same_pattern(tmp_path: Path) -> None:
    table = Table.from_cells(FIGURE_2)
    found = suppress(table, min_frequency=10, width=10, margins="suppressible")
    primary = table.structure.to_mask(found.primary)
    write_jj(table, primary, tmp_path / "t.jj", width=10)
    problem = read_jj(tmp_path / "t.jj").problem()
    mine = build_suppression_problem(table, primary, width=10, margins="suppressible")
    assert np.array_equal(problem.values, mine.values)
    assert np.array_equal(problem.sliding, mine.sliding)
    assert np.array_equal(optimal_pattern(problem).pattern, found.published.suppressed)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("0 7 1 u", "0 seven 1 u", "line 3: cell 0 should stand here"),
        ("0 7 1 u", "0 7 1 q", "line 3: cell 0 should stand here"),
        ("0 7 1 u", "0 8 1 u", "line 20: the cells do not add up."),
        ("\n16\n", "\nmany\n", "line 2: the number of cells should stand here"),
        ("0 4 : 0 (1)", "0 5 : 0 (1)", "line 20: a relation should stand here"),
        ("0 4 : 0 (1)", "0 4 : 99 (1)", "line 20: names a cell outside 0 to 15"),
    ],
)
def test_a_jj_file_with_an_error_is_refused_with_the_line(
    tmp_path: Path, old: str, new: str, wanted: str
) -> None:
    table = Table.from_cells(FIGURE_2)
    path = tmp_path / "t.jj"
    write_jj(table, table.structure.to_mask({(0, 0)}), path, width=10)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InvalidInput, match="t.jj") as error:
        read_jj(path)
    assert wanted in str(error.value)


def test_the_command_line_suppresses_and_audits(divulge: Command, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CROSSTAB)
    done = divulge(
        "tables", "suppress", "t.csv", "--min-frequency", "10", "--width", "10", "--out", "p.csv"
    )
    assert done.returncode == 0, done.stderr
    assert "1 sensitive cell is suppressed (P).\n3 other cells are suppressed" in done.stdout
    assert (tmp_path / "p.csv").read_text().splitlines()[1] == "M1,*,*,60,78"
    for zeros, interval in (("known", (1, 16)), ("secret", (0, 17))):
        audited = divulge("tables", "audit", "p.csv", "--json", "--zeros", zeros)
        assert audited.returncode == 0
        told = json.loads(audited.stdout)
        assert (told["cells"][0]["lower"], told["cells"][0]["upper"]) == interval


def test_an_audit_that_finds_a_known_cell_fails_and_says_why(
    divulge: Command, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(CROSSTAB.replace("M1,7", "M1,*"))
    done = divulge("tables", "audit", "t.csv")
    assert done.returncode == 1
    assert "region=M1, column=P1 is known" in done.stdout


def test_the_help_of_tables_names_its_verbs(divulge: Command) -> None:
    told = divulge("tables", "--help").stdout
    assert "suppress" in told
    assert "audit" in told


def test_what_is_published_is_written_a_row_a_cell_without_what_is_hidden(tmp_path: Path) -> None:
    published = Table.from_cells(FIGURE_2).publish({(0, 0)})
    published.write(tmp_path / "t.parquet")
    rows = dv.read(tmp_path / "t.parquet").to_arrow().to_pylist()
    assert len(rows) == 16
    assert rows[0] == {"row": "r1", "column": "c1", "count": None, "suppressed": True}
    assert rows[1]["count"] == 11


def test_a_crosstab_in_a_notebook_marks_primary_secondary_and_disclosed_cells() -> None:
    found = suppress(Table.from_cells(FIGURE_2), min_frequency=10, width=10)
    page = found._repr_html_()
    assert page.count('title="sensitive, suppressed">P<') == 1
    assert page.count('title="suppressed to protect others">*<') == 3
    assert "<caption>P sensitive, suppressed; * suppressed to protect others<" in page
    alone = intervals(Table.from_cells(FIGURE_2).publish({(0, 0)}))._repr_html_()
    assert alone.count('title="suppressed, but known">! [7, 7]<') == 1


@pytest.mark.parametrize("rule", ["nan,85", "inf,85", "2.5,85", "2"])
def test_a_dominance_rule_is_of_whole_contributors(
    tmp_path: Path, divulge: Command, rule: str
) -> None:
    (tmp_path / "t.csv").write_text("region,worth\na,5\na,7\nb,9\n")
    told = divulge(
        "tables", "suppress", "t.csv", "--by=region", "--value=worth", "--dominance", rule
    )
    assert (told.returncode, told.stdout) == (2, "")
    assert f'--dominance: "{rule}" is not two numbers, as in 2,85.' in told.stderr
