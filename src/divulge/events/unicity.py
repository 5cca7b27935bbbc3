"""Unicity: how few points of a history single its user out ("unique in the crowd").

A point is what the facets say of one record: an item on a day. An adversary knows some of a
user's different points; the user is singled out if nobody else has all of them. Exact for one
and two points; beyond, and where pairs are too many, users are sampled and the share comes with
its confidence interval (Wilson's).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Chart, Sentence
from divulge.assessment.assessment import Number
from divulge.assessment.sentence import percent
from divulge.data.dictionary import as_names
from divulge.events import charts
from divulge.events import points_kernels as kernels
from divulge.events.attack import EventAssessment, described
from divulge.events.attacker import Attacker, Weight
from divulge.events.facets import coded, combined
from divulge.events.history import History
from divulge.events.ordering import Ints
from divulge.qif.kernels import run
from divulge.work import DivulgeError

Floats = npt.NDArray[np.float64]

MOST_PAIRS = 30_000_000
"""So many pairs of points are counted exactly; if there are more, users are sampled."""


def unicity(
    history: History,
    facets: str | Sequence[str] = ("day", "item"),
    points: int = 4,
    weight: Weight | Mapping[Any, float] = "user",
    sample: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
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

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> print(unicity(purchases, ["item"], points=2))
    Knowing item of 2 events, an adversary singles out 16.7% of users.
    The weight is the user: a user is drawn, then 2 of the user's different points.
    1 user has fewer points than that, and is known by all of them.
    1 user has a single record.
    These figures are exact.
    """
    attacker = Attacker(as_names(facets), points=points, weight=weight)
    if not 0 < confidence < 1 or sample < 1:
        raise DivulgeError("unicity: give a confidence between 0 and 1, and a sample from 1")
    known = _Points(history, attacker)
    with work.step(f"Looking for users by {points} points"):
        exact = known.exactly(points)
        if exact is None:
            alone, chance = known.sampled(points, sample, np.random.default_rng(seed))
        else:
            alone, chance = exact
    weights = known.user_weights if exact is not None else np.ones(len(alone))
    share = float(alone @ weights / weights.sum())
    right = float(chance @ weights / weights.sum())
    few = int(np.count_nonzero(known.of_user < points))
    values = {
        "knows": list(attacker.knows) or ["nothing"],
        "points": points,
        "certain_share": share,
        "drawn": attacker.drawn,
        "draws": len(alone),
        "confidence": confidence,
    }
    figures: dict[str, Number] = {"points": points, "users": history.users}
    if exact is None:
        low, high = wilson(share, len(alone), confidence)
        values |= {"low": low, "high": high}
        figures |= {"draws": len(alone), "confidence": confidence, "low": low, "high": high}
    said = [
        Sentence("divulge.events", "points.singled_out", values),
        Sentence("divulge.events", f"points.weight.{'exact' if exact else 'sampled'}", values),
    ]
    if few:
        said.append(Sentence("divulge.events", "points.fewer", {"count": few}))
    records = [{"knows": ", ".join(attacker.knows), "points": points, "share": share}]
    records[0] |= {"low": figures.get("low", share), "high": figures.get("high", share)}
    largest = float(weights.max() / weights.sum()) if exact else 1 / history.users
    return described(
        history,
        attacker,
        weight=float(history.users),
        certain=share * history.users,
        right=right * history.users,
        prior=1 / history.users,
        claim="exact" if exact is not None else "estimate",
        sentences=(*said, *history.remarks()),
        figures={**figures, "largest_user": largest},
        subjects="users",
        _chart=lambda: charts.curves(records),
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

    def __str__(self) -> str:
        return "\n".join(
            f"{row['points']} of {row['knows']}: {percent(row['share'])} ({row['claim']})"
            for row in self.rows()
        )


def unicity_curve(
    history: History,
    facets: Iterable[str | Sequence[str]] = (("day", "item"), ("month", "item")),
    points: Iterable[int] = (1, 2, 3, 4),
    **options: Any,
) -> UnicityCurve:
    """Unicity for several numbers of points and several things known of each.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> print(unicity_curve(purchases, ["item"], points=[1, 2]))
    1 of item: 8.33% (exact)
    2 of item: 16.7% (exact)
    """
    return UnicityCurve(
        {
            (tuple(as_names(each)), count): unicity(history, each, count, **options)
            for each in facets
            for count in points
        }
    )


class _Points:
    """The different points of every user, and the users of every point."""

    def __init__(self, history: History, attacker: Attacker) -> None:
        self.history = history
        self.weight = attacker.weight
        facets = attacker.facets(history)
        if any(each.kind == "items" for each in facets):
            raise DivulgeError("attacker, knows: a point has one item; for two, give points=2")
        parts = [coded(history, each) for each in facets]
        of_events = all(part.of_events for part in parts)
        event = history.event_of_record
        spread = [p.codes if of_events or not p.of_events else p.codes[event] for p in parts]
        users = history.user_of_event if of_events else history.user_of_event[event]
        shift = max(1, (history.users - 1).bit_length())
        x, _ = combined(spread, len(users), room=64 - shift)
        keys = np.sort((x.astype(np.uint64) << np.uint64(shift)) | users.astype(np.uint64))
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
        point = keys >> np.uint64(shift)
        begins = np.append(True, point[1:] != point[:-1])
        self.starts: Ints = np.append(np.flatnonzero(begins), len(keys))
        self.users: Ints = (keys & np.uint64((1 << shift) - 1)).astype(np.int64)
        found: Any = _run(kernels.transposed, self.starts, self.users, history.users)
        self.user_starts, self.points = found

    @cached_property
    def spread(self) -> Ints:
        """How many users have each point."""
        return np.diff(self.starts)

    @cached_property
    def of_user(self) -> Ints:
        """How many different points each user has."""
        counts: Ints = np.diff(self.user_starts)
        return counts

    @cached_property
    def user_weights(self) -> Floats:
        """How likely each user is drawn."""
        if isinstance(self.weight, Mapping):
            return np.array([float(self.weight[user]) for user in self.history.user_values()])
        if self.weight == "record":
            return self.history.records_of_user.astype(np.float64)
        return np.ones(self.history.users)

    def exactly(self, points: int) -> tuple[Floats, Floats] | None:
        """Per user the share of draws that single out, and the mean chance; None if too many."""
        user = np.repeat(np.arange(self.history.users), self.of_user)
        spread = self.spread[self.points]
        alone = np.bincount(user, spread == 1, self.history.users) / self.of_user
        chance = np.bincount(user, 1 / spread, self.history.users) / self.of_user
        if points == 1 or points > 2:
            return (alone, chance) if points == 1 or np.all(self.of_user == 1) else None
        shared = np.bincount(user, spread > 1, self.history.users).astype(np.int64)
        sizes = shared * (shared - 1) // 2
        if sizes.sum() > MOST_PAIRS:
            return None
        pairs = _run(kernels.shared_pairs, self.user_starts, self.points, self.spread)
        _, which, count = np.unique(pairs, return_inverse=True, return_counts=True)
        of_pair = np.repeat(np.arange(self.history.users), sizes)
        all_pairs = self.of_user * (self.of_user - 1) // 2
        several = all_pairs > 0
        private = (all_pairs - sizes)[several]
        singled = np.bincount(of_pair, count[which] == 1, self.history.users)[several]
        chances = np.bincount(of_pair, 1 / count[which], self.history.users)[several]
        alone[several] = (private + singled) / all_pairs[several]
        chance[several] = (private + chances) / all_pairs[several]
        return alone, chance

    def sampled(
        self, points: int, sample: int, random: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """For users drawn by weight: whether their drawn points single them out, and the chance."""
        share = self.user_weights / self.user_weights.sum()
        users = random.choice(self.history.users, sample, p=share)
        drawn = self.draws(users, points, random)
        matches = _run(kernels.common_users, drawn, self.starts, self.users)
        return (matches == 1).astype(np.float64), 1 / matches

    def draws(self, users: Ints, points: int, random: np.random.Generator) -> Ints:
        """So many different points of each user, by Floyd's way; -1 where there are no more."""
        have = self.of_user[users]
        chosen = np.full((len(users), points), -1, np.int64)
        for step in range(points):
            last = have - points + step
            pick = (random.random(len(users)) * (last + 1)).astype(np.int64)
            taken = (chosen[:, :step] == pick[:, None]).any(axis=1)
            chosen[:, step] = np.where(taken, last, pick)
        every = np.arange(points)[None, :]
        few = (have <= points)[:, None]
        chosen = np.where(few, np.where(every < have[:, None], every, -1), chosen)
        place = self.user_starts[users][:, None] + chosen
        return np.where(chosen >= 0, self.points[np.maximum(place, 0)], -1)


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
    return max(0.0, middle - half), min(1.0, middle + half)


def _run(kernel: Any, *arguments: Any) -> Any:
    return run(kernel, sum(len(each) for each in arguments if np.ndim(each)), *arguments)
