"""Players of Old Maid: each group that joins together shares one pace. An act is a request to the table."""

from collections.abc import Coroutine, Sequence
from time import monotonic
from typing import Any

from croupier.clients.luck import make_luck
from croupier.clients.ring import RingClient, RingConfig
from croupier.core.dealer import Luck
from croupier.core.session import Address, Closing, Effect, Event, Left, Received, Send, TimedOut
from croupier.load.errors import ended_game, no_answer
from croupier.load.measurement import Measurement
from croupier.load.plan import Plan
from croupier.load.visits import VisitFailed, Visitor, visitors_by_table
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.ring.player_events import PlayerFinished
from croupier.rooms.oldmaid.wire import Join


class PacedPlayer:
    """The session of a player (see `Session`) whose requests to the table wait until they are due, and are measured.

    The request to join is answered when the game begins, so it is neither. A player leaves a table that has not
    answered another request for `answer_seconds`; `is_unanswered` is true then.
    """

    def __init__(self, player: Player, visitor: Visitor, measurement: Measurement, answer_seconds: float) -> None:
        self.is_unanswered = False
        self._player = player
        self._visitor = visitor
        self._measurement = measurement
        self._answer_seconds = answer_seconds
        self._request: Send[Any] | None = None  # the next one, until it is due
        self._due = 0.0
        self._answer_until: float | None = None

    @property
    def deadline(self) -> float | None:
        """When the next request is due, the answer to the last one is late, or the player has to act."""
        request_due = None if self._request is None else self._due
        times = (self._player.deadline, request_due, self._answer_until)
        return min((time for time in times if time is not None), default=None)

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        """Handle an event, and hold back a request that is not due yet."""
        match event:
            case Received(peer) if peer == TABLE and self._answer_until is not None:
                self._answer_until = None
                self._visitor.answer(now)
            case Left(peer) if peer == TABLE:
                self._request = self._answer_until = None
            case TimedOut() if self._answer_until is not None and self._answer_until <= now:
                self.is_unanswered, self._answer_until = True, None
                return self._player.on(Closing(), now)
        effects = []
        is_player_due = self._player.deadline is not None and self._player.deadline <= now
        for effect in self._player.on(event, now) if type(event) is not TimedOut or is_player_due else ():
            if type(effect) is Send and effect.peer == TABLE and not isinstance(effect.message, Join):
                self._request, self._due = effect, self._visitor.pace.take(now)
            else:
                effects.append(effect)
        if self._request is not None and self._due <= now:
            effects.append(self._request)
            self._request, self._answer_until = None, now + self._answer_seconds
            self._measurement.send(self._visitor.number, self._due, now)
        return effects


class OldMaidPlayer:
    """A player with its own nick."""

    def __init__(self, plan: Plan, config: RingConfig, visitor: Visitor, measurement: Measurement) -> None:
        self._visitor = visitor
        self._measurement = measurement
        self._answer_seconds = plan.answer_seconds
        self._config = config
        self._options = Options(f"load{visitor.number + 1}", pause=0.0, dialect=plan.options.dialect)
        self._bot = plan.bot.make()
        self._luck: Luck = make_luck(plan.seed, "load", visitor.number)
        self._session: PacedPlayer

    def _wrap_session(self, player: Player) -> PacedPlayer:
        self._session = PacedPlayer(player, self._visitor, self._measurement, self._answer_seconds)
        return self._session

    async def visit(self) -> None:
        """Join, play one game, and leave."""
        ring = RingClient(self._config, self._options, self._luck, wrap_session=self._wrap_session, clock=monotonic)
        async with self._visitor.connect():
            await ring.__aenter__()
        async with self._visitor.stay(lambda: ring.__aexit__(None, None, None)):
            await self._play(ring)

    async def _play(self, ring: RingClient) -> None:
        event: Any = None
        while not isinstance(event, PlayerFinished):
            pick = ring.player.decide(self._bot, self._luck)
            if pick is not None:
                await ring.send(pick)
            event = await ring.receive()
        self._measurement.games += event.result.outcome != "ended"
        if self._session.is_unanswered:
            raise VisitFailed(no_answer(self._answer_seconds))
        if event.result.outcome == "ended":
            raise VisitFailed(ended_game(event.result.reason))


def play_oldmaid(
    plan: Plan, numbers: range, address: Address, measurement: Measurement, start: float
) -> list[Coroutine[Any, Any, None]]:
    """Return what the players of a process do; it never ends."""
    config = RingConfig(address, strict=plan.strict, ssl=plan.tls.ssl_context())
    players = []
    for arrival, visitors in visitors_by_table(plan, numbers, measurement, start):
        players += [
            visitor.play(arrival, OldMaidPlayer(plan, config, visitor, measurement).visit) for visitor in visitors
        ]
    return players
