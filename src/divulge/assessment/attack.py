"""What an attack is to the rest of the house, and how attacks and measures are found.

Our own attacks and those of other packages come in by the same door: an entry point of the group
`divulge.attacks` (measures of a dataset: `divulge.measures`) that names a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from divulge.work import DivulgeError, Problem

if TYPE_CHECKING:
    from pydantic import BaseModel

    from divulge.assessment.assessment import Assessment
    from divulge.assessment.limit import Limit
    from divulge.assessment.sentence import Sentence
    from divulge.data import Dataset

ATTACKS = "divulge.attacks"
MEASURES = "divulge.measures"


@dataclass(frozen=True)
class Adversary:
    """An adversary of a release: her name, her attack, the datasets she sees, and its settings."""

    name: str
    attack: str
    datasets: tuple[str, ...]
    settings: Any


@runtime_checkable
class Attack(Protocol):
    """One kind of attack: what its adversaries may be told, and how it is run."""

    Settings: ClassVar[type[BaseModel]]
    """What an adversary's entry in a release may hold, beside name, attack and dataset."""

    def problems(self, settings: Any, names: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
        """What is wrong with the settings, given the attributes of the adversary's datasets."""

    def run(self, settings: Any, datasets: Sequence[Dataset]) -> Assessment:
        """Run the attack on the adversary's datasets."""


@dataclass(frozen=True)
class Measurement:
    """A measure of one dataset: its value, and what it means."""

    value: float
    scale: Literal["share", "count", "factor"]
    sentence: Sentence | None = None


@runtime_checkable
class Measure(Protocol):
    """One measure of a dataset that a limit may name."""

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """What is wrong with a limit of this measure."""

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """Measure a dataset."""


def attacks() -> Mapping[str, Attack]:
    """The attacks that are installed, by name.

    >>> "records" in attacks()
    True
    """
    return _registered(ATTACKS)


def measures() -> Mapping[str, Measure]:
    """The measures of a dataset that are installed, by name.

    >>> "k_anonymity" in measures()
    True
    """
    return _registered(MEASURES)


@lru_cache
def _registered(group: str) -> Mapping[str, Any]:
    return {point.name: _loaded(point) for point in metadata.entry_points(group=group)}


def _loaded(point: metadata.EntryPoint) -> Any:
    try:
        return point.load()()
    except Exception as error:
        package = point.dist.name if point.dist else "an installed package"
        message = f'"{point.name}" of {package} could not be loaded: {type(error).__name__}'
        raise DivulgeError(f"{message} (entry point {point.value})") from error
