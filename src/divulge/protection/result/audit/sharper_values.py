"""How much sharper coarse values become for one who knows the scheme: the result.

Before, the likeliest value under a coarse one is right with its chance among all that are under it
(one in as many as there are, if they are alike). Who knows the scheme leaves out originals that
would have been released otherwise. The factor between the two is what the scheme tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Chart, Claim, Sentence
from divulge.assessment.assessment import Most
from divulge.protection.result.charts import draw_sharpening
from divulge.qif import PriorPosterior
from divulge.work.arrays import Bools, Floats, Ints

CATALOGUE = "divulge.protection"

SHARP_FACTOR = 1.5
"""From this factor on a value counts as sharpened: part of the definition of the figure."""

ROUNDING = 1e-9
"""Factors that differ by less are the same: sums of chances end so near to what they are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SharperValues:
    """By group of coarse values, the chance of the likeliest, without and with the scheme."""

    naive: Floats
    informed: Floats
    least: Floats
    """What the informed chance is at least, beyond chance, where it is estimated."""
    highest: Floats
    """The informed chance as few draws overstate it, where it is estimated."""
    weights: Floats
    """How many values a group has."""

    @property
    def total(self) -> int:
        """How many values there are."""
        return round(float(self.weights.sum()))

    @property
    def mean(self) -> float:
        """By what factor a value becomes sharper, on average."""
        if not self.total:
            return 1.0
        factors = self.informed / self.naive
        # Estimates may fall below; nobody guesses worse by knowing more.
        return max(1.0, float((factors * self.weights).sum() / self.weights.sum()))

    @property
    def mean_most(self) -> float:
        """The same at most: of few draws, the likeliest value looks likelier than it is."""
        if not self.total:
            return 1.0
        factors = self.highest / self.naive
        return max(self.mean, float((factors * self.weights).sum() / self.weights.sum()))

    @property
    def worst(self) -> float:
        """By what factor the value that becomes sharpest does (at least)."""
        return float(max(1.0, (self.least / self.naive).max(initial=1.0)))

    @property
    def sharpened(self) -> int:
        """How many values become sharper by more than 1.5."""
        return round(float(self.weights[self._is_sharpened].sum()))

    @property
    def guesses(self) -> PriorPosterior:
        """How many values a best guess gets right, without and with the scheme."""
        before = float((self.naive * self.weights).sum())
        return PriorPosterior(before, max(before, float((self.informed * self.weights).sum())))

    @property
    def guesses_most(self) -> float:
        """How many values the best guess with the scheme gets right at most."""
        return max(self.guesses.posterior, float((self.highest * self.weights).sum()))

    @property
    def certain(self) -> int:
        """How many values have only one left."""
        has_one = (self.informed >= 1 - ROUNDING) & (self.naive < 1)
        return round(float(self.weights[has_one].sum()))

    @property
    def _is_sharpened(self) -> Bools:
        is_sharpened: Bools = self.least / self.naive > SHARP_FACTOR + ROUNDING
        return is_sharpened


@dataclass(frozen=True, kw_only=True, eq=False)
class Sharpening:
    """What one who knows the scheme learns of coarse values.

    `values` are cells; `records` the combinations of all coarse cells of a record, where every
    original was looked at. `unresolved` counts cells of which nothing is known, because no
    original that was drawn gave the same release.
    """

    dataset: str
    knows: tuple[str, ...]
    claim: Claim
    values: SharperValues
    records: SharperValues | None
    cells: int
    """How many coarse cells the release has; on large files only some are looked at."""
    unresolved: int
    replays: int
    survivors: int
    together: int | None
    """How many classes were drawn anew at once, others being known; None for all."""
    possible: Mapping[tuple[int, str], frozenset[Any]] | None = None
    """By record of the original and attribute, the values that are left, if all were tried."""

    @property
    def finding(self) -> str:
        """Whether something is known of coarse values: `ambiguous`, `certain`, or `open`."""
        if not self.values.total:
            return "open"
        return "certain" if self.values.certain else "ambiguous"

    def assessment(self) -> Assessment:
        """In the currency of all attacks: coarse cells are the secrets."""
        guesses = self.values.guesses
        most = Most(
            certain=self.values.certain + self.unresolved,
            right=self.values.guesses_most + self.unresolved,
        )
        return Assessment.from_counts(
            attack="audit",
            model="knows the scheme",
            dataset=self.dataset,
            knows=self.knows,
            seeks=(),
            secrets=max(1, self.values.total + self.unresolved),
            subjects="coarse values",
            claim=self.claim,
            certain=PriorPosterior(0, self.values.certain),
            right=guesses,
            sentences=self.sentences(),
            figures=self.figures(),
            most=most if self.unresolved else None,
            not_judged=self._say("unresolved") if self.unresolved else None,
            _chart=self.chart if self.values.total else None,
        )

    def figures(self) -> dict[str, int | float]:
        """All figures by name."""
        figures: dict[str, int | float] = {
            "coarse_cells": self.cells,
            "resolved": self.values.total,
            "unresolved": self.unresolved,
            "replays": self.replays,
            "survivors": self.survivors,
        }
        if self.values.total:
            figures |= _list_factors("", self.values)
        if self.records is not None:
            figures |= _list_factors("record_", self.records)
        return figures

    def sentences(self) -> tuple[Sentence, ...]:
        """What was found, and how; no value."""
        sentences = []
        if self.values.total:
            sentences.append(self._say(f"factor.{self.claim}"))
        if self.records is not None:
            sentences.append(self._say("records"))
        sentences.append(self._say(f"replays.{'exact' if self.records is not None else 'drawn'}"))
        sentences.append(self._say("counts"))
        if self.together is not None:
            sentences.append(self._say("together"))
        if self.unresolved:
            sentences.append(self._say("unresolved"))
        return tuple(sentences)

    def chart(self) -> Chart:
        """How many values become sharper by how much."""
        return draw_sharpening(self.values.informed / self.values.naive, self.values.weights)

    def to_dict(self) -> dict[str, Any]:
        """The figures, and what is known."""
        return {"claim": self.claim, "finding": self.finding, **self.figures()}

    def _say(self, key: str) -> Sentence:
        records = self.records or self.values
        values = {
            "cells": self.cells,
            "values": self.values.total,
            "mean": round(self.values.mean, 3),
            "mean_most": round(self.values.mean_most, 3),
            "worst": round(self.values.worst, 2),
            "sharpened": self.values.sharpened,
            "records": records.total,
            "record_mean": round(records.mean, 3),
            "record_worst": round(records.worst, 2),
            "record_sharpened": records.sharpened,
            "unresolved": self.unresolved,
            "replays": self.replays,
            "survivors": self.survivors,
            "together": self.together or 0,
        }
        return Sentence(CATALOGUE, f"sharpening.{key}", values)


def _list_factors(prefix: str, values: SharperValues) -> dict[str, int | float]:
    return {
        f"{prefix}factor_mean": values.mean,
        f"{prefix}factor_mean_most": values.mean_most,
        f"{prefix}factor_worst": values.worst,
        f"{prefix}sharpened": values.sharpened,
        f"{prefix}sharpened_share": values.sharpened / max(1, values.total),
    }


def estimate_sharper_values(
    halves: tuple[Floats, Floats], naive: Floats, *, starts: Ints, weights: Floats, errors: float
) -> SharperValues:
    """From counts of drawn values, in two halves: the likeliest of one, looked for in the other.

    The likeliest value of few draws always looks likelier than it is, and its share in all draws is
    too high on average. Chosen by one half of the draws and counted in the other, its share is too
    low, since few draws choose badly. The truth is between the two. By `errors` standard errors a
    share must be above what it is compared with, to be called sharper.
    """
    shares, sizes, highest = (np.zeros(naive.size) for _ in range(3))
    for group in range(naive.size):
        one, other = (half[starts[group] : starts[group + 1]] for half in halves)
        right = other[np.argmax(one)] + one[np.argmax(other)]
        sizes[group] = max(1.0, one.sum() + other.sum())
        shares[group] = right / sizes[group]
        highest[group] = (one + other).max() / sizes[group]
    spread = np.sqrt(shares * (1 - shares) / sizes)
    return SharperValues(
        naive=naive,
        informed=shares,
        least=np.maximum(0.0, shares - errors * spread),
        highest=highest,
        weights=weights,
    )
