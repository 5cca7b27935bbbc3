"""What is known after a phase as an assessment: in the one currency of all attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Assessment, Breakdown, Most, Sentence
from divulge.qif import PriorPosterior
from divulge.reconstruction.auditing.phases import Phase
from divulge.reconstruction.problem.amounts import Bools
from divulge.reconstruction.reporting.details import details_of, plain_of

if TYPE_CHECKING:
    from divulge.reconstruction.reporting.result import Reconstruction

CATALOGUE = "divulge.reconstruction"


def assessed(found: Reconstruction, phase: Phase, among: Bools | None = None) -> Assessment:
    """What is known after a phase, of all records or among some."""
    mask = np.ones(found.transactions.rows, bool) if among is None else among
    total = int(mask.sum())
    prior = found.phases[0]
    identified = int(phase.identified[mask].sum())
    # By a rule that is in doubt, what is certain is a bound, and so are the chances; where
    # allocations were not counted, chances are, and where records may be missing, all is.
    exact = phase.exact and bool(found.used.all()) and all(level.known for level in found.levels)
    if phase is found.phases[-1]:
        exact &= not found.coupled.any()
    counted = float(phase.counted[mask].sum())
    most = None
    if not exact and phase is found.phases[-1]:
        may_be = found.at_most
        most = Most(int(may_be.known[mask].sum()), float(may_be.chance[mask].sum()))
    values = {
        "total": total,
        "identified": identified,
        "identified_share": identified / max(1, total),
        "certain": int(phase.certain[mask].sum()),
        "certain_share": float(phase.certain[mask].mean()) if total else 0.0,
        "right": counted,
        "right_share": counted / max(1, total),
        "uniform": float(phase.chance[mask].sum()),
        "right_before": float(prior.counted[mask].sum()),
        "subjects": found.transactions.subjects,
        "closed": sum(s.status == "closed" for s in found.solved),
        "instances": len(found.solved),
        "open": sum(s.status != "closed" for s in found.solved),
        "place": found.levels[0].matched.totals.finest,
        "inconsistent": sum(s.status == "infeasible" for s in found.solved),
    }
    keys = ["identified", "placed", "guesses.text", "instances"]
    said = [Sentence(CATALOGUE, key, values) for key in keys]
    doubted = sum(level.doubted for level in found.levels)
    if doubted:
        said.append(Sentence(CATALOGUE, "doubted", {"tables": doubted}))
    several = sum(bool(level.others) and not level.doubted for level in found.levels)
    if several:
        said.append(Sentence(CATALOGUE, "other_rules", {"tables": several}))
    if found.is_cut:
        said.append(Sentence(CATALOGUE, "cut.text", {}))
    if values["inconsistent"]:
        said.append(Sentence(CATALOGUE, "inconsistent", values))
    report = found.found_in_data
    said += report.sentences
    return Assessment.from_counts(
        attack="reconstruction",
        model=phase.name,
        dataset=found.transactions.name,
        knows=tuple(level.matched.totals.dataset.name for level in found.levels),
        seeks=("party",),
        secrets=total,
        subjects=found.transactions.subjects,
        claim="exact" if exact else "bound",
        certain=PriorPosterior(0, identified),
        right=PriorPosterior(float(prior.counted[mask].sum()), counted),
        most=most,
        sentences=tuple(said),
        figures={
            "places_certain": values["certain"],
            "guessed_right_if_places_are_equally_likely": values["uniform"],
            "value_re_identified": float(found.value[mask & phase.identified].sum()),
            "instances": len(found.solved),
            "instances_closed": values["closed"],
            "instances_inconsistent": values["inconsistent"],
            "records_without_totals": max(report.records_without_totals.values(), default=0),
            "suppressed_codes": report.suppressed_codes,
        },
        _chart=found.chart,
        _breakdown=None if among is not None else lambda group: _by(found, phase, group),
        _risk=lambda: phase.counted[mask],
        _details=None if among is not None else lambda: details_of(found),
        _plain=None if among is not None else lambda: plain_of(found),
    )


def _by(found: Reconstruction, phase: Phase, group: str) -> Breakdown:
    """A phase by the values of an attribute of the records."""
    found.transactions.attributes([group], "group")
    own = found.transactions.columns[group]
    values = np.unique(own.codes)
    return Breakdown(
        group, {own.value(int(c)): assessed(found, phase, own.codes == c) for c in values}
    )
