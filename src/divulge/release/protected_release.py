"""A protected release as a result: what was done, what holds now, and what goes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from divulge.assessment import (
    Adversary,
    Chart,
    PluginError,
    ProtectedPart,
    PublishedTable,
    Sentence,
    find_attack,
)
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.protection import Protected
from divulge.release.release import Release
from divulge.release.verdict import Status, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

Part: TypeAlias = Protected | ProtectedPart
"""What was done to a dataset: to single records, with decisions; or to all at once."""


@dataclass(frozen=True, repr=False, kw_only=True)
class ProtectedRelease:
    """A protected release: the verdict before and after, and every decision in between."""

    release: Release
    before: Verdict
    after: Verdict
    parts: Mapping[str, Part]
    tables: Mapping[str, PublishedTable] = field(default_factory=dict)
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
            beside |= set(list_undisclosed_datasets(adversary))
        return [name for name in self.datasets if name not in beside | self._list_tabulated_only()]

    def released(self, name: str) -> Dataset:
        """A dataset as it goes out: without its owner's truth, and labels of what is not shown."""
        dataset = self.datasets[name]
        hidden: set[str] = set()
        for adversary in self.release.adversaries:
            columns = find_attack(adversary).undisclosed_columns(
                adversary.settings, adversary.datasets
            )
            hidden |= set(as_names(columns.get(name, ())))
        if hidden & set(dataset.names):
            dataset = dataset.select([each for each in dataset.names if each not in hidden])
        return _drop_unused_labels(dataset)

    def _list_tabulated_only(self) -> set[str]:
        """Datasets that are published as tables: nobody sees their records, none is limited."""
        tabulated: set[str] = set()
        visible: set[str] = set()
        for adversary in self.release.adversaries:
            as_table = find_attack(adversary).publishes_table()
            (tabulated if as_table else visible).update(adversary.datasets)
        limited = {limit.dataset for limit in self.release.limits if not limit.of_assessment}
        return set() if None in limited else tabulated - visible - limited

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
        sentences: list[Sentence] = []
        for name, part in self.parts.items():
            sentences.append(Sentence("divulge.release", "protected.dataset", {"dataset": name}))
            sentences += part.sentences() if isinstance(part, Protected) else part.sentences
        for name, table in self.tables.items():
            cells = int(table.suppressed.sum())
            values = {"adversary": name, "cells": cells}
            sentences.append(Sentence("divulge.release", "protected.table", values))
            [adversary] = [each for each in self.release.adversaries if each.name == name]
            if cells and adversary.datasets[0] in self.published:
                values = {"adversary": name, "dataset": adversary.datasets[0]}
                sentences.append(Sentence("divulge.release", "protected.both", values))
        for name in self.published:
            sentences += self._describe_columns(name)
        if self.status == "not judged":
            sentences.append(Sentence("divulge.release", "protected.not_judged"))
        elif not self.parts and not any(table.suppressed.any() for table in self.tables.values()):
            sentences.append(Sentence("divulge.release", "protected.nothing"))
        return sentences

    def _describe_columns(self, name: str) -> Iterator[Sentence]:
        """What was done to whole columns of a dataset that goes out."""
        removed, replaced = self.identifiers.get(name, ((), ()))
        changes = {"removed": removed, "pseudonyms": replaced, "merged": self.merged.get(name, ())}
        for key, names in changes.items():
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


def _drop_unused_labels(dataset: Dataset) -> Dataset:
    attributes = dict(dataset.dictionary.attributes)
    for name, column in dataset.columns.items():
        attribute = attributes.get(name)
        if attribute is None or not attribute.labels:
            continue
        used_values = {column.value(code) for code in np.unique(column.codes).tolist()}
        used_values |= set(attribute.missing)
        labels = {value: label for value, label in attribute.labels.items() if value in used_values}
        attributes[name] = replace(attribute, labels=labels)
    return replace(dataset, dictionary=replace(dataset.dictionary, attributes=attributes))


def list_undisclosed_datasets(adversary: Adversary) -> Sequence[str]:
    """What an adversary has beside a release, or its owner: registers, originals, the truth.

    Raises:
        PluginError: if the attack names a dataset that the adversary does not see: what it meant
            would go out.
    """
    names = as_names(find_attack(adversary).undisclosed(adversary.settings, adversary.datasets))
    unknown = [name for name in names if name not in adversary.datasets]
    if unknown:
        raise PluginError(
            f'adversary "{adversary.name}": attack "{adversary.attack}" keeps back a dataset that '
            "they do not see; nothing was written."
        )
    return names
