"""A bout: our player against our house, in memory, and a referee between them."""

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

GUEST = 1


@dataclass
class Bout:
    """Our player against our house, in memory, until somebody says goodbye."""

    room: HouseRoom
    mind: Bot[Any, Any]
    head: dict[str, str]
    told: list[Any] = field(default_factory=list)
    won: list[tuple[int, int, int]] = field(default_factory=list)
    paid: list[tuple[int, int, int]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    referee: Callable[[], Any] | None = None

    def play(self, games: int) -> None:
        luck = FairDealer(derive_server_seed(int(self.head["seed"]), "mind", 1)).luck
        self.player = self.room.player(self.room.options(), False)
        paper = Transcript("law", "a law", (), self.head, ())
        self.house, own = make_hall(self.room, paper), house_settings(self.room, paper)
        self._bench = RefereeObserver(
            self.referee or partial(self.room.referee, own, False), lambda _, verdict: self.verdicts.append(verdict)
        )
        self._at_house(Joined(GUEST))
        self._at_player(Joined(HOUSE))
        while len(self.won) < games:
            choice = self.player.decide(self.mind, luck, len(self.won))
            assert choice in self.player.legal, "with this house there is always something to say"
            self._at_player(Submitted(choice))
            if not self.player.legal:
                return

    def _at_house(self, event: Event[Any]) -> None:
        effects = self.house.on(event, 0.0)
        self._bench(event, effects, 0.0)
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
                    self._at_house(Received(GUEST, message))
                case Settle(_, hand, seat, net):
                    self.won.append((hand, seat, net))
                case Notify(news):
                    self.told.append(news)
                case _:
                    pass
