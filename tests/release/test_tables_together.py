"""Several tables of the same records: who reads one reads the others, and subtracts."""

import csv
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from divulge.protection import OutOfReachError
from divulge.release import Release
from divulge.work import InvalidInput

HEAD = """
[[dataset]]
name = "people"
source = "people.csv"
roles = {{ quasi_identifier = {names} }}
"""

READER = """
[[adversary]]
name = "{name}"
attack = "tables"
by = {by}
min_frequency = 3
width = 2
{more}
[[limit]]
adversary = "{name}"
measure = "deterministic.posterior"
at_most = 0
"""

METHOD_UNKNOWN = 'method = "secret"'


def write(folder: Path, cells: Mapping[Any, int], *readers: dict[str, Any]) -> Release:
    """Records of two attributes or more, so many of each combination, and who reads tables."""
    [width] = {len(codes) for codes in cells}
    names = ["area", "size", "kind"][:width]
    lines = [",".join(codes) for codes, count in cells.items() for _ in range(count)]
    (folder / "people.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    text = HEAD.format(names=names)
    for reader in readers:
        text += READER.format(**{"more": METHOD_UNKNOWN, **reader})
    (folder / "release.toml").write_text(text.replace("'", '"'))
    return Release.load(folder / "release.toml")


Key = frozenset[tuple[str, str]]

# By area alone, 2 and 10 are hidden; by area and size, 2 and 20: the 10 is shown there.
SPLIT = {("a", "s"): 2, ("b", "l"): 10, ("c", "s"): 20, ("c", "l"): 7}
BY_AREA, BY_BOTH = {"name": "one", "by": ["area"]}, {"name": "two", "by": ["area", "size"]}


def read_hidden(path: Path) -> dict[Key, int | None]:
    """The cells of a written table by the codes that they are of; None where it is withheld."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    found: dict[Key, int | None] = {}
    if "suppressed" in rows[0]:
        *names, _, _ = rows[0]
        for *codes, value, hidden in rows[1:]:
            key = frozenset(
                (name, code) for name, code in zip(names, codes, strict=True) if code != "Total"
            )
            found[key] = None if hidden == "true" else int(value)
        return found
    for row in rows[1:]:
        for code, value in zip(rows[0][1:], row[1:], strict=True):
            pairs = [(rows[0][0], row[0]), ("size", code)]
            key = frozenset(pair for pair in pairs if pair[1] != "Total")
            found[key] = None if value == "*" else int(value)
    return found


def test_what_one_table_shows_another_does_not_hide(tmp_path: Path) -> None:
    p = write(tmp_path, SPLIT, BY_AREA, BY_BOTH).protect(out=tmp_path / "out")
    assert p.passed
    folder = tmp_path / "out" / "release"
    one, two = (read_hidden(folder / f"table_{name}.csv") for name in ("one", "two"))
    assert {None} < set(one.values())
    assert {key: two[key] for key in one} == one
    assert "other table of this release (area x size)" in str(p.after.assessments[0])


def test_one_who_reads_two_tables_is_judged_by_both(tmp_path: Path) -> None:
    """Rules that differ cannot be kept by one pattern: what both show together is judged."""
    fewer = {**BY_BOTH, "more": METHOD_UNKNOWN + "\nshare = 10"}
    release = write(tmp_path, SPLIT, BY_AREA, fewer)
    verdict = release.check()
    assert verdict.status == "fail"
    [outcome] = [each for each in verdict.outcomes if each.subject == "one"]
    assert outcome.value == 1
    with pytest.raises(OutOfReachError):
        release.protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_tables_that_share_no_hidden_cell_are_judged_each_by_itself(tmp_path: Path) -> None:
    cells = {
        (area, size, kind): 2 if (area, size) == ("a", "s") and kind == "x" else 9
        for area, size, kind in product("ab", "sl", "x")
    }
    alone = write(tmp_path, cells, {**BY_BOTH, "more": ""})
    judged_alone = alone.check().assessments[0]
    beside = write(tmp_path, cells, {**BY_BOTH, "more": ""}, {"name": "k", "by": ["kind"]})
    judged = beside.check().assessments[0]
    assert judged.to_dict() == judged_alone.to_dict()


def test_a_limit_on_a_reader_is_on_the_cells_of_their_table(tmp_path: Path) -> None:
    """Cells of other tables, however many, do not make the share of known ones smaller."""
    release = write(tmp_path, SPLIT, BY_AREA, BY_BOTH)
    one, two = release.check().assessments
    assert (one.secrets, two.secrets) == (1, 2)


def test_what_the_choice_by_several_rules_tells_is_not_judged(tmp_path: Path) -> None:
    cells = {**SPLIT, ("b", "s"): 8}
    readers = {**BY_AREA, "more": ""}, {**BY_BOTH, "more": "share = 10"}
    verdict = write(tmp_path, cells, *readers).check()
    assert [each.status for each in verdict.outcomes] == ["not judged", "not judged"]
    readers = (
        {**BY_AREA, "more": METHOD_UNKNOWN},
        {**BY_BOTH, "more": METHOD_UNKNOWN + "\nshare = 10"},
    )
    assert write(tmp_path, cells, *readers).check().passed


def test_a_table_that_was_published_before_is_read_with_the_new_one(tmp_path: Path) -> None:
    write(tmp_path, SPLIT, BY_AREA).protect(out=tmp_path / "old")
    release = write(tmp_path, SPLIT, BY_BOTH)
    assert release.protect(out=tmp_path / "fresh").passed
    p = release.protect(out=tmp_path / "new", revises=tmp_path / "old")
    assert p.status == "not judged"
    assert any("Publish that table too" in str(each.sentence) for each in p.after.reservations)
    # Beside the same table it would be judged, but the two need another pattern than the old one.
    both = write(tmp_path, SPLIT, BY_BOTH, BY_AREA)
    assert both.protect(revises=tmp_path / "old").status == "not judged"
    assert both.protect(out=tmp_path / "both").passed
    assert both.protect(revises=tmp_path / "both").passed


TWICE = HEAD.replace('"people"', '"others"', 1)


@pytest.mark.parametrize("second", [BY_BOTH, None])
def test_the_same_records_by_another_name_are_not_judged(
    tmp_path: Path, second: dict[str, Any] | None
) -> None:
    write(tmp_path, SPLIT, BY_AREA)
    text = (tmp_path / "release.toml").read_text() + TWICE.format(names='["area", "size"]')
    text = text.replace('attack = "tables"', 'attack = "tables"\ndataset = "people"')
    if second is not None:
        more = {"more": METHOD_UNKNOWN + '\ndataset = "others"', **second}
        text += READER.format(**more).replace("'", '"')
    (tmp_path / "release.toml").write_text(text)
    release = Release.load(tmp_path / "release.toml")
    assert release.check().status == "not judged"
    p = release.protect(out=tmp_path / "out")
    assert p.status == "not judged"
    assert any("Name one dataset for both" in str(each.sentence) for each in p.after.reservations)


def write_parquet(path: Path, lines: list[str]) -> None:
    names, *rows = [line.split(",") for line in lines]
    pq.write_table(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))), path)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_same_records_in_another_order_or_in_an_engine_are_not_judged(
    tmp_path: Path, engine: str
) -> None:
    write(tmp_path, SPLIT, BY_AREA)
    head, *lines = (tmp_path / "people.csv").read_text().splitlines()
    other = TWICE.replace('"people.csv"', f'"others.parquet"\nengine = "{engine}"')
    text = (tmp_path / "release.toml").read_text() + other.format(names='["area", "size"]')
    text = text.replace('attack = "tables"', 'attack = "tables"\ndataset = "people"')
    (tmp_path / "release.toml").write_text(text)
    write_parquet(tmp_path / "others.parquet", [head, *lines[::-1]])
    verdict = Release.load(tmp_path / "release.toml").check()
    assert verdict.status == "not judged"
    assert any("Name one dataset for both" in str(each.sentence) for each in verdict.reservations)
    # Others are others.
    write_parquet(tmp_path / "others.parquet", [head, *["x,s"] * len(lines)])
    status = Release.load(tmp_path / "release.toml").check().status
    assert status == ("pass" if engine == "memory" else "not judged")


RING = {
    ("a", "s", "y"): 1, ("a", "l", "x"): 9, ("a", "l", "y"): 1,
    ("b", "s", "y"): 3, ("b", "l", "x"): 3, ("b", "l", "y"): 5,
}  # fmt: skip


def read_by_codes(path: Path) -> dict[frozenset[str], int | None]:
    """The cells of a written table by their codes alone, which differ from name to name."""
    with path.open(newline="") as file:
        _, *rows = csv.reader(file)
    return {
        frozenset({*codes} - {"Total"}): None if hidden == "true" else int(value)
        for *codes, value, hidden in rows
    }


def test_tables_that_go_round_in_a_ring_are_of_the_same_records(tmp_path: Path) -> None:
    """By the sums one of size s in a may be up to six; of records that show all three, up to two.

    What goes out is tried: all records that show it leave each sensitive cell as wide as asked.
    """
    wide = METHOD_UNKNOWN + "\nmin_frequency = 2\nwidth = 5"
    text = READER.replace("min_frequency = 3\nwidth = 2\n", "")
    readers = ("one", ["area", "size"]), ("two", ["size", "kind"]), ("three", ["area", "kind"])
    write(tmp_path, RING)
    file = tmp_path / "release.toml"
    for name, by in readers:
        reader = text.format(name=name, by=by, more=wide).replace("'", '"')
        file.write_text(file.read_text() + reader)
    assert Release.load(file).check().passed  # with the pattern that is chosen
    assert Release.load(file).protect(out=tmp_path / "out").passed
    cells: dict[frozenset[str], int | None] = {}
    for path in (tmp_path / "out" / "release").glob("table_*.csv"):
        cells |= read_by_codes(path)
    combinations = [key for key in product("ab", "sl", "xy") if key[1:] != ("s", "x")]
    assert cells[frozenset("sx")] == 0
    records = np.array(list(product(range(11), repeat=len(combinations))))
    truth = np.array([RING.get(key, 0) for key in combinations])
    over = {key: [key <= frozenset(each) for each in combinations] for key in cells}
    fits = np.ones(len(records), bool)
    for key, value in cells.items():
        sums = records[:, over[key]].sum(axis=1)
        # Which cells are empty is known.
        fits &= (sums >= 1) | (not truth[over[key]].sum()) if value is None else sums == value
    sensitive = [key for key, own in over.items() if truth[own].sum() == 1]
    assert sensitive
    for key in sensitive:
        found = records[fits][:, over[key]].sum(axis=1)
        assert cells[key] is None
        assert np.ptp(found) >= 5


def test_a_table_that_cannot_be_protected_names_its_file_and_its_reader(tmp_path: Path) -> None:
    reader = {
        "name": "one",
        "by": ["area"],
        "more": METHOD_UNKNOWN + '\nsuppress = "none"\nmargins = "published"',
    }
    release = write(tmp_path, {("a",): 1, ("b",): 2}, reader)
    assert release.check().status == "fail"
    with pytest.raises(InvalidInput) as refused:
        release.protect(out=tmp_path / "out")
    assert "release.toml has 2 problems" in str(refused.value)
    assert 'adversary "one", suppress, area 1: cannot be protected as asked' in str(refused.value)
    assert not (tmp_path / "out").exists()


def sum_up(cells: Mapping[Any, int]) -> Counter[Key]:
    """All tables of area and size, in all their cells."""
    sums: Counter[Key] = Counter()
    for (area, size), value in cells.items():
        pairs = [("area", area), ("size", size)]
        for key in (pairs, pairs[:1], pairs[1:], []):
            sums[frozenset(key)] += value
    return sums


@pytest.mark.parametrize("seed", range(12))
def test_no_sensitive_cell_is_told_by_all_tables_together(tmp_path: Path, seed: int) -> None:
    """Of small tables every way to fill the hidden cells is tried, from the files alone."""
    random = Random(seed)  # noqa: S311  # made-up data
    cells = {(area, size): random.choice([0, 0, 1, 2, 3, 4, 6]) for area in "abc" for size in "sl"}
    cells["a", "s"] = 2
    readers = [BY_AREA, BY_BOTH, {"name": "three", "by": ["size"]}]
    random.shuffle(readers)
    try:
        p = write(tmp_path, cells, *readers).protect(out=tmp_path / "out")
    except OutOfReachError:
        return
    assert p.passed
    written = [
        pair
        for path in (tmp_path / "out" / "release").glob("table_*.csv")
        for pair in read_hidden(path).items()
    ]
    shown = {key: value for key, value in written if value is not None}
    truth = {key: value for key, value in sum_up(cells).items() if value > 0}
    sensitive = [key for key, value in truth.items() if value < 3]
    assert not shown.keys() & set(sensitive)
    filled = [code for code, value in cells.items() if value > 0]
    possible: dict[Key, set[int]] = {key: set() for key in sensitive}
    for values in product(range(1, 9), repeat=len(filled)):
        sums = sum_up(dict(zip(filled, values, strict=True)))
        if all(sums[key] == value for key, value in shown.items()):
            for key in sensitive:
                possible[key].add(sums[key])
    assert all(max(found) - min(found) >= 2 for found in possible.values())
