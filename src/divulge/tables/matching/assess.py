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
from divulge.tables.candidate_tables.suppressor_knowledge import build_candidate_table
from divulge.tables.feasibility.assess import CATALOGUE, Judgement, find_smallest_totals
from divulge.tables.table import charts
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    from divulge.tables.matching.result import Matching
    from divulge.tables.table.table import Table


def assess_matching(matching: Matching) -> Assessment:
    """What an adversary who knows the suppressor learns of the sensitive cells."""
    is_sensitive = matching.sensitive
    shared_fields: dict[str, Any] = {
        "attack": "tables",
        "model": "matching",
        "dataset": matching.name,
        "knows": describe_knowledge(),
        "seeks": ("the sensitive cells",),
        "subjects": "sensitive cells",
        "figures": _collect_figures(matching),
    }
    if not is_sensitive.any():
        none = PriorPosterior(0, 0)
        return Assessment(
            secrets=0,
            claim="exact",
            certain=none,
            right=none,
            deterministic=none,
            probabilistic=none,
            sentences=(Sentence(CATALOGUE, "none.text"),),
            **shared_fields,
        )
    cells = matching.found.cells[is_sensitive]
    before = 1 / (
        find_smallest_totals(build_candidate_table(matching.found, matching.found.high))[cells] + 1
    )
    after, claim = _compute_guess_chances(matching)
    widths = _find_proven_widths(matching)[is_sensitive]
    by_sums = matching.feasible.widths[is_sensitive]

    def draw_widths() -> Chart:
        return charts.draw_matching_widths(
            by_sums, matching.intervals.widths[is_sensitive], matching.width
        )

    return Assessment.from_counts(
        secrets=len(cells),
        claim=claim,
        certain=PriorPosterior(int((before == 1).sum()), int((widths == 0).sum())),
        right=PriorPosterior(float(before.sum()), float(after.sum())),
        most=Most(int(_may_be_known(matching).sum()), len(cells)),
        sentences=_describe_findings(matching, before, after, claim),
        _chart=draw_widths,
        _risk=lambda: after,
        **shared_fields,
    )


def assess_matching_by_rules(matching: Matching, table: Table, by_sums: Judgement) -> Assessment:
    """The same by the release's own rules: what is known more closely than they allow is known.

    Whoever holds the true table knows that it is possible. A cell is surely known too closely if
    all that was not ruled out is too close, and shown to be protected if tables found possible
    reach far enough. Where neither is so, nothing is claimed.
    """
    cells, is_sensitive = matching.found.cells[matching.sensitive], matching.sensitive
    plain = assess_matching(matching)
    if len(cells) == 0:
        return plain
    values, protection = table.units[cells], by_sums.protection
    outer, inner = matching.outer, matching.intervals
    is_lacking = protection.is_lacking(
        cells, values, outer.lower[is_sensitive], outer.upper[is_sensitive]
    )
    # Cells that the sums give away, to an insider too, are no better hidden from who knows more.
    is_lacking |= np.isin(cells, by_sums.cells[by_sums.is_lacking])
    reach = (
        [values, values]
        if matching.possible == 0
        else [
            np.minimum(inner.lower[is_sensitive], values),
            np.maximum(inner.upper[is_sensitive], values),
        ]
    )
    is_open = protection.is_lacking(cells, values, *reach) & ~is_lacking
    is_open |= np.isin(cells, by_sums.cells[by_sums.is_open]) & ~is_lacking
    is_settled = matching.complete and not is_open.any()
    chance = plain.risk() if matching.complete else 1 / (outer.widths[is_sensitive] + 1)
    chance = np.where(is_lacking, 1.0, chance)
    claim: Claim = "bound"
    if is_settled and matching.mode == "full" and matching.possible:
        claim = "estimate" if matching.weighed else "exact"
    certain = int(is_lacking.sum())
    figures = {
        "total": len(cells),
        "unsafe": certain,
        "unsafe_share": certain / len(cells),
        "by_sums": int(by_sums.is_lacking.sum()),
        "open": int(is_open.sum()),
    }
    not_judged = None if is_settled else Sentence(CATALOGUE, "method.not_settled")
    sentences = [Sentence(CATALOGUE, "method.judged", figures)]
    if not_judged is not None and certain == 0:
        sentences.insert(0, not_judged)
    if is_open.any():
        sentences.append(Sentence(CATALOGUE, "method.open", figures))
    return Assessment.from_counts(
        attack="tables",
        model="matching",
        dataset=matching.name,
        knows=describe_knowledge(),
        seeks=plain.seeks,
        subjects=plain.subjects,
        secrets=len(cells),
        claim=claim,
        certain=PriorPosterior(plain.certain.prior, certain),
        right=PriorPosterior(plain.right.prior, float(chance.sum())),
        most=Most(certain + int(is_open.sum()), len(cells)),
        not_judged=not_judged,
        sentences=(*sentences, *plain.sentences[1:]),
        figures={**plain.figures, "closely_known_cells": certain},
        _chart=plain.chart,
        _risk=lambda: chance,
    )


def describe_knowledge() -> tuple[str, ...]:
    """What the adversary of a matching attack knows, in words."""
    return tuple(str(Sentence(CATALOGUE, f"knowledge.{part}")) for part in ("published", "method"))


def _find_proven_widths(matching: Matching) -> Floats:
    """A stopped attack is only sure of what no candidate left open can change."""
    return matching.intervals.widths if matching.estimated else matching.outer.widths


def _may_be_known(matching: Matching) -> Any:
    """Which judged cells may be known: not those that candidates found possible leave open."""
    return (matching.intervals.widths[matching.sensitive] == 0) | (matching.possible == 0)


def _compute_guess_chances(matching: Matching) -> tuple[Floats, Claim]:
    """The chance to guess each judged cell, and what kind of figure that is."""
    if matching.mode == "full" and (matching.complete or matching.estimated) and matching.possible:
        best = [max(matching.posterior[key].values()) for key in matching.found.keys]
        exact = matching.complete and not matching.weighed
        return np.array(best)[matching.sensitive], "exact" if exact else "estimate"
    claim: Claim = "estimate" if matching.estimated else "bound"
    return 1 / (_find_proven_widths(matching)[matching.sensitive] + 1), claim


def _collect_figures(matching: Matching) -> dict[str, int | float]:
    is_sensitive = matching.sensitive
    figures: dict[str, int | float] = {
        "candidates": matching.candidates,
        "possible_candidates": matching.possible,
        "null_space_dimension": matching.null_space_dimension,
        "suppressed_cells": len(matching.found.cells),
        "unsafe_cells": len(matching.unsafe),
        "surely_unsafe_cells": len(matching.surely_unsafe),
        "disclosed_cells": len(matching.disclosed),
    }
    if is_sensitive.any():
        figures["narrowest_width"] = float(matching.intervals.widths[is_sensitive].min())
        figures["narrowest_width_by_sums"] = float(matching.feasible.widths[is_sensitive].min())
    return figures


def _describe_findings(
    matching: Matching, before: Floats, after: Floats, claim: Claim
) -> tuple[Sentence, ...]:
    total = len(after)
    values = {
        "total": total,
        "unsafe": len(matching.unsafe),
        "unsafe_share": len(matching.unsafe) / total,
        "surely": len(matching.surely_unsafe),
        "width": matching.width or 1,
        "by_sums": int(
            (matching.feasible.widths[matching.sensitive] < (matching.width or 1)).sum()
        ),
        "disclosed": len(matching.disclosed),
        "candidates": matching.candidates,
        "possible": matching.possible,
        "tried": int((matching.status >= 0).sum()),
        "right": float(after.sum()),
        "right_share": float(after.mean()),
        "right_before": float(before.sum()),
        "pairs": len(matching.parameters),
    }
    keys = ["matching.unsafe", "matching.disclosed"]
    keys.append("matching.guessed" if claim == "exact" else f"matching.guessed_{claim}")
    if matching.weighed:
        keys.append("matching.weighed")
    if matching.estimated:
        keys.append("matching.sampled")
    elif not matching.complete:
        keys.append("matching.stopped" if matching.found.kind == "all" else "matching.too_many")
    elif matching.mode == "full":
        dice = any(pair.rule != "first optimum" for pair in matching.parameters)
        keys.append("matching.candidates_by_chance" if dice else "matching.candidates")
    if matching.is_cut:
        keys.append("matching.cut")
    if len(matching.parameters) > 1:
        keys.append("matching.pairs")
    return tuple(Sentence(CATALOGUE, key, values) for key in keys)
