"""Digests of datasets, by which rules are evaluated again only where something changed."""

from __future__ import annotations

import hashlib

from divulge.data import Dataset
from divulge.data.column import Column


class ContentDigests:
    """Digests of datasets; a column that was seen before is not read again.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> digests = ContentDigests()
    >>> digests.digest(companies) == digests.digest(dv.datasets.inflation_and_growth_example())
    False
    >>> digests.digest(companies) == digests.digest(companies)
    True
    """

    def __init__(self) -> None:
        self._of_column: dict[int, tuple[Column, bytes]] = {}
        """Of the columns of the last dataset."""
        self._dictionaries: dict[int, object] = {}

    def digest(self, dataset: Dataset) -> bytes:
        """A digest of all cells and of what is said of them.

        Datasets with equal cells have different digests if they do not share a dictionary.
        """
        self._dictionaries[id(dataset.dictionary)] = dataset.dictionary  # so that no id comes twice
        digest = hashlib.blake2b(f"{dataset.name}/{id(dataset.dictionary)}".encode())
        known, self._of_column = self._of_column, {}
        for name, column in dataset.columns.items():
            cells = known.get(id(column)) or (column, _digest_cells(column))
            self._of_column[id(column)] = cells
            digest.update(len(name).to_bytes(8) + name.encode() + cells[1])
        return digest.digest()


def _digest_cells(column: Column) -> bytes:
    values = repr((str(column.values.type), column.values.to_pylist(), column.has_missing)).encode()
    digest = hashlib.blake2b(len(values).to_bytes(8) + values)
    digest.update(column.codes.dtype.str.encode() + column.codes.tobytes())
    if column.tags is not None:
        digest.update(column.tags.tobytes())
    return digest.digest()
