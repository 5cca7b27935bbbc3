"""Record linkage (Fellegi-Sunter): whose record is it, among the people of a register?

Records and people are compared where they agree on the blocking attributes, or a value of them is
missing: who was hidden in a block may be anybody. Each comparison is a piece of evidence: agreement
speaks for a pair by how much more often true pairs agree than others (`agreement_weights`), so the
score is the logarithm of how much more likely the pair is than chance, and the posterior over a
record's candidates, and nobody among them, follows from the scores (Bellomarini et al., Sec. 2.2
and Fig. 2; Fellegi and Sunter).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.records.linkage.assess import assess_linkage
from divulge.records.linkage.candidate_pairs import CandidatePairs
from divulge.records.linkage.request import check_linkage_request

if TYPE_CHECKING:
    import pyarrow as pa


def link(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    compare: Mapping[str, Any] | None = None,
    truth: str | None = None,
    *,
    agreement: float | Mapping[str, float] | str | None = None,
    coverage: float | None = None,
) -> Assessment:
    """Link a release to a register that names people, and say how often that is right.

    Args:
        release: the records.
        register: the people; it has the attributes by which records are compared.
        block: only who agrees on these is compared; a missing value agrees with every other.
        compare: by attribute, how it is compared: `"equal"`; `("near", 2)`, at most so far
            apart; `("likeness", 0.9)`, text that is alike (Jaro-Winkler). A missing value says
            nothing.
        truth: an id that both have, by which the links are judged.
        agreement: how often the two values of one person agree on a comparison: one number, or
            some by attribute; `"truth"` counts it in the true pairs; what is not given is
            estimated from the pairs themselves.
        coverage: how likely a record's person is among its candidates; estimated from three
            comparisons on, else taken to be certain.

    Returns:
        With a truth, how many records are linked rightly; else the chance that the best
        candidate is right. Both are estimates: scores rest on what agreement counts for.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> found = link(pupils, pupils, block="gender", compare={"grade": "equal", "age": ("near", 1)},
    ...              truth="id")
    >>> found.probabilistic.posterior
    0.7
    """
    request = check_linkage_request(
        release,
        register,
        block,
        compare=compare,
        truth=truth,
        agreement=agreement,
        coverage=coverage,
    )
    with CandidatePairs(request) as pairs:
        return assess_linkage(pairs.build_result())


def candidates(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    compare: Mapping[str, Any] | None = None,
    truth: str | None = None,
    *,
    agreement: float | Mapping[str, float] | str | None = None,
    coverage: float | None = None,
    most: int = 10,
) -> pa.Table:
    """The likeliest people for each record: row numbers from 0, score (in bits), probability.

    This names who is taken for whom, so it is for the desk and not for a report. What does not
    add up to 1 for a record is the chance of its other candidates, or of nobody in the register.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> likely = candidates(pupils, pupils, "gender", {"grade": "equal", "age": "equal"}, most=1)
    >>> likely.column_names
    ['record', 'person', 'score', 'probability']
    """
    request = check_linkage_request(
        release,
        register,
        block,
        compare=compare,
        truth=truth,
        agreement=agreement,
        coverage=coverage,
    )
    with CandidatePairs(request) as pairs:
        return pairs.list_candidates(most)
