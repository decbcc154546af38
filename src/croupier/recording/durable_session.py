"""Durable Old Maid table: messages are sent only after the events that caused them are in the journal."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from time import time
from typing import Any

from croupier.core.codec import Codec
from croupier.core.dealer import Dealer
from croupier.core.logger import Logger
from croupier.core.session import (
    Commit,
    Drop,
    Effect,
    Event,
    HandFinished,
    Malformed,
    Peer,
    Received,
    Reveal,
    Send,
    TimedOut,
)
from croupier.net.shared_endpoint import SharedEndpoint, SharedTable
from croupier.recording.journal import JournalBatch
from croupier.recording.oldmaid_journal import OldMaidBatch, OldMaidJournal, hand_record
from croupier.recording.promises import Promises
from croupier.recording.write_ahead import WriteAhead
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import JournalPage
from croupier.store.store import Store

type Effects = Sequence[Effect[Any]]


class DurableSession:
    """A session that wraps the house: it writes each change to the journal before its effects take effect.

    While a write is in progress, further events wait; they are handled and written together afterwards. `hold` pauses
    reading from a peer until the given future is done. `deliver` receives the effects of a write when it is durable.
    `clock` returns the time of the house in seconds. While the store is unavailable no games are played (oldmaid-9.15).
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
        self._hold = hold
        self._deliver = deliver
        self._house = house
        self._log = log
        self._clock = clock
        self._promises = promises
        self._waiting_events: list[Event[Any]] = []
        self._unwritten_effects: list[Effect[Any]] = []
        self._write_ahead = WriteAhead(journal, self, log)

    @property
    def trouble(self) -> str | None:
        """The reason why no games are played, or None."""
        return self._write_ahead.trouble

    @property
    def is_superseded(self) -> bool:
        """Whether another server has written to the journal, so that no games can be played here any more."""
        return self._write_ahead.is_superseded

    @property
    def deadline(self) -> float | None:
        """When the house wants a TimedOut event; None during a write, when events have to wait."""
        return None if self._write_ahead.is_writing else self._house.deadline

    @property
    def playing(self) -> bool:
        """Whether a game is running or a write is in progress."""
        return self._write_ahead.is_writing or self._house.playing

    @property
    def games(self) -> Sequence[TableGame]:
        """The running games, the oldest first. What has just happened in them may not be written yet."""
        return self._house.games

    @property
    def nicks(self) -> Sequence[str]:
        """The players in running games, and those who wait for one."""
        return self._house.nicks

    def on(self, event: Event[Any], now: float) -> Effects:
        """Handle an event. Returns its effects if nothing has to be written; else they go to `deliver` later."""
        if self._write_ahead.is_writing:
            self._waiting_events.append(event)
        else:
            effects = self._house.on(event, now)
            if not self._house.journal_entries:
                return effects
            self._unwritten_effects += effects
            self._write_ahead.flush()
        if isinstance(event, Received | Malformed) and self._write_ahead.is_writing:
            self._hold(event.peer, self._write_ahead.settled())
        return ()

    async def close(self) -> None:
        """Wait for the writes in progress, then give up what an unavailable store still lacks."""
        while self._write_ahead.is_writing:
            await self._write_ahead.settled()
        self._write_ahead.stop()

    def abandon(self) -> None:
        """End at once, because another server may write the journal: nothing is delivered any more."""
        self._deliver = lambda _: None
        self._write_ahead.stop()

    # What the write-ahead asks of the room.

    def take_batch(self) -> OldMaidBatch | None:
        """Handle the events that arrived during a write; return what they have changed, None if that is nothing."""
        waiting, self._waiting_events = self._waiting_events, []
        for event in waiting:
            try:
                self._unwritten_effects += self._house.on(event, self._clock())
            except Exception as error:  # an error must not lose the other peers' events
                self._log.error("internal error", exc_info=error)
        effects, self._unwritten_effects = self._unwritten_effects, []
        batch = self._make_batch(effects)
        if batch is None and effects:
            self._deliver(effects)
        return batch

    def _make_batch(self, effects: Effects) -> OldMaidBatch | None:
        """Return what has happened in games since the last call, with the effects that wait for it; None if nothing."""
        assert self._house.journal_entries is not None, "the house of a durable table records log entries"
        if not self._house.journal_entries:
            return None
        page = JournalPage(self._house.journal_entries.copy())
        self._house.journal_entries.clear()  # running games append to this same list
        promised = None if self._promises is None else self._promises.write(effects)
        now = time()
        finished = [effect.state for effect in effects if type(effect) is HandFinished]
        hands = [hand_record(game, now) for game in finished if isinstance(game, TableGame)]
        return JournalBatch([page], effects, now, hands, promised)

    def release(self, batch: OldMaidBatch) -> None:
        """Deliver the effects of a batch that is durable."""
        if batch.effects:
            self._deliver(batch.effects)

    def suspend(self, batch: OldMaidBatch | None) -> OldMaidBatch | None:
        """Void all games, and disconnect the clients that would have received an answer."""
        if batch is None:
            return None  # nothing is played at a table that is suspended already
        effects, batch.effects = batch.effects, ()
        house = self._house
        unanswered = [effect.peer for effect in effects if type(effect) is Send and house.has_peer(effect.peer)]
        kept = [effect for effect in effects if not (isinstance(effect, Send | Drop) and house.has_peer(effect.peer))]
        void_effects = house.suspend(self._clock(), unanswered)
        voided = self._make_batch(void_effects)
        if voided is not None:
            voided.effects = ()
        self._deliver([*kept, *void_effects])
        self.take_batch()  # the events that waited, at a table without games
        return voided

    def resume(self) -> None:
        """Let the house play games again."""
        self._house.resume()


def void_game_effects(game: TableGame, dealer: Dealer) -> Sequence[Effect[Any]]:
    """Return the effects by which observers learn of an interrupted game: its promise, its void result, its seed."""
    dealer.next_deck(CARD_COUNT)
    return (
        Commit.of(game.number, dealer),
        HandFinished(game.number, game.nets, game),
        Reveal.of(game.number, dealer),
    )


class ClosedTable:
    """The session of a table whose house is not open: nobody plays, and nothing is due."""

    deadline: float | None = None
    playing = False

    def on(self, event: Event[Any], now: float) -> Effects:  # noqa: ARG002 -- see Session
        """Ignore an event: it is of a client that is being disconnected."""
        return ()


class DurableTableEndpoint(SharedEndpoint):
    """The endpoint of a durable table, whose house `open_house` opens; without one it has the session `closed`."""

    def __init__(
        self,
        store: Store,
        codec_factory: Callable[[], Codec[Any, Any]],
        log: Logger,
        *,
        closed: SharedTable | None = None,
        promises: Promises | None = None,
        **options: Any,
    ) -> None:
        closed = closed or ClosedTable()
        super().__init__(closed, codec_factory, log, **options)
        self.house_session: DurableSession | None = None
        self._closed = closed
        self._store = store
        self._promises = promises

    def open_house(self, house: House, journal: OldMaidJournal) -> None:
        """Serve a house, which was rebuilt from its journal, to the connections that are accepted from now on."""
        self.session = self._table = self.house_session = DurableSession(
            house,
            journal,
            self.log,
            asyncio.get_running_loop().time,
            hold=self._hold,
            deliver=self._deliver,
            promises=self._promises,
        )

    async def close_house(self) -> None:
        """Wait for the writes of the house in progress, and serve it no longer."""
        if self.house_session is not None:
            await self.house_session.close()
            self._forget_house()

    def abandon_house(self) -> None:
        """Serve the house no longer, and disconnect its clients at once."""
        if self.house_session is not None:
            self.house_session.abandon()
            games = self.house_session.games
            self._forget_house()
            for game in games:
                game.stop()
            self.notify_watchers()

    def notify_watchers(self) -> None:
        """Let the observers look at the games again."""
        self.observers(TimedOut(), (), self.clock())

    def _forget_house(self) -> None:
        self.house_session = None
        self.session = self._table = self._closed
        self.timer.cancel()
        for peer in [*self.connections]:
            self.disconnect(peer)

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why no games can be played now, or None if they can."""
        trouble = None if self.house_session is None else self.house_session.trouble
        return trouble or self._store.outage

    async def wait_drained(self) -> None:
        """Wait until no game is running; after the final halt, also close the store."""
        await super().wait_drained()
        if self._final:
            await self.close_house()
            await self._store.close()

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
        self.timer.set(self.session.deadline)
        self.flush()
