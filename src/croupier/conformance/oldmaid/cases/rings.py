"""Player cases that play games in a ring: at every seat, with slow neighbours, and with neighbours that die."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.oldmaid.case_list import CaseList, Play, PlayerCase
from croupier.conformance.oldmaid.endpoints import RunningProgram
from croupier.conformance.oldmaid.nodes import RingNode
from croupier.conformance.oldmaid.outcomes import ONE_READ_CAUSE, Failed, NonStrict, NotReached, unfinished_message
from croupier.conformance.oldmaid.player_context import PlayerContext
from croupier.conformance.oldmaid.ring import POLL_SECONDS, ProgramRing
from croupier.conformance.program import describe_exit
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.ring.observed import card_name
from croupier.rooms.oldmaid.wire import Message, Offer, Pick, Reply, YourTurn

STATUS_POLL_SECONDS: Final = 0.1
"""The interval at which the program's exit status is checked."""

MAX_MESSAGES_AFTER_DEATH: Final = 150
"""The number of messages followed after a death: a game with an unpaired card may go on forever."""

MAX_MESSAGES: Final = 6000

MAX_GAMES: Final = 6
"""The number of games to play until the program has lost, or not lost."""

ANSWER_CLAUSES: Final[dict[type[Message], str]] = {YourTurn: "oldmaid-4.8", Offer: "oldmaid-7.2", Pick: "oldmaid-7.5"}
"""The clause that requires an answer to a request of another player."""

TURN_CLAUSES: Final = {"draw": "oldmaid-4.8", "pass": "oldmaid-4.7", "offer": "oldmaid-7.8"}
"""The clause that requires the next step of a player whose turn it is."""

GAME_RANK: Final = 100
DELIVERY_RANK: Final = 200
DEATH_RANK: Final = 300
RESULT_RANK: Final = 400
"""Whole games come after the transcripts, those with odd delivery or deaths after the plain ones, and last what
they have shown."""

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
    delivery: Delivery | None = None,
    death: Death | None = None,
) -> ProgramRing:
    """Play a game to its end, by default with the context's delivery. Raises Failed on the program's first fault."""
    ring = _new_ring(context, players=players, seat=seat, salt=salt, delivery=delivery)
    if death is not None:
        ring.on_before_send = _kill_on_message(ring, death)
    async with context.run_program(await ring.open()) as program:
        try:
            await _watch_game(ring, program, context)
        finally:
            ring.close()
    return ring


def _new_ring(
    context: PlayerContext, *, players: int, seat: int, salt: int = 0, delivery: Delivery | None = None
) -> ProgramRing:
    endpoints = context.new_endpoints(delivery)
    return ProgramRing(endpoints, players=players, seat=seat, seed=1000 * context.seed + salt, strict=context.strict)


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


async def _watch_game(ring: ProgramRing, program: RunningProgram, context: PlayerContext) -> None:
    """Wait until the game is over and our players are done."""
    clock = asyncio.get_running_loop().time
    finished_at: float | None = None
    while ring.failure is None:
        finished_at = clock() if ring.is_finished and finished_at is None else finished_at
        if finished_at is not None and (clock() - finished_at > 4 * POLL_SECONDS or _players_are_done(ring)):
            break
        if (
            ring.death_message_count is not None
            and ring.message_count > ring.death_message_count + MAX_MESSAGES_AFTER_DEATH
        ):
            break
        if ring.message_count > MAX_MESSAGES:
            raise NotReached(f"after {MAX_MESSAGES:,} messages the game had not ended")
        waited, joined = clock() - ring.last_activity, ring.endpoints.nick is not None
        if waited > (context.timeout if joined else context.start_timeout):
            raise _stall_failure(ring, f"nothing within {waited:.0f} seconds")
        ring.endpoints.activity.clear()
        try:
            async with asyncio.timeout(STATUS_POLL_SECONDS):
                await ring.endpoints.activity.wait()
        except TimeoutError:
            if program.status is not None and not ring.is_finished and (ring.is_playing or not joined):
                exit_text = f"the end of the program ({describe_exit(program.status)}){program.stderr_excerpt()}"
                raise _stall_failure(ring, exit_text) from None
    if ring.failure is not None:
        raise ring.failure
    _require_stayed(ring)


def _players_are_done(ring: ProgramRing) -> bool:
    """Whether all living players of ours have disconnected."""
    return all(isinstance(node.session, Player) and node.session.is_exhausted for node in ring.players if node.is_alive)


def _require_stayed(ring: ProgramRing) -> None:
    """Raise GameStalled if the program has left in the middle of the game."""
    game, me = ring.referee.game, ring.referee.players.get(ring.endpoints.nick or "")
    if game is None or me is None or me.seat not in game.departed_seats or ring.referee.holders[me.nick] == frozenset():
        return
    if len(game.departed_seats) < len(game.nicks) - 1 or len(game.nicks) == 2:
        raise GameStalled(
            _turn_clause(ring), "the end of the connection to the table in the middle of the game", "that it plays on"
        )


def _stall_failure(ring: ProgramRing, what: str) -> Failed:
    """Return the failure of a stalled game. Raises NotReached if the program may not be responsible."""
    observed = ring.referee.players.get(ring.endpoints.nick or "")
    for incomplete in ring.incomplete_messages:
        if unfinished := unfinished_message(incomplete, "a message that ends"):
            return unfinished
    if ring.endpoints.nick is None:
        return GameStalled("oldmaid-3.1", what, "that it joins")
    for request in ring.unanswered.values():
        is_out = isinstance(request, Offer) and observed is not None and not observed.hand
        clause = "oldmaid-7.9" if is_out else ANSWER_CLAUSES[type(request)]
        return GameStalled(clause, what, f"an answer to {request}")
    if observed is not None and observed.turn in {"pass", "offer"} and observed.pair is not None:
        pair = " and ".join(map(card_name, observed.pair))
        return GameStalled("oldmaid-5.11", what, f"that it discards the pair of {pair}")
    if observed is not None and observed.turn is not None:
        return GameStalled(TURN_CLAUSES[observed.turn], what, f"that it goes on, for it is its turn to {observed.turn}")
    if observed is not None and ring.is_playing and (observed.offer is not None or ring.referee.turn_lost):
        return GameStalled("oldmaid-9.7", what, "that the turn goes on")
    raise NotReached(f"{what}, and it is not the program's turn")


def _turn_clause(ring: ProgramRing) -> str:
    observed = ring.referee.players[ring.endpoints.nick or ""]
    return (
        TURN_CLAUSES[observed.turn]
        if observed.turn is not None
        else "oldmaid-7.8"
        if observed.is_deck_empty
        else "oldmaid-4.8"
    )


# Cases.


def _game_case(players: int, seat: int) -> Play[PlayerContext]:
    async def play(context: PlayerContext) -> None:
        await share_game(context, players, seat, salt=players + seat)

    return play


def _delivery_case(delivery: Delivery) -> Play[PlayerContext]:
    """Make a case in which messages arrive in pieces, or late. If it fails, the same game is played without that."""

    async def play(context: PlayerContext) -> None:
        play = partial(play_game, players=3, seat=1, salt=21)
        try:
            await play(context, delivery=delivery)
        except Failed as failed:
            failed_endpoints = context.endpoints
            await play(context)  # a program that fails here as well breaks another clause
            context.endpoints = failed_endpoints  # its dialogue is to be shown
            failed.clause = "oldmaid-1.4"
            if delivery.max_piece_bytes and failed.cause is None:
                failed.cause = ONE_READ_CAUSE
            raise

    return play


def _death_case(clause: str, death: Death) -> Play[PlayerContext]:
    """Make a case in which a player dies; a stall afterwards violates this clause."""

    async def play(context: PlayerContext) -> None:
        try:
            await play_game(context, players=4, seat=1, salt=death.salt, death=death)
        except GameStalled as stalled:
            raise Failed(f"oldmaid-{clause}", stalled.actual, stalled.expected) from None

    return play


async def _join_and_connect(context: PlayerContext) -> Failed | None:
    """Let the program join, and connect to it. Returns the failure if that is not possible. Raises Failed."""
    ring = _new_ring(context, players=2, seat=0)
    async with context.run_program(await ring.open()) as program:
        try:
            await _wait_for_join(ring, program, context.start_timeout)
            assert ring.program_address is not None, "the program has joined"
            if await ring.endpoints.connect(ring.players[0].name, ring.program_address, context.timeout) is not None:
                return None
            host, port = ring.program_address
            return Failed("oldmaid-3.17", f"nobody listens at {host} {port}", "that it accepts its right neighbour")
        finally:
            ring.close()


async def program_joins(context: PlayerContext) -> None:
    """The program connects to the table and joins."""
    await context.share(_join_and_connect, "join")


async def program_listens(context: PlayerContext) -> None:
    """The program accepts connections after it has joined, before the list arrives."""
    failure = await context.share(_join_and_connect, "join")
    if failure is not None:
        raise failure


async def _wait_for_join(ring: ProgramRing, program: RunningProgram, seconds: float) -> None:
    """Wait until the program has joined. Raises Failed if it does not."""
    clock = asyncio.get_running_loop().time
    started = clock()
    while ring.endpoints.nick is None:
        if ring.failure is not None:
            raise ring.failure
        if clock() - started > seconds or program.status is not None:
            for incomplete in ring.incomplete_messages:
                if unfinished := unfinished_message(incomplete, "that it joins"):
                    raise unfinished
            raise Failed("oldmaid-3.1", f"nothing within {clock() - started:.0f} seconds", "that it joins")
        await asyncio.sleep(STATUS_POLL_SECONDS / 5)


def _tolerance_case(clause: str, description: str) -> Play[PlayerContext]:
    """Make a case that reports whether the program needs a tolerance in a game of two."""

    async def play(context: PlayerContext) -> None:
        ring = await share_game(context, 2, 0, salt=2)
        if clause in ring.tolerated:
            raise NonStrict(description)

    return play


async def _play_until_result(context: PlayerContext, *, loses: bool) -> None:
    """Find a game of the run that the program has lost, or has not lost; play games of two until there is one."""
    if any((ring.referee.loser == ring.endpoints.nick) is loses for ring in context.shared_results(ProgramRing)):
        return
    for salt in range(MAX_GAMES):
        ring = await share_game(context, 2, salt % 2, salt=2 + salt)
        if (ring.referee.loser == ring.endpoints.nick) is loses:
            return
    raise NotReached(f"in {MAX_GAMES} games of two it has {'not lost' if loses else 'always lost'}")


def _is_a(kind: type[Message]) -> MessagePredicate:
    return lambda message: isinstance(message, kind)


def _is_plain(result: str) -> MessagePredicate:
    """An answer without a card."""
    return lambda message: isinstance(message, Reply) and message.result == result and message.card is None


def _gives_card(message: Message) -> bool:
    return isinstance(message, Reply) and message.card is not None


SEAT_CASES: Final = (
    ("first-of-two", "The first of two", 2, 0, "1.2"),
    ("last-of-two", "The last of two", 2, 1, "1.2"),
    ("first-of-three", "The first of three", 3, 0, "4.7"),
    ("middle-of-three", "The second of three", 3, 1, "4.8"),
    ("last-of-three", "The last of three", 3, 2, "3.16"),
    ("first-of-four", "The first of four, which draws the last card", 4, 0, "7.1"),
    ("middle-of-four", "The third of four", 4, 2, "7.2"),
    ("last-of-five", "The last of five", 5, 4, "3.16"),
    ("middle-of-six", "The fourth of six", 6, 3, "7.8"),
    ("first-of-eight", "The first of eight", 8, 0, "7.9"),
    ("middle-of-eight", "The fifth of eight, which draws the last card", 8, 4, "4.9"),
    ("last-of-eight", "The last of eight", 8, 7, "7.9"),
)

DELIVERY_CASES: Final = (
    ("byte-by-byte", "Messages arrive byte by byte", 1, 0.0),
    ("in-threes", "Messages arrive in small pieces", 3, 0.001),
    ("slow", "The others are slow", 0, 0.02),
    ("halves", "Messages arrive in two pieces", 20, 0.01),
)

DEATH_CASES: Final[Sequence[tuple[str, str, str, Death]]] = (
    (
        "9.7",
        "right-dies-passing-on",
        "The right neighbour disconnects instead of passing the turn on",
        Death(_is_a(YourTurn), 4),
    ),
    (
        "9.7",
        "right-dies-early",
        "The right neighbour disconnects before passing its first turn on",
        Death(_is_a(YourTurn), 1),
    ),
    ("9.6", "left-dies-picking", "The left neighbour disconnects instead of picking", Death(_is_a(Pick), 1)),
    (
        "9.6",
        "left-dies-picking-later",
        "The left neighbour disconnects instead of picking its second card",
        Death(_is_a(Pick), 2),
    ),
    ("9.8", "right-dies-offering", "The right neighbour disconnects instead of offering", Death(_is_a(Offer), 2)),
    (
        "9.6",
        "left-dies-asked",
        "The left neighbour disconnects when it is offered a hand",
        Death(_is_plain("out"), 1, 35),
    ),
    (
        "9.8",
        "right-dies-giving",
        "The right neighbour disconnects instead of giving the card",
        Death(_gives_card, 1, 35),
    ),
    (
        "9.7",
        "left-dies-in-turn",
        "The left neighbour disconnects when it is its turn to draw",
        Death(_is_plain("ok"), 3, 35),
    ),
)

TOLERANCES: Final = (
    ("3.5", "it names a port of its own in join, and does not listen where it comes from"),
    ("2.6", "last_cards is a boolean"),
    ("2.7", "the key is last_card"),
    ("2.8", "last_cards is missing"),
    ("7.4", "it picks the card after the last one"),
)


def cases() -> Sequence[PlayerCase]:
    """Return the cases that play games in a ring."""
    found = CaseList[PlayerContext](rank=GAME_RANK)
    for slug, title, players, seat, clause in SEAT_CASES:
        found.add(clause, slug, f"{title}: a whole game")(_game_case(players, seat))
    for slug, title, chop, delay in DELIVERY_CASES:
        found.add("1.4", slug, f"{title}: a whole game", rank=DELIVERY_RANK)(_delivery_case(Delivery(chop, delay)))
    for clause, slug, title, death in DEATH_CASES:
        is_ruled = clause == "9.7"
        found.add(clause, slug, title, rank=DEATH_RANK, failure_is_choice=is_ruled)(_death_case(clause, death))
    for clause, description in TOLERANCES:
        title = f"Not tolerated with --strict: {description}"
        found.add(clause, "departure", title)(_tolerance_case(f"oldmaid-{clause}", description))
    found.add("3.1", "joins", "The player joins with its nick", rank=0)(program_joins)
    found.add("3.17", "listens", "The player accepts connections before the game starts", rank=1)(program_listens)
    for clause, slug, title, loses in (
        ("7.11", "keeps-the-maid", "The player that keeps the old maid has lost", True),
        ("6.1", "rid-of-her", "A player that is out of cards reports it", False),
    ):
        found.add(clause, slug, title, rank=RESULT_RANK)(partial(_play_until_result, loses=loses))
    return found.all
