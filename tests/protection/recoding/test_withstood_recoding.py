"""A recoding as it goes out: who can be found by other columns is removed, or all are recoded alike."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

import divulge as dv
from divulge.protection import Protected, PublishedJudgement
from divulge.protection.published_judgement import withstand_recoding

ROWS = 600
TOWNS = [(f"t{number}", "north" if number < 4 else "south") for number in range(8)]


def recode_beside(column: list[str], town: np.ndarray) -> partial[Protected]:
    """A recoding to 3 alike of towns and ages, beside another column that goes out."""
    age = np.random.default_rng(4).integers(0, 30, ROWS)
    table = pa.table({"town": [f"t{number}" for number in town], "age": age, "other": column})
    people = dv.Dataset.from_arrow(
        table,
        roles={"quasi_identifier": ["town", "age"], "non_identifying": ["other"]},
        hierarchies={"town": dv.Hierarchy.from_pairs(TOWNS)},
    )
    limits = [dv.Limit("k_anonymity", at_least=3)]
    return partial(dv.protection.recode, people, limits)


def withstand(
    recoding: partial[Protected], share: float
) -> tuple[Protected, Protected, PublishedJudgement]:
    single = recoding(share, local=True)
    return single, *withstand_recoding(single, recode_alike=lambda: recoding(share))


def test_who_is_found_by_another_column_is_removed_if_few_are() -> None:
    town = np.random.default_rng(3).integers(0, 8, ROWS)
    club = ["club of t0" if number == 0 else "none" for number in town]
    recoded, kept, judgement = withstand(recode_beside(club, town), share=0.12)
    assert (judgement.status, recoded.removed) == ("pass", 0)
    assert 0 < kept.removed <= 0.12 * ROWS
    assert kept.loss > recoded.loss
    # Whoever is of the club and released has two others of the town and age that they show.
    shown = kept.dataset.to_arrow().to_pylist()
    members = [(each["town"], each["age"]) for each in shown if each["other"] == "club of t0"]
    refined = [("t0" if town == "north" else town, age) for town, age in members]
    others = [(each["town"], each["age"]) for each in shown if each["other"] == "none"]
    assert all((refined + others).count(place) >= 3 for place in refined)


def test_all_are_recoded_alike_if_too_many_would_have_to_go() -> None:
    home = np.arange(ROWS) // 4
    town = np.random.default_rng(3).integers(0, 8, ROWS // 4)[home]
    recoding = recode_beside([f"h{number}" for number in home], town)
    recoded, kept, judgement = withstand(recoding, share=0.05)
    # Some of a household show the town, and so tell it of the others.
    assert not recoded.levels
    assert (judgement.status, kept.levels) == ("pass", {"town": 1})
    assert kept.removed <= 0.05 * ROWS


def test_how_many_would_have_to_go_is_said_where_nothing_helps() -> None:
    town = np.random.default_rng(3).integers(0, 8, ROWS)
    copy = [f"c{number}" for number in town]
    recoded, kept, judgement = withstand(recode_beside(copy, town), share=0.1)
    assert (kept, judgement.status) == (recoded, "fail")
    assert judgement.needed > 0.1 * ROWS
    assert any("would have to go" in str(sentence) for sentence in judgement.sentences())
