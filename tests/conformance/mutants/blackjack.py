"""The mutations of blackjack, derived from docs/protocols/blackjack.md and the tables of the room."""

from functools import partial
from typing import Any

from tests.conformance.mutants.mutation import clauses
from tests.conformance.mutants.operators import (
    Exchange,
    RoomTable,
)
from tests.conformance.mutants.rewriting import little_endian
from tests.rooms.conversation_fixture import HANG_UP

blackjack = partial(clauses, "blackjack")

IDLE = ("before the first round", "between rounds")
BETTING, DECIDING = "after MON", "after TRN"
STATES = (*IDLE, BETTING, DECIDING)

MON, CARD, TURN, RESULT, STOP = b"MON", b"CRD", b"TRN", b"RES", b"STP"


def _number(value: int) -> bytes:
    return value.to_bytes(4, signed=True)


def _error(number: int) -> bytes:
    return b"ERR" + _number(number)


LEAVING, UNPAYABLE, INVALID, UNEXPECTED, UNKNOWN = map(_error, (300, 400, 500, 501, 502))


def state_of(table: Any, games: int) -> str:
    """The state of a house."""
    if table._state is not None:
        return DECIDING
    return BETTING if table._is_betting else IDLE[games > 0]


LEGAL_EXCHANGES = (
    *(Exchange(state, "PLY", (MON,), blackjack("4.1")) for state in IDLE),
    Exchange(BETTING, "BET", (CARD, CARD, CARD, TURN), blackjack("4.2")),
    *(Exchange(DECIDING, "MOV H", (CARD, last), blackjack("4.3")) for last in (TURN, RESULT)),
    *(Exchange(DECIDING, "MOV S", (*(CARD,) * cards, RESULT), blackjack("4.4", "3.8")) for cards in (1, 2, 3)),
    Exchange(DECIDING, "SRD", (RESULT,), blackjack("4.5")),
    *(Exchange(state, "STP", (STOP, HANG_UP), blackjack("8.1")) for state in STATES),
)

EXPECTED = {**dict.fromkeys(IDLE, ("PLY",)), BETTING: ("BET",), DECIDING: ("MOV", "SRD")}
"""The client's frames that are expected in each state."""

ERROR_EXCHANGES = (
    *(
        Exchange(state, frame, (UNEXPECTED,), blackjack("6.3"), True)
        for state, expected in EXPECTED.items()
        for frame in ("PLY", "BET", "MOV H", "MOV S", "SRD")
        if frame[:3] not in expected
    ),
    *(
        Exchange(state, frame, (UNEXPECTED,), blackjack("6.4"), True)
        for state in STATES
        for frame in ("MON", "CRD", "TRN", "RES", "blackjack-2.9")
    ),
    *(
        Exchange(state, "blackjack-2.11", (UNEXPECTED,), blackjack("6.2", "6.3", "2.11"), True)
        for state in (*IDLE, BETTING)
    ),
    Exchange(DECIDING, "blackjack-2.11", (INVALID,), blackjack("6.5", "2.11"), True),
    *(Exchange(BETTING, f"BET {amount}", (INVALID,), blackjack("6.5"), True) for amount in ("0", "-")),
    Exchange(BETTING, "BET", (UNPAYABLE,), blackjack("6.6", "7.4", "7.5"), True),
    *(
        Exchange(state, "blackjack-2.10", (UNKNOWN, LEAVING, STOP, HANG_UP), blackjack("2.10", "6.7"), True)
        for state in STATES
    ),
    *(Exchange(state, "ERR", (), blackjack("6.8"), True) for state in STATES),
    *(Exchange(state, "blackjack-2.12", (), blackjack("6.8", "2.12"), True) for state in STATES),
)


def blame(exchange: Exchange, place: int, other: bytes) -> frozenset[str] | None:
    """See `Blame`."""
    return _blame_instead(exchange, place, other) if place < len(exchange.reply) else _blame_added(exchange, other)


RULES = {
    ("BET", TURN, CARD): blackjack("3.3"),
    ("MOV H", TURN, RESULT): blackjack("3.4"),
    ("MOV H", RESULT, TURN): blackjack("3.5", "3.6"),
    ("MOV H", RESULT, CARD): blackjack("3.5", "3.6"),
    ("MOV S", RESULT, CARD): blackjack("3.8"),
}
"""The rules of the game that are broken by one frame in place of another, in the answer to a move."""


def _blame_instead(exchange: Exchange, place: int, other: bytes) -> frozenset[str]:
    found = exchange.clauses | RULES.get((exchange.sent, exchange.reply[place][:3], other[:3]), frozenset())
    if exchange.is_error and other.startswith(b"ERR"):
        found |= blackjack("6.2")
    if other in {STOP, LEAVING}:
        found |= blackjack("8.2")
    if other == UNPAYABLE and exchange.sent == "BET":
        found |= blackjack("6.6", "7.4")
    return found | (blackjack("2.2") if other[:3] in {b"PLY", b"BET"} else frozenset())


def _blame_added(exchange: Exchange, other: bytes) -> frozenset[str]:
    found = blackjack("4.7")
    if other in {STOP, LEAVING}:
        found |= blackjack("8.2")
    if not exchange.reply:
        found |= exchange.clauses
    if exchange.state == IDLE[0] and exchange.is_error:
        found |= blackjack("1.2")
    if exchange.is_error and other.startswith(b"ERR"):
        found |= blackjack("6.2")
    elif exchange.is_error and exchange.reply and other not in {STOP, LEAVING}:
        found |= blackjack("6.1")
    if exchange.reply[-1:] == (RESULT,):
        found |= blackjack("4.8") | (blackjack("4.5") if exchange.sent == "SRD" else frozenset())
    return found


NUMBER_CLAUSES = blackjack("2.1", "2.3", "2.10")

SPELLINGS = {
    "with a line end": (b"", lambda data: data + b"\n", blackjack("2.1", "2.10")),
    "with a NUL at its end": (b"", lambda data: data + b"\0", blackjack("2.1", "2.10")),
    "in small letters": (b"", lambda data: data[:3].lower() + data[3:], blackjack("2.5", "2.10")),
    "with another header": (b"", lambda data: b"SND" + data[3:], blackjack("2.2", "2.10")),
    "with a space after its header": (
        b"",
        lambda data: data[:3] + b" " + data[3:],
        NUMBER_CLAUSES | blackjack("2.4", "2.9", "2.12"),
    ),
    "without its last byte": (
        b"",
        lambda data: data[:-1],
        blackjack("2.1", "2.2", "2.3", "2.4", "2.9", "2.10", "2.12"),
    ),
    "with one-byte letters": (CARD, lambda data: data[:3] + data[4::2], blackjack("2.1", "2.4", "2.9")),
    "with little-endian letters": (
        CARD,
        lambda data: data[:3] + b"".join(data[at : at + 2][::-1] for at in (3, 5, 7)),
        blackjack("2.4", "2.9"),
    ),
    "with its suit first": (CARD, lambda data: data[:5] + data[7:9] + data[5:7], blackjack("2.6", "2.9")),
    "with the rank 1": (CARD, lambda data: data[:5] + b"\x001" + data[7:], blackjack("2.6", "2.9")),
    "with small letters": (CARD, lambda data: data[:8] + data[8:].lower(), blackjack("2.5", "2.6", "2.9")),
    "for the owner X": (CARD, lambda data: b"CRD\0X" + data[5:], blackjack("2.2", "2.9")),
    "with a little-endian amount": (MON, lambda data: little_endian(data, 3), blackjack("2.3", "7.1", "7.2")),
    "with an amount as text": (MON, lambda data: b"MON1000", blackjack("2.3", "7.1", "7.2")),
    "with a two-byte amount": (MON, lambda data: data[:3] + data[5:], NUMBER_CLAUSES),
    "with an eight-byte amount": (
        MON,
        lambda data: data[:3] + bytes(4) + data[3:],
        NUMBER_CLAUSES | blackjack("7.1", "7.2"),
    ),
    "below nothing": (MON, lambda data: b"MON" + _number(-1), blackjack("7.1", "7.2")),
    "with a little-endian payment": (
        RESULT,
        lambda data: little_endian(data, 5),
        blackjack("2.3", "5.1", "5.2", "5.3"),
    ),
    "with a two-byte payment": (RESULT, lambda data: data[:5] + data[7:], NUMBER_CLAUSES),
    "with the result D": (RESULT, lambda data: b"RES\0D" + data[5:], blackjack("2.2", "2.9", "3.11")),
    "with a little-endian number": (b"ERR", lambda data: little_endian(data, 3), blackjack("2.3", "2.12")),
    "with its number as text": (b"ERR", lambda data: b"ERR501", NUMBER_CLAUSES | blackjack("2.12")),
    "with the number 404": (b"ERR", lambda data: _error(404), blackjack("2.2", "2.12")),
}

TABLE_OF_ROOM = RoomTable(
    name="blackjack",
    exchanges=(*LEGAL_EXCHANGES, *ERROR_EXCHANGES),
    others=(
        b"MON" + _number(1000),
        b"CRD\0C\x007\0D",
        TURN,
        b"RES\0W" + _number(20),
        b"RES\0L" + _number(0),
        STOP,
        b"PLY",
        LEAVING,
        UNPAYABLE,
        INVALID,
        UNEXPECTED,
        UNKNOWN,
    ),
    extras=(b"CRD\0S\x007\0D", TURN, UNEXPECTED, b"MON" + _number(1000), STOP, b"RES\0L" + _number(0)),
    blame=blame,
    goodbye=(LEAVING, STOP),
    farewell_clauses=blackjack("8.2"),
    unasked_clauses=blackjack("4.7"),
    spellings=SPELLINGS,
    unmoved=blackjack("6.1"),
)
