"""Who bears the risk, where records stay: classes counted by the values of an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from divulge.classes.relation.record_view import RecordView, join_names

if TYPE_CHECKING:
    import pyarrow as pa


def count_group_sizes(view: RecordView, known: Sequence[str], group: str) -> pa.Table:
    """Of each group, how many records stand in classes of which size: value, size, records."""
    with view.open() as session:
        return session.table(build_group_sizes_query(known, group))


def count_group_secrets(
    view: RecordView, known: Sequence[str], sought: Sequence[str], group: str
) -> tuple[pa.Table, pa.Table]:
    """Of each group, what classes leave of a secret, and how many have its commonest value.

    Returns:
        value, is_best, tied, is_pure, records; and value, records, common.
    """
    with view.open() as session:
        return (
            session.table(build_group_secrets_query(known, sought, group)),
            session.table(build_group_prior_query(sought, group)),
        )


def build_group_sizes_query(known: Sequence[str], group: str) -> str:
    """By group and size of the class, how many records."""
    return f"""
        WITH joint AS (
            SELECT {join_names(known)}, {group} AS grp, count(*) AS n
            FROM records GROUP BY {join_names(dict.fromkeys([*known, group]))}
        ), sized AS (
            SELECT grp, n, sum(n) OVER (PARTITION BY {join_names(known)}) AS members FROM joint
        )
        SELECT grp AS value, CAST(members AS BIGINT) AS size, CAST(sum(n) AS BIGINT) AS records
        FROM sized GROUP BY grp, members
        """


def build_group_secrets_query(known: Sequence[str], sought: Sequence[str], group: str) -> str:
    """By group, whether records have a likeliest value of their class, of how many, and alone."""
    both = dict.fromkeys([*known, *sought])
    return f"""
        WITH joint AS (
            SELECT {join_names(both)}, {group} AS grp, count(*) AS n
            FROM records GROUP BY {join_names(dict.fromkeys([*both, group]))}
        ), counted AS (
            SELECT {join_names(known)}, grp, n, sum(n) OVER (PARTITION BY {join_names(both)}) AS m,
                   CASE WHEN row_number() OVER (PARTITION BY {join_names(both)} ORDER BY grp) = 1
                        THEN 1 ELSE 0 END AS is_first
            FROM joint
        ), ranked AS (
            SELECT {join_names(known)}, grp, n, m, is_first,
                   max(m) OVER (PARTITION BY {join_names(known)}) AS best,
                   sum(is_first) OVER (PARTITION BY {join_names(known)}) AS kinds
            FROM counted
        ), tied AS (
            SELECT grp, n, CASE WHEN m = best THEN 1 ELSE 0 END AS is_best,
                   CASE WHEN kinds = 1 THEN 1 ELSE 0 END AS is_pure,
                   sum(CASE WHEN m = best THEN is_first ELSE 0 END)
                       OVER (PARTITION BY {join_names(known)}) AS ties
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
            SELECT {join_names(sought)}, {group} AS grp, count(*) AS n
            FROM records GROUP BY {join_names(dict.fromkeys([*sought, group]))}
        ), counted AS (
            SELECT grp, n, sum(n) OVER (PARTITION BY {join_names(sought)}) AS total FROM joint
        ), topped AS (SELECT max(total) AS top FROM counted)
        SELECT grp AS value, CAST(sum(n) AS BIGINT) AS records,
               CAST(sum(CASE WHEN total = top THEN n ELSE 0 END) AS BIGINT) AS common
        FROM counted CROSS JOIN topped GROUP BY grp
        """
