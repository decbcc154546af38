"""Books of a house for tests: in a store whose writing is done by hand, or in a real one."""

import asyncio
from asyncio import Future
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.hall import Hall
from croupier.core.session import Address, Timeouts
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.recording.accounts import Purses
from croupier.recording.game_records import GameRecord, all_games
from croupier.recording.recorded_room import RecordedRoom, open_recorder
from croupier.recording.recorder import GameRecorder
from croupier.recording.shared_store import SharedStore
from croupier.rooms import HOUSE_ROOMS
from croupier.store.records import Account, JournalEntry, Posting, StoreUnavailable, Transfer
from croupier.store.store import open_store
from tests.net.raw_client import PATIENCE

NOON = 1_000_000_000.25
TURNS = 32
"""After so many turns of the loop everything has happened that waits for nothing."""


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


class Ink:
    """A store in which nothing is durable before the test says so. `waiting` is what is to be written."""

    def __init__(self) -> None:
        self.waiting: list[tuple[JournalEntry | tuple[Posting, ...], Future[Any]]] = []
        self.written: list[JournalEntry] = []
        self.there = 0
        self.down: str | None = None
        self.closed = False
        self.flowing = False
        self.rises = asyncio.Event()

    def append(self, entries: Sequence[JournalEntry]) -> Future[None]:
        (entry,) = entries
        return self._put(entry)

    def transfer_all(self, transfers: Sequence[Transfer]) -> Future[None]:
        return self._put(tuple(posting for transfer in transfers for posting in transfer.postings))

    def _put(self, what: Any) -> Future[Any]:
        future = asyncio.get_running_loop().create_future()
        self.waiting.append((what, future))
        if self.flowing:
            self.done()
        return future

    async def last(self, room: str, table: str) -> int:
        return self.there

    async def up(self) -> None:
        await self.rises.wait()

    async def account(self, name: str) -> Account:
        return Account(7, name, False, None, NOON, None, 10)

    async def close(self) -> None:
        self.closed = True

    @property
    def games(self) -> list[list[Any]]:
        """The games of what waits, page by page."""
        return [msgspec.json.decode(what.fact)["games"] for what, _ in self.waiting if isinstance(what, JournalEntry)]

    def done(self, *errors: Exception | None) -> None:
        """Everything that waits is durable, but for what fails; the errors are those of the first ones."""
        waiting, self.waiting = self.waiting, []
        for number, (what, future) in enumerate(waiting):
            if number < len(errors) and (error := errors[number]) is not None:
                future.set_exception(error)
                continue
            future.set_result(None)
            if isinstance(what, JournalEntry):
                self.written.append(what)

    def flow(self) -> None:
        """Everything is durable at once, from now on."""
        self.flowing = True
        self.done()

    def fail(self) -> None:
        """Nothing that waits can be written."""
        self.done(*[StoreUnavailable("the disk is full") for _ in self.waiting])


class Opened:
    """A house with books on a free port."""

    def __init__(self, books: GameRecorder, board: Endpoint, address: Address) -> None:
        self.books = books
        self.board = board
        self.address = address


def _board(
    room: str, books: GameRecorder, settings: Any, limits: EndpointLimits, seed: int, taps: Any = ()
) -> Endpoint:
    house = HOUSE_ROOMS[room]
    seating = house.house(settings, Timeouts(), False)
    purses = books.purses
    seat = seating if purses is None else lambda peer, dealer: seating(peer, dealer, purses.purse_of(peer))
    hall: Hall[Any, Any] = Hall(seat, dealer_factory(lambda table: derive_server_seed(seed, room, table)))
    codec = partial(house.codec, False, settings)
    return Endpoint(
        hall, codec, silent_logger(), taps=taps, limits=limits, refusal=house.refusal_messages, recorder=books
    )


@asynccontextmanager
async def by_hand(
    ink: Ink, room: str = "kuhn", *, durable: bool = True, accounts: bool = False, **settings: Any
) -> AsyncIterator[Opened]:
    """A house whose books are written by hand, to the end of the test; then everybody has to leave."""
    house = HOUSE_ROOMS[room]
    own = house.settings(**settings)
    account = Account(1, room, True, None, NOON, None, 0)
    purses = (
        Purses(ink, house, silent_logger(), identify_by="address", opening_coins=10, house_account=account)
        if accounts
        else None
    )  # type: ignore[arg-type]  # all that is asked of it
    books = GameRecorder(ink, house, silent_logger(), lambda: NOON, durable=durable, purses=purses)  # type: ignore[arg-type]
    async with _opened(_board(room, books, own, EndpointLimits(close_timeout=0.2), 1), books) as opened:
        try:
            yield opened
        finally:
            ink.flow()


@asynccontextmanager
async def kept(
    path: Path,
    room: str = "kuhn",
    *,
    journal: Any = "durable",
    by: Any = None,
    tls: Any = None,
    seed: int = 1,
    taps: Any = (),
    **settings: Any,
) -> AsyncIterator[Opened]:
    """A house whose books are in a file."""
    own = HOUSE_ROOMS[room].settings(**settings)
    books = await open_recorder(
        SharedStore(str(path)), HOUSE_ROOMS[room], own, silent_logger(), journal=journal, identify_by=by
    )
    async with _opened(_board(room, books, own, EndpointLimits(close_timeout=0.2), seed, taps), books, tls) as opened:
        yield opened


@asynccontextmanager
async def _opened(board: Endpoint, books: GameRecorder, tls: Any = None) -> AsyncIterator[Opened]:
    booked = RecordedRoom(board, books)
    address = await booked.listen("127.0.0.1", 0, tls)
    try:
        yield Opened(books, board, address)
    finally:
        booked.halt(final=True)
        async with asyncio.timeout(PATIENCE):
            await booked.wait_drained()


async def games_in(path: Path, room: str = "kuhn") -> list[GameRecord]:
    """What is kept of a room, the oldest first."""
    async with await open_store(str(path)) as store:
        return [game async for game in all_games(store, room)]


async def balances(path: Path) -> dict[str, int]:
    """Every account of a store that is in order."""
    async with await open_store(str(path)) as store:
        assert await store.find_problems() == []
        return {account.name: account.balance for account in await store.accounts()}
