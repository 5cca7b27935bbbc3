"""How attacks and measures are found: by entry points, our own and those of other packages alike.

A package names a class under `divulge.attacks`; under `divulge.measures` (of a dataset) the class
of one measure, or a mapping of several by name. What another package brings is completed by safe
answers to what it does not say, and its mistakes are said to be its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from importlib import metadata
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from divulge.assessment.assessment import Assessment
from divulge.assessment.attack import Adversary, Attack, AttackDefaults, Measure, Measurement
from divulge.work import DivulgeError

if TYPE_CHECKING:
    from divulge.assessment.limit import Limit
    from divulge.data import Dataset
    from divulge.work import Problem

ATTACKS = "divulge.attacks"
MEASURES = "divulge.measures"
UTILITIES = "divulge.utilities"

T = TypeVar("T")


class PluginError(DivulgeError):
    """An attack or a measure of another package does not work; its author can put it right."""


@dataclass(frozen=True)
class Origin:
    """Where an attack or a measure comes from: its name, and who brings it."""

    name: str
    owner: str
    is_ours: bool

    def name_failures(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The same method, whose unexpected exceptions name the package and quote nothing.

        An exception often quotes what it stumbled over, which may be out of a record.
        """

        @wraps(method)
        def call_method(*arguments: Any, **keywords: Any) -> Any:
            try:
                result = method(*arguments, **keywords)
                return list(result) if isinstance(result, Iterator) else result
            except (DivulgeError, OSError, MemoryError):
                raise
            except Exception as error:
                raise self.build_error(f"failed ({type(error).__name__})") from error

        return call_method

    def build_error(self, what: str) -> PluginError:
        """An error that says whose mistake it is."""
        hint = "This is a mistake of that package; set DIVULGE_TRACEBACK=1 to see where."
        return PluginError(f'"{self.name}" of {self.owner} {what}. {hint}')


@dataclass(frozen=True, kw_only=True)
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
    def identity(self) -> tuple[str, str]:
        """What tells two offers apart; a package that is found twice offers the same."""
        return self.point.value, self.name

    @property
    def owner(self) -> str:
        """The package that offers it."""
        return self.point.dist.name if self.point.dist else "an installed package"

    @property
    def is_ours(self) -> bool:
        """Whether this package is Divulge."""
        return self.point.module.partition(".")[0] == __package__.partition(".")[0]

    def load_object(self) -> Any:
        """The thing itself."""
        return self.point.load()() if self.entry is None else self.entry


class Registry(Mapping[str, T], Generic[T]):
    """What is installed under a group of entry points; each is made when it is first asked for.

    So a package that cannot be loaded disturbs only those who use it. A name that two packages
    claim is an error for whoever asks for it: one must not silently replace the other's.

    With `mappings`, an entry point may also name a mapping, whose names are known only when it is
    loaded, and things may go by further names (`aliases`): these are understood wherever a name is
    asked for, and only the first name of each thing is listed.
    """

    def __init__(
        self,
        group: str,
        kind: type[Any],
        complete: Callable[[Any, Origin], T],
        *,
        mappings: bool = False,
    ) -> None:
        self._kind = kind
        self._complete = complete
        self._offers_by_name: dict[str, list[_Offer]] = {}
        self._offers_by_alias: dict[str, list[_Offer]] = {}
        for point in metadata.entry_points(group=group):
            for offer in (
                _load_offers(point) if mappings else [_Offer(name=point.name, point=point)]
            ):
                self._offers_by_name.setdefault(offer.name, []).append(offer)
                for alias in offer.aliases:
                    self._offers_by_alias.setdefault(alias, []).append(offer)
        self._plugins: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._plugins:
            self._plugins[name] = self._load_plugin(name)
        return self._plugins[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._offers_by_name)

    def __len__(self) -> int:
        return len(self._offers_by_name)

    def first_name(self, name: str) -> str:
        """The name under which a thing is listed; the same if nobody offers such a thing.

        >>> measures().first_name("suda"), measures().first_name("nonsense")
        ('dis_suda', 'nonsense')
        """
        offers = self._list_offers(name)
        # What several claim keeps the name that was given: the error repeats it.
        return offers[0].name if len({offer.identity for offer in offers}) == 1 else name

    @property
    def failures(self) -> tuple[str, ...]:
        """The entry points that could not be loaded when their names were looked for."""
        offers = (offer for offers in self._offers_by_name.values() for offer in offers)
        return tuple(
            f'What {offer.owner} offers as "{offer.name}" could not be loaded ({offer.failure}).'
            for offer in offers
            if offer.failure
        )

    def _list_offers(self, name: str) -> list[_Offer]:
        return [*self._offers_by_name.get(name, ()), *self._offers_by_alias.get(name, ())]

    def _load_plugin(self, name: str) -> T:
        offers = self._list_offers(name)
        if not offers:
            raise KeyError(name)
        owners = " and ".join(sorted(offer.owner for offer in offers))
        if len({offer.identity for offer in offers}) > 1:
            raise PluginError(f'"{name}" is claimed by {owners}; only one of them can stay')
        try:
            plugin = offers[0].load_object()
        except Exception as error:
            message = f'"{name}" of {owners} could not be loaded: {type(error).__name__}'
            raise PluginError(f"{message} (entry point {offers[0].point.value})") from error
        if not isinstance(plugin, self._kind):
            raise PluginError(f'"{name}" of {owners} is no {self._kind.__name__.lower()}')
        return self._complete(plugin, Origin(name, owners, offers[0].is_ours))


def _load_offers(point: metadata.EntryPoint) -> Iterator[_Offer]:
    """What an entry point offers; if it cannot be loaded, whoever asks for it is told why."""
    try:
        target = point.load()
    except Exception as error:
        yield _Offer(name=point.name, point=point, failure=type(error).__name__)
        return
    if isinstance(target, Mapping):
        for name, entry in target.items():
            yield _Offer(
                name=name, point=point, entry=entry, aliases=tuple(getattr(entry, "aliases", ()))
            )
    else:
        yield _Offer(
            name=point.name, point=point, entry=None, aliases=tuple(getattr(target, "aliases", ()))
        )


@lru_cache
def attacks() -> Registry[AttackDefaults]:
    """The attacks that are installed, by name.

    >>> "records" in attacks()
    True
    """
    return Registry(ATTACKS, Attack, complete_attack)


@lru_cache
def measures() -> Registry[Measure]:
    """The measures of a dataset that are installed, by name.

    >>> "k_anonymity" in measures()
    True
    """
    return Registry(MEASURES, Measure, complete_measure, mappings=True)


@lru_cache
def utilities() -> Registry[Callable[..., Any]]:
    """Functions of other packages that say what a protection is worth, by name; we bring none.

    An entry point names a mapping of functions.
    """
    return Registry(
        UTILITIES,
        Callable,  # type: ignore[arg-type]  # what is asked is whether it can be called
        lambda function, origin: origin.name_failures(function),
        mappings=True,
    )


def find_attack(adversary: Adversary) -> AttackDefaults:
    """The attack of an adversary, as it is installed."""
    return attacks()[adversary.attack]


def complete_attack(attack: Attack, origin: Origin) -> AttackDefaults:
    """Our own attack as it is; one of another package with an answer to all that is asked."""
    if origin.is_ours and isinstance(attack, AttackDefaults):
        return attack
    return _ForeignAttack(attack, origin)  # type: ignore[abstract]  # its Settings are the attack's


def complete_measure(measure: Measure, origin: Origin) -> Measure:
    """Our own measure as it is; one of another package with its mistakes named."""
    return measure if origin.is_ours else _ForeignMeasure(measure, origin)


class _ForeignAttack(AttackDefaults):
    """An attack of another package: what it does not say is answered safely."""

    def __init__(self, attack: Attack, origin: Origin) -> None:
        self.__dict__["Settings"] = attack.Settings
        method_names = [name for name in dir(AttackDefaults) if not name.startswith("_")]
        for name in method_names:
            if name not in vars(_ForeignAttack) and hasattr(attack, name):
                self.__dict__[name] = origin.name_failures(getattr(attack, name))
        self._attack, self._origin = attack, origin

    def problems(self, settings: Any, names: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
        """As the attack says."""
        return iter(self._origin.name_failures(self._attack.problems)(settings, names))

    def run(self, settings: Any, datasets: Sequence[Dataset]) -> Assessment:
        """As the attack does, if it gives what limits can judge."""
        assessment = self._origin.name_failures(self._attack.run)(settings, datasets)
        if not isinstance(assessment, Assessment):
            raise self._origin.build_error("gives no assessment")
        return assessment


class _ForeignMeasure:
    """A measure of another package, with whatever else it says of itself."""

    def __init__(self, measure: Measure, origin: Origin) -> None:
        self._measure, self._origin = measure, origin

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # else a copy that is not filled yet would ask itself for ever
            raise AttributeError(name)
        value = getattr(self._measure, name)
        return self._origin.name_failures(value) if name == "record_risk" else value

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """As the measure says."""
        return iter(self._origin.name_failures(self._measure.problems)(limit))

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """As the measure does, if it gives what limits can judge."""
        measurement = self._origin.name_failures(self._measure.of)(dataset, limit)
        if not isinstance(measurement, Measurement):
            raise self._origin.build_error("gives no measurement")
        return measurement
