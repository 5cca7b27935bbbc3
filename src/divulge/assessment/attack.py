"""What an attack is to the rest of the house, and how attacks and measures are found.

Our own attacks and those of other packages come in by the same door: an entry point of the group
`divulge.attacks` (measures of a dataset: `divulge.measures`) that names a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

from divulge.work import DivulgeError, Problem

if TYPE_CHECKING:
    from pydantic import BaseModel

    from divulge.assessment.assessment import Assessment
    from divulge.assessment.limit import Limit
    from divulge.assessment.sentence import Sentence
    from divulge.data import Dataset

ATTACKS = "divulge.attacks"
MEASURES = "divulge.measures"

T = TypeVar("T")


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
    notes: tuple[Sentence, ...] = ()
    """What a reader of the figure should know, such as that counting flatters."""


@runtime_checkable
class Measure(Protocol):
    """One measure of a dataset that a limit may name.

    A measure that also looks at another dataset of the release (a population, the original) says
    so by an attribute `names_datasets`: the options of a limit that name one. `of` finds the
    dataset itself in the limit's options.
    """

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """What is wrong with a limit of this measure."""

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """Measure a dataset."""


class Registry(Mapping[str, T]):
    """What is installed under a group of entry points; each is loaded when it is first asked for.

    So a package that cannot be loaded disturbs only those who use it. A name that two packages
    claim is an error for whoever asks for it: one must not silently replace the other's.
    """

    def __init__(self, group: str, kind: type[T]) -> None:
        self._kind = kind
        self._points: dict[str, list[metadata.EntryPoint]] = {}
        for point in metadata.entry_points(group=group):
            self._points.setdefault(point.name, []).append(point)
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            self._loaded[name] = self._load(self._points[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def _load(self, points: list[metadata.EntryPoint]) -> T:
        name, owners = points[0].name, " and ".join(sorted(map(_owner, points)))
        if len({point.value for point in points}) > 1:
            raise DivulgeError(f'"{name}" is claimed by {owners}; only one of them can stay')
        try:
            made: T = points[0].load()()
        except Exception as error:
            message = f'"{name}" of {owners} could not be loaded: {type(error).__name__}'
            raise DivulgeError(f"{message} (entry point {points[0].value})") from error
        if not isinstance(made, self._kind):
            raise DivulgeError(f'"{name}" of {owners} is no {self._kind.__name__.lower()}')
        return made


@lru_cache
def attacks() -> Registry[Attack]:
    """The attacks that are installed, by name.

    >>> "records" in attacks()
    True
    """
    return Registry(ATTACKS, Attack)  # type: ignore[type-abstract]  # a protocol, to be checked


@lru_cache
def measures() -> Registry[Measure]:
    """The measures of a dataset that are installed, by name.

    >>> "k_anonymity" in measures()
    True
    """
    return Registry(MEASURES, Measure)  # type: ignore[type-abstract]  # a protocol, to be checked


def _owner(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"
