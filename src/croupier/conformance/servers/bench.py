"""The bench of house servers: tries cases on scripted clients and judges what the server answers."""

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import dropwhile, pairwise
from random import Random
from typing import Final

from croupier.conformance.channel.delivery import WHOLE
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.diagnosis.cause import MUTE_CAUSE, Cause
from croupier.conformance.parallel import MAX_SLOWDOWN
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.servers.closes import ProvokedClose, ProvokedCloseDetector, find_unasked_close
from croupier.conformance.servers.components import server_case
from croupier.conformance.servers.conversation_judge import STRICT_NOTE, ConversationJudge
from croupier.conformance.servers.conversing import Conversations, HouseUnderTest
from croupier.conformance.servers.experiments import ENDS_AFTER_GAMES, ENDS_AT_REFUSALS, Experiments
from croupier.conformance.servers.scenarios import hang_up_after, play_at_random, play_together, send_each
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.test_data import HouseServerCase, Scenario, ServerTestData
from croupier.conformance.servers.verdicts import (
    client_messages,
    is_fatal,
)
from croupier.conformance.suite import Attempt, Bench, Config, TargetGone
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address

PROCESSOR_SECONDS: Final = 0.00125
"""How long an answer keeps the tester and the server busy: while one answer is awaited, others can be worked on."""

MIN_CLIENTS: Final = 2
MAX_CLIENTS: Final = 32
FEWER: Final = 3
"""How many clients play at once to find out whether a server can serve them, and by what they are divided if not."""

CLOSING_PART: Final = 4
"""One in four of them may be a client that has left, whose connection the server has not closed yet."""

MAX_SEARCHING_CLIENTS: Final = 8
"""This many clients play at once what few games show."""

MAX_EXPERIMENT_SECONDS: Final = 4.0
MAX_TOTAL_EXPERIMENT_SECONDS: Final = 12.0
"""How long the experiments of a case may take, and all of them."""

ROOM_PAUSES: Final = (0.5, 1.0, 2.0)
"""A house that has no room for a client may have some after one of these pauses, in seconds."""

NO_MORE_CLIENTS: Final = Cause("it serves no client after its first ones")
ONE_GAME_FOR_ALL: Final = Cause("it has one game for all clients: a new client may act in that of an earlier one")

RUNS_OUT_OF_CARDS: Final = Cause("it deals its cards to the last one and then no more: it takes no fresh deck")

LEAVING_SECONDS: Final = 1.0
"""How long a server that has ended before may take to end when a client leaves."""

LEAVING_TRIES: Final = 2
"""A server that ends this often when a client leaves always does."""

MAX_SLOW_TRIES: Final = 30
MAX_SLOW_SECONDS: Final = 10.0
MAX_SLOW_CASES: Final = 3
"""How often, and for how long, a case is played slowly to find the message that a wrong answer belongs to.

The cards may prevent it, and a case may take hundreds of games. If this many cases fail on one clause when they are
played slowly, the others that fail on it are believed.
"""

MAX_ROUNDS_ALONE: Final = 4
"""How many times as many clients as have played at once play alone before playing at once is what makes them fail."""

FIRST_CLIENTS: Final = 3
FIRST_GAMES: Final = 10
"""The first clients, and the games of each, that show which cards a house deals first."""

MAX_REFUSAL_TRIES: Final = 5
"""A message that is refused in this many tries, and is accepted nowhere, is not implemented."""


class HouseBench(Bench):
    """Tries cases on a house, and remembers how fast it answers and which messages it accepts."""

    replay_tries = 3

    def __init__(self, test_data: ServerTestData, target: HouseUnderTest, config: Config) -> None:
        self._test_data = test_data
        self._conversations = Conversations(test_data, target, config)
        self.dialect = config.known_dialect()
        self.crowd_clause = test_data.shared_clauses["tables"]
        self._config = config
        self._strict = config.strict
        self._judge = ConversationJudge(test_data, self._conversations, config)
        self._close_detector = ProvokedCloseDetector(test_data, self._conversations)
        self._process = config.server
        self._clients: int | None = None  # how many converse at once at a slow server, None if that is not known
        self._experiment_seconds = MAX_TOTAL_EXPERIMENT_SECONDS
        self._broken_alone: set[str] = set()  # the clauses that the house breaks with one client
        self._slow_causes: dict[str, list[Cause | None]] = {}  # of cases that fail on a clause when played slowly, too
        self._serves_nobody = False
        self._has_always_room = False

    @property
    def lanes(self) -> int:
        """How many cases may run at once: several only if the tester spends most of its time waiting for answers."""
        return self._clients if self._clients is not None and self._conversations.timeout.is_slow else 1

    async def open(self, address: Address) -> None:
        """See `Bench.open`."""
        self._serves_nobody = False
        await self._conversations.open(address)

    async def close(self) -> None:
        """Wait until all connections are closed."""
        await self._conversations.close()

    async def attempt(self, case: HouseServerCase, number: int, *, is_patient: bool = False) -> Attempt:
        """See `Bench.attempt`."""
        self._conversations.last_lines = ()
        if case.judges_deals and self._conversations.deals.has_seen_enough:
            return self._conversations.deals.judge()
        if self._process is not None and self._process.leaving_cause is not None and self._needs_next_client(case):
            cause = self._process.leaving_cause
            failure = Failure(case.clause, "a server that serves the next client", "the end of the server")
            return Attempt(Outcome.FAIL, failure=failure.explained(cause))
        if self._clients is None and self._conversations.timeout.is_slow:
            self._clients = await self._find_clients()
        probes = () if self._serves_nobody else await self._try(case, number, is_patient=is_patient)
        if (away := await self._sent_away(case, number, probes)) is not None:
            return away
        if self._strict and any(probe.fault and self._judge.is_client_departure(probe) for probe in probes):
            return Attempt(Outcome.SKIP, "a strict house has a reason to refuse what was said")
        for probe in probes:
            if probe.fault and self._judge.is_strict_answer(case, probe):
                return Attempt(Outcome.CHOICE, STRICT_NOTE, dialogue=probe.conversation.lines)
            if probe.fault:
                return await self._failed(case, probe, is_first=probe is probes[0])
        if (provoked := await self._find_provoked_close(case, probes)) is not None:
            outcome = Outcome.FAIL if provoked.is_certain else Outcome.UNIMPLEMENTED
            failed = self._judge.failure(case, outcome, provoked.probe)._replace(refused="")
            return failed if provoked.cause is None else failed.blamed(provoked.cause.clause, provoked.cause)
        if case.judges_deals:
            return self._conversations.deals.judge()
        may_close = self._judge.is_tolerated(case)
        missed = [probe for probe in probes if probe.skip_reason and not (may_close and probe.house_has_left)]
        if missed:
            return await self._judge.missed(case, missed[0])
        return self._judge.passed(case, probes)

    async def first_cards(self) -> Sequence[str]:
        """See `Bench.first_cards`."""
        clause = self._test_data.fair_deal.clause
        case = server_case(clause, "first-cards", "", play_at_random(FIRST_GAMES, 0.0))
        for number in range(FIRST_CLIENTS):
            await self.attempt(case, number)
        return self._conversations.deals.first_cards

    async def _sent_away(self, case: HouseServerCase, number: int, probes: Sequence[ScriptedClient]) -> Attempt | None:
        """What a case shows at a house that sends clients away, None if it shows anything else."""
        if self._serves_nobody or await self._turns_everyone_away(probes):
            return self._turned_away(probes)
        if await self._had_no_room(case, number, probes):
            return Attempt(Outcome.SKIP, "the house had no room for the client")
        return None

    async def _turns_everyone_away(self, probes: Sequence[ScriptedClient]) -> bool:
        """Whether the house has sent away a client at once where that shows, and serves no others any more."""
        return (
            any(probe.fault or probe.skip_reason for probe in probes)
            and any(map(self._conversations.is_turned_away, probes))
            and await self._conversations.turns_everyone_away()
        )

    async def _had_no_room(self, case: HouseServerCase, number: int, probes: Sequence[ScriptedClient]) -> bool:
        """Whether a wrong goodbye was none: it came before all answers, and after a pause the house answers rightly.

        Once it has come again after every pause, it is the answer of the house to what the client has sent.
        """
        is_away = self._conversations.has_only_goodbye
        if self._has_always_room or not any(probe.fault and is_away(probe) for probe in probes):
            return False
        with suppress(TargetGone):
            for pause in ROOM_PAUSES:
                await asyncio.sleep(pause)
                again = await self._try(case, number, is_patient=False)
                if not any(probe.fault and is_away(probe) for probe in again):
                    return True
            self._has_always_room = True
        return False

    def _turned_away(self, probes: Sequence[ScriptedClient]) -> Attempt:
        """What a case shows once the house serves no clients any more: the first one fails."""
        if self._serves_nobody:
            return Attempt(Outcome.SKIP, NO_MORE_CLIENTS.text, is_final=True)
        self._serves_nobody = True
        allowed, found = "a server that serves the next client", "a goodbye and the close for every client"
        failure = Failure(self._test_data.shared_clauses["tables"], allowed, found, kind=FoundKind.CLOSED)
        return Attempt(Outcome.FAIL, failure=failure.explained(NO_MORE_CLIENTS), dialogue=probes[-1].conversation.lines)

    async def _failed(self, case: HouseServerCase, probe: ScriptedClient, *, is_first: bool) -> Attempt:
        """The failure of a client, on the clause of what the case is about if that is to blame for it."""
        attempt, shared = self._judge.failure(case, Outcome.FAIL, probe), self._test_data.shared_clauses
        if not is_first and not case.is_concurrent and self._needs_next_client(case):
            if self._conversations.is_served_elsewhere(attempt) or await self._has_ended(attempt):
                attempt = attempt.blamed(case.clause, None)._replace(steps=())
        elif case.clause in {shared["stream"], shared["cut"]} and await self._has_ended(attempt):
            said = {self._test_data.kind_of(line.message) for line in attempt.dialogue if line.side == CLIENT}
            if said <= self._conversations.accepted:
                attempt = attempt.blamed(shared["stream"], None)._replace(steps=())
        return await self._blame_close(case, probe, attempt)

    async def _has_ended(self, attempt: Attempt) -> bool:
        """Whether the server has closed the connection because it has ended; only of one that the tester started."""
        return attempt.is_close and self._process is not None and await self._process.has_ended()

    async def _blame_close(self, case: HouseServerCase, probe: ScriptedClient, attempt: Attempt) -> Attempt:
        """Blame a house that closes at what it need not tolerate on the refusal that is missing before the close."""
        if attempt.failure is None or not (attempt.is_close and self._judge.is_tolerated(case)):
            return attempt
        clause = await self._close_detector.refused_by_close(probe)
        return attempt if clause is None else attempt.blamed(clause, attempt.failure.cause)

    async def confirm(self, case: HouseServerCase, attempt: Attempt, number: int) -> Attempt:
        """Find out whether the house never accepts a message, or has not yet received the last one when it fails."""
        may_be_missing = attempt.refused and not self._judge.is_tolerated(case)
        if may_be_missing and await self._is_never_accepted(case, attempt.refused, number):
            return attempt._replace(outcome=Outcome.UNIMPLEMENTED)
        if attempt.failure is not None and attempt.is_close and attempt.steps:
            close_clause = self._test_data.shared_clauses["close"]
            probe = await find_unasked_close(
                attempt.steps, attempt.failure.clause, self._conversations.send_slowly, close_clause
            )
            return attempt if probe is None else self._judge.failure(case, Outcome.FAIL, probe)
        return await self._play_slowly(case, attempt, number)

    async def _play_slowly(self, case: HouseServerCase, attempt: Attempt, number: int) -> Attempt:
        """Find out whether the wrong message of the house answers an earlier message, or none at all.

        A cause that may be one of such a message is only believed if it is found slowly, too.
        """
        is_unasked = self._may_be_unasked(attempt.dialogue)
        if attempt.failure is None or not (attempt.steps and (is_unasked or _has_unanswered(attempt.dialogue))):
            return attempt
        clause, found = attempt.failure.clause, attempt
        causes = self._slow_causes.setdefault(clause, [])
        if len(causes) < MAX_SLOW_CASES:
            if (probe := await self._find_earlier_fault(case, number)) is not None:
                found = self._judge.failure(case, Outcome.FAIL, probe)
            if found.failure is not None and found.failure.clause == clause:
                causes.append(None if probe is None else found.failure.cause)
        is_doubtful = found is attempt and is_unasked and attempt.failure.cause not in causes
        return attempt.blamed(clause, None) if is_doubtful else found

    def _may_be_unasked(self, dialogue: Sequence[DialogueLine]) -> bool:
        """Whether the house has not answered the client last, or has refused its message after another answer."""
        if len(dialogue) < 2 or dialogue[-1].side == CLIENT or type(dialogue[-1].message) is Violation:
            return False
        *before, last = dialogue
        if self._test_data.is_refusal(last.message):
            return before[-1].side == HOUSE
        due = self._conversations.new_conversation().replay(before).referee.pending
        return due is not None and not due.has_kind_of(last.message)

    async def _find_earlier_fault(self, case: HouseServerCase, number: int) -> ScriptedClient | None:
        """Return a conversation in which the house answers a message that requires no answer, or speaks unasked.

        What it says may arrive after the next message, which then seems to be the one with the wrong answer, or even
        with a right one, until the conversation has gone on for a while: play the case slowly. Returns None if there is
        no such conversation, or none is found in time.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_SLOW_SECONDS):
                for later in range(number, number + MAX_SLOW_TRIES):
                    probes = await self._try(case, later, is_patient=False, grace=self._conversations.slow_grace)
                    found = probes[-1]
                    if found.fault is not None:
                        return None if _answers_one_of_two(found.conversation.lines) else found
        return None

    async def explain(self, case: HouseServerCase, attempt: Attempt) -> Attempt:
        """See `Bench.explain`: by experiments, if the server answers anything."""
        if attempt.outcome is Outcome.UNIMPLEMENTED:
            clock = asyncio.get_running_loop().time
            end = clock() + min(MAX_EXPERIMENT_SECONDS, self._experiment_seconds)
            return await self._new_experiments(lambda: clock() < end).explain_refusal(attempt)
        attempt = await self._experiment(case, attempt)
        failure = attempt.failure
        if failure is not None and failure.cause is None and failure.kind is not FoundKind.MESSAGE:
            games = self._conversations.new_conversation().replay(attempt.dialogue).dealt_games
            if self._conversations.deals.has_run_out(games):
                return attempt.blamed(self._test_data.fair_deal.clause, RUNS_OUT_OF_CARDS)
        if failure is not None and failure.cause is None and attempt.is_close:
            attempt = attempt.blamed(failure.clause, self._close_cause(attempt.dialogue))
        return attempt.explained_if_silent(MUTE_CAUSE, has_answered=self._conversations.timeout.has_answered)

    def _close_cause(self, dialogue: Sequence[DialogueLine]) -> Cause | None:
        """The cause of a close where the conversation goes on, by what was before it; None if that is none."""
        if self._owes_refusal(dialogue):
            return ENDS_AT_REFUSALS
        last = next((line.message for line in reversed(dialogue) if line.side == CLIENT), None)
        if type(last) is Violation or self._test_data.is_refusal(last):
            return None  # it reacts to what it cannot read, or to an error of the client
        referee = self._conversations.new_conversation().replay(dialogue).referee
        return ENDS_AFTER_GAMES if referee.finished_count and referee.game is None else None

    def _owes_refusal(self, dialogue: Sequence[DialogueLine]) -> bool:
        """Whether the last message of the client is readable, and has to be refused: then the conversation goes on."""
        last = max((at for at, line in enumerate(dialogue) if line.side == CLIENT), default=None)
        if last is None or is_fatal(dialogue[last].message):
            return False
        due = self._conversations.new_conversation().replay(dialogue[: last + 1]).referee.pending
        if due is None:
            return False
        allowed = due.messages or [line.message for line in dialogue[last:] if due.has_kind_of(line.message)]
        return bool(allowed) and all(map(self._test_data.is_refusal, allowed))

    def _new_experiments(self, has_time: Callable[[], bool]) -> Experiments:
        return Experiments(self._test_data, self._conversations, self._close_detector, self._config, has_time)

    async def _experiment(self, case: HouseServerCase, attempt: Attempt) -> Attempt:
        """Find out whether the same messages pass alone, in one piece, in upper case, or without a refused one."""
        failure, clock = attempt.failure, asyncio.get_running_loop().time
        if attempt.outcome is not Outcome.FAIL or failure is None:
            return attempt
        if not case.is_concurrent:
            self._broken_alone.add(failure.clause)
        elif failure.clause in self._broken_alone:
            return attempt
        if not self._experiment_seconds:
            return attempt
        if failure.cause is not None and failure.cause.dialect is not None:
            return attempt
        if await self._conversations.has_fallen_silent(attempt):
            self._serves_nobody = True
            return attempt.blamed(self._test_data.shared_clauses["tables"], NO_MORE_CLIENTS)
        if await self._conversations.goes_on_with_earlier_game(attempt):
            return attempt.blamed(self._test_data.shared_clauses["tables"], ONE_GAME_FOR_ALL)
        started_at = clock()
        end = started_at + min(MAX_EXPERIMENT_SECONDS, self._experiment_seconds)
        experiments = self._new_experiments(lambda: clock() < end)
        if attempt.steps and case.is_concurrent:
            attempt = await self._explain_concurrent(case, attempt, lambda: clock() < end)
        elif attempt.steps:
            describe = partial(self._judge.failure, case, Outcome.FAIL)
            attempt = await experiments.explain(case.clause, case.delivery, attempt, describe)
        elif self._judge.is_tolerated(case) and not attempt.is_close:
            attempt = await experiments.explain_tolerated(case.clause, attempt)
        elif attempt.is_close and case.delivery == WHOLE:
            attempt = await experiments.explain_close(attempt)
        attempt = await experiments.explain_unread(attempt)
        self._experiment_seconds = max(0.0, self._experiment_seconds - (clock() - started_at))
        return attempt

    async def _explain_concurrent(
        self, case: HouseServerCase, attempt: Attempt, has_time: Callable[[], bool]
    ) -> Attempt:
        """Blame the independence of connections if as many clients, one after the other, pass: luck may decide."""
        scenario = play_together(1, self._test_data.sample_game[0])
        alone = dataclasses.replace(case, scenarios=(scenario,), is_concurrent=False)
        for number in range(MAX_ROUNDS_ALONE * len(case.scenarios)):
            (probe,) = await self._try(alone, number, is_patient=False)
            if probe.fault:
                return attempt
            if number and not has_time():
                break
        cause = Cause("it serves one client after the other") if await self._conversations.is_serial() else None
        return attempt.blamed(self._test_data.shared_clauses["tables"], cause)

    async def _find_clients(self) -> int:
        """Find out how many clients may converse at once: each plays as if alone, and none waits for the others.

        Where each client needs a new server, all wait for the others.
        """
        if self._process is not None and self._process.leaving_cause is not None:
            return 1
        conversations = self._conversations
        limit = MAX_SLOWDOWN * conversations.timeout.slowest_seconds
        clients = min(MAX_CLIENTS, int(conversations.timeout.usual_seconds / PROCESSOR_SECONDS))
        while clients >= MIN_CLIENTS:
            if await self._are_independent(clients, limit):
                closing = clients // CLOSING_PART
                conversations.allow_clients(clients - closing, closing)
                return clients - closing
            clients = clients // FEWER if await conversations.has_recovered(limit) else 1
        return 1

    async def _are_independent(self, clients: int, max_seconds: float) -> bool:
        """Whether this many clients can play at the same time as if each were alone."""
        data, progress, timeout = self._test_data, Counter[str](), self._conversations.timeout.max_seconds
        together = play_together(clients, data.sample_game[0], data.independence)
        probes = [
            self._conversations.new_client(together, self._random("at-once", number), timeout, progress=progress)
            for number in range(clients)
        ]
        return await self._conversations.are_independent(probes, max_seconds)

    def _random(self, *names: object) -> Random:
        return Random(" ".join(map(str, (self._config.seed, *names))))  # noqa: S311 -- reproducible

    def _needs_next_client(self, case: HouseServerCase) -> bool:
        """Whether a case is about the next client, after another one has left."""
        shared = self._test_data.shared_clauses
        return len(case.scenarios) > 1 and case.clause in (shared["tables"], shared["goodbye"])

    async def find_leaving_cause(self) -> Cause | None:
        """See `Bench.find_leaving_cause`."""
        server, game = self._process, self._test_data.sample_game
        assert server is not None, "only a server that the tester has started is known to have ended"
        for text, scenario, kind in (
            ("leaves", send_each(*game), "tables"),
            ("hangs up", hang_up_after(game[0]), "goodbye"),
        ):
            for _ in range(LEAVING_TRIES):
                await server.restart()
                await self.open(server.address)
                client = await self._conversations.play(scenario)
                if client.house_has_left:
                    return None  # it may have ended before the client left
                if not await server.has_ended(LEAVING_SECONDS):
                    break
            else:
                how = f"it ends when a client {text} ({server.program.end_description})"
                return Cause(how, clause=self._test_data.shared_clauses[kind])
        return None

    async def replay(self, case: HouseServerCase, steps: Sequence[bytes]) -> Attempt:
        """See `Bench.replay`: the steps are messages, each sent after the answer to the one before it."""
        probe = await self._conversations.send(steps)
        return self._judge.failure(case, Outcome.FAIL, probe) if probe.fault else Attempt(Outcome.PASS)

    def short_starts(self, attempt: Attempt) -> Iterable[Sequence[bytes]]:
        """Messages that were sent ahead of their answers may be sent one by one as well."""
        yield client_messages(attempt.dialogue)

    # Running a case.

    async def _try(
        self, case: HouseServerCase, number: int, *, is_patient: bool, grace: float = 0.0
    ) -> Sequence[ScriptedClient]:
        random = self._random(case.id, number)
        timeout = self._conversations.timeout.for_try(is_patient=is_patient)
        progress: Counter[str] = Counter()
        clients: list[ScriptedClient] = []

        def new_client(scenario: Scenario, luck: Random = random) -> ScriptedClient:
            client = self._conversations.new_client(
                scenario,
                luck,
                timeout,
                grace=grace,
                delivery=case.delivery,
                strict=self._judge.judges_strictly(case),
                progress=progress,
                earlier=[one.conversation for one in clients],
            )
            clients.append(client)
            return client

        if case.is_concurrent:
            await self._conversations.converse_together([*map(new_client, case.scenarios)])
            return clients
        if case.is_rare and self.lanes > 1:
            lucks = [self._random(case.id, number, place) for place in range(MAX_SEARCHING_CLIENTS)]
            await self._conversations.converse_with_each([new_client(case.scenarios[0], luck) for luck in lucks])
            return [min(clients, key=_missed_rank)]
        for stage in case.stages if self.lanes > 1 else zip(case.scenarios):
            lucks = [self._random(case.id, number, place) for place in range(len(stage))] if stage[1:] else [random]
            await self._conversations.converse_with_each([*map(new_client, stage, lucks)])
            ends = [client.fault is not None or client.skip_reason is not None for client in clients]
            if any(ends):
                return clients[: ends.index(True) + 1]
        return clients

    async def _find_provoked_close(
        self, case: HouseServerCase, probes: Sequence[ScriptedClient]
    ) -> ProvokedClose | None:
        """Return a conversation that the house has ended because of messages that it could read."""
        for probe in probes:
            try:
                provoked = await self._close_detector.find_provoked(probe, case.delivery)
            except TargetGone as error:
                lines = probe.conversation.lines
                due = self._conversations.new_conversation().replay(lines).referee.pending
                raise TargetGone(str(error), lines, "" if due is None else due.clause) from None
            if provoked is not None:
                return provoked
        return None

    async def _is_never_accepted(self, case: HouseServerCase, refused: str, number: int) -> bool:
        """Whether the house refuses an allowed message in every try, and has not accepted it anywhere."""
        for again in range(number, number + MAX_REFUSAL_TRIES - 1):
            if refused in self._conversations.accepted:
                return False
            probe = (await self._try(case, again, is_patient=False))[-1]
            if probe.fault and self._judge.refused_kind(probe) != refused:
                return False
        return refused not in self._conversations.accepted


def _missed_rank(probe: ScriptedClient) -> int:
    """How little a conversation shows: a fault shows most, and what has not come up least."""
    return 0 if probe.fault else 1 + (probe.skip_reason is not None)


def _has_unanswered(dialogue: Sequence[DialogueLine]) -> bool:
    """Whether the last message is the house's, and two were sent somewhere before it without an answer between them."""
    sides = [line.side for line in dialogue]
    return sides[-1:] == [HOUSE] and (CLIENT, CLIENT) in pairwise(sides)


def _answers_one_of_two(dialogue: Sequence[DialogueLine]) -> bool:
    """Whether the last messages are the house's, and two were sent before them without an answer between them."""
    before = [*dropwhile(lambda line: line.side == HOUSE, reversed(dialogue))]
    return len(before) < len(dialogue) and [line.side for line in before[:2]] == [CLIENT, CLIENT]
