"""Clients that each break one rule, and the clause on which each is caught, while the house stays without a fault."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.blackjack import ROOM
from tests.rooms.blackjack.frames import HIT, PLY, SRD, STAND, STP, TRN, bank, bet, client, err, lost, mon, won
from tests.rooms.conversation_fixture import Court

TEN = bet(10)

type Way = Callable[[bytes], Sequence[bytes]]
"""What a client makes of what it should say."""


def ahead(said: bytes, *more: bytes) -> Way:
    """Says something before it says this."""
    return lambda line: (*more, line) if line == said else (line,)


def spelt(old: bytes, new: bytes) -> Way:
    return lambda line: (line.replace(old, new),)


def polite(line: bytes) -> Sequence[bytes]:
    return (line,)


MON = mon(1000)
CARDS = client("TS", "6H") + bank("9D") + TRN
SAVED = lost(5)
END = err(502) + err(300) + STP
CHAR8 = {"dialect": "char8"}


@dataclass(frozen=True)
class Rogue:
    """A client with a way of its own, what it should say, and the clauses that it breaks by what it does say."""

    name: str
    clauses: Sequence[str]
    way: Way
    answers: bytes
    """All that the house is heard to say, with the deck TS 6H 9D 2C."""
    says: Sequence[bytes] = (PLY, TEN, SRD)
    head: dict[str, str] = field(default_factory=dict)
    strict: bool = False


OUT_OF_TURN = ["blackjack-6.3"]
NOT_ITS_OWN = ["blackjack-6.4"]
STRANGE = ["blackjack-2.9"]
NO_MOVE = ["blackjack-2.11"]
NO_ERROR = ["blackjack-2.12"]
UNREADABLE = ["blackjack-2.10"]
FULL = MON + CARDS + SAVED

ROGUES = [
    Rogue("bets before PLY", OUT_OF_TURN, ahead(PLY, TEN), err(501) + FULL),
    Rogue("hits before PLY", OUT_OF_TURN, ahead(PLY, HIT), err(501) + FULL),
    Rogue("surrenders before PLY", OUT_OF_TURN, ahead(PLY, SRD), err(501) + FULL),
    Rogue("begins twice", OUT_OF_TURN, ahead(TEN, PLY), MON + err(501) + CARDS + SAVED),
    Rogue("hits before its bet", OUT_OF_TURN, ahead(TEN, HIT), MON + err(501) + CARDS + SAVED),
    Rogue("stands before its bet", OUT_OF_TURN, ahead(TEN, STAND), MON + err(501) + CARDS + SAVED),
    Rogue("raises", OUT_OF_TURN, ahead(SRD, TEN), MON + CARDS + err(501) + SAVED),
    Rogue("bets nothing in a round", OUT_OF_TURN, ahead(SRD, bet(0)), MON + CARDS + err(501) + SAVED),
    Rogue("begins a round in a round", OUT_OF_TURN, ahead(SRD, PLY), MON + CARDS + err(501) + SAVED),
    Rogue("surrenders twice", OUT_OF_TURN, ahead(SRD, SRD), FULL + err(501)),
    Rogue("bets nothing", ["blackjack-6.5"], ahead(TEN, bet(0)), MON + err(500) + CARDS + SAVED),
    Rogue("bets a debt", ["blackjack-6.5"], ahead(TEN, bet(-10)), MON + err(500) + CARDS + SAVED),
    Rogue("bets more than it has", ["blackjack-6.6"], ahead(TEN, bet(1001)), MON + err(400) + CARDS + SAVED),
    Rogue("bets little-endian", ["blackjack-6.6"], ahead(TEN, b"BET\x0a\0\0\0"), MON + err(400) + CARDS + SAVED),
    Rogue("bets in text", ["blackjack-6.6"], ahead(TEN, b"BET 10\n"), MON + err(400) + CARDS + SAVED),
    Rogue("bets without a coin", ["blackjack-6.6"], polite, mon(0) + err(400), (PLY, TEN), {"money": "0"}),
    Rogue(
        "bets what would overflow",
        ["blackjack-6.6"],
        polite,
        mon(2147483647) + err(400),
        (PLY, TEN),
        {"money": "2147483647"},
    ),
    Rogue("tells the balance", NOT_ITS_OWN, ahead(PLY, MON), err(501) + FULL),
    Rogue("deals itself a card", NOT_ITS_OWN, ahead(SRD, client("5S")), MON + CARDS + err(501) + SAVED),
    Rogue("asks the house", NOT_ITS_OWN, ahead(SRD, TRN), MON + CARDS + err(501) + SAVED),
    Rogue("says that it has won", NOT_ITS_OWN, ahead(SRD, won(20)), MON + CARDS + err(501) + SAVED),
    Rogue("deals itself a one", STRANGE, ahead(SRD, b"CRD\0C\x001\0H"), MON + CARDS + err(501) + SAVED),
    Rogue("calls a draw", STRANGE, ahead(SRD, b"RES\0D\0\0\0\0"), MON + CARDS + err(501) + SAVED),
    Rogue("doubles", NO_MOVE, ahead(SRD, b"MOV\0D"), MON + CARDS + err(500) + SAVED),
    Rogue("hits in lower case", NO_MOVE, ahead(SRD, b"MOV\0h"), MON + CARDS + err(500) + SAVED),
    Rogue("doubles before PLY", NO_MOVE, ahead(PLY, b"MOV\0D"), err(501) + FULL),
    Rogue("doubles before its bet", NO_MOVE, ahead(TEN, b"MOV\0D"), MON + err(501) + CARDS + SAVED),
    Rogue("doubles in one byte", NO_MOVE, ahead(SRD, b"MOVD"), MON + CARDS + err(500) + SAVED, head=CHAR8),
    Rogue("sends an error nobody knows", NO_ERROR, ahead(SRD, err(404)), FULL),
    Rogue(
        "spells a ten X to a strict house", ["blackjack-2.7"], ahead(PLY, b"CRD\0C\0X\0S"), err(501) + FULL, strict=True
    ),
    Rogue("speaks another protocol", UNREADABLE, spelt(PLY, b"STRT"), END, (PLY,)),
    Rogue("speaks HTTP", UNREADABLE, spelt(PLY, b"GET / HTTP/1.1\r\n\r\n"), END, (PLY,)),
    Rogue("speaks in lower case", UNREADABLE, spelt(PLY, b"ply"), END, (PLY,)),
    Rogue("ends its lines", UNREADABLE, spelt(PLY, b"PLY\r\n"), MON + END, (PLY, TEN)),
    Rogue("puts spaces between", UNREADABLE, ahead(SRD, b" "), MON + CARDS + END),
    Rogue("splits", UNREADABLE, ahead(SRD, b"SPL"), MON + CARDS + END),
    Rogue(
        "sends characters of two bytes to a house of one",
        NO_MOVE + UNREADABLE,
        polite,
        MON + CARDS + err(500) + END,
        (PLY, TEN, HIT, STAND),
        CHAR8,
    ),
]

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def hearing(rogue: Rogue, way: Way, head: dict[str, str]) -> Court:
    court = Court(ROOM, {"deck": "TS 6H 9D 2C", **head}, strict=rogue.strict)
    for line in rogue.says:
        court.say(*way(line))
    court.wait()
    return court


def one_byte(answers: bytes) -> bytes:
    """What a house of the dialect char8 says instead."""
    words = (client("TS"), client("6H"), bank("9D"), SAVED[:5])
    for word in words:
        answers = answers.replace(word, word[:3] + word[3:].replace(b"\0", b""))
    return answers


@rogues
def test_a_rogue_client_is_caught_on_its_own_clause_and_the_house_is_not_blamed(rogue: Rogue) -> None:
    court = hearing(rogue, rogue.way, rogue.head)
    assert court.clauses(CLIENT) == rogue.clauses
    assert court.clauses(HOUSE) == []
    assert court.heard == (one_byte(rogue.answers) if rogue.head == CHAR8 else rogue.answers)


@rogues
def test_a_polite_client_with_coins_breaks_nothing(rogue: Rogue) -> None:
    """So it is its way, its purse or its dialect that was caught, and nothing else."""
    assert hearing(rogue, polite, {}).verdicts == []


def test_who_speaks_ahead_of_the_answers_breaks_nothing() -> None:
    court = Court(ROOM, {"deck": "TS 6H 9D 2C"})
    court.say(PLY + TEN + SRD + PLY + TEN + SRD + STP)
    assert court.verdicts == []
    assert court.heard == FULL + mon(995) + CARDS + SAVED + STP


def test_who_speaks_ahead_of_a_bust_comes_too_late() -> None:
    court = Court(ROOM, {"deck": "8S 9H AD 6D"})
    court.say(PLY + TEN + HIT + HIT)
    assert court.clauses(CLIENT) == OUT_OF_TURN
    assert court.clauses(HOUSE) == []
    assert court.heard.endswith(client("6D") + lost(0) + err(501))


def test_a_client_that_hangs_up_is_not_judged() -> None:
    court = Court(ROOM, {"deck": "TS 6H 9D 2C"})
    court.say(PLY, TEN)
    court.leave()
    assert court.verdicts == []
