"""Appends lines to a file, each completely or not at all."""

import errno
import os
from contextlib import suppress
from io import RawIOBase
from pathlib import Path
from typing import Final

from croupier.observers.private_files import private_opener

MAX_PARTIAL_LINE_BYTES: Final = 1 << 16
"""A longer partial line of another process is not removed, but ended."""


class LineWriter:
    """Appends lines to an unbuffered file; a line that is only partly written, as on a full disk, is removed again.

    A pipe whose reader is too slow counts as full: writing never blocks.
    """

    def __init__(self, file: RawIOBase) -> None:
        self._file = file
        self._has_partial_line = False
        with suppress(OSError):  # a file in memory has no descriptor
            os.set_blocking(file.fileno(), False)

    def write(self, line: bytes) -> None:
        """Append a line, given without its newline. Raises OSError; then nothing of the line is in the file."""
        data = b"\n" + line + b"\n" if self._has_partial_line else line + b"\n"
        written = self._file.write(data) or 0
        if written == len(data):
            self._has_partial_line = False
            return
        if written:
            self._remove_partial_line(written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _remove_partial_line(self, written: int) -> None:
        """Remove the first bytes of a line; if that is impossible, the next line will begin with a newline."""
        try:
            end = self._file.tell() - written
            self._file.truncate(end)
            self._file.seek(end)
        except OSError:
            self._has_partial_line = True


class SharedLineWriter(LineWriter):
    """Appends lines to a file that several processes write to.

    A partial line at its end, as a killed process may leave it, is removed before the next line is written.
    """

    def __init__(self, file: RawIOBase) -> None:
        """`file` is open for appending and for reading."""
        super().__init__(file)
        self._descriptor = file.fileno()
        self._whole_bytes = -1

    def write(self, line: bytes) -> None:
        """See `LineWriter.write`. No other process writes meanwhile."""
        from fcntl import LOCK_EX, LOCK_UN, flock  # Windows has none, and no shared files

        flock(self._descriptor, LOCK_EX)
        try:
            if os.fstat(self._descriptor).st_size != self._whole_bytes:
                self._remove_line_of_others()
            super().write(line)
            self._whole_bytes = os.fstat(self._descriptor).st_size
        finally:
            flock(self._descriptor, LOCK_UN)

    def _remove_line_of_others(self) -> None:
        size = os.fstat(self._descriptor).st_size
        if size == 0 or os.pread(self._descriptor, 1, size - 1) == b"\n":
            return
        start = max(0, size - MAX_PARTIAL_LINE_BYTES)
        whole_bytes = os.pread(self._descriptor, MAX_PARTIAL_LINE_BYTES, start).rfind(b"\n") + 1
        if whole_bytes or start == 0:
            os.ftruncate(self._descriptor, start + whole_bytes)
        else:
            self._has_partial_line = True


def open_lines(path: Path, *, is_shared: bool) -> LineWriter:
    """Open a file to append lines to; if it `is_shared`, other processes write to it as well. Raises OSError.

    New files can be read only by their owner. A shared pipe or device has no lock: the system writes short lines whole.
    """
    if is_shared and (path.is_file() or not path.exists()):
        return SharedLineWriter(open(path, "a+b", buffering=0, opener=private_opener))
    return LineWriter(open(path, "ab", buffering=0, opener=private_opener))
