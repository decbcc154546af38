"""The journal of a house of hold'em: what it has heard is written down before anybody is told what came of it.

So a house that was interrupted, however rudely, hears everything again and goes on at the decision that was open.
"""

import asyncio
import secrets
from asyncio import Future
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from croupier.core.cards import Order
from croupier.core.session import Finished
from croupier.logs import Log, silence
from croupier.recording.seeds import kept_as, server_seed
from croupier.recording.snapshots import save
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import Played
from croupier.rooms.holdem.table.persistence import Heard
from croupier.store.records import Entry, Hand, Refused, Snapshot
from croupier.store.store import Store

ROOM: Final = "holdem"
TABLE: Final = "house"
"""All tables of a house have one journal: somebody who leaves one may open another."""

SELDOM: Final = 1000
"""Not more often than after so many facts the whole state is kept."""

FACT: Final = 200
"""About so many bytes has a fact: to keep the state is to take no more than the facts do."""


class Begun(Struct, frozen=True, omit_defaults=True):
    """The first fact of a journal: what all deals and all GUIDs of the house follow from.

    `seed` is the number of `--seed`; without it the house has a secret of its own, in hexadecimal. `decks` are those of
    `--deck`: hands are dealt from them in turn, so the number of the last deal is the place in them.
    """

    settings: Settings
    seed: int | None = None
    secret: str = ""
    client_seed: str = ""
    decks: tuple[Order, ...] = ()

    def server_seed(self, deal: int) -> bytes:
        """The server seed of a deal; that of the deal 0 is what the GUIDs follow from."""
        return server_seed(ROOM, self.seed, self.secret, deal)


class Journal:
    """Writes what a house has heard into a store, and its state now and then.

    `last` is the number of the last fact, and `unkept` how many have come since the state was kept.
    """

    def __init__(
        self, store: Store, house: House, settings: Settings, last: int, unkept: int, *, log: Log | None = None
    ) -> None:
        self.store = store
        self._log = log or silence()
        self.settings = settings
        self._house = house
        self._last = last
        self._unkept = unkept
        self._size = 0

    def write(self, heard: Sequence[Heard], finished: Iterable[Finished]) -> Future[None]:
        """Write down what was heard, and the hands that it has ended; the future is done when it is durable.

        It fails with StoreDown: then write again; and with Refused where another server writes into the same journal.
        """
        entries = [
            Entry(ROOM, TABLE, self._last + number, each.to_json(), each.now)
            for number, each in enumerate(heard, start=1)
        ]
        return self.store.append(entries, [record(over, heard[-1].now) for over in finished])

    async def written(self, heard: Sequence[Heard]) -> bool:
        """Whether this was written after all, though nobody was told so.

        Raises StoreDown, and Refused where somebody else has written something else.
        """
        found = [entry.fact async for entry in self.store.journal(ROOM, TABLE, after=self._last)]
        if found and found != [each.to_json() for each in heard]:
            raise Refused("found facts of another server")
        return bool(found)

    def settled(self, heard: Sequence[Heard]) -> None:
        """This is durable, and the house has heard nothing since: keep its state, if that is due."""
        self._last += len(heard)
        self._unkept += len(heard)
        if self._unkept < max(SELDOM, self._size // FACT):
            return
        state = self._house.kept()
        self._unkept, self._size = 0, len(state)
        save(self.store, Snapshot(ROOM, TABLE, self._last, state, heard[-1].now), self._log)


def record(over: Finished, now: float) -> Hand:
    """A hand as it is kept in a store, with what everybody has won."""
    played = over.state
    assert isinstance(played, Played), "a house of hold'em plays hands"
    summary = ", ".join(f"{player} {net:+,}" for player, net in zip(played.players, over.nets, strict=True))
    return Hand(ROOM, played.table, played.number, now, played.players, played.record.decode(), summary)


async def reopen(
    store: Store, wanted: Begun, build: Callable[[Begun], House], log: Log | None = None
) -> tuple[House, Journal, float]:
    """The house whose journal is in a store, as it was; a new one if there is none. And when it heard something last.

    It has the settings that it had; those that are `wanted` it has from its opening on. Raises ValueError where what is
    there cannot go on so, and StoreDown.
    """
    begun = await _begun(store, wanted)
    house = build(begun)
    last, now, since = 1, 0.0, 1
    if (kept := await store.snapshot(ROOM, TABLE)) is not None:
        house.restore(kept.state)
        last, now, since = kept.seq, kept.time, kept.seq
    async for entry in store.journal(ROOM, TABLE, after=last):
        if entry.seq != last + 1:
            raise ValueError(f"found the fact {entry.seq} behind the fact {last}; allowed: a journal without gaps")
        house.hear(Heard.from_json(entry.fact))
        last, now = entry.seq, entry.time
        if last % SELDOM == 0:
            await asyncio.sleep(0)
    wanted.settings.check_same(house.settings)
    return house, Journal(store, house, wanted.settings, last, last - since, log=log), now


async def _begun(store: Store, wanted: Begun) -> Begun:
    """How the journal began; begin it if there is none. Raises ValueError where other cards are wanted."""
    if (first := await anext(store.journal(ROOM, TABLE), None)) is not None:
        return kept_as(first.fact, wanted)
    if wanted.seed is None:
        wanted = replace(wanted, secret=secrets.token_hex(32))
    await store.append([Entry(ROOM, TABLE, 1, encode(wanted), 0.0)])
    return wanted
