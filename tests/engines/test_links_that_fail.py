"""Years that cannot be linked where they are say why, as in memory, or what would do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import divulge as dv
from divulge import work

from .lakes import write_lake
from .years import YEAR_ROLES, year


@pytest.fixture
def lake(tmp_path: Path) -> Any:
    """Make a relation of a table."""

    def scan(table: pa.Table, **more: Any) -> dv.Dataset:
        place = write_lake(tmp_path / f"lake-{len(list(tmp_path.iterdir()))}", table, parts=1)
        return dv.scan(place, **more)

    return scan


def link(*years: dv.Dataset, **more: Any) -> Any:
    more = {"on": "key", "knows": ["town"], **more}
    return dv.records.attack(list(years), "CRL", **more)


def test_an_id_that_occurs_twice_or_not_at_all_is_refused(lake: Any) -> None:
    first = lake(year(0))
    twice = lake(pa.concat_tables([year(1), year(1).slice(0, 2)]), name="twice")
    with pytest.raises(work.InvalidInput, match=r'2 records of dataset "twice" have an id that'):
        link(first, twice)
    with pytest.raises(work.InvalidInput, match="as others have no order"):
        link(first, twice, duplicates="first")
    nameless = year(1).set_column(0, "key", pa.nulls(year(1).num_rows, pa.int64()))
    with pytest.raises(work.InvalidInput, match='"key" is missing in 34 records'):
        link(first, lake(nameless))


def test_ids_of_different_types_are_refused(lake: Any) -> None:
    texts = year(1).set_column(0, "key", year(1).column("key").cast(pa.string()))
    with pytest.raises(work.InvalidInput, match="ids must be of one type"):
        link(lake(year(0)), lake(texts))


def test_a_year_in_memory_beside_one_that_is_not_says_what_to_do(lake: Any) -> None:
    memory = dv.Dataset.from_arrow(year(1), name="memory")
    with pytest.raises(work.InvalidInput, match='"memory" is in memory, and others stay'):
        link(lake(year(0)), memory)
    with pytest.raises(work.InvalidInput, match='"memory" is in memory, and others stay'):
        dv.records.longitudinal([lake(year(0)), memory], "key", ["town"])
    with pytest.raises(work.InvalidInput, match='"memory" is in memory, and others stay'):
        dv.records.attack(lake(year(0)), "CMS", "town", population=memory)


def test_years_counted_by_different_engines_are_refused(lake: Any) -> None:
    with pytest.raises(work.DivulgeError, match="need one engine"):
        link(lake(year(0)), lake(year(1), engine="sail"))


def test_a_population_that_lacks_somebody_is_refused(lake: Any) -> None:
    few = lake(year(0).slice(0, 5))
    with pytest.raises(work.InvalidInput, match="more records in the release than people"):
        dv.records.attack(lake(year(0)), "CMS", "town", population=few)


def test_weights_that_are_none_are_refused(lake: Any) -> None:
    table = pa.table({"a": [1, 2, 2], "w": [1.0, None, 2.0], "n": [1, -1, 0], "z": [0, 0, 0]})
    relation = lake(table, roles={"quasi_identifier": "a"})
    for name, said in (("w", "is missing"), ("n", "is negative"), ("z", "is zero in all")):
        with pytest.raises(work.InvalidInput, match=said):
            dv.records.attack(relation, "CRS", prior=name)
    with pytest.raises(work.InvalidInput, match="one number a record is counted in memory only"):
        dv.records.attack(relation, "CRS", prior=[1.0, 2.0, 3.0])


def test_a_target_that_nobody_is_says_which_value_nobody_has(lake: Any) -> None:
    first, second = lake(year(0), roles=YEAR_ROLES), lake(year(1), roles=YEAR_ROLES)
    target = [{"town": "x"}, {"town": "nowhere"}]
    with pytest.raises(work.InvalidInput, match='nobody has the value given for "town"'):
        dv.records.attack([first, second], "IRL", "town", on="key", target=target)
    with pytest.raises(work.InvalidInput, match="what is known in each of the 2 datasets"):
        dv.records.attack([first, second], "IRL", "town", on="key", target=target[:1])


def test_an_interrupted_run_finds_again_what_was_counted(lake: Any, tmp_path: Path) -> None:
    """All counts come out of checkpoints: the second run asks no engine for a class."""
    years = [lake(year(n), roles=YEAR_ROLES) for n in range(2)]
    kept = work.Checkpoints(tmp_path / "kept")
    with work.run_with(checkpoints=kept):
        first = dv.records.longitudinal(years, "key", seeks="income")
    files = sorted(path.name for path in kept.folder.iterdir())
    assert sum(name.startswith("relation-secrets") for name in files) == 2
    with work.run_with(checkpoints=kept):
        again = dv.records.longitudinal(years, "key", seeks="income")
    assert again.to_dict() == first.to_dict()
    assert sorted(path.name for path in kept.folder.iterdir()) == files
