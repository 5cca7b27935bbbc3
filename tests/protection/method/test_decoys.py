"""Decoys: which cells they are, that the same are drawn again, and what they cost and bring."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge import protection, records
from divulge.protection import Protected
from divulge.protection.changes.changes import select_records
from divulge.work.secret_key import SecretKey

from .test_method_knowledge import KEYS, make_people

Cell = tuple[int, str]


def list_hidden(p: Protected) -> set[Cell]:
    """The cells that a protection hides, by record of the original."""
    before = p.original.to_arrow().to_pylist()
    after = p.dataset.to_arrow().to_pylist()
    return {
        (record, name)
        for record, new in zip(p.kept.tolist(), after, strict=True)
        for name in KEYS
        if new[name] is None and before[record][name] is not None
    }


def list_decoys(p: Protected) -> set[Cell]:
    assert p.needed is not None
    return list_hidden(p) - list_hidden(p.needed)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([0.25, 0.5, 2.0]))
def test_decoys_are_safe_cells_beside_hidden_ones_and_every_limit_still_holds(
    seed: int, k: int, rate: float
) -> None:
    people = make_people(seed, 150)
    p = protection.suppress(people, k=k, decoys=rate, out_of_reach="remove")
    if p.needed is None:
        assert not p.suppressed_cells
        return
    assert list_hidden(p.needed) <= list_hidden(p)
    assert p.decoy_cells == len(list_decoys(p)) <= round(rate * p.needed.suppressed_cells + 0.5)
    known = select_records(people, p.kept) if p.removed else people
    assert records.frequencies(p.dataset, original=known).smallest >= k - 1e-9
    # In all else a decoy is like a cell that had to be hidden, and k of its class stay.
    needed = [tuple(row[n] for n in KEYS) for row in p.needed.dataset.to_arrow().to_pylist()]
    released = [tuple(row[n] for n in KEYS) for row in p.dataset.to_arrow().to_pylist()]
    place_of = {record: place for place, record in enumerate(p.kept.tolist())}
    for record, _ in list_decoys(p):
        place = place_of[record]
        assert released[place] in needed
        assert released.count(needed[place]) >= k


def test_the_same_data_and_secret_draw_the_same_and_another_secret_others() -> None:
    people = make_people(4, 600)
    first, again = (protection.suppress(people, k=3, decoys=0.5) for _ in range(2))
    assert first.dataset.equals(again.dataset)
    assert first.decoy_cells
    keys = [SecretKey(bytes([number]) * 32) for number in (1, 1, 2)]
    one, same, other = (protection.suppress(people, k=3, decoys=0.5, secret=key) for key in keys)
    assert list_decoys(one) == list_decoys(same)
    assert list_decoys(one) != list_decoys(other)
    assert list_hidden(one.needed or one) == list_hidden(other.needed or other)


def test_more_decoys_hold_the_fewer_ones_so_that_the_two_cannot_be_compared() -> None:
    people = make_people(4, 600)
    few, many = (protection.suppress(people, k=3, decoys=rate) for rate in (0.25, 1.0))
    assert 0 < few.decoy_cells < many.decoy_cells
    kept = len(list_decoys(few) & list_decoys(many))
    assert kept >= few.decoy_cells * 0.8


def test_a_record_more_leaves_the_draw_of_the_others_as_it_was() -> None:
    people = make_people(7, 500).to_arrow().append_column("id", pa.array(range(500)))
    roles = {"quasi_identifier": KEYS, "identifier": ["id"]}
    key = SecretKey(bytes(32))
    most = people["a"].to_pylist().index(0)
    extra = people.slice(most, 1).set_column(3, "id", pa.array([500]))
    before, after = (
        protection.suppress(dv.Dataset.from_arrow(table, roles=roles), k=3, decoys=0.5, secret=key)
        for table in (people, pa.concat_tables([people, extra]))
    )
    assert list_hidden(before.needed or before) == list_hidden(after.needed or after)
    assert list_decoys(before) == list_decoys(after)


def test_decoys_make_exclusions_wrong_and_their_price_is_told() -> None:
    people = make_people(9, 2_000)
    p = protection.suppress(people, k=5, decoys=1.0)
    assert p.needed is not None
    assert p.method is not None
    assert p.needed.method is not None
    assert p.method.figures.misled is not None
    assert p.method.figures.misled >= p.decoy_cells * 0.9 > 0
    assert p.loss > p.needed.loss
    told = p.to_dict()
    assert told["decoy_cells"] == p.decoy_cells
    assert told["loss_without_decoys"] == p.needed.loss
    assert told["method_without_decoys"]["hidden"] == p.needed.suppressed_cells
    assert told["method_on_needed"]["hidden"] == p.needed.suppressed_cells
    assert any("are decoys" in sentence for sentence in p.explain())
    assert any("that had to be suppressed" in sentence for sentence in p.explain())


def test_decisions_say_which_cells_are_decoys() -> None:
    p = protection.suppress(make_people(4, 600), k=3, decoys=0.5)
    decoys = [d for d in p.decisions if d.rule == "decoys = 0.5"]
    assert {(d.record, d.attribute) for d in decoys} == list_decoys(p)
    assert all("decoy" in d.reason for d in decoys)
    assert p.decisions.replayed(p.original).equals(p.dataset)


def test_undoing_takes_decoys_back_first() -> None:
    p = protection.suppress(make_people(4, 600), k=3, decoys=0.5)
    assert p.needed is not None
    assert p.undo(p.decoy_cells).dataset.equals(p.needed.dataset)
    assert p.undo().method is None


def test_decoys_keep_to_the_share_of_records_that_may_be_touched() -> None:
    people = make_people(4, 600)
    needed = protection.suppress(people, k=3)
    share = (needed.decisions.suppressed_or_removed.size + 2) / people.rows
    p = protection.suppress(people, k=3, decoys=5.0, suppression_limit=share)
    assert p.decisions.suppressed_or_removed.size <= share * people.rows
    assert protection.suppress(people, k=3, decoys=5.0).decoy_cells > p.decoy_cells
    assert any("Fewer decoys" in sentence for sentence in p.explain())


@pytest.mark.parametrize("published", [None, KEYS])
def test_protect_adds_decoys_that_all_its_limits_allow(published: list[str] | None) -> None:
    random = np.random.default_rng(3)
    table = make_people(6, 400).to_arrow().append_column("s", pa.array(random.integers(0, 9, 400)))
    people = dv.Dataset.from_arrow(table, roles={"quasi_identifier": KEYS, "sensitive": ["s"]})
    limits = [
        dv.Limit("k_anonymity", at_least=3),
        dv.Limit("distinct_l_diversity", at_least=2, attribute="s"),
    ]
    p = protection.protect(people, limits, ["suppress"], decoys=0.5, published=published)
    assert p.decoy_cells
    assert all(outcome.held for outcome in p.outcomes)
    assert records.frequencies(p.dataset, original=people).smallest >= 3 - 1e-9
    assert p.method is not None


@pytest.mark.parametrize("decoys", [-0.1, 11, "many", True, float("nan")])
def test_a_rate_that_cannot_be_is_refused(decoys: float) -> None:
    people = make_people(0, 50)
    with pytest.raises(dv.InvalidInput, match="decoys"):
        protection.suppress(people, k=2, decoys=decoys)
    with pytest.raises(dv.InvalidInput, match="decoys"):
        protection.protect(people, [dv.Limit("k_anonymity", at_least=2)], decoys=decoys)


def test_decoys_are_spread_as_hidden_cells_are_and_not_as_safe_records() -> None:
    """Else a reader would take cells of groups with many safe records for decoys, and be right."""
    random = np.random.default_rng(0)
    groups = {"big": (4_000, 8), "small": (60, 40)}
    rows = []
    for name, (safe, rare) in groups.items():
        rows += [(name, int(age)) for age in random.integers(0, 3, safe)]
        rows += [(name, 100 + number) for number in range(rare)]
    table = pa.table({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    people = dv.Dataset.from_arrow(table, roles={"quasi_identifier": ["a", "b"]})
    p = protection.suppress(people, k=5, decoys=0.5)
    assert p.needed is not None
    assert p.decoy_cells == 24
    now, before = (
        [row["a"] for row in each.dataset.to_arrow().to_pylist() if row["b"] is None]
        for each in (p, p.needed)
    )
    assert (before.count("big"), before.count("small")) == (8, 40)
    assert (now.count("big"), now.count("small")) == (12, 60)
