"""The dealer's record (promises, hands and seeds as JSON lines) and its verification.

The format and the algorithm are specified in docs/fair-deal.md.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice, pairwise
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from croupier.core.cards import Pack
from croupier.core.dealer import FAIR_DEALERS, WORD_VALUES, FairDealer
from croupier.core.plural import format_count


class DealPromise(Struct, frozen=True, tag_field="deal", tag="promise", omit_defaults=True):
    """Written before the first hand of a table: the SHA-256 of its server seed, in hexadecimal.

    `decks` is the number of packs that are shuffled together.
    """

    room: str
    table: int
    algorithm: str
    commitment: str
    decks: int = 1


class DealtHand(Struct, frozen=True, tag_field="deal", tag="hand", omit_defaults=True):
    """A finished hand: its cards in dealing order, and the coins that the peer has won.

    `seat` is the peer's seat, and `done` has the moves in the room's notation. At a shared table every hand has its own
    dealer, `net` has one number per seat, and `seat` and `done` are absent.
    """

    room: str
    table: int
    hand: int
    cards: list[str]
    net: int | tuple[int, ...]
    seat: int | None = None
    done: tuple[str, ...] | None = None


class DealSeed(Struct, frozen=True, tag_field="deal", tag="seed"):
    """Written when a table is closed: the seeds, in hexadecimal, and the number of hands dealt from them."""

    room: str
    table: int
    server_seed: str
    client_seed: str
    hands: int


class DealGap(Struct, frozen=True, tag_field="deal", tag="missing", omit_defaults=True):
    """Written after an interval in which the file could not be written: what the record of a room lacks.

    The record has nothing about `tables` tables between `first` and `last`, whose promises could not be written in
    time. `lines` hands and seeds of other tables are also missing.
    """

    room: str
    first: int = 0
    last: int = 0
    tables: int = 0
    lines: int = 0


type DealRecordEntry = DealPromise | DealtHand | DealSeed | DealGap

MAX_HAND_NUMBER = 2**64 - 1
"""A hand number is encoded in 8 bytes."""

MAX_LISTED_HANDS: Final = 10
"""The maximum number of hand numbers in one finding."""

encode_entry: Callable[[DealRecordEntry], bytes] = msgspec.json.Encoder().encode
_entry_decoder: msgspec.json.Decoder[DealRecordEntry] = msgspec.json.Decoder(
    DealPromise | DealtHand | DealSeed | DealGap
)


class NetCheck(NamedTuple):
    """How the nets of a room are checked.

    `check` returns whether the record has the data that the check needs, and raises ValueError for an impossible net.
    `rule` completes "the nets …" in the finding of a table whose nets have all passed.
    """

    rule: str
    check: Callable[[DealtHand], bool]


def recompute_nets(possible_nets: Callable[[Sequence[str], Sequence[str], int], Sequence[int]]) -> NetCheck:
    """A check that compares each net with the possible nets for a hand's cards, moves and seat."""

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
    """A result of the verification, for one line.

    `is_proved` is None if the record proves nothing either way. `is_opened` is false for a promise whose seed is not in
    the record. `is_incomplete` means that data for a proof is missing and will never follow: the seed of a promise
    after which its table has another promise, or the moves of a hand.
    """

    line: int
    is_proved: bool | None
    message: str
    is_opened: bool = True
    is_incomplete: bool = False


class _RecordedTable:
    """The lines of a record about one table, so far."""

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
        """Note a fault: a finding against the record."""
        self.has_fault = True
        return RecordFinding(line, False, f"{self.name}{f', hand {hand}' if hand is not None else ''}: {message}")


def verify_record(
    lines: Iterable[bytes], pack: Callable[[str], Pack], nets: Callable[[str], NetCheck]
) -> Iterator[RecordFinding]:
    """Verify a record: every seed against its promise, every hand against its seed, every net against its hand.

    `lines` are the lines of the file. `pack` returns the pack of a room, `nets` its check of nets; both raise KeyError
    for an unknown room. Yields a finding for each promise, at the line that shows most about it, and a finding for each
    line with a fault.
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
                    continue  # a writer that was interrupted repeats a promise that it may have written already
                if key in tables:
                    yield from _report_unopened(tables[key], number)
                tables[key] = _RecordedTable(number, entry)
            case _ if key not in tables:
                message = (
                    f"{entry.room} table {entry.table}: found a deal before its promise; allowed: the promise first"
                )
                yield RecordFinding(number, False, message)
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
    lines = f"{format_count(missing.lines, 'line')} of other tables"
    message = f"{missing.room}: the record could not be written to; {tables}{lines} are missing"
    return RecordFinding(line, None, message, is_incomplete=True)


def _add_hand(
    table: _RecordedTable, line: int, hand: DealtHand, nets: Callable[[str], NetCheck]
) -> Iterator[RecordFinding]:
    table.hands.append((line, hand))
    try:
        if not nets(hand.room).check(hand):
            table.unchecked_hands.append(hand.hand)
    except ValueError as error:
        yield table.fault(line, str(error), hand.hand)
    except KeyError:
        pass  # an unknown room; `_check_seed` reports it


def _report_unopened(table: _RecordedTable, following: int | None) -> Iterator[RecordFinding]:
    """Report a promise without a seed, at the end of the record or at the next promise of its table."""
    last = max((hand.hand for _, hand in table.hands), default=0)
    yield from _check_hand_numbers(table, table.line, min(last, MAX_HAND_NUMBER))
    unchecked = f"{format_count(len(table.hands), 'hand')} cannot be checked"
    message = f"{table.name}: not opened: the seed is not revealed yet, {unchecked}"
    if following is not None:
        message = (
            f"{table.name}: not opened: line {following} has a new promise, {unchecked}. A server that was killed"
            " leaves such promises; so does a dealer that promises several seeds and opens one"
        )
    yield RecordFinding(table.line, None, message, is_opened=False, is_incomplete=following is not None)


def _check_seed(
    line: int,
    table: _RecordedTable,
    seed: DealSeed,
    pack: Callable[[str], Pack],
    nets: Callable[[str], NetCheck],
) -> Iterator[RecordFinding]:
    """Check that a revealed seed was promised, and that it deals the recorded hands."""
    if (dealer_type := FAIR_DEALERS.get(table.promise.algorithm)) is None:
        message = f"{table.name}: dealt by {table.promise.algorithm!r}, about which nothing is promised"
        yield RecordFinding(line, None, message)
        return
    decks = table.promise.decks
    try:
        server_seed, client_seed = bytes.fromhex(seed.server_seed), bytes.fromhex(seed.client_seed)
        cards = pack(seed.room)
        dealer = dealer_type(server_seed, client_seed)
        if not 1 <= decks <= WORD_VALUES // len(cards):
            raise ValueError(f"{decks} decks")
    except (ValueError, KeyError) as error:
        yield table.fault(line, f"found an invalid seed or an unknown room: {error}")
        return
    if sha256(server_seed).hexdigest() != table.promise.commitment.lower():
        yield table.fault(line, f"the server seed is not the one that was promised in line {table.line}")
        return
    for number, hand in table.hands:
        recorded = tuple(hand.cards)
        in_range = 1 <= hand.hand <= min(seed.hands, MAX_HAND_NUMBER)
        dealt = deal_cards(dealer, hand.hand, cards, len(recorded), decks) if in_range else ()
        if not in_range or recorded != dealt:
            deals = " ".join(dealt) or f"hands 1 to {seed.hands}"
            yield table.fault(number, f"found {' '.join(recorded)}; the seed deals {deals}", hand.hand)
    if not table.has_fault:
        yield _report_kept(line, table, nets(seed.room).rule)


def _check_seed_reuse(
    table: _RecordedTable, line: int, seed: DealSeed, revealed: dict[str, str]
) -> Iterator[RecordFinding]:
    """Report a reused server seed: a revealed seed makes every hand dealt from it predictable."""
    known = seed.server_seed.lower()
    if known in revealed and table.promise.algorithm in FAIR_DEALERS:
        yield table.fault(
            line, f"found a server seed that was revealed already, for {revealed[known]}; allowed: a new one"
        )
    revealed.setdefault(known, f"{table.name} in line {line}")


def _check_hand_numbers(table: _RecordedTable, line: int, last: int) -> Iterator[RecordFinding]:
    """Report hand numbers from 1 to `last` that are missing, and hand numbers that occur twice."""
    numbers = sorted(hand.hand for _, hand in table.hands)
    for number in dict.fromkeys(one for one, other in pairwise(numbers) if one == other):
        yield table.fault(line, "found a hand twice", number)
    inside = [0, *(number for number in dict.fromkeys(numbers) if 1 <= number <= last), last + 1]
    for before, after in pairwise(inside):
        if after - before == 2:
            yield table.fault(line, f"this hand is not in the record; allowed: hands 1 to {last}", before + 1)
        elif after - before > 2:
            message = f"hands {before + 1} to {after - 1} are not in the record; allowed: hands 1 to {last}"
            yield table.fault(line, message)


def _report_kept(line: int, table: _RecordedTable, rule: str) -> RecordFinding:
    """Report a promise that was kept, and what the record cannot prove about it."""
    shown = sum(bool(hand.cards) for _, hand in table.hands)
    hidden = len(table.hands) - shown
    message = f"{table.name}: the promise was kept, {format_count(shown, 'hand')}"
    message += f" {'is' if shown == 1 else 'are'} as the seed deals them"
    message += f", {hidden} show no card" if hidden else ""
    if table.unchecked_hands:
        listed = ", ".join(map(str, table.unchecked_hands[:MAX_LISTED_HANDS])) + (
            ", ..." if len(table.unchecked_hands) > MAX_LISTED_HANDS else ""
        )
        message += f"; without moves in the record the nets are not checked of hands {listed}"
    elif table.hands:
        message += f"; the nets {rule}"
    is_proved = None if table.unchecked_hands or (hidden and not shown) else True
    return RecordFinding(line, is_proved, message, is_incomplete=bool(table.unchecked_hands))


def deal_cards(dealer: FairDealer, hand_number: int, pack: Pack, card_count: int, deck_count: int = 1) -> Sequence[str]:
    """The first `card_count` cards of a hand, top first."""
    dealer.hands = hand_number - 1
    size = len(pack) * deck_count
    deck = dealer.next_deck(size)
    return tuple(pack.names[card % len(pack)] for card in islice(deck, card_count))
