"""What is known after a phase as an assessment: in the one currency of all attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Assessment, Breakdown, Most, Sentence
from divulge.qif import PriorPosterior
from divulge.reconstruction.auditing.phases import Phase
from divulge.reconstruction.reporting.details import build_details, build_plain_values
from divulge.work.arrays import Bools

if TYPE_CHECKING:
    from divulge.reconstruction.reporting.result import Reconstruction

CATALOGUE = "divulge.reconstruction"


def assess_phase(
    reconstruction: Reconstruction, phase: Phase, among: Bools | None = None
) -> Assessment:
    """What is known after a phase, of all records or among some."""
    mask = np.ones(reconstruction.transactions.rows, bool) if among is None else among
    total = int(mask.sum())
    prior = reconstruction.phases[0]
    identified = int(phase.identified[mask].sum())
    # By a rule that is in doubt, what is certain is a bound, and so are the chances; where
    # allocations were not counted, chances are, and where records may be missing, all is.
    exact = (
        phase.exact
        and bool(reconstruction.used.all())
        and all(level.rule_is_known for level in reconstruction.levels)
    )
    if phase is reconstruction.phases[-1]:
        exact &= not reconstruction.coupled.any()
    expected_right = float(phase.guess_chance[mask].sum())
    most = None
    if not exact and phase is reconstruction.phases[-1]:
        bound = reconstruction.at_most
        most = Most(int(bound.may_be_known[mask].sum()), float(bound.chance[mask].sum()))
    values = {
        "total": total,
        "identified": identified,
        "identified_share": identified / max(1, total),
        "certain": int(phase.certain[mask].sum()),
        "certain_share": float(phase.certain[mask].mean()) if total else 0.0,
        "right": expected_right,
        "right_share": expected_right / max(1, total),
        "uniform": float(phase.chance[mask].sum()),
        "right_before": float(prior.guess_chance[mask].sum()),
        "subjects": reconstruction.transactions.subjects,
        "closed": sum(s.status == "closed" for s in reconstruction.solved),
        "instances": len(reconstruction.solved),
        "open": sum(s.status != "closed" for s in reconstruction.solved),
        "place": reconstruction.levels[0].totals_match.totals.finest,
        "inconsistent": sum(s.status == "infeasible" for s in reconstruction.solved),
    }
    keys = ["identified", "placed", "guesses.text", "instances"]
    sentences = [Sentence(CATALOGUE, key, values) for key in keys]
    doubted_tables = sum(level.rule_is_doubted for level in reconstruction.levels)
    if doubted_tables:
        sentences.append(Sentence(CATALOGUE, "doubted", {"tables": doubted_tables}))
    ambiguous_tables = sum(
        bool(level.other_rules) and not level.rule_is_doubted for level in reconstruction.levels
    )
    if ambiguous_tables:
        sentences.append(Sentence(CATALOGUE, "other_rules", {"tables": ambiguous_tables}))
    if reconstruction.is_cut:
        sentences.append(Sentence(CATALOGUE, "cut.text", {}))
    if values["inconsistent"]:
        sentences.append(Sentence(CATALOGUE, "inconsistent", values))
    report = reconstruction.found_in_data
    sentences += report.sentences
    return Assessment.from_counts(
        attack="reconstruction",
        model=phase.name,
        dataset=reconstruction.transactions.name,
        knows=tuple(level.totals_match.totals.dataset.name for level in reconstruction.levels),
        seeks=("party",),
        secrets=total,
        subjects=reconstruction.transactions.subjects,
        claim="exact" if exact else "bound",
        certain=PriorPosterior(0, identified),
        right=PriorPosterior(float(prior.guess_chance[mask].sum()), expected_right),
        most=most,
        sentences=tuple(sentences),
        figures={
            "places_certain": values["certain"],
            "guessed_right_if_places_are_equally_likely": values["uniform"],
            "value_re_identified": float(reconstruction.value[mask & phase.identified].sum()),
            "instances": len(reconstruction.solved),
            "instances_closed": values["closed"],
            "instances_inconsistent": values["inconsistent"],
            "records_without_totals": max(report.records_without_totals.values(), default=0),
            "suppressed_codes": report.suppressed_codes,
        },
        _chart=reconstruction.chart,
        _breakdown=None
        if among is not None
        else lambda group: _break_down(reconstruction, phase, group),
        _risk=lambda: phase.guess_chance[mask],
        _details=None if among is not None else lambda: build_details(reconstruction),
        _plain=None if among is not None else lambda: build_plain_values(reconstruction),
    )


def _break_down(reconstruction: Reconstruction, phase: Phase, group: str) -> Breakdown:
    """A phase by the values of an attribute of the records."""
    reconstruction.transactions.attributes([group], "group")
    own = reconstruction.transactions.columns[group]
    values = np.unique(own.codes)
    return Breakdown(
        group,
        {own.value(int(c)): assess_phase(reconstruction, phase, own.codes == c) for c in values},
    )
