"""Two years without a common id: what the second year adds, though nobody knows who is who.

Somebody who knows their victim in both years is helped by the second year as far as records can be
linked by what never changes, grows alike for all, or mostly stays (Alvim et al. 2022, Sec. 7, leave
it open). From likely pairs follows how many of each secret there are among those who look so in the
first year and so in the second; the best guess is the commonest. What becomes of people is an
assumption or an estimate, so all figures are estimates, with the range that the linkage leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from divulge.assessment import Assessment, Sentence
from divulge.classes.partition import AttributeCodes, Partition
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset, Relation
from divulge.data.dictionary import find_name_problems
from divulge.data.relation.relation import build_elsewhere_error
from divulge.qif import PriorPosterior
from divulge.records import tuning
from divulge.records.inference.secrets import Secrets
from divulge.records.models.everybody import describe_attack
from divulge.records.unlinked.pair_likelihoods import Pairs, Rates, RecordMatching
from divulge.records.unlinked.shared_codes import MOVES, Link, build_link_codes, check_link
from divulge.work import Problems, checks
from divulge.work.arrays import Floats, Ints

_ABSENT = -1


@dataclass(frozen=True, kw_only=True)
class _Guesses:
    """What is expected of who looks so in both years: one row a combination that may be."""

    first: Ints
    """The class in the first year."""
    second: Ints
    """The class in the second, -1 for those who are not there."""
    guess: Ints
    """The likeliest secret, or record."""
    right: Floats
    """How many have it, as expected."""
    success: Floats
    """Of each record of the first year, how likely its secret is guessed right."""

    @property
    def expected(self) -> float:
        """How many are guessed right, as expected."""
        return float(self.right.sum())

    @property
    def spread(self) -> float:
        """The standard deviation of that number, if everybody is linked for themselves."""
        return sqrt(float((self.success * np.maximum(1 - self.success, 0.0)).sum()))


def unlinked_years(
    datasets: Iterable[Dataset],
    link: Link,
    knows: str | Iterable[str] | None = None,
    seeks: str | None = None,
    *,
    leaving: float | None = None,
    coming: float | None = None,
    staying: Mapping[str, float] | None = None,
    truth: str | None = None,
) -> Assessment:
    """Attack the first of two years with the help of the second, which no id links to it.

    Args:
        datasets: the focal year and the next one; everybody has at most one record in each.
        link: what becomes of attributes that both years have: `"same"` (it never changes), a
            number (it grows so much for all, as ages do), or `"moves"` (it stays, or is drawn as
            it occurs in the second year).
        knows: what is known of everybody in each year that has it; the focal dataset's
            quasi-identifiers if not given.
        seeks: the secret, an attribute of the focal year; none: whose record each is.
        leaving: the share of the first year that is not in the second; estimated if not given.
        coming: the share of the second year that was not in the first; estimated if not given.
        staying: by moving attribute the share of people with whom it stays; estimated if not given.
        truth: an id that both have and that the adversary does not know; how many they really
            guess right is then among the figures (`measured`), beside what is expected.

    Raises:
        InvalidInput: if an attribute does not exist, or the link names nothing that stays.
        DivulgeError: if too many pairs of records agree on what never changes.

    >>> import divulge as dv
    >>> years = [dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)]
    >>> found = unlinked_years(years, {"age": 1}, ["gender", "grade"], "disability", truth="id")
    >>> found.claim, found.figures["datasets"]
    ('estimate', 2)
    """
    first, second = _take_two(datasets)
    known = first.attributes(knows, "knows")
    _check(first, second, known, seeks, truth)
    check_link(first, second, link)
    rates = _check_rates(link, leaving=leaving, coming=coming, staying=staying or {})
    matching = RecordMatching(build_link_codes(first, second, link))
    start = Rates(
        leaving=tuning.FIRST_LEAVING,
        coming=tuning.FIRST_LEAVING,
        staying={name: tuning.FIRST_STAYING for name in link if link[name] == MOVES},
    )
    given = replace(
        start,
        leaving=rates.get("leaving", start.leaving),
        coming=rates.get("coming", start.coming),
        staying={name: rates.get(name, stays) for name, stays in start.staying.items()},
    )
    fitted = matching.fit_rates(rates, given)
    classes = (
        Partition.from_attributes(first, known),
        Partition.from_attributes(second, [name for name in known if name in second.names]),
    )
    secret = None if seeks is None else AttributeCodes.from_column(first.columns[seeks])
    guesses = _find_guesses(matching.weigh_pairs(fitted), classes, secret)
    others = [
        _find_guesses(
            matching.weigh_pairs(matching.fit_rates(rates, given, factor), factor), classes, secret
        )
        for factor in tuning.CHANCE_FACTORS
    ]
    ends = [
        each.expected + sign * (tuning.DEVIATIONS * each.spread + 1)
        for each in (guesses, *others)
        for sign in (-1, 1)
    ]
    low, high = max(0.0, min(ends)), min(float(first.rows), max(ends))
    alone = Secrets(classes[0], secret, None)
    figures = {
        "datasets": 2,
        "alone": alone.expected_correct / first.rows,
        "lowest": low / first.rows,
        "highest": high / first.rows,
        "leaving": fitted.leaving,
        "coming": fitted.coming,
        **{f"staying.{name}": stays for name, stays in fitted.staying.items()},
    }
    if truth is not None:
        figures["measured"] = (
            _measure(guesses, (first, second), classes, secret, truth) / first.rows
        )
    before = Secrets(Partition.single_class(first.rows), secret, None)
    note = Sentence(
        "divulge.records",
        "unlinked",
        {
            "link": tuple(link),
            "lowest": figures["lowest"],
            "highest": figures["highest"],
            "other": second.name,
        },
    )
    description = replace(
        describe_attack(first, known, [] if seeks is None else [seeks], _name_model(seeks)),
        claim="estimate",
        notes=(note,),
    )
    certain = PriorPosterior(before.certain_count, alone.certain_count)
    right = PriorPosterior(before.expected_correct, max(guesses.expected, alone.expected_correct))
    return Assessment(
        **description.to_assessment_fields(first.rows, certain, right),
        deterministic=PriorPosterior(certain.prior / first.rows, certain.posterior / first.rows),
        probabilistic=PriorPosterior(right.prior / first.rows, right.posterior / first.rows),
        figures=figures,
    )


def _take_two(datasets: Iterable[Dataset]) -> tuple[Dataset, Dataset]:
    years = list(datasets)
    problems = Problems("unlinked_years")
    if len(years) != 2:
        problems.add("datasets", f"give two years, the focal one first; these are {len(years)}.")
    problems.raise_any()
    for year in years:
        if isinstance(year, Relation):
            raise build_elsewhere_error(year.name, year.engine, "years without an id")
        require_one_record_each(year, "everybody is taken to have one record in each year")
    return years[0], years[1]


def _check(
    first: Dataset, second: Dataset, known: list[str], seeks: str | None, truth: str | None
) -> None:
    problems = Problems("unlinked_years")
    sought = [] if seeks is None else [seeks]
    problems.extend("", find_name_problems("seeks", sought, first.names, f'"{first.name}"'))
    if seeks in known:
        problems.add("seeks", f'"{seeks}" is known already; take it out of knows.')
    for year in (first, second):
        named = [] if truth is None else [truth]
        problems.extend("", find_name_problems("truth", named, year.names, f'"{year.name}"'))
        if not year.rows:
            problems.add("datasets", f'dataset "{year.name}" has no records.')
    if truth in known:
        problems.add("truth", f'"{truth}" is what the adversary does not know.')
    problems.raise_any()


def _check_rates(
    link: Link, *, leaving: float | None, coming: float | None, staying: Mapping[str, float]
) -> dict[str, float]:
    """What is given of the rates, by name."""
    problems = Problems("unlinked_years")
    rates = {"leaving": leaving, "coming": coming, **staying}
    for name, rate in rates.items():
        if rate is not None:
            problems.extend("", checks.share(name, rate))
    for name in staying:
        if link.get(name) != MOVES:
            problems.add("staying", f'"{name}" is not linked as what moves.')
    problems.raise_any()
    least = tuning.LEAST_RATE
    return {
        name: min(1 - least, max(least, rate)) for name, rate in rates.items() if rate is not None
    }


def _name_model(seeks: str | None) -> str:
    return "CRL" if seeks is None else "CAL"


def _find_guesses(
    pairs: Pairs, classes: tuple[Partition, Partition], secret: AttributeCodes | None
) -> _Guesses:
    """The best guess at everybody who looks so in the first year and so in the second."""
    of_first, of_second = (each.of_record.astype(np.int64) for each in classes)
    rows = len(of_first)
    is_likely = pairs.likelihood > tuning.LEAST_LIKELIHOOD
    first, second = pairs.first[is_likely], pairs.second[is_likely]
    likelihood = pairs.likelihood[is_likely]
    absent = np.maximum(1 - np.bincount(first, likelihood, rows), 0.0)
    records = np.concatenate([first, np.arange(rows)])
    seen = np.concatenate([of_second[second], np.full(rows, _ABSENT)])
    cells, of_pair = np.unique(
        of_first[records] * (classes[1].number + 1) + seen + 1, return_inverse=True
    )
    values = rows if secret is None else secret.cardinality
    truth = np.arange(rows) if secret is None else secret.codes.astype(np.int64)
    joint, of_joint = np.unique(of_pair.reshape(-1) * values + truth[records], return_inverse=True)
    likely = np.concatenate([likelihood, absent])
    heft: Floats = np.bincount(of_joint.reshape(-1), likely).astype(np.float64)
    # By cell, the likeliest last; of equally likely ones the first value.
    order = np.lexsort([-joint, heft, joint // values])
    ordered = joint[order] // values
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    guess = joint[order][last] % values
    is_right = guess[of_pair.reshape(-1)] == truth[records]
    return _Guesses(
        first=cells // (classes[1].number + 1),
        second=cells % (classes[1].number + 1) - 1,
        guess=guess,
        right=heft[order][last],
        success=np.bincount(records, likely * is_right, rows).astype(np.float64),
    )


def _measure(
    guesses: _Guesses,
    years: tuple[Dataset, Dataset],
    classes: tuple[Partition, Partition],
    secret: AttributeCodes | None,
    truth: str,
) -> float:
    """How many are really guessed right, by an id that the adversary does not know."""
    first, second = years
    theirs = {value: row for row, value in enumerate(second.columns[truth].to_arrow().to_pylist())}
    ids = first.columns[truth].to_arrow().to_pylist()
    places = np.array([theirs.get(value, -1) for value in ids])
    of_first, of_second = (each.of_record.astype(np.int64) for each in classes)
    seen = np.where(places >= 0, of_second[np.maximum(places, 0)], _ABSENT)
    width = classes[1].number + 1
    cells = guesses.first * width + guesses.second + 1
    own = of_first * width + seen + 1
    found = np.minimum(np.searchsorted(cells, own), len(cells) - 1)
    facts = np.arange(first.rows) if secret is None else secret.codes.astype(np.int64)
    # Where nothing was expected, the guess is that of the first year alone.
    fallback = _find_guesses(_NO_PAIRS, classes, secret)
    alone = fallback.guess[np.searchsorted(fallback.first, of_first)]
    guess = np.where(cells[found] == own, guesses.guess[found], alone)
    return float(np.count_nonzero(guess == facts))


_NO_PAIRS = Pairs(first=np.empty(0, np.int64), second=np.empty(0, np.int64), likelihood=np.empty(0))
