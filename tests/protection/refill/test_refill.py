"""The refill attack on datasets: what is hidden, what is told, and what is said of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge import protection, work
from divulge.data import Hierarchy
from divulge.data.column import HIDDEN_TAG
from divulge.protection.changes.changes import hide_cells
from divulge.work.arrays import Ints

ROWS = 1_500
KEYS = ["region", "age", "size"]
DOCUMENT = Path(__file__).parents[3] / "docs" / "refill.md"


@pytest.fixture(scope="module")
def people() -> dv.Dataset:
    random = np.random.default_rng(11)
    household = np.repeat(np.arange(ROWS), random.integers(1, 6, ROWS))[:ROWS]
    region = random.integers(0, 7, ROWS)[household]
    age = random.integers(0, 90, ROWS)
    table = pa.table(
        {
            "household": household,
            "region": [f"R{number}" for number in region],
            "age": age,
            "size": np.bincount(household)[household],
            "born": pa.array(2020 - age, mask=random.random(ROWS) < 0.2),
            "sex": random.choice(["f", "m"], ROWS),
        }
    )
    return dv.Dataset.from_arrow(
        table, roles={"quasi_identifier": KEYS}, name="people", subjects="people"
    )


@pytest.fixture(scope="module")
def places() -> dict[str, Ints]:
    random = np.random.default_rng(12)
    return {name: np.sort(random.choice(ROWS, 150, replace=False)) for name in KEYS}


@pytest.fixture(scope="module")
def released(people: dv.Dataset, places: dict[str, Ints]) -> dv.Dataset:
    return hide_cells(people, places)


@pytest.fixture(scope="module")
def attacked(people: dv.Dataset, released: dv.Dataset) -> protection.Refill:
    return protection.refill(released, people)


def mark_suppressed(dataset: dv.Dataset, places: dict[str, Ints]) -> dv.Dataset:
    columns = dict(dataset.columns)
    for name, rows in places.items():
        tags = np.zeros(dataset.rows, np.uint8)
        tags[rows] = HIDDEN_TAG
        columns[name] = replace(columns[name], tags=tags)
    return replace(dataset, columns=columns)


def test_what_is_filled_is_what_was_there(
    people: dv.Dataset, released: dv.Dataset, attacked: protection.Refill
) -> None:
    before, after = people.to_arrow(), attacked.refilled.to_arrow()
    filled = wrong = 0
    for name in KEYS:
        shown = released.to_arrow()[name].to_pylist()
        for was, now, is_shown in zip(
            before[name].to_pylist(), after[name].to_pylist(), shown, strict=True
        ):
            if is_shown is None and now is not None:
                filled += 1
                wrong += was != now
    assert (attacked.claimed, attacked.right) == (filled, filled - wrong)
    assert attacked.hidden == 450
    assert filled > 300
    assert wrong == 0
    assert attacked.verified == attacked.right
    assert attacked.refilled_verified is not None
    assert attacked.refilled_verified.equals(attacked.refilled)


def test_relations_say_what_they_tell(attacked: protection.Refill) -> None:
    said = [str(relation) for relation in attacked.relations]
    assert "size is the number of records with the same household: 150 cells" in said
    assert any(re.fullmatch(r"household determines region: \d+ cells", text) for text in said)
    assert any(re.fullmatch(r"age is 2,020 minus born: \d+ cells", text) for text in said)
    assert "150 of 150 suppressed values of size follow from household" in str(attacked)


def test_the_original_tells_nothing_but_what_is_hidden_and_right(
    released: dv.Dataset, places: dict[str, Ints], attacked: protection.Refill
) -> None:
    alone = protection.refill(mark_suppressed(released, places))
    assert alone.refilled.to_arrow().equals(attacked.refilled.to_arrow())
    assert alone.claimed == attacked.claimed
    assert (alone.right, alone.verified, alone.refilled_verified) == (None, None, None)
    assert "not known without the original" in str(alone)
    assert alone.best_guess == pytest.approx(attacked.best_guess, rel=0.2)


def test_a_filled_cell_is_no_longer_marked_as_suppressed(
    released: dv.Dataset, places: dict[str, Ints]
) -> None:
    told = protection.refill(mark_suppressed(released, places)).refilled.columns["region"]
    assert told.tags is not None
    missing = told.codes == told.missing_code
    assert set(np.flatnonzero(told.tags == HIDDEN_TAG)) == set(np.flatnonzero(missing))


def without_marks(dataset: dv.Dataset) -> dv.Dataset:
    """The same, and nothing says which missing values were suppressed."""
    columns = {name: replace(column, tags=None) for name, column in dataset.columns.items()}
    return replace(dataset, columns=columns)


def test_an_absent_cell_is_not_filled(people: dv.Dataset, places: dict[str, Ints]) -> None:
    hidden = hide_cells(people, {"region": np.arange(0, ROWS, 10)})
    absent = without_marks(hidden)
    shown = {name: rows[rows % 10 != 0] for name, rows in places.items()}
    both = hide_cells(absent, shown)
    r = protection.refill(both, absent)
    told = r.refilled.columns["region"]
    assert (told.codes[::10] == told.missing_code).all()
    assert r.claimed > 250


def test_where_nothing_says_what_is_hidden_it_must_be_said(released: dv.Dataset) -> None:
    unmarked = without_marks(released)
    with pytest.raises(dv.work.DivulgeError, match='hidden="all" to take every missing'):
        protection.refill(unmarked)
    r = protection.refill(unmarked, hidden="all")
    assert r.hidden == 450
    assert "Every missing value of a quasi-identifier was counted as suppressed" in str(r)


def test_a_release_that_hides_nothing_cannot_be_refilled(people: dv.Dataset) -> None:
    with pytest.raises(dv.work.DivulgeError, match="hides no cell of its original"):
        protection.refill(people, people)


def test_what_does_not_fit_is_said_at_once(people: dv.Dataset, released: dv.Dataset) -> None:
    shorter = dv.Dataset.from_arrow(people.to_arrow().slice(1))
    with pytest.raises(dv.work.InvalidInput) as told:
        protection.refill(released, shorter, columns=["hosehold"], hidden="some")  # type: ignore[arg-type]
    for part in ('Did you mean "household"', "1,499 records, the release 1,500", "hidden"):
        assert part in str(told.value)
    with pytest.raises(dv.work.InvalidInput, match="one whole number for each"):
        protection.refill(released, people, known_groups={"household": [1, 2]})


def test_a_household_known_from_elsewhere_tells_as_a_published_one(
    people: dv.Dataset, released: dv.Dataset
) -> None:
    published = released.select([name for name in released.names if name != "household"])
    without = protection.refill(published, people)
    by_link = protection.refill(published, people, links="household")
    groups = people.columns["household"].codes.astype(np.int64)
    by_group = protection.refill(published, people, known_groups={"household": groups + 70})
    assert without.claimed < by_link.claimed == by_group.claimed
    assert [str(r) for r in by_link.relations] == [str(r) for r in by_group.relations]
    with pytest.raises(dv.work.InvalidInput, match="links"):
        protection.refill(published, people, links="family")


def test_relations_read_only_from_the_columns_that_are_named(
    people: dv.Dataset, released: dv.Dataset
) -> None:
    r = protection.refill(released, people, columns="household")
    assert {relation.columns for relation in r.relations} == {("household",)}


def test_the_result_of_a_protection_brings_its_original_and_the_records_it_kept() -> None:
    random = np.random.default_rng(2)
    household = np.arange(900) // 3
    region = random.choice(5, 900, p=[0.4, 0.3, 0.2, 0.08, 0.02])[household]
    table = pa.table(
        {"household": household, "region": region, "age": random.integers(0, 60, 900) // 6 * 6}
    )
    ages = Hierarchy.intervals([20, 40])
    dataset = dv.Dataset.from_arrow(
        table, roles={"quasi_identifier": ["region", "age"]}, hierarchies={"age": ages}
    )
    limit = dv.Limit("k_anonymity", at_least=15, nulls="bayes")
    p = protection.protect(dataset, [limit], out_of_reach="remove", suppression_limit=0.1)
    assert p.levels["age"] == 1
    r = protection.refill(p)
    assert r.cells.keys == ("region", "age")
    regions = r.by_attribute()["region"]
    assert regions.right == regions.claimed > 0
    again = protection.refill(
        p.dataset, dv.Dataset.from_arrow(table.take(pa.array(p.kept))), keys=KEYS[:2]
    )
    assert (again.claimed, again.right) == (r.claimed, r.right)


def test_the_three_kinds_of_guesses_are_in_order(attacked: protection.Refill) -> None:
    assert attacked.right is not None
    assert attacked.right <= attacked.best_guess <= attacked.hidden
    assert attacked.base_rate <= attacked.keys_only <= attacked.figures.guess
    assert attacked.figures.guess <= attacked.best_guess
    figures = attacked.by_attribute()
    assert sum(f.hidden for f in figures.values()) == attacked.hidden
    region = np.array(attacked.cells.dataset.to_arrow()["region"].to_pylist())
    shown = [value for value in region.tolist() if value is not None]
    mode = max(sorted(set(shown)), key=shown.count)
    assert attacked.cells.truth is not None
    column = attacked.cells.find_column("region")
    truth = attacked.cells.truth["region"][column.codes == -2]
    values = attacked.cells.values["region"].to_pylist()
    assert figures["region"].base_rate == sum(values[code] == mode for code in truth)


def test_the_assessment_counts_cells_and_can_be_broken_down(attacked: protection.Refill) -> None:
    a = attacked.assessment()
    assert (a.secrets, a.certain.posterior) == (attacked.hidden, attacked.right)
    assert (a.right.prior, a.right.posterior) == (attacked.base_rate, attacked.best_guess)
    groups = a.by("sex")
    assert sum(part.secrets for part in groups.values()) == attacked.hidden
    assert sum(part.certain.posterior for part in groups.values()) == attacked.right
    risk = a.risk()
    assert risk.shape == (ROWS,)
    assert (risk > 0).sum() <= attacked.best_guess
    assert json.loads(json.dumps(attacked.to_dict()))["claimed"] == attacked.claimed
    assert json.loads(json.dumps(a.to_dict()))["secrets"] == attacked.hidden
    assert "<svg" in attacked.chart().svg()
    assert "household" not in repr(attacked)


def test_the_search_can_be_stopped(people: dv.Dataset, released: dv.Dataset) -> None:
    cancellation = work.Cancellation()
    cancellation.cancel()
    with work.run_with(cancellation=cancellation), pytest.raises(work.Cancelled):
        protection.refill(released, people)


def test_beyond_sixty_columns_pairs_are_a_choice_and_that_is_said(people: dv.Dataset) -> None:
    table = people.to_arrow()
    random = np.random.default_rng(4)
    for number in range(70):
        table = table.append_column(f"noise {number}", pa.array(random.integers(0, 9, ROWS)))
    wide = dv.Dataset.from_arrow(table, roles={"quasi_identifier": KEYS})
    r = protection.refill(hide_cells(wide, {"region": np.arange(0, ROWS, 9)}), wide)
    assert "60 were examined in pairs" in str(r)
    [limitation] = r.list_limitations()
    assert limitation in r.sentences()
    assert r.relations[0].columns == ("household",)


def test_the_keys_that_a_release_would_restore_are_known_before(people: dv.Dataset) -> None:
    told = protection.find_determined_attributes(people)
    assert list(told) == KEYS
    assert {(r.form, r.columns) for r in told["region"]} == {("determines", ("household",))}
    assert ("count", ("household",)) in {(r.form, r.columns) for r in told["size"]}
    assert ("minus", ("born",)) in {(r.form, r.columns) for r in told["age"]}
    [by_home] = told["region"]
    sizes = people.to_arrow()["size"].to_numpy()
    assert by_home.support.rows == by_home.support.right == (sizes > 1).sum()
    fewer = protection.find_determined_attributes(people, columns=["sex", *KEYS])
    assert not fewer["region"]
    assert not fewer["size"]
    groups = people.columns["household"].codes.astype(np.int64)
    known = protection.find_determined_attributes(
        people, columns=["sex", *KEYS], known_groups={"home": groups}
    )
    assert [r.columns for r in known["region"]] == [("home",)]


def test_shuffled_data_restore_no_key(people: dv.Dataset) -> None:
    random = np.random.default_rng(1)
    shuffled = pa.table(
        {
            name: column.take(pa.array(random.permutation(ROWS)))
            for name, column in zip(people.names, people.to_arrow().columns, strict=True)
        }
    )
    told = protection.find_determined_attributes(dv.Dataset.from_arrow(shuffled), KEYS)
    assert told == dict.fromkeys(KEYS, ())


def test_the_python_in_the_document_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, DOCUMENT.name, "exec"), names)  # noqa: S102  # our own page
