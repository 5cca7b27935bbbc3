"""Hierarchies proposed from data, and shown as trees with counts."""

import datetime as dt
import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import Dataset, Hierarchy
from divulge.data import build_hierarchy_tree, propose_hierarchy
from divulge.data.proposals.hierarchy_proposals import HIERARCHY_METHODS
from divulge.release.release_file.toml_text import format_table
from divulge.work import InvalidInput

MARITAL = [
    "Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent", "Divorced", "Widowed",
]  # fmt: skip


def column(values: list[Any]) -> Dataset:
    return Dataset.from_arrow(pa.table({"x": values}), name="data")


COLUMNS = st.one_of(
    st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=40),
    st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=2, max_size=40),
    st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2030, 1, 1)), min_size=2, max_size=20),
    st.lists(st.text("ab 1-", min_size=1, max_size=6), min_size=2, max_size=20),
)


@settings(max_examples=150)
@given(COLUMNS, st.sampled_from([None, *HIERARCHY_METHODS]))
def test_a_proposal_is_a_tree_for_all_values_and_its_settings_say_it_all(
    values: list[Any], method: Any
) -> None:
    data = column(values)
    try:
        proposal = propose_hierarchy(data, "x", method)
    except InvalidInput:
        assert method is not None or len(set(values)) < 2
        return
    again = Hierarchy.from_settings(proposal.hierarchy.as_settings())
    assert proposal.hierarchy.lacks(set(values)) == []
    above: dict[tuple[int, str], str] = {}
    for value in data.columns["x"].values.to_pylist():
        ladder = [proposal.hierarchy.at(value, n) for n in range(1, proposal.hierarchy.height + 1)]
        assert ladder == [again.at(value, n) for n in range(1, again.height + 1)]
        for level, (fine, coarse) in enumerate(itertools.pairwise(ladder)):
            assert above.setdefault((level, fine), coarse) == coarse
    backwards = propose_hierarchy(column(values[::-1]), "x", method)
    assert backwards.to_dict() == proposal.to_dict()


@pytest.mark.parametrize(
    ("values", "method", "value", "ladder"),
    [
        (list(range(17, 91)), "intervals", 43, ["[40, 45)", "[40, 50)", "[40, 60)", "[40, 80)", "*"]),
        ([0] * 50 + [10 * n for n in range(30)] + [10**6], "quantiles", 0, None),
        (["2010-12-01", "2010-12-24", "2011-03-02", "2011-05-01"], "dates", "2010-12-24", ["2010-12", "2010", "2010s"]),
        ([f"52{a}{b}9" for a in range(4) for b in range(3)], "prefixes", "52129", ["521*", "52*", "*"]),
        (MARITAL, "likeness", "Married-AF-spouse", None),
        (["blue"] * 60 + ["red"] * 38 + ["ochre", "teal"], "frequency", "teal", ["other (below 5%)", "*"]),
    ],
)  # fmt: skip
def test_what_values_look_like_decides_how_they_become_coarser(
    values: list[Any], method: str, value: Any, ladder: list[str] | None
) -> None:
    proposal = propose_hierarchy(column(values), "x")
    assert proposal.method == method
    assert "because its" in str(proposal) or "because many of its" in str(proposal)
    if ladder is not None:
        height = proposal.hierarchy.height
        assert [proposal.hierarchy.at(value, n) for n in range(1, height + 1)] == ladder


def test_values_that_share_words_are_put_together_under_these() -> None:
    marital = propose_hierarchy(column(MARITAL), "x").hierarchy
    assert {marital.at(value, 1) for value in MARITAL[:3]} == {"Married spouse"}
    assert [marital.at(value, 1) for value in MARITAL[3:]] == ["Divorced", "Widowed"]
    assert marital.at("Divorced", marital.height) == "*"


def test_edges_of_quantiles_are_round_and_part_the_records_evenly() -> None:
    incomes = [round(1000 * 1.01**n) + n % 7 for n in range(1_000)]
    ladder = propose_hierarchy(column(incomes), "x", "quantiles").hierarchy
    edges = ladder.as_settings()["intervals"]
    assert all(len(str(int(edge)).rstrip("0")) <= 2 for edge in edges[0])
    shares = [sum(low <= x < high for x in incomes) for low, high in itertools.pairwise(edges[0])]
    assert 40 <= min(shares) <= max(shares) <= 90
    assert [len(each) for each in edges] == [15, 7, 3, 1, 0]


@pytest.mark.parametrize(
    ("values", "method", "complaint"),
    [
        (["a", "a"], None, "fewer than two values"),
        (["a", "b"], "intervals", "no finite numbers. Choose another method"),
        (["a", "b"], "dates", "no dates"),
        ([float("inf"), 2.0], "quantiles", "no finite numbers"),
        (["a", "b"], "prefix", 'Did you mean "prefixes"'),
    ],
)
def test_a_proposal_that_cannot_be_is_refused(
    values: list[Any], method: Any, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        propose_hierarchy(column(values), "x", method)


def test_a_proposal_can_be_written_into_a_release_file() -> None:
    import tomllib

    for values in ([*range(50)], MARITAL):
        settings = propose_hierarchy(column(values), "x").hierarchy.as_settings()
        text = "\n".join(format_table("hierarchies", {"x": settings}))
        assert tomllib.loads(text)["hierarchies"]["x"] == settings


@given(st.lists(st.sampled_from(["Roma", "Milano", "Torino", "Atlantis"]), min_size=1))
def test_a_tree_counts_the_records_under_each_node(towns: list[str]) -> None:
    area = Hierarchy.from_levels(
        [["Roma", "Center", "*"], ["Milano", "North", "*"], ["Torino", "North", "*"]]
    )
    tree = build_hierarchy_tree(column(towns), "x", area)
    assert tree.count_nodes() == [3, 2, 1]
    assert tree.lacking == int("Atlantis" in towns)
    [root] = tree.roots
    assert root.records == sum(town != "Atlantis" for town in towns)
    for node in root.branches:
        under = area.leaves(1)[node.label]
        assert (node.values, node.records) == (len(under), sum(town in under for town in towns))
    assert tree.to_dict()["tree"][0]["branches"][1]["label"] == "North"


def test_a_tree_that_is_written_edited_and_read_is_the_edited_one(tmp_path: Path) -> None:
    ages = column([20, 21, 35])
    path = tmp_path / "age.csv"
    propose_hierarchy(ages, "x").hierarchy.over([20, 21, 35]).write(path)
    path.write_text(path.read_text().replace("< 22", "young"))
    edited = ages.describe(hierarchies={"x": path})
    assert "young (2 values, 2 records)" in str(build_hierarchy_tree(edited, "x"))


def test_a_tree_says_what_it_leaves_out_and_an_attribute_without_one_is_refused() -> None:
    many = Hierarchy.from_levels([[str(n), "*"] for n in range(30)])
    text = str(build_hierarchy_tree(column([1, 2]), "x", many))
    assert "level 0: 30 values" in text
    assert "  and 18 more" in text
    with pytest.raises(InvalidInput, match="has no hierarchy"):
        build_hierarchy_tree(column([1, 2]), "x")


@pytest.mark.parametrize(
    ("topic", "values", "method"),
    [
        ("work", [1, 2, 3, 4, 5, 6, 7], "frequency"),
        ("household", [1, 2, 3, 4, 5, 6, 7], "intervals"),
        ("person", [15, 20, 25, 30, 35, 40], "intervals"),
        ("person", list(range(90)), "intervals"),
    ],
    ids=["numbered kinds of work", "sizes of households", "classes of ages", "ages"],
)
def test_neighbours_of_a_numbered_category_have_nothing_in_common(
    topic: str, values: list[int], method: str
) -> None:
    assert propose_hierarchy(column(values * 5), "x", topic=topic).method == method
