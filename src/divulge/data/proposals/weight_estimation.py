"""Sampling weights estimated where the data have none (Bellomarini et al., Sec. 2.1).

The weight of a record is how many of the population it stands for. Without a design weight, the
number of people or firms with a record's combination of quasi-identifiers is estimated: from the
population's size alone, or from a frame (a register) in which the combinations can be counted.

From the size N alone: of n records, f have the combination; those f are in the population for
certain, and of the other N - n each has it with the posterior mean of its share, which is
(f + a) / (n + a K) under a symmetric Dirichlet prior of strength a over the K combinations that
occur. With a = 0 all is f N / n. Such a figure is an estimate, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from divulge.data.column import encode_array
from divulge.data.dataset import Dataset
from divulge.data.dictionary import Attribute, Dictionary
from divulge.data.value_texts import match_value_texts
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Floats

DEFAULT_WEIGHT_NAME = "estimated_weight"


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimatedWeights:
    """Weights that nobody designed: expected counts in the population, and what follows.

    `population` is the expected number with a record's combination in the population, which is
    the paper's weight of a record. `values` is that number shared among the records that have the
    combination, so that summed over records it is the population again, as with design weights.
    """

    dataset: Dataset
    among: tuple[str, ...]
    population: Floats
    values: Floats
    how: str
    claim: Literal["estimate"] = "estimate"

    def explain(self) -> list[str]:
        """What was done, in sentences."""
        return [
            f"The weights are estimates, not those of a sampling design: {self.how}.",
            f"They sum to {self.values.sum():,.0f}; combinations of {', '.join(self.among)}.",
        ]

    def added(self, name: str = DEFAULT_WEIGHT_NAME) -> Dataset:
        """The dataset with the weights as one more attribute, in the role of weight."""
        import pyarrow as pa

        if name in self.dataset.names:
            problem = Problem("", f'dataset has an attribute "{name}" already; give another name.')
            raise InvalidInput("estimated weights", [problem])
        attribute = Attribute(name, "weight", f"Estimated, not of a sampling design: {self.how}")
        attributes = {**self.dataset.dictionary.attributes, name: attribute}
        columns = {**self.dataset.columns, name: encode_array(pa.array(self.values))}
        return replace(self.dataset, columns=columns, dictionary=Dictionary(attributes))

    def __str__(self) -> str:
        return "\n".join(self.explain())


def estimate_weights(
    dataset: Dataset,
    population: int | None = None,
    frame: Dataset | None = None,
    among: Sequence[str] | None = None,
    prior: float = 0.0,
) -> EstimatedWeights:
    """Estimate sampling weights from the size of the population, or from a frame of it.

    Args:
        dataset: the records, without a weight.
        population: how many the population has.
        frame: the population itself, or a register of it, with the same attributes.
        among: the attributes whose combinations are counted; the quasi-identifiers if not given.
        prior: with a size: the strength of the prior; 0 takes the shares of the sample as they are.

    Raises:
        InvalidInput: if there is a weight already, or not exactly one of size and frame is given.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> found = estimate_weights(pupils, population=1000, among=["gender"])
    >>> sorted(set(found.population.tolist())), float(found.values.sum())
    ([400.0, 600.0], 1000.0)
    >>> found.added().roles["weight"], found.claim
    ('estimated_weight', 'estimate')
    """
    problems = Problems("estimated weights")
    weight = dataset.dictionary.having("weight")
    if weight:
        problems.add("", f'the dataset has a weight already, "{weight[0]}".')
    if (population is None) == (frame is None):
        problems.add("", "give either the size of the population or a frame.")
    if population is not None and population < dataset.rows:
        message = f"{population:,} is fewer than the {dataset.rows:,} records that come from it."
        problems.add("population", message)
    if not 0 <= prior < float("inf"):
        problems.add("prior", "must be 0 or more.")
    problems.raise_any()
    names = dataset.attributes(among, "among")
    classes = _number_combinations([dataset.columns[name].codes for name in names])
    sizes = np.bincount(classes).astype(np.float64)
    if population is not None:
        expected = sizes + (population - dataset.rows) * (sizes + prior) / (
            dataset.rows + prior * len(sizes)
        )
        how = f"a population of {population:,} is taken to have the shares of the sample"
    else:
        assert frame is not None  # noqa: S101  # one of the two was required above
        frame_counts = _count_in_frame(dataset, frame, names, classes, len(sizes))
        # A record that the frame does not have is in the population all the same.
        expected = np.maximum(frame_counts, sizes)
        how = f'combinations were counted in the frame "{frame.name}" of {frame.rows:,}'
    return EstimatedWeights(
        dataset=dataset,
        among=tuple(names),
        population=expected[classes],
        values=(expected / sizes)[classes],
        how=how,
    )


def _number_combinations(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """The number of each record's combination."""
    combined = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        combined = combined * (int(codes.max(initial=0)) + 1) + codes
        combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
    return combined


def _count_in_frame(
    dataset: Dataset,
    frame: Dataset,
    names: Sequence[str],
    classes: npt.NDArray[np.int64],
    count: int,
) -> Floats:
    """How often each combination of the sample occurs in the frame."""
    import pyarrow as pa

    frame.attributes(names, "frame")
    joint_columns = []
    for name in names:
        mine, theirs = dataset.columns[name], frame.columns[name]
        texts = [pa.array(each, pa.string()) for each in match_value_texts(mine, theirs)]
        union = encode_array(pa.chunked_array(texts))
        first = union.codes[: len(texts[0])].astype(np.int64)
        second = union.codes[len(texts[0]) :].astype(np.int64)
        missing = len(union.values)
        joint_columns.append(
            np.concatenate(
                [np.append(first, missing)[mine.codes], np.append(second, missing)[theirs.codes]]
            )
        )
    joint = _number_combinations(joint_columns)
    in_frame = np.bincount(joint[dataset.rows :], minlength=int(joint.max(initial=0)) + 1)
    frame_counts = np.zeros(count)
    frame_counts[classes] = in_frame[joint[: dataset.rows]]
    return frame_counts
