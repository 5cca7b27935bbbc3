"""What is asked of a matching attack, checked before anything is tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from divulge.tables import tuning
from divulge.tables.candidate_tables.enumeration import Candidates
from divulge.tables.candidate_tables.suppressor_knowledge import (
    POSSIBLE,
    RerunKnowledge,
    Suppressor,
    SuppressorKnowledge,
    choose_knowledge,
)
from divulge.tables.candidate_tables.suppressor_parameters import (
    SUPPRESSOR_RULES,
    Rule,
    SuppressorParameters,
)
from divulge.tables.suppression.result import MARGINS
from divulge.tables.table.published import ZEROS, Published, Zeros
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Bools, Ints

Prior = Callable[[Any], Any]
"""Takes tables (an array with the candidates along its first axis) and gives their weights."""


@dataclass(frozen=True, kw_only=True)
class MatchingRequest:
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
    zeros: Zeros

    def find_known_parameters(self) -> SuppressorParameters | None:
        """The parameters of our own suppressor; None if something is not known."""
        if self.min_frequency is None or self.width is None or self.parameters == "unknown":
            return None
        units = int(np.ceil(self.width * 10**self.published.decimals - 1e-9))
        return self.build_parameters(self.min_frequency, units)

    def build_parameters(self, min_frequency: int, width: int) -> SuppressorParameters:
        """Our own suppressor with these two parameters."""
        rule: Rule = next(
            (rule for rule in SUPPRESSOR_RULES if rule == self.suppressor), SUPPRESSOR_RULES[0]
        )
        unit = 10**self.published.decimals
        return SuppressorParameters(
            min_frequency=min_frequency,
            width=width,
            zeros_primary=self.zeros_primary,
            cost=self.cost,
            margins=self.margins,
            rule=rule,
            unit=unit,
            zeros=self.zeros,
        )

    def build_knowledge(
        self, candidate_set: Candidates, labels: Bools | None
    ) -> SuppressorKnowledge:
        """What the adversary knows of the suppressor."""
        parameters = self.find_known_parameters()
        if callable(self.suppressor):
            return RerunKnowledge(candidate_set, self.suppressor, labels, parameters)
        assert parameters is not None  # noqa: S101  # _check has refused
        return choose_knowledge(candidate_set, parameters, labels)

    def compute_prior_weights(self, candidate_set: Candidates, status: Ints) -> Any:
        """The prior's weights of the possible candidates."""
        assert self.prior is not None  # noqa: S101  # the caller has looked
        rows = np.flatnonzero(status == POSSIBLE)
        weights = np.zeros(len(status))
        base = self.published.floor[candidate_set.cells]
        for begin in range(0, len(rows), tuning.WEIGHED_AT_ONCE):
            chunk = rows[begin : begin + tuning.WEIGHED_AT_ONCE]
            units = np.tile(self.published.units, (len(chunk), 1))
            units[:, candidate_set.cells] = candidate_set.values[chunk] + base
            tables = units[:, self.published.structure.numbers[0]]
            chunk_weights = np.asarray(
                self.prior(tables / 10**self.published.decimals), dtype=float
            )
            if (
                chunk_weights.shape != (len(chunk),)
                or not np.all(np.isfinite(chunk_weights))
                or chunk_weights.min() < 0
            ):
                message = "gives one weight from 0 for each table along the first axis."
                raise InvalidInput("matching attack", [Problem("prior", message)])
            weights[chunk] = chunk_weights
        if weights.sum() == 0:
            message = "gives weight to no table that could be behind this release."
            raise InvalidInput("matching attack", [Problem("prior", message)])
        return weights


def check_request(request: MatchingRequest, primary: Any) -> None:
    """Refuse what makes no sense, all of it at once."""
    problems = Problems("matching attack")
    _check_suppressor(request, problems)
    _check_choices(request, problems)
    if request.labelled and primary is None:
        problems.add("labelled", "give the labels: `primary`, the cells marked as primary.")
    if primary is not None:
        mask = request.published.structure.to_mask(primary)
        for cell in np.flatnonzero(mask & ~request.published.suppressed)[:10]:
            label = request.published.structure.locate_cell(int(cell))
            problems.add(label, "is said to be primary and is published.")
    problems.raise_any()


def _check_suppressor(request: MatchingRequest, problems: Problems) -> None:
    function, suppressor_name = callable(request.suppressor), str(request.suppressor)
    if request.suppressor is not None and not function and suppressor_name not in SUPPRESSOR_RULES:
        problems.add(
            "suppressor",
            f'"{suppressor_name}" is none; give a function, or a rule.',
            suppressor_name,
            SUPPRESSOR_RULES,
        )
    if request.published.measure != "count" and not function:
        message = (
            "contains magnitudes: their protection depends on their values, and a pattern tells "
            "more than this attack takes into account. Give the suppressor as a function."
        )
        problems.add("published table", message)
    if request.parameters == "unknown" and function:
        problems.add("parameters", "are the function's own; unknown ones are tried of ours only.")
    if request.parameters == "known" and not function:
        for field_name in ("min_frequency", "width"):
            if getattr(request, field_name) is None:
                problems.add(field_name, 'give it, or say parameters="unknown".')


def _check_choices(request: MatchingRequest, problems: Problems) -> None:
    choices: dict[str, list[str]] = {
        "parameters": ["known", "unknown"],
        "mode": ["interval", "full"],
        "margins": list(MARGINS),
        "zeros": list(ZEROS),
    }
    for field_name, allowed in choices.items():
        choice = getattr(request, field_name)
        if choice not in allowed:
            problems.add(field_name, f'"{choice}" is none.', choice, allowed)
    if request.min_frequency is not None and request.min_frequency < 1:
        problems.add("min_frequency", f"{request.min_frequency} is not a number from 1.")
    if request.width is not None and not 0 <= request.width < inf:
        problems.add("width", f"{request.width:g} is no number from 0.")
    if request.prior is not None and request.mode != "full":
        problems.add("prior", 'weighs every candidate: say mode="full".')
    if request.prior is not None and request.published.structure.is_linked:
        problems.add("prior", "cannot be given for linked tables.")
