"""Roles are proposed from experience with reasons; what is doubtful is left to a person."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Dataset, Experience, categorise, tuning
from divulge.data.dictionary import Role
from divulge.data.proposals.known_attributes import LANGUAGES, KnownAttribute
from divulge.data.proposals.name_similarity import measure_similarity

# The attributes of Fig. 4 with their descriptions, and the categories of the text of Sec. 2.2
# (where Fig. 4 itself differs for Export Rev., Export to DE and Growth, the text is right).
INFLATION_AND_GROWTH = {
    "Id": ("Company Identifier", "identifier"),
    "Area": ("Geographic Area", "quasi_identifier"),
    "Sector": ("Product Sector", "quasi_identifier"),
    "Employees": ("Num. of employees", "quasi_identifier"),
    "Residential Rev.": ("Rev. from internal market", "quasi_identifier"),
    "Export Rev.": ("Rev. from external market", "quasi_identifier"),
    "Export to DE": ("Rev. from DE market", "non_identifying"),
    "Growth": ("Rev. growth last 6 mths", "non_identifying"),
    "Weight": ("Sampling Weight", "weight"),
}
SHIPPED = Experience.shipped()


def test_inflation_and_growth_is_categorised_as_the_text_of_the_paper_says() -> None:
    described = {name: description for name, (description, _) in INFLATION_AND_GROWTH.items()}
    found = categorise(described, SHIPPED)
    assert {n: p.role for n, p in found.proposals.items()} == {
        name: role for name, (_, role) in INFLATION_AND_GROWTH.items()
    }
    assert not found.conflicts
    assert all(p.reasons for p in found.proposals.values())


def test_the_descriptions_alone_lead_to_the_same_categories() -> None:
    described = {f"V{n}": d for n, (d, _) in enumerate(INFLATION_AND_GROWTH.values())}
    found = categorise(described, SHIPPED)
    assert [p.role for p in found.proposals.values()] == [
        r for _, r in INFLATION_AND_GROWTH.values()
    ]


def test_two_categories_for_one_attribute_are_listed_and_none_is_chosen() -> None:
    described = {name: description for name, (description, _) in INFLATION_AND_GROWTH.items()}
    found = categorise({**described, "Area": "Sampling Weight"}, SHIPPED)
    [conflict] = found.conflicts
    assert conflict.attribute == "Area"
    assert set(conflict.candidates) == {"quasi_identifier", "weight"}
    assert len(conflict.reasons) == 2
    assert "Area" not in found.roles["quasi_identifier"]


def test_a_weak_likeness_against_a_known_name_is_a_doubt_and_no_conflict() -> None:
    [proposal] = categorise({"income": "monthly rent by age"}, SHIPPED).proposals.values()
    assert proposal.role == "sensitive"
    [doubt] = categorise({"income": "age at interview"}, SHIPPED).doubts
    assert doubt.role == "sensitive"
    assert "quasi_identifier" in doubt.reasons[1]


def test_a_conclusion_is_experience_for_the_other_attributes() -> None:
    # The second is like the conclusion for the first, not like anything in the base.
    base = Experience((KnownAttribute("Sales outside the country", "quasi_identifier"),))
    chain = {"Turnover abroad": "Sales outside the country", "Turnover abroad net": ""}
    assert categorise(chain, base, feed_back=False).unknown
    fed = categorise(chain, base)
    assert fed.proposals["Turnover abroad net"].role == "quasi_identifier"
    assert "conclusions" in fed.proposals["Turnover abroad net"].reasons[0]


def test_a_users_own_decision_is_kept_and_outranks_the_shipped_base(tmp_path: Path) -> None:
    path = Experience().accept({"Area": "non_identifying"}).save(tmp_path / "own.csv")
    own = Experience.own(path)
    found = categorise({"Area": ""}, own + SHIPPED)
    assert found.proposals["Area"].role == "non_identifying"
    assert "your own base" in found.proposals["Area"].reasons[0]


def test_a_spoilt_base_of_ones_own_is_refused_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("Area;quasi\nSector\n")
    with pytest.raises(dv.InvalidInput, match=r'(?s)line 1.*"quasi_identifier".*line 2'):
        Experience.own(tmp_path / "own.csv")


def test_the_shipped_base_knows_three_hundred_names_in_six_languages() -> None:
    assert len({known.name for known in SHIPPED}) >= 300
    assert len(LANGUAGES) == 6
    for name, role in {
        "data de nascimento": "quasi_identifier",
        "codice fiscale": "identifier",
        "factor de expansión": "weight",
        "état matrimonial": "quasi_identifier",
        "Staatsangehörigkeit": "quasi_identifier",
        "haushaltsnummer": "household",
    }.items():
        assert categorise({name: ""}, SHIPPED).proposals[name].role == role


@given(st.sampled_from(SHIPPED.known))
def test_every_known_name_is_recognised_however_it_is_run_together(known: KnownAttribute) -> None:
    for written in (known.name.upper(), known.name.replace(" ", "_"), known.name.title()):
        proposal = categorise({written: ""}, SHIPPED).proposals[written]
        assert known.role == proposal.role or known.role in proposal.candidates


def test_letters_alone_do_not_make_a_likeness() -> None:
    for one, other in [("wage", "age"), ("sector", "vector"), ("race", "rate"), ("id", "uid")]:
        assert measure_similarity(one, other) < tuning.SIMILARITY_THRESHOLD


def test_a_column_with_a_value_of_its_own_for_every_record_is_suspected_an_identifier() -> None:
    rows = 500
    found = categorise(
        Dataset.from_arrow(
            pa.table(
                {"V1": np.arange(rows), "income": np.arange(rows) * 3, "sex": ["F", "M"] * 250}
            )
        ),
        SHIPPED,
    )
    assert (found.proposals["V1"].role, found.proposals["V1"].status) == ("identifier", "doubt")
    assert (found.proposals["income"].role, found.proposals["income"].status) == (
        "sensitive",
        "doubt",
    )
    assert found.proposals["sex"].status == "settled"


def test_combinations_that_single_many_out_are_named() -> None:
    rows = 1000
    random = np.random.default_rng(1)
    table = pa.table(
        {
            "V1": random.integers(0, 100, rows),
            "V2": random.integers(0, 100, rows),
            "V3": random.integers(0, 2, rows),
        }
    )
    found = categorise(Dataset.from_arrow(table), SHIPPED)
    assert [c.attributes for c in found.combinations] == [("V1", "V2")]
    assert found.proposals["V1"].role == "quasi_identifier"
    assert found.proposals["V1"].status == "doubt"
    assert '"V1" and "V2"' in found.proposals["V1"].reasons[-1]
    assert found.proposals["V3"].status == "unknown"


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["ann@example.org", "bob@example.org"], "identifier"),
        (["50667", "01067"], "quasi_identifier"),
        (["SW1A 1AA", "M1 1AE"], "quasi_identifier"),
        (["01310-100", "20040-020"], "quasi_identifier"),
        (["31.12.1990", "1.2.2001"], "quasi_identifier"),
        (["€ 1.200,50", "€ 3,10"], "sensitive"),
        (["RSSMRA85T10A562S", "VRDLGU80A01H501X"], "identifier"),
    ],
)
def test_shapes_of_values_are_signs(values: list[str], role: str) -> None:
    dataset = Dataset.from_arrow(pa.table({"V1": values * 100}))
    proposal = categorise(dataset, SHIPPED).proposals["V1"]
    assert (proposal.role, proposal.status) == (role, "doubt")
    assert not any(value in str(proposal) for value in values)


@pytest.mark.data
def test_the_columns_of_adult_are_categorised_sensibly() -> None:
    path = Path(__file__).parents[2] / "../shared/data/adult/adult.csv"
    if not path.exists():
        pytest.skip("the public data set Adult is not beside the project")
    found = categorise(dv.read(path), SHIPPED)
    assert found.roles["sensitive"] == ["salary-class"]
    assert len(found.roles["quasi_identifier"]) == 8
    assert not found.conflicts


@pytest.mark.parametrize("role", ["quasi_identifier", "weight", "non_identifying", "sensitive"])
def test_what_a_person_decided_of_a_conflict_wins_the_next_time(role: Role, tmp_path: Path) -> None:
    descriptions = {"Area": "Sampling weight", "SEX": ""}
    [conflict] = categorise(descriptions, Experience.shipped()).conflicts
    assert conflict.attribute == "Area"
    kept = tmp_path / "experience.csv"
    Experience.own(kept).accept({"Area": role}).save(kept)
    found = categorise(descriptions, Experience.own(kept) + Experience.shipped())
    assert not found.conflicts
    assert (found.proposals["Area"].role, found.proposals["Area"].status) == (role, "settled")
    assert found.proposals["Area"].reasons[0].endswith(f"in your own base: {role}")
    assert found.proposals["SEX"].role == "quasi_identifier"


def test_what_a_person_took_for_the_weight_is_not_in_conflict_with_what_resembles_one() -> None:
    names = {"weight 1": "", "Weight": ""}
    assert len(categorise(names, Experience.shipped()).conflicts) == 2
    own = Experience().accept({"weight 1": "weight"})
    found = categorise(names, own + Experience.shipped())
    assert found.roles["weight"] == ["weight 1"]
    assert [each.attribute for each in found.conflicts] == ["Weight"]


def test_two_decisions_on_one_name_are_a_conflict_again() -> None:
    own = Experience().accept({"Area": "quasi_identifier", "area": "weight"})
    [conflict] = categorise({"AREA": ""}, own + Experience.shipped()).conflicts
    assert set(conflict.candidates) >= {"quasi_identifier", "weight"}


def test_a_later_decision_replaces_an_earlier_one(tmp_path: Path) -> None:
    kept = tmp_path / "experience.csv"
    roles: list[Role] = ["weight", "sensitive"]
    for role in roles:
        Experience.own(kept).accept({"Area": role}).save(kept)
    found = categorise({"Area": "Sampling weight"}, Experience.own(kept) + Experience.shipped())
    assert found.proposals["Area"].role == "sensitive"
