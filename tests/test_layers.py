"""Import layers: the contracts of pyproject.toml hold, and each contract catches a violation."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest
from grimp import ImportGraph, build_graph
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract

ROOT = Path(__file__).parent.parent
CONTRACTS = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}

CONTRACT_TYPES = {"forbidden": ForbiddenContract, "independence": IndependenceContract, "layers": LayersContract}

NEW_ROOM = {"rooms/tiny/__init__.py": '"""A room."""\n', "rooms/tiny/rules.py": '"""Its rules."""\n'}

BREACHES: list[tuple[str, str, str]] = [
    ("packages", "core/hall.py", "import croupier.rooms"),
    ("packages", "core/deal_record.py", "import croupier.net"),
    ("packages", "observers/metrics.py", "import croupier.rooms"),
    ("packages", "store/records.py", "import croupier.recording.seeds"),
    ("packages", "net/endpoint.py", "import croupier.store.records"),
    ("store", "store/records.py", "import croupier.rooms"),
    ("packages", "core/bank.py", "import croupier.strategy"),
    ("packages", "strategy/game_tree.py", "import croupier.store.records"),
    ("packages", "strategy/game_tree.py", "import croupier.observers"),
    ("packages", "rooms/kuhn/house.py", "import croupier.observers.deal_recorder"),
    ("packages", "net/endpoint.py", "import croupier.recording.seeds"),
    ("packages", "recording/seeds.py", "import croupier.http.server"),
    ("packages", "http/server.py", "import croupier.clients.game"),
    ("packages", "clients/game.py", "import croupier.app.serve"),
    ("packages", "app/serve.py", "import croupier.cli.settings"),
    ("packages", "web/app.py", "import croupier.app.serve"),
    ("web", "web/app.py", "import croupier.tui"),
    ("packages", "tui/__init__.py", "import croupier.web.app"),
    ("packages", "http/server.py", "import croupier.web.app"),
    ("packages", "tui/__init__.py", "import croupier.cli.settings"),
    ("packages", "tui/__init__.py", "import croupier.conformance.case"),
    ("packages", "conformance/case.py", "import croupier.cli.settings"),
    ("room", "rooms/kuhn/rules.py", "import croupier.rooms.kuhn.wire"),
    ("room", "rooms/kuhn/wire.py", "import croupier.rooms.kuhn.referee"),
    ("room", "rooms/kuhn/bots.py", "import croupier.rooms.kuhn.house"),
    ("room", "rooms/kuhn/house.py", "import croupier.rooms.kuhn.player"),
    ("room", "rooms/kuhn/referee.py", "import croupier.rooms.kuhn.player"),
    ("holdem", "rooms/holdem/wire.py", "import croupier.rooms.holdem.house"),
    ("holdem", "rooms/holdem/engine/play.py", "import croupier.rooms.holdem.wire"),
    ("holdem", "rooms/holdem/bots.py", "import croupier.rooms.holdem.player"),
    ("holdem-engine", "rooms/holdem/engine/pots.py", "import croupier.rooms.holdem.engine.play"),
    ("oldmaid", "rooms/oldmaid/wire.py", "import croupier.rooms.oldmaid.table.game"),
    ("oldmaid", "rooms/oldmaid/house.py", "import croupier.rooms.oldmaid.player"),
    ("conformance", "conformance/case.py", "import croupier.conformance.results"),
    ("conformance", "conformance/servers/scenarios.py", "import croupier.conformance.clients.bench"),
    ("rooms", "rooms/kuhn/wire.py", "import croupier.rooms.tiny.rules"),
    ("rooms", "rooms/tiny/rules.py", "import croupier.rooms.kuhn.rules"),
    ("pure", "core/hall.py", "import asyncio"),
    ("pure", "core/dealer.py", "import random"),
    ("pure", "core/session.py", "from time import monotonic"),
    ("pure", "rooms/kuhn/house.py", "import logging"),
    ("pure", "strategy/linear_program.py", "import random"),
    ("pure", "rooms/tiny/rules.py", "import threading"),
    ("sockets", "cli/serve.py", "import socket"),
    ("sockets", "cli/solve.py", "import socket"),
    ("sockets", "clients/game.py", "import socket"),
    ("sockets", "conformance/tap/relay.py", "import socket"),
    ("sockets", "observers/metrics.py", "import select"),
    ("sockets", "web/server.py", "import socket"),
]
"""The contract, the module, and the import that breaks the contract there."""


def lint(source: Path) -> tuple[set[str], str]:
    """Return the names of the contracts that a source tree breaks, and the output of lint-imports."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        cwd=source,
        env=os.environ | {"PYTHONPATH": str(source), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    output = done.stdout + done.stderr
    found = {match[1]: match[2] for match in re.finditer(r"^(.+?)(?: \(.*\))? (KEPT|BROKEN)\b", output, re.MULTILINE)}
    assert {*found} == {*CONTRACTS.values()}, output
    broken = {name for name, verdict in found.items() if verdict == "BROKEN"}
    assert bool(broken) == bool(done.returncode), output
    return broken, output


def with_breaches(folder: Path, breaches: Iterable[tuple[str, str, str]]) -> Path:
    """Copy the source tree, add a room and these breaches to it, and return its folder."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in NEW_ROOM.items():
        path = folder / "src" / "croupier" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for _, module, line in breaches:
        path = folder / "src" / "croupier" / module
        path.write_text(f"{path.read_text()}\n{line}\n")
    return folder / "src"


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    """The imports of the sources with one more room."""
    found = build_graph("croupier", include_external_packages=True, cache_dir=None)
    for name in NEW_ROOM:
        found.add_module(module_name(name))
    return found


def module_name(path: str) -> str:
    """The name of the module in a file.

    >>> module_name("core/hall.py")
    'croupier.core.hall'
    """
    return f"croupier.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"


def broken_contracts(graph: ImportGraph) -> set[str]:
    """The ids of the contracts that a graph of imports breaks."""
    configuration = read_configuration(str(ROOT / "pyproject.toml"))
    return {
        options["id"]
        for options in configuration["contracts_options"]
        if not CONTRACT_TYPES[options["type"]](options["name"], configuration["session_options"], options)
        .check(graph, verbose=False)
        .kept
    }


def test_all_contracts_hold() -> None:
    broken, output = lint(ROOT / "src")
    assert not broken, output


def test_every_contract_is_broken_by_its_breaches(tmp_path: Path) -> None:
    broken, output = lint(
        with_breaches(tmp_path, {contract: (contract, *rest) for contract, *rest in BREACHES}.values())
    )
    assert broken == {*CONTRACTS.values()}, output


def test_a_new_room_breaks_nothing(graph: ImportGraph) -> None:
    assert broken_contracts(graph) == set()


@pytest.mark.extended
@pytest.mark.parametrize(("contract", "module", "line"), BREACHES, ids=[f"{c}: {m} {i}" for c, m, i in BREACHES])
def test_the_contract_catches_its_breach(graph: ImportGraph, contract: str, module: str, line: str) -> None:
    (node,) = ast.parse(line).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    imported = node.names[0].name if isinstance(node, ast.Import) else str(node.module)
    importer = module_name(module)
    assert importer in graph.modules
    changed = deepcopy(graph)
    if not imported.startswith("croupier."):
        changed.add_module(imported, is_squashed=True)
    assert imported in changed.modules
    changed.add_import(importer=importer, imported=imported)
    assert broken_contracts(changed) == {contract}


def test_every_contract_has_a_breach_here() -> None:
    assert {contract for contract, _, _ in BREACHES} == {*CONTRACTS}


TEXT_MODES = re.compile(r"[^b]*")


def unencoded(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that open, read or write a text file without an explicit encoding."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        modes = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        text = named in {"read_text", "write_text"} or (
            named == "open" and any(TEXT_MODES.fullmatch(mode) and len(mode) < 4 for mode in modes)
        )
        if text and "encoding" not in {keyword.arg for keyword in node.keywords}:
            yield node.lineno


def test_every_text_file_is_opened_with_an_explicit_encoding() -> None:
    assert [*unencoded(ast.parse("a.open('w')\nb.read_text()\nc.open('rb')\nd.open(encoding='utf-8')"))] == [1, 2]
    sources = {file: file.read_text(encoding="utf-8") for file in sorted((ROOT / "src").rglob("*.py"))}
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file, source in sources.items()
        if "open(" in source or "_text(" in source
        for line in unencoded(ast.parse(source))
    ]
    assert found == []
