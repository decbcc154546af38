"""Tests clients: for every case our house waits at a port of its own, and the program under test is started for it."""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final

from msgspec.structs import replace

from croupier.conformance.clients.cases import GUESTS, ClientCase, Kind, client_cases, untestable
from croupier.conformance.clients.responders import Live, Paper, Voice
from croupier.conformance.clients.test_server import End, Stand, Times
from croupier.conformance.clients.verdicts import Story, judge
from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.dialect import Spelling, Understood
from croupier.conformance.program import Program
from croupier.conformance.results import Outcome, Result
from croupier.core.dealer import derive
from croupier.core.room import HouseRoom
from croupier.logs import silence
from croupier.net.endpoint import Limits, Switchboard

__all__ = ["ClientCase", "check_client", "client_cases", "untestable"]

HOST: Final = "127.0.0.1"

AT_ONCE: Final = 2
"""So many programs run at the same time."""

TRIES: Final = 3
"""A case that luck or the client has not brought up is tried so often."""

LOOKS: Final = 8
"""So often it is looked whether a client goes on where nothing is special: one that waits somewhere may come there."""

TRYING: Final = 2.0
"""After so many seconds it is not tried again."""

START: Final = 2.0
"""A program has so many times the patience to start and to connect: some take long to start."""

DEAF: Final = 3
"""After so many cases in which it was the same the others are decided quickly."""

HASTE: Final = 0.2
"""The part of its patience that a client has left that was silent before."""

ENDLESS: Final = 1e9

REST: Final = 1.0
"""A client that need not speak, because no game goes on, is waited for so many seconds."""

CLOSE: Final = 1.0
"""A client that has heard a goodbye has so many seconds to close, and a program that has closed, to end."""

HURRY: Final = 0.25
"""The same where it is not the goodbye that is looked at."""

GRACE: Final = 0.5
"""A program that has to be stopped has so many seconds to obey."""

EOF: Final = 0.5
"""So many seconds after its program a connection has ended, too, unless somebody else holds it open."""


async def check_client(
    room: HouseRoom,
    command: str,
    *,
    cases: Sequence[ClientCase],
    settings: Any = None,
    strict: bool = False,
    seed: int = 1,
    timeout: float = 5.0,
    max_failures: int | None = None,
    told: Callable[[Result], None] = lambda _: None,
    stderr: Callable[[bytes], None] = lambda _: None,
    spelling: Spelling | None = None,
) -> tuple[Result, ...]:
    """Test a client: start its command once for every case, `{host}` and `{port}` filled in.

    `settings` are those of the house where a case does not set them itself, None for the usual ones. A client that has
    to speak has `timeout` seconds. `told` hears every result as it comes, and `stderr` what a program has written there
    behind a failure. The results are in the order of the cases; behind `max_failures` failures no more are begun.
    What the client says is read by the `spelling`, if there is one.

    Raises ValueError on a command that makes no sense, and ProgramError when there is no such program.
    """
    desk = _Desk(room, command, settings, strict=strict, seed=seed, timeout=timeout, spelling=spelling)
    results: dict[int, Result] = {}
    waiting = iter(enumerate(cases))

    async def work() -> None:
        for number, case in waiting:
            if max_failures is not None and sum(not result.outcome.good for result in results.values()) >= max_failures:
                return
            results[number], said = await desk.examine(case)
            if results[number].outcome is Outcome.FAIL:
                stderr(said)
            told(results[number])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await desk.close()
    return tuple(results[number] for number in sorted(results))


class _Desk:
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
        spelling: Spelling | None,
    ) -> None:
        self._room = room
        self._command = command
        self._settings = settings
        self._spelling = spelling
        self._strict = strict
        self._seed = seed
        self._timeout = timeout
        self._twins: dict[str, asyncio.Future[Story]] = {}
        self._absent = 0
        self._silent = 0

    async def close(self) -> None:
        """Nobody asks for a twin any more."""
        for twin in self._twins.values():
            twin.cancel()
        await asyncio.gather(*self._twins.values(), return_exceptions=True)

    async def examine(self, case: ClientCase) -> tuple[Result, bytes]:
        """What comes of a case, and what the program has written as its errors."""
        begun = perf_counter()
        if self._absent >= DEAF:
            return Result(case.id, case.title, case.clause, Outcome.SKIP, "the program has never connected before"), b""
        for number in range(TRIES):
            story = await self._play(case, number)
            if story.settled or perf_counter() - begun > TRYING:
                break
        self._remember(story)
        twin = None
        if story.stuck or story.resting:
            twin = await self._twin(case)
        result = judge(story, twin)
        if story.resting and not result.outcome.good:
            result, story = await self._waited_for(case, twin)
        return replace(result, seconds=perf_counter() - begun), story.stderr

    async def _waited_for(self, case: ClientCase, twin: Story | None) -> tuple[Result, Story]:
        """What comes of a case when a client that rests has all the patience: a slow one is not silent."""
        for number in range(TRIES):
            story = await self._play(case, number, hurried=False)
            if story.resting or story.settled:
                break
        self._silent += story.resting
        return judge(story, twin), story

    def _remember(self, story: Story) -> None:
        self._absent = self._absent + 1 if not story.stand.came else 0
        self._silent += story.stuck or (story.stand.came and not story.stand.spoke and not story.case.silent)

    async def _twin(self, case: ClientCase) -> Story | None:
        """What the client does without what is special about a case; looked at once for all cases that need it."""
        if case.twin is None:
            return None
        found = self._twins.get(case.twin.id)
        if found is None:
            found = self._twins[case.twin.id] = asyncio.ensure_future(self._settled(case.twin))
        return await found

    async def _settled(self, case: ClientCase) -> Story:
        for number in range(LOOKS):
            story = await self._play(case, number)
            if story.along:
                break
        return story

    async def _play(self, case: ClientCase, number: int, *, hurried: bool = True) -> Story:
        """Start the program against a stand, once; `hurried`: one that need not speak is not waited for as long."""
        seconds = self._timeout * (HASTE if self._silent >= DEAF else 1.0)
        own = self._own(case)
        conversation = Conversation(self._room, own, patience=ENDLESS)
        if self._strict:
            conversation.referee = self._room.referee(own, True, ENDLESS)
        times = Times(
            seconds,
            min(REST, seconds) if hurried else seconds,
            min(CLOSE if case.kind is Kind.GOODBYE else HURRY, seconds),
        )
        codec = self._room.codec(False, own)
        stand = Stand(
            self._voice(case, own, number),
            case.scene,
            conversation,
            codec,
            word=GUESTS[self._room.name].word,
            times=times,
            strict=self._strict,
        )
        over = asyncio.Event()
        stand.over = over.set
        board = Switchboard(stand, lambda: Understood(self._spelling), silence(), limits=Limits(linger=times.close))
        _, port = await board.listen(HOST, 0)
        try:
            async with await Program.start(self._command, {"host": HOST, "port": port}) as program:
                await _watch(stand, over, program, START * seconds)
                gone = stand.end is End.CLIENT or stand.parted is not None
                status = await program.ended(CLOSE if gone else 0.0)
                await program.stop(GRACE)
                return Story(case, stand, status, seconds, program.stderr, self._strict)
        finally:
            board.halt(final=True)
            for line in [*board.lines.values()]:
                line.cut_off()
            await board.empty()

    def _own(self, case: ClientCase) -> Any:
        """The settings of the house in a case."""
        usual = self._settings or self._room.settings()
        return dataclasses.replace(usual, **case.settings)

    def _voice(self, case: ClientCase, own: Any, number: int) -> Voice:
        """Who speaks for the house."""
        seed = derive(self._seed, case.id, number)
        live = Live(self._room, own, case.habit, decks=case.decks, seed=seed)
        return live if case.paper is None else Paper(case.paper, live)


async def _watch(stand: Stand, over: asyncio.Event, program: Program, seconds: float) -> None:
    """Wait until there is nothing more to see; a program that does not connect has so many seconds for it."""
    ended = asyncio.ensure_future(program.ended(ENDLESS))
    seen = asyncio.ensure_future(over.wait())
    try:
        done, _ = await asyncio.wait({ended, seen}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done and stand.came:
            await asyncio.wait({ended, seen}, return_when=asyncio.FIRST_COMPLETED)
        if stand.came and not seen.done():
            await asyncio.wait({seen}, timeout=EOF)
    finally:
        ended.cancel()
        seen.cancel()
        await asyncio.wait({ended, seen})
