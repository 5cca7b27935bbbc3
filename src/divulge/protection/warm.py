"""Compile the kernels ahead of time: `python -m divulge.protection.warm`, once, at set-up."""

from __future__ import annotations


def warm() -> None:
    """Suppress a few cells in every way, so that no later process waits for a compiler."""
    from divulge import datasets
    from divulge.protection.refill.attack import refill
    from divulge.protection.suppression.suppress import suppress

    companies = datasets.inflation_and_growth(200, balance="V")
    suppress(companies, 3)
    suppress(companies, 3, "known", cells_per_record=1)
    suppress(companies, 3, search="cycle")
    assert refill(suppress(companies, 3)).figures.hidden  # noqa: S101  # guesses are compiled too
