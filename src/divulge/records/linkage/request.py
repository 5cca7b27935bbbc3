"""What a linkage is asked for: checked at once, before anything is compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.records.linkage.comparison import find_value_kind, problems_with_comparisons
from divulge.work import Problem, Problems

BY_TRUTH = "truth"
"""The agreement that is counted in the true pairs."""


@dataclass(frozen=True, kw_only=True)
class LinkageRequest:
    """What a linkage is asked for, checked."""

    release: Dataset
    register: Dataset
    blocks: tuple[str, ...]
    compare: Mapping[str, Any]
    truth: str | None
    agreement: float | Mapping[str, float] | str | None
    coverage: float | None

    @property
    def names(self) -> list[str]:
        """All attributes that are looked at, each once."""
        truth = [self.truth] if self.truth else []
        return list(dict.fromkeys([*self.blocks, *self.compare, *truth]))


def check_linkage_request(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    *,
    compare: Mapping[str, Any] | None,
    truth: str | None,
    agreement: float | Mapping[str, float] | str | None,
    coverage: float | None,
) -> LinkageRequest:
    """The linkage that was asked for; all that is wrong with it at once."""
    request = LinkageRequest(
        release=release,
        register=register,
        blocks=tuple(as_names(block)),
        compare=dict(compare or {}),
        truth=truth,
        agreement=agreement,
        coverage=coverage,
    )
    problems = Problems("link")
    problems.extend("", _find_problems(request))
    problems.raise_any()
    for dataset in (release, register):
        require_one_record_each(dataset, "records are linked")
    return request


def _find_problems(request: LinkageRequest) -> Iterator[Problem]:
    yield from problems_with_comparisons(request.compare)
    yield from problems_with_agreement(request.agreement, request.compare, request.truth)
    if not request.blocks:
        message = "names no attribute; all records would be compared with everybody."
        yield Problem("block", message)
    if request.coverage is not None and not 0 < request.coverage <= 1:
        yield Problem("coverage", f"{request.coverage:g} is not between 0 and 1.")
    if request.release.rows == 0:
        yield Problem("release", "has no records.")
    for place, names in (
        ("block", request.blocks),
        ("compare", request.compare),
        ("truth", [request.truth] if request.truth else []),
    ):
        for name in names:
            kind = request.compare[name] if place == "compare" else "equal"
            yield from _problems_with_column(place, name, kind, request.release, request.register)


def problems_with_agreement(
    agreement: Any, compare: Iterable[str], truth: str | None
) -> Iterator[Problem]:
    """Whether what is said of agreement can be."""
    if isinstance(agreement, str):
        if agreement != BY_TRUTH:
            message = f'"{agreement}" is no agreement: a number, numbers by attribute, "truth".'
            yield Problem("agreement", message)
        elif truth is None:
            yield Problem("agreement", '"truth" counts true pairs; name the id in truth.')
        return
    rates = agreement if isinstance(agreement, Mapping) else {"": agreement}
    for name, rate in rates.items():
        if name and name not in compare:
            message = f'"{name}" is not compared.'
            yield Problem("agreement", message, value=name, allowed=list(compare))
        if rate is not None and not 0 < rate < 1:
            yield Problem("agreement", f"{rate:g} is not between 0 and 1.")


def _problems_with_column(
    place: str, name: str, compared: Any, release: Dataset, register: Dataset
) -> Iterator[Problem]:
    lacking = [dataset for dataset in (release, register) if name not in dataset.names]
    for dataset in lacking:
        message = f'dataset "{dataset.name}" has no attribute "{name}".'
        yield Problem(place, message, value=name, allowed=dataset.names)
    if not lacking:
        kinds = {find_value_kind(d.columns[name].values.type) for d in (release, register)} - {None}
        if len(kinds) > 1:
            yield Problem(place, f'"{name}" has another type of value in the register.')
        near = isinstance(compared, list | tuple) and "near" in compared[:1]
        if near and not kinds <= {"number", "date"}:
            yield Problem(place, f'"{name}": near takes numbers or dates (days apart).')
