"""The house itself: everything public is documented, and what the documents show is true."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import griffe
import pytest

import divulge
from divulge import Release

PROJECT = Path(__file__).parent.parent
DOCS = PROJECT / "docs"
SOURCE = PROJECT / "src" / "divulge"
PACKAGES = [
    name
    for name in divulge.__all__
    if isinstance(importlib.import_module("divulge").__getattr__(name), ModuleType)
]
PAGES_THAT_RUN = [
    "why.md",
    "records.md",
    "risk.md",
    "events.md",
    "tables.md",
    "matching-attack.md",
    "reconstruction.md",
    "protection.md",
    "recoding.md",
    "coming-from-arx.md",
    "qif.md",
    "extending.md",
    "scaling-out.md",
    "translating.md",
]


def public_objects() -> Iterator[tuple[str, griffe.Object | griffe.Alias]]:
    """All public names as the documentation sees them: functions, classes, members, constants."""
    tree = griffe.load("divulge", search_paths=[PROJECT / "src"])
    for package in PACKAGES:
        module = tree[package]
        yield module.path, module
        for name in module.exports or []:
            thing = module[str(name)]
            yield f"{module.path}.{name}", thing
            if thing.is_class:
                for member, value in thing.members.items():
                    if not member.startswith("_") and (
                        value.is_function or "property" in value.labels
                    ):
                        yield f"{module.path}.{name}.{member}", value


DOCUMENTED = dict(public_objects())


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_is_documented(name: str) -> None:
    said = DOCUMENTED[name].docstring
    assert said is not None, f"{name} has no docstring"
    first = said.value.lstrip()[0]
    assert first.isupper() or first == "`", f"{name}: a docstring begins with a sentence"


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "report"])
def test_every_public_package_has_a_page_in_the_reference(package: str) -> None:
    page = DOCS / "reference" / f"{package}.md"
    assert f"::: divulge.{package}" in page.read_text()
    assert f"reference/{package}.md" in (PROJECT / "mkdocs.yml").read_text()


def test_every_name_at_the_top_is_in_the_reference_index() -> None:
    index = (DOCS / "reference" / "index.md").read_text()
    for name in divulge.__all__:
        assert f"dv.{name}" in index, f"docs/reference/index.md does not mention dv.{name}"


def test_what_is_offered_at_the_top_is_there() -> None:
    for name in divulge.__all__:
        assert getattr(divulge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = divulge.nonsense


def test_everything_that_a_release_asks_an_attack_is_in_the_documents() -> None:
    from divulge.assessment import AttackDefaults

    page = (DOCS / "extending.md").read_text()
    for name, method in vars(AttackDefaults).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            assert f"`{name}(" in page, f"docs/extending.md does not speak of {name}"


def test_every_command_is_in_the_documents() -> None:
    from divulge.cli.main import app

    page = (DOCS / "command-line.md").read_text()
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        assert f"divulge {name}" in page


def test_everything_that_a_release_file_can_say_is_in_the_documents() -> None:
    from divulge.assessment import attacks, measures
    from divulge.data import ROLES
    from divulge.release.release_file.settings import DatasetTable

    page = (DOCS / "release-file.md").read_text()
    for word in (*ROLES, *measures(), *attacks(), *DatasetTable.model_fields):
        assert f"`{word}`" in page, f"docs/release-file.md does not speak of {word}"


# Where `release` writes a word that is also the name of an attack, and means the word.
WORDS_THAT_NAME_NO_ATTACK = {
    ("dataset_section.py", "records"),  # what a dataset is
    ("output_files.py", "records"),  # how many, a key of the log of decisions
    ("rule_program.py", "method"),  # a predicate of rules: by what a record is protected
    ("rule_program.py", "risk"),  # a predicate of rules: the risk of a record
    ("fact_reader.py", "method"),  # the same predicate, read
    ("settings.py", "records"),  # whom a dataset is about, unless it is said
    ("settings.py", "risk"),  # an order in which records are protected
    ("settle_rules.py", "risk"),  # an option of a limit: the predicate that it limits
    ("verdict.py", "records"),  # how many, a key of result.json
}


def test_the_conductor_knows_no_attack_by_name() -> None:
    """What it asked one attack by name, an attack of another package would not be asked."""
    from divulge.assessment import attacks

    found = set()
    for path in sorted((PROJECT / "src" / "divulge" / "release").rglob("*.py")):
        tree = ast.parse(path.read_text())
        docstrings = {
            id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            assert not re.search(r"attack *= *[\"']", node.value), f"{path.name}: {node.value}"
            if node.value in attacks() and id(node) not in docstrings:
                found.add((path.name, node.value))
    assert found == WORDS_THAT_NAME_NO_ATTACK


@pytest.mark.parametrize("page", PAGES_THAT_RUN)
def test_the_python_in_the_documents_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # what a page draws or writes stays here
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)  # noqa: S102  # our own pages


@pytest.mark.parametrize(
    "path", sorted((PROJECT / "examples").glob("*/release.toml")), ids=lambda p: p.parent.name
)
def test_every_example_release_can_be_checked(path: Path) -> None:
    verdict = Release.load(path).check()
    assert verdict.assessments
    assert verdict.outcomes


def test_everything_the_project_needs_is_pinned() -> None:
    pins = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (PROJECT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    wanted = [
        *settings["project"]["dependencies"],
        *settings["project"]["optional-dependencies"]["frames"],
        *(name for group in settings["dependency-groups"].values() for name in group),
    ]
    for requirement in wanted:
        name = re.split(r"[<>=\[ ]", requirement)[0].lower()
        assert name in pins, f"{name} is in pyproject.toml and not in constraints.txt"


def test_the_citation_is_of_this_version_and_licence() -> None:
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert told["cff-version"] == "1.2.0"
    assert (told["version"], told["license"]) == (divulge.__version__, project["license"])
    assert (told["abstract"], told["keywords"]) == (project["description"], project["keywords"])
    assert all(
        work["title"] and work["authors"] and work["type"] for work in [told, *told["references"]]
    )


def test_what_runs_before_a_commit_is_the_projects_own_and_fetches_nothing() -> None:
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load((PROJECT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    [repository] = told["repos"]
    assert repository["repo"] == "local"
    makefile = (PROJECT / "Makefile").read_text()
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        words = hook["entry"].removesuffix(" --force-exclude").split(" ", 1)
        command = " ".join([words[0].replace(".venv/bin/", "$(BIN)/"), *words[1:]])
        assert command in makefile, f"{hook['id']} is not what make test runs"


def test_the_readme_names_the_two_commands_and_what_is_needed() -> None:
    text = (PROJECT / "README.md").read_text()
    for wanted in ("make demo", "make test", "sudo apt install make python3-venv", "3.11"):
        assert wanted in text


def helps(command: Any, name: str = "divulge") -> Iterator[tuple[str, str]]:
    """What a command and its options say of themselves, and those below it."""
    options = (getattr(option, "help", None) or "" for option in command.params)
    yield name, "\n".join([command.help or "", *options])
    for below, child in getattr(command, "commands", {}).items():
        yield from helps(child, f"{name} {below}")


def texts_for_users() -> Iterator[tuple[str, str]]:
    """Everything that users read: catalogues, reports, documents, examples, help and settings."""
    from typer.main import get_command

    from divulge.cli.main import app
    from divulge.release import release_schema, result_schema

    source = PROJECT / "src" / "divulge"
    for path in [
        *source.rglob("sentences.*.toml"),
        *source.rglob("*.jinja"),
        *source.rglob("*_release.toml"),
        *DOCS.rglob("*.md"),
        *(PROJECT / "examples").rglob("*.toml"),
        PROJECT / "README.md",
        PROJECT / "CHANGELOG.md",
    ]:
        yield str(path.relative_to(PROJECT)), path.read_text(encoding="utf-8")
    yield from helps(get_command(app))
    yield "divulge schema release", json.dumps(release_schema())
    yield "divulge schema result", json.dumps(result_schema())


def test_an_adversary_is_they() -> None:
    """One voice for users: nobody is taken for a woman or a man."""
    read = dict(texts_for_users())
    assert {"divulge check", "divulge tables attack", "docs/glossary.md"} <= set(read)
    for name, text in read.items():
        found = re.findall(r"\b(?:she|hers?|herself|he|his|him|himself)\b", text, re.IGNORECASE)
        assert not found, f"{name} says {found}"


def test_names_and_comments_take_nobody_for_a_woman_or_a_man() -> None:
    word = re.compile(r"(?:\b|_)(?:she|hers?|he|his|him)(?:\b|_)", re.IGNORECASE)
    paths = [*SOURCE.rglob("*.py"), *Path(__file__).parent.rglob("*.py")]
    found = [path for path in paths if word.search(path.read_text(encoding="utf-8"))]
    assert found == [Path(__file__)]  # which looks for these words


def words_printed_as_they_are(path: Path) -> Iterator[str]:
    """Words of texts that a verb prints without a catalogue, where they are more than two."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print_text"):
            continue
        texts = [
            part.value
            for argument in node.args
            for part in ast.walk(argument)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        if len(re.findall(r"[A-Za-z]+", " ".join(texts))) > 2:
            yield f"{path.name}:{node.lineno}"


def test_what_the_command_line_says_comes_from_a_catalogue() -> None:
    """So that another language is a file; `print_text` is for results and empty lines."""
    command_line = PROJECT / "src" / "divulge" / "cli"
    assert not [
        place for path in command_line.rglob("*.py") for place in words_printed_as_they_are(path)
    ]


def test_every_sentence_of_the_command_line_exists_and_is_used() -> None:
    from divulge.assessment.sentence import load_catalogue

    command_line = PROJECT / "src" / "divulge" / "cli"
    source = "\n".join(path.read_text(encoding="utf-8") for path in command_line.rglob("*.py"))
    catalogue = set(load_catalogue("divulge.cli"))
    said = set(re.findall(r"""_sentence\(\s*["']([\w.]+)["']""", source))
    listed = set(re.findall(r"""read_phrases\("divulge.cli", "([\w.]+)"\)""", source))
    marks = {key for key in catalogue if key.startswith("matching.mark.")}
    assert said | listed | marks == catalogue


def test_every_text_of_the_command_line_has_a_place_in_a_catalogue() -> None:
    """Each option says what it is for, and nothing is shown but through a catalogue."""
    from typer.main import get_command

    from divulge.cli.help_pages import CommandPage, GroupPage
    from divulge.cli.main import app

    waiting: list[Any] = [get_command(app)]
    while waiting:
        command = waiting.pop()
        assert isinstance(command, CommandPage | GroupPage), command.name
        assert command.help, command.name
        assert all(getattr(option, "help", "") for option in command.params), command.name
        waiting += getattr(command, "commands", {}).values()


def steps_without_a_name(path: Path) -> Iterator[str]:
    """Where a step is named by something that no list of texts can see."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "step" and node.args:
            name = node.args[0]
            handed_on = isinstance(name, ast.Name) and name.id == "step_name"
            if not isinstance(name, ast.Constant | ast.JoinedStr) and not handed_on:
                yield f"{path.name}:{node.lineno}"


def test_every_name_of_a_step_can_be_listed_for_translators() -> None:
    source = PROJECT / "src" / "divulge"
    assert not [place for path in source.rglob("*.py") for place in steps_without_a_name(path)]


def test_every_kind_of_error_in_a_setting_has_words_of_ours() -> None:
    """What pydantic says never reaches users."""
    from divulge.assessment import attacks
    from divulge.records.risk.request import FullRiskRequest
    from divulge.release.release_file.settings import ReleaseTable
    from divulge.work.value_problems import BOUNDS, PLAIN_PROBLEMS

    kinds: set[str] = set()
    waiting: list[Any] = [ReleaseTable, FullRiskRequest]
    waiting += [attack.Settings for attack in attacks().values()]
    waiting = [model.__pydantic_core_schema__ for model in waiting]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            kinds |= {
                kind for key in node for kind in KINDS_BY_BOUND.get((node.get("type"), key), ())
            }
            kinds |= set(KINDS_BY_TYPE.get(node.get("type"), ()))
            waiting += node.values()
        elif isinstance(node, list | tuple):
            waiting += node
    assert {"string_type", "greater_than", "too_short"} <= kinds
    assert kinds <= {*PLAIN_PROBLEMS, *BOUNDS}


KINDS_BY_TYPE: dict[Any, tuple[str, ...]] = {
    "str": ("string_type",),
    "int": ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
    "float": ("float_type", "float_parsing"),
    "bool": ("bool_type", "bool_parsing"),
    "list": ("list_type",),
    "tuple": ("tuple_type", "too_long", "missing"),
    "dict": ("dict_type",),
    "literal": ("literal_error",),
    "model": ("model_type",),
    "date": ("date_type", "date_parsing"),
}
KINDS_BY_BOUND: dict[tuple[Any, Any], tuple[str, ...]] = {
    ("str", "min_length"): ("string_too_short",),
    ("str", "max_length"): ("string_too_long",),
    ("str", "pattern"): ("string_pattern_mismatch",),
    ("list", "min_length"): ("too_short",),
    ("list", "max_length"): ("too_long",),
    **{
        (kind, bound): (name,)
        for kind in ("int", "float")
        for bound, name in {
            "gt": "greater_than",
            "ge": "greater_than_equal",
            "lt": "less_than",
            "le": "less_than_equal",
            "multiple_of": "multiple_of",
        }.items()
    },
}
"""The errors that pydantic has for a kind of value, and for a bound of one."""


def titles_written_in_code(path: Path) -> Iterator[str]:
    """Where a `title=` is given as text with a letter in it, also as one of two choices."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.keyword) and node.arg == "title"):
            continue
        choice = node.value
        choices = [choice.body, choice.orelse] if isinstance(choice, ast.IfExp) else [choice]
        for text in choices:
            parts = text.values if isinstance(text, ast.JoinedStr) else [text]
            written = [part.value for part in parts if isinstance(part, ast.Constant)]
            if any(isinstance(words, str) and re.search("[A-Za-z]", words) for words in written):
                yield f"{path.name}:{node.value.lineno}"


def test_every_title_comes_from_a_catalogue() -> None:
    """A picture speaks the language of the catalogue as the sentences do."""
    source = PROJECT / "src" / "divulge"
    assert not [place for path in source.rglob("*.py") for place in titles_written_in_code(path)]


def test_a_title_in_code_is_found(tmp_path: Path) -> None:
    code = tmp_path / "charts.py"
    code.write_text(
        'a(title="Risk")\na(title=f"of {x}")\na(title="Risk" if x else None)\n'
        'a(title=None)\na(title=x)\na(title=say("risk"))\na(title=f"{x}: {y:.2f}")\n'
    )
    assert list(titles_written_in_code(code)) == [f"charts.py:{line}" for line in (1, 2, 3)]


CLOCKS = {
    "work/budget.py": "stops a run by the real clock, where somebody asks for it",
    "work/context.py": "tells how long a step takes",
    "reconstruction/auditing/workers.py": "hands the real clock's end to worker processes",
    "assessment/drawing.py": "ends a browser that does not answer",
}
"""Who may read a clock, and why no result depends on it."""


def modules_with(pattern: str) -> set[str]:
    """The modules whose text matches."""
    source = PROJECT / "src" / "divulge"
    return {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if re.search(pattern, path.read_text(encoding="utf-8"))
    }


def test_no_result_depends_on_the_clock() -> None:
    reading = r"\b(?:monotonic|perf_counter|process_time|thread_time|time\.time)\b"
    assert modules_with(reading) == set(CLOCKS)


SETS_IN_ANY_ORDER = {
    "events/protected/value_compatibility.py": "whether something holds of all; levels are numbers",
}
"""Where a loop goes through a set, and no result depends on the order."""


def is_set(node: ast.expr) -> bool:
    """Whether an expression is written as a set."""
    if isinstance(node, ast.BinOp):
        is_of_sets = isinstance(node.op, ast.Sub | ast.BitAnd | ast.BitOr | ast.BitXor)
        return is_of_sets and (is_set(node.left) or is_set(node.right))
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
    return isinstance(node, ast.Set | ast.SetComp)


def test_no_loop_goes_through_a_set_whose_order_is_chance() -> None:
    """The order of texts in a set changes from run to run, and so would messages and figures."""
    assert is_set(ast.parse("set(names) - known", mode="eval").body)
    assert not is_set(ast.parse("sorted(set(names))", mode="eval").body)
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.For) and is_set(node.iter)
    }
    assert found == set(SETS_IN_ANY_ORDER)


def test_no_solver_is_limited_by_the_clock_or_runs_several_workers() -> None:
    limits = r"max_time_in_seconds|\btime_limit\b|num_workers|num_search_workers"
    assert modules_with(limits) == {"solvers/cp_sat.py"}


ROOMS = ("classes", "records", "events", "tables", "reconstruction", "protection")
"""Packages whose modules say at their top what they lean on."""


def imports_in_functions(package: str) -> Iterator[str]:
    """Imports of the package itself inside its functions, but for kernels: they compile late."""
    for path in sorted((PROJECT / "src" / "divulge" / package).rglob("*.py")):
        if path.name == "warm.py":  # set-up: it loads every kernel there is
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for node in (inner for function in functions for inner in ast.walk(function)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("divulge."):
                module, names = str(node.module), [alias.name for alias in node.names]
                kernels = module.endswith("kernels") or all(n.endswith("kernels") for n in names)
                if module.split(".")[1] == package and not kernels:
                    yield f"{path.name}:{node.lineno} {module}"


@pytest.mark.parametrize("package", ROOMS)
def test_no_import_is_hidden_in_a_function(package: str) -> None:
    assert not list(imports_in_functions(package))


def imports_when_it_runs(path: Path) -> Iterator[tuple[str, str]]:
    """What a module may load from where, at its top or in a function, but not for types alone."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        waiting.extend(ast.iter_child_nodes(node))


def test_no_modules_lean_on_each_other_in_a_circle() -> None:
    """Also not hidden in functions. What leans on nothing is taken away until nothing is left."""
    names = {
        ".".join(["divulge", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): path
        for path in SOURCE.rglob("*.py")
    }
    leans_on = {
        name: {
            each
            for module, part in imports_when_it_runs(path)
            if (each := f"{module}.{part}" if f"{module}.{part}" in names else module) in names
        }
        - {name}
        for name, path in names.items()
    }
    assert sum(map(len, leans_on.values())) > 1000
    while free := [name for name, others in leans_on.items() if not others & set(leans_on)]:
        for name in free:
            del leans_on[name]
    assert not leans_on


def named_in_architecture() -> Iterator[tuple[str, str]]:
    """Names in backticks that look like ours, each with the package whose section it stands in."""
    package = ""
    text = (PROJECT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines():
        if line.startswith("#"):
            of_package = re.fullmatch(r"#+ `(\w+)/`", line)
            package = of_package[1] if of_package else ""
        for name in re.findall(r"`([^`]+)`", line):
            if re.fullmatch(r"[\w/]+(?:\.py|/)", name) or _is_dotted(name):
                yield package, name


def _is_dotted(name: str) -> bool:
    """Whether it is a package of ours and something in it, such as `work.memoise`."""
    first, dot, rest = name.partition(".")
    is_file = rest in ("py", "toml", "json", "html")
    return bool(dot) and not is_file and (SOURCE / first / "__init__.py").exists()


def test_what_the_architecture_names_exists() -> None:
    named = list(named_in_architecture())
    assert len(named) > 100
    for package, name in named:
        if _is_dotted(name):
            thing: object = divulge
            for part in name.split("."):
                thing = getattr(thing, part, None)
            assert thing is not None, f"ARCHITECTURE.md names {name}"
        else:
            places = [SOURCE / name, SOURCE / package / name, SOURCE.parent / name]
            assert any(place.exists() for place in places), f"ARCHITECTURE.md names {name}"


def test_the_architecture_links_every_decision() -> None:
    text = (PROJECT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\((docs/decisions/[^)]+)\)", text)
    kept = sorted((DOCS / "decisions").glob("*.md"))
    assert linked == [path.relative_to(PROJECT).as_posix() for path in kept]


def test_every_module_says_in_its_first_line_what_it_is_for() -> None:
    list_modules = runpy.run_path(str(PROJECT / "tools" / "rooms.py"))["list_modules"]
    lines = dict(list_modules(""))
    assert len(lines) == len(list(SOURCE.rglob("*.py")))
    assert not [name for name, line in lines.items() if len(line.split()) < 3]


NOT_TUNED = {
    "engines/spark.py": {"DEFAULT_PORT": "where Spark Connect servers listen"},
    "classes/keys.py": {"LARGEST_KEY": "what a signed number of 64 bits holds"},
    "classes/partition.py": {"_LARGEST_KEY": "what a signed number of 64 bits holds"},
    "cli/commands/demonstration.py": {
        "SWEPT_PUPILS": "the size of the data that are shown",
        "OWNED_FIRMS": "the same",
    },
    "rules/explanation/outline.py": {"BOX_WIDTH": "the layout of a drawing, in pixels"},
    "cli/commands/tables/files.py": {"MOST_ROWS": "what a reader takes in at once"},
    "data/formats/capacity.py": {"MAX_EXACT_INTEGER": "what a double holds exactly"},
    "data/formats/workbook_writer.py": {
        "MAX_RECORDS": "what a sheet of Excel holds",
        "MAX_COLUMNS": "what a sheet of Excel holds",
        "MAX_LETTERS": "what a cell of Excel holds",
    },
    "data/formats/names.py": {"UNLIMITED": "a sentinel"},
    "data/formats/sas/transport_writer.py": {"MAX_VARIABLES_V5": "a limit of the format"},
    "data/formats/statistical_writer.py": {"_HEADER_BYTES": "where the formats have their header"},
    "datasets/ownership.py": {
        "FIRST_ID": "the id of the first company, as the other generator has it",
        "UNITS": "shares have six decimals",
        "HALF": "of those units",
    },
    "datasets/payments.py": {
        "LARGEST_BASKET": "a property of the data that are drawn",
        "_RECORDS_AT_A_TIME": "the data that are drawn depend on it",
    },
    "datasets/school_census.py": {
        "YEAR": "a property of the data that are drawn",
        "CITIES": "a property of the data that are drawn",
        "COUNTRIES": "a property of the data that are drawn",
        "PUPILS_PER_SCHOOL": "a property of the data that are drawn",
        "_ROWS_AT_A_TIME": "the data that are drawn depend on it",
    },
    "datasets/trade_generator.py": {
        "GRAINS_PER_KILOGRAM": "a unit",
        "MOST_HEADINGS": "what four digits are enough for",
        "MOST_CODES": "what four digits are enough for",
    },
    "events/charts.py": {"MAX_MARKS": "what the eye tells apart in a chart"},
    "events/history/calendar.py": {"_MICROSECONDS_PER_DAY": "a unit"},
    "events/knowledge/facets.py": {"NO_AMOUNT": "a sentinel"},
    "protection/result/audit/method_audit.py": {
        "MOST_CANDIDATES": "the default of a public argument"
    },
    "reconstruction/agreement.py": {"LARGEST": "what sums of 64 bits hold with room to spare"},
    "reconstruction/counting/dp_shared_states.py": {
        "HEAVIEST_STATE": "with the next one, what counts of 62 bits hold",
        "MOST_LOOKS": "with the one before, what counts of 62 bits hold",
    },
    "reconstruction/counting/fitting_sets.py": {"NO_LIMIT": "a sentinel"},
    "reconstruction/counting/two_bins_choice.py": {"NO_LIMIT": "a sentinel"},
    "reconstruction/counting/two_bins_dominance.py": {
        "MOST_COUNTED": "what a signed number of 64 bits holds"
    },
    "reconstruction/counting/two_bins_lists.py": {"INFINITE_AMOUNT": "a sentinel"},
    "reconstruction/problem/amounts.py": {
        "MAX_SUM_IN_UNITS": "what sums of 64 bits hold with room to spare",
        "MAX_EXACT_FLOAT": "what a double holds exactly",
    },
    "reconstruction/subset_sum/lattice_enumeration.py": {
        "MAX_INITIAL_ENTRY": "what a double tells exactly enough",
        "MAX_REDUCED_ENTRY": "what a double tells exactly enough",
    },
    "records/sweep/cube_walk.py": {"NO_CLASS": "a sentinel"},
    "records/sweep/subset_cube.py": {"MOST_ROWS": "what a signed number of 32 bits holds"},
    "report/editions/verification.py": {"LONGEST_CERTIFICATE": "a limit of the format"},
    "tables/candidate_tables/enumeration.py": {
        "MOST_CANDIDATES": "the default of a public argument"
    },
    "tables/feasibility/assess.py": {"LARGEST_CELL_VALUE": "what a double holds exactly"},
    "tables/feasibility/network.py": {"UNBOUNDED": "a sentinel"},
    "tables/matching/attack.py": {"SAMPLE_SIZE": "the default of a public argument"},
    "tables/table/charts.py": {"MAX_DRAWN_CELLS": "what a reader takes in at once"},
    "tables/table/crosstab_files.py": {"LONGEST_NUMBER": "a limit of the format"},
    "tables/table/units.py": {"LARGEST_SUM": "what a signed number of 64 bits holds"},
    "work/effort.py": {
        "ENDLESS_SECONDS": "a sentinel",
        "MOST_SECONDS": "a sentinel",
        "TICKS_PER_SECOND": "a unit",
    },
    "work/storage/filesystem.py": {
        "PRIVATE_FILE": "permissions of a file",
        "PRIVATE_FOLDER": "permissions of a folder",
    },
    "work/storage/manifest.py": {"LONGEST_NAME": "a limit of the format"},
    "work/memory.py": {"_HUGE_PAGE_BYTES": "from where on NumPy asks for huge pages"},
}
"""Large numbers that nobody tuned, and what they are."""


def evaluate_number(node: ast.expr, names: dict[str, int | float]) -> int | float | None:
    """The value of a number that is written out, as 10, -(2**20), 1 << 16 or 10 * MIB."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in (int, float) else None  # type: ignore[return-value]
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = evaluate_number(node.operand, names)
        return None if value is None else -value
    if isinstance(node, ast.BinOp):
        parts = evaluate_number(node.left, names), evaluate_number(node.right, names)
        if None in parts:
            return None
        arithmetic = compile(ast.Expression(node), "", "eval")
        return eval(arithmetic, {}, dict(names))  # type: ignore[no-any-return]  # noqa: S307
    return None


def numbers_in_module(tree: ast.Module) -> dict[str, int | float]:
    """The names at a module's top that are a plain number."""
    names: dict[str, int | float] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            [target], value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        pairs = zip(target.elts, value.elts, strict=True) if several else [(target, value)]  # type: ignore[attr-defined]
        for name, node in pairs:
            number = evaluate_number(node, names)
            if isinstance(name, ast.Name) and number is not None:
                names[name.id] = number
    return names


def test_a_plain_number_is_known_however_it_is_written() -> None:
    tree = ast.parse("A = 7\nB: int = -(2**20)\nC, D = 1 << 16, A * 100\nE = len('x')\nF = True")
    assert numbers_in_module(tree) == {"A": 7, "B": -(2**20), "C": 1 << 16, "D": 700}


def test_numbers_that_were_tuned_stand_in_the_tuning_of_their_package() -> None:
    large: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        if path.name == "tuning.py" or path.name.endswith("kernels.py"):
            continue
        numbers = numbers_in_module(ast.parse(path.read_text(encoding="utf-8")))
        names = {name for name, number in numbers.items() if abs(number) > 100}
        if names:
            large[place.as_posix()] = names
    assert large == {place: set(reasons) for place, reasons in NOT_TUNED.items()}


PLAIN_NUMBERS = {0, 1, 2, 0.5, 1e-9, 1e-12, 1e-300}
"""Numbers that nobody tunes: counting, halves, what floating numbers err, no division by zero."""

WORD_BITS = {6, 8, 11, 30, 31, 32, 40, 60, 61, 62, 63, 64}
"""Numbers by which words are cut, where something is shifted, divided or raised by them."""

SHAPE_CALLS = {"arange", "empty", "full", "range", "reshape", "round", "uint64", "zeros"}
"""Calls whose small numbers are the shape of an array, digits, or bits."""


def _skips_number(parent: ast.AST, number: float) -> bool:
    """Whether a number is no tuned one by where it stands."""
    if isinstance(parent, ast.BinOp):
        if isinstance(parent.op, ast.Pow | ast.LShift | ast.RShift):
            return number in WORD_BITS | {3, 10}
        return number in {63, 64} and not isinstance(parent.op, ast.Mult)
    if isinstance(parent, ast.Compare):
        return number in {62, 63, 64}
    if isinstance(parent, ast.Subscript | ast.Slice):
        return number <= 10
    if isinstance(parent, ast.Call):
        function = parent.func
        name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
        return name == "uint64" or (name in SHAPE_CALLS and number <= 100)
    return False


def numbers_in_functions(tree: ast.Module) -> set[float]:
    """Numbers written inside functions that may have been tuned; defaults of arguments may not."""
    found: set[float] = set()

    def visit(node: ast.AST, parent: ast.AST) -> None:
        if isinstance(node, ast.arguments):
            return
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            number: float = node.value  # type: ignore[assignment]
            if number not in PLAIN_NUMBERS and not _skips_number(parent, number):
                found.add(number)
        # A shape or an index may be several numbers; a minus is part of its number.
        through = isinstance(node, ast.UnaryOp) or (
            isinstance(node, ast.Tuple) and isinstance(parent, ast.Call | ast.Subscript)
        )
        for child in ast.iter_child_nodes(node):
            visit(child, parent if through else node)

    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            visit(function, tree)
    return found


def test_a_number_in_a_function_is_found_where_it_may_have_been_tuned() -> None:
    code = """
def search(seconds: float = 60.0):
    if packages > 200 or effort.share(0.6):
        tail = max(4, size // 3)
    for begin in range(0, rows, 256):
        walk(min(room, 4096), key=lambda move: 7 * move)
"""
    assert numbers_in_functions(ast.parse(code)) == {200, 0.6, 4, 3, 256, 4096, 7}
    code = """
LIMIT = 77
def count(words: int = 5):
    table = np.zeros((3, 5), np.int64)
    table[-3] = (words + 63) // 64 + 10**decimals + (1 << 62)
    return round(table[4] / 2, 9), np.uint64(0x5555555555555555)
"""
    assert numbers_in_functions(ast.parse(code)) == set()


NOT_TUNED_IN_FUNCTIONS: dict[str, dict[str, set[float]]] = {
    "reconstruction/agreement.py": {"terms of the model for each part and total": {3}},
    "reconstruction/auditing/workers.py": {"bytes of a digest": {16}},
    "reconstruction/counting/dp_shared_states.py": {"two bits: either bin": {3}},
    "reconstruction/counting/dp_shared_states_kernels.py": {"two bits: either bin": {3}},
    "reconstruction/counting/two_bins_choice.py": {"bits of a word": {62}},
    "reconstruction/counting/two_bins_dominance_kernels.py": {"bits of a word": {62}},
    "reconstruction/counting/two_bins_lists.py": {"cells beyond both ends": {4}},
    "reconstruction/exact_cover/cover_rung.py": {"fewer bins are another rung's": {3}},
    "reconstruction/exact_cover/cover_search_kernels.py": {"bits of a word": {64}},
    "reconstruction/local_search/exchange_kernels.py": {
        "a textbook's generator of random numbers": {12345, 1103515245, 0x7FFFFFFF}
    },
    "reconstruction/local_search/targeted_refill_kernels.py": {"a sentinel": {1e9}},
    "reconstruction/local_search/two_bin_resplit_kernels.py": {
        "what a double holds exactly": {2.0**53}
    },
    "reconstruction/problem/amounts.py": {"last digits of a double": {4}},
    "reconstruction/problem/bitsets.py": {"bits of a word": {64}},
    "reconstruction/problem/rounding.py": {"the variance of a uniform number": {12}},
    "reconstruction/subset_sum/expected_count_kernels.py": {
        "the variance of a uniform number": {12},
        "no division by zero": {1e-18, 1e-36},
    },
    "reconstruction/subset_sum/lattice_enumeration.py": {
        "entries that the loop takes at a time": {4}
    },
    "reconstruction/subset_sum/lattice_enumeration_kernels.py": {
        "the square of a half": {0.25},
        "entries that the loop takes at a time": {3},
    },
    "tables/feasibility/disclosure_proof.py": {"what floating numbers err": {1e-7}},
    "tables/feasibility/sensitivity.py": {"per cent": {100}},
    "tables/randomised/draw_record.py": {"bits and bytes of a secret": {32, 128}},
    "tables/randomised/randomised_suppression.py": {"bytes of a secret": {32}},
    "tables/suppression/cp_sat_patterns.py": {"a seed": {20190811}},
    "tables/suppression/jj_files.py": {"lines and fields of the format": {3, 4, 6, 7, 8}},
    "tables/feasibility/table_audit.py": {"percent": {100}},
    "tables/table/crosstab_files.py": {"a head, a cell and a total": {3}},
    "tables/table/display.py": {"a code": {3}},
    "tables/table/tabulation.py": {"letters that there are": {10}},
    "records/inference/memory.py": {"bytes": {4, 16}},
    "records/linkage/agreement_weights.py": {"the largest exponent of a double, about": {700}},
    "records/protected/value_mapping.py": {"codes that are no value": {3}},
    "records/risk/class_measures/disclosure.py": {"bytes": {64}},
    "records/risk/frequencies/result.py": {"sizes that are reported": {3, 5, 10}},
    "records/risk/masked_numbers.py": {"what floating numbers err": {1e-14}},
    "records/risk/uniques/minimal_uniques.py": {"bits of a byte": {7, 8}, "bytes": {12}},
    "records/risk/record_risk.py": {"quantiles that are reported": {0.25, 0.75, 0.95}},
    "records/risk/uniques/suda.py": {"the paper's equation": {8, 20}},
    "records/sweep/cube_kernels.py": {"a column": {3}},
    "records/sweep/cube_rows.py": {"primes of hashes": {1_000_003, 2_654_435_761}},
    "records/sweep/result.py": {"a column": {3}},
    "records/sweep/sweep.py": {"bytes": {12, 28}},
    "events/knowledge_risk.py": {"the calendar": {3, 4, 7, 12, 1970}},
    "events/history/calendar.py": {"the calendar": {3, 6, 7, 12, 1970, 3_600_000_000}},
    "events/history/ordering.py": {"constants of a hash": {0x9E3779B97F4A7C15, 0xD1B54A32D192ED03}},
    "events/knowledge/facets.py": {"last digits of a double": {4}},
    "events/known_points/points.py": {"bytes, and arrays of them": {4, 8}},
    "events/matching/item_subsets.py": {"half a word": {0xFFFFFFFF}},
    "events/matching/matching.py": {"bits of a word": {32, 63}},
    "events/protected/candidate_lookup.py": {"bits of a word": {63}},
    "events/unicity.py": {"columns that are numbers": {3, 4}},
    "protection/changes/recodings.py": {"bytes of a key, letters of a name": {16, 24}},
    "protection/history/changes.py": {"the calendar": {3, 7, 12, 86_400_000_000}},
    "protection/result/hidden_cell_guesses.py": {"the width of a chart, in pixels": {380}},
    "protection/refill/search/arithmetic.py": {"a form of two columns": {3}},
    "protection/refill/columns.py": {"codes that are no value": {3}},
    "protection/refill/kernels.py": {
        "a multiplicative hash of 32 bits": {65536, 2654435761, 4294967295},
        "counters of a kernel": {3, 4},
    },
    "protection/refill/search/support.py": {"Wilson's formula": {4}},
    "protection/result/recipe_application.py": {"a share is said to four digits": {10_000}},
    "protection/result/utility.py": {"fewest points that may correlate": {3}},
    "protection/suppression/suppress.py": {"bytes": {16, 120}},
}
"""Numbers inside functions that nobody tuned, and what they are."""


def test_no_number_that_was_tuned_hides_in_a_function() -> None:
    found = {}
    for package in ("reconstruction", "tables", "records", "events", "protection"):
        for path in sorted((SOURCE / package).rglob("*.py")):
            if path.name in ("tuning.py", "charts.py", "details.py", "warm.py"):
                continue  # charts and tables have sizes and columns, set-up has made-up data
            numbers = numbers_in_functions(ast.parse(path.read_text(encoding="utf-8")))
            if numbers:
                found[path.relative_to(SOURCE).as_posix()] = numbers
    assert found == {
        place: set().union(*reasons.values()) for place, reasons in NOT_TUNED_IN_FUNCTIONS.items()
    }


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("tuning.py")), ids=lambda p: p.parent.name)
def test_every_number_that_was_tuned_says_what_it_is(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign):
            is_documented = isinstance(following, ast.Expr) and isinstance(
                following.value, ast.Constant
            )
            assert is_documented, f"{path}: {ast.unparse(statement.targets[0])}"


def kernels_with_loops() -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of kernel modules that loop, each with the place where it stands."""
    for path in sorted(SOURCE.rglob("*kernels.py")):
        place = path.relative_to(SOURCE)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            loops = (inner for inner in ast.walk(node) if isinstance(inner, (ast.For, ast.While)))
            if isinstance(node, ast.FunctionDef) and any(loops):
                yield f"{place.as_posix()}: {node.name}", node


def test_every_kernel_states_the_invariant_of_its_loop() -> None:
    kernels = dict(kernels_with_loops())
    assert len(kernels) > 40
    for place, kernel in kernels.items():
        assert "nvariant" in (ast.get_docstring(kernel) or ""), place
