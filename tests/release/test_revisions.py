"""Two protections of the same data: limits hold for somebody who has both."""

from pathlib import Path
from random import Random

import polars as pl
import pytest

from divulge.protection import OutOfReachError
from divulge.release import Release
from divulge.work import InvalidInput

RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
[dataset.roles]
quasi_identifier = ["region", "age", "sex"]
non_identifying = [{public}]
[dataset.hierarchies]
age = {{ intervals = [[0, 20, 40], [0, 40]] }}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = {k}
[protection]
methods = [{methods}]
out_of_reach = "remove"
"""


def write(
    folder: Path, *, k: int, rows: int = 60, methods: str = '"suppress"', public: str = '"receipt"'
) -> Release:
    random = Random(3)  # noqa: S311  # made-up data
    lines = ["receipt,region,age,sex"]
    for number in range(60):
        region, age, sex = random.choice("NESW"), random.randint(18, 23), random.choice("fm")
        lines.append(f"{9000 - 7 * number},{region},{age},{sex}")
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_text("\n".join(lines[: rows + 1]) + "\n")
    path = folder / "release.toml"
    path.write_text(RELEASE.format(k=k, methods=methods, public=public))
    return Release.load(path)


def test_a_revision_that_shows_what_was_hidden_does_not_pass(tmp_path: Path) -> None:
    assert write(tmp_path / "one", k=3).protect(tmp_path / "out").passed
    stricter = write(tmp_path / "two", k=4)
    assert stricter.protect().passed  # by itself
    with pytest.raises(OutOfReachError, match="also has the protection that this one revises"):
        stricter.protect(tmp_path / "next", revises=tmp_path / "out")
    assert not (tmp_path / "next").exists()


def test_the_same_again_shows_nothing_more(tmp_path: Path) -> None:
    release = write(tmp_path / "one", k=3)
    assert release.protect(tmp_path / "out").passed
    assert release.protect(tmp_path / "next", revises=tmp_path / "out").passed
    files = [tmp_path / place / "release" / "people.csv" for place in ("out", "next")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_coarser_values_of_a_revision_are_no_use_beside_finer_ones(tmp_path: Path) -> None:
    fine = write(tmp_path / "one", k=2)
    assert fine.protect(tmp_path / "out").passed
    coarse = write(tmp_path / "two", k=5, methods='"recode", "suppress"')
    assert coarse.protect().passed
    with pytest.raises(OutOfReachError, match="k-anonymity of people is"):
        coarse.protect(revises=tmp_path / "out")
    # What was only ever shown in bands stays so beside bands that hide more.
    assert coarse.protect(tmp_path / "bands").passed
    assert coarse.protect(revises=tmp_path / "bands").passed


def test_people_who_left_and_people_who_came_are_judged_by_themselves(tmp_path: Path) -> None:
    # A class of its own leaves: nothing that is hidden elsewhere is told by it.
    release = write(tmp_path / "one", k=2)
    source = tmp_path / "one" / "people.csv"
    text = source.read_text()
    source.write_text(text + "1,A,50,f\n2,A,50,f\n")
    assert release.protect(tmp_path / "out").passed
    source.write_text("receipt,region,age,sex\n3,B,50,m\n4,B,50,m\n" + text.split("\n", 1)[1])
    assert release.protect(tmp_path / "next", revises=tmp_path / "out").passed


def test_people_who_left_are_not_judged_where_their_company_shows_more(tmp_path: Path) -> None:
    # Four alike hid their region; two of them leave, and the region is shown in the other two now.
    release = write(tmp_path / "one", k=3)
    source = tmp_path / "one" / "people.csv"
    head = "receipt,region,age,sex\n"
    others = "".join(f"{n},{'NESW'[n % 4]},20,f\n" for n in range(100, 140))
    pairs = "1,X,50,m\n2,X,50,m\n3,Y,50,m\n4,Y,50,m\n"
    source.write_text(head + others + pairs)
    first = release.protect(tmp_path / "out")
    assert first.passed
    assert first.suppressed_cells
    more = "".join(f"{n},X,50,m\n" for n in (5, 6))
    source.write_text(head + others + "1,X,50,m\n2,X,50,m\n" + more)
    second = release.protect(tmp_path / "next", revises=tmp_path / "out")
    assert second.status == "not judged"
    assert any(
        "2 records that the protection" in str(r.sentence) for r in second.after.reservations
    )
    assert not (tmp_path / "next" / "release").exists()
    # By itself, and after a protection that nobody has, the same data pass.
    assert release.protect(tmp_path / "alone").passed


def test_columns_that_were_published_once_are_not_judged_without_them(tmp_path: Path) -> None:
    assert write(tmp_path / "one", k=2).protect(tmp_path / "out").passed
    without = write(tmp_path / "two", k=2, public="")
    without.path.write_text(
        without.path.read_text().replace(
            'source = "people.csv"', 'source = "people.csv"\nunlisted = "drop"'
        )
    )
    revised = Release.load(without.path).protect(revises=tmp_path / "out")
    assert revised.status == "not judged"
    assert "published receipt, which this one does not" in str(revised.after)


def test_what_is_kept_for_revisions_is_private_and_must_be_there(tmp_path: Path) -> None:
    release = write(tmp_path / "one", k=3)
    assert release.protect(tmp_path / "out").passed
    kept = sorted((tmp_path / "out" / "internal").glob("published*"))
    assert [file.name for file in kept] == ["published.json", "published_1.parquet"]
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in kept)
    kept[1].write_bytes(b"")
    with pytest.raises(InvalidInput, match="missing or damaged"):
        release.protect(tmp_path / "next", revises=tmp_path / "out")
    assert not (tmp_path / "next").exists()


@pytest.mark.parametrize("k", [2, 3])
def test_marks_of_records_tell_nothing_without_the_secret(tmp_path: Path, k: int) -> None:
    release = write(tmp_path / "one", k=k)
    marks = []
    for place in ("out", "other"):
        assert release.protect(tmp_path / place).passed
        marks.append(pl.read_parquet(tmp_path / place / "internal" / "published_1.parquet"))
    assert not set(marks[0]["mark_1"]) & set(marks[1]["mark_1"])
