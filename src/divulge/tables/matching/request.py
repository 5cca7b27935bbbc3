"""What is asked of a matching attack, checked before anything is tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from divulge.tables.knowledge.candidate_tables import Candidates
from divulge.tables.knowledge.suppressor_knowledge import (
    POSSIBLE,
    RULES,
    Knowledge,
    KnownSuppressor,
    Parameters,
    Rule,
    Suppressor,
    knowledge_of,
)
from divulge.tables.suppression.result import MARGINS
from divulge.tables.table.axis import IntArray
from divulge.tables.table.structure import BoolArray
from divulge.tables.table.table import Published, floor
from divulge.work import InvalidInput, Problem, Problems

Prior = Callable[[Any], Any]
"""Takes tables (an array with the candidates along its first axis) and gives their weights."""


@dataclass(frozen=True)
class Request:
    """What was asked, as it was asked."""

    published: Published
    min_frequency: int | None
    width: float | None
    zeros_primary: bool
    labelled: bool
    suppressor: Suppressor | str | None
    mode: str
    parameters: str
    cost: Any
    margins: Literal["published", "suppressible"]
    prior: Prior | None
    seconds: float

    def known_parameters(self) -> Parameters | None:
        """The parameters of our own suppressor; None if something is not known."""
        if self.min_frequency is None or self.width is None or self.parameters == "unknown":
            return None
        units = int(np.ceil(self.width * 10**self.published.decimals - 1e-9))
        return self.with_pair(self.min_frequency, units)

    def with_pair(self, min_frequency: int, width: int) -> Parameters:
        """Our own suppressor with these two parameters."""
        rule: Rule = next((rule for rule in RULES if rule == self.suppressor), RULES[0])
        unit = 10**self.published.decimals
        return Parameters(
            min_frequency, width, self.zeros_primary, self.cost, self.margins, rule, unit
        )

    def knowledge(self, found: Candidates, labels: BoolArray | None) -> Knowledge:
        """What the adversary knows of the suppressor."""
        known = self.known_parameters()
        if callable(self.suppressor):
            return KnownSuppressor(found, self.suppressor, labels, known)
        assert known is not None  # noqa: S101  # _check has refused
        return knowledge_of(found, known, labels)

    def weights(self, found: Candidates, status: IntArray) -> Any:
        """The prior's weights of the possible candidates."""
        assert self.prior is not None  # noqa: S101  # the caller has looked
        rows = np.flatnonzero(status == POSSIBLE)
        weights = np.zeros(len(status))
        base = floor(self.published.structure, self.published.lowest)[found.cells]
        for begin in range(0, len(rows), 10_000):
            chunk = rows[begin : begin + 10_000]
            units = np.tile(self.published.units, (len(chunk), 1))
            units[:, found.cells] = found.values[chunk] + base
            tables = units[:, self.published.structure.numbers[0]]
            given = np.asarray(self.prior(tables / 10**self.published.decimals), dtype=float)
            if given.shape != (len(chunk),) or not np.all(np.isfinite(given)) or given.min() < 0:
                message = "gives one weight from 0 for each table along the first axis."
                raise InvalidInput("matching attack", [Problem("prior", message)])
            weights[chunk] = given
        if weights.sum() == 0:
            message = "gives weight to no table that could be behind this release."
            raise InvalidInput("matching attack", [Problem("prior", message)])
        return weights


def check(request: Request, primary: Any) -> None:
    """Refuse what makes no sense, all of it at once."""
    problems = Problems("matching attack")
    _check_suppressor(request, problems)
    _check_choices(request, problems)
    if request.labelled and primary is None:
        problems.add("labelled", "give the labels: `primary`, the cells marked as primary.")
    if primary is not None:
        mask = request.published.structure.mask(primary)
        for cell in np.flatnonzero(mask & ~request.published.suppressed)[:10]:
            label = request.published.structure.place(int(cell))
            problems.add(label, "is said to be primary and is published.")
    problems.raise_any()


def _check_suppressor(request: Request, problems: Problems) -> None:
    function, given = callable(request.suppressor), str(request.suppressor)
    if request.suppressor is not None and not function and given not in RULES:
        problems.add("suppressor", f'"{given}" is none; give a function, or a rule.', given, RULES)
    if request.published.measure != "count" and not function:
        message = (
            "holds magnitudes: their protection depends on their values, and a pattern then tells "
            "more than this attack takes into account. Give the suppressor as a function."
        )
        problems.add("published table", message)
    if request.parameters == "unknown" and function:
        problems.add("parameters", "are the function's own; unknown ones are tried of ours only.")
    if request.parameters == "known" and not function:
        for what in ("min_frequency", "width"):
            if getattr(request, what) is None:
                problems.add(what, 'give it, or say parameters="unknown".')


def _check_choices(request: Request, problems: Problems) -> None:
    choices = {
        "parameters": ["known", "unknown"],
        "mode": ["interval", "full"],
        "margins": list(MARGINS),
    }
    for what, allowed in choices.items():
        given = getattr(request, what)
        if given not in allowed:
            problems.add(what, f'"{given}" is none.', given, allowed)
    if request.min_frequency is not None and request.min_frequency < 1:
        problems.add("min_frequency", f"{request.min_frequency} is not a number from 1.")
    if request.width is not None and not 0 <= request.width < inf:
        problems.add("width", f"{request.width:g} is no number from 0.")
    if request.prior is not None and request.mode != "full":
        problems.add("prior", 'weighs every candidate: say mode="full".')
    if request.prior is not None and request.published.structure.linked:
        problems.add("prior", "cannot be given for linked tables.")
