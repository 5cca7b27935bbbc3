"""What somebody who knows the method can exclude of hidden cells, and guess right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Breakdown, Chart, Claim, Sentence
from divulge.assessment.sentence import format_number, format_percent
from divulge.data import Dataset
from divulge.protection.method.charts import draw_method_knowledge
from divulge.protection.method.outcomes import CellKnowledge, MethodFigures, add_method_figures
from divulge.qif import PriorPosterior
from divulge.work.arrays import Bools, Floats

CATALOGUE = "divulge.protection"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MethodKnowledge:
    """The result of the attack by somebody who knows that as little as possible is hidden.

    >>> import divulge as dv
    >>> p = dv.protection.suppress(dv.datasets.school_year_example(), k=2)
    >>> p.method.figures.base <= p.method.figures.right <= p.method.figures.hidden
    True
    """

    dataset: Dataset
    keys: tuple[str, ...]
    k: int
    cells: Mapping[str, CellKnowledge]
    """By attribute with hidden cells, what is known of them."""
    claim: Claim
    """`exact` if every original was protected again; else a `bound`: they may know more."""
    decoys: float = 0.0
    """How many decoys there are for each cell that had to be hidden, as the attacker knows."""
    has_truth: bool = True

    @cached_property
    def figures(self) -> MethodFigures:
        """All figures, of all hidden cells."""
        return add_method_figures([cells.count_all() for cells in self.cells.values()])

    def count_cells(self, marked: Mapping[str, Bools]) -> MethodFigures:
        """The figures of some cells: by attribute, which records are meant."""
        return add_method_figures(
            [
                cells.count(marked[name][cells.rows])
                for name, cells in self.cells.items()
                if name in marked
            ]
        )

    def by_attribute(self) -> dict[str, MethodFigures]:
        """The figures of each attribute with hidden cells."""
        return {name: cells.count_all() for name, cells in self.cells.items()}

    def sentences(self) -> tuple[Sentence, ...]:
        """What is excluded, what guesses then get right, and how sure that is."""
        return (*self._describe(self.figures), Sentence(CATALOGUE, f"method.claim.{self.claim}"))

    def explain(self, language: str = "en") -> list[str]:
        """The same in words."""
        return [sentence.render(language) for sentence in self.sentences()]

    def assessment(self) -> Assessment:
        """In the currency of all attacks; before: a guess from the other keys alone."""
        return self._assess(self.figures, is_whole=True)

    def by(self, group: str) -> Breakdown:
        """The same for every value of an attribute of the release: whose cells are guessed."""
        [name] = self.dataset.attributes(group, "group")
        column = self.dataset.columns[name]
        assessments = {}
        for code in range(column.cardinality):
            figures = add_method_figures(
                [cells.count(column.codes[cells.rows] == code) for cells in self.cells.values()]
            )
            if figures.hidden:
                assessments[column.value(code)] = self._assess(figures, is_whole=False)
        return Breakdown(name, assessments)

    def risk(self) -> Floats:
        """By record, the highest chance that one of its hidden cells is guessed right."""
        risk = np.zeros(self.dataset.rows)
        for cells in self.cells.values():
            np.maximum.at(risk, cells.rows, cells.right)
        return risk

    def chart(self) -> Chart:
        """By attribute, what is guessed right without knowing the method, and with it."""
        return draw_method_knowledge(self.by_attribute())

    def rows(self) -> Sequence[tuple[str, ...]]:
        """The figures for people, one row an attribute."""
        return [
            (
                name,
                format_number(f.hidden),
                format_number(f.narrowed),
                format_percent(f.excluded / f.hidden),
                "" if f.misled is None else format_number(f.misled),
                format_number(f.certain),
                format_number(round(f.base, 1)),
                format_number(round(f.right, 1)),
            )
            for name, f in self.by_attribute().items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """All figures and sentences as plain values; no value of a record."""
        return {
            "keys": list(self.keys),
            "k": self.k,
            "claim": self.claim,
            "decoys": self.decoys,
            **self.figures.to_dict(),
            "attributes": {name: f.to_dict() for name, f in self.by_attribute().items()},
            "sentences": self.explain(),
        }

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        f = self.figures
        return (
            f'MethodKnowledge("{self.dataset.name}": values of {f.narrowed:,} of {f.hidden:,} '
            f"hidden cells excluded)"
        )

    def _assess(self, figures: MethodFigures, *, is_whole: bool) -> Assessment:
        numbers = {k: v for k, v in figures.to_dict().items() if v is not None}
        asked = {"_chart": self.chart, "_breakdown": self.by, "_risk": self.risk}
        return Assessment.from_counts(
            secrets=max(figures.hidden, 1),
            certain=PriorPosterior(0, figures.certain),
            right=PriorPosterior(figures.base, figures.right),
            attack="method",
            model="method",
            dataset=self.dataset.name,
            knows=self.keys,
            seeks=tuple(self.cells),
            subjects=str(Sentence(CATALOGUE, "method.subjects")),
            # What one attack gets right is counted, and another might get more.
            claim="exact" if self.claim == "exact" else "estimate",
            sentences=self.sentences() if is_whole else tuple(self._describe(figures)),
            figures={**numbers, "decoys": self.decoys},
            **(asked if is_whole else {}),
        )

    def _describe(self, figures: MethodFigures) -> list[Sentence]:
        values = {
            **figures.to_dict(),
            "share": figures.excluded / max(1, figures.hidden),
            "advantage": figures.right - figures.base,
        }
        sentences = [Sentence(CATALOGUE, "method.excluded", values)]
        if figures.narrowed:
            kind = "guessed" if self.has_truth else "expected"
            sentences.append(Sentence(CATALOGUE, f"method.{kind}", values))
        if figures.misled:
            sentences.append(Sentence(CATALOGUE, "method.misled", values))
        return sentences
