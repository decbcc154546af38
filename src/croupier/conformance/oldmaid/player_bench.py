"""The bench of Old Maid players: starts the player for each case; the table and all other players are the tester's."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from os import cpu_count
from statistics import median
from typing import Final

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.deviations import Ended
from croupier.conformance.diagnosis.cause import CUT_LETTER_CAUSE, LINE_CAUSE, ONE_READ_CAUSE, Cause
from croupier.conformance.diagnosis.pairs import PairedExperiments
from croupier.conformance.oldmaid.case import PlayerCase
from croupier.conformance.oldmaid.endpoints import StartProgram
from croupier.conformance.oldmaid.outcomes import NeverConnected, attempt_that_ended, may_come_from_reads
from croupier.conformance.oldmaid.player_context import PlayerContext, SharedRuns
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.results import Outcome
from croupier.conformance.suite import START_TIMEOUT_FACTOR, Absences, Attempt, Bench, Config
from croupier.core.referee import CLIENT, HOUSE
from croupier.net.event_loop import cancel_all

SPACED_SECONDS: Final = 0.1
"""The pause before each message of an experiment."""

MIN_CHOICE_SECONDS: Final = 1.0
CHOICE_FACTOR: Final = 20
"""A silence that is a choice is believed after this many times the program's median reaction time."""

SILENT_CAUSE: Final = Cause('it connects and sends nothing, where {"cmd": "join", "nick": …} comes first')

MUTE_START_SECONDS: Final = 2.0
"""How long a program may take to start and to join after it has not joined in the whole time, and never before."""

MIN_QUIET_SECONDS: Final = 0.03
MAX_QUIET_SECONDS: Final = 0.1
QUIET_FACTOR: Final = 20
"""After the last message the program is observed for this many times its median reaction time."""

MAX_LANES: Final = 8


class PlayerBench(Bench):
    """Starts a player for each case, with `{host}`, `{port}` and `{nick}` filled in, or with `start`.

    Half of the programs wait while the others run, so there are more lanes than processors.
    """

    program_side = CLIENT
    lanes = min(2 * (cpu_count() or 1) + 2, MAX_LANES)

    def __init__(self, config: Config, start: StartProgram | None = None) -> None:
        self._config = config
        self._experiments = PairedExperiments()
        self._line_experiments = PairedExperiments()
        self._cases_with_open_lines: set[str] = set()
        self._reaction_seconds: list[float] = []
        self._shared_runs: SharedRuns = {}
        self._absences = Absences()
        self._has_joined = False
        self._has_sent = False
        self._has_missed_join = False
        self._start = start or self._start_command

    async def _start_command(self, values: Mapping[str, object]) -> ProgramUnderTest:
        return await ProgramUnderTest.start(self._config.command, values)

    @property
    def _usual_seconds(self) -> float:
        """The median reaction time."""
        return median(self._reaction_seconds) if self._reaction_seconds else self._config.timeout

    @property
    def _start_timeout(self) -> float:
        """Seconds to start and connect, and then to join."""
        seconds = (START_TIMEOUT_FACTOR + 1) * self._config.timeout
        return min(seconds, MUTE_START_SECONDS) if self._never_joins else seconds

    @property
    def _never_joins(self) -> bool:
        """Whether it has not joined in the whole time, and never before."""
        return self._has_missed_join and not self._has_joined

    @property
    def _choice_timeout(self) -> float:
        """Seconds for a message that the program need not send."""
        return min(self._config.timeout, max(MIN_CHOICE_SECONDS, CHOICE_FACTOR * self._usual_seconds))

    async def confirm(self, case: PlayerCase, attempt: Attempt, number: int) -> Attempt:
        """Find out whether a failure comes from how messages arrive: without line ends, at once, or in pieces.

        The case is tried again with a pause between whole messages, or with whole messages, and in between as it was:
        in a player whose fault shows by luck, both fail. One pair is enough in a program that is known to take one read
        for one message. No try uses what other cases have played: of that, only games that have passed are kept. A
        player that never joins is sent nothing to misread. A case in which a message has no line end is first tried
        with one after each.
        """
        failure, is_usual = attempt.failure, case.delivery == WHOLE
        is_late = not is_usual and not case.delivery.max_piece_bytes
        if failure is None or self._never_joins or not may_come_from_reads(failure):
            return attempt
        if failure.cause == CUT_LETTER_CAUSE:  # the case has compared it with the same game in other letters
            again = (await self._attempt_alone(case, number)).failure
            return attempt.blamed("oldmaid-1.4", None if again is None else again.cause)

        async def fails(pair: int) -> bool:
            return (await self._attempt_alone(case, number - 1 + pair)).failure is not None

        async def passes_with_line_ends(pair: int) -> bool:
            return (await self._attempt_alone(case, number - 1 + pair, ends_lines=True)).outcome is Outcome.PASS

        if case.id in self._cases_with_open_lines and await self._line_experiments.show_cause(
            passes_with_line_ends, fails, is_common=True
        ):
            return attempt.blamed("oldmaid-1.3", LINE_CAUSE)
        other = replace(case, delivery=Delivery(delay_seconds=SPACED_SECONDS) if is_usual else WHOLE)

        async def passes(pair: int) -> bool:
            return (await self._attempt_alone(other, number - 1 + pair)).outcome is Outcome.PASS

        if not await self._experiments.show_cause(passes, fails, is_of_cause=not is_late, is_common=is_usual):
            return attempt
        return attempt.blamed("oldmaid-1.4", failure.cause if is_late else ONE_READ_CAUSE)

    async def _attempt_alone(self, case: PlayerCase, number: int, *, ends_lines: bool = False) -> Attempt:
        runs: SharedRuns = {}
        try:
            return await self._attempt(case, number, runs, ends_lines=ends_lines)
        finally:
            await cancel_all(*(task for _, task in runs.values()))

    async def attempt(
        self,
        case: PlayerCase,
        number: int,
        *,
        is_patient: bool = False,  # noqa: ARG002 -- it is always patient
    ) -> Attempt:
        """See `Bench.attempt`. The player has the whole timeout for each message, unless silence would be a choice."""
        return await self._attempt(case, number, self._shared_runs)

    async def _attempt(
        self, case: PlayerCase, number: int, shared_runs: SharedRuns, *, ends_lines: bool = False
    ) -> Attempt:
        if (skip := self._absences.skip) is not None:
            return skip
        config, absences = self._config, self._absences.count
        context = PlayerContext(
            config=config,
            start=self._start,
            seed=config.seed + number,
            start_timeout=self._start_timeout,
            timeout=self._choice_timeout if case.failure_is_choice else config.timeout,
            quiet_seconds=min(MAX_QUIET_SECONDS, max(MIN_QUIET_SECONDS, QUIET_FACTOR * self._usual_seconds)),
            shared_runs=shared_runs,
            delivery=case.delivery,
            ends_lines=ends_lines,
        )
        error: Ended | None = None
        clock = asyncio.get_running_loop().time
        started_at = clock()
        try:
            await case.play(context)
        except Ended as outcome:
            error = outcome
        self._has_joined |= context.endpoints.nick is not None
        self._has_missed_join |= clock() - started_at >= context.start_timeout
        self._absences.record(str(error) if isinstance(error, NeverConnected) else "", absences)
        if context.endpoints.has_open_lines:
            self._cases_with_open_lines.add(case.id)
        dialogue = context.endpoints.dialogue
        self._has_sent |= any(line.side == CLIENT for line in dialogue)
        self._reaction_seconds += [
            line.at - before.at for before, line in pairwise(dialogue) if (before.side, line.side) == (HOUSE, CLIENT)
        ]
        attempt = attempt_that_ended(case, error, dialogue, strict=config.strict)
        return attempt._replace(stderr=context.stderr)

    async def explain(self, case: PlayerCase, attempt: Attempt) -> Attempt:  # noqa: ARG002 -- any case shows it
        """See `Bench.explain`: a player that has never sent anything is silent."""
        return attempt.explained_if_silent(SILENT_CAUSE, has_answered=self._has_sent)

    async def close(self) -> None:
        """See `Bench.close`: stop the runs that no case has waited for to the end."""
        await cancel_all(*(task for _, task in self._shared_runs.values()))
