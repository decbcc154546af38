"""Hashes passwords quickly, so that tests spend their time on games."""

from croupier.http.auth import QUICK_HASHER, Authenticator


def hash_quickly() -> None:
    """Let all servers of this process, and of those that it forks, hash quickly."""
    Authenticator.__init__.__kwdefaults__["hasher"] = QUICK_HASHER  # type: ignore[index]  # it has keyword defaults
