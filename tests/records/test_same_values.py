"""The same values are the same: whatever type a file gives them, in whatever order they stand."""

from typing import Any

import pyarrow as pa
import pytest

from divulge import Dataset, InvalidInput, records
from divulge.qif import gains


def of(**columns: Any) -> Dataset:
    return Dataset.from_arrow(pa.table(columns))


def test_nobody_has_a_fraction_among_whole_numbers() -> None:
    dataset = of(q=["a", "b", "b"], s=[1, 2, 2])
    with pytest.raises(InvalidInput, match="nobody has"):
        records.attack(dataset, "IRS", "s", target={"s": 1.9})
    assert records.attack(dataset, "IRS", "s", target={"s": 1.0}).deterministic.posterior == 1


@pytest.mark.parametrize("ids", [[1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0], ["1", "2", "3", "4"]])
def test_ids_of_released_years_may_be_of_another_type(ids: list[Any]) -> None:
    first = of(id=[1, 2, 3, 4], a=["x", "x", "y", "y"])
    second = of(id=[1, 2, 3, 4], a=["p", "q", "p", "q"])
    released = of(id=ids, a=["p", "q", "p", "q"])
    found = records.attack([first, second], "CRL", ["a"], on="id", release=[first, released])
    assert found.deterministic.posterior == 1


def test_a_gain_on_records_is_on_those_of_the_original() -> None:
    original = of(id=[1, 2, 3, 4], a=["x", "y", "y", "y"])
    turned = of(id=[4, 3, 2, 1], a=["y", "y", "y", "x"])
    gain = gains.worth_of_secrets([10, 7, 0, 0])
    plain = records.attack(original, "CRS", ["a"], gain=gain)
    found = records.attack(original, "CRS", ["a"], gain=gain, release=turned, on="id")
    assert found.probabilistic.posterior == plain.probabilistic.posterior == 4.25
    fewer = of(id=[2, 3, 4], a=["y", "y", "y"])
    gone = gains.worth_of_secrets([10, 0, 0, 7])
    found = records.attack(original, "CRS", ["a"], gain=gone, release=fewer, on="id")
    assert found.probabilistic.posterior == pytest.approx(1.75)


def test_whole_numbers_and_fractions_are_numbers() -> None:
    whole, some = of(a=[1.0, 2.0]), of(a=[1.0, 2.0, 5.5])
    found = records.attack(whole, "CMS", "a", population=some)
    assert found.deterministic.posterior == 1


def test_who_said_nothing_before_was_not_removed() -> None:
    original = of(id=[1, 2, 3], a=["x", "y", None], s=["p", "q", None])
    found = records.attack(original, "CRS", ["a"], release=original, on="id")
    assert found.deterministic.posterior == 1


def test_bounds_are_met_whatever_floats_make_of_them() -> None:
    before = of(x=list(range(100)))
    after = of(x=[(v + 8) % 100 for v in range(100)])
    assert records.interval_disclosure(before, after, "x", width=0.07).values.sum() == 0
    near = records.interval_disclosure(
        of(x=[0.0, 2.0]), of(x=[0.1, 2.1]), "x", width=0.1, by="deviation"
    )
    assert near.values.tolist() == [1, 1]
    dataset = of(q=["a"] * 3, s=[1.0, 1.1, 1.2])
    found = records.attack(dataset, "CAS", "q", "s", gain={"within": 0.1})
    assert found.probabilistic.posterior == 1


def test_what_is_no_finite_number_is_refused() -> None:
    endless: Any = of(x=[1.0, 2.0, float("inf")])
    days = of(x=pa.array([0, 1, 2], pa.date32()))
    for dataset in (endless, days):
        with pytest.raises(InvalidInput, match="is no finite number in"):
            records.distance_linkage(dataset, dataset, "x")
        with pytest.raises(InvalidInput, match="is no finite number in"):
            records.interval_disclosure(dataset, dataset, "x")


def test_values_are_worth_something_however_they_are_written() -> None:
    numbers, truths = of(q=["a", "b"], s=[3.0, 2.5]), of(q=["a", "b"], s=[True, False])
    for dataset, name in ((numbers, 3), (numbers, "3"), (numbers, "3.0"), (truths, "true")):
        gain: Any = {"worth": {name: 10}}
        assert records.attack(dataset, "CAS", "q", "s", gain=gain).probabilistic.posterior == 5


def test_an_order_names_a_value_once() -> None:
    dataset = of(q=["a", "a", "b"], s=[1, 2, 3])
    with pytest.raises(InvalidInput, match="1 value more than once"):
        records.t_closeness(dataset, "s", among=["q"], distance="ordered", order=[1, 2, 3, 1])


def test_few_of_many_attributes_are_combined_also_where_values_are_missing() -> None:
    columns = {f"q{n}": pa.array([1, 2, None]) for n in range(40)}
    dataset = Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": list(columns)})
    assert records.suda(dataset, max_size=1).scores.shape == (3,)


def test_chances_that_add_up_to_one_are_no_certainty() -> None:
    """Both records may be of persons 2 and 3, and then the first is not in."""
    hidden = of(a=[1, None], b=[None, 1])
    town = of(a=[1, 1, 2], b=[1, 2, 1])
    found = records.delta_presence(hidden, town, ["a", "b"])
    assert found.values[0] < 1
    assert "1 are certainly in the release" not in str(found.assessment)


def test_where_everybody_is_released_everybody_is_in() -> None:
    town = of(a=[30, 30], b=["F", "F"])
    hidden = of(a=[30, None], b=[None, "F"])
    found = records.attack(town, "CMS", ["a", "b"], population=town, release=hidden)
    assert found.deterministic.prior == found.deterministic.posterior == 1
    assert records.delta_presence(hidden, town, ["a", "b"]).values.tolist() == [1, 1]
