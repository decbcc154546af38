"""The log: repeated faults are limited, and other libraries have their say in it."""

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


def passed(limiter: RepeatLimiter, level: str = "error", **entry: Any) -> dict[str, Any] | None:
    try:
        return dict(limiter(None, level, {"event": "a fault", **entry}))
    except DropEvent:
        return None


def raised(kind: type[Exception], *, elsewhere: bool = False) -> Exception:
    try:
        if elsewhere:
            raise kind
        raise kind
    except Exception as error:
        return error


def test_the_same_fault_is_logged_a_few_times_and_then_counted() -> None:
    clock = Clock()
    limiter = RepeatLimiter(limit=3, seconds=60.0, clock=clock)
    heard = [passed(limiter, exc_info=raised(KeyError)) for _ in range(10)]
    assert [entry is not None for entry in heard] == [True] * 3 + [False] * 7
    assert [entry.get("limit") for entry in heard if entry] == [None, None, "not logged again for 60 s"]
    clock.now = 60.0
    later = passed(limiter, exc_info=raised(KeyError))
    assert later is not None
    assert later["suppressed"] == 7


@pytest.mark.parametrize(
    "other",
    [
        {"event": "another"},
        {"room": "kuhn"},
        {"exc_info": raised(ValueError)},
        {"exc_info": raised(KeyError, elsewhere=True)},
        {"exc_info": None},
    ],
)
def test_another_fault_is_not_limited_with_it(other: dict[str, Any]) -> None:
    limiter = RepeatLimiter(limit=1)
    error = raised(KeyError)
    assert passed(limiter, exc_info=error) is not None
    assert passed(limiter, exc_info=(KeyError, error, error.__traceback__)) is None
    assert passed(limiter, **{"exc_info": error, **other}) is not None


@pytest.mark.parametrize("level", ["debug", "info"])
def test_what_is_no_fault_is_not_limited(level: str) -> None:
    limiter = RepeatLimiter(limit=1)
    assert all(passed(limiter, level) is not None for _ in range(10))


def test_the_limiter_knows_a_bounded_number_of_faults() -> None:
    limiter = RepeatLimiter(limit=1, max_windows=10)
    for number in range(1000):
        assert passed(limiter, event=number) is not None
    assert len(limiter._windows) == 10


SCRIPT = """
import logging
from croupier.logs import configure, log
configure("debug")
configure("debug")
secret = "Basic bWFya2Vk"
def fail(password):
    raise ValueError(f"found {{'authorization': {secret!r}}} at http://ann:marked@host/?password=marked")
try:
    fail("marked")
except ValueError as error:
    log(room="kuhn").error("our own fault", exc_info=error)
    logging.getLogger("asyncio").error("no %s", secret, exc_info=True)
    logging.getLogger("uvicorn.error").warning("http://ann:marked@host")
    logging.getLogger("httpx").info("marked")
for _ in range(100):
    logging.getLogger("asyncio").warning("socket.send() raised exception.")
"""


def test_no_entry_has_local_variables_or_credentials_and_libraries_are_heard() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    entries = [json.loads(line) for line in done.stderr.splitlines()]
    assert [entry["event"] for entry in entries] == [
        "our own fault",
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
