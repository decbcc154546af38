"""`croupier replay`: look at a game again, step by step."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from croupier.cli.db import StoreArgument, with_store
from croupier.cli.output import fail, print_line
from croupier.rooms import HOUSE_ROOMS

if TYPE_CHECKING:
    from croupier.store.store import Store
    from croupier.tui.replay import GameReplay

MAX_FILE_BYTES = 1 << 24
"""So many bytes of a file are read."""


def replay(game: str, *, store: StoreArgument = None) -> int:
    """Look at a game again, step by step: with the arrows or Space, Home, End, and q to leave.

    Where the output is no terminal all steps are printed.

    Parameters
    ----------
    game:
        A file: PHH, Open Hand History, a transcript, or lines of JSON that croupier has written. Or a hand of the
        store as `croupier hands list` has it: TABLE/NUMBER of hold'em, else ROOM/TABLE/NUMBER.
    """
    from croupier.tui.replay import read_replay

    file = Path(game)
    try:
        if file.is_file():
            return _show_or_print(read_replay(_read_text(file), file.name))
        place, slash, number = game.rpartition("/")
        if not slash or not (number.isascii() and number.isdecimal() and len(number) < 19):
            return fail(f"found {game[:100]!r}; allowed: a file, TABLE/NUMBER, ROOM/TABLE/NUMBER")
        found = _StoredGame(game)
        room, slash, table = place.rpartition("/")
        status = with_store(store, lambda store: found.load(store, room if slash else "holdem", table, int(number)))
        return status or _show_or_print(found.to_replay())
    except (OSError, ValueError) as error:
        return fail(error)


def _read_text(file: Path) -> str:
    """What is in a file. Raises OSError, and ValueError for what is no text."""
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES).decode()
    except UnicodeDecodeError:
        raise ValueError(f"found {file}, which is not UTF-8; allowed: a text file in UTF-8") from None


class _StoredGame:
    """What the store has of a game, as text that `read` understands."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""

    async def load(self, store: "Store", room: str, table: str, number: int) -> int:
        """Look for it; the exit status."""
        if room in HOUSE_ROOMS:
            import msgspec

            from croupier.recording.game_records import find_game

            game = await find_game(store, room, table, number)
            if game is not None:
                self._text = msgspec.json.encode(game).decode()
        elif (hand := await store.hand(room, table, number)) is not None:
            self._text = hand.record
        return 0 if self._text else fail(f"found no game {self._name[:100]!r}; allowed: one of `croupier hands list`")

    def to_replay(self) -> "GameReplay":
        """What it tells. Raises ValueError."""
        from croupier.tui.replay import read_replay

        return read_replay(self._text, self._name)


def _show_or_print(story: "GameReplay") -> int:
    """Show it on the terminal, or print it."""
    from croupier.net.event_loop import run
    from croupier.tui.replay import replay_lines
    from croupier.tui.replay import show_replay as look

    if sys.stdin.isatty() and sys.stdout.isatty():
        run(look(story))
    else:
        for line in replay_lines(story):
            print_line(line)
    return 0
