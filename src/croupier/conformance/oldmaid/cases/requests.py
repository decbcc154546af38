"""Table cases about requests in every state of a game: which are accepted, and which are refused."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed, GrantedRequestChanges, ImplementationChoice
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, Message, OutOfCards, Standing, Status

CASES: Final = CaseList[TableCase](OldMaidCase, "oldmaid")


type Position = tuple[ScriptedPlayer, DrivenGame | None]
"""A player in a state of a game, and the game; None before joining."""


async def _before_joining(context: TableContext) -> Position:
    return await context.connect_player(), None


async def _in_turn(context: TableContext) -> Position:
    driven_game = await context.start_game()
    return driven_game.drawer, driven_game


async def _out_of_turn(context: TableContext) -> Position:
    driven_game = await context.start_game()
    await driven_game.draw(2 * len(driven_game.players) + 1)
    return driven_game.waiting_player, driven_game


async def _all_drawn(context: TableContext) -> Position:
    driven_game = await context.start_game(drawn=CARD_COUNT)
    return driven_game.players[-1], driven_game


async def _out_of_cards(context: TableContext) -> Position:
    driven_game = await context.start_game(3, drawn=CARD_COUNT)
    return await driven_game.play_until_out(), driven_game


async def _game_over(context: TableContext) -> Position:
    driven_game = await _play_to_end(context)
    return driven_game.winner, driven_game


async def _last_player(context: TableContext) -> Position:
    driven_game = await _play_to_end(context)
    return driven_game.players_inside[0], driven_game


async def _play_to_end(context: TableContext) -> DrivenGame:
    driven_game = await context.start_game(drawn=CARD_COUNT)
    await driven_game.play()
    if not driven_game.game.is_over:
        raise NotReached("the game has not ended")
    return driven_game


class TableState(NamedTuple):
    """A state of a player, its description for titles, and how to reach it."""

    name: str
    description: str
    reach: Callable[[TableContext], Awaitable[Position]]


BEFORE_JOINING: Final = TableState("before-joining", "before joining", _before_joining)
IN_TURN: Final = TableState("in-turn", "from the player whose turn it is", _in_turn)
OUT_OF_TURN: Final = TableState("out-of-turn", "out of turn", _out_of_turn)
ALL_DRAWN: Final = TableState("all-drawn", "when all cards are drawn", _all_drawn)
OUT_OF_CARDS: Final = TableState("when-out", "from a player that is out", _out_of_cards)
GAME_OVER: Final = TableState("game-over", "when the game is over", _game_over)
LAST_PLAYER: Final = TableState("last-player", "from the player that is left", _last_player)

PAIR: Final = Discard((("3", "spades"), ("3", "clubs")), "false")

REFUSING_CLAUSES: Final[Mapping[str, Mapping[TableState, str]]] = {
    "draw": {
        BEFORE_JOINING: "4.6",
        OUT_OF_TURN: "4.3",
        ALL_DRAWN: "4.5",
        OUT_OF_CARDS: "4.5",
        GAME_OVER: "6.9",
        LAST_PLAYER: "6.9",
    },
    "discard": {BEFORE_JOINING: "5.9", IN_TURN: "5.6", OUT_OF_CARDS: "5.9", GAME_OVER: "6.9"},
    "out_of_cards": {
        BEFORE_JOINING: "6.4",
        IN_TURN: "6.2",
        OUT_OF_TURN: "6.2",
        OUT_OF_CARDS: "6.3",
        GAME_OVER: "6.9",
        LAST_PLAYER: "6.9",
    },
    "join": {IN_TURN: "3.14", OUT_OF_TURN: "3.14", ALL_DRAWN: "3.14"},
    "status": {BEFORE_JOINING: "6.13"},
}
"""The clause that refuses a valid request in each state."""

UNDOCUMENTED_REFUSALS: Final = frozenset(
    {("discard", OUT_OF_CARDS), *(("out_of_cards", state) for state in (OUT_OF_CARDS, GAME_OVER, LAST_PLAYER))}
)
"""Refusals that only rulings of the project require: to grant the request is a choice."""


def _valid_request(name: str, context: TableContext) -> Message:
    match name:
        case "join":
            return Join(context.new_nick())
        case "draw":
            return Draw()
        case "discard":
            return PAIR
        case "out_of_cards":
            return OutOfCards()
        case _:
            return Status()


class InvalidRequest(NamedTuple):
    """An invalid request: the clause, a slug, a description, and its bytes."""

    clause: str
    slug: str
    description: str
    data: bytes

    @property
    def sentence_start(self) -> str:
        """The description as the beginning of a sentence."""
        return f"{self.description[0].upper()}{self.description[1:]}"


def _encode_object(**keys: object) -> bytes:
    return json.dumps(keys).encode() + b"\n"


def _encode_discard(cards: object, last_cards: str = "false") -> bytes:
    return _encode_object(cmd="discard", cards=cards, last_cards=last_cards)


INVALID_REQUESTS: Final = (
    InvalidRequest("8.3", "python-quotes", "a dictionary as Python prints it", b"{'cmd': 'status'}\n"),
    InvalidRequest("8.3", "printed-quotes", "the quotes of the document", "{“cmd”: “status”}\n".encode()),
    InvalidRequest("8.3", "no-value", "a key without a value", b'{"cmd": }\n'),
    InvalidRequest("8.3", "words", "words", b"draw a card\n"),
    InvalidRequest("8.4", "array", "an array", b'["cmd", "status"]\n'),
    InvalidRequest("8.4", "string", "a string", b'"status"\n'),
    InvalidRequest("8.6", "unknown-cmd", "an unknown cmd", _encode_object(cmd="deal")),
    InvalidRequest("8.6", "upper-case", "a cmd in capitals", _encode_object(cmd="STATUS")),
    InvalidRequest("8.6", "offer-to-table", "offer to the table", _encode_object(cmd="offer", num_cards=3)),
    InvalidRequest("8.6", "pick-at-table", "pick at the table", _encode_object(cmd="pick", card_num=0)),
    InvalidRequest("8.6", "your-turn-to-table", "your_turn to the table", _encode_object(cmd="your_turn")),
    InvalidRequest("8.5", "empty-object", "an empty object", b"{}\n"),
    InvalidRequest("8.5", "no-cmd", "an object without cmd", _encode_object(command="status")),
    InvalidRequest("8.5", "cmd-number", "a cmd that is a number", _encode_object(cmd=7)),
    InvalidRequest("8.5", "cmd-null", "a cmd that is null", _encode_object(cmd=None)),
    InvalidRequest("8.7", "no-cards", "discard without cards", _encode_object(cmd="discard", last_cards="false")),
    InvalidRequest("8.7", "cards-null", "discard with cards that are null", _encode_discard(None)),
    InvalidRequest("8.7", "one-card", "discard with one card", _encode_discard(PAIR.cards[:1])),
    InvalidRequest("8.7", "cards-as-text", "discard with cards as text", _encode_discard(["3 spades", "3 clubs"])),
    InvalidRequest(
        "8.7",
        "value-number",
        "discard with a value that is a number",
        _encode_discard([[3, "spades"], [3, "clubs"]]),
    ),
    InvalidRequest(
        "2.5", "last-cards-word", "discard with another word for last_cards", _encode_discard(PAIR.cards, "perhaps")
    ),
)

JOINS_WITHOUT_NICK: Final = (
    InvalidRequest("8.7", "no-nick", "join without a nick", _encode_object(cmd="join")),
    InvalidRequest("8.7", "nick-number", "join with a nick that is a number", _encode_object(cmd="join", nick=7)),
    InvalidRequest("8.7", "nick-null", "join with a nick that is null", _encode_object(cmd="join", nick=None)),
)

UNTYPED_REQUESTS: Final = frozenset({"nick-number", "value-number"})
"""Requests with a number in place of a string, which a program may be unable to tell apart (oldmaid-2.12)."""


async def _refused_request(name: str, clause: str, state: TableState, context: TableContext) -> None:
    """A valid request is refused, and the conversation continues (oldmaid-8.1)."""
    player, driven_game = await state.reach(context)
    request = _valid_request(name, context)
    if request == OutOfCards() and (name, state) in UNDOCUMENTED_REFUSALS:
        await _require_error_or_no_change(player, clause)
    else:
        await player.require_error(request, clause)
    if not await _still_answers(player, driven_game):
        raise Failed("oldmaid-8.1", "the end of the connection after the error", "that it goes on")
    if isinstance(request, Join) and request.nick in await _listed_nicks(player):
        found = f"{request.nick!r} in the status, although this join was refused"
        raise Failed("oldmaid-8.1", found, f"{player.nick!r} as before")


async def _invalid_request(invalid: InvalidRequest, state: TableState, context: TableContext) -> None:
    player, driven_game = await state.reach(context)
    await player.require_error(invalid.data, f"oldmaid-{invalid.clause}")
    may_close = not player.is_last_readable  # it cannot know where the next message begins
    if may_close and (more := await player.receive(QUIET_SECONDS)) is not None:
        raise ImplementationChoice(f"it answers {invalid.description} more than once: also {more.text}")
    if not await _still_answers(player, driven_game):
        if may_close:
            raise ImplementationChoice(f"it closes the connection after {invalid.description}; croupier goes on")
        raise Failed("oldmaid-8.1", f"the end of the connection after {invalid.description}", "that it goes on")


async def _require_error_or_no_change(player: ScriptedPlayer, clause: str) -> None:
    """Require that an out_of_cards is refused. Raises GrantedRequestChanges if it is granted and changes the status."""
    before = await _standing(player)
    try:
        await player.require_error(OutOfCards(), clause)
    except Failed:
        after = await _standing(player)
        if before is not None and after is not None and after != before:
            changed = "oldmaid-6.6" if after.inside == before.inside else "oldmaid-6.8"
            found = f"{after} after an out_of_cards from {player.nick!r}"
            raise GrantedRequestChanges(changed, found, f"{before}, as before") from None
        raise


async def _standing(player: ScriptedPlayer) -> Standing | None:
    """Return the table's answer to a status request, None if it is another one or does not come."""
    await player.send(Status(), is_judged=False)
    received = await player.receive_optional_answer()
    standing = None if received is None else received.message
    return standing if isinstance(standing, Standing) else None


async def _listed_nicks(player: ScriptedPlayer) -> Sequence[str]:
    """Return the nicks in the table's answer to a status request; none if it does not answer."""
    standing = await _standing(player)
    return () if standing is None else (*standing.inside, *standing.outside)


async def _still_answers(player: ScriptedPlayer, driven_game: DrivenGame | None) -> bool:
    """Return whether the table still answers draws, or a status request when nothing can be drawn."""
    try:
        if driven_game is not None and driven_game.game.drawn_count < CARD_COUNT:
            await driven_game.draw_more()
        else:
            await player.send(Status(), is_judged=False)
            await player.receive_optional_answer()
    except Failed:
        if not player.is_disconnected:
            raise
    return not player.is_disconnected


async def _status(state: TableState, context: TableContext) -> None:
    player, _ = await state.reach(context)
    await player.require_ok(Status(), "oldmaid-6.7")


for name, refusing_clauses in REFUSING_CLAUSES.items():
    for state, clause in refusing_clauses.items():
        CASES.add(
            clause,
            f"{name.replace('_', '-')}-{state.name}",
            f"{name} {state.description} is refused, and changes nothing",
            needs_whole_lobby=name == "join",
            failure_is_choice=(name, state) in UNDOCUMENTED_REFUSALS,
        )(partial(_refused_request, name, f"oldmaid-{clause}", state))
for invalid in INVALID_REQUESTS:
    for state in (BEFORE_JOINING, IN_TURN):
        title = f"{invalid.sentence_start} {state.description} is answered with an error"
        CASES.add(
            invalid.clause, f"{invalid.slug}-{state.name}", title, failure_is_choice=invalid.slug in UNTYPED_REQUESTS
        )(partial(_invalid_request, invalid, state))
for invalid in JOINS_WITHOUT_NICK:
    title = f"{invalid.sentence_start} is answered with an error"
    CASES.add(
        invalid.clause, invalid.slug, title, needs_whole_lobby=True, failure_is_choice=invalid.slug in UNTYPED_REQUESTS
    )(partial(_invalid_request, invalid, BEFORE_JOINING))
for state in (IN_TURN, OUT_OF_TURN, ALL_DRAWN, OUT_OF_CARDS, GAME_OVER):
    CASES.add("6.7", f"status-{state.name}", f"The status is answered {state.description}")(partial(_status, state))
