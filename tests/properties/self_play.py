"""Self-play in memory: our client against our house, observed by a referee."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from croupier.core.bots import Bot
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.referee import HOUSE, RefereeObserver, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Event, Joined, Notify, Received, Send, Settle, Submitted
from croupier.core.transcript import Transcript, house_settings, make_hall

CLIENT_PEER = 1


@dataclass
class SelfPlay:
    """A game of our client against our house, until one of them ends the conversation."""

    room: HouseRoom
    bot: Bot[Any, Any]
    head: dict[str, str]
    notices: list[Any] = field(default_factory=list)
    won: list[tuple[int, int, int]] = field(default_factory=list)
    paid: list[tuple[int, int, int]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    referee: Callable[[], Any] | None = None

    def play(self, games: int) -> None:
        random = FairDealer(derive_server_seed(int(self.head["seed"]), "mind", 1)).luck
        self.player = self.room.player(self.room.options())
        transcript = Transcript("sample", "a sample", (), self.head, ())
        self.house, own = make_hall(self.room, transcript), house_settings(self.room, transcript)
        self._observer = RefereeObserver(
            self.referee or partial(self.room.referee, own, False), lambda _, verdict: self.verdicts.append(verdict)
        )
        self._at_house(Joined(CLIENT_PEER))
        self._at_player(Joined(HOUSE))
        while len(self.won) < games:
            message = self.player.decide(self.bot, random, len(self.won))
            assert message in self.player.legal, "the client always has a message to send"
            self._at_player(Submitted(message))
            if not self.player.legal:
                return

    def _at_house(self, event: Event[Any]) -> None:
        effects = self.house.on(event, 0.0)
        self._observer(event, effects, 0.0)
        for effect in effects:
            match effect:
                case Send(_, message):
                    self._at_player(Received(HOUSE, message))
                case Settle(_, hand, seat, net):
                    self.paid.append((hand, seat, net))
                case _:
                    pass

    def _at_player(self, event: Event[Any]) -> None:
        for effect in self.player.on(event, 0.0):
            match effect:
                case Send(_, message):
                    self._at_house(Received(CLIENT_PEER, message))
                case Settle(_, hand, seat, net):
                    self.won.append((hand, seat, net))
                case Notify(notice):
                    self.notices.append(notice)
                case _:
                    pass
