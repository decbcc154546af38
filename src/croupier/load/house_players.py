"""All players of a house room in one process, as one session with a connection for each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from croupier.clients.luck import make_luck
from croupier.core.alarms import Alarms
from croupier.core.bots import Bot
from croupier.core.client_session import ClientSession
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.room import HouseRoom
from croupier.core.session import (
    Address,
    Closing,
    Connect,
    Drop,
    Effect,
    Event,
    Joined,
    Left,
    Notify,
    Peer,
    Send,
    Settle,
    Submitted,
    TimedOut,
)
from croupier.load.errors import NO_ACT, NO_COINS, bot_failed, cannot_connect, closed, no_answer, violated
from croupier.load.measurement import Measurement
from croupier.load.pace import Pace
from croupier.load.plan import Plan, retry_delay


@dataclass(slots=True)
class Player:
    """A player. `client` is its session while it is connected, or is leaving.

    `message` is the act that it makes at `due`; without one it waits for the house since `waiting_since`. `games` are
    the finished games of this visit. `error` is the first error of this visit. `failures` visits in a row have failed.
    """

    number: Peer
    bot: Bot[Any, Any]
    luck: Luck
    pace: Pace
    client: ClientSession[Any, Any] | None = None
    message: Any = None
    due: float = 0.0
    waiting_since: float = 0.0
    visit_since: float = 0.0
    games: int = 0
    total_games: int = 0
    has_acted: bool = False
    is_leaving: bool = False
    error: str = ""
    failures: int = 0


class HousePlayers:
    """The players as a session (see `Session`): a player's number is that of its connection.

    It connects by itself, from the first TimedOut on, until it is Closing.
    """

    def __init__(self, plan: Plan, numbers: range, address: Address, measurement: Measurement, start: float) -> None:
        room = plan.room
        assert isinstance(room, HouseRoom), "the other rooms have several players at a table"
        self._plan = plan
        self._room = room
        self._address = address
        self._measurement = measurement
        self._alarms: Alarms[int] = Alarms()
        self._is_closing = False
        self._effects: list[Effect[Any]] = []
        self._players = {number: self._new_player(number, start + plan.arrival(number)) for number in numbers}

    def _new_player(self, number: int, arrival: float) -> Player:
        plan = self._plan
        pace = plan.pace(range(number, number + 1), arrival)
        self._measurement.watch(pace)
        self._alarms.set(number, arrival)
        return Player(number, plan.bot.make(), make_luck(plan.seed, "load", number), pace)

    @property
    def deadline(self) -> float | None:
        """When the next player acts, arrives, or has waited for too long."""
        return self._alarms.next_at

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        """Handle an event of a player's connection, or let the players act whose time has come."""
        match event:
            case TimedOut():
                for _, number in self._alarms.ring(now):
                    self._wake(self._players[number], now)
            case Closing():
                self._is_closing = True
                self._alarms.clear()
                for player in self._players.values():
                    self._leave(player, now)
            case Joined(peer):
                self._arrive(self._players[peer], event, now)
            case Left(peer):
                self._depart(self._players[peer], event, now)
            case Submitted():
                raise IllegalMove(event, ())
            case _:
                self._handle(self._players[event.peer], event, now)
        effects, self._effects = self._effects, []
        return effects

    # Visits

    def _wake(self, player: Player, now: float) -> None:
        """Do what is due: connect, act, or give up waiting."""
        if player.client is None:
            player.visit_since = now
            self._effects.append(Connect(player.number, self._address))
        elif player.is_leaving:
            return
        elif player.message is not None:
            self._proceed(player, now)
        elif now < player.waiting_since + self._plan.answer_seconds:
            self._alarms.set(player.number, player.waiting_since + self._plan.answer_seconds)
        else:
            self._fail(player, no_answer(self._plan.answer_seconds))
            self._deliver(player, TimedOut(), now)
            self._leave(player, now)

    def _arrive(self, player: Player, event: Joined, now: float) -> None:
        """Begin a visit: the player is connected."""
        self._measurement.add_connection(now - player.visit_since)
        player.client = self._room.player(
            self._plan.options, strict=self._plan.strict, reply_timeout=self._plan.answer_seconds
        )
        player.games, player.has_acted, player.is_leaving, player.error = 0, False, False, ""
        self._deliver(player, event, now)
        if self._is_closing:
            self._leave(player, now)
        self._decide(player, now)

    def _leave(self, player: Player, now: float) -> None:
        """End the visit, if there is one, as the protocol has it."""
        if player.client is not None and not player.is_leaving:
            self._deliver(player, Closing(), now)

    def _depart(self, player: Player, event: Left, now: float) -> None:
        """Handle the end of a connection, or that there was none; the player comes again."""
        number, client = player.number, player.client
        if client is None:
            self._fail(player, cannot_connect(event.reason))
        else:
            self._measurement.connected -= 1
            was_leaving = player.is_leaving
            self._deliver(player, event, now)
            if not was_leaving and not client.is_exhausted:
                self._fail(player, closed(event.reason))
            elif not player.has_acted and not self._is_closing:
                self._fail(player, NO_ACT)
            elif client.is_broke and not player.games and not self._is_closing:
                self._fail(player, NO_COINS)
        self._measurement.abandon(number)
        player.failures = player.failures + 1 if player.error else 0
        player.client, player.message, player.error = None, None, ""
        self._alarms.remove(number)
        if not self._is_closing:
            self._alarms.set(number, now + retry_delay(player.failures))

    def _fail(self, player: Player, kind: str) -> None:
        """Count the first error of a visit, from which the others follow."""
        if not player.error:
            player.error = kind
            self._measurement.fail(kind)
            self._measurement.abandon(player.number)

    # Acts

    def _handle(self, player: Player, event: Event[Any], now: float) -> None:
        """Handle what the house has sent."""
        if player.client is None or player.is_leaving:
            return
        self._deliver(player, event, now)
        if self._measurement.is_in_flight(player.number) and player.client.deadline is None and not player.is_leaving:
            self._measurement.answer(player.number, now)
            player.has_acted = True
        self._decide(player, now)

    def _decide(self, player: Player, now: float) -> None:
        """Choose the next act, if the house is not to act; or leave after the last one."""
        client = player.client
        if client is None or player.is_leaving:
            return
        if client.is_exhausted:
            self._leave(player, now)
            return
        has_due, player.message = player.message is not None, None
        try:
            player.message = client.decide(player.bot, player.luck, player.total_games)
        except Exception as error:
            self._give_up(player, error, now)
            return
        if player.message is None:
            player.waiting_since = now
            self._alarms.set(player.number, now + self._plan.answer_seconds)
        elif player.games >= self._plan.games:
            player.message = None
            self._leave(player, now)
        else:
            player.due = player.due if has_due else player.pace.take(now)
            self._proceed(player, now)

    def _proceed(self, player: Player, now: float) -> None:
        """Make the act that was chosen, or set the alarm for it."""
        assert player.client is not None
        if player.due > now:
            self._alarms.set(player.number, player.due)
            return
        message, player.message = player.message, None
        self._measurement.send(player.number, player.due, now)
        try:
            self._deliver(player, Submitted(message), now)
        except IllegalMove as error:
            self._give_up(player, error, now)
        if player.client.deadline is None and not player.is_leaving:
            self._measurement.skip(player.number)
        self._decide(player, now)

    def _give_up(self, player: Player, error: Exception, now: float) -> None:
        """Leave, because the bot has failed."""
        self._fail(player, bot_failed(error))
        self._leave(player, now)

    def _deliver(self, player: Player, event: Event[Any], now: float) -> None:
        """Deliver an event to the player's session, and take over its effects."""
        assert player.client is not None
        for effect in player.client.on(event, now):
            if type(effect) is Send:
                self._effects.append(Send(player.number, effect.message))
            elif type(effect) is Notify and isinstance(effect.notice, Violation):
                self._fail(player, violated(effect.notice))
            elif type(effect) is Settle:
                player.games += 1
                player.total_games += 1
                self._measurement.games += 1
            elif type(effect) is Drop:
                player.is_leaving, player.message = True, None
                self._effects.append(Drop(player.number))
