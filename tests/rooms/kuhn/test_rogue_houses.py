"""Faulty houses that each break one clause, as students' servers do; the referee must name it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.referee import Referee
from tests.rooms.conversation_fixture import (
    GREETING,
    HANG_UP,
    Habit,
    RefereedConversation,
    before,
    followed,
    honest,
    instead,
    rewritten,
    without,
)
from tests.sampling import in_one_test

WA, NC, DISC = b"FAIL W_A", b"FAIL N_C", b"DISC"
P_1, P_2 = b"STRT P_1", b"STRT P_2"
CHK, BET, CAL, FLD = b"ACTN CHK", b"ACTN BET", b"ACTN CAL", b"ACTN FLD"


@dataclass(frozen=True)
class Rogue:
    """A house with a mutation, the messages of the client, and the clause that the mutation breaks."""

    name: str
    clause: str
    habit: Habit
    says: Sequence[bytes]
    head: dict[str, str] = field(default_factory=lambda: {"deck": "Q K J", "house": "BET CAL"})
    coins: int | None = None
    strict: bool = False
    faulty_client: bool = False
    """Whether the client is at fault as well: for houses that answer client faults wrongly."""


def deck(cards: str, house: str, **more: str) -> dict[str, str]:
    return {"deck": cards, "house": house, **more}


Q_AND_BET = deck("Q K J", "BET")
Q_AND_CALL = deck("Q K J", "CAL")
Q_AND_FOLD = deck("Q J K", "FLD")
Q_AND_CHECK = deck("Q K J", "CHK")
K_AND_BET = deck("J K Q", "BET")
K_AND_CHECKS = deck("J K Q", "CHK FLD")
POOR = deck("Q K J", "BET", coins="1")

ROGUES = [
    Rogue("spells its card with a word", "kuhn-2.6", rewritten(b"C_Q", b"QUEEN"), [P_1], Q_AND_BET),
    Rogue("spells its card with one letter and goes on", "kuhn-2.6", rewritten(b"C_K", b"K"), [P_2], K_AND_BET),
    Rogue("spells its card with one letter and waits", "kuhn-4.1", rewritten(b"C_Q", b"Q"), [P_1], Q_AND_BET),
    Rogue("deals an ace", "kuhn-2.6", rewritten(b"C_Q", b"C_A"), [P_1], Q_AND_BET),
    Rogue("writes BRT as the document misprints it", "kuhn-2.6", rewritten(b"BET", b"BRT"), [P_2], K_AND_BET),
    Rogue("forgets the space", "kuhn-2.7", rewritten(b" ", b""), [P_1], Q_AND_BET),
    Rogue("answers in prose", "kuhn-2.7", instead(P_1, b"HELLO, YOUR CARD IS C_Q"), [P_1], Q_AND_BET),
    Rogue("ends its lines", "kuhn-2.7", rewritten(b"C_K", b"C_K\r\n"), [P_2], K_AND_BET, strict=True),
    Rogue("writes the quotes", "kuhn-2.6", rewritten(b"C_Q", b'"C_Q"'), [P_1], Q_AND_BET, strict=True),
    Rogue("calls with ACTN", "kuhn-4.8", instead(BET, CAL), [P_1, BET], Q_AND_CALL),
    Rogue("calls with ACTN before its card", "kuhn-4.8", before(b"CARD C_K", CAL), [P_1, BET], Q_AND_CALL),
    Rogue("says its check before its card", "kuhn-4.8", before(b"CARD C_K", CHK), [P_1, CHK], Q_AND_CHECK),
    Rogue("calls a call", "kuhn-4.8", instead(CAL, CAL), [P_1, CHK, CAL], Q_AND_BET),
    Rogue("shows the client's card", "kuhn-5.4", instead(BET, b"CARD C_Q"), [P_1, BET], Q_AND_CALL),
    Rogue("shows the client's card after checks", "kuhn-5.4", instead(CHK, b"CARD C_Q"), [P_1, CHK], Q_AND_CHECK),
    Rogue("deals twice", "kuhn-4.9", followed(P_1, b"CARD C_Q"), [P_1], Q_AND_BET),
    Rogue("deals both cards", "kuhn-4.9", followed(P_1, b"CARD C_K"), [P_1], Q_AND_BET),
    Rogue("deals twice as P_1", "kuhn-4.2", before(BET, b"CARD C_J"), [P_2], K_AND_BET),
    Rogue("forgets the card", "kuhn-4.2", without(b"CARD C_K"), [P_2], K_AND_BET),
    Rogue("forgets that it is P_1", "kuhn-4.2", without(BET), [P_2], K_AND_BET),
    Rogue("acts for the client", "kuhn-4.1", followed(P_1, CHK), [P_1], Q_AND_BET),
    Rogue("folds before there is a bet", "kuhn-4.2", rewritten(b"BET", b"FLD"), [P_2], K_AND_BET),
    Rogue("folds behind a check", "kuhn-4.3", instead(CHK, FLD), [P_1, CHK], Q_AND_BET),
    Rogue("raises", "kuhn-4.4", instead(BET, BET), [P_1, BET], Q_AND_CALL),
    Rogue("bets behind two checks", "kuhn-4.5", instead(CHK, BET), [P_2, CHK], K_AND_CHECKS),
    Rogue("does not show its card", "kuhn-4.6", instead(CAL), [P_1, CHK, CAL], Q_AND_BET),
    Rogue("answers a fold", "kuhn-4.7", instead(FLD, b"CARD C_K"), [P_1, CHK, FLD], Q_AND_BET),
    Rogue("shows its card when it folds", "kuhn-4.9", followed(BET, b"CARD C_J"), [P_1, BET], Q_AND_FOLD),
    Rogue("reports the result", "kuhn-2.7", followed(BET, b"YOU WIN"), [P_1, BET], Q_AND_FOLD),
    Rogue("speaks after a showdown", "kuhn-4.9", followed(BET, CHK), [P_1, BET], Q_AND_CALL),
    Rogue("refuses a bet", "kuhn-4.4", instead(BET, WA), [P_1, BET], Q_AND_CALL),
    Rogue("refuses a check", "kuhn-4.3", instead(CHK, WA), [P_1, CHK], Q_AND_BET),
    Rogue("refuses to start", "kuhn-4.1", instead(P_1, WA), [P_1], Q_AND_BET),
    Rogue("plays one game only", "kuhn-4.2", instead(P_2, WA), [P_1, BET, P_2], Q_AND_CALL),
    Rogue("never answers", "kuhn-4.1", instead(P_1), [P_1], Q_AND_BET),
    Rogue("never answers a bet", "kuhn-4.4", instead(BET), [P_1, BET], Q_AND_CALL),
    Rogue("lets the client act before STRT", "kuhn-6.2", instead(BET, FLD), [BET], faulty_client=True),
    Rogue("takes an act out of turn", "kuhn-6.1", instead(CAL, b"CARD C_K"), [P_1, CAL], faulty_client=True),
    Rogue("takes a fold of nothing", "kuhn-6.1", instead(FLD), [P_1, FLD], faulty_client=True),
    Rogue("starts again in a game", "kuhn-6.3", instead(P_1, b"CARD C_Q"), [P_2, P_1], K_AND_BET, faulty_client=True),
    Rogue("takes a card", "kuhn-6.4", instead(b"CARD C_K"), [P_1, b"CARD C_K"], Q_AND_BET, faulty_client=True),
    Rogue("answers errors", "kuhn-6.5", instead(WA, WA), [WA], Q_AND_BET),
    Rogue("answers errors in a game", "kuhn-6.5", instead(WA, WA), [P_1, WA], Q_AND_BET),
    Rogue("says N_C where W_A is due", "kuhn-6.6", rewritten(WA, NC), [P_1, CAL], Q_AND_BET, faulty_client=True),
    Rogue("is silent about what it cannot read", "kuhn-2.7", without(WA), [b"HELO"], faulty_client=True),
    Rogue("talks on behind garbage", "kuhn-2.7", without(DISC), [b"HELO"], faulty_client=True),
    Rogue("swallows an unknown argument", "kuhn-2.6", without(WA), [b"STRT P_3"], faulty_client=True),
    Rogue("lends the ante", "kuhn-7.2", rewritten(NC, b"CARD C_Q"), [P_1, CHK, FLD, P_1], POOR, 1, faulty_client=True),
    Rogue("lends a bet", "kuhn-7.3", rewritten(NC, b"CARD C_K"), [P_1, BET], POOR, 1, faulty_client=True),
    Rogue("lends a call", "kuhn-7.3", rewritten(NC, b"CARD C_K"), [P_1, CHK, CAL], POOR, 1, faulty_client=True),
    Rogue("wants a coin that is there", "kuhn-7.3", instead(BET, NC), [P_1, BET], Q_AND_CALL, 10),
    Rogue("wants an ante that is there", "kuhn-7.2", instead(P_1, NC), [P_1], Q_AND_CALL, 10),
    Rogue("wants a coin for a check", "kuhn-7.3", instead(CHK, NC), [P_1, CHK], Q_AND_BET),
    Rogue("greets", "kuhn-1.2", instead(GREETING, b"CARD C_Q"), [], Q_AND_BET),
    Rogue("closes without a word", "kuhn-8.2", followed(P_1, HANG_UP), [P_1], Q_AND_BET),
    Rogue("closes instead of answering", "kuhn-4.4", instead(BET, HANG_UP), [P_1, BET], Q_AND_CALL),
    Rogue("answers goodbye", "kuhn-8.1", before(HANG_UP, DISC), [P_1, DISC], Q_AND_BET),
    Rogue("refuses goodbye", "kuhn-8.1", instead(DISC, WA), [P_1, DISC], Q_AND_BET),
    Rogue("never closes", "kuhn-8.1", without(HANG_UP), [P_1, DISC], Q_AND_BET),
    Rogue("never closes behind its own goodbye", "kuhn-8.2", followed(P_1, DISC), [P_1], Q_AND_BET),
    Rogue("speaks behind its own goodbye", "kuhn-8.2", followed(P_1, DISC, BET), [P_1], Q_AND_BET),
]


def run_conversation(rogue: Rogue, habit: Habit) -> RefereedConversation:
    conversation = RefereedConversation(ROOM, rogue.head, habit, Referee(rogue.coins), strict=rogue.strict)
    conversation.send(*rogue.says)
    conversation.wait()
    return conversation


@in_one_test
@pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])
def test_faulty_house_breaks_exactly_its_clause(rogue: Rogue) -> None:
    conversation = run_conversation(rogue, rogue.habit)
    assert conversation.clauses(HOUSE) == [rogue.clause]
    assert bool(conversation.clauses(CLIENT)) == rogue.faulty_client


@pytest.mark.extended
@pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])
def test_same_house_without_its_mutation_breaks_nothing(rogue: Rogue) -> None:
    """The mutation is therefore the only fault."""
    conversation = run_conversation(rogue, honest)
    assert conversation.clauses(HOUSE) == []
