"""The dialect `lenient`, case by case as in ruling S4; without the dialect all of it is refused.

ANTE before the first DRAW, PASS right after ANTE, PASS before DRAW, STRT in mid-game as a new game, DRAW without STRT.
"""

from dataclasses import dataclass, replace

import pytest

from croupier.core.bots import bot_factory
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.sevenhalf import ROOM, Options
from croupier.rooms.sevenhalf.bots import BOT_SPECS
from croupier.rooms.sevenhalf.player import Player
from croupier.rooms.sevenhalf.wire import Message, Wire
from tests.properties.self_play import SelfPlay
from tests.rooms.conversation_fixture import RefereedConversation
from tests.rooms.sevenhalf.frames import (
    BSTG,
    DRAW,
    PASS,
    STRT,
    ante,
    bksc,
    card,
    gain,
    refused,
    stbt,
)
from tests.rooms.sevenhalf.tables import Table
from tests.rooms.sevenhalf.test_player import player_after, process
from tests.sampling import example_count

BET, SEVEN = stbt(100), card("7o")
DECK = "7o 7c cc"
"""The client draws 7 and 7. After one 7 the bank draws 7 and a half; after no card it draws 7."""


@dataclass(frozen=True)
class Case:
    """The commands of a client, the answers in each dialect, and the nets of its games after a disconnect."""

    name: str
    clauses: set[str]
    says: list[bytes]
    lenient: list[bytes]
    document: list[bytes]
    won: list[int]
    refused: list[int]


NOT_YET = "DRAW"
HAND = "DRAW, ANTE, PASS"
RAISED = "DRAW, ANTE"

CASES = [
    Case("ANTE before the first DRAW", {"6.2"}, [STRT, ante(10), DRAW, PASS],
         [BET, b"", SEVEN, bksc("7c cc", "07.5") + gain(-110)],
         [BET, refused("ANTE", NOT_YET), SEVEN, bksc("7c cc", "07.5") + gain(-100)], [-110], [-100]),
    Case("several ANTEs before the first DRAW", {"6.2"}, [STRT, ante(10), ante(5), DRAW, ante(1), DRAW],
         [BET, b"", b"", SEVEN, b"", card("7c") + BSTG + bksc("cc", "00.5") + gain(-116)],
         [BET, refused("ANTE", NOT_YET), refused("ANTE", NOT_YET), SEVEN, b"",
          card("7c") + BSTG + bksc("cc", "00.5") + gain(-101)], [-116], [-101]),
    Case("PASS right after ANTE", {"6.4"}, [STRT, DRAW, ante(10), PASS],
         [BET, SEVEN, b"", bksc("7c cc", "07.5") + gain(-110)],
         [BET, SEVEN, b"", refused("PASS", RAISED)], [-110], [-110]),
    Case("PASS right after several ANTEs", {"6.4"}, [STRT, DRAW, ante(10), ante(5), PASS],
         [BET, SEVEN, b"", b"", bksc("7c cc", "07.5") + gain(-115)],
         [BET, SEVEN, b"", b"", refused("PASS", RAISED)], [-115], [-115]),
    Case("PASS before DRAW", {"6.2"}, [STRT, PASS],
         [BET, bksc("7o", "07.0") + gain(-100)], [BET, refused("PASS", NOT_YET)], [-100], [-100]),
    Case("ANTE and PASS before DRAW", {"6.2"}, [STRT, ante(10), PASS],
         [BET, b"", bksc("7o", "07.0") + gain(-110)],
         [BET, refused("ANTE", NOT_YET), refused("PASS", NOT_YET)], [-110], [-100]),
    Case("STRT right after STRT", {"6.2"}, [STRT, STRT, DRAW],
         [BET, BET, SEVEN], [BET, refused("STRT", NOT_YET), SEVEN], [-100, -100], [-100]),
    Case("STRT in mid-game", {"6.3"}, [STRT, DRAW, STRT, DRAW, PASS],
         [BET, SEVEN, BET, SEVEN, bksc("7c cc", "07.5") + gain(-100)],
         [BET, SEVEN, refused("STRT", HAND), card("7c") + BSTG + bksc("cc", "00.5") + gain(-100), b""],
         [-100, -100], [-100]),
    Case("STRT right after ANTE", {"6.4"}, [STRT, DRAW, ante(10), STRT, DRAW, PASS],
         [BET, SEVEN, b"", BET, SEVEN, bksc("7c cc", "07.5") + gain(-100)],
         [BET, SEVEN, b"", refused("STRT", RAISED), card("7c") + BSTG + bksc("cc", "00.5") + gain(-110), b""],
         [-110, -100], [-110]),
    Case("DRAW without STRT", {"6.1"}, [DRAW, PASS],
         [SEVEN, bksc("7c cc", "07.5") + gain(-100)],
         [refused("DRAW", "STRT"), refused("PASS", "STRT")], [-100], []),
    Case("DRAW without STRT behind a game", {"6.1"}, [STRT, DRAW, PASS, DRAW, ante(10), DRAW],
         [BET, SEVEN, bksc("7c cc", "07.5") + gain(-100), SEVEN, b"",
          card("7c") + BSTG + bksc("cc", "00.5") + gain(-110)],
         [BET, SEVEN, bksc("7c cc", "07.5") + gain(-100), refused("DRAW", "STRT"), refused("ANTE", "STRT"),
          refused("DRAW", "STRT")], [-100, -110], [-100]),
    Case("DRAW without STRT behind a bust", {"6.1"}, [STRT, DRAW, DRAW, DRAW, PASS],
         [BET, SEVEN, card("7c") + BSTG + bksc("cc", "00.5") + gain(-100), SEVEN,
          bksc("7c cc", "07.5") + gain(-100)],
         [BET, SEVEN, card("7c") + BSTG + bksc("cc", "00.5") + gain(-100), refused("DRAW", "STRT"), b""],
         [-100, -100], [-100]),
]  # fmt: skip

cases = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@cases
def test_the_lenient_house_accepts_it(case: Case) -> None:
    """Also byte by byte, and in one piece."""
    table = Table(DECK, dialect="lenient")
    assert [table.send(sent) for sent in case.says] == case.lenient
    table.disconnect()
    assert table.settled == case.won
    table = Table(DECK, dialect="lenient")
    assert table.send(b"".join(case.says)) == b"".join(case.lenient)
    table = Table(DECK, dialect="lenient")
    assert b"".join(table.send(bytes([byte])) for sent in case.says for byte in sent) == b"".join(case.lenient)


@cases
def test_the_house_of_the_document_refuses_it(case: Case) -> None:
    table = Table(DECK)
    assert [table.send(sent) for sent in case.says] == case.document
    table.disconnect()
    assert table.settled == case.refused


@cases
def test_only_a_lenient_referee_accepts_the_dialect(case: Case) -> None:
    conversation = RefereedConversation(ROOM, {"deck": DECK, "dialect": "lenient"})
    conversation.send(*case.says)
    conversation.wait()
    assert conversation.verdicts == []
    conversation = RefereedConversation(ROOM, {"deck": DECK})
    conversation.send(*case.says)
    conversation.wait()
    assert {clause.removeprefix("sevenhalf-") for clause in conversation.clauses(CLIENT)} == case.clauses
    assert conversation.clauses(HOUSE) == []


@cases
def test_strict_house_may_be_lenient(case: Case) -> None:
    table = Table(DECK, dialect="lenient", strict="yes")
    assert [table.send(sent) for sent in case.says] == case.lenient


@pytest.mark.hypothesis
def test_passing_before_the_first_card_never_wins() -> None:
    """sevenhalf-9.4"""
    for seed in range(example_count(40)):
        table = Table(seed=str(seed), dialect="lenient")
        answer = table.send(STRT, PASS)
        assert answer[9:18] == b"BKSC \0\0\0\1"
        assert answer.endswith(gain(-100))


@pytest.mark.parametrize("sent", [[STRT, DRAW, PASS], [STRT, DRAW, ante(10), DRAW, PASS], [STRT, DRAW, DRAW, PASS]])
def test_dialect_does_not_affect_conforming_clients(sent: list[bytes]) -> None:
    for seed in range(20):
        lenient, document = Table(seed=str(seed), dialect="lenient"), Table(seed=str(seed))
        for word in sent:
            answer = lenient.send(word)
            if b"ERRO" not in (other := document.send(word)):
                assert answer == other


# With our client.


def messages(*frames: bytes) -> list[Message]:
    return [item for frame in frames for item in Wire().feed(frame)]  # type: ignore[misc]


SAID_BY_OURS = [case for case in CASES if case.name.startswith(("ANTE", "several", "PASS"))]


@pytest.mark.parametrize("case", SAID_BY_OURS, ids=[case.name for case in SAID_BY_OURS])
def test_player_allows_lenient_commands_only_in_the_dialect(case: Case) -> None:
    player = player_after(dialect="lenient")
    for sent, answer in zip(case.says, case.lenient, strict=True):
        (message,) = messages(sent)
        assert message in player.legal
        process(player, message, *messages(answer))
    assert player.game is None
    assert player.last_game is not None
    assert [player.last_game.net] == case.won
    player = player_after()
    for sent, answer in zip(case.says, case.document, strict=True):
        (message,) = messages(sent)
        if messages(answer) and b"ERRO" in answer:
            assert message not in player.legal
            return
        process(player, message, *messages(answer))
    raise AssertionError("the document refuses something of it")


@pytest.mark.parametrize(
    "script", ["script:DRAW,PASS", "script:PASS", "script:100,PASS", "script:DRAW,100,PASS", "script:100,DRAW,PASS"]
)
def test_our_client_and_our_house_play_the_dialect_without_a_fault(script: str) -> None:
    room = replace(ROOM, player=lambda _, *, strict=False: Player(Options(dialect="lenient", limit=2), strict=strict))
    bout = SelfPlay(room, bot_factory(BOT_SPECS, script)(), {"seed": "5", "dialect": "lenient"})
    bout.play(30)
    assert bout.verdicts == []
    assert bout.won == bout.paid
    assert len(bout.won) == 30


def test_conforming_client_plays_at_a_lenient_house() -> None:
    bout = SelfPlay(ROOM, bot_factory(BOT_SPECS, "exact")(), {"seed": "5", "dialect": "lenient"})
    bout.play(30)
    assert bout.verdicts == []
    assert bout.won == bout.paid
