"""Tests a bot of hold'em: for every case it is started, sits down at a table of ours, and is brought into a scene."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from croupier.conformance.case import Case
from croupier.conformance.holdem.causes import likely_cause
from croupier.conformance.holdem.deviations import Deviation, default_outcome, worst_deviation
from croupier.conformance.holdem.endpoint import PASSWORD
from croupier.conformance.holdem.opponents import Opponent
from croupier.conformance.holdem.request_checks import dialogue_lines, judge_requests
from croupier.conformance.holdem.schema import seconds_left
from croupier.conformance.holdem.setups import HoldemClientCase, TableSetup, client_cases
from croupier.conformance.holdem.test_server import HoldemTestServer
from croupier.conformance.holdem.untestable import UNTESTABLE
from croupier.conformance.program import ProgramUnderTest, describe_exit
from croupier.conformance.results import Failure, Outcome, Result
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.plural import format_count
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import Join

__all__ = ["check_client", "client_cases", "untestable"]

MAX_CONCURRENT_PROGRAMS: Final = 3
"""So many bots are tested at the same time."""

MAX_SHOWN_LINES: Final = 6
"""So many lines of a dialogue are shown."""

BROKE_GRACE_SECONDS: Final = 0.3
"""So many seconds a bot is watched that has nothing more to do."""

FULL_TABLE_SEATS: Final = 10
"""A full table."""


def untestable(room: Any) -> Mapping[str, str]:
    """The clauses that no bot can be tested with, each with the reason."""
    shown = {case.clause for case in client_cases(room)}
    return {clause: why for clause, why in UNTESTABLE.items() if clause not in shown}


async def check_client(
    room: Any,  # noqa: ARG001 -- every room is checked so
    command: str,
    *,
    cases: Sequence[Case],
    settings: Any = None,
    strict: bool = False,
    seed: int = 1,
    timeout: float = 20.0,
    max_failures: int | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    on_stderr: Callable[[bytes], None] = lambda _: None,
) -> tuple[Result, ...]:
    """Test a bot: start its command for every case, with `{url}`, `{host}`, `{port}`, `{user}`, `{password}`, `{game}`.

    `settings` are those of the table where a scene does not set them, None for the usual ones. A case may take
    `timeout` seconds. `told` hears every result when it is there, and `stderr` what the bot has written behind a
    failure. Results are in the order of the cases; behind `max_failures` failures no more are begun. Raises ValueError
    on a command that makes no sense, and ProgramError when there is no such program.
    """
    results: dict[str, Result] = {}
    waiting = iter([case for case in cases if isinstance(case, HoldemClientCase)])

    async def work() -> None:
        for case in waiting:
            if max_failures is not None and sum(not one.outcome.is_good for one in results.values()) >= max_failures:
                return
            sitting = ClientCaseRun(case, command, settings, strict=strict, seed=seed, timeout=timeout)
            results[case.id] = await sitting.run()
            if not results[case.id].outcome.is_good:
                on_stderr(sitting.stderr)
            on_result(results[case.id])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(MAX_CONCURRENT_PROGRAMS):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return tuple(results[case.id] for case in cases if case.id in results)


class ClientCaseRun:
    """One case with one bot."""

    def __init__(
        self, case: HoldemClientCase, command: str, settings: Any, *, strict: bool, seed: int, timeout: float
    ) -> None:
        self.stderr = b""
        self._case = case
        self._setup: TableSetup = case.setup
        self._command = command
        self._strict = strict
        self._seed = seed
        self._timeout = timeout
        self._user = f"bot-{derive_server_seed(seed, case.id, 0).hex()[:6]}"
        base = settings if settings is not None else Settings()
        known = {name: getattr(base, name) for name in Settings.__dataclass_fields__} | dict(self._setup.settings)
        self._settings = Settings(**known)

    async def run(self) -> Result:
        """Play the case."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        scene = self._setup
        stand = HoldemTestServer(
            self._settings,
            seed=self._seed,
            delivery=scene.delivery,
            faults=scene.faults,
            transform_body=scene.transform_body,
        )
        port = await stand.open()
        try:
            game = await self._set_up_table(stand)
            values = {
                "url": f"http://127.0.0.1:{port}",
                "host": "127.0.0.1",
                "port": port,
                "user": self._user,
                "password": PASSWORD,
                "game": game,
            }
            async with await ProgramUnderTest.start(self._command, values) as program:
                found, reason = await self._watch_bot(stand, program, game)
                stand.is_stopping = True
                await program.stop()
                self.stderr = program.stderr
        finally:
            await stand.close()
        return self._build_result(stand, found, reason, loop.time() - began)

    async def _set_up_table(self, test_server: HoldemTestServer) -> str:
        """Lay the table: the game at which the bot may sit down."""
        scene = self._setup
        desk = test_server.service.service
        game = desk.house.games()[0].guid
        luck = FairDealer(derive_server_seed(self._seed, self._case.id, 0)).luck
        self._opponents = [
            Opponent(test_server, f"{style}-{number}", style, luck) for number, style in enumerate(scene.opponents)
        ]
        if scene.is_registered:
            await test_server.register(self._user, PASSWORD)
        if scene.has_full_game:
            for number in range(FULL_TABLE_SEATS):
                Opponent(test_server, f"crowd-{number}", "calls", luck).sit(game)
            Opponent(test_server, "crowd-10", "calls", luck).open_game()
            game = next(table.guid for table in desk.house.games() if table.has_free_seat)
        if scene.is_seated:
            desk.execute_now(Join(self._user, game))
        if not scene.late_seconds:
            for opponent in self._opponents:
                opponent.sit(game)
        return game

    async def _watch_bot(
        self, test_server: HoldemTestServer, program: ProgramUnderTest, game: str
    ) -> tuple[Deviation | None, str]:
        """Let it play: what it has failed to do, or why nothing could be seen."""
        scene = self._setup
        tasks = [asyncio.create_task(self._run_opponent(test_server, opponent, game)) for opponent in self._opponents]
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    test_server.activity.clear()
                    if self._hands_played(test_server) >= scene.hands:
                        return None, ""
                    if self._has_timed_out(test_server):
                        return _missed("holdem-4.15", "an act within its turn", "none: its time has run out"), ""
                    if self._is_broke(test_server):
                        await asyncio.sleep(BROKE_GRACE_SECONDS)
                        if self._is_broke(test_server):
                            return None, ""
                    if program.status is not None:
                        return self._judge_exit(test_server, program), ""
                    await self._wait_for_activity(test_server, program)
        except TimeoutError:
            return self._judge_timeout(test_server)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait_for_activity(self, test_server: HoldemTestServer, program: ProgramUnderTest) -> None:
        """Wait for something to happen."""
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await test_server.activity.wait()
        await program.wait_ended(0)

    async def _run_opponent(self, test_server: HoldemTestServer, opponent: Opponent, game: str) -> None:
        """Let somebody play, from the beginning or when it is time; he follows the bot to where it sits."""
        playing = None if self._setup.late_seconds else asyncio.create_task(opponent.play(game))
        try:
            while not self._game_of_bot(test_server):
                await asyncio.sleep(0.01)
            await asyncio.sleep(self._setup.late_seconds)
            found = self._game_of_bot(test_server)
            if playing is not None and found == game:
                await playing
            elif found:
                opponent.sit(found)
                await opponent.play(found)
        finally:
            if playing is not None:
                playing.cancel()

    def _game_of_bot(self, test_server: HoldemTestServer) -> str:
        """The game at which the bot sits, "" while it sits nowhere."""
        return next(
            (table.guid for table in test_server.house.games() if table.player_guid(self._user) is not None), ""
        )

    def _hands_played(self, test_server: HoldemTestServer) -> int:
        """How many hands are over that the bot has played."""
        return sum(self._user in played.players for played in test_server.finished_hands)

    def _is_broke(self, test_server: HoldemTestServer) -> bool:
        return self._hands_played(test_server) > 0 and not self._game_of_bot(test_server)

    def _has_timed_out(self, test_server: HoldemTestServer) -> bool:
        """Whether its time has run out: it is in no game any more, has not left, and is not broke."""
        joined = any(
            note.path[-1:] == ["players"] and note.response is not None and note.response.status < 300
            for note in test_server.requests
        )
        left = any(note.request.method == "DELETE" for note in test_server.requests)
        if not joined or left or self._game_of_bot(test_server):
            return False
        hands = [played for played in test_server.finished_hands if self._user in played.players]
        return not hands or bool(hands[-1].hand.stacks[hands[-1].players.index(self._user)])

    def _judge_exit(self, test_server: HoldemTestServer, program: ProgramUnderTest) -> Deviation | None:
        """It has ended by itself, before its time."""
        status = program.status
        assert status is not None, "it runs"
        left = any(note.request.method == "DELETE" for note in test_server.requests)
        if status == 0 and (left or self._is_broke(test_server)):
            return None
        said = program.stderr_excerpt(300)
        if not test_server.requests:
            return _missed("holdem-1.1", "a request", f"none: it has ended ({describe_exit(status)}){said}")
        if status == 0 and self._hands_played(test_server):
            return None
        hands = format_count(self._hands_played(test_server), "hand")
        told = f"it has ended ({describe_exit(status)}) after {hands}{said}"
        return _missed(self._case.clause, format_count(self._setup.hands, "hand"), told)

    def _judge_timeout(self, test_server: HoldemTestServer) -> tuple[Deviation | None, str]:
        """The time of the case is over."""
        if not test_server.requests and not test_server.malformed:
            return _missed("holdem-1.1", "a request", f"none in {self._timeout:g} s"), ""
        if not self._game_of_bot(test_server) and not self._hands_played(test_server):
            if any(note.path[-1:] == ["players"] for note in test_server.requests):
                return _missed("holdem-3.5", "a player who has joined", "none"), ""
            return _missed("holdem-3.5", "POST /games/:gameID/players/", f"none in {self._timeout:g} s"), ""
        table = test_server.house.game(self._game_of_bot(test_server))
        shown = None if table is None else table.view(None)
        if shown is not None and shown.turn.player_id == test_server.house.guid_of(self._user):
            limit = self._settings.turn_seconds
            had = limit - (seconds_left(shown.turn.expiry, datetime.now(UTC)) or 0.0)
            if had > min(limit, self._timeout) / 2:  # else it has only just begun: the hand is slow, and not the bot
                return _missed("holdem-4.15", "an act in its turn", f"none in {had:.1f} s"), ""
        hands = format_count(self._setup.hands, "hand")
        return None, f"only {self._hands_played(test_server)} of {hands} were over after {self._timeout:g} s"

    def _build_result(
        self, test_server: HoldemTestServer, failed: Deviation | None, reason: str, seconds: float
    ) -> Result:
        case = self._case
        found = list(judge_requests(test_server, excused_clauses=self._setup.excused_clauses))
        if failed is not None:
            if case.failure_is_choice and failed.clause != "holdem-1.1":
                failed = Deviation(failed.clause, Outcome.CHOICE, failed.expected, failed.actual)
            found.append(failed)
        if self._setup.needs_queue and not any(
            note.response is not None and note.response.status == 202 for note in test_server.requests
        ):
            reason = reason or "it has not joined a game that is full"
        dialogue = dialogue_lines(test_server)
        worst = worst_deviation(found, preferred=())
        if worst is None and reason:
            return Result(case.id, case.title, case.clause, Outcome.SKIP, reason, seconds=seconds)
        if worst is None:
            return Result(case.id, case.title, case.clause, Outcome.PASS, seconds=seconds)
        outcome = Outcome.FAIL if worst.outcome is Outcome.NON_STRICT and self._strict else worst.outcome
        failure = None
        if outcome is Outcome.FAIL:
            failure = Failure(worst.clause, worst.expected, worst.actual, worst.wanted, worst.got, likely_cause(worst))
        at = next((number for number, line in enumerate(dialogue, 1) if line.data == worst.got), len(dialogue))
        at = min(at + 1, len(dialogue))
        return Result(
            case.id,
            case.title,
            case.clause,
            outcome,
            "" if failure else f"expected {worst.expected}; found {worst.actual}",
            failure,
            tuple(dialogue[max(0, at - MAX_SHOWN_LINES) : at]),
            seconds,
        )


def _missed(clause: str, expected: str, actual: str) -> Deviation:
    return Deviation(clause, default_outcome(clause), expected, actual)
