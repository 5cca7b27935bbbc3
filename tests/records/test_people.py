"""People, not rows: three people with five records are three."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.records import plain_people as plain
from typer.testing import CliRunner

from divulge import InvalidInput, Limit, datasets, protection, records
from divulge.classes.people import UnjudgedPeopleError, find_people
from divulge.cli.main import app
from divulge.data import Dataset
from divulge.protection.changes.changes import hide_cells

KEYS = ["age", "sex"]
ROLES = {"person": "pid", "quasi_identifier": KEYS, "sensitive": "ill"}

VISITS = [
    {"pid": "a", "age": 30, "sex": "f", "ill": "flu"},
    {"pid": "a", "age": 31, "sex": "f", "ill": "flu"},
    {"pid": "b", "age": 30, "sex": "f", "ill": "cold"},
    {"pid": "b", "age": 30, "sex": "f", "ill": "cold"},
    {"pid": "c", "age": 50, "sex": "m", "ill": "flu"},
]


def to_dataset(rows: list[dict[str, Any]], **more: str) -> Dataset:
    roles = {role: names for role, names in {**ROLES, **more}.items() if names}
    return Dataset.from_arrow(pa.Table.from_pylist(rows), roles=roles)


@st.composite
def visits(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Few people with few values, so that they look alike often enough."""
    row = st.fixed_dictionaries(
        {
            "pid": st.integers(1, 4),
            "age": st.sampled_from([30, 40, None]),
            "sex": st.sampled_from("fm"),
            "ill": st.sampled_from(["flu", "cold"]),
        }
    )
    return draw(st.lists(row, min_size=1, max_size=9))


def test_three_people_with_five_records_are_three() -> None:
    found = records.attack(to_dataset(VISITS), "CRS", KEYS)
    # Of a's records one is alone, of c's all, of b's none: 1/2 + 0 + 1.
    assert found.secrets == 3
    assert tuple(found.certain) == (0, 1.5)
    assert tuple(found.right) == (1, 2.5)
    assert found.claim == "exact"
    assert "3 people with 5 records" in str(found)
    assert records.k_anonymity(to_dataset(VISITS)) == 1


def test_two_records_of_one_person_are_no_crowd() -> None:
    alike = [{**row, "age": 30, "sex": "f"} for row in VISITS[2:4]]
    other = [{"pid": "c", "age": 40, "sex": "f", "ill": "flu"}]
    dataset = to_dataset(alike + other)
    assert records.k_anonymity(dataset) == 1
    assert records.attack(dataset, "CRS", KEYS).deterministic.posterior == 1


def test_a_limit_on_a_share_of_people_is_judged_exactly() -> None:
    rows = [{"pid": 1, "age": age, "sex": "f", "ill": "flu"} for age in (1, 2, 2)]
    rows += [{"pid": 2, "age": 2, "sex": "f", "ill": "flu"}]
    found = records.attack(to_dataset(rows), "CRS", KEYS)
    assert Fraction(found.certain.posterior) == Fraction(1, 3)
    assert Limit("deterministic.posterior", at_most=1 / 6 + 1e-9).judge(found).held
    assert not Limit("deterministic.count", at_most=0.3333333333).judge(found).held


@given(visits(), st.sampled_from(["one", "all"]))
def test_attacks_on_people_are_those_of_the_definition(
    rows: list[dict[str, Any]], known: Any
) -> None:
    dataset = to_dataset(rows)
    people = len({row["pid"] for row in rows})
    for seeks, secret in ((None, "pid"), ("ill", "ill")):
        model = "CRS" if seeks is None else "CAS"
        found = records.attack(dataset, model, KEYS, seeks, records_known=known)
        certain, right = plain.attack(rows, KEYS, secret, known)
        assert (found.certain.posterior, found.right.posterior) == (certain, right)
        assert found.secrets == people
        assert found.deterministic.posterior == pytest.approx(float(certain / people))
        assert found.probabilistic.posterior == pytest.approx(float(right / people))
        before = plain.attack(rows, [], secret, "one")
        assert (found.certain.prior, found.right.prior) == before
        by_group = found.by("ill")
        for value in {row["ill"] for row in rows}:
            assert by_group[value].secrets == len({r["pid"] for r in rows if r["ill"] == value})
        found.to_dict()


@given(visits())
def test_who_knows_all_records_knows_more(rows: list[dict[str, Any]]) -> None:
    dataset = to_dataset(rows)
    for model, seeks in (("CRS", None), ("CAS", "ill")):
        one, everything = (
            records.attack(dataset, model, KEYS, seeks, records_known=known)
            for known in ("one", "all")
        )
        assert one.right.posterior <= everything.right.posterior
        assert one.certain.posterior <= everything.certain.posterior


@given(visits(), st.sampled_from(["one", "all"]))
def test_frequencies_count_people(rows: list[dict[str, Any]], known: Any) -> None:
    found = records.frequencies(to_dataset(rows), among=KEYS, records_known=known)
    assert found.sample.tolist() == plain.count_people(rows, KEYS, known)
    likeliest = [float(each) for each in plain.find_likeliest(rows, KEYS, known)]
    assert found.risk().values.tolist() == pytest.approx(likeliest)
    smallest = records.k_anonymity(to_dataset(rows), KEYS, records_known=known)
    assert smallest == min(found.sample)


@given(visits(), st.data())
def test_hidden_cells_are_weighed_by_people(rows: list[dict[str, Any]], data: Any) -> None:
    rows = [{**row, "age": row["age"] or 50} for row in rows]
    places = st.lists(st.integers(0, len(rows) - 1), unique=True, max_size=len(rows))
    cells = {name: sorted(data.draw(places)) for name in KEYS}
    original = to_dataset(rows)
    released = hide_cells(
        original, {name: pa.array(at, pa.int64()).to_numpy() for name, at in cells.items()}
    )
    hidden = [
        {**row, **{name: "?" for name in KEYS if place in cells[name]}}
        for place, row in enumerate(rows)
    ]
    found = records.frequencies(released, original=original, among=KEYS)
    expected = plain.weigh_people(hidden, rows, KEYS, "?")
    assert found.sample.tolist() == pytest.approx([people for people, _ in expected])
    assert found.risk().values.tolist() == pytest.approx(
        [chance if find_people(original) is not None else 1 / people for people, chance in expected]
    )
    if find_people(original) is not None:
        attacked = records.attack(original, "CRS", KEYS, release=released)
        assert attacked.secrets == len({row["pid"] for row in rows})
        if any(cells.values()):
            with pytest.raises(UnjudgedPeopleError, match="hidden"):
                records.frequencies(released, among=KEYS, original=original, records_known="all")


def test_many_hidden_records_of_a_person_are_no_more_company_than_one() -> None:
    """What is hidden of somebody may be the same in all their records: eight tell no more than one."""

    def count(records_each: int) -> float:
        others = [{"pid": p, "age": 30, "sex": "m", "ill": "flu"} for p in (1, 2)] * records_each
        shown = [{"pid": 9 + n, "age": 40, "sex": "fm"[n % 2], "ill": "flu"} for n in range(20)]
        rows: list[dict[str, Any]] = [
            {"pid": 0, "age": 30, "sex": "f", "ill": "flu"},
            *others,
            *shown,
        ]
        original = to_dataset(rows)
        hidden = pa.array(range(1, 1 + len(others)), pa.int64()).to_numpy()
        released = hide_cells(original, {"sex": hidden})
        return float(
            records.frequencies(released, original=original, among=["age", "sex"]).sample[0]
        )

    assert count(8) == pytest.approx(count(1))


@given(visits())
def test_the_attack_on_a_release_as_it_is_is_the_attack_on_the_data(
    rows: list[dict[str, Any]],
) -> None:
    dataset = to_dataset(rows)
    for model, seeks in (("CRS", None), ("CAS", "ill")):
        plainly = records.attack(dataset, model, KEYS, seeks)
        paired = records.attack(dataset, model, KEYS, seeks, release=dataset)
        assert float(paired.certain.posterior) == pytest.approx(float(plainly.certain.posterior))
        assert float(paired.right.posterior) == pytest.approx(float(plainly.right.posterior))


@given(visits(), st.sampled_from(["one", "all"]))
def test_the_sweep_counts_people_in_every_set(rows: list[dict[str, Any]], known: Any) -> None:
    dataset = to_dataset(rows)
    swept = records.sweep(dataset, records_known=known)
    people = len({row["pid"] for row in rows})
    for row in swept.to_arrow().to_pylist():
        sizes = plain.count_people(rows, row["knows"], known)
        certain, right = plain.attack(rows, row["knows"], "pid", known)
        assert row["k_anonymity"] == min(sizes)
        if find_people(dataset) is None:
            assert (row["singletons"], row["classes"]) == (certain, right)
        else:
            assert (row["certain"], row["right"]) == pytest.approx((float(certain), float(right)))
            seen = plain.observe(rows, row["knows"], known)
            if known == "one":
                assert row["classes"] == len(set(seen))
        pure, best = plain.attack(rows, row["knows"], "ill", known)
        assert (row["ill.pure"], row["ill.best"]) == pytest.approx((float(pure), float(best)))
        place = swept.place(row["knows"])
        assert swept.success()[place] == pytest.approx(float(certain / people))
        single = swept.assessment(row["knows"])
        assert single.probabilistic.posterior == pytest.approx(float(right / people))
    assert swept.prior(kind="probabilistic") == pytest.approx(1 / people)


@given(visits())
def test_one_record_each_is_what_it_was(rows: list[dict[str, Any]]) -> None:
    rows = [{**row, "pid": place} for place, row in enumerate(rows)]
    role, none = to_dataset(rows), to_dataset(rows, person="")  # no such role
    for model, seeks in (("CRS", None), ("CAS", "ill")):
        for known in ("one", "all"):
            found = records.attack(role, model, KEYS, seeks, records_known=known)
            assert found.to_dict() == records.attack(none, model, KEYS, seeks).to_dict()
    assert records.sweep(role).to_arrow() == records.sweep(none).to_arrow()
    assert records.k_anonymity(role) == records.k_anonymity(none)
    assert (records.individual_risk(role).values == records.individual_risk(none).values).all()


def test_somebody_who_is_mostly_there_is_the_likeliest() -> None:
    rows = [{"pid": 1, "age": 30, "sex": "f", "ill": "flu"}] * 2
    rows += [{"pid": 2, "age": age, "sex": "f", "ill": "flu"} for age in (30, *range(50, 54))]
    found = records.frequencies(to_dataset(rows), among=KEYS)
    assert found.sample[0] == 2
    assert found.risk().values[0] == pytest.approx(1 / 1.2)
    one = records.attack(to_dataset(rows), "IRS", KEYS, target={"age": 30, "sex": "f"})
    assert one.probabilistic.posterior == pytest.approx(1 / 1.2)
    assert "2 people have 3 records" in str(one)


def test_no_more_people_are_at_risk_than_there_are() -> None:
    risk = records.frequencies(to_dataset(VISITS), among=KEYS).risk()
    assert "Of 3 people, 2.5 are expected to be found; 3 are at a risk above 20%." in str(risk)
    # A record weighs its share of a person; one of the three people may be found.
    threshold = risk.threshold_for(1 / 3)
    left = sum(np.minimum(risk.values, threshold) * np.array([1 / 2, 1 / 2, 1 / 2, 1 / 2, 1]))
    assert left == pytest.approx(1)


def test_a_gain_and_a_prior_are_those_of_people() -> None:
    dataset = to_dataset(VISITS)
    two = records.attack(dataset, "CRS", KEYS, gain={"guesses": 2})
    assert two.probabilistic == pytest.approx((2 / 3, 1))
    alike = records.attack(dataset, "CRS", KEYS, prior=[5.0] * 5)
    assert alike.probabilistic.posterior == pytest.approx(5 / 6)
    # Who weighs nothing is not sought, so that b is alone.
    without = records.attack(dataset, "CRS", KEYS, prior=[0, 0, 1, 1, 1])
    assert without.deterministic.posterior == 1


@pytest.mark.parametrize(
    "measure",
    [
        lambda d: records.individual_risk(d),
        lambda d: records.reidentification_risk(d),
        lambda d: records.disclosure_risk(d),
        lambda d: records.suda(d),
        lambda d: records.minimal_unique_size(d),
        lambda d: protection.protect(d, [Limit("minimal_unique_size", at_least=2)], ["suppress"]),
        lambda d: records.population_uniques(d, sampling_fraction=0.1),
        lambda d: records.k_map(d),
        lambda d: records.delta_presence(d, d),
        lambda d: records.distinct_l_diversity(d),
        lambda d: records.t_closeness(d),
        lambda d: records.link(d, d, block="age"),
        lambda d: records.attack(d, "CMS", KEYS, population=d),
        lambda d: records.attack([d, d], "CRL", KEYS, on="pid", duplicates="first"),
        lambda d: records.attack(d, "IRS", KEYS, target=VISITS[0], records_known="all"),
        lambda d: records.unlinked_years([d, d], {"age": 0}, KEYS),
        lambda d: records.sweep(d, engine="duckdb"),
        lambda d: records.k_anonymity(d, count="population"),
    ],
)
def test_what_counts_records_is_not_judged(measure: Any) -> None:
    rows = [{**row, "w": 2.0} for row in VISITS]
    with pytest.raises(UnjudgedPeopleError, match=r"5 records of 3 people.*not judged"):
        measure(to_dataset(rows, weight="w"))


def test_a_record_of_nobody_is_not_judged() -> None:
    rows = [*VISITS, {**VISITS[0], "pid": None}]
    with pytest.raises(UnjudgedPeopleError, match="1 record does not say"):
        records.attack(to_dataset(rows), "CRS", KEYS)


def test_how_many_records_are_known_is_one_or_all() -> None:
    call: Any
    for call in (records.attack, records.sweep, records.frequencies, records.k_anonymity):
        with pytest.raises(InvalidInput, match="records_known"):
            call(datasets.school_year_example(), records_known="two")
    with pytest.raises(InvalidInput, match="records_known"):
        Limit("k_anonymity", at_least=3, records_known="two")
    with pytest.raises(InvalidInput, match="not an option"):
        Limit("individual_risk", at_most=0.1, records_known="one")


def test_the_command_line_counts_people(tmp_path: Path) -> None:
    to_dataset(VISITS).write(tmp_path / "visits.csv")

    def run(*arguments: str) -> Any:
        result = CliRunner().invoke(app, [*arguments])
        return result.exit_code, " ".join(result.output.split())

    source = str(tmp_path / "visits.csv")
    code, text = run("attack", source, "--knows", "age", "--knows", "sex", "--person", "pid")
    assert code == 0
    assert "singles out 1.5 of 3 people (50%)" in text
    everything = ("--person", "pid", "--records-known", "all")
    code, text = run("attack", source, "--knows", "age", "--knows", "sex", *everything)
    assert "singles out all 3 people" in text
    code, text = run("sweep", source, "--knows", "age", *everything)
    assert code == 0
    assert "100%" in text
    options = ("--quasi-identifier", "age", "--person", "pid", "--measure", "k_anonymity")
    code, text = run("risk", source, *options, "--at-least", "2")
    assert code == 1, text
    alone = CliRunner().invoke(app, ["risk", source, *options[:4]])
    assert isinstance(alone.exception, UnjudgedPeopleError)
