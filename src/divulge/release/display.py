"""A verdict in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from divulge.assessment.sentence import number, percent

if TYPE_CHECKING:
    from divulge.assessment import Assessment, Outcome
    from divulge.release.verdict import Verdict


def rendered(verdict: Verdict) -> RenderableType:
    """The verdict, the adversaries, what was found, and the limits."""
    title = Text("PASS", "bold green") if verdict.passed else Text("FAIL", "bold red")
    parts: list[RenderableType] = [title, *(Text(str(s)) for s in verdict.sentences)]
    if verdict.assessments:
        parts += [Text(), _adversaries(verdict)]
    for assessment in verdict.assessments:
        parts += [Text(), Text(f"{assessment.adversary}", "bold"), Text(str(assessment))]
    if verdict.outcomes:
        parts += [Text(), *(_limit(outcome) for outcome in verdict.outcomes)]
    return Group(*parts)


def _adversaries(verdict: Verdict) -> Table:
    table = Table(
        "adversary", "knows", "known for certain", "guessed right", "limits", box=None,
        header_style="dim", pad_edge=False,
    )  # fmt: skip
    for assessment in verdict.assessments:
        held = verdict.keeps_limits(assessment)
        table.add_row(
            assessment.adversary,
            ", ".join(assessment.knows),
            _figure(assessment.certain.posterior, assessment.deterministic.posterior),
            _figure(assessment.right.posterior, assessment.probabilistic.posterior),
            _state(verdict, assessment, held),
        )
    return table


def _state(verdict: Verdict, assessment: Assessment, held: bool) -> Text:
    limited = any(
        o.limit.of_assessment and o.subject == assessment.adversary for o in verdict.outcomes
    )
    if not limited:
        return Text("none", "dim")
    return Text("within", "green") if held else Text("outside", "red")


def _figure(count: float, share: float) -> str:
    return f"{number(count)} ({percent(share)})"


def _limit(outcome: Outcome) -> Text:
    mark = Text("pass ", "green") if outcome.held else Text("FAIL ", "bold red")
    return mark + Text(" ".join(str(sentence) for sentence in outcome.sentences))
