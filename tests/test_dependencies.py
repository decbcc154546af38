"""The package can be installed beside others: no narrow pins, and only the public names of httptools."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import httptools
import pytest

from tests.sampling import in_one_test

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/croupier"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = [*PROJECT["dependencies"], *(need for needs in PROJECT["optional-dependencies"].values() for need in needs)]


@in_one_test
@pytest.mark.parametrize("requirement", RUNTIME)
def test_runtime_dependency_has_only_a_lower_bound(requirement: str) -> None:
    """Another package in the same environment may need any newer version, as FastAPI does of its web server."""
    version = re.sub(r"^[\w.-]+(\[[\w,.-]+\])?", "", requirement.partition(";")[0]).strip()
    assert re.fullmatch(r">=[\d.]+", version), f"found {requirement}; allowed: a lower bound"


@cache
def sources(folder: Path) -> list[str]:
    """The text of all modules of a folder."""
    return [path.read_text() for path in folder.rglob("*.py")]


def imports(module: str, folder: Path) -> list[ast.Import | ast.ImportFrom]:
    """All import statements of the modules of a folder that name a module."""
    trees = [ast.parse(text) for text in sources(folder) if module in text]
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_names(module: str, folder: Path = SOURCE) -> set[str]:
    """The names that the package, or one of its folders, imports from a module.

    They are dotted with the submodule that they are imported from.
    """
    found: set[str] = set()
    for node in imports(module, folder):
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
def test_the_rest_service_imports_no_other_web_server(module: str) -> None:
    assert imported_names(module, SOURCE / "http") == set()
