"""Game recorder of a house: writes finished games to the store in batches.

Without accounts, games are written in the background (async) or before the client learns the result (durable). With
accounts, each game is settled in the ledger in the same transaction, and the client learns the result afterwards.
"""

import asyncio
import secrets
from asyncio import Future
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from croupier.core.logger import Logger
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Peer, Settle
from croupier.net.endpoint import Endpoint
from croupier.net.event_loop import resolve
from croupier.net.timer import Timer
from croupier.recording.accounts import AccountSession, Purses
from croupier.recording.game_records import encode_games
from croupier.recording.promises import Promises
from croupier.recording.write_ahead import WriteAhead
from croupier.store.records import JournalEntry, WriteRefused
from croupier.store.store import Store

FLUSH_INTERVAL_SECONDS: Final = 0.01
"""Without durability, a game is written at most this long after its end; a killed process loses those games."""

MAX_BATCH_GAMES: Final = 1000
"""Maximum number of games in a batch."""

MAX_ACCOUNT_BATCH_GAMES: Final = 300
"""Maximum number with accounts: one transaction of the store then has room for a batch of every house."""

MAX_WAITING_BATCHES: Final = 20
"""While this many batches wait to be written, clients whose game has ended wait, too."""

STORE_DOWN_GRACE_SECONDS: Final = 1.0
"""After the store has been unavailable for this long, no new games start."""


class Batch:
    """Games that are written together.

    `account_sessions` has one item per game, if there are accounts, and `refusals` why games of an account session were
    not settled. `write_future` is done when the batch is durable; it is None if no client waits.
    """

    def __init__(self, write_future: Future[None] | None) -> None:
        self.games: list[Settle] = []
        self.account_sessions: list[AccountSession] = []
        self.refusals: dict[AccountSession, WriteRefused] = {}
        self.write_future = write_future
        self.time = 0.0

    def games_by_account(self) -> Mapping[AccountSession, Sequence[Settle]]:
        """Return the games of each account session, in order."""
        grouped: dict[AccountSession, list[Settle]] = {}
        for game, session in zip(self.games, self.account_sessions, strict=False):
            grouped.setdefault(session, []).append(game)
        return grouped


def run_name(now: float) -> str:
    """Return a unique name for one run of the house; names sort by time.

    >>> run_name(0.0)[:-4]  # without the random suffix
    '19700101T000000.000000Z.'
    """
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S.%fZ}.{secrets.token_hex(2)}"


class GameRecorder:
    """Records the games of one house, see `Recorder`. One batch is written at a time, while the next one fills.

    `clock` returns the time in seconds since 1970. `admission` is suspended while games cannot be written. `purses` are
    the clients' accounts, if any. `promises` are the dealer's, if they have to be durable.
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
        self.store = store
        self.admission: Endpoint | None = None
        self.run = run_name(clock())
        self._room = room
        self._log = log
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._is_durable = durable
        self.purses = purses
        self._promises = promises
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
        self._grace_timer = Timer()
        self._write_ahead = WriteAhead(self, self, log)

    @property
    def trouble(self) -> str | None:
        """The reason why games cannot be written; None if they can, as far as is known."""
        return self._write_ahead.trouble

    # Called by the endpoint.

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str | None] | None:
        """Look up a client's account, if there are accounts."""
        return None if self.purses is None else self.purses.admit(peer, address, certificate)

    def sync_promises(self) -> Future[None] | None:
        """Return a future that is done when the promise is on the disk, or None if no client waits for it."""
        return None if self._promises is None else self._promises.request_sync()

    def leave(self, peer: Peer) -> None:
        """Release the purse of a peer that has left."""
        if self.purses is not None:
            self.purses.leave(peer)

    def settle(self, settled: Settle) -> Future[None] | None:
        """Add a game to the batch. Returns a future that the client has to wait for, or None."""
        batch = self._batch
        games = batch.games
        games.append(settled)
        if self.purses is not None:
            batch.account_sessions.append(self.purses.reserve(settled.peer))
        if not self._is_flush_scheduled:
            self._is_flush_scheduled = True
            if self._is_durable:
                self._loop.call_soon(self._flush_due)
            else:
                self._loop.call_later(FLUSH_INTERVAL_SECONDS, self._flush_due)
        if len(games) == self._max_batch_games:
            self._close_batch()
            self._write_ahead.flush()
        return batch.write_future or self._capacity_future

    # Closing.

    def halt(self, *, final: bool) -> None:
        """Note that the house closes. After the final halt, nothing waits for an unavailable store any more."""
        self._is_final = final
        if final and self.trouble is not None:
            self._give_up()

    async def close(self) -> None:
        """Write what is waiting, if the store is available, and close the store."""
        if not self._waiting_batches:
            self._close_batch()
            self._write_ahead.flush()
        await self._idle.wait()
        self._grace_timer.cancel()
        self._write_ahead.stop()
        if lost := sum(len(batch.games) for batch in (*self._waiting_batches, self._batch)):
            self._log.error("games not recorded", games=lost, reason=self.trouble)
        await self.store.close()

    # Batches.

    def _new_batch(self) -> Batch:
        return Batch(self._loop.create_future() if self._is_durable else None)

    def _flush_due(self) -> None:
        """Write the current batch, unless a write is in progress; its completion writes the batch then."""
        self._is_flush_scheduled = False
        self._write_ahead.flush()

    def _close_batch(self) -> None:
        """Start a new batch; the current one is written after those that are waiting."""
        batch = self._batch
        if not batch.games:
            return
        batch.time = self._clock()
        self._batch = self._new_batch()
        self._waiting_batches.append(batch)
        self._idle.clear()
        if len(self._waiting_batches) == MAX_WAITING_BATCHES and not self._is_durable:
            self._capacity_future = self._loop.create_future()

    def take_batch(self) -> Batch | None:
        """Return the next batch, if it is full or due."""
        if not self._waiting_batches and (not self._is_flush_scheduled or self._is_final):
            self._close_batch()
        return self._waiting_batches[0] if self._waiting_batches else None

    def release(self, batch: Batch) -> None:
        """Settle the games of a batch that is durable, and release the clients that wait for it."""
        self._waiting_batches.popleft()
        self._release_games(batch)
        resolve(batch.write_future)
        if len(self._waiting_batches) < MAX_WAITING_BATCHES:
            resolve(self._capacity_future)
            self._capacity_future = None
        if not self._waiting_batches:
            self._idle.set()

    def _release_games(self, batch: Batch) -> None:
        """Release the games of a batch. A refused transfer voids its account session and disconnects the session's
        peers."""
        for game, session in zip(batch.games, batch.account_sessions, strict=False):
            assert self.purses is not None, "account sessions exist only with purses"
            refusal = batch.refusals.get(session)
            if refusal is not None or session.is_void:
                game_name = f"{self.run}-{game.peer}/{game.hand_number}"
                self._log.error(
                    "game voided", client=session.name, game=game_name, reason=str(refusal or "account session is void")
                )
            if refusal is not None and not session.is_void:
                for peer in self.purses.void_session(session):
                    if self.admission is not None:
                        self.admission.disconnect(peer)
            self.purses.release(session)

    # What the write-ahead asks of the writer of batches.

    def write(self, batch: Batch) -> Future[None]:
        """Write a batch and its transfers."""
        transfers = self._start_transfers(batch)
        fact = encode_games(self._room, batch.games, [session.name for session in batch.account_sessions])
        append = self.store.append([JournalEntry(self._room.name, self.run, self._seq + 1, fact, batch.time)])
        return self._loop.create_task(self._collect(batch, transfers, append)) if transfers else append

    async def write_again(self, batch: Batch) -> None:
        """Write a batch, unless it is in the journal; repeat its transfers, which moves no coins twice."""
        if await self.store.last_seq(self._room.name, self.run) == self._seq:
            await self.write(batch)
        else:
            await self._collect(batch, self._start_transfers(batch))

    def confirm(self, batch: Batch) -> None:  # noqa: ARG002 -- see `BatchWriter`
        """Count a batch that is durable."""
        self._seq += 1

    def _start_transfers(self, batch: Batch) -> Mapping[AccountSession, Future[None]]:
        """Settle the games of each account session together, unless no coins move or the session is void."""
        transfers = {}
        for session, games in batch.games_by_account().items():
            assert self.purses is not None, "account sessions exist only with purses"
            games_with_net = [game for game in games if game.net]
            if games_with_net and not session.is_void:
                transfers[session] = self.purses.transfer(session, games_with_net, self.run)
        return transfers

    async def _collect(
        self, batch: Batch, transfers: Mapping[AccountSession, Future[None]], *others: Future[None]
    ) -> None:
        """Wait for all transfers of a batch, and for other writes. Only a refused transfer is no failure."""
        outcomes = await asyncio.gather(*transfers.values(), *others, return_exceptions=True)
        errors = dict(zip(transfers, outcomes, strict=False))
        batch.refusals = {session: error for session, error in errors.items() if isinstance(error, WriteRefused)}
        for session in batch.refusals:
            del errors[session]
        for outcome in (*outcomes[len(transfers) :], *errors.values()):
            if isinstance(outcome, BaseException):
                raise outcome

    # An unavailable store.

    def suspend(self, batch: Batch | None) -> None:  # noqa: ARG002 -- see `DurableRoom`
        """Start no new games if the store is still unavailable after a while; games that have ended are kept."""
        if self._is_final or not self._write_ahead.is_recovering:
            self._suspend_games()
            self._give_up()
        elif not self._grace_timer.is_set:
            self._grace_timer.set(STORE_DOWN_GRACE_SECONDS, self._suspend_games)

    def resume(self) -> None:
        """Start new games again."""
        self._grace_timer.cancel()
        if self._is_suspended and self.admission is not None:
            self._is_suspended = False
            self.admission.resume()

    def _suspend_games(self) -> None:
        if not self._is_suspended and self.admission is not None:
            self._is_suspended = True
            self.admission.suspend("store")

    def _give_up(self) -> None:
        """Cancel the futures of games that cannot be written; their clients never receive the results."""
        for future in (
            *(batch.write_future for batch in self._waiting_batches),
            self._batch.write_future,
            self._capacity_future,
        ):
            if future is not None:
                future.cancel()
        self._idle.set()
