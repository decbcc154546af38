"""A table of Old Maid that writes its games down: nobody hears of anything that could still be lost."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from typing import Any

from croupier.core.codec import Codec
from croupier.core.dealer import Dealer, commitment
from croupier.core.session import Commit, Drop, Effect, Event, Finished, Garbled, Peer, Rang, Reveal, Said, Say, Tap
from croupier.logs import Log
from croupier.net.endpoint import Limits
from croupier.net.shared_endpoint import Shared
from croupier.recording.oldmaid_journal import Courses
from croupier.recording.promises import Promises
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.table.game import CARDS, Game
from croupier.rooms.oldmaid.table.persistence import Note
from croupier.store.records import SUPERSEDED, Refused, StoreDown

type Effects = Sequence[Effect[Any]]
type Page = tuple[Sequence[Note], Sequence[Game]]
"""What is written together: notes, and the games that they end."""


class Written:
    """A session around the house: it hears nothing while something is written, and says nothing before it is durable.

    So what is said meanwhile is heard, and written, together; whoever has said it is to `hold` until the ticket is
    redeemed. What was held back is handed to `deliver`. While nothing can be written no game is played, and there is
    `trouble` (oldmaid-9.15).
    """

    def __init__(
        self,
        house: House,
        journal: Courses,
        log: Log,
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
        self._waiting: list[Event[Any]] = []
        self._owed: list[Page] = []
        self._ticket: Future[None] | None = None
        self._revival: asyncio.Task[None] | None = None

    @property
    def alarm(self) -> float | None:
        """When the house wants to hear Rang; while something is written it hears nothing."""
        return None if self._ticket is not None else self._house.alarm

    @property
    def playing(self) -> bool:
        """Whether a game is played, or what has been played is not durable yet."""
        return self._ticket is not None or self._house.playing

    def on(self, event: Event[Any], now: float) -> Effects:
        """What the house does about an event, if it hears it and nothing is to be written; else nothing yet."""
        if self._ticket is not None:
            self._waiting.append(event)
        else:
            effects = self._house.on(event, now)
            if not self._house.notes:
                return effects
            self._write(effects)
        if isinstance(event, Said | Garbled) and self._ticket is not None:
            self._hold(event.peer, self._ticket)
        return ()

    async def end(self) -> None:
        """Wait for what is being written, and for nothing else any more."""
        while self._ticket is not None:
            await asyncio.wait([self._ticket])
        if self._revival is not None:
            self._revival.cancel()

    def _page(self, effects: Effects) -> Page:
        """What has happened since this was asked last."""
        assert self._house.notes is not None, "a house that is written down takes notes"
        notes = self._house.notes.copy()
        self._house.notes.clear()  # games go on noting in the same list
        return notes, [effect.state for effect in effects if type(effect) is Finished]  # type: ignore[misc]  # they are Games

    def _write(self, effects: Effects) -> None:
        page = self._page(effects)
        promised = None if self._promises is None else self._promises.keep(effects)
        if promised is None:
            self._ticket = self._journal.write(*page)
        else:
            self._ticket = asyncio.get_running_loop().create_task(self._write_after(promised, page))
        self._ticket.add_done_callback(lambda done: self._done(done, page, effects))

    async def _write_after(self, promised: Future[None], page: Page) -> None:
        """Write a page when the promises of the dealer to those who play in it are durable."""
        await promised
        await self._journal.write(*page)

    def _done(self, done: Future[None], page: Page, effects: Effects) -> None:
        """It is durable, so everybody may know. Or it is not: then there are no games until it can be written."""
        if done.cancelled():
            return  # the loop ends
        if (error := done.exception()) is None:
            self._journal.settled(page[0])
        else:
            effects = self._fall(error, page, effects)
        self._ticket = None
        try:
            self._deliver(effects)
        finally:
            self._go_on()

    def _go_on(self) -> None:
        """Let the house hear what was said meanwhile, and write it down."""
        waiting, self._waiting = self._waiting, []
        effects: list[Effect[Any]] = []
        for event in waiting:
            try:
                effects += self._house.on(event, self._clock())
            except Exception as error:  # the others are heard all the same
                self._log.error("our own fault", exc_info=error)
        if self._house.notes:
            self._write(effects)
        elif effects:
            self._deliver(effects)

    def _fall(self, error: BaseException, page: Page, effects: Effects) -> Effects:
        """What is to be done instead: all games are void, and whoever would have been answered is seen off."""
        self.trouble = str(error)
        if isinstance(error, Refused):
            self.trouble = SUPERSEDED
            self._log.error(SUPERSEDED, reason=str(error))
        else:
            self._log.error("the store cannot be written to", reason=str(error))
            self._revival = asyncio.get_running_loop().create_task(self._revive())
        house = self._house
        lost = [effect.peer for effect in effects if type(effect) is Say and house.knows(effect.peer)]
        held = [e for e in effects if not (isinstance(e, Say | Drop) and house.knows(e.peer))]
        void = house.mute(self._clock(), lost)
        self._owed += [page, self._page(void)]
        return [*held, *void]

    async def _revive(self) -> None:
        """Write what is owed as soon as that can be done; then there may be games again."""
        while True:
            await self._journal.store.up()
            try:
                while self._owed:
                    notes, games = self._owed[0]
                    if notes and not await self._journal.written(notes):
                        await self._journal.write(notes, games)
                    if notes:
                        self._journal.settled(notes)
                    del self._owed[0]
                break
            except StoreDown:
                continue
            except Refused as error:
                self.trouble = SUPERSEDED
                self._log.error(SUPERSEDED, reason=str(error))
                return
        self._log.info("the store can be written to again")
        self.trouble = None
        self._house.speak()


def revealed(game: Game, dealer: Dealer) -> Sequence[Effect[Any]]:
    """What is told of a game that was interrupted: the promise once more, that it is void, and the seed (fair deal)."""
    dealer.deck(CARDS)
    return (
        Commit(game.number, dealer.algorithm, commitment(dealer.server_seed)),
        Finished(game.number, game.nets, game),
        Reveal(game.number, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands),
    )


class Durable(Shared):
    """The switchboard of such a table."""

    def __init__(
        self,
        house: House,
        journal: Courses,
        codec: Callable[[], Codec[Any, Any]],
        log: Log,
        *,
        taps: Sequence[Tap] = (),
        limits: Limits = Limits(),
        refusal: Sequence[Any] = (),
        promises: Promises | None = None,
    ) -> None:
        clock = asyncio.get_running_loop().time
        self._written = Written(house, journal, log, clock, hold=self._hold, deliver=self._deliver, promises=promises)
        super().__init__(self._written, codec, log, taps=taps, limits=limits, refusal=refusal)
        self._journal = journal

    @property
    def trouble(self) -> str | None:
        """Why nothing can be played here now; None if it can."""
        return self._written.trouble or self._journal.store.down

    async def empty(self) -> None:
        """Wait until nothing is played any more, and after the final halt let go of the store."""
        await super().empty()
        if self._final:
            await self._written.end()
            await self._journal.store.close()

    def _hold(self, peer: Peer, ticket: Future[None]) -> None:
        """Hear nothing more of a peer until this is done."""
        if (line := self.lines.get(peer)) is not None:
            line.hold(ticket)

    def _deliver(self, effects: Effects) -> None:
        """Call the observers, and perform what was held back; whoever has gone meanwhile hears nothing."""
        event, now = Rang(), self.clock()
        self.observers(event, effects, now)
        for effect in effects:
            if type(effect) is not Say or effect.peer in self.lines:
                self.perform(effect)
        self.attend()
        self.flush()
