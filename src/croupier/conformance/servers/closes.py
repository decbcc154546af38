"""A refusal and a close: whether the client's last words are the reason for them, or they are a farewell.

A house may say farewell when a limit has expired or when it stops, and such a farewell may cross what a client says.
So one conversation proves nothing. It is held again, with a longer silence before the last words each time: a house
that is silent for longer than the whole conversation before took had no limit that expired in that one.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate, dropwhile, takewhile
from typing import Final

from croupier.conformance.servers.scripted_client import WHOLE, Delivery, Probe, Script, Wait
from croupier.conformance.servers.test_data import Ground, Play, Talk
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer

SHOWN: Final = 3
"""A close has to follow the same words in this many conversations in a row."""

ROUNDS: Final = 8
"""At most this many conversations are held before the house is given the benefit of the doubt."""

PAUSE: Final = 0.02
"""The first silence before the last words, and the time to listen behind them, in seconds."""

type Meet = Callable[[Play, Delivery], Awaitable[Probe]]
"""Has a new conversation with the same house."""


class Partings:
    """Judges the closes of houses on a ground whose `parting` tells how they take leave; on any other, none."""

    def __init__(self, ground: Ground, patience: float) -> None:
        self._parting = ground.parting
        self._refuses = ground.refuses
        self._patience = patience

    async def provoked(self, suspect: Probe, meet: Meet, delivery: Delivery) -> Probe | None:
        """A conversation that shows that the client's words were the reason; None where it may have been another."""
        says = self._dismissed(suspect)
        if self._parting is None or not says:
            return None
        wait, shown = PAUSE, 0
        for _ in range(ROUNDS):
            idle: list[bool] = []
            found = await meet(_spoken(says, wait, idle), delivery)
            heard = self._dismissed(found)
            if not heard:
                break
            if len(heard) < len(says):
                says, wait, shown = heard, PAUSE, 0
                continue
            idle.append(found.conversation.referee.game is None)
            if any(idle) and not await self._takes((*says[:-1], self._parting.opening), wait, meet):
                break
            shown += 1
            if shown == SHOWN:
                found.accuse(Violation(self._parting.clause, "a refusal and the close", "an open connection"))
                return found
            wait = 2 * found.lasted + PAUSE
            if wait > self._patience:
                break
        return None

    def _dismissed(self, probe: Probe) -> Sequence[bytes]:
        """What the client had said when the house refused it and closed, if the house could read all of it.

        Nothing where the house has not closed behind a refusal, or has said something else to the same words.
        """
        conversation = probe.conversation
        if not probe.house_left or probe.fault is not None or conversation.departures(CLIENT):
            return ()
        if any(_lost(line.message) for line in conversation.lines if line.side == CLIENT):
            return ()
        words = [line for line in conversation.lines if line.side == HOUSE]
        if not words or not self._refuses(words[-1].message):
            return ()
        wire = dropwhile(_is_from(CLIENT), reversed(probe.wire))
        heard = [data for _, data in takewhile(_is_from(HOUSE), wire)]
        return _said(probe, len(heard)) if b"".join(reversed(heard)) == words[-1].data else ()

    async def _takes(self, says: Sequence[bytes], wait: float, meet: Meet) -> bool:
        """Whether the house takes the last of these words, none of them in pieces, and stays."""
        found = await meet(_spoken(says, wait, []), WHOLE)
        last = found.conversation.lines[-2:]
        if found.house_left or found.fault is not None or [line.side for line in last] != [CLIENT, HOUSE]:
            return False
        return not self._refuses(last[-1].message)


def _is_from(side: Peer) -> Callable[[tuple[Peer, bytes]], bool]:
    return lambda piece: piece[0] == side


def _said(probe: Probe, heard: int) -> Sequence[bytes]:
    """What the client had said, or begun to say, before the last pieces of the house."""
    last = max(place for place, piece in enumerate(probe.wire) if piece[0] == HOUSE)
    sent = sum(len(data) for side, data in probe.wire[: last - heard + 1] if side == CLIENT)
    ends = accumulate(map(len, probe.said), initial=0)
    return tuple(says for says, begins in zip(probe.said, ends, strict=False) if begins < sent)


def _lost(message: object) -> bool:
    return type(message) is Violation and message.lost


def _spoken(says: Sequence[bytes], wait: float, idle: list[bool]) -> Play:
    """Say these things, the last of them behind a silence; note whether no game is being played then."""

    def play(talk: Talk) -> Script:
        yield from says[:-1]
        yield Wait(wait)
        idle.append(talk.referee.game is None)
        yield says[-1]
        yield Wait(PAUSE)
        return None

    return play
