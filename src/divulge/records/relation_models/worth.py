"""What guesses are worth where an engine counts: gains as tables of whole numbers.

A gain that is written out (guesses x values of the secret) is a small table, which is joined to the
counts of each class. Its numbers become whole ones, so that sums do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.classes.relation.record_view import EVERYBODY, RecordView, join_names
from divulge.classes.relation.values import ValueCounts, list_values
from divulge.classes.relation.weights import WEIGHT, WIDE, build_wide_array
from divulge.qif import PriorPosterior
from divulge.records import tuning
from divulge.records.inference.gains import build_gain
from divulge.records.relation_models.request import RelationRequest
from divulge.work import DivulgeError

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.engines import ClassSizes, Session
    from divulge.qif.gain import Gain

GAINS = "gains"


def compute_worth(request: RelationRequest, sizes: ClassSizes) -> PriorPosterior | None:
    """What best guesses win on average, before and after; None if no gain was given.

    Raises:
        InvalidInput: if the gain does not fit the secret.
        RecordsElsewhere: if an engine cannot weigh it.
    """
    if request.gain is None:
        return None
    gain, values = read_relation_gain(request)
    guesses = find_guesses(gain)
    weighed = request.weighed
    view = request.linked.view if weighed is None else weighed.view
    if not request.secret and weighed is None:
        if guesses is None:
            request.refuse("a gain by single records")
        right = int(np.dot(np.minimum(sizes.size, guesses or 1), sizes.classes))
        rows = sizes.records
        return PriorPosterior(min(guesses or 1, rows) / rows, right / rows)
    weight = "1" if weighed is None else WEIGHT
    if guesses is not None:
        with view.open() as session:
            return PriorPosterior(
                *(
                    _sum_top(session, known, request.secret, weight=weight, guesses=guesses)
                    for known in ([EVERYBODY], request.columns)
                )
            )
    if values is None:
        request.refuse("a gain on several attributes together, or on people")
        return None
    return _sum_best_gains(view, request, gain, values, weight=weight)


def read_relation_gain(request: RelationRequest) -> tuple[Gain, ValueCounts | None]:
    """The gain, and the values that it weighs where the secret is one attribute."""
    values = list_values(request.focal, request.sought[0]) if len(request.sought) == 1 else None
    given: Any
    if values is not None:
        column = values.column
        given = [column.value(code) for code in range(max(1, column.cardinality))]
        if len(given) > tuning.MAX_GAIN_VALUES_OF_RELATION and find_raw_guesses(request) is None:
            request.refuse("a gain on a secret of so many values")
    elif request.sought:
        given = _count_combinations(request)
    else:
        given = request.people
    if not isinstance(given, list) and find_raw_guesses(request) is None:
        request.refuse("a gain by single records, or on several attributes together")
    gain = build_gain(request.gain, given)
    assert gain is not None  # noqa: S101  # one was given
    return gain, values


def find_guesses(gain: Gain) -> int | None:
    """How many guesses a gain allows, if that is all that it says."""
    from divulge.qif.gain import KGuesses

    return int(gain.guesses) if isinstance(gain, KGuesses) else None


def find_raw_guesses(request: RelationRequest) -> int | None:
    """The same of a gain as it was given."""
    from divulge.qif.gain import KGuesses

    raw = request.gain
    if isinstance(raw, KGuesses):
        return int(raw.guesses)
    return 1 if isinstance(raw, dict) and "guesses" in raw else None


def _count_combinations(request: RelationRequest) -> int:
    columns = join_names(request.secret)
    sql = f"SELECT count(*) AS n FROM (SELECT {columns} FROM records GROUP BY {columns}) AS s"
    with request.linked.view.open() as session:
        return int(session.arrays(sql)["n"][0])


def _sum_top(
    session: Session, known: Sequence[str], sought: Sequence[str], *, weight: str, guesses: int
) -> float:
    """The share of what records weigh that the likeliest few values of each class have."""
    keys = join_names([*known, *sought]) if sought else ""
    joint = (
        f"SELECT {keys}, CAST(sum({weight}) AS {WIDE}) AS w FROM records GROUP BY {keys}"
        if sought
        else f"SELECT {join_names(known)}, CAST({weight} AS {WIDE}) AS w FROM records"
    )
    sql = f"""
        WITH joint AS ({joint}), ranked AS (
            SELECT w, row_number() OVER (PARTITION BY {join_names(known)} ORDER BY w DESC) AS place
            FROM joint
        )
        SELECT sum(CASE WHEN place <= {guesses} THEN w ELSE CAST(0 AS {WIDE}) END) AS won,
               sum(w) AS total
        FROM ranked
        """
    found = session.table(sql).to_pylist()[0]
    return int(found["won"]) / int(found["total"])


def _sum_best_gains(
    view: RecordView, request: RelationRequest, gain: Gain, values: ValueCounts, *, weight: str
) -> PriorPosterior:
    """By a table of gains: the best guess of each class, added up over the classes."""
    column = values.column
    number = max(1, column.cardinality)
    try:
        matrix = np.asarray(gain.matrix(number))
    except ValueError as error:
        raise DivulgeError(f"this gain cannot be weighed by an engine: {error}") from None
    if matrix.size > tuning.MAX_GAIN_CELLS_OF_RELATION:
        request.refuse("a gain of so many guesses and values")
    whole, unit = make_whole(matrix)
    table = _build_gain_table(request, values, whole)
    [secret] = request.secret
    shares = []
    with view.open() as session:
        session.register(GAINS, table)
        for known in ([EVERYBODY], request.columns):
            found = session.table(_build_gain_query(known, secret, weight)).to_pylist()[0]
            shares.append(float(Fraction(int(found["won"]), int(found["total"]) * unit)))
    return PriorPosterior(*shares)


def _build_gain_query(known: Sequence[str], secret: str, weight: str) -> str:
    keys = join_names([*known, secret])
    return f"""
        WITH joint AS (
            SELECT {keys}, CAST(sum({weight}) AS {WIDE}) AS w FROM records GROUP BY {keys}
        ), scores AS (
            SELECT {join_names([f"j.{name}" for name in known])}, g.guess,
                   sum(j.w * g.gain) AS score, sum(j.w) AS heft
            FROM joint AS j JOIN {GAINS} AS g ON j.{secret} IS NOT DISTINCT FROM g.secret
            GROUP BY {join_names([f"j.{name}" for name in known])}, g.guess
        ), best AS (
            SELECT max(score) AS score, max(heft) AS heft
            FROM scores GROUP BY {join_names(known)}
        )
        SELECT CAST(sum(score) AS {WIDE}) AS won, CAST(sum(heft) AS {WIDE}) AS total FROM best
        """


def make_whole(matrix: Any) -> tuple[list[list[int]], int]:
    """Gains as whole numbers of a unit: exactly where one is small enough, else to 40 bits.

    >>> make_whole(np.array([[1.0, 0.5], [0.0, 0.25]]))
    ([[4, 2], [0, 1]], 4)
    """
    fractions = [
        [Fraction(each).limit_denominator(tuning.LARGEST_GAIN_UNIT) for each in row]
        for row in matrix.tolist()
    ]
    unit = lcm(*(each.denominator for row in fractions for each in row))
    if unit > tuning.LARGEST_GAIN_UNIT:
        unit = tuning.LARGEST_GAIN_UNIT
    return [[round(Fraction(each) * unit) for each in row] for row in matrix.tolist()], unit


def _build_gain_table(
    request: RelationRequest, values: ValueCounts, whole: list[list[int]]
) -> pa.Table:
    import pyarrow as pa

    column = values.column
    number, guesses = max(1, column.cardinality), len(whole)
    kind = request.focal.kinds[request.sought[0]]
    secrets = [column.value(code) for code in range(number)]
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.table(
        {
            "secret": pa.array(secrets * guesses, plain),
            "guess": pa.array(np.repeat(np.arange(guesses), number)),
            "gain": build_wide_array(each for row in whole for each in row),
        }
    )
