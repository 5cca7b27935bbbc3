"""Minimal sample uniques, against the paper and all subsets tried one by one."""

from collections import Counter
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.records.test_frequencies import HIDDEN, Row, maybe_alike, rows_of
from tests.strategies import datasets as any_dataset

from divulge import Dataset, datasets, records, work
from divulge.work import InvalidInput
from divulge.work.context import Step

FOUR = ["Area", "Sector", "Employees", "Residential Rev."]


def plain_minimal(
    rows: list[Row], names: list[str], size: int, nulls: str
) -> list[set[frozenset[str]]]:
    """Every record, every subset, every other record."""
    found = []
    for mine in range(len(rows)):
        minimal: set[frozenset[str]] = set()
        for count in range(1, size + 1):
            for chosen in combinations(range(len(names)), count):
                some = [tuple(row[a] for a in chosen) for row in rows]
                alike = [
                    maybe_alike(some[mine], other) if nulls == "maybe" else some[mine] == other
                    for other in some
                ]
                named = frozenset(names[a] for a in chosen)
                if sum(alike) == 1 and not any(part < named for part in minimal):
                    minimal.add(named)
        found.append(minimal)
    return found


@given(any_dataset(), st.sampled_from(["maybe", "value"]), st.data())
def test_the_search_finds_what_trying_all_subsets_finds(
    dataset: Dataset, nulls: str, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(dataset.names)))
    found = records.suda(dataset, max_size=size, nulls=nulls)  # type: ignore[arg-type]
    plain = plain_minimal(rows_of(dataset), dataset.names, size, nulls)
    assert [set(each) for each in found.uniques] == plain
    assert all(len(each) == len(set(each)) for each in found.uniques)
    m = len(dataset.names)
    assert found.scores.tolist() == [sum(factorial(m - len(s)) for s in each) for each in plain]


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_what_counting_finds_on_larger_data(seed: int) -> None:
    companies = datasets.inflation_and_growth(400, balance="U", quasi_identifiers=7, seed=seed)
    names = companies.quasi_identifiers
    rows = rows_of(companies.select(names))
    alone: dict[frozenset[str], set[int]] = {}
    for count in range(1, 8):
        for chosen in combinations(range(7), count):
            some = [tuple(row[a] for a in chosen) for row in rows]
            times = Counter(some)
            alone[frozenset(names[a] for a in chosen)] = {
                i for i, row in enumerate(some) if times[row] == 1
            }
    found = records.suda(companies, nulls="maybe")
    for record, sets in enumerate(found.uniques):
        unique = {named for named, who in alone.items() if record in who}
        assert set(sets) == {s for s in unique if not any(part < s for part in unique)}


def test_002_company_20_and_its_minimal_sample_uniques() -> None:
    companies = datasets.inflation_and_growth_example()
    four = records.suda(companies, among=FOUR, nulls="maybe")
    assert set(four.uniques[19]) == {
        frozenset({"Sector"}),
        frozenset({"Employees", "Residential Rev."}),
    }
    five = records.suda(companies, nulls="maybe")
    assert set(five.uniques[19]) == set(four.uniques[19]) | {
        frozenset({"Employees", "Export Rev."}),
        frozenset({"Residential Rev.", "Export Rev."}),
    }
    assert five.scores[19] == 24 + 3 * 6


def test_002_algorithm_6_company_20_is_risky_by_its_smallest_and_not_by_its_mean() -> None:
    found = records.suda(datasets.inflation_and_growth_example(), nulls="maybe")
    assert (np.flatnonzero(found.risky(2)) + 1).tolist() == [20]
    assert not found.risky(1.75, by="mean").any()
    assert found.risky(1.76, by="mean")[19]


def plain_dis(scores: list[float], uniques: int, pairs: int, m: int, d: float) -> list[float]:
    q = 1 + (8 - m) / 20
    together = uniques * d / (uniques * d + pairs * (1 - d))
    rest = sum(s**-q for s in scores if s)
    return [1 / (1 + (uniques / together - uniques) / (s**q * rest)) if s else 0.0 for s in scores]


@given(any_dataset(max_rows=20), st.floats(0.001, 1))
def test_chances_follow_the_definition(dataset: Dataset, fraction: float) -> None:
    found = records.suda(dataset, sampling_fraction=fraction, nulls="value")
    times = Counter(rows_of(dataset))
    uniques = sum(1 for n in times.values() if n == 1)
    pairs = 2 * sum(1 for n in times.values() if n == 2)
    if not uniques:
        assert not found.dis.any()
        return
    plain = plain_dis(found.scores.tolist(), uniques, pairs, len(dataset.names), fraction)
    assert found.dis.tolist() == pytest.approx(plain, abs=1e-9)
    assert np.all((found.dis >= 0) & (found.dis <= 1))


def test_equal_scores_share_the_chance_of_all_uniques() -> None:
    rows = Dataset.from_arrow(
        pa.table({"a": [1, 2, 3, 3], "b": [0, 0, 0, 0]}), {"quasi_identifier": ["a", "b"]}
    )
    found = records.suda(rows, sampling_fraction=0.1, nulls="maybe")
    together = 2 * 0.1 / (2 * 0.1 + 2 * 0.9)
    assert found.dis.tolist() == pytest.approx([together, together, 0, 0])


def test_contributions_of_values_add_up_to_those_of_attributes() -> None:
    found = records.suda(datasets.inflation_and_growth_example(), nulls="maybe")
    for name, share in found.contributions().items():
        assert sum(found.contributions_of_values(name).values()) == pytest.approx(share)
    assert "Financial" in found.contributions_of_values("Sector")


def test_nobody_is_special_by_what_is_missing() -> None:
    towns = Dataset.from_arrow(
        pa.table({"town": ["Roma", "Roma", None]}), {"quasi_identifier": ["town"]}
    )
    assert not records.suda(towns, nulls="maybe").scores.any()
    assert records.suda(towns, nulls="value").scores.tolist() == [0, 0, 1]
    assert HIDDEN == "None"


def test_where_nobody_is_special_there_is_nothing_to_score() -> None:
    same = Dataset.from_arrow(pa.table({"a": [1, 1]}), {"quasi_identifier": ["a"]})
    found = records.suda(same, nulls="maybe")
    assert found.uniques.total == 0
    assert not found.dis.any()
    assert str(found).splitlines()[2] == "None of 2 records is unique on these attributes."


def test_what_cannot_be_searched_is_said() -> None:
    companies = datasets.inflation_and_growth_example()
    with pytest.raises(InvalidInput, match="9 is not a size from 1 to 5"):
        records.suda(companies, max_size=9, nulls="maybe")
    with pytest.raises(InvalidInput, match="sampling_fraction: 0 is not a share"):
        records.suda(companies, sampling_fraction=0, nulls="maybe")
    with pytest.raises(InvalidInput, match="not among the attributes of this search"):
        records.suda(companies, among=FOUR, nulls="maybe").contributions_of_values("Export Rev.")


@pytest.mark.data
def test_adult_has_as_many_minimal_uniques_as_counting_gives(public_data: object) -> None:
    from pathlib import Path

    from divulge import read

    adult = read(Path(str(public_data)) / "adult" / "adult.csv")
    names = ["sex", "age", "race", "marital-status"]
    rows = rows_of(adult.select(names))
    unique: dict[tuple[int, ...], set[int]] = {}
    total = 0
    for count in range(1, 5):
        for chosen in combinations(range(4), count):
            some = [tuple(row[a] for a in chosen) for row in rows]
            times = Counter(some)
            unique[chosen] = {i for i, row in enumerate(some) if times[row] == 1}
            parts = [unique[part] for part in combinations(chosen, count - 1) if part]
            total += len(unique[chosen].difference(*parts))
    assert records.suda(adult, among=names, nulls="maybe").uniques.total == total


@pytest.mark.parametrize("nulls", [0.0, 0.1])
@pytest.mark.parametrize("stop_after", [1, 3, 9])
def test_a_search_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, nulls: float, stop_after: int
) -> None:
    random = np.random.default_rng(4)
    table = {
        name: pa.array(random.integers(0, 9, 200), mask=random.random(200) < nulls)
        for name in "abcd"
    }
    people = Dataset.from_arrow(pa.table(table), {"quasi_identifier": list("abcd")})
    whole = records.suda(people, max_size=3, nulls="maybe")
    kept = work.Checkpoints(tmp_path / "kept")
    stop = work.Cancellation()
    seen: list[float] = []

    def reporter(progress: work.Progress) -> None:
        seen.append(progress.done)

    def cancel_in_the_middle() -> None:
        steps = 0
        advance = Step.advance

        def counted(self: Step, by: float = 1) -> None:
            nonlocal steps
            steps += 1
            if steps > stop_after:
                stop.cancel()
            advance(self, by)

        with (
            pytest.MonkeyPatch.context() as patch,
            work.run_with(checkpoints=kept, cancellation=stop),
            pytest.raises(work.Cancelled),
        ):
            patch.setattr(Step, "advance", counted)
            records.suda(people, max_size=3, nulls="maybe")

    cancel_in_the_middle()
    left = {path.name for path in kept.folder.glob("*")} if kept.folder.exists() else set()
    with work.run_with(checkpoints=kept, reporter=reporter):
        resumed = records.suda(people, max_size=3, nulls="maybe")
        again = records.suda(people, max_size=3, nulls="maybe")
    assert left <= {path.name for path in kept.folder.glob("*")}
    assert len(left) > 0 or stop_after < 3
    for found in (resumed, again):
        assert found.scores.tolist() == whole.scores.tolist()
        assert list(found.uniques) == list(whole.uniques)
    # Sets that a checkpoint spares are said to be done: 4 + 6 + 4 of four attributes.
    assert max(seen) == 14
