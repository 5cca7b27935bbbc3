import pytest

from divulge.work import MemoryPlan, NotEnoughMemory, available_memory, process_peak_memory


def test_a_run_that_will_not_fit_says_so_before_it_starts_and_what_to_do() -> None:
    plan = MemoryPlan("reading pupils", {"codes": 3 * 2**30, "one column": 2**30})
    with pytest.raises(NotEnoughMemory) as raised:
        plan.require("read fewer columns", free=2**30)
    assert str(raised.value) == (
        "reading pupils needs about 4 GiB of memory (codes 3 GiB, one column 1 GiB) "
        "and 1 GiB is free: read fewer columns"
    )


def test_a_run_that_fits_is_let_through_but_not_to_the_last_byte() -> None:
    plan = MemoryPlan("reading", {"codes": 95})
    plan.require("", free=1000)
    with pytest.raises(NotEnoughMemory):
        plan.require("", free=100)


def test_free_memory_is_that_of_the_machine_or_less() -> None:
    assert 2**20 < available_memory() < 2**50
    assert 2**20 < process_peak_memory() < 2**50
