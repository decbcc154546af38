"""Where a client of seven and a half can be, and what it can say there."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from croupier.conformance.servers.scenarios import said, strolled
from croupier.conformance.servers.scripted_client import Script, Wait
from croupier.conformance.servers.sevenhalf_goals import GOALS, careful, drawing, held, moves, outline, raised
from croupier.conformance.servers.test_data import Extra, Ground, Parting, Referee, Remark, Situation, Talk
from croupier.core.errors import Violation
from croupier.rooms.sevenhalf import ROOM
from croupier.rooms.sevenhalf.referee import Game
from croupier.rooms.sevenhalf.rules import BEST, MOST
from croupier.rooms.sevenhalf.wire import BSTG, CARD, DRAW, PASS, STRT, Ante, Bksc, Erro, Gain, Stbt

TEN: Final = Ante(10)


def _playing(found: Callable[[Game], bool]) -> Callable[[Referee], bool]:
    """Whether a game is played of which this is true."""
    return lambda referee: referee.game is not None and found(referee.game)


def _ended(found: Callable[[Game], bool]) -> Callable[[Referee], bool]:
    """Whether no game is played, and this is true of the last one."""
    return lambda referee: referee.game is None and referee.last is not None and found(referee.last)


def aimed(referee: Referee, luck: Random) -> object:
    """For a raise behind the first card."""
    game = referee.game
    return TEN if game is not None and game.state.cards else moves(referee, luck)


SITUATIONS: Final = (
    Situation("start", "before the first game", lambda referee: referee.game is None and not referee.finished),
    Situation("between", "behind a game that was passed", _ended(lambda game: held(game) <= BEST), careful),
    Situation("over", "behind a game that was over", _ended(lambda game: held(game) > BEST), drawing),
    Situation("bet", "before the first card", _playing(lambda game: not game.state.cards)),
    Situation(
        "card",
        "with less than seven and a half",
        _playing(lambda game: 0 < held(game) < BEST and not raised(game)),
    ),
    Situation("best", "with seven and a half", _playing(lambda game: held(game) == BEST and not raised(game)), drawing),
    Situation("raised", "behind an ANTE", _playing(raised), aimed),
)
IDLE: Final = ("start", "between", "over")
PLAYING: Final = ("bet", "card", "best", "raised")


def _clauses(idle: str, **others: str) -> Mapping[str, str]:
    """The clause between games, and in the situations of a game."""
    return {name: f"sevenhalf-{clause}" for name, clause in {**dict.fromkeys(IDLE, idle), **others}.items()}


def _all(clause: str) -> Mapping[str, str]:
    return dict.fromkeys((*IDLE, *PLAYING), f"sevenhalf-{clause}")


def _amount(clause: str) -> Mapping[str, str]:
    """The clauses about an ANTE that is wrong by its amount."""
    return _clauses("7.5", bet="7.5", card=clause, best=clause, raised=clause)


REMARKS: Final = (
    Remark(
        "strt",
        "STRT",
        STRT,
        {**_clauses("4.10", bet="6.2", card="6.3", best="6.3", raised="6.4"), "start": "sevenhalf-4.1"},
    ),
    Remark("draw", "DRAW", DRAW, _clauses("6.1", bet="4.2", card="4.3", best="4.7", raised="4.4")),
    Remark(
        "pass",
        "PASS",
        PASS,
        {
            **_clauses("6.1", bet="6.2", card="4.5", best="4.7", raised="6.4"),
            "over": "sevenhalf-4.8",
        },
    ),
    Remark("ante", "ANTE 10", TEN, _clauses("6.1", bet="6.2", card="4.3", best="4.4", raised="4.4")),
    Remark("ante-of-nothing", "ANTE 0", Ante(0), _amount("7.2")),
    Remark("ante-below-nothing", "ANTE -10", Ante(-10), _amount("7.2")),
    Remark("ante-too-much", f"ANTE {MOST + 1}", Ante(MOST + 1), _amount("7.3")),
    Remark("largest-ante", "ANTE 2147483647", Ante(2**31 - 1), _amount("7.3")),
    Remark("stbt-from-the-client", "STBT 100", Stbt(100), _all("6.5")),
    Remark("card-from-the-client", "CARD rb", CARD["rb"], _all("6.5")),
    Remark("bstg-from-the-client", "BSTG", BSTG, _all("6.5")),
    Remark("bksc-from-the-client", "BKSC with two cards", Bksc(("7c", "cc"), "07.5"), _all("6.5")),
    Remark("gain-from-the-client", "GAIN 100", Gain(100), _all("6.5")),
    Remark("erro-from-the-client", "ERRO 05what?", Erro("what?"), _all("6.6")),
    Remark("erro-that-looks-like-a-command", "ERRO 04STRT", Erro("STRT"), _all("2.6")),
    Remark("unknown-code", "HELO, an unknown code", b"HELO", _all("2.9")),
    Remark("number-as-text", "ANTE 50 as text, and a line end", b"ANTE 50\r\nDRAW", {"raised": "sevenhalf-2.3"}),
    Remark("no-space", "a code without its space", b"ANTE\0\0\0\x0a", _all("2.9")),
    Remark("no-such-card", "CARD 8o, a card that is none", b"CARD 8o", _all("2.9")),
    Remark("http-request", "a request of a browser", b"GET / HTTP/1.1\r\nHost: croupier\r\n\r\n", _all("2.9")),
    Remark("bytes-that-are-no-letters", "four bytes that are no letters", b"\x00\xff\x80\x01", _all("2.9")),
    Remark("draw-in-small-letters", "draw", b"draw", {"bet": "sevenhalf-2.7", "card": "sevenhalf-2.7"}),
    Remark("pass-in-mixed-letters", "PaSs", b"PaSs", {"card": "sevenhalf-2.7", "best": "sevenhalf-2.7"}),
    Remark("strt-in-small-letters", "strt", b"strt", {"start": "sevenhalf-2.7", "between": "sevenhalf-2.7"}),
)
BLUNDERS: Final = frozenset(
    {"strt", "ante", "ante-of-nothing", "stbt-from-the-client", "card-from-the-client", "erro-from-the-client"}
)


def behind_gain(talk: Talk) -> Script:
    """A game to its end, and then nothing for a while."""
    for message in talk.ground.game:
        yield talk.spelt(message)
    yield Wait(0.05)
    return None


EXTRAS: Final = (
    Extra("open-behind-gain", "The connection stays open behind GAIN", "sevenhalf-8.5", (behind_gain,)),
    Extra("nothing-allowed-is-refused", "Nothing that is allowed is refused", "sevenhalf-6.8", (strolled(8, 0.0),)),
    Extra(
        "line-ends-between-messages",
        "Line ends and spaces between messages",
        "sevenhalf-2.8",
        (said(b"STRT\r\n", b"\nDRAW", b"\r\n DRAW\n"),),
    ),
    Extra(
        "starting-bet-again",
        "Every game tells its starting bet anew",
        "sevenhalf-7.1",
        (said(STRT, DRAW, DRAW, DRAW, DRAW, DRAW, DRAW, DRAW, STRT, STRT),),
    ),
    Extra(
        "a-refused-ante-adds-nothing",
        "A refused ANTE adds nothing and forces nothing",
        "sevenhalf-7.4",
        (said(STRT, DRAW, Ante(0), PASS, STRT, DRAW, Ante(-1), PASS),),
    ),
    Extra(
        "antes-that-add-up-to-too-much",
        "Two ANTEs that are too much only together",
        "sevenhalf-7.3",
        (said(STRT, DRAW, Ante(2**29), Ante(2**29), DRAW),),
    ),
    Extra(
        "a-million-in-every-game",
        "A client may bet as much in every game, whatever it has lost",
        "sevenhalf-7.6",
        (said(*(word for _ in range(4) for word in (STRT, DRAW, Ante(1_000_000), PASS, DRAW, DRAW, DRAW, DRAW))),),
    ),
)


GROUND: Final = Ground(
    room=ROOM,
    situations=SITUATIONS,
    remarks=REMARKS,
    blunders=BLUNDERS,
    goals=GOALS,
    extras=EXTRAS,
    outline=outline,
    lucky=("sevenhalf-3.", "sevenhalf-4.7", "sevenhalf-5."),
    sort=lambda message: "garbage" if isinstance(message, Violation) else str(message)[:4],
    refuses=lambda message: isinstance(message, Erro),
    moves=moves,
    goodbye=(),
    farewells=(),
    game=(STRT, DRAW, PASS),
    untestable={
        "sevenhalf-1.1": "a server is tested wherever it listens",
        "sevenhalf-1.4": "the idle limit is 500 seconds, and a limit on decisions is not told",
        "sevenhalf-1.5": "nobody knows for how many connections there is room",
        "sevenhalf-6.7": "the text of an ERRO is for people",
        "sevenhalf-8.3": "what was forfeited is not told on the wire",
        "sevenhalf-8.4": "a client cannot make a server stop",
        "sevenhalf-8.6": "how a connection is closed does not show in what was said",
        "sevenhalf-10.1": "a text log is not on the wire",
    },
    shared={
        "speaks first": "sevenhalf-1.2",
        "tables": "sevenhalf-1.2",
        "stream": "sevenhalf-1.3",
        "cut": "sevenhalf-2.1",
        "unasked": "sevenhalf-4.9",
        "next": "sevenhalf-4.10",
        "goodbye": "sevenhalf-8.1",
        "close": "sevenhalf-8.2",
    },
    settings={"bet": ("1", "10", "13", "50")},
    tolerances=frozenset({"sevenhalf-2.8", "sevenhalf-4.8"}),
    owes=lambda referee: referee.alarm is not None and not referee.legal,
    parting=Parting("sevenhalf-6.8", b"STRT"),
)
