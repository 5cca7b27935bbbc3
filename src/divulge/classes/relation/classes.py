"""Classes of records that stay where they are: what an engine counts of them, in small tables.

All that an attack or a measure needs of records that look alike are sums over classes; they come
home by the size of the class, so that millions of classes are a few hundred rows. Counts are whole
numbers, and the same whichever engine adds them up. Secrets are written x, what is known k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.classes.relation.record_view import RecordView, join_names
from divulge.classes.tuning import CAPACITY_BITS
from divulge.engines import ClassSizes
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    from divulge.data import Relation


@dataclass(frozen=True, kw_only=True)
class SecretCounts:
    """What classes leave of a secret, and what was known of it before."""

    sizes: ClassSizes
    pure: int
    """Records in classes of one secret value."""
    best: int
    """Records that best guesses get right."""
    capacity: float
    highest: float
    """The share of the commonest value in the class where it is most common."""
    kinds: int
    """Different values of the secret."""
    commonest: int
    """Records that have the commonest one."""
    tied: int
    """Values that are as common."""


def count_view_classes(view: RecordView, known: Sequence[str]) -> ClassSizes:
    """How many classes there are of each size; remembered by a run that can be resumed."""

    def count_classes() -> dict[str, Ints]:
        with view.open() as session:
            counts = session.arrays(build_sizes_query(known))
        return {name: counts[name].astype(np.int64) for name in ("size", "classes")}

    counts = work.memoise(
        "class-sizes",
        lambda: {"data": view.fingerprint, "knows": sorted(known)},
        count_classes,
    )
    return ClassSizes(counts["size"], counts["classes"])


def count_view_secrets(
    view: RecordView, known: Sequence[str], sought: Sequence[str]
) -> SecretCounts:
    """What classes leave of one secret, which may be several attributes together."""

    def count_secrets() -> dict[str, Any]:
        with view.open() as session:
            after = session.arrays(build_secrets_query(known, sought))
            before = session.arrays(build_prior_query(sought))
        whole = {n: after[n].astype(np.int64) for n in after if n != "highest"}
        return {
            **whole,
            "highest": np.array([after["highest"].max()]),
            **{name: before[name].astype(np.int64) for name in before},
        }

    counts = work.memoise(
        "relation-secrets",
        lambda: {"data": view.fingerprint, "knows": sorted(known), "seeks": list(sought)},
        count_secrets,
    )
    return SecretCounts(
        sizes=ClassSizes(counts["size"], counts["classes"]),
        pure=int(counts["pure"].sum()),
        best=int(counts["right_guesses"].sum()),
        capacity=add_up_capacity(counts),
        highest=float(counts["highest"][0]),
        kinds=int(counts["kinds"][0]),
        commonest=int(counts["commonest"][0]),
        tied=int(counts["tied"][0]),
    )


def list_columns(relation: Relation, names: Sequence[str]) -> list[str]:
    """What attributes are called in SQL."""
    return [relation.find_column(name) for name in names]


def build_sizes_query(known: Sequence[str]) -> str:
    """How many classes there are of each size."""
    return f"""
        SELECT size, count(*) AS classes
        FROM (SELECT count(*) AS size FROM records GROUP BY {join_names(known)}) AS k
        GROUP BY size ORDER BY size
        """


def build_secrets_query(known: Sequence[str], sought: Sequence[str]) -> str:
    """By size of the class: classes, records in pure ones, right guesses, the capacity."""
    same = " AND ".join(f"j.{name} IS NOT DISTINCT FROM t.{name}" for name in sought)
    return f"""
        WITH joint AS (
            SELECT {join_names([*known, *sought])}, count(*) AS n
            FROM records GROUP BY {join_names([*known, *sought])}
        ), totals AS (
            SELECT {join_names(sought)}, count(*) AS total
            FROM records GROUP BY {join_names(sought)}
        ), classes AS (
            SELECT sum(j.n) AS members, max(j.n) AS best, count(*) AS kinds,
                   max(CAST(j.n AS DOUBLE) / CAST(t.total AS DOUBLE)) AS share
            FROM joint AS j JOIN totals AS t ON {same}
            GROUP BY {join_names([f"j.{name}" for name in known])}
        ), cut AS ({cut_shares("members, best, kinds", "classes")})
        SELECT CAST(members AS BIGINT) AS size, count(*) AS classes,
               CAST(sum(CASE WHEN kinds = 1 THEN members ELSE 0 END) AS BIGINT) AS pure,
               CAST(sum(best) AS BIGINT) AS right_guesses,
               {ADDED_SHARES},
               max(CAST(best AS DOUBLE) / CAST(members AS DOUBLE)) AS highest
        FROM cut GROUP BY members ORDER BY size
        """


def build_prior_query(sought: Sequence[str]) -> str:
    """How many values a secret has, and how many records have the commonest."""
    return f"""
        WITH totals AS (
            SELECT count(*) AS total FROM records GROUP BY {join_names(sought)}
        ), top AS (SELECT max(total) AS commonest, count(*) AS kinds FROM totals)
        SELECT top.commonest, top.kinds,
               CAST(sum(CASE WHEN totals.total = top.commonest THEN 1 ELSE 0 END) AS BIGINT) AS tied
        FROM totals CROSS JOIN top GROUP BY top.commonest, top.kinds
        """


_UNIT = f"CAST({2**CAPACITY_BITS} AS DOUBLE)"

ADDED_SHARES = f"""
               CAST(sum(CAST(high AS BIGINT)) AS BIGINT) AS capacity_high,
               CAST(sum(CAST(middle AS BIGINT)) AS BIGINT) AS capacity_middle,
               CAST(sum(CAST(floor(rest * {_UNIT}) AS BIGINT)) AS BIGINT) AS capacity_low
"""
"""The sum of a column `share` that `cut_shares` has cut."""


def cut_shares(columns: str, source: str) -> str:
    """A query that cuts quotients (`share`) into three whole numbers each.

    These add up to the same in any order, which sums of quotients do not.
    """
    return f"""
            SELECT {columns}, floor(share * {_UNIT}) AS high,
                   floor((share * {_UNIT} - floor(share * {_UNIT})) * {_UNIT}) AS middle,
                   (share * {_UNIT} - floor(share * {_UNIT})) * {_UNIT}
                       - floor((share * {_UNIT} - floor(share * {_UNIT})) * {_UNIT}) AS rest
            FROM {source}
        """


def add_up_capacity(counts: Mapping[str, Any]) -> float:
    """What `ADDED_SHARES` has added up."""
    unit = 2**CAPACITY_BITS
    high, middle, low = (
        int(counts[f"capacity_{part}"].sum()) for part in ("high", "middle", "low")
    )
    return float(Fraction((high * unit + middle) * unit + low, unit**3))
