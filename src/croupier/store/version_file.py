"""A version number in shared memory, next to an SQLite store, that changes with the accounts in the store."""

import mmap
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from croupier.store.records import StoreError

VERSION_BYTES: Final = 8


class VersionFile:
    """A memory-mapped file of eight bytes, which can be read without a system call."""

    def __init__(self, store: Path) -> None:
        """Open or create the version file of a store, with the owner and mode of the store. Raises StoreError."""
        path = store.with_name(f"{store.name}.accounts")
        try:
            owner = store.stat()
            file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            try:
                with suppress(OSError, AttributeError):  # another user owns the file, or Windows
                    os.fchmod(file, owner.st_mode & 0o777)
                    os.fchown(file, owner.st_uid, owner.st_gid)
                os.ftruncate(file, VERSION_BYTES)
                self._map = mmap.mmap(file, VERSION_BYTES)
            finally:
                os.close(file)
        except OSError as error:
            raise StoreError(f"cannot open {path}: {error.strerror}") from error
        self._version = memoryview(self._map).cast("Q")

    def read(self) -> int:
        """Return the current number."""
        return self._version[0]

    def randomize(self) -> None:
        """Change the number: at random, so that concurrent changes need no lock."""
        self._version[0] = secrets.randbits(64)

    def close(self) -> None:
        """Unmap the file."""
        self._version.release()
        self._map.close()
