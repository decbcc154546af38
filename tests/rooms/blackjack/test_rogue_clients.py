"""Faulty clients that each break one clause; the referee must name it and not blame the house."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.blackjack import ROOM
from tests.rooms.blackjack.frames import HIT, PLY, SRD, STAND, STP, TRN, bank, bet, client, err, lost, mon, won
from tests.rooms.conversation_fixture import RefereedConversation
from tests.sampling import in_one_test

TEN = bet(10)

type Mutation = Callable[[bytes], Sequence[bytes]]
"""A mutation of a client: maps a correct message to the messages that it sends."""


def before(sent: bytes, *more: bytes) -> Mutation:
    """Send other messages before one."""
    return lambda line: (*more, line) if line == sent else (line,)


def replaced(old: bytes, new: bytes) -> Mutation:
    return lambda line: (line.replace(old, new),)


def unchanged(line: bytes) -> Sequence[bytes]:
    return (line,)


MON = mon(1000)
CARDS = client("TS", "6H") + bank("9D") + TRN
SAVED = lost(5)
END = err(502) + err(300) + STP
CHAR8 = {"dialect": "char8"}


@dataclass(frozen=True)
class Rogue:
    """A client with a mutation, its correct messages, and the clauses that the mutation breaks."""

    name: str
    clauses: Sequence[str]
    mutation: Mutation
    answers: bytes
    """All output of the house, with the deck TS 6H 9D 2C."""
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
    Rogue("bets before PLY", OUT_OF_TURN, before(PLY, TEN), err(501) + FULL),
    Rogue("hits before PLY", OUT_OF_TURN, before(PLY, HIT), err(501) + FULL),
    Rogue("surrenders before PLY", OUT_OF_TURN, before(PLY, SRD), err(501) + FULL),
    Rogue("begins twice", OUT_OF_TURN, before(TEN, PLY), MON + err(501) + CARDS + SAVED),
    Rogue("hits before its bet", OUT_OF_TURN, before(TEN, HIT), MON + err(501) + CARDS + SAVED),
    Rogue("stands before its bet", OUT_OF_TURN, before(TEN, STAND), MON + err(501) + CARDS + SAVED),
    Rogue("raises", OUT_OF_TURN, before(SRD, TEN), MON + CARDS + err(501) + SAVED),
    Rogue("bets nothing in a round", OUT_OF_TURN, before(SRD, bet(0)), MON + CARDS + err(501) + SAVED),
    Rogue("begins a round in a round", OUT_OF_TURN, before(SRD, PLY), MON + CARDS + err(501) + SAVED),
    Rogue("surrenders twice", OUT_OF_TURN, before(SRD, SRD), FULL + err(501)),
    Rogue("bets nothing", ["blackjack-6.5"], before(TEN, bet(0)), MON + err(500) + CARDS + SAVED),
    Rogue("bets a debt", ["blackjack-6.5"], before(TEN, bet(-10)), MON + err(500) + CARDS + SAVED),
    Rogue("bets more than it has", ["blackjack-6.6"], before(TEN, bet(1001)), MON + err(400) + CARDS + SAVED),
    Rogue("bets little-endian", ["blackjack-6.6"], before(TEN, b"BET\x0a\0\0\0"), MON + err(400) + CARDS + SAVED),
    Rogue("bets in text", ["blackjack-6.6"], before(TEN, b"BET 10\n"), MON + err(400) + CARDS + SAVED),
    Rogue("bets without a coin", ["blackjack-6.6"], unchanged, mon(0) + err(400), (PLY, TEN), {"money": "0"}),
    Rogue(
        "bets what would overflow",
        ["blackjack-6.6"],
        unchanged,
        mon(2147483647) + err(400),
        (PLY, TEN),
        {"money": "2147483647"},
    ),
    Rogue("reports the balance", NOT_ITS_OWN, before(PLY, MON), err(501) + FULL),
    Rogue("deals itself a card", NOT_ITS_OWN, before(SRD, client("5S")), MON + CARDS + err(501) + SAVED),
    Rogue("asks the house", NOT_ITS_OWN, before(SRD, TRN), MON + CARDS + err(501) + SAVED),
    Rogue("says that it has won", NOT_ITS_OWN, before(SRD, won(20)), MON + CARDS + err(501) + SAVED),
    Rogue("deals itself a one", STRANGE, before(SRD, b"CRD\0C\x001\0H"), MON + CARDS + err(501) + SAVED),
    Rogue("calls a draw", STRANGE, before(SRD, b"RES\0D\0\0\0\0"), MON + CARDS + err(501) + SAVED),
    Rogue("doubles", NO_MOVE, before(SRD, b"MOV\0D"), MON + CARDS + err(500) + SAVED),
    Rogue("hits in lower case", NO_MOVE, before(SRD, b"MOV\0h"), MON + CARDS + err(500) + SAVED),
    Rogue("doubles before PLY", NO_MOVE, before(PLY, b"MOV\0D"), err(501) + FULL),
    Rogue("doubles before its bet", NO_MOVE, before(TEN, b"MOV\0D"), MON + err(501) + CARDS + SAVED),
    Rogue("doubles in one byte", NO_MOVE, before(SRD, b"MOVD"), MON + CARDS + err(500) + SAVED, head=CHAR8),
    Rogue("sends an error nobody knows", NO_ERROR, before(SRD, err(404)), FULL),
    Rogue(
        "spells a ten X to a strict house",
        ["blackjack-2.7"],
        before(PLY, b"CRD\0C\0X\0S"),
        err(501) + FULL,
        strict=True,
    ),
    Rogue("speaks another protocol", UNREADABLE, replaced(PLY, b"STRT"), END, (PLY,)),
    Rogue("speaks HTTP", UNREADABLE, replaced(PLY, b"GET / HTTP/1.1\r\n\r\n"), END, (PLY,)),
    Rogue("speaks in lower case", UNREADABLE, replaced(PLY, b"ply"), END, (PLY,)),
    Rogue("ends its lines", UNREADABLE, replaced(PLY, b"PLY\r\n"), MON + END, (PLY, TEN)),
    Rogue("puts spaces between", UNREADABLE, before(SRD, b" "), MON + CARDS + END),
    Rogue("splits", UNREADABLE, before(SRD, b"SPL"), MON + CARDS + END),
    Rogue(
        "sends characters of two bytes to a house of one",
        NO_MOVE + UNREADABLE,
        unchanged,
        MON + CARDS + err(500) + END,
        (PLY, TEN, HIT, STAND),
        CHAR8,
    ),
]

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def run_conversation(rogue: Rogue, mutation: Mutation, head: dict[str, str]) -> RefereedConversation:
    conversation = RefereedConversation(ROOM, {"deck": "TS 6H 9D 2C", **head}, strict=rogue.strict)
    for line in rogue.says:
        conversation.send(*mutation(line))
    conversation.wait()
    return conversation


def one_byte(answers: bytes) -> bytes:
    """The answers in the dialect char8."""
    words = (client("TS"), client("6H"), bank("9D"), SAVED[:5])
    for word in words:
        answers = answers.replace(word, word[:3] + word[3:].replace(b"\0", b""))
    return answers


@in_one_test
@rogues
def test_faulty_client_breaks_exactly_its_clause(rogue: Rogue) -> None:
    conversation = run_conversation(rogue, rogue.mutation, rogue.head)
    assert conversation.clauses(CLIENT) == rogue.clauses
    assert conversation.clauses(HOUSE) == []
    assert conversation.received == (one_byte(rogue.answers) if rogue.head == CHAR8 else rogue.answers)


@in_one_test
@rogues
def test_same_client_without_its_mutation_breaks_nothing(rogue: Rogue) -> None:
    """The mutation, the purse or the dialect is therefore the only fault."""
    assert run_conversation(rogue, unchanged, {}).verdicts == []


def test_pipelined_commands_break_nothing() -> None:
    conversation = RefereedConversation(ROOM, {"deck": "TS 6H 9D 2C"})
    conversation.send(PLY + TEN + SRD + PLY + TEN + SRD + STP)
    assert conversation.verdicts == []
    assert conversation.received == FULL + mon(995) + CARDS + SAVED + STP


def test_pipelined_move_after_a_bust_is_refused() -> None:
    conversation = RefereedConversation(ROOM, {"deck": "8S 9H AD 6D"})
    conversation.send(PLY + TEN + HIT + HIT)
    assert conversation.clauses(CLIENT) == OUT_OF_TURN
    assert conversation.clauses(HOUSE) == []
    assert conversation.received.endswith(client("6D") + lost(0) + err(501))


def test_client_disconnect_is_no_fault() -> None:
    conversation = RefereedConversation(ROOM, {"deck": "TS 6H 9D 2C"})
    conversation.send(PLY, TEN)
    conversation.disconnect()
    assert conversation.verdicts == []
