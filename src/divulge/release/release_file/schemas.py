"""The published schemas: of release files (for editors and forms) and of results (for scripts)."""

from __future__ import annotations

from typing import Any

from divulge.assessment import attacks, measures
from divulge.assessment.assessment_measures import ASSESSMENT_MEASURES
from divulge.data import ROLES
from divulge.records.risk.registry import MEASURES
from divulge.release.release_file.settings import ReleaseTable
from divulge.release.rule_programs.rule_risk import RULE_RISK

_JSON_SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"

_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_MAYBE_NUMBER = {"type": ["number", "null"]}
_MAYBE_TEXT = {"type": ["string", "null"]}


def release_schema() -> dict[str, Any]:
    """The JSON schema of a release file, with the settings of every installed attack.

    >>> release_schema()["title"]
    'Divulge release'
    """
    schema = ReleaseTable.model_json_schema()
    schema["$defs"]["DatasetTable"]["properties"]["roles"]["propertyNames"] = {"enum": list(ROLES)}
    limit = schema["$defs"]["LimitTable"]
    told = (name for name in sorted(measures()) if not _needs_function(name))
    limit["properties"]["measure"] = {"enum": [*ASSESSMENT_MEASURES, *told, RULE_RISK]}
    limit["oneOf"] = [{"required": ["at_most"]}, {"required": ["at_least"]}]
    adversary = schema["$defs"]["AdversaryTable"]
    adversary["properties"]["attack"] = {"enum": sorted(attacks())}
    adversary["allOf"] = []
    for name, attack in sorted(attacks().items()):
        settings = attack.Settings.model_json_schema()
        schema["$defs"].update(settings.pop("$defs", {}))
        then_schema = {key: settings[key] for key in ("properties", "required") if key in settings}
        chosen = {"properties": {"attack": {"const": name}}, "required": ["attack"]}
        adversary["allOf"].append({"if": chosen, "then": then_schema})
    adversary.pop("additionalProperties", None)
    adversary["unevaluatedProperties"] = False
    return {**schema, "$schema": _JSON_SCHEMA_DRAFT, "title": "Divulge release"}


def _needs_function(measure: str) -> bool:
    """Whether a measure is taken by a function, which no file can name."""
    return measure in MEASURES and MEASURES[measure].needs_function


def result_schema() -> dict[str, Any]:
    """The JSON schema of `result.json`.

    >>> sorted(result_schema()["required"])[:3]
    ['assessments', 'datasets', 'divulge']
    """
    success = _build_object(
        prior=_NUMBER,
        posterior=_NUMBER,
        additive=_NUMBER,
        multiplicative=_MAYBE_NUMBER,
        count=_build_object(prior=_NUMBER, posterior=_NUMBER),
    )
    # Where figures are the least that is known: the most.
    success["properties"]["most"] = _MAYBE_NUMBER
    assessment = _build_object(
        adversary=_MAYBE_TEXT,
        attack=_TEXT,
        model=_TEXT,
        dataset=_TEXT,
        knows=_TEXTS,
        seeks=_TEXTS,
        secrets={"type": "integer", "minimum": 0},
        claim={"enum": ["exact", "estimate", "bound"]},
        deterministic=success,
        probabilistic=success,
        figures={"type": "object", "additionalProperties": _MAYBE_NUMBER},
        sentences=_TEXTS,
    )
    # What an attack tells beside its figures, as plain values of its own.
    assessment["properties"]["details"] = {"type": "object"}
    assessment["allOf"] = [
        {
            "if": {"properties": {"attack": {"const": name}}, "required": ["attack"]},
            "then": {"properties": {"details": details}},
        }
        for name, attack in sorted(attacks().items())
        if (details := attack.describe_details()) is not None
    ]
    limit = _build_object(
        measure={"type": "string", "examples": list(ASSESSMENT_MEASURES)},
        at_most=_MAYBE_NUMBER,
        at_least=_MAYBE_NUMBER,
        adversary=_MAYBE_TEXT,
        dataset=_MAYBE_TEXT,
        attribute=_MAYBE_TEXT,
        subject=_TEXT,
        value=_MAYBE_NUMBER,
        passed={"type": "boolean"},
        sentences=_TEXTS,
    )
    limit["properties"]["most"] = _MAYBE_NUMBER
    limit["additionalProperties"] = True  # a measure may have options of its own
    dataset = _build_object(name=_TEXT, records={"type": "integer"}, attributes={"type": "integer"})
    # By what becomes of them: columns that go out, and those that do not.
    dataset["properties"]["columns"] = {"type": "object", "additionalProperties": _TEXTS}
    whole = _build_object(
        format={"const": 1},
        divulge=_TEXT,
        status={"enum": ["pass", "fail", "not judged"]},
        passed={"type": "boolean"},
        sentences=_TEXTS,
        datasets={"type": "array", "items": dataset},
        assessments={"type": "array", "items": assessment},
        limits={"type": "array", "items": limit},
    )
    # Of what the figures were counted with; results of before do not say it.
    whole["properties"]["versions"] = {"type": "object", "additionalProperties": _TEXT}
    # Of protected data: what can be read of hidden cells, by dataset.
    whole["properties"]["refills"] = {"type": "array", "items": assessment}
    # Why the release does not pass, whatever its limits say.
    whole["properties"]["reservations"] = {
        "type": "array",
        "items": _build_object(status={"enum": ["fail", "not judged"]}, sentence=_TEXT),
    }
    # What is to be published, by whom: where the release file says it.
    for text in ("title", "publisher", "description"):
        whole["properties"][text] = _TEXT
    # Of a release that fails: by dataset, the single change that helps most.
    whole["properties"]["next_steps"] = {
        "type": "array",
        "items": _build_object(
            dataset=_TEXT,
            attribute=_TEXT,
            level={"type": ["integer", "null"]},
            left_out={"type": "boolean"},
            loss=_NUMBER,
            limits_mended={"type": "integer"},
            not_tried=_TEXTS,
            limits_failing_after={"type": "integer"},
            sentences=_TEXTS,
        ),
    }
    # By adversary: who bears more risk than others, without a value of a record.
    group = _build_object(rare_value_of=_TEXT, count={"type": "integer"}, mean_risk=_NUMBER)
    whole["properties"]["exposure"] = {
        "type": "object",
        "additionalProperties": _build_object(
            mean_risk=_NUMBER, groups={"type": "array", "items": group}, sentences=_TEXTS
        ),
    }
    # Only where the release names rules: what follows from them, without a value of a record.
    whole["properties"]["rules"] = {"type": "object"}
    # Only of records that stayed where they are: who counted them, and why.
    dataset["properties"]["engine"] = _TEXT
    whole["properties"]["provenance"] = _TEXTS
    # Only where the release was protected: what was done to each dataset.
    protection = {"type": "object", "properties": {"changes": _build_changes()}}
    whole["properties"]["protection"] = _build_object(
        passed_before={"type": "boolean"},
        sentences=_TEXTS,
        datasets={"type": "object", "additionalProperties": protection},
    )
    return {"$schema": _JSON_SCHEMA_DRAFT, "title": "Divulge result", **whole}


def _build_changes() -> dict[str, Any]:
    """What protection changed, variable by variable; values by rank, none by name."""
    count = {"type": "integer"}
    fates = dict.fromkeys(("before", "unchanged", "coarser", "suppressed", "removed"), count)
    value = _build_object(
        grouping={"enum": ["value", "tenth", "rest"]}, rank=count, values=count, **fates
    )
    by_level = _build_object(level={"type": ["integer", "null"]}, cells=count)
    attribute = _build_object(
        name=_TEXT,
        level=count,
        height=count,
        records=count,
        absent=count,
        **fates,
        recoded=count,
        by_level={"type": "array", "items": by_level},
        values={"type": "array", "items": value},
    )
    moments = _build_object(records=count, mean=_MAYBE_NUMBER, variance=_MAYBE_NUMBER)
    moment = _build_object(name=_TEXT, before=moments, after={"anyOf": [moments, {"type": "null"}]})
    correlation = _build_object(of=_TEXTS, before=_MAYBE_NUMBER, after=_MAYBE_NUMBER)
    effect = _build_object(name=_TEXT, contribution=_MAYBE_NUMBER, coefficient=_MAYBE_NUMBER)
    fit = _build_object(
        records=count,
        r_squared=_NUMBER,
        residual_deviation=_NUMBER,
        effects={"type": "array", "items": effect},
    )
    maybe_fit = {"anyOf": [fit, {"type": "null"}]}
    regression = _build_object(
        target=_TEXT,
        is_indicator={"type": "boolean"},
        before=maybe_fit,
        after=maybe_fit,
        left_out=_TEXTS,
    )
    return _build_object(
        attributes={"type": "array", "items": attribute},
        moments={"type": "array", "items": moment},
        correlations={"type": "array", "items": correlation},
        regression={"anyOf": [regression, {"type": "null"}]},
    )


def _build_object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
