"""One list of the measures of risk: whoever names them, reads it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from divulge import Dataset, Limit, datasets
from divulge.assessment import attacks, measures
from divulge.assessment.assessment_measures import ASSESSMENT_MEASURES
from divulge.records.risk.class_measures.l_diversity import count_distinct_values
from divulge.records.risk.class_measures.sensitive_classes import count_sensitive_values
from divulge.records.risk.null_readings import DEFAULT_NULLS, SEMANTICS
from divulge.records.risk.options import OtherDataset, RiskFunction
from divulge.records.risk.registry import EVERY_NAME, MEASURES, find_measure, gather_settings
from divulge.release import release_schema
from divulge.work import InvalidInput

PROJECT = Path(__file__).parents[2]
TOLD = [name for name, spec in MEASURES.items() if not spec.needs_function]
"""Measures that a text may ask for: others need a function."""
ALIASES = {alias: spec.name for spec in MEASURES.values() for alias in spec.aliases}
COMPANIES = datasets.inflation_and_growth_example()
HOUSEHOLDS = COMPANIES.describe({"quasi_identifier": ["Sector"], "household": "Area"})


def adversary_schema() -> Any:
    """The schema of what an adversary of `attack = "risk"` may be told."""
    rules = release_schema()["$defs"]["AdversaryTable"]["allOf"]
    [then] = [
        rule["then"] for rule in rules if rule["if"]["properties"]["attack"]["const"] == "risk"
    ]
    return then["properties"]


def page(name: str) -> str:
    return (PROJECT / "docs" / name).read_text()


def named(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)


def question(name: str) -> tuple[dict[str, Any], list[Dataset]]:
    """What to tell a measure, and the datasets that it needs."""
    spec = find_measure(name)
    told: dict[str, Any] = {"measure": name}
    if spec.of_attribute:
        told |= {"knows": "Area", "seeks": "Growth"}
    if "among" in spec.needs:
        told |= {"knows": "Weight"}
    if "sampling_fraction" in spec.options:
        told |= {"sampling_fraction": 0.1}
    seen = HOUSEHOLDS if spec.name == "household_risk" else COMPANIES
    return told, [seen] * (1 + bool({"population", "original"} & set(spec.needs)))


def test_every_name_belongs_to_one_measure() -> None:
    assert max(Counter(EVERY_NAME).values()) == 1
    assert set(EVERY_NAME) == {*TOLD, *ALIASES}
    assert not set(EVERY_NAME) & set(ASSESSMENT_MEASURES)
    assert all(spec.name == name for name, spec in MEASURES.items())


def test_limits_schemas_and_the_command_line_have_the_measures_of_the_registry() -> None:
    from typer.testing import CliRunner

    from divulge.cli.main import app

    assert list(measures()) == list(MEASURES)
    limit = release_schema()["$defs"]["LimitTable"]["properties"]["measure"]["enum"]
    assert limit == [*ASSESSMENT_MEASURES, *sorted(TOLD), "rule_risk"]
    assert adversary_schema()["measure"]["enum"] == list(EVERY_NAME)
    told = CliRunner().invoke(app, ["risk", "--help"], env={"NO_COLOR": "1"}).output
    squeezed = re.sub(r"[\s│]", "", told)
    listed = squeezed.partition("Themeasureofrisk:")[2].partition(".[default")[0]
    names = re.split(r",|\(or", listed.replace(")", ""))
    assert names == list(EVERY_NAME)


def test_the_package_registers_its_measures_by_one_entry_point() -> None:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    points = settings["project"]["entry-points"]["divulge.measures"]
    assert list(points.values()) == ["divulge.records.risk.registry:MEASURES"]


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_a_further_name_is_understood_everywhere_and_results_have_the_first(
    alias: str, name: str
) -> None:
    assert find_measure(alias) is MEASURES[name]
    assert measures()[alias] is measures()[name]
    limit = Limit(alias, at_most=0.5)
    assert limit == Limit(name, at_most=0.5)
    assert limit.to_dict()["measure"] == name
    assert _assess(alias).to_dict() == _assess(name).to_dict()


@pytest.mark.parametrize("name", TOLD)
def test_every_measure_can_be_an_adversary(name: str) -> None:
    found = _assess(name)
    assert found.attack == "risk"
    assert 0 <= found.probabilistic.posterior <= 1


def _assess(name: str) -> Any:
    told, seen = question(name)
    attack = attacks()["risk"]
    settings = attack.Settings.model_validate(told)
    assert not list(attack.problems(settings, {str(i): of.names for i, of in enumerate(seen)}))
    return attack.run(settings, seen)


def test_an_adversary_may_be_told_the_options_of_all_measures_and_their_defaults() -> None:
    schema = adversary_schema()
    for name, option in gather_settings().items():
        assert schema[name]["default"] == option.default
        assert schema[name]["description"] == option.description
    assert set(schema["nulls"]["enum"]) == {"maybe", "standard", "value", "known", "bayes"}


def test_what_an_adversary_may_be_told_a_limit_takes_as_well() -> None:
    """A default of a setting is never refused by the option that it comes from."""
    for spec in MEASURES.values():
        for name, option in spec.options.items():
            if not isinstance(option, OtherDataset | RiskFunction) and option.default is not None:
                assert option.problem(name, option.default) is None
        assert set(spec.needs) <= {"among", *spec.options}


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"sampling_fraction": 2}, "sampling_fraction: is not a number above 0 and up to 1"),
        ({"sampling_fraction": True}, "sampling_fraction: is not a number above 0"),
        ({"max_size": 0}, "max_size: is not a whole number from 1"),
        ({"nulls": "standard"}, '"standard" is not one of them'),
        ({"method": "exact"}, "method: is not an option of dis_suda"),
    ],
)
def test_an_option_that_cannot_be_is_refused_with_the_limit(
    options: dict[str, Any], wanted: str
) -> None:
    with pytest.raises(InvalidInput, match=wanted):
        Limit("suda", at_most=0.5, **options)


def test_the_page_of_the_release_file_lists_every_measure_that_a_limit_may_name() -> None:
    section = page("release-file.md").partition("## `[[limit]]`")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()
        if line.startswith("|")
    ]  # fmt: skip
    cells = [row[0] for row in rows if row[1].startswith("dataset")]
    listed = [name for cell in cells for name in named(re.sub(r"\([^)]*\)", "", cell))]
    assert sorted(listed) == sorted(TOLD)


def test_the_page_of_risks_lists_every_name_that_an_adversary_may_give() -> None:
    sentence = page("risk.md").partition("The adversary's `measure` is one of ")[2]
    listed, _, rest = sentence.partition(". Their other settings are ")
    assert sorted(named(listed)) == sorted(EVERY_NAME)
    settings = named(rest.partition(". A second dataset")[0])
    assert sorted(settings) == sorted({"knows", "seeks", "links", "threshold", *gather_settings()})


@pytest.mark.parametrize("name", [n for n, spec in MEASURES.items() if spec.class_figure])
def test_the_figure_of_counted_classes_is_that_of_the_records(name: str) -> None:
    """What searches of levels take from counts is what the measure says of the data."""
    spec = MEASURES[name]
    people = datasets.school_census(2_000)
    known, sought = ["gender", "ethnicity"], "disability"
    measured: Any = spec.function(people, sought, known, nulls="value")
    sensitive = count_sensitive_values(people, sought, known, nulls="value")
    assert spec.class_figure is not None
    figure = spec.class_figure(people, sought, known, {})
    assert figure(sensitive) == pytest.approx(measured.classes)
    if spec.distinct_values == "implied":
        assert (figure(sensitive) <= count_distinct_values(sensitive) + 1e-9).all()
    if spec.distinct_values == "counted":
        assert (figure(sensitive) == count_distinct_values(sensitive)).all()


@pytest.mark.parametrize("name", [n for n, spec in MEASURES.items() if spec.probability])
def test_values_that_are_no_shares_are_risks_in_their_order(name: str) -> None:
    probability = MEASURES[name].probability
    assert probability is not None
    risks = probability(np.array([0, 0.1, 1, 3, 40, 1e9]))
    assert risks[0] == 0
    assert (np.diff(risks) >= 0).all()
    assert risks.max() <= 1


def test_a_measure_of_classes_whose_values_are_no_shares_says_what_risk_they_are() -> None:
    with pytest.raises(ValueError, match="beta_likeness needs `probability`"):
        replace(MEASURES["beta_likeness"], probability=None)


def test_protection_asks_a_measure_what_it_is_and_not_its_name() -> None:
    """So a measure is a function and a row, and nothing need be told of it elsewhere."""
    named = {
        (path.name, node.value)
        for path in (PROJECT / "src" / "divulge" / "protection").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        for node in ast.walk(node)
        if isinstance(node, ast.Constant) and node.value in MEASURES
    }
    assert named == set()


def test_one_reading_of_nulls_is_the_default_everywhere() -> None:
    """Signatures spell it out, so that a reader sees it; another one there would be a mistake."""
    defaults = {
        (str(path.relative_to(PROJECT)), node.name, default.value)
        for path in (PROJECT / "src" / "divulge").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        for argument, default in list_defaults(node.args)
        if argument == "nulls" and isinstance(default, ast.Constant) and default.value is not None
    }
    assert len(defaults) > 10
    assert {value for _, _, value in defaults} == {DEFAULT_NULLS}


def list_defaults(arguments: ast.arguments) -> list[tuple[str, ast.expr | None]]:
    """The arguments of a function that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    return [
        *zip(
            (each.arg for each in positional[len(positional) - len(arguments.defaults) :]),
            arguments.defaults,
            strict=True,
        ),
        *zip((each.arg for each in arguments.kwonlyargs), arguments.kw_defaults, strict=True),
    ]


def test_the_command_line_takes_every_reading_of_nulls() -> None:
    from typer.main import get_command

    from divulge.cli.main import app

    command: Any = get_command(app)
    [option] = [o for o in command.commands["suppress"].params if o.name == "nulls"]
    assert (tuple(option.type_descriptor.choices), option.default) == (SEMANTICS, DEFAULT_NULLS)
