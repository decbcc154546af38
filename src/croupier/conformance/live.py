"""Runs the tester in a process of its own, which writes a line of JSON for each new state.

`python -m croupier.conformance.live ROOM HOST PORT` tests a server. A fourth argument makes it connect with TLS: the
certificate authority, as in `pinned_tls_context`. The process ends with its standard input, so that it never outlives
the process that has started it.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Final

from msgspec.json import encode
from msgspec.structs import replace

from croupier.conformance.live_state import CauseView, RunState
from croupier.conformance.plan import Plan
from croupier.conformance.program import ProgramError
from croupier.conformance.report.reports import REPORT_FORMATS
from croupier.conformance.report.summary import (
    FailureGroup,
    dialogue,
    failure_groups,
    result_note,
    verdict_sentence,
)
from croupier.conformance.results import Outcome, Result
from croupier.conformance.run import check
from croupier.conformance.suite import find_suite
from croupier.conformance.throttle import Throttle
from croupier.net.addresses import format_address
from croupier.net.event_loop import run
from croupier.net.pinned_tls import pinned_tls_context
from croupier.rooms import find_room

WRITE_INTERVAL_SECONDS: Final = 0.2
MAX_CAUSES: Final = 20
MAX_TESTS: Final = 20
"""At most this many causes are in a state, and titles of tests in a cause. The reports have all of them."""

MAX_TEXT_CHARACTERS: Final = 1000
"""The maximum length of a message in a state."""

REPORTS: Final = ("html", "junit")

type WriteState = Callable[[RunState], None]


class LiveRun:
    """A run of a plan. States are written at most every WRITE_INTERVAL_SECONDS, and at the end."""

    def __init__(self, plan: Plan, write: WriteState) -> None:
        self._plan = plan
        self._write = write
        self._total = len(plan.cases)
        self._results: dict[str, Result] = {}
        self._remark = ""
        self._states = Throttle(self._write_state, WRITE_INTERVAL_SECONDS)

    async def run(self) -> None:
        """Run the plan, and write its states."""
        self._states.note()
        writing = asyncio.create_task(self._states.run())
        try:
            report = await check(self._plan, self._on_result, time.time())
        except (OSError, ProgramError, ValueError) as error:
            end = RunState(total=self._total, is_running=False, verdict=capitalize(str(error)))
        else:
            reports = {name: REPORT_FORMATS[name](report) for name in REPORTS}
            end = self._state(report.results, is_running=False, verdict=verdict_sentence(report), reports=reports)
        finally:
            writing.cancel()
        self._write(end)

    def _on_result(self, result: Result | str) -> None:
        if isinstance(result, str):
            self._remark = capitalize(result)
        else:
            self._results[result.case] = result
        self._states.note()

    def _write_state(self) -> None:
        self._write(self._state([*self._results.values()]))

    def _state(self, results: Sequence[Result], **end: object) -> RunState:
        failed = sum(not result.is_good for result in results)
        skipped = sum(result.outcome is Outcome.SKIP for result in results)
        state = RunState(
            total=self._total,
            done=len(results),
            passed=len(results) - failed - skipped,
            failed=failed,
            skipped=skipped,
            causes=[cause_view(group) for group in failure_groups(results)[:MAX_CAUSES]],
            remark=self._remark,
        )
        return replace(state, **end)


def cause_view(group: FailureGroup) -> CauseView:
    """Describe a group of failures."""
    return CauseView(
        text=shorten(capitalize(str(group.cause or result_note(group.example)))),
        clause=group.clause,
        count=len(group.results),
        tests=[result.title for result in group.results[:MAX_TESTS]],
        dialogue=[replace(line, text=shorten(line.text)) for line in dialogue(group.example)],
    )


def capitalize(text: str) -> str:
    """Return a text whose first character is a capital."""
    return text[:1].upper() + text[1:]


def shorten(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= MAX_TEXT_CHARACTERS else f"{text[:MAX_TEXT_CHARACTERS]} …"


def end_with_input() -> None:
    """End this process when its standard input ends."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main(room_name: str, host: str, port: str, authority: str | None = None) -> None:
    """Test a server, with TLS if there is an `authority`, and write the states of the run to standard output."""
    Thread(target=end_with_input, daemon=True).start()
    room = find_room(room_name)
    plan = Plan(
        room=room,
        role="server",
        selection=room.name,
        host=host,
        port=int(port),
        timeout=find_suite(room, "server").timeout,
        ssl=None if authority is None else pinned_tls_context(authority),
        arguments=[format_address((host, int(port))), *([] if authority is None else ["--tls"])],
    )

    def write(state: RunState) -> None:
        sys.stdout.buffer.write(encode(state) + b"\n")
        sys.stdout.buffer.flush()

    run(LiveRun(plan, write).run())


if __name__ == "__main__":
    main(*sys.argv[1:])
