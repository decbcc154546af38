"""What is written down of games of Old Maid while they are played, and how they are kept when they are over."""

from collections.abc import Sequence
from typing import Final, Literal, Self

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import CARD_NAMES, WIRE_CARDS, Card
from croupier.rooms.oldmaid.table.game import Action, TableGame

FORMAT_VERSION: Final = 1
"""The form of what is kept of a table; whoever changes it gives it a new number."""

type ActionKind = Literal["drew", "threw", "out", "gone"]


class GameStarted(Struct, frozen=True, array_like=True, tag="started", gc=False):
    """A game has started: these are its players, in the order of the list."""

    game: int
    nicks: tuple[str, ...]


class ActionTaken(Struct, frozen=True, array_like=True, tag="did", gc=False, omit_defaults=True):
    """A seat has done something: see `game.Deed`. `cards` are the card that was drawn, or the pair that is gone."""

    game: int
    kind: ActionKind
    seat: Seat
    cards: tuple[Card, ...] = ()


class GameEnded(Struct, frozen=True, array_like=True, tag="ended", gc=False):
    """A game is over, or void."""

    game: int
    is_void: bool


type GameLogEntry = GameStarted | ActionTaken | GameEnded


class JournalPage(Struct, frozen=True):
    """Notes that are written down together: a fact of a table's journal."""

    notes: Sequence[GameLogEntry]

    def to_json(self) -> bytes:
        """These words as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        try:
            return decode(data, type=cls)
        except DecodeError as error:
            raise ValueError(f"found what no table of Old Maid has written: {error}") from None


class GameLog(list[Action]):
    """The course of a game whose deeds are also noted until it ends, in the order of all games of the table."""

    __slots__ = ("_entries", "_game")

    def __init__(self, game: int, entries: list[GameLogEntry]) -> None:
        super().__init__()
        self._game = game
        self._entries: list[GameLogEntry] | None = entries

    def append(self, deed: Action) -> None:
        """One more deed."""
        super().append(deed)
        if self._entries is not None:
            self._entries.append(ActionTaken(self._game, deed[0], deed[1], deed[2:]))

    def end(self, *, void: bool) -> None:
        """The game is over: the last pair, which may be thrown away even so, changes nothing (oldmaid-6.9)."""
        assert self._entries is not None, "a game ends once"
        self._entries.append(GameEnded(self._game, void))
        self._entries = None


class OldMaidGameSnapshot(Struct, frozen=True):
    """A game that is not over: its number, its players in the order of the list, and what they have done."""

    game: int
    nicks: tuple[str, ...]
    deeds: list[ActionTaken]


class OldMaidTableSnapshot(Struct, frozen=True):
    """A table: how many games it has started, and those that are running."""

    started: int = 0
    games: tuple[OldMaidGameSnapshot, ...] = ()
    form: int = FORMAT_VERSION

    def to_json(self) -> bytes:
        """These words as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        try:
            kept = decode(data, type=cls)
        except DecodeError as error:
            raise ValueError(f"found what is no kept table of Old Maid: {error}") from None
        if kept.form != FORMAT_VERSION:
            raise ValueError(f"found a table kept in form {kept.form}; allowed: form {FORMAT_VERSION}")
        return kept


class LogReplay:
    """What notes have told so far of a table: how many games it has `started`, and those that are running."""

    def __init__(self, snapshot: OldMaidTableSnapshot = OldMaidTableSnapshot()) -> None:
        self.started_count = snapshot.started
        self.running_games = {game.game: game for game in snapshot.games}

    def apply(self, entries: Sequence[GameLogEntry]) -> None:
        """Go on. Raises ValueError for notes of a game that is not running."""
        for note in entries:
            if type(note) is GameStarted:
                self.started_count = note.game
                self.running_games[note.game] = OldMaidGameSnapshot(note.game, note.nicks, [])
                continue
            if note.game not in self.running_games:
                raise ValueError(
                    f"found game {note.game} of Old Maid; allowed: {', '.join(map(str, self.running_games))}"
                )
            if type(note) is ActionTaken:
                self.running_games[note.game].deeds.append(note)
            else:
                del self.running_games[note.game]

    def snapshot(self) -> OldMaidTableSnapshot:
        """The table as it is kept."""
        return OldMaidTableSnapshot(self.started_count, tuple(self.running_games.values()))


class OldMaidRecord(Struct, frozen=True):
    """A game that is over, for people and programs: what was done, with the seat and the names of the cards.

    `ranking` are the nicks from the winner to the loser, nobody in a void game.
    """

    game: int
    nicks: tuple[str, ...]
    void: bool
    ranking: tuple[str, ...]
    course: list[tuple[str | int, ...]]

    def to_json(self) -> bytes:
        """These words as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        try:
            return decode(data, type=cls)
        except DecodeError as error:
            raise ValueError(f"found what is no record of Old Maid: {error}") from None


def make_record(game: TableGame) -> OldMaidRecord:
    """A game that is over as it is kept."""
    course = [(deed[0], deed[1], *(CARD_NAMES[card] for card in deed[2:])) for deed in game.log]
    return OldMaidRecord(
        game.number, game.nicks, game.is_void, tuple(game.nicks[seat] for seat in game.ranking), course
    )


def rebuild_void_game(snapshot: OldMaidGameSnapshot) -> TableGame:
    """A game that was running when its table was interrupted: it is void (oldmaid-9.14)."""
    drawn = iter([deed.cards[0] for deed in snapshot.deeds if deed.kind == "drew"])
    game = TableGame(snapshot.game, snapshot.nicks, drawn, 0.0)
    for deed in snapshot.deeds:
        match deed.kind:
            case "drew":
                game.draw(deed.seat, 0.0)
            case "threw":
                one, other = deed.cards
                game.discard(deed.seat, WIRE_CARDS[one], WIRE_CARDS[other], 0.0)
            case "out":
                game.finish(deed.seat, 0.0)
            case "gone":
                game.leave(deed.seat, 0.0)
    game.stop()
    return game
