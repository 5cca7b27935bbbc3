"""An adversary who knows the algorithm: what a change still lets them infer.

They see the release, know every setting, and ask: with which originals would this algorithm have
made exactly these changes? A null that cannot have been a value that would not have been
suppressed is no longer any value (Minami & Abe's matching attack, on the cycle of Bellomarini et
al.). On small data every candidate is protected again; beyond, only what the counts themselves
rule out is excluded, and an adversary may know more.

The remedy is an order drawn with a secret seed: they must then allow for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from divulge import work
from divulge.assessment import Assessment, Claim, Sentence
from divulge.data import Dataset
from divulge.data.column import encode_array
from divulge.data.value_texts import format_value
from divulge.protection import tuning
from divulge.protection.changes.changes import build_code_matrix, value_at
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.result.audit.coarse_cells import ValuePrior, find_coarse_cells
from divulge.protection.result.audit.exclusions import exclude_by_counts
from divulge.protection.result.audit.recoding_audit import measure_sharpening
from divulge.protection.result.audit.replays import (
    list_leaves,
    list_values_by_node,
    replay_protection,
)
from divulge.protection.result.audit.sharper_values import Sharpening
from divulge.protection.result.protected import Protected
from divulge.qif import PriorPosterior

MOST_CANDIDATES = 4_000
MOST_REPLAYED_CELLS = 64
DEFAULT_SEEDS = 12

Cell = tuple[int, str]
"""A record (its place in the original) and an attribute."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The values that each changed cell can still have, given how it was protected.

    `possible` holds, for each changed cell (record from 0, attribute), the values that are left;
    `domain` how many there would be for somebody who does not know the algorithm. With a secret
    seed, `with_secret_seed` holds what would be left then.
    """

    protected: Protected
    possible: Mapping[Cell, frozenset[Any]]
    domain: Mapping[Cell, frozenset[Any]]
    claim: Claim
    candidates: int
    with_secret_seed: Mapping[Cell, frozenset[Any]] = field(default_factory=dict)
    sharpening: Sharpening | None = None
    """Where values were made coarser, how much sharper they become."""

    @property
    def excluded(self) -> Mapping[Cell, frozenset[Any]]:
        """What knowing the algorithm rules out, cell by cell."""
        return {
            cell: self.domain[cell] - values
            for cell, values in self.possible.items()
            if self.domain[cell] - values
        }

    @property
    def certain(self) -> tuple[Cell, ...]:
        """The cells whose value is known although it was hidden or made coarser."""
        return tuple(cell for cell, values in self.possible.items() if len(values) == 1)

    def finding(self, record: int, attribute: str) -> str:
        """Whether a cell is `certain`, `ambiguous`, or (nothing ruled out) `open`."""
        values = self.possible[record, attribute]
        if len(values) == 1:
            return "certain"
        return "ambiguous" if values < self.domain[record, attribute] else "open"

    def assessment(self) -> Assessment:
        """In the currency of all attacks: changed cells are the secrets.

        Before: one value of the domain is as likely as the other; after: of those that are left.
        Where values were made coarser, they are weighed (`sharpening`).
        """
        if self.sharpening is not None:
            return self.sharpening.assessment()
        cells = list(self.possible)
        secrets = max(1, len(cells))
        before = sum(1 / max(1, len(self.domain[c])) for c in cells)
        after = sum(1 / max(1, len(self.possible[c])) for c in cells)
        known_before = sum(len(self.domain[c]) == 1 for c in cells)
        return Assessment.from_counts(
            attack="audit",
            model="knows the algorithm",
            dataset=self.protected.original.name,
            knows=tuple(self.protected.dataset.names),
            seeks=(),
            secrets=secrets,
            subjects="changed cells",
            claim=self.claim,
            certain=PriorPosterior(known_before, len(self.certain)),
            right=PriorPosterior(before, max(before, after)),
            sentences=self.sentences(),
            figures={"candidates": self.candidates, "excluded": len(self.excluded)},
        )

    def sentences(self) -> tuple[Sentence, ...]:
        """What was found, without a value."""
        values = {
            "cells": len(self.possible),
            "excluded": len(self.excluded),
            "certain": len(self.certain),
        }
        sentences = [
            Sentence("divulge.protection", "audit", values),
            Sentence("divulge.protection", f"audit_claim.{self.claim}"),
        ]
        if self.with_secret_seed:
            averages = {
                "now": float(np.mean([len(v) for v in self.possible.values()])),
                "then": float(np.mean([len(v) for v in self.with_secret_seed.values()])),
            }
            sentences.append(Sentence("divulge.protection", "audit_remedy.seed", averages))
        if self.sharpening is not None:
            sentences += self.sharpening.sentences()
        return tuple(sentences)

    def explain(self, record: int | None = None) -> list[str]:
        """The findings in sentences; of one record, how many values each cell can still have."""
        if record is None:
            return [str(sentence) for sentence in self.sentences()]
        return [
            str(
                Sentence(
                    "divulge.protection",
                    "audit_cell.one",
                    {
                        "record": place + 1,
                        "attribute": name,
                        "possible": len(values),
                        "values": len(self.domain[place, name]),
                    },
                )
            )
            for (place, name), values in self.possible.items()
            if place == record
        ]

    def to_dict(self) -> dict[str, Any]:
        """How many values are left of each cell; the values themselves only in `possible`."""
        return {
            "dataset": self.protected.original.name,
            "claim": self.claim,
            "candidates": self.candidates,
            "cells": [
                {
                    "record": place,
                    "attribute": name,
                    "possible": len(values),
                    "domain": len(self.domain[place, name]),
                    "finding": self.finding(place, name),
                }
                for (place, name), values in self.possible.items()
            ],
            "sharpening": None if self.sharpening is None else self.sharpening.to_dict(),
            "sentences": self.explain(),
        }

    def __str__(self) -> str:
        return "\n".join(self.explain())


def audit(
    protected: Protected,
    knows_algorithm: bool = True,
    candidates: int = MOST_CANDIDATES,
    secret_seed: bool = False,
    seeds: int = DEFAULT_SEEDS,
    *,
    draws: int = tuning.AUDIT_DRAWS,
    prior: ValuePrior = "uniform",
) -> Audit:
    """What each null or recoded cell can still be, for somebody who knows how it was protected.

    They are taken to tell a null that was made from a cell that had been missing before. Of records
    that were removed they see nothing; what is found then is a bound.

    Args:
        protected: the result of `suppress`, `protect` or `recode`.
        knows_algorithm: whether they do; else only hierarchies and the values in use exclude.
        candidates: up to so many originals, each is protected again (exact); beyond, a bound.
        secret_seed: compare with a random order whose seed they do not know.
        seeds: how many orders they try then.
        draws: where values were made coarser and originals are too many, how many are drawn.
        prior: how likely the values under a coarse one are before: all alike (`uniform`), or as
            frequent as they are in the data (`frequencies`).

    >>> import divulge as dv
    >>> p = dv.protection.protect(
    ...     dv.datasets.local_suppression_example(),
    ...     [dv.Limit("k_anonymity", at_least=2, nulls="maybe")],
    ...     is_a={"Area": [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]},
    ... )
    >>> found = audit(p, knows_algorithm=True)
    >>> sorted(found.excluded[0, "Sector"]), found.claim
    (['Commerce', 'Financial'], 'exact')
    """
    domain = _build_domains(protected)
    if not knows_algorithm or not domain:
        return Audit(
            protected=protected, possible=dict(domain), domain=domain, claim="exact", candidates=0
        )
    sharpening = None
    cells = find_coarse_cells(protected, prior)
    if protected.again is not None and cells.has_coarse_values:
        tried: list[int | None] = [None]
        if secret_seed and protected.reseeded is not None:
            tried += range(seeds)
        sharpening = measure_sharpening(cells, candidates=candidates, draws=draws, seeds=tried)
    total = prod(len(values) for values in domain.values())
    # They do not see the records that were removed: which originals there are cannot be listed.
    if total > candidates or protected.again is None or protected.removed:
        return Audit(
            protected=protected,
            possible=_bound_by_counts(protected, domain),
            domain=domain,
            claim="bound",
            candidates=0,
            sharpening=sharpening,
        )
    if sharpening is not None and sharpening.possible is not None:
        possible = dict(sharpening.possible)
    else:
        possible = _replay_candidates(protected, domain, [None], total)
    remedy: dict[Cell, frozenset[Any]] = {}
    if secret_seed and protected.reseeded is not None:
        remedy = _audit_secret_seed(protected, seeds, candidates)
    return Audit(
        protected=protected,
        possible=possible,
        domain=domain,
        claim="exact",
        candidates=total,
        with_secret_seed=remedy,
        sharpening=sharpening,
    )


def count_candidates(protected: Protected) -> int | None:
    """How many originals could be protected again where cells were hidden; None if none can be.

    Also None if they are beyond all counting: every hidden cell could have been any value.
    """
    is_replayed = protected.again is not None and not protected.removed
    if not is_replayed or protected.suppressed_cells > MOST_REPLAYED_CELLS:
        return None
    total = 1
    for change in protected.decisions.changes:
        if change.kind == "suppressed" and change.attribute is not None:
            total *= len(list_leaves(protected.original, change.attribute)) ** len(change)
    return total


def _build_domains(protected: Protected) -> dict[Cell, frozenset[Any]]:
    """For every changed cell, the values that it could have been to somebody who only looks.

    A null: all values that the attribute has in the original or in its hierarchy. A coarser
    value: those under it.
    """
    released, original = protected.dataset, protected.original
    domains: dict[Cell, frozenset[Any]] = {}
    for name in protected.among:
        before = original.columns[name]
        values = list_leaves(original, name)
        under = {
            node: {values[leaf] for leaf in leaves}
            for node, leaves in list_values_by_node(original, name, values).items()
        }
        column = released.columns[name]
        for place, record in enumerate(protected.kept.tolist()):
            was, now = value_at(before, record), value_at(column, place)
            if was is None or (now is not None and format_value(now) == format_value(was)):
                continue
            candidates = set(values) if now is None else under.get(format_value(now), {was})
            domains[record, name] = frozenset(candidates)
    return domains


def _replay_candidates(
    protected: Protected,
    domain: Mapping[Cell, frozenset[Any]],
    seeds: Sequence[int | None],
    total: int,
) -> dict[Cell, frozenset[Any]]:
    """Protect every candidate again; what it was is possible if the release comes out the same."""
    cells = list(domain)
    possible: dict[Cell, set[Any]] = {cell: set() for cell in cells}
    with work.step("Protecting every candidate again", total) as step:
        for values in product(*(sorted(domain[cell], key=format_value) for cell in cells)):
            candidate = _build_candidate(protected.original, dict(zip(cells, values, strict=True)))
            replays = (replay_protection(protected, candidate, seed) for seed in seeds)
            if any(replay is not None for replay in replays):
                for cell, value in zip(cells, values, strict=True):
                    possible[cell].add(value)
            step.advance()
    return {cell: frozenset(remaining) for cell, remaining in possible.items()}


def _build_candidate(original: Dataset, cells: Mapping[Cell, Any]) -> Dataset:
    import pyarrow as pa

    columns = dict(original.columns)
    by_name: dict[str, list[tuple[int, Any]]] = {}
    for (record, name), value in cells.items():
        by_name.setdefault(name, []).append((record, value))
    for name, pairs in by_name.items():
        values = columns[name].to_arrow().to_pylist()
        for record, value in pairs:
            values[record] = value
        columns[name] = encode_array(pa.array(values, columns[name].values.type))
    return replace(original, columns=columns)


def _audit_secret_seed(
    protected: Protected, seeds: int, candidates: int
) -> dict[Cell, frozenset[Any]]:
    """The same for a release made with a random order, whose seed is one of many to them."""
    assert protected.reseeded is not None  # noqa: S101  # asked before
    released = protected.reseeded(seeds)
    domain = _build_domains(released)
    total = prod(len(values) for values in domain.values())
    if not domain or total * seeds > candidates or released.again is None or released.removed:
        return _bound_by_counts(released, domain)
    return _replay_candidates(released, domain, range(seeds + 1), total)


def _bound_by_counts(
    protected: Protected, domain: Mapping[Cell, frozenset[Any]]
) -> dict[Cell, frozenset[Any]]:
    """What the counts alone rule out: a record that had k equal ones was not suppressed.

    That holds for algorithms that change only who is at risk, and for a record of which one cell
    is hidden; of the others nothing is excluded.
    """
    if not protected.only_at_risk:
        return dict(domain)
    names = list(protected.among)
    matrix = build_code_matrix(protected.dataset, names)
    is_single = np.count_nonzero(matrix == HIDDEN, axis=1) == 1
    columns = [matrix[:, a] for a in range(len(names))]
    possible = dict(domain)
    for a, name in enumerate(names):
        rows = np.flatnonzero(is_single & (matrix[:, a] == HIDDEN))
        excluded = exclude_by_counts(columns, a, rows, protected.k)
        values = protected.dataset.columns[name].values.to_pylist()
        for place, number in zip(rows.tolist(), excluded.group.tolist(), strict=True):
            cell = int(protected.kept[place]), name
            if cell in domain:
                codes = excluded.codes[excluded.starts[number] : excluded.starts[number + 1]]
                possible[cell] = domain[cell] - {values[code] for code in codes.tolist()}
    return possible
