"""A hold'em house with a simulated clock, for tests: requests, responses, effects and views."""

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


class HouseFixture:
    """A house with a simulated clock. `decks` are fixed decks, separated by `/`; without them the deals are random."""

    def __init__(self, decks: str = "", seed: int = 1, epoch: float = 0.0, **settings: Any) -> None:
        fixed = PACK.parse_decks("\n\n".join(decks.split("/")).replace(" ", "\n")) if decks else ()
        self.settings = Settings(**settings)
        self._new = lambda: House(
            self.settings, lambda deal: dealer(fixed, seed, deal), derive_server_seed(seed, "holdem", 0), epoch, now=0.0
        )
        self.house = self._new()
        self.now = 0.0
        self.facts: list[Any] = []
        self.request_count = 0

    def restart(self) -> None:
        """Replace the house with a new one restored from its snapshot."""
        snapshot = self.house.snapshot()
        self.house = self._new()
        self.house.restore(snapshot)
        assert self.house.snapshot() == snapshot

    def request(self, request: HoldemRequest) -> HoldemResponse:
        """Send a request and return its response, which must be the last effect."""
        self.request_count += 1
        *facts, sent = self.house.on(Received(self.request_count, request), self.now)
        assert isinstance(sent, Send)
        assert sent.peer == self.request_count
        self._record_facts(facts)
        response: HoldemResponse = sent.message
        return response

    def _record_facts(self, effects: Sequence[Any]) -> None:
        assert not any(isinstance(fact, Send) for fact in effects)
        self.facts += effects

    def table(self, game: str | None = None) -> Table:
        """Return the table of a game, by default the first one."""
        if game is None:
            return self.house.games()[0]
        table = self.house.game(game)
        assert table is not None
        return table

    def open(self, user: str) -> str:
        """Open a game and return its GUID."""
        response = self.request(Open(user))
        assert isinstance(response, Created)
        assert response.is_new_game
        return response.game

    def join(self, *users: str, game: str | None = None) -> HoldemResponse:
        """Let users join a game one after another. Return the last response."""
        return [self.request(Join(user, self.table(game).guid)) for user in users][-1]

    def bet(self, user: str, chips: int, game: str | None = None) -> HoldemResponse:
        return self.request(Act(user, self.table(game).guid, self.house.guid_of(user), ACTION_BET, chips))

    def fold(self, user: str, game: str | None = None) -> HoldemResponse:
        return self.request(Act(user, self.table(game).guid, self.house.guid_of(user), ACTION_FOLD))

    def leave(self, user: str, game: str | None = None) -> HoldemResponse:
        return self.request(Leave(user, self.table(game).guid, self.house.guid_of(user)))

    def play(self, line: str, game: str | None = None) -> None:
        """Perform valid acts in order: `ann 20, bob fold, ann 0`."""
        for act in line.split(", "):
            user, chips = act.split()
            response = self.fold(user, game) if chips == "fold" else self.bet(user, int(chips), game)
            assert response == ActDone(), f"{act}: {response}"

    def wait(self, seconds: float) -> None:
        """Advance the clock and send TimedOut events at the deadlines."""
        until = self.now + seconds
        while (deadline := self.house.deadline) is not None and deadline <= until:
            self.now = max(self.now, deadline)
            self._record_facts(self.house.on(TimedOut(), self.now))
        self.now = until

    def close(self, *, final: bool = False) -> None:
        self._record_facts(self.house.on(Closing(final), self.now))

    def json_view(self, user: str | None = None, game: str | None = None) -> Any:
        """Return a user's view of a game, decoded from its JSON."""
        return msgspec.json.decode(encode(self.table(game).view(user), self.settings.dialect))

    def view(self, user: str | None = None, game: str | None = None) -> Game:
        return self.table(game).view(user)

    def turn(self, game: str | None = None) -> str:
        """Return the name of the player to act; empty if there is none."""
        shown = self.view(None, game)
        return next((player.handle for player in shown.table if player.player_id == shown.turn.player_id), "")

    def chips(self, game: str | None = None) -> dict[str, int]:
        """Return the wealth of the players by name."""
        return {player.handle: player.wealth for player in self.view(None, game).table}

    def states(self, game: str | None = None) -> dict[str, str]:
        return {player.handle: player.state for player in self.view(None, game).table}

    def pots(self, game: str | None = None) -> list[tuple[int, str]]:
        """Return the size and the payers' names of the pots."""
        names = {self.house.guid_of(user): user for user in ("ann", "bob", "cat", "dan", "eve", "fay")}
        return [(pot.size, " ".join(names[guid] for guid in pot.players)) for pot in self.view(None, game).pots]

    @property
    def nets(self) -> list[tuple[int, ...]]:
        """The net results of the finished hands."""
        return [fact.nets for fact in self.facts if isinstance(fact, HandFinished)]

    @property
    def versions(self) -> list[tuple[str, int]]:
        """The tables and versions of the TableChanged effects."""
        return [(fact.table, fact.version) for fact in self.facts if isinstance(fact, TableChanged)]


def dealer(decks: Sequence[Order], seed: int, deal: int) -> Dealer:
    """Return the dealer of the n-th hand of a house."""
    server_seed = derive_server_seed(seed, "holdem", deal)
    return ScriptedDealer([decks[(deal - 1) % len(decks)]], server_seed) if decks else FairDealer(server_seed)


def seated(response: HoldemResponse) -> bool:
    """Return whether a join got a seat, not a place in the queue."""
    assert isinstance(response, Created | Queued), response
    return isinstance(response, Created)


SHOWDOWN = "AS 2C AH 2D KS QH 9C 8D 4H"
"""A heads-up deck: the button (and small blind) has a pair of aces, the big blind a pair of twos."""


def duel(decks: str = SHOWDOWN, **settings: Any) -> HouseFixture:
    """Return a heads-up house: ann has the button and the small blind, bob the big blind."""
    fixture = HouseFixture(decks, **settings)
    fixture.join("ann", "bob")
    return fixture


def trio(decks: str = "", **settings: Any) -> HouseFixture:
    """Return a three-handed house in its second hand.

    Bob has the button, cat the small blind, ann the big blind; ann has lost 10 to bob.
    """
    fixture = duel(decks, **settings)
    fixture.join("cat")
    fixture.play("ann fold")
    return fixture


def refused(response: Any) -> tuple[int, str]:
    """Return the status and the clause of a refusal, and check the form of its text."""
    assert isinstance(response, RequestRefused), response
    assert response.detail.startswith("found ")
    assert "; allowed: " in response.detail
    assert response.detail.isprintable()
    return response.status, response.clause
