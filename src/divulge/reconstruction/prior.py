"""Economic common sense as a prior: a mining company is unlikely to import car parts.

The adversary knows the sector of every party, and how likely each sector deals in what a record is
about. A place is then as likely for a record as its parties together, and within a place the
likeliest party is the best guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from divulge.data import Dataset
from divulge.reconstruction.totals import Generalised

Floats = npt.NDArray[np.float64]


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

    @property
    def of(self) -> Generalised:
        """The attribute of the records, as it is compared."""
        if isinstance(self.attribute, Generalised):
            return self.attribute
        return Generalised(self.attribute)


@dataclass(frozen=True, eq=False)
class PlaceWeights:
    """Per place and value of the records' attribute: all its parties, and the likeliest one."""

    together: Floats
    likeliest: Floats
    value_of_record: npt.NDArray[np.int64]


def weigh_places(
    prior: Prior, records: Dataset, parties: Dataset, place: str, names: Sequence[str]
) -> PlaceWeights:
    """Weigh places by their parties; a place without any has one of the usual weight."""
    sectors = parties.columns[prior.sector]
    sector_names = [str(v) for v in sectors.values.to_pylist()]
    own = records.columns[prior.of.attribute]
    kinds = [prior.of.of(v) for v in own.values.to_pylist()]
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
    counts = counts[:-1]
    together = counts @ weight
    likeliest = np.zeros_like(together)
    for s in range(counts.shape[1]):
        present = counts[:, s] > 0
        likeliest[present] = np.maximum(likeliest[present], weight[s])
    nobody = counts.sum(axis=1) == 0
    together[nobody] = likeliest[nobody] = prior.otherwise
    return PlaceWeights(together, likeliest, own.codes.astype(np.int64))
