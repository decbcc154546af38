"""The log: repeated errors are limited, and messages of libraries are included."""

import json
import subprocess
import sys
from typing import Any

import pytest
from structlog import DropEvent

from croupier.logs.repeats import RepeatLimiter


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def logged(limiter: RepeatLimiter, level: str = "error", **entry: Any) -> dict[str, Any] | None:
    try:
        return dict(limiter(None, level, {"event": "a fault", **entry}))
    except DropEvent:
        return None


def raised(kind: type[Exception], *, other_line: bool = False) -> Exception:
    try:
        if other_line:
            raise kind
        raise kind
    except Exception as error:
        return error


def test_repeated_errors_are_limited_and_counted() -> None:
    clock = Clock()
    limiter = RepeatLimiter(limit=3, seconds=60.0, clock=clock)
    entries = [logged(limiter, exc_info=raised(KeyError)) for _ in range(10)]
    assert [entry is not None for entry in entries] == [True] * 3 + [False] * 7
    assert [entry.get("limit") for entry in entries if entry] == [None, None, "not logged again for 60 s"]
    clock.now = 60.0
    later = logged(limiter, exc_info=raised(KeyError))
    assert later is not None
    assert later["suppressed"] == 7


@pytest.mark.parametrize(
    "difference",
    [
        {"event": "another"},
        {"room": "kuhn"},
        {"exc_info": raised(ValueError)},
        {"exc_info": raised(KeyError, other_line=True)},
        {"exc_info": None},
    ],
)
def test_different_errors_are_limited_separately(difference: dict[str, Any]) -> None:
    limiter = RepeatLimiter(limit=1)
    error = raised(KeyError)
    assert logged(limiter, exc_info=error) is not None
    assert logged(limiter, exc_info=(KeyError, error, error.__traceback__)) is None
    assert logged(limiter, **{"exc_info": error, **difference}) is not None


@pytest.mark.parametrize("level", ["debug", "info"])
def test_info_and_debug_are_not_limited(level: str) -> None:
    limiter = RepeatLimiter(limit=1)
    assert all(logged(limiter, level) is not None for _ in range(10))


def test_limiter_tracks_a_bounded_number_of_errors() -> None:
    limiter = RepeatLimiter(limit=1, max_windows=10)
    for number in range(1000):
        assert logged(limiter, event=number) is not None
    assert len(limiter._windows) == 10


SCRIPT = """
import logging
from croupier.logs import configure, get_logger
configure("debug")
configure("debug")
secret = "Basic bWFya2Vk"
def fail(password):
    raise ValueError(f"found {{'authorization': {secret!r}}} at http://ann:marked@host/?password=marked")
try:
    fail("marked")
except ValueError as error:
    get_logger(room="kuhn").error("internal error", exc_info=error)
    logging.getLogger("asyncio").error("no %s", secret, exc_info=True)
    logging.getLogger("uvicorn.error").warning("http://ann:marked@host")
    logging.getLogger("httpx").info("marked")
for _ in range(100):
    logging.getLogger("asyncio").warning("socket.send() raised exception.")
"""


def test_entries_have_no_locals_or_credentials_and_include_libraries() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    entries = [json.loads(line) for line in done.stderr.splitlines()]
    assert [entry["event"] for entry in entries] == [
        "internal error",
        "asyncio reports",
        "uvicorn.error reports",
        *["asyncio reports"] * 5,
    ]
    assert "locals" not in done.stderr
    assert "marked" not in done.stderr
    assert "bWFya2Vk" not in done.stderr
    assert (
        entries[0]["exception"][0]["exc_value"]
        == "found {'authorization': 'Basic ***'} at http://***@host/?password=***"
    )
