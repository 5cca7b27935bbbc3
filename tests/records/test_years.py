"""Years that do not have an attribute alike, ids that occur twice, and what is said of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import divulge as dv

RACES = ["a", "b", "c", "d"]


def panel(year: int, race: str = "race", values: list[str] | None = None) -> dv.Dataset:
    """Sixteen people, unique by race and region together."""
    names = values or RACES
    return dv.Dataset.from_arrow(
        pa.table(
            {
                "id": list(range(16)),
                race: [names[(i + year) % 4] for i in range(16)],
                "region": [str(i // 4) for i in range(16)],
            }
        ),
        name=f"year {year}",
        roles={"quasi_identifier": [race, "region"]},
    )


def attack_years(years: list[dv.Dataset], **choices: Any) -> Any:
    return dv.records.attack(years, "CRL", ["race", "region"], on="id", **choices)


def test_years_that_agree_are_exact_and_the_links_are_said() -> None:
    found = attack_years([panel(1), panel(2)])
    assert found.claim == "exact"
    assert found.not_judged is None
    said = 'The datasets were linked by id: all 16 records of "year 1" are in "year 2".'
    assert said in found.explain()


def test_a_renamed_column_is_said_and_no_limit_holds_by_the_figures() -> None:
    years = [panel(1), panel(2, race="ethnicity")]
    found = attack_years(years)
    assert found.claim == "bound"
    assert any('Dataset "year 2" has no race' in sentence for sentence in found.explain())
    outcome = dv.Limit("deterministic.posterior", at_most=1.0).judge(found)
    assert outcome.status == "pass", "whatever is known, it is not more than everything"
    few = dv.Dataset.from_arrow(
        pa.table({"id": [1, 2], "race": ["a", "a"], "region": ["0", "0"]}), name="year 1"
    )
    later = dv.Dataset.from_arrow(
        pa.table({"id": [1, 2], "ethnicity": ["a", "b"], "region": ["0", "0"]}), name="year 2"
    )
    silent = attack_years([few, later])
    assert silent.certain.posterior == 0
    assert dv.Limit("deterministic.posterior", at_most=0.5).judge(silent).status == "not judged"
    mapped = attack_years([few, later], rename={"year 2": {"ethnicity": "race"}})
    assert mapped.claim == "exact"
    assert mapped.certain.posterior == 2
    assert dv.Limit("deterministic.posterior", at_most=0.5).judge(mapped).status == "fail"
    settled = attack_years([few, later], absent={"year 2": "race"})
    assert settled.claim == "exact"
    assert settled.certain.posterior == 0


def test_groups_of_figures_that_are_the_least_are_the_least_too() -> None:
    groups = attack_years([panel(1), panel(2, race="ethnicity")]).by("region")
    assert {each.claim for each in groups.values()} == {"bound"}


def test_a_recoded_column_is_said_until_it_is_meant_so() -> None:
    years = [panel(1), panel(2, values=["w", "x", "y", "z"])]
    found = attack_years(years)
    assert found.claim == "bound"
    assert any("Most values of race" in sentence for sentence in found.explain())
    assert attack_years(years, recoded="race").claim == "exact"


def test_a_hierarchy_relates_coarser_values_of_another_year() -> None:
    hierarchy = dv.Hierarchy.from_levels([["a", "ab"], ["b", "ab"], ["c", "cd"], ["d", "cd"]])
    first = panel(1).describe(
        {"quasi_identifier": ["race", "region"]}, hierarchies={"race": hierarchy}
    )
    second = panel(2, values=["ab", "ab", "cd", "cd"])
    assert attack_years([first, second]).claim == "exact"
    assert attack_years([panel(1), second]).claim == "bound"


def test_numbers_of_two_years_are_compared_by_their_range() -> None:
    def aged(years: int, name: str) -> dv.Dataset:
        table = pa.table({"id": [1, 2, 3], "age": [20 + years, 40 + years, 60 + years]})
        return dv.Dataset.from_arrow(table, name=name)

    def claim(second: dv.Dataset) -> str:
        first = aged(0, "first")
        return dv.records.attack([first, second], "CRL", ["age"], on="id").claim

    assert claim(aged(1, "second")) == "exact", "a year older"
    assert claim(aged(1900, "second")) == "bound", "the year of birth"


def test_each_prefix_of_years_says_what_it_lacks() -> None:
    years = [panel(1), panel(2), panel(3, race="ethnicity")]
    growth = dv.records.longitudinal(years, on="id", knows=["race", "region"])
    assert [each.claim for each in growth] == ["exact", "exact", "bound"]
    mapped = dv.records.longitudinal(
        years, "id", ["race", "region"], rename={"year 3": {"ethnicity": "race"}}
    )
    assert [each.claim for each in mapped] == ["exact"] * 3


def test_years_that_all_show_no_value_code_none_anew() -> None:
    def shown(name: str, ages: list[int | None]) -> dv.Dataset:
        columns = {"id": [1, 2], "age": pa.array(ages, pa.int64())}
        return dv.Dataset.from_arrow(pa.table(columns), name=name)

    def claim(*ages: list[int | None]) -> str:
        years = [shown(f"year {number}", each) for number, each in enumerate(ages)]
        return dv.records.attack(years, "CRL", ["age"], on="id").claim

    nothing: list[int | None] = [None, None]
    assert claim(nothing, nothing) == "exact"
    assert claim(nothing, [30, 31]) == "bound"


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"rename": {"year 4": {"ethnicity": "race"}}}, 'there is no dataset "year 4"'),
        ({"rename": {"year 2": {"ethnicty": "race"}}}, 'has no attribute "ethnicty". Did you mean'),
        ({"rename": {"year 2": {"ethnicity": "region"}}}, 'has an attribute "region"'),
        ({"absent": {"year 1": "race"}}, 'dataset "year 1" has an attribute "race"'),
        ({"recoded": "rce"}, '"rce" is not among what is known'),
        ({"absent": {"year 2": "rce"}}, '"rce" is not among what is known. Did you mean'),
    ],
)
def test_choices_that_make_no_sense_are_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(dv.work.InvalidInput, match=said):
        attack_years([panel(1), panel(2, race="ethnicity")], **choices)


def test_dropped_records_make_the_figures_the_least() -> None:
    twice = pa.concat_tables([panel(2).to_arrow(), panel(2).to_arrow().slice(0, 2)])
    years = [panel(1), dv.Dataset.from_arrow(twice, name="year 2")]
    found = attack_years(years, duplicates="first")
    assert found.claim == "bound"
    assert any("2 records were dropped, because other records" in each for each in found.explain())
    growth = dv.records.longitudinal(years, "id", ["race", "region"], duplicates="first")
    assert [each.claim for each in growth] == ["exact", "bound"]


def test_a_year_in_which_nothing_is_known_tells_nobody_absent() -> None:
    first = dv.Dataset.from_arrow(pa.table({"id": [1, 2], "a": ["x", "x"]}), name="first")
    second = dv.Dataset.from_arrow(pa.table({"id": [1], "b": ["y"]}), name="second")
    options: dict[str, Any] = {"on": "id", "absent": {"second": "a"}}
    everybody = dv.records.attack([first, second], "CRL", ["a"], **options)
    assert everybody.certain.posterior == 0, "who is in the second year is not known"
    one = dv.records.attack([first, second], "IRL", ["a"], target=[{"a": "x"}, {}], **options)
    assert one.certain.posterior == 0
    with pytest.raises(dv.work.InvalidInput, match="nobody is known to be absent from it"):
        dv.records.attack([first, second], "IRL", ["a"], target=[{"a": "x"}, None], **options)


def write_release(folder: Path, adversary: str, limit: float = 0.5) -> Path:
    few = pa.table({"id": [1, 2, 3], "race": ["a", "a", "a"], "region": ["0", "0", "0"]})
    later = pa.table({"id": [1, 2, 3], "ethnicity": ["a", "b", None], "region": ["0", "0", "0"]})
    for name, table in (("one", few), ("two", later)):
        dv.Dataset.from_arrow(table).write(folder / f"{name}.csv", overwrite=True)
    path = folder / "release.toml"
    path.write_text(
        f"""
[[dataset]]
name = "one"
source = "one.csv"
roles = {{ person = "id", quasi_identifier = ["race", "region"] }}
[[dataset]]
name = "two"
source = "two.csv"
roles = {{ person = "id", quasi_identifier = ["ethnicity", "region"] }}
[[adversary]]
name = "archivist"
dataset = ["one", "two"]
on = "id"
knows = ["race", "region"]
{adversary}
[[limit]]
measure = "deterministic.posterior"
at_most = {limit}
""",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("attack", ['"longitudinal"', '"records"\nmodel = "CRL"'])
def test_a_release_is_not_judged_until_a_year_is_mapped(tmp_path: Path, attack: str) -> None:
    def judge(more: str, limit: float = 0.5) -> str:
        path = write_release(tmp_path, f"attack = {attack}\n{more}", limit)
        return dv.Release.load(path).check().status

    assert judge("") == "not judged"
    assert judge('rename = { two = { ethnicity = "race" } }') == "fail"
    assert judge('absent = { two = "race" }') == "pass"


def test_check_and_protect_agree_on_linked_years(tmp_path: Path) -> None:
    """Missing values, absences and a limit that holds: the same data give the same figures."""
    path = write_release(
        tmp_path, 'attack = "longitudinal"\nrename = { two = { ethnicity = "race" } }', 1.0
    )
    path.write_text(
        path.read_text(encoding="utf-8")
        + '[[limit]]\nmeasure = "k_anonymity"\nat_least = 2\ndataset = "one"\n',
        encoding="utf-8",
    )
    release = dv.Release.load(path)
    [checked] = release.check().assessments
    protected = release.protect()
    for verdict in (protected.before, protected.after):
        [again] = verdict.assessments
        assert again.deterministic == checked.deterministic
        assert again.probabilistic == checked.probabilistic
        assert again.claim == checked.claim == "exact"


def test_linked_years_are_told_as_linked() -> None:
    growth = dv.records.longitudinal([panel(1), panel(2)], on="id", knows=["race"])
    first, second = growth.explain().splitlines()
    assert first.startswith("With 1 dataset: ")
    assert second.startswith("With 2 datasets, linked by id: ")


def test_growth_is_a_table_with_a_row_for_each_year_by_its_name() -> None:
    growth = dv.records.longitudinal([panel(1), panel(2)], on="id", knows=["race"])
    rows = growth.table().to_pylist()
    assert [row["dataset"] for row in rows] == [panel(1).name, panel(2).name]
    assert [row["certain"] for row in rows] == [each.certain.posterior for each in growth]
    assert [row["right_share"] for row in rows] == [each.guessed.posterior for each in growth]
    lines = str(growth).splitlines()
    assert all(line.startswith(panel(n).name) for n, line in enumerate(lines[1:3], start=1))
    assert growth.to_dict()["datasets"] == [panel(1).name, panel(2).name]
