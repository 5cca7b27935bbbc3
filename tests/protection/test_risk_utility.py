"""The risk-utility map: every point is what protecting in its way gives; the frontier is a law."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protection.recoding import plain
from tests.protection.recoding.test_optimal_levels import build_dataset, draw_case
from typer.testing import CliRunner

import divulge as dv
from divulge import Dataset, Hierarchy, protection
from divulge.cli.main import app
from divulge.protection.result.utility_map import MapPoint, mark_efficient
from divulge.work import InvalidInput

LEVELS = "levels"


def make_people(rows: int = 120) -> Dataset:
    draws = random.Random(4)  # noqa: S311  # made-up data
    return Dataset.from_arrow(
        pa.table(
            {
                "age": [draws.randrange(60) for _ in range(rows)],
                "town": [draws.choice(["Roma", "Milano", "Torino"]) for _ in range(rows)],
            }
        ),
        roles={"quasi_identifier": ["age", "town"]},
        hierarchies={
            "age": Hierarchy.intervals([0, 10, 20, 30, 40, 50, 60], [0, 30, 60], [0, 60]),
            "town": Hierarchy.from_levels(
                [["Roma", "Italy"], ["Milano", "Italy"], ["Torino", "Italy"]]
            ),
        },
    )


@pytest.fixture(scope="module")
def people_map() -> protection.RiskUtilityMap:
    return protection.risk_utility_map(make_people(), ks=(2, 5))


def test_every_way_and_every_combination_of_levels_is_on_the_map(
    people_map: protection.RiskUtilityMap,
) -> None:
    methods = Counter(point.method for point in people_map.points)
    assert people_map.combinations == 4 * 2
    assert methods[LEVELS] == 2 * 8 - 1  # no five agree in the values as they are
    assert {"suppress (bayes)", "recode (0%)", "recode (5%)", "recode (free)"} <= set(methods)
    assert "All 8 combinations of levels are among them" in str(people_map)


def test_a_point_is_what_protecting_in_its_way_gives(
    people_map: protection.RiskUtilityMap,
) -> None:
    for point in people_map.points:
        p = point.protected()
        assert p.loss == pytest.approx(point.loss)
        assert p.after.probabilistic.posterior == pytest.approx(point.average_risk)
        assert p.frequencies[1].risk().highest == pytest.approx(point.highest_risk)
        assert (p.removed, p.suppressed_cells) == (point.removed_records, point.suppressed_cells)
        assert dict(p.levels) == point.levels


@given(seed=st.integers(0, 10**6), k=st.integers(1, 4))
def test_the_cloud_is_counted_record_by_record(seed: int, k: int) -> None:
    rows, secrets, ladders = draw_case(seed)
    if k > len(rows):  # refused: so many cannot look alike
        return
    dataset = build_dataset(rows, secrets, ladders)
    found = protection.risk_utility_map(dataset, ks=(k,), methods=[])
    told = {
        tuple(point.levels.get(f"q{a}", 0) for a in range(len(ladders))): point
        for point in found.points
    }
    heights = [len(next(iter(ladder.values()))) for ladder in ladders]
    if max(heights) == 1:
        assert not told
        return
    for levels in product(*map(range, heights)):
        coarse = [plain.coarsen(row, ladders, levels) for row in rows]
        sizes = Counter(coarse)
        removed = {i for i, row in enumerate(coarse) if sizes[row] < k}
        left = [sizes[row] for i, row in enumerate(coarse) if i not in removed]
        if not left:
            assert levels not in told
            continue
        point = told[levels]
        assert point.removed_records == len(removed)
        assert point.average_risk == pytest.approx(sum(1 / n for n in left) / len(left))
        assert point.highest_risk == pytest.approx(1 / min(left))
        assert point.loss == pytest.approx(
            plain.measure_loss(
                rows, ladders, levels, removed, utility="loss", weights=[1.0] * len(ladders)
            )
        )


@given(
    figures=st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3]), st.sampled_from([0.1, 0.2, 0.5, 1.0]))
    )
)
def test_a_point_is_efficient_if_no_other_has_less_of_one_and_no_more_of_the_other(
    figures: list[tuple[float, float]],
) -> None:
    points = mark_efficient([make_point(loss, risk) for loss, risk in figures], "average")
    told = {(p.loss, p.average_risk) for p in points if p.is_efficient}
    dominated = {
        one
        for one in figures
        if any(other[0] <= one[0] and other[1] <= one[1] and other != one for other in figures)
    }
    assert told == set(figures) - dominated


def make_point(loss: float, risk: float) -> MapPoint:
    return MapPoint(
        method="m", k=2, loss=loss, average_risk=risk, highest_risk=1.0,
        removed_records=0, suppressed_cells=0, build=lambda: pytest.fail("not to be built"),
    )  # fmt: skip


def test_a_choice_is_the_best_within_its_bounds(people_map: protection.RiskUtilityMap) -> None:
    by_loss = people_map.choose(loss_at_most=0.3)
    assert by_loss.average_risk == min(p.average_risk for p in people_map.points if p.loss <= 0.3)
    by_risk = people_map.choose(risk_at_most=0.1)
    assert by_risk.loss == min(p.loss for p in people_map.points if p.average_risk <= 0.1)
    whole = people_map.choose(risk_at_most=0.1, removed_at_most=0)
    assert whole.removed_records == 0
    assert whole.loss >= by_risk.loss
    with pytest.raises(InvalidInput, match="no point is within these bounds; the least loss is"):
        people_map.choose(loss_at_most=0.0, risk_at_most=0.0001)
    with pytest.raises(InvalidInput, match="name loss_at_most"):
        people_map.choose()


def test_levels_that_were_chosen_say_so(people_map: protection.RiskUtilityMap) -> None:
    point = next(p for p in people_map.frontier if p.method == LEVELS and p.levels)
    p = point.protected()
    assert "The levels were chosen from 8 combinations" in str(p)
    assert "this level was chosen" in str(p.decisions[0])
    assert not p.proved


def test_a_large_lattice_is_sampled_and_says_so() -> None:
    found = protection.risk_utility_map(make_people(), ks=(2,), methods=[], most_levels=5)
    assert len(found.points) == found.mapped == 5
    assert "5 of 8 combinations of levels are among them, drawn at random" in str(found)
    again = protection.risk_utility_map(make_people(), ks=(2,), methods=[], most_levels=5)
    assert [p.levels for p in again.points] == [p.levels for p in found.points]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"methods": ["recode (5)"]}, r'Did you mean "recode \(5%\)"'),
        ({"risk": "mean"}, "average"),
        ({"most_levels": -1}, "most_levels"),
    ],
)
def test_what_cannot_be_mapped_is_said(wish: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        protection.risk_utility_map(make_people(), **wish)  # type: ignore[arg-type]


def test_the_chart_and_the_page_hold_the_frontier(
    people_map: protection.RiskUtilityMap, tmp_path: Path
) -> None:
    chart = people_map.chart()
    assert len(chart.records) == len(people_map.points)
    assert chart.description.count("k = ") == len(people_map.frontier)
    assert "<svg" in chart.svg()
    dv.report(people_map, tmp_path / "map.html")
    page = (tmp_path / "map.html").read_text()
    assert page.split("<h2>Efficient ways</h2>")[1].count("<tr>") == len(people_map.frontier) + 1
    assert "<svg" in page


def test_the_command_line_maps_chooses_and_writes(tmp_path: Path) -> None:
    make_people().write(tmp_path / "people.csv")
    data, out = str(tmp_path / "people.csv"), tmp_path / "protected.csv"
    run = ["map", data, "-q", "age", "-q", "town", "-k", "2", "-k", "3"]
    result = CliRunner().invoke(app, [*run, "--json", "--chart", str(tmp_path / "map.svg")])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["chosen"] is None
    assert len(told["points"]) == 6
    assert "<svg" in (tmp_path / "map.svg").read_text()
    chosen = CliRunner().invoke(app, [*run, "--risk-at-most", "0.5", "--out", str(out)])
    assert chosen.exit_code == 0, chosen.output
    assert "Chosen: suppress" in chosen.stdout
    rows = out.read_text().splitlines()[1:]
    assert len(rows) == 120
    refused = CliRunner().invoke(app, [*run, "--out", str(out)])
    assert isinstance(refused.exception, InvalidInput)
    assert "nothing is chosen" in str(refused.exception)
