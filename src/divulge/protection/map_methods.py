"""The ways to protect that a risk-utility map compares: a method more is a line more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from divulge.assessment import Limit
from divulge.data import Dataset
from divulge.protection.recode import recode
from divulge.protection.recode_request import LevelSearch
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.suppress import suppress
from divulge.records.risk.null_readings import Nulls

Protection: TypeAlias = Callable[[Dataset, int, Sequence[str]], Protected]
"""From the records, k and the quasi-identifiers."""


@dataclass(frozen=True)
class MapMethod:
    """A way to make records k-anonymous."""

    name: str
    run: Protection
    needs_hierarchies: bool = False


def _suppress_cells(nulls: Nulls) -> Protection:
    return lambda dataset, k, names: suppress(dataset, k, nulls, among=names)


def _recode_levels(suppression_limit: float) -> Protection:
    return lambda dataset, k, names: recode(dataset, [_limit_k(k, names)], suppression_limit)


def _recode_records(search: LevelSearch) -> Protection:
    return lambda dataset, k, names: recode(
        dataset, [_limit_k(k, names)], search=search, local=True
    )


def _limit_k(k: int, names: Sequence[str]) -> Limit:
    return Limit("k_anonymity", at_least=k, among=list(names))


METHODS: tuple[MapMethod, ...] = (
    MapMethod("suppress (maybe)", _suppress_cells("maybe")),
    MapMethod("suppress (known)", _suppress_cells("known")),
    MapMethod("suppress (bayes)", _suppress_cells("bayes")),
    MapMethod("recode (0%)", _recode_levels(0.0), needs_hierarchies=True),
    MapMethod("recode (5%)", _recode_levels(0.05), needs_hierarchies=True),
    MapMethod("recode (free)", _recode_levels(1.0), needs_hierarchies=True),
    MapMethod("recode (nested)", _recode_records("nested"), needs_hierarchies=True),
    MapMethod("recode (clusters)", _recode_records("clusters"), needs_hierarchies=True),
)
