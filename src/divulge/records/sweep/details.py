"""What a report shows of a sweep: the worst sets, what each attribute adds, success by size.

All secrets that the dataset declares are shown beside the one that is judged: re-identification and
each sensitive attribute, for certain and by the best guess (Alvim et al. 2022, Fig. 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from divulge.assessment import Chart, Details
from divulge.assessment.sentence import (
    Sentence,
    format_number,
    format_percent,
    format_points,
    read_phrases,
)
from divulge.records import tuning
from divulge.records.inference.charts import (
    choose_dots,
    draw_added_success,
    draw_sweep_success,
)
from divulge.records.sweep.result import Success, Sweep, list_added_success
from divulge.records.sweep.worst_sets import WorstSets, run_sweep
from divulge.work.arrays import Ints

CATALOGUE = "divulge.records"

KINDS: tuple[Success, ...] = ("deterministic", "probabilistic")

_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_WHOLE = {"type": "integer", "minimum": 0}
_NAMES = {"type": "array", "items": {"type": "string"}}
_SECRET = {"type": ["string", "null"], "description": "None: who is who."}


@dataclass(frozen=True)
class SweepReport:
    """The tables, pictures and plain values of a sweep."""

    worst: WorstSets

    @cached_property
    def panels(self) -> list[tuple[str | None, Success]]:
        """What is shown: the secret that is judged first, then the others; each in two ways."""
        judged = self.worst.settings.seeks
        secrets = [judged, *(each for each in (None, *self.sweep.seeks) if each != judged)]
        return [(seeks, kind) for seeks in secrets for kind in KINDS]

    @cached_property
    def sweep(self) -> Sweep:
        """The same sets with all secrets that the dataset declares."""
        swept, judged = self.worst.sweep, self.worst.settings.seeks
        sensitive = swept.dataset.dictionary.having("sensitive")
        more = [name for name in sensitive if name not in (*swept.knows, judged)]
        if not more:
            return swept
        return run_sweep(
            swept.dataset, self.worst.settings, [*([] if judged is None else [judged]), *more]
        )

    def draw_judged(self) -> Chart:
        """Success by the number of attributes known, for certain."""
        settings = self.worst.settings
        return draw_sweep_success(
            self.worst.sweep,
            settings.seeks,
            "deterministic",
            weighted=self.worst.is_weighted,
            most=tuning.MOST_PANEL_DOTS,
        )

    def describe(self) -> Details:
        """The worst sets of each size, what each attribute adds, and a picture of each secret."""
        charts = [
            draw_sweep_success(
                self.sweep,
                seeks,
                kind,
                weighted=self.worst.is_weighted,
                most=tuning.MOST_PANEL_DOTS,
            )
            for seeks, kind in self.panels[1:]  # the first is the attack's own
        ]
        added = list(self._list_added())
        return Details(
            head=read_phrases(CATALOGUE, "head.sweep_worst"),
            rows=[
                (
                    format_number(row["size"]),
                    ", ".join(row["knows"]),
                    format_percent(row["deterministic"]),
                    format_percent(row["probabilistic"]),
                )
                for row in self._list_worst()
            ],
            numeric=(0, 2, 3),
            title=_say("title.worst"),
            more=(
                Details(
                    head=read_phrases(CATALOGUE, "head.sweep_added"),
                    rows=[
                        (
                            row["attribute"],
                            f"+{format_points(row['average'])}",
                            f"+{format_points(row['worst'])}",
                            ", ".join(row["worst_beside"]),
                        )
                        for row in added
                    ],
                    numeric=(1, 2),
                    charts=[draw_added_success(added)] if added else [],
                    title=_say("title.added"),
                ),
                Details(charts=charts, title=_say("title.panels")),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for `result.json`: of very many sets those that are drawn, the worst always."""
        swept = self.sweep
        success, size = self._read_success(self.panels[0]), swept.figures.size
        places = sorted({
            *choose_dots(success, size, tuning.MOST_REPORTED_SETS),
            *(int(row["place"]) for row in self._list_worst()),
        })  # fmt: skip
        return {
            "knows": list(swept.knows),
            "seeks": self.worst.settings.seeks,
            "weighted": self.worst.is_weighted,
            "sets": len(swept),
            "worst": [_without(row, "place") for row in self._list_worst()],
            "attributes": list(self._list_added()),
            "listed": [swept.names(place) for place in places],
            "panels": [self._describe_panel(panel, places) for panel in self.panels],
        }

    def _describe_panel(
        self, panel: tuple[str | None, Success], places: list[int]
    ) -> dict[str, Any]:
        """One picture: success before, and by each of the listed sets."""
        seeks, kind = panel
        success, size = self._read_success(panel), self.sweep.figures.size
        return {
            "seeks": seeks,
            "success": kind,
            "prior": self.sweep.prior(seeks, kind, weighted=self.worst.is_weighted),
            "by_size": [
                {
                    "size": int(each),
                    "sets": int(np.count_nonzero(size == each)),
                    "lowest": float(success[size == each].min()),
                    "median": float(np.median(success[size == each])),
                    "highest": float(success[size == each].max()),
                }
                for each in np.unique(size)
            ],
            "posterior": success[places].tolist(),
        }

    def _read_success(self, panel: tuple[str | None, Success]) -> Any:
        seeks, kind = panel
        return self.sweep.success(seeks, kind, weighted=self.worst.is_weighted)

    def _list_worst(self) -> Iterator[dict[str, Any]]:
        """By size the worst set for what is judged."""
        swept = self.sweep
        certain, right = (self._read_success(panel) for panel in self.panels[:2])
        size: Ints = swept.figures.size
        for each in np.unique(size):
            of_size = np.flatnonzero(size == each)
            order = np.lexsort((-right[of_size], -certain[of_size]))
            place = int(of_size[order[0]])
            yield {
                "place": place,
                "size": int(each),
                "knows": swept.names(place),
                "deterministic": float(certain[place]),
                "probabilistic": float(right[place]),
            }

    def _list_added(self) -> list[dict[str, Any]]:
        """What each attribute adds to what is known for certain."""
        seeks, kind = self.panels[0]
        before = self.sweep.prior(seeks, kind, weighted=self.worst.is_weighted)
        return list_added_success(self.sweep, self._read_success(self.panels[0]), before)


def build_schema() -> dict[str, Any]:
    """The JSON schema of what a sweep tells in `result.json`."""
    worst = {"size": _WHOLE, "knows": _NAMES, "deterministic": _SHARE, "probabilistic": _SHARE}
    added = {"type": "number"}
    attribute = {
        "attribute": {"type": "string"},
        "average": added,
        "worst": added,
        "worst_beside": _NAMES,
    }
    spread = {"lowest": _SHARE, "median": _SHARE, "highest": _SHARE}
    panel = {
        "seeks": _SECRET,
        "success": {"enum": list(KINDS)},
        "prior": _SHARE,
        "by_size": _list_of({"size": _WHOLE, "sets": _WHOLE, **spread}),
        "posterior": {"type": "array", "items": _SHARE},
    }
    return _object({
        "knows": _NAMES,
        "seeks": _SECRET,
        "weighted": {"type": "boolean"},
        "sets": _WHOLE,
        "worst": _list_of(worst),
        "attributes": _list_of(attribute),
        "listed": {"type": "array", "items": _NAMES},
        "panels": _list_of(panel),
    })  # fmt: skip


def _list_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def _without(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


def _say(key: str) -> str:
    return str(Sentence(CATALOGUE, f"sweep_adversary.{key}"))
