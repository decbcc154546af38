"""What holds after users have played while nodes failed."""

from collections import Counter

import msgspec

from croupier.recording.holdem_journal import JournalStart, journal_table, open_journal
from croupier.recording.journal import read_or_write_start
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import HandSnapshot, HouseInput
from croupier.rooms.holdem.wire import Act
from croupier.store.store import Store, open_store
from tests.app.houses_fixture import build_house
from tests.cluster.bot_swarm import Client, Swarm

STACK = 1_000_000


async def acts_in_journals(store: Store, houses: int) -> Counter[str]:
    """The number of acts of each user. Every journal has no gap, and leads to the state of its house."""
    acts: Counter[str] = Counter()
    for house in range(1, houses + 1):
        seqs = []
        async for entry in store.read_journal("holdem", journal_table(house)):
            seqs.append(entry.seq)
            if entry.seq > 1 and isinstance(said := HouseInput.from_json(entry.fact).said, Act):
                acts[said.user] += 1
        assert seqs == [*range(1, len(seqs) + 1)]
    return acts


async def check_hands(store: Store, game: str) -> int:
    """Replay every stored hand of a game, which are numbered without a gap; return how many there are."""
    hands = await store.hands("holdem", game, limit=1_000_000)
    assert sorted(hand.number for hand in hands) == [*range(1, len(hands) + 1)]
    for stored in hands:
        hand = Hand.from_json(bytes(HandSnapshot.from_json(stored.record.encode()).hand))
        assert sum(hand.stacks) == STACK * len(hand.stacks), "players who neither win nor lose have what they had"
    return len(hands)


async def check_chips(swarm: Swarm, client: Client, seats: int) -> None:
    """Every table has the chips with which its players sat down."""
    for game in swarm.games:
        table = (await client.insist("GET", f"/games/{game}")).json
        chips = sum(player["wealth"] for player in table["table"]) + sum(pot["size"] for pot in table["pots"])
        assert (len(table["table"]), chips) == (seats, seats * STACK), table
    client.leave()


async def check_store(url: str, swarm: Swarm, houses: int) -> int:
    """No confirmed act is missing, and none was applied more often than sent; return the number of hands."""
    async with await open_store(url) as store:
        written = await acts_in_journals(store, houses)
        for user in swarm.guids:
            assert swarm.confirmed[user] <= written[user] <= swarm.sent[user], user
        start = await read_or_write_start(store, "holdem", journal_table(1), JournalStart(settings=Settings()))
        for house in range(1, houses + 1):
            await open_journal(store, msgspec.structs.replace(start, house=house), build_house)
        return sum([await check_hands(store, game) for game in swarm.games])
