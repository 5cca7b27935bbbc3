"""A release that no table gives under a rule: said, with the nearest rule by which one does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from divulge.tables.knowledge.candidate_tables import Candidates
from divulge.tables.knowledge.suppressor_knowledge import POSSIBLE, Parameters, knowledge_of
from divulge.tables.suppression.result import Suppression
from divulge.tables.table.axis import IntArray
from divulge.tables.table.structure import BoolArray
from divulge.tables.table.table import Published
from divulge.work import Effort, InvalidInput, Problem, Problems

SECONDS = 5.0
FURTHEST = 12
"""How far from the given parameters others are looked for."""


def refuse_published_primary(published: Published, parameters: Parameters) -> None:
    """No suppressor publishes a cell that is primary by its own rule."""
    shown = ~published.suppressed & parameters.primary(published.units)
    problems = Problems("matching attack")
    for cell in np.flatnonzero(shown)[:10]:
        label = published.structure.place(int(cell))
        smallest = published.units[~published.suppressed]
        smallest = smallest if parameters.zeros_primary else smallest[smallest > 0]
        wrong = "zeros_primary" if published.units[cell] == 0 else "min_frequency"
        hint = (
            "if zeros were primary it would not be"
            if wrong == "zeros_primary"
            else f"the minimum frequency can be at most {int(smallest.min()) // parameters.unit}"
        )
        problems.add(wrong, f"{label} is published, and primary by this rule: {hint}.")
    problems.raise_any()


def refuse_unknown_suppressor(suppression: Suppression) -> None:
    """Patterns that came about in a way that this attack does not know."""
    problems = Problems("matching attack")
    if suppression.method != "optimal":
        message = f'the pattern was found by "{suppression.method}"; only "optimal" ones are known.'
        problems.add("suppressor", f"{message} Give the suppressor as a function.")
    elif suppression.resistance is None and suppression.gap > 0:
        message = "the search for the pattern was stopped by the clock, which nobody can repeat."
        problems.add("suppressor", message)
    if suppression.by_hand:
        message = "cells were chosen by hand, or intervals asked for, which no rule tells."
        problems.add("suppressor", f"{message} Give the suppressor as a function.")
    contributions = suppression.table.contributions
    counts = None if contributions is None else contributions.counts()
    if counts is not None and not np.array_equal(counts, suppression.table.units):
        message = "a holding's records count as one, which no cell shows."
        problems.add("contributor", f"{message} Give the suppressor as a function.")
    problems.raise_any()


def refuse_impossible(
    found: Candidates, parameters: Parameters | None, labels: BoolArray | None, function: bool
) -> None:
    """Say that no candidate gives this release, and by which rule one does."""
    count = f"{len(found.values):,}"
    if function or parameters is None:
        whose = "the suppressor that was given" if function else "any pair of parameters"
        message = f"none of the {count} tables that agree with it gives this pattern under {whose}."
        raise InvalidInput("published table", [Problem("", message)])
    nearest = next(_possible(found, parameters, labels), None)
    hint = (
        f"With {nearest} some table does."
        if nearest is not None
        else "No rule near it gives it either: was the pattern chosen by another suppressor?"
    )
    message = f"none of the {count} tables that agree with it gives this pattern with {parameters}."
    raise InvalidInput("published table", [Problem("", f"{message} {hint}")])


def _possible(found: Candidates, given: Parameters, labels: BoolArray | None) -> Iterator[str]:
    """Rules near the given one that give the release, the nearest first."""
    effort = Effort(SECONDS)
    for said, rule in _near(given):
        if effort.spent:
            return
        if _published_primary(found.published, rule):
            continue
        try:
            known = knowledge_of(found, rule, labels)
        except InvalidInput:  # a rule that is known of small networks only
            continue
        box = np.stack([np.full(len(found.cells), 2**60), np.full(len(found.cells), -1)])
        for begin in range(0, len(found.values), 256):
            values: IntArray = found.values[begin : begin + 256]
            if (known.possible(values, box, True) == POSSIBLE).any():
                yield said
                break
            if effort.spent:
                return


def _near(given: Parameters) -> Iterator[tuple[str, Parameters]]:
    yield (
        f"zeros_primary={not given.zeros_primary}",
        replace(given, zeros_primary=not given.zeros_primary),
    )
    if given.rule == "first optimum":
        said = 'suppressor="any optimum" (one of the cheapest patterns at random)'
        yield said, replace(given, rule="any optimum")
    other = "suppressible" if given.margins == "published" else "published"
    yield f'margins="{other}"', replace(given, margins=other)  # type: ignore[arg-type]  # one of two
    steps = [
        (abs(t) + abs(w), t, w)
        for t in range(-FURTHEST, FURTHEST + 1)
        for w in range(-FURTHEST, FURTHEST + 1)
        if t or w
    ]
    for _, t, w in sorted(steps):
        frequency, width = given.min_frequency + t, given.width + w
        if frequency >= 1 and width >= 1:
            other_pair = replace(given, min_frequency=frequency, width=width)
            said = f"min_frequency={frequency}, width={other_pair.width_asked}"
            yield said, other_pair
    if given.rule != "resisting":
        said = 'suppressor="resisting" (drawn at random, as by resist_matching)'
        yield said, replace(given, rule="resisting")


def _published_primary(published: Published, rule: Parameters) -> bool:
    return bool((~published.suppressed & rule.primary(published.units)).any())
