"""Hierarchies from and to the files of ARX and tau-ARGUS."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.data import Hierarchy
from divulge.data.hierarchies.files import read_code_labels
from divulge.work import DivulgeError, InvalidInput

WORD = st.text("ab;,'\" 1", min_size=1, max_size=4)


def ladders(hierarchy: Hierarchy) -> dict[str, tuple[str, ...]]:
    return dict(hierarchy.table or {})


@pytest.mark.parametrize(
    "text",
    [
        "25;20-29;*\n31;30-39;*\n",
        '"25";"20-29";"*"\r\n"31";"30-39";"*"\r\n',
        "'25';'20-29';'*'\n'31';'30-39';'*'",
        "25,20-29,*\n31,30-39,*\n",
        "25\t20-29\t*\n31\t30-39\t*\n",
        "25|20-29|*\n\n31|30-39|*\n",
        "\ufeff25;20-29;*\n31;30-39;*\n",
    ],
)
def test_files_of_arx_are_read_whatever_separates_and_quotes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "age.csv"
    path.write_bytes(text.encode())
    assert ladders(Hierarchy.from_file(path)) == {"25": ("20-29", "*"), "31": ("30-39", "*")}


def test_a_comma_in_labels_is_no_separator_where_semicolons_cut_all_lines(tmp_path: Path) -> None:
    path = tmp_path / "job.csv"
    path.write_text("nurse;health, care\nmayor;public, elected\n")
    assert Hierarchy.from_file(path).at("nurse", 1) == "health, care"
    assert Hierarchy.from_file(path, separator=",").at("nurse;health", 1) == " care"


@given(st.dictionaries(WORD, st.tuples(WORD, WORD), min_size=1, max_size=6))
def test_a_table_that_is_written_for_arx_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, tuple[str, str]]
) -> None:
    try:
        hierarchy = Hierarchy.from_levels([[value, *ladder] for value, ladder in rows.items()])
    except InvalidInput:
        return
    path = tmp_path_factory.mktemp("arx") / "levels.csv"
    hierarchy.write(path)
    assert ladders(Hierarchy.from_file(path)) == ladders(hierarchy)


REGIONS = """Nr
@Groningen
@Friesland
@@Noord
@@Zuid
Os
@Overijssel
Zeeland
"""


def test_a_code_list_of_tau_argus_is_a_tree_by_its_leading_strings(tmp_path: Path) -> None:
    path = tmp_path / "region.hrc"
    path.write_text(REGIONS)
    region = Hierarchy.from_file(path, total="Netherlands")
    assert ladders(region) == {
        "Groningen": ("Groningen", "Nr", "Netherlands"),
        "Noord": ("Friesland", "Nr", "Netherlands"),
        "Zuid": ("Friesland", "Nr", "Netherlands"),
        "Overijssel": ("Os", "Os", "Netherlands"),
        "Zeeland": ("Zeeland", "Zeeland", "Netherlands"),
    }


def test_a_code_list_is_written_back_as_it_was_with_any_leading_string(tmp_path: Path) -> None:
    path, again = tmp_path / "region.hrc", tmp_path / "again.txt"
    path.write_text(REGIONS.replace("@", "--"))
    Hierarchy.from_file(path, lead="--", total="*").write(again, "argus")
    assert again.read_text() == REGIONS
    with pytest.raises(DivulgeError, match="exists"):
        Hierarchy.from_file(path, lead="--").write(again, "argus")


@given(
    st.recursive(st.just(()), lambda below: st.lists(below, min_size=1, max_size=3), max_leaves=9)
)
def test_a_tree_that_is_written_for_tau_argus_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, tree: object
) -> None:
    pairs: list[tuple[str, str]] = []

    def name_children(node: object, name: str) -> None:
        for place, child in enumerate(node if isinstance(node, list) else []):
            pairs.append((f"{name}{place}", name))
            name_children(child, f"{name}{place}")

    name_children(tree, "n")
    if not pairs:
        return
    hierarchy = Hierarchy.from_pairs(pairs)
    path = tmp_path_factory.mktemp("argus") / "codes.hrc"
    hierarchy.write(path)
    assert ladders(Hierarchy.from_file(path, total="n")) == ladders(hierarchy)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("@a\n", "line 1: goes down more than one step"),
        ("a\n@@b\n", "line 2: goes down more than one step"),
        ("a\n@b\nc\n@b\n", "line 4: has a code that stands above already"),
        ("a\n@\n", "line 2: has no code"),
    ],
)
def test_a_code_list_that_is_no_tree_is_refused_by_line(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "bad.hrc"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=complaint):
        Hierarchy.from_file(path)


def test_codes_that_do_not_fit_a_line_are_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mail.hrc"
    with pytest.raises(InvalidInput, match="1 of 3 codes begin with @"):
        Hierarchy.from_levels([["@home", "any"], ["b", "any"]]).write(path)
    assert not path.exists()
    with pytest.raises(DivulgeError, match="a rule has no list of values"):
        Hierarchy.rounding(5).write(path)
    with pytest.raises(InvalidInput, match='"arg" is not a format'):
        Hierarchy.from_levels([["a", "b"]]).write(path, "arg")  # type: ignore[arg-type]  # wrong


def test_texts_of_codes_are_after_the_first_comma(tmp_path: Path) -> None:
    path = tmp_path / "region.cdl"
    path.write_text("1,Groningen\n 2 , Friesland, Noord\n\n")
    assert read_code_labels(path) == {"1": "Groningen", "2": "Friesland, Noord"}
    path.write_text("Groningen\n")
    with pytest.raises(InvalidInput, match="line 1: is not a code, a comma and a label"):
        read_code_labels(path)
