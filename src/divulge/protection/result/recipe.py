"""Recipes: a recoding that was settled once, kept as a file, and applied to other data.

A recipe holds the level of every attribute, the hierarchies (a rule, or a table of values), the
limits, and how many records may be removed; no record. Where a hierarchy is a table that was made
from the data at hand, its list of values is one of the data: such a recipe is internal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from divulge.assessment import Limit
from divulge.data import ROLES, Dataset, Hierarchy
from divulge.data.dictionary import as_names
from divulge.protection.result.recipe_application import apply_recipe
from divulge.records.risk.custom_risk import name_function
from divulge.work import (
    DivulgeError,
    InvalidInput,
    Problem,
    Problems,
    checks,
    input_file,
    usable_path,
    version,
    whole_file,
)

if TYPE_CHECKING:
    from divulge.data.column_fate import Unlisted
    from divulge.protection.result.protected import Protected

FORMAT = 1
"""The newest format of recipes that this version reads."""

DEFAULT_SUPPRESSION_LIMIT = 0.05

_FIELDS = (
    "format", "divulge", "dataset", "roles", "levels", "hierarchies", "limits", "left_out",
    "suppression_limit", "dropped",
)  # fmt: skip
_BOUNDS = ("measure", "at_most", "at_least", "attribute")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Levels of hierarchies that make limits hold, to be applied to other data.

    >>> import divulge as dv
    >>> companies = dv.datasets.local_suppression_example()
    >>> area = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    >>> limit = dv.Limit("k_anonymity", at_least=2)
    >>> p = dv.protection.protect(companies, [limit], is_a={"Area": area}, suppression_limit=0.4)
    >>> p.recipe.levels, p.recipe.apply(companies).removed
    ({'Area': 1}, 1)
    """

    result_type: ClassVar[type[Protected]]
    withstand: ClassVar[Callable[[Protected, Unlisted | None], Protected]]
    """The refill attack on what would be published, and who must go for it."""
    dataset: str
    """The name of the data that it was made of."""
    roles: Mapping[str, str | list[str]]
    levels: Mapping[str, int]
    hierarchies: Mapping[str, Hierarchy]
    limits: tuple[Limit, ...]
    needs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """By place of a limit, the options that are datasets: `apply` must be given these."""
    left_out: tuple[str, ...] = ()
    """Limits of adversaries, which only their release can judge."""
    suppression_limit: float = DEFAULT_SUPPRESSION_LIMIT
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By column that is not published, the attributes that it would tell."""

    @property
    def quasi_identifiers(self) -> list[str]:
        """The attributes that make records look alike."""
        return as_names(self.roles.get("quasi_identifier", ()))

    def apply(
        self,
        dataset: Dataset,
        *,
        others: Mapping[str, Dataset] | None = None,
        suppression_limit: float | None = None,
        unlisted: Unlisted | None = None,
    ) -> Protected:
        """Recode other data to the same levels, and remove the records that still fail a limit.

        What would be published is refilled as an attacker would, and who fails then is removed too.

        Args:
            dataset: the data, with the same roles or none.
            others: datasets that limits compare with, by option: `{"population": everybody}`.
            suppression_limit: the share of records that may be removed; the recipe's if not given.
            unlisted: what becomes of attributes without a role; as if they were published if not
                given.

        Raises:
            InvalidInput: if the recipe does not fit the data, or more records would have to go.
        """
        share = self.suppression_limit if suppression_limit is None else suppression_limit
        applied = apply_recipe(self, dataset, others or {}, share)
        return replace(
            type(self).withstand(applied, unlisted),
            again=lambda other: self.apply(
                other, others=others, suppression_limit=share, unlisted=unlisted
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """The recipe as its file has it."""
        return {
            "format": FORMAT,
            "divulge": version(),
            "dataset": self.dataset,
            "roles": dict(self.roles),
            "levels": dict(self.levels),
            "hierarchies": {
                name: dict(hierarchy.as_settings()) for name, hierarchy in self.hierarchies.items()
            },
            "limits": [
                _write_limit(limit, self.needs.get(place, ()))
                for place, limit in enumerate(self.limits)
            ],
            "left_out": list(self.left_out),
            "suppression_limit": self.suppression_limit,
            "dropped": {name: list(told) for name, told in self.dropped.items()},
        }

    def write(self, path: Path | str, overwrite: bool = False) -> None:
        """Write the recipe as JSON; a file that exists is replaced only if that is said."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        with whole_file(path, overwrite) as part:
            part.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str) -> Recipe:
        """Read a recipe that `write` has written, or that somebody has edited since.

        Raises:
            InvalidInput: if it is none, of a newer format, or does not make sense.
        """
        return _parse_recipe(_read_json(usable_path(path)), str(path))


def build_recipe(protected: Protected) -> Recipe:
    """The recipe of a protection that made whole columns coarser.

    Raises:
        DivulgeError: if single records were made coarser, decisions were undone, or a limit has
            links that are no attribute: these are of the records at hand.
    """
    changes = protected.decisions.changes
    if any(change.kind == "recoded" and not change.whole_column for change in changes):
        raise DivulgeError(
            "a recipe is for whole columns: here, values of single records were made coarser"
        )
    if protected.undone:
        raise DivulgeError("decisions were undone: protect again, and take that recipe")
    dictionary = protected.original.dictionary
    judged = [limit for limit in protected.limits if limit.adversary is None]
    for limit in judged:
        _refuse_own_links(limit)
        _refuse_functions(limit)
    return Recipe(
        dataset=protected.original.name,
        roles={str(role): names for role, names in dictionary.roles.items()},
        levels={name: level for name, level in protected.levels.items() if level},
        hierarchies={
            name: attribute.hierarchy
            for name, attribute in dictionary.attributes.items()
            if attribute.hierarchy is not None
            and (name in protected.among or name in protected.levels)
        },
        limits=tuple(_name_datasets(limit) for limit in judged),
        needs={
            place: names
            for place, limit in enumerate(judged)
            if (names := _list_dataset_options(limit))
        },
        left_out=tuple(
            f"{limit.measure} of {limit.adversary}"
            for limit in protected.limits
            if limit.adversary is not None
        ),
        suppression_limit=protected.suppression_limit,
        dropped=dict(protected.dropped),
    )


def _list_dataset_options(limit: Limit) -> tuple[str, ...]:
    """Options that are other data; the original of new data are these themselves."""
    return tuple(
        name
        for name, option in limit.options.items()
        if isinstance(option, Dataset) and name != "original"
    )


def _name_datasets(limit: Limit) -> Limit:
    """A limit with the names of the data that it compares with, in their place."""
    options = {
        name: option.name if isinstance(option, Dataset) else option
        for name, option in limit.options.items()
        if name != "original"
    }
    return Limit(limit.measure, limit.at_most, limit.at_least, attribute=limit.attribute, **options)


def _refuse_own_links(limit: Limit) -> None:
    links = limit.options.get("links")
    if links is not None and not isinstance(links, str):
        raise DivulgeError(
            f"the limit on {limit.measure} has links between the records at hand; a recipe can "
            "name an attribute that links them, and no pairs"
        )


def _refuse_functions(limit: Limit) -> None:
    if any(callable(option) for option in limit.options.values()):
        name = name_function(limit.options.get("risk"))
        raise DivulgeError(
            f'the limit on {limit.measure} is of a function ("{name}"), and a recipe is a file, '
            "which cannot contain one"
        )


def _write_limit(limit: Limit, needs: tuple[str, ...]) -> dict[str, Any]:
    fields = {
        name: getattr(limit, name) for name in _BOUNDS if getattr(limit, name) is not None
    } | dict(limit.options)
    return fields | ({"needs": list(needs)} if needs else {})


def _read_json(path: Path) -> Any:
    try:
        return json.loads(input_file(path).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        message = "cannot be read as UTF-8 text."
    except (ValueError, RecursionError):
        message = "is not JSON; a recipe is written by `write`."
    raise InvalidInput(str(path), [Problem("", message)])


def _parse_recipe(content: Any, subject: str) -> Recipe:
    problems = Problems(subject)
    if not isinstance(content, dict) or "format" not in content:
        problems.add("", "is not a recipe: it has no format.")
        problems.raise_any()
    number = content["format"]
    if checks.is_whole_number(number) and number > FORMAT:
        problems.add(
            "format",
            f"{number} is newer than what this version reads (Divulge {version()}, format "
            f"{FORMAT}). Install a newer Divulge.",
        )
        problems.raise_any()
    for name in content:
        if name not in _FIELDS:
            problems.add("", f'"{name}" is not a part of a recipe.', str(name), _FIELDS)
    for name, kind in (("levels", dict), ("hierarchies", dict), ("limits", list), ("roles", dict)):
        if not isinstance(content.get(name), kind):
            problems.add(name, "is not there, or of another kind.")
    if number != FORMAT:
        problems.add("format", f"is not {FORMAT}.")
    share = content.get("suppression_limit", DEFAULT_SUPPRESSION_LIMIT)
    problems.extend("", checks.share("suppression_limit", share))
    problems.raise_any()
    hierarchies = {
        name: hierarchy
        for name, settings in content["hierarchies"].items()
        if (hierarchy := _parse_hierarchy(name, settings, problems)) is not None
    }
    _check_levels(content, hierarchies, problems)
    limits, needs = _parse_limits(content["limits"], problems)
    roles = {role: names for role, names in content["roles"].items() if role in ROLES}
    for role in content["roles"]:
        if role not in ROLES:
            problems.add("roles", f'"{role}" is not a role.', str(role), ROLES)
    problems.raise_any()
    return Recipe(
        dataset=str(content.get("dataset", "")),
        roles=roles,
        levels=content["levels"],
        hierarchies=hierarchies,
        limits=limits,
        needs=needs,
        left_out=tuple(map(str, content.get("left_out", ()))),
        suppression_limit=float(share),
        dropped={name: tuple(told) for name, told in dict(content.get("dropped", {})).items()},
    )


def _parse_hierarchy(name: str, settings: Any, problems: Problems) -> Hierarchy | None:
    place = f'hierarchies, "{name}"'
    try:
        if isinstance(settings, dict):
            return Hierarchy.from_settings(settings)
        problems.add(place, "is not a rule or levels.")
    except InvalidInput as error:
        problems.extend(place, error.problems)
    except DivulgeError as error:
        problems.add(place, f"{error}")
    except (TypeError, ValueError):
        problems.add(place, "contains something of another kind.")
    return None


def _check_levels(
    content: Mapping[str, Any], hierarchies: Mapping[str, Hierarchy], problems: Problems
) -> None:
    for name, level in content["levels"].items():
        place = f'levels, "{name}"'
        if name not in content["hierarchies"]:
            problems.add(place, "has no hierarchy.")
        elif not checks.is_whole_number(level, 0):
            problems.add(place, f"{checks.describe_value(level)} is not a level.")
        elif name in hierarchies and level > hierarchies[name].height:
            message = f"{level} does not exist: levels are 0 to {hierarchies[name].height}."
            problems.add(place, message)


def _parse_limits(
    entries: list[Any], problems: Problems
) -> tuple[tuple[Limit, ...], dict[int, tuple[str, ...]]]:
    limits, needs = [], {}
    for place, entry in enumerate(entries):
        where = f"limit {place + 1}"
        if not isinstance(entry, dict) or "measure" not in entry:
            problems.add(where, "has no measure.")
            continue
        fields = {name: option for name, option in entry.items() if name != "needs"}
        try:
            limits.append(Limit(**{str(name): option for name, option in fields.items()}))
        except InvalidInput as error:
            problems.extend(where, error.problems)
        except TypeError:
            problems.add(where, "is not a limit.")
        if entry.get("needs"):
            needs[place] = tuple(map(str, entry["needs"]))
    return tuple(limits), needs
