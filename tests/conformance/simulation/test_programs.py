"""Programs in simulated time: they wait, fail and end as processes do."""

import pytest

from tests.conformance.simulation.programs import check_simulated

SERVER = "kuhn_server.py"
COMMAND = f"python {SERVER} {{port}}"


def run(source: str) -> str:
    """What the tester says about a server that does not listen."""
    done = check_simulated(["kuhn", "--server", COMMAND], {SERVER: source})
    assert done.status == 2
    assert done.report is not None
    assert {result["note"] for result in done.report["results"]} == {"nothing could be tested"}
    return done.output


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import sys; sys.exit(3)", "exit status 3"),
        ("import sys; sys.exit('no configuration')", "its stderr: no configuration"),
        ("import absent", "No module named 'absent'"),
        ("import sys; print(sys.argv[1:].index('0'), file=sys.stderr)", "exit status 1"),
    ],
)
def test_the_end_of_a_program_is_that_of_a_process(source: str, found: str) -> None:
    assert found in run(source)


SLEEPER = """
import threading
import time

lock, condition = threading.RLock(), threading.Condition()


def hold():
    with lock:
        time.sleep(2.6)
    time.sleep(2)
    with condition:
        condition.notify_all()


threading.Timer(1, hold).start()
time.sleep(1.5)
begun = time.monotonic()
with lock:
    waited = time.monotonic() - begun
with condition:
    condition.wait(3600)
raise SystemExit(f"{waited:.0f} of {time.monotonic() - begun:.0f}")
"""


def test_threads_wait_for_locks_timers_and_conditions_in_simulated_time() -> None:
    assert "its stderr: 2 of 4" in run(SLEEPER)
