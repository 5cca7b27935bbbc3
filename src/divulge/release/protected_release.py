"""A protected release as a result: what was done, what holds now, and what goes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from divulge.assessment import Chart, ProtectedPart, PublishedTable, Sentence
from divulge.data import Dataset
from divulge.protection import Protected, pseudonyms
from divulge.protection.changes.changes import select_records
from divulge.release.publication import Publication
from divulge.release.verdict import Status, Verdict
from divulge.work.secret_key import SecretKey

if TYPE_CHECKING:
    from rich.console import RenderableType

    from divulge.release.release import Release

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
    kept_sources: Mapping[str, Dataset] = field(default_factory=dict)
    """The datasets before protection, without the records that were removed."""
    secret: SecretKey = field(default_factory=SecretKey)
    """What pseudonyms, the order of records and other random choices are derived from."""
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

    @cached_property
    def datasets(self) -> Mapping[str, Dataset]:
        """The data that may go out, in the order of the source, and those that stay beside them."""
        return {
            name: self._publish_columns(self.publications[name], dataset)
            if name in self.publications
            else dataset
            for name, dataset in self.after.datasets.items()
        }

    @property
    def publications(self) -> Mapping[str, Publication]:
        """What is published of each dataset that goes out as records."""
        return self.after.publications

    @property
    def published(self) -> list[str]:
        """The datasets that go out: not a register, a population or an original beside them."""
        return list(self.publications)

    def released(self, name: str) -> Dataset:
        """A dataset as it is written: records in a secret order, no labels of what is not shown."""
        dataset = self.datasets[name]
        if not self.publications[name].ordered:
            order = self.secret.permute(f"order of {name}", dataset.rows)
            dataset = select_records(dataset, order)
        return _drop_unused_labels(dataset)

    def _publish_columns(self, publication: Publication, dataset: Dataset) -> Dataset:
        published = publication.select_published(dataset)
        if not publication.pseudonyms:
            return published
        # One key for all datasets, so that they can still be linked.
        key = self.secret.derive_key("pseudonyms")
        return pseudonyms(published, key, publication.pseudonyms)

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
        for name in self.published:
            sentences += self._describe_columns(name)
        if self.status != "pass":
            key = "protected.failed" if self.status == "fail" else "protected.not_judged"
            sentences.append(Sentence("divulge.release", key))
        elif not self.parts and not any(table.suppressed.any() for table in self.tables.values()):
            sentences.append(Sentence("divulge.release", "protected.nothing"))
        return sentences

    def _describe_columns(self, name: str) -> Iterator[Sentence]:
        """What was done to whole columns of a dataset that goes out."""
        yield from self.publications[name].list_sentences()
        changes = {"merged": self.merged.get(name, ())}
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
