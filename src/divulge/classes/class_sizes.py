"""The classes of a dataset's records that look alike on some attributes."""

from __future__ import annotations

from collections.abc import Sequence

from divulge import engines, work
from divulge.data import Dataset
from divulge.work.arrays import Ints


def count_dataset_classes(dataset: Dataset, knows: Sequence[str]) -> engines.ClassSizes:
    """How many classes there are of each size; remembered by a run that can be resumed."""

    def count_classes() -> dict[str, Ints]:
        with work.step(f"Counting classes of {dataset.subjects}"):
            sizes = engines.class_sizes(dataset.codes(knows), by=knows)
        return {"size": sizes.size, "classes": sizes.classes}

    counts = work.memoise(
        "class-sizes",
        lambda: {"data": dataset.fingerprint, "knows": sorted(knows)},
        count_classes,
    )
    return engines.ClassSizes(counts["size"], counts["classes"])
