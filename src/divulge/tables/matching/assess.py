"""The matching attack in the currency of all attacks: the secret is a sensitive cell's value.

Before the release every value up to the smallest total that contains a cell is equally likely.
After it, intervals alone say that a best guess is right once in as many values as are possible,
at the least; with every candidate tried (full mode), the posterior says how often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Chart, Most, Sentence
from divulge.assessment.assessment import Claim
from divulge.qif import PriorPosterior
from divulge.tables.audit.assess import CATALOGUE, containing
from divulge.tables.knowledge.suppressor_knowledge import candidate_table
from divulge.tables.table import charts
from divulge.tables.table.axis import FloatArray

if TYPE_CHECKING:
    from divulge.tables.matching.result import Matching

KNOWS = ("what is published", "how the suppressed cells were chosen")


def assessment_of(found: Matching) -> Assessment:
    """What an adversary who knows the suppressor learns of the sensitive cells."""
    judged = found.sensitive
    described: dict[str, Any] = {
        "attack": "tables",
        "model": "matching",
        "dataset": found.name,
        "knows": KNOWS,
        "seeks": ("the sensitive cells",),
        "subjects": "sensitive cells",
        "figures": _figures(found),
    }
    if not judged.any():
        none = PriorPosterior(0, 0)
        return Assessment(
            secrets=0,
            claim="exact",
            certain=none,
            right=none,
            deterministic=none,
            probabilistic=none,
            sentences=(Sentence(CATALOGUE, "none.text"),),
            **described,
        )
    cells = found.found.cells[judged]
    before = 1 / (containing(candidate_table(found.found, found.found.high))[cells] + 1)
    after, claim = _chances(found)
    widths = _widths(found)[judged]
    by_sums = found.feasible.widths[judged]

    def drawn() -> Chart:
        return charts.matched_widths(by_sums, found.intervals.widths[judged], found.width)

    return Assessment.from_counts(
        secrets=len(cells),
        claim=claim,
        certain=PriorPosterior(int((before == 1).sum()), int((widths == 0).sum())),
        right=PriorPosterior(float(before.sum()), float(after.sum())),
        most=Most(int(_may_be_known(found).sum()), len(cells)),
        sentences=_sentences(found, before, after, claim),
        _chart=drawn,
        _risk=lambda: after,
        **described,
    )


def _widths(found: Matching) -> FloatArray:
    """A stopped attack is only sure of what no candidate left open can change."""
    return found.intervals.widths if found.estimated else found.outer.widths


def _may_be_known(found: Matching) -> Any:
    """Which judged cells may be known: not those that candidates found possible leave open."""
    return (found.intervals.widths[found.sensitive] == 0) | (found.possible == 0)


def _chances(found: Matching) -> tuple[FloatArray, Claim]:
    """The chance to guess each judged cell, and what kind of figure that is."""
    if found.mode == "full" and (found.complete or found.estimated) and found.possible:
        best = [max(found.posterior[key].values()) for key in found.found.keys]
        exact = found.complete and not found.weighed
        return np.array(best)[found.sensitive], "exact" if exact else "estimate"
    claim: Claim = "estimate" if found.estimated else "bound"
    return 1 / (_widths(found)[found.sensitive] + 1), claim


def _figures(found: Matching) -> dict[str, int | float]:
    judged = found.sensitive
    figures: dict[str, int | float] = {
        "candidates": found.candidates,
        "possible_candidates": found.possible,
        "null_space_dimension": found.null_space_dimension,
        "suppressed_cells": len(found.found.cells),
        "unsafe_cells": len(found.unsafe),
        "surely_unsafe_cells": len(found.surely_unsafe),
        "disclosed_cells": len(found.disclosed),
    }
    if judged.any():
        figures["narrowest_width"] = float(found.intervals.widths[judged].min())
        figures["narrowest_width_by_sums"] = float(found.feasible.widths[judged].min())
    return figures


def _sentences(
    found: Matching, before: FloatArray, after: FloatArray, claim: Claim
) -> tuple[Sentence, ...]:
    total = len(after)
    values = {
        "total": total,
        "unsafe": len(found.unsafe),
        "unsafe_share": len(found.unsafe) / total,
        "surely": len(found.surely_unsafe),
        "width": found.width or 1,
        "by_sums": int((found.feasible.widths[found.sensitive] < (found.width or 1)).sum()),
        "disclosed": len(found.disclosed),
        "candidates": found.candidates,
        "possible": found.possible,
        "tried": int((found.status >= 0).sum()),
        "right": float(after.sum()),
        "right_share": float(after.mean()),
        "right_before": float(before.sum()),
        "pairs": len(found.parameters),
    }
    keys = ["matching.unsafe", "matching.disclosed"]
    keys.append("matching.guessed" if claim == "exact" else f"matching.guessed_{claim}")
    if found.weighed:
        keys.append("matching.weighed")
    if found.estimated:
        keys.append("matching.sampled")
    elif not found.complete:
        keys.append("matching.stopped" if found.found.kind == "all" else "matching.too_many")
    elif found.mode == "full":
        dice = any(pair.rule != "first optimum" for pair in found.parameters)
        keys.append("matching.candidates_by_chance" if dice else "matching.candidates")
    if found.is_cut:
        keys.append("matching.cut")
    if len(found.parameters) > 1:
        keys.append("matching.pairs")
    return tuple(Sentence(CATALOGUE, key, values) for key in keys)
