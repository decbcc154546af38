"""Tests clients: a test server for every case listens on its own port, and the program is started against it."""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final

from msgspec.structs import replace

from croupier.conformance.clients.cases import TEST_DATA_BY_ROOM, CaseKind, HouseClientCase, client_cases, untestable
from croupier.conformance.clients.responders import LiveResponder, Responder, TranscriptResponder
from croupier.conformance.clients.test_server import ClientTimeouts, ConversationEnd, HouseTestServer
from croupier.conformance.clients.verdicts import ClientObservation, judge
from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.dialect import Dialect, DialectCodec
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.results import Outcome, Result
from croupier.core.dealer import derive_server_seed
from croupier.core.room import HouseRoom
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits

__all__ = ["HouseClientCase", "check_client", "client_cases", "untestable"]

HOST: Final = "127.0.0.1"

MAX_PARALLEL_PROGRAMS: Final = 2
"""The number of programs that run at the same time."""

MAX_TRIES: Final = 3
"""How often a case is tried that has not come up, by chance or because of the client."""

MAX_BASELINE_TRIES: Final = 8
"""How often a baseline is tried: a client that waits somewhere may get past that place."""

RETRY_SECONDS: Final = 2.0
"""After this time a case is not tried again."""

START_TIMEOUT_FACTOR: Final = 2.0
"""How long a program may take to start and to connect, as a multiple of the answer timeout."""

MAX_SILENT_CASES: Final = 3
"""After this many cases with the same silence, the timeout of the others is reduced."""

HURRIED_TIMEOUT_FACTOR: Final = 0.2
"""The reduced timeout of a client that was silent before, as a fraction of the answer timeout."""

ENDLESS_SECONDS: Final = 1e9

IDLE_TIMEOUT_SECONDS: Final = 1.0
"""How long to wait for a client that need not send anything, because no game is in progress."""

CLOSE_TIMEOUT_SECONDS: Final = 1.0
"""How long a client may take to close after a goodbye, and a program to end after it has closed."""

HURRIED_CLOSE_SECONDS: Final = 0.25
"""The same in cases that do not test the goodbye."""

STOP_TIMEOUT_SECONDS: Final = 0.5
"""How long a program may take to end after SIGTERM."""

EOF_TIMEOUT_SECONDS: Final = 0.5
"""How long to wait for the end of the connection of an ended program: another process may hold it open."""


async def check_client(
    room: HouseRoom,
    command: str,
    *,
    cases: Sequence[HouseClientCase],
    settings: Any = None,
    strict: bool = False,
    seed: int = 1,
    timeout: float = 5.0,
    max_failures: int | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    on_stderr: Callable[[bytes], None] = lambda _: None,
    detected_dialect: Dialect | None = None,
) -> tuple[Result, ...]:
    """Test a client: start its command once for every case, with `{host}` and `{port}` filled in.

    `settings` are those of the house where a case does not set them itself, None for the defaults. A client that has to
    send something has `timeout` seconds. `on_result` receives every result as soon as it is known, `on_stderr` the
    standard error of a program that has failed. After `max_failures` failed cases no more are started. What the client
    sends is read in `detected_dialect`, if one is given. Returns the results in the order of the cases.

    Raises ValueError on an invalid command, and ProgramError if there is no such program.
    """
    examiner = _ClientExaminer(
        room, command, settings, strict=strict, seed=seed, timeout=timeout, detected_dialect=detected_dialect
    )
    results: dict[int, Result] = {}
    waiting = iter(enumerate(cases))

    async def work() -> None:
        for number, case in waiting:
            if (
                max_failures is not None
                and sum(not result.outcome.is_good for result in results.values()) >= max_failures
            ):
                return
            results[number], stderr = await examiner.examine(case)
            if results[number].outcome is Outcome.FAIL:
                on_stderr(stderr)
            on_result(results[number])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(MAX_PARALLEL_PROGRAMS):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await examiner.close()
    return tuple(results[number] for number in sorted(results))


class _ClientExaminer:
    """Runs cases one by one and remembers how the client has behaved so far."""

    def __init__(
        self,
        room: HouseRoom,
        command: str,
        settings: Any,
        *,
        strict: bool,
        seed: int,
        timeout: float,
        detected_dialect: Dialect | None,
    ) -> None:
        self._room = room
        self._command = command
        self._settings = settings
        self._detected_dialect = detected_dialect
        self._strict = strict
        self._seed = seed
        self._timeout = timeout
        self._baselines: dict[str, asyncio.Future[ClientObservation]] = {}
        self._absent_cases = 0
        self._silent_cases = 0

    async def close(self) -> None:
        """Cancel the running baselines."""
        for baseline in self._baselines.values():
            baseline.cancel()
        await asyncio.gather(*self._baselines.values(), return_exceptions=True)

    async def examine(self, case: HouseClientCase) -> tuple[Result, bytes]:
        """Return the result of a case, and the standard error of the program."""
        started_at = perf_counter()
        if self._absent_cases >= MAX_SILENT_CASES:
            return Result(case.id, case.title, case.clause, Outcome.SKIP, "the program has never connected before"), b""
        for number in range(MAX_TRIES):
            observation = await self._run(case, number)
            if observation.is_conclusive or perf_counter() - started_at > RETRY_SECONDS:
                break
        self._remember(observation)
        baseline = None
        if observation.is_stuck or observation.is_idle:
            baseline = await self._baseline(case)
        result = judge(observation, baseline)
        if observation.is_idle and not result.outcome.is_good:
            result, observation = await self._examine_patiently(case, baseline)
        return replace(result, seconds=perf_counter() - started_at), observation.stderr

    async def _examine_patiently(
        self, case: HouseClientCase, baseline: ClientObservation | None
    ) -> tuple[Result, ClientObservation]:
        """Run a case again with the full timeout: a slow client must not count as a silent one."""
        for number in range(MAX_TRIES):
            observation = await self._run(case, number, hurried=False)
            if observation.is_idle or observation.is_conclusive:
                break
        self._silent_cases += observation.is_idle
        return judge(observation, baseline), observation

    def _remember(self, observation: ClientObservation) -> None:
        self._absent_cases = self._absent_cases + 1 if not observation.server.has_connected else 0
        self._silent_cases += observation.is_stuck or (
            observation.server.has_connected
            and not observation.server.has_spoken
            and not observation.case.may_be_silent
        )

    async def _baseline(self, case: HouseClientCase) -> ClientObservation | None:
        """Run the baseline of a case, once for all cases that need it."""
        if case.baseline is None:
            return None
        found = self._baselines.get(case.baseline.id)
        if found is None:
            found = self._baselines[case.baseline.id] = asyncio.ensure_future(self._run_baseline(case.baseline))
        return await found

    async def _run_baseline(self, case: HouseClientCase) -> ClientObservation:
        for number in range(MAX_BASELINE_TRIES):
            observation = await self._run(case, number)
            if observation.has_played_on:
                break
        return observation

    async def _run(self, case: HouseClientCase, number: int, *, hurried: bool = True) -> ClientObservation:
        """Run the program against a test server, once. `hurried`: wait less for a client that need not send."""
        seconds = self._timeout * (HURRIED_TIMEOUT_FACTOR if self._silent_cases >= MAX_SILENT_CASES else 1.0)
        settings = self._house_settings(case)
        conversation = Conversation(self._room, settings, answer_timeout=ENDLESS_SECONDS)
        if self._strict:
            conversation.referee = self._room.referee(settings, True, ENDLESS_SECONDS)
        times = ClientTimeouts(
            seconds,
            min(IDLE_TIMEOUT_SECONDS, seconds) if hurried else seconds,
            min(CLOSE_TIMEOUT_SECONDS if case.kind is CaseKind.GOODBYE else HURRIED_CLOSE_SECONDS, seconds),
        )
        codec = self._room.codec(False, settings)
        server = HouseTestServer(
            self._responder(case, settings, number),
            case.setup,
            conversation,
            codec,
            obligation=TEST_DATA_BY_ROOM[self._room.name].obligation,
            timeouts=times,
            strict=self._strict,
        )
        finished = asyncio.Event()
        server.on_over = finished.set
        endpoint = Endpoint(
            server,
            lambda: DialectCodec(self._detected_dialect),
            silent_logger(),
            limits=EndpointLimits(close_timeout=times.close_seconds),
        )
        _, port = await endpoint.listen(HOST, 0)
        try:
            async with await ProgramUnderTest.start(self._command, {"host": HOST, "port": port}) as program:
                await _watch(server, finished, program, START_TIMEOUT_FACTOR * seconds)
                has_left = server.conversation_end is ConversationEnd.CLIENT or server.close_delay_seconds is not None
                status = await program.wait_ended(CLOSE_TIMEOUT_SECONDS if has_left else 0.0)
                await program.stop(STOP_TIMEOUT_SECONDS)
                return ClientObservation(case, server, status, seconds, program.stderr, self._strict)
        finally:
            endpoint.halt(final=True)
            for connection in [*endpoint.connections.values()]:
                connection.abort()
            await endpoint.wait_drained()

    def _house_settings(self, case: HouseClientCase) -> Any:
        """The settings of the house in a case."""
        usual = self._settings or self._room.settings()
        return dataclasses.replace(usual, **case.settings)

    def _responder(self, case: HouseClientCase, settings: Any, number: int) -> Responder:
        """The responder of a case."""
        seed = derive_server_seed(self._seed, case.id, number)
        live = LiveResponder(self._room, settings, case.mutation, decks=case.decks, seed=seed)
        return live if case.transcript_steps is None else TranscriptResponder(case.transcript_steps, live)


async def _watch(server: HouseTestServer, finished: asyncio.Event, program: ProgramUnderTest, seconds: float) -> None:
    """Wait until there is nothing more to observe; a program that does not connect gets at most `seconds`."""
    ended = asyncio.ensure_future(program.wait_ended(ENDLESS_SECONDS))
    observed = asyncio.ensure_future(finished.wait())
    try:
        done, _ = await asyncio.wait({ended, observed}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done and server.has_connected:
            await asyncio.wait({ended, observed}, return_when=asyncio.FIRST_COMPLETED)
        if server.has_connected and not observed.done():
            await asyncio.wait({observed}, timeout=EOF_TIMEOUT_SECONDS)
    finally:
        ended.cancel()
        observed.cancel()
        await asyncio.wait({ended, observed})
