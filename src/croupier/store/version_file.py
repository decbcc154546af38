"""A number beside a file of SQLite that every process sees at once: it changes with the accounts in the store."""

import mmap
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from croupier.store.records import StoreError

VERSION_BYTES: Final = 8


class VersionFile:
    """Eight bytes of a file in shared memory: to read them is no system call."""

    def __init__(self, store: Path) -> None:
        """Open the file of a store, made if it is not there, for whoever may open the store. Raises StoreError."""
        path = store.with_name(f"{store.name}.accounts")
        try:
            owner = store.stat()
            file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            try:
                with suppress(OSError, AttributeError):  # it is another's file, or Windows
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
        """The number."""
        return self._version[0]

    def randomize(self) -> None:
        """Make it another one: at random, so that two who change it at once need not wait for each other."""
        self._version[0] = secrets.randbits(64)

    def close(self) -> None:
        """Let go of the file."""
        self._version.release()
        self._map.close()
