"""Excerpts of dialogues, and shrinking of failed games."""

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
from tests.conformance.oldmaid.faulty_players import FAULTY_PLAYERS, play_faulty
from tests.conformance.oldmaid.faulty_tables import FAULTY_TABLES, open_faulty_table
from tests.conformance.oldmaid.test_players import run as run_player
from tests.conformance.oldmaid.test_tables import HONEST
from tests.conformance.oldmaid.test_tables import run as run_table


def line(sender: str, receiver: str, words: str) -> DialogueLine:
    side = HOUSE if sender == "table" else CLIENT
    return dialogue_line(side, sender, receiver, words.encode(), 0.0)


def exchange(nick: str, request: str, answer: str) -> list[DialogueLine]:
    return [line(nick, "table", request), line("table", nick, answer)]


DRAW = '{"cmd":"draw"}'
TEN = '{"result":"ok","card":["10","spades"]}'
THREE = '{"result":"ok","card":["3","clubs"]}'


def test_short_dialogue_is_kept() -> None:
    dialogue = exchange("ann", DRAW, TEN) + exchange("bob", DRAW, THREE)
    assert list(excerpt(dialogue)) == dialogue
    assert excerpt([]) == ()


def test_excerpt_keeps_the_end_and_lines_about_its_cards() -> None:
    first, last = exchange("bob", DRAW, TEN), exchange("ann", DRAW, TEN)
    own_exchange = exchange("ann", DRAW, '{"result":"ok","card":["5","hearts"]}')
    unrelated = [one for nick in ("cyd", "dan") for one in exchange(nick, DRAW, THREE)]
    assert list(excerpt([*first, *own_exchange, *unrelated, *last])) == [*first, *own_exchange, *last]


def test_excerpt_keeps_disconnects_and_drops_repetitions() -> None:
    status = exchange("bob", '{"cmd":"status"}', '{"in":["ann","bob"],"out":[]}')
    disconnect = line("ann", "table", "")
    last = exchange("bob", DRAW, '{"result":"error","message":"it is the turn of ann"}')
    assert list(excerpt([*status, disconnect, *status, *status, *last])) == [disconnect, *status, *last]
    assert str(disconnect.message) == "ann → table: (hangs up)"


def test_replay_skips_impossible_actions() -> None:
    actions = [
        *20 * [GameAction("draw")],
        GameAction("throw", 1),
        GameAction("out", 0),
        GameAction("say", 2, b"[]\n"),
        GameAction("say", 2, b"[] []"),
    ]
    actions += [
        *40 * [GameAction("draw")],
        GameAction("pick"),
        GameAction("leave", 1),
        GameAction("leave", 1),
        GameAction("throw", 1),
        GameAction("draw"),
    ]

    async def play() -> TableContext:
        async with open_faulty_table(HONEST) as address:
            table = TableUnderTest(address, dialect="document", strict=False, timeout=AdaptiveTimeout(5.0))
            context = TableContext(table, Random(1), holds_lobby=False)
            await (await context.start_game()).replay(actions)
            await context.close()
            return context

    context = asyncio.run(play())
    (driven_game,) = context.games
    assert driven_game.game.drawn_count == 53
    assert driven_game.actions.count(GameAction("leave", 1)) == 1
    assert [str(one.message) for one in context.dialogue if '"message":"oldmaid-8.4' in str(one.message)] != []


@pytest.mark.parametrize("name", ["throws-twice", "card-twice"])
def test_table_failure_is_shown_in_six_messages(name: str) -> None:
    faulty = next(faulty for faulty in FAULTY_TABLES if faulty.name == name)
    result = next(result for result in run_table(faulty, faulty.selection, timeout=5.0) if result.failure is not None)
    assert result.failure is not None
    assert result.failure.clause in faulty.clauses
    assert 2 <= len(result.dialogue) <= MAX_SHOWN_LINES
    assert result.dialogue[-1].data == result.failure.got
    assert result.dialogue[-1].side == HOUSE


def test_player_failure_is_shown_in_six_messages() -> None:
    faulty = next(faulty for faulty in FAULTY_PLAYERS if faulty.name == "offers-one-more")
    (result,) = run_player(partial(play_faulty, faulty), "oldmaid/7.2/middle-of-four")
    assert result.failure is not None
    assert result.failure.clause == "oldmaid-7.2"
    assert len(result.dialogue) == MAX_SHOWN_LINES
    assert result.dialogue[-1].data == result.failure.got
