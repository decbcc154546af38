"""Clients that each break one rule, and the clause on which each is caught, while the house stays without a fault."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.referee import Referee
from tests.rooms.conversation_fixture import Court

P_1, P_2 = b"STRT P_1", b"STRT P_2"
CHK, BET, CAL, FLD, DISC = b"ACTN CHK", b"ACTN BET", b"ACTN CAL", b"ACTN FLD", b"DISC"

type Way = Callable[[bytes], Sequence[bytes]]
"""What a client makes of what it should say."""


def instead(said: bytes, *other: bytes) -> Way:
    return lambda line: other if line == said else (line,)


def spelt(old: bytes, new: bytes) -> Way:
    return lambda line: (line.replace(old, new),)


def polite(line: bytes) -> Sequence[bytes]:
    return (line,)


@dataclass(frozen=True)
class Rogue:
    """A client with a way of its own, what it should say, and the clauses that it breaks by what it does say."""

    name: str
    clause: str
    way: Way
    says: Sequence[bytes] = (P_1, BET)
    house: str = "CAL"
    answers: bytes = b"CARD C_QFAIL W_A"
    """All that the house is heard to say, with the deck Q K J."""
    coins: str = "10"
    strict: bool = False
    head: dict[str, str] = field(default_factory=dict)


WA = b"FAIL W_A"
SHOWN = b"CARD C_QCARD C_K"

ROGUES = [
    Rogue("acts before it has asked for a seat", "kuhn-6.2", instead(P_1, BET, P_1), answers=WA + SHOWN),
    Rogue("acts when the game is over", "kuhn-6.2", instead(BET, BET, FLD), answers=SHOWN + WA),
    Rogue(
        "bets again when the house has folded",
        "kuhn-6.2",
        instead(BET, BET, BET),
        (P_1, BET),
        "FLD",
        b"CARD C_QACTN FLD" + WA,
    ),
    Rogue(
        "asks for another seat in a game", "kuhn-6.3", instead(P_1, P_1, P_2), answers=b"CARD C_Q" + WA + b"CARD C_K"
    ),
    Rogue("asks twice", "kuhn-6.3", instead(P_1, P_1 + P_1), answers=b"CARD C_Q" + WA + b"CARD C_K"),
    Rogue("shows its card", "kuhn-6.4", instead(BET, b"CARD C_Q", BET), answers=b"CARD C_Q" + WA + b"CARD C_K"),
    Rogue("calls where nobody has bet", "kuhn-6.1", spelt(BET, CAL)),
    Rogue("folds where nobody has bet", "kuhn-6.1", spelt(BET, FLD)),
    Rogue("checks behind a bet", "kuhn-6.1", spelt(CAL, CHK), (P_2, CAL), "BET", b"CARD C_KACTN BET" + WA),
    Rogue("raises", "kuhn-6.1", spelt(CAL, BET), (P_1, CHK, CAL), "BET", b"CARD C_QACTN BET" + WA),
    Rogue("calls a check", "kuhn-6.1", spelt(CHK, CAL), (P_2, CHK), "CHK", b"CARD C_KACTN CHK" + WA),
    Rogue("asks for a third seat", "kuhn-2.6", spelt(b"P_1", b"P_3"), (P_1,), answers=WA),
    Rogue("spells its act out", "kuhn-2.6", spelt(BET, b"ACTN RAI"), answers=b"CARD C_Q" + WA),
    Rogue("speaks another protocol", "kuhn-2.7", spelt(P_1, b"HELO"), (P_1,), answers=WA + DISC),
    Rogue("speaks HTTP", "kuhn-2.7", spelt(P_1, b"GET / HTTP/1.1\r\n\r\n"), (P_1,), answers=WA + DISC),
    Rogue("forgets the space", "kuhn-2.7", spelt(b" ", b""), (P_1,), answers=WA + DISC),
    Rogue(
        "ends its code with a NUL", "kuhn-2.7", spelt(P_1, P_1 + b"\0\0\0\0"), (P_1,), answers=b"CARD C_Q" + WA + DISC
    ),
    Rogue("does not close its quotes", "kuhn-2.7", spelt(b"P_1", b'"P_1 '), (P_1,), answers=WA + DISC),
    Rogue("writes quotes to a strict house", "kuhn-2.6", spelt(b"P_1", b'"P_'), (P_1,), answers=WA, strict=True),
    Rogue(
        "ends its lines to a strict house",
        "kuhn-2.7",
        spelt(P_1, P_1 + b"\r\nAC"),
        (P_1,),
        answers=b"CARD C_Q" + WA + DISC,
        strict=True,
    ),
    Rogue("sends an error nobody knows", "kuhn-2.8", spelt(BET, b"FAIL XYZ"), answers=b"CARD C_Q"),
    Rogue("plays without an ante", "kuhn-7.2", polite, (P_1,), answers=b"FAIL N_C", coins="0"),
    Rogue("bets without a coin", "kuhn-7.3", polite, answers=b"CARD C_QFAIL N_C", coins="1"),
    Rogue("calls without a coin", "kuhn-7.3", polite, (P_2, CAL), "BET", b"CARD C_KACTN BETFAIL N_C", coins="1"),
    Rogue("loses all and asks for more", "kuhn-7.2", polite, (P_1, CHK, P_1), "CHK", SHOWN + b"FAIL N_C", coins="1"),
]

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def hearing(rogue: Rogue, way: Way, coins: str) -> Court:
    head = {"deck": "Q K J", "house": rogue.house, "coins": coins}
    court = Court(ROOM, head, referee=Referee(int(coins)), strict=rogue.strict)
    for line in rogue.says:
        court.say(*way(line))
    court.wait()
    return court


@rogues
def test_a_rogue_client_is_caught_on_its_own_clause_and_the_house_is_not_blamed(rogue: Rogue) -> None:
    court = hearing(rogue, rogue.way, rogue.coins)
    assert court.clauses(CLIENT) == [rogue.clause]
    assert court.clauses(HOUSE) == []
    assert court.heard == rogue.answers


@rogues
def test_a_polite_client_with_coins_breaks_nothing(rogue: Rogue) -> None:
    """So it is its way that was caught, and nothing else."""
    court = hearing(rogue, polite, "10")
    assert court.verdicts == []


def test_who_speaks_ahead_of_the_answers_breaks_nothing() -> None:
    court = Court(ROOM, {"deck": "Q K J", "house": "CAL CHK"}, referee=Referee(10))
    court.say(P_1 + BET + P_2 + CHK + DISC)
    assert court.verdicts == []
    assert court.heard == b"CARD C_QCARD C_KCARD C_KACTN CHKCARD C_Q"


def test_who_does_not_know_its_purse_may_be_refused() -> None:
    """Where the referee has not been told of the purse, FAIL N_C is taken for true (kuhn-7.2, kuhn-7.3)."""
    for coins, says in (("0", [P_1]), ("1", [P_1, BET])):
        court = Court(ROOM, {"deck": "Q K J", "house": "CAL", "coins": coins})
        court.say(*says)
        assert court.heard.endswith(b"FAIL N_C")
        assert court.verdicts == []
