"""Durable Old Maid table: messages are sent only after the events that caused them are in the journal."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from typing import Any

from croupier.core.codec import Codec
from croupier.core.dealer import Dealer, commitment
from croupier.core.session import (
    Commit,
    Drop,
    Effect,
    Event,
    HandFinished,
    Malformed,
    Observer,
    Peer,
    Received,
    Reveal,
    Send,
    TimedOut,
)
from croupier.logs import Logger
from croupier.net.endpoint import EndpointLimits
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.recording.oldmaid_journal import OldMaidJournal
from croupier.recording.promises import Promises
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import GameLogEntry
from croupier.store.records import SUPERSEDED_MESSAGE, StoreUnavailable, WriteRefused

type Effects = Sequence[Effect[Any]]
type JournalBatch = tuple[Sequence[GameLogEntry], Sequence[TableGame]]
"""What is written in one transaction: log entries, and the games that they end."""


class DurableSession:
    """A session that wraps the house: it writes each change to the journal before its effects take effect.

    While a write is in progress, further events wait; they are handled and written together afterwards. `hold` pauses
    reading from a peer until the given future is done. `deliver` receives the effects of a write when it is durable.
    While the store is unavailable no games are played, and `trouble` gives the reason (oldmaid-9.15).
    """

    def __init__(
        self,
        house: House,
        journal: OldMaidJournal,
        log: Logger,
        clock: Callable[[], float],
        *,
        hold: Callable[[Peer, Future[None]], None],
        deliver: Callable[[Effects], None],
        promises: Promises | None = None,
    ) -> None:
        self.trouble: str | None = None
        self._hold = hold
        self._deliver = deliver
        self._house = house
        self._journal = journal
        self._log = log
        self._clock = clock
        self._promises = promises
        self._waiting_events: list[Event[Any]] = []
        self._unwritten_batches: list[JournalBatch] = []
        self._write_future: Future[None] | None = None
        self._recovery_task: asyncio.Task[None] | None = None

    @property
    def deadline(self) -> float | None:
        """When the house wants a TimedOut event; None during a write, when events have to wait."""
        return None if self._write_future is not None else self._house.deadline

    @property
    def playing(self) -> bool:
        """Whether a game is running or a write is in progress."""
        return self._write_future is not None or self._house.playing

    def on(self, event: Event[Any], now: float) -> Effects:
        """Handle an event. Returns its effects if nothing has to be written; else they go to `deliver` later."""
        if self._write_future is not None:
            self._waiting_events.append(event)
        else:
            effects = self._house.on(event, now)
            if not self._house.journal_entries:
                return effects
            self._write(effects)
        if isinstance(event, Received | Malformed) and self._write_future is not None:
            self._hold(event.peer, self._write_future)
        return ()

    async def close(self) -> None:
        """Wait for a write in progress, then give up batches that an unavailable store still lacks."""
        while self._write_future is not None:
            await asyncio.wait([self._write_future])
        if self._recovery_task is not None:
            self._recovery_task.cancel()

    def _take_batch(self, effects: Effects) -> JournalBatch:
        """Return what has happened since the last call."""
        assert self._house.journal_entries is not None, "the house of a durable table records log entries"
        entries = self._house.journal_entries.copy()
        self._house.journal_entries.clear()  # running games append to this same list
        return entries, [effect.state for effect in effects if type(effect) is HandFinished]  # type: ignore[misc]  # the states are TableGames

    def _write(self, effects: Effects) -> None:
        batch = self._take_batch(effects)
        promises_written = None if self._promises is None else self._promises.write(effects)
        if promises_written is None:
            self._write_future = self._journal.write(*batch)
        else:
            self._write_future = asyncio.get_running_loop().create_task(self._write_after(promises_written, batch))
        self._write_future.add_done_callback(lambda future: self._on_write_done(future, batch, effects))

    async def _write_after(self, promises_written: Future[None], batch: JournalBatch) -> None:
        """Write a batch as soon as the dealer's promises to its players are durable."""
        await promises_written
        await self._journal.write(*batch)

    def _on_write_done(self, future: Future[None], batch: JournalBatch, effects: Effects) -> None:
        """Deliver the effects of a durable write; after a failure, void all games instead."""
        if future.cancelled():
            return  # the event loop is shutting down
        if (error := future.exception()) is None:
            self._journal.confirm_written(batch[0])
        else:
            effects = self._on_write_failure(error, batch, effects)
        self._write_future = None
        try:
            self._deliver(effects)
        finally:
            self._handle_waiting_events()

    def _handle_waiting_events(self) -> None:
        """Handle the events that arrived during a write, and write what they changed."""
        waiting, self._waiting_events = self._waiting_events, []
        effects: list[Effect[Any]] = []
        for event in waiting:
            try:
                effects += self._house.on(event, self._clock())
            except Exception as error:  # an error must not lose the other peers' events
                self._log.error("internal error", exc_info=error)
        if self._house.journal_entries:
            self._write(effects)
        elif effects:
            self._deliver(effects)

    def _on_write_failure(self, error: BaseException, batch: JournalBatch, effects: Effects) -> Effects:
        """Suspend the house; return the effects to deliver instead.

        All games are void, and clients that would have received an answer are disconnected.
        """
        self.trouble = str(error)
        if isinstance(error, WriteRefused):
            self.trouble = SUPERSEDED_MESSAGE
            self._log.error(SUPERSEDED_MESSAGE, reason=str(error))
        else:
            self._log.error("store unavailable", reason=str(error))
            self._recovery_task = asyncio.get_running_loop().create_task(self._recover())
        house = self._house
        unanswered = [effect.peer for effect in effects if type(effect) is Send and house.has_peer(effect.peer)]
        kept_effects = [
            effect for effect in effects if not (isinstance(effect, Send | Drop) and house.has_peer(effect.peer))
        ]
        void_effects = house.suspend(self._clock(), unanswered)
        self._unwritten_batches += [batch, self._take_batch(void_effects)]
        return [*kept_effects, *void_effects]

    async def _recover(self) -> None:
        """Wait for the store, write the batches that failed, and let the house resume."""
        while True:
            await self._journal.store.wait_until_up()
            try:
                while self._unwritten_batches:
                    entries, games = self._unwritten_batches[0]
                    if entries and not await self._journal.was_written(entries):
                        await self._journal.write(entries, games)
                    if entries:
                        self._journal.confirm_written(entries)
                    del self._unwritten_batches[0]
                break
            except StoreUnavailable:
                continue
            except WriteRefused as error:
                self.trouble = SUPERSEDED_MESSAGE
                self._log.error(SUPERSEDED_MESSAGE, reason=str(error))
                return
        self._log.info("store available again")
        self.trouble = None
        self._house.resume()


def void_game_effects(game: TableGame, dealer: Dealer) -> Sequence[Effect[Any]]:
    """Return the effects by which observers learn of an interrupted game: its promise, its void result, its seed."""
    dealer.next_deck(CARD_COUNT)
    return (
        Commit(game.number, dealer.algorithm, commitment(dealer.server_seed)),
        HandFinished(game.number, game.nets, game),
        Reveal(game.number, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands),
    )


class DurableTableEndpoint(SharedEndpoint):
    """The endpoint of a durable table."""

    def __init__(
        self,
        house: House,
        journal: OldMaidJournal,
        codec_factory: Callable[[], Codec[Any, Any]],
        log: Logger,
        *,
        observers: Sequence[Observer] = (),
        limits: EndpointLimits = EndpointLimits(),
        refusal: Sequence[Any] = (),
        promises: Promises | None = None,
    ) -> None:
        clock = asyncio.get_running_loop().time
        self._durable_session = DurableSession(
            house, journal, log, clock, hold=self._hold, deliver=self._deliver, promises=promises
        )
        super().__init__(self._durable_session, codec_factory, log, observers=observers, limits=limits, refusal=refusal)
        self._journal = journal

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why no games can be played now, or None if they can."""
        return self._durable_session.trouble or self._journal.store.outage

    async def wait_drained(self) -> None:
        """Wait until no game is running; after the final halt, also close the store."""
        await super().wait_drained()
        if self._final:
            await self._durable_session.close()
            await self._journal.store.close()

    def _hold(self, peer: Peer, future: Future[None]) -> None:
        """Read nothing more from a peer until the future is done."""
        if (connection := self.connections.get(peer)) is not None:
            connection.hold_until(future)

    def _deliver(self, effects: Effects) -> None:
        """Notify the observers and perform the effects. Messages to peers that have left meanwhile are dropped."""
        event, now = TimedOut(), self.clock()
        self.observers(event, effects, now)
        for effect in effects:
            if type(effect) is not Send or effect.peer in self.connections:
                self.perform(effect)
        self.schedule_deadline()
        self.flush()
