"""What tests share: the markers that skip with a reason, and the tools of a newcomer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from playwright.sync_api import Page

PROJECT = Path(__file__).parent.parent
PUBLIC_DATA = PROJECT.parent / "shared" / "data"

CORPUS_OF_PROPERTIES = PROJECT / "tests" / "robustness" / "corpus" / "properties"
EXAMPLES = Path(os.environ.get("DIVULGE_EXAMPLES", CORPUS_OF_PROPERTIES))

ALWAYS: dict[str, Any] = {
    # CI machines stall at will: a slow example is not a wrong one. Speed is for the benchmarks.
    "deadline": None,
    # Files are written in a folder per case; what hypothesis warns of does not happen here.
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
# `make test` draws the same examples every time and on every machine, and keeps nothing.
settings.register_profile("divulge", derandomize=True, database=None, max_examples=40, **ALWAYS)
# `make fuzz` draws others every time. What broke a property is kept in the project and tried first.
settings.register_profile(
    "fuzz",
    database=DirectoryBasedExampleDatabase(EXAMPLES),
    print_blob=True,
    max_examples=200,
    **ALWAYS,
)
PROFILE = os.environ.get("DIVULGE_PROFILE", "divulge")
settings.load_profile(PROFILE)


def _draw_no_constants_of_imported_modules() -> None:
    """Draw the same examples whatever a worker has run before.

    Hypothesis draws constants out of all modules of the project that are imported by then, and
    there is no setting for it (`test_setup` sees that it does not).
    """
    none = Constants()
    providers._get_local_constants = lambda: none


if PROFILE == "divulge":
    _draw_no_constants_of_imported_modules()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the fuzzer draw from the seed that it printed, and keep what breaks a property.

    With a seed (`--hypothesis-seed` or `@seed`), hypothesis by itself keeps no example.
    """
    drawn = os.environ.get("DIVULGE_SEED")
    if PROFILE != "fuzz" or drawn is None:
        return
    for item in items:
        function: Any = getattr(item, "function", None)
        if getattr(function, "is_hypothesis_test", False):
            kept = function._hypothesis_internal_use_settings
            seed(int(drawn))(function)
            function._hypothesis_internal_use_settings = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, with the reason; on CI a missing browser is a failure."""
    if item.get_closest_marker("data") and not PUBLIC_DATA.is_dir():
        pytest.skip(f"the public data sets are not beside the project ({PUBLIC_DATA.name}/)")
    if item.get_closest_marker("spark") and not os.environ.get("DIVULGE_SPARK"):
        pytest.skip("runs on an Apache Spark server: make test-spark starts one (DIVULGE_SPARK)")
    if item.get_closest_marker("browser") and _chromium() is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium could be had, and CI must look at the pages")
        pytest.skip("no Chromium could be found or installed (set CHROMIUM to its path)")


def _chromium() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The folder of public data sets (for tests marked `data`)."""
    return PUBLIC_DATA


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A page of a real Chromium that keeps to itself (for tests marked `browser`)."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_chromium(),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser.new_page(viewport={"width": 1000, "height": 1400})
        browser.close()


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def divulge(tmp_path: Path) -> Command:
    """The command line, run as a user runs it: in a process of its own."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "divulge.cli", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,  # only for what would never end
            check=False,
        )

    return run
