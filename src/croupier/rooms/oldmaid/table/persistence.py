"""What is written down of games of Old Maid while they are played, and how they are kept when they are over."""

from collections.abc import Sequence
from typing import Final, Literal, Self

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import NAMES, WIRES, Card
from croupier.rooms.oldmaid.table.game import Deed, Game

FORM: Final = 1
"""The form of what is kept of a table; whoever changes it gives it a new number."""

type What = Literal["drew", "threw", "out", "gone"]


class Started(Struct, frozen=True, array_like=True, tag="started", gc=False):
    """A game has started: these are its players, in the order of the list."""

    game: int
    nicks: tuple[str, ...]


class Did(Struct, frozen=True, array_like=True, tag="did", gc=False, omit_defaults=True):
    """A seat has done something: see `game.Deed`. `cards` are the card that was drawn, or the pair that is gone."""

    game: int
    what: What
    seat: Seat
    cards: tuple[Card, ...] = ()


class Ended(Struct, frozen=True, array_like=True, tag="ended", gc=False):
    """A game is over, or void."""

    game: int
    void: bool


type Note = Started | Did | Ended


class Sheet(Struct, frozen=True):
    """Notes that are written down together: a fact of a table's journal."""

    notes: Sequence[Note]

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


class Course(list[Deed]):
    """The course of a game whose deeds are also noted until it ends, in the order of all games of the table."""

    __slots__ = ("_game", "_notes")

    def __init__(self, game: int, notes: list[Note]) -> None:
        super().__init__()
        self._game = game
        self._notes: list[Note] | None = notes

    def append(self, deed: Deed) -> None:
        """One more deed."""
        super().append(deed)
        if self._notes is not None:
            self._notes.append(Did(self._game, deed[0], deed[1], deed[2:]))

    def end(self, *, void: bool) -> None:
        """The game is over: the last pair, which may be thrown away even so, changes nothing (oldmaid-6.9)."""
        assert self._notes is not None, "a game ends once"
        self._notes.append(Ended(self._game, void))
        self._notes = None


class KeptGame(Struct, frozen=True):
    """A game that is not over: its number, its players in the order of the list, and what they have done."""

    game: int
    nicks: tuple[str, ...]
    deeds: list[Did]


class KeptTable(Struct, frozen=True):
    """A table: how many games it has started, and those that are running."""

    started: int = 0
    games: tuple[KeptGame, ...] = ()
    form: int = FORM

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
        if kept.form != FORM:
            raise ValueError(f"found a table kept in form {kept.form}; allowed: form {FORM}")
        return kept


class Tale:
    """What notes have told so far of a table: how many games it has `started`, and those that are running."""

    def __init__(self, kept: KeptTable = KeptTable()) -> None:
        self.started = kept.started
        self.running = {game.game: game for game in kept.games}

    def hear(self, notes: Sequence[Note]) -> None:
        """Go on. Raises ValueError for notes of a game that is not running."""
        for note in notes:
            if type(note) is Started:
                self.started = note.game
                self.running[note.game] = KeptGame(note.game, note.nicks, [])
                continue
            if note.game not in self.running:
                raise ValueError(f"found game {note.game} of Old Maid; allowed: {', '.join(map(str, self.running))}")
            if type(note) is Did:
                self.running[note.game].deeds.append(note)
            else:
                del self.running[note.game]

    def kept(self) -> KeptTable:
        """The table as it is kept."""
        return KeptTable(self.started, tuple(self.running.values()))


class Record(Struct, frozen=True):
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


def record(game: Game) -> Record:
    """A game that is over as it is kept."""
    course = [(deed[0], deed[1], *(NAMES[card] for card in deed[2:])) for deed in game.course]
    return Record(game.number, game.nicks, game.void, tuple(game.nicks[seat] for seat in game.ranking), course)


def stopped(kept: KeptGame) -> Game:
    """A game that was running when its table was interrupted: it is void (oldmaid-9.14)."""
    drawn = iter([deed.cards[0] for deed in kept.deeds if deed.what == "drew"])
    game = Game(kept.game, kept.nicks, drawn, 0.0)
    for deed in kept.deeds:
        match deed.what:
            case "drew":
                game.draw(deed.seat, 0.0)
            case "threw":
                one, other = deed.cards
                game.discard(deed.seat, WIRES[one], WIRES[other], 0.0)
            case "out":
                game.finish(deed.seat, 0.0)
            case "gone":
                game.leave(deed.seat, 0.0)
    game.stop()
    return game
