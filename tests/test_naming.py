"""Names in the house: what a reader who knows the field would look for.

A module is a noun or the textbook name of an algorithm, a function that does something is a verb
and its object, a class has a name of its own. CONTRIBUTING.md has the rules and their reasons.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "divulge"
MODULES = sorted(SOURCE.rglob("*.py"))

PARTICIPLE = re.compile(r"[a-z]{3,}(?:ed|ing)")

PARTICIPLES_THAT_STAY = {
    "added": "public: EstimatedWeights.added",
    "capped": "public: a word of release files",
    "compiled": "looked up by its name where a kernel is tested",
    "failing": "public: ClassMeasure.failing",
    "finding": "a noun: what is found of a secret",
    "having": "public: Dictionary.having",
    "mapping": "a noun",
    "named": "public: Assessment.named",
    "protected": "public: MapPoint.protected",
    "quoted": "public: work.quoted",
    "released": "public: ProtectedRelease.released",
    "replayed": "public: DecisionLog.replayed",
    "rounding": "public: a word of release files",
    "shipped": "public: Experience.shipped",
    "uncharged": "public: work.uncharged",
    "undisclosed": "a question of the protocol of attacks",
    "unused": "public: Prior.unused",
}

MODULES_THAT_STAY = {
    "assessment/drawing.py": "a noun: charts as pictures",
    "cli/commands/recoding.py": "recoding is the field's word",
    "cli/commands/tables/matching.py": "the matching attack is the paper's name",
    "data/encoding.py": "a noun: values as codes",
    "data/formats/text/delimited.py": "delimited text is the name of the format",
    "data/formats/text/quoting.py": "the word of the csv format",
    "events/history/ordering.py": "a noun: the order of events",
    "events/history/reading.py": "a noun: how the columns of a history are read",
    "events/matching/matching.py": "a noun: who matches what is known",
    "events/protected/attack_protected.py": "the attack on protected data",
    "protection/cycle/global_recoding.py": "the method's name",
    "protection/recoding/local/nested.py": "nested classes are the method's name",
    "protection/result/protected.py": "its public class is Protected",
    "reconstruction/auditing/cross_table_coupling.py": "a noun",
    "reconstruction/problem/rounding.py": "the rules of rounding",
    "records/protected/attack_protected.py": "the attack on protected data",
    "records/protected/value_mapping.py": "a noun",
    "tables/suppression/tie_breaking.py": "the textbook's word",
    "tables/table/published.py": "its public class is Published",
    "work/storage/staging.py": "a noun: where files are made before they are moved",
}

PREPOSITIONS = {"at", "by", "further", "in", "near", "of", "on", "to", "together", "with"}


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """All functions and methods of a module but properties and magic methods."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            if not decorators & {"property", "cached_property"}:
                yield node


def test_no_two_classes_have_the_same_name() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_no_function_is_named_by_a_participle_alone() -> None:
    found = {
        node.name.strip("_")
        for path in MODULES
        for node in functions(path)
        if PARTICIPLE.fullmatch(node.name.strip("_"))
    }
    assert found - set(PARTICIPLES_THAT_STAY) == set()
    assert set(PARTICIPLES_THAT_STAY) - found == set(), "no longer needed: strike it from the list"


def test_functions_of_the_house_are_named_by_verb_and_object() -> None:
    """A name of one word is the rare case (`_parse`, `_judge`): one in twenty at the most."""
    inner = [node.name for path in MODULES for node in functions(path) if node.name.startswith("_")]
    of_one_word = [name for name in inner if "_" not in name.strip("_")]
    assert len(of_one_word) <= len(inner) / 20, sorted(of_one_word)


@pytest.mark.parametrize("path", [str(path.relative_to(SOURCE)) for path in MODULES])
def test_a_module_is_named_by_a_noun(path: str) -> None:
    words = Path(path).stem.strip("_").split("_")
    if words == ["tuning"]:  # one role, one word in every package
        return
    is_riddle = words[0] in PREPOSITIONS or bool(PARTICIPLE.fullmatch(words[-1]))
    assert is_riddle == (path in MODULES_THAT_STAY)


POSITIONAL = {
    "Assessment", "Atom", "Attribute", "Conditions", "Dataset", "Decision", "Details", "Draft",
    "Hierarchy", "HierarchyTree", "History", "JJ", "Limit", "OutputFolder", "Progress", "Published",
    "Release", "SuppressionProblem", "Sweep", "Table", "Totals", "Verdict",
}  # fmt: skip
"""Public data types (and the atom of a rule) that scripts may make with positional arguments."""


def count_positional_fields(node: ast.ClassDef) -> int:
    """The fields of a dataclass that may be given by their place; 0 where it takes keywords."""
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if not any(each.startswith("dataclass") and "kw_only=True" not in each for each in decorators):
        return 0
    fields = [
        f"{ast.unparse(each.annotation)} {each.value and ast.unparse(each.value)}"
        for each in node.body
        if isinstance(each, ast.AnnAssign)
    ]
    return sum(not re.search(r"ClassVar|kw_only=True|init=False", each) for each in fields)


def test_more_than_four_fields_are_given_by_their_names() -> None:
    found = {
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and count_positional_fields(node) > 4
    }
    assert found == POSITIONAL
