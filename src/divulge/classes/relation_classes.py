"""Classes of records that stay where they are: what an engine counts of them, in small tables.

All that an attack or a measure needs of records that look alike are sums over classes; they come
home by the size of the class, so that millions of classes are a few hundred rows. Counts are whole
numbers, and the same whichever engine adds them up. Secrets are written x, what is known k.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.classes.tuning import CAPACITY_BITS
from divulge.engines import ClassSizes, Session
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa

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


def count_relation_classes(relation: Relation, knows: Sequence[str]) -> ClassSizes:
    """How many classes there are of each size; remembered by a run that can be resumed."""

    def count_classes() -> dict[str, Ints]:
        with _open_counting(relation) as session:
            counts = session.arrays(build_sizes_query(list_columns(relation, knows)))
        return {name: counts[name].astype(np.int64) for name in ("size", "classes")}

    counts = work.memoise(
        "class-sizes",
        lambda: {"data": relation.fingerprint, "knows": sorted(knows)},
        count_classes,
    )
    return ClassSizes(counts["size"], counts["classes"])


def count_relation_secrets(
    relation: Relation, knows: Sequence[str], seeks: Sequence[str]
) -> SecretCounts:
    """What classes leave of one secret, which may be several attributes together."""
    known, sought = list_columns(relation, knows), list_columns(relation, seeks)

    def count_secrets() -> dict[str, Any]:
        with _open_counting(relation) as session:
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
        lambda: {"data": relation.fingerprint, "knows": sorted(knows), "seeks": list(seeks)},
        count_secrets,
    )
    unit = 2**CAPACITY_BITS
    high, middle, low = (
        int(counts[f"capacity_{part}"].sum()) for part in ("high", "middle", "low")
    )
    return SecretCounts(
        sizes=ClassSizes(counts["size"], counts["classes"]),
        pure=int(counts["pure"].sum()),
        best=int(counts["right_guesses"].sum()),
        capacity=((high * unit + middle) * unit + low) / unit**3,
        highest=float(counts["highest"][0]),
        kinds=int(counts["kinds"][0]),
        commonest=int(counts["commonest"][0]),
        tied=int(counts["tied"][0]),
    )


def count_group_sizes(relation: Relation, knows: Sequence[str], group: str) -> pa.Table:
    """Of each group, how many records stand in classes of which size: value, size, records."""
    sql = build_group_sizes_query(list_columns(relation, knows), relation.find_column(group))
    with _open_counting(relation) as session:
        return session.table(sql)


def count_group_secrets(
    relation: Relation, knows: Sequence[str], seeks: Sequence[str], group: str
) -> tuple[pa.Table, pa.Table]:
    """Of each group, what classes leave of a secret, and how many have its commonest value.

    Returns:
        value, is_best, ties, is_pure, records; and value, records, common.
    """
    known, sought = list_columns(relation, knows), list_columns(relation, seeks)
    column = relation.find_column(group)
    with _open_counting(relation) as session:
        return (
            session.table(build_group_secrets_query(known, sought, column)),
            session.table(build_group_prior_query(sought, column)),
        )


@lru_cache(maxsize=64)
def count_missing(relation: Relation, name: str) -> int:
    """How many records lack a value of an attribute."""
    sql = f"SELECT count(*) - count({relation.find_column(name)}) AS n FROM records"
    with relation.open() as session:
        return int(session.arrays(sql)["n"][0])


@lru_cache(maxsize=64)
def count_values(relation: Relation, name: str) -> int:
    """How many different values an attribute has, the missing one aside."""
    sql = f"SELECT count(DISTINCT {relation.find_column(name)}) AS n FROM records"
    with relation.open() as session:
        return int(session.arrays(sql)["n"][0])


def list_columns(relation: Relation, names: Sequence[str]) -> list[str]:
    """What attributes are called in SQL."""
    return [relation.find_column(name) for name in names]


def build_sizes_query(known: Sequence[str]) -> str:
    """How many classes there are of each size."""
    return f"""
        SELECT size, count(*) AS classes
        FROM (SELECT count(*) AS size FROM records GROUP BY {_join(known)}) AS k
        GROUP BY size ORDER BY size
        """


def build_secrets_query(known: Sequence[str], sought: Sequence[str]) -> str:
    """By size of the class: classes, records in pure ones, right guesses, the capacity.

    The capacity is a sum of quotients; each is cut into three whole numbers, which add up to the
    same in any order.
    """
    unit = f"CAST({2**CAPACITY_BITS} AS DOUBLE)"
    same = " AND ".join(f"j.{name} IS NOT DISTINCT FROM t.{name}" for name in sought)
    return f"""
        WITH joint AS (
            SELECT {_join([*known, *sought])}, count(*) AS n
            FROM records GROUP BY {_join([*known, *sought])}
        ), totals AS (
            SELECT {_join(sought)}, count(*) AS total FROM records GROUP BY {_join(sought)}
        ), classes AS (
            SELECT sum(j.n) AS members, max(j.n) AS best, count(*) AS kinds,
                   max(CAST(j.n AS DOUBLE) / CAST(t.total AS DOUBLE)) * {unit} AS share
            FROM joint AS j JOIN totals AS t ON {same}
            GROUP BY {_join([f"j.{name}" for name in known])}
        ), cut AS (
            SELECT members, best, kinds, floor(share) AS high,
                   floor((share - floor(share)) * {unit}) AS middle,
                   (share - floor(share)) * {unit}
                       - floor((share - floor(share)) * {unit}) AS rest
            FROM classes
        )
        SELECT CAST(members AS BIGINT) AS size, count(*) AS classes,
               CAST(sum(CASE WHEN kinds = 1 THEN members ELSE 0 END) AS BIGINT) AS pure,
               CAST(sum(best) AS BIGINT) AS right_guesses,
               CAST(sum(CAST(high AS BIGINT)) AS BIGINT) AS capacity_high,
               CAST(sum(CAST(middle AS BIGINT)) AS BIGINT) AS capacity_middle,
               CAST(sum(CAST(floor(rest * {unit}) AS BIGINT)) AS BIGINT) AS capacity_low,
               max(CAST(best AS DOUBLE) / CAST(members AS DOUBLE)) AS highest
        FROM cut GROUP BY members ORDER BY size
        """


def build_prior_query(sought: Sequence[str]) -> str:
    """How many values a secret has, and how many records have the commonest."""
    return f"""
        WITH totals AS (
            SELECT count(*) AS total FROM records GROUP BY {_join(sought)}
        ), top AS (SELECT max(total) AS commonest, count(*) AS kinds FROM totals)
        SELECT top.commonest, top.kinds,
               CAST(sum(CASE WHEN totals.total = top.commonest THEN 1 ELSE 0 END) AS BIGINT) AS tied
        FROM totals CROSS JOIN top GROUP BY top.commonest, top.kinds
        """


def build_group_sizes_query(known: Sequence[str], group: str) -> str:
    """By group and size of the class, how many records."""
    return f"""
        WITH joint AS (
            SELECT {_join(known)}, {group} AS grp, count(*) AS n
            FROM records GROUP BY {_join(dict.fromkeys([*known, group]))}
        ), sized AS (
            SELECT grp, n, sum(n) OVER (PARTITION BY {_join(known)}) AS members FROM joint
        )
        SELECT grp AS value, CAST(members AS BIGINT) AS size, CAST(sum(n) AS BIGINT) AS records
        FROM sized GROUP BY grp, members
        """


def build_group_secrets_query(known: Sequence[str], sought: Sequence[str], group: str) -> str:
    """By group, whether records have a likeliest value of their class, of how many, and alone."""
    both = dict.fromkeys([*known, *sought])
    return f"""
        WITH joint AS (
            SELECT {_join(both)}, {group} AS grp, count(*) AS n
            FROM records GROUP BY {_join(dict.fromkeys([*both, group]))}
        ), counted AS (
            SELECT {_join(known)}, grp, n, sum(n) OVER (PARTITION BY {_join(both)}) AS m,
                   CASE WHEN row_number() OVER (PARTITION BY {_join(both)} ORDER BY grp) = 1
                        THEN 1 ELSE 0 END AS is_first
            FROM joint
        ), ranked AS (
            SELECT {_join(known)}, grp, n, m, is_first,
                   max(m) OVER (PARTITION BY {_join(known)}) AS best,
                   sum(is_first) OVER (PARTITION BY {_join(known)}) AS kinds
            FROM counted
        ), tied AS (
            SELECT grp, n, CASE WHEN m = best THEN 1 ELSE 0 END AS is_best,
                   CASE WHEN kinds = 1 THEN 1 ELSE 0 END AS is_pure,
                   sum(CASE WHEN m = best THEN is_first ELSE 0 END)
                       OVER (PARTITION BY {_join(known)}) AS ties
            FROM ranked
        )
        SELECT grp AS value, is_best, CAST(ties AS BIGINT) AS tied, is_pure,
               CAST(sum(n) AS BIGINT) AS records
        FROM tied GROUP BY grp, is_best, ties, is_pure
        """


def build_group_prior_query(sought: Sequence[str], group: str) -> str:
    """By group, how many records have one of the commonest values of the secret."""
    return f"""
        WITH joint AS (
            SELECT {_join(sought)}, {group} AS grp, count(*) AS n
            FROM records GROUP BY {_join(dict.fromkeys([*sought, group]))}
        ), counted AS (
            SELECT grp, n, sum(n) OVER (PARTITION BY {_join(sought)}) AS total FROM joint
        ), topped AS (SELECT max(total) AS top FROM counted)
        SELECT grp AS value, CAST(sum(n) AS BIGINT) AS records,
               CAST(sum(CASE WHEN total = top THEN n ELSE 0 END) AS BIGINT) AS common
        FROM counted CROSS JOIN topped GROUP BY grp
        """


@contextmanager
def _open_counting(relation: Relation) -> Iterator[Session]:
    with work.step(f"Counting classes of {relation.subjects}"), relation.open() as session:
        yield session


def _join(names: Iterable[str]) -> str:
    return ", ".join(names)
