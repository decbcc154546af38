"""The daybook of a house: every game that is over is written into a store, many of them with one stroke of the pen.

Without accounts nobody waits for that (async), unless it is wanted (durable). With accounts every game is settled in
the ledger with the same stroke, and nobody is told what he has won before it is there.
"""

import asyncio
import secrets
from asyncio import Future
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from croupier.core.room import HouseRoom
from croupier.core.session import Address, Peer, Settle
from croupier.logs import Log
from croupier.recording.accounts import Purses, Visit
from croupier.recording.game_records import write_named, writer
from croupier.recording.promises import Promises
from croupier.store.records import Entry, Refused, StoreDown
from croupier.store.store import Store

PACE: Final = 0.01
"""Without anybody who waits, games are written after so many seconds: as many are lost when the process is killed."""

PAGE: Final = 1000
"""So many games are written together."""

NAMED: Final = 300
"""So many if each of them is settled in the ledger, so that the scribe commits a page of every house together."""

MOST: Final = 20
"""So many pages may wait to be written; then whoever has ended a game waits for the first of them."""

GRACE: Final = 1.0
"""A store that is down for no longer than so many seconds is waited for; then no games are begun."""


class Doors(Protocol):
    """What is done with a house whose games cannot be written down: a switchboard."""

    def shut(self, reason: str) -> None: ...  # noqa: D102 -- as in Switchboard

    def reopen(self) -> None: ...  # noqa: D102 -- as in Switchboard

    def expel(self, peer: Peer) -> None: ...  # noqa: D102 -- as in Switchboard


type Paying = Mapping[Visit, Future[None] | None]
"""What becomes of the games of each visit on a page."""


class Page:
    """Games that are written together; their ticket, if somebody waits for them; and whose they are, with accounts."""

    __slots__ = ("games", "ticket", "time", "visits")

    def __init__(self, ticket: Future[None] | None) -> None:
        self.games: list[Settle] = []
        self.visits: list[Visit] = []
        self.ticket = ticket
        self.time = 0.0

    def owed(self) -> Mapping[Visit, Sequence[Settle]]:
        """The games of each visit, in their order."""
        owed: dict[Visit, list[Settle]] = {}
        for settled, visit in zip(self.games, self.visits, strict=False):
            owed.setdefault(visit, []).append(settled)
        return owed


def run_of(now: float) -> str:
    """A name for what is played from now on until the house closes; names are sorted by time."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S.%fZ}.{secrets.token_hex(2)}"


class Daybook:
    """The books of one house (see `Books`). One page is written at a time, and the next one fills meanwhile.

    `clock` tells the seconds since 1970; `doors` are told when games cannot be written down. `trouble` says why they
    cannot, None if they can. `purses` are the accounts, and `promises` those of the dealer, if they have to be durable.
    """

    def __init__(
        self,
        store: Store,
        room: HouseRoom,
        log: Log,
        clock: Callable[[], float],
        *,
        durable: bool,
        purses: Purses | None = None,
        promises: Promises | None = None,
    ) -> None:
        self.trouble: str | None = None
        self.doors: Doors | None = None
        self.run = run_of(clock())
        self._store = store
        self._room = room
        self._log = log
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._durable = durable
        self.purses = purses
        self._promises = promises
        self._sheet = writer(room)
        self._size = PAGE if purses is None else NAMED
        self._page = self._blank()
        self._pages: deque[Page] = deque()  # the first one is being written
        self._full: Future[None] | None = None
        self._seq = 0
        self._due = False
        self._shut = False
        self._final = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._grace: asyncio.TimerHandle | None = None
        self._revival: asyncio.Task[None] | None = None

    @property
    def down(self) -> str | None:
        """Why the store cannot be written to, though nothing was to be written since; None if it can."""
        return self._store.down

    # What the switchboard asks.

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str] | None:
        """Look up who has an account, where there are any."""
        return None if self.purses is None else self.purses.admit(peer, address, certificate)

    def promised(self) -> Future[None] | None:
        """A ticket where a promise has to be on the disk before its client sees a card: see `Books.promised`."""
        return None if self._promises is None else self._promises.synced()

    def leave(self, peer: Peer) -> None:
        """Let go of the purse of who has left."""
        if self.purses is not None:
            self.purses.leave(peer)

    def settle(self, settled: Settle) -> Future[None] | None:
        """Put a game on the page; a ticket where its client has to wait."""
        page = self._page
        games = page.games
        games.append(settled)
        if self.purses is not None:
            page.visits.append(self.purses.owe(settled.peer))
        if not self._due:
            self._due = True
            if self._durable:
                self._loop.call_soon(self._turn)
            else:
                self._loop.call_later(PACE, self._turn)
        if len(games) == self._size:
            self._put()
        return page.ticket or self._full

    # The end.

    def halt(self, *, final: bool) -> None:
        """The house closes. When that is final, nobody waits any longer for a store that is down."""
        self._final = final
        if final and self.trouble is not None:
            self._give_up()

    async def close(self) -> None:
        """Write what waits, if that is possible, and let go of the store."""
        if not self._pages:
            self._put()
        await self._idle.wait()
        if self._grace is not None:
            self._grace.cancel()
        if self._revival is not None:
            self._revival.cancel()
        if lost := sum(len(page.games) for page in (*self._pages, self._page)):
            self._log.error("games are not written down", games=lost, reason=self.trouble)
        await self._store.close()

    # Pages.

    def _blank(self) -> Page:
        return Page(self._loop.create_future() if self._durable else None)

    def _turn(self) -> None:
        """Games have waited long enough, unless a page is being written: then they go when that is done."""
        self._due = False
        if not self._pages:
            self._put()

    def _put(self) -> None:
        """Begin a new page, and write this one as soon as those before it are written."""
        page = self._page
        if not page.games:
            return
        page.time = self._clock()
        self._page = self._blank()
        self._pages.append(page)
        if len(self._pages) == 1:
            self._idle.clear()
            self._send(page)
        elif len(self._pages) == MOST and not self._durable:
            self._full = self._loop.create_future()

    def _send(self, page: Page, *, again: bool = False) -> None:
        """Give a page to the store; when it is there `again`, only what is to be settled, which moves no coin twice."""
        paying = {visit: self._pay(visit, games) for visit, games in page.owed().items()}
        fact = None
        if not again:
            fact = self._store.append([Entry(self._room.name, self.run, self._seq + 1, self._fact(page), page.time)])
        writing: list[Future[Any]] = [future for future in (*paying.values(), fact) if future is not None]
        done = asyncio.gather(*writing, return_exceptions=True)
        done.add_done_callback(lambda _: self._written(page, paying, fact))

    def _pay(self, visit: Visit, games: Sequence[Settle]) -> Future[None] | None:
        """Settle games of one visit, together; nothing where no coin moves, or the visit is void."""
        assert self.purses is not None, "there are visits where there are purses"
        moving = [settled for settled in games if settled.net]
        return self.purses.pay(visit, moving, self.run) if moving and not visit.void else None

    def _fact(self, page: Page) -> bytes:
        if self.purses is None:
            return self._sheet(page.games)
        return write_named(self._room, zip(page.games, [visit.name for visit in page.visits], strict=True))

    def _written(self, page: Page, paying: Paying, fact: Future[None] | None) -> None:
        """The page is durable: who has waited for it may know. Or it is not: then it is written when that can be."""
        if any(future is not None and future.cancelled() for future in (*paying.values(), fact)):
            return  # the loop ends
        errors = {visit: None if future is None else future.exception() for visit, future in paying.items()}
        error = None if fact is None else fact.exception()
        if error is None:
            error = next(filter(_is_down, errors.values()), None)
        if error is not None:
            self._fall(error)
            return
        self._seq += 1
        self._pages.popleft()
        if self.trouble is not None:
            self._recover()
        self._paid(page, errors)
        _redeem(page.ticket)
        if self._full is not None and len(self._pages) < MOST:
            _redeem(self._full)
            self._full = None
        if self._pages:
            self._send(self._pages[0])
        elif not self._due or self._final:
            self._put()
        if not self._pages:
            self._idle.set()

    def _paid(self, page: Page, errors: Mapping[Visit, BaseException | None]) -> None:
        """The games of the page are settled; those that the ledger refuses are void, as all that run on that purse."""
        for settled, visit in zip(page.games, page.visits, strict=False):
            assert self.purses is not None, "there are visits where there are purses"
            refused = errors[visit]
            if refused is not None or visit.void:
                game = f"{self.run}-{settled.peer}/{settled.hand}"
                self._log.error("a game is void", client=visit.name, game=game, reason=str(refused or "visit"))
            if refused is not None and not visit.void:
                for peer in self.purses.void(visit):
                    if self.doors is not None:
                        self.doors.expel(peer)
            self.purses.paid(visit)

    # A store that is down.

    def _fall(self, error: BaseException) -> None:
        if self.trouble is None:
            self._log.error("the store cannot be written to", reason=str(error))
            self._grace = self._loop.call_later(GRACE, self._close_doors)
        self.trouble = str(error)
        if self._final or not isinstance(error, StoreDown):
            self._close_doors()
            self._give_up()
        else:
            self._revival = self._loop.create_task(self._revive())

    async def _revive(self) -> None:
        """Write as soon as the store is there again."""
        while True:
            await self._store.up()
            try:
                last = await self._store.last(self._room.name, self.run)
            except StoreDown:
                await asyncio.sleep(PACE)
                continue
            self._send(self._pages[0], again=last > self._seq)
            return

    def _recover(self) -> None:
        self._log.info("the store can be written to again")
        self.trouble = None
        if self._grace is not None:
            self._grace.cancel()
        if self._shut and self.doors is not None:
            self._shut = False
            self.doors.reopen()

    def _close_doors(self) -> None:
        if not self._shut and self.doors is not None:
            self._shut = True
            self.doors.shut("store")

    def _give_up(self) -> None:
        """Nobody waits any longer for what cannot be written; what he would have been told is lost with it."""
        for ticket in (*(page.ticket for page in self._pages), self._page.ticket, self._full):
            if ticket is not None:
                ticket.cancel()
        self._idle.set()


def _redeem(ticket: Future[None] | None) -> None:
    if ticket is not None and not ticket.done():
        ticket.set_result(None)


def _is_down(error: BaseException | None) -> bool:
    return error is not None and not isinstance(error, Refused)
