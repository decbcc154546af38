"""A table of Old Maid that writes its games down: nobody hears of anything that could still be lost."""

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
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.table.game import CARD_COUNT, TableGame
from croupier.rooms.oldmaid.table.persistence import GameLogEntry
from croupier.store.records import SUPERSEDED_MESSAGE, StoreUnavailable, WriteRefused

type Effects = Sequence[Effect[Any]]
type JournalBatch = tuple[Sequence[GameLogEntry], Sequence[TableGame]]
"""What is written together: notes, and the games that they end."""


class DurableSession:
    """A session around the house: it hears nothing while something is written, and says nothing before it is durable.

    So what is said meanwhile is heard, and written, together; whoever has said it is to `hold` until the ticket is
    redeemed. What was held back is handed to `deliver`. While nothing can be written no game is played, and there is
    `trouble` (oldmaid-9.15).
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
        """When the house wants to hear Rang; while something is written it hears nothing."""
        return None if self._write_future is not None else self._house.deadline

    @property
    def playing(self) -> bool:
        """Whether a game is played, or what has been played is not durable yet."""
        return self._write_future is not None or self._house.playing

    def on(self, event: Event[Any], now: float) -> Effects:
        """What the house does about an event, if it hears it and nothing is to be written; else nothing yet."""
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
        """Wait for what is being written, and for nothing else any more."""
        while self._write_future is not None:
            await asyncio.wait([self._write_future])
        if self._recovery_task is not None:
            self._recovery_task.cancel()

    def _take_batch(self, effects: Effects) -> JournalBatch:
        """What has happened since this was asked last."""
        assert self._house.journal_entries is not None, "a house that is written down takes notes"
        notes = self._house.journal_entries.copy()
        self._house.journal_entries.clear()  # games go on noting in the same list
        return notes, [effect.state for effect in effects if type(effect) is HandFinished]  # type: ignore[misc]  # they are Games

    def _write(self, effects: Effects) -> None:
        page = self._take_batch(effects)
        promised = None if self._promises is None else self._promises.write(effects)
        if promised is None:
            self._write_future = self._journal.write(*page)
        else:
            self._write_future = asyncio.get_running_loop().create_task(self._write_after(promised, page))
        self._write_future.add_done_callback(lambda done: self._on_write_done(done, page, effects))

    async def _write_after(self, promised: Future[None], page: JournalBatch) -> None:
        """Write a page when the promises of the dealer to those who play in it are durable."""
        await promised
        await self._journal.write(*page)

    def _on_write_done(self, done: Future[None], page: JournalBatch, effects: Effects) -> None:
        """It is durable, so everybody may know. Or it is not: then there are no games until it can be written."""
        if done.cancelled():
            return  # the loop ends
        if (error := done.exception()) is None:
            self._journal.confirm_written(page[0])
        else:
            effects = self._on_write_failure(error, page, effects)
        self._write_future = None
        try:
            self._deliver(effects)
        finally:
            self._handle_waiting_events()

    def _handle_waiting_events(self) -> None:
        """Let the house hear what was said meanwhile, and write it down."""
        waiting, self._waiting_events = self._waiting_events, []
        effects: list[Effect[Any]] = []
        for event in waiting:
            try:
                effects += self._house.on(event, self._clock())
            except Exception as error:  # the others are heard all the same
                self._log.error("our own fault", exc_info=error)
        if self._house.journal_entries:
            self._write(effects)
        elif effects:
            self._deliver(effects)

    def _on_write_failure(self, error: BaseException, page: JournalBatch, effects: Effects) -> Effects:
        """What is to be done instead: all games are void, and whoever would have been answered is seen off."""
        self.trouble = str(error)
        if isinstance(error, WriteRefused):
            self.trouble = SUPERSEDED_MESSAGE
            self._log.error(SUPERSEDED_MESSAGE, reason=str(error))
        else:
            self._log.error("the store cannot be written to", reason=str(error))
            self._recovery_task = asyncio.get_running_loop().create_task(self._recover())
        house = self._house
        lost = [effect.peer for effect in effects if type(effect) is Send and house.has_peer(effect.peer)]
        held = [e for e in effects if not (isinstance(e, Send | Drop) and house.has_peer(e.peer))]
        void = house.suspend(self._clock(), lost)
        self._unwritten_batches += [page, self._take_batch(void)]
        return [*held, *void]

    async def _recover(self) -> None:
        """Write what is owed as soon as that can be done; then there may be games again."""
        while True:
            await self._journal.store.wait_until_up()
            try:
                while self._unwritten_batches:
                    notes, games = self._unwritten_batches[0]
                    if notes and not await self._journal.was_written(notes):
                        await self._journal.write(notes, games)
                    if notes:
                        self._journal.confirm_written(notes)
                    del self._unwritten_batches[0]
                break
            except StoreUnavailable:
                continue
            except WriteRefused as error:
                self.trouble = SUPERSEDED_MESSAGE
                self._log.error(SUPERSEDED_MESSAGE, reason=str(error))
                return
        self._log.info("the store can be written to again")
        self.trouble = None
        self._house.resume()


def void_game_effects(game: TableGame, dealer: Dealer) -> Sequence[Effect[Any]]:
    """What is told of a game that was interrupted: the promise once more, that it is void, and the seed (fair deal)."""
    dealer.next_deck(CARD_COUNT)
    return (
        Commit(game.number, dealer.algorithm, commitment(dealer.server_seed)),
        HandFinished(game.number, game.nets, game),
        Reveal(game.number, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands),
    )


class DurableTableEndpoint(SharedEndpoint):
    """The switchboard of such a table."""

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
        super().__init__(self._durable_session, codec_factory, log, taps=observers, limits=limits, refusal=refusal)
        self._journal = journal

    @property
    def unavailable_reason(self) -> str | None:
        """Why nothing can be played here now; None if it can."""
        return self._durable_session.trouble or self._journal.store.outage

    async def wait_drained(self) -> None:
        """Wait until nothing is played any more, and after the final halt let go of the store."""
        await super().wait_drained()
        if self._final:
            await self._durable_session.close()
            await self._journal.store.close()

    def _hold(self, peer: Peer, ticket: Future[None]) -> None:
        """Hear nothing more of a peer until this is done."""
        if (line := self.connections.get(peer)) is not None:
            line.hold_until(ticket)

    def _deliver(self, effects: Effects) -> None:
        """Call the observers, and perform what was held back; whoever has gone meanwhile hears nothing."""
        event, now = TimedOut(), self.clock()
        self.observers(event, effects, now)
        for effect in effects:
            if type(effect) is not Send or effect.peer in self.connections:
                self.perform(effect)
        self.schedule_deadline()
        self.flush()
