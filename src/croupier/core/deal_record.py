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
from croupier.core.dealer import FAIR_ALGORITHM, WORD_VALUES, FairDealer
from croupier.core.plural import format_count


class DealPromise(Struct, frozen=True, tag_field="deal", tag="promise", omit_defaults=True):
    """Before the first hand of a table: the SHA-256 of its server seed, in hexadecimal.

    `decks` is how many times the room's pack is shuffled together.
    """

    room: str
    table: int
    algorithm: str
    commitment: str
    decks: int = 1


class DealtHand(Struct, frozen=True, tag_field="deal", tag="hand", omit_defaults=True):
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


class DealSeed(Struct, frozen=True, tag_field="deal", tag="seed"):
    """When a table is closed: the seeds, in hexadecimal, and how many hands were dealt from them."""

    room: str
    table: int
    server_seed: str
    client_seed: str
    hands: int


class DealGap(Struct, frozen=True, tag_field="deal", tag="missing", omit_defaults=True):
    """Where the file could not be written to for a while: what the record of a room lacks.

    Nothing is in the record about `tables` tables from `first` to `last`, whose promises could not be written in time.
    `lines` hands and seeds of other tables are lost, too.
    """

    room: str
    first: int = 0
    last: int = 0
    tables: int = 0
    lines: int = 0


type DealRecordEntry = DealPromise | DealtHand | DealSeed | DealGap

MAX_HAND_NUMBER = 2**64 - 1
"""The number of a hand has 8 bytes."""

MAX_LISTED_HANDS: Final = 10
"""At most so many numbers of hands stand in one finding."""

encode_entry: Callable[[DealRecordEntry], bytes] = msgspec.json.Encoder().encode
_entry_decoder: msgspec.json.Decoder[DealRecordEntry] = msgspec.json.Decoder(
    DealPromise | DealtHand | DealSeed | DealGap
)


class NetCheck(NamedTuple):
    """How the nets of a room are checked.

    `check` returns whether the record has what it takes, and raises ValueError on a net that cannot be. `rule` says
    what holds of a net that has passed.
    """

    rule: str
    check: Callable[[DealtHand], bool]


UNCHECKED_NETS: Final = NetCheck("are not checked", lambda _: True)


def recompute_nets(possible_nets: Callable[[Sequence[str], Sequence[str], int], Sequence[int]]) -> NetCheck:
    """The check of a room that knows what the client may have won with these cards, moves and seat."""

    def check(hand: DealtHand) -> bool:
        if hand.done is None or hand.seat is None:
            return False
        try:
            allowed = possible_nets(hand.cards, hand.done, hand.seat)
        except (LookupError, ValueError):
            raise ValueError(f"found cards and moves that are no game: {' '.join((*hand.cards, *hand.done))}") from None
        if hand.net not in allowed:
            raise ValueError(f"found the net {hand.net}; the cards and moves give {' or '.join(map(str, allowed))}")
        return True

    return NetCheck("follow from the cards and the moves", check)


class RecordFinding(Struct, frozen=True):
    """What checking a line has shown. `good` is None where nothing can be said.

    A promise that is not `opened` has no seed in the record. Something is `lacking` for a proof where the record will
    never have it: the seed of a promise after which its table has another one, or the moves of a hand.
    """

    line: int
    is_proved: bool | None
    message: str
    is_opened: bool = True
    is_incomplete: bool = False


class _RecordedTable:
    """What a record has said about one table so far."""

    def __init__(self, line: int, promise: DealPromise) -> None:
        self.line = line
        self.promise = promise
        self.hands: list[tuple[int, DealtHand]] = []
        self.has_fault = False
        self.unchecked_hands: list[int] = []

    @property
    def name(self) -> str:
        return f"{self.promise.room} table {self.promise.table}"

    def fault(self, line: int, message: str, hand: int | None = None) -> RecordFinding:
        """Something is not as it must be."""
        self.has_fault = True
        return RecordFinding(line, False, f"{self.name}{f', hand {hand}' if hand is not None else ''}: {message}")


def verify_record(
    lines: Iterable[bytes], pack: Callable[[str], Pack], nets: Callable[[str], NetCheck] = lambda _: UNCHECKED_NETS
) -> Iterator[RecordFinding]:
    """Check a record: every seed against its promise, every hand against its seed, every net against its hand.

    `pack` answers a room's cards, and `nets` how its nets are checked. A finding for each promise, at the line that
    tells most; and one for each line that says something wrong.
    """
    tables: dict[tuple[str, int], _RecordedTable] = {}
    revealed: dict[str, str] = {}
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            entry = _entry_decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            yield RecordFinding(number, False, f"found a line that is no record: {error}; allowed: promise, hand, seed")
            continue
        if isinstance(entry, DealGap):
            yield _report_gap(number, entry)
            continue
        key = (entry.room, entry.table)
        match entry:
            case DealPromise():
                if key in tables and tables[key].promise == entry and not tables[key].hands:
                    continue  # whoever was interrupted promises again what he may have promised before
                if key in tables:
                    yield from _report_unopened(tables[key], number)
                tables[key] = _RecordedTable(number, entry)
            case _ if key not in tables:
                told = f"{entry.room} table {entry.table}: found a deal before its promise; allowed: the promise first"
                yield RecordFinding(number, False, told)
            case DealtHand():
                yield from _add_hand(tables[key], number, entry, nets)
            case DealSeed():
                table = tables.pop(key)
                yield from _check_seed_reuse(table, number, entry, revealed)
                yield from _check_hand_numbers(table, number, min(entry.hands, MAX_HAND_NUMBER))
                yield from _check_seed(number, table, entry, pack, nets)
    for table in tables.values():
        yield from _report_unopened(table, None)


def _report_gap(line: int, missing: DealGap) -> RecordFinding:
    tables = (
        f"{format_count(missing.tables, 'table')} from {missing.first} to {missing.last} and " if missing.tables else ""
    )
    lost = f"{format_count(missing.lines, 'line')} of other tables"
    told = f"{missing.room}: the record could not be written to; {tables}{lost} are missing"
    return RecordFinding(line, None, told, is_incomplete=True)


def _add_hand(
    table: _RecordedTable, line: int, hand: DealtHand, nets: Callable[[str], NetCheck]
) -> Iterator[RecordFinding]:
    """Take a hand down, and check its net."""
    table.hands.append((line, hand))
    try:
        if not nets(hand.room).check(hand):
            table.unchecked_hands.append(hand.hand)
    except ValueError as error:
        yield table.fault(line, str(error), hand.hand)
    except KeyError:
        pass  # a room that nobody knows, which its seed shows


def _report_unopened(table: _RecordedTable, following: int | None) -> Iterator[RecordFinding]:
    """A promise without its seed: at the end of the record, or when its table has the next one."""
    last = max((hand.hand for _, hand in table.hands), default=0)
    yield from _check_hand_numbers(table, table.line, min(last, MAX_HAND_NUMBER))
    left = f"{format_count(len(table.hands), 'hand')} cannot be checked"
    told = f"{table.name}: not opened: the seed is not revealed yet, {left}"
    if following is not None:
        told = (
            f"{table.name}: not opened: line {following} promises anew, {left}. A server that was killed leaves such"
            " promises; so does a dealer who promises several seeds and opens one"
        )
    yield RecordFinding(table.line, None, told, is_opened=False, is_incomplete=following is not None)


def _check_seed(
    line: int,
    table: _RecordedTable,
    seed: DealSeed,
    pack: Callable[[str], Pack],
    nets: Callable[[str], NetCheck],
) -> Iterator[RecordFinding]:
    """A seed is revealed: was it promised, and does it deal these hands?"""
    if table.promise.algorithm != FAIR_ALGORITHM:
        told = f"{table.name}: dealt by {table.promise.algorithm!r}, about which nothing is promised"
        yield RecordFinding(line, None, told)
        return
    decks = table.promise.decks
    try:
        server_seed, client_seed = bytes.fromhex(seed.server_seed), bytes.fromhex(seed.client_seed)
        cards = pack(seed.room)
        FairDealer(server_seed)
        if not 1 <= decks <= WORD_VALUES // len(cards):
            raise ValueError(f"{decks} decks")
    except (ValueError, KeyError) as error:
        yield table.fault(line, f"found a seed or a room that nobody can read: {error}")
        return
    if sha256(server_seed).hexdigest() != table.promise.commitment.lower():
        yield table.fault(line, f"the server seed is not the one that was promised in line {table.line}")
        return
    for number, hand in table.hands:
        found = tuple(hand.cards)
        dealt = 1 <= hand.hand <= min(seed.hands, MAX_HAND_NUMBER)
        allowed = deal_cards((server_seed, client_seed), hand.hand, cards, len(found), decks) if dealt else ()
        if not dealt or found != allowed:
            deals = " ".join(allowed) or f"hands 1 to {seed.hands}"
            yield table.fault(number, f"found {' '.join(found)}; the seed deals {deals}", hand.hand)
    if not table.has_fault:
        yield _report_kept(line, table, nets(seed.room).rule)


def _check_seed_reuse(
    table: _RecordedTable, line: int, seed: DealSeed, revealed: dict[str, str]
) -> Iterator[RecordFinding]:
    """Whoever has seen a seed knows all hands that it deals."""
    known = seed.server_seed.lower()
    if known in revealed and table.promise.algorithm == FAIR_ALGORITHM:
        yield table.fault(
            line, f"found a server seed that was revealed already, for {revealed[known]}; allowed: a new one"
        )
    revealed.setdefault(known, f"{table.name} in line {line}")


def _check_hand_numbers(table: _RecordedTable, line: int, last: int) -> Iterator[RecordFinding]:
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


def _report_kept(line: int, table: _RecordedTable, rule: str) -> RecordFinding:
    """The promise was kept, as far as the record shows it."""
    shown = sum(bool(hand.cards) for _, hand in table.hands)
    hidden = len(table.hands) - shown
    told = f"{table.name}: the promise was kept, {format_count(shown, 'hand')}"
    told += f" {'is' if shown == 1 else 'are'} as the seed deals them"
    told += f", {hidden} show no card" if hidden else ""
    if table.unchecked_hands:
        listed = ", ".join(map(str, table.unchecked_hands[:MAX_LISTED_HANDS])) + (
            ", ..." if len(table.unchecked_hands) > MAX_LISTED_HANDS else ""
        )
        told += f"; without moves in the record the nets are not checked of hands {listed}"
    elif table.hands:
        told += f"; the nets {rule}"
    good = None if table.unchecked_hands or (hidden and not shown) else True
    return RecordFinding(line, good, told, is_incomplete=bool(table.unchecked_hands))


def deal_cards(
    seeds: tuple[bytes, bytes], hand_number: int, pack: Pack, card_count: int, deck_count: int = 1
) -> Sequence[str]:
    """The first cards of a hand, top first, from the server seed and the client seed."""
    dealer = FairDealer(*seeds)
    dealer.hands = hand_number - 1
    size = len(pack) * deck_count
    deck = dealer.next_deck(size)
    return tuple(pack.names[card % len(pack)] for card in islice(deck, card_count))
