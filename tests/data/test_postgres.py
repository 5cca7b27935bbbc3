"""Tables of a real PostgreSQL server, which the test starts and stops."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import divulge as dv
from divulge.data.formats.postgres import redact_address

pytest.importorskip("adbc_driver_postgresql", reason="the extra divulge[postgres] is not installed")


def _binaries() -> Path:
    """Where a server is: on the path, or where Debian puts it."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    pytest.skip("no PostgreSQL server is on this machine (no initdb found)")


def _user() -> str:
    """Who may run a server: PostgreSQL refuses root, so then it is the user postgres."""
    if os.geteuid() != 0:
        return getpass.getuser()
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    binaries, user = _binaries(), _user()
    folder = Path(tempfile.mkdtemp(prefix="divulge-pg-"))
    as_root = os.geteuid() == 0
    if as_root:
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        who = {"user": user} if as_root else {}
        subprocess.run(  # type: ignore[call-overload]  # who is one of its arguments
            [str(binaries / command[0]), *command[1:]],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            **who,
        )

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "clerk", "-A", "trust", "-E", "UTF8", "--no-sync")
    # Reached through a socket in its own folder only: no port, no neighbour.
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    run("pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
    try:
        yield f"postgresql://clerk@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def survey(server: str) -> str:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            'CREATE TABLE people (id bigint, "Home town" text, born date, income numeric(12, 2), '
            "height double precision, member boolean)"
        )
        cursor.execute(
            "INSERT INTO people VALUES "
            "(1, 'Forlì', '1990-05-17', 1200.50, 1.71, true), (2, NULL, NULL, NULL, NULL, NULL)"
        )
        cursor.execute("CREATE SCHEMA old; ")
        cursor.execute("CREATE TABLE old.firms AS SELECT generate_series(1, 1000) AS employees")
        cursor.execute("CREATE TABLE shapes (p point)")
        cursor.execute("INSERT INTO shapes VALUES ('(1,2)')")
        cursor.execute("CREATE TABLE nobody (id int)")
    return server


def test_a_table_is_read_with_its_types_and_missing_values(survey: str) -> None:
    import datetime as dt

    read = dv.read(survey, table="people", roles={"identifier": ["id"]})
    assert read.name == "people"
    assert read.to_arrow().to_pylist() == [
        {
            "id": 1,
            "Home town": "Forlì",
            "born": dt.date(1990, 5, 17),
            "income": 1200.5,
            "height": 1.71,
            "member": True,
        },
        {"id": 2, "Home town": None, "born": None, "income": None, "height": None, "member": None},
    ]


def test_a_table_of_another_schema_and_only_some_columns_are_read(survey: str) -> None:
    assert dv.read(survey, table="old.firms").rows == 1000
    assert dv.read(survey, table="people", columns=["Home town"]).names == ["Home town"]


def test_a_release_may_name_a_database(survey: str, tmp_path: Path) -> None:
    file = tmp_path / "release.toml"
    file.write_text(
        f'[[dataset]]\nname = "firms"\nsource = "{survey}"\ntable = "old.firms"\n'
        'roles = { quasi_identifier = ["employees"] }\n'
        '[[limit]]\ndataset = "firms"\nmeasure = "k_anonymity"\nat_least = 2\n'
    )
    assert not dv.Release.load(file).check().passed


def test_a_table_that_is_not_there_or_empty_is_said(survey: str) -> None:
    with pytest.raises(dv.InvalidInput, match="no such table"):
        dv.read(survey, table="poeple")
    with pytest.raises(dv.InvalidInput, match="no records"):
        dv.read(survey, table="nobody")
    with pytest.raises(dv.InvalidInput, match="give the table"):
        dv.read(survey)


def test_a_database_that_is_away_is_said_without_the_password() -> None:
    address = "postgresql://clerk:hush@localhost:1/survey"
    with pytest.raises(dv.InvalidInput, match="does not answer") as error:
        dv.read(address, table="people")
    assert "hush" not in str(error.value)
    assert redact_address(address) in str(error.value)


def test_a_column_that_no_attribute_can_be_is_named(survey: str) -> None:
    with pytest.raises(dv.InvalidInput, match='column "p"'):
        dv.read(survey, table="shapes")
