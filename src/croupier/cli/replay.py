"""`croupier replay`: look at a game again, step by step."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from croupier.cli.db import Where, with_store
from croupier.cli.output import fail, show
from croupier.rooms import HOUSES

if TYPE_CHECKING:
    from croupier.store.store import Store
    from croupier.tui.replay import Story

MOST = 1 << 24
"""So many bytes of a file are read."""


def replay(game: str, *, store: Where = None) -> int:
    """Look at a game again, step by step: with the arrows or Space, Home, End, and q to leave.

    Where the output is no terminal all steps are printed.

    Parameters
    ----------
    game:
        A file: PHH, Open Hand History, a transcript, or lines of JSON that croupier has written. Or a hand of the
        store as `croupier hands list` has it: TABLE/NUMBER of hold'em, else ROOM/TABLE/NUMBER.
    """
    from croupier.tui.replay import read

    file = Path(game)
    try:
        if file.is_file():
            return _tell(read(_text(file), file.name))
        place, slash, number = game.rpartition("/")
        if not slash or not (number.isascii() and number.isdecimal() and len(number) < 19):
            return fail(f"found {game[:100]!r}; allowed: a file, TABLE/NUMBER, ROOM/TABLE/NUMBER")
        found = _Found(game)
        room, slash, table = place.rpartition("/")
        status = with_store(store, lambda store: found.look(store, room if slash else "holdem", table, int(number)))
        return status or _tell(found.story())
    except (OSError, ValueError) as error:
        return fail(error)


def _text(file: Path) -> str:
    """What is in a file. Raises OSError, and ValueError for what is no text."""
    try:
        with file.open("rb") as stream:
            return stream.read(MOST).decode()
    except UnicodeDecodeError:
        raise ValueError(f"found {file}, which is no text in UTF-8") from None


class _Found:
    """What the store has of a game, as text that `read` understands."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""

    async def look(self, store: "Store", room: str, table: str, number: int) -> int:
        """Look for it; the exit status."""
        if room in HOUSES:
            import msgspec

            from croupier.recording.game_records import find

            game = await find(store, room, table, number)
            if game is not None:
                self._text = msgspec.json.encode(game).decode()
        elif (hand := await store.hand(room, table, number)) is not None:
            self._text = hand.record
        return 0 if self._text else fail(f"found no game {self._name[:100]!r}; allowed: one of `croupier hands list`")

    def story(self) -> "Story":
        """What it tells. Raises ValueError."""
        from croupier.tui.replay import read

        return read(self._text, self._name)


def _tell(story: "Story") -> int:
    """Show it on the terminal, or print it."""
    from croupier.net.event_loop import run
    from croupier.tui.replay import show as look
    from croupier.tui.replay import told

    if sys.stdin.isatty() and sys.stdout.isatty():
        run(look(story))
    else:
        for line in told(story):
            show(line)
    return 0
