"""What an attack is to the rest of the house, and how attacks and measures are found.

Our own attacks and those of other packages come in by the same door: an entry point of the group
`divulge.attacks` that names a class. Measures of a dataset come in by `divulge.measures`: an entry
point names the class of one measure, or a mapping of several by name.
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
    dataset itself in the limit's options. A measure that goes by further names lists them in an
    attribute `aliases`.
    """

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """What is wrong with a limit of this measure."""

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """Measure a dataset."""


@dataclass(frozen=True)
class _Offer:
    """One thing that a package offers under a name: by an entry point, or in its mapping."""

    name: str
    point: metadata.EntryPoint
    entry: Any = None
    """What the mapping holds; None if the entry point names a class."""
    aliases: tuple[str, ...] = ()
    failure: str = ""
    """Why the entry point could not be loaded, if it was tried."""

    @property
    def claim(self) -> tuple[str, str]:
        """What tells two offers apart; a package that is found twice offers the same."""
        return self.point.value, self.name

    @property
    def owner(self) -> str:
        """The package that offers it."""
        return self.point.dist.name if self.point.dist else "an installed package"

    def make(self) -> Any:
        """The thing itself."""
        return self.point.load()() if self.entry is None else self.entry


class Registry(Mapping[str, T]):
    """What is installed under a group of entry points; each is made when it is first asked for.

    So a package that cannot be loaded disturbs only those who use it. A name that two packages
    claim is an error for whoever asks for it: one must not silently replace the other's.

    With `mappings`, an entry point may also name a mapping, whose names are known only when it is
    loaded, and things may go by further names (`aliases`): these are understood wherever a name is
    asked for, and only the first name of each thing is listed.
    """

    def __init__(self, group: str, kind: type[T], *, mappings: bool = False) -> None:
        self._kind = kind
        self._listed: dict[str, list[_Offer]] = {}
        self._by_alias: dict[str, list[_Offer]] = {}
        for point in metadata.entry_points(group=group):
            for offer in _offers_of(point) if mappings else [_Offer(point.name, point)]:
                self._listed.setdefault(offer.name, []).append(offer)
                for alias in offer.aliases:
                    self._by_alias.setdefault(alias, []).append(offer)
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def first_name(self, name: str) -> str:
        """The name under which a thing is listed; the same if nobody offers such a thing.

        >>> measures().first_name("suda"), measures().first_name("nonsense")
        ('dis_suda', 'nonsense')
        """
        offers = self._offers(name)
        # What several claim keeps the name that was given: the error repeats it.
        return offers[0].name if len({offer.claim for offer in offers}) == 1 else name

    @property
    def failures(self) -> tuple[str, ...]:
        """The entry points that could not be loaded when their names were looked for."""
        offers = (offer for offers in self._listed.values() for offer in offers)
        return tuple(
            f'What {offer.owner} offers as "{offer.name}" could not be loaded ({offer.failure}).'
            for offer in offers
            if offer.failure
        )

    def _offers(self, name: str) -> list[_Offer]:
        return [*self._listed.get(name, ()), *self._by_alias.get(name, ())]

    def _make(self, name: str) -> T:
        offers = self._offers(name)
        if not offers:
            raise KeyError(name)
        owners = " and ".join(sorted(offer.owner for offer in offers))
        if len({offer.claim for offer in offers}) > 1:
            raise DivulgeError(f'"{name}" is claimed by {owners}; only one of them can stay')
        try:
            made: T = offers[0].make()
        except Exception as error:
            message = f'"{name}" of {owners} could not be loaded: {type(error).__name__}'
            raise DivulgeError(f"{message} (entry point {offers[0].point.value})") from error
        if not isinstance(made, self._kind):
            raise DivulgeError(f'"{name}" of {owners} is no {self._kind.__name__.lower()}')
        return made


def _offers_of(point: metadata.EntryPoint) -> Iterator[_Offer]:
    """What an entry point offers; if it cannot be loaded, whoever asks for it is told why."""
    try:
        target = point.load()
    except Exception as error:
        yield _Offer(point.name, point, failure=type(error).__name__)
        return
    if isinstance(target, Mapping):
        for name, entry in target.items():
            yield _Offer(name, point, entry, tuple(getattr(entry, "aliases", ())))
    else:
        yield _Offer(point.name, point, None, tuple(getattr(target, "aliases", ())))


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
    return Registry(MEASURES, Measure, mappings=True)  # type: ignore[type-abstract]  # a protocol, to be checked
