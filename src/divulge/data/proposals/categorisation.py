"""Roles proposed from experience: Vada-SA's attribute categorisation (Algorithm 1), with reasons.

The algorithm's four rules, and what becomes of them here:

1. every attribute has a category: one that nothing is known of is listed as `unknown`;
2. an attribute that is like a known one borrows its category: the likeness of names and of
   descriptions, the most alike known names deciding;
3. what was concluded is experience for the other attributes of the same data;
4. one category an attribute: where two are equally supported, a person decides (`conflict`). What
   they decided is kept, and wins over likeness the next time.

What the data themselves show (a value of its own for every record, say) is held against it: it
makes a settled category doubtful, it never replaces one silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from divulge.data import tuning
from divulge.data.dataset import Dataset
from divulge.data.dictionary import ROLES, SINGLE_ROLES, Dictionary, Role
from divulge.data.proposals.abbreviations import Abbreviations
from divulge.data.proposals.codebooks import find_codebook_entries
from divulge.data.proposals.known_attributes import Experience, KnownAttribute
from divulge.data.proposals.name_similarity import NameIndex, Words, split_words
from divulge.data.proposals.proposal import Proposal
from divulge.data.proposals.value_judgement import flag_shared_single_roles, judge_by_values
from divulge.data.proposals.value_patterns import Combination, find_singling_combinations


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
        names_by_role: dict[Role, list[str]] = {}
        for role in ROLES:
            names = [p.attribute for p in self.proposals.values() if p.role == role]
            if names:
                names_by_role[role] = names
        return names_by_role

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
    known_base = Experience.own() + Experience.shipped() if experience is None else experience
    descriptions = _list_descriptions(data)
    proposals = _read_codebook(_borrow_roles(descriptions, known_base))
    proposals = _take_decisions(proposals, known_base)
    if feed_back:
        proposals = _feed_back_conclusions(descriptions, proposals)
    proposals = _guess_abbreviations(proposals, known_base)
    if not isinstance(data, Dataset):
        return Categorisation(flag_shared_single_roles(proposals))
    judged_proposals = judge_by_values(data, proposals)
    if any(p.role == "person" for p in judged_proposals.values()):
        return Categorisation(judged_proposals)  # what singles out a record singles out no person
    combinations = find_singling_combinations(data, _list_publishable(judged_proposals))
    return Categorisation(_flag_suspects(judged_proposals, combinations), combinations)


def _list_descriptions(data: Dataset | Dictionary | Mapping[str, str]) -> dict[str, str]:
    if isinstance(data, Dataset):
        data = data.dictionary
    if isinstance(data, Dictionary):
        return {attribute.name: attribute.description for attribute in data}
    return dict(data)


def _borrow_roles(
    descriptions: Mapping[str, str], base: Iterable[KnownAttribute]
) -> dict[str, Proposal]:
    """Rules 2 and 4 for every attribute; those whose texts have the same words are one case."""
    known_attributes = _drop_repeated_attributes(base)
    words = {text: split_words(text) for texts in descriptions.items() for text in texts}
    similar = NameIndex([k.name for k in known_attributes]).find_similar(words.values())
    cases: dict[tuple[Words, Words], Proposal] = {}
    proposals = {}
    for name, description in descriptions.items():
        case = words[name], words[description]
        if case not in cases:
            matches = [
                _select_most_similar(similar.get(text, ()), known_attributes) for text in case
            ]
            cases[case] = _conclude_role(name, description, *matches)
        proposals[name] = replace(cases[case], attribute=name)
    return proposals


def _drop_repeated_attributes(base: Iterable[KnownAttribute]) -> list[KnownAttribute]:
    """What is known, without what was known before: the same words for the same role.

    Another of them would be exactly as alike to anything, come later, and say nothing new.
    """
    first_of_kind: dict[tuple[Words, Role, bool, bool], KnownAttribute] = {}
    for attribute in base:
        first_of_kind.setdefault(
            (split_words(attribute.name), attribute.role, attribute.is_own, bool(attribute.topic)),
            attribute,
        )
    return list(first_of_kind.values())


def _conclude_role(
    name: str, description: str, *matches: Sequence[tuple[float, KnownAttribute]]
) -> Proposal:
    """A category from what is most alike to a name and to its description."""
    reasons: dict[Role, str] = {}
    degrees: dict[Role, float] = {}
    topic = ""
    for what, similar in zip(("name", "description"), matches, strict=True):
        for degree, match in similar:
            how = "is" if degree >= 0.98 else "is like"
            reason = f'its {what} {how} "{match.name}" in {match.source}: {match.role}'
            # One reason a category is enough to read: the first, which is the best of its text.
            reasons.setdefault(match.role, reason)
            degrees[match.role] = max(degree, degrees.get(match.role, 0.0))
            topic = topic or ("number" if _says_only_number(match, degree) else match.topic)
    if not reasons:
        return Proposal(attribute=name, role=None, status="unknown", reasons=("not recognised",))
    if _is_described_by_name(name, description, matches[0]):
        # "Age of card-holder" is about an age; whose it is does not make it an id.
        reasons = {"quasi_identifier": reasons["quasi_identifier"]}
        degrees = {"quasi_identifier": degrees["quasi_identifier"]}
    if len(reasons) > 1 and degrees.get("time", 1.0) < 0.95:
        del reasons["time"], degrees["time"]  # earnings of a month are earnings
    best = max(degrees, key=lambda role: degrees[role])
    ordered_reasons = (reasons[best], *(reason for role, reason in reasons.items() if role != best))
    if len(reasons) == 1:
        return Proposal(
            attribute=name, role=best, status="settled", reasons=ordered_reasons, topic=topic
        )
    if any(
        degree >= degrees[best] - tuning.CLEAR_LEAD
        for role, degree in degrees.items()
        if role != best
    ):
        return Proposal(
            attribute=name,
            role=None,
            status="conflict",
            reasons=tuple(reasons.values()),
            candidates=tuple(reasons),
            topic=topic,
        )
    return Proposal(
        attribute=name,
        role=best,
        status="doubt",
        reasons=ordered_reasons,
        candidates=tuple(reasons),
        topic=topic,
    )


def _is_described_by_name(
    name: str, description: str, matches: Sequence[tuple[float, KnownAttribute]]
) -> bool:
    """Whether a name is that of a known quasi-identifier, and the description says it again.

    >>> known = [(1.0, KnownAttribute("age", "quasi_identifier", "person"))]
    >>> _is_described_by_name("AGE", "Age of card-holder", known)
    True
    >>> _is_described_by_name("AGE", "Number of card-holder", known)
    False
    """
    words = split_words(name)
    is_known = bool(matches) and all(
        match.role == "quasi_identifier" and degree >= 0.98 for degree, match in matches
    )
    return is_known and bool(words) and split_words(description)[: len(words)] == words


_OF_ONE: frozenset[Role] = frozenset({*SINGLE_ROLES, "identifier", "group"})
_NUMBERING = frozenset({"id", "identifier", "number", "record", "unique", "uid", "code"})


def _says_only_number(match: KnownAttribute, degree: float) -> bool:
    """Whether a likeness says that an attribute numbers something, and not what.

    >>> _says_only_number(KnownAttribute("id", "identifier", "identity"), 0.83)
    True
    >>> _says_only_number(KnownAttribute("customer id", "identifier", "identity"), 0.87)
    False
    """
    return degree < 0.98 and _NUMBERING.issuperset(split_words(match.name))


def _take_decisions(
    proposals: Mapping[str, Proposal], base: Iterable[KnownAttribute]
) -> dict[str, Proposal]:
    """What the user decided of an attribute of this very name, whatever else it is like."""
    decisions: dict[str, dict[Role, KnownAttribute]] = {}
    for known in base:
        if known.is_own:
            decisions.setdefault(known.name.strip().casefold(), {}).setdefault(known.role, known)
    taken = {}
    for name, proposal in proposals.items():
        own = decisions.get(name.strip().casefold(), {})
        taken[name] = proposal
        if len(own) == 1:  # of two decisions, a person must choose again
            [(role, known)] = own.items()
            reason = f'its name is "{known.name}" in {known.source}: {role}'
            others = (each for each in proposal.reasons if each != reason)
            taken[name] = replace(
                proposal,
                role=role,
                status="settled",
                reasons=(reason, *others),
                candidates=(),
                is_decided=True,
            )
    return taken


def _read_codebook(proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """What the codebook of a survey says, where the names are those of one."""
    entries = find_codebook_entries(proposals)
    return {
        name: proposal
        if name not in entries
        else Proposal(
            attribute=name,
            role=entries[name].role,
            status="settled",
            reasons=(entries[name].reason,),
            topic=entries[name].topic,
            is_from_codebook=True,
        )
        for name, proposal in proposals.items()
    }


def _guess_abbreviations(
    proposals: Mapping[str, Proposal], base: Iterable[KnownAttribute]
) -> dict[str, Proposal]:
    """What nothing is known of, as words run together or cut short: `marstat`, `exper`, `agew`."""
    unknown = [name for name, proposal in proposals.items() if proposal.status == "unknown"]
    if not unknown:
        return dict(proposals)
    # What a person decided of one name says nothing of another that begins like it.
    known_attributes = _drop_repeated_attributes(known for known in base if not known.is_own)
    abbreviations = Abbreviations([known.name for known in known_attributes])
    full_names = {name: abbreviations.expand(split_words(name)) for name in unknown}
    guesses = _borrow_roles(
        {name: " ".join(full) for name, full in full_names.items() if full}, known_attributes
    )
    return {
        name: replace(
            guesses[name],
            reasons=tuple(
                reason.replace("its description", f'its name, read as "{" ".join(full)}",')
                for reason in guesses[name].reasons
            ),
        )
        # Nobody is counted by a key whose name was guessed.
        if (full := full_names.get(name))
        and guesses[name].status != "unknown"
        and guesses[name].role not in _OF_ONE - {"household", "weight"}
        else proposal
        for name, proposal in proposals.items()
    }


def _select_most_similar(
    places: Iterable[tuple[int, float]], base: Sequence[KnownAttribute]
) -> list[tuple[float, KnownAttribute]]:
    """The known attributes most alike to a text, all that are alike by about as much."""
    degrees = [(degree, base[place]) for place, degree in places]
    similar = [(d + (tuning.OWN_BASE_BONUS if k.is_own else 0), k) for d, k in degrees]
    best = max((d for d, _ in similar), default=0.0)
    # What is known by exactly this name needs no likeness.
    margin = tuning.TIE_MARGIN if best < 1 else 0.0
    return sorted(((d, k) for d, k in similar if d >= best - margin), key=lambda pair: -pair[0])


def _feed_back_conclusions(
    descriptions: Mapping[str, str], proposals: dict[str, Proposal]
) -> dict[str, Proposal]:
    """Rule 3 to its fixpoint: each round can only give a category to some that had none.

    What had none is alike to nothing that was known before, so a round asks only the conclusions
    of the round before it.
    """
    latest = proposals
    while latest:
        conclusions = [
            KnownAttribute(p.attribute, p.role, p.topic, "the conclusions for these data")
            for p in latest.values()
            # Another weight or id like one that there is says nothing but that it is another.
            if p.role is not None and p.status == "settled" and p.role not in _OF_ONE
        ]
        unknown = {n: descriptions[n] for n, p in proposals.items() if p.status == "unknown"}
        next_proposals = _borrow_roles(unknown, conclusions) if conclusions else {}
        latest = {name: p for name, p in next_proposals.items() if p.status != "unknown"}
        proposals = {**proposals, **latest}
    return proposals


def _list_publishable(proposals: Mapping[str, Proposal]) -> list[str]:
    """What others might know: no identifiers, weights, households, and nothing sensitive."""
    unpublished_roles = ("identifier", "weight", "household", "sensitive")
    return [p.attribute for p in proposals.values() if p.role not in unpublished_roles]


def _flag_suspects(
    proposals: Mapping[str, Proposal], combinations: Sequence[Combination]
) -> dict[str, Proposal]:
    """Attributes in combinations that single many out are quasi-identifier suspects."""
    flagged_proposals = dict(proposals)
    for combination in combinations:
        for name in combination.attributes:
            proposal = flagged_proposals[name]
            is_flagged = any("single out" in reason for reason in proposal.reasons)
            if proposal.role in (None, "non_identifying") and not is_flagged:
                if proposal.status == "conflict" or proposal.is_decided:
                    continue
                flagged_proposals[name] = replace(
                    proposal,
                    role=proposal.role or "quasi_identifier",
                    status="doubt",
                    reasons=(*proposal.reasons, f"{combination} (quasi_identifier?)"),
                )
    return flagged_proposals
