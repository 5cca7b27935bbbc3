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
from divulge.assessment.sentence import percent
from divulge.data.dictionary import as_names
from divulge.events import charts
from divulge.events.assess import (
    EventAssessment,
    described,
    per_record,
    problems_with_release,
    said_of_release,
)
from divulge.events.history.calendar import UNITS
from divulge.events.history.history import History, require_history
from divulge.events.knowledge.attacker import Attacker, Weight
from divulge.events.known_points.points import Found, Points
from divulge.events.protected.attack_protected import Outcome, within_bounds
from divulge.work import Problems, checks

MOST_STEPS = 10
"""So many numbers of points a curve in a report has, at most."""


def unicity(
    history: History,
    facets: str | Sequence[str] = ("day", "item"),
    points: int = 4,
    weight: Weight | Mapping[Any, float] = "user",
    sample: int = 10_000,
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
    The weight is the user: a user is drawn, then 2 of the user's different points.
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
    known = Points(history, attacker)
    random = np.random.default_rng(seed)
    outcome: Outcome | None = None
    with work.step(f"Looking for users by {points} points"):
        if release is not None:
            found, outcome, exact = known.released(release, points, sample, random)
        else:
            counted = known.exactly(points)
            exact = counted is not None
            found = known.sampled(points, sample, random) if counted is None else counted
    options = {"weight": weight, "sample": sample, "confidence": confidence, "seed": seed}
    return _assessment(
        history,
        attacker,
        known,
        found,
        outcome,
        None if exact else confidence,
        {**options, "release": release},
    )


def _assessment(
    history: History,
    attacker: Attacker,
    known: Points,
    found: Found,
    released: Outcome | None,
    confidence: float | None,
    options: Mapping[str, Any],
) -> EventAssessment:
    """The figures in words; with a confidence where users were sampled."""
    share, points, draws = found.share(found.alone), attacker.points, len(found.user)
    values: dict[str, Any] = {
        "knows": list(attacker.knows) or ["nothing"],
        "points": points,
        "certain_share": share,
        "drawn": attacker.drawn,
        "draws": draws,
        "confidence": confidence,
    }
    weights = known.user_weights
    figures: dict[str, Number] = {
        "points": points,
        "users": history.users,
        "largest_user": float(weights.max() / weights.sum()),
    }
    if confidence is not None:
        low, high = wilson(share, draws, confidence)
        values |= {"low": low, "high": high}
        figures |= {"draws": draws, "confidence": confidence, "low": low, "high": high}
    claim: Claim = "exact" if confidence is None else "estimate"
    how = "exact" if confidence is None else "sampled"
    said = [
        Sentence("divulge.events", "points.singled_out", values),
        Sentence("divulge.events", f"points.weight.{how}", values),
    ]
    few = int(np.count_nonzero(known.of_user < points))
    if few:
        said.append(Sentence("divulge.events", "points.fewer", {"count": few}))
    tally = found.tally(history.users)
    if released is not None:
        said += said_of_release(tally, released, options["release"])
        figures["misled"] = released.misled
        if within_bounds(history, options["release"], known.facets, points):
            claim = "estimate"
            said.append(Sentence("divulge.events", "maybe.twice", {}))
    prior = 1 / history.users

    def details() -> Details:
        counts = steps(min(points, int(known.of_user.max())))
        return unicity_curve(history, granularities(attacker.knows), counts, **options).details()

    return described(
        history,
        attacker,
        weight=float(history.users),
        certain=share * history.users,
        right=found.share(found.chance) * history.users,
        prior=prior,
        claim=claim,
        sentences=(*said, *history.remarks()),
        figures=figures,
        subjects="users",
        tally=tally,
        _users=history.user_values,
        _chart=lambda: charts.matches(tally.by_matches / tally.weight, attacker),
        _details=details if points > 1 else None,
        **per_record(history, attacker, prior, lambda: found.on_records(history), claim),
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
                "share": found.deterministic.posterior,
                "low": found.figures.get("low", found.deterministic.posterior),
                "high": found.figures.get("high", found.deterministic.posterior),
                "claim": found.claim,
            }
            for (knows, points), found in self.assessments.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """All shares as plain values."""
        return {"curve": self.rows()}

    def chart(self) -> Chart:
        """One line for each thing that is known, with intervals."""
        return charts.curves(self.rows())

    def details(self) -> Details:
        """The curves as a table and a picture."""
        head = ("known of each point", "points", "singled out", "between", "and", "claim")
        rows = [
            (
                row["knows"],
                str(row["points"]),
                *(percent(row[part]) for part in ("share", "low", "high")),
                row["claim"],
            )
            for row in self.rows()
        ]
        return Details(head, rows, (1, 2, 3, 4), (self.chart(),))

    def __str__(self) -> str:
        return "\n".join(
            f"{row['points']} of {row['knows']}: {percent(row['share'])} ({row['claim']})"
            for row in self.rows()
        )


def granularities(knows: Sequence[str], units: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """What is known, and the same by other units of time: by default all coarser, up to months.

    >>> granularities(["day", "item"])
    [('day', 'item'), ('week', 'item'), ('month', 'item')]
    """
    found = [tuple(knows)]
    for unit in units:
        problems = Problems("unicity")
        problems.extend("", checks.one_of("granularity", unit, UNITS, "a unit of time"))
        if not set(knows) & set(UNITS):
            problems.add("granularity", "nothing that the adversary knows is a unit of time.")
        problems.raise_any()
    for unit in units or ("hour", "day", "week", "month"):
        own = next((word for word in knows if word in UNITS), None)
        if own is not None and (units or UNITS.index(unit) > UNITS.index(own)):
            found.append(tuple(unit if word == own else word for word in knows))
    return list(dict.fromkeys(found))


def unicity_curve(
    history: History,
    facets: Iterable[str | Sequence[str]] = (("day", "item"), ("month", "item")),
    points: Iterable[int] = (1, 2, 3, 4),
    weight: Weight | Mapping[Any, float] = "user",
    sample: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    release: History | None = None,
) -> UnicityCurve:
    """Unicity for several numbers of points and several things known of each.

    What is known and the numbers of points are lists; all else is what `unicity` takes.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> print(unicity_curve(purchases, ["item"], points=[1, 2]))
    1 of item: 8.33% (exact)
    2 of item: 16.7% (exact)
    """
    problems = Problems("unicity")
    problems.extend("", checks.several("points", points, "numbers"))
    problems.extend("", checks.several("facets", facets, "what may be known"))
    problems.raise_any()
    known, counts = [checks.keep_iterator(each) for each in facets], list(points)
    for place, given in (("facets", known), ("points", counts)):
        if not given:
            problems.add(place, "there are none; a curve has one or more.")
    for each in known:
        problems.extend("", checks.names("facets", each))
    problems.raise_any()
    options: dict[str, Any] = {"weight": weight, "sample": sample, "confidence": confidence}
    options |= {"seed": seed, "release": release}
    return UnicityCurve(
        {
            (tuple(as_names(each)), count): unicity(history, each, count, **options)
            for each in known
            for count in counts
        }
    )


def steps(points: int) -> list[int]:
    """The numbers of points of a curve: all up to ten, beyond that ever wider apart.

    >>> steps(4), steps(100)
    ([1, 2, 3, 4], [1, 2, 3, 5, 8, 13, 22, 36, 60, 100])
    """
    if points <= MOST_STEPS:
        return list(range(1, points + 1))
    wide = np.geomspace(1, points, MOST_STEPS).round().astype(int)
    return [int(each) for each in np.unique(wide)]


def wilson(share: float, draws: int, confidence: float) -> tuple[float, float]:
    """The interval in which a share lies with some confidence, after so many draws.

    >>> low, high = wilson(0.98, 10_000, 0.95)
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
