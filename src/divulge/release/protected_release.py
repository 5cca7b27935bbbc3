"""A protected release as a result: what was done, what holds now, and what goes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import records
from divulge.assessment import Adversary, Chart, Sentence
from divulge.data import Dataset
from divulge.protection import Protected, ProtectedHistory
from divulge.release.release import Release
from divulge.release.verdict import Status, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, repr=False)
class ProtectedRelease:
    """A protected release: the verdict before and after, and every decision in between."""

    release: Release
    before: Verdict
    after: Verdict
    parts: Mapping[str, Protected | ProtectedHistory]
    tables: Mapping[str, Any] = field(default_factory=dict)
    identifiers: Mapping[str, tuple[Sequence[str], Sequence[str]]] = field(default_factory=dict)
    merged: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By dataset, the attributes of which different missing values became one."""
    guard_formulas: bool = True
    """Whether texts that a spreadsheet would run are guarded where they are written as text."""

    @property
    def status(self) -> Status:
        """Whether every limit holds now: `pass`, `fail`, or `not judged` if there is none."""
        return self.after.status

    @property
    def passed(self) -> bool:
        """Whether limits were judged, and every one holds now."""
        return self.after.passed

    @property
    def datasets(self) -> Mapping[str, Dataset]:
        """The data that may go out."""
        return self.after.datasets

    @property
    def published(self) -> list[str]:
        """The datasets that go out: not a register, a population or an original beside them."""
        # What a limit compares with is known to an adversary, or to nobody; it is never released.
        beside = {other for limit in self.release.limits for other in limit.others.values()}
        for adversary in self.release.adversaries:
            beside |= set(_not_released(adversary))
        return [name for name in self.datasets if name not in beside | self._only_tabulated()]

    def released(self, name: str) -> Dataset:
        """A dataset as it goes out: without its owner's truth, and labels of what is not shown."""
        dataset = self.datasets[name]
        truths = {
            column
            for adversary in self.release.adversaries
            if adversary.attack == "reconstruction" and _of_records(adversary) == name
            for column in _truth_in_records(adversary.settings)
        }
        if truths & set(dataset.names):
            dataset = dataset.select([each for each in dataset.names if each not in truths])
        return _with_labels_shown(dataset)

    def _only_tabulated(self) -> set[str]:
        """Datasets that are published as tables: nobody sees their records, none is limited."""
        seen: dict[str, set[str]] = {name: set() for name in self.datasets}
        for adversary in self.release.adversaries:
            for name in adversary.datasets:
                seen[name].add(adversary.attack)
        limited = {limit.dataset for limit in self.release.limits if not limit.of_assessment}
        if None in limited:
            return set()
        return {name for name, by in seen.items() if by == {"tables"} and name not in limited}

    @property
    def suppressed_cells(self) -> int:
        """How many cells were suppressed in all datasets."""
        return sum(p.suppressed_cells for p in self.records.values())

    @property
    def records(self) -> Mapping[str, Protected]:
        """The datasets of records that were protected, by name."""
        return {name: p for name, p in self.parts.items() if isinstance(p, Protected)}

    @property
    def decisions(self) -> list[Any]:
        """Every decision on records, dataset after dataset."""
        return [decision for p in self.records.values() for decision in p.decisions]

    @property
    def sentences(self) -> list[Sentence]:
        """What was done to each dataset."""
        said: list[Sentence] = []
        for name, part in self.parts.items():
            said.append(Sentence("divulge.release", "protected.dataset", {"dataset": name}))
            said += part.sentences() if isinstance(part, Protected) else part.sentences
        for name, found in self.tables.items():
            cells = int(found.suppressed.sum())
            values = {"adversary": name, "cells": cells}
            said.append(Sentence("divulge.release", "protected.table", values))
            [seen] = [each for each in self.release.adversaries if each.name == name]
            if cells and seen.datasets[0] in self.published:
                values = {"adversary": name, "dataset": seen.datasets[0]}
                said.append(Sentence("divulge.release", "protected.both", values))
        for name in self.published:
            said += self._said_of_columns(name)
        if self.status == "not judged":
            said.append(Sentence("divulge.release", "protected.not_judged"))
        elif not self.parts and not any(found.suppressed.any() for found in self.tables.values()):
            said.append(Sentence("divulge.release", "protected.nothing"))
        return said

    def _said_of_columns(self, name: str) -> Iterator[Sentence]:
        """What was done to whole columns of a dataset that goes out."""
        removed, replaced = self.identifiers.get(name, ((), ()))
        done = {"removed": removed, "pseudonyms": replaced, "merged": self.merged.get(name, ())}
        for key, names in done.items():
            if names:
                values = {"dataset": name, "names": list(names)}
                yield Sentence("divulge.release", f"protected.{key}", values)

    def explain(self) -> list[str]:
        """What was done, in sentences."""
        return [str(sentence) for sentence in self.sentences]

    def chart(self) -> Chart:
        """All adversaries after protection."""
        return self.after.chart()

    def to_dict(self) -> dict[str, Any]:
        """The verdict after protection, and what was done to each dataset."""
        return {
            **self.after.to_dict(),
            "protection": {
                "passed_before": self.before.passed,
                "sentences": self.explain(),
                "datasets": {name: part.to_dict() for name, part in self.parts.items()},
            },
        }

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        return Group(Text(str(self)), Text(), self.after.__rich__())

    def __repr__(self) -> str:
        return (
            f"ProtectedRelease({self.release.path.name}: {self.suppressed_cells:,} cells "
            f"suppressed in {len(self.parts)} datasets)"
        )


def _of_records(adversary: Adversary) -> str:
    """Which dataset of a reconstruction holds the records."""
    beside = {*adversary.settings.totals, *_not_released(adversary)}
    [name] = [name for name in adversary.datasets if name not in beside]
    return name


def _truth_in_records(told: Any) -> Sequence[str]:
    """The columns of the records that tell the true places, if they are there."""
    if told.truth is None or isinstance(told.truth, str) or told.truth.dataset is not None:
        return ()
    return tuple((told.truth.columns or {}).values())


def _with_labels_shown(dataset: Dataset) -> Dataset:
    attributes = dict(dataset.dictionary.attributes)
    for name, column in dataset.columns.items():
        told = attributes.get(name)
        if told is None or not told.labels:
            continue
        shown = {column.value(code) for code in np.unique(column.codes).tolist()}
        shown |= set(told.missing)
        labels = {value: label for value, label in told.labels.items() if value in shown}
        attributes[name] = replace(told, labels=labels)
    return replace(dataset, dictionary=replace(dataset.dictionary, attributes=attributes))


def _not_released(adversary: Adversary) -> Sequence[str]:
    """What an adversary has beside a release, or its owner: registers, originals, the truth."""
    told, names = adversary.settings, adversary.datasets
    if adversary.attack in ("linkage", "risk"):
        return names[1:]
    if adversary.attack == "events" and told.released:
        return names[:1]
    if adversary.attack == "reconstruction":
        truth = told.truth if isinstance(told.truth, str) else getattr(told.truth, "dataset", None)
        others = (told.parties, truth, getattr(told.prior, "weights", None))
        return [name for name in others if name is not None]
    if adversary.attack in ("records", "longitudinal"):
        originals = names[: len(names) // 2] if told.protected else ()
        population = adversary.attack == "records" and model_of(told)[1] == "M"
        return [*originals, *(names[-1:] if population else ())]
    return ()


def model_of(told: Any) -> str:
    """The attack model of an adversary on records, whatever she calls it."""
    model: str = told.model
    return records.EVERYDAY_NAMES.get(model, model)
