"""What holds after users have played while nodes failed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import msgspec

from croupier.core.dealer import dealer_factory
from croupier.recording.holdem_journal import JournalStart, journal_table, open_journal
from croupier.recording.journal import read_or_write_start
from croupier.recording.oldmaid_journal import JOURNAL_TABLE
from croupier.recording.seeds import Seeds
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.wire import Act
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NAMES, WIRE_CARDS, Card
from croupier.rooms.oldmaid.ring.player_events import PlayerResult
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord, make_record
from croupier.store.records import StoredHand
from croupier.store.store import Store, open_store
from tests.cluster.bot_swarm import Client, Swarm
from tests.cluster.room_swarm import AccountUser, RingUser, RoomSwarm
from tests.store.store_fixture import StatementEntry, statement

STACK = 1_000_000

MAX_DOUBTS = 2
"""A client has at most a game whose end it has not waited for, and one after that."""


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
        hand = FinishedHand.from_json(stored.record.encode()).hand
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
            await open_journal(store, msgspec.structs.replace(start, house=house))
        return sum([await check_hands(store, game) for game in swarm.games])


async def check_rooms(url: str, swarm: RoomSwarm, opening_coins: Mapping[str, int]) -> Sequence[StoredHand]:
    """Check the results that clients of houses and players of Old Maid have received with what is stored.

    `opening_coins` has the coins of new accounts of each house. Returns the games of Old Maid.
    """
    assert swarm.problems == []
    async with await open_store(url) as store:
        assert await store.find_problems() == []
        accounts = {account.name: account for account in await store.accounts()}
        assert sum(account.balance for account in accounts.values()) == 0
        for user in swarm.account_users:
            account = accounts[user.name]
            lines = await statement(store, account.id)
            assert lines[0].coins == opening_coins[user.house]
            assert account.balance == sum(line.coins for line in lines)
            check_settled(user, lines[1:])
        return await check_oldmaid(store, swarm.ring_users)


def check_settled(user: AccountUser, lines: Sequence[StatementEntry]) -> None:
    """Check that every result that a client has received has moved its coins once, and nothing else has moved them but
    games whose result it does not know.

    The games of a conversation are those of one connection to a house. A house may learn of its end much later.
    """
    settled: dict[str, list[int]] = {}
    for line in lines:
        settled.setdefault(line.reason.rpartition("/")[0], []).append(line.coins)
    talks = [(nets, each.doubts) for each in user.conversations if (nets := [net for net in each.received if net])]
    doubtful_count = sum(bool(each.doubts) and not any(each.received) for each in user.conversations)
    states = {(0, 0)}  # how many of `talks` have been found, and how many connections without a result
    for nets in settled.values():
        found = {(talk + 1, count) for talk, count in states if talk < len(talks) and is_settled(nets, *talks[talk])}
        states = found | {(talk, count + 1) for talk, count in states if len(nets) <= MAX_DOUBTS}
        assert states, f"{user.name}: {nets} instead of {talks}"
    assert any(talk == len(talks) and count <= doubtful_count for talk, count in states), (user.name, settled, talks)


def is_settled(nets: Sequence[int], received: Sequence[int], doubts: Sequence[int | None]) -> bool:
    """Whether these are the results that a client has received, and perhaps the first ones of its doubts."""
    rest = nets[len(received) :]
    return [*nets[: len(received)]] == received and (
        len(rest) <= len(doubts) and all(doubt in {None, net} for doubt, net in zip(doubts, rest, strict=False))
    )


async def check_oldmaid(store: Store, users: Sequence[RingUser]) -> Sequence[StoredHand]:
    """Check that every game is stored once, with the cards of its seed and the results of its players; return all."""
    seeds = await read_or_write_start(store, "oldmaid", JOURNAL_TABLE, Seeds())
    dealers = dealer_factory(partial(seeds.server_seed, "oldmaid"), shared=True)
    hands = sorted(await store.hands("oldmaid", limit=1_000_000), key=lambda hand: hand.number)
    assert [hand.number for hand in hands] == [*range(1, len(hands) + 1)]
    results = {nick: result for user in users for nick, result in user.results.items()}
    for hand in hands:
        record = OldMaidRecord.from_json(hand.record.encode())
        assert replayed(record, dealers(record.game).next_deck(CARD_COUNT)) == record
        withdrawn = {seat for kind, seat, *_ in record.course if kind in {"out", "gone"}}
        for seat, nick in enumerate(record.nicks):
            match results.pop(nick, None):
                case PlayerResult("lost"):
                    assert not record.void, record
                    assert seat not in withdrawn, record
                case PlayerResult("out", int(place)) if not record.void:
                    assert record.ranking[place - 1] == nick, record
    assert results == {}, "every result is that of a stored game"
    return hands


def replayed(record: OldMaidRecord, deck: Iterator[Card]) -> OldMaidRecord:
    """The record of a game with this deck in which the same has happened."""
    game = TableGame(record.game, record.nicks, deck, 0.0)
    for kind, seat, *cards in record.course:
        assert isinstance(seat, int)
        if kind == "drew":
            game.draw(seat, 0.0)
        elif kind == "threw":
            one, other = (WIRE_CARDS[CARD_NAMES.index(str(card))] for card in cards)
            game.discard(seat, one, other, 0.0)
        elif kind == "out":
            game.finish(seat, 0.0)
        else:
            game.leave(seat, 0.0)
    if record.void:
        game.stop()
    return make_record(game)
