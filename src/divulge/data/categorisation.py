"""Roles proposed from experience: Vada-SA's attribute categorisation (Algorithm 1), with reasons.

The algorithm's four rules, and what becomes of them here:

1. every attribute has a category: one that nothing is known of is listed as `unknown`;
2. an attribute that is like a known one borrows its category: the likeness of names and of
   descriptions, the most alike known names deciding;
3. what was concluded is experience for the other attributes of the same data;
4. one category an attribute: where two are equally supported, a person decides (`conflict`).

What the data themselves show (a value of its own for every record, say) is held against it: it
makes a settled category doubtful, it never replaces one silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from divulge.data.dataset import Dataset
from divulge.data.dictionary import ROLES, SINGLE_ROLES, Dictionary, Role
from divulge.data.experience import Experience, Known
from divulge.data.likeness import NameIndex, Words, words_of
from divulge.data.signs import Combination, Sign, combinations_that_single_out, signs_of

Status: TypeAlias = Literal["settled", "doubt", "conflict", "unknown"]

# Known names that are alike by no less than this below the best speak with the same voice.
MARGIN = 0.03
# A category that is less supported than another by more than this is a doubt, not a conflict.
CLEAR = 0.1
# A user's own decision outranks the shipped base, and by more than the margin.
OWN = 0.05


@dataclass(frozen=True)
class Proposal:
    """The role proposed for one attribute, how sure it is, and why."""

    attribute: str
    role: Role | None
    status: Status
    reasons: tuple[str, ...] = ()
    candidates: tuple[Role, ...] = ()
    topic: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The proposal as plain values."""
        return {
            "attribute": self.attribute,
            "role": self.role,
            "status": self.status,
            "reasons": list(self.reasons),
            "candidates": list(self.candidates),
        }

    def __str__(self) -> str:
        said = self.role or (" or ".join(self.candidates) if self.candidates else "?")
        mark = "" if self.status == "settled" else f" ({self.status})"
        return "\n".join([f"{self.attribute}: {said}{mark}", *(f"  {r}" for r in self.reasons)])


@dataclass(frozen=True)
class Categorisation:
    """A role for every attribute where experience gives one; doubts and conflicts for a person.

    >>> from divulge.data import categorise
    >>> found = categorise({"Id": "", "birthDate": "", "Area": "Sampling weight"})
    >>> found.roles
    {'identifier': ['Id'], 'quasi_identifier': ['birthDate']}
    >>> print(found.conflicts[0])
    Area: quasi_identifier or weight (conflict)
      its name is "area" in the shipped base: quasi_identifier
      its description is "sampling weight" in the shipped base: weight
    """

    proposals: Mapping[str, Proposal]
    combinations: Sequence[Combination] = field(default=())

    @property
    def roles(self) -> dict[Role, list[str]]:
        """The proposed roles, as a dataset takes them; conflicts and unknowns have none."""
        found: dict[Role, list[str]] = {}
        for role in ROLES:
            names = [p.attribute for p in self.proposals.values() if p.role == role]
            if names:
                found[role] = names
        return found

    @property
    def conflicts(self) -> list[Proposal]:
        """Attributes that two categories fit equally well."""
        return [p for p in self.proposals.values() if p.status == "conflict"]

    @property
    def doubts(self) -> list[Proposal]:
        """Attributes with a category that something speaks against."""
        return [p for p in self.proposals.values() if p.status == "doubt"]

    @property
    def unknown(self) -> list[Proposal]:
        """Attributes that nothing is known of."""
        return [p for p in self.proposals.values() if p.status == "unknown"]

    def to_dict(self) -> dict[str, Any]:
        """All proposals as plain values."""
        return {
            "proposals": [p.to_dict() for p in self.proposals.values()],
            "combinations": [c.to_dict() for c in self.combinations],
        }

    def __str__(self) -> str:
        return "\n".join([*map(str, self.proposals.values()), *map(str, self.combinations)])


def categorise(
    data: Dataset | Dictionary | Mapping[str, str],
    experience: Experience | None = None,
    feed_back: bool = True,
) -> Categorisation:
    """Propose a role for every attribute, with reasons; doubts and conflicts are listed.

    Args:
        data: a dataset (its values are looked at too), a dictionary, or descriptions by name.
        experience: what is known; the shipped base and the user's own if not given.
        feed_back: whether conclusions are experience for the other attributes (rule 3).

    >>> found = categorise({"sexo": "", "Haushaltsnummer": "", "V7": "Monthly income"})
    >>> {name: proposal.role for name, proposal in found.proposals.items()}
    {'sexo': 'quasi_identifier', 'Haushaltsnummer': 'household', 'V7': 'sensitive'}
    """
    base = Experience.own() + Experience.shipped() if experience is None else experience
    described = _descriptions(data)
    proposals = _borrowed(described, base)
    if feed_back:
        proposals = _fed_back(described, proposals)
    proposals = _one_each(proposals)
    if not isinstance(data, Dataset):
        return Categorisation(proposals)
    weighed = {name: _weighed(p, signs_of(data, name)) for name, p in proposals.items()}
    singling = combinations_that_single_out(data, _publishable(weighed))
    return Categorisation(_suspected(weighed, singling), singling)


def _descriptions(data: Dataset | Dictionary | Mapping[str, str]) -> dict[str, str]:
    if isinstance(data, Dataset):
        data = data.dictionary
    if isinstance(data, Dictionary):
        return {attribute.name: attribute.description for attribute in data}
    return dict(data)


def _borrowed(described: Mapping[str, str], base: Iterable[Known]) -> dict[str, Proposal]:
    """Rules 2 and 4 for every attribute; those whose texts have the same words are one case."""
    known = _first_of_each_kind(base)
    words = {text: words_of(text) for texts in described.items() for text in texts}
    alike = NameIndex([k.name for k in known]).alike(words.values())
    cases: dict[tuple[Words, Words], Proposal] = {}
    proposals = {}
    for name, description in described.items():
        case = words[name], words[description]
        if case not in cases:
            matches = [_most_alike(alike.get(text, ()), known) for text in case]
            cases[case] = _concluded(name, *matches)
        proposals[name] = replace(cases[case], attribute=name)
    return proposals


def _first_of_each_kind(base: Iterable[Known]) -> list[Known]:
    """What is known, without what was known before: the same words for the same role.

    Another of them would be exactly as alike to anything, come later, and say nothing new.
    """
    kinds: dict[tuple[Words, Role, bool, bool], Known] = {}
    for known in base:
        kinds.setdefault((words_of(known.name), known.role, known.is_own, bool(known.topic)), known)
    return list(kinds.values())


def _concluded(name: str, *matches: Sequence[tuple[float, Known]]) -> Proposal:
    """A category from what is most alike to a name and to its description."""
    reasons: dict[Role, str] = {}
    degrees: dict[Role, float] = {}
    topic = ""
    for what, found in zip(("name", "description"), matches, strict=True):
        for degree, match in found:
            how = "is" if degree >= 0.98 else "is like"
            said = f'its {what} {how} "{match.name}" in {match.source}: {match.role}'
            # One reason a category is enough to read: the first, which is the best of its text.
            reasons.setdefault(match.role, said)
            degrees[match.role] = max(degree, degrees.get(match.role, 0.0))
            topic = topic or match.topic
    if not reasons:
        return Proposal(name, None, "unknown", ("not recognised",))
    best = max(degrees, key=lambda role: degrees[role])
    why = (reasons[best], *(said for role, said in reasons.items() if role != best))
    if len(reasons) == 1:
        return Proposal(name, best, "settled", why, topic=topic)
    if any(degree >= degrees[best] - CLEAR for role, degree in degrees.items() if role != best):
        return Proposal(name, None, "conflict", tuple(reasons.values()), tuple(reasons), topic)
    return Proposal(name, best, "doubt", why, tuple(reasons), topic)


def _most_alike(
    places: Iterable[tuple[int, float]], base: Sequence[Known]
) -> list[tuple[float, Known]]:
    """The known attributes most alike to a text, all that are alike by about as much."""
    degrees = [(degree, base[place]) for place, degree in places]
    alike = [(d + (OWN if k.is_own else 0), k) for d, k in degrees]
    best = max((d for d, _ in alike), default=0.0)
    # What is known by exactly this name needs no likeness.
    margin = MARGIN if best < 1 else 0.0
    return sorted(((d, k) for d, k in alike if d >= best - margin), key=lambda pair: -pair[0])


def _fed_back(described: Mapping[str, str], proposals: dict[str, Proposal]) -> dict[str, Proposal]:
    """Rule 3 to its fixpoint: each round can only give a category to some that had none.

    What had none is alike to nothing that was known before, so a round asks only the conclusions
    of the round before it.
    """
    latest = proposals
    while latest:
        concluded = [
            Known(p.attribute, p.role, p.topic, "the conclusions for these data")
            for p in latest.values()
            if p.role is not None and p.status == "settled"
        ]
        unknown = {n: described[n] for n, p in proposals.items() if p.status == "unknown"}
        again = _borrowed(unknown, concluded) if concluded else {}
        latest = {name: p for name, p in again.items() if p.status != "unknown"}
        proposals = {**proposals, **latest}
    return proposals


def _one_each(proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """A dataset has one weight, one household, one time: several are a matter for a person."""
    found = dict(proposals)
    for role in SINGLE_ROLES:
        several = [p for p in proposals.values() if p.role == role]
        if len(several) > 1:
            names = ", ".join(f'"{p.attribute}"' for p in several)
            reason = f"only one attribute can be the {role}, and several could: {names}"
            for p in several:
                found[p.attribute] = replace(
                    p,
                    role=None,
                    status="conflict",
                    reasons=(*p.reasons, reason),
                    candidates=(role,),
                )
    return found


def _weighed(proposal: Proposal, signs: Sequence[Sign]) -> Proposal:
    """A proposal against what the data show: they raise doubts, and fill gaps with doubt."""
    reasons = tuple(sign.reason for sign in signs)
    against = [sign for sign in signs if sign.speaks_against(proposal.role)]
    if proposal.role is None and proposal.status == "unknown" and signs:
        told = signs[0]
        return replace(proposal, role=told.role, status="doubt", reasons=reasons)
    if proposal.role is not None and against:
        said = tuple(f"but {sign.reason} ({sign.role}?)" for sign in against)
        return replace(proposal, status="doubt", reasons=(*proposal.reasons, *said))
    if proposal.status == "conflict":
        return replace(proposal, reasons=(*proposal.reasons, *reasons))
    return proposal


def _publishable(proposals: Mapping[str, Proposal]) -> list[str]:
    """What others might know: no identifiers, weights, households, and nothing sensitive."""
    apart = ("identifier", "weight", "household", "sensitive")
    return [p.attribute for p in proposals.values() if p.role not in apart]


def _suspected(
    proposals: Mapping[str, Proposal], singling: Sequence[Combination]
) -> dict[str, Proposal]:
    """Attributes in combinations that single many out are quasi-identifier suspects."""
    found = dict(proposals)
    for combination in singling:
        for name in combination.attributes:
            proposal = found[name]
            already = any("single out" in reason for reason in proposal.reasons)
            if proposal.role in (None, "non_identifying") and not already:
                if proposal.status == "conflict":
                    continue
                found[name] = replace(
                    proposal,
                    role=proposal.role or "quasi_identifier",
                    status="doubt",
                    reasons=(*proposal.reasons, f"{combination} (quasi_identifier?)"),
                )
    return found
