"""Rules evaluated again each round: what follows from the records as protection has left them counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from tests.release.test_rules import ALONE, limit, read_records, write_release

from divulge import Release, work
from divulge.protection import OutOfReachError
from divulge.release.protected_release import ProtectedRelease
from divulge.release.rule_programs import rule_rounds, settle_rules
from divulge.release.rule_programs.rule_results import RuleResults

AREAS = ["North"] * 9 + ["Center"] * 8 + ["South"] * 3
SECTORS = ["Textiles", "Commerce"]
TWO_LEFT = """
    % @name "a18 objects"
    remove("a18").
    few(A) :- val(_, I, "area", A), A is not null, N = mcount(<I>), N < 3.
    of_few(I) :- val(_, I, "area", A), few(A).
"""
"""Of the three companies of the South two are left: a19, in commerce, and a20, in textiles."""
AT_LEAST_2 = limit("k_anonymity", "at_least = 2")
NEIGHBOUR = """
[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
dataset = "companies"
knows = ["area"]

[[limit]]
adversary = "neighbour"
measure = "deterministic.posterior"
at_most = BOUND
"""


def protect(
    folder: Path, rules: str, limits: str, roles: tuple[str, str] | None = ALONE
) -> ProtectedRelease:
    folder.mkdir(exist_ok=True)
    path = write_release(folder, rules, limits, roles)
    rows = [f"a{n},{area},{SECTORS[n % 2]},10" for n, area in enumerate(AREAS, start=1)]
    (folder / "companies.csv").write_text("\n".join(["id,area,sector,size", *rows, ""]))
    return Release.load(path).protect(out=folder / "out")


def count_areas(folder: Path) -> Counter[str]:
    published = next((folder / "out" / "release").glob("companies*.csv"))
    return Counter(row["area"] for row in read_records(published))


def read_results(protected: ProtectedRelease) -> RuleResults:
    assert protected.release.rule_results is not None
    return protected.release.rule_results


def test_records_that_rules_link_only_when_others_are_gone_are_found_as_hardly_as_one(
    tmp_path: Path,
) -> None:
    limits = limit("k_anonymity", "at_least = 2", 'links = "linked"')
    plain = TWO_LEFT + 'linked("a19", "holding").'
    without = protect(tmp_path, plain, limits)
    assert without.suppressed_cells == 0
    assert count_areas(tmp_path)["South"] == 2
    rules = plain + "linked(I, J) :- of_few(I), of_few(J), I < J."
    protected = protect(tmp_path / "linked", rules, limits)
    assert protected.status == "pass"
    assert dict(read_results(protected).besides) == {"linked": 1}
    assert "the rules also derived: 1 linked" in str(protected.after)
    assert protected.suppressed_cells > 0


def test_a_threshold_that_follows_only_when_others_are_gone_is_kept(tmp_path: Path) -> None:
    rules = TWO_LEFT + "threshold(I, 3) :- of_few(I)."
    protected = protect(tmp_path, rules, AT_LEAST_2)
    assert protected.status == "pass"
    assert dict(read_results(protected).besides) == {"threshold": 2}
    assert count_areas(tmp_path)["South"] == 0


def test_what_rules_take_for_known_only_when_others_are_gone_is_known(tmp_path: Path) -> None:
    limits = NEIGHBOUR.replace("BOUND", "0.0")
    plain = protect(tmp_path, TWO_LEFT, limits, None)
    assert plain.suppressed_cells == 0
    rules = TWO_LEFT + 'knows(I, "sector") :- of_few(I).'
    # Of the two that are left one trades and one weaves, so whoever knows that tells them apart.
    protected = protect(tmp_path / "known", rules, limits, None)
    assert dict(read_results(protected).besides) == {"knows": 2}
    assert protected.status == "pass"
    assert protected.suppressed_cells > 0


def test_protection_does_not_make_less_known_of_anybody(tmp_path: Path) -> None:
    limits = NEIGHBOUR.replace("BOUND", "0.5")
    little = 'hide("a1", "area"). knows_only(I, "sector") :- val(_, I, "area", V), '
    protected = protect(tmp_path / "lifted", little + 'V = "North".', limits, None)
    results = read_results(protected)
    assert results.unrestricted == 1
    assert "no longer limit what adversaries know about 1 record" in str(protected.after)
    assert [row["first"] for row in results.pairs["knows_only"].to_arrow().to_pylist()] == [
        f"a{n}" for n in range(2, 10)
    ]
    # Of a1, whose area is hidden, rules say only then that little is known.
    protected = protect(tmp_path / "new", little + "V is null.", limits, None)
    assert read_results(protected).pairs["knows_only"].rows == 0


def test_a_cell_that_is_kept_from_now_on_was_not_kept_before(tmp_path: Path) -> None:
    rules = TWO_LEFT + 'keep(I, "area") :- of_few(I).'
    kept = protect(tmp_path / "kept", rules, AT_LEAST_2)
    assert kept.status == "pass"
    assert read_results(kept).directives["companies"].keep == ()
    # Where a further round would change it, a limit is out of reach.
    with pytest.raises(OutOfReachError, match="cells that rules keep"):
        protect(tmp_path / "both", rules + "threshold(I, 3) :- of_few(I).", AT_LEAST_2)
    hidden = 'hide("a5", "area"). keep(I, "area") :- val(_, I, "area", V), V is null.'
    protect(tmp_path / "hidden", hidden, AT_LEAST_2)
    assert count_areas(tmp_path / "hidden") == {
        "North": 7,
        "Center": 8,
        "South": 3,
        "suppressed": 2,
    }


def test_what_has_a_rank_keeps_it(tmp_path: Path) -> None:
    rules = (
        TWO_LEFT
        + """
        prefer("area", 1). prefer("area", 2) :- few(_). order("most risky first") :- few(_).
    """
    )
    results = read_results(protect(tmp_path, rules, AT_LEAST_2))
    assert dict(results.besides) == {"order": 1}
    assert [row.rank for row in results.directives["companies"].prefer] == [1.0]


def test_values_that_become_one_only_in_a_later_round_are_for_a_person(tmp_path: Path) -> None:
    rules = (
        TWO_LEFT
        + """
        seat(I, "here") :- of_few(I).
        seat("a19", "there").
        % @name "{I} has one seat"
        X = Y :- seat(I, X), seat(I, Y).
        keep(I, "sector") :- seat(I, "nowhere").
    """
    )
    protected = protect(tmp_path, rules, AT_LEAST_2)
    assert protected.before.status == "fail"
    assert protected.status == "not judged"
    assert "I has one seat" in str(protected.after)
    assert not (tmp_path / "out" / "release").exists()


@pytest.mark.parametrize(
    "rules", ['keep("a1", "area").', 'threshold(I, 2) :- original(_, I, "area", _).']
)
def test_what_does_not_depend_on_published_records_follows_once(
    tmp_path: Path, rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("evaluated again")

    monkeypatch.setattr(rule_rounds, "evaluate_rules", refuse)
    assert protect(tmp_path, rules + 'remove("a18").', AT_LEAST_2).status == "pass"


@pytest.mark.parametrize("interruption", [work.Cancelled, work.BudgetSpent, work.NotEnoughMemory])
@pytest.mark.parametrize("place", [settle_rules, rule_rounds], ids=["first", "later"])
def test_rules_that_are_stopped_leave_what_was_written_before(
    tmp_path: Path,
    interruption: type[work.Interruption],
    place: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = TWO_LEFT + "threshold(I, 3) :- of_few(I)."
    protect(tmp_path, 'keep("a1", "area").', AT_LEAST_2)

    def read_files() -> dict[str, bytes]:
        files = (tmp_path / "out").rglob("*")
        return {str(path): path.read_bytes() for path in files if path.is_file()}

    def stop(*_: object) -> None:
        raise interruption("stopped")

    before = read_files()
    (tmp_path / "company.rules").write_text(rules)
    monkeypatch.setattr(place, "evaluate_rules", stop)
    with pytest.raises(interruption):
        Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out", overwrite=True)
    assert read_files() == before
    assert {path.name for path in tmp_path.iterdir()} == {
        "companies.csv",
        "company.rules",
        "out",
        "release.toml",
    }
