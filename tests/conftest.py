"""Settings of all tests: profiles of Hypothesis, and an empty data folder for each test."""

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from inspect import isfunction
from itertools import chain, count, islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from croupier.cli import COMPILED_CODE
from tests.conformance.mutants.simulated_time import SimulatedTimeLoop
from tests.net.raw_client import LOOPS, Run

TESTS = Path(__file__).parent
FOLDERS_BY_MARK = {"interop": TESTS / "interop", "browser": TESTS / "web" / "browser"}
"""Tests that need other libraries, by their mark. Their modules are only imported if they are selected."""

QUICK_EXAMPLES = 5

GARBAGE_THRESHOLD = 50_000
"""The objects that may be created between two collections of garbage; `Memory` of tests/hardening has the default."""

# A background job of a shell ignores SIGINT, and one under nohup SIGHUP; child processes would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

os.environ["LANGUAGE"] = "en"  # the language of the texts that tests compare

# On a busy machine, examples are slow to make.
settings.register_profile("full", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("full"), max_examples=QUICK_EXAMPLES)
settings.load_profile("full")

PARAMETERS = type(pytest.param())

WAITING_MODULES = (
    "cluster/test_chaos_in_process.py",
    "conformance/holdem/test_server.py",
    "cluster/test_chaos.py",
    "conformance/test_faulty_clients.py",
    "cli/test_check.py",
    "conformance/holdem/test_faulty_bots.py",
    "conformance/test_matrix.py",
    "conformance/test_client.py",
    "cluster/test_oldmaid_nodes.py",
    "conformance/test_faulty_programs.py",
    "arena/test_holdem_programs.py",
    "tui/test_lobby.py",
    "cli/test_serve_oldmaid.py",
    "app/test_closing.py",
    "cli/test_play_own_bots.py",
    "web/test_own_bots.py",
    "web/test_serving.py",
    "cli/test_load.py",
    "cluster/test_account_nodes.py",
    "mcp/test_table.py",
    "arena/test_programs.py",
    "cli/test_serve_holdem.py",
    "conformance/holdem/test_slowness.py",
    "cluster/test_nats_restart.py",
    "tui/test_holdem.py",
    "web/test_arena_page.py",
    "tui/test_plain.py",
    "conformance/test_run.py",
)
"""Modules whose tests mostly wait for processes and timers, those that wait for the longest time first."""

POSTGRESQL = {"cluster", "restartable_cluster"}
"""Fixtures that start a PostgreSQL server."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> Iterator[None]:
    """Leave twins of tests to `make test-all`: on PostgreSQL, which takes seconds to start, and on a second event loop.

    `make test` runs the tests of `tests/net` on both event loops. With the compiled wheel, tests marked `interpreted`
    are left out. What is selected then is ordered for the workers of pytest-xdist.
    """
    if find_spec(COMPILED_CODE):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("interpreted")])
        items[:] = [item for item in items if not item.get_closest_marker("interpreted")]
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        texts = [value for value in parameters.values() if isinstance(value, str)]
        is_twin = len(LOOPS) > 1 and parameters.get("loop_factory") is asyncio.new_event_loop
        is_second_loop = is_twin and "tests/net/" not in item.nodeid
        if "postgresql" in texts or POSTGRESQL & {*item.fixturenames} or is_second_loop:
            item.add_marker("extended")
    yield
    if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
        items[:] = with_waiting_spread(items, int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))


def with_waiting_spread(items: Sequence[pytest.Function], workers: int) -> list[pytest.Function]:
    """Order tests so that each worker of pytest-xdist begins with those that wait, while others compute.

    The workers begin with equal parts of the tests, and take over from each other when they are done. All other tests
    stay in their order, because those of a folder share what is costly to compute.
    """
    ranks = {path: rank for rank, path in enumerate(WAITING_MODULES)}
    waiting: list[list[pytest.Function]] = [[] for _ in WAITING_MODULES]
    others: list[pytest.Function] = []
    for item in items:
        rank = ranks.get(item.path.relative_to(TESTS).as_posix())
        (others if rank is None else waiting[rank]).append(item)
    rest, size = iter(others), len(items) // workers
    ordered: list[pytest.Function] = []
    for worker in range(workers):
        part = [*chain(*waiting[worker::workers])]
        ordered += [*part, *islice(rest, max(0, size - len(part)))]
    return [*ordered, *rest]


def is_left_out(mark: str, config: pytest.Config) -> bool:
    """Whether the tests with a mark are not selected."""
    return f"not {mark}" in config.option.markexpr


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folders of marks that are not selected."""
    left_out = [folder for mark, folder in FOLDERS_BY_MARK.items() if is_left_out(mark, config)]
    return True if collection_path in left_out else None


def pytest_pycollect_makeitem(collector: pytest.Module, obj: object) -> list[pytest.Item] | None:
    """Make no items of a test that is not selected: it may have hundreds of parameters."""
    marks = getattr(obj, "pytestmark", []) if isfunction(obj) else []
    return [] if any(is_left_out(mark.name, collector.config) for mark in marks) else None


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make no items of parameters that are not selected."""
    marks = metafunc.definition.own_markers
    marks[:] = [selected_parameters(mark, metafunc.config) if mark.name == "parametrize" else mark for mark in marks]


def selected_parameters(mark: pytest.Mark, config: pytest.Config) -> pytest.Mark:
    """The mark of a parametrization without the cases that are left out, unless that leaves none."""
    names, cases, ids = mark.args[0], [*mark.args[1]], mark.kwargs.get("ids")
    kept = [
        number
        for number, case in enumerate(cases)
        if not (isinstance(case, PARAMETERS) and any(is_left_out(mark.name, config) for mark in case.marks))
    ] or range(len(cases))
    options = dict(mark.kwargs)
    if ids is not None and not callable(ids):
        ids = [*ids]
        options["ids"] = [ids[number] for number in kept]
    return pytest.mark.parametrize(names, [cases[number] for number in kept], **options).mark


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Keep the thousands of tests out of the collections of garbage, those during their own collection included."""
    gc.disable()
    try:
        worker = os.environ.get("PYTEST_XDIST_WORKER")  # not set in the process that distributes the tests
        if worker is not None and [Path(path).resolve() for path in session.config.args] == [TESTS]:
            import_share_of_worker(int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
        yield
    finally:
        gc.freeze()
        gc.set_threshold(GARBAGE_THRESHOLD)
        gc.enable()


def import_share_of_worker(number: int, count: int) -> None:
    """Import the part of the test modules that falls to this one of `count` workers of pytest-xdist.

    All workers collect all tests in the same order. In a clean checkout each of them would rewrite every module; with
    a different start each of them rewrites its part, and reads the parts of the others.
    """
    left_out = {*FOLDERS_BY_MARK.values()}
    paths = [path for path in TESTS.rglob("test_*.py") if not left_out & {*path.parents}]
    for path in sorted(paths)[number::count]:
        with suppress(Exception):  # the collection imports the module again, and reports the error
            import_module(".".join(path.relative_to(TESTS.parent).with_suffix("").parts))


@pytest.fixture(scope="session")
def data_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The paths of folders that do not exist yet."""
    return (f"{tmp_path_factory.getbasetemp()}/data-{number}" for number in count())


@pytest.fixture(autouse=True)
def empty_data_folder(data_folders: Iterator[str]) -> None:
    """Let the default store be a new, empty folder."""
    os.environ["XDG_DATA_HOME"] = next(data_folders)


@pytest.fixture(params=LOOPS.values(), ids=LOOPS.keys())
def loop_factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    return request.param


@pytest.fixture
def run(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> Iterator[Run]:
    running = Run(loop_factory)
    yield running
    assert running.faults == [], "the event loop reported errors"


@pytest.fixture
def run_simulated() -> Iterator[Run]:
    """Runs a coroutine in simulated time: nothing times out because the machine is busy."""
    running = Run(SimulatedTimeLoop)
    yield running
    assert running.faults == [], "the event loop reported errors"
