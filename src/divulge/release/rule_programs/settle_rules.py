"""A release with its rules settled: read, evaluated once, and what they decide put in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from divulge import work
from divulge.assessment import Limit
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.protection import Directives
from divulge.release.publication import list_published_datasets
from divulge.release.rule_programs.evaluation import evaluate_rules
from divulge.release.rule_programs.fact_reader import gather_results
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_results import RuleResults
from divulge.release.rule_programs.rule_risk import RuleRisk
from divulge.release.rule_programs.unmet_directives import list_least_values

if TYPE_CHECKING:
    from divulge.release.release import Release
    from divulge.release.release_file.dataset_plan import DatasetPlan


def read_release(release: Release) -> tuple[Release, dict[str, Dataset]]:
    """Read the datasets of a release and evaluate its rules.

    Returns:
        The release with what rules decide (roles, hierarchies, limits that ask them), and its
        datasets; facts that links name are among them.
    """
    datasets = {name: plan.read() for name, plan in release.datasets.items()}
    if release.rule_program is None:
        return release, datasets
    rules = release.rule_program
    data = RuleData(
        datasets=datasets, originals=datasets, published=list_published_datasets(release)
    )
    with work.step("Evaluating rules"), evaluate_rules(rules, data) as facts:
        results = gather_results(rules, data, facts)
    plans = {name: _add_findings(plan, results) for name, plan in release.datasets.items()}
    datasets = {
        name: dataset if plans[name] is release.datasets[name] else plans[name].describe(dataset)
        for name, dataset in datasets.items()
    }
    # By the hierarchies that rules give too.
    least_values = {
        name: list_least_values(datasets[name], directives)
        for name, directives in results.directives.items()
    }
    used = release.pair_datasets
    pairs = {name: pair for name, pair in results.pairs.items() if name in used}
    seen = replace(data, datasets=datasets, originals=datasets)
    settled = replace(
        release,
        datasets=plans,
        limits=[_bind_rule_risk(limit, seen) for limit in release.limits],
        rule_results=replace(results, least_values=least_values),
    )
    return settled, {**datasets, **pairs}


def _add_findings(plan: DatasetPlan, results: RuleResults) -> DatasetPlan:
    """A plan with the roles and hierarchies that rules give; those of the file stay."""
    roles, hierarchies = results.roles.get(plan.name, {}), results.hierarchies.get(plan.name, {})
    if not roles and not hierarchies:
        return plan
    by_role: dict[str, list[str]] = {role: as_names(names) for role, names in plan.roles.items()}
    for attribute, role in roles.items():
        by_role.setdefault(role, []).append(attribute)
    return replace(plan, roles=by_role, hierarchies={**hierarchies, **plan.hierarchies})


def _bind_rule_risk(limit: Limit, data: RuleData) -> Limit:
    risk = limit.options.get("risk")
    return (
        limit.with_options(risk=replace(risk, data=data)) if isinstance(risk, RuleRisk) else limit
    )


def find_directives(release: Release, dataset: str) -> Directives | None:
    """What rules say must be done or left in a dataset."""
    results = release.rule_results
    return None if results is None else results.directives.get(dataset)


def must_change(release: Release, dataset: str) -> bool:
    """Whether rules ask for changes whatever the risk."""
    directives = find_directives(release, dataset)
    return directives is not None and bool(
        directives.hide or directives.remove or directives.recode or directives.threshold
    )
