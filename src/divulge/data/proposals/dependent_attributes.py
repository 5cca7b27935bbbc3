"""Attributes that follow from a quasi-identifier: who knows the one knows the other.

Eight columns that say yes for one year each (`y74`, `y76`, ...) are the year again, and the mean of
a region is the region. Published as they are beside a year or a region that was made coarser, they
tell what it was: they are proposed as what they are a copy of, with a doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from divulge.data import tuning
from divulge.data.dataset import Dataset
from divulge.data.proposals.proposal import Proposal
from divulge.work.arrays import Ints


def doubt_dependent_attributes(
    dataset: Dataset, proposals: Mapping[str, Proposal]
) -> dict[str, Proposal]:
    """The proposals; what nobody was to know, and a quasi-identifier tells, is doubted.

    >>> import pyarrow as pa
    >>> years = [1972 + 2 * (n % 5) for n in range(200)]
    >>> data = Dataset.from_arrow(pa.table({"year": years, "d74": [int(y == 1974) for y in years]}))
    >>> read = {
    ...     "year": Proposal(attribute="year", role="quasi_identifier", status="settled"),
    ...     "d74": Proposal(attribute="d74", role="sensitive", status="settled"),
    ... }
    >>> print(doubt_dependent_attributes(data, read)["d74"])
    d74: quasi_identifier (doubt)
      it follows from "year" in every record: who knows one knows the other (quasi_identifier?)
    """
    keys = {
        name: _take_codes(dataset, name)
        for name, proposal in proposals.items()
        if proposal.role in ("quasi_identifier", "time")
        and proposal.status == "settled"
        and _is_told_by_chance_by_none(dataset, name)
    }
    judged = dict(proposals)
    for name, proposal in proposals.items() if keys else ():
        if proposal.role not in ("sensitive", "non_identifying") or proposal.status != "settled":
            continue
        if proposal.is_decided or proposal.is_from_codebook:
            continue
        key = _find_telling_key(_take_codes(dataset, name), keys)
        if key is not None:
            reason = (
                f'it follows from "{key}" in every record: who knows one knows the other '
                "(quasi_identifier?)"
            )
            judged[name] = replace(
                proposal,
                role="quasi_identifier",
                status="doubt",
                reasons=(*proposal.reasons, reason),
            )
    return judged


def _take_codes(dataset: Dataset, name: str) -> Ints:
    return dataset.columns[name].codes[: tuning.MAX_BLOCK_RECORDS].astype(np.int64)


def _is_told_by_chance_by_none(dataset: Dataset, name: str) -> bool:
    """Whether a key has several records a value: what it tells of another is then no chance."""
    values = len(dataset.columns[name].values)
    return 2 <= values <= dataset.rows / tuning.MIN_DEPENDENT_RECORDS


def _find_telling_key(codes: Ints, keys: Mapping[str, Ints]) -> str | None:
    """The first key each value of which has one value of the attribute."""
    first_codes = codes[: tuning.MIN_BLOCK_REPEATS]
    counts = np.bincount(codes)
    if len(codes) - int(counts.max()) < tuning.MIN_DEPENDENT_RECORDS:
        return None  # one value nearly everywhere follows from anything
    for name, key in keys.items():
        if _is_function(key[: len(first_codes)], first_codes) and _is_function(key, codes):
            return name
    return None


def _is_function(key: Ints, codes: Ints) -> bool:
    first_record = np.zeros(int(key.max(initial=0)) + 1, np.int64)
    first_record[key[::-1]] = codes[::-1]
    return bool(np.array_equal(first_record[key], codes))
