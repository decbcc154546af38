"""What players ask a table wherever they are in a game: what it allows there, and what it refuses."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from croupier.conformance.case import Case, make_case_id
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice
from croupier.conformance.oldmaid.scripted_player import PlayerInput, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.table.game import CARD_COUNT
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, OutOfCards, Status


@dataclass(frozen=True, kw_only=True)
class TableCase(Case):
    """A case that is played at the table. With `free` only rulings of the project decide it: what fails is a choice.

    `alone`: nobody else may wait for a game meanwhile, for the case looks at who waits.
    """

    play: Callable[[TableContext], Awaitable[None]]
    failure_is_choice: bool = False
    needs_whole_lobby: bool = False


def table_case(
    clause: str,
    slug: str,
    title: str,
    play: Callable[[TableContext], Awaitable[None]],
    *,
    failure_is_choice: bool = False,
    needs_whole_lobby: bool = False,
) -> TableCase:
    """A case by the number of its clause: `4.3`."""
    name = make_case_id("oldmaid", clause, slug)
    return TableCase(
        id=name,
        title=title,
        clause=f"oldmaid-{clause}",
        play=play,
        failure_is_choice=failure_is_choice,
        needs_whole_lobby=needs_whole_lobby,
    )


class GamePosition(NamedTuple):
    """Where somebody is in a game: who that is, and the game, None before it."""

    player: ScriptedPlayer
    game: DrivenGame | None


async def _before_joining(context: TableContext) -> GamePosition:
    return GamePosition(await context.connect_player(), None)


async def _in_turn(context: TableContext) -> GamePosition:
    sitting = await context.start_game()
    return GamePosition(sitting.drawer, sitting)


async def _out_of_turn(context: TableContext) -> GamePosition:
    sitting = await context.start_game()
    await sitting.draw(2 * len(sitting.players) + 1)
    return GamePosition(sitting.waiting_player, sitting)


async def _all_drawn(context: TableContext) -> GamePosition:
    sitting = await context.start_game()
    await sitting.draw()
    return GamePosition(sitting.players[-1], sitting)


async def _out_of_cards(context: TableContext) -> GamePosition:
    sitting = await context.start_game(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished_seats))
    return GamePosition(sitting.players[sitting.game.finished_seats[0]], sitting)


async def _game_over(context: TableContext) -> GamePosition:
    sitting = await context.start_game()
    await sitting.draw()
    await sitting.play()
    return GamePosition(sitting.players[sitting.game.finished_seats[0]], sitting)


class TableState(NamedTuple):
    """A place in a game, as titles tell it, and the way there."""

    name: str
    description: str
    reach: Callable[[TableContext], Awaitable[GamePosition]]


BEFORE_JOINING: Final = TableState("before-joining", "before joining", _before_joining)
IN_TURN: Final = TableState("in-turn", "when it is one's turn to draw", _in_turn)
OUT_OF_TURN: Final = TableState("out-of-turn", "when it is another's turn to draw", _out_of_turn)
ALL_DRAWN: Final = TableState("all-drawn", "when all cards are drawn", _all_drawn)
OUT_OF_CARDS: Final = TableState("when-out", "when one is out of cards", _out_of_cards)
GAME_OVER: Final = TableState("game-over", "when the game is over", _game_over)

PAIR: Final = Discard((("3", "spades"), ("3", "clubs")), "false")

ILLEGAL_REQUESTS: Final[Sequence[tuple[str, str, PlayerInput, dict[TableState, str]]]] = (
    (
        "draw",
        "draw",
        Draw(),
        {BEFORE_JOINING: "4.6", OUT_OF_TURN: "4.3", ALL_DRAWN: "4.5", OUT_OF_CARDS: "4.5", GAME_OVER: "6.9"},
    ),
    ("discard", "discard", PAIR, {BEFORE_JOINING: "5.9", IN_TURN: "5.6", OUT_OF_CARDS: "5.9", GAME_OVER: "6.9"}),
    (
        "out-of-cards",
        "out_of_cards",
        OutOfCards(),
        {BEFORE_JOINING: "6.4", IN_TURN: "6.2", OUT_OF_TURN: "6.2", OUT_OF_CARDS: "6.3", GAME_OVER: "6.9"},
    ),
    ("join", "join", Join("somebody-else"), {IN_TURN: "3.14", OUT_OF_TURN: "3.14", ALL_DRAWN: "3.14"}),
)
"""What is right elsewhere, by its slug, name and message, and the clauses by which it is refused in a situation."""

UNDOCUMENTED_REFUSALS: Final = frozenset(
    {("discard", OUT_OF_CARDS), ("out-of-cards", BEFORE_JOINING), ("discard", BEFORE_JOINING)}
)
"""What the document would let a table ignore, and only our rulings refuse."""


class InvalidRequest(NamedTuple):
    """Something that is no request: the clause, a slug, what it is for people, and its bytes.

    `ends`: a table may hang up behind it, for it cannot know where the next message begins.
    """

    clause: str
    slug: str
    description: str
    data: bytes
    may_close: bool = False


def _encode_object(**keys: object) -> bytes:
    return json.dumps(keys).encode() + b"\n"


INVALID_REQUESTS: Final = (
    InvalidRequest("8.3", "python-quotes", "a dictionary as Python prints it", b"{'cmd': 'status'}\n", may_close=True),
    InvalidRequest(
        "8.3", "printed-quotes", "the quotes of the document", "{“cmd”: “status”}\n".encode(), may_close=True
    ),
    InvalidRequest("8.3", "no-value", "a key without a value", b'{"cmd": }\n', may_close=True),
    InvalidRequest("8.3", "words", "words", b"draw a card\n", may_close=True),
    InvalidRequest("8.4", "array", "an array", b'["cmd", "status"]\n'),
    InvalidRequest("8.4", "string", "a string", b'"status"\n', may_close=True),
    InvalidRequest("8.5", "empty-object", "an empty object", b"{}\n"),
    InvalidRequest("8.5", "no-cmd", "an object without cmd", _encode_object(command="status")),
    InvalidRequest("8.5", "cmd-number", "a cmd that is a number", _encode_object(cmd=7)),
    InvalidRequest("8.5", "cmd-null", "a cmd that is null", _encode_object(cmd=None)),
    InvalidRequest("8.6", "unknown-cmd", "an unknown cmd", _encode_object(cmd="deal")),
    InvalidRequest("8.6", "upper-case", "a cmd in capitals", _encode_object(cmd="STATUS")),
    InvalidRequest("8.6", "offer-to-table", "offer to the table", _encode_object(cmd="offer", num_cards=3)),
    InvalidRequest("8.6", "pick-at-table", "pick at the table", _encode_object(cmd="pick", card_num=0)),
    InvalidRequest("8.6", "your-turn-to-table", "your_turn to the table", _encode_object(cmd="your_turn")),
    InvalidRequest("8.7", "no-cards", "discard without cards", _encode_object(cmd="discard", last_cards="false")),
    InvalidRequest(
        "8.7",
        "cards-null",
        "discard with cards that are null",
        _encode_object(cmd="discard", cards=None, last_cards="false"),
    ),
    InvalidRequest(
        "8.7",
        "one-card",
        "discard with one card",
        _encode_object(cmd="discard", cards=[["3", "spades"]], last_cards="false"),
    ),
    InvalidRequest(
        "8.7",
        "cards-as-text",
        "discard with cards as text",
        _encode_object(cmd="discard", cards=["3 spades", "3 clubs"], last_cards="false"),
    ),
    InvalidRequest(
        "8.7",
        "value-number",
        "discard with a value that is a number",
        _encode_object(cmd="discard", cards=[[3, "spades"], [3, "clubs"]], last_cards="false"),
    ),
    InvalidRequest(
        "2.5",
        "last-cards-word",
        "discard with another word for last_cards",
        _encode_object(cmd="discard", cards=[["3", "spades"], ["3", "clubs"]], last_cards="perhaps"),
    ),
)

JOINS_WITHOUT_NICK: Final = (
    InvalidRequest("8.7", "no-nick", "join without a nick", _encode_object(cmd="join")),
    InvalidRequest("8.7", "nick-number", "join with a nick that is a number", _encode_object(cmd="join", nick=7)),
    InvalidRequest("8.7", "nick-null", "join with a nick that is null", _encode_object(cmd="join", nick=None)),
)


def _refusal_case(said: PlayerInput, clause: str, state: TableState) -> Callable[[TableContext], Awaitable[None]]:
    """Something that is refused where somebody is, and after that all goes on (oldmaid-8.1)."""

    async def play(scene: TableContext) -> None:
        guest, sitting = await state.reach(scene)
        await guest.require_error(said, clause)
        if not await _still_answers(guest, sitting):
            raise Failed("oldmaid-8.1", "the end of the connection behind the error", "that it goes on")

    return play


def _invalid_request_case(invalid: InvalidRequest, state: TableState) -> Callable[[TableContext], Awaitable[None]]:
    async def play(scene: TableContext) -> None:
        guest, sitting = await state.reach(scene)
        await guest.require_error(invalid.data, f"oldmaid-{invalid.clause}")
        if not await _still_answers(guest, sitting):
            if invalid.may_close:
                raise ImplementationChoice(f"it hangs up behind {invalid.description}; ours goes on")
            raise Failed("oldmaid-8.1", f"the end of the connection behind {invalid.description}", "that it goes on")

    return play


async def _still_answers(player: ScriptedPlayer, sitting: DrivenGame | None) -> bool:
    """Whether the table still answers: everybody draws a card where that is right, or the status is asked for."""
    try:
        if sitting is not None and sitting.game.drawn_count < CARD_COUNT:
            await sitting.draw(min(CARD_COUNT, sitting.game.drawn_count + len(sitting.players)), discards_pairs=False)
        else:
            await player.send(Status(), is_judged=False)
            await player.receive_optional_answer()
    except Failed:
        if not player.is_disconnected:
            raise
    return not player.is_disconnected


def _status_case(state: TableState) -> Callable[[TableContext], Awaitable[None]]:
    async def play(scene: TableContext) -> None:
        guest, _ = await state.reach(scene)
        await guest.require_ok(Status(), "oldmaid-6.7")

    return play


def cases() -> Sequence[TableCase]:
    """Every request in every situation in which it is refused; and every slip before a game and in one."""
    found = []
    for slug, name, said, clauses in ILLEGAL_REQUESTS:
        for situation, number in clauses.items():
            title = f"{name} {situation.description} is refused, and changes nothing"
            play = _refusal_case(said, f"oldmaid-{number}", situation)
            found.append(
                table_case(
                    number,
                    f"{slug}-{situation.name}",
                    title,
                    play,
                    failure_is_choice=(slug, situation) in UNDOCUMENTED_REFUSALS,
                    needs_whole_lobby=slug == "join",
                )
            )
    for slip in INVALID_REQUESTS:
        for situation in (BEFORE_JOINING, IN_TURN):
            title = (
                f"{slip.description[0].upper()}{slip.description[1:]} {situation.description} is answered with an error"
            )
            found.append(
                table_case(slip.clause, f"{slip.slug}-{situation.name}", title, _invalid_request_case(slip, situation))
            )
    for slip in JOINS_WITHOUT_NICK:
        title = f"{slip.description[0].upper()}{slip.description[1:]} is answered with an error"
        found.append(
            table_case(
                slip.clause, slip.slug, title, _invalid_request_case(slip, BEFORE_JOINING), needs_whole_lobby=True
            )
        )
    for situation in (IN_TURN, OUT_OF_TURN, ALL_DRAWN, OUT_OF_CARDS, GAME_OVER):
        title = f"The status is told {situation.description}"
        found.append(table_case("6.7", f"status-{situation.name}", title, _status_case(situation)))
    return found
