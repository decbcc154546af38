"""Faulty clients that each break one clause; the referee must name it and not blame the house."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.sevenhalf import ROOM
from tests.rooms.conversation_fixture import RefereedConversation
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
from tests.sampling import in_one_test

type Mutation = Callable[[bytes], Sequence[bytes]]
"""A mutation of a client: maps a correct message to the messages that it sends."""


def instead(sent: bytes, *other: bytes) -> Mutation:
    return lambda line: other if line == sent else (line,)


def before(sent: bytes, *other: bytes) -> Mutation:
    """Send other messages before one."""
    return lambda line: (*other, line) if line == sent else (line,)


def after(sent: bytes, *other: bytes) -> Mutation:
    """Send other messages after one."""
    return lambda line: (line, *other) if line == sent else (line,)


def replaced(old: bytes, new: bytes) -> Mutation:
    return lambda line: (line.replace(old, new),)


def unchanged(line: bytes) -> Sequence[bytes]:
    return (line,)


BET, SEVEN, HALF = stbt(100), card("7o"), card("so")
LOST = bksc("4c 1e 3b", "08.0") + gain(100)
"""With the deck 7o 4c 1e 3b: the client has 7; the bank draws to 4, 5 and 8."""

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
    """A client with a mutation, its correct messages, the broken clauses, and the answers of the house."""

    name: str
    clause: str
    mutation: Mutation
    answers: bytes
    says: Sequence[bytes] = PLAYS
    deck: str = PLAY
    strict: bool = False


def lost(name: str, mutation: Mutation, answers: bytes = b"", *, strict: bool = False) -> Rogue:
    """A client whose input is a fatal violation: the house sends an ERRO and closes."""
    return Rogue(name, "sevenhalf-2.9", mutation, answers + UNREADABLE, strict=strict)


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
"""Messages of the house with invalid arguments and a known length."""

ROGUES = [
    Rogue("draws before it has asked for a game", "sevenhalf-6.1", before(STRT, DRAW),
          refused("DRAW", ONLY_START) + PLAYED),
    Rogue("raises before it has asked for a game", "sevenhalf-6.1", before(STRT, ante(10)),
          refused("ANTE", ONLY_START) + PLAYED),
    Rogue("passes before it has asked for a game", "sevenhalf-6.1", before(STRT, PASS),
          refused("PASS", ONLY_START) + PLAYED),
    Rogue("starts twice", "sevenhalf-6.2", after(STRT, STRT), BET + refused("STRT", ONLY_DRAW) + SEVEN + LOST),
    Rogue("passes without a card", "sevenhalf-6.2", before(DRAW, PASS),
          BET + refused("PASS", ONLY_DRAW) + SEVEN + LOST),
    Rogue("raises without a card", "sevenhalf-6.2", before(DRAW, ante(10)),
          BET + refused("ANTE", ONLY_DRAW) + SEVEN + LOST),
    Rogue("raises by nothing without a card", "sevenhalf-6.2", before(DRAW, ante(0)),
          BET + refused("ANTE", ONLY_DRAW) + SEVEN + LOST),
    Rogue("starts again with a card", "sevenhalf-6.3", before(PASS, STRT), BET + SEVEN + refused("STRT", HAND) + LOST),
    Rogue("starts again behind an ANTE", "sevenhalf-6.4", after(ante(10), STRT),
          BET + SEVEN + refused("STRT", RAISED) + HALF + bksc("4c 4e", "08.0") + gain(220),
          (STRT, DRAW, ante(10), DRAW, PASS), "7o so 4c 4e"),
    Rogue("passes behind an ANTE", "sevenhalf-6.4", after(ante(10), PASS),
          BET + SEVEN + refused("PASS", RAISED) + HALF + bksc("4c 4e", "08.0") + gain(220),
          (STRT, DRAW, ante(10), DRAW, PASS), "7o so 4c 4e"),
    Rogue("raises by nothing", "sevenhalf-7.2", before(PASS, ante(0)),
          BET + SEVEN + refused("ANTE 0", f"1 to {MOST - 100}") + LOST),
    Rogue("raises by less than nothing", "sevenhalf-7.2", before(PASS, ante(-100)),
          BET + SEVEN + refused("ANTE -100", f"1 to {MOST - 100}") + LOST),
    Rogue("raises by more than is allowed", "sevenhalf-7.3", before(PASS, ante(MOST - 99)),
          BET + SEVEN + refused(f"ANTE {MOST - 99}", f"1 to {MOST - 100}") + LOST),
    Rogue("sends its ANTE backwards", "sevenhalf-7.3", before(PASS, b"ANTE " + number(100)[::-1]),
          BET + SEVEN + refused(f"ANTE {100 << 24}", f"1 to {MOST - 100}") + LOST),
    Rogue("raises again and again", "sevenhalf-7.3", after(ante(MOST - 100), ante(1)),
          BET + SEVEN + refused("ANTE 1", "no more") + HALF + bksc("4c 4e", "08.0") + gain(2 * MOST),
          (STRT, DRAW, ante(MOST - 100), DRAW, PASS), "7o so 4c 4e"),
    Rogue("says PASS twice behind a bust", "sevenhalf-6.1", after(PASS, PASS),
          BUSTED + refused("PASS", ONLY_START), (*BUSTS, PASS), BUST),
    Rogue("draws on behind a bust", "sevenhalf-6.1", instead(b"", DRAW),
          BUSTED + refused("DRAW", ONLY_START), (*BUSTS, b""), BUST),
    Rogue("raises behind a bust", "sevenhalf-6.1", instead(b"", ante(10)),
          BUSTED + refused("ANTE", ONLY_START), (*BUSTS, b""), BUST),
    Rogue("passes twice", "sevenhalf-6.1", after(PASS, PASS), PLAYED + refused("PASS", ONLY_START)),
    Rogue("draws when the game is over", "sevenhalf-6.1", after(PASS, DRAW), PLAYED + refused("DRAW", ONLY_START)),
    Rogue("says PASS behind a bust to a strict house", "sevenhalf-6.1",
          instead(b"", PASS), BUSTED + refused("PASS", ONLY_START), (*BUSTS, b""), BUST,
          strict=True),
    *(Rogue(f"says {code} between games", "sevenhalf-6.5", before(STRT, sent), refused(code, ONLY_START) + PLAYED)
      for code, sent in HOUSES_WORDS.items()),
    *(Rogue(f"says {code} before its first card", "sevenhalf-6.5", before(DRAW, sent),
            BET + refused(code, ONLY_DRAW) + SEVEN + LOST) for code, sent in HOUSES_WORDS.items()),
    *(Rogue(f"says {code} with a card", "sevenhalf-6.5", before(PASS, sent),
            BET + SEVEN + refused(code, HAND) + LOST) for code, sent in HOUSES_WORDS.items()),
    *(Rogue(name, "sevenhalf-6.5", before(DRAW, sent), BET + refused(sent[:4].decode(), ONLY_DRAW) + SEVEN + LOST)
      for name, sent in SENSELESS.items()),
    lost("speaks another protocol", replaced(STRT, GARBAGE)),
    lost("speaks HTTP", replaced(STRT, b"GET / HTTP/1.1\r\n\r\n")),
    lost("speaks Kuhn poker", replaced(DRAW, b"ACTN CHK"), BET),
    lost("spells START out", replaced(STRT, b"START"), b""),
    lost("says how long its messages are", replaced(STRT, b"\x00\x04STRT")),
    lost("ends its messages with a NUL", replaced(STRT, b"STRT\0\0\0\0"), BET),
    lost("writes the quotes", replaced(STRT, b"'STRT'")),
    lost("writes its ANTE as text and goes on", before(PASS, b"ANTE 100", DRAW), BET + SEVEN),
    lost("forgets the space of its ANTE", before(PASS, b"ANTE" + number(10)), BET + SEVEN),
    lost("puts a tab behind ANTE", before(PASS, b"ANTE\t" + number(10)), BET + SEVEN),
    lost("sends its ANTE in eight bytes", before(PASS, b"ANTE " + number(10) + number(10)), BET + SEVEN),
    lost("ends its lines to a strict house", replaced(STRT, b"STRT\r\n"), BET, strict=True),
    lost("complains with one digit", before(DRAW, b"ERRO 2no"), BET),
    lost("complains without a length", before(DRAW, b"ERRO Syntax error"), BET),
    lost("complains with an integer", before(DRAW, b"ERRO " + number(2) + b"no"), BET),
    lost("complains at greater length than it says", before(DRAW, b"ERRO 02not now"), BET),
    lost("says BKSC with forty-one cards", before(DRAW, b"BKSC " + number(41)), BET),
    lost("says BKSC with fewer cards than none", before(DRAW, b"BKSC " + number(-1)), BET),
]  # fmt: skip

rogues = pytest.mark.parametrize("rogue", ROGUES, ids=[rogue.name for rogue in ROGUES])


def run_conversation(rogue: Rogue, mutation: Mutation) -> RefereedConversation:
    conversation = RefereedConversation(ROOM, {"deck": rogue.deck}, strict=rogue.strict)
    for line in rogue.says:
        conversation.send(*mutation(line))
    conversation.wait()
    return conversation


@in_one_test
@rogues
def test_faulty_client_breaks_exactly_its_clause(rogue: Rogue) -> None:
    conversation = run_conversation(rogue, rogue.mutation)
    assert conversation.clauses(CLIENT) == [rogue.clause]
    assert conversation.clauses(HOUSE) == []
    assert conversation.received == rogue.answers


@in_one_test
@rogues
def test_same_client_without_its_mutation_breaks_nothing(rogue: Rogue) -> None:
    """The mutation is therefore the only fault."""
    conversation = run_conversation(rogue, unchanged)
    assert conversation.verdicts == []


def test_mutations_cover_all_client_clauses() -> None:
    caught = {rogue.clause.removeprefix("sevenhalf-") for rogue in ROGUES}
    assert caught == {"2.9", "6.1", "6.2", "6.3", "6.4", "6.5", "7.2", "7.3"}
    assert len({rogue.name for rogue in ROGUES}) == len(ROGUES) >= 25


def test_pipelined_commands_break_nothing() -> None:
    conversation = RefereedConversation(ROOM, {"deck": "7o 4c 1e 3b"})
    conversation.send(STRT + DRAW + PASS + STRT + DRAW)
    assert conversation.verdicts == []
    assert conversation.received == PLAYED + BET + SEVEN


def test_pass_after_a_bust_breaks_nothing() -> None:
    """Neither at once nor after a refused command (sevenhalf-4.8)."""
    conversation = RefereedConversation(ROOM, {"deck": BUST})
    conversation.send(*BUSTS, PASS)
    assert conversation.verdicts == []
    conversation.send(STRT, DRAW, DRAW, DRAW, PASS, STRT)
    assert conversation.clauses(CLIENT) == ["sevenhalf-6.1"]
    assert conversation.received == BUSTED + BUSTED + refused("DRAW", ONLY_START) + BET


def test_erro_from_the_client_breaks_nothing() -> None:
    conversation = RefereedConversation(ROOM, {"deck": PLAY})
    conversation.send(erro(""), STRT, erro("DRAW"), DRAW, erro("x" * 99), PASS, erro("\r\n"))
    assert conversation.verdicts == []
    assert conversation.received == PLAYED


def test_client_disconnect_breaks_nothing() -> None:
    for at in range(len(PLAYS) + 1):
        conversation = RefereedConversation(ROOM, {"deck": PLAY}, strict=True)
        conversation.send(*PLAYS[:at])
        conversation.disconnect()
        conversation.wait()
        assert conversation.verdicts == []


def test_text_in_place_of_a_number_is_read_as_binary() -> None:
    """`ANTE 10\\r\\n` is an ANTE of 825232650 coins: any four bytes are valid (sevenhalf-2.3)."""
    conversation = RefereedConversation(ROOM, {"deck": "7o so 4c 4e"})
    conversation.send(STRT, DRAW, b"ANTE 10\r\n", DRAW, PASS)
    assert conversation.verdicts == []
    assert conversation.received.endswith(gain(2 * (100 + 0x31300D0A)))
