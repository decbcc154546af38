"""A house with a mutation, served on a local port as the rogue houses are."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from croupier.core.dealer import Dealer
from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom, TableFactory
from croupier.core.session import Event, Malformed, Peer, Received, Settle, Timeouts
from croupier.core.transcript import Transcript, house_settings
from tests.conformance.house_fixture import HouseFixture, Table
from tests.conformance.mutants.mutation import Mutation, Situation

type StateOf = Callable[[Any, int], str]
"""The name of the state of a table after this many games."""


class ObservedTable:
    """A table of a house that notes the situation of every message, and whose state a mutation can change."""

    def __init__(self, table: Any, state_of: StateOf, mutation: Mutation) -> None:
        self.table = table
        self.situation = Situation(state_of(table, 0), None)
        self._state_of = state_of
        self._mutation = mutation
        self._memory: dict[str, Any] = {}
        self._games = 0
        self._messages = 0

    @property
    def deadline(self) -> float | None:
        return self.table.deadline

    def on(self, event: Event[Any], now: float) -> Sequence[Any]:
        match event:
            case Received(_, message) | Malformed(_, message):
                state = self._state_of(self.table, self._games)
                coins, game = self.table._purse.coins, self.table._state
                self.situation = Situation(state, message, self._games, self._messages, coins, game, self._memory)
                self._messages += 1
                self._mutation.before(self.table, self.situation)
                effects = self.table.on(event, now)
                self._games += any(type(effect) is Settle for effect in effects)
                self._mutation.after(self.table, self.situation)
                return effects
            case _:
                return self.table.on(event, now)


class Connection:
    """A connection whose bytes are read with a mutation."""

    def __init__(self, table: Table, mutation: Mutation, room: HouseRoom) -> None:
        self._table = table
        self._read = mutation.new_reader(room) if mutation.new_reader is not None else lambda data: [data]

    def greeting(self) -> Sequence[bytes]:
        return self._table.greeting()

    def hears(self, data: bytes) -> Sequence[bytes]:
        return [answer for piece in self._read(data) for answer in self._table.hears(piece)]


class MutantHouse(HouseFixture):
    """The house of a room with a mutation."""

    def __init__(self, room: HouseRoom, mutation: Mutation, state_of: StateOf, head: dict[str, str]) -> None:
        super().__init__(room, head)
        self._room = room
        self._head = head
        self._mutation = mutation
        self._state_of = state_of
        self._seeds = iter(range(1 << 20))
        initial = room.initial_purse(house_settings(room, Transcript("mutant", "settings", (), head, ())))
        self._purse = Purse(initial) if mutation.shares_purse else None
        self._shared = self._open_table() if mutation.is_shared else None
        self.table = lambda: self._shared or self._open_table()

    def _open_table(self) -> Any:
        opened: list[ObservedTable] = []
        room = replace(self._room, house=self._house_of(opened.append))

        def habit(said: bytes, answers: list[bytes]) -> Sequence[bytes]:
            return self._mutation.change(opened[-1].situation, answers)

        table = Table(room, self._head, habit, next(self._seeds), strict=False)
        return Connection(table, self._mutation, self._room)

    def _house_of(self, note: Callable[[ObservedTable], None]) -> Callable[[Any, Timeouts, bool], TableFactory]:
        """The factory of the room, whose tables are observed."""

        def house(settings: Any, timeouts: Timeouts, strict: bool) -> TableFactory:
            new_table = self._room.house(settings, timeouts, strict)

            def open_table(peer: Peer, dealer: Dealer, purse: Purse | None = None) -> ObservedTable:
                dealer = self._mutation.dealer(dealer) if self._mutation.dealer is not None else dealer
                table = ObservedTable(new_table(peer, dealer, purse or self._purse), self._state_of, self._mutation)
                note(table)
                return table

            return open_table

        return house
