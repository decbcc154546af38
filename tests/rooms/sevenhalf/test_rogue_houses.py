"""Faulty houses that each break one clause, as students' servers do; the referee must name it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.sevenhalf import ROOM
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
from tests.rooms.sevenhalf.frames import (
    BSTG,
    DRAW,
    GARBAGE,
    PASS,
    STRT,
    ante,
    bksc,
    card,
    erro,
    gain,
    number,
    stbt,
)
from tests.sampling import in_one_test

ERRO, CARD, BKSC, GAIN, STBT = b"ERRO", b"CARD", b"BKSC", b"GAIN", b"STBT"

LOSS = ("7o 7c cc", 100)
"""The client passes with 7, the bank draws 7 and then a half: −100. The number is the starting bet."""

LOSES = [STRT, DRAW, PASS]
LOST = bksc("7c cc", "07.5")

WIN = ("7o 4c 4e", 100)
"""The client passes with 7, the bank draws 4 and 4: +100."""

WON = bksc("4c 4e", "08.0")

BUST = ("7o 7c rb", 100)
"""The client draws 14, the bank a half: −100."""

BUSTS = [STRT, DRAW, DRAW]
OVER = bksc("rb", "00.5")

BEST = ("7o so 4c 4e", 100)
"""The client passes with 7½, the bank draws 4 and 4: +200."""

HAS_BEST = [STRT, DRAW, DRAW, PASS]

TIE = ("7o so 7c cc", 100)
"""Both have 7½: 0."""

RAISES = [STRT, DRAW, ante(10), DRAW, PASS]


def acts(*habits: Habit) -> Habit:
    """Apply mutations in order."""

    def act(received: bytes, answers: list[bytes]) -> Sequence[bytes]:
        for habit in habits:
            answers = list(habit(received, answers))
        return answers

    return act


def replaced(beginning: bytes, new: bytes) -> Habit:
    """Replace every answer that starts with some bytes."""
    return lambda received, honest: [new if answer.startswith(beginning) else answer for answer in honest]


def backwards(received: bytes, answers: list[bytes]) -> Sequence[bytes]:
    """Send integers in little-endian order."""
    return [a[:5] + a[:4:-1] if a[:4] in {STBT, GAIN} else a for a in answers]


def from_the(beginning: bytes, *other: bytes) -> Habit:
    """Replace all answers from the first one that starts with some bytes."""

    def act(received: bytes, answers: list[bytes]) -> Sequence[bytes]:
        at = next((at for at, answer in enumerate(answers) if answer.startswith(beginning)), len(answers))
        return [*answers[:at], *other] if at < len(answers) else answers

    return act


@dataclass(frozen=True)
class Rogue:
    """A house with a mutation, the messages of the client, and the clause that the mutation breaks."""

    name: str
    clause: str
    habit: Habit
    says: Sequence[bytes] = field(default_factory=lambda: LOSES)
    game: tuple[str, int] = LOSS
    strict: bool = False
    faulty_client: bool = False
    """Whether the client is at fault as well: for houses that answer client faults wrongly."""
    head: dict[str, str] = field(default_factory=dict)


GREETS = [
    Rogue("greets in prose", "sevenhalf-2.9", instead(GREETING, b"Welcome!\r\n")),
    Rogue("greets with a bet", "sevenhalf-1.2", instead(GREETING, stbt(100))),
    Rogue("greets with a card", "sevenhalf-1.2", instead(GREETING, card("7o"))),
    Rogue("greets with an error", "sevenhalf-6.8", instead(GREETING, erro("hello")), []),
    Rogue("answers STRT in prose", "sevenhalf-2.9", instead(STRT, b"Your bet is 100"), [STRT]),
]

NUMBERS = [
    Rogue("writes its bet as text and waits", "sevenhalf-4.1", replaced(STBT, b"STBT 100"), [STRT]),
    Rogue("writes its bet as text and goes on", "sevenhalf-2.9", replaced(STBT, b"STBT 100"), [STRT, DRAW]),
    Rogue("writes its bet as text and ends its line", "sevenhalf-5.8", replaced(STBT, b"STBT 100\n")),
    Rogue("writes its gain as text", "sevenhalf-5.8", replaced(GAIN, b"GAIN -100")),
    Rogue("writes its gain as short text and waits", "sevenhalf-4.5", replaced(GAIN, b"GAIN 0")),
    Rogue("writes its count as text", "sevenhalf-2.9", rewritten(number(2), b"2")),
    Rogue("writes its count as a byte", "sevenhalf-2.9", rewritten(number(2), b"\x02")),
    Rogue("sends its integers backwards", "sevenhalf-7.1", backwards),
    Rogue("sends its gain backwards", "sevenhalf-5.8", replaced(GAIN, b"GAIN \x9c\xff\xff\xff")),
    Rogue("sends its count backwards", "sevenhalf-2.9", rewritten(number(2), b"\x02\x00\x00\x00")),
    Rogue("sends its bet in eight bytes", "sevenhalf-7.1", replaced(STBT, b"STBT " + bytes(4) + number(100)), [STRT]),
    Rogue("sends its bet in two bytes and waits", "sevenhalf-4.1", replaced(STBT, b"STBT \x00\x64"), [STRT]),
    Rogue("forgets the sign", "sevenhalf-5.8", replaced(GAIN, gain(100))),
    Rogue("forgets the sign of a bust", "sevenhalf-5.4", replaced(GAIN, gain(100)), BUSTS, BUST),
    Rogue("sets the highest bit for the sign", "sevenhalf-5.8", replaced(GAIN, b"GAIN \x80\x00\x00\x64")),
    Rogue("writes a sign before its integer", "sevenhalf-5.8", replaced(GAIN, b"GAIN -" + number(100))),
    Rogue("takes the complement of one", "sevenhalf-5.8", replaced(GAIN, b"GAIN \xff\xff\xff\x9b")),
    Rogue("bets nothing", "sevenhalf-7.1", replaced(STBT, stbt(0)), [STRT]),
    Rogue("bets less than nothing", "sevenhalf-7.1", replaced(STBT, stbt(-100)), [STRT]),
    Rogue("bets more than can be paid twice", "sevenhalf-7.1", replaced(STBT, stbt(2**30)), [STRT]),
]

SPELLS = [
    Rogue("writes quotes around its card", "sevenhalf-2.4", rewritten(b"7o", b"'7o'")),
    Rogue("writes quotes around the bank's cards", "sevenhalf-2.9", rewritten(b"7ccc", b"'7c''cc'")),
    Rogue("writes quotes around its score", "sevenhalf-2.5", rewritten(b"07.5", b"'07.5'")),
    Rogue("ends its lines", "sevenhalf-2.9", rewritten(stbt(100), stbt(100) + b"\r\n"), strict=True),
    Rogue("ends its lines with a NUL", "sevenhalf-2.9", rewritten(stbt(100), stbt(100) + b"\0\0\0\0")),
    Rogue("says how long its messages are", "sevenhalf-2.9", rewritten(STBT, b"\x00\x09STBT")),
    Rogue("forgets the space of STBT", "sevenhalf-2.9", rewritten(b"STBT ", STBT)),
    Rogue("forgets the space of CARD", "sevenhalf-2.9", rewritten(b"CARD ", CARD)),
    Rogue("forgets the space of GAIN", "sevenhalf-2.9", rewritten(b"GAIN ", GAIN)),
    Rogue("forgets the space before the score", "sevenhalf-2.9", rewritten(b" 07.5", b"07.5")),
    Rogue("puts a space after its count", "sevenhalf-2.9", rewritten(number(2), number(2) + b" ")),
    Rogue("puts a space between the bank's cards", "sevenhalf-2.9", rewritten(b"7ccc", b"7c cc")),
    Rogue("counts one card too few", "sevenhalf-2.9", rewritten(number(2), number(1))),
    Rogue("counts one card too many", "sevenhalf-2.9", rewritten(number(2), number(3))),
    Rogue("counts fewer cards than none", "sevenhalf-2.9", rewritten(number(2), number(-2))),
    Rogue("counts forty-one cards", "sevenhalf-2.9", rewritten(number(2), number(41))),
    Rogue("names the suit first", "sevenhalf-2.4", rewritten(b"7o", b"o7")),
    Rogue("has eights", "sevenhalf-2.4", rewritten(b"7o", b"8o")),
    Rogue("numbers its figures", "sevenhalf-2.4", rewritten(b"7o", b"10o")),
    Rogue("plays with French suits", "sevenhalf-2.4", rewritten(b"7o", b"7h")),
    Rogue("spells its card out", "sevenhalf-2.9", rewritten(b"7o", b"set d'oros")),
    Rogue("spells STBT out", "sevenhalf-2.9", rewritten(b"STBT ", b"STARTING_BET "), [STRT]),
    Rogue("writes a comma", "sevenhalf-2.5", rewritten(b"07.5", b"07,5")),
    Rogue("writes a blank for a zero", "sevenhalf-2.5", rewritten(b"07.5", b" 7.5")),
    Rogue("writes a score of three characters", "sevenhalf-2.5", rewritten(b"07.5", b"7.5")),
    Rogue("writes a score of three characters and waits", "sevenhalf-4.5", from_the(BKSC, LOST[:-4] + b"7.5")),
    Rogue("writes a score of five characters", "sevenhalf-2.5", rewritten(b"07.5", b"007.5")),
    Rogue("writes a score of five characters with two decimals", "sevenhalf-2.9", rewritten(b"07.5", b"07.50")),
    Rogue("writes its score in halves", "sevenhalf-2.5", rewritten(b"07.5", b"0015")),
]

FORGETS = [
    Rogue("never answers", "sevenhalf-4.1", instead(STRT), [STRT]),
    Rogue("never deals", "sevenhalf-4.2", instead(DRAW), [STRT, DRAW]),
    Rogue(
        "deals one card only", "sevenhalf-4.2", lambda received, answers: [a for a in answers if a != card("7c")], BUSTS
    ),
    Rogue("never ends", "sevenhalf-4.5", instead(PASS)),
    Rogue("deals without a bet", "sevenhalf-4.1", acts(instead(STRT), without(STBT)), [STRT, DRAW]),
    Rogue("deals at once in place of the bet", "sevenhalf-4.1", instead(STRT, card("7o"))),
    Rogue("forgets the card that is too much", "sevenhalf-4.2", without(card("7c")), BUSTS, BUST),
    Rogue("forgets BSTG", "sevenhalf-4.6", without(BSTG), BUSTS, BUST),
    Rogue("forgets BKSC", "sevenhalf-4.5", without(BKSC)),
    Rogue("forgets BKSC after a bust", "sevenhalf-4.6", without(BKSC), BUSTS, BUST),
    Rogue("forgets GAIN", "sevenhalf-4.5", without(GAIN)),
    Rogue("forgets GAIN after a bust", "sevenhalf-4.6", without(GAIN), BUSTS, BUST),
    Rogue("pays before it shows", "sevenhalf-4.5", lambda received, answers: answers[::-1]),
    Rogue("pays before it shows after a bust", "sevenhalf-4.6", replaced(BKSC, gain(-100)), BUSTS, BUST),
    Rogue("says BSTG before the card", "sevenhalf-4.2", before(card("7c"), BSTG), BUSTS, BUST),
    Rogue("says BSTG last", "sevenhalf-4.6", from_the(BSTG, OVER, gain(-100), BSTG), BUSTS, BUST),
    Rogue("says BSTG twice", "sevenhalf-4.6", before(BKSC, BSTG), BUSTS, BUST),
    Rogue("shows its cards twice", "sevenhalf-4.5", before(GAIN, LOST)),
    Rogue("pays twice", "sevenhalf-4.9", followed(PASS, gain(-100))),
    Rogue("waits for a PASS after a bust", "sevenhalf-4.6", from_the(BKSC), BUSTS, BUST),
    Rogue("does not see a bust", "sevenhalf-4.6", from_the(BSTG), BUSTS, BUST),
    Rogue("says BSTG for itself", "sevenhalf-4.5", before(BKSC, BSTG), LOSES, WIN),
    Rogue("says BSTG too early", "sevenhalf-3.4", followed(DRAW, BSTG), [STRT, DRAW]),
    Rogue("deals on after a PASS", "sevenhalf-4.5", before(BKSC, card("1e"))),
    Rogue("sends half a message", "sevenhalf-4.1", replaced(STBT, stbt(100)[:7]), [STRT]),
]

CARDS = [
    Rogue("deals a card twice", "sevenhalf-3.3", replaced(card("7c"), card("7o")), BUSTS, BUST),
    Rogue("deals a card twice in other letters", "sevenhalf-3.3", replaced(card("7c"), card("7O")), BUSTS, BUST),
    Rogue("draws the client's card", "sevenhalf-3.3", replaced(BKSC, bksc("7o cc", "07.5"))),
    Rogue("draws a card twice", "sevenhalf-3.3", replaced(BKSC, bksc("4c 4c", "08.0")), LOSES, WIN),
    Rogue("draws the client's card against a bust", "sevenhalf-3.3", replaced(BKSC, bksc("7c", "07.0")), BUSTS, BUST),
    Rogue("draws nothing", "sevenhalf-3.6", replaced(BKSC, bksc("", "00.0"))),
    Rogue("stops when it is behind", "sevenhalf-3.6", replaced(BKSC, bksc("6c", "06.0"))),
    Rogue("stops when it is level", "sevenhalf-3.6", replaced(BKSC, bksc("7c", "07.0"))),
    Rogue("draws on when it is ahead", "sevenhalf-3.6", replaced(BKSC, bksc("7c cc sc", "08.0"))),
    Rogue("draws on when it is over", "sevenhalf-3.6", replaced(BKSC, bksc("4c 4e 1b", "09.0")), LOSES, WIN),
    Rogue("draws on at seven and a half", "sevenhalf-3.6", replaced(BKSC, bksc("7c cc 1e", "08.5")), HAS_BEST, TIE),
    Rogue(
        "stops at seven against seven and a half", "sevenhalf-3.6", replaced(BKSC, bksc("7c", "07.0")), HAS_BEST, TIE
    ),
    Rogue("draws nothing against a bust", "sevenhalf-3.7", replaced(BKSC, bksc("", "00.0")), BUSTS, BUST),
    Rogue("draws two against a bust", "sevenhalf-3.7", replaced(BKSC, bksc("rb sb", "01.0")), BUSTS, BUST),
    Rogue("draws to the end against a bust", "sevenhalf-3.7", replaced(BKSC, bksc("6b 1b 2b", "09.0")), BUSTS, BUST),
]

SCORES = [
    Rogue("counts figures as ten", "sevenhalf-5.2", rewritten(b"07.5", b"17.0")),
    Rogue("counts figures as nothing", "sevenhalf-5.2", rewritten(b"07.5", b"07.0")),
    Rogue("reports the client's score", "sevenhalf-5.2", rewritten(b"07.5", b"07.0")),
    Rogue("rounds its score", "sevenhalf-5.2", rewritten(b"07.5", b"08.0")),
    Rogue("says 00.0 when it is over", "sevenhalf-5.2", rewritten(b"08.0", b"00.0"), LOSES, WIN),
    Rogue("says 07.5 whenever it is over", "sevenhalf-5.2", rewritten(b"08.0", b"07.5"), LOSES, WIN),
    Rogue("forgets the leading zero's place", "sevenhalf-5.2", rewritten(b"07.5", b"75.0")),
    Rogue("reports the client's score at a bust", "sevenhalf-5.2", rewritten(b"00.5", b"14.0"), BUSTS, BUST),
]

PAYS = [
    *(
        Rogue(f"pays {coins} when the client is over", "sevenhalf-5.4", replaced(GAIN, gain(coins)), BUSTS, BUST)
        for coins in (100, 0, -200, 200, -99)
    ),
    *(
        Rogue(f"pays {coins} when it is over", "sevenhalf-5.5", replaced(GAIN, gain(coins)), LOSES, WIN)
        for coins in (-100, 0, 200, 99)
    ),
    *(
        Rogue(f"pays {coins} for seven and a half", "sevenhalf-5.6", replaced(GAIN, gain(coins)), HAS_BEST, BEST)
        for coins in (100, 0, -100, -200, 300, 150)
    ),
    *(
        Rogue(f"pays {coins} when both have the same", "sevenhalf-5.7", replaced(GAIN, gain(coins)), HAS_BEST, TIE)
        for coins in (-100, 100, 200)
    ),
    *(
        Rogue(f"pays {coins} when it is ahead", "sevenhalf-5.8", replaced(GAIN, gain(coins)), LOSES, LOSS)
        for coins in (100, 0, -200, -101)
    ),
    Rogue("takes no more than the starting bet when it wins", "sevenhalf-5.3", replaced(GAIN, gain(-100)),
          [STRT, DRAW, ante(10), DRAW], BUST),
    Rogue("forgets an ante when it loses", "sevenhalf-5.3", replaced(GAIN, gain(200)), RAISES, BEST),
    Rogue("doubles the starting bet alone", "sevenhalf-5.3", replaced(GAIN, gain(210)), RAISES, BEST),
    Rogue("doubles the ante alone", "sevenhalf-5.3", replaced(GAIN, gain(120)), RAISES, BEST),
    Rogue("counts the last ante only", "sevenhalf-5.3", replaced(GAIN, gain(240)),
          [STRT, DRAW, ante(10), ante(20), DRAW, PASS], BEST),
    Rogue("keeps the antes of the last game", "sevenhalf-5.3",
          lambda received, answers: [gain(110) if a == gain(100) else a for a in answers],
          [STRT, DRAW, ante(10), DRAW, PASS, STRT, DRAW, PASS], ("7o so 4c 4e / 7o 4c 4e", 100)),
    Rogue("pays the bet of the game before", "sevenhalf-5.5",
          lambda received, answers: [gain(200) if a == gain(100) else a for a in answers],
          [*HAS_BEST, *LOSES], ("7o so 4c 4e / 7o 4c 4e", 100)),
    Rogue("adds an ante that it has refused", "sevenhalf-7.4", replaced(GAIN, gain(110)),
          [STRT, DRAW, ante(10), PASS], WIN, head={"max_bet": "100"}),
]  # fmt: skip

TAKES = [
    Rogue("answers an ANTE with a bet", "sevenhalf-4.4", instead(ante(10), stbt(110)), [STRT, DRAW, ante(10)]),
    Rogue("answers an ANTE with the ANTE", "sevenhalf-4.4", instead(ante(10), ante(10)), [STRT, DRAW, ante(10)]),
    Rogue("deals after an ANTE", "sevenhalf-4.4", instead(ante(10), card("1o")), [STRT, DRAW, ante(10)]),
    Rogue("ends the game after an ANTE", "sevenhalf-4.4", instead(ante(10), LOST, gain(-110)), [STRT, DRAW, ante(10)]),
    Rogue("deals before STRT", "sevenhalf-6.1", instead(DRAW, card("7o")), [DRAW], faulty_client=True),
    Rogue("takes an ANTE before STRT", "sevenhalf-6.1", instead(ante(10)), [ante(10)], faulty_client=True),
    Rogue("swallows a PASS before STRT", "sevenhalf-6.1", instead(PASS), [PASS], faulty_client=True),
    Rogue("takes an ANTE before the first card", "sevenhalf-6.2", instead(ante(10)), [STRT, ante(10)],
          faulty_client=True),
    Rogue("takes a PASS before the first card", "sevenhalf-6.2", instead(PASS, bksc("7o", "07.0"), gain(-100)),
          [STRT, PASS], faulty_client=True),
    Rogue("starts twice", "sevenhalf-6.2", instead(STRT, stbt(100)), [STRT, STRT], faulty_client=True),
    Rogue("starts again in a game", "sevenhalf-6.3", instead(STRT, stbt(100)), [STRT, DRAW, STRT], faulty_client=True),
    Rogue("swallows a STRT in a game", "sevenhalf-6.3", acts(instead(STRT, stbt(100)), without(ERRO)),
          [STRT, DRAW, STRT], faulty_client=True),
    Rogue("starts again after an ANTE", "sevenhalf-6.4", instead(STRT, stbt(100)), [STRT, DRAW, ante(10), STRT],
          faulty_client=True),
    Rogue("takes a PASS after an ANTE", "sevenhalf-6.4", instead(PASS, LOST, gain(-110)),
          [STRT, DRAW, ante(10), PASS], faulty_client=True),
    Rogue("swallows a PASS after an ANTE", "sevenhalf-6.4", instead(PASS), [STRT, DRAW, ante(10), PASS],
          faulty_client=True),
    Rogue("takes an ANTE of nothing", "sevenhalf-7.2", instead(ante(0)), [STRT, DRAW, ante(0)], faulty_client=True),
    Rogue("takes an ANTE back", "sevenhalf-7.2", instead(ante(-10)), [STRT, DRAW, ante(-10)], faulty_client=True),
    Rogue("takes any ANTE", "sevenhalf-7.3", instead(ante(2**30)), [STRT, DRAW, ante(2**30)], faulty_client=True),
    Rogue("takes a second ANTE that is too much", "sevenhalf-7.3", instead(ante(2**29)),
          [STRT, DRAW, ante(2**29), ante(2**29)], faulty_client=True),
    Rogue("swallows the words of a house", "sevenhalf-6.5", without(ERRO), [STRT, card("7o")], faulty_client=True),
    Rogue("swallows a STBT", "sevenhalf-6.5", instead(stbt(1)), [stbt(1)], faulty_client=True),
    Rogue("pays what a client says it has gained", "sevenhalf-6.5", instead(gain(100), gain(100)),
          [STRT, DRAW, gain(100)], faulty_client=True),
    Rogue("answers a second PASS after a bust", "sevenhalf-6.1", instead(PASS), [*BUSTS, PASS, PASS], BUST,
          faulty_client=True),
    Rogue("shows its cards again for a PASS after a bust", "sevenhalf-4.9", instead(PASS, OVER, gain(-100)),
          [*BUSTS, PASS], BUST),
    Rogue("swallows a PASS after a PASS", "sevenhalf-6.1", without(ERRO), [*LOSES, PASS], faulty_client=True),
    Rogue("deals after a bust", "sevenhalf-6.1", replaced(ERRO, card("1o")), [*BUSTS, DRAW], BUST,
          faulty_client=True),
    Rogue("answers a refused ANTE with silence and deals", "sevenhalf-7.2", without(ERRO), [STRT, DRAW, ante(0), DRAW],
          faulty_client=True),
]  # fmt: skip

SPEAKS = [
    Rogue("deals two cards", "sevenhalf-4.9", followed(DRAW, card("1o")), [STRT, DRAW]),
    Rogue("deals without being asked", "sevenhalf-4.9", followed(STRT, card("7o")), [STRT]),
    Rogue("repeats the bet", "sevenhalf-4.9", followed(STRT, stbt(100)), [STRT]),
    Rogue("begins the next game", "sevenhalf-4.9", followed(PASS, stbt(100))),
    Rogue("reports the result in prose", "sevenhalf-2.9", followed(PASS, b"You lose")),
    Rogue("ends the game at seven and a half", "sevenhalf-4.7",
          lambda _, answers: [*answers, bksc("4c 4e", "08.0"), gain(200)] if answers == [card("so")] else answers,
          [STRT, DRAW, DRAW], BEST),
    Rogue("says BSTG when seven and a half is there", "sevenhalf-4.7",
          lambda received, answers: [*answers, BSTG] if answers == [card("so")] else answers, [STRT, DRAW, DRAW], BEST),
    Rogue("commands the client", "sevenhalf-4.9", followed(STRT, DRAW), [STRT]),
    Rogue("shows its cards while the client thinks", "sevenhalf-4.9", followed(DRAW, bksc("7c", "07.0")), [STRT, DRAW]),
    Rogue("complains and answers", "sevenhalf-6.8", before(CARD, erro("careful")), [STRT, DRAW]),
    Rogue("complains after its answer", "sevenhalf-6.8", followed(STRT, erro("ok")), [STRT]),
    Rogue("answers errors with errors", "sevenhalf-6.6", instead(erro("what?"), erro("what?")), [STRT, erro("what?")]),
    Rogue("answers errors between games", "sevenhalf-6.6", instead(erro(""), stbt(100)), [erro("")]),
    Rogue("answers errors with a card", "sevenhalf-6.6", instead(erro(""), card("1o")), [STRT, DRAW, erro("")]),
]  # fmt: skip

REFUSES = [
    Rogue("refuses STRT", "sevenhalf-6.8", instead(STRT, erro("no")), [STRT]),
    Rogue("refuses the first DRAW", "sevenhalf-6.8", instead(DRAW, erro("no")), [STRT, DRAW]),
    Rogue("refuses PASS", "sevenhalf-6.8", instead(PASS, erro("no"))),
    Rogue("refuses an ANTE twice", "sevenhalf-6.8", instead(ante(10), erro("no"), erro("no")), [STRT, DRAW, ante(10)]),
    Rogue("refuses an ANTE and then the DRAW after it", "sevenhalf-6.8",
          acts(instead(ante(10), erro("no")), replaced(card("so"), erro("no"))), [STRT, DRAW, ante(10), DRAW], BEST),
    Rogue("refuses a PASS after a bust and goes on complaining", "sevenhalf-6.8",
          instead(PASS, erro("no"), erro("no")), [*BUSTS, PASS], BUST),
    Rogue("is silent about what it cannot read", "sevenhalf-2.9", without(ERRO), [GARBAGE], faulty_client=True),
    Rogue("closes without a word after garbage", "sevenhalf-2.9", lambda _, answers: [HANG_UP] if answers else [],
          [GARBAGE], faulty_client=True),
    Rogue("never closes after garbage", "sevenhalf-2.9", without(HANG_UP), [GARBAGE], faulty_client=True),
    Rogue("talks on after garbage", "sevenhalf-2.9", before(HANG_UP, stbt(100)), [GARBAGE], faulty_client=True),
    Rogue("answers garbage with a card", "sevenhalf-2.9", before(ERRO, card("1o")), [STRT, GARBAGE],
          faulty_client=True),
    Rogue("writes one digit before the text of an error", "sevenhalf-2.9", replaced(ERRO, b"ERRO 2no"), [DRAW],
          faulty_client=True),
    Rogue("writes three digits before the text of an error", "sevenhalf-2.9", replaced(ERRO, b"ERRO 012Syntax error"),
          [DRAW], faulty_client=True),
    Rogue("writes the length of an error as an integer", "sevenhalf-2.9", replaced(ERRO, b"ERRO " + number(2) + b"no"),
          [DRAW], faulty_client=True),
    Rogue("writes no length before the text of an error", "sevenhalf-2.9", replaced(ERRO, b"ERRO Syntax error"),
          [DRAW], faulty_client=True),
    Rogue("says less than the length of its error and waits", "sevenhalf-6.1", replaced(ERRO, b"ERRO 12no"), [DRAW],
          faulty_client=True),
    Rogue("says more than the length of its error", "sevenhalf-2.9", replaced(ERRO, b"ERRO 02not now"), [DRAW],
          faulty_client=True),
    Rogue("counts the digits as text of the error", "sevenhalf-6.1", replaced(ERRO, b"ERRO 04no"), [DRAW],
          faulty_client=True),
    Rogue("answers what is not allowed with a word of its own", "sevenhalf-6.1", replaced(ERRO, BSTG), [DRAW],
          faulty_client=True),
]  # fmt: skip

CLOSES = [
    Rogue("closes at once", "sevenhalf-8.2", instead(GREETING, HANG_UP), []),
    Rogue("closes instead of the bet", "sevenhalf-4.1", instead(STRT, HANG_UP), [STRT]),
    Rogue("closes after the bet", "sevenhalf-8.2", followed(STRT, HANG_UP), [STRT]),
    Rogue("closes instead of a card", "sevenhalf-4.2", instead(DRAW, HANG_UP), [STRT, DRAW]),
    Rogue("closes in a game", "sevenhalf-8.2", followed(DRAW, HANG_UP), [STRT, DRAW]),
    Rogue("closes after an ANTE", "sevenhalf-8.2", instead(ante(10), HANG_UP), [STRT, DRAW, ante(10)]),
    Rogue("closes instead of the bank's cards", "sevenhalf-4.5", instead(PASS, HANG_UP)),
    Rogue("closes owing the gain", "sevenhalf-4.5", from_the(GAIN, HANG_UP)),
    Rogue("closes after BSTG", "sevenhalf-4.6", from_the(BKSC, HANG_UP), BUSTS, BUST),
    Rogue("closes owing the gain after a bust", "sevenhalf-4.6", from_the(GAIN, HANG_UP), BUSTS, BUST),
    Rogue("closes after the game", "sevenhalf-8.5", followed(PASS, HANG_UP), strict=True),
    Rogue("closes instead of refusing", "sevenhalf-6.2", replaced(ERRO, HANG_UP), [STRT, PASS], faulty_client=True),
    Rogue("closes in the middle of a message", "sevenhalf-4.5", from_the(BKSC, LOST[:10], HANG_UP)),
    Rogue("never closes after its own closing message", "sevenhalf-6.8", followed(PASS, erro("that is all"))),
    Rogue("goes on after its own closing message", "sevenhalf-6.8", followed(PASS, erro("that is all"), stbt(100))),
]  # fmt: skip

ROGUES = [*GREETS, *NUMBERS, *SPELLS, *FORGETS, *CARDS, *SCORES, *PAYS, *TAKES, *SPEAKS, *REFUSES, *CLOSES]

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def run_conversation(rogue: Rogue, habit: Habit) -> RefereedConversation:
    deck, bet = rogue.game
    conversation = RefereedConversation(ROOM, {"deck": deck, "bet": str(bet), **rogue.head}, habit, strict=rogue.strict)
    conversation.send(*rogue.says)
    conversation.wait()
    return conversation


@in_one_test
@rogues
def test_faulty_house_breaks_exactly_its_clause(rogue: Rogue) -> None:
    conversation = run_conversation(rogue, rogue.habit)
    assert conversation.clauses(HOUSE) == [rogue.clause]
    assert bool(conversation.clauses(CLIENT)) == rogue.faulty_client


@pytest.mark.extended
@rogues
def test_same_house_without_its_mutation_breaks_nothing(rogue: Rogue) -> None:
    """The mutation is therefore the only fault."""
    assert run_conversation(rogue, honest).clauses(HOUSE) == []


def test_mutations_cover_all_house_clauses() -> None:
    caught = {rogue.clause.removeprefix("sevenhalf-") for rogue in ROGUES}
    assert caught >= {
        *("1.2", "2.9", "3.3", "3.6", "3.7", "4.1", "4.2", "4.4", "4.5", "4.6", "4.7", "4.9", "5.2"),
        *("5.4", "5.5", "5.6", "5.7", "5.8", "6.1", "6.2", "6.3", "6.4", "6.5", "6.8", "7.1", "7.2", "7.3"),
        *("8.2", "8.5"),
    }
    assert len({rogue.name for rogue in ROGUES}) == len(ROGUES) >= 50
