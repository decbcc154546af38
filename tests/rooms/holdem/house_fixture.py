"""A house of hold'em that users walk into: what they ask, what they are answered, and what they see."""

from collections.abc import Sequence
from typing import Any

import msgspec

from croupier.core.cards import Order
from croupier.core.dealer import Dealer, FairDealer, ScriptedDealer, derive_server_seed
from croupier.core.session import Closing, HandFinished, Received, Send, TableChanged, TimedOut
from croupier.rooms.holdem import Settings
from croupier.rooms.holdem.cards import PACK
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import (
    ACTION_BET,
    ACTION_FOLD,
    Act,
    ActDone,
    Created,
    Game,
    HoldemRequest,
    HoldemResponse,
    Join,
    Leave,
    Open,
    Queued,
    RequestRefused,
    encode,
)


class Parlour:
    """A house with a clock. `decks` are laid out by hand, `/` between those of different hands; the rest is luck."""

    def __init__(self, decks: str = "", seed: int = 1, epoch: float = 0.0, **settings: Any) -> None:
        laid = PACK.parse_decks("\n\n".join(decks.split("/")).replace(" ", "\n")) if decks else ()
        self.settings = Settings(**settings)
        self._new = lambda: House(
            self.settings, lambda deal: dealer(laid, seed, deal), derive_server_seed(seed, "holdem", 0), epoch, now=0.0
        )
        self.house = self._new()
        self.now = 0.0
        self.facts: list[Any] = []
        self.asked = 0

    def interrupt(self) -> None:
        """From now on there is another house, which goes on where the one before it was."""
        kept = self.house.snapshot()
        self.house = self._new()
        self.house.restore(kept)
        assert self.house.snapshot() == kept

    def ask(self, request: HoldemRequest) -> HoldemResponse:
        """What the house answers; it says nothing else, and says it last."""
        self.asked += 1
        *facts, said = self.house.on(Received(self.asked, request), self.now)
        assert isinstance(said, Send)
        assert said.peer == self.asked
        self._hear(facts)
        answer: HoldemResponse = said.message
        return answer

    def _hear(self, facts: Sequence[Any]) -> None:
        assert not any(isinstance(fact, Send) for fact in facts)
        self.facts += facts

    def table(self, game: str | None = None) -> Table:
        """The table of a game, or the first there is."""
        if game is None:
            return self.house.games()[0]
        found = self.house.game(game)
        assert found is not None
        return found

    def open(self, user: str) -> str:
        """Somebody opens a game."""
        answer = self.ask(Open(user))
        assert isinstance(answer, Created)
        assert answer.is_new_game
        return answer.game

    def join(self, *users: str, game: str | None = None) -> HoldemResponse:
        """These join a game, one after another: the answer to the last."""
        return [self.ask(Join(user, self.table(game).guid)) for user in users][-1]

    def bet(self, user: str, chips: int, game: str | None = None) -> HoldemResponse:
        return self.ask(Act(user, self.table(game).guid, self.house.guid_of(user), ACTION_BET, chips))

    def fold(self, user: str, game: str | None = None) -> HoldemResponse:
        return self.ask(Act(user, self.table(game).guid, self.house.guid_of(user), ACTION_FOLD))

    def leave(self, user: str, game: str | None = None) -> HoldemResponse:
        return self.ask(Leave(user, self.table(game).guid, self.house.guid_of(user)))

    def play(self, line: str, game: str | None = None) -> None:
        """Valid acts in a row: `ann 20, bob fold, ann 0`."""
        for act in line.split(", "):
            user, chips = act.split()
            answer = self.fold(user, game) if chips == "fold" else self.bet(user, int(chips), game)
            assert answer == ActDone(), f"{act}: {answer}"

    def wait(self, seconds: float) -> None:
        """Time passes; alarms ring when they are due."""
        until = self.now + seconds
        while (alarm := self.house.deadline) is not None and alarm <= until:
            self.now = max(self.now, alarm)
            self._hear(self.house.on(TimedOut(), self.now))
        self.now = until

    def halt(self, *, final: bool = False) -> None:
        self._hear(self.house.on(Closing(final), self.now))

    def sees(self, user: str | None = None, game: str | None = None) -> Any:
        """What somebody sees of a game, as it comes out of its JSON."""
        return msgspec.json.decode(encode(self.table(game).view(user), self.settings.dialect))

    def view(self, user: str | None = None, game: str | None = None) -> Game:
        return self.table(game).view(user)

    def turn(self, game: str | None = None) -> str:
        """Whose turn it is, by name; empty when it is nobody's."""
        shown = self.view(None, game)
        return next((player.handle for player in shown.table if player.player_id == shown.turn.player_id), "")

    def chips(self, game: str | None = None) -> dict[str, int]:
        """Everybody's wealth."""
        return {player.handle: player.wealth for player in self.view(None, game).table}

    def states(self, game: str | None = None) -> dict[str, str]:
        return {player.handle: player.state for player in self.view(None, game).table}

    def pots(self, game: str | None = None) -> list[tuple[int, str]]:
        """The pots, with the names of those who have paid into them."""
        names = {self.house.guid_of(user): user for user in ("ann", "bob", "cat", "dan", "eve", "fay")}
        return [(pot.size, " ".join(names[guid] for guid in pot.players)) for pot in self.view(None, game).pots]

    @property
    def nets(self) -> list[tuple[int, ...]]:
        """What every hand has come to."""
        return [fact.nets for fact in self.facts if isinstance(fact, HandFinished)]

    @property
    def versions(self) -> list[tuple[str, int]]:
        """What was told to have changed."""
        return [(fact.table, fact.version) for fact in self.facts if isinstance(fact, TableChanged)]


def dealer(decks: Sequence[Order], seed: int, deal: int) -> Dealer:
    """The dealer of the n-th hand of a house."""
    server_seed = derive_server_seed(seed, "holdem", deal)
    return ScriptedDealer([decks[(deal - 1) % len(decks)]], server_seed) if decks else FairDealer(server_seed)


def seated(answer: HoldemResponse) -> bool:
    """Whether somebody who has joined has a seat, and not a place in the queue."""
    assert isinstance(answer, Created | Queued), answer
    return isinstance(answer, Created)


SHOWDOWN = "AS 2C AH 2D KS QH 9C 8D 4H"
"""Two play: the button (and small blind) has a pair of aces, the other one a pair of twos."""


def duel(decks: str = SHOWDOWN, **settings: Any) -> Parlour:
    """Ann has the button and the small blind, bob the big blind."""
    parlour = Parlour(decks, **settings)
    parlour.join("ann", "bob")
    return parlour


def trio(decks: str = "", **settings: Any) -> Parlour:
    """Bob has the button, cat the small blind, ann the big blind; ann has lost 10 to bob. It is the second hand."""
    parlour = duel(decks, **settings)
    parlour.join("cat")
    parlour.play("ann fold")
    return parlour


def refused(answer: Any) -> tuple[int, str]:
    """The status and the clause of a refusal, whose text says what was found and what is allowed."""
    assert isinstance(answer, RequestRefused), answer
    assert answer.detail.startswith("found ")
    assert "; allowed: " in answer.detail
    assert answer.detail.isprintable()
    return answer.status, answer.clause
