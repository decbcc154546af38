"""Tests a bot of hold'em: for every case it is started, sits down at a table of ours, and is brought into a scene."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from croupier.conformance.case import Case
from croupier.conformance.holdem.causes import cause
from croupier.conformance.holdem.endpoint import PASSWORD
from croupier.conformance.holdem.judging import judged, lines
from croupier.conformance.holdem.opponents import Opponent
from croupier.conformance.holdem.schema import seconds_left
from croupier.conformance.holdem.setups import ClientCase, Scene, client_cases
from croupier.conformance.holdem.test_server import Stand
from croupier.conformance.holdem.tolerated import Departure, gravest, gravity
from croupier.conformance.holdem.untestable import UNTESTABLE
from croupier.conformance.program import Program, ending
from croupier.conformance.results import Failure, Outcome, Result
from croupier.core.dealer import Fair, derive
from croupier.core.plural import counted
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import Join

__all__ = ["check_client", "client_cases", "untestable"]

AT_ONCE: Final = 3
"""So many bots are tested at the same time."""

SHOWN: Final = 6
"""So many lines of a dialogue are shown."""

AFTER: Final = 0.3
"""So many seconds a bot is watched that has nothing more to do."""

TABLE: Final = 10
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
    told: Callable[[Result], None] = lambda _: None,
    stderr: Callable[[bytes], None] = lambda _: None,
) -> tuple[Result, ...]:
    """Test a bot: start its command for every case, with `{url}`, `{host}`, `{port}`, `{user}`, `{password}`, `{game}`.

    `settings` are those of the table where a scene does not set them, None for the usual ones. A case may take
    `timeout` seconds. `told` hears every result when it is there, and `stderr` what the bot has written behind a
    failure. Results are in the order of the cases; behind `max_failures` failures no more are begun. Raises ValueError
    on a command that makes no sense, and ProgramError when there is no such program.
    """
    results: dict[str, Result] = {}
    waiting = iter([case for case in cases if isinstance(case, ClientCase)])

    async def work() -> None:
        for case in waiting:
            if max_failures is not None and sum(not one.outcome.good for one in results.values()) >= max_failures:
                return
            sitting = Sitting(case, command, settings, strict=strict, seed=seed, timeout=timeout)
            results[case.id] = await sitting.result()
            if not results[case.id].outcome.good:
                stderr(sitting.stderr)
            told(results[case.id])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return tuple(results[case.id] for case in cases if case.id in results)


class Sitting:
    """One case with one bot."""

    def __init__(
        self, case: ClientCase, command: str, settings: Any, *, strict: bool, seed: int, timeout: float
    ) -> None:
        self.stderr = b""
        self._case = case
        self._scene: Scene = case.scene
        self._command = command
        self._strict = strict
        self._seed = seed
        self._timeout = timeout
        self._user = f"bot-{derive(seed, case.id, 0).hex()[:6]}"
        base = settings if settings is not None else Settings()
        known = {name: getattr(base, name) for name in Settings.__dataclass_fields__} | dict(self._scene.settings)
        self._settings = Settings(**known)

    async def result(self) -> Result:
        """Play the case."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        scene = self._scene
        stand = Stand(
            self._settings,
            seed=self._seed,
            manner=scene.manner,
            trouble=scene.trouble,
            dress=scene.dress,
        )
        port = await stand.open()
        try:
            game = await self._laid(stand)
            values = {
                "url": f"http://127.0.0.1:{port}",
                "host": "127.0.0.1",
                "port": port,
                "user": self._user,
                "password": PASSWORD,
                "game": game,
            }
            async with await Program.start(self._command, values) as program:
                found, reason = await self._played(stand, program, game)
                stand.parting = True
                await program.stop()
                self.stderr = program.stderr
        finally:
            await stand.close()
        return self._judged(stand, found, reason, loop.time() - began)

    async def _laid(self, stand: Stand) -> str:
        """Lay the table: the game at which the bot may sit down."""
        scene = self._scene
        desk = stand.service.desk
        game = desk.house.games()[0].guid
        luck = Fair(derive(self._seed, self._case.id, 0)).luck
        self._opponents = [
            Opponent(stand, f"{style}-{number}", style, luck) for number, style in enumerate(scene.opponents)
        ]
        if scene.enrolled:
            await stand.enrol(self._user, PASSWORD)
        if scene.crowded:
            for number in range(TABLE):
                Opponent(stand, f"crowd-{number}", "calls", luck).sit(game)
            Opponent(stand, "crowd-10", "calls", luck).open()
            game = next(table.guid for table in desk.house.games() if table.free)
        if scene.seated:
            desk.ask(Join(self._user, game))
        if not scene.late:
            for opponent in self._opponents:
                opponent.sit(game)
        return game

    async def _played(self, stand: Stand, program: Program, game: str) -> tuple[Departure | None, str]:
        """Let it play: what it has failed to do, or why nothing could be seen."""
        scene = self._scene
        tasks = [asyncio.create_task(self._opponent(stand, opponent, game)) for opponent in self._opponents]
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    stand.news.clear()
                    if self._hands(stand) >= scene.hands:
                        return None, ""
                    if self._was_late(stand):
                        return _failed("holdem-4.15", "an act within its turn", "none: its time has run out"), ""
                    if self._is_broke(stand):
                        await asyncio.sleep(AFTER)
                        if self._is_broke(stand):
                            return None, ""
                    if program.status is not None:
                        return self._ended(stand, program), ""
                    await self._news(stand, program)
        except TimeoutError:
            return self._late(stand)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _news(self, stand: Stand, program: Program) -> None:
        """Wait for something to happen."""
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await stand.news.wait()
        await program.ended(0)

    async def _opponent(self, stand: Stand, opponent: Opponent, game: str) -> None:
        """Let somebody play, from the beginning or when it is time; he follows the bot to where it sits."""
        playing = None if self._scene.late else asyncio.create_task(opponent.play(game))
        try:
            while not self._game(stand):
                await asyncio.sleep(0.01)
            await asyncio.sleep(self._scene.late)
            found = self._game(stand)
            if playing is not None and found == game:
                await playing
            elif found:
                opponent.sit(found)
                await opponent.play(found)
        finally:
            if playing is not None:
                playing.cancel()

    def _game(self, stand: Stand) -> str:
        """The game at which the bot sits, "" while it sits nowhere."""
        return next((table.guid for table in stand.house.games() if table.seat_of(self._user) is not None), "")

    def _hands(self, stand: Stand) -> int:
        """How many hands are over that the bot has played."""
        return sum(self._user in played.players for played in stand.finished)

    def _is_broke(self, stand: Stand) -> bool:
        return self._hands(stand) > 0 and not self._game(stand)

    def _was_late(self, stand: Stand) -> bool:
        """Whether its time has run out: it is in no game any more, has not left, and is not broke."""
        joined = any(
            note.path[-1:] == ["players"] and note.answer is not None and note.answer.status < 300
            for note in stand.notes
        )
        left = any(note.question.method == "DELETE" for note in stand.notes)
        if not joined or left or self._game(stand):
            return False
        hands = [played for played in stand.finished if self._user in played.players]
        return not hands or bool(hands[-1].hand.stacks[hands[-1].players.index(self._user)])

    def _ended(self, stand: Stand, program: Program) -> Departure | None:
        """It has ended by itself, before its time."""
        status = program.status
        assert status is not None, "it runs"
        left = any(note.question.method == "DELETE" for note in stand.notes)
        if status == 0 and (left or self._is_broke(stand)):
            return None
        said = program.complaint(300)
        if not stand.notes:
            return _failed("holdem-1.1", "a request", f"none: it has ended ({ending(status)}){said}")
        if status == 0 and self._hands(stand):
            return None
        told = f"it has ended ({ending(status)}) after {counted(self._hands(stand), 'hand')}{said}"
        return _failed(self._case.clause, counted(self._scene.hands, "hand"), told)

    def _late(self, stand: Stand) -> tuple[Departure | None, str]:
        """The time of the case is over."""
        if not stand.notes and not stand.garbage:
            return _failed("holdem-1.1", "a request", f"none in {self._timeout:g} s"), ""
        if not self._game(stand) and not self._hands(stand):
            if any(note.path[-1:] == ["players"] for note in stand.notes):
                return _failed("holdem-3.5", "a player who has joined", "none"), ""
            return _failed("holdem-3.5", "POST /games/:gameID/players/", f"none in {self._timeout:g} s"), ""
        table = stand.house.game(self._game(stand))
        shown = None if table is None else table.view(None)
        if shown is not None and shown.turn.player_id == stand.house.guid(self._user):
            limit = self._settings.turn_seconds
            had = limit - (seconds_left(shown.turn.expiry, datetime.now(UTC)) or 0.0)
            if had > min(limit, self._timeout) / 2:  # else it has only just begun: the hand is slow, and not the bot
                return _failed("holdem-4.15", "an act in its turn", f"none in {had:.1f} s"), ""
        return (
            None,
            f"only {self._hands(stand)} of {counted(self._scene.hands, 'hand')} were over after {self._timeout:g} s",
        )

    def _judged(self, stand: Stand, failed: Departure | None, reason: str, seconds: float) -> Result:
        case = self._case
        found = list(judged(stand, excused=self._scene.excused))
        if failed is not None:
            if case.open and failed.clause != "holdem-1.1":
                failed = Departure(failed.clause, Outcome.CHOICE, failed.expected, failed.actual)
            found.append(failed)
        if self._scene.queued and not any(
            note.answer is not None and note.answer.status == 202 for note in stand.notes
        ):
            reason = reason or "it has not joined a game that is full"
        dialogue = lines(stand)
        worst = gravest(found, own=())
        if worst is None and reason:
            return Result(case.id, case.title, case.clause, Outcome.SKIP, reason, seconds=seconds)
        if worst is None:
            return Result(case.id, case.title, case.clause, Outcome.PASS, seconds=seconds)
        outcome = Outcome.FAIL if worst.outcome is Outcome.NON_STRICT and self._strict else worst.outcome
        failure = None
        if outcome is Outcome.FAIL:
            failure = Failure(worst.clause, worst.expected, worst.actual, worst.wanted, worst.got, cause(worst))
        at = next((number for number, line in enumerate(dialogue, 1) if line.data == worst.got), len(dialogue))
        at = min(at + 1, len(dialogue))
        return Result(
            case.id,
            case.title,
            case.clause,
            outcome,
            "" if failure else f"expected {worst.expected}; found {worst.actual}",
            failure,
            tuple(dialogue[max(0, at - SHOWN) : at]),
            seconds,
        )


def _failed(clause: str, expected: str, actual: str) -> Departure:
    return Departure(clause, gravity(clause), expected, actual)
