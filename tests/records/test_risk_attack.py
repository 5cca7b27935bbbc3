"""The attack `risk` of a release: what its adversaries may be told, and what they find."""

from pathlib import Path

import pytest

from divulge import Release, records, report
from divulge.work import InvalidInput

EXAMPLE = Path(__file__).parents[2] / "examples" / "risk" / "release.toml"


def with_settings(folder: Path, settings: str) -> Release:
    for name in ("survey.csv", "original.csv"):
        (folder / name).write_bytes((EXAMPLE.parent / name).read_bytes())
    head = EXAMPLE.read_text().partition("# Somebody with a register")[0]
    head = head.replace("protected = true", "")  # so that every measure can be taken
    adversary = f'[[adversary]]\nname = "a"\nattack = "risk"\n{settings}\n'
    (folder / "release.toml").write_text(head + adversary)
    return Release.load(folder / "release.toml")


def test_the_example_says_where_counting_flatters_and_shows_every_chart(tmp_path: Path) -> None:
    verdict = Release.load(EXAMPLE).check()
    assert not verdict.passed
    neighbour = next(a for a in verdict.assessments if a.adversary == "neighbour")
    assert neighbour.claim == "estimate"
    assert neighbour.certain.posterior == 5
    assert any("This count understates the risk" in sentence for sentence in neighbour.explain())
    smallest = next(o for o in verdict.outcomes if o.limit.measure == "smallest_frequency")
    assert smallest.status == "fail", "counting says that the suppression is enough"
    assert smallest.by_count_only
    assert smallest.value == smallest.limit.bound
    report(verdict, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    for wanted in (
        "individual risk (exact)",
        "household risk",
        "prosecutor risk (bayes)",
        "DIS-SUDA",
    ):
        assert wanted in text


@pytest.mark.parametrize(
    ("settings", "measure"),
    [
        ('dataset = "survey"\nmeasure = "reidentification"', "reidentification_risk"),
        ('dataset = "survey"\nmeasure = "prosecutor"\nnulls = "value"', "prosecutor_risk value"),
        ('dataset = ["survey", "original"]\nmeasure = "prosecutor"\nnulls = "known"', "prosecutor_risk known"),
        ('dataset = ["survey", "original"]\nmeasure = "journalist"\nknows = ["region", "sex"]', "journalist_risk"),
        ('dataset = "survey"\nmeasure = "suda"\nmax_size = 2\nnulls = "value"', "dis_suda"),
        ('dataset = "survey"\nmeasure = "individual"\nlinks = "household"', "cluster_risk approximate"),
        ('dataset = "survey"\nmeasure = "marketer"', "marketer_risk"),
        ('dataset = "survey"\nmeasure = "disclosure"\naggregate = "mean"', "disclosure_risk mean"),
        ('dataset = "survey"\nmeasure = "disclosure"\naggregate = "max"', "disclosure_risk max"),
        ('dataset = "survey"\nmeasure = "population_uniques"\nmodel = "negative_binomial"', "population_uniques negative binomial"),
        ('dataset = ["survey", "original"]\nmeasure = "k_anonymity"\nnulls = "known"', "k_anonymity"),
        ('dataset = ["survey", "original"]\nmeasure = "k_map"', "k_map"),
        ('dataset = ["survey", "original"]\nmeasure = "interval_disclosure"\nknows = "income"', "interval_disclosure"),
        ('dataset = ["survey", "original"]\nmeasure = "distance_linkage"\nknows = "income"', "distance_linkage"),
        ('dataset = ["survey", "original"]\nmeasure = "household"\nnulls = "bayes"', "household_risk approximate"),
    ],
)  # fmt: skip
def test_every_measure_can_be_an_adversarys(tmp_path: Path, settings: str, measure: str) -> None:
    [found] = with_settings(tmp_path, settings).check().assessments
    assert found.model == measure
    assert found.secrets == 240
    assert 0 <= found.probabilistic.prior <= found.probabilistic.posterior <= 1
    assert sum(part.secrets for part in found.by("region").values()) == 240
    assert found.risk().sum() == pytest.approx(found.right.posterior)
    assert sum(bar["count"] for bar in found.chart().records) == 240


@pytest.mark.parametrize(
    "measure",
    ["distinct_l_diversity", "entropy_l_diversity", "recursive_l_diversity", "t_closeness", "beta_likeness",
     "delta_disclosure"],
)  # fmt: skip
def test_what_classes_give_away_can_be_an_adversarys(tmp_path: Path, measure: str) -> None:
    settings = f'dataset = "survey"\nmeasure = "{measure}"\nseeks = "income"\ncount = "population"'
    [found] = with_settings(tmp_path, settings).check().assessments
    assert (found.model, found.seeks, found.claim) == (measure, ("income",), "estimate")
    assert found.risk().sum() == pytest.approx(found.right.posterior)
    assert sum(part.secrets for part in found.by("region").values()) == 240


def test_who_is_in_the_release_is_a_secret_of_everybody_on_the_list(tmp_path: Path) -> None:
    settings = 'dataset = ["survey", "original"]\nmeasure = "delta_presence"\nknows = ["region"]'
    [found] = with_settings(tmp_path, settings).check().assessments
    assert found.secrets == 240
    assert found.explain()[0].startswith("The probability of being in the release is between")


def test_links_by_household_are_household_risk(tmp_path: Path) -> None:
    settings = 'dataset = "survey"\nmeasure = "individual"\nlinks = "household"'
    verdict = with_settings(tmp_path, settings).check()
    survey = verdict.datasets["survey"]
    expected = records.household_risk(survey).values
    assert verdict.assessments[0].risk().tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ('dataset = "survey"\nmeasure = "prosecutor"\nnulls = "known"', "takes two datasets"),
        ('dataset = "survey"\nmeasure = "suda"\nnulls = "known"', "does not go with measure suda"),
        ('dataset = "survey"\nmeasure = "delta_presence"', "takes two datasets: the release, the population"),
        ('dataset = "survey"\nmeasure = "distance_linkage"', "knows: is missing"),
        ('dataset = "survey"\nmeasure = "individual"\nseeks = "income"', 'does not go with measure "individual"'),
        ('dataset = "survey"\nmeasure = "t_closeness"\nseeks = "incom"', 'Did you mean "income"?'),
        ('dataset = "survey"\nmeasure = "suda"\nlinks = "household"', 'do not go with measure "suda"'),
        ('dataset = "survey"\nmeasure = "suda"\nnulls = "standard"', "use maybe or value"),
        ('dataset = ["survey", "original"]\nmeasure = "suda"', 'measure "suda" takes one'),
        ('dataset = "survey"\nknows = ["agee"]', 'Did you mean "age"?'),
        ('dataset = "survey"\nlinks = "housedold"', 'Did you mean "household"?'),
        ('dataset = "survey"\nmeasure = "individuel"', "measure"),
    ],
)  # fmt: skip
def test_what_an_adversary_cannot_be_told_is_said(
    tmp_path: Path, settings: str, wanted: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        with_settings(tmp_path, settings)
    assert wanted in str(refused.value)
