"""The verdict: pass, fail or not judged, with every assessment and every limit that led to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from divulge.assessment import Assessment, Chart, Outcome, Sentence
from divulge.data import Dataset, Relation, compare
from divulge.protection.refill.result import Refill
from divulge.release.publication import Publication, Reservation
from divulge.work import version, versions

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import RenderableType

    from divulge.release.release import Release
    from divulge.release.rule_programs.rule_results import RuleResults

Status: TypeAlias = Literal["pass", "fail", "not judged"]

FORMAT = 1
"""The version of what `to_dict` gives and the published schema describes."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """Whether a release keeps to its limits, and what it divulges."""

    release: Release
    datasets: Mapping[str, Dataset]
    assessments: Sequence[Assessment]
    outcomes: Sequence[Outcome]
    publications: Mapping[str, Publication] = field(default_factory=dict)
    """What is published of each dataset that goes out as records."""
    unjudged: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """By adversary whose attack could not be run on what is hidden, why."""
    repeated_persons: Sequence[Reservation] = field(default=(), kw_only=True)
    """Attacks that count records, of datasets in which somebody has several of them."""
    telling: Sequence[Reservation] = field(default=(), kw_only=True)
    """What goes out beside protected records and may tell what was hidden in them."""
    comparisons: Sequence[Reservation] = field(default=(), kw_only=True)
    """What cannot be judged together with the protection that this one revises."""
    refills: Mapping[str, Refill] = field(default_factory=dict, kw_only=True)
    """By dataset that hides cells, what can be read or guessed of them from what is published."""

    @property
    def status(self) -> Status:
        """Fail outranks not judged, and not judged outranks pass.

        `fail` if a limit does not hold or a direct identifier is published; `not judged` if nothing
        could fail, or if something was not judged; `pass` if every limit was judged and holds.
        """
        statuses: set[str] = {reservation.status for reservation in self.reservations}
        statuses |= {outcome.status for outcome in self.outcomes} - {"pass"}
        if "fail" in statuses:
            return "fail"
        is_judged = any(not outcome.vacuous for outcome in self.outcomes)
        return "pass" if is_judged and not statuses else "not judged"

    @cached_property
    def reservations(self) -> list[Reservation]:
        """Why the release does not pass, whatever its limits say."""
        reservations = [
            reservation
            for publication in self.publications.values()
            for reservation in publication.list_reservations()
        ]
        reservations += [*self.repeated_persons, *self.telling, *self.comparisons]
        if self.release.rule_results is not None:
            reservations += [
                Reservation("not judged", conflict)
                for conflict in self.release.rule_results.conflicts
            ]
            reservations += self._list_unmet_rules(self.release.rule_results)
        for adversary, reason in self.unjudged.items():
            values = {"adversary": adversary, "reason": reason}
            sentence = Sentence("divulge.release", "attack_unjudged", values)
            reservations.append(Reservation("not judged", sentence))
        return reservations

    def _list_unmet_rules(self, results: RuleResults) -> Iterator[Reservation]:
        """Where the data show what the rules of the release say must not be shown."""
        from divulge.release.rule_programs.unmet_directives import list_unmet

        for name, directives in results.directives.items():
            least = results.least_values.get(name, {})
            publication, found = self.publications.get(name), self.refills.get(name)
            for sentence in list_unmet(
                self.datasets[name],
                directives,
                least,
                published=None if publication is None else publication.published,
                refilled=None if found is None else found.refilled_rightly,
            ):
                yield Reservation("fail", sentence)

    @property
    def passed(self) -> bool:
        """Whether limits were judged, and every one holds."""
        return self.status == "pass"

    @cached_property
    def remarks(self) -> list[Sentence]:
        """Where the dictionaries of the datasets and their records do not fit."""
        return [
            Sentence("divulge.release", "remark", {"dataset": name, "text": str(remark)})
            for name, dataset in self.datasets.items()
            for remark in compare(dataset)
        ]

    @property
    def sentences(self) -> list[Sentence]:
        """The verdict in a few sentences: what it is, and what it is not."""
        sentences = [reservation.sentence for reservation in self.reservations]
        sentences += self._describe_limits()
        for publication in self.publications.values():
            sentences += publication.list_sentences()
        for name, found in self.refills.items():
            sentences.append(_build_sentence("refilled", dataset=name))
            sentences += [*found.sentences()[:2], *found.list_limitations()]
        if any(found.hidden for found in self.refills.values()):
            sentences.append(_build_sentence("method_reported"))
        if not self.release.adversaries:
            sentences.append(_build_sentence("no_adversaries"))
        sentences += self.remarks
        if self.release.rule_results is not None:
            sentences += self.release.rule_results.list_sentences()
        return sentences

    @property
    def provenance(self) -> list[Sentence]:
        """Who counted the records, where that is not this process in its memory, and why."""
        sentences = []
        for name, dataset in self.datasets.items():
            plan = self.release.datasets.get(name)
            if isinstance(dataset, Relation):
                values = {"dataset": name, "engine": dataset.engine, "reason": dataset.choice}
                key = "provenance.stayed" if dataset.choice else "provenance.elsewhere"
                sentences.append(_build_sentence(key, **values))
            elif plan is not None and plan.engine == "auto":
                sentences.append(_build_sentence("provenance.read", dataset=name))
        return sentences

    @property
    def derivations(self) -> list[Sentence]:
        """What led to either side of the conflicts of rules, in several lines each."""
        results = self.release.rule_results
        return [] if results is None else list(results.list_derivations())

    def _describe_limits(self) -> Iterator[Sentence]:
        """How many limits hold, do not, were not judged, or hold in a way to be told."""
        outcomes, total = self.outcomes, len(self.outcomes)
        failed = sum(outcome.status == "fail" for outcome in outcomes)
        unjudged = sum(outcome.status == "not judged" for outcome in outcomes)
        accepted = sum(outcome.by_count_only and outcome.held for outcome in outcomes)
        not_shown = sum(outcome.not_shown and outcome.judged for outcome in outcomes)
        if accepted:
            yield _build_sentence("count_only", limits=accepted)
        if not outcomes:
            yield _build_sentence("no_limits")
        elif all(outcome.vacuous and outcome.held for outcome in outcomes):
            yield _build_sentence("cannot_fail", total=total)
        elif failed == total == 1:
            yield _build_sentence("only_limit")
        elif failed or not unjudged:
            yield _build_sentence("verdict", failed=failed, total=total)
        if unjudged:
            yield _build_sentence("unjudged", limits=unjudged, total=total)
        if not_shown:
            yield _build_sentence("not_shown", limits=not_shown)

    def table(self) -> pa.Table:
        """One row per adversary: what they know for certain and guess, before and after."""
        import pyarrow as pa

        rows = [
            {
                "adversary": a.adversary,
                "attack": a.attack,
                "model": a.model,
                "dataset": a.dataset,
                "knows": list(a.knows),
                "secrets": a.secrets,
                "certain": float(a.certain.posterior),
                "deterministic.prior": a.deterministic.prior,
                "deterministic.posterior": a.deterministic.posterior,
                "right": float(a.right.posterior),
                "probabilistic.prior": a.probabilistic.prior,
                "probabilistic.posterior": a.probabilistic.posterior,
                "claim": a.claim,
                "passed": self.keeps_limits(a),
            }
            for a in self.assessments
        ]
        return pa.Table.from_pylist(rows, schema=_build_table_schema())

    def keeps_limits(self, assessment: Assessment) -> bool:
        """Whether an adversary stays within all limits set on them."""
        return all(
            outcome.held for outcome in self.outcomes if self.is_on_adversary(outcome, assessment)
        )

    def is_on_adversary(self, outcome: Outcome, assessment: Assessment) -> bool:
        """Whether an outcome is of a limit on this adversary."""
        return outcome.limit.of_assessment and outcome.subject == assessment.adversary

    def chart(self) -> Chart:
        """All adversaries in one picture: what they know for certain and guess, and the limits."""
        from divulge.release.charts import draw_adversaries

        return draw_adversaries(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain values: what `result.json` holds."""
        return {
            "format": FORMAT,
            "divulge": version(),
            "versions": versions(),
            "status": self.status,
            "passed": self.passed,
            **self.release.title_to_dict(),
            "sentences": [sentence.render() for sentence in self.sentences],
            "reservations": [reservation.to_dict() for reservation in self.reservations],
            "datasets": [
                {
                    "name": name,
                    "records": dataset.rows,
                    "attributes": len(dataset.names),
                    "columns": self.publications[name].to_dict()
                    if name in self.publications
                    else {},
                    **({"engine": dataset.engine} if isinstance(dataset, Relation) else {}),
                }
                for name, dataset in self.datasets.items()
            ],
            "assessments": [assessment.to_dict() for assessment in self.assessments],
            # What holds by count only comes first here too.
            "limits": [
                outcome.to_dict()
                for outcome in sorted(self.outcomes, key=lambda outcome: not outcome.by_count_only)
            ],
            **(
                {}
                if self.release.rule_results is None
                else {"rules": self.release.rule_results.to_dict()}
            ),
            "refills": [found.assessment().to_dict() for found in self.refills.values()],
            **(
                {"provenance": [sentence.render() for sentence in self.provenance]}
                if self.provenance
                else {}
            ),
        }

    def __str__(self) -> str:
        status = Sentence("divulge.release", f"status.{self.status}")
        lines = [str(status), *map(str, self.sentences), *map(str, self.provenance)]
        lines += map(str, self.derivations)
        for assessment in self.assessments:
            lines += ["", f"{assessment.adversary}:", *assessment.explain()]
        for outcome in self.outcomes:
            lines += ["", *map(str, outcome.sentences)]
        return "\n".join(lines)

    def __rich__(self) -> RenderableType:
        from divulge.release.display import render_verdict

        return render_verdict(self)

    def __repr__(self) -> str:
        failed = sum(outcome.status == "fail" for outcome in self.outcomes)
        phrase = "does not hold" if failed == 1 else "do not hold"
        return f"Verdict({self.status.upper()}: {failed} of {len(self.outcomes)} limits {phrase})"

    def _repr_html_(self) -> str:
        from divulge.release.display import as_html

        return as_html(self)


def _build_sentence(key: str, **values: Any) -> Sentence:
    return Sentence("divulge.release", key, values)


def _build_table_schema() -> pa.Schema:
    import pyarrow as pa

    texts = ["adversary", "attack", "model", "dataset"]
    shares = [
        f"{kind}.{when}"
        for kind in ("deterministic", "probabilistic")
        for when in ("prior", "posterior")
    ]
    return pa.schema(
        [
            *((name, pa.string()) for name in texts),
            ("knows", pa.list_(pa.string())),
            ("secrets", pa.int64()),
            ("certain", pa.float64()),
            *((name, pa.float64()) for name in shares[:2]),
            ("right", pa.float64()),
            *((name, pa.float64()) for name in shares[2:]),
            ("claim", pa.string()),
            ("passed", pa.bool_()),
        ]
    )
