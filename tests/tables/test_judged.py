"""Tables are judged by the release's own rules, by readers who know what readers know."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.tables.test_audit import grids
from tests.tables.test_matching import found_possible, possible_by_solving
from typer.testing import CliRunner

import divulge as dv
from divulge.cli.main import app
from divulge.tables import (
    Published,
    SensitivityRules,
    Table,
    assess,
    audit,
    intervals,
    matching_attack,
    suppress,
)
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.feasibility.assess import judge_cells
from divulge.tables.feasibility.sensitivity import (
    compute_largest_share,
    compute_protection,
    compute_rule_levels,
)
from divulge.tables.feasibility.whole_tables import find_proven_intervals, find_whole_table
from divulge.tables.plugin import TablesAttack
from divulge.tables.settings import TablesSettings
from divulge.work import InvalidInput

MILLION = [[1_000_000, 2], [2, 3]]
FOUR = {(0, 0), (0, 1), (1, 0), (1, 1)}


def run_release(dataset: dv.Dataset, **said: Any) -> dv.Assessment:
    return TablesAttack().run(TablesSettings(**said), [dataset])


def million_records() -> dv.Dataset:
    """The four cells of `MILLION`, one firm each, in a table whose other cells have five firms."""
    rows = [("a", "x", 1_000_000), ("a", "y", 2), ("b", "x", 2), ("b", "y", 3)]
    others = [("a", "z"), ("b", "z"), ("c", "x"), ("c", "y"), ("c", "z")]
    rows += [(r, c, 300_000) for r, c in others for _ in range(5)]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("r", "c", "v"))}
    return dv.Dataset.from_arrow(pa.table(columns), name="firms")


def count_records(cells: Any) -> dv.Dataset:
    places = [(f"r{i:02}", f"c{j}") for (i, j), n in np.ndenumerate(cells) for _ in range(n)]
    columns = {"r": [r for r, _ in places], "c": [c for _, c in places]}
    return dv.Dataset.from_arrow(pa.table(columns), name="people")


def is_listable(published: Published, most: int) -> bool:
    found = intervals(published)
    return not np.any(np.isinf(found.upper)) and bool(np.prod(found.widths + 1) <= most)


def list_whole_tables(published: Published) -> np.ndarray:
    """The plain twin: all values of the suppressed cells from their floor that keep all sums."""
    found = intervals(published)
    matrix = published.structure.relations.to_matrix(published.structure.size).toarray()
    ranges = [range(int(a), int(b) + 1) for a, b in zip(found.lower, found.upper, strict=True)]
    tables = []
    for values in product(*ranges):
        units = published.units.copy()
        units[found.cells] = values
        if not np.any(matrix @ units):
            tables.append(units)
    return np.array(tables)


# The release's own rule


def test_five_around_a_million_is_a_fail_under_ten_percent() -> None:
    """100,000 either way is asked of the largest cell; 1 (of 0.2 and 0.3) of the others."""
    said = {"by": ["r", "c"], "value": "v", "p_percent": 10, "method": "secret", "zeros": "secret"}
    careless = run_release(million_records(), suppress="primary", **said)
    assert careless.secrets == 4
    assert careless.certain.posterior == 1
    assert "1 of 4 sensitive cells is known more closely than the rules" in str(careless)
    limit = dv.Limit("deterministic.posterior", at_most=0)
    assert limit.judge(careless).status == "fail"
    protected = run_release(million_records(), suppress="optimal", **said)
    assert protected.certain.posterior == 0
    assert limit.judge(protected).status == "pass"


def test_the_interval_of_the_million_is_what_the_sums_say() -> None:
    published = Table.from_cells(MILLION, measure="turnover").publish(FOUR)
    assert intervals(published)[(0, 0)] == (999_997, 1_000_002)
    assert intervals(published.read_with("known"))[(0, 0)] == (999_998, 1_000_001)


amounts = st.lists(st.integers(1, 60), min_size=1, max_size=5)


@given(amounts, st.integers(1, 60), st.integers(1, 3), st.integers(30, 95))
def test_levels_are_the_first_total_that_contents_the_rule(
    given_amounts: list[int], p: int, n: int, k: int
) -> None:
    """The oracle raises the total by one until the rule no longer finds the largest sensitive."""
    columns = {"r": ["a"] * len(given_amounts), "v": given_amounts}
    table = Table.from_records(dv.Dataset.from_arrow(pa.table(columns)), "r", "v")
    largest, total = sorted(given_amounts, reverse=True), sum(given_amounts)
    two, some = sum(largest[:2]), sum(largest[:n])
    content: dict[SensitivityRules, Callable[[int], bool]] = {
        SensitivityRules(p_percent=p): lambda x: (x - two) * 100 >= p * largest[0],
        SensitivityRules(pq=(p / 2, 60)): lambda x: (x - two) * 60 >= p / 2 * largest[0],
        SensitivityRules(dominance=(n, k)): lambda x: some * 100 <= k * x,
        SensitivityRules(request=k): lambda x: largest[0] * 100 <= k * x,
    }
    for rules, is_content in content.items():
        if rules.pq and not rules.pq[0] < rules.pq[1]:
            continue
        needed = next(rise for rise in range(100_000) if is_content(total + rise))
        upper, lower = compute_rule_levels(table, rules)
        assert upper[0] == needed
        assert lower[0] == min(needed, total)
        assert needed <= np.ceil(compute_largest_share(rules) / 100 * total - 1e-9)


def test_a_share_of_the_cell_is_asked_where_a_frequency_says_nothing_of_amounts() -> None:
    said: dict[str, Any] = {"by": ["r", "c"], "value": "v", "min_frequency": 2, "zeros": "secret"}
    said |= {"suppress": "primary", "method": "secret"}
    assert run_release(million_records(), **said).certain.posterior == 0, "one unit is asked"
    assert run_release(million_records(), share=1, **said).certain.posterior == 1


# The audit


@pytest.fixture
def million(tmp_path: Path) -> Path:
    (tmp_path / "p.csv").write_text(
        "r,c1,c2,Total\na,*,*,1000002\nb,*,*,5\nTotal,1000002,5,1000007\n"
    )
    (tmp_path / "t.csv").write_text(
        "r,c1,c2,Total\na,1000000,2,1000002\nb,2,3,5\nTotal,1000002,5,1000007\n"
    )
    return tmp_path


def audit_by_command(folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(app, ["tables", "audit", str(folder / "p.csv"), *options, "--json"])
    return done.exit_code, json.loads(done.output)


def test_the_audit_takes_rules_and_thresholds(million: Path) -> None:
    original = ["--original", str(million / "t.csv")]
    assert audit_by_command(million)[0] == 0
    assert audit_by_command(million, "--width", "3")[0] == 0
    assert audit_by_command(million, "--width", "4")[0] == 1, "from 999,998 to 1,000,001"
    code, told = audit_by_command(million, "--p-percent", "10", *original)
    assert (code, told["status"]) == (1, "fail")
    assert [0, 0] in told["unprotected"]
    # No value from 999,998 to 1,000,001 has ten percent of itself on either side.
    code, told = audit_by_command(million, "--dominance", "1,90")
    assert code == 1
    assert told["unprotected"] == [[0, 0]]
    assert told["undecided"] == [[0, 1], [1, 0], [1, 1]]
    assert audit_by_command(million, "--share", "10", "--zeros", "secret", *original)[0] == 1


def test_what_depends_on_the_value_is_not_judged_without_it(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("r,c1,c2,Total\na,*,*,30\nb,*,*,30\nTotal,30,30,60\n")
    (tmp_path / "t.csv").write_text("r,c1,c2,Total\na,10,20,30\nb,20,10,30\nTotal,30,30,60\n")
    code, told = audit_by_command(tmp_path, "--p-percent", "10")
    assert (code, told["status"], len(told["undecided"])) == (3, "not judged", 4)
    original = ["--original", str(tmp_path / "t.csv")]
    assert audit_by_command(tmp_path, "--p-percent", "10", *original)[0] == 0
    done = CliRunner().invoke(
        app, ["tables", "audit", str(tmp_path / "p.csv"), "--p-percent", "10", *original]
    )
    assert "Contributions are not known: each suppressed cell" in done.output
    assert "by 10% of its value" in " ".join(done.output.split())
    assert "Judged by the sums alone" in done.output


def insider_records() -> dv.Dataset:
    """(a, x) is one firm's 9; (b, y) has 8 of one firm and 1 of another."""
    rows = [("a", "x", 9, "f"), ("a", "y", 4, "g"), ("a", "y", 5, "h"), ("b", "x", 6, "i")]
    rows += [("b", "x", 7, "j"), ("b", "y", 8, "k"), ("b", "y", 1, "l")]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("r", "c", "v", "firm"))}
    return dv.Dataset.from_arrow(pa.table(columns))


def test_a_contributor_who_fills_a_cell_alone_undoes_the_pattern(tmp_path: Path) -> None:
    """Firm f knows (a, x), and by it all four cells; nobody else is as sure of (b, y)."""
    table = Table.from_records(insider_records(), ["r", "c"], "v", "firm")
    published = table.publish(FOUR)
    assert audit(published, table, width=2).status == "pass"
    found = audit(published, table, width=2, insider=True)
    assert found.status == "fail"
    assert set(found.unprotected) == {(0, 1), (1, 0), (1, 1)}, "their own cell is no secret to them"
    with pytest.raises(InvalidInput, match="needs the records"):
        audit(published, width=2, insider=True)
    judged = run_release(
        insider_records(), by=["r", "c"], value="v", contributor="firm", min_frequency=3, width=2,
        suppress="primary", insider=True, method="secret",
    )  # fmt: skip
    assert judged.certain.posterior >= 3
    insider_records().write(tmp_path / "records.csv")
    published.write(tmp_path / "p.csv")
    options = ["--by", "r,c", "--value", "v", "--original", str(tmp_path / "records.csv")]
    options += ["--contributor", "firm", "--width", "2"]
    assert audit_by_command(tmp_path, *options)[0] == 0
    assert audit_by_command(tmp_path, *options, "--insider")[0] == 1


@settings(max_examples=40, deadline=None)
@given(grids(most=3, high=4), st.integers(1, 4))
def test_an_insider_knows_what_trying_all_tables_tells_them(cells: Any, width: int) -> None:
    """The oracle: all tables in which every cell holds what one contributor gave, and others."""
    assume(cells.sum() > 0)
    table = Table.from_records(count_records(cells), ["r", "c"])
    pattern = np.zeros(table.structure.size, dtype=bool)
    numbers = table.structure.numbers[0]
    pattern[numbers[:-1, :-1].ravel()] = True
    published = table.publish(table.structure.to_grids(pattern))
    view = table.read_with("known").publish(table.structure.to_grids(pattern))
    assume(is_listable(view, 20_000))
    tables = list_whole_tables(view)
    expected = set()
    for cell in numbers[:-1, :-1].ravel():
        if table.units[cell] == 0:
            continue
        possible = (
            tables[tables[:, cell] >= 2]
            if table.units[cell] > 1
            else (tables[tables[:, cell] == 1])
        )
        for other in np.flatnonzero(pattern):
            if other == cell and table.units[cell] == 1:
                continue
            if np.ptp(possible[:, other]) < width:
                expected.add(int(other))
    found = audit(published, table, width=width, insider=True)
    by_number = {table.structure.cell_number(key) for key in found.unprotected}
    assert by_number >= expected
    outsiders = {int(c) for c in np.flatnonzero(pattern) if np.ptp(tables[:, c]) < width}
    assert by_number == expected | outsiders


# Proven to be not unique


def big_cube() -> tuple[Table, Published]:
    """Three dimensions are no network, and all eight times eight cells too many to count."""
    cells = np.random.default_rng(3).integers(5, 60, (4, 4, 4))
    table = Table.from_cells(cells)
    pattern = np.pad(np.ones((4, 4, 4), bool), [(0, 1)] * 3)
    return table, table.publish(pattern)


def test_a_cube_that_is_not_unique_passes() -> None:
    table, published = big_cube()
    assert not intervals(published).integral
    found = assess(table, published, published.pattern, width=5)
    assert found.certain.posterior == 0
    assert found.at_worst.certain.posterior == 0
    outcome = dv.Limit("deterministic.posterior", at_most=0).judge(found)
    assert outcome.status == "pass"


def test_a_hierarchical_table_can_pass() -> None:
    area = dv.Hierarchy.from_pairs([(x, x[0]) for x in ("a1", "a2", "b1", "b2")])
    branch = dv.Hierarchy.from_pairs([(x, x[0]) for x in ("s1", "s2", "t1", "t2")])
    axes = [
        dv.tables.Axis.hierarchical("area", ["a1", "a2", "b1", "b2"], area),
        dv.tables.Axis.hierarchical("branch", ["s1", "s2", "t1", "t2"], branch),
    ]
    cells = [[3, 40, 50, 60], [70, 80, 90, 4], [55, 65, 2, 75], [85, 95, 45, 35]]
    table = Table.from_cells(cells, axes=axes)
    found = suppress(table, 5, 6, margins="suppressible")
    judged = assess(table, found.published, found.primary, width=6)
    assert judged.at_worst.certain.posterior == 0


@settings(max_examples=30, deadline=None)
@given(grids(dimensions=3, most=3, high=3), st.integers(1, 3), st.data())
def test_what_whole_tables_prove_is_so(cells: Any, width: int, data: st.DataObject) -> None:
    table = Table.from_cells(cells)
    pattern = np.zeros(table.shape, dtype=bool)
    inner = data.draw(st.lists(st.booleans(), min_size=cells.size, max_size=cells.size))
    pattern[tuple(slice(n) for n in cells.shape)] = np.array(inner).reshape(cells.shape)
    assume(pattern.any())
    view = table.read_with("known").publish(pattern)
    assume(is_listable(view, 5_000))
    tables = list_whole_tables(view)
    protection = compute_protection(table.read_with("known"), SensitivityRules(), width)
    hidden = np.flatnonzero(view.suppressed)
    low, high = find_proven_intervals(view, table.units, intervals(view), hidden, protection)
    for place, cell in enumerate(hidden):
        values = set(tables[:, cell].tolist())
        assert {int(low[place]), int(high[place])} <= values, "a table has it"
    whole = find_whole_table(view)
    assert whole is not None
    assert (tables == whole).all(axis=1).any()
    judged = judge_cells(table, table.publish(pattern), pattern, width=width, zeros="known")
    for place, cell in enumerate(judged.cells):
        is_narrow = np.ptp(tables[:, cell]) < width
        assert not judged.is_lacking[place] or is_narrow
        if is_narrow:
            assert judged.is_lacking[place] or judged.is_open[place], "no pass is refuted"


# Empty cells


def test_who_knows_which_cells_are_empty_knows_that_the_others_are_not() -> None:
    published = Table.from_cells([[3, 4], [5, 6]]).publish(FOUR)
    assert intervals(published)[(0, 0)] == (0, 7), "the sums alone"
    assert intervals(published.read_with("known"))[(0, 0)] == (1, 6)
    known = Table.from_cells([[3, 0], [5, 6]]).read_with("known").publish(FOUR)
    assert intervals(known).disclosed == sorted(FOUR), "an empty cell hides nothing"
    assert "it is empty" in str(intervals(known).why((0, 1)))


def test_no_empty_cell_is_suppressed_for_others_unless_zeros_are_secret() -> None:
    table = Table.from_cells([[3, 0, 40], [0, 50, 60], [70, 80, 0]])
    for zeros, may_hide in (("known", False), ("secret", True)):
        found = suppress(table, 5, 4, margins="suppressible", zeros=zeros)  # type: ignore[arg-type]
        assert bool((table.values[found.pattern] == 0).any()) == may_hide
    by_known = assess(table, found.published, found.primary, width=4)
    assert by_known.certain.posterior == 1, "a pattern of empty cells protects from nobody"
    with pytest.raises(InvalidInput, match="an empty cell that is sensitive is secret"):
        suppress(table, 5, 4, True, zeros="known")
    with pytest.raises(InvalidInput, match="is empty, and readers know"):
        suppress(table, primary={(0, 1)}, width=4)


def test_amounts_of_zero_are_possible_where_they_occur() -> None:
    columns = {"r": list("aabb"), "c": list("xyxy"), "v": [0, 5, 6, 7]}
    table = Table.from_records(dv.Dataset.from_arrow(pa.table(columns)), ["r", "c"], "v")
    view = table.read_with("known").publish(FOUR)
    assert intervals(view)[(0, 0)] == (0, 5)


def test_the_paper_is_reached_by_name() -> None:
    table = Table.from_cells([[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]])
    published = table.publish({(1, 1), (1, 3), (3, 1), (3, 3)})
    paper = matching_attack(published, 5, 8, zeros="secret")
    assert (paper.candidates, paper.intervals[(1, 3)]) == (10, (1, 4))
    known = matching_attack(published, 5, 7)
    assert known.candidates == 8
    assert known.feasible[(1, 3)] == (1, 8)


# Weights, linked tables


def test_a_table_says_that_it_does_not_use_weights() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    [weight] = dataset.dictionary.having("weight")
    table = Table.from_records(dataset, ["Area", "Sector"])
    assert table.unused_weight == weight
    assert int(table.values[-1, -1]) == dataset.rows
    told = run_release(dataset, by=["Area", "Sector"], min_frequency=2, method="secret")
    assert f'The sampling weights ("{weight}") are not used' in str(told)


def linked_release(tmp_path: Path, by: str, name: str = "reader") -> str:
    rows = ["N,yes,no"] * 2 + ["N,no,no"] * 9 + ["N,no,yes"] * 9 + ["S,no,yes"] * 9
    rows += ["S,yes,no"] * 9 + ["S,no,no"] * 9
    (tmp_path / "people.csv").write_text("region,smokes,drinks\n" + "\n".join(rows) + "\n")
    return f"""
[[adversary]]
name = "{name}"
attack = "tables"
by = {by}
min_frequency = 3
width = 2
method = "secret"
"""


def test_linked_tables_are_one_release_and_go_out_together(tmp_path: Path) -> None:
    head = '[[dataset]]\nname = "people"\nsource = "people.csv"\n'
    limit = '[[limit]]\nmeasure = "deterministic.posterior"\nat_most = 0\n'
    linked = linked_release(tmp_path, '[["region", "smokes"], ["region", "drinks"]]')
    file = tmp_path / "release.toml"
    file.write_text(head + linked + limit)
    release = dv.Release.load(file)
    [assessment] = release.check().assessments
    assert "suppressed_cells" in assessment.figures
    release.protect(out=tmp_path / "out")
    written = sorted(path.name for path in (tmp_path / "out" / "release").glob("table_*"))
    assert written == ["table_reader-2.csv", "table_reader.csv"]
    one, two = (
        dv.tables.read_cells(tmp_path / "out" / "release" / name, ["region", other])
        for name, other in (("table_reader.csv", "smokes"), ("table_reader-2.csv", "drinks"))
    )
    note = (tmp_path / "out" / "release" / "methods-note.txt").read_text()
    assert note.count("table_reader-2.csv") == note.count("table_reader.csv") == 2
    assert 'the column "suppressed" is true' in note
    both = dv.tables.link_published(one, two).read_with("known")
    assert intervals(both).disclosed == []
    file.write_text(head + linked_release(tmp_path, '[["region"], ["nowhere"]]') + limit)
    with pytest.raises(InvalidInput, match="nowhere"):
        dv.Release.load(file)


def test_draws_follow_the_secret_of_the_release(tmp_path: Path) -> None:
    """Drawn alike by every rerun: two draws of one table tell more than either."""
    text = '[[dataset]]\nname = "people"\nsource = "people.csv"\n'
    text += linked_release(tmp_path, '["region", "smokes"]')
    text += 'suppress = "optimal"\nresist_matching = true\n'
    text += '[[limit]]\nmeasure = "deterministic.posterior"\nat_most = 0\n'
    file = tmp_path / "release.toml"
    file.write_text(text)
    release, out = dv.Release.load(file), tmp_path / "out"
    assert release.check().to_dict() == release.check().to_dict()

    def read_seed(protected: Any) -> int:
        [adversary] = protected.release.adversaries
        return int(adversary.settings.seed)

    first = release.protect(out=out)
    written = (out / "release" / "table_reader.csv").read_bytes()
    again = release.protect(out=out, overwrite=True)
    assert (out / "release" / "table_reader.csv").read_bytes() == written
    revised = release.protect(out=tmp_path / "new", revises=out)
    assert read_seed(first) == read_seed(again) == read_seed(revised)
    assert read_seed(release.protect()) != read_seed(first)
    assert release.adversaries[0].settings.seed is None


def test_linked_tables_are_attacked_together() -> None:
    """The total of N is hidden in one table, and follows from the parts that the other shows."""
    columns = {"r": list("NNNSSS"), "a": list("xxyxyy"), "b": list("uvvuuv")}
    dataset = dv.Dataset.from_arrow(pa.table(columns))
    one, two = (Table.from_records(dataset, ["r", name]) for name in "ab")
    assert intervals(one.publish({(0, 0), (0, 2), (1, 0), (1, 2)}))[(0, 2)] == (1, 4)
    mask = np.zeros((3, 3), dtype=bool)
    mask[:2, 2] = True
    first = mask.copy()
    first[:2, 0] = True
    together = dv.tables.link(one, two).publish([first, mask])
    assert intervals(together)[(0, 0, 2)] == (3, 3)


# The method


RECOVERED = [[9, 14, 17], [4, 18, 14], [18, 14, 21], [4, 26, 22]]


def twenty_three_rows() -> np.ndarray:
    large = np.random.default_rng(1).integers(60, 90, (19, 3))
    large[6:12, 1] = 0
    return np.vstack([RECOVERED, large])


def test_safe_by_the_sums_and_recovered_by_the_method_is_a_fail() -> None:
    dataset = count_records(twenty_three_rows())
    said = {"by": ["r", "c"], "min_frequency": 5, "width": 3, "margins": "published"}
    table = Table.from_records(dataset, ["r", "c"])
    found = suppress(table, 5, 3)
    assert int(found.published.suppressed.sum()) == 4
    attacked = matching_attack(found, 5, 3, mode="full")
    assert attacked.feasible.widths.tolist() == [6, 6, 6, 6]
    assert attacked.intervals.widths.tolist() == [0, 0, 0, 0], "all four cells are recovered"
    limit = dv.Limit("deterministic.posterior", at_most=0)
    by_method = run_release(dataset, **said)
    assert limit.judge(by_method).status == "fail"
    assert str(by_method).startswith("An adversary who knows how the suppressed cells were chosen")
    by_sums = run_release(dataset, method="secret", **said)
    assert limit.judge(by_sums).status == "pass"
    assert 'The method is taken to be secret (method = "secret")' in str(by_sums)


def test_what_the_method_tells_is_not_judged_where_it_cannot_be_computed(tmp_path: Path) -> None:
    million_records().write(tmp_path / "firms.csv")
    file = tmp_path / "release.toml"
    text = (
        '[[dataset]]\nname = "firms"\nsource = "firms.csv"\n'
        '[[adversary]]\nname = "rival"\nattack = "tables"\nby = ["r", "c"]\nvalue = "v"\n'
        "p_percent = 10.0\n{method}\n"
        '[[limit]]\nadversary = "rival"\nmeasure = "deterministic.posterior"\nat_most = 0\n'
    )
    file.write_text(text.format(method=""))
    verdict = dv.Release.load(file).check()
    [outcome] = verdict.outcomes
    assert outcome.status == "not judged"
    assert not verdict.passed
    assert "Not judged: what an adversary who knows how" in str(verdict)
    assert verdict.to_dict()["limits"][0]["status"] == "not judged"
    file.write_text(text.format(method='method = "secret"'))
    stated = dv.Release.load(file).check()
    assert stated.status == "pass"
    assert 'method = "secret"' in str(stated)
    file.write_text(text.format(method='suppress = "none"'))
    assert dv.Release.load(file).check().outcomes[0].status == "fail", "nothing is hidden"


def test_an_attack_that_was_stopped_is_not_judged() -> None:
    cells = np.random.default_rng(5).integers(6, 40, (5, 5))
    cells[0, 0], cells[2, 3] = 3, 2
    said = {"by": ["r", "c"], "min_frequency": 5, "width": 4, "margins": "published"}
    stopped = run_release(count_records(cells), suppress="fast", seconds=1e-3, **said)
    limit = dv.Limit("deterministic.posterior", at_most=0)
    assert limit.judge(stopped).status == "not judged"
    assert "did not finish" in str(limit.judge(stopped).sentences[-1])
    assert str(stopped).startswith("Not judged")
    assert limit.judge(run_release(count_records(cells), **said)).status == "fail"


def small_table(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    drawn = random.normal(6, 5, (3, int(random.integers(3, 5)))).round()
    return np.maximum(drawn, 0).astype(int)


@pytest.mark.parametrize("margins", ["published", "suppressible"])
def test_the_fast_attack_equals_solving_again_where_zeros_are_known(margins: Any) -> None:
    compared = 0
    for seed in range(40):
        table = Table.from_cells(small_table(seed))
        try:
            found = suppress(table, 3, 2, margins=margins)
        except InvalidInput:
            continue
        view = found.published.read_with("known")
        if not found.first or not view.suppressed.any() or not is_listable(view, 2_000):
            continue
        attacked = matching_attack(found, 3, 2, mode="full")
        if attacked.candidates > 60:
            continue
        rules = SuppressorParameters(min_frequency=3, width=2, margins=margins, zeros="known")
        assert found_possible(attacked) == sorted(possible_by_solving(view, rules))
        own = table.units[attacked.found.cells] - 1
        assert tuple(own.tolist()) in found_possible(attacked), "the truth is possible"
        compared += 1
    assert compared >= 5


# Our own output, attacked


def list_possible_tables(
    content: Published, table: Table, asked: TablesSettings
) -> np.ndarray | None:
    """All tables that agree with what is published and would be published so; None if too many."""
    view = content.read_with("known")
    if not is_listable(view, 3_000):
        return None
    possible = []
    for units in list_whole_tables(view):
        candidate = Table(table.structure, units)
        if asked.suppress == "primary":
            pattern = (units > 0) & (units < (asked.min_frequency or 0))
        else:
            chosen: Any = {"method": asked.suppress, "margins": asked.margins}
            try:
                again = suppress(candidate, asked.min_frequency, asked.width, **chosen)
            except InvalidInput:
                continue
            pattern = again.published.suppressed
        if np.array_equal(pattern, content.suppressed):
            possible.append(units)
    return np.array(possible)


@pytest.mark.parametrize(
    ("method", "margins"),
    [("optimal", "published"), ("optimal", "suppressible"), ("fast", "published")],
)
def test_no_pass_is_refuted_by_trying_all_tables(tmp_path: Path, method: str, margins: str) -> None:
    """Write, read back, list all tables, keep those that would be published so; compare."""
    limit = dv.Limit("deterministic.posterior", at_most=0)
    statuses = []
    for seed in range(40):
        dataset = count_records(small_table(seed))
        said: Any = {"by": ["r", "c"], "min_frequency": 3, "width": 1 + seed % 3}
        asked = TablesSettings(**said, suppress=method, margins=margins)
        try:
            found = TablesAttack().run(asked, [dataset])
        except InvalidInput:
            continue  # it cannot be protected, and says so
        if not found.secrets:
            continue
        table = Table.from_records(dataset, ["r", "c"])
        file = tmp_path / f"{seed}.csv"
        TablesAttack().publish_table(asked, dataset).write(file, False)
        possible = list_possible_tables(dv.tables.read_crosstab(file), table, asked)
        if possible is None:
            continue
        sensitive = (table.units > 0) & (table.units < 3)
        is_safe = bool((np.ptp(possible, axis=0)[sensitive] >= said["width"]).all())
        status = limit.judge(found).status
        assert status == ("pass" if is_safe else "fail") or status == "not judged"
        statuses.append(status)
    assert statuses.count("pass") >= 2
    assert statuses.count("fail") >= 2


def test_suppress_says_first_what_who_knows_the_method_learns(tmp_path: Path) -> None:
    lines = ["r,c1,c2,c3,Total"]
    cells = np.array(RECOVERED)
    lines += [",".join(map(str, (f"r{i}", *row, row.sum()))) for i, row in enumerate(cells)]
    lines.append(",".join(map(str, ("Total", *cells.sum(axis=0), cells.sum()))))
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    asked = ["tables", "suppress", str(tmp_path / "t.csv"), "--min-frequency", "5", "--width", "3"]
    asked += ["--out", str(tmp_path / "p.csv"), "--html", str(tmp_path / "p.html")]
    refuted = CliRunner().invoke(app, asked)
    told = refuted.output
    assert refuted.exit_code == 1
    assert "p.csv was not written: a sensitive cell is known more closely" in told
    assert not (tmp_path / "p.csv").exists()
    learned = "knows all 2 sensitive cells more closely than the rules"
    assert learned in told
    assert told.index(learned) < told.index("2 sensitive cells are suppressed (P).")
    assert learned in (tmp_path / "p.html").read_text()
    done = CliRunner().invoke(app, [*asked, "--method-secret", "--overwrite"])
    secret = done.output
    assert done.exit_code == 0
    assert (tmp_path / "p.csv").exists()
    assert learned not in secret
    assert 'The method is taken to be secret (method = "secret")' in secret
