"""The seats of a table, the queue for them, and the button (docs/protocols/holdem.md, 3 and 6.2)."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from croupier.core.rules import Seat
from croupier.rooms.holdem.table.person_clock import PersonClock
from croupier.rooms.holdem.table.register import Register
from croupier.rooms.holdem.wire import Guid


class Participant(Struct, eq=False):
    """A player at a table or in its queue, also in snapshots of the table.

    `chair` is the physical seat, from 0; None in the queue and after leaving. `chips` is the stack between hands, or at
    the start of the running hand. `hand_seat` is the seat in the running hand; None if the player was not dealt in.
    `person` is the time of a person in the web app, None for the users of the REST service.
    """

    user: str
    guid: Guid
    chair: int | None = None
    chips: int = 0
    hand_seat: Seat | None = field(name="place", default=None)
    person: PersonClock | None = None


class Seats:
    """The chairs of a game and an unbounded queue. Each player sits down with `stack` chips.

    `members` is notified of every user who joins or leaves. `by_guid` returns the player with a GUID, seated or queued,
    or None. `guids_by_user` are the GUIDs of all players, seated or queued: a mapping that is replaced, never changed.
    `big_blind` is the player with the last big blind.
    """

    def __init__(self, game: Guid, chairs: int, stack: int, members: Register[Any]) -> None:
        self._game = game
        self._members = members
        self._chairs: list[Participant | None] = [None] * chairs
        self._stack = stack
        self._queue: dict[Guid, Participant] = {}
        self._guids: dict[Guid, Participant] = {}
        self.by_guid = self._guids.get  # bound directly, because every act calls it
        self.guids_by_user: Mapping[str, Guid] = {}
        self._button = -1
        self.big_blind: Participant | None = None

    @property
    def has_free_seat(self) -> bool:
        """Whether the next player to join gets a seat: queued players are counted as seated (holdem-3.1)."""
        return len(self._guids) < len(self._chairs)

    @property
    def seated_participants(self) -> list[Participant]:
        """The seated players, clockwise."""
        return [participant for participant in self._chairs if participant is not None]

    def by_user(self, user: str) -> Participant | None:
        """Return the player of a user, seated or queued."""
        return self._guids.get(self.guids_by_user.get(user, ""))

    def add(self, user: str, guid: Guid, *, is_person: bool = False) -> Participant:
        """Give a new player the first free seat, or the last place in the queue (holdem-3.5, holdem-3.6)."""
        participant = Participant(user, guid, person=PersonClock() if is_person else None)
        if self.has_free_seat:
            self._take_seat(participant)
        else:
            self._queue[guid] = participant
        self._guids[guid] = participant
        self.guids_by_user = {**self.guids_by_user, user: guid}
        self._members.user_joined(user, self._game)
        return participant

    def remove(self, participant: Participant) -> None:
        """Remove a player and their chips."""
        del self._guids[participant.guid]
        self.guids_by_user = {user: guid for user, guid in self.guids_by_user.items() if user != participant.user}
        self._members.user_left(participant.user, self._game)
        if participant.chair is None:
            del self._queue[participant.guid]
        else:
            self._chairs[participant.chair] = None
            participant.chair = None

    def fill_from_queue(self) -> None:
        """Give the free seats to the first players in the queue (holdem-3.9)."""
        while self._queue and None in self._chairs:
            self._take_seat(self._queue.pop(next(iter(self._queue))))

    @property
    def last_button_and_big_blind(self) -> tuple[int, Guid | None]:
        """The chair of the last button, and the last big blind's GUID if that player is still here."""
        blind = self.big_blind
        return self._button, blind.guid if blind is not None and self._guids.get(blind.guid) is blind else None

    @property
    def participants(self) -> tuple[Participant, ...]:
        """All players: the seated ones, then the queue in order."""
        return (*self.seated_participants, *self._queue.values())

    def restore(self, participants: Sequence[Participant], button: int, big_blind: Guid | None) -> None:
        """Restore the saved players, the button and the last big blind."""
        self.guids_by_user = {participant.user: participant.guid for participant in participants}
        for participant in participants:
            self._guids[participant.guid] = participant
            self._members.user_joined(participant.user, self._game)
            if participant.chair is None:
                self._queue[participant.guid] = participant
            else:
                self._chairs[participant.chair] = participant
        self._button = button
        self.big_blind = None if big_blind is None else self._guids[big_blind]

    def _take_seat(self, participant: Participant) -> None:
        participant.chair = self._chairs.index(None)
        participant.chips = self._stack
        self._chairs[participant.chair] = participant

    def pass_button(self, dealt: Sequence[Participant]) -> Seat:
        """Move the button for the next hand, and return its seat in that hand. `dealt` are its players, clockwise.

        The button moves to the next player, and one player further if the same player would otherwise post the big
        blind twice in a row (holdem-6.2).
        """
        big_blind_offset = 1 if len(dealt) == 2 else 2
        chairs = [participant.chair for participant in dealt if participant.chair is not None]
        button = next((seat for seat, chair in enumerate(chairs) if chair > self._button), 0)
        if dealt[(button + big_blind_offset) % len(dealt)] is self.big_blind:
            button = (button + 1) % len(dealt)
        self._button = chairs[button]
        self.big_blind = dealt[(button + big_blind_offset) % len(dealt)]
        return button
