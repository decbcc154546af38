"""The file of the dealer's record (docs/fair-deal.md), and what becomes of entries that cannot be written."""

import errno
import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from msgspec.structs import replace

from croupier.core.deal_record import Entry, Hand, Missing, Promise, Seed, encode
from croupier.observers.line_writer import Lines

MAX_WAITING: Final = 10_000
"""The most hands and seeds that wait until the file can be written to again."""

OURS: Final = b'{"deal":"'
"""How every line of a record begins."""

TAIL_BYTES: Final = 1 << 16
"""The last line of a record is shorter than this."""


class Log(Protocol):
    """The part of a logger that is used here."""

    def warning(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- named above
    def error(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- named above


class Record:
    """The dealer's record of all rooms of a server.

    A promise is written at once or never, for a late promise proves nothing: a table whose promise could not be written
    is left out of the record altogether. Hands and seeds of other tables wait, at most MAX_WAITING of them, and are
    written with the next entry that can be written. A table of which one of them is lost has no seed in the record, for
    that would open a promise of which hands are missing. A `Missing` entry for each room says what was left out.
    """

    def __init__(self, lines: Lines, log: Log) -> None:
        self._lines = lines
        self._log = log
        self._waiting: deque[bytes] = deque()
        self._unpromised: set[tuple[str, int]] = set()
        self._cut_short: set[tuple[str, int]] = set()
        self._missing: dict[str, Missing] = {}
        self._failing = False

    def add(self, entry: Promise | Hand | Seed) -> None:
        """Write an entry. Raises OSError where it is not in the file when this returns."""
        key = entry.room, entry.table
        try:
            if isinstance(entry, Promise):
                self._promise(entry)
            elif key not in self._unpromised:
                self._append(entry)
        finally:
            if isinstance(entry, Seed):  # the last entry of its table
                self._unpromised.discard(key)
                self._cut_short.discard(key)

    def close(self) -> None:
        """Write what waits, or log what the record lacks for good. The file is for its owner to close."""
        try:
            self._catch_up()
        except OSError as error:
            self._log.error("the dealer's record is incomplete", reason=str(error), **self._lacking())

    def _promise(self, entry: Promise) -> None:
        try:
            self._catch_up()
            self._write(entry)
        except OSError as error:
            self._failing = True
            self._unpromised.add((entry.room, entry.table))
            self._miss(entry.room, table=entry.table)
            told = f"{error.strerror}: nothing about {entry.room} table {entry.table} will be in the dealer's record"
            raise OSError(error.errno, told) from error

    def _append(self, entry: Hand | Seed) -> None:
        key = entry.room, entry.table
        if len(self._waiting) == MAX_WAITING or key in self._cut_short:
            self._cut_short.add(key)
            self._failing = True
            self._miss(entry.room)
            told = f"a line about {entry.room} table {entry.table} will not be in the dealer's record"
            raise OSError(errno.ENOBUFS, told)
        self._waiting.append(encode(entry))
        try:
            self._catch_up()
        except OSError:
            self._failing = True
            raise

    def _catch_up(self) -> None:
        """Write what waits, and what is missing. Raises OSError."""
        while self._waiting:
            self._lines.write(self._waiting[0])
            self._waiting.popleft()
        if self._failing:
            lacking = self._lacking()
            while self._missing:
                room = next(iter(self._missing))
                self._write(self._missing[room])
                del self._missing[room]
            self._failing = False
            self._log.warning("the dealer's record can be written to again", **lacking)

    def _write(self, entry: Entry) -> None:
        self._lines.write(encode(entry))

    def _miss(self, room: str, table: int | None = None) -> None:
        missing = self._missing.get(room) or Missing(room)
        if table is None:
            self._missing[room] = replace(missing, lines=missing.lines + 1)
        else:
            first = min(missing.first or table, table)
            last = max(missing.last, table)
            self._missing[room] = replace(missing, first=first, last=last, tables=missing.tables + 1)

    def _lacking(self) -> dict[str, object]:
        """What is not in the file, for the log."""
        missing = self._missing.values()
        return {
            "missing_tables": {each.room: (each.first, each.last, each.tables) for each in missing if each.tables},
            "missing_lines": len(self._waiting) + sum(each.lines for each in missing),
        }


def mend(path: Path) -> bool:
    """Remove the half line at the end of a record whose server was killed: whether there was one. Raises OSError.

    A half line that is no entry of a record is ended with a newline, for somebody may have given the wrong file; so is
    one in a file to which the system lets nobody do anything but append.
    """
    if not path.is_file() or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        tail = file.read().rpartition(b"\n")[2]
    if not tail:
        return False
    if tail.startswith(OURS) or OURS.startswith(tail):
        with suppress(OSError):
            os.truncate(path, size - len(tail))
            return True
    with path.open("ab") as file:
        file.write(b"\n")
    return True
