"""The sweep as an adversary: what somebody finds who knows the worst of all sets of attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from divulge.assessment import Assessment, Sentence
from divulge.data import Dataset
from divulge.records.sweep.details import SweepReport
from divulge.records.sweep.result import Sweep
from divulge.records.sweep.settings import SweepSettings
from divulge.records.sweep.worst_sets import WorstSets, run_sweep

CATALOGUE = "divulge.records"


def assess_sweep(dataset: Dataset, settings: SweepSettings) -> Assessment:
    """Assess all sets that an adversary may know, and tell of the worst."""
    secrets = [] if settings.seeks is None else [settings.seeks]
    swept = run_sweep(dataset, settings, secrets)
    worst = WorstSets(swept, settings)
    certain = worst.attack_set(worst.by_certainty)
    is_same = worst.by_guesses == worst.by_certainty
    right = certain if is_same else worst.attack_set(worst.by_guesses)
    report = SweepReport(worst)
    return replace(
        join_worst(swept, settings, certain, right),
        _chart=report.draw_judged,
        _details=report.describe,
        _plain=report.to_dict,
        _risk=worst.compute_risk if certain.has_risk else None,
        _highest=worst.find_highest_risk if certain.has_highest_risk else None,
    )


def join_worst(
    swept: Sweep, settings: SweepSettings, certain: Assessment, right: Assessment
) -> Assessment:
    """One assessment of the set that is worst for certainty and of the one worst for guesses."""
    sentences = [_describe_choice(swept, settings), *certain.sentences]
    if right is not certain:
        sentences = [
            _describe_guesses(right) if each.key == "guessed" else each for each in sentences
        ]
    return replace(
        certain,
        attack="sweep",
        right=right.right,
        probabilistic=right.probabilistic,
        sentences=tuple(sentences),
        figures={"sets": len(swept), "attributes": len(swept.knows), **certain.figures},
    )


def _describe_choice(swept: Sweep, settings: SweepSettings) -> Sentence:
    """How many sets were tried."""
    values: dict[str, Any] = {"sets": len(swept), "attributes": len(swept.knows)}
    if settings.sets is not None:
        return Sentence(CATALOGUE, "sweep_adversary.listed", values)
    sizes = sorted(set(swept.figures.size.tolist()))
    if sizes == list(range(1, len(swept.knows) + 1)):
        return Sentence(CATALOGUE, "sweep_adversary.all", values)
    if sizes == list(range(1, max(sizes) + 1)):
        return Sentence(CATALOGUE, "sweep_adversary.at_most", {**values, "size": max(sizes)})
    text = [str(size) for size in sizes]
    return Sentence(CATALOGUE, "sweep_adversary.sizes", {**values, "sizes": text})


def _describe_guesses(right: Assessment) -> Sentence:
    """The best guesses of whoever knows another set than the one that is certain most often."""
    [said] = [each for each in right.sentences if each.key == "guessed"]
    return Sentence(CATALOGUE, "sweep_adversary.guessed", {**said.values, "knows": right.knows})
