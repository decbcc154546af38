"""Faulty clients that each break one clause; the referee must name it and not blame the house."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.referee import Referee
from tests.rooms.conversation_fixture import RefereedConversation
from tests.sampling import in_one_test

P_1, P_2 = b"STRT P_1", b"STRT P_2"
CHK, BET, CAL, FLD, DISC = b"ACTN CHK", b"ACTN BET", b"ACTN CAL", b"ACTN FLD", b"DISC"

type Mutation = Callable[[bytes], Sequence[bytes]]
"""A mutation of a client: maps a correct message to the messages that it sends."""


def instead(sent: bytes, *other: bytes) -> Mutation:
    return lambda line: other if line == sent else (line,)


def replaced(old: bytes, new: bytes) -> Mutation:
    return lambda line: (line.replace(old, new),)


def unchanged(line: bytes) -> Sequence[bytes]:
    return (line,)


@dataclass(frozen=True)
class Rogue:
    """A client with a mutation, its correct messages, and the clauses that the mutation breaks."""

    name: str
    clause: str
    mutation: Mutation
    says: Sequence[bytes] = (P_1, BET)
    house: str = "CAL"
    answers: bytes = b"CARD C_QFAIL W_A"
    """All output of the house, with the deck Q K J."""
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
    Rogue("calls where nobody has bet", "kuhn-6.1", replaced(BET, CAL)),
    Rogue("folds where nobody has bet", "kuhn-6.1", replaced(BET, FLD)),
    Rogue("checks after a bet", "kuhn-6.1", replaced(CAL, CHK), (P_2, CAL), "BET", b"CARD C_KACTN BET" + WA),
    Rogue("raises", "kuhn-6.1", replaced(CAL, BET), (P_1, CHK, CAL), "BET", b"CARD C_QACTN BET" + WA),
    Rogue("calls a check", "kuhn-6.1", replaced(CHK, CAL), (P_2, CHK), "CHK", b"CARD C_KACTN CHK" + WA),
    Rogue("asks for a third seat", "kuhn-2.6", replaced(b"P_1", b"P_3"), (P_1,), answers=WA),
    Rogue("spells its act out", "kuhn-2.6", replaced(BET, b"ACTN RAI"), answers=b"CARD C_Q" + WA),
    Rogue("speaks another protocol", "kuhn-2.7", replaced(P_1, b"HELO"), (P_1,), answers=WA + DISC),
    Rogue("speaks HTTP", "kuhn-2.7", replaced(P_1, b"GET / HTTP/1.1\r\n\r\n"), (P_1,), answers=WA + DISC),
    Rogue("forgets the space", "kuhn-2.7", replaced(b" ", b""), (P_1,), answers=WA + DISC),
    Rogue(
        "ends its code with a NUL",
        "kuhn-2.7",
        replaced(P_1, P_1 + b"\0\0\0\0"),
        (P_1,),
        answers=b"CARD C_Q" + WA + DISC,
    ),
    Rogue("does not close its quotes", "kuhn-2.7", replaced(b"P_1", b'"P_1 '), (P_1,), answers=WA + DISC),
    Rogue("writes quotes to a strict house", "kuhn-2.6", replaced(b"P_1", b'"P_'), (P_1,), answers=WA, strict=True),
    Rogue(
        "ends its lines to a strict house",
        "kuhn-2.7",
        replaced(P_1, P_1 + b"\r\nAC"),
        (P_1,),
        answers=b"CARD C_Q" + WA + DISC,
        strict=True,
    ),
    Rogue("sends an error nobody knows", "kuhn-2.8", replaced(BET, b"FAIL XYZ"), answers=b"CARD C_Q"),
    Rogue("plays without an ante", "kuhn-7.2", unchanged, (P_1,), answers=b"FAIL N_C", coins="0"),
    Rogue("bets without a coin", "kuhn-7.3", unchanged, answers=b"CARD C_QFAIL N_C", coins="1"),
    Rogue("calls without a coin", "kuhn-7.3", unchanged, (P_2, CAL), "BET", b"CARD C_KACTN BETFAIL N_C", coins="1"),
    Rogue("loses all and asks for more", "kuhn-7.2", unchanged, (P_1, CHK, P_1), "CHK", SHOWN + b"FAIL N_C", coins="1"),
]

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def run_conversation(rogue: Rogue, mutation: Mutation, coins: str) -> RefereedConversation:
    head = {"deck": "Q K J", "house": rogue.house, "coins": coins}
    conversation = RefereedConversation(ROOM, head, referee=Referee(int(coins)), strict=rogue.strict)
    for line in rogue.says:
        conversation.send(*mutation(line))
    conversation.wait()
    return conversation


@in_one_test
@rogues
def test_faulty_client_breaks_exactly_its_clause(rogue: Rogue) -> None:
    conversation = run_conversation(rogue, rogue.mutation, rogue.coins)
    assert conversation.clauses(CLIENT) == [rogue.clause]
    assert conversation.clauses(HOUSE) == []
    assert conversation.received == rogue.answers


@in_one_test
@rogues
def test_same_client_without_its_mutation_breaks_nothing(rogue: Rogue) -> None:
    """The mutation is therefore the only fault."""
    conversation = run_conversation(rogue, unchanged, "10")
    assert conversation.verdicts == []


def test_pipelined_commands_break_nothing() -> None:
    conversation = RefereedConversation(ROOM, {"deck": "Q K J", "house": "CAL CHK"}, referee=Referee(10))
    conversation.send(P_1 + BET + P_2 + CHK + DISC)
    assert conversation.verdicts == []
    assert conversation.received == b"CARD C_QCARD C_KCARD C_KACTN CHKCARD C_Q"


def test_no_coins_is_accepted_if_the_purse_is_unknown() -> None:
    """A referee that does not know the purse accepts FAIL N_C (kuhn-7.2, kuhn-7.3)."""
    for coins, says in (("0", [P_1]), ("1", [P_1, BET])):
        conversation = RefereedConversation(ROOM, {"deck": "Q K J", "house": "CAL", "coins": coins})
        conversation.send(*says)
        assert conversation.received.endswith(b"FAIL N_C")
        assert conversation.verdicts == []
