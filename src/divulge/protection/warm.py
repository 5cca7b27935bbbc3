"""Compile the kernels ahead of time: `python -m divulge.protection.warm`, once, at set-up."""

from __future__ import annotations


def warm() -> None:
    """Suppress, recode, refill and guess in every way: no later process waits to compile."""
    import numpy as np
    import pyarrow as pa

    from divulge import datasets
    from divulge.data import Dataset, Hierarchy
    from divulge.protection.changes.changes import hide_cells
    from divulge.protection.recoding.class_tests import DistinctTest, SizeTest
    from divulge.protection.recoding.lattice import build_lattice
    from divulge.protection.recoding.local.clusters import find_clusters
    from divulge.protection.recoding.local.neighbours import bound_local_loss
    from divulge.protection.recoding.local.nested import find_nested_levels
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
    levels = [[str(area), str(area // 2), "*"] for area in range(7)]
    areas = Dataset.from_arrow(
        pa.table({"area": [str(area % 7) for area in range(60)]}),
        hierarchies={"area": Hierarchy.from_levels(levels)},
    )
    lattice = build_lattice(areas, ["area"])
    sizes = SizeTest(lattice.names, 12)
    values = DistinctTest(
        among=lattice.names, least=2, values=np.arange(lattice.units), value_count=lattice.units
    )
    find_nested_levels(lattice, [sizes], seed=0)
    find_clusters(lattice, [sizes], seed=0)
    find_clusters(lattice, [sizes, values], seed=0)
    bound_local_loss(lattice, 12)
