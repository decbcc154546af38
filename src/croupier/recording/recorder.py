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
from croupier.logs import Logger
from croupier.recording.accounts import AccountSession, Purses
from croupier.recording.game_records import encode_with_accounts, make_encoder
from croupier.recording.promises import Promises
from croupier.store.records import JournalEntry, StoreUnavailable, WriteRefused
from croupier.store.store import Store

FLUSH_INTERVAL_SECONDS: Final = 0.01
"""Without anybody who waits, games are written after so many seconds: as many are lost when the process is killed."""

MAX_BATCH_GAMES: Final = 1000
"""So many games are written together."""

MAX_ACCOUNT_BATCH_GAMES: Final = 300
"""So many if each of them is settled in the ledger, so that the scribe commits a page of every house together."""

MAX_WAITING_BATCHES: Final = 20
"""So many pages may wait to be written; then whoever has ended a game waits for the first of them."""

STORE_DOWN_GRACE_SECONDS: Final = 1.0
"""A store that is down for no longer than so many seconds is waited for; then no games are begun."""


class AdmissionControl(Protocol):
    """What is done with a house whose games cannot be written down: a switchboard."""

    def suspend(self, reason: str) -> None: ...  # noqa: D102 -- as in Switchboard

    def resume(self) -> None: ...  # noqa: D102 -- as in Switchboard

    def disconnect(self, peer: Peer) -> None: ...  # noqa: D102 -- as in Switchboard


type TransferFutures = Mapping[AccountSession, Future[None] | None]
"""What becomes of the games of each visit on a page."""


class Batch:
    """Games that are written together; their ticket, if somebody waits for them; and whose they are, with accounts."""

    __slots__ = ("account_sessions", "games", "time", "write_future")

    def __init__(self, write_future: Future[None] | None) -> None:
        self.games: list[Settle] = []
        self.account_sessions: list[AccountSession] = []
        self.write_future = write_future
        self.time = 0.0

    def games_by_account(self) -> Mapping[AccountSession, Sequence[Settle]]:
        """The games of each visit, in their order."""
        owed: dict[AccountSession, list[Settle]] = {}
        for settled, visit in zip(self.games, self.account_sessions, strict=False):
            owed.setdefault(visit, []).append(settled)
        return owed


def run_name(now: float) -> str:
    """A name for what is played from now on until the house closes; names are sorted by time."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S.%fZ}.{secrets.token_hex(2)}"


class GameRecorder:
    """The books of one house (see `Books`). One page is written at a time, and the next one fills meanwhile.

    `clock` tells the seconds since 1970; `doors` are told when games cannot be written down. `trouble` says why they
    cannot, None if they can. `purses` are the accounts, and `promises` those of the dealer, if they have to be durable.
    """

    def __init__(
        self,
        store: Store,
        room: HouseRoom,
        log: Logger,
        clock: Callable[[], float],
        *,
        durable: bool,
        purses: Purses | None = None,
        promises: Promises | None = None,
    ) -> None:
        self.trouble: str | None = None
        self.admission: AdmissionControl | None = None
        self.run = run_name(clock())
        self._store = store
        self._room = room
        self._log = log
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._is_durable = durable
        self.purses = purses
        self._promises = promises
        self._encode_games = make_encoder(room)
        self._max_batch_games = MAX_BATCH_GAMES if purses is None else MAX_ACCOUNT_BATCH_GAMES
        self._batch = self._new_batch()
        self._waiting_batches: deque[Batch] = deque()  # the first one is being written
        self._capacity_future: Future[None] | None = None
        self._seq = 0
        self._is_flush_scheduled = False
        self._is_suspended = False
        self._is_final = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._grace_timer: asyncio.TimerHandle | None = None
        self._recovery_task: asyncio.Task[None] | None = None

    @property
    def store_trouble(self) -> str | None:
        """Why the store cannot be written to, though nothing was to be written since; None if it can."""
        return self._store.outage

    # What the switchboard asks.

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str] | None:
        """Look up who has an account, where there are any."""
        return None if self.purses is None else self.purses.admit(peer, address, certificate)

    def sync_promises(self) -> Future[None] | None:
        """A ticket where a promise has to be on the disk before its client sees a card: see `Books.promised`."""
        return None if self._promises is None else self._promises.request_sync()

    def leave(self, peer: Peer) -> None:
        """Let go of the purse of who has left."""
        if self.purses is not None:
            self.purses.leave(peer)

    def settle(self, settled: Settle) -> Future[None] | None:
        """Put a game on the page; a ticket where its client has to wait."""
        page = self._batch
        games = page.games
        games.append(settled)
        if self.purses is not None:
            page.account_sessions.append(self.purses.reserve(settled.peer))
        if not self._is_flush_scheduled:
            self._is_flush_scheduled = True
            if self._is_durable:
                self._loop.call_soon(self._flush_due)
            else:
                self._loop.call_later(FLUSH_INTERVAL_SECONDS, self._flush_due)
        if len(games) == self._max_batch_games:
            self._close_batch()
        return page.write_future or self._capacity_future

    # The end.

    def halt(self, *, final: bool) -> None:
        """The house closes. When that is final, nobody waits any longer for a store that is down."""
        self._is_final = final
        if final and self.trouble is not None:
            self._give_up()

    async def close(self) -> None:
        """Write what waits, if that is possible, and let go of the store."""
        if not self._waiting_batches:
            self._close_batch()
        await self._idle.wait()
        if self._grace_timer is not None:
            self._grace_timer.cancel()
        if self._recovery_task is not None:
            self._recovery_task.cancel()
        if lost := sum(len(page.games) for page in (*self._waiting_batches, self._batch)):
            self._log.error("games are not written down", games=lost, reason=self.trouble)
        await self._store.close()

    # Pages.

    def _new_batch(self) -> Batch:
        return Batch(self._loop.create_future() if self._is_durable else None)

    def _flush_due(self) -> None:
        """Games have waited long enough, unless a page is being written: then they go when that is done."""
        self._is_flush_scheduled = False
        if not self._waiting_batches:
            self._close_batch()

    def _close_batch(self) -> None:
        """Begin a new page, and write this one as soon as those before it are written."""
        page = self._batch
        if not page.games:
            return
        page.time = self._clock()
        self._batch = self._new_batch()
        self._waiting_batches.append(page)
        if len(self._waiting_batches) == 1:
            self._idle.clear()
            self._write_batch(page)
        elif len(self._waiting_batches) == MAX_WAITING_BATCHES and not self._is_durable:
            self._capacity_future = self._loop.create_future()

    def _write_batch(self, page: Batch, *, again: bool = False) -> None:
        """Give a page to the store; when it is there `again`, only what is to be settled, which moves no coin twice."""
        paying = {visit: self._transfer(visit, games) for visit, games in page.games_by_account().items()}
        fact = None
        if not again:
            fact = self._store.append(
                [JournalEntry(self._room.name, self.run, self._seq + 1, self._encode_batch(page), page.time)]
            )
        writing: list[Future[Any]] = [future for future in (*paying.values(), fact) if future is not None]
        done = asyncio.gather(*writing, return_exceptions=True)
        done.add_done_callback(lambda _: self._on_write_done(page, paying, fact))

    def _transfer(self, visit: AccountSession, games: Sequence[Settle]) -> Future[None] | None:
        """Settle games of one visit, together; nothing where no coin moves, or the visit is void."""
        assert self.purses is not None, "there are visits where there are purses"
        moving = [settled for settled in games if settled.net]
        return self.purses.transfer(visit, moving, self.run) if moving and not visit.is_void else None

    def _encode_batch(self, page: Batch) -> bytes:
        if self.purses is None:
            return self._encode_games(page.games)
        return encode_with_accounts(
            self._room, zip(page.games, [visit.name for visit in page.account_sessions], strict=True)
        )

    def _on_write_done(self, page: Batch, paying: TransferFutures, fact: Future[None] | None) -> None:
        """The page is durable: who has waited for it may know. Or it is not: then it is written when that can be."""
        if any(future is not None and future.cancelled() for future in (*paying.values(), fact)):
            return  # the loop ends
        errors = {visit: None if future is None else future.exception() for visit, future in paying.items()}
        error = None if fact is None else fact.exception()
        if error is None:
            error = next(filter(_is_down, errors.values()), None)
        if error is not None:
            self._on_write_failure(error)
            return
        self._seq += 1
        self._waiting_batches.popleft()
        if self.trouble is not None:
            self._on_recovered()
        self._release_games(page, errors)
        _resolve(page.write_future)
        if self._capacity_future is not None and len(self._waiting_batches) < MAX_WAITING_BATCHES:
            _resolve(self._capacity_future)
            self._capacity_future = None
        if self._waiting_batches:
            self._write_batch(self._waiting_batches[0])
        elif not self._is_flush_scheduled or self._is_final:
            self._close_batch()
        if not self._waiting_batches:
            self._idle.set()

    def _release_games(self, page: Batch, errors: Mapping[AccountSession, BaseException | None]) -> None:
        """The games of the page are settled; those that the ledger refuses are void, as all that run on that purse."""
        for settled, visit in zip(page.games, page.account_sessions, strict=False):
            assert self.purses is not None, "there are visits where there are purses"
            refused = errors[visit]
            if refused is not None or visit.is_void:
                game = f"{self.run}-{settled.peer}/{settled.hand_number}"
                self._log.error("a game is void", client=visit.name, game=game, reason=str(refused or "visit"))
            if refused is not None and not visit.is_void:
                for peer in self.purses.void_session(visit):
                    if self.admission is not None:
                        self.admission.disconnect(peer)
            self.purses.release(visit)

    # A store that is down.

    def _on_write_failure(self, error: BaseException) -> None:
        if self.trouble is None:
            self._log.error("the store cannot be written to", reason=str(error))
            self._grace_timer = self._loop.call_later(STORE_DOWN_GRACE_SECONDS, self._suspend_games)
        self.trouble = str(error)
        if self._is_final or not isinstance(error, StoreUnavailable):
            self._suspend_games()
            self._give_up()
        else:
            self._recovery_task = self._loop.create_task(self._retry_when_up())

    async def _retry_when_up(self) -> None:
        """Write as soon as the store is there again."""
        while True:
            await self._store.wait_until_up()
            try:
                last = await self._store.last_seq(self._room.name, self.run)
            except StoreUnavailable:
                await asyncio.sleep(FLUSH_INTERVAL_SECONDS)
                continue
            self._write_batch(self._waiting_batches[0], again=last > self._seq)
            return

    def _on_recovered(self) -> None:
        self._log.info("the store can be written to again")
        self.trouble = None
        if self._grace_timer is not None:
            self._grace_timer.cancel()
        if self._is_suspended and self.admission is not None:
            self._is_suspended = False
            self.admission.resume()

    def _suspend_games(self) -> None:
        if not self._is_suspended and self.admission is not None:
            self._is_suspended = True
            self.admission.suspend("store")

    def _give_up(self) -> None:
        """Nobody waits any longer for what cannot be written; what he would have been told is lost with it."""
        for ticket in (
            *(page.write_future for page in self._waiting_batches),
            self._batch.write_future,
            self._capacity_future,
        ):
            if ticket is not None:
                ticket.cancel()
        self._idle.set()


def _resolve(ticket: Future[None] | None) -> None:
    if ticket is not None and not ticket.done():
        ticket.set_result(None)


def _is_down(error: BaseException | None) -> bool:
    return error is not None and not isinstance(error, WriteRefused)
