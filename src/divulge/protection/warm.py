"""Compile the kernels ahead of time: `python -m divulge.protection.warm`, once, at set-up."""

from __future__ import annotations


def warm() -> None:
    """Suppress, refill and guess cells in every way, so that no later process waits to compile."""
    import numpy as np
    import pyarrow as pa

    from divulge import datasets
    from divulge.data import Dataset
    from divulge.protection.changes.changes import hide_cells
    from divulge.protection.refill.attack import refill
    from divulge.protection.suppression.suppress import suppress

    companies = datasets.inflation_and_growth(200, balance="V")
    suppress(companies, 3, decoys=0.5).explain()
    suppress(companies, 3, "maybe")
    suppress(companies, 3, "known", cells_per_record=1)
    suppress(companies, 3, "maybe", search="cycle")
    home = np.arange(400) // 2
    people = Dataset.from_arrow(pa.table({"home": home, "area": home % 7, "sex": home % 2}))
    refill(hide_cells(people, {"area": np.arange(0, 40, 2)}), people, keys="area").assessment()
