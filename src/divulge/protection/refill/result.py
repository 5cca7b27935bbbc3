"""What an attacker refills: claimed, right and verified, beside what guessing alone achieves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Breakdown, Chart, Sentence
from divulge.data import Dataset
from divulge.protection import tuning
from divulge.protection.refill.cells import HiddenCells, ReleaseCells
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.display import as_html, list_rows, render_table
from divulge.protection.refill.outcomes.charts import draw_refill
from divulge.protection.refill.outcomes.coarse_outcomes import judge_coarse_cells
from divulge.protection.refill.outcomes.convincing_claims import drop_unconvincing, find_claims
from divulge.protection.refill.outcomes.description import (
    describe_figures,
    describe_limitations,
    describe_relations,
)
from divulge.protection.refill.outcomes.fewer_relations import choose_relations
from divulge.protection.refill.outcomes.figures import CellOutcomes, RefillFigures, add_figures
from divulge.protection.refill.outcomes.hidden_outcomes import judge_hidden_cells
from divulge.protection.refill.search.discovery import Completion, complete_columns
from divulge.protection.refill.search.relations import CATALOGUE, ColumnRelation, Narrowing
from divulge.protection.refill.search.support import BOLDEST, CAUTIOUS, Boldness
from divulge.qif import PriorPosterior
from divulge.work import DivulgeError
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Refill:
    """The result of a refill attack.

    `claimed` cells are those that an attacker without the original would fill, `right` those of
    them that are true. `verified` counts what is filled rightly by relations that tell at least
    80% of their hidden cells; that takes the original, so it is a stronger attacker than a real
    one. `best_guess` guesses every cell: what is claimed, and the rest by classes or naive Bayes.

    >>> import divulge as dv
    >>> r = dv.protection.refill(dv.protection.suppress(dv.datasets.school_year_example(), k=2))
    >>> r.claimed <= r.hidden
    True
    """

    cells: ReleaseCells
    completion: Completion
    ordered: bool = False
    read_from: tuple[str, ...] | None = None
    hidden_cells: HiddenCells = "marked"

    @property
    def relations(self) -> tuple[ColumnRelation, ...]:
        """The relations that tell hidden cells, each with its evidence."""
        return self.completion.relations

    @property
    def narrowings(self) -> tuple[Narrowing, ...]:
        """Columns that leave hidden cells fewer values, without telling which."""
        return self.completion.narrowings

    @cached_property
    def refilled(self) -> Dataset:
        """The released dataset as an attacker completes it."""
        return self.cells.fill_dataset(self.completion.columns)

    @cached_property
    def verified_completion(self) -> Completion | None:
        """What relations tell that are mostly right; None without the original."""
        return None if self.cells.truth is None else self._verify(BOLDEST)

    @property
    def refilled_verified(self) -> Dataset | None:
        """The released dataset filled by verified relations alone; None without the original."""
        completion = self.verified_completion
        return None if completion is None else self.cells.fill_dataset(completion.columns)

    @cached_property
    def refilled_rightly(self) -> Dataset:
        """The released dataset with those cells that verified relations fill with the truth.

        Whoever fills a cell wrongly is misled; a limit is judged by what they get right.
        """
        completion, truth = self.verified_completion, self.cells.truth
        if completion is None or truth is None:
            raise DivulgeError("what is filled correctly is known only with the original; give it")
        return self.cells.fill_dataset(completion.columns, rightly=True)

    @cached_property
    def refilled_partly(self) -> tuple[Dataset, ...]:
        """The same with fewer cells, for who knows fewer relations or wants more evidence.

        More knowledge does not always make somebody surer of a record: an own cell that is read may
        leave a neighbour's in doubt, which all cells together settle. Every choice of attributes,
        or of many each by itself; of each attribute some of the relations that tell it; and what
        more cautious people believe.
        """
        completion = self.verified_completion
        if completion is None:
            return ()
        told = self.cells.list_told(completion.columns)
        most = len(told) if len(told) <= tuning.REFILL_PARTLY_ATTRIBUTES else 2
        some = [
            self.cells.fill_dataset(completion.columns, rightly=True, names=names)
            for size in range(1, most)
            for names in combinations(told, size)
        ]
        cautious = [
            self.cells.fill_dataset(less.columns, rightly=True)
            for less in (*([self._verify(CAUTIOUS)] if told else []), self._convincing_completion)
            if not less.tells_like(completion) and (told or self.cells.list_told(less.columns))
        ]
        return (*cautious, *some, *self._list_by_relations(completion))

    def _list_by_relations(self, completion: Completion) -> Iterator[Dataset]:
        """The same, filled by some of the relations that tell an attribute, or its finer values."""
        assert self.cells.truth is not None  # noqa: S101  # asked before
        nothing = {key: column.fill_by(()) for key, column in completion.columns.items()}
        for key, column in completion.columns.items():
            if column.tellings:
                for few in choose_relations(column, self.cells.truth[key]):
                    yield self.cells.fill_dataset({**nothing, key: few}, rightly=True)

    @property
    def hidden(self) -> int:
        """How many cells are hidden."""
        return sum(self.cells.list_hidden(name).size for name in self.cells.targets)

    @property
    def claimed(self) -> int:
        """How many hidden cells an attacker would fill."""
        columns = self.completion.columns
        cells = self.cells
        return sum(
            int((columns[name].teller[cells.list_hidden(name)] >= 0).sum())
            for name in cells.targets
        )

    @property
    def right(self) -> int | None:
        """How many of them are filled rightly; None without the original."""
        if self.cells.truth is None:
            return None
        return sum(self._count_right(self.completion, name) for name in self.cells.targets)

    @property
    def verified(self) -> int | None:
        """How many cells verified relations fill rightly; None without the original."""
        completion = self.verified_completion
        if completion is None:
            return None
        return sum(self._count_right(completion, name) for name in self.cells.targets)

    @property
    def coarse(self) -> int:
        """How many cells show a coarser value than they had."""
        return sum(int(finer.is_coarse.sum()) for finer in self.cells.finer.values())

    @cached_property
    def coarse_figures(self) -> RefillFigures:
        """All figures of the cells that were made coarser; a right one is the finer value."""
        outcomes = self._coarse_outcomes
        return add_figures([o.count(np.ones(o.rows.size, np.bool_)) for o in outcomes])

    def by_coarse_attribute(self) -> dict[str, RefillFigures]:
        """The figures of each attribute with cells that were made coarser."""
        return {
            name: outcomes.count(np.ones(outcomes.rows.size, np.bool_))
            for name, outcomes in zip(self.cells.finer, self._coarse_outcomes, strict=True)
        }

    @property
    def best_guess(self) -> float:
        """How many cells are guessed right: what is claimed, else the better kind of guess."""
        return self.figures.best_guess

    @property
    def keys_only(self) -> float:
        """How many cells are guessed right from the other keys alone."""
        return self.figures.keys_only

    @property
    def base_rate(self) -> float:
        """How many cells are guessed right by always saying the most frequent value."""
        return self.figures.base_rate

    @cached_property
    def figures(self) -> RefillFigures:
        """All figures, of all hidden cells."""
        return add_figures([o.count(np.ones(o.rows.size, np.bool_)) for o in self._outcomes])

    def by_attribute(self) -> dict[str, RefillFigures]:
        """The figures of each attribute with hidden cells."""
        return {
            name: outcomes.count(np.ones(outcomes.rows.size, np.bool_))
            for name, outcomes in zip(self.cells.targets, self._outcomes, strict=True)
        }

    def sentences(self) -> tuple[Sentence, ...]:
        """What is refilled, by which relations, and what guessing achieves."""
        return (*describe_figures(self.figures, self.coarse_figures), *describe_relations(self))

    def list_limitations(self) -> list[Sentence]:
        """What the attack did not look at: of very many columns or records, a part is drawn."""
        return describe_limitations(self.completion, self.cells.dataset.rows)

    def explain(self, language: str = "en") -> list[str]:
        """The same in words."""
        return [sentence.render(language) for sentence in self.sentences()]

    def assessment(self) -> Assessment:
        """The attack in the currency of all attacks; a secret is a hidden or a coarser cell."""
        return self._assess(self.figures, self.coarse_figures, is_whole=True)

    def by(self, group: str) -> Breakdown:
        """The same for every value of an attribute of the release: whose cells are refilled."""
        [name] = self.cells.dataset.attributes(group, "group")
        column = self.cells.dataset.columns[name]
        assessments = {}
        for code in range(column.cardinality):
            figures, coarse = (
                add_figures([o.count(column.codes[o.rows] == code) for o in outcomes])
                for outcomes in (self._outcomes, self._coarse_outcomes)
            )
            if figures.hidden or coarse.hidden:
                assessments[column.value(code)] = self._assess(figures, coarse, is_whole=False)
        return Breakdown(name, assessments)

    def risk(self) -> Floats:
        """By record, the highest chance that one of its secret cells is guessed right."""
        risk = np.zeros(self.cells.dataset.rows)
        for outcomes in (*self._outcomes, *self._coarse_outcomes):
            np.maximum.at(risk, outcomes.rows, outcomes.best_guess)
        return risk

    def chart(self) -> Chart:
        """By attribute, the share of secret cells that is refilled, and that guesses get right."""
        return draw_refill({**self.by_attribute(), **self._name_coarse_attributes()})

    def to_dict(self) -> dict[str, Any]:
        """All figures, relations and sentences as plain values; no value of a record."""
        return {
            "dataset": self.cells.dataset.name,
            "keys": list(self.cells.keys),
            **self.figures.to_dict(),
            "attributes": {name: f.to_dict() for name, f in self.by_attribute().items()},
            "coarse": self.coarse_figures.to_dict(),
            "coarse_attributes": {
                name: f.to_dict() for name, f in self.by_coarse_attribute().items()
            },
            "relations": [relation.to_dict() for relation in self.relations],
            "narrowings": [dict(vars(narrowing)) for narrowing in self.narrowings],
            "sentences": self.explain(),
        }

    def rows(self) -> Sequence[tuple[str, ...]]:
        """The figures for people, one row an attribute."""
        return list_rows({**self.by_attribute(), **self._name_coarse_attributes()})

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __rich__(self) -> RenderableType:
        return render_table(str(self), self.rows())

    def __repr__(self) -> str:
        return (
            f'Refill("{self.cells.dataset.name}": {self.claimed:,} of {self.hidden:,} hidden '
            f"cells claimed by {len(self.relations):,} relations)"
        )

    def _repr_html_(self) -> str:
        return as_html(self.explain(), self.rows())

    def _verify(self, boldness: Boldness) -> Completion:
        """What relations tell that are mostly right, believed from so many cells on."""
        return complete_columns(
            self.cells.columns,
            self.cells.keys,
            truth=self.cells.truth,
            ordered=self.ordered,
            read_from=self.read_from,
            boldness=boldness,
        )

    def _name_coarse_attributes(self) -> dict[str, RefillFigures]:
        return {
            str(Sentence(CATALOGUE, "refill.column.finer", {"column": name})): figures
            for name, figures in self.by_coarse_attribute().items()
        }

    @property
    def _convincing_completion(self) -> Completion:
        """What somebody without the original claims, less what convinces nobody."""
        if self.cells.truth is None:
            return self.completion
        truth = self.cells.truth
        columns = [self._find_column(name) for name in self.cells.targets if name in truth]
        columns += [f.column for f in self.cells.finer.values() if f.truth is not None]
        claims = {}
        for c in columns:
            told, keys = self.completion.columns[c.key], self._list_other_keys(c.name)
            claims[c.key] = find_claims(c, told, truth[c.key], keys)
        return drop_unconvincing(self.completion, claims)

    @cached_property
    def _coarse_outcomes(self) -> tuple[CellOutcomes, ...]:
        return tuple(
            judge_coarse_cells(
                finer,
                self.completion,
                self.verified_completion,
                others=self._list_others(name),
                keys=self._list_other_keys(name),
            )
            for name, finer in self.cells.finer.items()
        )

    @cached_property
    def _outcomes(self) -> tuple[CellOutcomes, ...]:
        verified = self.verified_completion
        return tuple(
            judge_hidden_cells(
                self._find_column(name),
                self.completion,
                None if verified is None else verified.columns[name],
                truth=None if self.cells.truth is None else self.cells.truth.get(name),
                others=self._list_others(name),
                keys=self._list_other_keys(name),
            ).select(self.cells.list_hidden(name))
            for name in self.cells.targets
        )

    def _list_others(self, name: str) -> list[CodedColumn]:
        """The columns that a guess at an attribute may use."""
        return [c for c in self.cells.columns if c.name != name and self._may_read(c)]

    def _list_other_keys(self, name: str) -> list[CodedColumn]:
        keys = set(self.cells.keys) - {name}
        return [c for c in self.cells.columns if c.name in keys and c.origin == "published"]

    def _may_read(self, column: CodedColumn) -> bool:
        if column.origin in ("finer", "coarser"):
            return False
        is_group = column.origin == "group"
        return is_group or self.read_from is None or column.name in self.read_from

    def _find_column(self, name: str) -> CodedColumn:
        return self.cells.find_column(name)

    def _count_right(self, completion: Completion, name: str) -> int:
        assert self.cells.truth is not None  # noqa: S101  # asked before
        column, truth = completion.columns[name], self.cells.truth.get(name)
        if truth is None:  # a column that the original lacks
            return 0
        return int(((column.teller >= 0) & (column.codes == truth)).sum())

    def _assess(
        self, figures: RefillFigures, coarse: RefillFigures, *, is_whole: bool
    ) -> Assessment:
        together = add_figures([figures, coarse])
        certain = together.claimed if together.right is None else together.right
        numbers = {k: v for k, v in figures.to_dict().items() if v is not None}
        if coarse.hidden:
            numbers |= {f"coarse_{k}": v for k, v in coarse.to_dict().items() if v is not None}
        asked = {"_chart": self.chart, "_breakdown": self.by, "_risk": self.risk}
        return Assessment.from_counts(
            secrets=max(together.hidden, 1),
            certain=PriorPosterior(0, certain),
            right=PriorPosterior(together.base_rate, together.best_guess),
            attack="refill",
            model="refill",
            dataset=self.cells.dataset.name,
            knows=tuple(dict.fromkeys(c.name for c in self.cells.columns if self._may_read(c))),
            seeks=tuple(dict.fromkeys([*self.cells.targets, *self.cells.finer])),
            subjects=str(
                Sentence(CATALOGUE, "refill.secrets" if coarse.hidden else "refill.subjects")
            ),
            claim="estimate",
            sentences=(
                *describe_figures(figures, coarse),
                *(describe_relations(self) if is_whole else ()),
            ),
            figures=numbers,
            **(asked if is_whole else {}),
        )
