"""Economic common sense as a prior: a mining company is unlikely to import car parts.

The adversary knows the sector of every party, and how likely each sector deals in what a record is
about. A place is then as likely for a record as its parties together, and within a place the
likeliest party is the best guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from divulge.data import Dataset
from divulge.data.dictionary import find_name_problems
from divulge.reconstruction.problem.generalisation import Generalised
from divulge.work import Problem, Problems, format_quantity
from divulge.work.arrays import Floats


@dataclass(frozen=True)
class Prior:
    """How likely each sector of parties deals in each kind of record.

    Args:
        sector: the column of the parties with their sector.
        attribute: the attribute of the records that says what they are about (or a `Generalised`).
        weights: (sector, kind) -> how likely, above 0, on any scale.
        otherwise: the weight of pairs that are not named.

    >>> Prior("sector", Generalised("product", prefix=2), {("mining", "87"): 0.01}).otherwise
    1.0
    """

    sector: str
    attribute: str | Generalised
    weights: Mapping[tuple[str, str], float]
    otherwise: float = 1.0

    @classmethod
    def from_dataset(
        cls,
        weights: Dataset,
        attribute: str | Generalised,
        sector: str = "sector",
        kind: str | None = None,
        weight: str = "weight",
        *,
        otherwise: float = 1.0,
    ) -> Prior:
        """A prior from a dataset with a row for each sector and kind.

        Args:
            weights: its rows.
            attribute: the attribute of the records that says what they are about.
            sector: the column with the sector; the parties have it under the same name.
            kind: the column with what records are about, as generalised; by default the only
                other column.
            weight: the column with the weights, above 0, on any scale.
            otherwise: the weight of pairs that have no row.

        >>> import pyarrow as pa
        >>> rows = pa.table({"sector": ["mining"], "chapter": ["87"], "weight": [0.01]})
        >>> dataset = Dataset.from_arrow(rows, name="weights")
        >>> Prior.from_dataset(dataset, Generalised("product", prefix=2)).weights
        {('mining', '87'): 0.01}
        """
        problems = Problems(f'dataset "{weights.name}"')
        others = [name for name in weights.names if name not in (sector, weight)]
        if kind is None and len(others) == 1:
            [kind] = others
        elif kind is None:
            problems.add("kind", f"name the column; {len(others)} could be it.", None, others)
        column_names = [sector, weight, *([] if kind is None else [kind])]
        problems.extend("", find_name_problems("prior", column_names, weights.names))
        problems.raise_any()
        rows = weights.select([sector, str(kind), weight]).to_arrow()
        columns = [rows[name].to_pylist() for name in (sector, str(kind), weight)]
        weight_of_pair: dict[tuple[str, str], float] = {}
        repeated = unusable = 0
        for of_sector, of_kind, value in zip(*columns, strict=True):
            if None in (of_sector, of_kind) or not _is_weight(value):
                unusable += 1
                continue
            pair = str(of_sector), str(of_kind)
            repeated += pair in weight_of_pair
            weight_of_pair[pair] = float(value)
        if unusable:
            rows = format_quantity(unusable, "row lacks", "rows lack")
            problems.add("", f"{rows} a sector, a kind or a weight above 0.")
        if repeated:
            rows = format_quantity(repeated, "row repeats", "rows repeat")
            problems.add("", f"{rows} the {sector} and {kind} of another; give one each.")
        problems.raise_any()
        return cls(sector, attribute, weight_of_pair, otherwise)

    def problems(self, records: Dataset, parties: Dataset) -> Iterator[Problem]:
        """What it names that does not exist, and weights that are none."""
        theirs = f'dataset "{parties.name}"'
        yield from find_name_problems("sector", [self.sector], parties.names, theirs)
        yield from self.of.problems(records)
        if not all(_is_weight(weight) for weight in [self.otherwise, *self.weights.values()]):
            yield Problem("weights", "must be above 0.")

    def unused(self, records: Dataset, parties: Dataset) -> int:
        """How many pairs it weighs that no party and record have."""
        sectors = {str(v) for v in parties.columns[self.sector].values.to_pylist()}
        kinds = set(generalise_values(self.of, records))
        return sum(s not in sectors or k not in kinds for s, k in self.weights)

    @property
    def of(self) -> Generalised:
        """The attribute of the records, as it is compared."""
        if isinstance(self.attribute, Generalised):
            return self.attribute
        return Generalised(self.attribute)


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def generalise_values(of: Generalised, records: Dataset) -> list[str]:
    """What each value of an attribute of the records is called once generalised."""
    hierarchy = None
    if of.level is not None:
        hierarchy = records.dictionary[of.attribute].hierarchy
    return [of.of(v, hierarchy) for v in records.columns[of.attribute].values.to_pylist()]


@dataclass(frozen=True, eq=False, kw_only=True)
class PlaceWeights:
    """Per place and value of the records' attribute: all its parties, and the likeliest one.

    `in_all` is all parties wherever they are, `everywhere` the chance of the likeliest of them. A
    place where nobody is listed has one of the usual weight.
    """

    together: Floats
    likeliest: Floats
    in_all: Floats
    everywhere: Floats
    value_of_record: npt.NDArray[np.int64]


def weigh_places(
    prior: Prior, records: Dataset, parties: Dataset, place: str, names: Sequence[str]
) -> PlaceWeights:
    """Weigh places by their parties; a place without any has one of the usual weight."""
    sectors = parties.columns[prior.sector]
    sector_names = [str(v) for v in sectors.values.to_pylist()]
    own = records.columns[prior.of.attribute]
    kinds = generalise_values(prior.of, records)
    weight = np.full((len(sector_names) + 1, len(kinds) + 1), prior.otherwise)
    for s, sector in enumerate(sector_names):
        for k, kind in enumerate(kinds):
            weight[s, k] = prior.weights.get((sector, kind), prior.otherwise)
    where = {name: number for number, name in enumerate(names)}
    places = parties.columns[place]
    numbers = [where.get(str(v), len(names)) for v in places.values.to_pylist()]
    of_party = np.append(numbers, len(names))[places.codes].astype(np.int64)
    counts = np.zeros((len(names) + 1, len(sector_names) + 1))
    np.add.at(counts, (of_party, sectors.codes.astype(np.int64)), 1)
    everybody = counts.sum(axis=0)
    best = np.where(everybody[:, None] > 0, weight, 0.0).max(axis=0)
    counts = counts[:-1]
    together = counts @ weight
    likeliest = np.zeros_like(together)
    for s in range(counts.shape[1]):
        present = counts[:, s] > 0
        likeliest[present] = np.maximum(likeliest[present], weight[s])
    nobody = counts.sum(axis=1) == 0
    together[nobody] = likeliest[nobody] = prior.otherwise
    in_all = np.maximum(everybody @ weight + nobody.sum() * prior.otherwise, 1e-300)
    best = np.maximum(best, prior.otherwise) if nobody.any() else best
    of_record = own.codes.astype(np.int64)
    return PlaceWeights(
        together=together,
        likeliest=likeliest,
        in_all=in_all,
        everywhere=best / in_all,
        value_of_record=of_record,
    )
