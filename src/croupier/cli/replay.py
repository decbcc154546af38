"""`croupier replay`: replay a recorded game step by step."""

from pathlib import Path
from typing import TYPE_CHECKING

from croupier.cli.db import StoreArgument, with_store
from croupier.cli.games import parse_place
from croupier.cli.output import fail, is_interactive, print_line

if TYPE_CHECKING:
    from croupier.replay.steps import GameReplay

MAX_FILE_BYTES = 1 << 24


def replay(game: str, /, *, store: StoreArgument = None) -> int:
    """Replay a game step by step. Keys: arrows or Space, Home, End, and q to quit.

    If standard output is not a terminal, all steps are printed.

    Parameters
    ----------
    game:
        File (PHH, Open Hand History, transcript or JSON Lines), or a hand as `croupier hands list` prints it.
    """
    from croupier.replay.reader import read_replay, stored_replay

    file = Path(game)
    if file.is_file():
        return _show_or_print(read_replay(_read_text(file), file.name))
    place = parse_place(game)
    if place is None:
        raise ValueError(f"found {game[:100]!r}; allowed: a file, TABLE/NUMBER, ROOM/TABLE/NUMBER")
    found = with_store(store, lambda store: stored_replay(store, *place))
    if found is None:
        return fail(f"there is no game {game[:100]!r}; `croupier hands list` lists them")
    return _show_or_print(found)


def _read_text(file: Path) -> str:
    """Return the first `MAX_FILE_BYTES` of a file as text. Raises OSError, or ValueError if it is not UTF-8."""
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES).decode()
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not UTF-8 text") from None


def _show_or_print(replay: "GameReplay") -> int:
    from croupier.replay.steps import replay_lines

    if is_interactive():
        from croupier.net.event_loop import run
        from croupier.tui.replay_screen import show_replay

        run(show_replay(replay))
    else:
        for line in replay_lines(replay):
            print_line(line)
    return 0
