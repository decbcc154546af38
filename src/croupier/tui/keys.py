"""Single keys from the terminal, without Enter."""

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

END_OF_INPUT = "\x04"
"""What arrives when there is no more input, or Ctrl-C is pressed."""

ENTER, BACKSPACE, ESCAPE = "\n", "\x7f", "\x1b"
"""Keys without a letter, whatever the terminal sends for them."""

KEY_PATTERN = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
"""One key: those with arrows and functions send several characters, and the last of them may be a letter."""

KEY_ALIASES = {"\x03": END_OF_INPUT, "\r": ENTER, "\b": BACKSPACE}
"""What else a terminal may send for a key."""


def split_keys(typed: str) -> list[str]:
    """The keys in what a terminal has sent."""
    return [KEY_ALIASES.get(key, key) for key in KEY_PATTERN.findall(typed)]


@contextmanager
def read_keys() -> Iterator[asyncio.Queue[str]]:
    """The keys that are pressed on standard input, one by one; the terminal is as before when this ends."""
    try:
        import termios
    except ImportError:  # Windows: whole lines, of which every letter is a key
        yield _read_line_keys()
        return
    import os
    import tty

    pressed: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    terminal = sys.stdin.fileno()

    def read() -> None:
        for key in split_keys(os.read(terminal, 1024).decode(errors="ignore") or END_OF_INPUT):
            pressed.put_nowait(key)

    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    mode = termios.tcgetattr(terminal)
    mode[3] &= ~termios.ISIG  # Ctrl-C is a key here: the goodbye has to be said first
    termios.tcsetattr(terminal, termios.TCSANOW, mode)
    loop.add_reader(terminal, read)
    try:
        yield pressed
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def keys_of_line(line: str) -> list[str]:
    """The keys in a whole line: its end is Enter where it stands alone or behind a number."""
    written = line.strip()
    return [*written, ENTER] if not written or written[-1].isdigit() else [*written]


def _read_line_keys() -> asyncio.Queue[str]:
    pressed: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in sys.stdin:
            for key in keys_of_line(line):
                loop.call_soon_threadsafe(pressed.put_nowait, key)
        loop.call_soon_threadsafe(pressed.put_nowait, END_OF_INPUT)

    Thread(target=read, daemon=True, name="croupier-keys").start()
    return pressed
