"""What happens to attributes that other published columns tell: the release file chooses."""

from collections import Counter
from datetime import date, timedelta
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
subjects = "people"
[dataset.roles]
quasi_identifier = ["region", "age", "sex"]
non_identifying = {others}
[dataset.hierarchies]
region = {{ pairs = [["a", "north"], ["b", "north"], ["c", "north"], ["d", "north"], ["e", "south"],
  ["f", "south"], ["g", "south"], ["h", "south"]] }}
age = {{ intervals = [[0, 20, 40, 60, 80], [40]] }}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
[protection]
methods = {methods}
{protection}
"""


def write(
    folder: Path,
    others: list[str],
    protection: str = "",
    methods: str = '["recode", "suppress"]',
) -> Path:
    """People whose income tells the household and so the region; born tells the age."""
    random = Random(5)  # noqa: S311  # made-up data
    rows = []
    for number in range(900):
        if number % 3 == 0:
            region = random.choices("abcdefgh", [30, 20, 15, 10, 8, 5, 3, 2])[0]
        age = random.randrange(90)
        rows.append(
            {
                "region": region,
                "age": age,
                "sex": random.choice("FM"),
                "income": 1_000 + number // 3,
                "born": 2020 - age,
                "birthday": str(date(2020, 6, 1) - timedelta(365 * age + number % 365)),
                "noise": random.randrange(40),
            }
        )
    pl.DataFrame(rows).select("region", "age", "sex", *others).write_csv(folder / "people.csv")
    path = folder / "release.toml"
    text = RELEASE.format(others=others, methods=methods, protection=protection)
    path.write_text(text.replace("'", '"'))
    return path


def count_smallest(folder: Path, names: list[str]) -> int:
    released = pl.read_csv(folder / "release" / "people.csv", infer_schema=False)
    return min(Counter(released.select(names).rows()).values())


@pytest.mark.parametrize("born", ["born", "birthday"])
def test_an_age_in_bands_beside_a_year_of_birth_never_passes(tmp_path: Path, born: str) -> None:
    path = write(tmp_path, [born], methods='["recode"]')
    with pytest.raises(OutOfReachError) as refused:
        Release.load(path).protect(out=tmp_path / "out")
    assert f"age by {born}" in str(refused.value)
    assert 'determined = "drop_determinants"' in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_the_year_of_birth_stays_behind_if_its_owner_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, ["born", "noise"], 'determined = "drop_determinants"')
    p = Release.load(path).protect(out=tmp_path / "out")
    assert p.passed
    [part] = p.records.values()
    assert part.dropped == {"born": ("age",)}
    assert part.levels
    dropped = [d for d in part.decisions if d.change == "removed" and d.attribute == "born"]
    assert [decision.reason for decision in dropped] == ["it would reveal age"]
    assert "born is not published: it would reveal age." in p.explain()
    assert any("would reveal suppressed or recoded values" in line for line in p.explain())
    released = pl.read_csv(tmp_path / "out" / "release" / "people.csv")
    assert released.columns == ["region", "age", "sex", "noise"]
    assert p.after.to_dict()["datasets"][0]["columns"]["telling"] == ["born"]
    assert all(not f.verified for r in p.after.refills.values() for f in [r.coarse_figures])


def test_a_column_that_must_go_out_is_not_dropped(tmp_path: Path) -> None:
    more = 'determined = "drop_determinants"\nnever = ["born"]'
    with pytest.raises(OutOfReachError, match="age by born"):
        Release.load(write(tmp_path, ["born"], more, '["recode"]')).protect()


def test_a_determined_region_is_kept_recoded_or_its_determinant_dropped(tmp_path: Path) -> None:
    parts = {}
    for choice in ("keep", "recode", "drop_determinants"):
        folder = tmp_path / choice
        folder.mkdir()
        path = write(folder, ["income"], f'determined = "{choice}"\nout_of_reach = "remove"')
        p = Release.load(path).protect(out=folder / "out")
        assert p.passed
        [parts[choice]] = p.records.values()
        shown = pl.read_csv(folder / "out" / "release" / "people.csv", infer_schema=False)
        hidden = sum("suppressed" in str(value) for value in shown["region"].to_list())
        assert hidden == 0 or choice == "drop_determinants"
        assert ("income" in shown.columns) is (choice != "drop_determinants")
    kept, recoded, dropped = parts.values()
    assert "region" not in kept.levels
    assert kept.determined == {"region": ("income",)}
    assert recoded.determined == {"region": ("income",)}
    assert dropped.dropped == {"income": ("region",)}
    assert recoded.removed <= kept.removed
    assert dropped.suppressed_cells <= kept.suppressed_cells


def test_a_choice_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="drop_determinants"):
        Release.load(write(tmp_path, ["born"], 'determined = "drop"'))
