"""The mutations of Kuhn poker, derived from docs/protocols/kuhn.md and the tables of the room."""

from functools import partial
from typing import Any

from croupier.rooms.kuhn.wire import ACTN, TABLE, VOCABULARY
from tests.conformance.mutants.mutation import clauses
from tests.conformance.mutants.operators import (
    Exchange,
    RoomTable,
)
from tests.rooms.conversation_fixture import HANG_UP

kuhn = partial(clauses, "kuhn")

WRONG, POOR, GOODBYE = b"FAIL W_A", b"FAIL N_C", b"DISC"
CARD, CHECK, BET, CALL, FOLD = b"CARD", b"ACTN CHK", b"ACTN BET", b"ACTN CAL", b"ACTN FLD"

IDLE = ("before the first game", "between games")
ACTIONS_BY_STATE = {
    "as P_1": ("CHK", "BET"),
    "after the house has checked": ("CHK", "BET"),
    "after the house has bet": ("CAL", "FLD"),
    "after CHK BET": ("CAL", "FLD"),
}
"""The states of a game in which the client acts, and its choices."""

PLAYING = (*ACTIONS_BY_STATE,)
HISTORIES = {(): PLAYING[0], ("CHK",): PLAYING[1], ("BET",): PLAYING[2], ("CHK", "BET"): PLAYING[3]}


def state_of(table: Any, games: int) -> str:
    """The state of a house."""
    return IDLE[games > 0] if table._state is None else HISTORIES[table._state.history]


LEGAL_EXCHANGES = (
    *(Exchange(state, "STRT P_1", (CARD,), kuhn("4.1")) for state in IDLE),
    *(Exchange(state, "STRT P_2", (CARD, act), kuhn("4.2")) for state in IDLE for act in (CHECK, BET)),
    *(Exchange(PLAYING[0], "ACTN CHK", (answer,), kuhn("4.3")) for answer in (CARD, BET)),
    *(Exchange(state, "ACTN BET", (answer,), kuhn("4.4")) for state in PLAYING[:2] for answer in (CARD, FOLD)),
    Exchange(PLAYING[1], "ACTN CHK", (CARD,), kuhn("4.5")),
    *(Exchange(state, "ACTN CAL", (CARD,), kuhn("4.6")) for state in PLAYING[2:]),
    *(Exchange(state, "ACTN FLD", (), kuhn("4.7")) for state in PLAYING[2:]),
)

ERROR_EXCHANGES = (
    *(Exchange(state, f"ACTN {action}", (WRONG,), kuhn("6.2"), True) for state in IDLE for action in ACTN),
    *(
        Exchange(state, f"ACTN {action}", (WRONG,), kuhn("6.1"), True)
        for state, choices in ACTIONS_BY_STATE.items()
        for action in ACTN
        if action not in choices
    ),
    *(Exchange(state, start, (WRONG,), kuhn("6.3"), True) for state in PLAYING for start in ("STRT P_1", "STRT P_2")),
    *(Exchange(state, "CARD", (WRONG,), kuhn("6.4"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "kuhn-2.6", (WRONG,), kuhn("2.6"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "kuhn-2.7", (WRONG, GOODBYE, HANG_UP), kuhn("2.7"), True) for state in (*IDLE, *PLAYING)),
)

SILENT_EXCHANGES = (
    *(Exchange(state, "FAIL", (), kuhn("6.5"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "kuhn-2.8", (), kuhn("2.8", "6.5"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "DISC", (HANG_UP,), kuhn("8.1")) for state in (*IDLE, *PLAYING)),
)


def blame(exchange: Exchange, place: int, other: bytes) -> frozenset[str] | None:
    """See `Blame`."""
    due = exchange.clauses
    if place == len(exchange.reply):
        return _blame_added(exchange, other)
    instead_of = exchange.reply[place]
    if other == CALL:
        return kuhn("4.8") | (due if exchange.is_error else frozenset())
    if other == CHECK and exchange.sent == "ACTN CHK" and not exchange.is_error:
        return due | kuhn("4.8")
    if other.startswith(b"STRT"):
        return due | kuhn("2.2")
    if other == GOODBYE:
        return due | kuhn("8.2")
    if other == POOR:
        costs = {"STRT P_1": "7.2", "STRT P_2": "7.2", "ACTN BET": "7.3", "ACTN CAL": "7.3"}
        if exchange.is_error:
            return due | kuhn("6.6")
        if exchange.sent in costs and place == 0:
            return kuhn(costs[exchange.sent], "7.1", "6.7")  # a refusal that has ended the game
        return due | kuhn("7.3") if exchange.sent.startswith("ACTN") else due  # CHK and FLD are free
    legal = {reply[place] for reply in _replies(exchange) if len(reply) > place}
    if any(other.startswith(each) for each in legal) or (other[:4] == CARD and instead_of == CARD):
        return None
    return due


def _replies(exchange: Exchange) -> list[tuple[bytes, ...]]:
    """All legal replies in the place of one."""
    return [each.reply for each in LEGAL_EXCHANGES if (each.state, each.sent) == (exchange.state, exchange.sent)]


def _blame_added(exchange: Exchange, other: bytes) -> frozenset[str]:
    """The clauses that a message after the reply breaks."""
    found = kuhn("4.9")
    if other == CALL:
        found |= kuhn("4.8")
    if other == GOODBYE:
        return kuhn("8.2")
    if exchange.state == IDLE[0] and exchange.is_error:
        found |= kuhn("1.2")
    if exchange.sent == "ACTN FLD" and not exchange.is_error:
        found = found | kuhn("4.7", "5.3") if other[:4] == CARD else found | kuhn("4.7")
    if exchange.reply[-1:] == (FOLD,) and other[:4] == CARD:
        found |= kuhn("5.3")
    if exchange.clauses & kuhn("6.5", "2.8"):
        found |= exchange.clauses
    return found


SPELLINGS = {
    "without its space": (b"", lambda data: data.replace(b" ", b""), kuhn("2.1", "2.7")),
    "with two spaces": (b"", lambda data: data.replace(b" ", b"  "), kuhn("2.1", "2.6", "2.7")),
    "with a tab": (b"", lambda data: data.replace(b" ", b"\t"), kuhn("2.1", "2.7")),
    "with a NUL at its end": (b"", lambda data: data + b"\0", kuhn("2.1", "2.7")),
    "with a full stop at its end": (b"", lambda data: data + b".", kuhn("2.1", "2.7")),
    "with one letter too few": (b"", lambda data: data[:-1], kuhn("2.1", "2.2", "2.6")),
    "with its last letter twice": (b"", lambda data: data + data[-1:], kuhn("2.1", "2.2", "2.6", "2.7")),
    "with another code": (b"", lambda data: b"SEND" + data[4:], kuhn("2.2", "2.7")),
    "with an unknown argument": (b"", lambda data: data[:5] + b"XYZ", kuhn("2.2", "2.6", "2.8")),
    "in UTF-16": (b"", lambda data: data.decode().encode("utf-16-be"), kuhn("2.1", "2.7")),
    "as a card in words": (b"CARD", lambda data: data[:5] + b"QUEEN", kuhn("2.1", "2.2", "2.6")),
    "without its prefix": (b"CARD", lambda data: data.replace(b"C_", b""), kuhn("2.1", "2.2", "2.6")),
    "as BRT": (b"ACTN BET", lambda data: b"ACTN BRT", kuhn("2.2", "2.6")),
    "in quotes without an end": (b"", lambda data: data[:5] + b'"' + data[5:], kuhn("2.1", "2.6", "2.7")),
}

TABLE_OF_ROOM = RoomTable(
    name="kuhn",
    exchanges=(*LEGAL_EXCHANGES, *ERROR_EXCHANGES, *SILENT_EXCHANGES),
    others=[TABLE[message] for message in VOCABULARY if str(message) not in {"CARD C_J", "CARD C_K"}],
    extras=(b"CARD C_J", CHECK, CALL, WRONG, GOODBYE),
    blame=blame,
    goodbye=(GOODBYE,),
    farewell_clauses=kuhn("8.2"),
    unmoved=kuhn("6.7"),
    unasked_clauses=kuhn("4.9"),
    spellings=SPELLINGS,
    bare=frozenset({GOODBYE}),
)
