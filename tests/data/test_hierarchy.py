import datetime as dt
import itertools
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.data import Hierarchy
from divulge.data.column import encode_array
from divulge.work import DivulgeError, InvalidInput


def test_a_file_of_levels_is_value_then_coarser(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text("25;20-29;*\n31;30-39;*\n")
    ages = Hierarchy.from_file(path)
    assert [ages.at(25, level) for level in (0, 1, 2)] == [25, "20-29", "*"]
    assert ages.leaves(2) == {"*": ["25", "31"]}


@pytest.mark.data
def test_adults_hierarchies_are_read_and_cover_the_data(public_data: Path) -> None:
    from divulge import read

    adult = read(public_data / "adult" / "adult.csv")
    for name in adult.names:
        hierarchy = Hierarchy.from_file(public_data / "adult" / f"adult_hierarchy_{name}.csv")
        column = adult.columns[name]
        assert hierarchy.lacks(column.values.to_pylist()) == []
        coarsest = hierarchy.coarsen(column, hierarchy.height)
        assert coarsest.cardinality <= column.cardinality


@given(
    st.lists(st.integers(-50, 50), min_size=2, unique=True).map(sorted),
    st.lists(st.floats(-60, 60), min_size=1),
    st.data(),
)
def test_numbers_that_share_an_interval_share_every_coarser_one(
    edges: list[int], numbers: list[float], data: st.DataObject
) -> None:
    coarser = sorted(data.draw(st.sets(st.sampled_from(edges), min_size=1)))
    hierarchy = Hierarchy.intervals(edges, coarser)
    above: dict[str, str] = {}
    for number in numbers:
        fine, coarse = hierarchy.at(number, 1), hierarchy.at(number, 2)
        assert above.setdefault(fine, coarse) == coarse


@pytest.mark.parametrize(
    ("unit", "wanted"),
    [
        ("hour", "2010-12-01 08"),
        ("day", "2010-12-01"),
        ("week", "2010-W48"),
        ("month", "2010-12"),
        ("quarter", "2010-Q4"),
        ("year", "2010"),
        ("decade", "2010s"),
    ],
)
def test_moments_fall_into_calendar_units(unit: str, wanted: str) -> None:
    moment = dt.datetime(2010, 12, 1, 8, 45, tzinfo=dt.UTC)
    assert Hierarchy.dates(unit).at(moment, 1) == wanted


def test_a_date_is_known_as_date_and_as_text_and_nothing_else_is_one() -> None:
    months = Hierarchy.dates("month")
    assert months.at(dt.date(2010, 12, 1), 1) == months.at("2010-12-01", 1) == "2010-12"
    assert months.lacks(["2010-02-30", "soon"]) == ["2010-02-30", "soon"]


def test_prefixes_cut_codes_and_leave_short_ones() -> None:
    products = Hierarchy.prefixes(4, 2, 0)
    assert [products.at("52083900", level) for level in (1, 2, 3)] == ["5208*", "52*", "*"]
    assert products.at("52", 1) == "52"


def test_pairs_of_uneven_depth_end_at_the_same_height() -> None:
    places = Hierarchy.from_pairs(
        [
            ("Roma", "Center"),
            ("Center", "Italy"),
            ("Milano", "North"),
            ("North", "Italy"),
            ("Elba", "Italy"),
        ]
    )
    assert places.height == 2
    assert [places.at(town, 2) for town in ("Roma", "Milano", "Elba")] == ["Italy"] * 3


def test_figure_5_recodes_towns_to_areas() -> None:
    """Bellomarini et al., Fig. 5: Roma becomes Center, Milano and Torino become North."""
    from divulge import datasets

    before, after = (datasets.local_suppression_example(protected) for protected in (False, True))
    area = Hierarchy.from_pairs([("Roma", "Center"), ("Milano", "North"), ("Torino", "North")])
    assert area.coarsen(before.columns["Area"], 1).equals(after.columns["Area"])


def test_a_rule_becomes_a_table_of_the_values_at_hand() -> None:
    rule = Hierarchy.prefixes(1)
    assert rule.over(["ab", "ac", "b"]).leaves(1) == {"a*": ["ab", "ac"], "b": ["b"]}
    with pytest.raises(DivulgeError, match="over"):
        rule.leaves(1)


def test_what_a_hierarchy_lacks_is_counted_and_not_shown_in_the_message() -> None:
    area = Hierarchy.from_pairs([("Roma", "Center")])
    with pytest.raises(DivulgeError, match="lacks 1 of 2 values") as raised:
        area.coarsen(encode_array(pa.array(["Roma", "Atlantis"])), 1)
    assert "Atlantis" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("25;20s\n31\n", "row 2: has 1 levels where row 1 has 2"),
        ("25;20s\n25;30s\n", "row 2: gives other levels"),
        ("25;20s;young\n26;20s;old\n", "row 2: one value of level 1 goes to two values"),
    ],
)
def test_a_file_that_is_no_hierarchy_is_refused_by_row(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=complaint):
        Hierarchy.from_file(path)


def test_a_missing_file_and_a_binary_one_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        Hierarchy.from_file(tmp_path / "none.csv")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="UTF-8"):
        Hierarchy.from_file(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Hierarchy.from_pairs([("a", "b"), ("a", "c")]), "two parents"),
        (lambda: Hierarchy.from_pairs([("a", "b"), ("b", "a")]), "circle"),
        (lambda: Hierarchy.from_pairs([("x", "a"), ("a", "b"), ("b", "a")]), "circle"),
        (lambda: Hierarchy.intervals([3, 1]), "must rise"),
        (lambda: Hierarchy.intervals([0, 10], [5]), "an edge of the level below"),
        (lambda: Hierarchy.intervals(), "at least one level"),
        (lambda: Hierarchy.dates("mouth"), 'Did you mean "month"'),
        (lambda: Hierarchy.dates("year", "month"), "from fine to coarse"),
        (lambda: Hierarchy.dates("week", "year"), "a week can lie in two months"),
        (lambda: Hierarchy.prefixes(2, 4), "lengths that fall"),
        (lambda: Hierarchy.prefixes(1).at("a", 2), "levels are 0 to 1"),
    ],
)
def test_a_hierarchy_that_does_not_nest_is_refused(make: object, complaint: str) -> None:
    with pytest.raises(DivulgeError, match=complaint):
        make()  # type: ignore[operator]  # a function from the table above


LABEL = st.sampled_from(["8", "9", "x", "8 (level 2)"])


@given(st.lists(st.tuples(LABEL, LABEL, LABEL, LABEL), min_size=1, max_size=8))
def test_a_label_means_the_same_values_at_every_level(rows: list[tuple[str, ...]]) -> None:
    """Against plain sets: after naming, no label stands for two sets of values."""
    try:
        hierarchy = Hierarchy.from_levels(rows)
    except InvalidInput:
        return
    values = [row[0] for row in rows]
    nodes = {(n, row[n]): {r[0] for r in rows if r[n] == row[n]} for row in rows for n in range(4)}
    meanings: dict[str, set[str]] = {}
    for level in range(4):
        for value in values:
            label = hierarchy.at(value, level)
            [row] = {row for row in rows if row[0] == value}
            meant = {v for v in values if hierarchy.at(v, level) == label}
            assert meant == nodes[level, row[level]]
            assert meanings.setdefault(label, meant) == meant


def test_a_ladder_that_is_short_repeats_its_last_label_and_keeps_it() -> None:
    places = Hierarchy.from_levels([["Roma", "Center", "Center"], ["Torino", "North", "Alps"]])
    assert places.renamed == {}
    assert [places.at("Roma", level) for level in (1, 2)] == ["Center", "Center"]


def test_pairs_show_a_place_only_at_the_level_where_all_of_it_is_one() -> None:
    places = Hierarchy.from_pairs([("Roma", "Center"), ("Center", "Italy"), ("Elba", "Italy")])
    assert [places.at("Elba", level) for level in (1, 2)] == ["Elba", "Italy"]
    assert places.renamed == {}


def test_labels_that_got_a_name_are_remarked_on_without_being_shown() -> None:
    from divulge import Dataset, data

    levels = Hierarchy.from_levels([["7", "8"], ["8", "8"]])
    people = Dataset.from_arrow(pa.table({"marital": [7, 8]}), hierarchies={"marital": levels})
    [remark] = data.compare(people)
    assert "1 label in its hierarchy that stood for other values" in str(remark)
    assert remark.values == ("8 (level 1)",)


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.sampled_from([1, 5, 100, 0.1, 0.25]),
    st.lists(st.integers(-500, 500) | st.decimals(-99, 99, places=2), min_size=1),
    st.booleans(),
)
def test_rounded_numbers_lie_in_what_their_label_says_and_nest(
    factors: list[int], base: float, numbers: list[int | Decimal], is_capped: bool
) -> None:
    bases = [base]
    for factor in factors:
        bases.append(
            bases[-1] * (factor + 1) if base != 0.1 else round(bases[-1] * (factor + 1), 9)
        )
    hierarchy = Hierarchy.rounding(*bases)
    hierarchy = hierarchy.with_caps(bottom=[-60, -50], top=70) if is_capped else hierarchy
    above: dict[tuple[int, str], str] = {}
    for number in numbers:
        ladder = [str(number), *(hierarchy.at(number, n) for n in range(1, hierarchy.height + 1))]
        for level, (fine, coarse) in enumerate(itertools.pairwise(ladder)):
            assert above.setdefault((level, fine), coarse) == coarse
            assert Fraction(number) in read_label(coarse)
            if level > 1 or not is_capped:
                assert coarse[0] in "[(<>"


class read_label:  # noqa: N801  # reads like a function
    """What a label says, read by somebody who knows only how intervals are written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __contains__(self, number: Fraction) -> bool:
        if self.text[:2] in ("<=", ">="):
            edge = Fraction(self.text[3:])
            return number <= edge if self.text[0] == "<" else number >= edge
        if self.text[0] not in "[(":
            return number == Fraction(self.text)
        low, high = (Fraction(each) for each in self.text[1:-1].split(", "))
        return (low < number or (self.text[0] == "[" and number == low)) and number < high


def test_exact_multiples_of_a_tenth_are_not_lost_to_rounding_errors() -> None:
    tenths = Hierarchy.rounding(0.1, 1)
    assert [tenths.at(n / 10, 1) for n in (3, 7, 12)] == ["[0.3, 0.4)", "[0.7, 0.8)", "[1.2, 1.3)"]
    assert tenths.at(-0.05, 1) == "[-0.1, 0)"
    assert tenths.lacks([float("inf"), "low", float("nan")])[:2] == [float("inf"), "low"]
    assert tenths.with_caps(top=9).lacks([float("inf")]) == []


@pytest.mark.parametrize(
    "rule",
    [
        {"intervals": [[18, 65], [18], []]},
        {"rounding": [5, 10]},
        {"bottom": 18, "top": [95, 90]},
        {"rounding": [5.5], "top": 90},
        {"intervals": [[18.5, 65]], "bottom": [10, 20], "top": 90.25},
        {"dates": ["month", "year"]},
        {"prefixes": [2, 0]},
        {"levels": [["a", "b"], ["c", "b"]]},
    ],
)
def test_a_hierarchy_is_what_its_settings_say(rule: dict[str, object]) -> None:
    assert Hierarchy.from_settings(rule).as_settings() == rule


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Hierarchy.rounding(), "at least one base"),
        (lambda: Hierarchy.rounding(10, 15), "a multiple of the one before"),
        (lambda: Hierarchy.rounding(0), "above 0"),
        (lambda: Hierarchy.capped(), "give a bottom, a top, or both"),
        (lambda: Hierarchy.capped(bottom=9, top=9), "9 is not below 9"),
        (lambda: Hierarchy.capped(top=[80, 90]), "tops of several levels must fall"),
        (lambda: Hierarchy.capped(bottom=float("inf")), "no finite number"),
        (lambda: Hierarchy.prefixes(2).with_caps(top=1), "go with intervals and rounding"),
        (lambda: Hierarchy.rounding(2).with_caps(top=1).with_caps(top=1), "already"),
        (lambda: Hierarchy.intervals([], [1]), "must rise"),
        (lambda: Hierarchy.from_settings({}), "give one of"),
        (lambda: Hierarchy.from_settings({"prefix": [1]}), 'Did you mean "prefixes"'),
    ],
)
def test_a_rule_that_cannot_be_is_refused(make: object, complaint: str) -> None:
    with pytest.raises(DivulgeError, match=complaint):
        make()  # type: ignore[operator]  # a function from the table above
