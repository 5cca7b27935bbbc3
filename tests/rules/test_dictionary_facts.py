"""A dataset as facts: what rules for any dataset read."""

from __future__ import annotations

import pyarrow as pa
import pytest

import divulge as dv
from divulge.data import Dataset, Hierarchy
from divulge.data.proposals.known_attributes import Experience, KnownAttribute
from divulge.rules import Program, evaluate, list_dictionary_facts, load_library, read_record_keys
from divulge.rules.dictionary_facts import ARITIES
from divulge.work import InvalidInput


def _build_people() -> Dataset:
    table = pa.table(
        {
            "Id": ["p", "q", "r"],
            "age": [31.0, None, 7.0],
            "income": [1.5, 0.1, 2.0],
            "town": ["Roma", "Roma", None],
            "weight": [10, 20, 30],
        }
    )
    roles = {
        "identifier": ["Id"],
        "quasi_identifier": ["age", "town"],
        "weight": "weight",
    }
    hierarchies = {"town": Hierarchy.from_levels([["Roma", "Center", "Italy"]])}
    return Dataset.from_arrow(table, roles=roles, hierarchies=hierarchies, name="people")


def _list_rows(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def test_all_facts_of_a_small_dataset() -> None:
    experience = Experience((KnownAttribute("age", "quasi_identifier"),))
    facts = list_dictionary_facts(_build_people(), experience=experience)
    assert {name: _list_rows(table) for name, table in facts.items()} == {
        "microdb": [("people",)],
        "att": [("people", name) for name in ("Id", "age", "income", "town", "weight")],
        "category": [
            ("people", "Id", "identifier"),
            ("people", "age", "quasi_identifier"),
            ("people", "town", "quasi_identifier"),
            ("people", "weight", "weight"),
        ],
        "decided": [
            ("Id", "identifier"),
            ("age", "quasi_identifier"),
            ("town", "quasi_identifier"),
            ("weight", "weight"),
        ],
        "val": [
            *(("people", key, "Id", key) for key in "pqr"),
            ("people", "p", "age", "31"),
            ("people", "q", "age", None),
            ("people", "r", "age", "7"),
            ("people", "p", "income", "1.5"),
            ("people", "q", "income", "0.1"),
            ("people", "r", "income", "2"),
            ("people", "p", "town", "Roma"),
            ("people", "q", "town", "Roma"),
            ("people", "r", "town", None),
            ("people", "p", "weight", "10"),
            ("people", "q", "weight", "20"),
            ("people", "r", "weight", "30"),
        ],
        "weight": [("people", "p", 10), ("people", "q", 20), ("people", "r", 30)],
        "expbase": [("age", "quasi_identifier")],
        "type_of": [("town", "town (level 0)")],
        "sub_type_of": [
            ("town (level 0)", "town (level 1)"),
            ("town (level 1)", "town (level 2)"),
        ],
        "inst_of": [
            ("Roma", "town (level 0)"),
            ("Center", "town (level 1)"),
            ("Italy", "town (level 2)"),
        ],
        "is_a": [("Roma", "Center"), ("Center", "Italy")],
    }


def test_only_what_a_program_reads_is_made() -> None:
    people = _build_people()
    program = Program.parse('old(I) :- val(M, I, "age", V), not decided("town", M), V > 30.')
    facts = list_dictionary_facts(people, program)
    assert set(facts) == {"val", "decided"}
    with evaluate(program, facts) as derived:
        assert derived.rows("old") == [("p",)]
    assert set(list_dictionary_facts(people, load_library("k_anonymity"))) == {"category", "val"}


def test_a_predicate_of_the_same_name_with_other_arguments_is_the_programs_own() -> None:
    program = Program.parse('weight("p", 3). heavy(I) :- weight(I, W), att(_, _), W > 2.')
    facts = list_dictionary_facts(_build_people(), program)
    assert set(facts) == {"att"}
    with evaluate(program, facts) as derived:
        assert derived.rows("heavy") == [("p",)]


def test_every_predicate_has_the_arguments_that_are_stated() -> None:
    facts = list_dictionary_facts(_build_people())
    assert {name: table.num_columns for name, table in facts.items()} == ARITIES


def test_values_of_some_attributes() -> None:
    facts = list_dictionary_facts(_build_people(), among=["age"])
    assert facts["val"].column("A").unique().to_pylist() == ["age"]
    with pytest.raises(InvalidInput, match='"agee"'):
        list_dictionary_facts(_build_people(), among=["agee"])


def test_facts_without_rows_have_columns() -> None:
    nothing = Dataset.from_arrow(pa.table({"a": [1]}))
    facts = list_dictionary_facts(nothing, experience=Experience())
    for name in ("category", "decided", "expbase", "type_of", "sub_type_of", "inst_of", "is_a"):
        assert facts[name].num_rows == 0
        assert set(facts[name].schema.types) == {pa.string()}


def test_records_are_called_by_their_one_identifier_or_by_number() -> None:
    people = _build_people()
    keys = read_record_keys(people)
    assert (keys.attribute, keys.values.to_pylist()) == ("Id", ["p", "q", "r"])
    by_number = read_record_keys(people, by_number=True)
    assert (by_number.attribute, by_number.values.to_pylist()) == (None, [1, 2, 3])
    for roles in ({}, {"identifier": ["Id", "income"]}):
        assert read_record_keys(people.describe(roles=roles)).values.to_pylist() == [1, 2, 3]
    numbers = Dataset.from_arrow(pa.table({"n": [30, 10]}), roles={"identifier": ["n"]})
    assert read_record_keys(numbers).values.to_pylist() == [30, 10]


def test_an_identifier_that_tells_nobody_apart_is_refused_without_its_values() -> None:
    table = pa.table({"Id": ["secret", "secret", None, "other"]})
    dataset = Dataset.from_arrow(table, roles={"identifier": ["Id"]})
    with pytest.raises(InvalidInput, match=r"missing in 1 of 4 records and is the same") as error:
        list_dictionary_facts(dataset)
    assert "secret" not in str(error.value)
    assert "by_number=True" in str(error.value)
    facts = list_dictionary_facts(dataset, by_number=True)
    assert facts["val"].column("I").to_pylist() == [1, 2, 3, 4]


def test_a_weight_must_be_a_number_in_every_record() -> None:
    for weights, message in ((["1", "much"], "not numbers"), ([1.0, None], "missing in 1 of 2")):
        dataset = Dataset.from_arrow(pa.table({"w": weights}), roles={"weight": "w"})
        with pytest.raises(InvalidInput, match=message):
            list_dictionary_facts(dataset)


def test_the_example_of_the_paper_has_its_hundred_and_eighty_values() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    facts = list_dictionary_facts(dataset)
    assert facts["val"].num_rows == dataset.rows * len(dataset.names)
    assert facts["val"].column("I").to_pylist()[:2] == [612276, 737536]
