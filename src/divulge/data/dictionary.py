"""The dictionary: what is known of a dataset's attributes, apart from their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from divulge.data.header import select_listable_names
from divulge.work import DivulgeError, Problem

if TYPE_CHECKING:
    from divulge.data.hierarchies.hierarchy import Hierarchy

Role: TypeAlias = Literal[
    "identifier",
    "quasi_identifier",
    "sensitive",
    "non_identifying",
    "weight",
    "household",
    "time",
    "person",
    "group",
]
"""What part an attribute plays in a release."""

ROLES: tuple[Role, ...] = get_args(Role)
"""All roles, in the order in which they are shown."""

# One attribute holds the weight, one the household and so on; of the others there are many.
SINGLE_ROLES: frozenset[Role] = frozenset({"weight", "household", "time", "person"})

WITHHELD_ROLES: tuple[Role, ...] = ("identifier", "person", "household", "group")
"""Whose attributes are not published unless the owner names them: ids of people and clusters."""

CLUSTER_ROLES: tuple[Role, ...] = ("person", "household", "group")
"""Whose attributes tell which records belong together."""

RoleAssignment: TypeAlias = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class MissingCode:
    """A value that means missing ("99 = refused"), or all values from one to another.

    >>> MissingCode(99, 99).covers(99), MissingCode(-9, -1).covers(3), MissingCode(1, 5).covers("x")
    (True, False, False)
    """

    low: Any
    high: Any

    def covers(self, value: Any) -> bool:
        """Whether a value of the data is one of these."""
        try:
            return bool(self.low <= value <= self.high)
        except TypeError:
            return False


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its part, what it and its values mean, its unit, how it can be coarsened.

    Labels are by value; those of a tagged missing value are under its tag, `.a` to `.z`.
    """

    name: str
    role: Role | None = None
    description: str = ""
    hierarchy: Hierarchy | None = None
    labels: Mapping[Any, str] = field(default_factory=dict)
    unit: str = ""
    missing: tuple[MissingCode, ...] = ()


@dataclass(frozen=True)
class Dictionary:
    """The attributes of a dataset, in the order of its columns.

    >>> dictionary = Dictionary.of(["id", "age"], roles={"quasi_identifier": "age"})
    >>> dictionary.roles
    {'quasi_identifier': ['age']}
    """

    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        roles: RoleAssignment | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        descriptions: Mapping[str, str] | None = None,
        before: Dictionary | None = None,
    ) -> Dictionary:
        """Build it from what a user gives by role; `find_role_problems` says first if it is wrong.

        Of what another dictionary said `before`, all but roles and hierarchies stays where nothing
        else is given.
        """
        role_of = {name: role for role in ROLES for name in as_names((roles or {}).get(role, ()))}
        declarations = {**role_of, **(descriptions or {}), **(hierarchies or {})}
        previous = {} if before is None else before.attributes
        attributes = {}
        for name in names:
            attribute = previous.get(name) or Attribute(name)
            if name in declarations or attribute.role or attribute.hierarchy:
                attribute = replace(
                    attribute,
                    role=role_of.get(name),
                    description=(descriptions or {}).get(name) or attribute.description,
                    hierarchy=(hierarchies or {}).get(name),
                )
            attributes[name] = attribute
        return cls(attributes)

    @property
    def roles(self) -> dict[Role, str | list[str]]:
        """The roles as they are given: the weight, household and time by name, others as lists."""
        names_by_role: dict[Role, str | list[str]] = {}
        for role in ROLES:
            names = self.having(role)
            if names:
                names_by_role[role] = names[0] if role in SINGLE_ROLES else names
        return names_by_role

    def having(self, role: Role) -> list[str]:
        """The attributes that play a role, in the order of the columns."""
        return [a.name for a in self.attributes.values() if a.role == role]

    def only(self, names: Iterable[str]) -> Dictionary:
        """The dictionary of some of the attributes."""
        return Dictionary({name: self.attributes[name] for name in names})

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[name]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes.values())


def as_names(names: str | Iterable[str]) -> list[str]:
    """A name or several, as a list.

    >>> as_names("age"), as_names(("age", "sex"))
    (['age'], ['age', 'sex'])
    """
    if not isinstance(names, str | Iterable):
        raise DivulgeError(f"attributes are named by text, one or several, and not by {names!r}")
    return [names] if isinstance(names, str) else list(names)


def find_repeated_names(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, each once.

    >>> find_repeated_names(["age", "sex", "age", "age"])
    ['age']
    """
    return [name for name, times in Counter(names).items() if times > 1]


def find_role_problems(roles: RoleAssignment, names: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the roles that a user gives for these attributes."""
    role_of: dict[str, str] = {}
    all_names = [
        name
        for role_names in roles.values()
        if _are_names(role_names)
        for name in as_names(role_names)
    ]
    dataset_names = set(names)
    for role, role_names in roles.items():
        if role not in ROLES:
            yield Problem("roles", f'"{role}" is not a role.', value=role, allowed=ROLES)
            continue
        if not _are_names(role_names):
            yield Problem(f"roles, {role}", "names attributes by text; give a name or a list.")
            continue
        attributes = as_names(role_names)
        if role in SINGLE_ROLES and len(attributes) > 1:
            yield Problem(f"roles, {role}", f"names {len(attributes)} attributes; give one.")
        for name in attributes:
            if name not in dataset_names:
                yield from find_name_problems(f"roles, {role}", [name], names, beside=all_names)
            if name in role_of:
                message = f'attribute "{name}" is already {role_of[name]}; give it one role.'
                yield Problem(f"roles, {role}", message)
            role_of[name] = role


def _are_names(value: object) -> bool:
    several = isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    return isinstance(value, str) or several


def find_name_problems(
    place: str,
    candidates: Iterable[str],
    names: Sequence[str],
    of: str = "the dataset",
    beside: Iterable[str] = (),
) -> Iterator[Problem]:
    """Names that are not attributes; `beside` are others that the user has given with them.

    >>> print(*find_name_problems("by", ["agee"], ["age", "sex"]))
    by: the dataset has no attribute "agee". Did you mean "age"?
    """
    candidate_names, dataset_names = list(candidates), set(names)
    absent = [name for name in candidate_names if name not in dataset_names]
    # Where nothing is absent nothing is listed, and a dataset may have very many names.
    listable = select_listable_names(names, [*candidate_names, *beside]) if absent else []
    for name in absent:
        absent_name = str(name)
        message = f'{of} has no attribute "{absent_name}".'
        if names and not listable:
            message += f" It has {len(names)}, none of them by that name."
        yield Problem(place, message, value=absent_name, allowed=listable)
