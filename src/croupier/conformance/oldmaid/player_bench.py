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
from croupier.conformance.diagnosis.cause import ONE_READ_CAUSE
from croupier.conformance.diagnosis.pairs import MAX_CHANCE, MAX_PAIRS, one_sided_chance
from croupier.conformance.oldmaid.case import PlayerCase
from croupier.conformance.oldmaid.endpoints import StartProgram
from croupier.conformance.oldmaid.outcomes import attempt_that_ended, may_come_from_reads
from croupier.conformance.oldmaid.player_context import PlayerContext, SharedRuns
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt, Bench, Config
from croupier.conformance.timeouts import cancel_tasks
from croupier.core.referee import CLIENT, HOUSE

SPACED_SECONDS: Final = 0.1
MAX_FUTILE_EXPERIMENTS: Final = 3
"""The pause before each message of an experiment, and after how many experiments without an effect no more are made."""

CHANCE_OF_A_PAIR: Final = 0.5
"""The probability that luck makes the original of one pair fail, and not the other. See `one_sided_chance`."""

MAX_EXPERIMENT_SECONDS: Final = 120.0
"""An experiment takes at most this long, but for its last pair, and so do all together that prove nothing."""

MIN_CHOICE_SECONDS: Final = 1.0
CHOICE_FACTOR: Final = 20
"""A silence that is a choice is believed after this many times the program's median reaction time."""


MIN_QUIET_SECONDS: Final = 0.03
MAX_QUIET_SECONDS: Final = 0.1
QUIET_FACTOR: Final = 20
"""After the last message the program is observed for this many times its median reaction time."""

MAX_LANES: Final = 8


class PlayerBench(Bench):
    """Starts a player for each case, with `{host}`, `{port}` and `{nick}` filled in, or with `start`.

    Half of the programs wait while the others run, so there are more lanes than processors.
    """

    lanes = min(2 * (cpu_count() or 1) + 2, MAX_LANES)

    def __init__(self, config: Config, start: StartProgram | None = None) -> None:
        self._config = config
        self._experiments = asyncio.Lock()
        self._experiment_seconds = MAX_EXPERIMENT_SECONDS
        self._futile_experiments = 0
        self._takes_reads_for_messages = False
        self._reaction_seconds: list[float] = []
        self._shared_runs: SharedRuns = {}
        self._start = start or self._start_command

    async def _start_command(self, values: Mapping[str, object]) -> ProgramUnderTest:
        return await ProgramUnderTest.start(self._config.command, values)

    @property
    def _usual_seconds(self) -> float:
        """The median reaction time."""
        return median(self._reaction_seconds) if self._reaction_seconds else self._config.timeout

    @property
    def _choice_timeout(self) -> float:
        """Seconds for a message that the program need not send."""
        return min(self._config.timeout, max(MIN_CHOICE_SECONDS, CHOICE_FACTOR * self._usual_seconds))

    async def confirm(self, case: PlayerCase, attempt: Attempt, number: int) -> Attempt:
        """Find out whether a failure comes from how messages arrive: at once, or as the delivery of the case says.

        The case is tried again with a pause between whole messages, or with whole messages, and in between as it was:
        in a player whose fault shows by luck, both fail. One pair is enough in a program that is known to take one read
        for one message.
        """
        failure, is_usual = attempt.failure, case.delivery == WHOLE
        is_late = not is_usual and not case.delivery.max_piece_bytes
        if failure is None or not may_come_from_reads(failure):
            return attempt
        other = replace(case, delivery=Delivery(delay_seconds=SPACED_SECONDS) if is_usual else WHOLE)
        async with self._experiments:
            if is_usual and self._futile_experiments >= MAX_FUTILE_EXPERIMENTS:
                return attempt
            is_known = self._takes_reads_for_messages and not is_late
            is_shown = not is_known and await self._only_fails_as_it_was(case, other, number - 1, MAX_CHANCE)
            self._takes_reads_for_messages |= is_shown and not is_late
        if is_known:
            is_shown = await self._only_fails_as_it_was(case, other, number - 1, CHANCE_OF_A_PAIR)
        if not is_shown:
            self._futile_experiments += is_usual
            return attempt
        return attempt.blamed("oldmaid-1.4", failure.cause if is_late else ONE_READ_CAUSE)

    async def _only_fails_as_it_was(self, case: PlayerCase, other: PlayerCase, number: int, max_chance: float) -> bool:
        """Whether a case fails so often, with other cards in each pair, and the other one never, that luck is unlikely.

        What fails in fewer than half of the pairs would take too long to prove. No try uses what other cases have
        played: of that, only games that have passed are kept.
        """
        clock, failures = asyncio.get_running_loop().time, 0
        started_at = clock()
        for pairs in range(1, MAX_PAIRS + 1):
            if clock() - started_at >= self._experiment_seconds:
                break
            if (await self._attempt_alone(other, number + pairs - 1)).outcome is not Outcome.PASS:
                break
            failures += (await self._attempt_alone(case, number + pairs - 1)).failure is not None
            if one_sided_chance(pairs, failures) <= max_chance:
                return True
            if failures < pairs // 2:
                break
        self._experiment_seconds -= clock() - started_at
        return False

    async def _attempt_alone(self, case: PlayerCase, number: int) -> Attempt:
        runs: SharedRuns = {}
        try:
            return await self._attempt(case, number, runs)
        finally:
            await cancel_tasks(task for _, task in runs.values())

    async def attempt(
        self,
        case: PlayerCase,
        number: int,
        *,
        is_patient: bool = False,  # noqa: ARG002 -- it is always patient
    ) -> Attempt:
        """See `Bench.attempt`. The player has the whole timeout for each message, unless silence would be a choice."""
        return await self._attempt(case, number, self._shared_runs)

    async def _attempt(self, case: PlayerCase, number: int, shared_runs: SharedRuns) -> Attempt:
        config = self._config
        context = PlayerContext(
            config=config,
            start=self._start,
            seed=config.seed + number,
            timeout=self._choice_timeout if case.failure_is_choice else config.timeout,
            quiet_seconds=min(MAX_QUIET_SECONDS, max(MIN_QUIET_SECONDS, QUIET_FACTOR * self._usual_seconds)),
            shared_runs=shared_runs,
            delivery=case.delivery,
        )
        error: Ended | None = None
        try:
            await case.play(context)
        except Ended as outcome:
            error = outcome
        dialogue = context.endpoints.dialogue
        self._reaction_seconds += [
            line.at - before.at for before, line in pairwise(dialogue) if (before.side, line.side) == (HOUSE, CLIENT)
        ]
        attempt = attempt_that_ended(case, error, dialogue, strict=config.strict)
        return attempt._replace(stderr=context.stderr)

    async def close(self) -> None:
        """See `Bench.close`: stop the runs that no case has waited for to the end."""
        await cancel_tasks(task for _, task in self._shared_runs.values())
