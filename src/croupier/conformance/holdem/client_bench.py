"""The bench of hold'em bots: starts the bot once per case at a test server and judges what it does."""

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import replace
from typing import Final

from msgspec import structs

from croupier.conformance.deviations import make_attempt
from croupier.conformance.holdem.bot_experiments import explain_crash, explain_variation
from croupier.conformance.holdem.context import QUEUED
from croupier.conformance.holdem.deviations import HttpDeviation, deviation, worst_deviation
from croupier.conformance.holdem.endpoint import PASSWORD
from croupier.conformance.holdem.opponents import Opponent
from croupier.conformance.holdem.request_checks import dialogue_lines, judge_repetition, judge_requests, lines_until
from croupier.conformance.holdem.schema import seconds_left
from croupier.conformance.holdem.setups import HoldemClientCase
from croupier.conformance.holdem.test_server import HoldemTestServer
from croupier.conformance.listening import HOST
from croupier.conformance.program import ProgramUnderTest, error_suffix
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt, Bench, Config
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import FoundKind
from croupier.core.plural import format_count
from croupier.core.referee import CLIENT
from croupier.net.event_loop import cancel_all
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import Join

BROKE_GRACE_SECONDS: Final = 0.3
"""How long a bot is watched after it has gone broke."""

FAULT_GRACE_SECONDS: Final = 0.5
MAX_EARLY_LOOKS: Final = 8
"""How long a bot is watched after a fault, and how many requests are looked at for one before the case is over."""

MAX_SEATLESS_CASES: Final = 3
SEATLESS_TIMEOUT_FACTOR: Final = 0.2
"""A bot that has had no seat in the first cases has this part of the time in the others."""

FULL_TABLE_SEATS: Final = 10


class HoldemClientBench(Bench):
    """Starts the bot once per case.

    The placeholders `{url}`, `{host}`, `{port}`, `{user}`, `{password}` and `{game}` of the command are filled in.
    """

    program_side = CLIENT
    lanes = 3

    def __init__(self, config: Config) -> None:
        self._config = config
        self._has_had_seat = False
        self._seatless_cases = 0

    async def attempt(self, case: HoldemClientCase, number: int, *, is_patient: bool = False) -> Attempt:  # noqa: ARG002 -- it is always patient
        """See `Bench.attempt`."""
        is_hopeless = not self._has_had_seat and self._seatless_cases >= MAX_SEATLESS_CASES
        seconds = self._config.timeout * (SEATLESS_TIMEOUT_FACTOR if is_hopeless else 1.0)
        run = ClientCaseRun(case, replace(self._config, timeout=seconds))
        attempt = await run.run()
        self._has_had_seat |= run.has_had_seat
        self._seatless_cases += not run.has_had_seat
        return attempt

    async def explain(self, case: HoldemClientCase, attempt: Attempt) -> Attempt:
        """See `Bench.explain`."""

        def run(trial: HoldemClientCase) -> Awaitable[Attempt]:
            return ClientCaseRun(trial, self._config).run()

        return await explain_variation(case, await explain_crash(case, attempt, run), run)


class ClientCaseRun:
    """One run of one case with one bot."""

    def __init__(self, case: HoldemClientCase, config: Config) -> None:
        self._case = case
        self._setup = case.setup
        self._config = config
        self._timeout = config.timeout
        self._seed = derive_server_seed(config.seed, case.id, 0)
        self._user = f"bot-{self._seed.hex()[:6]}"
        self._settings: Settings = replace(config.known_options or Settings(), **case.setup.settings)
        self._server = HoldemTestServer(self._settings, case.setup, seed=config.seed)
        self._server.users.add(self._user)
        self._refusals_seen = 0
        self._crowd: list[Opponent] = []  # the players of the full game, if there is one

    async def run(self) -> Attempt:
        """Run the case."""
        try:
            port = await self._server.open()
            game = await self._set_up_table()
            values = {
                "url": f"http://{HOST}:{port}",
                "host": HOST,
                "port": port,
                "user": self._user,
                "password": PASSWORD,
                "game": game,
            }
            async with await ProgramUnderTest.start(self._config.command, values) as program:
                found, reason = await self._watch_bot(program, game)
                self._server.is_stopping = True
        finally:
            await self._server.close()
        return self._judge(found, reason)._replace(stderr=program.stderr)

    async def _set_up_table(self) -> str:
        """Create the opponents and the game, and return the GUID of the game that the bot may join."""
        setup = self._setup
        service = self._server.service.house_service
        game = service.house.games()[0].guid
        luck = FairDealer(self._seed).luck
        self._opponents = [
            Opponent(self._server, f"{style}-{number}{setup.name_end}", style, luck, setup.chips.get(style))
            for number, style in enumerate(setup.opponents)
        ]
        if setup.is_registered:
            await self._server.register(self._user, PASSWORD)
        if setup.has_full_game:
            crowd = [Opponent(self._server, f"crowd-{number}", "calls", luck) for number in range(FULL_TABLE_SEATS + 1)]
            self._crowd = crowd[:-1]
            for opponent in self._crowd:
                opponent.sit(game)
            crowd[0].fold(game)  # the first hand is of two: only the next one shows a full table
            crowd[-1].open_game()
            game = next(table.guid for table in service.house.games() if table.has_free_seat)
        if setup.is_seated:
            service.submit(Join(self._user, game))
        if not setup.late_seconds:
            for opponent in self._opponents:
                opponent.sit(game)
        return game

    async def _watch_bot(self, program: ProgramUnderTest, game: str) -> tuple[HttpDeviation | None, str]:
        """Watch the bot play; return a deviation or None, and the reason if nothing could be judged."""
        setup = self._setup
        ended = asyncio.create_task(program.wait_ended(self._timeout))
        ended.add_done_callback(lambda _: self._server.notify())
        opponents = (self._run_opponent(opponent, game) for opponent in self._opponents)
        tasks = [ended, *map(asyncio.create_task, opponents)]
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    if self._hands_played() >= setup.hands:
                        return None, ""
                    if self._has_timed_out():
                        return deviation("holdem-4.15", "an act within its turn", "none: its time has run out"), ""
                    if self._is_broke():
                        await asyncio.sleep(BROKE_GRACE_SECONDS)
                        if self._is_broke():
                            return None, ""
                    if self._may_have_failed():
                        await asyncio.sleep(FAULT_GRACE_SECONDS)
                        if program.status is None and self._has_failed():
                            return None, ""
                    if program.status is not None:
                        return self._judge_exit(program), ""
                    await self._server.activity.wait()
        except TimeoutError:
            return self._judge_timeout()
        finally:
            await cancel_all(*tasks)

    async def _run_opponent(self, opponent: Opponent, game: str) -> None:
        """Run an opponent from the start or after the delay; it follows the bot to the bot's game.

        If that one is full, all others leave it: the bot may wait there for a seat.
        """
        task = None if self._setup.late_seconds else asyncio.create_task(opponent.play(game))
        try:
            while not self._game_of_bot():
                await self._server.activity.wait()
            await asyncio.sleep(self._setup.late_seconds)
            found = self._game_of_bot()
            if task is not None and found == game:
                await task
            elif found:
                for other in self._crowd:
                    other.leave(found)
                opponent.sit(found)
                await opponent.play(found)
        finally:
            if task is not None:
                task.cancel()

    def _game_of_bot(self) -> str:
        """Return the GUID of the bot's game, "" while it has no seat."""
        games, users = self._server.house.games(), self._server.users
        return next((table.guid for table in games if any(table.player_guid(user) for user in users)), "")

    @property
    def has_had_seat(self) -> bool:
        """Whether the bot has joined a game, unless the case has seated it."""
        return any(note.path[-1:] == ["players"] and note.is_success for note in self._server.requests)

    def _hands_played(self) -> int:
        """Return how many finished hands the bot has played."""
        return sum(not self._server.users.isdisjoint(played.players) for played in self._server.finished_hands)

    def _is_broke(self) -> bool:
        return self._hands_played() > 0 and not self._game_of_bot()

    def _may_have_failed(self) -> bool:
        """Whether one more request was refused, and the bot is at fault as far as that shows now."""
        known, self._refusals_seen = self._refusals_seen, self._server.refusal_count
        return known < min(self._refusals_seen, MAX_EARLY_LOOKS) and self._has_failed()

    def _has_failed(self) -> bool:
        """Whether a request of the bot is a fault."""
        return any(found.outcome is Outcome.FAIL for found in self._judge_requests())

    def _judge_requests(self) -> Iterable[HttpDeviation]:
        return judge_requests(self._server, excused_clauses=self._setup.excused_clauses)

    def _has_timed_out(self) -> bool:
        """Whether the bot lost its seat to the turn timer: it joined, has no seat, did not leave and is not broke."""
        left = any(note.request.method == "DELETE" for note in self._server.requests)
        if not self.has_had_seat or left or self._game_of_bot():
            return False
        stacks = [
            stack
            for played in self._server.finished_hands
            for player, stack in zip(played.players, played.hand.stacks, strict=True)
            if player in self._server.users
        ]
        return not stacks or stacks[-1] > 0

    def _judge_exit(self, program: ProgramUnderTest) -> HttpDeviation | None:
        """Judge a bot that exited before the case was over."""
        status = program.status
        assert status is not None, "the program is still running"
        left = any(note.request.method == "DELETE" for note in self._server.requests)
        if status == 0 and (left or self._is_broke()):
            return None
        end = f"{program.end_description}{error_suffix(program.stderr)}"
        if not self._server.requests:
            return deviation("holdem-1.1", "a request", f"none: it has ended ({end})")
        if status == 0 and self._hands_played():
            return None
        hands = format_count(self._hands_played(), "hand")
        exit_text = f"it has ended ({end}) after {hands}"
        hands_due = format_count(self._setup.hands, "hand")
        return deviation(self._case.clause, hands_due, exit_text, kind=FoundKind.CLOSED)

    def _judge_timeout(self) -> tuple[HttpDeviation | None, str]:
        """Judge a bot that has used up the timeout of the case."""
        if not self._server.requests and not self._server.malformed:
            return deviation("holdem-1.1", "a request", f"none in {self._timeout:g} s"), ""
        if (repeated := judge_repetition(self._server)) is not None:
            return repeated, ""
        if not self._game_of_bot() and not self._hands_played():
            if any(note.path[-1:] == ["players"] for note in self._server.requests):
                return deviation("holdem-3.5", "a player who has joined", "none"), ""
            return deviation("holdem-3.5", "POST /games/:gameID/players/", f"none in {self._timeout:g} s"), ""
        table = self._server.house.game(self._game_of_bot())
        view = None if table is None else table.view(None)
        if view is not None and view.turn.player_id in map(self._server.house.guid_of, self._server.users):
            limit = self._settings.turn_seconds
            used_seconds = limit - (seconds_left(view.turn.expiry, self._server.now) or 0.0)
            if used_seconds > min(limit, self._timeout) / 2:  # a turn that has only just begun is not the bot's fault
                return deviation("holdem-4.15", "an act in its turn", f"none in {used_seconds:.1f} s"), ""
        hands = format_count(self._setup.hands, "hand")
        return None, f"only {self._hands_played()} of {hands} were over after {self._timeout:g} s"

    def _judge(self, failed: HttpDeviation | None, reason: str) -> Attempt:
        case = self._case
        found = list(self._judge_requests())
        if failed is not None:
            if case.failure_is_choice and failed.clause != "holdem-1.1":
                failed = structs.replace(failed, outcome=Outcome.CHOICE)
            found.append(failed)
        if self._setup.needs_queue and not any(note.status == QUEUED for note in self._server.requests):
            reason = reason or "it has not joined a full game"
        dialogue = dialogue_lines(self._server)
        worst = worst_deviation(found, preferred=())
        if worst is None:
            return Attempt(Outcome.SKIP if reason else Outcome.PASS, reason, dialogue=dialogue)
        return make_attempt(worst, lines_until(dialogue, worst.got), strict=self._config.strict)
