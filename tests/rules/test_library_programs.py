"""The library of rule programs: what is in it, and how it is loaded."""

from __future__ import annotations

import pytest

from divulge.rules import Program, check_program, list_library, load_library
from divulge.rules.language.formatter import format_program, remove_places
from divulge.rules.language.syntax import FactSource
from divulge.work import InvalidInput

NAMES = sorted(list_library())


def test_the_library_has_the_algorithms_and_domain_problems() -> None:
    assert NAMES == [
        "anonymization_cycle",
        "categorisation",
        "cluster_risk",
        "company_control",
        "families",
        "few_banks",
        "global_recoding",
        "individual_risk",
        "k_anonymity",
        "local_suppression",
        "reidentification_risk",
        "suda",
    ]
    assert all(summary.endswith(".") for summary in list_library().values())


@pytest.mark.parametrize("name", NAMES)
def test_a_program_of_the_library_is_sound(name: str) -> None:
    checked = check_program(load_library(name))
    assert checked.problems == ()
    assert not checked.may_not_end
    # What is remarked on are predicates that data give; everything else is defined and used.
    assert all("has no facts, no source and no rule" in str(one) for one in checked.remarks)


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_of_the_library_has_a_name_in_words(name: str) -> None:
    for statement in load_library(name).statements:
        assert not isinstance(statement, FactSource)
        assert statement.name


@pytest.mark.parametrize("name", NAMES)
def test_a_program_of_the_library_says_what_it_needs_and_tells(name: str) -> None:
    text = load_library(name).text
    assert "\n% Given: " in text
    assert "\n% Tells: " in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_nearest_name_is_told() -> None:
    with pytest.raises(InvalidInput, match='no program "k_anonimity".*"k_anonymity"'):
        load_library("k_anonimity")
    with pytest.raises(InvalidInput, match="name a program: anonymization_cycle, "):
        load_library()


def test_several_programs_say_once_what_they_have_in_common() -> None:
    one, other = load_library("k_anonymity"), load_library("anonymization_cycle")
    both = load_library("k_anonymity", "anonymization_cycle")
    assert len(both.statements) == len(one.statements) + len(other.statements) - 1
    assert both.origin == 'library "k_anonymity" and "anonymization_cycle"'
    assert remove_places(Program.parse(format_program(both)).statements) == remove_places(
        both.statements
    )
    assert load_library("k_anonymity", "k_anonymity") == load_library("k_anonymity")
    # A place in a message is one in the text that the program holds.
    last = both.statements[-1]
    assert both.text.splitlines()[last.place.line - 1].startswith("released(M, I, VSet)")
