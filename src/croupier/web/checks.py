"""Runs of the conformance tester that browsers start: each in a process of its own, visible to its session only."""

import asyncio
import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec import DecodeError
from msgspec.json import Decoder
from msgspec.structs import replace

from croupier.conformance.live_state import RunState
from croupier.core.presentation import Refused, Text, counted, text, verbatim
from croupier.core.room import Room
from croupier.net.event_loop import start_task, wait_tasks
from croupier.web.check_targets import CheckTarget
from croupier.web.feed import Feed, FeedSnapshot
from croupier.web.rooms import RoomName, room_title
from croupier.web.seats import SERVER_CLOSING
from croupier.web.site import Site

PARTS: Final = ("progress", "causes", "outcome")
"""The parts of a run's page that are replaced when it changes."""

RUN_ID_BYTES: Final = 9
MAX_STATE_BYTES: Final = 64 << 20
MAX_KEPT_RUNS: Final = 5
"""At most this many runs of a session are kept; the oldest ones are forgotten."""

MAX_RUNS: Final = 40
"""At most this many runs of all sessions together."""

STOPPED: Final = text("You have stopped the run.")
TIMED_OUT: Final = text("The run took too long and was stopped.")
CRASHED: Final = text("The tester has ended because of an error, which has been logged.")


class TooManyRuns(Refused):
    """No run can be started now."""


class RunSnapshot(FeedSnapshot, frozen=True):
    """A run at one moment. `note` says why it has ended early."""

    state: RunState
    note: Text | None = None


class CheckRun:
    """A run of the tester against a server, and the feed of its states."""

    def __init__(self, session: str, csrf: str, room: Room, target: CheckTarget, site: Site) -> None:
        self.id = secrets.token_urlsafe(RUN_ID_BYTES)
        self.session = session
        self.room = RoomName(room.name, room_title(room))
        self.target = str(target)
        self.csrf = csrf
        self._site = site
        self._command = [sys.executable, "-P", "-m", "croupier.conformance.live", room.name, *target.arguments]
        self._end_reason: Text | None = None
        self.over = asyncio.Event()
        self.process: asyncio.subprocess.Process | None = None
        self.feed = Feed(RunSnapshot(RunState(total=0)), self._render)

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return not self.feed.is_over

    @property
    def state(self) -> RunState:
        """Its state."""
        return self.feed.snapshot.state

    def context(self, snapshot: RunSnapshot) -> dict[str, Any]:
        """Return the variables of the templates for a snapshot."""
        return {
            "run": self,
            "room": self.room,
            "csrf": self.csrf,
            "version": snapshot.version,
            "state": snapshot.state,
            "note": snapshot.note,
        }

    async def run(self, max_seconds: float) -> None:
        """Run the tester, and publish its states until it ends."""
        try:
            await self._start_process()
            async with asyncio.timeout(max_seconds):
                await self._follow_process()
        except TimeoutError:
            self._end_reason = TIMED_OUT
        except (OSError, ValueError) as error:  # the process cannot be started, or its output not be read
            self._site.log.error("the tester failed", target=self.target, exc_info=error)  # noqa: TRY400 -- our Logger
        finally:
            if self.process is not None:
                self._kill(self.process)
                await self.process.wait()
            if self.state.is_running:
                self._publish(replace(self.state, is_running=False), self._end_reason or CRASHED)
            self.feed.end()
            self.over.set()

    def stop(self, reason: Text) -> None:
        """End the process. `reason` is shown, unless the run is over."""
        self._end_reason = self._end_reason or reason
        if self.process is not None:
            self._kill(self.process)

    async def _start_process(self) -> None:
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=pipe,
            stdout=pipe,
            limit=MAX_STATE_BYTES,
            start_new_session=True,  # a Ctrl-C in the terminal is for the server, which then ends its runs
        )
        if self._end_reason is not None:
            self._kill(self.process)

    async def _follow_process(self) -> None:
        assert self.process is not None, "it has been started"
        assert self.process.stdout is not None, "it is a pipe"
        decoder = Decoder(RunState)
        while line := await self.process.stdout.readline():
            with suppress(DecodeError):  # a process that is killed may write half a line
                self._publish(decoder.decode(line))

    def _kill(self, process: asyncio.subprocess.Process) -> None:
        with suppress(ProcessLookupError):
            process.kill()

    def _publish(self, state: RunState, note: Text | None = None) -> None:
        count = len(state.causes)
        news: list[Text] = []
        if not state.is_running:
            news = [note or verbatim(state.verdict)]
        elif count > len(self.state.causes):
            news = [counted("{count} fault found so far.", "{count} faults found so far.", count)]
        self.feed.publish(RunSnapshot(state, note, news=news))

    def _render(self, snapshot: RunSnapshot, locale: str) -> Mapping[str, str]:
        return self._site.renderer.parts(PARTS, locale, self.context(snapshot))


class Checks:
    """All runs, by id."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._runs: dict[str, CheckRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_halted = False

    def of_session(self, session: str) -> list[CheckRun]:
        """Return the runs of a session, the oldest first."""
        return [run for run in self._runs.values() if run.session == session]

    def find(self, run_id: str, session: str) -> CheckRun | None:
        """Return the run of a session with this id, None if the session has no such run."""
        run = self._runs.get(run_id)
        return run if run is not None and run.session == session else None

    def check_free(self, session: str) -> None:
        """Raise TooManyRuns if a session can start no run now."""
        if self._is_halted:
            raise TooManyRuns(SERVER_CLOSING)
        if any(run.is_running for run in self.of_session(session)):
            raise TooManyRuns(text("Another check of yours is running. Wait for its end, or stop it."))
        if len(self._tasks) >= self._site.config.max_checks:
            raise TooManyRuns(text("Other checks are running here. Try again in a minute."))

    def start(self, session: str, csrf: str, room: Room, target: CheckTarget) -> CheckRun:
        """Start a run. Raises TooManyRuns."""
        self.check_free(session)
        run = CheckRun(session, csrf, room, target, self._site)
        self._forget(self.of_session(session), MAX_KEPT_RUNS)
        self._forget([*self._runs.values()], MAX_RUNS)
        self._runs[run.id] = run
        start_task(self._tasks, run.run(self._site.config.max_check_seconds))
        return run

    def move(self, former: str, session: str, csrf: str) -> None:
        """Give the runs of a session to another one, whose forms have the token `csrf`."""
        for run in self.of_session(former):
            run.session, run.csrf = session, csrf
            run.feed.forget_rendered()

    def remove(self, session: str) -> None:
        """Stop and forget the runs of a session."""
        for run in self.of_session(session):
            run.stop(STOPPED)
            del self._runs[run.id]

    def halt(self) -> None:
        """Start no more runs."""
        self._is_halted = True

    async def wait_idle(self) -> None:
        """Wait until no run is going on."""
        await wait_tasks(self._tasks)

    def close(self) -> None:
        """Stop all runs; `wait_idle` waits for their ends."""
        self.halt()
        for run in self._runs.values():
            run.stop(SERVER_CLOSING)

    def _forget(self, runs: Sequence[CheckRun], max_runs: int) -> None:
        """Forget the oldest of these runs that are over, so that one more can be kept."""
        for run in [run for run in runs if not run.is_running][: max(0, len(runs) - max_runs + 1)]:
            del self._runs[run.id]
