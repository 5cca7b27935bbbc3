"""Files as strangers bring them: what R and pandas write, and roles that were once drafted wrong.

Each case is a column of a public file that was given a wrong role without a word, made small here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge.data import Dataset, Experience, categorise
from divulge.data.proposals.proposal import Proposal
from divulge.release.release_file.draft_file import draft
from divulge.work import InvalidInput

SHIPPED = Experience.shipped()


def propose(
    columns: Mapping[str, Any], descriptions: Mapping[str, str] | None = None
) -> dict[str, Proposal]:
    dataset = Dataset.from_arrow(pa.table(dict(columns)))
    if descriptions:
        dataset = dataset.describe(descriptions=descriptions)
    return dict(categorise(dataset, SHIPPED).proposals)


def is_published(proposal: Proposal) -> bool:
    withheld = ("identifier", "person", "household", "group")
    return proposal.status == "settled" and proposal.role not in (None, *withheld)


@pytest.mark.parametrize("header", [",age,sex", '"","age","sex"', " ,age,sex"])
def test_the_row_names_that_r_and_pandas_write_are_read_and_not_published(
    tmp_path: Path, header: str
) -> None:
    path = tmp_path / "people.csv"
    rows = "".join(f'"{n}",{20 + n % 40},{"MF"[n % 2]}\n' for n in range(1, 201))
    path.write_text(f"{header}\n{rows}")
    people = dv.read(path)
    assert people.names == ["row name", "age", "sex"]
    assert people.rows == 200
    drafted = draft([path], tmp_path, experience=SHIPPED)
    assert "row name" not in drafted.published["people"]


def test_a_name_that_is_taken_is_not_given_to_the_row_names(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(",row name,sex\n1,a,M\n2,b,F\n")
    assert dv.read(path).names == ["row name 2", "row name", "sex"]


def test_two_columns_without_a_name_are_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(",age,\n1,30,M\n2,40,F\n")
    with pytest.raises(InvalidInput, match="column 3: has no name in the header; give it one"):
        dv.read(path)


def test_names_in_apostrophes_above_numbers_are_read_without_them(tmp_path: Path) -> None:
    path = tmp_path / "voters.csv"
    path.write_text("'age'\t'educ'\t'vote'\n36\t3\t1\n20\t4\t0\n")
    assert dv.read(path).names == ["age", "educ", "vote"]


def test_an_apostrophe_within_a_name_is_no_quotation_mark(tmp_path: Path) -> None:
    path = tmp_path / "voters.csv"
    path.write_text("voter's age,party's name\n36,a\n20,b\n")
    assert dv.read(path).names == ["voter's age", "party's name"]


@pytest.mark.parametrize(
    ("name", "description"),
    [("villnum", "Village ID"), ("village", ""), ("district_id", ""), ("classid", "")],
)
def test_what_numbers_a_place_counts_no_people(name: str, description: str) -> None:
    draw = np.random.default_rng(1)
    columns: dict[str, Any] = {name: draw.integers(90, size=900)}
    columns["age"] = draw.integers(18, 90, size=900)
    role = propose(columns, {name: description})[name].role
    assert role in ("quasi_identifier", None), role


def test_an_id_that_repeats_counts_people_and_the_draft_says_so(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    path = tmp_path / "records.csv"
    rows = [
        f"{draw.integers(300)},{draw.integers(18, 90)},{draw.choice(['M', 'F'])}"
        for _ in range(900)
    ]
    path.write_text("id,age,sex\n" + "\n".join(rows) + "\n")
    drafted = draft([path], tmp_path, experience=SHIPPED)
    assert 'person = "id"' in drafted.text
    assert "DOUBT" in drafted.text


@pytest.mark.parametrize("name", ["patid", "patient", "famid", "idhh", "custid", "empid", "respid"])
def test_ids_by_their_usual_short_names_are_never_published(name: str) -> None:
    draw = np.random.default_rng(3)
    columns: dict[str, Any] = {name: draw.integers(400, size=900)}
    columns["age"] = draw.integers(18, 90, size=900)
    proposal = propose(columns)[name]
    assert proposal.role in ("person", "household", "identifier"), str(proposal)


def test_a_scale_of_seven_is_no_number_of_people_whatever_its_name() -> None:
    draw = np.random.default_rng(4)
    columns: dict[str, Any] = {
        "PID": draw.integers(7, size=900),
        "age": [40 + n % 9 for n in range(900)],
    }
    assert propose(columns)["PID"].role not in ("person", "identifier", "household")


@pytest.mark.parametrize("height", [{}, {"ht": "Height in centimetres"}])
def test_a_weight_in_kilograms_is_no_sampling_weight(height: dict[str, str]) -> None:
    draw = np.random.default_rng(5)
    columns: dict[str, Any] = {name: draw.integers(150, 200, size=300) * 1.0 for name in height}
    columns["wt71"] = draw.uniform(40, 110, size=300)
    descriptions = {"wt71": "WEIGHT IN KILOGRAMS IN 1971" if not height else "", **height}
    assert not is_published(propose(columns, descriptions)["wt71"])


def test_what_holds_of_the_place_where_somebody_lives_is_not_called_non_identifying() -> None:
    draw = np.random.default_rng(6)
    columns: dict[str, Any] = {"price71": 1.5 + draw.integers(50, size=900) / 100}
    said = {"price71": "AVG TOBACCO PRICE IN STATE OF RESIDENCE 1971"}
    assert not is_published(propose(columns, said)["price71"])


def test_the_year_again_in_columns_of_yes_and_no_is_not_published_as_answers() -> None:
    years = [1972 + 2 * (n % 7) for n in range(700)]
    columns: dict[str, Any] = {"year": years, "age": [30 + n % 11 for n in range(700)]}
    columns |= {f"y{y % 100}": [int(year == y) for year in years] for y in range(1974, 1986, 2)}
    found = propose(columns)
    assert not any(is_published(found[name]) for name in columns if name.startswith("y7"))
    assert 'it follows from "year"' in str(found["y74"])


def test_answers_that_only_nearly_follow_from_a_key_stay_what_they_are() -> None:
    ages = [20 + n % 5 for n in range(500)]
    incomes = [1000 * age for age in ages]
    incomes[7] += 1000
    assert propose({"age": ages, "income": incomes})["income"].role == "sensitive"


def test_when_somebody_died_is_known_around_them() -> None:
    found = propose({"yrdth": [80 + n % 12 for n in range(300)]}, {"yrdth": "YEAR OF DEATH"})
    assert found["yrdth"].role == "quasi_identifier"


def test_the_age_of_a_card_holder_is_an_age() -> None:
    columns: dict[str, Any] = {"AGE": [20 + n % 50 for n in range(900)]}
    proposal = propose(columns, {"AGE": "Age of card-holder"})["AGE"]
    assert (proposal.role, proposal.status) == ("quasi_identifier", "settled")


def test_a_name_whose_description_says_another_thing_is_not_settled_by_it() -> None:
    columns: dict[str, Any] = {"state": [n % 50 for n in range(900)]}
    proposal = propose(columns, {"state": "Number of the account holder"})["state"]
    assert proposal.status != "settled"


def test_a_draft_without_quasi_identifiers_says_that_nothing_can_pass(tmp_path: Path) -> None:
    path = tmp_path / "bills.csv"
    path.write_text("income\n" + "".join(f"{1000 + n // 4}\n" for n in range(300)))
    drafted = draft([path], tmp_path, experience=SHIPPED)
    assert "nothing can pass" in " ".join(drafted.kinds["bills"].doubts)
    assert "nothing can pass" in drafted.text.replace("\n#     ", " ")
