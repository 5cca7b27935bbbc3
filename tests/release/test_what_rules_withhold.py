"""What rules hide or remove, attacked from what would go out beside: tables, order, other files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tests.release.test_rules import limit, write_release

from divulge import Release

AREAS = ["North"] * 9 + ["Center"] * 9 + ["South"] * 8
SECTORS = ["Textiles", "Commerce"]
AT_LEAST_2 = limit("k_anonymity", "at_least = 2")
TABLE = """
[[adversary]]
name = "reader"
dataset = "companies"
attack = "tables"
by = ["area", "sector"]
min_frequency = 1
[[limit]]
adversary = "reader"
measure = "deterministic.posterior"
at_most = 1.0
"""


def write_companies(
    folder: Path, rules: str, limits: str, replaced: tuple[str, str] | None = None
) -> Release:
    path = write_release(folder, rules, limits, replaced)
    rows = [f"a{n},{area},{SECTORS[n % 2]},10" for n, area in enumerate(AREAS, start=1)]
    (folder / "companies.csv").write_text("\n".join(["id,area,sector,size", *rows, ""]))
    return Release.load(path)


@pytest.mark.parametrize("rules", ['hide("a5", "sector").', 'remove("a5").'])
def test_a_table_of_all_records_tells_what_rules_withhold(tmp_path: Path, rules: str) -> None:
    protected = write_companies(tmp_path, rules, AT_LEAST_2 + TABLE).protect(out=tmp_path / "out")
    assert protected.status == "not judged"
    assert not (tmp_path / "out" / "release").exists()
    assert any(
        "rules remove some of them or hide what it counts" in str(each.sentence)
        for each in protected.after.reservations
    )


def test_a_table_that_counts_nothing_of_what_rules_hide_goes_out_beside(tmp_path: Path) -> None:
    rules = 'hide("a5", "size").'
    roles = (
        'quasi_identifier = ["area", "sector"]',
        'quasi_identifier = ["area", "sector", "size"]',
    )
    release = write_companies(tmp_path, rules, AT_LEAST_2 + TABLE, roles)
    protected = release.protect(out=tmp_path / "out")
    assert protected.status == "pass"
    assert (tmp_path / "out" / "release" / "table_reader.csv").exists()


ALL_OF_COMMERCE = 'hide(I, "sector") :- original(_, I, "sector", "Commerce").'


def read_by_list(path: Path, values: set[str]) -> list[str]:
    """What somebody reads who knows which values there are: the only one that is missing."""
    frame = pd.read_csv(path)
    missing = values - set(frame["sector"])
    return frame["sector"].where(frame["sector"] != "suppressed", next(iter(missing))).tolist()


@pytest.mark.parametrize("is_shown_elsewhere", [False, True])
def test_a_value_that_is_hidden_wherever_it_stands_is_read_by_who_knows_the_list(
    tmp_path: Path, is_shown_elsewhere: bool
) -> None:
    others = ' hide("a2", "sector").' if is_shown_elsewhere else ""
    rules = ALL_OF_COMMERCE + others
    protected = write_companies(tmp_path, rules, AT_LEAST_2).protect(out=tmp_path / "out")
    said = [str(each.sentence) for each in protected.after.reservations]
    if is_shown_elsewhere:  # among the hidden cells there is another value
        assert protected.status == "pass"
        return
    assert protected.status == "not judged"
    assert any("sees which one is missing" in each for each in said)
    assert not (tmp_path / "out" / "release").exists()
    stated = ("[rules]", '[rules]\nvalue_lists = "secret"')
    protected = write_companies(tmp_path, rules, AT_LEAST_2, stated).protect(
        out=tmp_path / "stated"
    )
    assert protected.status == "pass"
    assert any("are taken to be secret" in str(each) for each in protected.after.sentences)
    read = read_by_list(tmp_path / "stated" / "release" / "companies.csv", set(SECTORS))
    assert sorted(read) == sorted(SECTORS[n % 2] for n in range(1, len(AREAS) + 1))


def test_who_hides_what_rules_hide_has_company_and_is_not_removed(tmp_path: Path) -> None:
    protected = write_companies(tmp_path, 'hide("a5", "sector").', AT_LEAST_2).protect()
    hidden = [each for each in protected.decisions if each.change == "suppressed"]
    assert protected.status == "pass"
    assert protected.datasets["companies"].rows == len(AREAS)
    assert {each.attribute for each in hidden} == {"sector"}
    assert len(hidden) == 2
    # Where rules leave nobody who could hide the same, the record cannot be shown.
    kept = 'hide("a5", "sector"). keep(I, "sector") :- original(_, I, "area", "North"), I != "a5".'
    protected = write_companies(tmp_path, kept, AT_LEAST_2).protect()
    assert protected.status == "pass"
    assert protected.datasets["companies"].rows == len(AREAS) - 1
