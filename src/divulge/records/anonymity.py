"""k-anonymity: how many records, at the least, share each combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from divulge.assessment import Limit, Measurement, Sentence
from divulge.data import Dataset
from divulge.records.classes import class_sizes
from divulge.work import Problem


def k_anonymity(dataset: Dataset, among: str | Iterable[str] | None = None) -> int:
    """The size of the smallest class of records that look alike.

    A missing value looks like a missing value and like nothing else.

    Args:
        dataset: the records.
        among: the attributes in question; all quasi-identifiers if none are given.

    >>> import divulge as dv
    >>> k_anonymity(dv.datasets.school_year_example(), among=["gender"])
    4
    """
    return class_sizes(dataset, dataset.attributes(among, "among")).smallest


class KAnonymity:
    """The measure `k_anonymity` of a limit."""

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """K is a whole number that records must reach, not stay below."""
        if limit.at_most is not None:
            yield Problem("at_most", "k_anonymity protects from below; give at_least.")
        elif limit.bound < 1 or limit.bound != int(limit.bound):
            yield Problem("at_least", f"{limit.bound:g} is not a whole number from 1.")
        if limit.attribute is not None:
            yield Problem("attribute", "k_anonymity looks at all quasi-identifiers together.")
        for name in limit.options:
            yield Problem(name, "is not an option of k_anonymity.", value=name, allowed=["dataset"])

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """The smallest class, and how many records stand in classes that are too small."""
        sizes = class_sizes(dataset, dataset.attributes(None, "k_anonymity"))
        values = {
            "below": sizes.records_below(int(limit.bound)),
            "total": sizes.records,
            "subjects": dataset.subjects,
            "k": int(limit.bound),
        }
        sentence = Sentence("divulge.records", "k_anonymity", values)
        return Measurement(sizes.smallest, "count", sentence)
