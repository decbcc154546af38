"""Tests a server: every case in turn on connections of its own, until all is known or enough has failed."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from croupier.conformance.case import make_case_id
from croupier.conformance.diagnosis.dialect import Dialect, DialectCodec
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Result
from croupier.conformance.servers import TEST_DATA_BY_ROOM
from croupier.conformance.servers.attempts import HouseServerCase, ServerExaminer, UnreachableError
from croupier.conformance.servers.replay import is_playable, record, replay
from croupier.conformance.servers.scenarios import (
    hang_up_after,
    listen_in_state,
    play_at_random,
    play_together,
    play_until,
    send_ahead,
    send_cut_at,
    send_each,
    send_input,
    stay_silent,
)
from croupier.conformance.servers.scripted_client import Chunking, ScriptedClient
from croupier.conformance.servers.test_data import ServerTestData
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Event, Joined
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits

CONNECT_TIMEOUT_SECONDS: Final = 5.0
"""A server has so many seconds to take a connection, or its patience if that is more."""

LISTEN_SECONDS: Final = 0.05
"""So many seconds a house is listened to that has nothing to say."""

CONCURRENT_CLIENTS: Final = 8
"""So many clients play at the same time."""

CLOSE_TIMEOUT_SECONDS: Final = 0.25
"""So many seconds a server has to close a connection that is over, before it is cut off."""

MAX_CLOSING_CONNECTIONS: Final = 64
"""So many connections that are over may be waiting for that."""


def server_cases(room: HouseRoom) -> tuple[HouseServerCase, ...]:
    """All cases for servers of a room, in the order of their clauses. Raises ValueError where it has none."""
    return _cases(_ground(room).room.name)


@cache
def _cases(room: str) -> tuple[HouseServerCase, ...]:
    ground = TEST_DATA_BY_ROOM[room]
    cases = (*_papers(ground), *_remarks(ground), *_deliveries(ground), *_games(ground))
    return tuple(sorted(cases, key=lambda case: [int(part) for part in case.section.split(".")]))


def untestable(room: HouseRoom) -> Mapping[str, str]:
    """The clauses that no case tests, each with the reason."""
    return _ground(room).untestable


def _ground(room: HouseRoom) -> ServerTestData:
    if room.name not in TEST_DATA_BY_ROOM:
        raise ValueError(f"found the room {room.name!r}; allowed: {', '.join(TEST_DATA_BY_ROOM)}")
    return TEST_DATA_BY_ROOM[room.name]


def _case(ground: ServerTestData, clause: str, slug: str, title: str, **more: Any) -> HouseServerCase:
    return HouseServerCase(id=make_case_id(ground.room.name, clause, slug), title=title, clause=clause, **more)


def _papers(ground: ServerTestData) -> list[HouseServerCase]:
    """What is on paper."""
    return [
        _case(
            ground,
            paper.clauses[0],
            paper.name,
            paper.title,
            scenarios=(replay(record(ground, paper)),),
            dialect=paper.head.get("dialect", ""),
            seconds=0.15,
        )
        for paper in transcripts(ground.room.name)
        if is_playable(paper, ground.harmless_settings)
        and paper.clauses[0] not in ground.tolerated_clauses
        and paper.clauses[0] not in ground.untestable
    ]


def _remarks(ground: ServerTestData) -> list[HouseServerCase]:
    """Everything that can be said, wherever it can be said."""
    return [
        _case(
            ground,
            remark.clauses[situation.name],
            f"{remark.slug}-at-{situation.name}",
            f"{remark.title}, {situation.title}",
            scenarios=(send_input(situation, remark),),
            min_successes=2,
        )
        for situation in ground.states
        for remark in ground.inputs
        if situation.name in remark.clauses
    ]


def _games(ground: ServerTestData) -> list[HouseServerCase]:
    """What luck brings, what only this room has, and long evenings."""
    shared = ground.shared_clauses
    goals = [
        _case(ground, goal.clause, goal.slug, goal.title, scenarios=(play_until(goal),), min_successes=3, seconds=0.3)
        for goal in ground.goals
    ]
    extras = [
        _case(ground, extra.clause, extra.slug, extra.title, scenarios=extra.scenarios, seconds=0.5)
        for extra in ground.extra_cases
    ]
    strolls = [
        _case(
            ground,
            shared["unasked"],
            f"stroll-{number}",
            title,
            scenarios=(play_at_random(games, blunders),),
            min_successes=3,
        )
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
    evening = _case(
        ground, shared["next"], "evening", "Many games on one connection", scenarios=(play_at_random(20, 0.0),)
    )
    return [*goals, *extras, *strolls, evening]


def _deliveries(ground: ServerTestData) -> list[HouseServerCase]:
    """The same games, however the bytes arrive, and whatever becomes of the connection."""
    shared, game = ground.shared_clauses, ground.sample_game
    frames = [ground.room.codec(True, None).encode(message) for message in game]
    size = sum(map(len, frames))
    again = play_at_random(1, 0.0)
    first = len(frames[0])

    def case(about: str, slug: str, title: str, *plays: Any, **more: Any) -> HouseServerCase:
        return _case(ground, shared[about], slug, title, scenarios=plays, **more)

    return [
        *(
            case(
                "stream",
                f"{number}-bytes-at-a-time",
                f"Messages arrive {number} byte{'s' * (number > 1)} at a time",
                play_at_random(2, 0.0),
                delivery=Chunking(number, 0.001),
            )
            for number in (1, 2, 3, 5, 7)
        ),
        case(
            "cut",
            "cut-everywhere",
            "A game that is sent at once may be cut at any byte",
            *(send_cut_at(place, game, 0.002) for place in range(1, size)),
        ),
        case("stream", "slow", "A message arrives slowly", send_cut_at(first - 1, game[:1], 0.2)),
        case("stream", "glued", "All of a game arrives at once", send_ahead(*game)),
        case("stream", "sent-ahead", "Several games are sent ahead of their answers", send_ahead(*game * 5)),
        case(
            "stream",
            "two-games-in-one-piece",
            "A game and the next are glued together",
            send_ahead(*game * 2),
            send_each(*game),
        ),
        case("next", "games-in-a-row", "Games follow each other on one connection", send_each(*game * 3)),
        case(
            "goodbye",
            "goodbye-sent-ahead",
            "What came before a goodbye is still answered",
            send_ahead(*game, *ground.goodbye) if ground.goodbye else hang_up_after(*game),
        ),
        case("goodbye", "goodbye-behind-a-game", "A client leaves behind a game", send_each(*game, *ground.goodbye)),
        case("goodbye", "hang-up-at-once", "A client that hangs up at once does no harm", hang_up_after(), again),
        case(
            "goodbye",
            "hang-up-in-a-message",
            "A client that hangs up in the middle of a message does no harm",
            hang_up_after(game[0], cut=1),
            again,
        ),
        case(
            "goodbye",
            "hang-up-in-a-game",
            "A client that hangs up in the middle of a game does no harm",
            hang_up_after(game[0]),
            again,
        ),
        case(
            "goodbye",
            "hang-up-without-reading",
            "A client that hangs up before it has read its answers does no harm",
            hang_up_after(*game * 5),
            again,
        ),
        case(
            "tables",
            "many-at-once",
            f"{CONCURRENT_CLIENTS} clients play at the same time, each at a table of its own",
            *[play_together(CONCURRENT_CLIENTS, game[0], 3)] * CONCURRENT_CLIENTS,
            is_concurrent=True,
        ),
        case(
            "speaks first",
            "client-speaks-first",
            "The house says nothing before the client does",
            stay_silent(LISTEN_SECONDS),
        ),
        *(
            case(
                "unasked",
                f"nothing-unasked-at-{situation.name}",
                f"The house says nothing unasked, {situation.title}",
                listen_in_state(situation, LISTEN_SECONDS),
            )
            for situation in ground.states
        ),
        case(
            "close",
            "no-close-unannounced",
            "The house does not close a connection on which nothing is wrong",
            send_cut_at(size, (*game, game[0]), 3 * LISTEN_SECONDS),
        ),
    ]


class TcpHouse:
    """A house at an address, reached over TCP. See `Target`. What it says is read by a spelling, if there is one."""

    def __init__(self, address: Address, answer_timeout: float, dialect: Dialect | None = None) -> None:
        self._address = address
        self._spelling = dialect
        self._limits = EndpointLimits(
            close_timeout=CLOSE_TIMEOUT_SECONDS, connect_timeout=max(CONNECT_TIMEOUT_SECONDS, answer_timeout)
        )
        self._closing: set[asyncio.Task[None]] = set()

    async def converse(self, probe: ScriptedClient) -> None:
        """See `Target`."""
        over = asyncio.Event()

        def watch(event: Event[object], *_: object) -> None:
            if type(event) is Joined and event.address is not None:
                self._address = event.address  # a name is looked up once
            if probe.is_over:
                over.set()

        board = Endpoint(
            probe, lambda: DialectCodec(self._spelling), silent_logger(), observers=[watch], limits=self._limits
        )
        await board.connect(HOUSE, self._address)
        await over.wait()
        closed = asyncio.create_task(board.wait_drained())
        self._closing.add(closed)
        closed.add_done_callback(self._closing.discard)
        while len(self._closing) > MAX_CLOSING_CONNECTIONS:
            await asyncio.wait(self._closing, return_when=asyncio.FIRST_COMPLETED)

    async def wait_closed(self) -> None:
        """Wait until all connections are closed."""
        while self._closing:
            await asyncio.wait(self._closing)


async def check_server(
    room: HouseRoom,
    host: str,
    port: int,
    *,
    cases: Sequence[HouseServerCase],
    options: Any,
    strict: bool,
    seed: int,
    timeout: float,
    max_failures: int | None,
    on_result: Callable[[Result], None],
    detected_dialect: Dialect | None = None,
) -> tuple[Result, ...]:
    """Try cases at a server; `told` hears of every result as it is there. Raises ConnectionError where nobody answers.

    `options` are the room's for a client, or settings that the house is known to have, None for neither. An answer may
    take `timeout` seconds. After `max_failures` cases that failed the others are left out. What the server says is read
    by the `spelling`, if there is one.
    """
    wire = TcpHouse((host, port), timeout, detected_dialect)
    try:
        return await examine_cases(
            ServerExaminer(
                _ground(room), wire, known_options=options, strict=strict, seed=seed, answer_timeout=timeout
            ),
            cases,
            max_failures,
            on_result,
        )
    except UnreachableError as error:
        raise ConnectionError(f"no server at {host}:{port}: {error}") from None
    finally:
        await wire.wait_closed()


async def examine_cases(
    examiner: ServerExaminer,
    cases: Sequence[HouseServerCase],
    max_failures: int | None,
    on_result: Callable[[Result], None],
) -> tuple[Result, ...]:
    """What comes of cases, in their order, until so many have failed; of a slow house several are tried together."""
    results: dict[str, Result] = {}
    failures = 0
    left = deque(cases)
    running: set[asyncio.Task[Result]] = set()
    try:
        while running or (left and failures != max_failures):
            while left and failures != max_failures and len(running) < examiner.max_parallel_cases:
                running.add(asyncio.create_task(examiner.examine(left.popleft())))
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for result in (task.result() for task in done):
                results[result.case] = result
                on_result(result)
                failures += not result.outcome.is_good
    finally:
        for task in running:
            task.cancel()
    return tuple(results[case.id] for case in cases if case.id in results)
