"""What tests share: the markers that skip with a reason, and the tools of a newcomer."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Page

PROJECT = Path(__file__).parent.parent
PUBLIC_DATA = PROJECT.parent / "shared" / "data"

# CI machines stall at will: a slow example is not a wrong one. Speed is for the benchmarks.
settings.register_profile(
    "divulge",
    deadline=None,
    max_examples=40,
    # Files are written in a folder per case; what hypothesis warns of does not happen here.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("divulge")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, with the reason; on CI a missing browser is a failure."""
    if item.get_closest_marker("data") and not PUBLIC_DATA.is_dir():
        pytest.skip(f"the public data sets are not beside the project ({PUBLIC_DATA.name}/)")
    if item.get_closest_marker("spark") and importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not in this environment; Spark tests run in their own")
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
            timeout=120,
            check=False,
        )

    return run
