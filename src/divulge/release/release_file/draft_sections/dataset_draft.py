"""What a draft knows of one dataset: its roles as they are drafted, and what is left out.

A doubtful attribute is left out, with its reason: a wrong role that nobody noticed is worse than a
column that somebody puts back. Keys of records and people never go out, so that a doubt about one
changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from divulge.data import Categorisation, Dataset, KindProposal, Proposal, Role
from divulge.data.dictionary import ROLES, WITHHELD_ROLES
from divulge.release.release_file.draft_sections.comments import say
from divulge.release.release_file.toml_text import format_value

_NOT_OF_PERSONS = ("contact", "transaction", "record")
"""Names, addresses, receipts, rows: two people may share them, and one may have several."""

_WITHOUT_KEYS = ("histories", "totals", "crosstab", "parties")
"""Kinds that are attacked, or left alone, without quasi-identifiers."""


@dataclass(kw_only=True, frozen=True)
class DatasetDraft:
    """One dataset of a draft."""

    name: str
    source: str
    dataset: Dataset
    categorisation: Categorisation
    kind: KindProposal
    unguarded: Mapping[str, str] = field(default_factory=dict)
    """Attributes that are left out for another reason than a doubt about their role."""

    @cached_property
    def role_of(self) -> Mapping[str, Role]:
        """The drafted role of each attribute that has one."""
        roles: dict[str, Role] = {}
        for name, proposal in self.categorisation.proposals.items():
            role = proposal.role
            if role is None or name in self.unguarded:
                continue
            if proposal.status == "settled" or role in WITHHELD_ROLES:
                roles[name] = role
        roles |= self._list_moments_as_keys(roles)
        roles |= self._list_roles_by_kind()
        repeated = self._find_repeated_id(roles)
        if repeated is not None:
            roles[repeated] = "person"
        return {name: roles[name] for name in self.dataset.names if name in roles}

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against what the dataset is taken for, and what it lacks."""
        doubts = list(self.kind.doubts)
        person = next((n for n, r in self.role_of.items() if r == "person"), None)
        if person is not None and self.kind.user is None and not self._is_proposed(person):
            values = len(self.dataset.columns[person].values)
            doubts.append(
                say(
                    "repeated_id",
                    attribute=format_value(person),
                    records=self.dataset.rows,
                    values=values,
                )
            )
        if self.published and not self.keys and self.kind.kind not in _WITHOUT_KEYS:
            doubts.append(say("no_keys"))
        return tuple(doubts)

    def _is_proposed(self, person: str) -> bool:
        """Whether the data say that an attribute numbers people, and not only that it repeats."""
        return self.categorisation.proposals[person].role == "person"

    def _list_moments_as_keys(self, roles: Mapping[str, Role]) -> dict[str, Role]:
        """Where nobody has records at several moments, when something was is known of somebody."""
        if self.kind.time is not None or self.kind.kind in ("totals", "crosstab"):
            return {}
        return {
            name: "quasi_identifier"
            for name, role in roles.items()
            if role == "time" and len(self.dataset.columns[name].values) > 1
        }

    def _list_roles_by_kind(self) -> dict[str, Role]:
        """Roles that follow from what the dataset is, whatever the attributes are called."""
        kind = self.kind
        if kind.table is not None:
            by: dict[str, Role] = dict.fromkeys(kind.table.by, "quasi_identifier")
            return {**by, kind.table.value: "non_identifying"}
        if kind.kind == "crosstab":
            return {}
        roles: dict[str, Role] = {}
        if kind.user is not None and kind.kind in ("panel", "histories"):
            roles[kind.user] = "person"
        if kind.item is not None:
            proposed = self.categorisation.proposals[kind.item].role
            roles[kind.item] = proposed or "quasi_identifier"
        return roles

    def _find_repeated_id(self, roles: Mapping[str, Role]) -> str | None:
        """The identifier that is of somebody with several records; the one of most values."""
        if "person" in roles.values():
            return None
        columns = {
            n: self.dataset.columns[n]
            for n, r in roles.items()
            if r == "identifier" and self.topic_of(n) not in _NOT_OF_PERSONS
        }
        unique = [c for c in columns.values() if len(c.values) == len(c.codes)]
        if unique:
            columns = {n: c for n, c in columns.items() if self.topic_of(n) == "identity"}
        numbers = {value for c in unique for value in c.values.to_pylist()}
        repeated = [
            n
            for n, c in columns.items()
            if len(c.values) < int((c.codes != c.missing_code).sum())
            # The number of another record, such as the mother's, says nothing of whose this one is.
            and not numbers.issuperset(c.values.to_pylist())
        ]
        return max(repeated, key=lambda n: len(columns[n].values), default=None)

    @property
    def roles(self) -> dict[Role, list[str]]:
        """Attributes by drafted role."""
        named = {role: [n for n, r in self.role_of.items() if r == role] for role in ROLES}
        return {role: names for role, names in named.items() if names}

    @property
    def dropped(self) -> dict[str, Proposal]:
        """What is not published because nobody knows what it is."""
        return {
            name: proposal
            for name, proposal in self.categorisation.proposals.items()
            if name not in self.role_of
        }

    @property
    def published(self) -> list[str]:
        """What goes out if the draft is taken as it stands."""
        return [name for name, role in self.role_of.items() if role not in WITHHELD_ROLES]

    @property
    def keys(self) -> list[str]:
        """The quasi-identifiers of the draft."""
        return self.roles.get("quasi_identifier", [])

    @property
    def keys_beside_events(self) -> list[str]:
        """Of a history the keys that say neither who nor when nor what."""
        kind = self.kind
        return [key for key in self.keys if key not in (kind.user, kind.time, kind.item)]

    def topic_of(self, attribute: str) -> str:
        """What an attribute is about."""
        return self.categorisation.proposals[attribute].topic
