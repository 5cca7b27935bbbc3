"""Compiled kernels: kept for the next process, and never stale."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "divulge"
FILES = [p for p in PACKAGE.rglob("*.py") if "@kernel\n" in p.read_text() and p.name != "kernel.py"]


def kernels_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Name) and d.id == "kernel" for d in node.decorator_list)
    }


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_kernel_calls_only_kernels_of_its_own_file(path: Path) -> None:
    """The cache of compiled code does not see an edit in another file."""
    kernels = kernels_of(ast.parse(path.read_text()))
    allowed = {*kernels, "range", "len", "min", "max", "abs", "int", "float"}
    for kernel in kernels.values():
        for call in ast.walk(kernel):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                assert call.func.id in allowed, f"{kernel.name} calls {call.func.id}"
    assert kernels


def test_importing_divulge_does_not_wait_for_the_compiler() -> None:
    code = "import divulge.records, divulge.cli.main, sys; print('numba' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_without_a_place_for_compiled_code_kernels_are_compiled_anew(tmp_path: Path) -> None:
    """A kernel in a folder that cannot be written to, and no user cache either."""
    module = tmp_path / "package" / "readonly.py"
    module.parent.mkdir()
    module.write_text(
        "from divulge.engines import kernel\n\n@kernel\ndef doubled(n):\n    return 2 * n\n"
    )
    code = f"""
import sys, numba.core.caching as caching
caching._CacheLocator.ensure_cache_path = lambda self: (_ for _ in ()).throw(OSError())
sys.path.insert(0, {str(module.parent)!r})
from readonly import doubled
print(doubled(21))
"""
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ)
    )
    assert told.stdout.strip() == "42", told.stderr
