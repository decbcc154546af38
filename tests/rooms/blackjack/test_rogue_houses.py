"""Faulty houses that each break one clause, as students' servers do; the referee must name it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.referee import Referee
from tests.rooms.blackjack.frames import HIT, PLY, SRD, STAND, STP, TRN, bank, bet, client, err, lost, mon, won
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

TEN = bet(10)
DEALT = (PLY, TEN)
HITS = (PLY, TEN, HIT)
STANDS = (PLY, TEN, STAND)
SURRENDERS = (PLY, TEN, SRD)


@dataclass(frozen=True)
class Rogue:
    """A house with a mutation, the messages of the client, and the clause that the mutation breaks."""

    name: str
    clause: str
    habit: Habit
    says: Sequence[bytes] = DEALT
    deck: str = "TS 6H 9D 2C 3C"
    head: dict[str, str] = field(default_factory=dict)
    strict: bool = False
    faulty_client: bool = False
    """Whether the client is at fault as well: for houses that answer client faults wrongly."""


AGAINST_21 = "AS KS TD JC"
HITS_21 = "AS 5H 9D 5C 2C"
BUSTS = "8S 9H AD 6D 2C"
GOES_ON = "2S 4C 9C 6S 2C"
WINS = "TS 9H 7D TC 2C"
LOSES = "TS 8H 9D TC 2C"
TIES = "KS QH TD JC 2C"
TIES_21 = "AS KS AD KD 2C"
BANK_BUSTS = "TS 2H 6D TC 9S"
POOR = {"money": "5"}

ROGUES = [
    Rogue("greets", "blackjack-1.2", instead(GREETING, mon(1000)), []),
    Rogue("deals at once", "blackjack-1.2", instead(GREETING, client("TS")), []),
    Rogue("greets in prose", "blackjack-2.10", instead(GREETING, b"WELCOME\n"), []),
    Rogue("never answers", "blackjack-4.1", instead(PLY), [PLY]),
    Rogue("refuses to play", "blackjack-4.1", instead(PLY, err(501)), [PLY]),
    Rogue("asks for the bet by TRN", "blackjack-4.1", instead(PLY, TRN), [PLY]),
    Rogue("writes the balance as text", "blackjack-4.1", instead(PLY, b"MON 10"), [PLY]),
    Rogue("reports a balance below nothing", "blackjack-7.1", rewritten(mon(1000), mon(-1000)), [PLY]),
    Rogue("writes the balance little-endian", "blackjack-7.1", rewritten(mon(1000), b"MON\xe8\x03\0\0"), [PLY]),
    Rogue("reports another balance than was set", "blackjack-7.2", rewritten(mon(1000), mon(500)), [PLY]),
    Rogue("forgets what was lost", "blackjack-7.2", rewritten(mon(990), mon(1000)), [*STANDS, PLY], LOSES),
    Rogue("forgets to take the stake", "blackjack-7.2", rewritten(mon(1010), mon(1020)), [*STANDS, PLY], WINS),
    Rogue("forgets what was saved", "blackjack-7.2", rewritten(mon(995), mon(990)), [*SURRENDERS, PLY]),
    Rogue("reports the balance twice", "blackjack-4.7", followed(PLY, mon(1000)), [PLY]),
    Rogue("deals before the bet", "blackjack-4.7", followed(PLY, client("TS")), [PLY]),
    Rogue("complains for nothing", "blackjack-4.7", followed(PLY, err(501)), [PLY]),
    Rogue("calls a good bet malformed", "blackjack-4.2", instead(TEN, err(500))),
    Rogue("calls a good bet unexpected", "blackjack-4.2", instead(TEN, err(501))),
    Rogue("calls a good bet too large", "blackjack-7.4", instead(TEN, err(400))),
    Rogue("does not lend all there is", "blackjack-7.4", instead(bet(5), err(400)), [PLY, bet(5)], head={"money": "5"}),
    Rogue("is silent about a bet", "blackjack-4.2", instead(TEN)),
    Rogue("reports the balance after the bet", "blackjack-4.2", before(client("TS"), mon(990))),
    Rogue("deals itself first", "blackjack-4.2", before(client("TS"), bank("9D"))),
    Rogue("deals in turn", "blackjack-4.2", before(client("6H"), bank("9D"))),
    Rogue("deals the client three cards", "blackjack-4.2", before(TRN, client("2C"))),
    Rogue("shows two cards", "blackjack-3.3", before(TRN, bank("2C"))),
    Rogue("deals the same card twice", "blackjack-3.1", rewritten(client("6H"), client("TS"))),
    Rogue("deals itself the client's card", "blackjack-3.1", rewritten(bank("9D"), bank("6H"))),
    Rogue(
        "deals a card three times from two decks",
        "blackjack-3.1",
        rewritten(client("2C"), client("8S")),
        HITS,
        "8S 8S 9D 2C",
        {"decks": "2"},
    ),
    Rogue("forgets TRN", "blackjack-4.2", without(TRN)),
    Rogue("turns an empty purse away", "blackjack-7.5", instead(PLY, HANG_UP), [PLY], head={"money": "0"}),
    Rogue("says TRN twice", "blackjack-4.7", followed(TEN, TRN)),
    Rogue("ends a round that has just begun", "blackjack-4.2", rewritten(TRN, lost(0))),
    Rogue("pays 21 in two cards at once", "blackjack-3.7", rewritten(TRN, won(20)), deck=AGAINST_21),
    Rogue("takes 21 in two cards at once", "blackjack-3.7", rewritten(TRN, lost(0)), deck=AGAINST_21),
    Rogue("hits for itself", "blackjack-4.3", rewritten(client("2C"), bank("2C")), HITS),
    Rogue("refuses a hit", "blackjack-4.3", instead(HIT, err(501)), HITS),
    Rogue("never answers a hit", "blackjack-4.3", instead(HIT), HITS),
    Rogue("closes instead of dealing", "blackjack-4.3", instead(HIT, HANG_UP), HITS),
    Rogue("deals two cards for a hit", "blackjack-4.3", instead(HIT, client("2C", "3C"), TRN), HITS),
    Rogue("deals a card that is out", "blackjack-3.1", rewritten(client("2C"), client("9D")), HITS),
    Rogue("shows its card behind a hit", "blackjack-3.3", instead(HIT, client("2C"), bank("3C")), HITS),
    Rogue("forgets TRN behind a hit", "blackjack-4.3", instead(HIT, client("2C")), HITS),
    Rogue("ends the round below 21", "blackjack-4.3", instead(HIT, client("2C"), lost(0)), HITS),
    Rogue("lets the client win below 21", "blackjack-4.3", instead(HIT, client("2C"), won(20)), HITS),
    Rogue("asks on at 21", "blackjack-3.5", rewritten(won(20), TRN), HITS, HITS_21),
    Rogue("takes 21", "blackjack-3.5", rewritten(won(20), lost(0)), HITS, HITS_21),
    Rogue("plays on against 21", "blackjack-3.5", before(won(20), bank("2C")), HITS, HITS_21),
    Rogue("asks on over 21", "blackjack-3.6", rewritten(lost(0), TRN), HITS, BUSTS),
    Rogue("pays a busted client", "blackjack-3.6", rewritten(lost(0), won(20)), HITS, BUSTS),
    Rogue("plays on against a bust", "blackjack-3.6", before(lost(0), bank("2C")), HITS, BUSTS),
    Rogue("forgets the end of a hit", "blackjack-4.3", without(lost(0)), HITS, BUSTS),
    Rogue("keeps half the stake of a bust", "blackjack-5.2", rewritten(lost(0), lost(5)), HITS, BUSTS),
    Rogue("does not draw", "blackjack-3.8", instead(STAND, won(20)), STANDS, WINS),
    Rogue("stops at 16", "blackjack-3.8", without(bank("9S")), STANDS, BANK_BUSTS),
    Rogue("draws on soft 17", "blackjack-3.8", before(won(20), bank("2C")), STANDS, "TS 8H 6D AC"),
    Rogue("draws until it wins", "blackjack-3.8", before(won(20), bank("3C")), STANDS, WINS),
    Rogue("deals the client a card that has stood", "blackjack-4.4", rewritten(bank("TC"), client("TC")), STANDS, WINS),
    Rogue("asks who has stood", "blackjack-4.4", before(won(20), TRN), STANDS, WINS),
    Rogue("draws the client's card", "blackjack-3.1", rewritten(bank("TC"), bank("TS")), STANDS, WINS),
    Rogue("never draws", "blackjack-4.4", instead(STAND), STANDS, WINS),
    Rogue("forgets the result", "blackjack-4.4", without(won(20)), STANDS, WINS),
    Rogue("hangs up owing the result", "blackjack-4.4", rewritten(won(20), HANG_UP), STANDS, WINS),
    Rogue("lets the lower hand win", "blackjack-3.9", rewritten(won(20), lost(0)), STANDS, WINS),
    Rogue("lets the client win with less", "blackjack-3.9", rewritten(lost(0), won(20)), STANDS, LOSES),
    Rogue("wins over 21", "blackjack-3.9", rewritten(won(20), lost(0)), STANDS, BANK_BUSTS),
    Rogue("takes a tie", "blackjack-3.10", rewritten(won(20), lost(0)), STANDS, TIES),
    Rogue("gives away a tie at 21", "blackjack-3.10", rewritten(lost(0), won(20)), STANDS, TIES_21),
    Rogue("has a third result", "blackjack-2.9", rewritten(won(20), b"RES\0D\0\0\0\x0a"), STANDS, TIES),
    Rogue("reports the gain only", "blackjack-5.1", rewritten(won(20), won(10)), STANDS, WINS),
    Rogue("pays 3 to 2", "blackjack-5.1", rewritten(won(20), won(25)), STANDS, AGAINST_21),
    Rogue("reports the loss", "blackjack-5.2", rewritten(lost(0), lost(-10)), STANDS, LOSES),
    Rogue("gives a lost stake back", "blackjack-5.2", rewritten(lost(0), lost(10)), STANDS, LOSES),
    Rogue("draws after a surrender", "blackjack-4.5", before(lost(5), bank("2C")), SURRENDERS),
    Rogue("lets a surrender win", "blackjack-4.5", rewritten(lost(5), won(5)), SURRENDERS),
    Rogue("is silent about a surrender", "blackjack-4.5", without(lost(5)), SURRENDERS),
    Rogue("keeps a surrendered bet", "blackjack-5.3", rewritten(lost(5), lost(0)), SURRENDERS),
    Rogue("rounds half up", "blackjack-5.3", rewritten(lost(2), lost(3)), [PLY, bet(5), SRD]),
    Rogue("begins the next round", "blackjack-4.7", followed(SRD, mon(995)), SURRENDERS),
    Rogue("deals an unknown rank", "blackjack-2.9", rewritten(client("6H"), b"CRD\0C\x001\0H")),
    Rogue("deals an unknown suit", "blackjack-2.9", rewritten(client("6H"), b"CRD\0C\x006\0A")),
    Rogue("deals for the bank by another letter", "blackjack-2.9", rewritten(bank("9D"), b"CRD\0B\x009\0D")),
    Rogue("has an error of its own", "blackjack-2.12", instead(PLY, err(404)), [PLY]),
    Rogue("writes characters of one byte", "blackjack-2.9", rewritten(client("TS"), b"CRDCTS")),
    Rogue("writes lower case", "blackjack-2.10", rewritten(b"MON", b"mon"), [PLY]),
    Rogue("ends its lines", "blackjack-2.10", rewritten(mon(1000), mon(1000) + b"\r\n")),
    Rogue("spells the ten X", "blackjack-2.7", honest, head={"ten": "X"}, strict=True),
    Rogue("spells the ten as a number", "blackjack-2.7", honest, head={"ten": "10"}, strict=True),
    Rogue("spells the ten as two digits", "blackjack-2.7", honest, head={"ten": "digits"}, strict=True),
    Rogue("answers errors", "blackjack-6.8", instead(err(500), err(501)), [PLY, err(500)]),
    Rogue("answers errors before PLY", "blackjack-6.8", instead(err(500), err(501)), [err(500)]),
    Rogue(
        "begins a round in a round", "blackjack-6.3", rewritten(err(501), mon(990)), [*DEALT, PLY], faulty_client=True
    ),
    Rogue("raises", "blackjack-6.3", without(err(501)), [*DEALT, TEN], faulty_client=True),
    Rogue("takes a bet without PLY", "blackjack-6.3", instead(TEN, client("TS")), [TEN], faulty_client=True),
    Rogue("gives half of nothing", "blackjack-6.3", instead(SRD, lost(0)), [SRD], faulty_client=True),
    Rogue("says 500 where 501 is due", "blackjack-6.2", instead(SRD, err(500)), [SRD], faulty_client=True),
    Rogue(
        "says 400 for a bet of nothing",
        "blackjack-6.2",
        instead(bet(0), err(400)),
        [PLY, bet(0)],
        head=POOR,
        faulty_client=True,
    ),
    Rogue("takes a bet of nothing", "blackjack-6.5", instead(bet(0), client("TS")), [PLY, bet(0)], faulty_client=True),
    Rogue("lends", "blackjack-6.6", instead(TEN, client("TS")), DEALT, head=POOR, faulty_client=True),
    Rogue("closes on a poor client", "blackjack-6.6", instead(TEN, HANG_UP), DEALT, head=POOR, faulty_client=True),
    Rogue("takes a card", "blackjack-6.4", without(err(501)), [client("TS")], faulty_client=True),
    Rogue(
        "says 500 for a strange card",
        "blackjack-6.2",
        rewritten(err(501), err(500)),
        [b"CRD\0X\x008\0S"],
        faulty_client=True,
    ),
    Rogue("swallows an unknown move", "blackjack-6.5", without(err(500)), [*DEALT, b"MOV\0X"], faulty_client=True),
    Rogue(
        "says 501 for an unknown move",
        "blackjack-6.2",
        rewritten(err(500), err(501)),
        [*DEALT, b"MOV\0X"],
        faulty_client=True,
    ),
    Rogue(
        "says 500 for a move before PLY",
        "blackjack-6.2",
        rewritten(err(501), err(500)),
        [b"MOV\0X"],
        faulty_client=True,
    ),
    Rogue("is silent about what it cannot read", "blackjack-6.7", lambda *_: [], [b"HIT"], faulty_client=True),
    Rogue("talks on behind garbage", "blackjack-6.7", rewritten(STP, mon(1000)), [b"HIT"], faulty_client=True),
    Rogue(
        "complains twice about garbage", "blackjack-6.7", rewritten(err(300), err(501)), [b"HIT"], faulty_client=True
    ),
    Rogue("never closes behind garbage", "blackjack-8.2", without(HANG_UP), [b"HIT"], faulty_client=True),
    Rogue("leaves out 300", "blackjack-8.3", without(err(300)), [b"HIT"], strict=True, faulty_client=True),
    Rogue("ends a goodbye with a result", "blackjack-8.1", before(STP, lost(0)), [*DEALT, STP]),
    Rogue("refuses a goodbye", "blackjack-8.1", instead(STP, err(501)), [PLY, STP]),
    Rogue("ignores a goodbye", "blackjack-8.1", instead(STP), [STP]),
    Rogue("hangs up on a goodbye", "blackjack-8.1", without(STP), [STP]),
    Rogue("says goodbye twice", "blackjack-8.1", before(STP, STP), [STP]),
    Rogue("never closes", "blackjack-8.1", without(HANG_UP), [STP]),
    Rogue("closes without a word", "blackjack-8.2", followed(PLY, HANG_UP), [PLY]),
    Rogue("closes in a round without a word", "blackjack-8.2", followed(TEN, HANG_UP)),
    Rogue("goes on behind 300", "blackjack-8.2", followed(PLY, err(300), mon(1000)), [PLY]),
    Rogue("says 300 twice", "blackjack-8.2", followed(PLY, err(300), err(300)), [PLY]),
    Rogue("hangs up behind 300", "blackjack-8.2", followed(PLY, err(300), HANG_UP), [PLY]),
    Rogue("stays behind 300", "blackjack-8.2", followed(PLY, err(300)), [PLY]),
    Rogue("speaks behind its own goodbye", "blackjack-8.2", followed(PLY, err(300), STP, mon(1000)), [PLY]),
    Rogue("speaks behind STP", "blackjack-8.2", followed(PLY, STP, mon(1000)), [PLY]),
    Rogue("says STP out of the blue", "blackjack-8.3", followed(PLY, STP), [PLY], strict=True),
    Rogue("says STP for an answer", "blackjack-8.3", instead(PLY, STP), [PLY], strict=True),
]

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def run_conversation(rogue: Rogue, habit: Habit, head: dict[str, str]) -> RefereedConversation:
    conversation = RefereedConversation(ROOM, {"deck": rogue.deck, **head}, habit, strict=rogue.strict)
    conversation.send(*rogue.says)
    conversation.wait()
    return conversation


@in_one_test
@rogues
def test_faulty_house_breaks_exactly_its_clause(rogue: Rogue) -> None:
    conversation = run_conversation(rogue, rogue.habit, rogue.head)
    assert conversation.clauses(HOUSE) == [rogue.clause]
    assert bool(conversation.clauses(CLIENT)) == rogue.faulty_client


@pytest.mark.extended
@rogues
def test_same_house_without_its_mutation_breaks_nothing(rogue: Rogue) -> None:
    """The mutation, or the spelling of the ten, is therefore the only fault."""
    head = {name: value for name, value in rogue.head.items() if name != "ten"}
    assert run_conversation(rogue, honest, head).clauses(HOUSE) == []


@pytest.mark.parametrize(
    "habit",
    [followed(PLY, STP, HANG_UP), instead(PLY, STP, HANG_UP), instead(PLY, err(300), STP, HANG_UP)],
    ids=["without 300", "for an answer", "with 300"],
)
def test_a_goodbye_of_the_house_is_no_fault(habit: Habit) -> None:
    conversation = RefereedConversation(ROOM, {}, habit)
    conversation.send(PLY)
    assert conversation.verdicts == []


def test_a_goodbye_of_the_house_may_cross_that_of_the_client() -> None:
    for words in ([err(300), STP], [STP]):
        conversation = RefereedConversation(ROOM, {}, instead(STP, *words, HANG_UP), strict=True)
        conversation.send(PLY, STP)
        assert conversation.verdicts == []


def test_first_balance_is_accepted_if_the_purse_is_unknown() -> None:
    conversation = RefereedConversation(ROOM, {"deck": LOSES}, rewritten(mon(1000), mon(400)), Referee())
    conversation.send(*STANDS, PLY)
    assert conversation.clauses(HOUSE) == ["blackjack-7.2"], "1000 less 10 is not 400 less 10"
