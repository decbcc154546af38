"""Recorders of a house for tests: with a fake store whose writes the test completes, or with a real one."""

import asyncio
from asyncio import Future
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.session import Address, Timeouts
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.recording.accounts import Purses
from croupier.recording.game_records import GameRecord, all_games
from croupier.recording.recorded_room import RecordedEndpoint, open_recorder
from croupier.recording.recorder import GameRecorder
from croupier.recording.shared_store import SharedStore
from croupier.rooms import HOUSE_ROOMS
from croupier.store.records import Account, JournalEntry, Posting, Snapshot, StoredHand, StoreUnavailable, Transfer
from croupier.store.store import open_store
from tests.net.raw_client import TIMEOUT_SECONDS

NOW = 1_000_000_000.25
TURNS = 32
"""Iterations of the event loop after which every callback that waits for nothing external has run."""


async def run_pending_callbacks() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run a test within the time limit."""

    async def limited() -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await main()

    asyncio.run(limited())


class FakeStore:
    """A store in which a write completes when the test says so. `pending_writes` have not completed yet."""

    def __init__(self) -> None:
        self.pending_writes: list[tuple[JournalEntry | tuple[Posting, ...], Future[Any]]] = []
        self.written: list[JournalEntry] = []
        self.stored_seq = 0
        self.outage: str | None = None
        self.closed = False
        self.writes_at_once = False
        self.is_up = asyncio.Event()

    def append(self, entries: Sequence[JournalEntry]) -> Future[None]:
        (entry,) = entries
        return self._put(entry)

    def transfer_all(self, transfers: Sequence[Transfer]) -> Future[None]:
        return self._put(tuple(posting for transfer in transfers for posting in transfer.postings))

    def _put(self, write: Any) -> Future[Any]:
        future = asyncio.get_running_loop().create_future()
        self.pending_writes.append((write, future))
        if self.writes_at_once:
            self.complete_writes()
        return future

    async def last_seq(self, room: str, table: str) -> int:
        return self.stored_seq

    async def wait_until_up(self) -> None:
        await self.is_up.wait()

    async def account(self, name: str) -> Account:
        return Account(7, name, False, None, NOW, None, 10)

    async def close(self) -> None:
        self.closed = True

    @property
    def pending_games(self) -> list[list[Any]]:
        """The games of the pending journal entries, one list per batch."""
        return [
            msgspec.json.decode(write.fact)["games"]
            for write, _ in self.pending_writes
            if isinstance(write, JournalEntry)
        ]

    def complete_writes(self, *errors: Exception | None) -> None:
        """Complete all pending writes. The first ones fail with these errors, unless an error is None."""
        waiting, self.pending_writes = self.pending_writes, []
        for number, (write, future) in enumerate(waiting):
            if number < len(errors) and (error := errors[number]) is not None:
                future.set_exception(error)
                continue
            future.set_result(None)
            if isinstance(write, JournalEntry):
                self.written.append(write)

    def write_at_once(self) -> None:
        """From now on, complete every write at once."""
        self.writes_at_once = True
        self.complete_writes()

    def fail_writes(self) -> None:
        """Let all pending writes fail."""
        self.complete_writes(*[StoreUnavailable("the disk is full") for _ in self.pending_writes])


class ManualStore:
    """A store with the journal of one room, whose writes complete when the test says so.

    `decode` returns what an entry contains. `pending_writes` have not completed yet; `written` has what is in the
    journal. With `is_written`, the next write that fails is in the journal nevertheless.
    """

    def __init__(self, decode: Callable[[bytes], Sequence[Any]]) -> None:
        self.pending_writes: list[tuple[list[Any], Future[None]]] = []
        self.written: list[Any] = []
        self.is_written = False
        self.outage: str | None = None
        self.is_up = asyncio.Event()
        self._decode = decode
        self._entries: list[JournalEntry] = []
        self._failed: list[JournalEntry] = []

    def append(self, entries: Sequence[JournalEntry], hands: Sequence[StoredHand]) -> Future[None]:
        future = asyncio.get_running_loop().create_future()
        facts = [each for entry in entries for each in self._decode(entry.fact)]
        self.pending_writes.append((facts, future))
        self._entries = [*entries]
        return future

    async def read_journal(self, room: str, table: str, after: int) -> AsyncIterator[JournalEntry]:
        if self.is_written:
            self.is_written = False
            for entry in self._failed:
                assert entry.seq > after
                self.written += self._decode(entry.fact)
                yield entry

    def save_snapshot(self, snapshot: Snapshot) -> Future[None]:
        future = asyncio.get_running_loop().create_future()
        future.set_result(None)
        return future

    async def wait_until_up(self) -> None:
        await self.is_up.wait()

    def complete_write(self, error: Exception | None = None) -> list[Any]:
        """Complete the pending write, or let it fail; return its facts."""
        ((facts, future),) = self.pending_writes
        self.pending_writes.clear()
        if error is None:
            self.written += facts
            future.set_result(None)
        else:
            self._failed = self._entries
            future.set_exception(error)
        return facts


class OpenedHouse:
    """A house with a recorder that listens on a free port."""

    def __init__(self, recorder: GameRecorder, endpoint: Endpoint, address: Address) -> None:
        self.recorder = recorder
        self.endpoint = endpoint
        self.address = address


def _make_endpoint(
    room: str, recorder: GameRecorder, settings: Any, limits: EndpointLimits, seed: int, taps: Any = ()
) -> Endpoint:
    house = HOUSE_ROOMS[room]
    new_session = house.house(settings, Timeouts(), False)
    purses = recorder.purses
    make_session = (
        new_session if purses is None else lambda peer, dealer: new_session(peer, dealer, purses.purse_of(peer))
    )
    hall: Hall[Any, Any] = Hall(
        make_session, dealer_factory(lambda table: derive_server_seed(seed, room, table)), Timeouts().shortest
    )
    codec = partial(house.codec, False, settings)
    return RecordedEndpoint(
        recorder, hall, codec, SilentLogger(), observers=taps, limits=limits, refusal=house.refusal_messages
    )


@asynccontextmanager
async def house_with_fake_store(
    store: FakeStore, room: str = "kuhn", *, durable: bool = True, accounts: bool = False, **settings: Any
) -> AsyncIterator[OpenedHouse]:
    """A house with a fake store. At the end of the test all writes complete and the house closes."""
    house = HOUSE_ROOMS[room]
    room_settings = house.settings(**settings)
    account = Account(1, room, True, None, NOW, None, 0)
    purses = (
        Purses(store, house, SilentLogger(), identify_by="address", opening_coins=10, house_account=account)
        if accounts
        else None
    )  # type: ignore[arg-type]  # has what Purses uses
    recorder = GameRecorder(store, house, SilentLogger(), lambda: NOW, durable=durable, purses=purses)  # type: ignore[arg-type]
    async with _open_house(
        _make_endpoint(room, recorder, room_settings, EndpointLimits(close_timeout=0.2), 1), recorder
    ) as opened:
        try:
            yield opened
        finally:
            store.write_at_once()


@asynccontextmanager
async def house_with_store(
    path: Path,
    room: str = "kuhn",
    *,
    journal: Any = "durable",
    by: Any = None,
    tls: Any = None,
    seed: int = 1,
    taps: Any = (),
    **settings: Any,
) -> AsyncIterator[OpenedHouse]:
    """A house with a store in a file."""
    room_settings = HOUSE_ROOMS[room].settings(**settings)
    recorder = await open_recorder(
        SharedStore(str(path)), HOUSE_ROOMS[room], room_settings, SilentLogger(), journal=journal, identify_by=by
    )
    async with _open_house(
        _make_endpoint(room, recorder, room_settings, EndpointLimits(close_timeout=0.2), seed, taps), recorder, tls
    ) as opened:
        yield opened


@asynccontextmanager
async def _open_house(endpoint: Endpoint, recorder: GameRecorder, tls: Any = None) -> AsyncIterator[OpenedHouse]:
    address = await endpoint.listen("127.0.0.1", 0, tls)
    try:
        yield OpenedHouse(recorder, endpoint, address)
    finally:
        endpoint.halt(final=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await endpoint.wait_drained()


async def stored_games(path: Path, room: str = "kuhn") -> list[GameRecord]:
    """The games of a room, oldest first."""
    async with await open_store(str(path)) as store:
        return [game async for game in all_games(store, room)]


async def balances(path: Path) -> dict[str, int]:
    """The balances of all accounts, after a check of the store."""
    async with await open_store(str(path)) as store:
        assert await store.find_problems() == []
        return {account.name: account.balance for account in await store.accounts()}
