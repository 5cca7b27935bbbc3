"""The house itself: everything public is documented, and what the documents show is true."""

from __future__ import annotations

import ast
import importlib
import json
import re
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
    "qif.md",
    "extending.md",
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
    from divulge.release.settings import DatasetTable

    page = (DOCS / "release-file.md").read_text()
    for word in (*ROLES, *measures(), *attacks(), *DatasetTable.model_fields):
        assert f"`{word}`" in page, f"docs/release-file.md does not speak of {word}"


# Where `release` writes a word that is also the name of an attack, and means the word.
WORDS_THAT_NAME_NO_ATTACK = [
    ("output_files.py", "records"),  # how many, a key of the log of decisions
    ("settings.py", "records"),  # whom a dataset is about, unless it is said
    ("settings.py", "risk"),  # an order in which records are protected
    ("verdict.py", "records"),  # how many, a key of result.json
]


def test_the_conductor_knows_no_attack_by_name() -> None:
    """What it asked one attack by name, an attack of another package would not be asked."""
    from divulge.assessment import attacks

    found = []
    for path in sorted((PROJECT / "src" / "divulge" / "release").glob("*.py")):
        tree = ast.parse(path.read_text())
        docstrings = {
            id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            assert not re.search(r"attack *= *[\"']", node.value), f"{path.name}: {node.value}"
            if node.value in attacks() and id(node) not in docstrings:
                found.append((path.name, node.value))
    assert sorted(found) == WORDS_THAT_NAME_NO_ATTACK


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
        place for path in command_line.glob("*.py") for place in words_printed_as_they_are(path)
    ]


def test_every_sentence_of_the_command_line_exists_and_is_used() -> None:
    from divulge.assessment.sentence import load_catalogue

    command_line = PROJECT / "src" / "divulge" / "cli"
    source = "\n".join(path.read_text(encoding="utf-8") for path in command_line.glob("*.py"))
    catalogue = set(load_catalogue("divulge.cli"))
    said = set(re.findall(r"""_sentence\(\s*["']([\w.]+)["']""", source))
    listed = set(re.findall(r"""read_phrases\("divulge.cli", "([\w.]+)"\)""", source))
    marks = {key for key in catalogue if key.startswith("matching.mark.")}
    assert said | listed | marks == catalogue


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


SOURCE = PROJECT / "src" / "divulge"


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


NOT_TUNED = {
    "classes/keys.py": {"LARGEST_KEY": "what a signed number of 64 bits holds"},
    "classes/partition.py": {"_LARGEST_KEY": "what a signed number of 64 bits holds"},
    "cli/demonstration.py": {"SWEPT_PUPILS": "the size of the data that are shown"},
    "cli/tables.py": {"MOST_ROWS": "what a reader takes in at once"},
    "data/formats/capacity.py": {"MAX_EXACT_INTEGER": "what a double holds exactly"},
    "data/formats/names.py": {"UNLIMITED": "a sentinel"},
    "data/formats/sas_transport_writer.py": {"MAX_VARIABLES_V5": "a limit of the format"},
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
    "protection/result/audit.py": {"MOST_CANDIDATES": "the default of a public argument"},
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
    "records/inference/charts.py": {"MAX_DOTS": "what the eye tells apart in a chart"},
    "records/sweep/cube_walk.py": {"NO_CLASS": "a sentinel"},
    "records/sweep/subset_cube.py": {"MOST_ROWS": "what a signed number of 32 bits holds"},
    "tables/candidate_tables/enumeration.py": {
        "MOST_CANDIDATES": "the default of a public argument"
    },
    "tables/feasibility/assess.py": {"LARGEST_CELL_VALUE": "what a double holds exactly"},
    "tables/feasibility/network.py": {"UNBOUNDED": "a sentinel"},
    "tables/matching/attack.py": {"SAMPLE_SIZE": "the default of a public argument"},
    "tables/table/charts.py": {"MAX_DRAWN_CELLS": "what a reader takes in at once"},
    "tables/table/crosstab_files.py": {"LONGEST_NUMBER": "a limit of the format"},
    "tables/table/units.py": {"LARGEST_SUM": "what a signed number of 64 bits holds"},
    "work/effort.py": {"ENDLESS_SECONDS": "a sentinel", "TICKS_PER_SECOND": "a unit"},
    "work/filesystem.py": {
        "PRIVATE_FILE": "permissions of a file",
        "PRIVATE_FOLDER": "permissions of a folder",
    },
    "work/manifest.py": {"LONGEST_NAME": "a limit of the format"},
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
