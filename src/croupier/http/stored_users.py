"""Users whose accounts are in a store: they are the same when the house is opened again."""

from croupier.http.auth import AuthError, UserRecord
from croupier.store.records import StoreUnavailable, WriteRefused
from croupier.store.store import Store


class StoredUsers:
    """The accounts of a store as the guard asks for them. Whoever has no password, or is closed, cannot log in."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.version = store.accounts_version

    async def get(self, name: str) -> UserRecord | None:
        """Who has this name. Raises Denied while the store cannot be read."""
        try:
            account = await self._store.account(name)
        except StoreUnavailable:
            raise _store_down_error() from None
        if account is None or account.password is None or account.closed is not None:
            return None
        return UserRecord(name, account.password)

    async def add(self, user: UserRecord) -> bool:
        """Open an account; False when somebody has a name that looks like this one.

        Raises Denied while the store cannot be written to.
        """
        try:
            await self._store.add_account(user.name, user.password_hash, reason="enrolled")
        except WriteRefused:
            return False
        except StoreUnavailable:
            raise _store_down_error() from None
        return True


def _store_down_error() -> AuthError:
    return AuthError("busy", "found a store that is down; allowed: another try later", 1.0)
