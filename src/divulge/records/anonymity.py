"""k-anonymity: how many records, at the least, share each combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from divulge.assessment import Limit, Measurement, Sentence
from divulge.data import Dataset
from divulge.records.classes import class_sizes
from divulge.records.frequencies import SEMANTICS, frequencies
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
        for name, given in limit.options.items():
            if name == "nulls" and given in SEMANTICS:
                continue
            if name == "nulls":
                message = f'"{given}" is not a way to count missing values.'
                yield Problem(name, message, value=str(given), allowed=SEMANTICS)
            elif name != "among":
                allowed = ["dataset", "among", "nulls"]
                message = "is not an option of k_anonymity."
                yield Problem(name, message, value=name, allowed=allowed)

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """The smallest class, and how many records stand in classes that are too small.

        A missing value is a value of its own, unless the limit says what else it may stand for.
        """
        among = dataset.attributes(limit.options.get("among"), "k_anonymity")
        values = {"total": dataset.rows, "subjects": dataset.subjects, "k": int(limit.bound)}
        if "nulls" in limit.options:
            counted = frequencies(dataset, limit.options["nulls"], among=among)
            smallest, below = counted.smallest, counted.below(limit.bound)
        else:
            sizes = class_sizes(dataset, among)
            smallest, below = sizes.smallest, sizes.records_below(int(limit.bound))
        sentence = Sentence("divulge.records", "k_anonymity", {**values, "below": below})
        return Measurement(smallest, "count", sentence)
