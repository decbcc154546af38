"""The bench of Old Maid players: starts the player for each case; the table and all other players are the tester's."""

from collections.abc import Mapping
from typing import cast

from croupier.conformance.oldmaid.endpoints import ProgramEndpoints, StartProgram
from croupier.conformance.oldmaid.outcomes import OUTCOME_ERRORS, make_attempt
from croupier.conformance.oldmaid.player_context import PlayerCase, PlayerContext
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.suite import Attempt, Bench, Config
from croupier.rooms.oldmaid.wire import Dialect


class PlayerBench(Bench):
    """Starts a player for each case, with `{host}`, `{port}` and `{nick}` filled in, or with `start`."""

    lanes = 2

    def __init__(self, config: Config, start: StartProgram | None = None) -> None:
        self._config = config
        self._start = start or self._start_command

    async def _start_command(self, values: Mapping[str, object]) -> ProgramUnderTest:
        return await ProgramUnderTest.start(self._config.command, values)

    async def attempt(self, case: PlayerCase, number: int, *, is_patient: bool = False) -> Attempt:  # noqa: ARG002 -- it is always patient
        """See `Bench.attempt`. The player has the whole timeout for each message."""
        config = self._config
        endpoints = ProgramEndpoints(
            dialect=cast(Dialect, getattr(config.known_options, "dialect", "document")),
            detected_dialect=config.dialect,
        )
        context = PlayerContext(
            all_endpoints=[endpoints],
            start=self._start,
            seed=config.seed + number,
            timeout=config.timeout,
            strict=config.strict,
        )
        error: Exception | None = None
        try:
            await case.play(context)
        except OUTCOME_ERRORS as outcome:
            error = outcome
        dialogue = context.endpoints.dialogue
        attempt = make_attempt(case, error, dialogue, strict=config.strict, failure_is_choice=case.failure_is_choice)
        return attempt._replace(stderr=context.programs[-1].stderr if context.programs else b"")
