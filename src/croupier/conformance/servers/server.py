"""Tests a server: runs every case on connections of its own, until all are decided or enough have failed."""

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
"""How long a server may take to accept a connection; the answer timeout, if that is longer."""

LISTEN_SECONDS: Final = 0.05
"""How long to listen to a house that has nothing to send."""

CONCURRENT_CLIENTS: Final = 8
"""The number of clients that play at the same time."""

CLOSE_TIMEOUT_SECONDS: Final = 0.25
"""How long a server may take to close a finished connection before the connection is aborted."""

MAX_CLOSING_CONNECTIONS: Final = 64
"""At most this many finished connections may wait for the server to close them."""


def server_cases(room: HouseRoom) -> tuple[HouseServerCase, ...]:
    """Return all cases for servers of a room, in the order of the clauses. Raises ValueError if the room has none."""
    return _cases(_test_data(room).room.name)


@cache
def _cases(room: str) -> tuple[HouseServerCase, ...]:
    test_data = TEST_DATA_BY_ROOM[room]
    cases = (*_replays(test_data), *_input_cases(test_data), *_delivery_cases(test_data), *_game_cases(test_data))
    return tuple(sorted(cases, key=lambda case: [int(part) for part in case.section.split(".")]))


def untestable(room: HouseRoom) -> Mapping[str, str]:
    """The clauses that no case tests, each with the reason."""
    return _test_data(room).untestable


def _test_data(room: HouseRoom) -> ServerTestData:
    if room.name not in TEST_DATA_BY_ROOM:
        raise ValueError(f"found the room {room.name!r}; allowed: {', '.join(TEST_DATA_BY_ROOM)}")
    return TEST_DATA_BY_ROOM[room.name]


def _case(test_data: ServerTestData, clause: str, slug: str, title: str, **more: Any) -> HouseServerCase:
    return HouseServerCase(id=make_case_id(test_data.room.name, clause, slug), title=title, clause=clause, **more)


def _replays(test_data: ServerTestData) -> list[HouseServerCase]:
    """The replayed transcripts."""
    return [
        _case(
            test_data,
            transcript.clauses[0],
            transcript.name,
            transcript.title,
            scenarios=(replay(record(test_data, transcript)),),
            dialect=transcript.head.get("dialect", ""),
            seconds=0.15,
        )
        for transcript in transcripts(test_data.room.name)
        if is_playable(transcript, test_data.harmless_settings)
        and transcript.clauses[0] not in test_data.tolerated_clauses
        and transcript.clauses[0] not in test_data.untestable
    ]


def _input_cases(test_data: ServerTestData) -> list[HouseServerCase]:
    """Every input in every state in which it makes sense."""
    return [
        _case(
            test_data,
            given.clauses[state.name],
            f"{given.slug}-at-{state.name}",
            f"{given.title}, {state.title}",
            scenarios=(send_input(state, given),),
            min_successes=2,
        )
        for state in test_data.states
        for given in test_data.inputs
        if state.name in given.clauses
    ]


def _game_cases(test_data: ServerTestData) -> list[HouseServerCase]:
    """Coverage goals, the extra cases of the room, and long conversations."""
    shared = test_data.shared_clauses
    goals = [
        _case(
            test_data, goal.clause, goal.slug, goal.title, scenarios=(play_until(goal),), min_successes=3, seconds=0.3
        )
        for goal in test_data.goals
    ]
    extras = [
        _case(test_data, extra.clause, extra.slug, extra.title, scenarios=extra.scenarios, seconds=0.5)
        for extra in test_data.extra_cases
    ]
    random_games = [
        _case(
            test_data,
            shared["unasked"],
            f"stroll-{number}",
            title,
            scenarios=(play_at_random(games, invalid_rate),),
            min_successes=3,
        )
        for number, (title, games, invalid_rate) in enumerate(
            (
                ("Three games at random", 3, 0.0),
                ("Three games at random, with mistakes now and then", 3, 0.2),
                ("Ten games at random, with mistakes now and then", 10, 0.1),
                ("Three games at random, with more mistakes than moves", 3, 0.6),
            ),
            start=1,
        )
    ]
    many_games = _case(
        test_data, shared["next"], "evening", "Many games on one connection", scenarios=(play_at_random(20, 0.0),)
    )
    return [*goals, *extras, *random_games, many_games]


def _delivery_cases(test_data: ServerTestData) -> list[HouseServerCase]:
    """The same games with bytes that arrive in other chunks, and with clients that disconnect."""
    shared, game = test_data.shared_clauses, test_data.sample_game
    frames = [test_data.room.codec(True, None).encode(message) for message in game]
    size = sum(map(len, frames))
    again = play_at_random(1, 0.0)
    first = len(frames[0])

    def case(topic: str, slug: str, title: str, *scenarios: Any, **more: Any) -> HouseServerCase:
        return _case(test_data, shared[topic], slug, title, scenarios=scenarios, **more)

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
            send_ahead(*game, *test_data.goodbye) if test_data.goodbye else hang_up_after(*game),
        ),
        case("goodbye", "goodbye-behind-a-game", "A client leaves behind a game", send_each(*game, *test_data.goodbye)),
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
                f"nothing-unasked-at-{state.name}",
                f"The house says nothing unasked, {state.title}",
                listen_in_state(state, LISTEN_SECONDS),
            )
            for state in test_data.states
        ),
        case(
            "close",
            "no-close-unannounced",
            "The house does not close a connection on which nothing is wrong",
            send_cut_at(size, (*game, game[0]), 3 * LISTEN_SECONDS),
        ),
    ]


class TcpHouse:
    """A house that is reached over TCP. See `HouseUnderTest`. With a dialect, what it sends is read in it."""

    def __init__(self, address: Address, answer_timeout: float, dialect: Dialect | None = None) -> None:
        self._address = address
        self._dialect = dialect
        self._limits = EndpointLimits(
            close_timeout=CLOSE_TIMEOUT_SECONDS, connect_timeout=max(CONNECT_TIMEOUT_SECONDS, answer_timeout)
        )
        self._closing: set[asyncio.Task[None]] = set()

    async def converse(self, probe: ScriptedClient) -> None:
        """See `HouseUnderTest`."""
        over = asyncio.Event()

        def watch(event: Event[object], *_: object) -> None:
            if type(event) is Joined and event.address is not None:
                self._address = event.address  # resolve a host name only once
            if probe.is_over:
                over.set()

        endpoint = Endpoint(
            probe, lambda: DialectCodec(self._dialect), silent_logger(), observers=[watch], limits=self._limits
        )
        await endpoint.connect(HOUSE, self._address)
        await over.wait()
        closed = asyncio.create_task(endpoint.wait_drained())
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
    """Run cases against a server; `on_result` receives every result as soon as it is known.

    `options` are the options of a client of the room, or settings that the house is known to have, None for neither. An
    answer may take `timeout` seconds. After `max_failures` failed cases the rest are not run. What the server sends is
    read in `detected_dialect`, if one is given. Raises ConnectionError if the server cannot be reached.
    """
    house = TcpHouse((host, port), timeout, detected_dialect)
    try:
        return await examine_cases(
            ServerExaminer(
                _test_data(room), house, known_options=options, strict=strict, seed=seed, answer_timeout=timeout
            ),
            cases,
            max_failures,
            on_result,
        )
    except UnreachableError as error:
        raise ConnectionError(f"no server at {host}:{port}: {error}") from None
    finally:
        await house.wait_closed()


async def examine_cases(
    examiner: ServerExaminer,
    cases: Sequence[HouseServerCase],
    max_failures: int | None,
    on_result: Callable[[Result], None],
) -> tuple[Result, ...]:
    """Return the results of the cases in their order. Several cases run at once if the house is slow to answer."""
    results: dict[str, Result] = {}
    failures = 0
    waiting = deque(cases)
    running: set[asyncio.Task[Result]] = set()
    try:
        while running or (waiting and failures != max_failures):
            while waiting and failures != max_failures and len(running) < examiner.max_parallel_cases:
                running.add(asyncio.create_task(examiner.examine(waiting.popleft())))
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for result in (task.result() for task in done):
                results[result.case] = result
                on_result(result)
                failures += not result.outcome.is_good
    finally:
        for task in running:
            task.cancel()
    return tuple(results[case.id] for case in cases if case.id in results)
