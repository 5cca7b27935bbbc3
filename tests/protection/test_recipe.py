"""Recipes: settled once, kept as a file, applied to other data, and checked there."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge import Dataset, Hierarchy, Limit, protection
from divulge.work import DivulgeError, InvalidInput

TOWNS = Hierarchy.from_pairs([("Roma", "Center"), ("Milano", "North"), ("Torino", "North")])
AGES = Hierarchy.rounding(10, 20).with_caps(top=80)
ROLES = {"quasi_identifier": ["town", "age"], "sensitive": ["ill"]}
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["Roma", "Milano", "Torino"]), st.integers(20, 99), st.sampled_from("xyz")
    ),
    min_size=12,
    max_size=40,
)


def people(rows: list[tuple[Any, ...]], name: str = "people", described: bool = True) -> Dataset:
    towns, ages, ill = zip(*rows, strict=True)
    table = pa.table({"town": list(towns), "age": list(ages), "ill": list(ill)})
    if not described:
        return Dataset.from_arrow(table, name=name)
    return Dataset.from_arrow(table, ROLES, {"town": TOWNS, "age": AGES}, name=name)


def last_year(limits: list[Limit] | None = None) -> protection.Protected:
    rows = [("Roma", 20 + n % 30, "xy"[n % 2]) for n in range(60)]
    rows += [("Milano", 20 + n % 30, "xy"[n % 2]) for n in range(60)]
    return protection.recode(people(rows), limits or [Limit("k_anonymity", at_least=4)], 0)


@cache
def settled_recipe() -> protection.Recipe:
    return last_year().recipe


@settings(max_examples=25)
@given(ROWS, st.sampled_from([2, 3]))
def test_what_is_left_keeps_the_limits_and_who_went_had_to(
    rows: list[tuple[Any, ...]], k: int
) -> None:
    """Against plain counts of coarse rows: exactly the records of small classes are removed."""
    recipe = replace(settled_recipe(), limits=(Limit("k_anonymity", at_least=k),))
    levels = dict(recipe.levels)
    coarse = [
        (str(TOWNS.at(town, levels.get("town", 0))), str(AGES.at(age, levels.get("age", 0))))
        for town, age, _ in rows
    ]
    count = Counter(coarse)
    keep = [n for n, each in enumerate(coarse) if count[each] >= k]
    data = people(rows)
    if not keep:
        with pytest.raises(InvalidInput, match="protect these data anew"):
            recipe.apply(data, suppression_limit=1)
        return
    p = recipe.apply(data, suppression_limit=1)
    assert p.kept.tolist() == keep
    table = p.dataset.to_arrow().to_pylist()
    assert [(str(row["town"]), str(row["age"])) for row in table] == [coarse[n] for n in keep]
    assert all(outcome.held for outcome in p.outcomes)
    assert p.decisions.replayed(p.original).to_arrow().to_pylist() == table
    assert p.loss == pytest.approx(p.utility.loss)


def test_a_recipe_is_the_same_from_its_file_and_holds_no_record(tmp_path: Path) -> None:
    limits = [
        Limit("k_anonymity", at_least=4),
        Limit("t_closeness", at_most=0.4, attribute="ill", distance="equal"),
    ]
    recipe = last_year(limits).recipe
    path = tmp_path / "recipe.json"
    recipe.write(path)
    again = protection.Recipe.load(path)
    assert again.to_dict() == recipe.to_dict()
    assert json.loads(path.read_text())["format"] == 1
    assert json.loads(path.read_text())["hierarchies"]["age"] == {"rounding": [10, 20], "top": 80}
    next_year = people([("Torino", 25, "x"), ("Torino", 25, "y")] * 6, "next", described=False)
    p = again.apply(next_year)
    assert p.removed == 0
    assert p.recipe.to_dict() == {**recipe.to_dict(), "dataset": "next"}
    assert any(
        line.startswith("The levels are those of the recipe of people") for line in p.explain()
    )
    assert any("every limit holds then too" in line for line in p.explain())
    with pytest.raises(DivulgeError, match="exists"):
        recipe.write(path)


def add_year(dataset: Dataset, years: list[int | None]) -> Dataset:
    """The same people with a column that tells the age of some."""
    return Dataset.from_arrow(
        dataset.to_arrow().append_column("born", pa.array(years)),
        {**ROLES, "non_identifying": ["born"]},
        {"town": TOWNS, "age": AGES},
    )


def test_a_recipe_is_refused_where_another_column_tells_what_it_makes_coarser() -> None:
    recipe = replace(settled_recipe(), limits=(Limit("k_anonymity", at_least=20),))
    assert recipe.levels["age"]
    rows = [("Roma", 20 + n % 30, "xy"[n % 2]) for n in range(450)]
    plain = recipe.apply(people(rows))
    assert plain.removed == 0
    with pytest.raises(InvalidInput, match="after refilling|other columns"):
        recipe.apply(add_year(people(rows), [2020 - age for _, age, _ in rows]))


def test_who_can_be_found_after_refilling_is_removed_by_a_recipe() -> None:
    rows = [("Roma", 20 + n % 9, "xy"[n % 2]) for n in range(360)] + [("Roma", 29, "x")] * 12
    recipe = replace(settled_recipe(), limits=(Limit("k_anonymity", at_least=20),))
    assert recipe.apply(people(rows)).removed == 0
    data = add_year(people(rows), [2020 - age for _, age, _ in rows])
    p = recipe.apply(data, suppression_limit=0.05)
    # By their year of birth, the twelve of 29 have nobody else to look like.
    assert p.decisions.removed_records.tolist() == list(range(360, 372))
    assert any("12 more records were removed" in line for line in p.explain())
    assert all(outcome.held for outcome in p.outcomes)
    assert protection.judge_published(p).status == "pass"
    with pytest.raises(InvalidInput, match="12 of 372 records would have to be removed"):
        recipe.apply(data, suppression_limit=0.01)


def test_the_same_data_at_the_same_levels_are_the_same_release() -> None:
    p = last_year()
    assert p.levels
    assert p.removed == 0
    again = p.recipe.apply(p.original)
    assert again.dataset.equals(p.dataset)


def test_all_that_does_not_fit_new_data_is_said_at_once() -> None:
    recipe = last_year([Limit("distinct_l_diversity", at_least=2, attribute="ill")]).recipe
    other = Dataset.from_arrow(
        pa.table({"town": ["Roma"] * 9, "job": ["nurse"] * 9}),
        {"quasi_identifier": ["town", "job"]},
    )
    with pytest.raises(InvalidInput) as raised:
        recipe.apply(other)
    text = str(raised.value)
    assert 'the dataset has no attribute "age"' in text
    assert 'the dataset has no attribute "ill"' in text
    assert '"job" is one here, and the recipe knows nothing of it' in text


def test_values_without_a_place_are_counted_and_not_shown() -> None:
    rows = [("Roma", 25, "x")] * 5 + [("Napoli", 25, "y"), ("Bari", 25, "y")]
    recipe = protection.recode(
        people([("Torino", 25, "x"), ("Milano", 25, "x")]), [Limit("k_anonymity", at_least=2)], 0
    ).recipe
    assert recipe.levels["town"] == 1
    with pytest.raises(
        InvalidInput, match="2 values have no place in its hierarchy, of 3"
    ) as found:
        recipe.apply(people(rows))
    assert "Napoli" not in str(found.value)


def test_too_many_to_remove_is_an_error_that_says_how_many() -> None:
    recipe = last_year().recipe
    rows = [("Roma", 25, "x")] * 17 + [("Milano", 79, "x"), ("Torino", 51, "y"), ("Roma", 99, "y")]
    message = "3 of 20 records would have to be removed .* 1 may be.*suppression_limit=0.15"
    with pytest.raises(InvalidInput, match=message):
        recipe.apply(people(rows), suppression_limit=0.05)
    p = recipe.apply(people(rows), suppression_limit=0.15)
    assert p.decisions.removed_records.tolist() == [17, 18, 19]
    assert "3 of 20 records were removed (at most 3 may be)" in str(p)


def test_data_that_a_limit_compares_with_are_given_anew() -> None:
    rows = [("Roma", 25, "x"), ("Milano", 25, "x")] * 4
    limit = Limit("k_map", at_least=4, population=people(rows * 2, "everybody"))
    recipe = protection.protect(people(rows), [limit], methods=["recode"]).recipe
    assert recipe.to_dict()["limits"][0]["needs"] == ["population"]
    with pytest.raises(InvalidInput, match="compares with other data; give them here"):
        recipe.apply(people(rows))
    p = recipe.apply(people(rows), others={"population": people(rows * 3, "town")})
    assert p.outcomes[0].held


def test_values_of_single_records_and_undone_decisions_make_no_recipe() -> None:
    rows = [("Roma", 25, "x"), ("Milano", 25, "x"), ("Torino", 25, "x"), ("Roma", 25, "x")]
    local = protection.recode(people(rows), [Limit("k_anonymity", at_least=2)], 0, local=True)
    with pytest.raises(DivulgeError, match="values of single records"):
        _ = local.recipe
    with pytest.raises(DivulgeError, match="undone"):
        _ = last_year().undo().recipe


def test_limits_of_adversaries_are_named_as_not_judged() -> None:
    limits = [
        Limit("k_anonymity", at_least=2),
        Limit("deterministic.posterior", at_most=0.5, adversary="neighbour"),
    ]
    recipe = last_year(limits).recipe
    assert recipe.left_out == ("deterministic.posterior of neighbour",)
    p = recipe.apply(people([("Roma", 25, "x")] * 6))
    assert "Limits of adversaries were not judged" in str(p)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": 2}, "format: 2 is newer than what this version reads"),
        ({"format": None}, "is not 1"),
        ({"levels": {"age": 9}}, "9 does not exist: levels are 0 to 3"),
        ({"levels": {"age": "1"}}, '"1" is not a level'),
        ({"levels": {"job": 1}}, "has no hierarchy"),
        ({"hierarchies": {"age": {"rounding": ["x"]}}}, "a base is a number above 0"),
        ({"hierarchies": {"age": {"prefixes": ["x", 2]}}}, "of another kind"),
        ({"hierarchies": {"age": 5}}, "is not a rule or levels"),
        ({"limits": [{"measure": "k_anonimity", "at_least": 2}]}, "Did you mean"),
        ({"limits": [5]}, "limit 1: has no measure"),
        ({"limits": None}, "limits: is not there, or of another kind"),
        ({"roles": {"key": ["age"]}}, '"key" is not a role'),
        ({"suppression_limit": 5}, "suppression_limit: 5"),
        ({"level": {}}, 'Did you mean "levels"'),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps({**settled_recipe().to_dict(), **change}))
    with pytest.raises(InvalidInput) as raised:
        protection.Recipe.load(path)
    assert complaint in str(raised.value)


def test_what_is_no_recipe_at_all_is_said(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    for text, complaint in (("{", "is not JSON"), ("[]", "is not a recipe"), ("{}", "no format")):
        path.write_text(text)
        with pytest.raises(InvalidInput, match=complaint):
            protection.Recipe.load(path)
    with pytest.raises(InvalidInput, match="does not exist"):
        protection.Recipe.load(tmp_path / "none.json")
    assert dv.protection.Recipe is protection.Recipe


def test_a_limit_of_all_records_together_is_judged_and_removes_nobody() -> None:
    rows = [("Roma", 25, "x")] * 6 + [("Milano", 25, "y")] * 6
    everybody = people(rows * 3, "everybody")
    limit = Limit("delta_presence", at_most=0.5, population=everybody)
    recipe = replace(last_year(), limits=(limit,)).recipe
    assert recipe.to_dict()["limits"][0]["population"] == "everybody"
    p = recipe.apply(people(rows), others={"population": everybody})
    assert (p.removed, p.outcomes[0].held) == (0, True)
    assert p.limits[0].measure == limit.measure
    with pytest.raises(InvalidInput, match="not every limit holds at these levels"):
        recipe.apply(people(rows), others={"population": people(rows, "few")})
