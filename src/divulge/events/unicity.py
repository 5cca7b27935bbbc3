"""Unicity: how few points of a history single its user out ("unique in the crowd").

A point is what the facets say of one record: an item on a day. An adversary knows some of a
user's different points; the user is singled out if nobody else has all of them. Exact for one
and two points; beyond, and where pairs are too many, users are sampled and the share comes with
its confidence interval (Wilson's).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from divulge import work
from divulge.assessment import Chart, Details, Sentence
from divulge.assessment.assessment import Claim, Number
from divulge.assessment.sentence import format_percent, read_phrases
from divulge.data.dictionary import as_names
from divulge.events import charts
from divulge.events.assess import (
    EventAssessment,
    build_assessment,
    defer_record_risk,
    describe_drawn,
    describe_knowledge,
    describe_release_effects,
    problems_with_release,
)
from divulge.events.history.calendar import UNITS
from divulge.events.history.history import History, require_history
from divulge.events.knowledge.attacker import Attacker, Weight
from divulge.events.known_points.points import PointMatches, Points
from divulge.events.protected.attack_protected import LookupResult, may_overcount_users
from divulge.work import Problems, checks

MAX_CURVE_POINTS = 10
"""So many numbers of points a curve in a report has, at most."""


def unicity(
    history: History,
    facets: str | Sequence[str] = ("day", "item"),
    points: int = 4,
    weight: Weight | Mapping[Any, float] = "user",
    sample: int = 10_000,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    release: History | None = None,
) -> EventAssessment:
    """How often some points of a user's history fit nobody else.

    Args:
        history: who did what when.
        facets: what is known of each point, in words.
        points: how many different points of the user are known (all, if there are fewer).
        weight: how the user is drawn: each alike (`user`), by records, or by a prior.
        sample: how many users are drawn where it is not exact.
        confidence: of the interval around a sampled share.
        seed: the same seed draws the same sample.
        release: a protected version: the points come from `history`, who may have them from
            `release`.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> print(unicity(purchases, ["item"], points=2))
    Knowing item of 2 events, an adversary singles out 16.7% of users.
    Figures are per user: a user is drawn, then 2 of the user's different points.
    1 user has fewer points than that, and is known by all of them.
    1 user has a single record.
    These figures are exact.
    """
    require_history("unicity", history)
    attacker = Attacker(facets, points=points, weight=weight)
    problems = Problems("unicity")
    problems.extend("", checks.share("confidence", confidence, zero=False, one=False))
    problems.extend("", checks.whole_number("sample", sample))
    problems.extend("", checks.whole_number("seed", seed, least=0))
    if weight == "event":
        problems.add("weight", 'points belong to a user: weigh by "user" or "record".')
    problems.extend("", problems_with_release(history, release, attacker.knows))
    problems.raise_any()
    user_points = Points(history, attacker)
    random = np.random.default_rng(seed)
    outcome: LookupResult | None = None
    with work.step(f"Looking for users by {points} points"):
        if release is not None:
            matches, outcome, exact = user_points.match_release(release, points, sample, random)
        else:
            exact_matches = user_points.match_all_draws(points)
            exact = exact_matches is not None
            matches = (
                user_points.match_sample(points, sample, random)
                if exact_matches is None
                else exact_matches
            )
    options = {"weight": weight, "sample": sample, "confidence": confidence, "seed": seed}
    return _assess_points(
        history,
        attacker,
        user_points,
        matches=matches,
        outcome=outcome,
        confidence=None if exact else confidence,
        options={**options, "release": release},
    )


def _assess_points(
    history: History,
    attacker: Attacker,
    user_points: Points,
    *,
    matches: PointMatches,
    outcome: LookupResult | None,
    confidence: float | None,
    options: Mapping[str, Any],
) -> EventAssessment:
    """The figures in words; with a confidence where users were sampled."""
    share, points, draws = matches.weighted_mean(matches.alone), attacker.points, len(matches.user)
    values: dict[str, Any] = {
        "knows": describe_knowledge(attacker),
        "points": points,
        "certain_share": share,
        "drawn": describe_drawn(attacker.drawn),
        "draws": draws,
        "confidence": confidence,
    }
    weights = user_points.user_weights
    figures: dict[str, Number] = {
        "points": points,
        "users": history.users,
        "largest_user": float(weights.max() / weights.sum()),
    }
    if confidence is not None:
        low, high = wilson_interval(share, draws, confidence)
        values |= {"low": low, "high": high}
        figures |= {"draws": draws, "confidence": confidence, "low": low, "high": high}
    claim: Claim = "exact" if confidence is None else "estimate"
    how = "exact" if confidence is None else "sampled"
    sentences = [
        Sentence("divulge.events", "points.singled_out", values),
        Sentence("divulge.events", f"points.weight.{how}", values),
    ]
    short_count = int(np.count_nonzero(user_points.points_per_user < points))
    if short_count:
        sentences.append(Sentence("divulge.events", "points.fewer", {"count": short_count}))
    tally = matches.to_tally(history.users)
    if outcome is not None:
        sentences += describe_release_effects(tally, outcome, options["release"])
        figures["misled"] = outcome.misled_share
        if may_overcount_users(history, options["release"], user_points.facets, points):
            claim = "estimate"
            sentences.append(Sentence("divulge.events", "maybe.twice", {}))
    prior = 1 / history.users

    def build_details() -> Details:
        counts = choose_curve_points(min(points, int(user_points.points_per_user.max())))
        return unicity_curve(
            history, list_granularities(attacker.knows), counts, **options
        ).details()

    return build_assessment(
        history,
        attacker,
        weight=float(history.users),
        certain=share * history.users,
        right=matches.weighted_mean(matches.chance) * history.users,
        prior=prior,
        claim=claim,
        sentences=(*sentences, *history.remarks()),
        figures=figures,
        subjects="users",
        tally=tally,
        _users=history.user_values,
        _chart=lambda: charts.draw_matches_chart(tally.by_matches / tally.weight, attacker),
        _details=build_details if points > 1 else None,
        **defer_record_risk(
            history, attacker, prior, lambda: matches.to_record_shares(history), claim
        ),
    )


@dataclass(frozen=True)
class UnicityCurve:
    """Unicity by number of points and by what is known of each; made by `unicity_curve`."""

    assessments: Mapping[tuple[tuple[str, ...], int], EventAssessment]

    def rows(self) -> list[dict[str, Any]]:
        """What is known, how many points, the share of users, and its interval."""
        return [
            {
                "knows": ", ".join(knows),
                "points": points,
                "share": assessment.deterministic.posterior,
                "low": assessment.figures.get("low", assessment.deterministic.posterior),
                "high": assessment.figures.get("high", assessment.deterministic.posterior),
                "claim": assessment.claim,
            }
            for (knows, points), assessment in self.assessments.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """All shares as plain values."""
        return {"curve": self.rows()}

    def chart(self) -> Chart:
        """One line for each thing that is known, with intervals."""
        return charts.draw_unicity_chart(self.rows())

    def details(self) -> Details:
        """The curves as a table and a picture."""
        head = read_phrases("divulge.events", "head.unicity")
        rows = [
            (
                row["knows"],
                str(row["points"]),
                *(format_percent(row[part]) for part in ("share", "low", "high")),
                row["claim"],
            )
            for row in self.rows()
        ]
        return Details(head, rows, (1, 2, 3, 4), (self.chart(),))

    def __str__(self) -> str:
        sentences = (Sentence("divulge.events", "unicity.row", row) for row in self.rows())
        return "\n".join(map(str, sentences))


def list_granularities(knows: Sequence[str], units: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """What is known, and the same by other units of time: by default all coarser, up to months.

    >>> list_granularities(["day", "item"])
    [('day', 'item'), ('week', 'item'), ('month', 'item')]
    """
    variants = [tuple(knows)]
    for unit in units:
        problems = Problems("unicity")
        problems.extend("", checks.one_of("granularity", unit, UNITS, "a unit of time"))
        if not set(knows) & set(UNITS):
            problems.add("granularity", "nothing that the adversary knows is a unit of time.")
        problems.raise_any()
    for unit in units or ("hour", "day", "week", "month"):
        own = next((word for word in knows if word in UNITS), None)
        if own is not None and (units or UNITS.index(unit) > UNITS.index(own)):
            variants.append(tuple(unit if word == own else word for word in knows))
    return list(dict.fromkeys(variants))


def unicity_curve(
    history: History,
    facets: Iterable[str | Sequence[str]] = (("day", "item"), ("month", "item")),
    points: Iterable[int] = (1, 2, 3, 4),
    weight: Weight | Mapping[Any, float] = "user",
    sample: int = 10_000,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    release: History | None = None,
) -> UnicityCurve:
    """Unicity for several numbers of points and several things known of each.

    What is known and the numbers of points are lists; all else is what `unicity` takes.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> print(unicity_curve(purchases, ["item"], points=[1, 2]))
    Knowing item of 1 point singles out 8.33% of users (exact).
    Knowing item of 2 points singles out 16.7% of users (exact).
    """
    problems = Problems("unicity")
    problems.extend("", checks.several("points", points, "numbers"))
    problems.extend("", checks.several("facets", facets, "what may be known"))
    problems.raise_any()
    knowledge, counts = [checks.keep_iterator(each) for each in facets], list(points)
    for place, values in (("facets", knowledge), ("points", counts)):
        if not values:
            problems.add(place, "there are none; a curve has one or more.")
    for each in knowledge:
        problems.extend("", checks.names("facets", each))
    problems.raise_any()
    options: dict[str, Any] = {"weight": weight, "sample": sample, "confidence": confidence}
    options |= {"seed": seed, "release": release}
    return UnicityCurve(
        {
            (tuple(as_names(each)), count): unicity(history, each, count, **options)
            for each in knowledge
            for count in counts
        }
    )


def choose_curve_points(points: int) -> list[int]:
    """The numbers of points of a curve: all up to ten, beyond that ever wider apart.

    >>> choose_curve_points(4), choose_curve_points(100)
    ([1, 2, 3, 4], [1, 2, 3, 5, 8, 13, 22, 36, 60, 100])
    """
    if points <= MAX_CURVE_POINTS:
        return list(range(1, points + 1))
    counts = np.geomspace(1, points, MAX_CURVE_POINTS).round().astype(int)
    return [int(each) for each in np.unique(counts)]


def wilson_interval(share: float, draws: int, confidence: float) -> tuple[float, float]:
    """The interval in which a share lies with some confidence, after so many draws.

    >>> low, high = wilson_interval(0.98, 10_000, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.9771, 0.9826)
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    middle = (share + z * z / (2 * draws)) / (1 + z * z / draws)
    half = z * sqrt(share * (1 - share) / draws + (z / (2 * draws)) ** 2) / (1 + z * z / draws)
    # Nothing and all are ends of the interval, whatever is left over of rounding.
    low = 0.0 if share == 0 else max(0.0, middle - half)
    return low, 1.0 if share == 1 else min(1.0, middle + half)
