"""Writes down every conversation as text, one message a line, for graders who compare with `diff` (ruling S11)."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TextIO

from croupier.core.talk import Effect, Event, Garbled, Joined, Left, Peer, Said, Say
from croupier.core.text import printable
from croupier.taps.files import private

CONNECTION = "{n}"
"""What stands for the number of the connection in a file's name."""

CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""How characters are written that would end a line or spoil a terminal."""


class Warns(Protocol):
    """The part of a logger that is used here."""

    def warning(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- told above


class Minutes:
    """A tap on one room: `C: ` is what the client says and `S: ` what the house says.

    A path with `{n}` in it is one file for each connection, written anew; any other is one file for all of them.
    What cannot be written is told to the log, and the conversation goes on without it. Raises OSError when the one file
    for all cannot be opened.
    """

    def __init__(self, path: Path, log: Warns) -> None:
        self._path = path
        self._log = log
        self._files: dict[Peer, TextIO] = {}
        self._all = None if CONNECTION in path.name else self._open(path)

    def close(self) -> None:
        """Close what is open."""
        for file in (*self._files.values(), *([self._all] if self._all else [])):
            file.close()

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        """Write what is said, before it is sent."""
        try:
            match event:
                case Joined(peer) if self._all is None:
                    self._files[peer] = self._open(self._path.with_name(self._path.name.replace(CONNECTION, str(peer))))
                case Said(peer, message):
                    self._write(peer, "C", str(message))
                case Garbled(peer, violation):
                    self._write(peer, "C", violation.found)
                case _:
                    pass
            for effect in effects:
                if isinstance(effect, Say):
                    self._write(effect.peer, "S", str(effect.message))
            if isinstance(event, Left) and event.peer in self._files:
                self._files.pop(event.peer).close()
        except OSError as error:
            self._log.warning("cannot write down the conversation", error=str(error))

    def _write(self, peer: Peer, who: str, message: str) -> None:
        file = self._all or self._files.get(peer)
        if file is not None:
            file.write(f"{who}: {harmless(message)}\n")

    @staticmethod
    def _open(path: Path) -> TextIO:
        return open(path, "w", buffering=1, encoding="utf-8", newline="\n", opener=private)


def harmless(message: str) -> str:
    """A message as one line that spoils no terminal. Bytes, which codecs show as Latin-1, are UTF-8 if they can be."""
    if message.isascii():
        return message.translate(CONTROL)
    with suppress(UnicodeError):  # it is text already, or no UTF-8
        message = message.encode("latin-1").decode()
    message = message.translate(CONTROL)
    return printable(message, len(message))
