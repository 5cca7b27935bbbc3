"""How attacks and measures are found: by entry points, our own and those of other packages alike.

A package names a class under `divulge.attacks` (measures of a dataset: `divulge.measures`). What
another package brings is completed by safe answers to what it does not say, and its mistakes are
said to be its own.
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
        def call(*given: Any, **named: Any) -> Any:
            try:
                result = method(*given, **named)
                return list(result) if isinstance(result, Iterator) else result
            except (DivulgeError, OSError, MemoryError):
                raise
            except Exception as error:
                raise self.error(f"failed ({type(error).__name__})") from error

        return call

    def error(self, what: str) -> PluginError:
        """An error that says whose mistake it is."""
        hint = "This is a mistake of that package; set DIVULGE_TRACEBACK=1 to see where."
        return PluginError(f'"{self.name}" of {self.owner} {what}. {hint}')


class Registry(Mapping[str, T], Generic[T]):
    """What is installed under a group of entry points; each is loaded when it is first asked for.

    So a package that cannot be loaded disturbs only those who use it. A name that two packages
    claim is an error for whoever asks for it: one must not silently replace the other's.
    """

    def __init__(self, group: str, kind: type[Any], complete: Callable[[Any, Origin], T]) -> None:
        self._kind = kind
        self._complete = complete
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
            raise PluginError(f'"{name}" is claimed by {owners}; only one of them can stay')
        try:
            made = points[0].load()()
        except Exception as error:
            message = f'"{name}" of {owners} could not be loaded: {type(error).__name__}'
            raise PluginError(f"{message} (entry point {points[0].value})") from error
        if not isinstance(made, self._kind):
            raise PluginError(f'"{name}" of {owners} is no {self._kind.__name__.lower()}')
        return self._complete(made, Origin(name, owners, _is_ours(points[0])))


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
    return Registry(MEASURES, Measure, complete_measure)


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
        asked = [name for name in dir(AttackDefaults) if not name.startswith("_")]
        for name in asked:
            if name not in vars(_ForeignAttack) and hasattr(attack, name):
                self.__dict__[name] = origin.name_failures(getattr(attack, name))
        self._attack, self._origin = attack, origin

    def problems(self, settings: Any, names: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
        """As the attack says."""
        return iter(self._origin.name_failures(self._attack.problems)(settings, names))

    def run(self, settings: Any, datasets: Sequence[Dataset]) -> Assessment:
        """As the attack does, if it gives what limits can judge."""
        found = self._origin.name_failures(self._attack.run)(settings, datasets)
        if not isinstance(found, Assessment):
            raise self._origin.error("gives no assessment")
        return found


class _ForeignMeasure:
    """A measure of another package, with whatever else it says of itself."""

    def __init__(self, measure: Measure, origin: Origin) -> None:
        self._measure, self._origin = measure, origin

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # else a copy that is not filled yet would ask itself for ever
            raise AttributeError(name)
        return getattr(self._measure, name)

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """As the measure says."""
        return iter(self._origin.name_failures(self._measure.problems)(limit))

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """As the measure does, if it gives what limits can judge."""
        found = self._origin.name_failures(self._measure.of)(dataset, limit)
        if not isinstance(found, Measurement):
            raise self._origin.error("gives no measurement")
        return found


def _owner(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"


def _is_ours(point: metadata.EntryPoint) -> bool:
    return point.module.partition(".")[0] == __package__.partition(".")[0]
