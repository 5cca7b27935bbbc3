"""What a sweep found: one row per set of known attributes, and the questions one asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.assessment import Assessment, Chart
from divulge.classes.partition import AttributeCodes, Partition
from divulge.classes.people import People, RecordsKnown
from divulge.classes.weights import read_weights
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.records.attack_models import attack
from divulge.records.inference.charts import draw_sweep_success
from divulge.records.inference.people_secrets import PeopleSecrets
from divulge.records.inference.prior import compute_prior_success
from divulge.records.sweep.display import build_sweep_tables
from divulge.records.sweep.set_bits import (
    SetBits,
    are_among,
    count_attributes,
    holds,
    order_sets,
)
from divulge.records.sweep.subset_cube import Floats, Ints, SubsetCounts
from divulge.work import DivulgeError, Problems, checks

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import RenderableType

Success = Literal["deterministic", "probabilistic"]


@dataclass(frozen=True)
class SweepFigures:
    """A column of figures for every set; `sets` holds each as bits, in the order of `knows`."""

    sets: SetBits
    columns: Mapping[str, Ints | Floats]

    @classmethod
    def from_counts(
        cls,
        counts: Sequence[SubsetCounts],
        sought: Sequence[Sequence[str]],
        *,
        rows: int,
        cardinalities: Mapping[str, int],
        weights: Floats | None = None,
    ) -> SweepFigures:
        """From what the walks noted as lost; all walks are over the same sets.

        `rows` are the records, and `cardinalities` how many values each secret has.
        """
        from divulge.records.sweep import cube_kernels

        first = counts[0]
        of_size = {size: first.noted[:, size] for size in range(2, 10)}
        large = first.noted[:, cube_kernels.TEN_OR_MORE]
        alone = rows - first.noted[:, cube_kernels.RECORDS]
        smallest = first.noted[:, cube_kernels.SMALLEST]
        for size in sorted(of_size, reverse=True):
            alone = alone - size * of_size[size]
            smallest = np.where(of_size[size] > 0, size, smallest)
        columns: dict[str, Ints | Floats] = {
            "classes": alone + sum(of_size.values()) + large,
            "singletons": alone,
            "classes_of_2": of_size[2],
            "classes_of_3_to_4": of_size[3] + of_size[4],
            "classes_of_5_to_9": np.sum([of_size[size] for size in range(5, 10)], axis=0),
            "classes_of_10_or_more": large,
            "k_anonymity": np.where(alone > 0, 1, smallest),
        }
        weighted: dict[str, Floats] = {}
        total = 0.0 if weights is None else float(weights.sum())
        if weights is not None:
            weighted["weighted.classes"] = total - first.weighted[:, 0]
            weighted["weighted.singletons"] = total - first.weighted[:, 1]
        for group_counts, names in zip(counts, sought, strict=True):
            # The walks of two groups may come in another order.
            set_order = np.argsort(group_counts.sets)[np.argsort(np.argsort(first.sets))]
            for s, name in enumerate(names):
                mixed, wrong = group_counts.noted[set_order, cube_kernels.SECRETS + 2 * s :][
                    :, :2
                ].T
                columns[f"{name}.pure"] = rows - mixed
                columns[f"{name}.best"] = rows - wrong
                if group_counts.capacity.shape[1]:
                    values = cardinalities[name]
                    columns[f"{name}.capacity"] = values - group_counts.capacity[set_order, s]
                if weights is not None:
                    lost = group_counts.weighted[set_order]
                    weighted[f"weighted.{name}.pure"] = total - lost[:, 2 + 2 * s]
                    weighted[f"weighted.{name}.best"] = total - lost[:, 3 + 2 * s]
        return cls(first.sets, {**columns, **weighted})

    @classmethod
    def join(cls, parts: Sequence[SweepFigures]) -> SweepFigures:
        """Figures of different sets, one after the other."""
        columns = {
            name: np.concatenate([part.columns[name] for part in parts])
            for name in parts[0].columns
        }
        return cls(np.concatenate([part.sets for part in parts]), columns)

    @property
    def size(self) -> Ints:
        """How many attributes each set has."""
        return count_attributes(self.sets)

    def select_sets(self, sets: Sequence[int]) -> SweepFigures:
        """Only some sets, given as bits; in the order in which they stand here."""
        return self._take_rows(are_among(self.sets, sets))

    def select_sizes(self, sizes: Iterable[int]) -> SweepFigures:
        """Only the sets of some sizes."""
        return self._take_rows(np.isin(self.size, list(sizes)))

    def sort_sets(self) -> SweepFigures:
        """Small sets first; within a size, in the order of the attributes."""
        return self._take_rows(order_sets(self.sets))

    def _take_rows(self, places: Any) -> SweepFigures:
        columns = {name: values[places] for name, values in self.columns.items()}
        return replace(self, sets=self.sets[places], columns=columns)


@dataclass(frozen=True, eq=False)
class Sweep:
    """Every set of known attributes: how many are singled out, and what is inferred of them."""

    dataset: Dataset
    knows: tuple[str, ...]
    seeks: tuple[str, ...]
    figures: SweepFigures
    people: People | None = None
    """Who was counted, where somebody has several records."""
    records_known: RecordsKnown = "one"

    def __len__(self) -> int:
        return len(self.figures.sets)

    def names(self, place: int) -> list[str]:
        """The attributes of one set."""
        bits = int(self.figures.sets[place])
        return [name for i, name in enumerate(self.knows) if bits >> i & 1]

    def to_arrow(self) -> pa.Table:
        """One row per set: what is known, and all figures."""
        return self._build_table(np.arange(len(self)))

    def _build_table(self, places: Ints) -> pa.Table:
        """The rows of some sets; a million of them take a moment, so nothing is done one by one."""
        import pyarrow as pa

        sets = self.figures.sets[places]
        is_held = np.column_stack([holds(sets, i) for i in range(len(self.knows))])
        starts = np.append(0, np.cumsum(is_held.sum(axis=1)))
        names = pa.array(self.knows, pa.string()).take(pa.array(np.nonzero(is_held)[1]))
        columns: dict[str, Any] = {
            "knows": pa.ListArray.from_arrays(pa.array(starts, pa.int32()), names),
            "size": self.figures.size[places],
        }
        figures = {name: values[places] for name, values in self.figures.columns.items()}
        return pa.table({**columns, **figures})

    def place(self, knows: str | Iterable[str]) -> int:
        """Which row a set of attributes has."""
        names = as_names(knows)
        problems = Problems("sweep")
        for name in names:
            if name not in self.knows:
                problems.add("knows", f'"{name}" was not swept.', name, self.knows)
        problems.raise_any()
        bits = sum(1 << self.knows.index(name) for name in set(names))
        matching_rows = np.flatnonzero(self.figures.sets == bits)
        if len(matching_rows) == 0:
            raise DivulgeError(f"sweep: no set of {len(set(names))} attributes was requested")
        return int(matching_rows[0])

    @property
    def is_weighted(self) -> bool:
        """Whether the dataset's weights were counted beside the records."""
        return "weighted.classes" in self.figures.columns

    def success(
        self, seeks: str | None = None, kind: Success = "deterministic", *, weighted: bool = False
    ) -> Floats:
        """The adversary's success for every set: re-identification, or a secret of its own.

        Args:
            seeks: a secret; none for re-identification.
            kind: "deterministic" (certain) or "probabilistic" (guessed right).
            weighted: with the dataset's weights as a prior on records.
        """
        column = self._find_column(seeks, kind)
        if not weighted:
            secrets = self.dataset.rows if self.people is None else self.people.number
            return np.asarray(self.figures.columns[column] / secrets)
        if not self.is_weighted:
            raise DivulgeError(f'"{self.dataset.name}" was swept without weights.')
        weights = read_weights(self.dataset)
        if self.people is not None:
            weights = weights * self.people.weight
            column = {"certain": "singletons", "right": "classes"}.get(column, column)
        return np.asarray(self.figures.columns[f"weighted.{column}"] / float(weights.sum()))

    def prior(
        self, seeks: str | None = None, kind: Success = "deterministic", *, weighted: bool = False
    ) -> float:
        """The success before: a blind guess, or the most frequent value."""
        weights = read_weights(self.dataset) if weighted else None
        if self.people is not None:
            return self._compute_prior_of_people(self.people, seeks, kind, weights)
        return compute_prior_success(self.dataset, seeks, kind, weights)

    def _compute_prior_of_people(
        self, people: People, seeks: str | None, kind: Success, weights: Floats | None
    ) -> float:
        secret = None if seeks is None else AttributeCodes.from_column(self.dataset.columns[seeks])
        nothing = Partition.single_class(self.dataset.rows)
        before = PeopleSecrets(people, nothing, secret, weights)
        count = before.certain if kind == "deterministic" else before.right
        return float(count / people.number)

    def assessment(self, knows: str | Iterable[str], seeks: str | None = None) -> Assessment:
        """The assessment of one set; of a secret, or (if none is named) of re-identification."""
        names = self.names(self.place(knows))
        if seeks is None:
            return attack(self.dataset, "CRS", names, records_known=self.records_known)
        self._find_column(seeks, "deterministic")
        return attack(self.dataset, "CAS", names, seeks, records_known=self.records_known)

    def most_dangerous(
        self,
        size: int | None = None,
        seeks: str | None = None,
        kind: Success = "deterministic",
        count: int = 10,
    ) -> pa.Table:
        """The sets with the highest success, of one size or of all."""
        chosen = np.arange(len(self))
        if size is not None:
            chosen = chosen[self.figures.size == size]
        success = self.success(seeks, kind)
        ranked = chosen[np.argsort(-success[chosen], kind="stable")][:count]
        return self._build_table(ranked).append_column("success", [success[ranked]])

    def marginal(self, seeks: str | None = None, kind: Success = "deterministic") -> pa.Table:
        """What each attribute adds to a set without it: on average, and at worst."""
        import pyarrow as pa

        success, before = self.success(seeks, kind), self.prior(seeks, kind)
        return pa.Table.from_pylist(list_added_success(self, success, before))

    def cheapest(
        self,
        limit: float,
        seeks: str | None = None,
        kind: Success = "deterministic",
        costs: Mapping[str, float] | None = None,
    ) -> list[list[str]]:
        """The sets of least cost whose success is above a limit; empty if no set passes it.

        Each attribute costs 1, or what `costs` says.
        """
        problems = Problems("cheapest")
        for name in costs or {}:
            if name not in self.knows:
                problems.add("costs", f'"{name}" was not swept.', name, self.knows)
        problems.extend("", checks.share("limit", limit))
        problems.raise_any()
        cost = np.zeros(len(self))
        for i, name in enumerate(self.knows):
            cost += holds(self.figures.sets, i) * float((costs or {}).get(name, 1.0))
        passing = np.flatnonzero(self.success(seeks, kind) > limit)
        if len(passing) == 0:
            return []
        least = passing[cost[passing] <= cost[passing].min() + 1e-12]
        return [self.names(int(place)) for place in least]

    def chart(self, seeks: str | None = None, kind: Success = "deterministic") -> Chart:
        """Success by the number of attributes known, one dot a set, and the line before."""
        return draw_sweep_success(self, seeks, kind)

    def to_dict(self) -> dict[str, Any]:
        """All sets and figures as plain values, for JSON."""
        return {
            "dataset": self.dataset.name,
            "records": self.dataset.rows,
            **({} if self.people is None else {"people": self.people.number}),
            "knows": list(self.knows),
            "seeks": list(self.seeks),
            "sets": self.to_arrow().to_pylist(),
        }

    def __repr__(self) -> str:
        secrets = f"{len(self.seeks)} secret{'' if len(self.seeks) == 1 else 's'}"
        return (
            f'Sweep of "{self.dataset.name}": {len(self):,} sets of {len(self.knows)} '
            f"quasi-identifiers, {secrets}"
        )

    def __rich__(self) -> RenderableType:
        return build_sweep_tables(self).__rich__()

    def __str__(self) -> str:
        return str(build_sweep_tables(self))

    def _repr_html_(self) -> str:
        return build_sweep_tables(self).to_html()

    def _find_column(self, seeks: str | None, kind: Success) -> str:
        if kind not in ("deterministic", "probabilistic"):
            raise DivulgeError(f'"{kind}" is not a kind of success: deterministic, probabilistic')
        if seeks is None and self.people is not None:
            return "certain" if kind == "deterministic" else "right"
        if seeks is None:
            return "singletons" if kind == "deterministic" else "classes"
        if seeks not in self.seeks:
            problems = Problems("sweep")
            problems.add("seeks", f'"{seeks}" was not sought.', seeks, self.seeks)
            problems.raise_any()
        return f"{seeks}.pure" if kind == "deterministic" else f"{seeks}.best"


def list_added_success(sweep: Sweep, success: Floats, before: float) -> list[dict[str, Any]]:
    """What each attribute adds to a set without it, on average and at worst; the most first."""
    # The empty set stands first: what is known before.
    sets = np.append(0, sweep.figures.sets)
    success = np.append(before, success)
    order = np.argsort(sets, kind="stable")
    sets, success = sets[order], success[order]
    rows: list[dict[str, Any]] = []
    for i, name in enumerate(sweep.knows):
        bit = 1 << i
        holding = np.flatnonzero(holds(sets, i))
        without = np.searchsorted(sets, sets[holding] ^ bit)
        has_partner = sets[np.minimum(without, len(sets) - 1)] == sets[holding] ^ bit
        holding, without = holding[has_partner], without[has_partner]
        added = success[holding] - success[without]
        worst = int(np.argmax(added)) if len(added) else None
        beside = 0 if worst is None else int(sets[without[worst]])
        rows.append(
            {
                "attribute": name,
                "average": float(added.mean()) if len(added) else 0.0,
                "worst": 0.0 if worst is None else float(added[worst]),
                "worst_beside": [n for j, n in enumerate(sweep.knows) if beside >> j & 1],
            }
        )
    rows.sort(key=lambda row: -float(row["average"]))
    return rows
