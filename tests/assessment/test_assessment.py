import json
import math
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from divulge import Dataset, Limit, PriorPosterior, datasets, records
from divulge.assessment import (
    Chart,
    Decision,
    Measurement,
    Most,
    Sentence,
    attacks,
    measures,
)
from divulge.assessment.sentence import format_number, format_percent, load_catalogue
from divulge.work import DivulgeError, InvalidInput, Problem

PUPILS = datasets.school_year_example()
FOUND = records.attack(PUPILS, knows=["gender", "grade"]).named("neighbour")


def test_an_assessment_speaks() -> None:
    assert FOUND.explain() == [
        "An adversary who knows gender and grade singles out 1 of 10 pupils (10%).",
        "Their best guess is right for about 5 (50%); before the release, for about 1.",
        "These figures are exact.",
    ]


def test_its_plain_values_are_json_and_complete() -> None:
    told = json.loads(json.dumps(FOUND.to_dict(), allow_nan=False))
    assert told["deterministic"] == {
        "prior": 0.0,
        "posterior": 0.1,
        "additive": 0.1,
        "multiplicative": None,
        "count": {"prior": 0, "posterior": 1},
    }
    assert told["probabilistic"]["multiplicative"] == 5.0


def test_a_terminal_and_a_notebook_show_the_same_figures() -> None:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(FOUND)
    shown = console.export_text()
    html = FOUND._repr_html_()
    console.file.close()
    for figure in ("1 (10%)", "5 (50%)", "+40 points, x5"):
        assert figure in shown
        assert figure in html


def test_names_of_attributes_cannot_break_out_of_a_notebook() -> None:
    evil = (
        datasets.school_year_example()
        .to_arrow()
        .rename_columns(["id", "<script>", "gender", "grade", "disability"])
    )
    from divulge import Dataset

    found = records.attack(Dataset.from_arrow(evil), knows=["<script>"])
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()


def test_what_an_assessment_does_not_offer_it_says() -> None:
    [part, *_] = FOUND.by("gender").values()
    with pytest.raises(DivulgeError, match="gives no risk for single records"):
        part.risk()


def test_a_limit_on_what_a_guess_is_worth_speaks_of_no_share() -> None:
    buyer = records.attack(
        PUPILS, "CAS", ["gender", "grade"], "disability", gain={"worth": {"yes": 10}, "wrong": 1}
    ).named("buyer")
    outcome = Limit("probabilistic.posterior", at_most=0.5).judge(buyer)
    worth = buyer.probabilistic.posterior
    assert [str(sentence) for sentence in outcome.sentences] == [
        f"After the release, a best guess is worth {worth:.4g} to buyer on average "
        "(limit: at most 0.5)."
    ]
    assert (outcome.found, outcome.allowed) == (f"{worth:.4g}", "at most 0.5")
    count = Limit("probabilistic.count", at_most=0).judge(buyer)
    assert "secrets right" in str(count.sentences[0])


LEAST = replace(FOUND, claim="bound", most=Most(certain=2, right=6))


@pytest.mark.parametrize(
    ("measure", "at_most", "held", "said"),
    [
        ("deterministic.posterior", 0.05, False, None),
        (
            "deterministic.posterior",
            0.1,
            False,
            "The figure may be as high as 20%, so the limit is not shown",
        ),
        ("deterministic.posterior", 0.2, True, "This is a lower bound; the upper bound is 20%."),
        (
            "deterministic.count",
            1,
            False,
            "The figure may be as high as 2, so the limit is not shown",
        ),
        ("probabilistic.posterior", 0.6, True, "the upper bound is 60%"),
        (
            "additive_leakage",
            0.45,
            False,
            "The figure may be as high as 50%, so the limit is not shown",
        ),
        ("deterministic.prior", 0, True, None),
    ],
)
def test_a_limit_on_a_lower_bound_holds_only_if_the_most_keeps_to_it_too(
    measure: str, at_most: float, held: bool, said: str | None
) -> None:
    outcome = Limit(measure, at_most=at_most).judge(LEAST)
    assert outcome.held is held
    assert outcome.not_shown is (not held and said is not None)
    first, *more = map(str, outcome.sentences)
    assert "(limit: at most" in first
    assert len(more) == (said is not None)
    assert said is None or said in more[0]
    exact = Limit(measure, at_most=at_most).judge(FOUND)
    assert len(exact.sentences) == 1
    assert "most" not in exact.to_dict()


@pytest.mark.parametrize(
    "measure", ["deterministic.posterior", "probabilistic.count", "multiplicative_leakage"]
)
def test_a_limit_that_wants_an_adversary_to_learn_something_is_refused(measure: str) -> None:
    with pytest.raises(InvalidInput, match="limit it from above, at_most"):
        Limit(measure, at_least=1)


def test_a_limit_that_no_data_can_break_judges_nothing() -> None:
    assert Limit("deterministic.posterior", at_most=1).judge(FOUND).vacuous
    assert not Limit("deterministic.posterior", at_most=0.999).judge(FOUND).vacuous
    assert not Limit("deterministic.count", at_most=1).judge(FOUND).vacuous


def test_where_nothing_bounds_what_they_know_it_may_be_everything() -> None:
    least = replace(FOUND, claim="bound")
    outcome = Limit("deterministic.posterior", at_most=0.99).judge(least)
    assert not outcome.held
    assert outcome.to_dict()["most"] == 1
    worth = replace(least, by_gain=True)
    outcome = Limit("probabilistic.posterior", at_most=1).judge(worth)
    assert not outcome.held
    assert "no upper bound is known" in str(outcome.sentences[-1])
    assert outcome.to_dict()["most"] is None


def test_lower_bounds_are_told_with_the_most() -> None:
    assert LEAST.explain()[-1] == (
        "These figures are lower bounds: the adversary knows at least this much. "
        "Of 10, they may know up to 2 for certain and guess up to 6 right."
    )
    assert LEAST.to_dict()["deterministic"]["most"] == 0.2
    assert LEAST.to_dict()["probabilistic"]["most"] == 0.6
    assert [row[2] for row in LEAST.rows()] == ["1 (10%), at most 2", "5 (50%), at most 6"]
    assert FOUND.at_worst is FOUND


def test_a_factor_that_means_nothing_keeps_no_limit_and_is_no_number_in_json() -> None:
    loss = replace(FOUND, probabilistic=PriorPosterior(-1.0, 0.5), by_gain=True)
    outcome = Limit("probabilistic.multiplicative", at_most=2).judge(loss)
    assert not outcome.held
    assert outcome.to_dict()["value"] is None


def test_a_figure_that_nothing_bounds_is_no_number_in_json() -> None:
    wide = replace(FOUND, figures={"narrowest_width": math.inf, "suppressed_cells": 2})
    told = json.loads(json.dumps(wide.to_dict(), allow_nan=False))
    assert told["figures"] == {"narrowest_width": None, "suppressed_cells": 2}


@pytest.mark.parametrize(
    ("pair", "additive", "multiplicative"),
    [((0.5, 0.9), 0.4, 1.8), ((0.0, 0.1), 0.1, math.inf), ((0.0, 0.0), 0.0, 1.0)],
)
def test_leakage_is_difference_and_factor(
    pair: tuple[float, float], additive: float, multiplicative: float
) -> None:
    success = PriorPosterior(*pair)
    assert success.additive == pytest.approx(additive)
    assert success.multiplicative == multiplicative


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.2663, "26.6%"),
        (2.0757e-8, "0.00000208%"),
        (0.99951, "over 99.9%"),
    ],
)
def test_percentages_never_round_to_all_or_nothing(share: float, said: str) -> None:
    assert format_percent(share) == said


def test_sentences_choose_their_form_by_what_they_count() -> None:
    def said(certain: int) -> str:
        values = {
            "knows": ["age"],
            "subjects": "pupils",
            "total": 10,
            "certain": certain,
            "certain_share": certain / 10,
        }
        return str(Sentence("divulge.records", "singled_out", values))

    assert said(0) == "An adversary who knows age singles out none of 10 pupils."
    assert said(10) == "An adversary who knows age singles out all 10 pupils."
    assert said(3) == "An adversary who knows age singles out 3 of 10 pupils (30%)."


def test_a_sentence_that_no_catalogue_has_is_an_error_and_another_language_falls_back() -> None:
    with pytest.raises(DivulgeError, match='no sentence "nonsense"'):
        Sentence("divulge.records", "nonsense").render()
    assert Sentence("divulge.assessment", "claim.exact").render("it") == "These figures are exact."


@pytest.mark.parametrize(
    "package",
    ["assessment", "cli", "events", "protection", "reconstruction", "records", "release", "tables"],
)
def test_every_catalogue_can_be_read_and_every_form_names_what_it_counts(package: str) -> None:
    for key, content in load_catalogue(f"divulge.{package}").items():
        if isinstance(content, dict):
            assert "other" in content, f"{package}: {key} has no ordinary form"
            assert set(content) <= {"by", "zero", "one", "all", "other"}, f"{package}: {key}"
        else:
            phrases = [content] if isinstance(content, str) else content
            assert all(isinstance(phrase, str) for phrase in phrases), f"{package}: {key}"


def test_a_limit_holds_up_to_its_bound() -> None:
    held = Limit("deterministic.posterior", at_most=0.1).judge(FOUND)
    failed = Limit("deterministic.posterior", at_most=0.0999).judge(FOUND)
    assert (held.held, failed.held) == (True, False)
    assert str(failed.sentences[0]) == (
        "After the release, neighbour knows 10% of the secrets for certain (limit: at most 9.99%)."
    )
    assert Limit("probabilistic.multiplicative", at_most=5).judge(FOUND).held
    assert Limit("deterministic.count", at_most=1).judge(FOUND).value == 1
    assert not Limit("deterministic.multiplicative", at_most=1000).judge(FOUND).held


def test_limits_are_judged_by_counts_and_not_by_rounded_differences() -> None:
    import pyarrow as pa

    from divulge import Dataset

    ten = Dataset.from_arrow(pa.table({"a": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4]}))
    found = records.attack(ten, knows="a")
    assert found.additive_leakage > 0.3, "4/10 - 1/10 is more than 0.3 in floating point"
    assert Limit("additive_leakage", at_most=0.3).judge(found).held


def test_figures_that_differ_are_not_shown_alike() -> None:
    from divulge.assessment.outcome import format_value_and_bound

    assert format_value_and_bound(0.050001, 0.05, format_percent) == ("0.050001", "0.05")
    assert format_value_and_bound(0.05, 0.05, format_percent) == ("5%", "5%")
    assert format_value_and_bound(3.0000000000000004, 3.0, format_number) == (
        "3",
        "3",
    )


def test_a_group_may_have_any_name() -> None:
    import pyarrow as pa

    from divulge import Dataset

    table = pa.table({"secrets": ["x", "y", None], "age": [1, 2, 2]})
    parts = records.attack(Dataset.from_arrow(table), knows="age").by("secrets")
    assert parts.to_arrow().column("group").to_pylist() == ["x", "y", None]
    assert repr(parts) == 'Breakdown by "secrets": 3 groups'


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (
            {"measure": "deterministic.posteror", "at_most": 0.1},
            'Did you mean "deterministic.posterior"',
        ),
        ({"measure": "deterministic.posterior"}, "give either at_most or at_least"),
        ({"measure": "k_anonymity", "at_most": 1, "at_least": 1}, "give either"),
        (
            {"measure": "deterministic.posterior", "at_most": 5},
            r'5 is not a share \(0 to 1\)\. To limit a number of records, use measure "deterministic.count"',
        ),
        ({"measure": "multiplicative_leakage", "at_most": 0.5}, "0.5 is not a factor"),
        ({"measure": "k_anonymity", "at_most": 5}, "give at_least"),
        ({"measure": "k_anonymity", "at_least": float("inf")}, "must be a finite number"),
        ({"measure": "k_anonymity", "at_least": float("nan")}, "must be a finite number"),
        ({"measure": "k_anonymity", "at_least": "5"}, "must be a finite number"),
        ({"measure": "deterministic.posterior", "at_most": "5"}, "must be a finite number"),
        ({"measure": "k_anonymity", "at_least": 2.5}, "not a whole number"),
        ({"measure": "k_anonymity", "at_least": 5, "adversary": "x"}, "name the dataset instead"),
        ({"measure": "deterministic.count", "at_most": 5, "dataset": "x"}, "name the adversary"),
        ({"measure": "deterministic.count", "at_most": 5, "c": 3}, "c: is not an option"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        Limit(**given)  # type: ignore[arg-type]  # wrong on purpose


def test_k_anonymity_counts_those_below_it() -> None:
    limit = Limit("k_anonymity", at_least=2)
    outcome = limit.judge_measurement(measures()["k_anonymity"].of(PUPILS, limit), "pupils")
    assert (outcome.value, outcome.held) == (1, False)
    assert str(outcome.sentences[1]).startswith("4 of 10 pupils share")


def test_a_decision_tells_its_reason_and_keeps_its_binding_to_itself() -> None:
    decision = Decision(
        "suppressed",
        dataset="companies",
        rule="k_anonymity",
        reason="nobody looks like it",
        before=1.0,
        after=0.25,
        record=3,
        attribute="Sector",
        binding={"Sector": "Textiles"},
    )
    assert "Textiles" not in str(decision) + repr(decision) + json.dumps(decision.to_dict())
    assert decision.to_dict(with_binding=True)["binding"] == {"Sector": "Textiles"}


def test_a_chart_is_a_specification_and_the_records_it_draws(tmp_path: Path) -> None:
    chart = FOUND.chart()
    whole = chart.to_dict()
    assert whole["datasets"]["records"] == list(chart.records)
    assert chart.svg().startswith("<svg")
    assert chart.png().startswith(b"\x89PNG")
    for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("json", b"{")):
        chart.save(tmp_path / f"c.{ending}")
        assert (tmp_path / f"c.{ending}").read_bytes().startswith(start)
    with pytest.raises(DivulgeError, match="svg, .png or .json"):
        chart.save(tmp_path / "c.pdf")
    assert "image/svg+xml" in chart._repr_mimebundle_()


def test_a_breakdown_is_drawn_with_the_most_exposed_first() -> None:
    chart = FOUND.by("gender").chart()
    assert [bar["group"] for bar in chart.records] == ["F", "M"]
    assert isinstance(chart, Chart)


def test_attacks_and_measures_come_from_entry_points() -> None:
    assert "records" in attacks()
    assert "k_anonymity" in measures()


def test_a_package_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    from divulge.assessment import Attack
    from divulge.assessment.registry import Registry, complete_attack

    def point(name: str, value: str) -> metadata.EntryPoint:
        return metadata.EntryPoint(name, value, "divulge.attacks")

    installed = [
        point("records", "divulge.records.plugin:RecordsAttack"),
        point("theirs", "no.such.module:Attack"),
        point("twice", "one:Attack"),
        point("twice", "other:Attack"),
        point("wrong", "fractions:Fraction"),
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: installed)
    found = Registry("divulge.attacks", Attack, complete_attack)
    assert isinstance(found["records"], Attack), "what is broken disturbs nobody else"
    with pytest.raises(DivulgeError, match='"theirs" of an installed package could not be'):
        found["theirs"]
    with pytest.raises(DivulgeError, match='"twice" is claimed by'):
        found["twice"]
    with pytest.raises(DivulgeError, match='"wrong" of an installed package is no attack'):
        found["wrong"]


class Theirs:
    """A measure of another package."""

    aliases = ("of_theirs",)

    def problems(self, limit: Limit) -> Iterator[Problem]:
        yield Problem("measure", f"{limit.measure} has no bound.")

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        return Measurement(dataset.rows - limit.bound, "count")


SEVERAL = {"third": Theirs(), "k_anonymity": Theirs(), "no_measure": 3}


def test_a_package_brings_a_measure_as_a_class_or_several_as_a_mapping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from importlib import metadata

    from divulge.assessment.attack import Measure
    from divulge.assessment.registry import Registry

    here = types.ModuleType("measures_of_others")
    here.Theirs, here.SEVERAL = Theirs, SEVERAL  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, here.__name__, here)
    installed = [
        metadata.EntryPoint(name, value, "divulge.measures")
        for name, value in (
            ("records", "divulge.records.risk.registry:MEASURES"),
            ("theirs", "measures_of_others:Theirs"),
            ("several", "measures_of_others:SEVERAL"),
            ("lost", "no.such.module:Measure"),
            ("suda", "measures_of_others:Theirs"),
        )
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: installed)
    found = Registry("divulge.measures", Measure, lambda measure, _: measure, mappings=True)
    assert {"theirs", "third", "t_closeness", "lost"} < set(found)
    assert "several" not in found
    assert "records" not in found
    assert isinstance(found["theirs"], Theirs)
    assert found["third"] is SEVERAL["third"]
    assert found["individual"] is found["individual_risk"]
    for name in ("k_anonymity", "suda", "of_theirs"):  # two of one name, or of a further name
        assert found.first_name(name) == name
        with pytest.raises(DivulgeError, match=f'"{name}" is claimed by .*; only one of them'):
            found[name]
    assert found.failures == (
        'What an installed package offers as "lost" could not be loaded (ModuleNotFoundError).',
    )
    with pytest.raises(DivulgeError, match='"lost" of an installed package could not be loaded'):
        found["lost"]
    with pytest.raises(DivulgeError, match='"no_measure" of an installed package is no measure'):
        found["no_measure"]


def test_a_limit_says_which_measures_could_not_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    lost = metadata.EntryPoint("lost", "no.such.module:MEASURES", "divulge.measures")
    installed = [*metadata.entry_points(group="divulge.measures"), lost]
    monkeypatch.setattr(metadata, "entry_points", lambda group: installed)
    measures.cache_clear()
    try:
        with pytest.raises(InvalidInput) as refused:
            Limit("k_anonymty", at_least=2)
        assert Limit("k_anonymity", at_least=2).bound == 2
    finally:
        measures.cache_clear()
    assert str(refused.value) == (
        'limit, measure: "k_anonymty" is not a measure. What an installed package offers as "lost" '
        'could not be loaded (ModuleNotFoundError). Did you mean "k_anonymity"?'
    )


def test_results_print_short_and_breakdowns_show_their_groups() -> None:
    assert repr(FOUND) == (
        'Assessment(records CRS of "school year 1", exact: 10% known for certain, 50% guessed right)'
    )
    html = FOUND.by("gender")._repr_html_()
    assert "<td>F</td><td>6</td><td>1 (16.7%)</td><td>3 (50%)</td>" in html


def test_a_weighed_share_that_is_the_bound_keeps_to_it() -> None:
    found = records.attack(PUPILS, knows=["gender", "grade"], prior=[1.3, *[3.7 / 9] * 9])
    share = found.deterministic.posterior
    for bound in (share, share * (1 - 1e-15)):
        assert Limit("deterministic.posterior", at_most=bound).judge(found).held
    assert not Limit("deterministic.posterior", at_most=share * (1 - 1e-6)).judge(found).held
