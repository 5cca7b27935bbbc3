"""What a matching attack found: effective intervals, unsafe cells, posteriors, an assessment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from divulge.assessment import Assessment
from divulge.tables.candidate_tables.enumeration import Candidates
from divulge.tables.candidate_tables.suppressor_knowledge import EXCLUDED, POSSIBLE
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.feasibility.cell_intervals import Intervals
from divulge.tables.matching.assess import assess_matching
from divulge.tables.table.structure import Key
from divulge.tables.table.table import Published
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Matching:
    """The result of a matching attack.

    `intervals` spans the values found possible. Where all candidates were tried it is the
    effective feasibility interval. A stopped attack leaves candidates open: then a cell is
    at least as wide as its interval in `intervals` and at most as wide as in `outer`. `weights`
    are those of the posterior; `weighed` says that chance estimated them, `is_cut` that the clock
    stopped the attack before its effort was spent.
    """

    published: Published
    found: Candidates
    status: Ints
    lower: Ints
    upper: Ints
    mode: str
    complete: bool
    width: int | None
    parameters: tuple[SuppressorParameters, ...]
    judged: Bools | None
    weights: Floats | None
    weighed: bool
    name: str
    is_cut: bool = False

    @property
    def candidates(self) -> int:
        """How many tables agree with what is published (those listed, if they are too many)."""
        return len(self.found.values)

    @property
    def possible(self) -> int:
        """How many of them were found to give this release; in interval mode others may too."""
        return int((self.status == POSSIBLE).sum())

    @property
    def null_space_dimension(self) -> int:
        """How many suppressed cells can be chosen before the sums decide the others."""
        return self.found.null_space_dimension

    @property
    def estimated(self) -> bool:
        """Whether the candidates are a sample."""
        return self.found.kind == "sample"

    @cached_property
    def feasible(self) -> Intervals:
        """The intervals that the sums alone leave."""
        return self._build_intervals(self.found.low, self.found.high)

    @cached_property
    def intervals(self) -> Intervals:
        """The effective feasibility intervals: from the least to the greatest possible value."""
        if self.possible == 0:
            return self.feasible
        return self._build_intervals(self.lower, self.upper)

    @cached_property
    def outer(self) -> Intervals:
        """What is not ruled out: the intervals, and all candidates that were not tried."""
        if self.complete:
            return self.intervals
        if self.found.kind != "all":
            return self.feasible
        remaining = self.found.values[self.status != EXCLUDED]
        return self._build_intervals(remaining.min(axis=0), remaining.max(axis=0))

    @cached_property
    def sensitive(self) -> Bools:
        """The suppressed cells that are judged: the primary ones, or all that may be primary."""
        cells = self.found.cells
        if self.judged is not None:
            return self.judged[cells]
        if not self.parameters:
            return np.ones(len(cells), dtype=bool)
        base = self.published.floor[cells]
        may_be_primary = np.zeros(len(cells), dtype=bool)
        for pair in self.parameters:
            small = pair.is_primary(self.found.values[self.status == POSSIBLE] + base)
            lowest = np.maximum(self.intervals.lower, 0 if pair.zeros_primary else 1)
            inside = (lowest < pair.threshold) & (lowest <= self.intervals.upper)
            may_be_primary |= (
                small.any(axis=0) if self.mode == "full" else small.any(axis=0) | inside
            )
        return may_be_primary

    @property
    def sensitive_cells(self) -> list[Key]:
        """The coordinates of the cells that are judged."""
        return self._list_keys(self.sensitive)

    @cached_property
    def unsafe(self) -> list[Key]:
        """The judged cells whose interval is narrower than they were given.

        Of an attack that was stopped: all that were not found to be wide enough.
        """
        if self.possible == 0:
            return self.sensitive_cells
        return self._list_keys(self.sensitive & (self.intervals.widths < (self.width or 1)))

    @cached_property
    def surely_unsafe(self) -> list[Key]:
        """The judged cells that stay narrower whatever the candidates not tried are."""
        return self._list_keys(self.sensitive & (self.outer.widths < (self.width or 1)))

    @cached_property
    def disclosed(self) -> list[Key]:
        """The judged cells of which a single value is possible."""
        narrow = self.intervals if self.complete or self.estimated else self.outer
        return self._list_keys(self.sensitive & (narrow.widths == 0))

    @property
    def widths(self) -> Floats:
        """How wide the interval of every suppressed cell is, in units."""
        return self.intervals.widths

    @cached_property
    def posterior(self) -> Mapping[Key, Mapping[int, float]]:
        """What they think of every suppressed cell: a chance for every value (full mode)."""
        if self.mode != "full":
            from divulge.work import InvalidInput, Problem

            raise InvalidInput("posterior", [Problem("mode", 'attack with mode="full".')])
        rows = self.status == POSSIBLE
        weights = (np.ones(len(rows)) if self.weights is None else self.weights)[rows]
        base = self.published.floor[self.found.cells]
        values = self.found.values[rows] + base
        posteriors: dict[Key, Mapping[int, float]] = {}
        for column, key in enumerate(self.found.keys):
            distinct_values, which = np.unique(values[:, column], return_inverse=True)
            mass = np.bincount(which, weights=weights) / weights.sum()
            posteriors[key] = dict(zip(distinct_values.tolist(), mass.tolist(), strict=True))
        return posteriors

    @cached_property
    def assessment(self) -> Assessment:
        """The attack in the currency of all attacks."""
        return assess_matching(self)

    def to_dict(self) -> dict[str, Any]:
        """The figures and the intervals as plain values, for JSON."""
        structure = self.published.structure
        unsafe, disclosed = set(self.unsafe), set(self.disclosed)
        sensitive_keys = set(self.sensitive_cells)
        cells = []
        for key in self.intervals:
            by_sums, effective = self.feasible[key], self.intervals[key]
            cells.append(
                {
                    "cell": list(key),
                    "label": structure.describe_cell(structure.cell_number(key)),
                    "feasible": list(by_sums),
                    "effective": list(effective),
                    "at_most": list(self.outer[key]),
                    "judged": key in sensitive_keys,
                    "unsafe": key in unsafe,
                    "disclosed": key in disclosed,
                }
            )
        return {
            "candidates": self.candidates,
            "all_candidates": self.found.kind == "all",
            "possible": self.possible,
            "complete": self.complete,
            "null_space_dimension": self.null_space_dimension,
            "unsafe": len(unsafe),
            "surely_unsafe": len(self.surely_unsafe),
            "disclosed": len(disclosed),
            "parameters": [
                {"min_frequency": pair.min_frequency, "width": pair.requested_width}
                for pair in self.parameters
            ],
            "cells": cells,
            "assessment": self.assessment.to_dict(),
        }

    def __repr__(self) -> str:
        return (
            f"Matching({self.possible:,} of {self.candidates:,} candidates possible; "
            f"{len(self.unsafe)} of {int(self.sensitive.sum())} sensitive cells unsafe, "
            f"{len(self.disclosed)} known exactly)"
        )

    def _repr_html_(self) -> str:
        return self.assessment._repr_html_()  # a notebook's protocol

    def _build_intervals(self, lower: Ints, upper: Ints) -> Intervals:
        base = self.published.floor[self.found.cells]
        return Intervals(
            published=self.published,
            cells=self.found.cells,
            lower=(lower + base).astype(float),
            upper=(upper + base).astype(float),
            integral=True,
        )

    def _list_keys(self, which: Bools) -> list[Key]:
        addresses = self.published.structure.addresses
        return [addresses[cell] for cell in self.found.cells[which]]
