"""Writes down every conversation as text, one message a line, for graders who compare with `diff` (ruling S11)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from croupier.core.session import Effect, Event, Joined, Left, Malformed, Peer, Received, Send
from croupier.core.text import printable
from croupier.observers.line_writer import LineWriter
from croupier.observers.private_files import private_opener

CONNECTION_PLACEHOLDER = "{n}"
"""What stands for the number of the connection in a file's name."""

CONTROL_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""How characters are written that would end a line or spoil a terminal."""


class ConversationLog:
    """A tap on one room: `C: ` is what the client says and `S: ` what the house says, `spelt` as text.

    A path with `{n}` in it is one file for each connection, written anew; any other is one file for all of them.
    Raises OSError when the one file for all cannot be opened, and as a tap for the first message that cannot be
    written, when it has tried all messages of the event.
    """

    name = "--log"

    def __init__(self, path: Path, render: Callable[[Any], str] = str) -> None:
        self._path = path
        self._render = render
        self._files: dict[Peer, LineWriter] = {}
        self._shared_file = None if CONNECTION_PLACEHOLDER in path.name else self._open(path)

    def close(self) -> None:
        """Close what is open."""
        for file in (*self._files.values(), *([self._shared_file] if self._shared_file else [])):
            file.close()

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        """Write what is said, before it is sent."""
        if isinstance(event, Joined) and self._shared_file is None:
            name = self._path.name.replace(CONNECTION_PLACEHOLDER, str(event.peer))
            self._files[event.peer] = self._open(self._path.with_name(name))
        failed: OSError | None = None
        for peer, line in self._message_lines(event, effects):
            try:
                self._write(peer, line)
            except OSError as error:
                failed = failed or error
        if isinstance(event, Left) and event.peer in self._files:
            self._files.pop(event.peer).close()
        if failed is not None:
            raise failed

    def _write(self, peer: Peer, line: str) -> None:
        file = self._shared_file or self._files.get(peer)
        if file is not None:
            file.write(line.encode())

    def _message_lines(self, event: Event[Any], effects: Sequence[Effect[Any]]) -> Iterator[tuple[Peer, str]]:
        """What is said, line by line: by whom or to whom."""
        match event:
            case Received(peer, message):
                yield peer, f"C: {escape_line(self._render(message))}"
            case Malformed(peer, violation):
                yield peer, f"C: {escape_line(violation.found)}"
            case _:
                pass
        for effect in effects:
            if isinstance(effect, Send):
                yield effect.peer, f"S: {escape_line(self._render(effect.message))}"

    @staticmethod
    def _open(path: Path) -> LineWriter:
        return LineWriter(open(path, "wb", buffering=0, opener=private_opener))


def escape_line(message: str) -> str:
    """A message as one line that spoils no terminal. Bytes, which codecs show as Latin-1, are UTF-8 if they can be."""
    if message.isascii():
        return message.translate(CONTROL_ESCAPES)
    with suppress(UnicodeError):  # it is text already, or no UTF-8
        message = message.encode("latin-1").decode()
    message = message.translate(CONTROL_ESCAPES)
    return printable(message, len(message))
