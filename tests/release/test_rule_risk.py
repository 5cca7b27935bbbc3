"""The risk that rules derive, asked again after every change: as if evaluated from nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.data import Dataset
from divulge.protection.changes.changes import hide_cells, select_records
from divulge.release.rule_programs.evaluation import evaluate_rules
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import RuleProgram, load_rule_program
from divulge.release.rule_programs.rule_risk import RuleRisk
from divulge.work import InvalidInput, Problems
from divulge.work.arrays import Floats

PEOPLE = Dataset.from_arrow(
    pa.table(
        {
            "id": [f"p{number}" for number in range(12)],
            "area": ["N", "N", "S", "S", "N", "S", "N", "S", "N", "N", "S", "E"],
            "job": ["a", "b", "a", "a", "c", "b", "b", "a", "c", "a", "b", "c"],
            "age": [30, 30, 40, 40, 30, 50, 50, 40, 60, 60, 50, None],
        }
    ),
    roles={"identifier": ["id"], "quasi_identifier": ["area", "job", "age"]},
    name="people",
)

RULES = {
    "of a few, handed on": 'risk(I, R) :- original(_, I, "job", "a"), #risk(I, R).',
    "of others too": """
        alike(I, J) :- original(_, I, "area", V), original(_, J, "area", V).
        risk(I, R) :- alike(I, J), #risk(J, R), original(_, J, "job", "c").
    """,
    "compared": 'risk(I, 0.9) :- original(_, I, "job", "a"), #risk(I, R), R > 0.3.',
    "summed": """
        total(V, msum(R, <I>)) :- original(_, I, "area", V), #risk(I, R).
        risk(I, min(T, 1)) :- original(_, I, "area", V), total(V, T).
    """,
    "read from cells": """
        shown(M, I, munion((A, V), <A>)) :- val(M, I, A, V), A != "id".
        count(M, S, mcount(<I>)) :- shown(M, I, S).
        risk(M, I, 1 / N) :- shown(M, I, S), count(M, S, N).
    """,
    "alike in a cell": """
        company(I, mcount(<J>)) :- val(M, I, "area", V), val(M, J, "area", V).
        risk(I, 1 / N) :- company(I, N).
    """,
    "of cells and by measure": 'risk(I, R) :- val(_, I, "job", "b"), #risk(I, R).',
    "with facts beside": 'risk("p3", 0.4). risk(I, R) :- original(_, I, "job", "c"), #risk(I, R).',
    "of roles": 'risk(I, R) :- category(M, "job", "quasi_identifier"), val(M, I, _, _), '
    "#risk(I, R). hide(I, A) :- val(_, I, A, _), I = J, original(_, J, _, _).",
}


def load(folder: Path, rules: str, measure: str = "prosecutor_risk") -> RuleProgram:
    path = folder / "people.rules"
    path.write_text(rules, encoding="utf-8")
    problems = Problems("rules")
    program = load_rule_program([path], measure, ["people"], problems)
    problems.raise_any()
    assert program is not None
    return program


def describe(dataset: Dataset) -> RuleData:
    return RuleData(
        datasets={"people": dataset}, originals={"people": PEOPLE}, published=["people"]
    )


def measure_plainly(rules: RuleProgram, dataset: Dataset) -> Floats:
    """All rules, evaluated from nothing; the highest risk of each record."""
    ids = dataset.to_arrow()["id"].to_pylist()
    risks = np.zeros(dataset.rows)
    with evaluate_rules(rules, describe(dataset)) as facts:
        for *_, record, risk in facts.rows("risk"):
            if record in ids:
                place = ids.index(record)
                risks[place] = max(risks[place], float(risk))
    return risks


@st.composite
def states(draw: st.DrawFn) -> list[Dataset]:
    """The records with some cells hidden, and perhaps fewer of them; some states come again."""
    drawn: list[Dataset] = [PEOPLE]
    for _ in range(draw(st.integers(1, 3))):
        cells = {
            name: np.array(sorted(draw(st.sets(st.integers(0, 11), max_size=4))), np.int64)
            for name in ("area", "job", "age")
        }
        state = hide_cells(PEOPLE, cells)
        kept = draw(st.sampled_from([None, range(12), range(1, 12), (0, 2, 3, 5, 7, 8, 11)]))
        if kept is not None:
            state = select_records(state, np.array(list(kept)))
        drawn.append(state)
    return [*drawn, draw(st.sampled_from(drawn))]


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@settings(max_examples=3)
@given(data=st.data())
def test_each_state_has_the_risk_of_a_fresh_evaluation(
    tmp_path_factory: pytest.TempPathFactory, rules: str, data: st.DataObject
) -> None:
    program = load(tmp_path_factory.mktemp("rules"), rules)
    risk = RuleRisk(program, describe(PEOPLE))
    for state in data.draw(states()):
        assert risk(state).tolist() == measure_plainly(program, state).tolist()


def test_rules_that_a_risk_does_not_depend_on_are_not_evaluated_again(tmp_path: Path) -> None:
    rules = load(tmp_path, RULES["of roles"]).select_for_risk()
    assert list(rules.heads) == ["risk"]


def test_what_is_no_risk_is_said_also_of_a_later_state(tmp_path: Path) -> None:
    rules = 'risk(I, N * 0.25) :- val(_, I, "area", V), N = case V = "N" then 1 else 8.'
    risk = RuleRisk(load(tmp_path, rules), describe(PEOPLE))
    state = hide_cells(PEOPLE, {"area": np.array([2, 3, 5, 7, 10, 11])})
    with pytest.raises(InvalidInput, match="no numbers from 0 to 1"):
        risk(PEOPLE)
    with pytest.raises(InvalidInput, match="no numbers from 0 to 1"):
        risk(state)


def replace_areas(areas: list[str]) -> Dataset:
    table = PEOPLE.to_arrow().set_column(1, "area", pa.array(areas))
    roles = {"identifier": ["id"], "quasi_identifier": ["area", "job", "age"]}
    return Dataset.from_arrow(table, roles=roles, name="people")


AREAS = PEOPLE.to_arrow()["area"].to_pylist()
SWAPPED = ["S", *AREAS[1:7], "N", *AREAS[8:]]
COARSER = [{"N": "upper", "S": "lower", "E": "lower"}[area] for area in AREAS]
NAMED_ALIKE = ["S" if area == "E" else area for area in AREAS]


@pytest.mark.parametrize(
    ("areas", "rules", "is_trusted"),
    [
        (AREAS, "alike in a cell", False),
        (SWAPPED, "alike in a cell", True),
        (COARSER, "alike in a cell", False),
        (NAMED_ALIKE, "alike in a cell", True),
        (SWAPPED, "of cells and by measure", True),
        (COARSER, "of cells and by measure", True),
        (SWAPPED, "of a few, handed on", False),
    ],
)
def test_values_that_stand_in_other_records_are_not_believed(
    tmp_path: Path, areas: list[str], rules: str, is_trusted: bool
) -> None:
    risk = RuleRisk(load(tmp_path, RULES[rules]), describe(PEOPLE))
    assert risk.trusts_changes(replace_areas(areas)) is is_trusted
