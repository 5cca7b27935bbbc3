"""Risk against utility: what each way of protecting costs, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from divulge import work
from divulge.assessment import Chart, Limit
from divulge.data import Dataset
from divulge.protection.recode import recode
from divulge.protection.result.charts import draw_risk_utility
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import OutOfReachError
from divulge.protection.suppression.suppress import suppress
from divulge.records.risk.frequencies import Nulls

COMPARED_SEMANTICS: tuple[Nulls, ...] = ("maybe", "known", "bayes")


@dataclass(frozen=True)
class RiskUtilityMap:
    """One point for each method and k: what a careful adversary finds, and what was lost."""

    dataset: str
    points: Sequence[dict[str, Any]]

    def chart(self) -> Chart:
        """Risk against loss, a line a method, a point a k."""
        return draw_risk_utility(self.points, self.dataset)

    def to_dict(self) -> dict[str, Any]:
        """The points as plain values."""
        return {"dataset": self.dataset, "points": list(self.points)}


def risk_utility_map(
    dataset: Dataset,
    ks: Iterable[int] = (2, 3, 5, 10),
    among: str | Iterable[str] | None = None,
) -> RiskUtilityMap:
    """Protect in every way and for every k, and compare what is left of risk and of the data.

    Suppression under three ways of counting; recoding as well where attributes have hierarchies.

    >>> import divulge as dv
    >>> found = risk_utility_map(dv.datasets.local_suppression_example(), ks=(2,))
    >>> [point["method"] for point in found.points]
    ['suppress (maybe)', 'suppress (known)', 'suppress (bayes)']
    """
    names = dataset.attributes(among, "among")
    has_hierarchies = any(dataset.dictionary[name].hierarchy is not None for name in names)
    chosen = list(ks)
    points: list[dict[str, Any]] = []
    with work.step(
        "Comparing ways to protect", len(chosen) * (len(COMPARED_SEMANTICS) + has_hierarchies)
    ) as step:
        for nulls in COMPARED_SEMANTICS:
            for k in chosen:
                points += _measure_point(
                    f"suppress ({nulls})", k,
                    lambda k=k, nulls=nulls: suppress(dataset, k, nulls, among=names),
                )  # fmt: skip
                step.advance()
        for k in chosen if has_hierarchies else ():
            limit = Limit("k_anonymity", at_least=k, among=names)
            points += _measure_point("recode", k, lambda limit=limit: recode(dataset, [limit]))
            step.advance()
    return RiskUtilityMap(dataset.name, points)


def _measure_point(method: str, k: int, run: Any) -> list[dict[str, Any]]:
    """The point of one run; none where a limit is out of reach."""
    try:
        protected: Protected = run()
    except OutOfReachError:
        return []
    return [
        {
            "method": method,
            "k": k,
            "risk": protected.after.probabilistic.posterior,
            "loss": protected.loss,
            "cells": protected.suppressed_cells,
            "alone": protected.alone()["bayes"],
        }
    ]
