"""Where a client of blackjack can be, what it can say there, and what becomes of its money."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from croupier.conformance.servers.blackjack_goals import (
    GOALS,
    careful,
    dealt_21,
    held,
    hitting,
    most_bet,
    moves,
    outline,
    standing,
    surrendering,
)
from croupier.conformance.servers.scenarios import said
from croupier.conformance.servers.scripted_client import Script
from croupier.conformance.servers.test_data import Aim, Extra, Ground, Referee, Remark, Situation, Talk
from croupier.core.errors import Violation
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.referee import Game
from croupier.rooms.blackjack.rules import BEST, LARGEST
from croupier.rooms.blackjack.wire import (
    CRD,
    INVALID,
    MOV,
    PLY,
    SRD,
    STP,
    TRN,
    UNEXPECTED,
    Bet,
    Crd,
    Err,
    Mon,
    Res,
)


def _playing(found: Callable[[Game], bool]) -> Callable[[Referee], bool]:
    """Whether a round is played of which this is true."""
    return lambda referee: referee.game is not None and found(referee.game)


def _between(referee: Referee) -> bool:
    return referee.game is None and PLY in referee.legal


SITUATIONS: Final = (
    Situation("start", "before the first round", lambda referee: _between(referee) and not referee.finished),
    Situation("between", "between two rounds", lambda referee: _between(referee) and referee.finished > 0),
    Situation("bet", "before the bet", lambda referee: most_bet(referee) > 0),
    Situation("turn", "with two cards", _playing(lambda game: len(game.cards) == 2 and held(game) < BEST)),
    Situation("hit", "behind a hit", _playing(lambda game: len(game.cards) > 2), hitting),
    Situation("21", "with 21 in two cards", _playing(dealt_21), surrendering, 25),
)
IDLE: Final = ("start", "between")
PLAYING: Final = ("turn", "hit", "21")
EVERYWHERE: Final = (*IDLE, "bet", *PLAYING)


def _clauses(idle: str, bet: str, turn: str, best: str = "") -> Mapping[str, str]:
    """The clause between rounds, before the bet, in a round, and, where it is another, with 21 in two cards."""
    found = {**dict.fromkeys(IDLE, idle), "bet": bet, **dict.fromkeys(PLAYING, turn), "21": best or turn}
    return {name: f"blackjack-{clause}" for name, clause in found.items()}


def _all(clause: str) -> Mapping[str, str]:
    return dict.fromkeys(EVERYWHERE, f"blackjack-{clause}")


REMARKS: Final = (
    Remark("ply", "PLY", PLY, {**_clauses("4.8", "6.3", "6.3"), "start": "blackjack-4.1"}),
    Remark("bet", "BET 10", Bet(10), _clauses("6.3", "4.2", "4.6")),
    Remark("odd-bet", "BET 5", Bet(5), {"bet": "blackjack-4.2"}),
    Remark("bet-of-nothing", "BET 0", Bet(0), _clauses("6.2", "6.5", "6.2")),
    Remark("bet-below-nothing", "BET -5", Bet(-5), _clauses("6.2", "6.5", "6.2")),
    Remark("bet-too-much", f"BET {LARGEST}", Bet(LARGEST), _clauses("6.2", "6.6", "6.2")),
    Remark("bet-backwards", "BET 10 with its bytes backwards", b"BET\x0a\0\0\0", {"bet": "blackjack-2.3"}),
    Remark("hit", "MOV H", MOV["H"], _clauses("6.3", "6.3", "4.3", "3.7")),
    Remark("stand", "MOV S", MOV["S"], _clauses("6.3", "6.3", "4.4", "3.7")),
    Remark("surrender", "SRD", SRD, _clauses("6.3", "6.3", "4.5", "3.7")),
    Remark("mon-from-the-client", "MON 1000", Mon(1000), _all("6.4")),
    Remark("crd-from-the-client", "CRD C 8S", CRD["C"]["8S"], _all("6.4")),
    Remark("trn-from-the-client", "TRN", TRN, _all("6.4")),
    Remark("res-from-the-client", "RES W 600", Res("W", 600), _all("6.4")),
    Remark("err-501-from-the-client", "ERR 501", UNEXPECTED, _all("6.8")),
    Remark("err-500-from-the-client", "ERR 500", INVALID, _all("6.8")),
    Remark("unknown-err", "ERR 404, an unknown number", b"ERR\0\0\x01\x94", _all("2.12")),
    Remark("unknown-move", "MOV X, an unknown move", b"MOV\0X", _clauses("6.2", "6.2", "2.11")),
    Remark("small-move", "MOV h, in a small letter", b"MOV\0h", _clauses("6.2", "6.2", "2.5")),
    Remark("strange-card", "CRD X 8S, for nobody", b"CRD\0X\x008\0S", _clauses("2.9", "2.9", "2.9")),
    Remark("strange-result", "RES D 10, a third result", b"RES\0D\0\0\0\x0a", _all("2.9")),
    Remark("unknown-header", "HIT, an unknown header", b"HIT", _clauses("2.10", "2.10", "6.7")),
    Remark("small-letters", "ply in small letters", b"ply", _all("2.5")),
    Remark("line-end", "a line end", b"\r\n\n", _clauses("2.10", "2.10", "2.10")),
    Remark("http-request", "a request of a browser", b"GET / HTTP/1.1\r\n\r\n", _all("6.7")),
    Remark("bytes-that-are-no-letters", "three bytes that are no letters", b"\x00\xff\x80", _all("2.10")),
    Remark("goodbye", "STP", STP, _all("8.1")),
)
BLUNDERS: Final = frozenset(
    {
        *("ply", "bet-of-nothing", "bet-too-much", "mon-from-the-client", "crd-from-the-client"),
        *("err-501-from-the-client", "unknown-err", "strange-result"),
    }
)


def _books(slug: str, title: str, clause: str, aim: Aim) -> Extra:
    """Five rounds, and the balance behind each of them."""

    def play(talk: Talk) -> Script:
        while talk.referee.finished < 5:
            if PLY not in talk.referee.legal and STP in talk.referee.legal and len(talk.referee.legal) == 1:
                return "the purse was empty"
            yield talk.spelt(aim(talk.referee, talk.luck))
        yield talk.spelt(PLY)
        return None

    return Extra(slug, title, f"blackjack-{clause}", (play,))


def ruin(talk: Talk) -> Script:
    """Bet all there is until nothing is left."""
    for _ in range(60):
        referee = talk.referee
        if referee.game is not None:
            yield talk.spelt(MOV["H"])
        elif PLY in referee.legal:
            yield talk.spelt(PLY)
        elif most := most_bet(referee):
            yield talk.spelt(Bet(most))
        else:
            break
    if talk.referee.game is not None or len(talk.referee.legal) != 1:
        return "the purse was never empty"
    if not talk.referee.finished:
        return "the purse was empty from the start"
    for coins in (1, 1000, 0):
        yield talk.spelt(Bet(coins))
    return None


def new_purse(talk: Talk) -> Script:
    """A purse that is empty on one connection is full on the next."""
    yield talk.spelt(PLY)
    if not most_bet(talk.referee):
        raise Violation("blackjack-7.1", "MON 0 at the start of a connection", "a purse as full as the last one was")
    return None


def all_there_is(talk: Talk) -> Script:
    """One coin more than there is, and then all of it."""
    yield talk.spelt(PLY)
    most = most_bet(talk.referee)
    if not 0 < most < LARGEST:
        return "the purse was empty"
    yield talk.spelt(Bet(most + 1))
    yield talk.spelt(Bet(most))
    yield talk.spelt(SRD)
    yield talk.spelt(PLY)
    return None


EXTRAS: Final = (
    _books("balance-behind-surrenders", "The balance follows what was saved", "7.2", surrendering),
    _books("balance-behind-losses", "The balance follows what was lost", "7.2", hitting),
    _books("balance-behind-wins", "The balance follows what was won", "7.3", careful),
    _books("paid-back", "RES tells what is paid back", "5.4", standing),
    Extra("all-there-is", "All there is can be bet, and not one coin more", "blackjack-7.4", (all_there_is,)),
    Extra("ruin", "With an empty purse there is nothing to bet", "blackjack-7.5", (ruin,)),
    Extra("a-new-purse", "The purse is full again on a new connection", "blackjack-7.1", (ruin, new_purse)),
    Extra("farewell-in-full", "ERR 300 comes before STP", "blackjack-8.3", (said(PLY, b"HIT"),)),
    Extra("first-balance", "The first balance is not below nothing", "blackjack-7.1", (said(PLY),)),
    Extra(
        "refusals-change-nothing",
        "What is refused changes nothing",
        "blackjack-6.1",
        (said(SRD, PLY, PLY, SRD, Bet(0), MOV["H"], Bet(10), PLY, Bet(10), SRD, SRD, PLY),),
    ),
    Extra(
        "letters-of-two-bytes",
        "Characters have two bytes",
        "blackjack-2.4",
        (said(b"PLY", b"BET\0\0\0\x0a", b"MOV\0S", b"PLY"),),
    ),
)


def sort(message: Any) -> str:
    """Cards, amounts and who has won are luck's; who has the card and which error it is are not."""
    match message:
        case Violation():
            return "garbage"
        case Crd(owner):
            return f"CRD {owner}"
        case Mon() | Bet() | Res():
            return type(message).__name__.upper()
    return str(message)


GROUND: Final = Ground(
    room=ROOM,
    situations=SITUATIONS,
    remarks=REMARKS,
    blunders=BLUNDERS,
    goals=GOALS,
    extras=EXTRAS,
    outline=outline,
    lucky=("blackjack-3.", "blackjack-5."),
    sort=sort,
    refuses=lambda message: isinstance(message, Err) and message.number != 300,
    moves=moves,
    goodbye=(STP,),
    farewells=(STP,),
    game=(PLY, Bet(10), SRD),
    untestable={
        "blackjack-1.1": "a server is tested wherever it listens",
        "blackjack-1.4": "the idle limit is 500 seconds",
        "blackjack-1.5": "a limit on decisions is not told",
        "blackjack-1.6": "nobody knows for how many connections there is room",
        "blackjack-7.6": "what is in a client's account is not told on the wire",
        "blackjack-8.4": "what was forfeited is not told on the wire, and the next purse is a new one",
        "blackjack-8.5": "a client cannot make a server stop",
        "blackjack-8.6": "how a connection is closed does not show in what was said",
    },
    shared={
        "speaks first": "blackjack-1.2",
        "tables": "blackjack-1.2",
        "stream": "blackjack-1.3",
        "cut": "blackjack-2.1",
        "unasked": "blackjack-4.7",
        "next": "blackjack-4.8",
        "goodbye": "blackjack-8.1",
        "close": "blackjack-8.2",
    },
)
