"""Writes the file of the dealer's record (docs/fair-deal.md) and handles entries that cannot be written."""

import errno
import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from croupier.core.deal_record import DealGap, DealPromise, DealRecordEntry, DealSeed, DealtHand, encode_entry
from croupier.core.logger import Logger
from croupier.observers.line_writer import LineWriter

MAX_WAITING_ENTRIES: Final = 10_000
"""The maximum number of hands and seeds that wait until the file can be written to again."""

LINE_PREFIX: Final = b'{"deal":"'
"""The first bytes of every line of a record."""

MAX_LINE_BYTES: Final = 1 << 16
"""Every line of a record is shorter than this."""


class DealFile:
    """The dealer's record of all rooms of a server.

    A promise is written at once or never, because a late promise proves nothing: if a table's promise cannot be
    written, nothing about the table is recorded. Hands and seeds of other tables wait, at most MAX_WAITING_ENTRIES of
    them, and are written together with the next entry that can be written. If a hand of a table is lost, its seed is
    not recorded either, because it would open a promise with missing hands. A `DealGap` entry for each room states what
    is missing.
    """

    def __init__(self, writer: LineWriter, log: Logger) -> None:
        self._writer = writer
        self._log = log
        self._waiting_lines: deque[bytes] = deque()
        self._tables_without_promise: set[tuple[str, int]] = set()
        self._tables_with_lost_lines: set[tuple[str, int]] = set()
        self._missing: dict[str, DealGap] = {}
        self._is_failing = False

    def add(self, entry: DealPromise | DealtHand | DealSeed) -> None:
        """Write an entry. Raises OSError if the entry is not in the file on return."""
        key = entry.room, entry.table
        try:
            if isinstance(entry, DealPromise):
                self._write_promise(entry)
            elif key not in self._tables_without_promise:
                self._append(entry)
        finally:
            if isinstance(entry, DealSeed):  # the last entry of its table
                self._tables_without_promise.discard(key)
                self._tables_with_lost_lines.discard(key)

    def close(self) -> None:
        """Write waiting entries, or log what will be missing from the record. The caller closes the file."""
        try:
            self._flush()
        except OSError as error:
            self._log.error("the dealer's record is incomplete", reason=str(error), **self._missing_facts())

    def _write_promise(self, entry: DealPromise) -> None:
        try:
            self._flush()
            self._write(entry)
        except OSError as error:
            self._is_failing = True
            self._tables_without_promise.add((entry.room, entry.table))
            self._count_missing(entry.room, table=entry.table)
            message = f"{error.strerror}: nothing about {entry.room} table {entry.table} will be in the dealer's record"
            raise OSError(error.errno, message) from error

    def _append(self, entry: DealtHand | DealSeed) -> None:
        key = entry.room, entry.table
        if len(self._waiting_lines) == MAX_WAITING_ENTRIES or key in self._tables_with_lost_lines:
            self._tables_with_lost_lines.add(key)
            self._is_failing = True
            self._count_missing(entry.room)
            message = f"a line about {entry.room} table {entry.table} will not be in the dealer's record"
            raise OSError(errno.ENOBUFS, message)
        self._waiting_lines.append(encode_entry(entry))
        try:
            self._flush()
        except OSError:
            self._is_failing = True
            raise

    def _flush(self) -> None:
        """Write waiting entries and the gaps. Raises OSError."""
        while self._waiting_lines:
            self._writer.write(self._waiting_lines[0])
            self._waiting_lines.popleft()
        if self._is_failing:
            facts = self._missing_facts()
            while self._missing:
                room = next(iter(self._missing))
                self._write(self._missing[room])
                del self._missing[room]
            self._is_failing = False
            self._log.warning("the dealer's record can be written to again", **facts)

    def _write(self, entry: DealRecordEntry) -> None:
        self._writer.write(encode_entry(entry))

    def _count_missing(self, room: str, table: int | None = None) -> None:
        missing = self._missing.get(room) or DealGap(room)
        if table is None:
            self._missing[room] = replace(missing, lines=missing.lines + 1)
        else:
            first = min(missing.first or table, table)
            last = max(missing.last, table)
            self._missing[room] = replace(missing, first=first, last=last, tables=missing.tables + 1)

    def _missing_facts(self) -> dict[str, object]:
        """What is missing from the file, as fields of a log entry."""
        missing = self._missing.values()
        return {
            "missing_tables": {gap.room: (gap.first, gap.last, gap.tables) for gap in missing if gap.tables},
            "missing_lines": len(self._waiting_lines) + sum(gap.lines for gap in missing),
        }


def remove_partial_line(path: Path) -> bool:
    """Remove a partial line at the end of a record, as a killed server may leave it; return whether there was one.

    If the partial line is not part of a record (the path may be wrong) or the file can only be appended to, it is ended
    with a newline instead. Raises OSError.
    """
    if not path.is_file() or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_LINE_BYTES))
        tail = file.read().rpartition(b"\n")[2]
    if not tail:
        return False
    if tail.startswith(LINE_PREFIX) or LINE_PREFIX.startswith(tail):
        with suppress(OSError):
            os.truncate(path, size - len(tail))
            return True
    with path.open("ab") as file:
        file.write(b"\n")
    return True
