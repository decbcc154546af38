"""The seats of a table, and the queue of those who wait for one (docs/protocols/holdem.md, 3 and 6.2)."""

from collections.abc import Sequence
from typing import Protocol

from croupier.core.rules import Seat
from croupier.rooms.holdem.table.persistence import ParticipantSnapshot
from croupier.rooms.holdem.wire import Guid


class Participant:
    """Somebody at a table or in its queue.

    `chair` is where he sits, from 0; None in the queue, and again when he has left. `chips` are what he has between
    hands, and what he began the running one with; `place` is his seat in that hand, None where he was not dealt in.
    """

    __slots__ = ("chair", "chips", "guid", "hand_seat", "user")

    def __init__(self, user: str, guid: Guid) -> None:
        self.user = user
        self.guid = guid
        self.chair: int | None = None
        self.chips = 0
        self.hand_seat: Seat | None = None


class Membership(Protocol):
    """Keeps which users are in which games."""

    def user_joined(self, user: str, game: Guid) -> None:
        """A user has joined a game."""
        ...

    def user_left(self, user: str, game: Guid) -> None:
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
        self._chairs: list[Participant | None] = [None] * chairs
        self._stack = stack
        self._queue: dict[Guid, Participant] = {}
        self._guids: dict[Guid, Participant] = {}
        self._users: dict[str, Participant] = {}
        self._button = -1
        self._big_blind: Participant | None = None

    def __len__(self) -> int:
        """How many sit or wait here."""
        return len(self._guids)

    @property
    def has_free_seat(self) -> bool:
        """Whether somebody who comes now can sit down, because nobody waits for the last free seat (holdem-3.1)."""
        return len(self._guids) < len(self._chairs)

    @property
    def seated_participants(self) -> list[Participant]:
        """Who sits, clockwise."""
        return [sitter for sitter in self._chairs if sitter is not None]

    def by_user(self, user: str) -> Participant | None:
        """The place of a user, seated or in the queue."""
        return self._users.get(user)

    def by_guid(self, guid: Guid) -> Participant | None:
        """The same by the GUID."""
        return self._guids.get(guid)

    def add(self, user: str, guid: Guid) -> Participant:
        """Somebody comes: he has the first free seat, or is the last in the queue (holdem-3.5, holdem-3.6)."""
        sitter = Participant(user, guid)
        if self.has_free_seat:
            self._take_seat(sitter)
        else:
            self._queue[guid] = sitter
        self._guids[guid] = self._users[user] = sitter
        self._members.user_joined(user, self._game)
        return sitter

    def remove(self, participant: Participant) -> None:
        """Somebody leaves, with the chips that he has."""
        del self._guids[participant.guid], self._users[participant.user]
        self._members.user_left(participant.user, self._game)
        if participant.chair is None:
            del self._queue[participant.guid]
        else:
            self._chairs[participant.chair] = None
            participant.chair = None

    def fill_from_queue(self) -> None:
        """Give the seats that are free to the first of the queue (holdem-3.9)."""
        while self._queue and None in self._chairs:
            self._take_seat(self._queue.pop(next(iter(self._queue))))

    @property
    def last_button_and_big_blind(self) -> tuple[int, Guid | None]:
        """The chair that had the button last, and who of those here has posted the big blind last."""
        blind = self._big_blind
        return self._button, blind.guid if blind is not None and self._guids.get(blind.guid) is blind else None

    def snapshot(self) -> list[ParticipantSnapshot]:
        """Everybody who sits, and then those who wait, as they are kept."""
        return [
            ParticipantSnapshot(one.user, one.guid, one.chair, one.chips, one.hand_seat)
            for one in (*self.seated_participants, *self._queue.values())
        ]

    def restore(self, snapshots: Sequence[ParticipantSnapshot], button: int, big_blind: Guid | None) -> None:
        """Let those sit down and wait who were kept."""
        for entry in snapshots:
            sitter = Participant(entry.user, entry.guid)
            sitter.chair, sitter.chips, sitter.hand_seat = entry.chair, entry.chips, entry.place
            self._guids[entry.guid] = self._users[entry.user] = sitter
            self._members.user_joined(entry.user, self._game)
            if entry.chair is None:
                self._queue[entry.guid] = sitter
            else:
                self._chairs[entry.chair] = sitter
        self._button = button
        self._big_blind = None if big_blind is None else self._guids[big_blind]

    def _take_seat(self, sitter: Participant) -> None:
        sitter.chair = self._chairs.index(None)
        sitter.chips = self._stack
        self._chairs[sitter.chair] = sitter

    def pass_button(self, dealt: Sequence[Participant]) -> Seat:
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
