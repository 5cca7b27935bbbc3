"""What records have to do with each other: keys of households and persons, sizes, weights.

A household's members follow each other in a file, share a number, and share what is the
household's (region, size); a person of a panel has as many records as years. That is seen in the
columns, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from divulge.data import tuning
from divulge.data.column import Codes, Column
from divulge.data.dataset import Dataset
from divulge.data.proposals.role_evidence import RoleEvidence
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class RecordStructure:
    """Keys of blocks of records, and what they say of attributes."""

    evidence: Mapping[str, RoleEvidence] = field(default_factory=dict)
    key: str | None = None
    largest_block: int = 1


def find_record_structure(dataset: Dataset, times: tuple[str, ...] = ()) -> RecordStructure:
    """The key whose records lie together, if there is one, and what is constant within it.

    Args:
        dataset: the records; of large ones the first are looked at.
        times: attributes that tell when something was, by their names or values.

    >>> import pyarrow as pa
    >>> homes = [home for home in range(40) for _ in range(1 + home % 3)]
    >>> table = {"no": homes, "hs": [1 + h % 3 for h in homes], "town": [h // 10 for h in homes]}
    >>> found = find_record_structure(Dataset.from_arrow(pa.table(table)))
    >>> found.key, {name: evidence.role for name, evidence in found.evidence.items()}
    ('no', {'no': 'household', 'hs': 'quasi_identifier'})
    """
    rows = slice(0, tuning.MAX_BLOCK_RECORDS)
    codes = {name: dataset.columns[name].codes[rows] for name in dataset.names}
    best: tuple[int, str, Bools] | None = None
    for name, is_start in _find_block_keys(dataset, codes):
        shared = [
            other
            for other, values in codes.items()
            if other != name
            and dataset.columns[other].cardinality > 1
            and not np.any(values[1:][~is_start[1:]] != values[:-1][~is_start[1:]])
        ]
        if shared and (best is None or len(shared) > best[0]):
            best = len(shared), name, is_start
    if best is None:
        return RecordStructure()
    _, key, is_start = best
    return _describe_blocks(dataset, key, is_start, times)


def _find_block_keys(dataset: Dataset, codes: Mapping[str, Codes]) -> Iterator[tuple[str, Bools]]:
    """Attributes each value of which is one run of records, and where the runs begin."""
    import pyarrow as pa

    for name, values in codes.items():
        column = dataset.columns[name]
        kind = column.values.type
        if column.has_missing or not (pa.types.is_integer(kind) or pa.types.is_string(kind)):
            continue
        rows = len(values)
        if rows - len(column.values) < tuning.MIN_BLOCK_REPEATS and len(codes) > 1:
            continue
        is_start = np.ones(rows, np.bool_)
        is_start[1:] = values[1:] != values[:-1]
        runs = int(np.count_nonzero(is_start))
        # A key has many values; few values in long runs are a file in the order of its regions.
        if runs * tuning.MAX_HOUSEHOLD_SIZE < rows or rows - runs < tuning.MIN_BLOCK_REPEATS:
            continue
        if runs == len(np.unique(values)):
            yield name, is_start


def _describe_blocks(
    dataset: Dataset, key: str, is_start: Bools, times: tuple[str, ...]
) -> RecordStructure:
    sizes = np.diff(np.append(np.flatnonzero(is_start), len(is_start)))
    largest = int(sizes.max())
    block = np.repeat(np.arange(len(sizes)), sizes)
    evidence: dict[str, RoleEvidence] = {}
    within = f'"{key}"'
    moves = [name for name in times if name != key and _is_alone_within(dataset, name, block)]
    if moves:
        reason = f'its records follow each other, each of another "{moves[0]}": a panel'
        evidence[key] = RoleEvidence("person", reason, "identity", is_sure=True)
        return RecordStructure(evidence, key, largest)
    if largest > tuning.MAX_HOUSEHOLD_SIZE:
        return RecordStructure(evidence, key, largest)
    reason = (
        f"its {len(sizes):,} values number blocks of 1 to {largest} records that share "
        "what is theirs"
    )
    evidence[key] = RoleEvidence("household", reason, "household", is_sure=True)
    of_record = sizes[block]
    for name in dataset.names:
        numbers = _list_numbers(dataset.columns[name], len(block))
        if numbers is not None and len(np.unique(of_record)) > 1:
            if np.array_equal(numbers, of_record):
                reason = f"it is the number of records of each {within}"
                evidence[name] = RoleEvidence("quasi_identifier", reason, "household", is_sure=True)
        elif _may_be_weights(dataset.columns[name], dataset.rows, is_start):
            reason = f"it is positive, repeats, and is the same within each {within}: a weight"
            evidence[name] = RoleEvidence("weight", reason, "survey")
    return RecordStructure(evidence, key, largest)


def _is_alone_within(dataset: Dataset, name: str, block: Ints) -> bool:
    """Whether no two records of a block share a moment."""
    codes = dataset.columns[name].codes[: len(block)].astype(np.int64)
    if len(np.unique(codes)) < 2:
        return False
    pairs = block * (int(codes.max(initial=0)) + 1) + codes
    return len(np.unique(pairs)) == len(pairs)


def _may_be_weights(column: Column, rows: int, is_start: Bools) -> bool:
    """Whether numbers are positive, mean many people each, and are the same within a block."""
    import pyarrow as pa

    if column.has_missing or not pa.types.is_floating(column.values.type):
        return False
    values = column.values.to_numpy(zero_copy_only=False)
    if not 2 <= len(values) <= rows / 10 or values[0] <= 0:
        return False
    codes = column.codes[: len(is_start)]
    if bool(np.any(codes[1:][~is_start[1:]] != codes[:-1][~is_start[1:]])):
        return False
    counts = np.bincount(column.codes, minlength=len(values))[: len(values)]
    mean = float(values @ counts) / rows
    return bool(mean >= tuning.MIN_WEIGHT_MEAN and values[-1] <= tuning.MAX_WEIGHT_RATIO * mean)


def _list_numbers(column: Column, rows: int) -> Floats | None:
    import pyarrow as pa

    if column.has_missing or not pa.types.is_integer(column.values.type):
        return None
    if len(column.values) > tuning.MAX_HOUSEHOLD_SIZE:
        return None
    return np.asarray(column.values.to_numpy(zero_copy_only=False)[column.codes[:rows]], np.float64)
