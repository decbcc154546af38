"""Appends lines to a file, each completely or not at all."""

import errno
import os
from contextlib import suppress
from typing import Protocol


class RawFile(Protocol):
    """A file without a buffer, like `io.FileIO`."""

    def write(self, data: bytes, /) -> int | None: ...  # noqa: D102 -- as in io
    def tell(self) -> int: ...  # noqa: D102 -- as in io
    def seek(self, offset: int, /) -> int: ...  # noqa: D102 -- as in io
    def truncate(self, size: int | None, /) -> int: ...  # noqa: D102 -- as in io
    def fileno(self) -> int: ...  # noqa: D102 -- as in io
    def close(self) -> None: ...  # noqa: D102 -- as in io


class LineWriter:
    """Appends lines to an unbuffered file; a line that is only partly written, as on a full disk, is removed again.

    A pipe whose reader is too slow counts as full: writing never blocks.
    """

    def __init__(self, file: RawFile) -> None:
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
