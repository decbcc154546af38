"""A refusal and a close: whether the client's last words are the reason for them, or they are a farewell.

A house may say farewell when a limit has expired or when it stops, and such a farewell may cross what a client says.
So one conversation proves nothing. It is held again, with a longer silence before the last words each time: a house
that is silent for longer than the whole conversation before took had no limit that expired in that one.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate, dropwhile, takewhile
from typing import Final

from croupier.conformance.servers.scripted_client import UNCHUNKED, Chunking, ClientScript, ScriptedClient, Wait
from croupier.conformance.servers.test_data import Scenario, ScenarioContext, ServerTestData
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer

MIN_CONFIRMATIONS: Final = 3
"""A close has to follow the same words in this many conversations in a row."""

MAX_CONVERSATIONS: Final = 8
"""At most this many conversations are held before the house is given the benefit of the doubt."""

FIRST_PAUSE_SECONDS: Final = 0.02
"""The first silence before the last words, and the time to listen behind them, in seconds."""

type RunScenario = Callable[[Scenario, Chunking], Awaitable[ScriptedClient]]
"""Has a new conversation with the same house."""


class ProvokedCloseDetector:
    """Judges the closes of houses on a ground whose `parting` tells how they take leave; on any other, none."""

    def __init__(self, test_data: ServerTestData, answer_timeout: float) -> None:
        self._parting = test_data.farewell_rule
        self._refuses = test_data.is_refusal
        self._patience = answer_timeout

    async def find_provoked(
        self, suspect: ScriptedClient, run_scenario: RunScenario, delivery: Chunking
    ) -> ScriptedClient | None:
        """A conversation that shows that the client's words were the reason; None where it may have been another."""
        says = self._dismissed(suspect)
        if self._parting is None or not says:
            return None
        wait, shown = FIRST_PAUSE_SECONDS, 0
        for _ in range(MAX_CONVERSATIONS):
            idle: list[bool] = []
            found = await run_scenario(_spoken(says, wait, idle), delivery)
            heard = self._dismissed(found)
            if not heard:
                break
            if len(heard) < len(says):
                says, wait, shown = heard, FIRST_PAUSE_SECONDS, 0
                continue
            idle.append(found.conversation.referee.game is None)
            if any(idle) and not await self._takes((*says[:-1], self._parting.opening), wait, run_scenario):
                break
            shown += 1
            if shown == MIN_CONFIRMATIONS:
                found.accuse(Violation(self._parting.clause, "a refusal and the close", "an open connection"))
                return found
            wait = 2 * found.duration_seconds + FIRST_PAUSE_SECONDS
            if wait > self._patience:
                break
        return None

    def _dismissed(self, probe: ScriptedClient) -> Sequence[bytes]:
        """What the client had said when the house refused it and closed, if the house could read all of it.

        Nothing where the house has not closed behind a refusal, or has said something else to the same words.
        """
        conversation = probe.conversation
        if not probe.house_has_left or probe.fault is not None or conversation.tolerated(CLIENT):
            return ()
        if any(_lost(line.message) for line in conversation.lines if line.side == CLIENT):
            return ()
        words = [line for line in conversation.lines if line.side == HOUSE]
        if not words or not self._refuses(words[-1].message):
            return ()
        wire = dropwhile(_is_from(CLIENT), reversed(probe.wire_log))
        heard = [data for _, data in takewhile(_is_from(HOUSE), wire)]
        return _said(probe, len(heard)) if b"".join(reversed(heard)) == words[-1].data else ()

    async def _takes(self, says: Sequence[bytes], wait: float, meet: RunScenario) -> bool:
        """Whether the house takes the last of these words, none of them in pieces, and stays."""
        found = await meet(_spoken(says, wait, []), UNCHUNKED)
        last = found.conversation.lines[-2:]
        if found.house_has_left or found.fault is not None or [line.side for line in last] != [CLIENT, HOUSE]:
            return False
        return not self._refuses(last[-1].message)


def _is_from(side: Peer) -> Callable[[tuple[Peer, bytes]], bool]:
    return lambda piece: piece[0] == side


def _said(probe: ScriptedClient, heard: int) -> Sequence[bytes]:
    """What the client had said, or begun to say, before the last pieces of the house."""
    last = max(place for place, piece in enumerate(probe.wire_log) if piece[0] == HOUSE)
    sent = sum(len(data) for side, data in probe.wire_log[: last - heard + 1] if side == CLIENT)
    ends = accumulate(map(len, probe.sent), initial=0)
    return tuple(says for says, begins in zip(probe.sent, ends, strict=False) if begins < sent)


def _lost(message: object) -> bool:
    return type(message) is Violation and message.fatal


def _spoken(says: Sequence[bytes], wait: float, idle: list[bool]) -> Scenario:
    """Say these things, the last of them behind a silence; note whether no game is being played then."""

    def play(talk: ScenarioContext) -> ClientScript:
        yield from says[:-1]
        yield Wait(wait)
        idle.append(talk.referee.game is None)
        yield says[-1]
        yield Wait(FIRST_PAUSE_SECONDS)
        return None

    return play
