"""Attacks on one person where an engine counts: who has the same values, and what these hide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment
from divulge.classes.relation.classes import count_view_secrets
from divulge.classes.relation.record_view import EVERYBODY, join_names
from divulge.classes.relation.values import list_values
from divulge.classes.relation.weights import WEIGHT, WIDE, count_weighed
from divulge.data import Column
from divulge.engines import ClassSizes, Session
from divulge.qif import PriorPosterior
from divulge.records.models.one_person import (
    build_person_assessment,
    compute_belief_worth,
    list_posterior_figures,
)
from divulge.records.relation_models.request import RelationRequest
from divulge.records.relation_models.target import TARGET, TargetValues, read_target
from divulge.records.relation_models.worth import compute_worth, find_guesses, read_relation_gain
from divulge.work import InvalidInput, Problem


def assess_one_in_relation(request: RelationRequest, raw_target: Any) -> Assessment:
    """What is inferred of one person among the records that match.

    Raises:
        InvalidInput: if no record matches, or the target does not fit what is known.
    """
    target = read_target(request.linked, request.known, raw_target)
    weighed = request.weighed
    view = request.linked.view if weighed is None else weighed.view
    weight = "1" if weighed is None else WEIGHT
    figures: dict[str, float] = {}
    with view.open() as session:
        figures["matching"] = target.require_match(session)
        if request.person is not None:
            person = request.focal.find_column(request.person)
            figures["matching_people"] = _count_people(session, target, person)
        if request.sought:
            values, shares, labels = _count_values(session, request, target, weight=weight)
            figures |= list_posterior_figures(shares, labels)
        else:
            shares = _count_records(session, request, target, weight=weight)
            values = np.arange(len(shares))
    prior_certain, prior_right = _find_prior_success(request)
    return build_person_assessment(
        request.focal,
        request.known,
        request.sought,
        model=request.model,
        certain=PriorPosterior(prior_certain, int(np.count_nonzero(shares) == 1)),
        right=PriorPosterior(prior_right, float(shares.max())),
        figures=figures,
        worth=_compute_worth(request, values, shares),
        weighed=request.prior is not None,
    )


def _count_people(session: Session, target: TargetValues, person: str) -> int:
    found = session.arrays(
        f"SELECT count(DISTINCT r.{person}) AS n FROM records AS r "
        f"JOIN {TARGET} AS t ON {target.condition}"
    )
    return int(found["n"][0])


def _count_records(
    session: Session, request: RelationRequest, target: TargetValues, *, weight: str
) -> npt.NDArray[np.float64]:
    """How likely each record that matches is theirs; each person, where people are counted."""
    own = f"r.{weight}" if weight == WEIGHT else weight
    key = f"r.{request.secret[0]}, " if request.secret else ""
    summed = f"sum({own})" if request.secret else own
    grouped = f"GROUP BY r.{request.secret[0]}" if request.secret else ""
    sql = f"""
        SELECT w, count(*) AS n FROM (
            SELECT {key}CAST({summed} AS {WIDE}) AS w
            FROM records AS r JOIN {TARGET} AS t ON {target.condition} {grouped}
        ) AS m GROUP BY w
        """
    found = session.table(sql).to_pylist()
    total = sum(int(row["w"]) * row["n"] for row in found)
    _refuse_excluded(total)
    # So many equal shares as can be guessed tell all: no list of all that match is needed.
    guesses = 1 if request.gain is None else find_guesses(read_relation_gain(request)[0])
    kept = max(2, guesses or 1)
    shares = [int(row["w"]) / total for row in found for _ in range(min(row["n"], kept))]
    return np.array(shares, np.float64)


def _refuse_excluded(total: int) -> None:
    if total == 0:
        problem = Problem("target", "the prior excludes every record with these values.")
        raise InvalidInput("attack", [problem])


def _count_values(
    session: Session, request: RelationRequest, target: TargetValues, *, weight: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], list[str]]:
    """How likely each value of the secret is among those that match: codes, shares, names."""
    own = f"r.{weight}" if weight == WEIGHT else weight
    columns = join_names([f"r.{name}" for name in request.secret])
    sql = f"""
        SELECT {columns}, CAST(sum({own}) AS {WIDE}) AS w
        FROM records AS r JOIN {TARGET} AS t ON {target.condition} GROUP BY {columns}
        """
    found = session.table(sql)
    weights = [int(each) for each in found.column("w").to_pylist()]
    total = sum(weights)
    _refuse_excluded(total)
    encoded = [
        request.focal.encode_values(name, found.column(place).combine_chunks())
        for place, name in enumerate(request.sought)
    ]
    order = np.lexsort([column.codes for column in reversed(encoded)])
    shares = np.array([weights[place] / total for place in order], np.float64)
    if len(request.sought) == 1:
        labels = [str(encoded[0].value(int(encoded[0].codes[place]))) for place in order]
        codes = _find_codes(request, encoded[0], order)
    else:
        codes = _number_combinations(session, request, encoded, order)
        labels = [f"combination {code + 1}" for code in codes]
    return codes, shares, labels


def _find_codes(
    request: RelationRequest, column: Column, order: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """The codes that values have among all of the secret; only a gain asks for them."""
    if request.gain is None:
        return np.arange(len(order))
    everything = list_values(request.focal, request.sought[0]).column
    places = {everything.value(code): code for code in range(max(1, everything.cardinality))}
    return np.array([places[column.value(int(column.codes[place]))] for place in order], np.int64)


def _number_combinations(
    session: Session, request: RelationRequest, encoded: list[Column], order: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """The numbers of combinations of values among all that occur, in the order of their values."""
    columns = join_names(request.secret)
    found = session.table(f"SELECT {columns} FROM records GROUP BY {columns}")
    everything = [
        request.focal.encode_values(name, found.column(place).combine_chunks())
        for place, name in enumerate(request.sought)
    ]
    ranked = np.lexsort([column.codes for column in reversed(everything)])
    numbers = {
        tuple(column.value(int(column.codes[row])) for column in everything): number
        for number, row in enumerate(ranked)
    }
    return np.array(
        [numbers[tuple(c.value(int(c.codes[place])) for c in encoded)] for place in order], np.int64
    )


def _find_prior_success(request: RelationRequest) -> tuple[int, float]:
    """What is known of anybody, before."""
    rows = request.focal.rows
    if request.weighed is not None:
        before = count_weighed(request.weighed, [EVERYBODY], request.secret)
        return int(before.certain > 0), before.best / before.total
    if not request.sought:
        return int(rows == 1), 1.0 / rows
    secrets = count_view_secrets(request.linked.view, [EVERYBODY], request.secret)
    return int(secrets.kinds == 1), secrets.commonest / rows


def _compute_worth(
    request: RelationRequest,
    values: npt.NDArray[np.int64],
    shares: npt.NDArray[np.float64],
) -> PriorPosterior | None:
    if request.gain is None:
        return None
    gain, listed = read_relation_gain(request)
    guesses = find_guesses(gain)
    everybody = ClassSizes(np.array([request.focal.rows]), np.array([1]))
    before = compute_worth(_forget(request), everybody)
    assert before is not None  # noqa: S101  # a gain was given
    if guesses is not None:
        after = float(np.sort(shares)[::-1][:guesses].sum())
    else:
        assert listed is not None  # noqa: S101  # other gains are about values
        belief = np.zeros(max(1, listed.column.cardinality))
        belief[values] = shares
        after = compute_belief_worth(gain, belief)
    return PriorPosterior(before.prior, after)


def _forget(request: RelationRequest) -> RelationRequest:
    """The same of somebody of whom nothing is known."""
    return replace(request, known=[])
