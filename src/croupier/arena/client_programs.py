"""Programs that play as clients: the arena serves a house on a local port, and counts what the house settles.

The house deals the hands of a chunk, on any number of connections. A program that ends after some hands is started
again. What it does wrong is a fault, and cannot stop the arena: it is ended when it does not answer, or forfeits.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from croupier.arena.game import Chunk
from croupier.arena.players import Forfeit
from croupier.arena.program_match import (
    HOST,
    MAX_HAND_MESSAGES,
    START_SECONDS,
    ProgramMatch,
    RunningProgram,
)
from croupier.clients.programs import terminated_as_interrupted
from croupier.core.dealer import Dealer
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.referee import CLIENT, RefereeObserver, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import (
    BotFailed,
    Effect,
    Event,
    Joined,
    Left,
    Observer,
    Peer,
    Received,
    Session,
    Settle,
    TimedOut,
    Timeouts,
)
from croupier.net.endpoint import Endpoint
from croupier.net.event_loop import run
from croupier.net.limits import EndpointLimits

CLOSE_SECONDS: Final = 0.5
"""How long a program has to close its connection when all hands are played."""


class Tables[D: Dealer](ABC):
    """The tables of a room at which a program plays the hands of a chunk.

    `settings` are those of the house. `hands` counts the hands that are over. `is_over` is set when no more hands
    count, and `forfeit` if a bot of ours could not go on. `thinking_seconds` is the time that a bot of ours has used,
    which is not the program's. `dealers` has the dealer of every connection. `observers` see the events of the house.
    """

    room: HouseRoom
    settings: Any
    observers: Sequence[Observer] = ()

    def __init__(self) -> None:
        self.hands = 0
        self.is_over = False
        self.thinking_seconds = 0.0
        self.forfeit: Forfeit | None = None
        self.dealers: dict[Peer, D] = {}

    @property
    @abstractmethod
    def hand(self) -> int:
        """The number of the program's current hand in the pairing."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether all hands of the chunk have been played."""

    @property
    def imbalance(self) -> str | None:
        """Why the program will never play the hands of the chunk; None if it may."""
        return None

    def dealer(self, peer: Peer) -> D:
        """The dealer of a new connection."""
        self.dealers[peer] = dealer = self.new_dealer()
        return dealer

    @abstractmethod
    def new_dealer(self) -> D:
        """A dealer of hands of the chunk."""

    @abstractmethod
    def open_table(self, peer: Peer, dealer: Dealer, timeouts: Timeouts) -> Session[Any, Any]:
        """A table for a connection of the program."""

    @abstractmethod
    def settle(self, effect: Settle) -> bool:
        """Count a hand, and return whether the program has finished it. Raises Forfeit, from a bot of ours."""


def play_as_client(chunk: Chunk, index: int, tables: Tables[Any]) -> None:
    """Let a program of the chunk (0 or 1) play at these tables until they are complete. Raises Forfeit."""

    async def play() -> None:
        await ClientProgram(chunk, index, tables).play()

    with terminated_as_interrupted():
        run(play())


class ClientProgram(ProgramMatch):
    """A program that plays at tables of ours. Its faults are added to those of the chunk."""

    def __init__(self, chunk: Chunk, index: int, tables: Tables[Any]) -> None:
        super().__init__(chunk)
        self._index = index
        self._tables = tables
        self._limit = chunk.plan.answer_seconds
        self._message_at = self._hand_at = 0.0

    @property
    def hand(self) -> int:
        """The number of the current hand in the pairing."""
        return self._tables.hand

    async def play(self) -> None:
        """Serve the house, and run the program until the tables are complete. Raises Forfeit."""
        tables, timeouts = self._tables, Timeouts(idle=self._limit)
        referee = partial(tables.room.referee, tables.settings, False)
        endpoint = Endpoint(
            Hall(lambda peer, dealer: tables.open_table(peer, dealer, timeouts), tables.dealer, timeouts.shortest),
            partial(tables.room.codec, False, tables.settings),
            SilentLogger(),
            observers=[RefereeObserver(referee, self._on_verdict), *tables.observers, self._on_event],
            limits=EndpointLimits(close_timeout=CLOSE_SECONDS),
            clock=self._clock,
        )
        try:
            address = await endpoint.listen(HOST, 0)
            while not self.over.done():
                await self._run_program(endpoint, address)
        finally:
            await endpoint.close()
        self.over.result()

    async def _run_program(self, endpoint: Endpoint, address: tuple[str, int]) -> None:
        """Run the program once, until it ends or the chunk is over."""
        contestant = self.chunk.programs[self._index]
        assert contestant is not None, "it is a program"
        words = contestant.command({"host": address[0], "port": address[1]})
        hands = self._tables.hands
        self._message_at = self._hand_at = self._clock()
        with self.started(self._index, words) as program:
            if program is None:
                return
            watch = asyncio.create_task(self._watch())
            try:
                await self._wait(program, endpoint)
            finally:
                watch.cancel()
            if not self.over.done():
                self._on_ended(program, self._tables.hands - hands)

    async def _wait(self, program: RunningProgram, endpoint: Endpoint) -> None:
        """Wait until the program has ended and its connections are closed; if the chunk is over, not for long."""
        ended = asyncio.create_task(program.wait())
        await asyncio.wait((ended, self.over), return_when=asyncio.FIRST_COMPLETED)
        if not self.over.done():
            drained = asyncio.create_task(endpoint.wait_drained())
            await asyncio.wait((drained, self.over), timeout=CLOSE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            drained.cancel()
        else:
            endpoint.halt(final=True)  # a goodbye
            await asyncio.wait((ended,), timeout=CLOSE_SECONDS)

    def _clock(self) -> float:
        """The time in seconds, without that which a bot of ours has used."""
        return self.loop.time() - self._tables.thinking_seconds

    async def _watch(self) -> None:
        """Let the program forfeit when it sends nothing, or finishes no hand."""
        start, hand = max(START_SECONDS, self._limit), START_SECONDS + MAX_HAND_MESSAGES * self._limit
        while not self.over.done():
            now = self._clock()
            if now >= self._message_at + start:
                self.forfeit(self._index, f"no message for {start:g} seconds")
            elif now >= self._hand_at + hand:
                self.forfeit(self._index, f"no hand finished in {hand:g} seconds")
            await asyncio.sleep(min(self._message_at + start, self._hand_at + hand) - now)

    def _on_event(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        """Observe the house."""
        if self.over.done():
            return
        try:
            if type(event) is Received:
                self._message_at = now
            elif type(event) is Joined:
                self.end_left_hand(self._index, "it left the hand")
            for effect in effects:
                if type(effect) is Settle:
                    self._hand_at = now
                    self._on_settled(effect, event)
                elif type(effect) is BotFailed:
                    assert self._tables.forfeit is not None, "a player of the arena replaces illegal moves"
                    self.stop(self._tables.forfeit)
        except Forfeit as forfeit:
            self.stop(forfeit)
        except Exception as error:
            self.stop(error)

    def _on_settled(self, effect: Settle, event: Event[Any]) -> None:
        tables, hand = self._tables, self._tables.hand
        if tables.settle(effect):
            pass
        elif type(event) is TimedOut:
            self.forfeit(self._index, f"no message for {self._limit:g} seconds", hand)
        elif type(event) is Left:
            self.left_hands[self._index] = hand
        else:
            self.add_fault(self._index, "it left the hand", hand)
        if tables.is_complete:
            self.end_left_hand(self._index, "it left the hand")
            self.stop(None)
        elif tables.imbalance is not None:
            self.forfeit(self._index, tables.imbalance)

    def _on_verdict(self, _peer: Peer, verdict: Verdict) -> None:
        if verdict.party == CLIENT:
            self.add_fault(self._index, str(verdict.violation))

    def _on_ended(self, program: RunningProgram, hands: int) -> None:
        """The program has ended before the chunk was over."""
        end = program.describe_end(" during the hand" if self.left_hands else "")
        if not hands:
            self.forfeit(self._index, end)
        elif program.process.returncode:
            self.left_hands.setdefault(self._index, self.hand)
        self.end_left_hand(self._index, end)

    def stop(self, error: Exception | None) -> None:
        """End the chunk; no more hands count."""
        self._tables.is_over = True
        super().stop(error)
