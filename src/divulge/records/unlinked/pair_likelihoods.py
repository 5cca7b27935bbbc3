"""Who of one year is who of the next, as likely as attributes say (probabilistic record linkage).

Everybody has at most one record a year. Some link attributes never change, others move with people:
they stay as they are at a rate, and else are drawn as they occur in the second year. Some leave,
others come. How likely each pair is follows by belief propagation on the pairs (the Bethe
approximation of a matching with slack: exact where the pairs form a forest); the rates are found by
expectation maximisation, if they are not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.records import tuning
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class LinkCodes:
    """Link attributes in codes that mean the same in both years; what is missing is a value."""

    fixed: tuple[Ints, Ints]
    """One code for all that never changes together."""
    moving: Mapping[str, tuple[Ints, Ints]]
    chance: Floats
    """Of each record of the second year how likely a stranger shares what never changes."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Records of the first and of the second year."""
        return len(self.fixed[0]), len(self.fixed[1])


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What becomes of people from one year to the next."""

    leaving: float
    coming: float
    """Newcomers, as a share of the second year."""
    staying: Mapping[str, float]
    """Of each moving attribute the share of people with whom it stays."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Pairs of records that may be of one person, and how likely each is."""

    first: Ints
    second: Ints
    likelihood: Floats


@dataclass(frozen=True, kw_only=True)
class _Candidates:
    """Pairs that agree on what never changes; `is_same` and `share` of each moving attribute."""

    first: Ints
    second: Ints
    is_same: Mapping[str, Bools]
    share: Mapping[str, Floats]


class RecordMatching:
    """All pairs of two years, and how likely they are under given or fitted rates."""

    def __init__(self, codes: LinkCodes) -> None:
        self.codes = codes
        self._candidates = _list_candidates(codes)

    def fit_rates(
        self, given: Mapping[str, float], start: Rates, chance_factor: float = 1.0
    ) -> Rates:
        """The rates under which the pairs are most likely; what is given stays.

        Expectation maximisation: pairs from rates, rates from pairs. `chance_factor` multiplies the
        chance that a stranger is taken for somebody.
        """
        rates = start
        with work.step("Estimating who stayed", tuning.MATCHING_ROUNDS) as step:
            for _ in range(tuning.MATCHING_ROUNDS):
                step.advance()
                found = self._maximise(rates, given, chance_factor)
                change = max(
                    abs(found.leaving - rates.leaving),
                    abs(found.coming - rates.coming),
                    *(abs(found.staying[n] - rates.staying[n]) for n in rates.staying),
                )
                rates = found
                if change < tuning.MATCHING_TOLERANCE:
                    break
        return rates

    def weigh_pairs(self, rates: Rates, chance_factor: float = 1.0) -> Pairs:
        """How likely each pair is."""
        candidates, (n1, n2) = self._candidates, self.codes.sizes
        weight = np.full(len(candidates.first), (1 - rates.leaving) / rates.leaving)
        newcomers = np.maximum(rates.coming * n2 * self.codes.chance * chance_factor, 1e-12)
        # Newcomers have what moves as it occurs; so who stayed is told by what is rare.
        for name, same in candidates.is_same.items():
            share, stays = candidates.share[name], rates.staying[name]
            weight = weight * np.where(same, stays / share + (1 - stays), 1 - stays)
        weight /= newcomers[candidates.second]
        return Pairs(
            first=candidates.first,
            second=candidates.second,
            likelihood=_propagate(candidates.first, candidates.second, weight, n1, n2),
        )

    def _maximise(self, rates: Rates, given: Mapping[str, float], chance_factor: float) -> Rates:
        pairs, (n1, n2) = self.weigh_pairs(rates, chance_factor), self.codes.sizes
        matched = float(pairs.likelihood.sum())
        staying = dict(rates.staying)
        for name, same in self._candidates.is_same.items():
            if name not in given:
                share, stays = self._candidates.share[name], rates.staying[name]
                of_pair = np.where(same, stays / (stays + (1 - stays) * share), 0.0)
                staying[name] = _bound(float(pairs.likelihood @ of_pair) / max(matched, 1e-9))
        return replace(
            rates,
            leaving=given.get("leaving", _bound(1 - matched / n1)),
            coming=given.get("coming", _bound(1 - matched / n2)),
            staying=staying,
        )


def _bound(rate: float) -> float:
    """A rate that excludes nothing."""
    return float(min(1 - tuning.LEAST_RATE, max(tuning.LEAST_RATE, rate)))


def _list_candidates(codes: LinkCodes) -> _Candidates:
    """All pairs of records that agree on what never changes."""
    n1, n2 = codes.sizes
    order = np.argsort(codes.fixed[1], kind="stable")
    ordered = codes.fixed[1][order]
    low = np.searchsorted(ordered, codes.fixed[0], side="left")
    high = np.searchsorted(ordered, codes.fixed[0], side="right")
    number = high - low
    total = int(number.sum())
    if total > tuning.MAX_MATCHING_PAIRS:
        raise work.DivulgeError(
            f"{total:,} pairs of records agree on what never changes, and "
            f"{tuning.MAX_MATCHING_PAIRS:,} are the most: name more attributes that never change"
        )
    first = np.repeat(np.arange(n1), number)
    within = np.arange(total) - np.repeat(np.cumsum(number) - number, number)
    second = order[np.repeat(low, number) + within]
    is_same, share = {}, {}
    for name, (one, other) in codes.moving.items():
        occurs = np.bincount(other) / n2
        is_same[name] = one[first] == other[second]
        share[name] = occurs[other[second]]
    return _Candidates(first=first, second=second, is_same=is_same, share=share)


def _propagate(first: Ints, second: Ints, weight: Floats, n1: int, n2: int) -> Floats:
    """Marginals of a matching in which each pair weighs so much, and nobody need be matched.

    Invariant: a message says how likely its sender is free for the pair, by all its other pairs.
    """
    free1, free2 = np.ones(len(first)), np.ones(len(first))
    for _ in range(tuning.PROPAGATION_ROUNDS):
        of_first = weight * free2
        new1 = 1 / (1 + np.maximum(np.bincount(first, of_first, n1)[first] - of_first, 0.0))
        of_second = weight * new1
        new2 = 1 / (1 + np.maximum(np.bincount(second, of_second, n2)[second] - of_second, 0.0))
        change = float(np.abs(new2 - free2).max(initial=0.0))
        free1, free2 = new1, new2
        if change < tuning.PROPAGATION_TOLERANCE:
            break
    both = weight * free1 * free2
    return np.asarray(both / (1 + both), np.float64)
