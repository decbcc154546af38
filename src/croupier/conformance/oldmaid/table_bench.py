"""The bench of Old Maid tables: tries cases with scripted players."""

from collections.abc import Awaitable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from random import Random
from typing import Final

from croupier.conformance.channel.delivery import WHOLE
from croupier.conformance.deviations import Ended
from croupier.conformance.diagnosis.cause import (
    LINE_CAUSE,
    MUTE_CAUSE,
    ONE_READ_CAUSE,
    SENDS_BACK,
    Cause,
    dialect_cause,
)
from croupier.conformance.diagnosis.pairs import PairedExperiments
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.dialects import greeting_dialect, is_in_greeting
from croupier.conformance.oldmaid.driven_game import DrivenGame, GameAction
from croupier.conformance.oldmaid.outcomes import attempt_that_ended, may_come_from_reads
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.conformance.oldmaid.table_under_test import TableUnderTest
from croupier.conformance.parallel import count_parallel
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt, Bench, Config, TargetGone
from croupier.conformance.timeouts import SLOW_ANSWER_SECONDS
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.rules import MIN_PLAYERS

CONCURRENT_CASES: Final = 3
QUEUED_CASES: Final = 5
"""This many cases run at once, and at most this many more wait for the lobby."""

MAX_GROUPS: Final = 4
"""At a slow table that serves many clients, up to this many times as many run at once."""

SURPLUS_SECONDS: Final = 0.005
"""The pause before each request in which a table may close that should not."""

CLOSES_AFTER_ANSWERS: Final = Cause("it closes the connection after an answer, where the conversation goes on")

UNASKED_CLAUSES: Final = frozenset({"oldmaid-1.8", "oldmaid-8.1"})
"""The clauses of what a table sends, or closes, without being asked."""


class TableBench(Bench):
    """Tries cases at a table, a few at a time once its size is known."""

    replay_tries = 2

    def __init__(self, config: Config) -> None:
        self._config = config
        self._table: TableUnderTest
        self._was_reached = False
        self._groups = 1  # how many times as many cases as at a fast table run at once
        self._experiments = PairedExperiments()
        self._line_experiments = PairedExperiments()

    @property
    def lanes(self) -> int:
        """The first case runs alone: it finds out the table size. A case that waits for the lobby occupies no lane."""
        if not self._was_reached or self._table.plays_one_game:
            return 1
        return self._groups * CONCURRENT_CASES + min(self._table.lobby_queue_length, self._groups * QUEUED_CASES)

    async def open(self, address: Address) -> None:
        """See `Bench.open`. The first case connects."""
        self._table = TableUnderTest(address, self._config)

    async def attempt(
        self,
        case: TableCase,
        number: int,
        *,
        is_patient: bool = False,
        surplus_seconds: float = 0.0,
        ends_lines: bool = False,
    ) -> Attempt:
        """See `Bench.attempt`. For the last two options, see `ScriptedPlayer`."""
        table = self._table
        if is_patient and not table.timeout.has_answered:  # it may only be slow to start
            table.no_game_reason = ""
        luck = Random(f"{self._config.seed} {case.id}" + (f" {number}" if number else ""))  # noqa: S311 -- reproducible
        context = TableContext(
            table,
            luck,
            delivery=case.delivery,
            is_patient=is_patient,
            surplus_seconds=surplus_seconds,
            ends_lines=ends_lines,
        )
        try:
            async with context.holding_lobby() if case.needs_whole_lobby else nullcontext():
                attempt = await self._play(case, context, case.play(context))
        except ConnectionError as lost:
            is_known = self._was_reached or self._config.server is not None
            raise (TargetGone(str(lost)) if is_known else lost) from None
        if not self._was_reached:
            self._was_reached = True
            self._groups = await self._count_groups()
        attempt = self._with_certain_cause(attempt)
        game = _failed_game(context) if attempt.failure is not None and attempt.failure.cause is None else None
        was_reset = any(player.was_reset for player in context.scripted_players)
        is_missed = attempt.outcome is Outcome.SKIP
        is_missing = is_missed if attempt.failure is None else attempt.failure.kind is FoundKind.CLOSED
        return attempt._replace(steps=() if game is None else game.actions, was_reset=was_reset and is_missing)

    def _with_certain_cause(self, attempt: Attempt) -> Attempt:
        """The attempt with its cause, if what the table has sent shows it without any doubt."""
        if attempt.outcome is not Outcome.FAIL or attempt.failure is None:
            return attempt
        greeting = self._config.greeting
        sent = {side: [line.data for line in attempt.dialogue if line.side == side] for side in (CLIENT, HOUSE)}
        if any(is_in_greeting(data, greeting) for data in sent[HOUSE]):
            return attempt.blamed("oldmaid-1.8", dialect_cause([greeting_dialect(greeting)]))
        if any(b'"cmd"' in data and data in sent[CLIENT] for data in sent[HOUSE]):
            return attempt.blamed(attempt.failure.clause, SENDS_BACK)
        if attempt.is_close and attempt.failure.clause == "oldmaid-1.8":
            return attempt.blamed(attempt.failure.clause, CLOSES_AFTER_ANSWERS)
        return attempt

    async def _count_groups(self) -> int:
        """Return how many times as many cases may run at once, as long as no case runs: each has a game of its own."""
        table = self._table
        if await table.measure() <= SLOW_ANSWER_SECONDS:
            return 1
        clients = CONCURRENT_CASES * (table.table_size or MIN_PLAYERS)
        return await count_parallel(MAX_GROUPS, lambda groups: table.serves(groups * clients))

    async def confirm(self, case: TableCase, attempt: Attempt, number: int) -> Attempt:
        """Find out whether a failure comes from how messages arrive, or from an earlier answer.

        Messages may be in pieces, or without line ends. A table that fails with whole messages, too, breaks another
        clause; the cards may decide when. Whether it has closed the connection after an earlier answer shows with a
        pause between requests.
        """
        failure = attempt.failure
        if failure is None:
            return attempt
        if case.delivery != WHOLE and may_come_from_reads(failure):
            return await self._confirm_pieces(case, attempt, number)
        if may_come_from_reads(failure) and await self._passes_with_line_ends(case, number):
            return attempt.blamed("oldmaid-1.3", LINE_CAUSE)._replace(steps=())
        if failure.kind is not FoundKind.CLOSED or failure.clause in UNASKED_CLAUSES:
            return attempt
        again = await self.attempt(case, number, surplus_seconds=SURPLUS_SECONDS)
        return again if again.failure is not None and again.failure.clause in UNASKED_CLAUSES else attempt

    async def explain(self, case: TableCase, attempt: Attempt) -> Attempt:  # noqa: ARG002 -- any request shows it
        """See `Bench.explain`: a table that has never answered is silent."""
        return attempt.explained_if_silent(MUTE_CAUSE, has_answered=self._table.timeout.has_answered)

    async def _confirm_pieces(self, case: TableCase, attempt: Attempt, number: int) -> Attempt:
        """Find out whether a failure comes from messages in pieces; return a failure with whole messages if not."""
        assert attempt.failure is not None, "only failures are confirmed"
        case = replace(case, needs_whole_lobby=True)  # a game in pieces is slow: other games may begin meanwhile
        whole = replace(case, delivery=WHOLE)
        failed_whole: list[tuple[Attempt, int]] = []

        async def passes(pair: int) -> bool:
            found = await self.attempt(whole, number + pair)
            if found.failure is not None:
                failed_whole.append((found, number + pair))
            return found.outcome is Outcome.PASS

        async def fails(pair: int) -> bool:
            return (await self.attempt(case, number + pair)).failure is not None

        if await self._experiments.show_cause(passes, fails):
            return attempt.blamed("oldmaid-1.4", attempt.failure.cause or ONE_READ_CAUSE)._replace(steps=())
        return await self.confirm(whole, *failed_whole[0]) if failed_whole else attempt

    async def _passes_with_line_ends(self, case: TableCase, number: int) -> bool:
        """Whether a case fails only as long as some of its messages have no line end."""

        async def passes(pair: int) -> bool:
            return (await self.attempt(case, number + pair, ends_lines=True)).outcome is Outcome.PASS

        async def fails(pair: int) -> bool:
            return (await self.attempt(case, number + pair)).failure is not None

        return await self._line_experiments.show_cause(passes, fails, is_common=True)

    async def replay(self, case: TableCase, steps: Sequence[GameAction]) -> Attempt:
        """See `Bench.replay`: the steps are the actions of a game, which is dealt other cards."""
        context = TableContext(self._table, Random(len(steps)))  # noqa: S311 -- reproducible

        async def play() -> None:
            await (await context.start_game()).replay(steps)

        try:
            return (await self._play(case, context, play()))._replace(steps=steps)
        except ConnectionError:
            return Attempt(Outcome.SKIP)

    async def first_cards(self) -> Sequence[str]:
        """See `Bench.first_cards`."""

        async def play(context: TableContext) -> None:
            await context.start_game(drawn=CARD_COUNT, discards_pairs=False)

        await self.attempt(OldMaidCase(clause="oldmaid-4.1", slug="first-cards", title="", play=play), 0)
        return self._table.deals.first_cards

    async def _play(self, case: TableCase, context: TableContext, play: Awaitable[None]) -> Attempt:
        """Return the attempt that something played in a context makes. Raises ConnectionError."""
        error: Ended | None = None
        try:
            await play
        except Ended as outcome:
            error = outcome
        finally:
            await context.close()
        return attempt_that_ended(case, error, context.dialogue, strict=self._table.strict)


def _failed_game(context: TableContext) -> DrivenGame | None:
    """Return the game of the players in the last line of the dialogue."""
    ends = {context.dialogue[-1].message.sender, context.dialogue[-1].message.receiver} if context.dialogue else set()
    return next((one for one in context.games[::-1] if ends & {player.nick for player in one.players}), None)
