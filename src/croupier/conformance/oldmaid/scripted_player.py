"""One of our players at a table under test: a connection, what is said on it, and who judges it."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from croupier.conformance.conversation import Line
from croupier.conformance.oldmaid.answers import OWED, Heard, check, is_error, spelt
from croupier.conformance.oldmaid.dialect import Spelling
from croupier.conformance.oldmaid.findings import Broken, Silent, line, text
from croupier.conformance.oldmaid.reader import Ear
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address
from croupier.rooms.oldmaid.referee import TABLE, Referee, Verdict
from croupier.rooms.oldmaid.wire import JSON, Dialect, Join, Message, Reply, Wire

MOMENT: Final = 0.05
"""So many seconds somebody who is to say nothing is listened to."""

TICK: Final = 0.02
"""A wait is made of so many seconds, again and again."""

SLOW: Final = 10
"""A table that has taken long for an answer is listened to so many times as long, where it may say nothing."""

FIRST: Final = 0.75
"""A table that has never said a word is waited for no longer than so many seconds at first."""

type Said = Message | Violation | bytes
"""What a guest says: a message as it should be, or bytes."""


class Guest:
    """A player of ours, by his nick. Everything that is said is added to `dialogue`.

    `patience` tells how many seconds an answer may take, and is told how many it took, None for too many. `referee`
    judges the game that he is in, None before it, and `witness` is told there of what he is about to say.
    """

    def __init__(
        self,
        nick: str,
        ends: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        dialogue: list[Line],
        patience: "Patience",
        dialect: Dialect,
        *,
        spelling: Spelling | None = None,
    ) -> None:
        self.nick = nick
        self.referee: Referee | None = None
        self.witness: Callable[[Guest, Said], None] = lambda *_: None
        self.gone = False
        self._reader, self._writer = ends
        self._dialogue = dialogue
        self._patience = patience
        self._ear = Ear("player", dialect, spelling)
        self._mouth = Wire("table")
        self._heard: deque[Heard] = deque()
        self._clock = asyncio.get_running_loop().time

    @property
    def address(self) -> Address:
        """Where his connection comes from."""
        name = self._writer.get_extra_info("sockname")
        return name[0], name[1]

    @property
    def departures(self) -> frozenset[str]:
        """The clauses whose tolerance the table has needed."""
        return self._ear.departures

    # What he says.

    async def say(self, said: Said, *, chop: int = 0, pause: float = 0.0, judged: bool = True) -> None:
        """Say something; `chop` bytes at a time, with a pause of so many seconds behind each piece.

        Unless it is `judged` the referee does not hear it, and must not hear its answer.
        """
        if judged:
            self.witness(self, said)
        data = said if isinstance(said, bytes) else JSON.encode(said) + b"\n"
        self._dialogue.append(line(CLIENT, self.nick, "table", data, self._clock()))
        for message in self._mouth.feed(data):
            if not isinstance(message, Reply):
                self._ear.ask(message)
            if judged and self.referee is not None:
                self.referee.heard(self.nick, TABLE, message)
        with suppress(ConnectionError):  # whether the table has hung up shows in what it does not answer
            for at in range(0, len(data), chop or len(data)):
                self._writer.write(data[at : at + (chop or len(data))])
                await self._writer.drain()
                if chop:
                    await asyncio.sleep(pause)

    # What he hears.

    async def hear(self, seconds: float) -> Heard | None:
        """The next message; None when none comes within so many seconds, or the table hangs up before.

        A time in which we were not let run ourselves does not count: the table was not, either.
        """
        left = seconds
        with suppress(ConnectionError):
            while left > 0 and not self._heard and not self.gone:
                begun = self._clock()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(TICK, left)):
                        self._take(await self._reader.read(1 << 16))
                left -= min(TICK, self._clock() - begun)
        return self._heard.popleft() if self._heard else None

    def _take(self, data: bytes) -> None:
        self.gone = not data
        for heard in self._ear.feed(data):
            self._dialogue.append(line(HOUSE, "table", self.nick, heard.data, self._clock()))
            self._heard.append(heard)

    async def answer(self, clause: str, expected: str = "an answer") -> Heard:
        """The answer to what was said. Raises Broken where there is none."""
        begun, seconds = self._clock(), self._patience.seconds
        heard = await self.hear(seconds)
        self._patience.note(None if heard is None and not self.gone else self._clock() - begun)
        if heard is None:
            rest = bytes(self._ear.rest)
            what = "the end of the connection" if self.gone else f"nothing within {seconds:g} seconds"
            if rest.strip():
                what = f"{text(rest)}, which does not end,"
            raise (Broken if self.gone else Silent)(clause, what, expected, got=rest)
        return heard

    async def reaction(self) -> Heard | None:
        """What the table says to something that it may leave unanswered, if it says anything."""
        return await self.hear(self._patience.moment)

    async def quiet(self, clause: str, seconds: float = MOMENT) -> None:
        """Raise Broken if the table says anything now."""
        heard = await self.hear(seconds)
        if heard is not None:
            raise Broken(clause, heard.told, "nothing", got=heard.data)
        if self.gone:
            raise Broken(clause, "the end of the connection", "nothing")

    # Questions and answers.

    async def ask(self, message: Message, **how: Any) -> Heard:
        """Say something, and hear its answer, as the referee allows it. Raises Broken."""
        await self.say(message, **how)
        return self.judged(message, await self.answer(OWED[type(message)]))

    async def granted(self, said: Said, clause: str, **how: Any) -> Heard:
        """Say something that is right, and hear that it is. Raises Broken."""
        await self.say(said, **how)
        heard = await self.answer(clause)
        if heard.error:
            raise Broken(clause, heard.told, f"what was asked: {_told(said)}", got=heard.data)
        return self.judged(parsed(said), heard)

    async def refused(self, said: Said, clause: str, **how: Any) -> Heard:
        """Say something that is wrong, and hear an error. Raises Broken."""
        await self.say(said, **how)
        heard = await self.answer(clause, f"an error to {_told(said)}")
        if not heard.error:
            found, cause = f"{heard.told} as the answer to {_told(said)}", spelt("player", heard, is_error)
            raise Broken(clause, found, "an error", got=heard.data, cause=cause)
        return self.judged(parsed(said), heard)

    async def tried(self, said: Said) -> None:
        """Say something, and hear whatever the referee allows. Raises Broken."""
        await self.say(said)
        request = parsed(said)
        clause = OWED.get(type(request), "oldmaid-2.3")
        heard = await self.answer(request.clause if isinstance(request, Violation) else clause)
        if isinstance(request, Violation) and not heard.error:
            found = f"{heard.told} as the answer to {_told(said)}"
            raise Broken(request.clause, found, "an error", got=heard.data)
        self.judged(request, heard)

    def judged(self, request: Message | Violation | None, heard: Heard) -> Heard:
        """An answer whose form and meaning are right. Raises Broken."""
        check(request, heard)
        if self.referee is not None and not isinstance(heard.message, Violation):
            raise_on(self.referee.heard(TABLE, self.nick, heard.message), heard)
        return heard

    def note(self, request: Message) -> None:
        """Let the referee know of a request that was sent before the game began."""
        assert self.referee is not None, "who plays has a referee"
        self.referee.heard(self.nick, TABLE, request)

    def told(self, message: Join, heard: Heard) -> None:
        """Let the referee know of a list that came before he did."""
        assert self.referee is not None, "who has a list has a referee"
        self.referee.heard(self.nick, TABLE, message)
        if isinstance(heard.message, Reply):
            raise_on(self.referee.heard(TABLE, self.nick, heard.message), heard)

    # The end.

    def hang_up(self, *, reset: bool = False) -> None:
        """Hang up."""
        self.gone = True
        self._dialogue.append(line(CLIENT, self.nick, "table", b"", self._clock()))
        if reset:
            self._writer.transport.abort()
        else:
            self._writer.close()

    async def closed(self) -> None:
        """Hang up, and wait until that is done."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


class Patience:
    """How long answers are waited for: as long as was said, until it has been in vain a few times.

    `first` is how many seconds the first of all may take.
    """

    def __init__(self, seconds: float) -> None:
        self.longest = seconds
        self.first = min(seconds, FIRST)
        self._slowest = 0.0
        self._vain = 0

    @property
    def rewarded(self) -> bool:
        """Whether there has been any answer."""
        return self._slowest > 0

    @property
    def seconds(self) -> float:
        """So many are waited now."""
        if not self.rewarded and self._vain < 2:
            return self.first
        return self.longest if self._vain < 2 else min(self.longest, max(0.2, 20 * self._slowest))

    @property
    def moment(self) -> float:
        """So many seconds are enough for what may come, and need not."""
        return min(self.longest, max(4 * MOMENT, SLOW * self._slowest))

    def note(self, seconds: float | None) -> None:
        """An answer has taken so many, None for too many."""
        if seconds is None:
            self._vain += 1
        else:
            self._slowest = max(self._slowest, seconds)


def raise_on(verdicts: Sequence[Verdict], heard: Heard) -> None:
    """Raise Broken on what the table has done wrong; what our own players do is meant so."""
    for verdict in verdicts:
        if verdict.nick == TABLE:
            found = verdict.violation
            raise Broken(found.clause, found.found, found.allowed, got=heard.data)


def _told(said: Said) -> str:
    return text(said) if isinstance(said, bytes) else str(said)


def parsed(said: Said) -> Message | Violation | None:
    """The message that somebody says, as a table reads it; None for none or many."""
    if not isinstance(said, bytes):
        return said
    found = Wire("table").feed(said)
    return found[0] if len(found) == 1 else None
