"""The edition for people outside as one page: nothing in it helps to undo a protection."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from divulge.report.page_parts import load_template, read_resource, read_words
from divulge.work import version

if TYPE_CHECKING:
    from divulge.report.editions.public_facts import PublicFacts


def external_page(facts: PublicFacts) -> str:
    """What everybody may be told, as HTML text."""
    return load_template("external.html.jinja").render(
        **read_words("external"),
        facts=facts,
        style=read_resource("report.css"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )
