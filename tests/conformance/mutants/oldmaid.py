"""The exchanges of an Old Maid table, derived from docs/protocols/oldmaid.md, and their mutations."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.conformance.mutants.mutation import clauses
from tests.conformance.mutants.oldmaid_states import (
    AFTERWARDS,
    DRAWER,
    DRAWING,
    IN_GAME,
    OUT,
    OVER,
    PLAYING,
    STRANGER,
    WAITING,
)
from tests.conformance.mutants.operators import Exchange, RoomTable
from tests.rooms.conversation_fixture import HANG_UP

oldmaid = partial(clauses, "oldmaid")

OK, ERROR, STANDING = b'{"result":"ok"}\n', b'{"result":"error","message":"no"}\n', b'{"in":[],"out":[]}\n'
CARD, LAST = b'{"result":"ok","card":["3","spades"]}\n', b'{"result":"last_card","card":["3","spades"]}\n'
DISCARD_OK, OUT_ANSWER, REQUEST = b'{"result":"ok","message":"ok"}\n', b'{"result":"out"}\n', b'{"cmd":"your_turn"}\n'

IS_CARD, IS_LAST, IS_ERROR = b'{"result":"ok","card"', b'{"result":"last_card"', b'{"result":"error"'
IS_LIST, IS_STANDING = b'{"result":"ok","players"', b'{"in":'

JOINS, DRAWS, DISCARDS = '{"cmd":"join"', '{"cmd":"draw"', '{"cmd":"discard"'
ENDS, ASKS = '{"cmd":"out_of_cards"', '{"cmd":"status"'

LEGAL = (
    Exchange(WAITING, JOINS, (IS_LIST,), oldmaid("3.1", "3.2", "3.3", "3.10")),
    Exchange(STRANGER, JOINS, (), oldmaid("3.1", "3.2", "1.8")),
    Exchange(DRAWER, DRAWS, (IS_CARD,), oldmaid("4.2")),
    Exchange(DRAWER, DRAWS, (IS_LAST,), oldmaid("4.2", "4.4")),
    *(Exchange(state, DISCARDS, (DISCARD_OK[:-1],), oldmaid("5.2", "5.7", "5.8")) for state in IN_GAME),
    Exchange(PLAYING, ENDS, (OK[:-1],), oldmaid("6.1")),
    *(Exchange(state, ASKS, (IS_STANDING,), oldmaid("6.5", "6.7")) for state in (*IN_GAME, *AFTERWARDS)),
)

REFUSED_DRAWS = {STRANGER: ("4.6",), DRAWING: ("4.3",), PLAYING: ("4.5",), OUT: ("4.5",), OVER: ("6.9", "9.3")}
REFUSED_DISCARDS = {
    STRANGER: ("5.9",),
    **dict.fromkeys((DRAWER, DRAWING), ("5.1", "5.3", "5.4", "5.5", "5.6", "5.7", "5.12")),
    PLAYING: ("5.1", "5.3", "5.4", "5.5"),
    OUT: ("5.9",),
    OVER: ("6.9",),
}
MALFORMED = ("8.3", "8.4", "8.5", "8.6", "8.7")

REFUSED = (
    *(Exchange(state, DRAWS, (IS_ERROR,), oldmaid(*found), True) for state, found in REFUSED_DRAWS.items()),
    *(Exchange(state, DISCARDS, (IS_ERROR,), oldmaid(*found), True) for state, found in REFUSED_DISCARDS.items()),
    *(
        Exchange(state, ENDS, (IS_ERROR,), oldmaid(clause), True)
        for state, clause in {STRANGER: "6.4", OVER: "6.9"}.items()
    ),
    *(Exchange(state, JOINS, (IS_ERROR,), oldmaid("3.14"), True) for state in (DRAWER, DRAWING)),
    Exchange(STRANGER, JOINS, (IS_ERROR,), oldmaid("3.5", "3.7", "3.8", "3.9", "3.18"), True),
    *(
        Exchange(state, f"oldmaid-{clause}", (IS_ERROR,), oldmaid(clause, "8.2"), True)
        for state in (STRANGER, DRAWER)
        for clause in MALFORMED
    ),
)


def blame(exchange: Exchange, place: int, other: bytes) -> frozenset[str] | None:
    """See `Blame`."""
    if place == len(exchange.reply):
        return exchange.clauses | oldmaid("1.8", *(["8.2"] if exchange.is_error else []))
    if other == ERROR:
        return exchange.clauses
    if other == DISCARD_OK and exchange.reply[place] == OK[:-1]:
        return None  # its message is an unknown key there
    return exchange.clauses | oldmaid("1.8", "2.3", "2.4", "4.1", *(["2.9"] if exchange.is_error else []))


def respelt(change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    """A change of the JSON value of a message."""
    return lambda data: json.dumps(change(json.loads(data))).encode() + b"\n"


def renamed(old: str, new: str) -> Callable[[Any], Any]:
    return lambda message: {new if key == old else key: value for key, value in message.items()}


def with_key(key: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda message: {**message, key: change(message[key])}


def without_key(key: str) -> Callable[[Any], Any]:
    return lambda message: {name: value for name, value in message.items() if name != key}


SPELLINGS: Mapping[str, tuple[bytes, Callable[[bytes], bytes], frozenset[str]]] = {
    "as Python prints it": (b"{", lambda data: repr(json.loads(data)).encode() + b"\n", oldmaid("1.3")),
    "without its last bracket": (b"{", lambda data: data.rstrip()[:-1] + b"\n", oldmaid("1.3")),
    "in an array": (b"{", lambda data: b"[" + data.rstrip() + b"]\n", oldmaid("1.3", "2.3")),
    "after its length": (b"{", lambda data: b"%d " % len(data) + data, oldmaid("1.3")),
    "with another result": (b'{"result"', respelt(with_key("result", lambda _: "success")), oldmaid("2.3", "2.9")),
    "with a truth value": (
        b'{"result"',
        respelt(with_key("result", lambda result: result != "error")),
        oldmaid("2.3", "2.9"),
    ),
    "with status for result": (b'{"result"', respelt(renamed("result", "status")), oldmaid("2.3", "2.9")),
    "with another key for the card": (IS_CARD, respelt(renamed("card", "cards")), oldmaid("2.3")),
    "with the card as text": (IS_CARD, respelt(with_key("card", " ".join)), oldmaid("2.4")),
    "with the suit first": (IS_CARD, respelt(with_key("card", lambda card: card[::-1])), oldmaid("2.4")),
    "with a short suit": (IS_CARD, respelt(with_key("card", lambda card: [card[0], card[1][0]])), oldmaid("2.4")),
    "with a card of another pack": (IS_CARD, respelt(with_key("card", lambda card: ["1", card[1]])), oldmaid("2.4")),
    "with no message": (DISCARD_OK[:-1], lambda _: OK, oldmaid("2.3")),
    "with another list": (IS_LIST, respelt(renamed("players", "list")), oldmaid("2.3", "3.3")),
    "with ports as text": (
        IS_LIST,
        respelt(
            with_key("players", lambda all_: {key: [[at[0], str(at[1])], nick] for key, (at, nick) in all_.items()})
        ),
        oldmaid("3.3"),
    ),
    "with addresses only": (
        IS_LIST,
        respelt(with_key("players", lambda all_: {key: at for key, (at, _) in all_.items()})),
        oldmaid("3.3"),
    ),
    "with nicks only": (
        IS_LIST,
        respelt(with_key("players", lambda all_: {key: nick for key, (_, nick) in all_.items()})),
        oldmaid("3.3"),
    ),
    "counted from nought": (
        IS_LIST,
        respelt(with_key("players", lambda all_: {f"player{at}": player for at, player in enumerate(all_.values())})),
        oldmaid("3.3"),
    ),
    "without those who are out": (IS_STANDING, respelt(without_key("out")), oldmaid("2.3", "6.5")),
    "with other keys": (IS_STANDING, respelt(renamed("in", "playing")), oldmaid("2.3", "6.5")),
    "with numbers for nicks": (
        IS_STANDING,
        respelt(with_key("in", lambda nicks: list(range(len(nicks))))),
        oldmaid("2.3", "6.5"),
    ),
    "with a reason and no result": (IS_ERROR, respelt(without_key("result")), oldmaid("2.3", "2.9")),
    "as a text": (IS_ERROR, lambda _: b"error: no\n", oldmaid("1.3", "2.9")),
    "with the key error": (IS_ERROR, respelt(renamed("result", "error")), oldmaid("2.3", "2.9")),
}
"""Misspellings; of "with numbers for nicks" nothing shows when no player is in."""

TABLE_OF_ROOM = RoomTable(
    name="oldmaid",
    exchanges=(*LEGAL, *REFUSED),
    others=(OK, ERROR, CARD, DISCARD_OK, STANDING, LAST, OUT_ANSWER, REQUEST),
    extras=(OK, ERROR, STANDING, REQUEST),
    blame=blame,
    goodbye=(),
    farewell_clauses=oldmaid("1.8", "8.1"),
    unasked_clauses=oldmaid("1.8", "8.1"),
    spellings=SPELLINGS,
    bare=frozenset({HANG_UP}),
)
