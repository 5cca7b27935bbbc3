"""Why a level was chosen: what the level below it would leave to suppression, recounted."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

import divulge as dv
from divulge import Dataset, Hierarchy, Limit, protection
from divulge.report.page import protection_page

AGES = Hierarchy.intervals([0, 10, 20, 30, 40, 50, 60, 70], [0, 20, 40, 60], [0, 40])
TOWNS = Hierarchy.prefixes(2, 1)


def make_people(rows: int) -> Dataset:
    random = Random(3)  # noqa: S311
    table = pa.table(
        {
            "age": [int(random.triangular(0, 79, 30)) for _ in range(rows)],
            "town": [f"{random.randint(1, 3)}{random.randint(0, 9)}a" for _ in range(rows)],
            "sex": [random.choice("fm") for _ in range(rows)],
        }
    )
    roles = {"quasi_identifier": ["age", "town", "sex"]}
    return Dataset.from_arrow(table, roles, {"age": AGES, "town": TOWNS})


def count_at_risk(dataset: Dataset, levels: dict[str, int], k: int) -> int:
    rows = [
        tuple(
            str(dataset.dictionary[name].hierarchy.at(value, levels[name]))  # type: ignore[union-attr]
            if levels.get(name)
            else str(value)
            for name, value in row.items()
        )
        for row in dataset.to_arrow().to_pylist()
    ]
    counts = Counter(rows)
    return sum(counts[row] < k for row in rows)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.2])
def test_each_level_is_explained_by_the_one_below_it(share: float) -> None:
    people = make_people(400)
    p = protection.protect(people, [Limit("k_anonymity", at_least=4)], suppression_limit=share)
    assert p.levels
    most = int(share * people.rows)
    told = {
        decision.attribute: decision.reason for decision in p.decisions if decision.record is None
    }
    for name, level in p.levels.items():
        finer = {**p.levels, name: level - 1}
        at_risk = count_at_risk(people, finer, 4)
        assert told[name].startswith(f"at level {level - 1}")
        if at_risk > most:
            words = "record" if at_risk == 1 else "records"
            assert f"{at_risk:,} {words} would be left to suppression" in told[name]
            assert told[name].endswith(f"the limit is {most}")
        else:
            assert "would lose" in told[name] or "out of reach" in told[name]


def test_what_was_tried_and_lost_more_is_told_with_both_losses() -> None:
    reasons = []
    for share in (0.3, 0.6, 1.0):
        p = protection.protect(
            make_people(400), [Limit("k_anonymity", at_least=4)], suppression_limit=share
        )
        reasons += [d.reason for d in p.decisions if d.record is None]
    together = [reason for reason in reasons if "together would lose" in reason]
    assert together
    for reason in together:
        finer, chosen = (float(word) for word in reason.replace(",", "").split() if "0." in word)
        assert finer >= chosen


def test_the_summary_tells_levels_losses_and_reasons() -> None:
    people = make_people(400)
    p = protection.protect(people, [Limit("k_anonymity", at_least=4)])
    summary = p.recoding
    assert summary is not None
    assert summary.loss == pytest.approx(p.loss)
    assert sum(a.loss for a in summary.attributes) / 3 == pytest.approx(p.loss)
    told = {each.name: each for each in summary.attributes}
    for name, level in p.levels.items():
        assert (told[name].level, told[name].height) == (level, {"age": 3, "town": 2}[name])
        assert told[name].reason in [decision.reason for decision in p.decisions]
        texts = [str(value) for value in p.original.columns[name].to_arrow().to_pylist()]
        shown = p.dataset.columns[name].to_arrow().to_pylist()
        kept = [texts[place] for place in p.kept.tolist()]
        coarser = sum(v is not None and v != t for v, t in zip(shown, kept, strict=True))
        assert told[name].coarser == coarser
    assert p.to_dict()["recoding"]["loss"] == summary.loss
    assert protection.suppress(people, k=2).recoding is None


def test_the_report_has_a_section_on_recoding() -> None:
    people = make_people(300)
    p = protection.protect(people, [Limit("k_anonymity", at_least=4)])
    page = protection_page(p)
    assert "how coarse it is, and why" in page
    for name in p.levels:
        assert [d.reason for d in p.decisions if d.attribute == name and d.record is None][
            -1
        ] in page
    assert "Efficient ways" not in page
    ways = protection.risk_utility_map(people, ks=(4,), most_levels=0)
    with_ways = protection_page(p, ways)
    assert "Efficient ways" in with_ways
    assert all(row[0] in with_ways for row in ways.rows())
    single = protection.protect(people, [Limit("k_anonymity", at_least=4)], local=True)
    assert "record by record" in protection_page(single)
    assert "how coarse" not in protection_page(protection.suppress(people, k=2))


def test_a_proof_is_in_the_section(tmp_path: object) -> None:
    p = dv.protection.recode(make_people(300), [Limit("k_anonymity", at_least=4)])
    assert p.recoding is not None
    assert any("combinations of levels loses less" in str(s) for s in p.recoding.sentences())
