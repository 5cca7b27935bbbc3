"""A program of rules on the data of a release: the whole rules of it, or a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from divulge.release.publication import list_published_datasets
from divulge.release.rule_programs.evaluation import evaluate_rules
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import RuleProgram, load_rule_program
from divulge.work import Problems

if TYPE_CHECKING:
    from divulge.release.release import Release
    from divulge.rules import Facts


def derive_release_facts(release: Release, file: Path) -> Facts:
    """All that follows from a program and the records of a release, as it is before protection.

    Args:
        release: whose datasets are read, and what they say of themselves.
        file: a program; if it is one of the release, all of its rules are evaluated.

    Raises:
        InvalidInput: if the program or the data cannot be taken, with all places.
    """
    rules = _choose_rules(release, file)
    datasets = {name: plan.read() for name, plan in release.datasets.items()}
    published = list_published_datasets(release)
    return evaluate_rules(
        rules, RuleData(datasets=datasets, originals=datasets, published=published)
    )


def _choose_rules(release: Release, file: Path) -> RuleProgram:
    own = release.rule_program
    if own is not None and file.resolve() in {path.resolve() for path in release.rules}:
        return own
    problems = Problems(str(file))
    measure = "prosecutor_risk" if own is None else own.risk_measure
    program = load_rule_program([file], measure, list(release.datasets), problems)
    problems.raise_any()
    assert program is not None  # noqa: S101  # else there was a problem
    return program
