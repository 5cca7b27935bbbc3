"""What several attacks on records answer alike: of people, of recoded years, of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from divulge.assessment import Assessment, Attack, AttackDefaults
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.records.models.attribute_gaps import (
    apply_choices,
    find_attribute_gaps,
    qualify_assessment,
)
from divulge.records.settings import find_choices


class CountsPeople(AttackDefaults):
    """Attacks that count people where somebody has several records, or refuse to be judged."""

    def counts_people(self, settings: Any, person: str) -> bool:  # noqa: ARG002
        """What counts records alone says so itself."""
        return True


def run_on_protected_years(
    attack: Attack,
    settings: Any,
    datasets: Sequence[Dataset],
    originals: Sequence[Dataset],
) -> Assessment | None:
    """Several years, of which protection has hidden values or made them coarser in some."""
    if len(datasets) < 2:
        return None
    choices = find_choices(settings)
    years = apply_choices(originals, choices)
    known = years[0].quasi_identifiers if settings.knows is None else as_names(settings.knows)
    gaps = [gap for gap in find_attribute_gaps(years, known, choices) if gap.is_recoded]
    assessment = attack.run(settings.model_copy(update={"recoded": known}), datasets)
    return qualify_assessment(assessment, [], [gap.sentence for gap in gaps])


def add_group_chart(assessment: Assessment, group: str | None) -> Assessment:
    """The same assessment, with a chart of who bears the risk if that was asked for."""
    return (
        assessment
        if group is None
        else replace(assessment, _chart=lambda: assessment.by(group).chart())
    )
