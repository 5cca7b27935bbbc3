"""An attack on records that stay where they are, as it was asked for, and as an engine sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from divulge.classes.relation.record_view import EVERYBODY
from divulge.classes.relation.values import count_values
from divulge.classes.relation.weights import WeighedView, weigh_by_attribute, weigh_by_person
from divulge.data import Relation
from divulge.data.relation.relation import build_elsewhere_error
from divulge.records.relation_models.linked_relations import LinkedRelations
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationRequest:
    """What is known and sought of which records, and what each of them weighs."""

    model: str
    linked: LinkedRelations
    known: list[str]
    sought: list[str]
    prior: Any = None
    gain: Any = None
    person: str | None = None
    """The attribute that says whose a record is, where somebody has several."""
    is_prefix: bool = False
    """Whether it is one of several prefixes of the same years."""

    @property
    def focal(self) -> Relation:
        """The relation that is attacked."""
        return self.linked.focal

    @property
    def columns(self) -> list[str]:
        """What is known, as the view has it."""
        return self.linked.list_columns(self.known) or [EVERYBODY]

    @property
    def secret(self) -> list[str]:
        """What is sought, as the view has it; of people without another secret, who they are."""
        names = self.sought or ([self.person] if self.person else [])
        return self.linked.list_focal_columns(names)

    @cached_property
    def people(self) -> int:
        """How many people the records are of."""
        return count_values(self.focal, self.person) if self.person else self.focal.rows

    @cached_property
    def weighed(self) -> WeighedView | None:
        """The records with what each weighs; None if all weigh the same.

        Raises:
            RecordsElsewhere: if an engine cannot weigh them.
        """
        view = self.linked.view
        if self.person is not None:
            if self.prior is not None:
                self.refuse("a prior on records of people")
            weighed = weigh_by_person(view, self.focal.find_column(self.person))
            if weighed is None:
                self.refuse("people of whom some have very many records")
            return weighed
        if self.prior is None:
            return None
        name = self._find_prior()
        return weigh_by_attribute(self.focal, view, name, self.focal.find_column(name))

    def refuse(self, what: str) -> NoReturn:
        """Say what is counted in memory only.

        Raises:
            RecordsElsewhere: always.
        """
        raise build_elsewhere_error(self.focal.name, self.focal.engine, what)

    def _find_prior(self) -> str:
        """The attribute that a prior names; numbers of single records have no order to go by."""
        if not isinstance(self.prior, str):
            self.refuse("a prior of one number a record")
        declared = self.focal.dictionary.having("weight")
        name = declared[0] if self.prior == "weight" and declared else str(self.prior)
        if name not in self.focal.names:
            message = f'there is no weight "{name}"; declare the role, or give numbers.'
            problem = Problem("prior", message, value=name, allowed=self.focal.names)
            raise InvalidInput(f'dataset "{self.focal.name}"', [problem])
        return name
