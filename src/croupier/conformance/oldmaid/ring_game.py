"""Plays a game in a ring with a program under test, and finds out what is missing if it stalls."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.endpoints import wait_for_activity
from croupier.conformance.oldmaid.nodes import RingNode
from croupier.conformance.oldmaid.outcomes import Failed, unfinished_message
from croupier.conformance.oldmaid.player_context import PlayerContext
from croupier.conformance.oldmaid.replay_lines import USUAL_CLAUSES
from croupier.conformance.oldmaid.ring import PLAYER_NAMES, POLL_SECONDS, ProgramRing
from croupier.conformance.program import ProgramUnderTest
from croupier.core.errors import FoundKind
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.ring.observed import TurnAction, card_name
from croupier.rooms.oldmaid.wire import Message, Offer, Pick, YourTurn

MAX_MESSAGES_AFTER_DEATH: Final = 150
"""The number of messages followed after a death: a game with an unpaired card may go on forever."""

MAX_MESSAGES: Final = 6000

RETRY_SECONDS: Final = 5.0
"""How much longer a program may be silent after a death: it may try to connect to the dead player (oldmaid-9.5)."""

ANSWERS: Final[Mapping[type[Message], str]] = {YourTurn: "ok to your_turn", Offer: "ok to offer", Pick: "card"}
"""The answer to a request of another player, see `USUAL_CLAUSES`."""

TURN_MESSAGES: Final[Mapping[TurnAction, str]] = {"draw": "draw", "pass": "your_turn", "offer": "offer"}
"""The next message of a player whose turn it is."""

type MessagePredicate = Callable[[Message], bool]


class GameStalled(Failed):
    """The game has stalled, and the program is responsible."""


class Death(NamedTuple):
    """A player of ours dies instead of sending a matching message to the program for the `occurrence`th time.

    `salt` selects a game in which there is such a message.
    """

    matches: MessagePredicate
    occurrence: int
    salt: int = 33


async def play_game(
    context: PlayerContext,
    *,
    players: int,
    seat: int,
    salt: int = 0,
    death: Death | None = None,
    late_seconds: float = 0.0,
    nicks: Sequence[str] = PLAYER_NAMES,
) -> ProgramRing:
    """Play a game to its end. Raises Failed on the program's first fault."""
    ring = _new_ring(context, players=players, seat=seat, salt=salt, late_seconds=late_seconds, nicks=nicks)
    if death is not None:
        ring.on_before_send = _kill_on_message(ring, death)
    async with context.run_program(ring.open()) as program:
        try:
            await _wait_until(lambda: _is_over(ring), ring, program, context)
            _require_stayed(ring)
        finally:
            ring.close()
    return ring


def _new_ring(
    context: PlayerContext,
    *,
    players: int,
    seat: int,
    salt: int = 0,
    late_seconds: float = 0.0,
    nicks: Sequence[str] = PLAYER_NAMES,
) -> ProgramRing:
    return ProgramRing(
        context.new_endpoints(),
        players=players,
        seat=seat,
        seed=1000 * context.seed + salt,
        strict=context.config.strict,
        late_seconds=late_seconds,
        nicks=nicks,
    )


def share_game(context: PlayerContext, players: int, seat: int, salt: int) -> Awaitable[ProgramRing]:
    """Return a game to its end, which is played once for all cases that need the same one."""
    return context.share(partial(play_game, players=players, seat=seat, salt=salt), "game", players, seat, salt)


def _kill_on_message(ring: ProgramRing, death: Death) -> Callable[[RingNode, Message], None]:
    count = 0

    def before(node: RingNode, message: Message) -> None:
        nonlocal count
        if node is not ring.table and death.matches(message):
            count += 1
            if count == death.occurrence:
                ring.kill(node)

    return before


async def _wait_until(
    is_done: Callable[[], bool], ring: ProgramRing, program: ProgramUnderTest, context: PlayerContext
) -> None:
    """Wait until something is done. Raises Failed on the program's first fault, and NotReached."""
    clock = asyncio.get_running_loop().time
    while ring.failure is None and (ring.is_waiting_for_order or not is_done()):
        if ring.message_count > MAX_MESSAGES:
            raise NotReached(f"after {MAX_MESSAGES:,} messages the game had not ended")
        waited, joined = clock() - ring.last_activity, ring.endpoints.nick is not None
        retry_seconds = 0.0 if ring.death_message_count is None else RETRY_SECONDS
        if waited > (context.timeout + retry_seconds if joined else context.start_timeout):
            raise _stall_failure(ring, f"nothing within {waited:.0f} seconds", FoundKind.SILENCE)
        ring.endpoints.activity.clear()
        end = await wait_for_activity(ring.endpoints, program)
        if end is None or ring.is_waiting_for_order:
            continue
        if ring.finished_at is None and (ring.is_playing or not joined):
            raise _stall_failure(ring, end, FoundKind.CLOSED)
    if ring.failure is not None:
        raise ring.failure


def _is_over(ring: ProgramRing) -> bool:
    """Whether the game is over and our players are done, or enough was seen of it after a death."""
    if ring.finished_at is not None:
        waited = asyncio.get_running_loop().time() - ring.finished_at
        return waited > 4 * POLL_SECONDS or _players_are_done(ring)
    died_at = ring.death_message_count
    return died_at is not None and ring.message_count > died_at + MAX_MESSAGES_AFTER_DEATH


def _players_are_done(ring: ProgramRing) -> bool:
    """Whether all living players of ours have disconnected."""
    return all(isinstance(node.session, Player) and node.session.is_exhausted for node in ring.players if node.is_alive)


def _require_stayed(ring: ProgramRing) -> None:
    """Raise GameStalled if the program has left in the middle of the game."""
    game, me = ring.referee.game, ring.referee.players.get(ring.endpoints.nick or "")
    if game is None or me is None or me.seat not in game.departed_seats:
        return
    if me.is_deck_empty and ring.referee.holders[me.nick] == frozenset():  # before the last card it gets more
        return
    if len(game.departed_seats) < len(game.nicks) - 1 or len(game.nicks) == 2:
        raise GameStalled(
            USUAL_CLAUSES[TURN_MESSAGES[me.turn or ("offer" if me.is_deck_empty else "draw")]],
            "the end of the connection to the table in the middle of the game",
            "that it plays on",
            kind=FoundKind.CLOSED,
        )


def _stall_failure(ring: ProgramRing, what: str, kind: FoundKind) -> Failed:
    """Return the failure of a stalled game. Raises NotReached if the program may not be responsible."""
    for incomplete in ring.incomplete_messages:
        if unfinished := unfinished_message(incomplete, "a message that ends"):
            return unfinished
    step = _missing_step(ring)
    if step is None:
        raise NotReached(f"{what}, and it is not the program's turn")
    clause, expected = step
    return GameStalled(clause, what, expected, kind=kind)


def _missing_step(ring: ProgramRing) -> tuple[str, str] | None:
    """Return what the program should do next, with the clause, None if nothing is known."""
    observed = ring.referee.players.get(ring.endpoints.nick or "")
    if ring.endpoints.nick is None:
        return USUAL_CLAUSES["join"], "that it joins"
    for request in ring.unanswered.values():
        is_out = isinstance(request, Offer) and observed is not None and not observed.hand
        answer = "out to offer" if is_out else ANSWERS[type(request)]
        return USUAL_CLAUSES[answer], f"an answer to {request}"
    if observed is None:
        return None
    if observed.turn in {"pass", "offer"} and observed.pair is not None:
        return USUAL_CLAUSES["discard"], f"that it discards the pair of {' and '.join(map(card_name, observed.pair))}"
    if observed.turn is not None:
        clause = USUAL_CLAUSES[TURN_MESSAGES[observed.turn]]
        return clause, f"that it goes on, for it is its turn to {observed.turn}"
    if ring.is_playing and (observed.offer is not None or ring.referee.turn_lost):
        return "oldmaid-9.7", "that the turn goes on"
    return None


async def join_and_connect(context: PlayerContext) -> Failed | None:
    """Let the program join, and connect to it. Returns the failure if that is not possible. Raises Failed."""
    ring = _new_ring(context, players=2, seat=0)
    ring.starts_game = False
    async with context.run_program(ring.open()) as program:
        try:
            await _wait_until(lambda: ring.endpoints.nick is not None, ring, program, context)
            assert ring.endpoints.program_address is not None, "the program has joined"
            address = host, port = ring.endpoints.program_address
            if await ring.endpoints.connect(ring.players[0].name, address, context.timeout) is not None:
                return None
            return Failed("oldmaid-3.17", f"nobody listens at {host} {port}", "that it accepts its right neighbour")
        finally:
            ring.close()
