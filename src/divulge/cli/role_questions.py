"""Questions about roles that are not clear, one by one, in a terminal or from a file of answers.

Questions go to standard error, so that results can be piped; answers are lines of standard input.
At its end, and where somebody wants no more questions, what is left stays out of the draft.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from divulge.cli.output import build_sentence

if TYPE_CHECKING:
    from divulge.data import Categorisation, Dataset, Proposal, Role

YES, STOP, HELP = "yes", "stop", "?"


class RoleQuestions:
    """Asks about each attribute of a dataset whose role is not clear."""

    def __init__(self) -> None:
        self._is_over = False

    def __call__(self, dataset: Dataset, categorisation: Categorisation) -> Mapping[str, Role]:
        """What was answered: roles by attribute."""
        answers: dict[str, Role] = {}
        open_proposals = list(_list_open(categorisation))
        for number, proposal in enumerate(open_proposals, start=1):
            if self._is_over:
                break
            _show(build_sentence("ask.place", number=number, count=len(open_proposals)))
            _show(f"{proposal}\n  {_describe_values(dataset, proposal.attribute)}")
            role = self._read_answer(proposal, answers)
            if role is not None:
                answers[proposal.attribute] = role
        return answers

    def _read_answer(self, proposal: Proposal, answers: Mapping[str, Role]) -> Role | None:
        """The role that is answered; None leaves the attribute out."""
        from divulge.assessment.sentence import read_phrases
        from divulge.data import ROLES
        from divulge.data.dictionary import SINGLE_ROLES

        taken = {role: name for name, role in answers.items() if role in SINGLE_ROLES}
        while True:
            print(build_sentence("ask.prompt"), end=" ", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            text = line.strip().lower().replace(" ", "_").replace("-", "_")
            if not line or text == STOP:
                self._is_over = True
                _show("")
                return None
            if not text:
                return None
            if text == HELP:
                _show("\n".join(read_phrases("divulge.cli", "ask.roles")))
                continue
            if YES.startswith(text) and proposal.role is not None:
                return proposal.role
            matches = [role for role in ROLES if role == text] or [
                role for role in ROLES if role.startswith(text)
            ]
            if len(matches) != 1:
                _show(build_sentence("ask.no_role", roles=ROLES))
            elif matches[0] in taken:
                _show(build_sentence("ask.taken", role=matches[0], other=taken[matches[0]]))
            else:
                return matches[0]


def _list_open(categorisation: Categorisation) -> Iterator[Proposal]:
    """What is in doubt; ids never go out, so that a doubt about one needs no answer."""
    from divulge.data.dictionary import WITHHELD_ROLES

    for proposal in categorisation.proposals.values():
        if proposal.status != "settled" and proposal.role not in WITHHELD_ROLES:
            yield proposal


def _describe_values(dataset: Dataset, attribute: str) -> str:
    from divulge.data import summarise_attribute

    return summarise_attribute(dataset, attribute).sketch


def _show(text: str) -> None:
    print(text, file=sys.stderr)
