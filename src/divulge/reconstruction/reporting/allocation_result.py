"""An allocation as a result: what is known of every package, in findings, figures and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Chart, Most, Sentence
from divulge.assessment.assessment import Finding
from divulge.qif import PriorPosterior
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import Premise, PremiseOutcome
from divulge.reconstruction.problem.solution import Status
from divulge.reconstruction.reporting.charts import draw_packages

if TYPE_CHECKING:
    from collections.abc import Hashable

CATALOGUE = "divulge.reconstruction"


@dataclass(frozen=True, eq=False, kw_only=True)
class Allocation:
    """What is known of every package: the bins it can be in, and what proves it.

    `possible` are the bins not excluded, `proved` those that some allocation has; `finding` says
    certain (one bin is left, by whatever rule the totals were rounded), ambiguous (two are
    proved) or open. `marginals` are the shares of allocations with each bin, None where they were
    not counted. `rests_on_rule` are packages with one bin left only if the rounding rule is right
    and, under the premise "any", no record is missing unnoticed. `seconds` is the effort in nominal
    seconds; `is_cut` says that the clock stopped the search before its effort was spent.
    """

    status: Status
    count: int | None
    possible: Mapping[Hashable, set[Hashable]]
    proved: Mapping[Hashable, set[Hashable]]
    finding: Mapping[Hashable, Finding]
    marginals: Mapping[Hashable, Mapping[Hashable, float] | None]
    counts: Mapping[Hashable, Mapping[Hashable, int]]
    rounding: str
    premise: Premise
    complexity: float
    seconds: float
    certificates: Sequence[Mapping[Hashable, Hashable | None]]
    rests_on_rule: frozenset[Hashable] = frozenset()
    excluded: Mapping[Hashable, float | None] = field(default_factory=dict)
    violated: Sequence[tuple[Hashable, int]] = ()
    _in_doubt: bool = False
    _chart_data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _instance: Instance | None = field(default=None, repr=False)
    _outcome: PremiseOutcome | None = field(default=None, repr=False)
    is_cut: bool = False

    def verify(self) -> bool:
        """Check every certificate by plain addition: each gives every package one bin that fits."""
        assert self._outcome is not None  # noqa: S101  # allocate has set it
        return self._outcome.verify()

    def assessment(self, name: str = "packages") -> Assessment:
        """The same as an assessment: one bin of m before, what is left of them after."""
        bins = len(self._chart_data["bins"])
        total = len(self.possible)
        certain = sum(finding == "certain" for finding in self.finding.values())
        is_counted = all(shares is not None for shares in self.marginals.values())
        # What rests on a premise or a rule tells no more than the number of bins does.
        doubtful = self.status == "infeasible" or self._in_doubt
        best = np.array(
            [
                1 / bins
                if doubtful or package in self.rests_on_rule
                else _compute_best_share(self, package)
                for package in self.possible
            ]
        )
        may_be_known = np.array(
            [doubtful or self._may_be_known(package) for package in self.possible]
        )
        likely = np.array([self.marginals[package] is None for package in self.possible])
        most = Most(
            int(may_be_known.sum()),
            float(np.where(may_be_known | likely | doubtful, 1, best).sum()),
        )
        values = {
            "total": total,
            "certain": certain,
            "certain_share": certain / total,
            "bins": bins,
            "right": float(best.sum()),
            "right_share": float(best.mean()),
        }
        summary = Sentence(CATALOGUE, "allocated", values)
        guess = Sentence(CATALOGUE, "guessed.counted" if is_counted else "guessed.uniform", values)
        return Assessment.from_counts(
            attack="reconstruction",
            model="allocation",
            dataset=name,
            knows=(str(Sentence(CATALOGUE, "knowledge.totals")),),
            seeks=("bin",),
            secrets=total,
            subjects="packages",
            claim="exact" if is_counted and not (doubtful or self.rests_on_rule) else "bound",
            certain=PriorPosterior(total if bins == 1 else 0, certain),
            right=PriorPosterior(total / bins, float(best.sum())),
            most=most,
            sentences=(summary, guess),
            figures={"allocations": self.count} if self.count is not None else {},
            _chart=self.chart,
            _risk=lambda: best,
        )

    def _may_be_known(self, package: Hashable) -> bool:
        """Whether the bin of a package may be known: it has one, and two are not shown."""
        return bool(self.possible[package]) and self.finding[package] != "ambiguous"

    def chart(self) -> Chart:
        """Packages laid corner to corner in the planes of their bins (Favato et al., Fig. 3)."""
        return draw_packages(self.certificates[0] if self.certificates else {}, **self._chart_data)

    def explain(self) -> list[str]:
        """What was found, in sentences."""
        values = {
            "packages": len(self.possible),
            "bins": len(self._chart_data["bins"]),
            "count": self.count if self.count is not None else 0,
            "certain": sum(f == "certain" for f in self.finding.values()),
            "ambiguous": sum(f == "ambiguous" for f in self.finding.values()),
            "open": sum(f == "open" for f in self.finding.values()),
            "total": len(self.possible),
            "places": len(self.violated),
        }
        if self.status == "infeasible":
            return [Sentence(CATALOGUE, "infeasible", values).render()]
        count_key = "allocations" if self.count is not None else "uncounted.text"
        keys = [count_key, "certain", *(["open"] if values["open"] else [])]
        sentences = [Sentence(CATALOGUE, key, values).render() for key in keys]
        if self.is_cut:
            sentences.append(Sentence(CATALOGUE, "cut.text", {}).render())
        if self.rests_on_rule:
            number = {"packages": len(self.rests_on_rule)}
            sentences.append(Sentence(CATALOGUE, "rests_on_rule", number).render())
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Figures and findings as plain values, for JSON; packages by their order."""
        findings = list(self.finding.values())
        return {
            "status": self.status,
            "count": self.count,
            "rounding": self.rounding,
            "premise": self.premise,
            "complexity": self.complexity,
            "packages": len(findings),
            "certain": findings.count("certain"),
            "ambiguous": findings.count("ambiguous"),
            "open": findings.count("open"),
            "possible_bins": [len(bins) for bins in self.possible.values()],
            "sentences": self.explain(),
        }

    def __str__(self) -> str:
        return "\n".join(self.explain())


def _compute_best_share(allocation: Allocation, package: Hashable) -> float:
    shares = allocation.marginals[package]
    if shares is not None:
        return max(shares.values(), default=0.0)
    return 1 / max(1, len(allocation.possible[package]))
