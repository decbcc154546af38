"""Observer that logs conversations as text, one message per line, for comparison with `diff` (ruling S11)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from croupier.core.session import Effect, Event, Joined, Left, Malformed, Peer, Received, Send
from croupier.core.text import printable
from croupier.observers.line_writer import LineWriter, open_lines
from croupier.observers.private_files import private_opener

CONNECTION_PLACEHOLDER = "{n}"
"""Placeholder for the number of the connection in a file name."""

CONTROL_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""Escapes for characters that would end a line or affect a terminal."""


class ConversationLog:
    """Logs the messages of one room: `C: ` marks messages of the client, `S: ` messages of the house.

    `render` converts a message to text. If the file name contains `{n}`, each connection has its own file, which is
    overwritten; otherwise all connections share one file. It is overwritten, too, unless it `is_shared` with other
    processes.

    Raises OSError if the shared file cannot be opened. As an observer, it tries to write all messages of an event and
    then raises the first OSError.
    """

    name = "--log"

    def __init__(self, path: Path, render: Callable[[Any], str] = str, *, is_shared: bool = False) -> None:
        self._path = path
        self._render = render
        self._files: dict[Peer, LineWriter] = {}
        self._shared_file: LineWriter | None = None
        if CONNECTION_PLACEHOLDER not in path.name:
            self._shared_file = open_lines(path, is_shared=True) if is_shared else self._open(path)

    def close(self) -> None:
        """Close all open files."""
        for file in (*self._files.values(), *([self._shared_file] if self._shared_file else [])):
            file.close()

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- an Observer
        """Write the messages of an event and its effects, before the effects are performed."""
        if isinstance(event, Joined) and self._shared_file is None:
            name = self._path.name.replace(CONNECTION_PLACEHOLDER, str(event.peer))
            self._files[event.peer] = self._open(self._path.with_name(name))
        first_error: OSError | None = None
        for peer, line in self._message_lines(event, effects):
            try:
                self._write(peer, line)
            except OSError as error:
                first_error = first_error or error
        if isinstance(event, Left) and event.peer in self._files:
            self._files.pop(event.peer).close()
        if first_error is not None:
            raise first_error

    def _write(self, peer: Peer, line: str) -> None:
        file = self._shared_file or self._files.get(peer)
        if file is not None:
            file.write(line.encode())

    def _message_lines(self, event: Event[Any], effects: Sequence[Effect[Any]]) -> Iterator[tuple[Peer, str]]:
        """The lines of an event and its effects, each with the peer that sends or receives the message."""
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
    r"""Format a message as one line that is safe for a terminal.

    Bytes, which codecs represent as Latin-1, are decoded as UTF-8 if possible.

    Example:
        >>> print(escape_line("two\nlines"))
        two\x0alines
    """
    if message.isascii():
        return message.translate(CONTROL_ESCAPES)
    with suppress(UnicodeError):  # it is already text, or not UTF-8
        message = message.encode("latin-1").decode()
    message = message.translate(CONTROL_ESCAPES)
    return printable(message, len(message))
