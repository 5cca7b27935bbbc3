"""Checking a release as its sources are: each is read once, then attacked and judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from divulge.data import Dataset, Relation
from divulge.data.missing_kinds import merge_missing_kinds, separate_missing_kinds
from divulge.release.attack_again import find_known_original, judge_protected_before
from divulge.release.check import check_data
from divulge.release.rule_programs.settle_rules import read_release
from divulge.release.verdict import Verdict

if TYPE_CHECKING:
    from divulge.release.release import Release


def check_release(release: Release) -> Verdict:
    """The verdict on a release: a reader tells tagged missing values apart.

    What was protected before, and whose original is known, is refilled as any protection is.
    """
    release, datasets = read_release(release)
    separated = {name: _separate_missing(dataset) for name, dataset in datasets.items()}
    known = {
        name: original
        for name, dataset in separated.items()
        if (original := find_known_original(release, name, separated)) is not dataset
    }
    verdict = check_data(release, separated, originals=known, tabulated=datasets, summed=datasets)
    merged = {name: _merge_missing(dataset) for name, dataset in datasets.items()}
    return replace(judge_protected_before(release, verdict, merged), datasets=datasets)


def _separate_missing(dataset: Dataset) -> Dataset:
    """Tagged missing values told apart; files that engines count have none."""
    return dataset if isinstance(dataset, Relation) else separate_missing_kinds(dataset)


def _merge_missing(dataset: Dataset) -> Dataset:
    """What was absent told apart from what was hidden, and from nothing else."""
    return dataset if isinstance(dataset, Relation) else merge_missing_kinds(dataset)
