"""Records and a table of the same dataset in one release, attacked by subtraction from the files."""

import csv
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from divulge.protection import OutOfReachError
from divulge.release import Release

RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
unlisted = "drop"
[dataset.roles]
quasi_identifier = ["region", "age", "sex"]
sensitive = ["job"]
[dataset.hierarchies]
age = {{ intervals = [[0, 20, 40, 60, 80], [40]] }}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
[[adversary]]
name = "reader"
dataset = "people"
attack = "tables"
by = {by}
min_frequency = 1
method = "secret"
[[limit]]
adversary = "reader"
measure = "deterministic.posterior"
at_most = {at_most}
[protection]
methods = {methods}
{protection}
"""


def write(
    folder: Path,
    by: list[str],
    *,
    protection: str = "",
    methods: str = '["suppress"]',
    at_most: float = 1.0,
) -> Release:
    random = Random(7)  # noqa: S311  # made-up data
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["region", "age", "sex", "job", "born"])
        for _ in range(700):
            age = random.choices(range(10, 22), range(1, 13))[0]
            region = random.choices("abcdef", [30, 20, 15, 10, 8, 3])[0]
            job = random.choice(["cook", "clerk", "judge"])
            writer.writerow([region, age, random.choice("FM"), job, 2020 - age])
    path = folder / "release.toml"
    text = RELEASE.format(by=by, methods=methods, protection=protection, at_most=at_most)
    path.write_text(text.replace("'", '"'))
    return Release.load(path)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def subtract(folder: Path, names: list[str]) -> Counter[tuple[str, ...]]:
    """What anybody gets who takes the published records from the published table."""
    rows = read(folder / "people.csv")
    status = [name for name in rows[0] if name.endswith("_status")]
    left: Counter[tuple[str, ...]] = Counter()
    if len(names) == 1:
        for cell in read(folder / "table_reader.csv"):
            left[(cell[names[0]],)] += int(cell["count"] or 0)
        for subtotal in [key for key in left if "Total" in key or key[0].startswith("[")]:
            del left[subtotal]
    else:
        with (folder / "table_reader.csv").open(newline="") as file:
            head, *body = csv.reader(file)
        for line in body:
            for column, value in zip(head[1:], line[1:], strict=True):
                if "Total" not in (line[0], column):
                    left[(line[0], column)] += int(value)
    for row in rows:
        assert not any(row[f"{name}_status"] for name in names if f"{name}_status" in status)
        left[tuple(row[name] for name in names)] -= 1
    return +left


@pytest.mark.parametrize("by", [["age"], ["region", "sex"], ["region"]])
def test_a_table_beside_records_tells_nothing_that_these_hide(
    tmp_path: Path, by: list[str]
) -> None:
    p = write(tmp_path, by, protection='out_of_reach = "remove"').protect(out=tmp_path / "out")
    [part] = p.records.values()
    assert p.status == "pass"
    assert part.suppressed_cells
    assert any("the table of" in sentence for sentence in p.explain())
    left = subtract(tmp_path / "out" / "release", by)
    assert left.total() == part.removed


def test_a_column_of_a_table_is_not_made_coarser_in_the_records(tmp_path: Path) -> None:
    release = write(
        tmp_path, ["age"], methods='["recode", "suppress"]', protection='out_of_reach = "remove"'
    )
    p = release.protect()
    [part] = p.records.values()
    assert "age" not in part.levels
    assert p.status == "pass"


def test_a_table_by_year_of_birth_is_one_by_age(tmp_path: Path) -> None:
    release = write(tmp_path, ["born"], protection='out_of_reach = "remove"')
    p = release.protect(out=tmp_path / "out")
    [part] = p.records.values()
    assert p.status == "pass"
    assert "born" not in read(tmp_path / "out" / "release" / "people.csv")[0]
    assert "age" in part.determined
    hidden = Counter(change.attribute for change in part.decisions.changes)
    assert not hidden["age"]


def test_a_table_of_a_secret_tells_that_of_removed_records(tmp_path: Path) -> None:
    release = write(tmp_path, ["region", "age", "sex", "job"], protection='out_of_reach = "remove"')
    p = release.protect(out=tmp_path / "out")
    [part] = p.records.values()
    assert part.removed
    assert p.status == "not judged"
    assert any("were removed" in str(r.sentence) for r in p.after.reservations)
    assert not (tmp_path / "out" / "release").exists()


def test_what_rules_out_all_but_removal_says_what_tells(tmp_path: Path) -> None:
    release = write(tmp_path, ["region", "age", "sex"])
    with pytest.raises(OutOfReachError, match='region by the table of "reader"'):
        release.protect()


def test_records_that_show_a_whole_table_undo_its_suppression(tmp_path: Path) -> None:
    release = write(tmp_path, ["age"], at_most=0.0)
    text = release.path.read_text().replace("min_frequency = 1", "min_frequency = 20")
    release.path.write_text(text)
    verdict: Any = Release.load(release.path).check()
    assert verdict.status == "fail"
    with pytest.raises(OutOfReachError, match="Publish only one of the two"):
        Release.load(release.path).protect()


def test_of_a_table_that_records_show_no_method_is_said_to_be_secret(tmp_path: Path) -> None:
    release = write(tmp_path, ["age"], at_most=0.0)
    text = release.path.read_text().replace("min_frequency = 1", "min_frequency = 20")
    release.path.write_text(text.replace('method = "secret"', 'suppress = "primary"'))
    verdict: Any = Release.load(release.path).check()
    [reader] = [each for each in verdict.assessments if each.adversary == "reader"]
    assert reader.certain.posterior > 0
    assert not any("secret" in sentence for sentence in reader.explain())


Rows = list[dict[str, Any]]


def shuffle(rows: Rows) -> Rows:
    return Random(3).sample(rows, len(rows))  # noqa: S311  # made-up data


def rename(rows: Rows) -> Rows:
    return [{f"{name}_of": value for name, value in row.items()} for row in rows]


def make_coarser(rows: Rows) -> Rows:
    return [{**row, "region": "south" if row["region"] in "abc" else "north"} for row in rows]


def leave_some_out(rows: Rows) -> Rows:
    return shuffle(rows)[: len(rows) * 19 // 20]


def draw_others(rows: Rows) -> Rows:
    columns = [[row[name] for row in rows] for name in rows[0]]
    drawn = [Random(5).choices(values, k=len(rows)) for values in columns]  # noqa: S311
    return [dict(zip(rows[0], values, strict=True)) for values in zip(*drawn, strict=True)]


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ([], True),
        ([shuffle], True),
        ([rename], True),
        ([shuffle, rename], True),
        ([leave_some_out, rename], True),
        ([make_coarser, shuffle], True),
        ([draw_others], False),
        ([draw_others, rename], False),
    ],
)
def test_a_table_of_the_same_records_by_another_name_is_not_judged(
    tmp_path: Path, changes: list[Any], is_same: bool
) -> None:
    release = write(tmp_path, ["age"], protection='out_of_reach = "remove"')
    rows: Rows = [dict(row) for row in read(tmp_path / "people.csv")]
    for change in changes:
        rows = change(rows)
    with (tmp_path / "others.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    age = "age_of" if rename in changes else "age"
    text = release.path.read_text().replace(
        'dataset = "people"\nattack', 'dataset = "others"\nattack'
    )
    text = text.replace('by = ["age"]', f'by = ["{age}"]')
    text += '[[dataset]]\nname = "others"\nsource = "others.csv"\nunlisted = "drop"\n'
    text += f'publish = []\n[dataset.roles]\nquasi_identifier = ["{age}"]\n'
    release.path.write_text(text)
    verdict = Release.load(release.path).check()
    said = [str(each.sentence) for each in verdict.reservations]
    assert any("of the same records as" in each for each in said) == is_same


@pytest.mark.parametrize("is_same", [True, False])
def test_a_table_of_counts_of_the_same_records_is_not_judged(tmp_path: Path, is_same: bool) -> None:
    release = write(tmp_path, ["age"], protection='out_of_reach = "remove"')
    rows: Rows = [dict(row) for row in read(tmp_path / "people.csv")]
    counts = Counter(
        (row["region"], row["sex"]) for row in (rows if is_same else draw_others(rows))
    )
    lines = [f"{region},{sex},{n}" for (region, sex), n in counts.items()]
    (tmp_path / "counts.csv").write_text(
        "\n".join(["area,gender,n", *lines, f"all,all,{len(rows)}"])
    )
    text = release.path.read_text().replace(
        'dataset = "people"\nattack', 'dataset = "counts"\nattack'
    )
    text = text.replace(
        'by = ["age"]', 'by = ["area", "gender"]\nvalue = "n"\ncells = true\ntotal = "all"'
    )
    text += '[[dataset]]\nname = "counts"\nsource = "counts.csv"\n[dataset.roles]\n'
    text += 'quasi_identifier = ["area", "gender"]\nnon_identifying = ["n"]\n'
    release.path.write_text(text)
    verdict = Release.load(release.path).check()
    said = [str(each.sentence) for each in verdict.reservations]
    assert any("of the same records as" in each for each in said) == is_same
