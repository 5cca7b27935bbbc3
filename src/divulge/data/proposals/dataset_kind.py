"""What kind of dataset a file is: records, households, a panel, histories, a table, a list.

Which attacks make sense depends on it: classes of records say nothing of somebody who bought on
many days, and a table of totals has no records. The kind is read from roles and values, in the
order from what leaves no other reading to what is left over; what speaks against it is a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.dictionary import Role
from divulge.data.proposals.categorisation import Categorisation
from divulge.data.proposals.total_table import TotalTable, find_total_table, is_crosstab
from divulge.work.arrays import Ints

DatasetKind: TypeAlias = Literal[
    "records", "households", "panel", "histories", "totals", "crosstab", "parties"
]


@dataclass(frozen=True, kw_only=True)
class KindProposal:
    """What a dataset is, why, what speaks against it, and the attributes that make it so."""

    kind: DatasetKind
    reasons: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    user: str | None = None
    """Whose the records are, where somebody has several."""
    time: str | None = None
    item: str | None = None
    """What happened: what was bought, who was called."""
    event: str | None = None
    """What puts records of one event together, such as a receipt."""
    table: TotalTable | None = None
    """Of a table of totals: its dimensions and what it counts."""


def propose_kind(dataset: Dataset, categorisation: Categorisation) -> KindProposal:
    """Propose what a dataset is, from the roles that were proposed and from its values.

    >>> import divulge as dv
    >>> from divulge.data import Experience, categorise
    >>> purchases = dv.datasets.purchases_example()
    >>> proposal = propose_kind(purchases, categorise(purchases, Experience.shipped()))
    >>> proposal.kind, proposal.user, proposal.time, proposal.item
    ('histories', 'user', 'date', 'goods')
    """
    if is_crosstab(dataset):
        reason = "its last row is the sum of the rows above, in every column of numbers"
        return KindProposal(kind="crosstab", reasons=(reason,))
    table = find_total_table(dataset, _list_keys(categorisation))
    if table is not None:
        return KindProposal(kind="totals", reasons=table.reasons, doubts=table.doubts, table=table)
    for propose in (_propose_repeated, _propose_households, _propose_parties):
        proposal = propose(dataset, categorisation)
        if proposal is not None:
            return proposal
    return KindProposal(kind="records")


def _list_keys(categorisation: Categorisation) -> list[str]:
    """What numbers records, people or households: no table of totals has such a column."""
    keys: tuple[Role, ...] = ("identifier", "person", "household", "group")
    return [
        name
        for name, proposal in categorisation.proposals.items()
        if proposal.role in keys and proposal.status == "settled"
    ]


def _propose_repeated(dataset: Dataset, categorisation: Categorisation) -> KindProposal | None:
    """A panel or histories: the same people again, at other times."""
    times = _list_by_role(categorisation, "time")
    for user in _list_users(dataset, categorisation):
        codes = dataset.columns[user].codes.astype(np.int64)
        if not times:
            people = len(dataset.columns[user].values)
            doubt = (
                f'{dataset.rows:,} records are of {people:,} values of "{user}", and no attribute '
                "says when: they are judged as records of people who have several"
            )
            return KindProposal(kind="records", doubts=(doubt,), user=user)
        [time, *_] = times
        moments = dataset.columns[time]
        is_panel = len(moments.values) <= tuning.MAX_WAVES and _is_unique_pair(codes, moments)
        if is_panel:
            reason = (
                f'"{user}" comes again at each of {len(moments.values):,} values of "{time}", once '
                "at each"
            )
            return KindProposal(kind="panel", reasons=(reason,), user=user, time=time)
        item, doubts = _find_item(dataset, categorisation, {user, *times})
        if item is None:
            doubt = f'no attribute says what happened to "{user}": they are judged as records'
            return KindProposal(kind="records", doubts=(doubt,), user=user, time=time)
        reason = f'"{user}" has many records, at moments "{time}", of items "{item}"'
        return KindProposal(
            kind="histories",
            reasons=(reason,),
            doubts=doubts,
            user=user,
            time=time,
            item=item,
            event=_find_event(categorisation),
        )
    return None


def _list_users(dataset: Dataset, categorisation: Categorisation) -> Iterator[str]:
    """Who has several records: people first, then firms and other groups that come again."""
    yield from _list_by_role(categorisation, "person")
    if not _list_by_role(categorisation, "time"):
        return
    for role in ("group", "identifier"):
        for name in _list_by_role(categorisation, role):
            column = dataset.columns[name]
            topic = categorisation.proposals[name].topic
            repeats = dataset.rows / max(1, len(column.values))
            if topic in ("business", "identity") and repeats >= tuning.MIN_WAVES:
                yield name


def _list_by_role(categorisation: Categorisation, role: Role) -> list[str]:
    return [p.attribute for p in categorisation.proposals.values() if p.role == role]


def _is_unique_pair(codes: Ints, other: Column) -> bool:
    """Whether nearly nobody has two records at one moment, and people come again."""
    pairs = codes * (len(other.values) + 1) + other.codes
    different = len(np.unique(pairs))
    return (
        different >= tuning.NEARLY_ALL_SHARE * len(codes)
        and len(np.unique(codes)) <= tuning.REPEATED_SHARE * len(codes)
        and len(other.values) >= tuning.MIN_WAVES
    )


def _find_item(
    dataset: Dataset, categorisation: Categorisation, others: set[str]
) -> tuple[str | None, tuple[str, ...]]:
    """What happened: by its name, else the attribute of most values that come again."""
    named = [
        p.attribute
        for p in categorisation.proposals.values()
        if p.topic == "item" and p.attribute not in others
    ]
    if named:
        return named[0], ()
    candidates = [
        (len(dataset.columns[p.attribute].values), p.attribute)
        for p in categorisation.proposals.values()
        if p.attribute not in others
        and p.topic not in ("transaction", "identity", "home", "measure", "finance", "person")
        and 1 < len(dataset.columns[p.attribute].values) <= dataset.rows / tuning.MIN_WAVES
        and _is_category(dataset.columns[p.attribute])
    ]
    if not candidates:
        return None, ()
    item = max(candidates, key=lambda pair: pair[0])[1]
    return item, (f'"{item}" is taken for what happened: no name says so',)


def _is_category(column: Column) -> bool:
    import pyarrow as pa

    kind = column.values.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _find_event(categorisation: Categorisation) -> str | None:
    receipts = [p.attribute for p in categorisation.proposals.values() if p.topic == "transaction"]
    return receipts[0] if len(receipts) == 1 else None


def _propose_households(dataset: Dataset, categorisation: Categorisation) -> KindProposal | None:
    households = _list_by_role(categorisation, "household")
    if not households:
        return None
    number = len(dataset.columns[households[0]].values)
    if number >= dataset.rows:
        return None
    reason = f'{dataset.rows:,} records are of {number:,} values of "{households[0]}"'
    return KindProposal(kind="households", reasons=(reason,))


def _propose_parties(dataset: Dataset, categorisation: Categorisation) -> KindProposal | None:
    """A list that names somebody in each line, and says little else."""
    if _list_by_role(categorisation, "sensitive") or _list_by_role(categorisation, "weight"):
        return None
    names = _list_by_role(categorisation, "identifier")
    if len(names) < 2 or 2 * len(names) < len(dataset.names):
        return None
    return KindProposal(
        kind="parties",
        reasons=(f"{len(names)} of its {len(dataset.names)} attributes name somebody",),
        doubts=("a list of who is who is a register beside other data: is it to be published?",),
    )
