"""The seats of a table, and the queue of those who wait for one (docs/protocols/holdem.md, 3 and 6.2)."""

from collections.abc import Sequence
from typing import Protocol

from croupier.core.rules import Seat
from croupier.rooms.holdem.table.persistence import KeptSitter
from croupier.rooms.holdem.wire import Guid


class Sitter:
    """Somebody at a table or in its queue.

    `chair` is where he sits, from 0; None in the queue, and again when he has left. `chips` are what he has between
    hands, and what he began the running one with; `place` is his seat in that hand, None where he was not dealt in.
    """

    __slots__ = ("chair", "chips", "guid", "place", "user")

    def __init__(self, user: str, guid: Guid) -> None:
        self.user = user
        self.guid = guid
        self.chair: int | None = None
        self.chips = 0
        self.place: Seat | None = None


class Membership(Protocol):
    """Keeps which users are in which games."""

    def entered(self, user: str, game: Guid) -> None:
        """A user has joined a game."""
        ...

    def left(self, user: str, game: Guid) -> None:
        """A user is not in a game any more."""
        ...


class Seats:
    """The chairs of a game, whose sitters bring a `stack` of chips each, and a queue without end.

    `members` is notified of every user who comes or goes.
    """

    __slots__ = ("_big_blind", "_button", "_chairs", "_game", "_guids", "_members", "_queue", "_stack", "_users")

    def __init__(self, game: Guid, chairs: int, stack: int, members: Membership) -> None:
        self._game = game
        self._members = members
        self._chairs: list[Sitter | None] = [None] * chairs
        self._stack = stack
        self._queue: dict[Guid, Sitter] = {}
        self._guids: dict[Guid, Sitter] = {}
        self._users: dict[str, Sitter] = {}
        self._button = -1
        self._big_blind: Sitter | None = None

    def __len__(self) -> int:
        """How many sit or wait here."""
        return len(self._guids)

    @property
    def free(self) -> bool:
        """Whether somebody who comes now can sit down, because nobody waits for the last free seat (holdem-3.1)."""
        return len(self._guids) < len(self._chairs)

    @property
    def seated(self) -> list[Sitter]:
        """Who sits, clockwise."""
        return [sitter for sitter in self._chairs if sitter is not None]

    def of(self, user: str) -> Sitter | None:
        """The place of a user, seated or in the queue."""
        return self._users.get(user)

    def called(self, guid: Guid) -> Sitter | None:
        """The same by the GUID."""
        return self._guids.get(guid)

    def add(self, user: str, guid: Guid) -> Sitter:
        """Somebody comes: he has the first free seat, or is the last in the queue (holdem-3.5, holdem-3.6)."""
        sitter = Sitter(user, guid)
        if self.free:
            self._sit(sitter)
        else:
            self._queue[guid] = sitter
        self._guids[guid] = self._users[user] = sitter
        self._members.entered(user, self._game)
        return sitter

    def remove(self, sitter: Sitter) -> None:
        """Somebody leaves, with the chips that he has."""
        del self._guids[sitter.guid], self._users[sitter.user]
        self._members.left(sitter.user, self._game)
        if sitter.chair is None:
            del self._queue[sitter.guid]
        else:
            self._chairs[sitter.chair] = None
            sitter.chair = None

    def fill(self) -> None:
        """Give the seats that are free to the first of the queue (holdem-3.9)."""
        while self._queue and None in self._chairs:
            self._sit(self._queue.pop(next(iter(self._queue))))

    @property
    def last(self) -> tuple[int, Guid | None]:
        """The chair that had the button last, and who of those here has posted the big blind last."""
        blind = self._big_blind
        return self._button, blind.guid if blind is not None and self._guids.get(blind.guid) is blind else None

    def kept(self) -> list[KeptSitter]:
        """Everybody who sits, and then those who wait, as they are kept."""
        return [
            KeptSitter(one.user, one.guid, one.chair, one.chips, one.place)
            for one in (*self.seated, *self._queue.values())
        ]

    def restore(self, kept: Sequence[KeptSitter], button: int, big_blind: Guid | None) -> None:
        """Let those sit down and wait who were kept."""
        for entry in kept:
            sitter = Sitter(entry.user, entry.guid)
            sitter.chair, sitter.chips, sitter.place = entry.chair, entry.chips, entry.place
            self._guids[entry.guid] = self._users[entry.user] = sitter
            self._members.entered(entry.user, self._game)
            if entry.chair is None:
                self._queue[entry.guid] = sitter
            else:
                self._chairs[entry.chair] = sitter
        self._button = button
        self._big_blind = None if big_blind is None else self._guids[big_blind]

    def _sit(self, sitter: Sitter) -> None:
        sitter.chair = self._chairs.index(None)
        sitter.chips = self._stack
        self._chairs[sitter.chair] = sitter

    def pass_button(self, dealt: Sequence[Sitter]) -> Seat:
        """The place of the button in the next hand, which is dealt to these, clockwise.

        It moves on to the next of them, and one further where otherwise the big blind would be posted by the one who
        has posted it last (holdem-6.2).
        """
        behind = 1 if len(dealt) == 2 else 2
        chairs = [sitter.chair for sitter in dealt if sitter.chair is not None]
        button = next((place for place, chair in enumerate(chairs) if chair > self._button), 0)
        if dealt[(button + behind) % len(dealt)] is self._big_blind:
            button = (button + 1) % len(dealt)
        self._button = chairs[button]
        self._big_blind = dealt[(button + behind) % len(dealt)]
        return button
