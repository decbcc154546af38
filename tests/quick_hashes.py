"""Hashes passwords quickly, so that tests spend their time on games."""

from argon2 import PasswordHasher

from croupier.http.auth import Authenticator

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def hash_quickly() -> None:
    """Let all servers of this process, and of those that it forks, hash quickly."""
    Authenticator.__init__.__kwdefaults__["hasher"] = QUICK  # type: ignore[index]  # it has keyword defaults
