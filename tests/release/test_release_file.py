"""The release file: read in full, or refused with all that is wrong at once."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from tests.release_files import RELEASE, write_release

from divulge import Hierarchy, Release, datasets
from divulge.release import release_schema
from divulge.release.release_file.draft_file import draft_dictionary
from divulge.work import InvalidInput, version


def complaint(path: Path) -> str:
    with pytest.raises(InvalidInput) as raised:
        Release.load(path)
    return str(raised.value)


def test_the_release_file_of_the_contract_is_read_in_full(tmp_path: Path) -> None:
    release = Release.load(write_release(tmp_path))
    assert list(release.datasets) == ["pupils"]
    [adversary] = release.adversaries
    assert (adversary.name, adversary.attack, adversary.datasets) == (
        "neighbour",
        "records",
        ("pupils",),
    )
    assert [limit.measure for limit in release.limits] == ["deterministic.posterior", "k_anonymity"]
    assert release.methods == ("recode", "suppress")
    assert [path.name for path in release.rules] == ["groups.rules"]


def test_all_problems_of_a_file_are_told_at_once_with_their_place(tmp_path: Path) -> None:
    path = write_release(
        tmp_path,
        ('knows = ["gender", "grade"]', 'knows = ["gendr", "grade"]'),
        ('model = "CRS"', 'model = "CRX"'),
        ("at_most = 0.10", "at_most = 5"),
    )
    assert complaint(path).splitlines() == [
        f"{path} has 3 problems:",
        '  adversary "neighbour", model: "CRX" is not an attack model. Did you mean "CRS"?',
        (
            '  adversary "neighbour", knows: dataset "pupils" has no attribute "gendr". '
            'Did you mean "gender"?'
        ),
        (
            "  limit 1, at_most: 5 is not a share (0 to 1). "
            'To limit a number of records, use measure "deterministic.count".'
        ),
    ]


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('attack = "records"', 'attack = "recods"', 'adversary "neighbour", attack: "recods" is not an attack that is installed. Did you mean "records"?'),
        ('attack = "records"\ndataset = "pupils"', 'attack = "records"\ndataset = "pupil"', 'the release has no dataset "pupil". Did you mean "pupils"?'),
        ("k_anonymity", "k_anonimity", 'limit 2, measure: "k_anonimity" is not a measure. Did you mean "k_anonymity"?'),
        ("quasi_identifier =", "quasi_identifer =", 'dataset "pupils", roles: "quasi_identifer" is not a role. Did you mean "quasi_identifier"?'),
        ('sensitive = ["disability"]', 'sensitive = ["disabilty"]', 'roles, sensitive: the dataset has no attribute "disabilty". Did you mean "disability"?'),
        ("sensitive =", "identifier =", "is not TOML"),
        ("[protection]", "[protecton]", '"protecton" is not a setting here. Did you mean "protection"?'),
        ('subjects = "pupils"', 'subject = "pupils"', 'dataset "pupils": "subject" is not a setting here. Did you mean "subjects"?'),
        ('source = "pupils.csv"', "", 'dataset "pupils", source: is missing.'),
        ('source = "pupils.csv"', "source = 5", 'dataset "pupils", source: must be text.'),
        ('source = "pupils.csv"', 'source = "pupil.csv"', "the file does not exist."),
        ("at_most = 0.10", 'at_most = "0.10"', "limit 1, at_most: must be a number."),
        ("at_most = 0.10", "", "limit 1: give either at_most or at_least."),
        ("[[dataset]]", "[dataset]", "dataset: there may be several: write [[dataset]], with two brackets, above each."),
        ('name = "pupils"', 'name = ""', "dataset 1, name: must not be empty."),
        ('source = "pupils.csv"', "source = []", 'dataset "pupils", source: must list at least 1, not 0.'),
        ('source = "pupils.csv"', "source = [5]", 'dataset "pupils", source 1: must be text.'),
        ('subjects = "pupils"', 'hierarchies = { age = { pair = [] } }', 'dataset "pupils", hierarchies, age: "pair" is not a setting here. Did you mean "pairs"?'),
        ('subjects = "pupils"', 'hierarchies = { grade = { pairs = [["a", "b", "c"]] } }', 'dataset "pupils", hierarchies, grade, pairs 1: must list at most 2, not 3.'),
        ('subjects = "pupils"', "missing_codes = { age = [[1, 2, 3]] }", 'dataset "pupils", missing_codes, age 1: must list at most 2, not 3.'),
        ('adversary = "neighbour"\nmeasure', 'adversary = "nieghbour"\nmeasure', 'limit 1, adversary: the release has no adversary "nieghbour". Did you mean "neighbour"?'),
        ('dataset = "pupils"\nmeasure', 'dataset = "pupls"\nmeasure', 'limit 2, dataset: the release has no dataset "pupls". Did you mean "pupils"?'),
        ('"suppress"', '"supress"', 'protection, methods 2: is not one of the allowed words. Allowed: "recode", "suppress".'),
        ('"groups.rules"', '"group.rules"', 'rules, files: "group.rules" does not exist.'),
        ('knows = ["gender", "grade"]', "knows = 3", 'adversary "neighbour", knows: must be'),
        ('model = "CRS"', 'modle = "CRS"', 'adversary "neighbour": "modle" is not a setting here. Did you mean "model"?'),
    ],
)  # fmt: skip
def test_each_mistake_is_one_message_with_place_and_nearest_match(
    tmp_path: Path, old: str, new: str, wanted: str
) -> None:
    told = complaint(write_release(tmp_path, (old, new)))
    assert wanted in told
    assert "\n" not in told, "one mistake is one line"


def test_a_limit_that_would_limit_nobody_is_refused(tmp_path: Path) -> None:
    nobody = 'measure = "delta_presence"\npopulation = "pupils"\nat_most = 0.5'
    limit = 'dataset = "pupils"\nmeasure = "k_anonymity"\nat_least = 1'
    assert complaint(write_release(tmp_path, (limit, nobody))).endswith(
        "limit 2: limits no dataset: what a limit compares with is not itself limited."
    )


def test_a_limit_of_all_datasets_names_what_all_of_them_have(tmp_path: Path) -> None:
    limit = 'dataset = "pupils"\nmeasure = "k_anonymity"\nat_least = 1'
    everybodys = (
        'measure = "k_anonymity"\nat_least = 1\namong = ["gendr"]\n'
        '[[limit]]\nmeasure = "distinct_l_diversity"\nat_least = 1\nattribute = "disabilty"'
    )
    assert complaint(write_release(tmp_path, (limit, everybodys))).splitlines()[1:] == [
        '  limit 2, among: dataset "pupils" has no attribute "gendr". Did you mean "gender"?',
        (
            '  limit 3, attribute: dataset "pupils" has no attribute "disabilty". '
            'Did you mean "disability"?'
        ),
    ]


def test_names_given_twice_are_refused(tmp_path: Path) -> None:
    extra = '[[adversary]]\nname = "neighbour"\nattack = "records"\n'
    assert 'adversary "neighbour": this name is given more than once.' in complaint(
        write_release(tmp_path, extra=extra)
    )


def test_a_release_without_data_or_without_a_file_is_refused(tmp_path: Path) -> None:
    assert complaint(tmp_path / "none.toml").endswith("none.toml: the file does not exist.")
    (tmp_path / "empty.toml").write_text("")
    assert complaint(tmp_path / "empty.toml").endswith("dataset: is missing.")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not a text file" in complaint(tmp_path / "binary.toml")
    assert "is a folder; name a file in it" in complaint(tmp_path)


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text('[[dataset]]\nname = "a\n')
    assert "at line 2" in complaint(tmp_path / "r.toml")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('dataset = "pupils"\nmodel', 'dataset = []\nmodel', "dataset: names none"),
        ('dataset = "pupils"\nmodel', 'dataset = ["pupils", "pupils"]\nmodel', 'names "pupils" more than once'),
        ("at_most = 0.10", "at_most = 0.10\nself = 1", "self: is not an option"),
        ("at_most = 0.10", "at_most = nan", "must be a finite number"),
        ("at_most = 0.10", "at_most = 1" + "0" * 5000, "larger than can be read"),
        ('source = "pupils.csv"', 'source = "' + "x" * 300 + '.csv"', "cannot be used"),
    ],
)  # fmt: skip
def test_odd_values_are_problems_too(tmp_path: Path, old: str, new: str, wanted: str) -> None:
    assert wanted in complaint(write_release(tmp_path, (old, new)))


def test_a_limit_of_adversaries_needs_one(tmp_path: Path) -> None:
    datasets.school_year_example().write(tmp_path / "p.csv")
    (tmp_path / "r.toml").write_text(
        '[[dataset]]\nname = "p"\nsource = "p.csv"\n'
        '[[limit]]\nmeasure = "deterministic.posterior"\nat_most = 0.05\n'
    )
    assert "limit 1: limits an adversary, and the release names none" in complaint(
        tmp_path / "r.toml"
    )


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Release.load(path).adversaries


def test_an_adversary_need_not_name_the_only_dataset(tmp_path: Path) -> None:
    path = write_release(tmp_path, ('attack = "records"\ndataset = "pupils"', 'attack = "records"'))
    assert Release.load(path).adversaries[0].datasets == ("pupils",)


def test_hierarchies_come_from_files_and_from_rules(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text("A;good\nB;good\nC;bad\nD;bad\nE;bad\n")
    rules = """
[dataset.hierarchies]
grade = "grades.csv"
age = { intervals = [[0, 30, 60], [0, 60]] }
id = { prefixes = [1] }
gender = { levels = [["F", "*"], ["M", "*"]] }
"""
    path = write_release(tmp_path, ("[[adversary]]", f"{rules}\n[[adversary]]"))
    found = Release.load(path).datasets["pupils"].read().dictionary
    assert isinstance(found["grade"].hierarchy, Hierarchy)
    assert found["age"].hierarchy is not None
    assert found["age"].hierarchy.at(25, 1) == "[0, 30)"
    assert found["gender"].hierarchy is not None
    assert found["disability"].hierarchy is None


def test_a_code_list_of_tau_argus_is_read_as_the_release_file_says(tmp_path: Path) -> None:
    (tmp_path / "grades.txt").write_text("good\n--A\n--B\nbad\n--C\n--D\n--E\n")
    rule = '{ file = "grades.txt", format = "argus", lead = "--", total = "all" }'
    table = f"[dataset.hierarchies]\ngrade = {rule}\n\n[[adversary]]"
    path = write_release(tmp_path, ("[[adversary]]", table))
    grades = Release.load(path).datasets["pupils"].read().dictionary["grade"].hierarchy
    assert grades is not None
    assert [grades.at("C", level) for level in (1, 2)] == ["bad", "all"]
    grades.write(tmp_path / "again.hrc")  # with @, without its total
    again = Hierarchy.from_file(tmp_path / "again.hrc", total="all")
    assert again.table == grades.table


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('{ file = "grades.csv", prefixes = [1] }', "leave out prefixes"),
        ('{ lead = "@", prefixes = [1] }', "give file, too"),
        ('{ file = "grades.csv", total = "all" }', "tau-ARGUS"),
        ('{ file = "grades.csv", format = "xml" }', '"argus"'),
        ('{ file = "nothing.hrc" }', "nothing.hrc"),
    ],
)
def test_what_does_not_go_with_a_file_of_a_hierarchy_is_said(
    tmp_path: Path, rule: str, message: str
) -> None:
    (tmp_path / "grades.csv").write_text("A;good\nB;good\nC;bad\nD;bad\nE;bad\n")
    table = f"[dataset.hierarchies]\ngrade = {rule}\n\n[[adversary]]"
    with pytest.raises(InvalidInput) as caught:
        Release.load(write_release(tmp_path, ("[[adversary]]", table)))
    assert message in str(caught.value)
    assert "grade" in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "ladder"),
    [
        ("{ rounding = [10, 20] }", ["[60, 70)", "[60, 80)"]),
        ("{ bottom = 12, top = [65, 60] }", ["63", ">= 60"]),
        ("{ rounding = [10], top = 65 }", ["63", "[60, 65)"]),
    ],
)
def test_numbers_are_rounded_and_capped_by_rules_of_a_release_file(
    tmp_path: Path, rule: str, ladder: list[str]
) -> None:
    table = f"[dataset.hierarchies]\nage = {rule}\n\n[[adversary]]"
    path = write_release(tmp_path, ("[[adversary]]", table))
    dataset = Release.load(path).datasets["pupils"].read()
    ages = dataset.dictionary["age"].hierarchy
    assert ages is not None
    assert [ages.at(63, level) for level in (1, 2)] == ladder
    drafted = "\n".join(draft_dictionary(dataset)).replace("dataset.", "")
    assert tomllib.loads(drafted)["hierarchies"]["age"] == dict(ages.as_settings())


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ('"none.csv"', "does not exist"),
        ("{ intervals = [[3, 1]] }", "must rise"),
        ("{ dates = 'day', prefixes = [1] }", "give one of intervals, rounding, dates"),
        ("{ prefix = [1] }", '"prefix" is not a setting here'),
    ],
)
def test_a_hierarchy_that_cannot_be_is_refused(tmp_path: Path, rule: str, wanted: str) -> None:
    table = f"[dataset.hierarchies]\nage = {rule}\n\n[[adversary]]"
    assert wanted in complaint(write_release(tmp_path, ("[[adversary]]", table)))


def test_the_published_schema_takes_what_is_right_and_refuses_what_is_wrong() -> None:
    schema = release_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(RELEASE), schema)
    for old, new in (
        ('name = "pupils"', "name = 5"),
        ('"suppress"', '"supress"'),
        ('attack = "records"', 'attack = "recods"'),
        ("knows = [", "knows = 5 # ["),
        ("knows = [", "knowz = ["),
        ("quasi_identifier =", "quasi ="),
        ('"k_anonymity"', '"nope"'),
        ("at_most = 0.10", ""),
        ("at_most = 0.10", "at_most = 0.10\nat_least = 0.05"),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(RELEASE.replace(old, new)), schema)
    assert json.dumps(schema)


def test_a_file_of_this_format_is_read_whether_it_says_so_or_not(tmp_path: Path) -> None:
    assert "format" not in RELEASE
    (tmp_path / "silent").mkdir()
    silent = Release.load(write_release(tmp_path / "silent"))
    said = Release.load(write_release(tmp_path, ("[[dataset]]", "format = 1\n\n[[dataset]]")))
    assert silent.to_dict()["limits"] == said.to_dict()["limits"]
    assert list(silent.datasets) == list(said.datasets)


def test_a_newer_format_is_refused_and_nothing_else_is_said_of_the_file(tmp_path: Path) -> None:
    newer = ("[[dataset]]", 'format = 2\nunheard_of = "yes"\n\n[[dataset]]')
    path = write_release(tmp_path, newer, ('source = "pupils.csv"', "source = 5"))
    assert complaint(path) == (
        f"{path}, format: 2 is newer than what this version reads (Divulge {version()}, format 1). "
        "Install a newer Divulge, or write the file in format 1."
    )


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('"1"', "format: must be a whole number."),
        ('"two"', "format: must be a whole number."),
        ("1.0", "format: must be a whole number."),
        ("true", "format: must be a whole number."),
        ("[1]", "format: must be a whole number."),
        ("0", "format: must be at least 1."),
        ("-1", "format: must be at least 1."),
    ],
)
def test_a_format_is_a_whole_number_from_one(tmp_path: Path, given: str, wanted: str) -> None:
    told = complaint(write_release(tmp_path, ("[[dataset]]", f"format = {given}\n\n[[dataset]]")))
    assert told.endswith(wanted)
    assert "\n" not in told


def test_the_published_schema_knows_the_formats_that_are_read() -> None:
    told = release_schema()["properties"]["format"]
    assert (told["type"], told["minimum"], told["maximum"]) == ("integer", 1, 1)
    assert "format" not in release_schema()["required"]


def test_an_attribute_that_publish_misspells_is_one_problem(tmp_path: Path) -> None:
    path = write_release(tmp_path, ('subjects = "pupils"', 'publish = ["gendr"]'))
    assert complaint(path).endswith(
        'dataset "pupils", publish: the dataset has no attribute "gendr". Did you mean "gender"?'
    )
    assert complaint(path).count("gendr") == 1
