"""The mutations of seven and a half, derived from docs/protocols/sevenhalf.md and the tables of the room."""

from functools import partial
from typing import Any

from tests.conformance.mutants.mutation import clauses
from tests.conformance.mutants.operators import (
    Exchange,
    RoomTable,
)
from tests.conformance.mutants.rewriting import little_endian
from tests.rooms.conversation_fixture import HANG_UP

sevenhalf = partial(clauses, "sevenhalf")

IDLE = ("before the first game", "between games")
DEALING, DECIDING, RAISED = "after STBT", "after CARD", "after ANTE"
PLAYING = (DEALING, DECIDING, RAISED)

STBT, CARD, BUST, BANK, GAIN, ERROR = b"STBT", b"CARD", b"BSTG", b"BKSC", b"GAIN", b"ERRO"
STARTING_BET = 100


def state_of(table: Any, games: int) -> str:
    """The state of a house."""
    game = table._state
    if game is None:
        return IDLE[games > 0]
    if not game.cards:
        return DEALING
    return DECIDING if "PASS" in game.node.moves else RAISED


LEGAL_EXCHANGES = (
    *(Exchange(state, "STRT", (STBT,), sevenhalf("4.1")) for state in IDLE),
    *(Exchange(state, "DRAW", (CARD,), sevenhalf("4.2")) for state in PLAYING),
    *(Exchange(state, "DRAW", (CARD, BUST, BANK, GAIN), sevenhalf("4.2", "4.6")) for state in (DECIDING, RAISED)),
    Exchange(DECIDING, "PASS", (BANK, GAIN), sevenhalf("4.5")),
    *(Exchange(state, "ANTE", (), sevenhalf("4.4")) for state in (DECIDING, RAISED)),
)

FORBIDDEN = {
    **dict.fromkeys(IDLE, (("DRAW", "ANTE", "PASS"), "6.1")),
    DEALING: (("STRT", "ANTE", "PASS"), "6.2"),
    DECIDING: (("STRT",), "6.3"),
    RAISED: (("STRT", "PASS"), "6.4"),
}
"""The commands that are refused in each state, and the clause."""

ERROR_EXCHANGES = (
    *(
        Exchange(state, command, (ERROR,), sevenhalf(clause), True)
        for state, (commands, clause) in FORBIDDEN.items()
        for command in commands
    ),
    *(
        Exchange(state, word, (ERROR,), sevenhalf("6.5"), True)
        for state in (*IDLE, *PLAYING)
        for word in ("STBT", "CARD", "BSTG", "BKSC", "GAIN", "sevenhalf-2.9")
    ),
    *(
        Exchange(state, f"ANTE {amount}", (ERROR,), sevenhalf(clause), True)
        for state in (DECIDING, RAISED)
        for amount, clause in (("0", "7.2"), ("-", "7.2"), ("1", "7.3"), ("2", "7.3"))
    ),
    *(Exchange(state, "sevenhalf-2.9", (ERROR, HANG_UP), sevenhalf("2.9"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "ERRO", (), sevenhalf("6.6"), True) for state in (*IDLE, *PLAYING)),
)


def blame(exchange: Exchange, place: int, other: bytes) -> frozenset[str] | None:
    """See `Blame`."""
    due = exchange.clauses
    if place < len(exchange.reply):
        if other.startswith(ERROR):
            return due | sevenhalf("6.8")
        return due | (sevenhalf("2.2") if other.startswith((b"DRAW", b"STRT")) else frozenset())
    found = sevenhalf("4.9")
    if other.startswith(ERROR):
        found |= sevenhalf("6.8")
        if exchange.sent == "ANTE" or exchange.state == RAISED:
            found |= sevenhalf("7.4")  # it reads as the refusal of an ANTE, which counts all the same
    if not exchange.reply:
        found |= due
    if other.startswith(BUST) and exchange.reply == (CARD,):
        found |= sevenhalf("3.4", "4.6")
    if exchange.state == IDLE[0] and exchange.is_error:
        found |= sevenhalf("1.2")
    return found


def _number(value: int) -> bytes:
    return value.to_bytes(4, signed=True)


SPELLINGS = {
    "without its space": (b"", lambda data: data[:4] + data[5:], sevenhalf("2.1", "2.9")),
    "with two spaces": (CARD, lambda data: data[:5] + b" " + data[5:], sevenhalf("2.1", "2.4", "2.9")),
    "with a NUL at its end": (b"", lambda data: data + b"\0", sevenhalf("2.1", "2.9")),
    "with a quote at its end": (b"", lambda data: data + b"'", sevenhalf("2.1", "2.9")),
    "with another code": (b"", lambda data: b"SEND" + data[4:], sevenhalf("2.2", "2.9")),
    "without its last byte": (b"", lambda data: data[:-1], sevenhalf("2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.9")),
    "with its suit first": (CARD, lambda data: data[:5] + data[6:7] + data[5:6], sevenhalf("2.4", "2.9")),
    "as the card 8o": (CARD, lambda data: data[:5] + b"8o", sevenhalf("2.4", "2.9", "3.1")),
    "as the card 10o": (CARD, lambda data: data[:5] + b"10o", sevenhalf("2.4", "2.9")),
    "with a little-endian number": (STBT, lambda data: little_endian(data, 5), sevenhalf("2.3", "7.1")),
    "with a two-byte number": (STBT, lambda data: data[:5] + data[7:], sevenhalf("2.1", "2.3", "2.9")),
    "with a number as text": (STBT, lambda data: b"STBT 100", sevenhalf("2.1", "2.3", "2.9", "7.1")),
    "with an eight-byte number": (
        STBT,
        lambda data: data[:5] + bytes(4) + data[5:],
        sevenhalf("2.1", "2.3", "2.9", "7.1"),
    ),
    "of nothing": (STBT, lambda data: data[:5] + _number(0), sevenhalf("7.1")),
    "below nothing": (STBT, lambda data: data[:5] + _number(-100), sevenhalf("7.1")),
    "above the largest bet": (STBT, lambda data: data[:5] + _number(1 << 30), sevenhalf("7.1")),
    "with a little-endian amount": (
        GAIN,
        lambda data: little_endian(data, 5),
        sevenhalf("2.3", "5.3", "5.4", "5.5", "5.6", "5.8"),
    ),
    "with a two-byte amount": (GAIN, lambda data: data[:5] + data[7:], sevenhalf("2.1", "2.3", "2.9")),
    "with an amount as text": (
        GAIN,
        lambda data: data[:5] + b"%d" % int.from_bytes(data[5:], signed=True),
        sevenhalf("2.1", "2.3", "2.9"),
    ),
    "with a little-endian count": (BANK, lambda data: little_endian(data, 5), sevenhalf("2.3", "2.4", "2.9")),
    "with a one-byte count": (BANK, lambda data: data[:5] + data[8:], sevenhalf("2.3", "2.4", "2.9")),
    "without a count": (BANK, lambda data: data[:5] + data[9:], sevenhalf("2.3", "2.4", "2.9")),
    "with a count too high": (
        BANK,
        lambda data: data[:8] + bytes((data[8] + 1,)) + data[9:],
        sevenhalf("2.4", "2.5", "2.9", "5.1"),
    ),
    "with a count too low": (
        BANK,
        lambda data: data[:8] + bytes((data[8] - 1,)) + data[9:],
        sevenhalf("2.4", "2.5", "2.9", "5.1"),
    ),
    "with spaces between its cards": (BANK, lambda data: data[:11] + b" " + data[11:], sevenhalf("2.4", "2.5", "2.9")),
    "with a comma in its score": (BANK, lambda data: data.replace(b".", b","), sevenhalf("2.5", "2.9")),
    "with a score of three characters": (BANK, lambda data: data[:-4] + data[-3:], sevenhalf("2.5", "2.9")),
    "without a space before its score": (BANK, lambda data: data[:-5] + data[-4:], sevenhalf("2.5", "2.9")),
    "with one digit of length": (ERROR, lambda data: data[:5] + data[6:], sevenhalf("2.6", "2.9")),
    "with a text shorter than its length": (ERROR, lambda data: data[:-1], sevenhalf("2.1", "2.6", "2.9")),
    "with a text longer than its length": (ERROR, lambda data: data + b"!", sevenhalf("2.6", "2.9")),
    "without a length": (ERROR, lambda data: data[:5] + data[7:], sevenhalf("2.6", "2.9")),
}

TABLE_OF_ROOM = RoomTable(
    name="sevenhalf",
    exchanges=(*LEGAL_EXCHANGES, *ERROR_EXCHANGES),
    others=(
        b"STBT " + _number(100),
        b"CARD 7o",
        b"BSTG",
        b"BKSC " + _number(1) + b"7o 07.0",
        b"GAIN " + _number(100),
        b"ERRO 05wrong",
        b"DRAW",
        b"STRT",
    ),
    extras=(b"CARD 7o", b"BSTG", b"GAIN " + _number(100), b"ERRO 05wrong", b"STBT " + _number(100)),
    blame=blame,
    goodbye=(b"ERRO 08good bye",),
    farewell_clauses=sevenhalf("8.2"),
    unmoved=sevenhalf("6.9"),
    unasked_clauses=sevenhalf("4.9", "6.8"),
    spellings=SPELLINGS,
    may_close_after=GAIN,
    may_leave_instead=lambda exchange: (exchange.state, exchange.sent) == (IDLE[1], "STRT"),  # sevenhalf-8.5, P14
    bare=frozenset({BUST}),
)
