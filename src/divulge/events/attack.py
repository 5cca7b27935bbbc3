"""The attack on a history: how often knowledge of events leads to the user whose they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Breakdown, Most, Sentence
from divulge.assessment.assessment import Claim, Number
from divulge.data.dictionary import problems_with_names
from divulge.events import charts, kernels
from divulge.events.against import Each, Outcome, one_point_released, within_bounds
from divulge.events.attacker import Attacker
from divulge.events.facets import Facet, facet
from divulge.events.history import History, problems_with_history, require_history
from divulge.events.matching import Floats, Matching, Tally, weight_of_record
from divulge.events.several_items import matched_alone
from divulge.qif import PriorPosterior
from divulge.work import DivulgeError, Problem, Problems, checks

if TYPE_CHECKING:
    import pyarrow as pa

UNITS = {"record": "records", "event": "events", "user": "users", "prior": "users"}
"""What is counted, by what is drawn."""


@dataclass(frozen=True, repr=False)
class EventAssessment(Assessment):
    """An assessment of a history: also the risk of every user, and how many users match."""

    tally: Tally | None = field(default=None, compare=False)
    _users: Callable[[], list[Any]] | None = field(default=None, compare=False)

    def users(self) -> pa.Table:
        """The risk of each user: on average over what may be known, and at worst.

        The users are named: the table is for those who answer for them, not for publication.
        """
        import pyarrow as pa

        if self.tally is None or self._users is None:
            raise DivulgeError("this assessment gives no risk for single users")
        figures = self.tally.by_user[: len(self._users())]
        weight = np.maximum(figures[:, kernels.WEIGHT], np.finfo(float).tiny)
        column = kernels.RIGHT_BEST if "best" in self.model else kernels.RIGHT_UNIFORM
        return pa.table(
            {
                "user": self._users(),
                "weight": figures[:, kernels.WEIGHT],
                "risk": figures[:, column] / weight,
                "certain": figures[:, kernels.CERTAIN] / weight,
                "worst": figures[:, kernels.MOST],
            }
        )

    def distribution(self) -> pa.Table:
        """Which share of what may be known fits how many users; 0: nobody, on a release."""
        import pyarrow as pa

        if self.tally is None:
            raise DivulgeError("this assessment knows no distribution of matches")
        [matches] = np.nonzero(self.tally.by_matches)
        shares = self.tally.by_matches[matches] / self.tally.weight
        return pa.table({"users_who_match": matches, "share": shares})


def attack(
    history: History, attacker: Attacker, release: History | None = None, seed: int = 0
) -> EventAssessment:
    """Attack a history with knowledge of events.

    Args:
        history: who did what when.
        attacker: what she knows, how it is drawn, how she guesses.
        release: a protected version with the same users: what she knows comes from `history`,
            whom it fits from `release`, and a guess is right only if the user is among them.
        seed: of the sample, where several points are known.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> found = attack(purchases, Attacker(knows=["day", "item"]))
    >>> print(found)
    An adversary who knows day and item singles out 8 of 10 records (80%).
    Guessing any of the users who fit, she is right in 90% of cases; before the release, in 33.3%.
    The weight is the record. A uniform guess is not Bayes vulnerability: guessing the likeliest
    user who fits, she is right in 90% of cases; before the release, in 50%.
    1 user has a single record.
    These figures are exact.
    """
    require_history("attack", history)
    problems = Problems("attack")
    if not isinstance(attacker, Attacker):
        kind = type(attacker).__name__
        message = f"takes an attacker, not a {kind}; give Attacker(knows=[...])."
        problems.add("attacker", message)
    problems.extend("", checks.whole_number("seed", seed, least=0))
    problems.raise_any()
    problems.extend("", problems_with_release(history, release, attacker.knows))
    problems.raise_any()
    if attacker.points > 1:
        from divulge.events.unicity import unicity

        weight = attacker.weight
        return unicity(
            history, attacker.knows, attacker.points, weight=weight, seed=seed, release=release
        )
    facets = attacker.facets(history)
    several = next((facet for facet in facets if facet.kind == "items"), None)
    if release is not None:
        outcome, borne = one_point_released(history, attacker, release)
        tally = outcome.tally(history.users)
        said = said_of_release(tally, outcome, release)
        claim: Claim = "exact"
        if within_bounds(history, release, facets, points=1):
            said.append(Sentence("divulge.events", "maybe.twice", {}))
            claim = "estimate"
        elif attacker.guess == "best" and several is not None:
            # She takes who has most records that fit; who has most sets of items may be likelier.
            claim = "bound"
        most = Most(tally.certain, float(outcome.draws.weight @ outcome.among))
        return _assessment(
            history, attacker, tally, lambda: borne, said, outcome.misled, claim, most
        )
    if several is None:
        matching = Matching.of(history, attacker)
        return _assessment(
            history, attacker, matching.tally, lambda: _borne(history, attacker, matching)
        )
    others = [facet for facet in facets if facet.kind != "items"]
    drawn, tally, matches, hits = matched_alone(history, others, several, attacker.weight)
    shares = (1 / matches, hits, matches == 1)
    return _assessment(
        history,
        attacker,
        tally,
        lambda: Each(drawn.on_records(1.0), *(drawn.on_records(share) for share in shares)),
    )


def problems_with_release(
    history: History, release: History | None, knows: Sequence[str] = ()
) -> Iterator[Problem]:
    """What cannot be of an original and its protected release."""
    if release is not None and not isinstance(release, History):
        yield from problems_with_history("release", release)
        return
    if history.missing == "maybe":
        message = 'missing="maybe" is for a protected release; knowledge is of the original.'
        yield Problem("history", message)
    if release is not None and not set(history.user_values()) & set(release.user_values()):
        message = "has no user of the original; users must be named alike on both sides."
        yield Problem("release", message)
    if release is not None:
        for words in knows:
            found = facet(words, history.dataset.names)
            if isinstance(found, Facet) and found.kind == "attribute":
                names = release.dataset.names
                yield from problems_with_names("knows", [words], names, "the release")


def _borne(history: History, attacker: Attacker, matching: Matching) -> Each:
    """What each record bears: its weight, and what of it is found."""
    weights = _weight_of_each(history, attacker, matching)
    matches, hits = matching.each()
    return Each(weights, weights / matches, weights * hits, weights * (matches == 1))


def _assessment(
    history: History,
    attacker: Attacker,
    tally: Tally,
    each: Callable[[], Each],
    released: Sequence[Sentence] = (),
    misled: float | None = None,
    claim: Claim = "exact",
    most: Most | None = None,
) -> EventAssessment:
    best = attacker.guess == "best"
    right = tally.right_best if best else tally.right_uniform
    prior = tally.largest_user if best else 1 / history.users
    figures: dict[str, Number] = {
        "users": history.users,
        "events": history.events,
        "cells": tally.cells,
        "best_guess": tally.right_best / tally.weight,
        "best_guess_before": tally.largest_user,
        "users_singled_out_at_worst": int((tally.by_user[:, kernels.MOST] == 1).sum()),
    }
    values = _values(attacker, tally.weight, tally.certain, right, prior)
    told = [Sentence("divulge.events", "singled_out", values)]
    told.append(Sentence("divulge.events", f"guessed.{attacker.guess}", values))
    more = {
        **values,
        "best_share": figures["best_guess"],
        "best_prior": figures["best_guess_before"],
    }
    told.append(Sentence("divulge.events", f"weight.{attacker.guess}", more))
    told += released
    if misled is not None:
        figures["misled"] = misled
    return described(
        history,
        attacker,
        weight=tally.weight,
        certain=tally.certain,
        right=right,
        prior=prior,
        claim=claim,
        most=most if claim == "bound" else None,
        sentences=(*told, *history.remarks()),
        figures=figures,
        tally=tally,
        _users=history.user_values,
        _chart=lambda: charts.matches(tally.by_matches / tally.weight, attacker),
        **per_record(history, attacker, prior, each, claim),
    )


def said_of_release(tally: Tally, released: Outcome, release: History) -> list[Sentence]:
    """How often what is known fits nobody in the release, or only others; what it hides."""
    lost = {"lost": float(tally.by_matches[0] / tally.weight), "misled": released.misled}
    keys = ["released", *(["misled"] if released.misled > 0 else [])]
    hidden = [said for said in release.remarks() if said.key.startswith("remark.maybe")]
    return [*(Sentence("divulge.events", key, lost) for key in keys), *hidden]


def per_record(
    history: History, attacker: Attacker, prior: float, each: Callable[[], Each], claim: Claim
) -> dict[str, Any]:
    """The risk of each record of the dataset, and who bears it, when they are asked for."""
    borne_by_records = cache(each)  # found once, if at all

    def risk() -> Floats:
        borne = borne_by_records()
        in_order = np.full(history.dataset.rows, np.nan)
        weigh = np.where(borne.weight > 0, borne.weight, np.nan)
        in_order[history.order] = borne.right(attacker.guess) / weigh
        return in_order

    def broken_down(group: str) -> Breakdown:
        return _by_group(history, attacker, group, prior, borne_by_records(), claim)

    return {"_risk": risk, "_breakdown": broken_down}


def _values(
    attacker: Attacker, weight: float, certain: float, right: float, prior: float
) -> dict[str, Any]:
    return {
        "knows": list(attacker.knows) or ["nothing"],
        "units": UNITS[attacker.drawn],
        "drawn": attacker.drawn,
        "total": max(1, round(weight)),
        "certain": round(certain, 6),
        "certain_share": certain / weight,
        "right_share": right / weight,
        "prior": prior,
    }


def described(
    history: History,
    attacker: Attacker,
    *,
    weight: float,
    certain: float,
    right: float,
    prior: float,
    **more: Any,
) -> EventAssessment:
    """The figures under what was asked; all that weighs is counted as secrets."""
    share = PriorPosterior(1.0 if history.users == 1 else 0.0, certain / weight)
    chance = PriorPosterior(prior, right / weight)
    return EventAssessment(
        attack="events",
        model=f"by {attacker.drawn}, {attacker.guess} guess",
        dataset=history.dataset.name,
        knows=attacker.knows,
        seeks=(history.user,),
        secrets=max(1, round(weight)),
        subjects=more.pop("subjects", UNITS[attacker.drawn]),
        claim=more.pop("claim", "exact"),
        certain=PriorPosterior(share.prior * weight, certain),
        right=PriorPosterior(prior * weight, right),
        deterministic=share,
        probabilistic=chance,
        **more,
    )


def _by_group(
    history: History, attacker: Attacker, group: str, prior: float, each: Each, claim: Claim
) -> Breakdown:
    """The same attacker, seen from the records of each group."""
    [group] = history.dataset.attributes(group, "by")
    codes = history.codes(group)
    column = history.dataset.columns[group]
    sums = [
        np.bincount(codes, part, minlength=column.cardinality)
        for part in (each.weight, each.certain, each.right(attacker.guess))
    ]
    assessments = {}
    for code, (weight, certain, correct) in enumerate(np.stack(sums, axis=1).tolist()):
        if weight == 0:
            continue
        values = _values(attacker, weight, certain, correct, prior)
        assessments[column.value(code)] = described(
            history,
            attacker,
            weight=weight,
            certain=certain,
            right=correct,
            prior=prior,
            claim=claim,
            sentences=(
                Sentence("divulge.events", "singled_out", values),
                Sentence("divulge.events", f"guessed.{attacker.guess}", values),
            ),
        )
    return Breakdown(group, assessments)


def _weight_of_each(history: History, attacker: Attacker, matching: Matching) -> Floats:
    """What each record weighs; records that are one event (or pair) share its weight."""
    weight = attacker.weight
    if weight == "event":
        keys = matching.keys_of_records()
        _, which, count = np.unique(keys, return_inverse=True, return_counts=True)
        return np.asarray(1 / count[which], dtype=np.float64)
    return weight_of_record(history, weight)[history.user_of_record]
