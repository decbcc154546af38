"""Games in which the program is one of a ring: at every seat, with neighbours who are slow, and with some who die."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from croupier.conformance.case import clause_id
from croupier.conformance.oldmaid.context import PlayerCase, Try
from croupier.conformance.oldmaid.endpoints import Running
from croupier.conformance.oldmaid.findings import Broken, Tolerated, Unseen
from croupier.conformance.oldmaid.nodes import Node
from croupier.conformance.oldmaid.ring import LOOK, Ring
from croupier.conformance.program import ending
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.wire import Message, Offer, Pick, Reply, YourTurn

SLICE: Final = 0.1
"""So many seconds it is waited before it is looked whether the program still runs."""

START: Final = 3.0
"""A program has so many times the patience to start, and to join."""

ENOUGH: Final = 150
"""So much is heard behind a death: with a card that has no partner any more a game may go on for ever."""

MOST: Final = 6000
"""So much is said in a game at most."""

TRIES: Final = 6
"""So many games are played until the program has lost, or won."""

OWED: Final[dict[type[Message], str]] = {YourTurn: "oldmaid-4.8", Offer: "oldmaid-7.2", Pick: "oldmaid-7.5"}
"""The clause by which a player answers a request of another one."""

TURN: Final = {"draw": "oldmaid-4.8", "pass": "oldmaid-4.7", "offer": "oldmaid-7.8"}
"""The clause by which a player goes on whose turn it is."""

type Fits = Callable[[Message], bool]


class Stalled(Broken):
    """The game does not go on, and that is the program's fault."""


class Death(NamedTuple):
    """Somebody of ours dies instead of saying something to the program, the `times`th time that he would.

    He is the one who would say it: `fits` tells what.
    """

    fits: Fits
    times: int


async def played(
    tried: Try,
    *,
    players: int,
    seat: int,
    salt: int = 0,
    chop: int = 0,
    delay: float = 0.0,
    death: Death | None = None,
) -> Ring:
    """A game that has been played to its end. Raises Broken on the first fault of the program."""
    tried.harbour.chop, tried.harbour.delay = chop, delay
    ring = Ring(tried.harbour, players=players, seat=seat, seed=1000 * tried.seed + salt, strict=tried.strict)
    if death is not None:
        ring.before = _dying(ring, death)
    async with tried.running(await ring.open()) as program:
        try:
            await _watched(ring, program, tried.patience)
        finally:
            ring.close()
    return ring


def _dying(ring: Ring, death: Death) -> Callable[[Node, Message], None]:
    count = 0

    def before(node: Node, message: Message) -> None:
        nonlocal count
        if node is not ring.table and death.fits(message):
            count += 1
            if count == death.times:
                ring.kill(node)

    return before


async def _watched(ring: Ring, program: Running, patience: float) -> None:
    """Wait for the end of the game, and of what our players have to say behind it."""
    clock = asyncio.get_running_loop().time
    over: float | None = None
    while ring.fault is None:
        over = clock() if ring.finished and over is None else over
        if over is not None and (clock() - over > 4 * LOOK or _spent(ring)):
            break
        if ring.died_at is not None and ring.talk > ring.died_at + ENOUGH:
            break
        if ring.talk > MOST:
            raise Unseen(f"after {MOST:,} messages the game had not ended")
        waited, joined = clock() - ring.moved, ring.harbour.me is not None
        if waited > (patience if joined else START * patience):
            raise _silent(ring, f"nothing within {waited:.0f} seconds")
        ring.harbour.stirred.clear()
        try:
            async with asyncio.timeout(SLICE):
                await ring.harbour.stirred.wait()
        except TimeoutError:
            if program.status is not None and not ring.finished and (ring.inside or not joined):
                how = f"the end of the program ({ending(program.status)}){program.complaint()}"
                raise _silent(ring, how) from None
    if ring.fault is not None:
        raise ring.fault
    _stayed(ring)


def _spent(ring: Ring) -> bool:
    """Whether our players have hung up on everybody."""
    return all(isinstance(node.session, Player) and node.session.spent for node in ring.players if node.alive)


def _stayed(ring: Ring) -> None:
    """Raise Broken where the program has left in the middle of the game."""
    game, me = ring.referee.game, ring.referee.players.get(ring.harbour.me or "")
    if game is None or me is None or me.seat not in game.gone or ring.referee.holders[me.nick] == frozenset():
        return
    if len(game.gone) < len(game.nicks) - 1 or len(game.nicks) == 2:
        raise Stalled(
            _turn(ring), "the end of the connection to the table in the middle of the game", "that it plays on"
        )


def _silent(ring: Ring, what: str) -> Broken:
    """What is wrong when nothing happens any more. Raises Unseen where it need not be the program's fault."""
    known = ring.referee.players.get(ring.harbour.me or "")
    if ring.harbour.me is None:
        return Stalled("oldmaid-3.1", what, "that it joins")
    for request in ring.owed.values():
        return Stalled(OWED[type(request)], what, f"an answer to {request}")
    if known is not None and known.turn is not None:
        return Stalled(TURN[known.turn], what, f"that it goes on, for it is its turn to {known.turn}")
    if known is not None and ring.inside and (known.offer is not None or ring.referee.torn):
        return Stalled("oldmaid-9.7", what, "that the turn goes on")
    raise Unseen(f"{what}, and it is not the program's turn")


def _turn(ring: Ring) -> str:
    known = ring.referee.players[ring.harbour.me or ""]
    return TURN[known.turn] if known.turn is not None else "oldmaid-7.8" if known.drawn else "oldmaid-4.8"


# Cases.


def _game(**how: int | float) -> Callable[[Try], Awaitable[None]]:
    async def play(tried: Try) -> None:
        await played(tried, **how)  # type: ignore[arg-type]  # they are its own

    return play


def _after(clause: str, death: Death, salt: int) -> Callable[[Try], Awaitable[None]]:
    """A game in which somebody dies; if nothing happens behind that, it is this clause that is broken."""

    async def play(tried: Try) -> None:
        try:
            await played(tried, players=4, seat=1, salt=salt, death=death)
        except Stalled as stalled:
            raise Broken(f"oldmaid-{clause}", stalled.actual, stalled.expected) from None

    return play


async def joins(tried: Try) -> None:
    """The program connects to the table, and joins."""
    ring = Ring(tried.harbour, players=2, seat=0, seed=tried.seed, strict=tried.strict)
    async with tried.running(await ring.open()) as program:
        try:
            await _joined(ring, program, tried.patience)
        finally:
            ring.close()


async def listens(tried: Try) -> None:
    """Who has joined can be reached before there is a list, by whomever."""
    harbour = tried.harbour
    ring = Ring(harbour, players=2, seat=0, seed=tried.seed, strict=tried.strict)
    async with tried.running(await ring.open()) as program:
        try:
            await _joined(ring, program, tried.patience)
            assert ring.program is not None, "who has joined is somewhere"
            if await harbour.call(ring.players[0].name, ring.program, tried.patience) is None:
                host, port = ring.program
                raise Broken("oldmaid-3.17", f"nobody listens at {host} {port}", "that it accepts its right neighbour")
        finally:
            ring.close()


async def _joined(ring: Ring, program: Running, patience: float) -> None:
    """Wait until the program has joined. Raises Broken where it does not."""
    clock = asyncio.get_running_loop().time
    begun = clock()
    while ring.harbour.me is None:
        if clock() - begun > START * patience or program.status is not None:
            raise Broken("oldmaid-3.1", f"nothing within {clock() - begun:.0f} seconds", "that it joins")
        await asyncio.sleep(SLICE / 5)


def _tolerance(clause: str, told: str) -> Callable[[Try], Awaitable[None]]:
    """A departure of the program in a game of two."""

    async def play(tried: Try) -> None:
        ring = await played(tried, players=2, seat=0, salt=7)
        if clause in ring.departures:
            raise Tolerated(told)

    return play


async def _until(tried: Try, *, loses: bool) -> None:
    """Games of two until the program has lost, or has not."""
    for salt in range(TRIES):
        harbour = tried.fresh()
        ring = await played(harbour, players=2, seat=salt % 2, salt=50 + salt)
        if (ring.referee.loser == ring.harbour.me) is loses:
            return
    raise Unseen(f"in {TRIES} games of two it has {'not lost' if loses else 'always lost'}")


def _answers(result: str) -> Fits:
    return lambda message: isinstance(message, Reply) and message.result == result and message.card is None


SEATS: Final = (
    ("first-of-two", "The first of two", 2, 0, "1.2"),
    ("last-of-two", "The last of two", 2, 1, "1.2"),
    ("first-of-three", "The first of three", 3, 0, "4.7"),
    ("middle-of-three", "The second of three", 3, 1, "4.8"),
    ("last-of-three", "The last of three", 3, 2, "3.16"),
    ("first-of-four", "The first of four, who draws the last card", 4, 0, "7.1"),
    ("middle-of-four", "The third of four", 4, 2, "7.2"),
    ("last-of-five", "The last of five", 5, 4, "3.16"),
    ("middle-of-six", "The fourth of six", 6, 3, "7.8"),
    ("first-of-eight", "The first of eight", 8, 0, "7.9"),
    ("middle-of-eight", "The fifth of eight, who draws the last card", 8, 4, "4.9"),
    ("last-of-eight", "The last of eight", 8, 7, "7.9"),
)

DELIVERIES: Final = (
    ("byte-by-byte", "What others say comes byte by byte", 1, 0.0),
    ("in-threes", "What others say comes in small pieces", 3, 0.001),
    ("slow", "The others are slow", 0, 0.02),
    ("halves", "Messages come in two pieces", 20, 0.01),
)

DEATHS: Final = (
    ("9.7", "right-dies-passing-on", "The right neighbour dies instead of passing the turn on", YourTurn, 4),
    ("9.7", "right-dies-early", "The right neighbour dies before he passes on his first turn", YourTurn, 1),
    ("9.6", "left-dies-picking", "The left neighbour dies instead of picking", Pick, 1),
    ("9.6", "left-dies-picking-later", "The left neighbour dies instead of picking his second card", Pick, 2),
    ("9.8", "right-dies-offering", "The right neighbour dies instead of offering", Offer, 2),
)


def cases() -> Sequence[PlayerCase]:
    """Every game in a ring."""
    found = [
        _case(clause, slug, f"{title}: a whole game", _game(players=players, seat=seat, salt=players + seat))
        for slug, title, players, seat, clause in SEATS
    ]
    found += [
        _case("1.4", slug, f"{title}: a whole game", _game(players=3, seat=1, salt=21, chop=chop, delay=delay))
        for slug, title, chop, delay in DELIVERIES
    ]
    for clause, slug, title, kind, count in DEATHS:
        death = Death(lambda message, kind=kind: isinstance(message, kind), count)  # type: ignore[misc]  # it is bound
        found.append(_case(clause, slug, title, _after(clause, death, 33), free=clause == "9.7"))
    for clause, slug, title, death in (
        ("9.6", "left-dies-asked", "The left neighbour dies when he is offered a hand", Death(_answers("out"), 1)),
        (
            "9.8",
            "right-dies-giving",
            "The right neighbour dies instead of giving the card",
            Death(lambda message: isinstance(message, Reply) and message.card is not None, 1),
        ),
        ("9.7", "left-dies-in-turn", "The left neighbour dies when it is his turn to draw", Death(_answers("ok"), 3)),
    ):
        found.append(_case(clause, slug, title, _after(clause, death, 35), free=clause == "9.7"))
    for clause, told in (
        ("3.5", "it names a port of its own in join, and does not listen where it comes from"),
        ("2.6", "last_cards is a boolean"),
        ("2.7", "the key is last_card"),
        ("2.8", "last_cards is missing"),
        ("7.4", "it picks the card behind the last one"),
    ):
        found.append(
            _case(clause, "departure", f"Not tolerated with --strict: {told}", _tolerance(f"oldmaid-{clause}", told))
        )
    found.append(_case("3.1", "joins", "Who wants to play joins, with his nick", joins))
    found.append(_case("3.17", "listens", "Who has joined accepts connections before the game starts", listens))
    found.append(_case("7.11", "keeps-the-maid", "Who keeps the old maid has lost", partial(_until, loses=True)))
    found.append(_case("6.1", "rid-of-her", "Who is out of cards says so", partial(_until, loses=False)))
    return found


def _case(
    clause: str, slug: str, title: str, play: Callable[[Try], Awaitable[None]], *, free: bool = False
) -> PlayerCase:
    return PlayerCase(
        id=clause_id("oldmaid", clause, slug), title=title, clause=f"oldmaid-{clause}", play=play, free=free
    )
