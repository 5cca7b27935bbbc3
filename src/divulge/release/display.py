"""A verdict in a terminal and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from divulge.assessment import Sentence, html
from divulge.assessment.sentence import read_phrases

if TYPE_CHECKING:
    from divulge.assessment import Assessment, Outcome
    from divulge.release.verdict import Verdict

CATALOGUE = "divulge.release"
STATUS_STYLES = {"pass": "bold green", "fail": "bold red", "not judged": "bold yellow"}
STATE_STYLES = {"none": "dim", "within": "green", "outside": "red"}


def render_verdict(verdict: Verdict) -> RenderableType:
    """The verdict, the adversaries, what was found, and the limits."""
    title = Text(_say(f"status.{verdict.status}"), STATUS_STYLES[verdict.status])
    parts: list[RenderableType] = [title, *(Text(s) for s in _list_sentences(verdict))]
    parts += [Text(str(derivation)) for derivation in verdict.derivations]
    if verdict.assessments:
        parts += [Text(), _build_adversary_table(verdict)]
    for assessment in verdict.assessments:
        parts += [Text(), Text(f"{assessment.adversary}", "bold"), Text(str(assessment))]
    if verdict.outcomes:
        parts += [Text(), *map(_render_outcome, order_outcomes(verdict))]
    return Group(*parts)


def _list_sentences(verdict: Verdict) -> list[str]:
    return [str(sentence) for sentence in (*verdict.sentences, *verdict.provenance)]


def order_outcomes(verdict: Verdict) -> list[Outcome]:
    """The outcomes, those first that hold by count only."""
    return sorted(verdict.outcomes, key=lambda outcome: not outcome.by_count_only)


def as_html(verdict: Verdict) -> str:
    """The same for a notebook."""
    verdict_in_words = [_say(f"status.{verdict.status}"), *_list_sentences(verdict)]
    limits = [" ".join(map(str, outcome.sentences)) for outcome in order_outcomes(verdict)]
    table = html.render_table(_read_head(), list_rows(verdict)) if verdict.assessments else ""
    return html.render_paragraphs(verdict_in_words) + table + html.render_paragraphs(limits)


def list_rows(verdict: Verdict) -> list[tuple[str, str, str, str, str]]:
    """One row per adversary."""
    return [_build_row(verdict, assessment) for assessment in verdict.assessments]


def _build_row(verdict: Verdict, assessment: Assessment) -> tuple[str, str, str, str, str]:
    certain, guessed = assessment.rows()[:2]
    name, knows = str(assessment.adversary), ", ".join(assessment.knows)
    limits = _say(f"limits.{_summarise_limits(verdict, assessment)}")
    return name, knows, certain[2], guessed[2], limits


def _build_adversary_table(verdict: Verdict) -> Table:
    table = Table(*_read_head(), box=None, header_style="dim", pad_edge=False)
    for assessment in verdict.assessments:
        *cells, limits = _build_row(verdict, assessment)
        style = STATE_STYLES[_summarise_limits(verdict, assessment)]
        table.add_row(*map(Text, cells), Text(limits, style))
    return table


def _read_head() -> tuple[str, ...]:
    return read_phrases(CATALOGUE, "head.adversaries")


def _say(key: str) -> str:
    return Sentence(CATALOGUE, key).render()


def _summarise_limits(verdict: Verdict, assessment: Assessment) -> str:
    if not any(verdict.is_on_adversary(outcome, assessment) for outcome in verdict.outcomes):
        return "none"
    return "within" if verdict.keeps_limits(assessment) else "outside"


def _choose_mark(outcome: Outcome) -> tuple[str, str]:
    """The mark of an outcome; what holds by count only is red, whether or not it is accepted."""
    if outcome.status == "not judged":
        return "unjudged", "bold yellow"
    if not outcome.held:
        return "failed", "bold red"
    return ("count_only", "bold red") if outcome.by_count_only else ("held", "green")


def _render_outcome(outcome: Outcome) -> Text:
    key, style = _choose_mark(outcome)
    mark = Text(f"{_say(f'limits.{key}')} ", style)
    return mark + Text(" ".join(str(sentence) for sentence in outcome.sentences))
