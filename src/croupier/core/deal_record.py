"""The dealer's record: what was promised, what was dealt, and the seeds, a JSON object a line; and how it is checked.

The format and the algorithm are specified in docs/fair-deal.md.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice, pairwise
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from croupier.core.cards import Pack
from croupier.core.dealer import FAIR, SPAN, Fair
from croupier.core.plural import counted


class Promise(Struct, frozen=True, tag_field="deal", tag="promise", omit_defaults=True):
    """Before the first hand of a table: the SHA-256 of its server seed, in hexadecimal.

    `decks` is how many times the room's pack is shuffled together.
    """

    room: str
    table: int
    algorithm: str
    commitment: str
    decks: int = 1


class Hand(Struct, frozen=True, tag_field="deal", tag="hand", omit_defaults=True):
    """A hand that is over: its cards in the order in which they were dealt, and what the peer has won.

    `seat` is the peer's, and `done` are the moves, as the room records them. At a shared table every hand has a dealer
    of its own, `net` is what each seat has won, and there are neither a seat nor moves.
    """

    room: str
    table: int
    hand: int
    cards: list[str]
    net: int | tuple[int, ...]
    seat: int | None = None
    done: tuple[str, ...] | None = None


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

LISTED: Final = 10
"""At most so many numbers of hands stand in one finding."""

encode: Callable[[Entry], bytes] = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Promise | Hand | Seed | Missing)


class Nets(NamedTuple):
    """How the nets of a room are checked.

    `check` returns whether the record has what it takes, and raises ValueError on a net that cannot be. `rule` says
    what holds of a net that has passed.
    """

    rule: str
    check: Callable[[Hand], bool]


NOT_CHECKED: Final = Nets("are not checked", lambda _: True)


def recomputed(nets: Callable[[Sequence[str], Sequence[str], int], Sequence[int]]) -> Nets:
    """The check of a room that knows what the client may have won with these cards, moves and seat."""

    def check(hand: Hand) -> bool:
        if hand.done is None or hand.seat is None:
            return False
        try:
            allowed = nets(hand.cards, hand.done, hand.seat)
        except (LookupError, ValueError):
            raise ValueError(f"found cards and moves that are no game: {' '.join((*hand.cards, *hand.done))}") from None
        if hand.net not in allowed:
            raise ValueError(f"found the net {hand.net}; the cards and moves give {' or '.join(map(str, allowed))}")
        return True

    return Nets("follow from the cards and the moves", check)


class Finding(Struct, frozen=True):
    """What checking a line has shown. `good` is None where nothing can be said.

    A promise that is not `opened` has no seed in the record. Something is `lacking` for a proof where the record will
    never have it: the seed of a promise after which its table has another one, or the moves of a hand.
    """

    line: int
    good: bool | None
    told: str
    opened: bool = True
    lacking: bool = False


class _Table:
    """What a record has said about one table so far."""

    def __init__(self, line: int, promise: Promise) -> None:
        self.line = line
        self.promise = promise
        self.hands: list[tuple[int, Hand]] = []
        self.wrong = False
        self.unchecked: list[int] = []

    @property
    def name(self) -> str:
        return f"{self.promise.room} table {self.promise.table}"

    def fault(self, line: int, told: str, hand: int | None = None) -> Finding:
        """Something is not as it must be."""
        self.wrong = True
        return Finding(line, False, f"{self.name}{f', hand {hand}' if hand is not None else ''}: {told}")


def verify(
    lines: Iterable[bytes], pack: Callable[[str], Pack], nets: Callable[[str], Nets] = lambda _: NOT_CHECKED
) -> Iterator[Finding]:
    """Check a record: every seed against its promise, every hand against its seed, every net against its hand.

    `pack` answers a room's cards, and `nets` how its nets are checked. A finding for each promise, at the line that
    tells most; and one for each line that says something wrong.
    """
    tables: dict[tuple[str, int], _Table] = {}
    revealed: dict[str, str] = {}
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
                    yield from _not_opened(tables[key], number)
                tables[key] = _Table(number, entry)
            case _ if key not in tables:
                told = f"{entry.room} table {entry.table}: found a deal before its promise; allowed: the promise first"
                yield Finding(number, False, told)
            case Hand():
                yield from _add(tables[key], number, entry, nets)
            case Seed():
                table = tables.pop(key)
                yield from _reused(table, number, entry, revealed)
                yield from _left_out(table, number, min(entry.hands, MOST))
                yield from _check(number, table, entry, pack, nets)
    for table in tables.values():
        yield from _not_opened(table, None)


def _lacking(line: int, missing: Missing) -> Finding:
    tables = f"{counted(missing.tables, 'table')} from {missing.first} to {missing.last} and " if missing.tables else ""
    lost = f"{counted(missing.lines, 'line')} of other tables"
    told = f"{missing.room}: the record could not be written to; {tables}{lost} are missing"
    return Finding(line, None, told, lacking=True)


def _add(table: _Table, line: int, hand: Hand, nets: Callable[[str], Nets]) -> Iterator[Finding]:
    """Take a hand down, and check its net."""
    table.hands.append((line, hand))
    try:
        if not nets(hand.room).check(hand):
            table.unchecked.append(hand.hand)
    except ValueError as error:
        yield table.fault(line, str(error), hand.hand)
    except KeyError:
        pass  # a room that nobody knows, which its seed shows


def _not_opened(table: _Table, following: int | None) -> Iterator[Finding]:
    """A promise without its seed: at the end of the record, or when its table has the next one."""
    last = max((hand.hand for _, hand in table.hands), default=0)
    yield from _left_out(table, table.line, min(last, MOST))
    left = f"{counted(len(table.hands), 'hand')} cannot be checked"
    told = f"{table.name}: not opened: the seed is not revealed yet, {left}"
    if following is not None:
        told = (
            f"{table.name}: not opened: line {following} promises anew, {left}. A server that was killed leaves such"
            " promises; so does a dealer who promises several seeds and opens one"
        )
    yield Finding(table.line, None, told, opened=False, lacking=following is not None)


def _check(
    line: int,
    table: _Table,
    seed: Seed,
    pack: Callable[[str], Pack],
    nets: Callable[[str], Nets],
) -> Iterator[Finding]:
    """A seed is revealed: was it promised, and does it deal these hands?"""
    if table.promise.algorithm != FAIR:
        told = f"{table.name}: dealt by {table.promise.algorithm!r}, about which nothing is promised"
        yield Finding(line, None, told)
        return
    decks = table.promise.decks
    try:
        server_seed, client_seed = bytes.fromhex(seed.server_seed), bytes.fromhex(seed.client_seed)
        cards = pack(seed.room)
        Fair(server_seed)
        if not 1 <= decks <= SPAN // len(cards):
            raise ValueError(f"{decks} decks")
    except (ValueError, KeyError) as error:
        yield table.fault(line, f"found a seed or a room that nobody can read: {error}")
        return
    if sha256(server_seed).hexdigest() != table.promise.commitment.lower():
        yield table.fault(line, f"the server seed is not the one that was promised in line {table.line}")
        return
    for number, hand in table.hands:
        found = tuple(hand.cards)
        dealt = 1 <= hand.hand <= min(seed.hands, MOST)
        allowed = deal((server_seed, client_seed), hand.hand, cards, len(found), decks) if dealt else ()
        if not dealt or found != allowed:
            deals = " ".join(allowed) or f"hands 1 to {seed.hands}"
            yield table.fault(number, f"found {' '.join(found)}; the seed deals {deals}", hand.hand)
    if not table.wrong:
        yield _kept(line, table, nets(seed.room).rule)


def _reused(table: _Table, line: int, seed: Seed, revealed: dict[str, str]) -> Iterator[Finding]:
    """Whoever has seen a seed knows all hands that it deals."""
    known = seed.server_seed.lower()
    if known in revealed and table.promise.algorithm == FAIR:
        yield table.fault(
            line, f"found a server seed that was revealed already, for {revealed[known]}; allowed: a new one"
        )
    revealed.setdefault(known, f"{table.name} in line {line}")


def _left_out(table: _Table, line: int, last: int) -> Iterator[Finding]:
    """Hands are numbered from 1 to the last one, each of them once."""
    numbers = sorted(hand.hand for _, hand in table.hands)
    for number in dict.fromkeys(one for one, other in pairwise(numbers) if one == other):
        yield table.fault(line, "found a hand twice", number)
    inside = [0, *(number for number in dict.fromkeys(numbers) if 1 <= number <= last), last + 1]
    for before, after in pairwise(inside):
        if after - before == 2:
            yield table.fault(line, f"this hand is not in the record; allowed: hands 1 to {last}", before + 1)
        elif after - before > 2:
            told = f"hands {before + 1} to {after - 1} are not in the record; allowed: hands 1 to {last}"
            yield table.fault(line, told)


def _kept(line: int, table: _Table, rule: str) -> Finding:
    """The promise was kept, as far as the record shows it."""
    shown = sum(bool(hand.cards) for _, hand in table.hands)
    hidden = len(table.hands) - shown
    told = f"{table.name}: the promise was kept, {counted(shown, 'hand')}"
    told += f" {'is' if shown == 1 else 'are'} as the seed deals them"
    told += f", {hidden} show no card" if hidden else ""
    if table.unchecked:
        listed = ", ".join(map(str, table.unchecked[:LISTED])) + (", ..." if len(table.unchecked) > LISTED else "")
        told += f"; without moves in the record the nets are not checked of hands {listed}"
    elif table.hands:
        told += f"; the nets {rule}"
    good = None if table.unchecked or (hidden and not shown) else True
    return Finding(line, good, told, lacking=bool(table.unchecked))


def deal(seeds: tuple[bytes, bytes], hand: int, pack: Pack, cards: int, decks: int = 1) -> Sequence[str]:
    """The first cards of a hand, top first, from the server seed and the client seed."""
    dealer = Fair(*seeds)
    dealer.hands = hand - 1
    size = len(pack) * decks
    deck = dealer.deck(size)
    return tuple(pack.names[card % len(pack)] for card in islice(deck, cards))
