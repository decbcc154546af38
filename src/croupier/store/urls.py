"""Locations of stores: SQLite files and PostgreSQL databases, parsed from `--store`."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from croupier.store.records import StoreError

POSTGRESQL_SCHEME = "postgresql://"
ALLOWED_FORMS = "a path, sqlite:///PATH, postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True)
class SqliteLocation:
    """The location of an SQLite file."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class PostgresLocation:
    """The location of a PostgreSQL database. Its `str` never contains the password.

    >>> print(PostgresLocation("postgresql://ann:secret@db.example/games?sslmode=require"))
    postgresql://db.example/games
    """

    url: str

    def __str__(self) -> str:
        shown = self.url.removeprefix(POSTGRESQL_SCHEME).rpartition("@")[2]
        return f"{POSTGRESQL_SCHEME}{re.split('[?&]', shown)[0]}"


type AnyStoreLocation = SqliteLocation | PostgresLocation


def parse_location(store: str | None) -> AnyStoreLocation:
    """Parse the value of `--store`; None is the default file in this user's data directory. Raises StoreError.

    >>> parse_location("sqlite:///games.sqlite")
    SqliteLocation(path=PosixPath('games.sqlite'))
    """
    if store is None:
        from platformdirs import user_data_path

        return SqliteLocation(user_data_path("croupier", appauthor=False) / "store.sqlite")
    scheme, colon, rest = store.partition("://")
    if not colon:
        if not store or store == ":memory:":
            raise StoreError(f"found the store {store!r}; allowed: {ALLOWED_FORMS}")
        return _sqlite_location(store)
    match scheme:
        case "sqlite":
            path = unquote(rest.removeprefix("/"))
            if not rest.startswith("/") or not path or path == ":memory:":
                raise StoreError(f"found the store {store!r}; allowed: {ALLOWED_FORMS}")
            return _sqlite_location(path)
        case "postgresql" | "postgres":
            return PostgresLocation(f"{POSTGRESQL_SCHEME}{rest}")
        case _:
            raise StoreError(f"found a store at {scheme}://; allowed: {ALLOWED_FORMS}")


def _sqlite_location(path: str) -> SqliteLocation:
    """The location of a path, in which ~ is a home directory. Raises StoreError if there is no such user."""
    try:
        return SqliteLocation(Path(path).expanduser())
    except RuntimeError:
        raise StoreError(f"found the store {path!r} of an unknown user; allowed: {ALLOWED_FORMS}") from None
