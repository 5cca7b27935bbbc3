"""Posting lists of points: the different points of users, drawn and looked up in all the others.

Points are numbered in the order of what is known, as `build_lookup` numbers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.events import tuning
from divulge.events.history.history import History
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge.facets import encode_facet, pack_codes, spread_over_rows
from divulge.events.known_points import points_kernels as kernels
from divulge.events.matching import kernels as matching_kernels
from divulge.events.matching.matching import Tally
from divulge.events.protected.attack_protected import (
    Draws,
    LookupResult,
    RecordShares,
    look_up_draws,
)
from divulge.events.protected.candidate_lookup import UserNumbering, build_lookup
from divulge.qif.kernels import run
from divulge.work import DivulgeError, MemoryPlan, available_memory
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class PointMatches:
    """Draws of points: whose they are, what each weighs, how many users have them, the chances."""

    user: Ints
    weight: Floats
    matching: Ints
    chance: Floats
    alone: npt.NDArray[np.bool_]

    @classmethod
    def from_matching(cls, user: Ints, weight: Floats, matching: Ints) -> PointMatches:
        """Where the right user always is among those who match."""
        return cls(
            user=user, weight=weight, matching=matching, chance=1 / matching, alone=matching == 1
        )

    def weighted_mean(self, values: Any) -> float:
        """The weighted mean of something over the draws."""
        return float(self.weight @ values / self.weight.sum())

    def to_tally(self, users: int) -> Tally:
        """The figures by user, weighing as many as there are users, and by number of matches."""
        weight = self.weight * users / self.weight.sum()
        by_user = np.zeros((users, 5))
        for column, share in (
            (matching_kernels.RIGHT_UNIFORM, self.chance),
            (matching_kernels.CERTAIN, self.alone),
            (matching_kernels.WEIGHT, 1.0),
        ):
            by_user[:, column] = np.bincount(self.user, weight * share, users)
        by_user[:, matching_kernels.RIGHT_BEST] = by_user[:, matching_kernels.RIGHT_UNIFORM]
        np.maximum.at(by_user[:, matching_kernels.WORST_CASE], self.user, self.chance)
        by_matches = np.bincount(self.matching, weight).astype(np.float64)
        return Tally(by_user, by_matches, len(self.matching))

    def to_record_shares(self, history: History) -> RecordShares:
        """What users bear, laid upon their records alike."""
        by_user = self.to_tally(history.users).by_user / history.records_of_user[:, None]
        columns = by_user[history.user_of_record].T
        uniform = columns[matching_kernels.RIGHT_UNIFORM]
        weight, certain = columns[matching_kernels.WEIGHT], columns[matching_kernels.CERTAIN]
        return RecordShares(weight, uniform, uniform, certain)


class Points:
    """The different points of every user, and the users of every point."""

    def __init__(self, history: History, attacker: Attacker) -> None:
        self.history = history
        self.weight = attacker.weight
        self.facets = facets = attacker.facets(history)
        if any(each.kind == "items" for each in facets):
            raise DivulgeError("attacker, knows: a point has one item; for two, give points=2")
        parts = [encode_facet(history, each) for each in facets]
        of_events = all(part.of_events for part in parts)
        users = history.user_of_event if of_events else history.user_of_record
        shift = max(1, (history.users - 1).bit_length())
        x, _ = pack_codes(spread_over_rows(history, parts, of_events), len(users), room=64 - shift)
        x <<= shift
        x |= users
        keys = x.view(np.uint64)
        keys.sort()
        postings: Any = run(kernels.build_postings, len(keys), keys, shift)  # type: ignore[arg-type]  # gives two arrays
        self.starts: Ints = postings[0]
        self.users: npt.NDArray[np.int32] = postings[1]
        del x, keys, users
        by_user: Any = _run_kernel(
            kernels.transpose_postings, self.starts, self.users, history.users
        )
        self.user_starts: Ints = by_user[0]
        self.points: npt.NDArray[np.int32] = by_user[1]

    @cached_property
    def users_per_point(self) -> Ints:
        """How many users have each point."""
        return np.diff(self.starts)

    @cached_property
    def points_per_user(self) -> Ints:
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

    def match_all_draws(self, points: int) -> PointMatches | None:
        """All draws of so many points of every user; None if they are too many to count."""
        one_each = points == 1 or bool(np.all(self.points_per_user == 1))
        if points > 2 and not one_each:
            return None
        user = np.repeat(np.arange(self.history.users), self.points_per_user)
        spread = self.users_per_point[self.points]
        if one_each:
            return PointMatches.from_matching(
                user, (self.user_weights / self.points_per_user)[user], spread
            )
        shared = np.bincount(user, spread > 1, self.history.users).astype(np.int64)
        sizes = shared * (shared - 1) // 2
        pairs_in_all = int(sizes.sum())
        if (
            pairs_in_all > tuning.MAX_PAIRS_COUNTED
            or pairs_in_all * tuning.BYTES_PER_PAIR > available_memory()
        ):
            return None
        pairs = _run_kernel(
            kernels.list_shared_pairs, self.user_starts, self.points, self.users_per_point
        )
        _, which, count = np.unique(pairs, return_inverse=True, return_counts=True)
        of_pair = np.repeat(np.arange(self.history.users), sizes)
        all_pairs = self.points_per_user * (self.points_per_user - 1) // 2
        weight = self.user_weights / np.maximum(all_pairs, 1)
        # A pair with a point that nobody else has singles its user out: counted, not listed.
        private = np.flatnonzero(all_pairs > sizes)
        [few] = np.nonzero(all_pairs == 0)
        return PointMatches.from_matching(
            np.concatenate([of_pair, private, few]),
            np.concatenate(
                [
                    weight[of_pair],
                    (weight * (all_pairs - sizes))[private],
                    self.user_weights[few],
                ]
            ),
            np.concatenate(
                [
                    count[which],
                    np.ones(len(private), np.int64),
                    self.users_per_point[self.points[self.user_starts[few]]],
                ]
            ),
        )

    def match_sample(self, points: int, sample: int, random: np.random.Generator) -> PointMatches:
        """For users drawn by weight: how many users have all of some of their points."""
        users = self._sample_users(sample, random)
        draws = self.draw_points(users, points, random)
        matches = _run_kernel(kernels.count_common_users, draws, self.starts, self.users)
        return PointMatches.from_matching(users, np.ones(sample), matches)

    def match_release(
        self, release: History, points: int, sample: int, random: np.random.Generator
    ) -> tuple[PointMatches, LookupResult, bool]:
        """The same looked up in a protected release; and whether all draws were."""
        people = UserNumbering(self.history, release)
        candidates = build_lookup(people, self.facets, "user")
        exact = points == 1 or np.all(self.points_per_user == 1)
        pairs = self.points_per_user * (self.points_per_user - 1) // 2
        if exact:
            users = np.repeat(np.arange(self.history.users), self.points_per_user)
            draws = self.points[:, None].astype(np.int64)
            weight = (self.user_weights / self.points_per_user)[users]
        elif points == 2 and pairs.sum() <= tuning.MAX_PAIRS_RELEASED:
            exact = True
            users, draws = self._list_point_pairs()
            weight = (self.user_weights / np.maximum(pairs, 1))[users]
        else:
            users = self._sample_users(sample, random)
            draws, weight = self.draw_points(users, points, random), np.ones(sample)
        outcome = look_up_draws(candidates, Draws(draws, users, weight))
        chance = outcome.uniform_chance
        return (
            PointMatches(
                user=users,
                weight=weight,
                matching=outcome.matching,
                chance=chance,
                alone=outcome.certain,
            ),
            outcome,
            bool(exact),
        )

    def _list_point_pairs(self) -> tuple[Ints, Ints]:
        """All pairs of points of every user; of who has but one point, that one."""
        users, pairs = [], []
        for user in range(self.history.users):
            own = self.points[self.user_starts[user] : self.user_starts[user + 1]]
            one, other = np.triu_indices(len(own), 1)
            own_pairs = np.column_stack([own[one], own[other]])
            if len(own) == 1:
                own_pairs = np.array([[own[0], -1]])
            pairs.append(own_pairs)
            users.append(np.full(len(own_pairs), user))
        return np.concatenate(users), np.concatenate(pairs)

    def _sample_users(self, sample: int, random: np.random.Generator) -> Ints:
        MemoryPlan("the sample", {"users": 8 * 4 * sample}).require("draw fewer users")
        share = self.user_weights / self.user_weights.sum()
        users: Ints = random.choice(self.history.users, sample, p=share)
        return users

    def draw_points(self, users: Ints, points: int, random: np.random.Generator) -> Ints:
        """So many different points of each user, by Floyd's way; -1 where there are no more."""
        point_counts = self.points_per_user[users]
        points = min(points, int(point_counts.max()))  # nobody has more
        MemoryPlan("the sample", {"points": 8 * 4 * points * len(users)}).require(
            "draw fewer users, or ask for fewer points"
        )
        places = np.full((len(users), points), -1, np.int64)
        for step in range(points):
            last = point_counts - points + step
            pick = (random.random(len(users)) * (last + 1)).astype(np.int64)
            is_repeated = (places[:, :step] == pick[:, None]).any(axis=1)
            places[:, step] = np.where(is_repeated, last, pick)
        every = np.arange(points)[None, :]
        few = (point_counts <= points)[:, None]
        places = np.where(few, np.where(every < point_counts[:, None], every, -1), places)
        place = self.user_starts[users][:, None] + places
        return np.where(places >= 0, self.points[np.maximum(place, 0)], -1).astype(np.int64)


def _run_kernel(kernel: Any, *arguments: Any) -> Any:
    return run(kernel, sum(len(each) for each in arguments if np.ndim(each)), *arguments)
