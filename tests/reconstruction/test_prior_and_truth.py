"""What an adversary thinks likely, and the truth that the owner has: in Python, release and CLI."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import dataset
from typer.testing import CliRunner

from divulge import InvalidInput, Release
from divulge.cli.main import app
from divulge.data import Dataset, Hierarchy
from divulge.reconstruction import Generalised, Prior, Totals, reconstruct, true_places
from divulge.release.release_file.schemas import release_schema
from divulge.report import report

RELEASE = """
[[dataset]]
name = "imports"
source = "imports.csv"
text = ["product"]

[[dataset]]
name = "by state"
source = "by_state.csv"
text = ["chapter"]

[[dataset]]
name = "importers"
source = "importers.csv"

[[dataset]]
name = "sectors"
source = "sectors.csv"
text = ["chapter"]

[[dataset]]
name = "secret places"
source = "secret.csv"

[[adversary]]
name = "reader"
attack = "reconstruction"
dataset = ["imports", "by state", "importers", "sectors", "secret places"]
parties = "importers"
units = { value = "1" }
truth = { dataset = "secret places", on = "number" }
workers = 1
premise = "complete"

[adversary.totals."by state"]
by = { chapter = { attribute = "product", prefix = 2 } }
place = "state"
amounts = ["value"]

[adversary.prior]
weights = "sectors"
about = { attribute = "product", prefix = 2 }
"""

FILES = {
    "release.toml": RELEASE,
    # Equal imports of car parts: nothing but the sectors tells them apart.
    "imports.csv": "number,product,value\n1,0711,5\n2,8702,5\n3,8703,5\n",
    "by_state.csv": "chapter,state,value\n07,Zamora,5\n87,Zamora,5\n87,Yecla,5\n",
    "importers.csv": "state,sector\nZamora,mining\nZamora,cars\nYecla,mining\n",
    "sectors.csv": "sector,chapter,weight\nmining,87,0.1\nfishing,03,2\n",
    "secret.csv": "number,state\n3,Zamora\n1,Zamora\n2,Yecla\n",
}


def written(folder: Path, **changes: str) -> Path:
    for name, text in FILES.items():
        (folder / name).write_text(changes.get(name.split(".")[0], text))
    return folder / "release.toml"


def test_a_release_weighs_sectors_as_python_does(tmp_path: Path) -> None:
    path = written(tmp_path)
    without = RELEASE[: RELEASE.index("[adversary.prior]")].replace('"sectors", ', "")
    [weighed] = Release.load(path).check().assessments
    path.write_text(without)
    [plain] = Release.load(path).check().assessments
    # Zamora has 1.1 of weight for car parts and Yecla 0.1, but each takes one of two equal
    # records: half each. In Zamora the car maker then is as likely as 1.0 of 1.1.
    assert plain.risk().tolist() == pytest.approx([0.5, 0.5, 0.5])
    assert weighed.risk().tolist() == pytest.approx([0.5, 0.5, 0.5])
    (tmp_path / "by_state.csv").write_text("chapter,state,value\n07,Zamora,5\n87,Zamora,10\n")
    [plain] = Release.load(path).check().assessments
    path.write_text(RELEASE)
    [weighed] = Release.load(path).check().assessments
    assert plain.risk().tolist() == pytest.approx([0.5, 0.5, 0.5])
    assert weighed.risk().tolist() == pytest.approx([0.5, 1 / 1.1, 1 / 1.1])
    assert "sectors" not in weighed.knows
    # Before any totals, the car maker is the best guess for car parts: 1 of 1.2.
    assert plain.right.prior == pytest.approx(3 / 3)
    assert weighed.right.prior == pytest.approx(1 / 3 + 2 / 1.2)


def test_the_truth_helps_to_prove_and_is_never_shown(tmp_path: Path) -> None:
    path = written(tmp_path)
    verdict = Release.load(path).check()
    report(verdict, tmp_path / "report.html")
    run = CliRunner()
    shown = run.invoke(app, ["reconstruct", str(path), "--json", "--what-would-help"])
    assert shown.exit_code == 0, shown.output
    for text in (
        json.dumps(verdict.to_dict()),
        (tmp_path / "report.html").read_text(),
        shown.output,
    ):
        assert "Zamora" not in text
        assert "Yecla" not in text


def test_a_prior_and_a_truth_that_do_not_fit_are_all_named_before_data_are_read(
    tmp_path: Path,
) -> None:
    wrong = RELEASE.replace('weights = "sectors"', 'weights = "sectors"\nsector = "secter"')
    wrong = wrong.replace('on = "number" }', 'on = "nummer", columns = { city = "state" } }')
    wrong = wrong.replace('attribute = "product", prefix = 2 }\n', 'attribute = "produkt" }\n')
    with pytest.raises(InvalidInput) as error:
        Release.load(written(tmp_path, release=wrong))
    text = str(error.value)
    for part in (
        'Did you mean "sector"',
        'Did you mean "number"',
        'Did you mean "product"',
        "has none of the places of the totals: state",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        ('"secret"', '"secret" is not a dataset of this adversary. Did you mean "secret places"'),
        ("{ on = 'number' }", "give the dataset, or the columns"),
        ("{ columns = { state = 'produkt' } }", 'Did you mean "product"'),
    ],
)
def test_a_truth_that_is_not_there_is_said(tmp_path: Path, truth: str, why: str) -> None:
    text = RELEASE.replace('{ dataset = "secret places", on = "number" }', truth)
    if "secret" not in truth:
        text = text.replace('"sectors", "secret places"', '"sectors"')
    with pytest.raises(InvalidInput) as error:
        Release.load(written(tmp_path, release=text))
    assert why in str(error.value)


def test_weights_that_are_none_are_counted(tmp_path: Path) -> None:
    bad = "sector,chapter,weight\nmining,87,0\nmining,87,1\nmining,87,2\n,87,1\ncars,87,-3\n"
    with pytest.raises(InvalidInput) as error:
        Release.load(written(tmp_path, sectors=bad)).check()
    assert "3 rows lack a sector, a kind or a weight above 0" in str(error.value)
    assert "1 row repeats the sector and chapter of another" in str(error.value)
    elsewhere = "sector,chapter,weight\nfishing,03,2\nmining,99,2\n"
    with pytest.raises(InvalidInput, match="no weight is of a sector and kind that parties"):
        Release.load(written(tmp_path, sectors=elsewhere)).check()


def test_the_command_line_takes_a_prior_and_a_truth_from_files(tmp_path: Path) -> None:
    short = RELEASE[: RELEASE.index("[adversary.prior]")].replace(
        ', "sectors", "secret places"]', "]"
    )
    short = short.replace('truth = { dataset = "secret places", on = "number" }\n', "")
    one_place = "chapter,state,value\n07,Zamora,5\n87,Zamora,10\n"
    path = written(tmp_path, release=short, by_state=one_place)
    (tmp_path / "truth.csv").write_text("state\nZamora\nZamora\nZamora\n")
    run = CliRunner()
    asked = ["reconstruct", str(path), "--json"]
    plain = run.invoke(app, asked)
    given = ["--prior", str(tmp_path / "sectors.csv"), "--about", "product:2"]
    weighed = run.invoke(app, [*asked, *given, "--truth", str(tmp_path / "truth.csv")])
    assert weighed.exit_code == 0, weighed.output
    assert json.loads(plain.stdout)["phases"][-1]["by_counting"] == pytest.approx(0.5)
    told = json.loads(weighed.stdout)
    assert told["phases"][-1]["by_counting"] == pytest.approx((0.5 + 2 / 1.1) / 3)
    assert told["input"]["unused_weights"] == 1
    (tmp_path / "by id.csv").write_text("number,state\n3,Zamora\n1,Zamora\n2,Zamora\n")
    by_id = [*asked, "--truth", str(tmp_path / "by id.csv"), "--truth-on"]
    assert run.invoke(app, [*by_id, "number"]).exit_code == 0
    assert "numbr" in str(run.invoke(app, [*by_id, "numbr"]).exception)
    unsaid = run.invoke(app, [*asked, "--prior", str(tmp_path / "sectors.csv")])
    assert "--about" in str(unsaid.exception)
    nought = run.invoke(app, [*asked, *given[:-1], "product:0"])
    assert "product:2" in str(nought.exception)
    for alone, of in ((["--about", "product"], "--prior"), (["--truth-on", "number"], "--truth")):
        assert f"goes with {of}" in str(run.invoke(app, [*asked, *alone]).exception)


def test_the_schema_of_a_release_has_prior_and_truth() -> None:
    schema = release_schema()
    assert {"PriorSettings", "TruthSettings"} <= set(schema["$defs"])
    [settings] = [
        rule["then"]["properties"]
        for rule in schema["$defs"]["AdversaryTable"]["allOf"]
        if rule["if"]["properties"]["attack"]["const"] == "reconstruction"
    ]
    assert {"prior", "truth"} <= set(settings)


def records() -> Dataset:
    table = pa.table({"number": [7, 8, 9], "value": [5.0, 5.0, 6.0], "kept": ["a", "b", "b"]})
    return Dataset.from_arrow(table, name="records")


def test_a_truth_by_id_by_order_and_in_the_records_is_the_same() -> None:
    by_id = pa.table({"number": [9, 7, 8], "state": ["b", "a", "b"]})
    by_order = pa.table({"state": ["a", "b", "b"]})
    found: list[Any] = [
        true_places(records(), Dataset.from_arrow(by_id, name="held"), on="number"),
        true_places(records(), Dataset.from_arrow(by_order, name="held")),
        true_places(records(), columns={"state": "kept"}),
    ]
    for one in found:
        assert one.to_arrow()["state"].to_pylist() == ["a", "b", "b"]


def test_a_truth_of_some_records_leaves_the_others_unplaced() -> None:
    some = Dataset.from_arrow(pa.table({"number": [9], "state": ["b"]}), name="held")
    placed = true_places(records(), some, on="number")
    assert placed.to_arrow()["state"].to_pylist() == [None, None, "b"]
    with pytest.raises(InvalidInput, match="1 rows, and 3 records"):
        true_places(records(), some)
    twice = Dataset.from_arrow(pa.table({"number": [9, 9], "state": ["b", "a"]}), name="held")
    with pytest.raises(InvalidInput, match='must each have a "number" of their own'):
        true_places(records(), twice, on="number")


def test_a_prior_by_a_level_of_a_hierarchy() -> None:
    products = Hierarchy.from_levels([["apple", "food"], ["nail", "metal"]])
    table = pa.table({"product": ["apple", "nail"], "value": [5.0, 5.0]})
    goods = Dataset.from_arrow(table, name="r", hierarchies={"product": products})
    by_kind = pa.table({"product": ["apple", "nail"], "state": ["a", "a"], "value": [5, 5]})
    table_of = Totals(
        Dataset.from_arrow(by_kind, name="t"), {"product": "product"}, "state", ["value"]
    )
    parties = Dataset.from_arrow(
        pa.table({"state": ["a", "a"], "sector": ["smith", "grocer"]}), name="p"
    )
    prior = Prior("sector", Generalised("product", level=1), {("smith", "food"): 0.25})
    found = reconstruct(goods, [table_of], parties, units={"value": "1"}, workers=1, prior=prior)
    assert found.phases[-1].guess_chance.tolist() == pytest.approx([0.8, 0.5])
    without = Dataset.from_arrow(table, name="r")
    with pytest.raises(InvalidInput, match='"product" has no level 1 of a hierarchy'):
        reconstruct(without, [table_of], parties, units={"value": "1"}, prior=prior)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_their_best_guess_is_the_party_for_which_most_allocations_speak(
    seed: int, weighed: bool
) -> None:
    """Plainly: every allocation, and in those that leave a record out it may be anybody's."""
    random = np.random.default_rng(seed)
    count, cities = int(random.integers(1, 6)), int(random.integers(1, 4))
    cents, truth = random.integers(1, 12, count), random.integers(0, cities, count)
    kept = np.ones(count, bool)
    kept[random.integers(count)] = bool(random.integers(4) == 0)
    totals = np.array([cents[kept & (truth == city)].sum() for city in range(cities)])
    listed = random.integers(0, cities + 1, int(random.integers(1, 7)))  # some live elsewhere
    weights = random.choice([0.5, 1.0, 4.0], len(listed)) if weighed else np.ones(len(listed))
    names = [f"city {number}" for number in range(cities + 1)]
    sectors = [f"sector {weight}" for weight in weights]
    prior = {(sector, "x"): float(sector.split()[1]) for sector in sectors}
    found = reconstruct(
        dataset("records", product=["x"] * count, value=cents.tolist()),
        [
            Totals(
                dataset("t", product=["x"] * cities, city=names[:-1], value=totals.tolist()),
                {"product": "product"},
                "city",
                ["value"],
                "exact",
            )
        ],
        dataset("parties", city=[names[city] for city in listed], sector=sectors),
        units={"value": 1},
        premise="excluded",
        prior=Prior("sector", "product", prior) if weighed else None,
        workers=1,
    )
    [result] = found.levels[0].results
    assert result is not None
    if result.status != "closed" or result.premise != "excluded":
        return
    # Nobody is listed at some places: there it is somebody of the usual weight.
    together = np.array([weights[listed == city].sum() or 1.0 for city in range(cities)])
    unlisted = [not (listed == city).any() for city in range(cities)]
    anybody = np.append(weights, unlisted)
    speaks = np.zeros((count, len(listed) + cities))
    for places in itertools.product(range(cities + 1), repeat=count):
        at = np.array(places)
        if any(cents[at == city].sum() != totals[city] for city in range(cities)):
            continue
        likely = np.append(together, together.max())[at].prod() if weighed else 1.0
        for record, city in enumerate(at):
            if city == cities:
                speaks[record] += likely * anybody / anybody.sum()
            elif (listed == city).any():
                here = np.where(listed == city, weights, 0.0)
                speaks[record, : len(listed)] += likely * here / here.sum()
            else:
                speaks[record, len(listed) + city] += likely
    best = speaks.max(axis=1) / speaks.sum(axis=1)
    np.testing.assert_allclose(found.phases[-1].guess_chance, best)
