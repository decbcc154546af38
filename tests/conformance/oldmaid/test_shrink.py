"""Long games are told in few words: what can be left out of them is, and of the rest what matters is shown."""

import asyncio
from functools import partial
from random import Random

import pytest

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.oldmaid.driven_game import GameAction
from croupier.conformance.oldmaid.excerpt import MAX_SHOWN_LINES, excerpt
from croupier.conformance.oldmaid.outcomes import dialogue_line
from croupier.conformance.oldmaid.scripted_player import AdaptiveTimeout
from croupier.conformance.oldmaid.table_context import TableContext, TableUnderTest
from croupier.core.referee import CLIENT, HOUSE
from tests.conformance.oldmaid.faulty_players import ROGUES as PLAYERS
from tests.conformance.oldmaid.faulty_players import played
from tests.conformance.oldmaid.faulty_tables import ROGUES as TABLES
from tests.conformance.oldmaid.faulty_tables import opened
from tests.conformance.oldmaid.test_players import tried as tried_player
from tests.conformance.oldmaid.test_tables import HONEST
from tests.conformance.oldmaid.test_tables import tried as tried_table


def said(sender: str, receiver: str, words: str) -> DialogueLine:
    side = HOUSE if sender == "table" else CLIENT
    return dialogue_line(side, sender, receiver, words.encode(), 0.0)


def asked(nick: str, request: str, answer: str) -> list[DialogueLine]:
    return [said(nick, "table", request), said("table", nick, answer)]


DRAW = '{"cmd":"draw"}'
TEN = '{"result":"ok","card":["10","spades"]}'
THREE = '{"result":"ok","card":["3","clubs"]}'


def test_a_short_dialogue_is_told_whole() -> None:
    dialogue = asked("ann", DRAW, TEN) + asked("bob", DRAW, THREE)
    assert list(excerpt(dialogue)) == dialogue
    assert excerpt([]) == ()


def test_of_a_long_one_the_end_is_told_with_what_has_to_do_with_its_cards() -> None:
    first, last = asked("bob", DRAW, TEN), asked("ann", DRAW, TEN)
    own = asked("ann", DRAW, '{"result":"ok","card":["5","hearts"]}')
    others = [one for nick in ("cyd", "dan") for one in asked(nick, DRAW, THREE)]
    assert list(excerpt([*first, *own, *others, *last])) == [*first, *own, *last]


def test_who_has_hung_up_is_told_and_nothing_is_told_twice() -> None:
    status = asked("bob", '{"cmd":"status"}', '{"in":["ann","bob"],"out":[]}')
    gone = said("ann", "table", "")
    last = asked("bob", DRAW, '{"result":"error","message":"it is the turn of ann"}')
    assert list(excerpt([*status, gone, *status, *status, *last])) == [gone, *status, *last]
    assert str(gone.message) == "ann → table: (hangs up)"


def test_a_game_is_played_again_with_what_can_be_done_in_it() -> None:
    deeds = [
        *20 * [GameAction("draw")],
        GameAction("throw", 1),
        GameAction("out", 0),
        GameAction("say", 2, b"[]\n"),
        GameAction("say", 2, b"[] []"),
    ]
    deeds += [
        *40 * [GameAction("draw")],
        GameAction("pick"),
        GameAction("leave", 1),
        GameAction("leave", 1),
        GameAction("throw", 1),
        GameAction("draw"),
    ]

    async def play() -> TableContext:
        async with opened(HONEST) as address:
            tables = TableUnderTest(address, dialect="document", strict=False, timeout=AdaptiveTimeout(5.0))
            scene = TableContext(tables, Random(1), holds_lobby=False)
            await (await scene.start_game()).replay(deeds)
            await scene.close()
            return scene

    scene = asyncio.run(play())
    (sitting,) = scene.games
    assert sitting.game.drawn_count == 53
    assert sitting.actions.count(GameAction("leave", 1)) == 1
    assert [str(one.message) for one in scene.dialogue if '"message":"oldmaid-8.4' in str(one.message)] != []


@pytest.mark.parametrize("name", ["throws-twice", "card-twice"])
def test_what_a_table_does_wrong_is_shown_in_six_messages_with_the_fault_last(name: str) -> None:
    rogue = next(rogue for rogue in TABLES if rogue.name == name)
    result = next(result for result in tried_table(rogue, rogue.selection, timeout=5.0) if result.failure is not None)
    assert result.failure is not None
    assert result.failure.clause in rogue.clauses
    assert 2 <= len(result.dialogue) <= MAX_SHOWN_LINES
    assert result.dialogue[-1].data == result.failure.got
    assert result.dialogue[-1].side == HOUSE


def test_what_a_player_does_wrong_is_shown_in_six_messages_with_the_fault_last() -> None:
    rogue = next(rogue for rogue in PLAYERS if rogue.name == "offers-one-more")
    (result,) = tried_player(partial(played, rogue), "oldmaid/7.2/middle-of-four")
    assert result.failure is not None
    assert result.failure.clause == "oldmaid-7.2"
    assert len(result.dialogue) == MAX_SHOWN_LINES
    assert result.dialogue[-1].data == result.failure.got
