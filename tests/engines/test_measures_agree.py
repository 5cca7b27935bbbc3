"""Frequencies and measures of classes: every engine finds what is found in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import divulge as dv
from divulge.classes.people import UnjudgedPeopleError
from divulge.data import Hierarchy, Relation
from divulge.data.relation.relation import RecordsElsewhere

from .lakes import list_runs, write_lake
from .test_models_agree import round_numbers

KNOWN = ["Age", "town"]
ROLES = {"quasi_identifier": KNOWN, "sensitive": "income"}
JOBS = [("baker", "food"), ("cook", "food"), ("nurse", "health")]
Data = Callable[[str], dv.Dataset]
records = dv.records


def count_alike(at: Data, name: str, nulls: Any) -> Any:
    return counts(records.frequencies(at(name), nulls=nulls))


def find_individual_risk(at: Data, method: Any) -> Any:
    return risk(records.individual_risk(at("sample"), method=method))


def find_disclosure_risk(at: Data, aggregate: Any) -> Any:
    return risk(records.disclosure_risk(at("sample"), aggregate))


def judge_crowds(at: Data, nulls: str) -> Any:
    return limit(at("people"), "k_anonymity", at_least=3, nulls=nulls)


def measure_classes(at: Data, measure: str, nulls: str) -> Any:
    found = getattr(records, measure)(at("people"), among="town", nulls=nulls)
    return found.value, found.failing(1.5), found.assessment().deterministic, found.chart().records


CASES: dict[str, Callable[[Data], Any]] = {
    **{
        f"frequencies, {nulls}": partial(count_alike, name="people", nulls=nulls)
        for nulls in ("bayes", "value", "known", "standard", "maybe")
    },
    **{
        f"frequencies of a sample, {nulls}": partial(count_alike, name="sample", nulls=nulls)
        for nulls in ("bayes", "standard", "maybe")
    },
    "frequencies, a share of those with gaps": lambda at: counts(
        records.frequencies(at("people"), "maybe", alpha=0.5, among="town")
    ),
    **{
        f"individual risk, {method}": partial(find_individual_risk, method=method)
        for method in ("approximate", "exact", "ratio")
    },
    "individual risk of weights with fractions": lambda at: risk(
        records.individual_risk(at("broken"))
    ),
    "individual risk, gaps": lambda at: risk(records.individual_risk(at("sample"), nulls="maybe")),
    "individual risk without weights": lambda at: risk(records.individual_risk(at("people"))),
    "reidentification risk": lambda at: risk(records.reidentification_risk(at("sample"))),
    **{
        f"disclosure risk, {each}": partial(find_disclosure_risk, aggregate=each)
        for each in ("sum", "count", "mean")
    },
    "prosecutor": lambda at: risk(records.prosecutor_risk(at("people"))),
    "journalist by weights": lambda at: risk(records.journalist_risk(at("sample"))),
    "marketer by weights": lambda at: risk(records.marketer_risk(at("sample"))),
    "k-anonymity": lambda at: records.k_anonymity(at("people")),
    **{
        f"crowds, {nulls}": partial(judge_crowds, nulls=nulls)
        for nulls in ("bayes", "standard", "maybe")
    },
    "crowds of the population": lambda at: limit(at("sample"), "k_anonymity", at_least=9, count="population"),
    "k-map by weights": lambda at: measure(records.k_map(at("sample")), 9),
    **{
        f"{name}, {nulls}": partial(measure_classes, measure=name, nulls=nulls)
        for name in ("distinct_l_diversity", "entropy_l_diversity", "t_closeness")
        for nulls in ("bayes", "standard")
    },
    "recursive l-diversity": lambda at: measure(
        records.recursive_l_diversity(at("people"), among=KNOWN, c=2), 1
    ),
    "beta-likeness": lambda at: measure(records.beta_likeness(at("people"), among="town"), 0.3),
    "delta-disclosure": lambda at: measure(
        records.delta_disclosure(at("people"), among="town"), 0.3
    ),
    "t-closeness of numbers": lambda at: measure(
        records.t_closeness(at("people"), "wage", "town", distance="ordered"), 0.1
    ),
    "t-closeness by a hierarchy": lambda at: measure(
        records.t_closeness(at("levels"), "job", "Age", distance="hierarchical"), 0.1
    ),
    "l-diversity of the population": lambda at: measure(
        records.entropy_l_diversity(at("broken"), among="town", count="population"), 1.5
    ),
    "what is said of a sample": lambda at: [
        str(each) for each in dv.records.participation.describe_sample(
            at("sample"), None, "bayes", None
        )
    ],
}  # fmt: skip

ON_SPARK = [
    "frequencies of a sample, standard",
    "frequencies of a sample, maybe",
    "individual risk of weights with fractions",
    "entropy_l_diversity, standard",
    "l-diversity of the population",
]


def counts(found: Any) -> Any:
    chart = found.chart().records
    return found.to_dict(), found.assessment().to_dict(), chart, repr(found)


def risk(found: Any) -> Any:
    above = [found.above(each) for each in (0.05, 0.2, 0.5)]
    allowed = [found.threshold_for(each) for each in (0.01, 0.2, 0.5)]
    highest = float(found.assessment().find_highest_risk())
    return found.to_dict(), above, allowed, highest, found.chart().records


def measure(found: Any, bound: float) -> Any:
    highest = float(found.assessment().find_highest_risk())
    return (found.to_dict(), found.failing(bound), highest, found.chart().records)


def limit(dataset: dv.Dataset, name: str, **options: Any) -> Any:
    from divulge.assessment import measures

    limit = dv.Limit(name, **options)
    judged = measures()[name].of(dataset, limit)
    return judged.value, str(judged.sentence), [str(note) for note in judged.notes]


def table() -> pa.Table:
    rows = [
        {
            "Age": 20 + number % 4 if number % 9 else None,
            "town": ["x", "y", None, "", "é"][number * number * number % 5],
            "income": ["low", "high", None, "low"][number * 7 % 4],
            "wage": 1000 + 250 * ((number * number + number // 8) % 7),
            "job": ["baker", "cook", "nurse"][number * number % 3],
            "sampled": 1 + number % 9,
            "broken": 1 + 0.3 * (number % 7),
        }
        for number in range(70)
    ]
    return pa.Table.from_pylist(rows)


DESCRIBED: dict[str, dict[str, Any]] = {
    "people": {"roles": ROLES},
    "sample": {"roles": {**ROLES, "weight": "sampled"}},
    "broken": {"roles": {**ROLES, "weight": "broken"}},
    "levels": {
        "roles": ROLES,
        "hierarchies": {"job": Hierarchy.from_pairs(JOBS)},
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lake(tmp_path_factory.mktemp("lakes") / "people", table(), parts=2)


@pytest.mark.parametrize(("case", "engine"), list_runs(CASES, ON_SPARK))
def test_an_engine_measures_what_memory_measures(case: str, engine: str, place: Path) -> None:
    def in_memory(name: str) -> dv.Dataset:
        return dv.read(place, name="people", **DESCRIBED[name])

    def where_they_are(name: str) -> dv.Dataset:
        relation = dv.scan(place, name="people", engine=engine, **DESCRIBED[name])
        assert isinstance(relation, Relation)
        return relation

    found = round_numbers(CASES[case](where_they_are))
    assert found == round_numbers(CASES[case](in_memory))


@pytest.mark.parametrize(
    "ask",
    [
        lambda d: records.frequencies(d).to_arrow(),
        lambda d: records.prosecutor_risk(d).by("town"),
        lambda d: records.distinct_l_diversity(d, among="town").to_arrow(),
        lambda d: records.distinct_l_diversity(d, among="town", nulls="maybe"),
        lambda d: records.disclosure_risk(d, "min"),
        lambda d: records.frequencies(d, original=d),
    ],
)
def test_what_needs_single_records_says_so(place: Path, ask: Any) -> None:
    with pytest.raises(RecordsElsewhere, match="in memory only"):
        ask(dv.scan(place, roles=ROLES))


def test_people_with_several_records_are_not_judged(place: Path) -> None:
    relation = dv.scan(place, columns=["Age", "town", "sampled"], roles={
        "quasi_identifier": KNOWN[1:], "person": "sampled"
    })  # fmt: skip
    with pytest.raises(UnjudgedPeopleError, match="70 records of 9 people"):
        records.k_anonymity(relation)
