"""The dealer's record: what was promised, what was dealt, and the seeds, a JSON object a line; and how it is checked.

The format and the algorithm are specified in docs/fair-deal.md.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice

import msgspec
from msgspec import Struct

from croupier.core.cards import Pack
from croupier.core.dealer import FAIR, SPAN, Fair


class Promise(Struct, frozen=True, tag_field="deal", tag="promise", omit_defaults=True):
    """Before the first hand of a table: the SHA-256 of its server seed, in hexadecimal.

    `decks` is how many times the room's pack is shuffled together.
    """

    room: str
    table: int
    algorithm: str
    commitment: str
    decks: int = 1


class Hand(Struct, frozen=True, tag_field="deal", tag="hand"):
    """A hand that is over: its cards in the order in which they were dealt, and what the peer has won.

    At a shared table every hand has a dealer of its own, and `net` is what each seat has won.
    """

    room: str
    table: int
    hand: int
    cards: list[str]
    net: int | tuple[int, ...]


class Seed(Struct, frozen=True, tag_field="deal", tag="seed"):
    """When a table is closed: the seeds, in hexadecimal, and how many hands were dealt from them."""

    room: str
    table: int
    server_seed: str
    client_seed: str
    hands: int


class Missing(Struct, frozen=True, tag_field="deal", tag="missing", omit_defaults=True):
    """Where the file could not be written to for a while: what the record of a room lacks.

    Nothing is in the record about `tables` tables from `first` to `last`, whose promises could not be written in time.
    `lines` hands and seeds of other tables are lost, too.
    """

    room: str
    first: int = 0
    last: int = 0
    tables: int = 0
    lines: int = 0


type Entry = Promise | Hand | Seed | Missing

MOST = 2**64 - 1
"""The number of a hand has 8 bytes."""

encode: Callable[[Entry], bytes] = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Promise | Hand | Seed | Missing)


class Finding(Struct, frozen=True):
    """What checking a line has shown. `good` is None where nothing can be said."""

    line: int
    good: bool | None
    told: str


class _Table:
    """What a record has said about one table so far."""

    def __init__(self, line: int, promise: Promise) -> None:
        self.line = line
        self.promise = promise
        self.hands: list[tuple[int, Hand]] = []


def verify(lines: Iterable[bytes], pack: Callable[[str], Pack]) -> Iterator[Finding]:
    """Check a record: every seed against its promise, every hand against its seed. `pack` answers a room's cards.

    A finding for each table, at the line that tells most; and one for each line that says something wrong.
    """
    tables: dict[tuple[str, int], _Table] = {}
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            entry = _decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            yield Finding(number, False, f"found a line that is no record: {error}; allowed: promise, hand, seed")
            continue
        if isinstance(entry, Missing):
            yield _lacking(number, entry)
            continue
        key = (entry.room, entry.table)
        match entry:
            case Promise():
                if key in tables and tables[key].promise == entry and not tables[key].hands:
                    continue  # whoever was interrupted promises again what he may have promised before
                if key in tables:
                    yield _unrevealed(tables[key])
                tables[key] = _Table(number, entry)
            case _ if key not in tables:
                told = f"{entry.room} table {entry.table}: found a deal before its promise; allowed: the promise first"
                yield Finding(number, False, told)
            case Hand():
                tables[key].hands.append((number, entry))
            case Seed():
                yield from _check(number, tables.pop(key), entry, pack)
    for table in tables.values():
        yield _unrevealed(table)


def _lacking(line: int, missing: Missing) -> Finding:
    tables = f"{missing.tables} tables from {missing.first} to {missing.last} and " if missing.tables else ""
    told = (
        f"{missing.room}: the record could not be written to; {tables}{missing.lines} lines of other tables are missing"
    )
    return Finding(line, None, told)


def _unrevealed(table: _Table) -> Finding:
    name = f"{table.promise.room} table {table.promise.table}"
    return Finding(
        table.line, None, f"{name}: the seed is not revealed yet, {len(table.hands)} hands cannot be checked"
    )


def _check(line: int, table: _Table, seed: Seed, pack: Callable[[str], Pack]) -> Iterator[Finding]:
    name = f"{seed.room} table {seed.table}"
    if table.promise.algorithm != FAIR:
        yield Finding(line, None, f"{name}: dealt by {table.promise.algorithm!r}, about which nothing is promised")
        return
    decks = table.promise.decks
    try:
        server_seed, client_seed = bytes.fromhex(seed.server_seed), bytes.fromhex(seed.client_seed)
        cards = pack(seed.room)
        Fair(server_seed)
        if not 1 <= decks <= SPAN // len(cards):
            raise ValueError(f"{decks} decks")
    except (ValueError, KeyError) as error:
        yield Finding(line, False, f"{name}: found a seed or a room that nobody can read: {error}")
        return
    if sha256(server_seed).hexdigest() != table.promise.commitment.lower():
        yield Finding(line, False, f"{name}: the server seed is not the one that was promised in line {table.line}")
        return
    wrong = False
    for number, hand in table.hands:
        found = tuple(hand.cards)
        dealt = 1 <= hand.hand <= min(seed.hands, MOST)
        allowed = deal((server_seed, client_seed), hand.hand, cards, len(found), decks) if dealt else ()
        if not dealt or found != allowed:
            wrong = True
            deals = " ".join(allowed) or f"hands 1 to {seed.hands}"
            told = f"found {' '.join(found)}; the seed deals {deals}"
            yield Finding(number, False, f"{name}, hand {hand.hand}: {told}")
    if len({hand.hand for _, hand in table.hands}) != len(table.hands):
        wrong = True
        yield Finding(line, False, f"{name}: found a hand twice")
    if not wrong:
        shown = sum(bool(hand.cards) for _, hand in table.hands)
        told = f"{name}: the promise was kept, {shown} hands are as the seed deals them"
        hidden, missing = len(table.hands) - shown, seed.hands - len(table.hands)
        told += f", {hidden} show no card" if hidden else ""
        told += f", {missing} are not in the record" if missing else ""
        yield Finding(line, None if hidden and not shown else True, told)


def deal(seeds: tuple[bytes, bytes], hand: int, pack: Pack, cards: int, decks: int = 1) -> Sequence[str]:
    """The first cards of a hand, top first, from the server seed and the client seed."""
    dealer = Fair(*seeds)
    dealer.hands = hand - 1
    size = len(pack) * decks
    deck = dealer.deck(size)
    return tuple(pack.names[card % len(pack)] for card in islice(deck, cards))
