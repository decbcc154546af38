"""The bench of house clients: starts the client against a test server and judges what it does."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from msgspec import structs

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.clients.cases import CaseKind, HouseClientCase, client_cases
from croupier.conformance.clients.connections import ClientConnections
from croupier.conformance.clients.evidence import (
    EarlyReaction,
    Evidence,
    Position,
    early_reaction,
    last_position,
)
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.setup import ClientTimeouts
from croupier.conformance.clients.test_data import ClientTestData
from croupier.conformance.clients.test_server import ConversationEnd, Decision, HouseTestServer
from croupier.conformance.clients.verdicts import judge
from croupier.conformance.conditions import finished
from croupier.conformance.conversation import MESSAGE_SECTION, STREAM_SECTION, Conversation
from croupier.conformance.diagnosis.cause import ONE_READ_CAUSE, WAITS_FOR_LINE_END, Cause, one_read_cause
from croupier.conformance.diagnosis.dialect import DialectCodec
from croupier.conformance.diagnosis.pairs import PairedExperiments
from croupier.conformance.listening import HOST, open_port
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.responders import LiveResponder, TranscriptResponder
from croupier.conformance.results import Outcome
from croupier.conformance.suite import START_TIMEOUT_FACTOR, Absences, Attempt, Bench, Config, Suite
from croupier.conformance.timeouts import AnswerTimeout, wait_first
from croupier.core.dealer import derive_server_seed
from croupier.core.errors import FoundKind
from croupier.core.logger import SilentLogger
from croupier.core.referee import CLIENT
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.event_loop import cancel_all, wait_set

ANSWER_TIMEOUT_SECONDS: Final = 5.0
"""How long a client may take to send what it owes, by default."""

MAX_CONCURRENT_CASES: Final = 3

MAX_BASELINE_TRIES: Final = 8
"""How often a baseline is tried: a client that waits somewhere may get past that place."""

MAX_LONG_BASELINE_TRIES: Final = 16
"""The same for a baseline with more games: what ends the client early may come up in it by chance."""

MAX_DECISION_TRIES: Final = 4
"""How often a client is led to a decision or a state that depends on its luck."""

MIN_TIMEOUT_FACTOR: Final = 0.2
"""The shortest timeout of a client that was silent before, as a fraction of the answer timeout."""

UNHANDLED_KINDS: Final = frozenset({FoundKind.SILENCE, FoundKind.CLOSED})
"""How a client fails that does not handle what it has received."""

SLOW_MOTION: Final = {
    "delivery": Delivery(max_piece_bytes=1, delay_seconds=0.03),
    "message_gap_seconds": 0.3,
    "min_games": 2,
}
"""So slow that a client reacts to a byte before the next one arrives, and gives up before the next message comes."""

MAX_COLLECTIONS: Final = 2
"""For this many failures there are experiments; for more of them, the evidence is enough."""

COLLECTED_TRIES: Final = 2
FIRST_COLLECTED_TRY: Final = 100
MAX_RELATED_CASES: Final = 4
"""How often these cases are tried, the number of their first try, and how many there are."""

BREAK_CONFIRMATIONS: Final = 4
"""How often a client has to leave again where nothing but the special feature of the case makes it leave."""

CONFIRMATION_GAPS: Final = (0.06, 0.4)
"""The pause between two messages in these cases, in seconds, and a longer one if it fails with that, too.

A client that is slow, or waits for its turn on a busy machine, may read two messages at once in spite of a pause.
"""

ENDLESS_SECONDS: Final = 1e9

IDLE_TIMEOUT_SECONDS: Final = 1.0
"""How long to wait for a client that need not send anything, because no game is in progress."""

CLOSE_TIMEOUT_SECONDS: Final = 1.0
"""How long a client may take to close after a goodbye, and a program to end after it has closed."""

HURRIED_CLOSE_SECONDS: Final = 0.25
"""The same in cases that do not test the goodbye."""

MAX_CONNECTIONS: Final = 100
"""As many connections of a program may be open, and as many refused ones: more than it has games."""

STOP_TIMEOUT_SECONDS: Final = 0.5
"""How long a program may take to end after SIGTERM."""

EOF_TIMEOUT_SECONDS: Final = 0.5
"""How long to wait for the end of the connection of an ended program: another process may hold it open."""


class HouseClientBench(Bench):
    """Starts the client for every case, and remembers how it has behaved so far."""

    program_side = CLIENT

    def __init__(self, test_data: ClientTestData, config: Config) -> None:
        self._test_data = test_data
        self.dialect = config.known_dialect()
        self._config = config
        self._baselines: dict[str, asyncio.Future[ClientObservation]] = {}
        self._observations: dict[str, ClientObservation] = {}
        self._stream_experiments = PairedExperiments()
        self._line_experiments = PairedExperiments()
        self._failures_apart: dict[str, float] = {}  # the longest gap with which a failure has come up, by its clause
        self._absences = Absences()
        self._timeout = AnswerTimeout(config.timeout, MIN_TIMEOUT_FACTOR * config.timeout)
        self._evidence = Evidence()
        self._experiments = asyncio.Lock()
        self._collections = self._early_looks = 0
        self._leaves_by_chance = self._has_status = False
        self._has_reacted = False
        self._takes_any_byte: bool | None = None
        self._repeated_baselines: set[str] = set()
        plays = (each for each in client_cases(test_data) if each.kind is CaseKind.PLAY)
        self._plays = [each for each in plays if each.state in test_data.states]
        self._longest = max(self._plays, key=lambda each: each.state.max_games)

    @property
    def lanes(self) -> int:
        """The first case runs alone: it finds out how soon the client sends anything."""
        return MAX_CONCURRENT_CASES if self._timeout.has_answered else 1

    async def close(self) -> None:
        """Cancel the running baselines."""
        await cancel_all(*self._baselines.values())

    async def attempt(self, case: HouseClientCase, number: int, *, is_patient: bool = False) -> Attempt:
        """See `Bench.attempt`."""
        if (skip := self._absences.skip) is not None:
            return skip
        absences = self._absences.count
        observation, attempt = await self._try(case, number, is_patient=is_patient)
        is_present = observation.server.has_spoken or attempt.outcome is not Outcome.SKIP
        self._absences.record("" if is_present else attempt.note, absences)
        self._observations[case.id] = observation
        return attempt

    async def _try(
        self, case: HouseClientCase, number: int, *, is_patient: bool = False
    ) -> tuple[ClientObservation, Attempt]:
        """Try a case, and judge it. What comes of it is added to the evidence."""
        observation = await self._run(case, number, is_patient=is_patient)
        self._has_reacted |= observation.has_reacted
        self._remember(observation, is_patient=is_patient)
        if observation.answers_before_fault:
            delays = {**case.setup.delayed_messages, **observation.answers_before_fault}
            again = await self._run(_with_setup(case, delayed_messages=delays), number)
            if again.server.has_sent_ahead:
                observation = again
        baseline = await self._baseline_of(observation)
        attempt = judge(observation, baseline)._replace(stderr=observation.stderr)
        if case.kind not in {CaseKind.FAULT, CaseKind.TOLERANCE}:
            is_unhandled = attempt.failure is not None and attempt.failure.kind in UNHANDLED_KINDS
            has_failed = is_unhandled and not observation.partial_message
            self._evidence.add(observation, has_failed=has_failed)
        return observation, attempt

    async def explain(self, case: HouseClientCase, attempt: Attempt) -> Attempt:
        """Find out which message of the house the client does not wait for, does not read, or does not handle."""
        if attempt.failure is not None and attempt.is_silence and await self._waits_for_line_end(case):
            return attempt.blamed(self._test_data.clause(MESSAGE_SECTION), WAITS_FOR_LINE_END)
        failure, observation = attempt.failure, self._observations[case.id]
        position = None if observation.partial_message else last_position(observation)
        if failure is not None and failure.cause is None and observation.may_have_acted_early:
            return attempt._replace(failure=failure.explained(await self._early_cause(case)))
        if failure is None or failure.cause is not None or failure.kind not in UNHANDLED_KINDS or position is None:
            return attempt
        if case.kind is CaseKind.VARIATION and failure.clause == case.clause:
            return attempt._replace(failure=failure.explained(self._evidence.cause_without_variation(position)))
        reaction: EarlyReaction | None = None
        async with self._experiments:
            if self._collections < MAX_COLLECTIONS:
                self._collections += 1
                reaction = early_reaction(await self._run(_with_setup(case, **SLOW_MOTION), 0))
                if reaction is None or not reaction.has_gone_on:
                    await self._collect_evidence(case, position)
        has_handled = reaction is not None and self._evidence.has_handled(reaction.code)
        if reaction is not None and has_handled:
            self._evidence.add_reaction(position, reaction)
        elif reaction is None and (unread := self._evidence.unread_before(observation)) is not None:
            return attempt._replace(failure=failure.explained(unread))
        if reaction is not None and reaction.has_gone_on and has_handled and observation.may_have_misread:
            return attempt.blamed(self._test_data.clause(STREAM_SECTION), one_read_cause(reaction.code))
        if reaction is not None and (reaction.has_gone_on or not has_handled):
            return attempt._replace(failure=failure.explained(reaction.cause))
        return attempt._replace(failure=failure.explained(self._evidence.cause(position)))

    async def _early_cause(self, case: HouseClientCase) -> Cause | None:
        """The cause of a wrong message if the client sends it before the last message of the house has come."""
        async with self._experiments:
            if self._early_looks >= MAX_COLLECTIONS:
                return None
            self._early_looks += 1
            reaction = early_reaction(await self._run(_with_setup(case, **SLOW_MOTION), 0))
            return reaction.cause if reaction is not None and reaction.has_gone_on else None

    async def _waits_for_line_end(self, case: HouseClientCase) -> bool:
        """Whether a client that has reacted to no message of the house does so if each ends with a line end.

        One that goes on as soon as any other byte follows waits for more bytes, and not for that one.
        """
        line_ended, longer = _with_ending(case, b"\n"), _with_ending(case, b"\0")

        async def passes(number: int) -> bool:
            return (await self._run(line_ended, number)).has_reacted

        async def fails(number: int) -> bool:
            return not (await self._run(case, number, is_brief=True)).has_reacted

        if self._observations[case.id].has_reacted:
            return False
        if self._takes_any_byte is None:
            self._takes_any_byte = (await self._run(longer, 0, is_brief=True)).has_reacted
        return not self._takes_any_byte and await self._line_experiments.show_cause(passes, fails, is_common=True)

    async def _collect_evidence(self, case: HouseClientCase, position: Position) -> None:
        """Try the case and those of the states that may explain its failure some more times."""
        states = {feature.state for feature in self._evidence.candidates(position)}
        related = [each for each in self._plays if each.state.slug in states and each.id != case.id]
        for number in range(COLLECTED_TRIES):
            for each in (case, *related[:MAX_RELATED_CASES], self._longest):
                await self._try(each, FIRST_COLLECTED_TRY + number)

    async def confirm(self, case: HouseClientCase, attempt: Attempt, number: int) -> Attempt:
        """Find out whether the messages of the house pass one by one; then the failure is about the stream.

        A client that has left a game, or failed between two games, has to do so again, with other cards. One
        that also leaves games in which nothing is unusual may always have left by chance.
        """
        failed = self._observations[case.id]
        if attempt.failure is None or attempt.failure.cause is not None:
            return attempt
        if failed.may_have_misread and await self._misreads_in(case, attempt, failed.failed_decision, number):
            return attempt.blamed(self._test_data.clause(STREAM_SECTION), ONE_READ_CAUSE)
        passed: Attempt | None = None
        for more in range(BREAK_CONFIRMATIONS if failed.has_left_early else 0):
            again = await self._attempt_until(lambda tried: tried.server.has_reached_state, case, number + more)
            observation = self._observations[case.id]
            if again is not None and not (observation.has_left_early or observation.is_idle):
                passed = again  # an idle client may be about to fail
        self._observations[case.id] = failed
        position = last_position(failed)
        if passed is not None and not (position and self._evidence.is_fatal(position)):
            return passed
        has_reason = failed.has_given_up and await self._may_leave_by_chance(case.baseline)
        return judge(failed, None) if has_reason else attempt

    async def _may_leave_by_chance(self, baseline: HouseClientCase | None) -> bool:
        """Whether the client also leaves games in which nothing is unusual; the baseline is repeated to find out."""
        if baseline is not None and baseline.id not in self._repeated_baselines:
            for number in range(MAX_BASELINE_TRIES):
                if not self._leaves_by_chance:
                    await self._run(baseline, FIRST_COLLECTED_TRY + number)
            self._repeated_baselines.add(baseline.id)
        return self._leaves_by_chance

    async def _misreads_in(self, case: HouseClientCase, attempt: Attempt, decision: Decision, number: int) -> bool:
        """Whether the client passes a case with messages one by one, and fails as before without.

        No failure is about the stream that has come up with messages one by one before.
        """
        assert attempt.failure is not None, "only failures are examined"
        clause = attempt.failure.clause
        for gap in CONFIRMATION_GAPS:
            if self._failures_apart.get(clause, 0.0) >= gap:
                continue
            if await self._passes_apart(case, attempt, decision, number, gap):
                return True
            if self._failures_apart.get(clause) != gap:
                break
        return False

    async def _passes_apart(
        self, case: HouseClientCase, attempt: Attempt, decision: Decision, number: int, gap_seconds: float
    ) -> bool:
        """Whether the client always passes a case with a gap between messages, and fails as before without.

        It has to go on after what it has failed at: there is one more game.
        """
        assert attempt.failure is not None, "only failures are examined"
        clause = attempt.failure.clause
        games = case.setup.min_games + 1
        apart = _with_setup(case, delivery=WHOLE, message_gap_seconds=gap_seconds, min_games=games)

        async def passes(_: int) -> bool:
            found = await self._attempt_until(lambda tried: tried.has_met(decision), apart, number)
            if found is not None and found.shows(attempt):
                self._failures_apart[clause] = gap_seconds
            return found is not None and found.failure is None and not self._observations[case.id].has_crashed

        async def fails(_: int) -> bool:
            found = await self._attempt_until(lambda tried: tried.has_met(decision), case, number)
            return found is not None and found.shows(attempt)

        return await self._stream_experiments.show_cause(passes, fails)

    async def _attempt_until(
        self, holds: Callable[[ClientObservation], bool], case: HouseClientCase, number: int
    ) -> Attempt | None:
        """Try a case until a condition on the observation holds; return None if it does not."""
        for _ in range(MAX_DECISION_TRIES):
            attempt = await self.attempt(case, number)
            if attempt.outcome is not Outcome.SKIP and holds(self._observations[case.id]):
                return attempt
        return None

    def _remember(self, observation: ClientObservation, *, is_patient: bool) -> None:
        server = observation.server
        was_mute = server.has_connected and not server.has_spoken and not observation.case.may_be_silent
        if observation.is_stuck or was_mute or (is_patient and observation.is_idle):
            self._timeout.record_silence()

    async def _baseline_of(self, observation: ClientObservation) -> ClientObservation | None:
        """Run the baseline on which the verdict depends, once for all cases that need it; None if there is none."""
        baseline, games = observation.case.baseline, 1
        if baseline is None or not (observation.has_broken_off or observation.needs_baseline):
            return None
        if observation.has_broken_off or (observation.is_idle and observation.server.referee.finished_count):
            games += observation.server.referee.finished_count
            longer = _with_setup(baseline, is_reached=finished(games - 1), min_games=games, max_games=games)
            baseline = replace(longer, slug=f"{baseline.slug}-{games}")
        found = await self._baseline(baseline, games)
        other = observation.case.other_baseline
        return found if found.has_played_on or other is None else await self._baseline(other, games)

    async def _baseline(self, case: HouseClientCase, games: int) -> ClientObservation:
        """Run a baseline, unless another case has needed it before."""
        found = self._baselines.get(case.id)
        if found is None:
            found = self._baselines[case.id] = asyncio.ensure_future(self._run_baseline(case, games))
        return await asyncio.shield(found)  # the cases that wait for it may be cancelled, each by itself

    async def _run_baseline(self, case: HouseClientCase, games: int) -> ClientObservation:
        """Run a baseline until the client has played on for this many games, and past the state if it gets there.

        A client that has never reacted to anything is tried once.
        """
        found = await self._run(case, 0, is_brief=not self._has_reacted)
        for number in range(1, MAX_BASELINE_TRIES if games == 1 else MAX_LONG_BASELINE_TRIES):
            if not (self._has_reacted or found.has_reacted) or (_has_gone_on(found, games) and found.has_passed_state):
                break
            observation = await self._run(case, number, is_brief=True)
            if _has_gone_on(observation, games) or not _has_gone_on(found, games):
                found = observation
        return found

    async def _run(
        self, case: HouseClientCase, number: int, *, is_patient: bool = False, is_brief: bool = False
    ) -> ClientObservation:
        """Run the program against a test server, once.

        `is_patient`: wait for the whole timeout, even for a client that need not send; `is_brief`: only for as long as
        the client has needed before.
        """
        timeout = self._timeout
        seconds = timeout.reduced() if is_brief else timeout.for_try(is_patient=is_patient)
        times = ClientTimeouts(
            seconds,
            seconds if is_patient else min(IDLE_TIMEOUT_SECONDS, seconds),
            min(CLOSE_TIMEOUT_SECONDS if case.kind is CaseKind.GOODBYE else HURRIED_CLOSE_SECONDS, seconds),
        )
        connections = ClientConnections(
            lambda connection: self._new_server(case, number, connection, times),
            reconnect_seconds=times.idle_seconds,
            max_connections=case.setup.max_games,
        )
        endpoint = Endpoint(
            connections,
            lambda: DialectCodec(self._config.dialect),
            SilentLogger(),
            limits=EndpointLimits(
                max_connections_per_address=MAX_CONNECTIONS,
                max_lingering_connections=MAX_CONNECTIONS,
                close_timeout=times.close_seconds,
            ),
        )
        async with (
            open_port(endpoint) as port,
            await ProgramUnderTest.start(self._config.command, {"host": HOST, "port": port}) as program,
        ):
            await _watch(connections, program, START_TIMEOUT_FACTOR * self._config.timeout)
            endpoint.stop_accepting()
            server = connections.server
            if server.has_spoken:
                timeout.record_answer(server.slowest_seconds)
            has_left = server.conversation_end is ConversationEnd.CLIENT or server.close_delay_seconds is not None
            status = await program.wait_ended(CLOSE_TIMEOUT_SECONDS if has_left else 0.0)
            end = program.end_description
            await program.stop(STOP_TIMEOUT_SECONDS)
            self._has_status |= status == 0
            observation = ClientObservation(
                self._test_data,
                case,
                server,
                status,
                end,
                seconds,
                program.stderr,
                self._config.strict,
                self._has_status,
            )
            self._leaves_by_chance |= observation.has_left_unprovoked
            return observation

    def _new_server(
        self, case: HouseClientCase, number: int, connection: int, times: ClientTimeouts
    ) -> HouseTestServer:
        """The test server for a connection."""
        room, config = self._test_data.room, self._config
        settings = replace(config.known_options or room.settings(), **case.state.settings)
        conversation = Conversation(
            room, settings, strict_referee=config.strict, house_may_wait=False, answer_timeout=ENDLESS_SECONDS
        )
        seed = derive_server_seed(config.seed, case.id, number + connection)
        decks = _rotated(case.state.decks, number + connection)
        live = LiveResponder(room, settings, case.mutation, decks=decks, seed=seed)
        return HouseTestServer(
            live if case.transcript_steps is None else TranscriptResponder(case.transcript_steps, live),
            case.setup,
            conversation,
            obligation=self._test_data.obligation,
            timeouts=times,
            is_unforeseeable=self._test_data.is_unforeseeable,
            is_limit_of_house=self._test_data.is_limit_of_house,
            strict=config.strict,
        )


def _has_gone_on(observation: ClientObservation, games: int) -> bool:
    """Whether the client has played on for this many games."""
    return observation.has_played_on and observation.server.referee.finished_count >= games


def _with_ending(case: HouseClientCase, ending: bytes) -> HouseClientCase:
    """The case with bytes after each message of the house."""
    return replace(case, mutation=lambda answers: [answer + ending for answer in case.mutation(answers)])


def _rotated(decks: str, first: int) -> str:
    """The decks, beginning with another one in each try and on each connection: the client may need that one first."""
    found = decks.split(" / ")
    at = first % len(found)
    return " / ".join(found[at:] + found[:at])


def _with_setup(case: HouseClientCase, **changes: Any) -> HouseClientCase:
    """The case with changes of its setup."""
    return replace(case, setup=structs.replace(case.setup, **changes))


async def _watch(connections: ClientConnections, program: ProgramUnderTest, seconds: float) -> None:
    """Wait until there is nothing more to observe; a program that does not connect gets at most `seconds`.

    It may connect while it is stopped, which comes too late.
    """
    done = await wait_first(program.wait_ended(ENDLESS_SECONDS), connections.finished.wait(), seconds=seconds)
    if not done and connections.server.has_connected:
        await wait_first(program.wait_ended(ENDLESS_SECONDS), connections.finished.wait())
    if not connections.server.has_connected:
        connections.finished.set()
    elif not connections.finished.is_set():
        await wait_set(connections.closed, EOF_TIMEOUT_SECONDS)


def house_client_suite(test_data: ClientTestData) -> Suite:
    """Return the suite for the clients of a room."""
    return Suite(
        ANSWER_TIMEOUT_SECONDS,
        lambda: client_cases(test_data),
        test_data.untestable,
        lambda config: HouseClientBench(test_data, config),
        test_data,
    )
