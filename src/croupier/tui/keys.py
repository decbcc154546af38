"""Single keys from the terminal, without Enter."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

END = "\x04"
"""What arrives when there is no more input, or Ctrl-C is pressed."""


@contextmanager
def keys() -> Iterator[asyncio.Queue[str]]:
    """The keys that are pressed on standard input, one by one; the terminal is as before when this ends."""
    try:
        import termios
    except ImportError:  # Windows: whole lines, of which every letter is a key
        yield _lines()
        return
    import os
    import tty

    pressed: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    terminal = sys.stdin.fileno()

    def read() -> None:
        for key in os.read(terminal, 1024).decode(errors="ignore") or END:
            pressed.put_nowait(END if key == "\x03" else key)

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


def _lines() -> asyncio.Queue[str]:
    pressed: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in sys.stdin:
            for key in line.strip():
                loop.call_soon_threadsafe(pressed.put_nowait, key)
        loop.call_soon_threadsafe(pressed.put_nowait, END)

    Thread(target=read, daemon=True, name="croupier-keys").start()
    return pressed
