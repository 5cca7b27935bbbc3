"""Rules of a release: what follows from them is judged and protected, and what is wrong is said."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from divulge import Release, datasets, report
from divulge.data import Experience
from divulge.protection import OutOfReachError
from divulge.release import draft
from divulge.release.rule_programs import tuning
from divulge.report.page import page as verdict_page
from divulge.work import InvalidInput

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "links"

COMPANIES = """id,area,sector,size
a1,North,Textiles,10
a2,North,Textiles,20
a3,North,Commerce,10
a4,South,Commerce,20
a5,South,Commerce,20
a6,South,Textiles,10
"""

ANY_SECTOR = 'is_a("sector", V, "any") :- val(_, _, "sector", V).'

RELEASE = """
[[dataset]]
name = "companies"
source = "companies.csv"
subjects = "companies"
unlisted = "drop"

[dataset.roles]
identifier = ["id"]
quasi_identifier = ["area", "sector"]

[protection]
methods = ["suppress"]
suppression_limit = 1.0

[rules]
files = ["company.rules"]
"""


def write_release(
    folder: Path, rules: str, limits: str = "", replaced: tuple[str, str] | None = None
) -> Path:
    (folder / "companies.csv").write_text(COMPANIES, encoding="utf-8")
    (folder / "company.rules").write_text(rules, encoding="utf-8")
    text = RELEASE + limits
    if replaced is not None:
        assert replaced[0] in text
        text = text.replace(*replaced)
    path = folder / "release.toml"
    path.write_text(text, encoding="utf-8")
    return path


def limit(measure: str, bound: str, extra: str = "") -> str:
    return f'\n[[limit]]\ndataset = "companies"\nmeasure = "{measure}"\n{bound}\n{extra}\n'


def read_records(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Links.


def test_links_that_rules_derive_are_links_like_those_of_a_dataset(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    before = Release.load(tmp_path / "release.toml").check()
    text = (tmp_path / "release.toml").read_text(encoding="utf-8")
    text = text.replace('dataset = "owners", on', 'dataset = "rel", on')
    text = text.replace('links = "owners"', 'links = "rel"')
    (tmp_path / "release.toml").write_text(text + '\n[rules]\nfiles = ["groups.rules"]\n')
    (tmp_path / "groups.rules").write_text(
        'owner(X, Y) from dataset "owners". rel(X, Y) :- owner(X, Y).'
    )
    after = Release.load(tmp_path / "release.toml").check()
    assert [each.value for each in after.outcomes] == [each.value for each in before.outcomes]
    assert [each.right for each in after.assessments] == [each.right for each in before.assessments]
    assert set(after.publications) == set(before.publications) == {"companies"}


def test_control_of_companies_links_them_by_way_of_others(tmp_path: Path) -> None:
    (tmp_path / "stakes.csv").write_text(
        "owner,company,share\nh,a1,0.4\nh,x,0.6\nx,a1,0.2\nh,a4,0.5\n", encoding="utf-8"
    )
    rules = """
        own(X, Y, W) from "stakes.csv".
        controls(X, X) :- own(X, _, _).
        controls(X, Y) :- controls(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
        rel(X, Y) :- controls(X, Y), X != Y.
        rel("a3", "a1").
    """
    limits = limit("k_anonymity", "at_least = 2", 'links = "rel"')
    verdict = Release.load(write_release(tmp_path, rules, limits)).check()
    # h controls x and, with it, 60% of a1; exactly 50% of a4 is no control.
    assert verdict.release.rule_results is not None
    assert verdict.release.rule_results.counts["rel"] == 3
    text = " ".join(map(str, verdict.outcomes[0].sentences))
    assert "2 of 6 companies are linked, in" in text


def count_hidden(folder: Path, links: int) -> int:
    """Cells that are suppressed in the setting of Bellomarini et al., Fig. 7d, with so many stakes."""
    companies = datasets.inflation_and_growth(1_500, balance="V", seed=7)
    companies.write(folder / "companies.csv", overwrite=True)
    ids = companies.to_arrow()["Id"].to_pylist()
    draw = np.random.default_rng(7)
    ends = [draw.choice(ids, 2, replace=False).tolist() for _ in range(400)]
    drawn = [
        (*pair, share) for pair, share in zip(ends, draw.choice(["0.51", "0.6"], 400), strict=True)
    ]
    with (folder / "stakes.csv").open("w", newline="", encoding="utf-8") as file:
        # One stake of exactly one half, which is no control.
        csv.writer(file).writerows(
            [("owner", "company", "share"), (ids[0], ids[1], "0.5"), *drawn[:links]]
        )
    text = FIG_7D.replace("ROLES", json.dumps(companies.dictionary.having("quasi_identifier")))
    (folder / "release.toml").write_text(text, encoding="utf-8")
    (folder / "company.rules").write_text(CONTROL, encoding="utf-8")
    protected = Release.load(folder / "release.toml").protect()
    assert protected.status == "pass"
    return protected.suppressed_cells


CONTROL = """
    own(X, Y, W) from "stakes.csv".
    controls(X, X) :- own(X, _, _).
    controls(X, Y) :- controls(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
    rel(X, Y) :- controls(X, Y), X != Y.
"""

FIG_7D = """
accept_count_only = true
[[dataset]]
name = "companies"
source = "companies.csv"
unlisted = "drop"
roles = { identifier = ["Id"], quasi_identifier = ROLES, weight = "Weight" }
[[limit]]
dataset = "companies"
measure = "k_anonymity"
at_least = 2
nulls = "maybe"
links = "rel"
[protection]
methods = ["suppress"]
[rules]
files = ["company.rules"]
"""


def test_suppressed_cells_grow_with_the_links_that_rules_derive(tmp_path: Path) -> None:
    cells = [count_hidden(tmp_path, links) for links in (0, 100, 200, 400)]
    assert 0 < cells[0] <= cells[1] <= cells[2] <= cells[3]
    assert cells[0] < cells[3]


# Roles and hierarchies.


def test_roles_that_rules_give_are_roles(tmp_path: Path) -> None:
    limits = limit("k_anonymity", "at_least = 2")
    path = write_release(tmp_path, "", limits, ('unlisted = "drop"\n', ""))
    assert Release.load(path).check().publications["companies"].unlisted == ("size",)
    rules = 'category("companies", "size", "Quasi-identifier").'
    path = write_release(tmp_path, rules, limits, ('unlisted = "drop"\n', ""))
    verdict = Release.load(path).check()
    assert verdict.datasets["companies"].dictionary["size"].role == "quasi_identifier"
    assert verdict.publications["companies"].unlisted == ()
    assert verdict.outcomes[0].value == 1.0  # with sizes, every company but two is unique


def test_two_roles_for_an_attribute_are_for_a_person_to_decide(tmp_path: Path) -> None:
    rules = """
        % @name "sizes are published elsewhere"
        category("size", "quasi_identifier") :- att(_, "size").
        % @name "sizes are a secret"
        category("size", "sensitive") :- att(_, "size").
    """
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"))
    verdict = Release.load(path).check()
    assert verdict.status == "not judged"
    [reservation] = verdict.reservations
    text = str(reservation.sentence)
    assert "sizes are published elsewhere" in text
    assert "sizes are a secret" in text
    decided = ('"sector"]\n', '"sector"]\nsensitive = ["size"]\n')
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"), decided)
    verdict = Release.load(path).check()
    assert verdict.datasets["companies"].dictionary["size"].role == "sensitive"
    assert verdict.reservations == []
    assert "stays sensitive, as the release file says" in str(verdict)


def test_what_values_belong_to_makes_a_hierarchy(tmp_path: Path) -> None:
    rules = 'is_a("area", V, "Italy") :- val(_, _, "area", V).'
    limits = limit("k_anonymity", "at_least = 3")
    path = write_release(tmp_path, rules, limits, ('"suppress"', '"recode", "suppress"'))
    verdict = Release.load(path).check()
    assert verdict.datasets["companies"].dictionary["area"].hierarchy is not None
    rules = 'is_a("area", "North", "Italy").'
    verdict = Release.load(write_release(tmp_path, rules, limits)).check()
    assert verdict.datasets["companies"].dictionary["area"].hierarchy is None
    assert "not of 1 of its values" in str(verdict)


# Knowledge.

NEIGHBOUR = """
[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
dataset = "companies"
knows = ["area"]
"""


def test_what_rules_know_of_single_records_singles_these_out(tmp_path: Path) -> None:
    limits = NEIGHBOUR + '[[limit]]\nadversary = "neighbour"\nmeasure = "deterministic.posterior"\n'
    limits += "at_most = 0.5\n"
    before = Release.load(write_release(tmp_path, "listed(a3).", limits)).check()
    assert before.assessments[0].certain.posterior == 0
    rules = 'knows(I, "sector") :- listed(I). listed("a3"). listed("a1").'
    after = Release.load(write_release(tmp_path, rules, limits)).check()
    # Of the three companies of the North, a3 is the only one of its sector; a1 is one of two.
    assert after.assessments[0].certain.posterior == 1
    assert set(after.publications) == {"companies"}
    rules = 'knows_only(I, "sector") :- listed(I). listed("a3").'
    only = Release.load(write_release(tmp_path, rules, limits)).check()
    assert only.assessments[0].certain.posterior == 0


# Risk.

FEW_OF_A_SECTOR = """
    % @name "{I} is of an area where its sector has few companies"
    risk(I, 1 / N) :- val(M, I, "sector", S), val(M, I, "area", A),
        val(M, J, "sector", S), val(M, J, "area", A), N = mcount(<J>).
"""


def test_a_risk_that_rules_derive_is_limited(tmp_path: Path) -> None:
    path = write_release(tmp_path, FEW_OF_A_SECTOR, limit("rule_risk", "at_most = 0.5"))
    [outcome] = Release.load(path).check().outcomes
    assert outcome.value == 1.0
    assert not outcome.held
    path = write_release(tmp_path, FEW_OF_A_SECTOR, limit("rule_risk", "at_most = 1.0"))
    assert Release.load(path).check().outcomes[0].held


def test_a_risk_that_rules_derive_is_lowered_and_judged_anew(tmp_path: Path) -> None:
    rules = FEW_OF_A_SECTOR + 'is_a("area", V, "Italy") :- val(_, _, "area", V).'
    path = write_release(
        tmp_path,
        rules,
        limit("rule_risk", "at_most = 0.5"),
        (
            'methods = ["suppress"]\nsuppression_limit = 1.0',
            'methods = ["recode", "suppress"]\nsuppression_limit = 0.0',
        ),
    )
    protected = Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "pass"
    assert {each.rule for each in protected.decisions} == {"rule_risk at most 0.5"}
    published = read_records(next((tmp_path / "out" / "release").glob("companies*.csv")))
    shown = Counter((row["area"], row["sector"]) for row in published)
    assert len(published) == 6
    assert min(shown.values()) >= 2


def test_a_risk_that_is_gone_only_for_the_rules_is_not_gone(tmp_path: Path) -> None:
    # Hidden, or made coarser, the sector is no longer seen; who knows the company knows it.
    rules = 'risk(I, 1.0) :- val(_, I, "sector", "Commerce").'
    limits = limit("rule_risk", "at_most = 0.5")
    with pytest.raises(OutOfReachError, match="It holds by count only: the rules"):
        Release.load(write_release(tmp_path, rules, limits)).protect()
    recode = (
        'methods = ["suppress"]\nsuppression_limit = 1.0',
        'methods = ["recode"]\nsuppression_limit = 0.0',
    )
    coarser = rules + 'is_a("sector", V, "any") :- val(_, _, "sector", V).'
    with pytest.raises(OutOfReachError, match="It holds by count only: the rules"):
        Release.load(write_release(tmp_path, coarser, limits, recode)).protect()


@pytest.mark.parametrize(
    "rules",
    [
        'firm(id, sector) from dataset "companies". risk(I, 1) :- firm(I, "Commerce").',
        'risk(I, 1) :- original(_, I, "sector", V), is_a(V, "Services").',
    ],
)
@pytest.mark.parametrize("method", ["suppress", "recode"])
def test_what_rules_read_by_name_or_of_hierarchies_is_not_blinded(
    tmp_path: Path, rules: str, method: str
) -> None:
    pairs = '[["Textiles", "Industry"], ["Commerce", "Services"]]'
    hierarchy = f"[dataset.hierarchies]\nsector = {{ pairs = {pairs} }}\n\n"
    path = write_release(
        tmp_path,
        rules,
        limit("rule_risk", "at_most = 0.5"),
        (
            '[protection]\nmethods = ["suppress"]',
            f'{hierarchy}[protection]\nmethods = ["{method}"]',
        ),
    )
    assert not Release.load(path).check().passed
    with pytest.raises(OutOfReachError):
        Release.load(path).protect()


def test_a_risk_that_names_no_record_is_not_judged(tmp_path: Path) -> None:
    limits = limit("rule_risk", "at_most = 0.5")
    verdict = Release.load(write_release(tmp_path, 'risk("A1", 1).', limits)).check()
    assert verdict.status == "not judged"
    assert "no fact of risk names a record" in str(verdict)
    verdict = Release.load(write_release(tmp_path, 'risk("A1", 1). risk("a2", 1).', limits)).check()
    assert verdict.status == "fail"
    assert "1 fact of risk names no record" in str(verdict)


def test_a_risk_of_original_values_by_a_measure_is_lowered(tmp_path: Path) -> None:
    rules = 'risk(I, R) :- original(_, I, "sector", "Commerce"), #risk(I, R).'
    path = write_release(tmp_path, rules, limit("rule_risk", "at_most = 0.5"))
    protected = Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "pass"
    assert protected.suppressed_cells > 0


def test_what_rules_take_for_company_is_accepted_by_name_or_fails(tmp_path: Path) -> None:
    maybe = """
        risk(I, 1 / N) :- val(M, I, "sector", S), val(M, I, "area", A),
            val(M, J, "sector", T), val(M, J, "area", B), S =? T, A =? B, N = mcount(<J>).
    """
    limits = limit("rule_risk", "at_most = 0.5")
    with pytest.raises(OutOfReachError, match="It holds by count only: the rules"):
        Release.load(write_release(tmp_path, maybe, limits)).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    accepted = ("[[dataset]]", "accept_count_only = true\n[[dataset]]")
    protected = Release.load(write_release(tmp_path, maybe, limits, accepted)).protect()
    assert protected.status == "pass"


def test_a_rule_may_ask_for_a_measure_of_risk(tmp_path: Path) -> None:
    rules = 'risk(I, R) :- val(_, I, "sector", "Textiles"), #risk(I, R).'
    path = write_release(tmp_path, rules, limit("rule_risk", "at_most = 0.4"))
    [outcome] = Release.load(path).check().outcomes
    assert outcome.value == 1.0  # a6 is the only textile company of the South


# Conflicts.


def test_a_conflict_of_an_equality_rule_is_not_judged_and_both_derivations_are_told(
    tmp_path: Path,
) -> None:
    rules = """
        seat("a1", "North"). moved("a1", "South").
        % @name "{C} sits in {X}"
        at(C, X) :- seat(C, X).
        % @name "{C} moved to {X}"
        at(C, X) :- moved(C, X).
        % @name "{C} has one seat"
        X = Y :- at(C, X), at(C, Y).
    """
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"))
    verdict = Release.load(path).check()
    assert verdict.status == "not judged"
    assert "C has one seat" in str(verdict.reservations[0].sentence)
    told = str(verdict)
    assert "[2] = [3]: [1] has one seat" in told
    assert "at([1], [2]): [1] sits in [2]" in told
    assert "at([1], [3]): [1] moved to [3]" in told
    content = json.dumps(verdict.to_dict())
    assert "sits in [2]" in content
    page = verdict_page(verdict)
    for text in (told, content, page):
        assert "South" not in text
    assert "sits in [2]" in page


def test_rules_that_give_an_attribute_two_roles_are_told_with_what_led_to_them(
    tmp_path: Path,
) -> None:
    rules = """
        % @name "{A} is on every invoice"
        category(A, "quasi_identifier") :- shown(A).
        % @name "{A} is private"
        category(A, "sensitive") :- private(A).
        shown("size"). private("size").
    """
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"))
    verdict = Release.load(path).check()
    told = str(verdict)
    assert verdict.status == "not judged"
    assert 'category("size", "quasi_identifier"): size is on every invoice' in told
    assert 'category("size", "sensitive"): size is private' in told


def test_what_a_person_decided_between_rules_is_known_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIVULGE_EXPERIENCE", str(tmp_path / "own.csv"))
    rules = """
        category("sector", "quasi_identifier") :- att(_, "sector").
        category("sector", "non_identifying") :- att(_, "sector").
    """
    undecided = ('["area", "sector"]', '["area"]')
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"), undecided)
    assert Release.load(path).check().status == "not judged"
    decided = (*undecided[:1], '["area"]\nnon_identifying = ["sector"]')
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"), decided)
    assert "stays non_identifying, as the release file says" in str(Release.load(path).check())
    Experience.own().accept(Release.load(path).decided_roles()).save()
    drafted = draft([tmp_path / "companies.csv"], tmp_path)
    proposal = drafted.proposals["companies"].proposals["sector"]
    assert (proposal.role, proposal.status) == ("non_identifying", "settled")


# The problems of the docs page.

PAGE = Path(__file__).parents[2] / "docs" / "rules-in-a-release.md"
[FAMILIES, FEW_BANKS] = re.findall(
    r"```rules\n(.*?)```",
    PAGE.read_text(encoding="utf-8").split("## Two problems in full")[1].split("\n## ")[0],
    re.DOTALL,
)


def write_problem(folder: Path, name: str, data: str, rules: str, settings: str) -> Path:
    (folder / f"{name}.csv").write_text(data, encoding="utf-8")
    (folder / "problem.rules").write_text(rules, encoding="utf-8")
    path = folder / "release.toml"
    dataset = f'[[dataset]]\nname = "{name}"\nsource = "{name}.csv"\nunlisted = "drop"\n'
    end = '[protection]\nmethods = ["suppress"]\n[rules]\nfiles = ["problem.rules"]\n'
    path.write_text(f"{dataset}{settings}\n{end}", encoding="utf-8")
    return path


def test_banks_of_a_province_with_few_are_never_published(tmp_path: Path) -> None:
    towns = ["Milano"] * 4 + ["Como"] * 2 + ["Roma"] * 3 + ["Bari"]
    data = "bank,province,assets\n" + "".join(f"b{n},{town},{n}\n" for n, town in enumerate(towns))
    settings = (
        '[dataset.roles]\nidentifier = "bank"\nquasi_identifier = ["province"]\n'
        'non_identifying = ["assets"]\n'
        '[[limit]]\ndataset = "banks"\nmeasure = "k_anonymity"\nat_least = 3\n'
    )
    path = write_problem(tmp_path, "banks", data, FEW_BANKS, settings)
    assert Release.load(path).check().status == "fail"
    protected = Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "pass"
    published = read_records(next((tmp_path / "out" / "release").glob("banks*.csv")))
    assert Counter(row["province"] for row in published) == {"Milano": 4, "Roma": 3}
    assert "b4 is a bank of" not in str(protected)
    assert any("B is a bank of P" in str(each.rule) for each in protected.decisions)


def test_families_by_address_and_surname_are_found_as_hardly_as_one_person(tmp_path: Path) -> None:
    people = [("Rossi", "Via Roma 1", "clerk"), ("Rossi", "Via Roma 1", "smith")]
    people += [("Rossi", "Via Po 2", "clerk"), ("Neri", "Via Roma 1", "smith")]
    people += [("Verdi", f"Via Po {n}", ("clerk", "smith", "nurse")[n % 3]) for n in range(3, 14)]
    rows = "".join(f"{n},{','.join(one)}\n" for n, one in enumerate(people))
    settings = (
        '[dataset.roles]\nidentifier = "nr"\nquasi_identifier = ["job"]\n'
        '[[limit]]\ndataset = "residents"\nmeasure = "k_anonymity"\nat_least = 2\n'
        'links = "family"\n'
    )
    data = f"nr,surname,address,job\n{rows}"
    path = write_problem(tmp_path, "residents", data, FAMILIES, settings)
    verdict = Release.load(path).check()
    results = verdict.release.rule_results
    assert results is not None
    assert results.counts["family"] == 1
    assert "2 of 15 records are linked" in str(verdict)


# What rules hide, and something else tells.


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ('hide("5", "sector").', "1 cell of dataset .* that rules hide can be read"),
        ('hide("5", "code").', "1 cell of dataset .* that rules hide can be read"),
        (ANY_SECTOR + 'recode("sector", 1).', "Finer values of .sector. .* can be read"),
    ],
)
def test_what_rules_hide_must_not_be_told_by_what_stands_beside(
    tmp_path: Path, rules: str, told: str
) -> None:
    sectors = [("Textiles", "T"), ("Commerce", "C"), ("Services", "S")]
    rows = [f"{n},{'NS'[n // 60]},{','.join(sectors[n % 3])}" for n in range(120)]
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 2"))
    (tmp_path / "companies.csv").write_text("id,area,sector,code\n" + "\n".join(rows) + "\n")
    roles = '"sector"]\nnon_identifying = ["code"]'
    text = path.read_text().replace('"sector"]', roles)
    path.write_text(text.replace('["suppress"]', '["recode", "suppress"]'))
    protected = Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "fail"
    assert re.search(told, str(protected.after))
    assert not (tmp_path / "out" / "release").exists()


def test_a_cell_that_is_not_published_needs_no_hiding(tmp_path: Path) -> None:
    limits = limit("k_anonymity", "at_least = 2")
    path = write_release(tmp_path, 'hide("a1", "size"). hide("a1", "id").', limits, ALIKE)
    assert Release.load(path).check().status == "pass"


# Rules evaluated again on what protection has left.

ALONE = ('["area", "sector"]', '["area"]')
FEW_OF_AN_AREA = """
    few(A, N) :- val(_, I, "area", A), N = mcount(<I>), N < 3.
    % @name "{I} is of an area with few"
    remove(I) :- val(_, I, "area", A), few(A, _).
    % @name "a4 objects"
    remove("a4").
"""
CHAIN = """
    here(I) :- val(_, I, _, _).
    next("a1", "a2"). next("a2", "a3"). next("a3", "a4").
    remove("a1").
    remove(J) :- next(I, J), not here(I).
"""


def test_what_is_few_once_somebody_else_is_removed_is_removed_too(tmp_path: Path) -> None:
    path = write_release(tmp_path, FEW_OF_AN_AREA, limit("k_anonymity", "at_least = 2"), ALONE)
    protected = Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "pass"
    assert "the rules required 2 further changes" in str(protected.after)
    rules = Counter(str(each.rule) for each in protected.decisions)
    assert rules == {"a4 objects": 1, "I is of an area with few": 2}
    published = read_records(next((tmp_path / "out" / "release").glob("companies*.csv")))
    assert [row["area"] for row in published] == ["North"] * 3


def test_what_is_kept_is_not_asked_for_again_and_again(tmp_path: Path) -> None:
    rules = 'keep("a1", "area"). hide(I, "area") :- val(_, I, "sector", "Textiles").'
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"))
    protected = Release.load(path).protect()
    assert "further change" not in str(protected.after)


def test_rules_that_go_on_asking_are_stopped_with_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_release(tmp_path, CHAIN, limit("k_anonymity", "at_least = 2"), ALONE)
    assert "the rules required 3 further changes" in str(Release.load(path).protect().after)
    monkeypatch.setattr(tuning, "MOST_ROUNDS", 3)
    with pytest.raises(OutOfReachError, match="after each of 3 protections"):
        Release.load(path).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# Several datasets.

PEOPLE = """id,town,job
1,Roma,clerk
2,Roma,clerk
3,Bari,smith
4,Bari,smith
5,Bari,clerk
6,Roma,smith
"""


def write_two(folder: Path, rules: str, limits: str) -> Path:
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    people = """[[dataset]]
name = "people"
source = "people.csv"

[dataset.roles]
identifier = ["id"]
quasi_identifier = ["town", "job"]

[protection]"""
    return write_release(folder, rules, limits, ("[protection]", people))


def test_rules_of_several_datasets_say_which_they_mean(tmp_path: Path) -> None:
    rules = """
        risk(M, I, R) :- original(M, I, "town", "Bari"), #risk(M, I, R).
        hide("companies", "a3", "sector").
        keep(M, I, "area") :- val(M, I, "area", "South").
    """
    bound = limit("rule_risk", "at_most = 0.5").replace('"companies"', '"people"')
    path = write_two(tmp_path, rules, bound)
    [outcome] = Release.load(path).check().outcomes
    assert (outcome.value, outcome.held) == (1.0, False)  # the only clerk of Bari
    protected = Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "pass"
    people = read_records(next((tmp_path / "out" / "release").glob("people*.csv")))
    fitting = [
        row
        for row in people
        if row["town"] in ("Bari", "suppressed") and row["job"] in ("clerk", "suppressed")
    ]
    assert len(fitting) >= 2
    firms = read_records(next((tmp_path / "out" / "release").glob("companies*.csv")))
    assert Counter(row["sector"] for row in firms)["suppressed"] == 1
    assert sum(row["area"] == "South" for row in firms) == 3


def test_a_risk_that_may_be_of_several_datasets_is_refused(tmp_path: Path) -> None:
    rules = 'risk(M, I, R) :- original(M, I, "town", "Bari"), #risk(I, R).'
    path = write_two(tmp_path, rules, limit("k_anonymity", "at_least = 1"))
    with pytest.raises(InvalidInput, match=r"which is meant by a first argument: #risk\(M, I, R\)"):
        Release.load(path).check()


# Directives.


def test_rules_keep_hide_and_remove(tmp_path: Path) -> None:
    rules = """
        % @name "{I} is listed"
        keep(I, "area") :- listed(I).
        listed("a3").
        % @name "{I} asked for it"
        hide(I, "sector") :- asked(I).
        asked("a4").
        remove("a5").
    """
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 1"))
    protected = Release.load(path).protect()
    data = protected.datasets["companies"].to_arrow().to_pylist()
    assert len(data) == 5
    rules_of = {(each.record, each.attribute): each.rule for each in protected.decisions}
    assert rules_of[3, "sector"] == "I asked for it"
    assert "I is listed" not in rules_of.values()


def test_rules_are_obeyed_where_nothing_is_limited(tmp_path: Path) -> None:
    path = write_release(tmp_path, 'hide("a4", "sector"). remove("a5").')
    protected = Release.load(path).protect()
    data = protected.datasets["companies"].to_arrow()
    assert "1 record was removed: rules require it." in protected.explain()
    assert "no suppression can protect it" not in " ".join(protected.explain())
    assert data.num_rows == 5
    assert data["sector"].null_count == 1


ALIKE = ('quasi_identifier = ["area", "sector"]', 'quasi_identifier = ["sector"]')


def test_what_rules_forbid_does_not_pass_a_check(tmp_path: Path) -> None:
    limits = limit("k_anonymity", "at_least = 2")
    path = write_release(tmp_path, "x(1).", limits, ALIKE)
    assert Release.load(path).check().status == "pass"
    rules = (
        'hide("a4", "sector"). remove("a5"). is_a("sector", V, "any") :- val(_, _, "sector", V).'
    )
    for text, said in (
        (rules, "1 cell"),
        (rules, "1 record"),
        (rules + 'recode("sector", 1).', "finer"),
    ):
        verdict = Release.load(write_release(tmp_path, text, limits, ALIKE)).check()
        assert verdict.status == "fail"
        assert any(said in str(each.sentence) for each in verdict.reservations)
    assert Release.load(write_release(tmp_path, rules, limits, ALIKE)).protect().status == "pass"


def test_a_level_that_rules_ask_for_is_reached_by_the_hierarchy_that_they_give(
    tmp_path: Path,
) -> None:
    rules = 'is_a("sector", V, "any") :- val(_, _, "sector", V). recode("sector", 1).'
    path = write_release(tmp_path, rules, limit("k_anonymity", "at_least = 2"), ALIKE)
    path.write_text(path.read_text().replace('["suppress"]', '["recode", "suppress"]'))
    protected = Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "pass"
    published = read_records(next((tmp_path / "out" / "release").glob("companies*.csv")))
    assert {row["sector"] for row in published} == {"any"}


@pytest.mark.parametrize(
    ("threshold", "held"), [("2", True), ("3", True), ("4", False), ("0.3", False)]
)
def test_a_record_may_have_a_limit_of_its_own(tmp_path: Path, threshold: str, held: bool) -> None:
    """Three companies are in each of the two sectors."""
    rules = f'threshold("a1", {threshold}).'
    limits = limit("k_anonymity", "at_least = 2")
    [outcome] = Release.load(write_release(tmp_path, rules, limits, ALIKE)).check().outcomes
    assert outcome.held is held
    assert "1 record has a threshold of its own" in " ".join(map(str, outcome.sentences))


def test_a_looser_threshold_lets_nobody_off(tmp_path: Path) -> None:
    rules = 'threshold("a3", 1). threshold("a6", 1).'
    limits = limit("k_anonymity", "at_least = 2")
    [outcome] = Release.load(write_release(tmp_path, rules, limits)).check().outcomes
    assert not outcome.held


def test_a_threshold_of_one_record_is_reached_by_protection(tmp_path: Path) -> None:
    limits = limit("k_anonymity", "at_least = 2")
    plain = Release.load(write_release(tmp_path, "x(1).", limits)).protect()
    rules = '% @name "{I} is a large employer"\nthreshold(I, 4) :- large(I). large("a1").'
    strict = Release.load(write_release(tmp_path, rules, limits)).protect()
    assert strict.status == "pass"
    assert strict.suppressed_cells > plain.suppressed_cells


# Bad input.


@pytest.mark.parametrize(
    ("rules", "limits", "message"),
    [
        ("keep(I :- x(I).", "", 'rules, files, "company.rules", line 1'),
        ("rel(X) :- own(X, _), Y > 1.", "", '"Y"'),
        ('keep("a1").', "", "in a release, write keep(I, A), or keep(M, I, A)"),
        ("companies(1, 2).", "", '"companies" is a dataset of the release'),
        ("", limit("rule_risk", "at_most = 0.5"), "no rule of the release does"),
    ],
)
def test_what_is_wrong_with_rules_is_said_before_records_are_read(
    tmp_path: Path, rules: str, limits: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        Release.load(write_release(tmp_path, rules, limits))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ('category("size", "quasy_identifier").', 'Did you mean "quasi_identifier"'),
        ('category("sise", "sensitive").', 'Did you mean "size"'),
        ('hide("firms", "a1", "area").', '"firms" is no dataset of records'),
        ('risk("a1", 1.5).', "1 of the risks that rules derive are no numbers from 0 to 1"),
        ('recode("area", "high").', "contains something that is no whole number"),
        ("x(1). y(A / B) :- x(A), B = A - 1.", "division"),
        ('own(X, Y) from "stakes.csv".', 'there is no file "stakes.csv"'),
        ('own(X, Y) from dataset "firm".', 'there is no dataset "firm"'),
    ],
)
def test_what_only_records_show_to_be_wrong_is_said(
    tmp_path: Path, rules: str, message: str
) -> None:
    bound = limit("rule_risk", "at_most = 0.5") if "risk" in rules else ""
    path = write_release(tmp_path, rules, bound)
    with pytest.raises(InvalidInput) as error:
        Release.load(path).check()
    assert message in str(error.value)


def test_a_rule_file_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    path = write_release(tmp_path, "", "", ("company.rules", "companys.rules"))
    with pytest.raises(InvalidInput, match='Did you mean "company.rules"'):
        Release.load(path)


def test_records_without_an_identifier_cannot_be_named_by_rules(tmp_path: Path) -> None:
    path = write_release(
        tmp_path, 'hide("a1", "area").', "", ('identifier = ["id"]', 'non_identifying = ["id"]')
    )
    with pytest.raises(InvalidInput, match="give exactly one attribute that role"):
        Release.load(path).check()


# The example.


def test_the_example_keeps_what_rules_keep_and_passes(tmp_path: Path) -> None:
    release = Release.load(EXAMPLES / "rules" / "release.toml")
    protected = release.protect(out=tmp_path / "out")
    assert protected.before.status == "fail"
    assert protected.status == "pass"
    listed = {row["company"] for row in read_records(EXAMPLES / "rules" / "listed.csv")}
    before = protected.kept_sources["companies"].to_arrow().to_pylist()
    after = protected.datasets["companies"].to_arrow().to_pylist()
    shown = [
        (one["Residential Rev."], other["Residential Rev."])
        for one, other in zip(before, after, strict=True)
        if str(one["Id"]) in listed
    ]
    assert len(shown) == len(listed) == 3
    assert all(one == other for one, other in shown)
    assert not {"stakes.csv", "listed.csv"} & {
        path.name for path in (tmp_path / "out" / "release").iterdir()
    }


def test_the_report_says_what_follows_from_rules(tmp_path: Path) -> None:
    verdict = Release.load(EXAMPLES / "rules" / "release.toml").check()
    report(verdict, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<td>group</td><td class="n">22</td><td>X controls Y</td>' in page
    assert "900001" not in page
    assert verdict.to_dict()["rules"]["facts"]["group"] == 22
