"""Tests a server: every case in turn on connections of its own, until all is known or enough has failed."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from croupier.conformance.case import clause_id
from croupier.conformance.diagnosis.dialect import Spelling, Understood
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Result
from croupier.conformance.servers import GROUNDS
from croupier.conformance.servers.attempts import Examination, ServerCase, Unreachable
from croupier.conformance.servers.replay import followed, playable, recorded
from croupier.conformance.servers.scenarios import (
    ahead,
    cut_at,
    gathered,
    gone_behind,
    listened,
    nothing,
    played_for,
    remarked,
    said,
    strolled,
)
from croupier.conformance.servers.scripted_client import Delivery, Probe
from croupier.conformance.servers.test_data import Ground
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Event, Joined
from croupier.logs import silence
from croupier.net.endpoint import Limits, Switchboard

CONNECT: Final = 5.0
"""A server has so many seconds to take a connection, or its patience if that is more."""

QUIET: Final = 0.05
"""So many seconds a house is listened to that has nothing to say."""

MANY: Final = 8
"""So many clients play at the same time."""

LINGER: Final = 0.25
"""So many seconds a server has to close a connection that is over, before it is cut off."""

OPEN: Final = 64
"""So many connections that are over may be waiting for that."""


def server_cases(room: HouseRoom) -> tuple[ServerCase, ...]:
    """All cases for servers of a room, in the order of their clauses. Raises ValueError where it has none."""
    return _cases(_ground(room).room.name)


@cache
def _cases(room: str) -> tuple[ServerCase, ...]:
    ground = GROUNDS[room]
    cases = (*_papers(ground), *_remarks(ground), *_deliveries(ground), *_games(ground))
    return tuple(sorted(cases, key=lambda case: [int(part) for part in case.section.split(".")]))


def untestable(room: HouseRoom) -> Mapping[str, str]:
    """The clauses that no case tests, each with the reason."""
    return _ground(room).untestable


def _ground(room: HouseRoom) -> Ground:
    if room.name not in GROUNDS:
        raise ValueError(f"found the room {room.name!r}; allowed: {', '.join(GROUNDS)}")
    return GROUNDS[room.name]


def _case(ground: Ground, clause: str, slug: str, title: str, **more: Any) -> ServerCase:
    return ServerCase(id=clause_id(ground.room.name, clause, slug), title=title, clause=clause, **more)


def _papers(ground: Ground) -> list[ServerCase]:
    """What is on paper."""
    return [
        _case(
            ground,
            paper.clauses[0],
            paper.name,
            paper.title,
            plays=(followed(recorded(ground, paper)),),
            dialect=paper.head.get("dialect", ""),
            seconds=0.15,
        )
        for paper in transcripts(ground.room.name)
        if playable(paper, ground.settings)
        and paper.clauses[0] not in ground.tolerances
        and paper.clauses[0] not in ground.untestable
    ]


def _remarks(ground: Ground) -> list[ServerCase]:
    """Everything that can be said, wherever it can be said."""
    return [
        _case(
            ground,
            remark.clauses[situation.name],
            f"{remark.slug}-at-{situation.name}",
            f"{remark.told}, {situation.told}",
            plays=(remarked(situation, remark),),
            hits=2,
        )
        for situation in ground.situations
        for remark in ground.remarks
        if situation.name in remark.clauses
    ]


def _games(ground: Ground) -> list[ServerCase]:
    """What luck brings, what only this room has, and long evenings."""
    shared = ground.shared
    goals = [
        _case(ground, goal.clause, goal.slug, goal.title, plays=(played_for(goal),), hits=3, seconds=0.3)
        for goal in ground.goals
    ]
    extras = [
        _case(ground, extra.clause, extra.slug, extra.title, plays=extra.plays, seconds=0.5) for extra in ground.extras
    ]
    strolls = [
        _case(ground, shared["unasked"], f"stroll-{number}", title, plays=(strolled(games, blunders),), hits=3)
        for number, (title, games, blunders) in enumerate(
            (
                ("Three games at random", 3, 0.0),
                ("Three games at random, with mistakes now and then", 3, 0.2),
                ("Ten games at random, with mistakes now and then", 10, 0.1),
                ("Three games at random, with more mistakes than moves", 3, 0.6),
            ),
            start=1,
        )
    ]
    evening = _case(ground, shared["next"], "evening", "Many games on one connection", plays=(strolled(20, 0.0),))
    return [*goals, *extras, *strolls, evening]


def _deliveries(ground: Ground) -> list[ServerCase]:
    """The same games, however the bytes arrive, and whatever becomes of the connection."""
    shared, game = ground.shared, ground.game
    frames = [ground.room.codec(True, None).encode(message) for message in game]
    size = sum(map(len, frames))
    again = strolled(1, 0.0)
    first = len(frames[0])

    def case(about: str, slug: str, title: str, *plays: Any, **more: Any) -> ServerCase:
        return _case(ground, shared[about], slug, title, plays=plays, **more)

    return [
        *(
            case(
                "stream",
                f"{number}-bytes-at-a-time",
                f"Messages arrive {number} byte{'s' * (number > 1)} at a time",
                strolled(2, 0.0),
                delivery=Delivery(number, 0.001),
            )
            for number in (1, 2, 3, 5, 7)
        ),
        case(
            "cut",
            "cut-everywhere",
            "A game that is sent at once may be cut at any byte",
            *(cut_at(place, game, 0.002) for place in range(1, size)),
        ),
        case("stream", "slow", "A message arrives slowly", cut_at(first - 1, game[:1], 0.2)),
        case("stream", "glued", "All of a game arrives at once", ahead(*game)),
        case("stream", "sent-ahead", "Several games are sent ahead of their answers", ahead(*game * 5)),
        case(
            "stream", "two-games-in-one-piece", "A game and the next are glued together", ahead(*game * 2), said(*game)
        ),
        case("next", "games-in-a-row", "Games follow each other on one connection", said(*game * 3)),
        case(
            "goodbye",
            "goodbye-sent-ahead",
            "What came before a goodbye is still answered",
            ahead(*game, *ground.goodbye) if ground.goodbye else gone_behind(*game),
        ),
        case("goodbye", "goodbye-behind-a-game", "A client leaves behind a game", said(*game, *ground.goodbye)),
        case("goodbye", "hang-up-at-once", "A client that hangs up at once does no harm", gone_behind(), again),
        case(
            "goodbye",
            "hang-up-in-a-message",
            "A client that hangs up in the middle of a message does no harm",
            gone_behind(game[0], cut=1),
            again,
        ),
        case(
            "goodbye",
            "hang-up-in-a-game",
            "A client that hangs up in the middle of a game does no harm",
            gone_behind(game[0]),
            again,
        ),
        case(
            "goodbye",
            "hang-up-without-reading",
            "A client that hangs up before it has read its answers does no harm",
            gone_behind(*game * 5),
            again,
        ),
        case(
            "tables",
            "many-at-once",
            f"{MANY} clients play at the same time, each at a table of its own",
            *[gathered(MANY, game[0], 3)] * MANY,
            together=True,
        ),
        case("speaks first", "client-speaks-first", "The house says nothing before the client does", nothing(QUIET)),
        *(
            case(
                "unasked",
                f"nothing-unasked-at-{situation.name}",
                f"The house says nothing unasked, {situation.told}",
                listened(situation, QUIET),
            )
            for situation in ground.situations
        ),
        case(
            "close",
            "no-close-unannounced",
            "The house does not close a connection on which nothing is wrong",
            cut_at(size, (*game, game[0]), 3 * QUIET),
        ),
    ]


class Wire:
    """A house at an address, reached over TCP. See `Target`. What it says is read by a spelling, if there is one."""

    def __init__(self, address: Address, patience: float, spelling: Spelling | None = None) -> None:
        self._address = address
        self._spelling = spelling
        self._limits = Limits(linger=LINGER, connect=max(CONNECT, patience))
        self._closing: set[asyncio.Task[None]] = set()

    async def meet(self, probe: Probe) -> None:
        """See `Target`."""
        over = asyncio.Event()

        def watch(event: Event[object], *_: object) -> None:
            if type(event) is Joined and event.address is not None:
                self._address = event.address  # a name is looked up once
            if probe.over:
                over.set()

        board = Switchboard(probe, lambda: Understood(self._spelling), silence(), taps=[watch], limits=self._limits)
        await board.dial(HOUSE, self._address)
        await over.wait()
        closed = asyncio.create_task(board.empty())
        self._closing.add(closed)
        closed.add_done_callback(self._closing.discard)
        while len(self._closing) > OPEN:
            await asyncio.wait(self._closing, return_when=asyncio.FIRST_COMPLETED)

    async def closed(self) -> None:
        """Wait until all connections are closed."""
        while self._closing:
            await asyncio.wait(self._closing)


async def check_server(
    room: HouseRoom,
    host: str,
    port: int,
    *,
    cases: Sequence[ServerCase],
    options: Any,
    strict: bool,
    seed: int,
    timeout: float,
    max_failures: int | None,
    told: Callable[[Result], None],
    spelling: Spelling | None = None,
) -> tuple[Result, ...]:
    """Try cases at a server; `told` hears of every result as it is there. Raises ConnectionError where nobody answers.

    `options` are the room's for a client, or settings that the house is known to have, None for neither. An answer may
    take `timeout` seconds. After `max_failures` cases that failed the others are left out. What the server says is read
    by the `spelling`, if there is one.
    """
    wire = Wire((host, port), timeout, spelling)
    try:
        return await examined(
            Examination(_ground(room), wire, own=options, strict=strict, seed=seed, patience=timeout),
            cases,
            max_failures,
            told,
        )
    except Unreachable as error:
        raise ConnectionError(f"no server at {host}:{port}: {error}") from None
    finally:
        await wire.closed()


async def examined(
    examination: Examination,
    cases: Sequence[ServerCase],
    max_failures: int | None,
    told: Callable[[Result], None],
) -> tuple[Result, ...]:
    """What comes of cases, in their order, until so many have failed; of a slow house several are tried together."""
    results: dict[str, Result] = {}
    failures = 0
    left = deque(cases)
    running: set[asyncio.Task[Result]] = set()
    try:
        while running or (left and failures != max_failures):
            while left and failures != max_failures and len(running) < examination.lanes:
                running.add(asyncio.create_task(examination.examine(left.popleft())))
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for result in (task.result() for task in done):
                results[result.case] = result
                told(result)
                failures += not result.outcome.good
    finally:
        for task in running:
            task.cancel()
    return tuple(results[case.id] for case in cases if case.id in results)
