"""Where a client of Kuhn poker can be, what it can say there, and how its games can go."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from croupier.conformance.servers.kuhn_coins import COINS, accountant, moves
from croupier.conformance.servers.scenarios import said
from croupier.conformance.servers.test_data import Aim, Extra, Goal, Ground, Referee, Remark, Situation
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.referee import Game
from croupier.rooms.kuhn.rules import CARDS, P_1, History, Rank
from croupier.rooms.kuhn.wire import ACTN, CARD, DISC, NO_COINS, STRT, WRONG_ACTION, Card, Fail


def _after(*history: str) -> Callable[[Referee], bool]:
    """Whether a game is played in which this was done, and the client is to decide."""
    return lambda referee: referee.game is not None and referee.game.history == history


def _seated(seat: str) -> Aim:
    """Take this seat, and check, or give up."""

    def aim(referee: Referee, luck: Random) -> object:  # noqa: ARG001 -- an Aim
        if referee.game is None:
            return STRT[seat]
        return ACTN["CHK"] if ACTN["CHK"] in referee.legal else ACTN["FLD"]

    return aim


SITUATIONS: Final = (
    Situation("start", "before the first game", lambda referee: referee.game is None and not referee.finished),
    Situation("between", "between two games", lambda referee: referee.game is None and referee.finished > 0),
    Situation("card", "as the first to act", _after(), _seated("P_1")),
    Situation("check", "behind a check of the house", _after("CHK"), _seated("P_2")),
    Situation("bet", "behind a bet of the house", _after("BET"), _seated("P_2")),
    Situation("check-bet", "behind a check of its own and a bet", _after("CHK", "BET"), _seated("P_1")),
)
IDLE: Final = ("start", "between")
PLAYING: Final = ("card", "check", "bet", "check-bet")
EVERYWHERE: Final = (*IDLE, *PLAYING)


def _clauses(idle: str, **others: str) -> Mapping[str, str]:
    """The clause between games, and in the situations of a game: by their names, with _ for -."""
    found = {**dict.fromkeys(IDLE, idle), **{name.replace("_", "-"): clause for name, clause in others.items()}}
    return {name: f"kuhn-{clause}" for name, clause in found.items()}


def _all(clause: str) -> Mapping[str, str]:
    return dict.fromkeys(EVERYWHERE, f"kuhn-{clause}")


START: Final = {"start": "kuhn-4.1", "between": "kuhn-4.10", **dict.fromkeys(PLAYING, "kuhn-6.3")}

REMARKS: Final = (
    Remark("strt-p1", "STRT P_1", STRT["P_1"], START),
    Remark("strt-p2", "STRT P_2", STRT["P_2"], {**START, "start": "kuhn-4.2"}),
    Remark("chk", "ACTN CHK", ACTN["CHK"], _clauses("6.2", card="4.3", check="4.5", bet="6.1", check_bet="6.1")),
    Remark("bet", "ACTN BET", ACTN["BET"], _clauses("6.2", card="4.4", check="4.4", bet="6.1", check_bet="6.1")),
    Remark("cal", "ACTN CAL", ACTN["CAL"], _clauses("6.2", card="6.1", check="6.1", bet="4.6", check_bet="4.6")),
    Remark("fld", "ACTN FLD", ACTN["FLD"], _clauses("6.2", card="6.1", check="6.1", bet="4.7", check_bet="4.7")),
    Remark("card-from-the-client", "CARD C_K", CARD["K"], _all("6.4")),
    Remark("fail-w-a-from-the-client", "FAIL W_A", WRONG_ACTION, _all("6.5")),
    Remark("fail-n-c-from-the-client", "FAIL N_C", NO_COINS, _all("6.5")),
    Remark("unknown-fail", "FAIL XYZ, an unknown argument", b"FAIL XYZ", _all("2.8")),
    Remark("unknown-seat", "STRT P_3, an unknown argument", b"STRT P_3", _all("2.6")),
    Remark("unknown-action", "ACTN RSE, an unknown argument", b"ACTN RSE", _all("2.6")),
    Remark("unknown-card", "CARD C_A, an unknown argument", b"CARD C_A", _all("2.6")),
    Remark("unknown-code", "HELO, an unknown code", b"HELO", _all("2.7")),
    Remark("no-space", "a code without its space", b"STRTP_1", _all("2.7")),
    Remark("http-request", "a request of a browser", b"GET / HTTP/1.1\r\nHost: croupier\r\n\r\n", _all("2.7")),
    Remark("bytes-that-are-no-letters", "four bytes that are no letters", b"\x00\xff\x80\x01", _all("2.7")),
    Remark("goodbye", "DISC", DISC, _all("8.1")),
    Remark("strt-in-small-letters", "strt p_2", b"strt p_2", {**dict.fromkeys(IDLE, "kuhn-2.3")}),
    Remark("chk-in-small-letters", "actn chk", b"actn chk", {"card": "kuhn-2.3", "check": "kuhn-2.3"}),
    Remark("cal-in-mixed-letters", "Actn Cal", b"Actn Cal", {"bet": "kuhn-2.3", "check-bet": "kuhn-2.3"}),
)
BLUNDERS: Final = frozenset(
    {"strt-p1", "chk", "bet", "cal", "fld", "card-from-the-client", "fail-w-a-from-the-client", "unknown-action"}
)


def _last(found: Callable[[Game], bool]) -> Callable[[Referee], bool]:
    """Whether this is true of the last game."""
    return lambda referee: isinstance(referee.last, Game) and found(referee.last)


def _dealt(own: Rank) -> Goal:
    return Goal(
        f"dealt-{own.lower()}", f"The client is dealt C_{own}", "kuhn-3.1", _last(lambda game: game.card == own)
    )


def _shown(own: Rank, shown: Rank) -> Goal:
    title = f"The client has C_{own}, and the house shows C_{shown}"
    seen = _last(lambda game: (game.card, game.shown) == (own, shown))
    return Goal(f"{own.lower()}-against-{shown.lower()}", title, "kuhn-5.4", seen, showing)


def showing(referee: Referee, luck: Random) -> object:
    """Play for showdowns."""
    legal = referee.legal
    if referee.game is None:
        return luck.choice([*STRT.values()])
    return ACTN["CAL"] if ACTN["CAL"] in legal else luck.choice([ACTN["CHK"], ACTN["BET"]])


def _sequence(seat: str, history: History, clause: str) -> Goal:
    seen = _last(lambda game: (game.seat, game.history) == (("P_1", "P_2").index(seat), history))
    return Goal(f"{'-'.join(history).lower()}-{seat.lower()}", f"As {seat}: {' '.join(history)}", clause, seen)


SEQUENCES: Final[Mapping[History, str]] = {
    ("CHK", "CHK"): "5.1",
    ("CHK", "BET", "CAL"): "5.2",
    ("CHK", "BET", "FLD"): "5.3",
    ("BET", "CAL"): "5.2",
    ("BET", "FLD"): "5.3",
}
"""How a game can go, and the clause that says what it is worth."""

GOALS: Final = (
    *(_dealt(own) for own in CARDS),
    *(_shown(own, shown) for own in CARDS for shown in CARDS if own != shown),
    Goal(
        "house-calls-by-showing",
        "The house calls by showing its card",
        "kuhn-4.8",
        _last(lambda game: (game.seat, game.history) == (P_1, ("BET", "CAL"))),
    ),
    Goal(
        "house-checks-by-showing",
        "The house checks behind a check by showing its card",
        "kuhn-4.8",
        _last(lambda game: (game.seat, game.history) == (P_1, ("CHK", "CHK"))),
    ),
    *(_sequence(seat, history, f"kuhn-{clause}") for seat in STRT for history, clause in SEQUENCES.items()),
)

EXTRAS: Final = (
    *COINS,
    Extra(
        "line-ends-between-messages",
        "Line ends and spaces between messages",
        "kuhn-2.4",
        (said(b"STRT P_1\r\n", b"\n ACTN BET", b"\r\nSTRT P_1\n"),),
    ),
    Extra("quoted-seat", "An argument in double quotes", "kuhn-2.5", (said(b'STRT "P_1"', b"ACTN BET"),)),
)


def sort(message: object) -> str:
    """A card is a card, whichever it is."""
    return "CARD" if isinstance(message, Card) else str(message)


GROUND: Final = Ground(
    room=ROOM,
    situations=SITUATIONS,
    remarks=REMARKS,
    blunders=BLUNDERS,
    goals=GOALS,
    extras=EXTRAS,
    outline=lambda game, over: None,  # noqa: ARG005 -- what matters of a game is in the sorts of its messages
    sort=sort,
    refuses=lambda message: isinstance(message, Fail),
    moves=moves,
    goodbye=(DISC,),
    farewells=(DISC,),
    game=(STRT["P_1"], ACTN["BET"]),
    untestable={
        "kuhn-1.1": "a server is tested wherever it listens",
        "kuhn-1.4": "the idle limit is 500 seconds, and a limit on decisions is not told",
        "kuhn-1.5": "nobody knows for how many connections there is room",
        "kuhn-3.4": "follows from 3.3 and 6.1: there is no word for a raise",
        "kuhn-3.5": "who has won is not told on the wire; it shows in the purse, with 7.4",
        "kuhn-8.3": "what was forfeited is not told on the wire, and the next purse is a new one",
        "kuhn-8.4": "a client cannot make a server stop",
        "kuhn-8.5": "how a connection is closed does not show in what was said",
    },
    shared={
        "speaks first": "kuhn-1.2",
        "tables": "kuhn-1.2",
        "stream": "kuhn-1.3",
        "cut": "kuhn-2.1",
        "unasked": "kuhn-4.9",
        "next": "kuhn-4.10",
        "goodbye": "kuhn-8.1",
        "close": "kuhn-8.2",
    },
    tolerances=frozenset({"kuhn-2.4", "kuhn-2.5"}),
    referee=accountant,
)
