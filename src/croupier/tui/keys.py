"""Single keys from the terminal, without Enter."""

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

END_OF_INPUT = "\x04"
"""The key for the end of input and for Ctrl-C."""

ENTER, BACKSPACE, ESCAPE = "\n", "\x7f", "\x1b"
"""Keys without a letter, normalized by `KEY_ALIASES`."""

KEY_PATTERN = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
"""One key. Arrow and function keys send several characters; the last of them may be a letter."""

KEY_ALIASES = {"\x03": END_OF_INPUT, "\r": ENTER, "\b": BACKSPACE}
"""Other characters that terminals send for a key."""


def split_keys(typed: str) -> list[str]:
    """Split terminal input into keys.

    >>> split_keys("a\\x1b[C\\r")
    ['a', '\\x1b[C', '\\n']
    """
    return [KEY_ALIASES.get(key, key) for key in KEY_PATTERN.findall(typed)]


@contextmanager
def read_keys() -> Iterator[asyncio.Queue[str]]:
    """Yield a queue of the keys pressed on standard input. Restores the terminal mode on exit."""
    try:
        import termios
    except ImportError:  # Windows: read whole lines, every letter is a key
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
    mode[3] &= ~termios.ISIG  # Ctrl-C arrives as a key, so that the protocol's goodbye can be sent
    termios.tcsetattr(terminal, termios.TCSANOW, mode)
    loop.add_reader(terminal, read)
    os.set_blocking(terminal, True)  # uvloop stops blocking: the output, the same terminal, would fail when it is slow
    try:
        yield pressed
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def keys_of_line(line: str) -> list[str]:
    """Split a whole line into keys. Its end counts as Enter on an empty line and after a number.

    >>> keys_of_line("b 25")
    ['b', ' ', '2', '5', '\\n']
    """
    text = line.strip()
    return [*text, ENTER] if not text or text[-1].isdigit() else [*text]


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
