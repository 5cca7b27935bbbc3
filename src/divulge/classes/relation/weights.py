"""Classes of records that weigh differently and stay where they are: priors, and people.

Weights are whole numbers in SQL, so that sums of them are the same in any order: weights that are
whole stay as they are, others are parts of the heaviest one, and a record of somebody who has n of
them weighs one n-th, in a unit that all these n divide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import frexp, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.classes.relation.classes import ADDED_SHARES, add_up_capacity, cut_shares
from divulge.classes.relation.record_view import EVERYBODY, RecordView, join_names
from divulge.classes.survey_design import require_sampling_weights
from divulge.classes.tuning import LARGEST_SHARE_UNIT, WEIGHT_BITS
from divulge.data.relation.relation import build_elsewhere_error
from divulge.engines import ClassSizes
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data import Relation

WEIGHT = "weight"
"""The column of a view that says what each record weighs, as a whole number."""
DIGITS = 38
WIDE = f"DECIMAL({DIGITS}, 0)"
"""The widest whole numbers that all engines have."""
_LARGEST = "CAST(1.7976931348623157e308 AS DOUBLE)"


@dataclass(frozen=True, kw_only=True)
class WeighedView:
    """Records that weigh differently; `unit` is what a weight of one is as a whole number."""

    view: RecordView
    unit: Fraction = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class WeighedCounts:
    """What classes leave of secrets, where records weigh differently; weights are whole numbers."""

    sizes: ClassSizes
    certain: int
    """Records whose secret is known for certain."""
    certain_weight: int
    best: int
    """What the records weigh that best guesses get right."""
    total: int
    capacity: float
    highest: float
    """The largest probability that is given to the truth about a record."""


def weigh_by_attribute(relation: Relation, view: RecordView, name: str, column: str) -> WeighedView:
    """Records that weigh as an attribute says.

    Raises:
        InvalidInput: if a weight is missing, negative or no number, or all are zero.
    """
    _require_numbers(relation, name)
    number = f"CAST({column} AS DOUBLE)"
    with view.open() as session:
        found = session.arrays(
            f"SELECT count(*) - count({column}) AS missing, "
            f"min({number}) AS least, max({number}) AS most, "
            f"sum(CASE WHEN {number} = floor({number}) THEN 0 ELSE 1 END) AS broken FROM records"
        )
    least, most = float(found["least"][0]), float(found["most"][0])
    for is_wrong, message in (
        (found["missing"][0] > 0, "is missing in some records; each needs a number."),
        (not np.isfinite([least, most]).all(), "contains something that is not a number."),
        (least < 0, "is negative in some records."),
        (most == 0, "is zero in all records."),
    ):
        if is_wrong:
            raise _refuse_weight(relation, name, message)
    if not found["broken"][0] and most < 2**WEIGHT_BITS:
        return WeighedView(
            view=view.extend(f"CAST(CAST(v.{column} AS BIGINT) AS {WIDE}) AS {WEIGHT}")
        )
    import pyarrow as pa

    # The heaviest one is a value of the user's, so it comes by a table.
    scaled = f"floor(CAST(v.{column} AS DOUBLE) * h.factor + CAST(0.5 AS DOUBLE))"
    view = view.extend(
        f"CAST(CAST({scaled} AS BIGINT) AS {WIDE}) AS {WEIGHT}", "CROSS JOIN heaviest AS h"
    )
    unit = 2.0 ** (WEIGHT_BITS - frexp(most)[1])
    heaviest = pa.table({"factor": pa.array([unit])})
    return WeighedView(view=_add_table(view, "heaviest", heaviest), unit=Fraction(unit))


def require_relation_weights(relation: Relation, name: str) -> None:
    """Refuse sampling weights that are missing, no numbers, or below one.

    Raises:
        InvalidInput: with counts.
    """
    _require_numbers(relation, name)
    number = f"CAST({relation.find_column(name)} AS DOUBLE)"
    conditions = {
        "missing": f"{number} IS NULL",
        "infinite": f"{number} > {_LARGEST} OR {number} < -{_LARGEST}",
        "negative": f"{number} < 0",
        "small": f"{number} >= 0 AND {number} < 1",
    }
    sums = [
        f"CAST(sum(CASE WHEN {condition} THEN 1 ELSE 0 END) AS BIGINT) AS {kind}"
        for kind, condition in conditions.items()
    ]
    with relation.open() as session:
        found = session.arrays(f"SELECT {join_names(sums)} FROM records")
    counts = {kind: int(found[kind][0]) for kind in conditions}
    require_sampling_weights(relation, name, **counts)


def weigh_by_person(view: RecordView, person: str) -> WeighedView | None:
    """Records of which each person's weigh one together; None if no unit of such parts is at hand.

    `person` is the column that says whose a record is.
    """
    import pyarrow as pa

    sql = f"""
        SELECT own, count(*) AS people
        FROM (SELECT count(*) AS own FROM records GROUP BY {person}) AS p
        GROUP BY own
        """
    with view.open() as session:
        owned = sorted(int(own) for own in session.arrays(sql)["own"])
    unit = lcm(*owned)
    if unit > LARGEST_SHARE_UNIT:
        return None
    shares = pa.table(
        {
            "own": pa.array(owned, pa.int64()),
            "share": build_wide_array(unit // own for own in owned),
        }
    )
    counted = view.extend(f"count(*) OVER (PARTITION BY v.{person}) AS own_records")
    weighed = counted.extend(
        f"CAST(s.share AS {WIDE}) AS {WEIGHT}", "JOIN person_shares AS s ON v.own_records = s.own"
    )
    return WeighedView(view=_add_table(weighed, "person_shares", shares), unit=Fraction(unit))


def count_weighed(
    weighed: WeighedView, known: Sequence[str], sought: Sequence[str]
) -> WeighedCounts:
    """What classes leave of a secret; nothing sought: of whose record each is."""
    view = weighed.view
    sql = build_weights_query(known, sought) if sought else build_records_query(known)

    def count() -> dict[str, Any]:
        with view.open() as session:
            found = session.table(sql)
        # Sums of weights may be longer than the numbers of NumPy.
        texts = {
            name: np.array([str(int(each)) for each in found.column(name).to_pylist()])
            for name in ("certain_weight", "best_weight", "total_weight")
        }
        whole = [name for name in found.column_names if name not in texts and name != "highest"]
        return {
            **texts,
            **{name: found.column(name).to_numpy().astype(np.int64) for name in whole},
            "highest": np.array([max(found.column("highest").to_pylist())], np.float64),
        }

    counts = work.memoise(
        "relation-weights",
        lambda: {
            "data": view.fingerprint,
            "tables": [table.to_pydict() for _, table in view.tables],
            "knows": sorted(known),
            "seeks": list(sought),
        },
        count,
    )
    total, best, certain_weight = (
        sum(int(text) for text in counts[f"{name}_weight"]) for name in ("total", "best", "certain")
    )
    return WeighedCounts(
        sizes=ClassSizes(counts["size"], counts["classes"]),
        certain=int(counts["certain"].sum()),
        certain_weight=certain_weight,
        best=best,
        total=total,
        capacity=add_up_capacity(counts),
        highest=float(counts["highest"][0]),
    )


def count_people_sizes(view: RecordView, known: Sequence[str], person: str) -> ClassSizes:
    """How many classes there are of so many people."""
    sql = f"""
        SELECT size, count(*) AS classes
        FROM (
            SELECT count(DISTINCT {person}) AS size FROM records GROUP BY {join_names(known)}
        ) AS k
        GROUP BY size ORDER BY size
        """
    with view.open() as session:
        counts = session.arrays(sql)
    return ClassSizes(counts["size"].astype(np.int64), counts["classes"].astype(np.int64))


def count_group_weights(
    view: RecordView, known: Sequence[str], sought: Sequence[str], group: str
) -> tuple[pa.Table, pa.Table]:
    """Of each group, what records weigh by what best guesses are: after, and before.

    Returns:
        twice: value, is_best, ties, is_certain, records, weight.
    """
    with view.open() as session:
        return (
            session.table(build_group_weights_query(known, sought, group)),
            session.table(build_group_weights_query([EVERYBODY], sought, group)),
        )


def count_group_people(view: RecordView, person: str, group: str) -> pa.Table:
    """Of each group, how many people have a record in it: value, people."""
    with view.open() as session:
        return session.table(
            f"SELECT {group} AS value, count(DISTINCT {person}) AS people FROM records "
            f"GROUP BY {group}"
        )


def build_weights_query(known: Sequence[str], sought: Sequence[str]) -> str:
    """By size of the class: classes, certain records, and what they and right guesses weigh."""
    same = " AND ".join(f"j.{name} IS NOT DISTINCT FROM t.{name}" for name in sought)
    return f"""
        WITH joint AS (
            SELECT {join_names([*known, *sought])}, count(*) AS n, sum({WEIGHT}) AS w
            FROM records GROUP BY {join_names([*known, *sought])}
        ), totals AS (
            SELECT {join_names(sought)}, CAST(sum({WEIGHT}) AS DOUBLE) AS total
            FROM records GROUP BY {join_names(sought)}
        ), classes AS (
            SELECT sum(j.n) AS members, max(j.w) AS best, sum(j.w) AS heft,
                   sum(CASE WHEN j.w > 0 THEN 1 ELSE 0 END) AS kinds,
                   sum(CASE WHEN j.w > 0 THEN j.n ELSE 0 END) AS possible,
                   max(CASE WHEN t.total > 0 THEN CAST(j.w AS DOUBLE) / t.total
                            ELSE CAST(0 AS DOUBLE) END) AS share
            FROM joint AS j JOIN totals AS t ON {same}
            GROUP BY {join_names([f"j.{name}" for name in known])}
        ){_SUMMED_CLASSES}
        """


def build_records_query(known: Sequence[str]) -> str:
    """The same where the secret is whose record each is."""
    return f"""
        WITH classes AS (
            SELECT count(*) AS members, max({WEIGHT}) AS best, sum({WEIGHT}) AS heft,
                   sum(CASE WHEN {WEIGHT} > 0 THEN 1 ELSE 0 END) AS kinds,
                   sum(CASE WHEN {WEIGHT} > 0 THEN 1 ELSE 0 END) AS possible,
                   CAST(CASE WHEN max({WEIGHT}) > 0 THEN 1 ELSE 0 END AS DOUBLE) AS share
            FROM records GROUP BY {join_names(known)}
        ){_SUMMED_CLASSES}
        """


_SUMMED_CLASSES = f""", cut AS ({cut_shares("members, best, heft, kinds, possible", "classes")})
        SELECT CAST(members AS BIGINT) AS size, count(*) AS classes,
               CAST(sum(CASE WHEN kinds = 1 THEN possible ELSE 0 END) AS BIGINT) AS certain,
               sum(CASE WHEN kinds = 1 THEN heft ELSE CAST(0 AS {WIDE}) END) AS certain_weight,
               sum(best) AS best_weight, sum(heft) AS total_weight,
               max(CASE WHEN heft > 0 THEN CAST(best AS DOUBLE) / CAST(heft AS DOUBLE)
                        ELSE CAST(0 AS DOUBLE) END) AS highest, {ADDED_SHARES}
        FROM cut GROUP BY members ORDER BY size"""


def build_group_weights_query(known: Sequence[str], sought: Sequence[str], group: str) -> str:
    """By group, what records weigh: by whether a best guess names them, of how many, and alone."""
    # Records that weigh the same are alike where the secret is the record itself.
    secret = list(sought) or [WEIGHT]
    both = list(dict.fromkeys([*known, *secret]))
    whole = f"sum(w) OVER (PARTITION BY {join_names(both)})" if sought else WEIGHT
    number = "is_first" if sought else "n"
    keys = join_names(dict.fromkeys([*both, group]))
    return f"""
        WITH joint AS (
            SELECT {join_names(both)}, {group} AS grp, count(*) AS n, sum({WEIGHT}) AS w
            FROM records GROUP BY {keys}
        ), counted AS (
            SELECT {join_names(known)}, grp, n, w, {whole} AS m,
                   CASE WHEN row_number() OVER (PARTITION BY {join_names(both)} ORDER BY grp) = 1
                        THEN 1 ELSE 0 END AS is_first
            FROM joint
        ), ranked AS (
            SELECT {join_names(known)}, grp, n, w, m, is_first,
                   max(m) OVER (PARTITION BY {join_names(known)}) AS best,
                   sum(CASE WHEN m > 0 THEN {number} ELSE 0 END)
                       OVER (PARTITION BY {join_names(known)}) AS kinds
            FROM counted
        ), tied AS (
            SELECT grp, n, w, CASE WHEN m = best THEN 1 ELSE 0 END AS is_best,
                   CASE WHEN kinds = 1 AND m > 0 THEN 1 ELSE 0 END AS is_certain,
                   sum(CASE WHEN m = best THEN {number} ELSE 0 END)
                       OVER (PARTITION BY {join_names(known)}) AS ties
            FROM ranked
        )
        SELECT grp AS value, is_best, CAST(ties AS BIGINT) AS ties, is_certain,
               CAST(sum(n) AS BIGINT) AS records, sum(w) AS weight
        FROM tied GROUP BY grp, is_best, ties, is_certain
        """


def build_wide_array(numbers: Iterable[int]) -> pa.Array:
    """Whole numbers for an engine, however long."""
    import pyarrow as pa

    return pa.array([Decimal(number) for number in numbers], pa.decimal128(DIGITS, 0))


def _add_table(view: RecordView, name: str, table: pa.Table) -> RecordView:
    return replace(view, tables=(*view.tables, (name, table)))


def _require_numbers(relation: Relation, name: str) -> None:
    import pyarrow.types as kinds

    kind = relation.find_type(name)
    if kinds.is_string(kind):
        raise build_elsewhere_error(relation.name, relation.engine, "a weight that is text")
    if kinds.is_temporal(kind):
        raise _refuse_weight(relation, name, "contains values that are not numbers.")


def _refuse_weight(relation: Relation, name: str, message: str) -> InvalidInput:
    problem = Problem(f'weight "{name}"', message)
    return InvalidInput(f'dataset "{relation.name}"', [problem])
