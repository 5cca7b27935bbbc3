"""A release that no table gives under a rule: said, with the nearest rule by which one does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from divulge.tables import tuning
from divulge.tables.candidate_tables.enumeration import Candidates
from divulge.tables.candidate_tables.suppressor_knowledge import (
    POSSIBLE,
    RerunKnowledge,
    choose_knowledge,
)
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.suppression.result import Suppression
from divulge.tables.table.table import Published
from divulge.work import Effort, InvalidInput, Problem, Problems
from divulge.work.arrays import Bools, Ints


def refuse_published_primary(published: Published, parameters: SuppressorParameters) -> None:
    """No suppressor publishes a cell that is primary by its own rule."""
    is_published_primary = ~published.suppressed & parameters.is_primary(published.units)
    problems = Problems("matching attack")
    for cell in np.flatnonzero(is_published_primary)[:10]:
        label = published.structure.locate_cell(int(cell))
        smallest = published.units[~published.suppressed]
        smallest = smallest if parameters.zeros_primary else smallest[smallest > 0]
        parameter = "zeros_primary" if published.units[cell] == 0 else "min_frequency"
        hint = (
            "if zeros were primary it would not be"
            if parameter == "zeros_primary"
            else f"the minimum frequency can be at most {int(smallest.min()) // parameters.unit}"
        )
        problems.add(parameter, f"{label} is published, and primary by this rule: {hint}.")
    problems.raise_any()


def refuse_unknown_suppressor(suppression: Suppression) -> None:
    """Patterns that came about in a way that this attack does not know."""
    problems = Problems("matching attack")
    if suppression.method != "optimal":
        message = f'the pattern was found by "{suppression.method}"; only "optimal" ones are known.'
        problems.add("suppressor", f"{message} Give the suppressor as a function.")
    elif suppression.resistance is None and suppression.gap > 0:
        message = (
            "the search for the pattern was stopped by the clock, which nobody can repeat."
            if suppression.is_cut
            else "the pattern is not proven to be the cheapest; only such ones are known."
        )
        problems.add("suppressor", message)
    if suppression.by_hand:
        message = "cells were chosen by hand, or intervals requested, which no rule determines."
        problems.add("suppressor", f"{message} Give the suppressor as a function.")
    contributions = suppression.table.contributions
    counts = None if contributions is None else contributions.count_contributors()
    if counts is not None and not np.array_equal(counts, suppression.table.units):
        message = "a holding's records count as one, which no cell shows."
        problems.add("contributor", f"{message} Give the suppressor as a function.")
    problems.raise_any()


def refuse_impossible(
    candidate_set: Candidates,
    parameters: SuppressorParameters | None,
    labels: Bools | None,
    function: bool,
) -> None:
    """Say that no candidate gives this release, and by which rule one does."""
    count = f"{len(candidate_set.values):,}"
    if function or parameters is None:
        whose = "the suppressor that was given" if function else "any pair of parameters"
        message = f"none of the {count} tables that agree with it gives this pattern under {whose}."
        raise InvalidInput("published table", [Problem("", message)])
    nearest = next(_find_possible_rules(candidate_set, parameters, labels), None)
    hint = (
        f"With {nearest} some table does."
        if nearest is not None
        else "No rule near it gives it either: was the pattern chosen by another suppressor?"
    )
    message = f"none of the {count} tables that agree with it gives this pattern with {parameters}."
    raise InvalidInput("published table", [Problem("", f"{message} {hint}")])


def _find_possible_rules(
    candidate_set: Candidates, parameters: SuppressorParameters, labels: Bools | None
) -> Iterator[str]:
    """Rules near the given one that give the release, the nearest first."""
    effort = Effort(tuning.HINT_SECONDS)
    for description, rule in _enumerate_nearby_rules(parameters):
        if effort.spent:
            return
        if _has_published_primary(candidate_set.published, rule):
            continue
        try:
            knowledge = choose_knowledge(candidate_set, rule, labels)
        except InvalidInput:  # a rule that is known of small networks only
            continue
        box = np.stack(
            [np.full(len(candidate_set.cells), 2**60), np.full(len(candidate_set.cells), -1)]
        )
        portion = 1 if isinstance(knowledge, RerunKnowledge) else tuning.CANDIDATES_AT_ONCE
        for begin in range(0, len(candidate_set.values), portion):
            values: Ints = candidate_set.values[begin : begin + portion]
            if (knowledge.judge_candidates(values, box, True) == POSSIBLE).any():
                yield description
                break
            if effort.spent:
                return


def _enumerate_nearby_rules(
    parameters: SuppressorParameters,
) -> Iterator[tuple[str, SuppressorParameters]]:
    yield (
        f"zeros_primary={not parameters.zeros_primary}",
        replace(parameters, zeros_primary=not parameters.zeros_primary),
    )
    if parameters.rule == "first optimum":
        description = 'suppressor="any optimum" (one of the cheapest patterns at random)'
        yield description, replace(parameters, rule="any optimum")
    other = "suppressible" if parameters.margins == "published" else "published"
    yield f'margins="{other}"', replace(parameters, margins=other)  # type: ignore[arg-type]  # one of two
    steps = [
        (abs(t) + abs(w), t, w)
        for t in range(-tuning.MAX_PARAMETER_DISTANCE, tuning.MAX_PARAMETER_DISTANCE + 1)
        for w in range(-tuning.MAX_PARAMETER_DISTANCE, tuning.MAX_PARAMETER_DISTANCE + 1)
        if t or w
    ]
    for _, t, w in sorted(steps):
        frequency, width = parameters.min_frequency + t, parameters.width + w
        if frequency >= 1 and width >= 1:
            other_pair = replace(parameters, min_frequency=frequency, width=width)
            description = f"min_frequency={frequency}, width={other_pair.requested_width}"
            yield description, other_pair
    if parameters.rule != "resisting":
        description = 'suppressor="resisting" (drawn at random, as by resist_matching)'
        yield description, replace(parameters, rule="resisting")


def _has_published_primary(published: Published, rule: SuppressorParameters) -> bool:
    return bool((~published.suppressed & rule.is_primary(published.units)).any())
