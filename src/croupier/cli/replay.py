"""`croupier replay`: replay a recorded game step by step."""

from pathlib import Path
from typing import TYPE_CHECKING

from croupier.cli.db import StoreArgument, with_store
from croupier.cli.output import fail, is_interactive, print_line
from croupier.rooms import HOUSE_ROOMS

if TYPE_CHECKING:
    from croupier.store.store import Store
    from croupier.tui.replay import GameReplay

MAX_FILE_BYTES = 1 << 24


def replay(game: str, *, store: StoreArgument = None) -> int:
    """Replay a game step by step. Keys: arrows or Space, Home, End, and q to quit.

    If standard output is not a terminal, all steps are printed.

    Parameters
    ----------
    game:
        File (PHH, Open Hand History, transcript or JSON Lines), or a hand as `croupier hands list` prints it.
    """
    from croupier.tui.replay import read_replay

    file = Path(game)
    try:
        if file.is_file():
            return _show_or_print(read_replay(_read_text(file), file.name))
        table_path, slash, number = game.rpartition("/")
        if not slash or not (number.isascii() and number.isdecimal() and len(number) < 19):
            return fail(f"found {game[:100]!r}; allowed: a file, TABLE/NUMBER, ROOM/TABLE/NUMBER")
        stored_game = _StoredGame(game)
        room, slash, table = table_path.rpartition("/")
        status = with_store(
            store, lambda store: stored_game.load(store, room if slash else "holdem", table, int(number))
        )
        return status or _show_or_print(stored_game.to_replay())
    except (OSError, ValueError) as error:
        return fail(error)


def _read_text(file: Path) -> str:
    """Return the first `MAX_FILE_BYTES` of a file as text. Raises OSError, or ValueError if it is not UTF-8."""
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES).decode()
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not UTF-8 text") from None


class _StoredGame:
    """A game in the store, as text that `read_replay` understands."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""

    async def load(self, store: "Store", room: str, table: str, number: int) -> int:
        """Load the game and return the exit status."""
        if room in HOUSE_ROOMS:
            import msgspec

            from croupier.recording.game_records import find_game

            game = await find_game(store, room, table, number)
            if game is not None:
                self._text = msgspec.json.encode(game).decode()
        elif (hand := await store.hand(room, table, number)) is not None:
            self._text = hand.record
        return 0 if self._text else fail(f"there is no game {self._name[:100]!r}; `croupier hands list` lists them")

    def to_replay(self) -> "GameReplay":
        """Return the game as a replay. Raises ValueError."""
        from croupier.tui.replay import read_replay

        return read_replay(self._text, self._name)


def _show_or_print(replay: "GameReplay") -> int:
    from croupier.net.event_loop import run
    from croupier.tui.replay import replay_lines, show_replay

    if is_interactive():
        run(show_replay(replay))
    else:
        for line in replay_lines(replay):
            print_line(line)
    return 0
