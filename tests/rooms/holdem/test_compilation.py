"""Tests of what the wheel with the compiled engine relies on. `make test-compiled` runs them with it, too."""

from importlib import import_module
from pkgutil import iter_modules

import pytest
from msgspec import Struct

from croupier.cli import describe_version
from croupier.rooms.holdem import engine
from croupier.rooms.holdem.engine import play
from croupier.rooms.holdem.engine.compilation import COMPILED
from croupier.version import __version__

ENGINE_MODULES = [f"{engine.__name__}.{each.name}" for each in iter_modules(engine.__path__)]
MUTABLE = {"Legal", "NoMoves"}
"""The structs that are not frozen: a Legal computes its moves on first use."""


def structs_of(module: str) -> list[type[Struct]]:
    """The structs that a module defines."""
    values = vars(import_module(module)).values()
    return [
        each for each in values if isinstance(each, type) and issubclass(each, Struct) and each.__module__ == module
    ]


@pytest.mark.parametrize("module", ENGINE_MODULES)
def test_the_structs_of_the_engine_keep_their_options(module: str) -> None:
    for struct in structs_of(module):
        assert module not in COMPILED
        assert struct.__struct_config__.frozen == (struct.__name__ not in MUTABLE)


def test_all_modules_that_are_compiled_exist() -> None:
    assert all(import_module(name).__file__ for name in COMPILED)
    assert {name.rpartition(".")[2] for name in COMPILED} >= {"play", "hand", "ranks"}


def test_the_version_says_which_build_runs() -> None:
    build = "pure Python" if str(play.__file__).endswith(".py") else "compiled"
    assert describe_version() == f"{__version__} ({build})"
