"""Users whose accounts are in a store, so that they persist across restarts."""

from croupier.http.auth import AuthError, UserRecord
from croupier.store.records import StoreUnavailable, WriteRefused
from croupier.store.store import Store


class StoredUsers:
    """The accounts of a store, for the Authenticator. Closed accounts and those without a password cannot log in."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.version = store.accounts_version

    async def get(self, name: str) -> UserRecord | None:
        """The user of this name, or None. Raises AuthError if the store cannot be read."""
        try:
            account = await self._store.account(name)
        except StoreUnavailable:
            raise _store_down_error() from None
        if account is None or account.password is None or account.closed is not None:
            return None
        return UserRecord(name, account.password)

    async def add(self, user: UserRecord) -> bool:
        """Create an account; False if another account has this name or one that looks like it.

        Raises AuthError if the store cannot be written to.
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
