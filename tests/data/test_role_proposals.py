"""Roles are proposed from values and from blocks of records, and held to what people accept."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Categorisation, Dataset, Experience, Proposal, categorise
from divulge.data.dictionary import ROLES
from divulge.data.proposals.check_digits import is_card_number, is_cpf, is_iban
from divulge.data.proposals.codebooks import find_codebook_entries, list_codebook_sources
from divulge.data.proposals.value_vocabulary import find_continents

SHIPPED = Experience.shipped()
HERE = Path(__file__).parent
DATA = HERE.parents[1] / "../shared/data"
ACCEPTED: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (HERE / "accepted_roles.toml").read_text(encoding="utf-8")
)
FILES = {
    "eusilc": ("eusilc/eusilc.csv.gz", 28),
    "adult": ("adult/adult.csv", 9),
    "testdata": ("sdcmicro/testdata.csv", 15),
    "ten_attackers": ("online_retail/T_paper_400.parquet", 8),
    "creditcard": ("creditcard/creditcard.csv.gz", 24),
    "mach2019": ("mach2019/mach2019.csv.gz", 16),
    "practice_guide": ("sdcmicro/practice_guide.csv", 4),
}


def propose(columns: Mapping[str, Any]) -> dict[str, Proposal]:
    return dict(categorise(Dataset.from_arrow(pa.table(dict(columns))), SHIPPED).proposals)


def drafted_role(proposal: Proposal) -> str:
    """What a draft makes of a proposal: a doubt is left out, but for ids, which never go out."""
    withheld = ("identifier", "person", "household", "group")
    if proposal.role is None or (proposal.status == "doubt" and proposal.role not in withheld):
        return "dropped"
    return proposal.role


def count_accepted(name: str, found: Categorisation) -> tuple[int, list[str]]:
    """How many proposals are accepted, and which roles are wrong (a role left out is none)."""
    accepted = {n: {role} for role, names in ACCEPTED[name]["roles"].items() for n in names}
    for n, roles in ACCEPTED[name].get("also", {}).items():
        accepted[n] |= set(roles)
    roles = {n: drafted_role(p) for n, p in found.proposals.items()}
    right = sum(role in accepted[n] for n, role in roles.items())
    return right, [n for n, role in roles.items() if role not in {*accepted[n], "dropped"}]


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_the_roles_of_public_files_are_those_that_a_statistician_accepts(name: str) -> None:
    path, least = FILES[name]
    if not (DATA / path).exists():
        pytest.skip(f"the public data set {name} is not beside the project")
    right, wrong = count_accepted(name, categorise(dv.read(DATA / path), SHIPPED))
    assert right >= least
    assert wrong == []


def test_the_names_that_inep_publishes_are_known_without_data() -> None:
    names = [n for names in ACCEPTED["inep"]["roles"].values() for n in names]
    right, wrong = count_accepted("inep", categorise(dict.fromkeys(names, ""), SHIPPED))
    assert (right, wrong) == (len(names), [])


def test_what_is_decided_of_a_numbered_name_says_nothing_of_another_number() -> None:
    own = Experience().accept({"q12": "sensitive", "income 2019": "non_identifying"})
    found = categorise({"q12": "", "q13": "", "q1": "", "q": "", "income 2020": ""}, own).proposals
    assert found["q12"].role == "sensitive"
    assert [found[name].role for name in ("q13", "q1", "q", "income 2020")] == [None] * 4


def test_a_users_exact_decision_wins_over_whatever_the_values_show() -> None:
    table = pa.table({"no": list(range(500)), "sex": ["F", "M"] * 250})
    own = Experience().accept({"no": "non_identifying", "sex": "sensitive"})
    found = categorise(Dataset.from_arrow(table), own + SHIPPED).proposals
    assert {n: (p.role, p.status) for n, p in found.items()} == {
        "no": ("non_identifying", "settled"),
        "sex": ("sensitive", "settled"),
    }


def test_an_amount_that_nearly_always_differs_is_no_identifier() -> None:
    random = np.random.default_rng(3)
    amounts = np.round(random.lognormal(10, 1, 2_000)).astype(int)
    assert len(set(amounts.tolist())) > 0.95 * len(amounts)
    found = propose({"expend": amounts, "x7": amounts})
    assert (found["expend"].role, found["expend"].status) == ("sensitive", "settled")
    assert found["x7"].role != "identifier"


@pytest.mark.parametrize(
    "numbers",
    [
        list(range(1, 301)),
        [7 * n + n % 5 for n in range(300)],
        np.random.default_rng(1).permutation(np.arange(400))[:300].tolist(),
        np.random.default_rng(2).choice(np.arange(10**8, 10**9, 77), 300, replace=False).tolist(),
    ],
    ids=["in a row", "rising", "in any order", "of one length"],
)
def test_numbers_that_were_given_out_are_suspected_identifiers(numbers: list[int]) -> None:
    assert propose({"zz": numbers})["zz"].role == "identifier"


HOMES = [home for home in range(120) for _ in range(1 + home % 4)]
SIZES = [1 + home % 4 for home in HOMES]


def test_a_household_is_found_by_its_block_of_records_and_its_size_by_counting() -> None:
    random = np.random.default_rng(5)
    found = propose(
        {
            "zz1": HOMES,
            "zz2": SIZES,
            "zz3": [home // 30 for home in HOMES],
            "age": random.integers(0, 90, len(HOMES)),
            "zz4": [100.5 + 25 * (home // 30) for home in HOMES],
        }
    )
    assert (found["zz1"].role, found["zz1"].status) == ("household", "settled")
    assert (found["zz2"].role, found["zz2"].status) == ("quasi_identifier", "settled")
    assert "number of records" in found["zz2"].reasons[0]
    assert (found["zz4"].role, found["zz4"].status) == ("weight", "doubt")


def test_a_panel_is_found_by_records_that_follow_each_other_year_by_year() -> None:
    people, years = np.repeat(np.arange(100), 3).tolist(), [2001, 2002, 2003] * 100
    sex = np.repeat(np.random.default_rng(1).integers(1, 3, 100), 3)
    found = propose({"zz": people, "year": years, "sex": sex})
    assert (found["zz"].role, found["zz"].status) == ("person", "settled")
    assert found["year"].role == "time"


def test_an_id_that_several_records_share_is_of_a_person() -> None:
    users = np.random.default_rng(1).integers(10_000, 10_060, 600)
    found = propose({"CustomerID": users, "InvoiceNo": [f"r{n // 3}" for n in range(600)]})
    assert found["CustomerID"].role == "person"
    assert found["InvoiceNo"].role == "identifier"


def test_a_few_values_are_no_key_whatever_the_name_says() -> None:
    [proposal] = propose({"household type id": [1, 2, 3, 4] * 1_000}).values()
    assert proposal.status in ("doubt", "unknown") or proposal.role == "quasi_identifier"


def test_of_two_weights_one_is_the_weight_and_the_other_is_left_out() -> None:
    weights = [10.5, 12.25] * 100
    found = propose({"household weight": weights, "person weight": weights, "sex": [1, 2] * 100})
    assert found["person weight"].role == "weight"
    assert found["household weight"].role is None
    assert '"person weight" is' in found["household weight"].reasons[-1]


@pytest.mark.parametrize("values", [[1.5, None], [1.5, 0.0], [2, -4], ["much", "little"]])
def test_what_is_missing_or_not_above_zero_is_no_weight(values: list[Any]) -> None:
    [proposal] = propose({"weight": values * 100}).values()
    assert (proposal.role, proposal.status) == ("weight", "doubt")
    assert drafted_role(proposal) == "dropped"
    assert propose({"weight": [1.5, 2.5] * 100})["weight"].status == "settled"


def test_questions_of_one_battery_are_what_people_answered() -> None:
    random = np.random.default_rng(4)
    columns = {f"K{n}b": random.integers(1, 6, 300) for n in range(1, 7)}
    found = propose(columns)
    assert {p.role for p in found.values()} == {"sensitive"}
    assert all("same answers" in p.reasons[0] for p in found.values())
    assert propose({"K1b": columns["K1b"]})["K1b"].role is None


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["weiblich", "männlich"], "quasi_identifier"),
        (["F", "M"], "quasi_identifier"),
        (["casado", "solteira", "viúvo"], "quasi_identifier"),
        (["Brasil", "Alemanha", "Itália", "Quênia"], "quasi_identifier"),
        (["BRA", "DEU", "ITA", "KEN"], "quasi_identifier"),
        (["AT11", "AT12", "ITC4", "DE21"], "quasi_identifier"),
        (["Primary school", "Secondary school", "Bachelor", "PhD"], "quasi_identifier"),
        (["lung cancer", "asthma", "influenza"], "sensitive"),
        (["Catholic", "Protestant", "none"], "sensitive"),
    ],
)
def test_words_of_a_known_kind_settle_what_a_name_does_not_tell(
    values: list[str], role: str
) -> None:
    [proposal] = propose({"zz9": values * 60}).values()
    assert (proposal.role, proposal.status) == (role, "settled")
    assert not any(value in str(proposal) for value in values if len(value) > 3)


def test_check_digits_settle_what_shapes_only_suspect() -> None:
    ibans = [_make_iban(n) for n in range(60)]
    assert propose({"zz9": ibans})["zz9"].status == "settled"
    wrong = [iban[:-1] + str((int(iban[-1]) + 1) % 10) for iban in ibans]
    assert propose({"zz9": wrong})["zz9"].status == "doubt"


@given(st.integers(0, 10**16 - 1), st.integers(0, 9), st.integers(1, 9))
def test_one_wrong_digit_is_seen(number: int, place: int, step: int) -> None:
    iban = _make_iban(number)
    assert is_iban(iban)
    at = 4 + place
    assert not is_iban(iban[:at] + str((int(iban[at]) + step) % 10) + iban[at + 1 :])
    digits = f"{number:016d}"
    assert sum(is_card_number(digits[:-1] + str(last)) for last in range(10)) == 1


@given(st.integers(1, 10**9 - 2))
def test_of_a_hundred_pairs_of_digits_one_is_a_tax_number(number: int) -> None:
    base = f"{number:09d}"
    fitting = [n for n in range(100) if is_cpf(f"{base}{n:02d}")]
    assert len(fitting) == (0 if len(set(base)) == 1 and f"{base}{base[:2]}" else 1) or (
        len(set(base)) == 1
    )


def _make_iban(number: int) -> str:
    body = f"{number:018d}"
    rest = int(f"{body}131400") % 97  # DE
    return f"DE{98 - rest:02d}{body}"


def test_countries_have_their_continent_in_six_languages() -> None:
    text = (resources.files("divulge.data.proposals") / "countries.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines(), delimiter=";"))
    assert len(rows) >= 249
    for language in ("en", "pt", "it", "es", "fr", "de"):
        found = find_continents([row[language] for row in rows])
        assert found is not None
        wrong = [r[language] for r, c in zip(rows, found, strict=True) if c != r["continent"]]
        assert not wrong
    assert {row["continent"] for row in rows} == {
        "Africa", "America", "Antarctica", "Asia", "Europe", "Oceania"
    }  # fmt: skip


def test_a_codebook_is_recognised_by_several_of_its_names_only() -> None:
    assert find_codebook_entries(["rb090", "age", "sex"]) == {}
    assert find_codebook_entries([f"V{n:03d}" for n in range(1, 100)]) == {}
    household_members = find_codebook_entries(["HV001", "HV002", "HV005", "HV104", "colour"])
    assert {n: e.role for n, e in household_members.items()} == {
        "HV001": "group",
        "HV002": "household",
        "HV005": "weight",
        "HV104": "quasi_identifier",
    }


def test_every_codebook_says_where_its_names_were_read() -> None:
    text = (resources.files("divulge.data.proposals") / "codebooks.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines(), delimiter=";"))
    sources = list_codebook_sources()
    assert {row["codebook"] for row in rows} == set(sources)
    assert all(sources.values())
    assert {row["role"] for row in rows} <= set(ROLES)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("marstat", "quasi_identifier"),
        ("occucode", "quasi_identifier"),
        ("exper", "quasi_identifier"),
        ("agew", "quasi_identifier"),
        ("wageh", "sensitive"),
        ("blorptz", None),
    ],
)
def test_names_cut_short_are_read_in_full(name: str, role: str | None) -> None:
    proposal = categorise({name: ""}, SHIPPED).proposals[name]
    assert proposal.role == role
    assert role is None or "read as" in proposal.reasons[0]


PEOPLE = 600


def test_what_numbers_a_place_is_where_somebody_was_and_nobodys_id() -> None:
    found = propose(
        {
            "patient id": [number // 2 for number in range(PEOPLE)],
            "Facility Id": [number % 40 for number in range(PEOPLE)],
            "cell_id": [number % 17 for number in range(PEOPLE)],
        }
    )
    assert {name: p.role for name, p in found.items()} == {
        "patient id": "person",
        "Facility Id": "quasi_identifier",
        "cell_id": "quasi_identifier",
    }


@pytest.mark.parametrize("name", ["Surname", "Last Name", "First Name", "Home address"])
def test_people_are_not_counted_by_names_that_they_share(name: str) -> None:
    shared = [f"name {number % 200}" for number in range(PEOPLE)]
    assert (
        propose({name: shared, "age": [number % 80 for number in range(PEOPLE)]})[name].role
        == "identifier"
    )


@pytest.mark.parametrize("name", ["PhoneService", "own telephone", "MATRI"])
def test_a_few_answers_are_no_key_whatever_the_name_is_like(name: str) -> None:
    proposal = propose({name: [["no", "yes"][number % 2] for number in range(PEOPLE)]})[name]
    assert proposal.role not in ("identifier", "person", "household", "group")


def test_a_weight_beside_a_height_may_be_of_a_body() -> None:
    kilograms = [50.0 + number % 40 for number in range(PEOPLE)]
    heights = [150 + number % 45 for number in range(PEOPLE)]
    assert propose({"weight": kilograms})["weight"].status == "settled"
    assert propose({"weight": kilograms, "height": heights})["weight"].status == "doubt"


def test_of_a_weight_and_its_replicates_the_weight_is_the_one() -> None:
    names = ["SERIALNO", "PWGTP", "AGEP", "ESR", "RAC1P", "PWGTP1", "PWGTP2"]
    found = propose({name: [1 + (i * 7) % 90 for i in range(PEOPLE)] for name in names})
    assert found["PWGTP"].role == "weight"
    assert not {found["PWGTP1"].role, found["PWGTP2"].role} & {"weight", "non_identifying"}


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        ("SERIAL PERNUM PERWT STATEFIP INCTOT", "household,weight,sensitive"),
        ("SEQN RIAGENDR RIDAGEYR WTMEC2YR INDFMPIR", "identifier,weight,sensitive"),
    ],
    ids=["IPUMS", "NHANES"],
)
def test_names_of_more_surveys_are_known_by_their_codebooks(names: str, roles: str) -> None:
    found = categorise(dict.fromkeys(names.split(), ""), SHIPPED).proposals
    assert set(roles.split(",")) <= {p.role for p in found.values()}
    assert all(p.is_from_codebook for p in found.values())


def test_what_somebody_did_in_a_year_is_no_moment_of_the_record() -> None:
    names = ["HireDate", "YearsAtCompany", "TotalWorkingYears", "OverTime", "earningsMonth"]
    found = categorise(dict.fromkeys(names, ""), SHIPPED).proposals
    assert [found[name].role for name in names] == [*["quasi_identifier"] * 4, "sensitive"]
