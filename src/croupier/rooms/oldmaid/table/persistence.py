"""Persistence of Old Maid: journal entries of running games, snapshots, and records of finished games."""

from collections import deque
from collections.abc import Sequence
from typing import Final, Literal, Self

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.stored import Stored
from croupier.rooms.oldmaid.cards import CARD_NAMES, WIRE_CARDS, Card
from croupier.rooms.oldmaid.table.game import Action, TableGame

FORMAT_VERSION: Final = 1
"""The version of the snapshot format; increment it with every change."""

type ActionKind = Literal["drew", "threw", "out", "gone"]


class GameStarted(Struct, frozen=True, array_like=True, tag="started", gc=False):
    """A game has started; `nicks` are its players in the order of the list."""

    game: int
    nicks: tuple[str, ...]


class ActionTaken(Struct, frozen=True, array_like=True, tag="did", gc=False, omit_defaults=True):
    """A seat has acted (see `game.Action`). `cards` has the card that was drawn or the pair that was discarded."""

    game: int
    kind: ActionKind
    seat: Seat
    cards: tuple[Card, ...] = ()


class GameEnded(Struct, frozen=True, array_like=True, tag="ended", gc=False):
    """A game has ended; `is_void` if it has no result."""

    game: int
    is_void: bool


type GameLogEntry = GameStarted | ActionTaken | GameEnded


class JournalPage(Stored, frozen=True):
    """The log entries of one journal write."""

    MALFORMED = "an invalid journal page of an Old Maid table"

    notes: Sequence[GameLogEntry]


class GameLog(list[Action]):
    """The actions of a game. Until it ends, they are also appended to `entries`, which all games of a table share."""

    __slots__ = ("_entries", "_game")

    def __init__(self, game: int, entries: list[GameLogEntry]) -> None:
        super().__init__()
        self._game = game
        self._entries: list[GameLogEntry] | None = entries

    def append(self, action: Action) -> None:
        """Append an action."""
        super().append(action)
        if self._entries is not None:
            self._entries.append(ActionTaken(self._game, action[0], action[1], action[2:]))

    def end(self, *, void: bool) -> None:
        """Record the end of the game. A discard after it is not journaled, as it changes nothing (oldmaid-6.9)."""
        assert self._entries is not None, "a game ends once"
        self._entries.append(GameEnded(self._game, void))
        self._entries = None


class OldMaidGameSnapshot(Struct, frozen=True):
    """A running game: its number, its players in the order of the list, and their actions."""

    game: int
    nicks: tuple[str, ...]
    deeds: list[ActionTaken]


class OldMaidTableSnapshot(Stored, frozen=True):
    """A table: the number of games it has started, and the running ones."""

    MALFORMED = "an invalid snapshot of an Old Maid table"

    started: int = 0
    games: tuple[OldMaidGameSnapshot, ...] = ()
    form: int = FORMAT_VERSION

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Decode from JSON. Raises ValueError if it is malformed or has another format version."""
        snapshot = super().from_json(data)
        if snapshot.form != FORMAT_VERSION:
            raise ValueError(f"found a table snapshot of format {snapshot.form}; allowed: format {FORMAT_VERSION}")
        return snapshot


class JournaledGames:
    """A table as its journal has it: the number of games it has started, and the running ones by number."""

    def __init__(self) -> None:
        self.started_count = 0
        self.games: dict[int, TableGame] = {}
        self._drawn: dict[int, deque[Card]] = {}

    def apply(self, page: JournalPage) -> None:
        """Apply the entries of a page. Raises ValueError for one that is impossible."""
        for entry in page.notes:
            if type(entry) is GameStarted:
                self.started_count = entry.game
                self._start(entry.game, entry.nicks)
            elif entry.game not in self.games:
                raise ValueError(f"found game {entry.game} of Old Maid; allowed: {', '.join(map(str, self.games))}")
            elif type(entry) is ActionTaken:
                self._act(entry)
            elif type(entry) is GameEnded:
                del self._drawn[entry.game]
                ended = self.games.pop(entry.game)
                if entry.is_void:
                    ended.stop()

    def snapshot(self) -> bytes:
        """Return the state as JSON."""
        running = [
            OldMaidGameSnapshot(
                number, game.nicks, [ActionTaken(number, each[0], each[1], each[2:]) for each in game.log]
            )
            for number, game in self.games.items()
        ]
        return OldMaidTableSnapshot(self.started_count, tuple(running)).to_json()

    def restore(self, data: bytes) -> None:
        """Restore a state from `snapshot`. Raises ValueError."""
        snapshot = OldMaidTableSnapshot.from_json(data)
        self.started_count = snapshot.started
        for game in snapshot.games:
            self._start(game.game, game.nicks)
            for action in game.deeds:
                self._act(action)

    def _start(self, number: int, nicks: tuple[str, ...]) -> None:
        drawn = self._drawn[number] = deque()
        self.games[number] = TableGame(number, nicks, iter(drawn.popleft, None), 0.0)

    def _act(self, action: ActionTaken) -> None:
        if action.kind == "drew":
            self._drawn[action.game].append(action.cards[0])
        try:
            _repeat(action, self.games[action.game])
        except (LookupError, ValueError, Violation) as error:
            raise ValueError(f"found an impossible game {action.game} of Old Maid: {error}") from None


class OldMaidRecord(Stored, frozen=True):
    """A finished game, for people and programs.

    `ranking` has the nicks from the winner to the loser; it is empty for a void game. `course` has the actions, each
    with its kind, the seat and the names of the cards.
    """

    MALFORMED = "an invalid Old Maid record"

    game: int
    nicks: tuple[str, ...]
    void: bool
    ranking: tuple[str, ...]
    course: list[tuple[str | int, ...]]


def make_record(game: TableGame) -> OldMaidRecord:
    """The record of a finished game."""
    actions = [(action[0], action[1], *(CARD_NAMES[card] for card in action[2:])) for action in game.log]
    return OldMaidRecord(
        game.number, game.nicks, game.is_void, tuple(game.nicks[seat] for seat in game.ranking), actions
    )


def _repeat(action: ActionTaken, game: TableGame) -> None:
    """Repeat an action of the journal. Raises LookupError, ValueError or Violation if it is impossible."""
    match action.kind:
        case "drew":
            game.draw(action.seat, 0.0)
        case "threw":
            one, other = action.cards
            game.discard(action.seat, WIRE_CARDS[one], WIRE_CARDS[other], 0.0)
        case "out":
            game.finish(action.seat, 0.0)
        case "gone":
            game.leave(action.seat, 0.0)
