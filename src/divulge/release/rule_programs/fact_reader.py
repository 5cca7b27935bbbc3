"""Reading what a release takes from its rules out of their facts, with what is in conflict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Sentence
from divulge.data import ROLES, Dataset, Hierarchy
from divulge.data.value_texts import format_value
from divulge.protection import Directives
from divulge.protection.changes.changes import select_records
from divulge.release.rule_programs import tuning
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import ARGUMENTS, OF_RECORDS, RISK, RuleProgram
from divulge.release.rule_programs.rule_results import RuleResults
from divulge.work import DivulgeError, InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.rules import Facts

DIRECTIVES = {
    "keep": "keep",
    "hide": "hide",
    "remove": "remove",
    "recode": "recode",
    "threshold": "threshold",
    "prefer": "prefer",
    "order": "order",
    "method": "methods",
}
"""Predicates that say what must be done or left, and the table of directives of each."""


@dataclass(frozen=True)
class RuleRow:
    """A fact that a release reads: its values without the dataset, and the rule that gave it."""

    values: tuple[Any, ...]
    rule: str | None


def gather_results(rules: RuleProgram, data: RuleData, facts: Facts) -> RuleResults:
    """Read what a release takes from its rules.

    Raises:
        InvalidInput: if rules speak of records that have no identifier, or of what is no role.
    """
    gatherer = _Gatherer(rules, data, facts)
    return gatherer.gather()


class _Gatherer:
    """Reads facts by their meaning, noting what is in conflict or cannot be followed."""

    def __init__(self, rules: RuleProgram, data: RuleData, facts: Facts) -> None:
        self.rules, self.data, self.facts = rules, data, facts
        self.problems = Problems("rules")
        self.conflicts: list[Sentence] = []
        self.derivations: list[str] = []
        self.remarks: list[Sentence] = []
        self.choices: list[Sentence] = []

    def gather(self) -> RuleResults:
        rows = {name: self._read_rows(name) for name in ARGUMENTS if name in self.rules.heads}
        self._require_identifiers(rows)
        self._note_unknown_records(rows)
        self.conflicts += self._list_equality_conflicts()
        roles = self._settle_roles(rows.get("category", {}))
        hierarchies = self._build_hierarchies(rows.get("is_a", {}))
        directives = self._build_directives(rows)
        self._tell_lowered_knowledge(rows.get("knows_only", {}))
        if self.rules.value_lists == "secret" and "hide" in rows:
            self.choices.append(Sentence("divulge.release", "rules.secret_lists"))
        self.problems.raise_any()
        return RuleResults(
            counts={name: self.facts.count(name) for name in self.rules.heads},
            rules=self.rules.list_rule_names(),
            pairs={name: self._build_pairs(name) for name in self.rules.pairs},
            roles=roles,
            hierarchies=hierarchies,
            directives=directives,
            conflicts=tuple(self.conflicts),
            derivations=tuple(self.derivations),
            remarks=tuple(self.remarks),
            choices=tuple(self.choices),
        )

    def _read_rows(self, predicate: str) -> dict[str, list[RuleRow]]:
        """The facts of a predicate by dataset, in order."""
        has_dataset = self.rules.heads[predicate] > len(ARGUMENTS[predicate])
        rows: dict[str, list[RuleRow]] = {}
        origins = [(row.values, row.rule) for row in self.facts.find_rows(predicate)]
        if not origins:
            return {}
        names = {values[0] for values, _ in origins} if has_dataset else {None}
        subjects = {}
        for name in sorted(names, key=str):
            try:
                subjects[name] = self.data.find_subject(name).name
            except InvalidInput as error:
                self.problems.extend(predicate, error.problems)
        for values, rule in origins:
            subject = subjects.get(values[0] if has_dataset else None)
            if subject is not None:
                row = RuleRow(values[1:] if has_dataset else values, self.rules.name_rule(rule))
                rows.setdefault(subject, []).append(row)
        return rows

    def _require_identifiers(self, rows: Mapping[str, Mapping[str, Sequence[RuleRow]]]) -> None:
        """Records are called by their identifier: numbers would change as records are removed."""
        for predicate in OF_RECORDS:
            for name in rows.get(predicate, {}):
                if len(self.data.datasets[name].dictionary.having("identifier")) != 1:
                    message = (
                        f'speaks of single records of "{name}", which rules call by their '
                        "identifier: give exactly one attribute that role."
                    )
                    self.problems.add(predicate, message)

    def _note_unknown_records(self, rows: Mapping[str, Mapping[str, Sequence[RuleRow]]]) -> None:
        """Facts that name no record: of another identifier (7 and "007"), or of nobody here.

        A risk that names nobody at all would make every limit on it pass.
        """
        for predicate in OF_RECORDS:
            for name, facts in rows.get(predicate, {}).items():
                dataset = self.data.datasets[name]
                identifiers = dataset.dictionary.having("identifier")
                if len(identifiers) != 1:
                    continue
                values = dataset.columns[identifiers[0]].values.to_pylist()
                records = {text for value in values for text in (str(value), format_value(value))}
                unknown = sum(str(row.values[0]) not in records for row in facts)
                found = {"predicate": predicate, "dataset": name, "count": unknown}
                if predicate == RISK and unknown == len(facts):
                    self.conflicts.append(Sentence("divulge.release", "rules.risk_of_none", found))
                elif unknown:
                    self.remarks.append(Sentence("divulge.release", "rules.no_record", found))

    def _list_equality_conflicts(self) -> Iterator[Sentence]:
        from divulge.rules import explain

        by_rule: dict[int, int] = {}
        for conflict in self.facts.conflicts:
            by_rule[conflict.number] = by_rule.get(conflict.number, 0) + 1
        for conflict in self.facts.conflicts[: tuning.MOST_EXPLAINED_CONFLICTS]:
            self.derivations.append(str(explain(self.facts, conflict)))
        for number, count in by_rule.items():
            values = {"rule": self.rules.name_rule(number), "count": count}
            yield Sentence("divulge.release", "rules.conflict", values)

    def _settle_roles(self, rows: Mapping[str, Sequence[RuleRow]]) -> dict[str, dict[str, str]]:
        """Roles of attributes that have none; two for one attribute are a conflict."""
        roles: dict[str, dict[str, str]] = {}
        for name, facts in rows.items():
            dictionary = self.data.datasets[name].dictionary
            proposals: dict[str, dict[str, str | None]] = {}
            words: dict[tuple[str, str], Any] = {}
            for row in facts:
                attribute, word = row.values
                role = _read_role(word)
                if attribute not in self.data.datasets[name].columns:
                    message = f'"{name}" has no attribute "{attribute}".'
                    self.problems.add(
                        "category", message, attribute, self.data.datasets[name].names
                    )
                elif role is None:
                    message = f'"{word}" is no role of an attribute.'
                    self.problems.add("category", message, str(word), ROLES)
                else:
                    proposals.setdefault(attribute, {}).setdefault(role, row.rule)
                    words.setdefault((attribute, role), word)
            for attribute, found in proposals.items():
                declared = dictionary[attribute].role
                others = [role for role in found if role != declared]
                if declared is not None and others:
                    values = {
                        "dataset": name,
                        "attribute": attribute,
                        "declared": declared,
                        "rule": found[others[0]] or "category",
                        "role": others[0],
                    }
                    self.remarks.append(Sentence("divulge.release", "rules.role_decided", values))
                elif declared is None and len(found) > 1:
                    values = {"dataset": name, "attribute": attribute} | _describe_two(found)
                    self.conflicts.append(
                        Sentence("divulge.release", "rules.role_conflict", values)
                    )
                    for role in list(found)[: tuning.MOST_EXPLAINED_CONFLICTS]:
                        self._explain_role(name, attribute, words[attribute, role])
                elif declared is None:
                    [(role, rule)] = found.items()
                    roles.setdefault(name, {})[attribute] = role
                    values = {"dataset": name, "attribute": attribute, "role": role}
                    values["rule"] = rule or "category"
                    self.choices.append(Sentence("divulge.release", "rules.role_given", values))
        return roles

    def _explain_role(self, name: str, attribute: str, word: Any) -> None:
        from divulge.rules.explanation.explain import explain_key

        has_dataset = self.rules.heads["category"] > len(ARGUMENTS["category"])
        values = (name, attribute, word) if has_dataset else (attribute, word)
        self.derivations.append(str(explain_key(self.facts, ("category", values))))

    def _tell_lowered_knowledge(self, rows: Mapping[str, Sequence[RuleRow]]) -> None:
        """Rules that let adversaries know less lower every figure of theirs: that is said."""
        for name, facts in rows.items():
            values = {"dataset": name, "count": len({row.values[0] for row in facts})}
            self.choices.append(Sentence("divulge.release", "rules.knows_only", values))

    def _build_hierarchies(
        self, rows: Mapping[str, Sequence[RuleRow]]
    ) -> dict[str, dict[str, Hierarchy]]:
        """Hierarchies of attributes that have none, if every value has a place in them."""
        hierarchies: dict[str, dict[str, Hierarchy]] = {}
        for name, facts in rows.items():
            dataset = self.data.datasets[name]
            by_attribute: dict[str, list[tuple[str, str]]] = {}
            for row in facts:
                attribute, value, coarser = map(str, row.values)
                if attribute in dataset.columns:
                    by_attribute.setdefault(attribute, []).append((value, coarser))
                else:
                    message = f'"{name}" has no attribute "{attribute}".'
                    self.problems.add("is_a", message, attribute, dataset.names)
            for attribute, pairs in by_attribute.items():
                if dataset.dictionary[attribute].hierarchy is not None:
                    self._note_hierarchy("has_hierarchy", name, attribute)
                    continue
                try:
                    hierarchy = Hierarchy.from_pairs(pairs, f'is_a, "{attribute}"')
                except DivulgeError as error:
                    self.problems.add(f'is_a, "{attribute}"', str(error))
                    continue
                values = dataset.columns[attribute].values.to_pylist()
                lacking = len(set(hierarchy.lacks(values)))
                if lacking:
                    self._note_hierarchy("lacks_values", name, attribute, count=lacking)
                else:
                    hierarchies.setdefault(name, {})[attribute] = hierarchy
        return hierarchies

    def _note_hierarchy(self, key: str, name: str, attribute: str, **more: Any) -> None:
        values = {"dataset": name, "attribute": attribute, **more}
        self.remarks.append(Sentence("divulge.release", f"rules.{key}", values))

    def _build_directives(
        self, rows: Mapping[str, Mapping[str, Sequence[RuleRow]]]
    ) -> dict[str, Directives]:
        directives: dict[str, Directives] = {}
        for name in self.data.published:
            tables = {
                table: [(*row.values, row.rule) for row in rows.get(predicate, {}).get(name, ())]
                for predicate, table in DIRECTIVES.items()
            }
            if not any(tables.values()):
                continue
            identifiers = self.data.datasets[name].dictionary.having("identifier")
            on = identifiers[0] if len(identifiers) == 1 else None
            try:
                directives[name] = Directives(on=on, **_read_numbers(tables))
            except InvalidInput as error:
                self.problems.extend("", error.problems)
        return directives

    def _build_pairs(self, predicate: str) -> Dataset:
        names = list(self.rules.pairs[predicate])
        return build_pairs(predicate, self.facts[predicate].rename_columns(names))


def build_pairs(predicate: str, table: pa.Table) -> Dataset:
    """Facts of two arguments as a dataset that links may name."""
    import pyarrow as pa

    if table.num_rows:
        return Dataset.from_arrow(table, name=predicate)
    # Nobody is linked: files without a record are refused, a result may have none.
    placeholder = pa.table({name: [""] for name in table.column_names})
    return select_records(Dataset.from_arrow(placeholder, name=predicate), np.empty(0, np.int64))


def _read_role(word: Any) -> str | None:
    """A role by its name, however it is spelt: Quasi-identifier, quasi_identifier."""
    role = str(word).strip().lower().replace("-", "_").replace(" ", "_")
    return role if role in ROLES else None


def _describe_two(found: Mapping[str, str | None]) -> dict[str, str]:
    """Two roles of one attribute, each with the rule that gave it."""
    (role, rule), (other, other_rule), *_ = found.items()
    return {
        "role": role,
        "rule": rule or "category",
        "other": other,
        "other_rule": other_rule or "category",
    }


def _read_numbers(tables: Mapping[str, Sequence[tuple[Any, ...]]]) -> dict[str, Any]:
    """Rows with their numbers as directives take them."""
    numbers = {"recode": int, "threshold": float, "prefer": float, "methods": float}
    read: dict[str, Any] = {}
    for table, rows in tables.items():
        convert = numbers.get(table)
        if convert is None:
            read[table] = rows
            continue
        try:
            read[table] = [(first, convert(second), rule) for first, second, rule in rows]
        except (TypeError, ValueError):
            message = f"contains something that is no {'whole ' if convert is int else ''}number."
            raise InvalidInput("rules", [Problem(table, message)]) from None
    return read
