"""Clients that each break one rule, and the clause on which each is caught, while the house stays without a fault."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.sevenhalf import ROOM
from tests.rooms.conversation_fixture import Court
from tests.rooms.sevenhalf.frames import (
    BSTG,
    DRAW,
    GARBAGE,
    PASS,
    STRT,
    UNREADABLE,
    ante,
    bksc,
    card,
    erro,
    gain,
    number,
    refused,
    stbt,
)

type Way = Callable[[bytes], Sequence[bytes]]
"""What a client makes of what it should say."""


def instead(said: bytes, *other: bytes) -> Way:
    return lambda line: other if line == said else (line,)


def ahead(said: bytes, *other: bytes) -> Way:
    """Says something else before it."""
    return lambda line: (*other, line) if line == said else (line,)


def behind(said: bytes, *other: bytes) -> Way:
    """Says something else behind it."""
    return lambda line: (line, *other) if line == said else (line,)


def spelt(old: bytes, new: bytes) -> Way:
    return lambda line: (line.replace(old, new),)


def polite(line: bytes) -> Sequence[bytes]:
    return (line,)


BET, SEVEN, HALF = stbt(100), card("7o"), card("so")
LOST = bksc("4c 1e 3b", "08.0") + gain(100)
"""With the deck 7o 4c 1e 3b: the client has 7, the bank draws 4, 5 and 8."""

PLAYED = BET + SEVEN + LOST
PLAYS = (STRT, DRAW, PASS)
PLAY = "7o 4c 1e 3b"

BUSTED = BET + SEVEN + card("7c") + BSTG + bksc("rb", "00.5") + gain(-100)
BUSTS = (STRT, DRAW, DRAW)
BUST = "7o 7c rb"

ONLY_START = "STRT"
ONLY_DRAW = "DRAW"
HAND = "DRAW, ANTE, PASS"
RAISED = "DRAW, ANTE"
MOST = 2**30 - 1


@dataclass(frozen=True)
class Rogue:
    """A client with a way of its own, what it should say, the clauses that it breaks, and what the house answers."""

    name: str
    clause: str
    way: Way
    answers: bytes
    says: Sequence[bytes] = PLAYS
    deck: str = PLAY
    strict: bool = False


def lost(name: str, way: Way, answers: bytes = b"", *, strict: bool = False) -> Rogue:
    """One that cannot be understood: the house says so, and no more."""
    return Rogue(name, "sevenhalf-2.9", way, answers + UNREADABLE, strict=strict)


HOUSES_WORDS = {
    "STBT": stbt(1),
    "CARD": card("1o"),
    "BSTG": BSTG,
    "BKSC": bksc("", "00.0"),
    "GAIN": gain(1000),
}

SENSELESS = {
    "shows a card that is none": b"CARD 8o",
    "shows a bank's card that is none": bksc("7o 8o", "15.0"),
    "shows a score that is none": bksc("7o", "7.00"),
}
"""Words of the house whose arguments cannot be, but whose length is known."""

ROGUES = [
    Rogue("draws before it has asked for a game", "sevenhalf-6.1", ahead(STRT, DRAW),
          refused("DRAW", ONLY_START) + PLAYED),
    Rogue("raises before it has asked for a game", "sevenhalf-6.1", ahead(STRT, ante(10)),
          refused("ANTE", ONLY_START) + PLAYED),
    Rogue("passes before it has asked for a game", "sevenhalf-6.1", ahead(STRT, PASS),
          refused("PASS", ONLY_START) + PLAYED),
    Rogue("starts twice", "sevenhalf-6.2", behind(STRT, STRT), BET + refused("STRT", ONLY_DRAW) + SEVEN + LOST),
    Rogue("passes without a card", "sevenhalf-6.2", ahead(DRAW, PASS),
          BET + refused("PASS", ONLY_DRAW) + SEVEN + LOST),
    Rogue("raises without a card", "sevenhalf-6.2", ahead(DRAW, ante(10)),
          BET + refused("ANTE", ONLY_DRAW) + SEVEN + LOST),
    Rogue("raises by nothing without a card", "sevenhalf-6.2", ahead(DRAW, ante(0)),
          BET + refused("ANTE", ONLY_DRAW) + SEVEN + LOST),
    Rogue("starts again with a card", "sevenhalf-6.3", ahead(PASS, STRT), BET + SEVEN + refused("STRT", HAND) + LOST),
    Rogue("starts again behind an ANTE", "sevenhalf-6.4", behind(ante(10), STRT),
          BET + SEVEN + refused("STRT", RAISED) + HALF + bksc("4c 4e", "08.0") + gain(220),
          (STRT, DRAW, ante(10), DRAW, PASS), "7o so 4c 4e"),
    Rogue("passes behind an ANTE", "sevenhalf-6.4", behind(ante(10), PASS),
          BET + SEVEN + refused("PASS", RAISED) + HALF + bksc("4c 4e", "08.0") + gain(220),
          (STRT, DRAW, ante(10), DRAW, PASS), "7o so 4c 4e"),
    Rogue("raises by nothing", "sevenhalf-7.2", ahead(PASS, ante(0)),
          BET + SEVEN + refused("ANTE 0", f"1 to {MOST - 100}") + LOST),
    Rogue("raises by less than nothing", "sevenhalf-7.2", ahead(PASS, ante(-100)),
          BET + SEVEN + refused("ANTE -100", f"1 to {MOST - 100}") + LOST),
    Rogue("raises by more than is allowed", "sevenhalf-7.3", ahead(PASS, ante(MOST - 99)),
          BET + SEVEN + refused(f"ANTE {MOST - 99}", f"1 to {MOST - 100}") + LOST),
    Rogue("sends its ANTE backwards", "sevenhalf-7.3", ahead(PASS, b"ANTE " + number(100)[::-1]),
          BET + SEVEN + refused(f"ANTE {100 << 24}", f"1 to {MOST - 100}") + LOST),
    Rogue("raises again and again", "sevenhalf-7.3", behind(ante(MOST - 100), ante(1)),
          BET + SEVEN + refused("ANTE 1", "no more") + HALF + bksc("4c 4e", "08.0") + gain(2 * MOST),
          (STRT, DRAW, ante(MOST - 100), DRAW, PASS), "7o so 4c 4e"),
    Rogue("says PASS twice behind a bust", "sevenhalf-6.1", behind(PASS, PASS),
          BUSTED + refused("PASS", ONLY_START), (*BUSTS, PASS), BUST),
    Rogue("draws on behind a bust", "sevenhalf-6.1", instead(b"", DRAW),
          BUSTED + refused("DRAW", ONLY_START), (*BUSTS, b""), BUST),
    Rogue("raises behind a bust", "sevenhalf-6.1", instead(b"", ante(10)),
          BUSTED + refused("ANTE", ONLY_START), (*BUSTS, b""), BUST),
    Rogue("passes twice", "sevenhalf-6.1", behind(PASS, PASS), PLAYED + refused("PASS", ONLY_START)),
    Rogue("draws when the game is over", "sevenhalf-6.1", behind(PASS, DRAW), PLAYED + refused("DRAW", ONLY_START)),
    Rogue("says PASS behind a bust to a strict house", "sevenhalf-6.1",
          instead(b"", PASS), BUSTED + refused("PASS", ONLY_START), (*BUSTS, b""), BUST,
          strict=True),
    *(Rogue(f"says {code} between games", "sevenhalf-6.5", ahead(STRT, said), refused(code, ONLY_START) + PLAYED)
      for code, said in HOUSES_WORDS.items()),
    *(Rogue(f"says {code} before its first card", "sevenhalf-6.5", ahead(DRAW, said),
            BET + refused(code, ONLY_DRAW) + SEVEN + LOST) for code, said in HOUSES_WORDS.items()),
    *(Rogue(f"says {code} with a card", "sevenhalf-6.5", ahead(PASS, said),
            BET + SEVEN + refused(code, HAND) + LOST) for code, said in HOUSES_WORDS.items()),
    *(Rogue(name, "sevenhalf-6.5", ahead(DRAW, said), BET + refused(said[:4].decode(), ONLY_DRAW) + SEVEN + LOST)
      for name, said in SENSELESS.items()),
    lost("speaks another protocol", spelt(STRT, GARBAGE)),
    lost("speaks HTTP", spelt(STRT, b"GET / HTTP/1.1\r\n\r\n")),
    lost("speaks Kuhn poker", spelt(DRAW, b"ACTN CHK"), BET),
    lost("spells START out", spelt(STRT, b"START"), b""),
    lost("says how long its messages are", spelt(STRT, b"\x00\x04STRT")),
    lost("ends its messages with a NUL", spelt(STRT, b"STRT\0\0\0\0"), BET),
    lost("writes the quotes", spelt(STRT, b"'STRT'")),
    lost("writes its ANTE as text and goes on", ahead(PASS, b"ANTE 100", DRAW), BET + SEVEN),
    lost("forgets the space of its ANTE", ahead(PASS, b"ANTE" + number(10)), BET + SEVEN),
    lost("puts a tab behind ANTE", ahead(PASS, b"ANTE\t" + number(10)), BET + SEVEN),
    lost("sends its ANTE in eight bytes", ahead(PASS, b"ANTE " + number(10) + number(10)), BET + SEVEN),
    lost("ends its lines to a strict house", spelt(STRT, b"STRT\r\n"), BET, strict=True),
    lost("complains with one digit", ahead(DRAW, b"ERRO 2no"), BET),
    lost("complains without a length", ahead(DRAW, b"ERRO Syntax error"), BET),
    lost("complains with an integer", ahead(DRAW, b"ERRO " + number(2) + b"no"), BET),
    lost("complains at greater length than it says", ahead(DRAW, b"ERRO 02not now"), BET),
    lost("says BKSC with forty-one cards", ahead(DRAW, b"BKSC " + number(41)), BET),
    lost("says BKSC with fewer cards than none", ahead(DRAW, b"BKSC " + number(-1)), BET),
]  # fmt: skip

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def hearing(rogue: Rogue, way: Way) -> Court:
    court = Court(ROOM, {"deck": rogue.deck}, strict=rogue.strict)
    for line in rogue.says:
        court.say(*way(line))
    court.wait()
    return court


@rogues
def test_a_rogue_client_is_caught_on_its_own_clause_and_the_house_is_not_blamed(rogue: Rogue) -> None:
    court = hearing(rogue, rogue.way)
    assert court.clauses(CLIENT) == [rogue.clause]
    assert court.clauses(HOUSE) == []
    assert court.heard == rogue.answers


@rogues
def test_a_polite_client_breaks_nothing(rogue: Rogue) -> None:
    """So it is its way that was caught, and nothing else."""
    court = hearing(rogue, polite)
    assert court.verdicts == []


def test_there_are_rogues_for_every_clause_that_a_client_can_break() -> None:
    caught = {rogue.clause.removeprefix("sevenhalf-") for rogue in ROGUES}
    assert caught == {"2.9", "6.1", "6.2", "6.3", "6.4", "6.5", "7.2", "7.3"}
    assert len({rogue.name for rogue in ROGUES}) == len(ROGUES) >= 25


def test_who_speaks_ahead_of_the_answers_breaks_nothing() -> None:
    court = Court(ROOM, {"deck": "7o 4c 1e 3b"})
    court.say(STRT + DRAW + PASS + STRT + DRAW)
    assert court.verdicts == []
    assert court.heard == PLAYED + BET + SEVEN


def test_who_passes_behind_a_bust_breaks_nothing() -> None:
    """Neither at once nor behind something that was refused (sevenhalf-4.8)."""
    court = Court(ROOM, {"deck": BUST})
    court.say(*BUSTS, PASS)
    assert court.verdicts == []
    court.say(STRT, DRAW, DRAW, DRAW, PASS, STRT)
    assert court.clauses(CLIENT) == ["sevenhalf-6.1"]
    assert court.heard == BUSTED + BUSTED + refused("DRAW", ONLY_START) + BET


def test_who_complains_breaks_nothing() -> None:
    court = Court(ROOM, {"deck": PLAY})
    court.say(erro(""), STRT, erro("DRAW"), DRAW, erro("x" * 99), PASS, erro("\r\n"))
    assert court.verdicts == []
    assert court.heard == PLAYED


def test_who_hangs_up_breaks_nothing() -> None:
    for at in range(len(PLAYS) + 1):
        court = Court(ROOM, {"deck": PLAY}, strict=True)
        court.say(*PLAYS[:at])
        court.leave()
        court.wait()
        assert court.verdicts == []


def test_a_number_typed_as_text_is_an_integer_all_the_same() -> None:
    """`ANTE 10\\r\\n` is an ANTE of 825232650 coins: its four bytes are allowed, whatever was meant (sevenhalf-2.3)."""
    court = Court(ROOM, {"deck": "7o so 4c 4e"})
    court.say(STRT, DRAW, b"ANTE 10\r\n", DRAW, PASS)
    assert court.verdicts == []
    assert court.heard.endswith(gain(2 * (100 + 0x31300D0A)))
