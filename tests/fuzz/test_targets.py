"""The list of fuzz targets is complete, and no target fails on its corpus, on what fuzzing has found, and at random."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import croupier
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS
from tests.sampling import example_count

SOURCE = Path(croupier.__file__).parent
FOUND = Path(__file__).parent / "found"
"""Inputs that a target has failed on, as TARGET/NAME: what they found is mended."""

PARSER_NAME = re.compile(r"_?(parse|feed|decode)(_\w+)?|from_(json|phh|acpc|snapshot)")
DEFINITION = re.compile(rf"def ({PARSER_NAME.pattern})\(")

CORPUS_SAMPLE = 16

NOT_FUZZED = {
    "load/measurement.py:decode": "reads histograms that the processes of one load have encoded",
    "conformance/run.py:_decode_stderr": "cuts the output of a program, with a replacement for every invalid byte",
    "conformance/holdem/replay_checks.py:_decode_json": "passes a body to the JSON decoder, and catches what it raises",
    "net/streams.py:ReceivedStream.feed_data": "passes bytes to the stream of asyncio",
    "conformance/oldmaid/scripted_player.py:ScriptedPlayer._feed": "passes bytes to MessageReader, which is fuzzed",
}
"""Functions that are named like parsers, and why no target calls them."""

every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@cache
def corpus(name: str) -> list[bytes]:
    """The corpus of a target: its beginning, and a sample of the rest."""
    found = [*dict.fromkeys(TARGETS[name].corpus())]
    first, rest = found[:CORPUS_SAMPLE], found[CORPUS_SAMPLE:]
    return first + Random(1).sample(rest, min(len(rest), CORPUS_SAMPLE))


def parsers() -> Iterator[str]:
    """The functions of the package that are named like parsers, as FILE:QUALIFIED.NAME, without those of protocols."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if DEFINITION.search(text):
            yield from (f"{path.relative_to(SOURCE)}:{name}" for name in parsers_in(ast.parse(text)))


def parsers_in(node: ast.AST, prefix: str = "") -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if PARSER_NAME.fullmatch(child.name):
                yield prefix + child.name
        elif isinstance(child, ast.ClassDef):
            if "Protocol" not in {
                part.id for base in child.bases for part in ast.walk(base) if isinstance(part, ast.Name)
            }:
                yield from parsers_in(child, f"{prefix}{child.name}.")
        else:
            yield from parsers_in(child, prefix)


@contextmanager
def recorded_calls() -> Iterator[set[str]]:
    """The functions of the package that are called meanwhile, as in `parsers`."""
    called: set[str] = set()

    def on_start(code: CodeType, _: int) -> object:
        if code.co_filename.startswith(f"{SOURCE}/"):
            called.add(f"{code.co_filename.removeprefix(f'{SOURCE}/')}:{code.co_qualname}")
        return sys.monitoring.DISABLE

    tool = next(number for number in range(6) if sys.monitoring.get_tool(number) is None)
    sys.monitoring.use_tool_id(tool, "fuzz targets")
    sys.monitoring.register_callback(tool, sys.monitoring.events.PY_START, on_start)
    sys.monitoring.set_events(tool, sys.monitoring.events.PY_START)
    try:
        yield called
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.free_tool_id(tool)
        sys.monitoring.restart_events()


@pytest.mark.interpreted
def test_every_parser_is_called_by_a_target() -> None:
    with recorded_calls() as called:
        for name, target in TARGETS.items():
            for data in corpus(name):
                target.run(data)
    found = {*parsers()}
    assert found - called == NOT_FUZZED.keys()
    assert len(found) > 90


@every_target
def test_targets_fail_on_nothing_that_fuzzing_has_found(target: Target) -> None:
    for path in sorted((FOUND / target.name).glob("*")):
        target.run(path.read_bytes())
    for data in (b"", b"\0", b"\xff\xff\xff", b"{}", b"[" * 5000, b"9" * 5000):
        target.run(data)


def test_found_inputs_belong_to_targets() -> None:
    assert {path.name for path in FOUND.iterdir()} <= TARGETS.keys()


def mutated(data: bytes) -> st.SearchStrategy[bytes]:
    """Bytes with some replaced, removed or inserted, at two places."""
    at = st.integers(0, len(data))
    edit: Callable[..., bytes] = lambda at, removed, new: data[:at] + new + data[at + removed :]  # noqa: E731 -- typed
    return st.builds(edit, at, st.integers(0, 5), st.binary(max_size=6))


@pytest.mark.hypothesis
@every_target
def test_targets_do_not_fail_at_random(target: Target) -> None:
    seeds = st.sampled_from(corpus(target.name))

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.one_of(st.binary(max_size=200), seeds.flatmap(mutated).flatmap(mutated)))
    def example(data: bytes) -> None:
        target.run(data)

    example()
