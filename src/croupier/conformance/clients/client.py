"""Tests clients: for every case our house waits at a port of its own, and the program under test is started for it."""

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
"""So many programs run at the same time."""

MAX_TRIES: Final = 3
"""A case that luck or the client has not brought up is tried so often."""

MAX_BASELINE_TRIES: Final = 8
"""So often it is looked whether a client goes on where nothing is special: one that waits somewhere may come there."""

RETRY_SECONDS: Final = 2.0
"""After so many seconds it is not tried again."""

START_TIMEOUT_FACTOR: Final = 2.0
"""A program has so many times the patience to start and to connect: some take long to start."""

MAX_SILENT_CASES: Final = 3
"""After so many cases in which it was the same the others are decided quickly."""

HURRIED_TIMEOUT_FACTOR: Final = 0.2
"""The part of its patience that a client has left that was silent before."""

ENDLESS_SECONDS: Final = 1e9

IDLE_TIMEOUT_SECONDS: Final = 1.0
"""A client that need not speak, because no game goes on, is waited for so many seconds."""

CLOSE_TIMEOUT_SECONDS: Final = 1.0
"""A client that has heard a goodbye has so many seconds to close, and a program that has closed, to end."""

HURRIED_CLOSE_SECONDS: Final = 0.25
"""The same where it is not the goodbye that is looked at."""

STOP_TIMEOUT_SECONDS: Final = 0.5
"""A program that has to be stopped has so many seconds to obey."""

EOF_TIMEOUT_SECONDS: Final = 0.5
"""So many seconds after its program a connection has ended, too, unless somebody else holds it open."""


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
    """Test a client: start its command once for every case, `{host}` and `{port}` filled in.

    `settings` are those of the house where a case does not set them itself, None for the usual ones. A client that has
    to speak has `timeout` seconds. `told` hears every result as it comes, and `stderr` what a program has written there
    behind a failure. The results are in the order of the cases; behind `max_failures` failures no more are begun.
    What the client says is read by the `spelling`, if there is one.

    Raises ValueError on a command that makes no sense, and ProgramError when there is no such program.
    """
    desk = _ClientExaminer(
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
            results[number], said = await desk.examine(case)
            if results[number].outcome is Outcome.FAIL:
                on_stderr(said)
            on_result(results[number])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(MAX_PARALLEL_PROGRAMS):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await desk.close()
    return tuple(results[number] for number in sorted(results))


class _ClientExaminer:
    """Where cases are played one by one; it remembers what has been seen of the client so far."""

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
        """Nobody asks for a twin any more."""
        for twin in self._baselines.values():
            twin.cancel()
        await asyncio.gather(*self._baselines.values(), return_exceptions=True)

    async def examine(self, case: HouseClientCase) -> tuple[Result, bytes]:
        """What comes of a case, and what the program has written as its errors."""
        begun = perf_counter()
        if self._absent_cases >= MAX_SILENT_CASES:
            return Result(case.id, case.title, case.clause, Outcome.SKIP, "the program has never connected before"), b""
        for number in range(MAX_TRIES):
            story = await self._play(case, number)
            if story.is_conclusive or perf_counter() - begun > RETRY_SECONDS:
                break
        self._remember(story)
        twin = None
        if story.is_stuck or story.is_idle:
            twin = await self._baseline(case)
        result = judge(story, twin)
        if story.is_idle and not result.outcome.is_good:
            result, story = await self._waited_for(case, twin)
        return replace(result, seconds=perf_counter() - begun), story.stderr

    async def _waited_for(
        self, case: HouseClientCase, twin: ClientObservation | None
    ) -> tuple[Result, ClientObservation]:
        """What comes of a case when a client that rests has all the patience: a slow one is not silent."""
        for number in range(MAX_TRIES):
            story = await self._play(case, number, hurried=False)
            if story.is_idle or story.is_conclusive:
                break
        self._silent_cases += story.is_idle
        return judge(story, twin), story

    def _remember(self, story: ClientObservation) -> None:
        self._absent_cases = self._absent_cases + 1 if not story.server.has_connected else 0
        self._silent_cases += story.is_stuck or (
            story.server.has_connected and not story.server.has_spoken and not story.case.may_be_silent
        )

    async def _baseline(self, case: HouseClientCase) -> ClientObservation | None:
        """What the client does without what is special about a case; looked at once for all cases that need it."""
        if case.baseline is None:
            return None
        found = self._baselines.get(case.baseline.id)
        if found is None:
            found = self._baselines[case.baseline.id] = asyncio.ensure_future(self._settled(case.baseline))
        return await found

    async def _settled(self, case: HouseClientCase) -> ClientObservation:
        for number in range(MAX_BASELINE_TRIES):
            story = await self._play(case, number)
            if story.has_played_on:
                break
        return story

    async def _play(self, case: HouseClientCase, number: int, *, hurried: bool = True) -> ClientObservation:
        """Start the program against a stand, once; `hurried`: one that need not speak is not waited for as long."""
        seconds = self._timeout * (HURRIED_TIMEOUT_FACTOR if self._silent_cases >= MAX_SILENT_CASES else 1.0)
        own = self._house_settings(case)
        conversation = Conversation(self._room, own, answer_timeout=ENDLESS_SECONDS)
        if self._strict:
            conversation.referee = self._room.referee(own, True, ENDLESS_SECONDS)
        times = ClientTimeouts(
            seconds,
            min(IDLE_TIMEOUT_SECONDS, seconds) if hurried else seconds,
            min(CLOSE_TIMEOUT_SECONDS if case.kind is CaseKind.GOODBYE else HURRIED_CLOSE_SECONDS, seconds),
        )
        codec = self._room.codec(False, own)
        stand = HouseTestServer(
            self._responder(case, own, number),
            case.setup,
            conversation,
            codec,
            obligation=TEST_DATA_BY_ROOM[self._room.name].obligation,
            timeouts=times,
            strict=self._strict,
        )
        over = asyncio.Event()
        stand.on_over = over.set
        board = Endpoint(
            stand,
            lambda: DialectCodec(self._detected_dialect),
            silent_logger(),
            limits=EndpointLimits(close_timeout=times.close_seconds),
        )
        _, port = await board.listen(HOST, 0)
        try:
            async with await ProgramUnderTest.start(self._command, {"host": HOST, "port": port}) as program:
                await _watch(stand, over, program, START_TIMEOUT_FACTOR * seconds)
                gone = stand.conversation_end is ConversationEnd.CLIENT or stand.close_delay_seconds is not None
                status = await program.wait_ended(CLOSE_TIMEOUT_SECONDS if gone else 0.0)
                await program.stop(STOP_TIMEOUT_SECONDS)
                return ClientObservation(case, stand, status, seconds, program.stderr, self._strict)
        finally:
            board.halt(final=True)
            for line in [*board.connections.values()]:
                line.abort()
            await board.wait_drained()

    def _house_settings(self, case: HouseClientCase) -> Any:
        """The settings of the house in a case."""
        usual = self._settings or self._room.settings()
        return dataclasses.replace(usual, **case.settings)

    def _responder(self, case: HouseClientCase, own: Any, number: int) -> Responder:
        """Who speaks for the house."""
        seed = derive_server_seed(self._seed, case.id, number)
        live = LiveResponder(self._room, own, case.mutation, decks=case.decks, seed=seed)
        return live if case.transcript_steps is None else TranscriptResponder(case.transcript_steps, live)


async def _watch(stand: HouseTestServer, over: asyncio.Event, program: ProgramUnderTest, seconds: float) -> None:
    """Wait until there is nothing more to see; a program that does not connect has so many seconds for it."""
    ended = asyncio.ensure_future(program.wait_ended(ENDLESS_SECONDS))
    seen = asyncio.ensure_future(over.wait())
    try:
        done, _ = await asyncio.wait({ended, seen}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done and stand.has_connected:
            await asyncio.wait({ended, seen}, return_when=asyncio.FIRST_COMPLETED)
        if stand.has_connected and not seen.done():
            await asyncio.wait({seen}, timeout=EOF_TIMEOUT_SECONDS)
    finally:
        ended.cancel()
        seen.cancel()
        await asyncio.wait({ended, seen})
