"""Prosecutor, journalist and marketer: the three attackers of El Emam & Dankar (2008) together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from divulge.assessment import Assessment, Breakdown, Chart, Sentence, html
from divulge.assessment.sentence import format_number, format_percent, read_phrases
from divulge.data import Dataset
from divulge.records.risk.charts import draw_attackers
from divulge.records.risk.null_readings import Nulls
from divulge.records.risk.population.population_risk import (
    journalist_risk,
    marketer_risk,
    prosecutor_risk,
)
from divulge.records.risk.record_risk import DEFAULT_THRESHOLD, RecordRisk

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class ThreeAttackers(Mapping[str, dict[str, Any]]):
    """What each of the three finds: by name, its highest and average risk and whom it endangers."""

    risks: Mapping[str, RecordRisk]
    threshold: float

    def __getitem__(self, attacker: str) -> dict[str, Any]:
        risk = self.risks[attacker]
        return {
            "highest": risk.highest,
            "average": risk.average,
            "threshold": self.threshold,
            "above_threshold": risk.above(self.threshold),
            "claim": risk.claim,
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self.risks)

    def __len__(self) -> int:
        return len(self.risks)

    def assessment(self, attacker: str) -> Assessment:
        """What one of them finds, in the currency of all attacks."""
        return self.risks[attacker].assessment(self.threshold)

    def by(self, group: str) -> dict[str, Breakdown]:
        """For each of them, the figures for every value of an attribute."""
        return {name: risk.by(group) for name, risk in self.risks.items()}

    def chart(self) -> Chart:
        """The three side by side: how high, and how many."""
        return draw_attackers(self)

    def to_arrow(self) -> pa.Table:
        """One row per record: the risk from each attacker."""
        import pyarrow as pa

        return pa.table({name: risk.values for name, risk in self.risks.items()})

    def to_dict(self) -> dict[str, Any]:
        """The figures of each, with its sentences; no record."""
        return {name: {**self[name], "sentences": self.risks[name].explain()} for name in self}

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The figures as a table for people."""
        return [
            (
                name,
                format_percent(of["highest"]),
                format_percent(of["average"]),
                format_number(of["above_threshold"]),
            )
            for name, of in self.items()
        ]

    def explain(self) -> list[str]:
        """The risk from each of the three, in sentences."""
        return [
            Sentence(
                "divulge.records",
                "three_attackers",
                {
                    "attacker": name,
                    "highest": figures["highest"],
                    "average": figures["average"],
                    "above": figures["above_threshold"],
                    "threshold": self.threshold,
                },
            ).render()
            for name, figures in self.items()
        ]

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        return f"ThreeAttackers({'; '.join(str(self).splitlines())})"

    def _repr_html_(self) -> str:
        head = read_phrases("divulge.records", "head.three_attackers")
        return html.render_table(head, self.rows())


def three_attackers(
    dataset: Dataset,
    population: Dataset | None = None,
    among: str | Iterable[str] | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    nulls: Nulls = "bayes",
) -> ThreeAttackers:
    """Prosecutor, journalist and marketer: highest, average, and records above a threshold.

    The marketer wants many, so it is their average that counts: the journalist's, if there is a
    population; the prosecutor's, if the release is all there is.

    >>> import divulge as dv
    >>> found = three_attackers(dv.datasets.inflation_and_growth_example(), among="Area")
    >>> sorted(found), found["prosecutor"]["above_threshold"]
    (['journalist', 'marketer', 'prosecutor'], 0)
    """
    return ThreeAttackers(
        {
            "prosecutor": prosecutor_risk(dataset, among, nulls),
            "journalist": journalist_risk(dataset, population, among, nulls),
            "marketer": marketer_risk(dataset, population, among, nulls),
        },
        threshold,
    )
