"""The package can be installed beside others: no narrow pins, and only the public names of httptools."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import httptools
import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/croupier"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = [*PROJECT["dependencies"], *(need for needs in PROJECT["optional-dependencies"].values() for need in needs)]


@pytest.mark.parametrize("requirement", RUNTIME)
def test_runtime_dependency_has_only_a_lower_bound(requirement: str) -> None:
    """Another package in the same environment may need any newer version, as FastAPI does of its web server."""
    version = re.sub(r"^[\w.-]+(\[[\w,.-]+\])?", "", requirement.partition(";")[0]).strip()
    assert re.fullmatch(r">=[\d.]+", version), f"found {requirement}; allowed: a lower bound"


def test_no_web_framework_is_needed() -> None:
    names = {re.split(r"[^\w-]", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert not names & {"uvicorn", "starlette", "fastapi", "h11", "hypercorn"}


@cache
def imports() -> list[ast.Import | ast.ImportFrom]:
    """All import statements of the package."""
    trees = [ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")]
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_names(module: str) -> set[str]:
    """The names that the package imports from a module, dotted with the submodule they are imported from."""
    found: set[str] = set()
    for node in imports():
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.partition(".")[0] == module}
        elif (node.module or "").partition(".")[0] == module:
            prefix = (node.module or "").partition(".")[2]
            found |= {f"{prefix}.{name.name}".lstrip(".") for name in node.names}
    return found


def test_only_public_names_of_httptools_are_imported() -> None:
    names = imported_names("httptools")
    assert "HttpRequestParser" in names
    assert names <= {*httptools.__all__}


@pytest.mark.parametrize("module", ["uvicorn", "starlette"])
def test_no_other_web_server_is_imported(module: str) -> None:
    assert imported_names(module) == set()
