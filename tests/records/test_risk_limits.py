"""Limits on every measure of risk in a release, those that look at a second dataset included."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from divulge import Dataset, Limit, Release, datasets, records
from divulge.assessment import measures
from divulge.work import InvalidInput

EXAMPLE = Path(__file__).parents[2] / "examples" / "risk" / "release.toml"


def released(folder: Path, *limits: str) -> Release:
    """The survey of the example, its original and its town, with these limits only."""
    for name in ("survey.csv", "original.csv"):
        (folder / name).write_bytes((EXAMPLE.parent / name).read_bytes())
    head = EXAMPLE.read_text().partition("# Somebody with a register")[0]
    text = head + "".join(f"[[limit]]\n{limit}\n" for limit in limits)
    (folder / "release.toml").write_text(text)
    return Release.load(folder / "release.toml")


SURVEY: list[tuple[str, Any]] = [
    ('measure = "delta_presence"\npopulation = "original"\nnulls = "maybe"\nat_most = 0.5',
     lambda s, o: records.delta_presence(s, o, nulls="maybe").value),
    ('measure = "k_map"\npopulation = "original"\nnulls = "maybe"\nat_least = 3',
     lambda s, o: records.k_map(s, o, nulls="maybe").value),
    ('measure = "journalist_risk"\npopulation = "original"\nnulls = "maybe"\nat_most = 0.1',
     lambda s, o: records.journalist_risk(s, o, nulls="maybe").highest),
    ('measure = "marketer_risk"\nnulls = "maybe"\nat_most = 0.1',
     lambda s, o: records.marketer_risk(s, nulls="maybe").average),
    ('measure = "prosecutor_risk"\nnulls = "bayes"\noriginal = "original"\nat_most = 0.1',
     lambda s, o: records.prosecutor_risk(s, nulls="bayes", original=o).highest),
    ('measure = "k_anonymity"\nnulls = "known"\noriginal = "original"\nat_least = 3',
     lambda s, o: records.k_anonymity(s, nulls="known", original=o)),
    ('measure = "k_anonymity"\nnulls = "standard"\nat_least = 3',
     lambda s, o: 1),
    ('measure = "k_anonymity"\ncount = "population"\nnulls = "maybe"\nat_least = 3',
     lambda s, o: int(records.frequencies(s, nulls="maybe").population.min())),
    ('measure = "smallest_frequency"\nnulls = "known"\noriginal = "original"\nat_least = 3',
     lambda s, o: records.frequencies(s, "known", original=o).smallest),
    ('measure = "t_closeness"\nattribute = "income"\nnulls = "bayes"\noriginal = "original"\n'
     'count = "population"\nat_most = 0.5',
     lambda s, o: records.t_closeness(s, "income", nulls="bayes", count="population", original=o).value),
    ('measure = "disclosure_risk"\naggregate = "mean"\nnulls = "maybe"\nat_most = 0.1',
     lambda s, o: records.disclosure_risk(s, "mean", nulls="maybe").highest),
    ('measure = "household_risk"\nnulls = "known"\noriginal = "original"\nat_most = 0.1',
     lambda s, o: records.household_risk(s, nulls="known", original=o).highest),
    ('measure = "population_uniques"\nnulls = "maybe"\nat_most = 0.1',
     lambda s, o: records.population_uniques(s, nulls="maybe").population_uniques / s.rows),
    ('measure = "correct_matches"\nmodel = "negative_binomial"\nnulls = "maybe"\nat_most = 0.1',
     lambda s, o: records.population_uniques(s, "negative_binomial", nulls="maybe").correct_matches / s.rows),
    ('measure = "interval_disclosure"\noriginal = "original"\namong = ["income"]\nat_most = 0.1',
     lambda s, o: records.interval_disclosure(o, s, "income").average),
    ('measure = "distance_linkage"\noriginal = "original"\namong = ["income"]\nat_most = 0.1',
     lambda s, o: records.distance_linkage(o, s, "income").average),
    ('measure = "dis_suda"\nnulls = "value"\nmax_size = 2\nat_most = 0.1',
     lambda s, o: records.suda(s, 2, nulls="value").dis.max()),
]  # fmt: skip


def test_a_limit_on_any_measure_is_that_measure_of_the_release(tmp_path: Path) -> None:
    limits = [f'dataset = "survey"\n{limit}' for limit, _ in SURVEY]
    verdict = released(tmp_path, *limits).check()
    survey, original = verdict.datasets["survey"], verdict.datasets["original"]
    for outcome, (_, measure) in zip(verdict.outcomes, SURVEY, strict=True):
        assert outcome.subject == "survey"
        assert outcome.value == pytest.approx(measure(survey, original)), outcome.limit.measure
        if outcome.judged:
            assert "240 people" in str(outcome.sentences[1])
        told = outcome.to_dict()
        for option in ("population", "original"):
            assert told.get(option, "original") == "original"


def test_what_a_limit_compares_with_is_not_limited_by_it(tmp_path: Path) -> None:
    verdict = released(tmp_path, 'measure = "k_map"\npopulation = "original"\nat_least = 1').check()
    assert [outcome.subject for outcome in verdict.outcomes] == ["survey"]


def test_a_limit_says_where_counting_flatters(tmp_path: Path) -> None:
    limit = (
        'dataset = "survey"\nmeasure = "smallest_frequency"\nat_least = 3\noriginal = "original"'
    )
    [outcome] = released(tmp_path, limit + '\nnulls = "maybe"').check().outcomes
    assert (outcome.held, outcome.by_count_only) == (False, True)
    assert outcome.value == outcome.limit.bound
    assert any("This count understates the risk" in str(sentence) for sentence in outcome.sentences)


@pytest.mark.parametrize(
    ("limit", "wanted"),
    [
        ('measure = "k_map"\npopulation = "orignal"\nat_least = 3', 'limit 1, population: the release has no dataset "orignal". Did you mean "original"?'),
        ('measure = "k_map"\npopulation = "survey"\nat_least = 3', "names the dataset that is limited"),
        ('measure = "delta_presence"\nat_most = 0.5', "population: is missing; delta_presence cannot be taken without it"),
        ('measure = "distance_linkage"\noriginal = "original"\nat_most = 0.5', "among: is missing"),
        ('measure = "k_anonymity"\nnulls = "mabye"\nat_least = 2', 'Did you mean "maybe"?'),
        ('measure = "population_uniques"\ninteractions = 3\nat_most = 0.5', "is not a whole number from 1 to 2"),
        ('measure = "k_map"\npopulation = 3\nat_least = 2', "population: does not name a dataset"),
        ('measure = "k_anonymity"\namong = ["regoin"]\nat_least = 2', 'Did you mean "region"?'),
    ],
)  # fmt: skip
def test_a_limit_that_cannot_be_taken_is_said_before_any_record_is_read(
    tmp_path: Path, limit: str, wanted: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        released(tmp_path, f'dataset = "survey"\n{limit}')
    assert wanted in str(refused.value)


def test_outside_a_release_a_limit_takes_the_dataset_itself() -> None:
    town = Dataset.from_arrow(pa.table({"age": [1, 1, 2, 3]}), name="town")
    ill = Dataset.from_arrow(pa.table({"age": [1, 2]}), {"quasi_identifier": ["age"]})
    limit = Limit("k_map", at_least=2, population=town)
    assert measures()["k_map"].of(ill, limit).value == 1
    assert limit.to_dict()["population"] == "town"
    assert limit.compared_datasets == {}
    named = Limit("k_map", at_least=2, population="town")
    assert named.compared_datasets == {"population": "town"}
    assert measures()["k_map"].of(ill, named.with_datasets({"town": town})).value == 1
    with pytest.raises(InvalidInput, match="outside a release, give it itself"):
        measures()["k_map"].of(ill, named)


def test_earlier_names_of_what_a_limit_answers_can_still_be_called() -> None:
    town = Dataset.from_arrow(pa.table({"age": [1, 1, 2, 3]}), name="town")
    limit = Limit("k_map", at_least=2, population="town")
    assert limit.others == {"population": "town"}
    assert limit.seeing({"town": town}).options["population"] is town
    assert limit.broken_by(1)
    assert not limit.broken_by(2)
    assert Limit("deterministic.count", at_most=5).on("neighbour").adversary == "neighbour"


def test_every_measure_that_is_installed_can_be_a_limit() -> None:
    """Each is taken of one example, so that no name is left without its measure."""
    companies = datasets.inflation_and_growth_example()
    more: dict[str, dict[str, Any]] = {
        "delta_presence": {"population": companies},
        "interval_disclosure": {"original": companies, "among": ["Weight"]},
        "distance_linkage": {"original": companies, "among": ["Weight"]},
    }
    of_value = {"attribute": "Growth", "among": ["Area"]}
    for name, measure in measures().items():
        direction = getattr(measure, "direction", None)
        if direction is None or name == "household_risk":
            continue
        if getattr(measure, "needs_function", False):
            continue  # a function is handed in, and has tests of its own
        given = of_value if getattr(measure, "of_attribute", False) else more.get(name, {})
        limit = Limit(name, **{direction: 1}, **given)  # type: ignore[arg-type]
        found = measure.of(companies, limit)
        assert found.value >= 0
        assert found.sentence is not None


def test_data_that_hide_nothing_are_their_own_original_and_others_must_name_it(
    tmp_path: Path,
) -> None:
    limit = 'dataset = "{}"\nmeasure = "k_anonymity"\nnulls = "known"\nat_least = 1'
    [outcome] = released(tmp_path, limit.format("original")).check().outcomes
    assert outcome.held
    verdict = released(tmp_path, limit.format("survey")).check()
    assert verdict.status == "not judged"
    assert "47 records hide values" in str(verdict)


def test_a_limit_on_an_average_says_that_it_is_one() -> None:
    companies = datasets.inflation_and_growth_example()
    risk = records.individual_risk(companies, nulls="maybe")
    bound = (risk.average + risk.highest) / 2
    limit = Limit("global_risk", at_most=bound, nulls="maybe")
    measurement = measures()["global_risk"].of(companies, limit)
    assert not limit.is_broken_by(measurement.value)
    assert risk.above(bound) >= 1
    said = str(measurement.sentence)
    assert said.startswith(f"The limit is on the average of {companies.rows} ")
    assert "violate" not in said
