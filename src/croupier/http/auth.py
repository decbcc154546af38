"""HTTP Basic authentication: users, passwords, and limits on wrong passwords and new users (ruling H8)."""

import asyncio
import secrets
from base64 import b64encode
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from hashlib import blake2b
from time import monotonic
from typing import Final, Literal, Protocol
from unicodedata import category

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from argon2.low_level import ARGON2_VERSION
from msgspec import Struct

from croupier.core.basic_auth import basic_authorization, parse_basic_authorization
from croupier.core.usernames import (
    MAX_NAME_CHARACTERS,
    InvalidUsername,
    normalize_username,
    skeleton,
    validate_username,
)
from croupier.http.password_limits import PasswordLimits
from croupier.net.client_addresses import address_key
from croupier.net.count_limit import CountLimit
from croupier.net.rate_limiter import RateLimiter

type AuthErrorReason = Literal["missing", "malformed", "wrong", "taken", "often", "busy", "full"]

DEFAULT_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
"""argon2id with the lowest cost that the OWASP Password Storage Cheat Sheet allows: 19 MiB, two passes, one lane."""

QUICK_HASHER: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""For passwords that protect nothing, such as those of transcripts."""

UNKNOWN_VERSION: Final = -1
"""The version of a login that has to be confirmed at its next use."""


class AuthError(Exception):
    """Credentials are refused. `retry_after` is the number of seconds to wait, None if waiting does not help."""

    def __init__(self, reason: AuthErrorReason, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.reason: AuthErrorReason = reason
        self.detail = detail
        self.retry_after = retry_after


class UserRecord(Struct, frozen=True):
    """A user, with an argon2 hash of the password."""

    name: str
    password_hash: str


class Users(Protocol):
    """Storage for users."""

    def version(self) -> int | None:
        """A number that changes when a user gets a new password or is closed; None while it is unknown."""
        ...

    async def get(self, name: str) -> UserRecord | None:
        """The user of this name, or None. Raises AuthError while the storage is unavailable."""
        ...

    async def add(self, user: UserRecord) -> bool:
        """Add a user. Returns False, and changes nothing, if another user's name looks like this one.

        Raises AuthError if the storage is full or unavailable.
        """
        ...


class MemoryUsers:
    """Users in memory, at most `max_users`."""

    def __init__(self, max_users: int = 1_000_000) -> None:
        self._users: dict[str, UserRecord] = {}
        self._skeletons: set[str] = set()
        self._max_users = max_users

    def version(self) -> int | None:
        """A constant: passwords in memory never change."""
        return 0

    async def get(self, name: str) -> UserRecord | None:
        """The user of this name, or None."""
        return self._users.get(name)

    async def add(self, user: UserRecord) -> bool:
        """Add a user; False if another user's name looks like this one. Raises AuthError if there are too many."""
        if (name_skeleton := skeleton(user.name)) in self._skeletons:
            return False
        if len(self._users) >= self._max_users:
            raise AuthError("full", f"found {self._max_users} users; allowed: {self._max_users}")
        self._users[user.name] = user
        self._skeletons.add(name_skeleton)
        return True


class VerifiedLogin(Struct, gc=False):
    """A verified login: valid until `expires_at` (seconds of the clock), and while the users have this version."""

    name: str
    password_hash: str
    expires_at: float
    users_version: int


class HashingPool:
    """Threads that compute argon2, for at most `max_queued` callers at a time, some of them still waiting."""

    def __init__(self, name: str, threads: int, max_queued: int, max_queued_per_address: int) -> None:
        self._executor = ThreadPoolExecutor(threads, name)
        self._free_threads = asyncio.Semaphore(threads)
        self._max_queued = max_queued
        self._queued = CountLimit(max_queued_per_address)  # by address

    @asynccontextmanager
    async def reserve_thread(self, address: str) -> AsyncIterator[None]:
        """Wait for a thread, in order of arrival. Raises AuthError if too many callers wait already."""
        queued, allowed = self._queued, self._max_queued
        if queued.total >= allowed or queued.is_reached(address):
            raise AuthError("busy", f"found {queued.total} passwords to be checked; allowed: {allowed}", 1.0)
        queued.add(address)
        try:
            async with self._free_threads:
                yield
        finally:
            queued.remove(address)

    async def run[T](self, work: Callable[[], T]) -> T:
        """Run a function in the reserved thread and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """Cancel waiting work and stop the threads."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class Authenticator:
    """Identifies users by the Authorization header of their requests (RFC 7617).

    A login is cached for `login_seconds` under a keyed digest of its header in canonical form, so that the next request
    needs only a lookup; neither the header nor the password is kept. If users have changed since, the cached hash is
    compared with the stored one. Other logins are verified with argon2 in one of `threads` threads, which takes about
    the same time whether the user exists or not; new users have a thread of their own. For each of the two, at most
    `max_queued` callers wait.

    `name_limiter` limits wrong passwords per address and name, `address_limiter` per address; those per name have a
    limit of their own (see `PasswordLimits`). `registration_limiter` limits new users per address. Right passwords
    neither count nor reset a limit. Addresses are reduced with `address_key`; times are seconds of `clock`.

    Example:
        >>> import asyncio
        >>> async def main() -> str:
        ...     authenticator = Authenticator()
        ...     header = basic_authorization("ann", "secret")
        ...     await authenticator.register(header, "192.0.2.1")
        ...     name = (await authenticator.authenticate(header, "192.0.2.1")).name
        ...     authenticator.close()
        ...     return name
        >>> asyncio.run(main())
        'ann'
    """

    def __init__(
        self,
        users: Users | None = None,
        *,
        clock: Callable[[], float] = monotonic,
        hasher: PasswordHasher = DEFAULT_HASHER,
        name_limiter: RateLimiter | None = None,
        address_limiter: RateLimiter | None = None,
        registration_limiter: RateLimiter | None = None,
        login_seconds: float = 600.0,
        max_logins: int = 10_000,
        threads: int = 2,
        max_queued: int = 1024,
    ) -> None:
        self._users = users if users is not None else MemoryUsers()
        self.version = self._users.version
        self._clock = clock
        self._hasher = hasher
        self._password_limits = PasswordLimits(
            name_limiter or RateLimiter(10, 60.0),
            address_limiter or RateLimiter(100, 60.0),
            RateLimiter(100, 60.0),
        )
        self._registration_limiter = registration_limiter or RateLimiter(1_000, 60.0)
        self._login_seconds = login_seconds
        self._max_logins = max_logins
        self._key = secrets.token_bytes(32)
        self._logins: OrderedDict[bytes, VerifiedLogin] = OrderedDict()  # oldest first
        self._pending_checks: dict[bytes, asyncio.Task[VerifiedLogin | AuthError]] = {}
        self._verification_pool = HashingPool("verify", threads, max_queued, (max_queued + 1) // 2)
        self._registration_pool = HashingPool("register", 1, max_queued, max_queued)
        self._dummy_hash = dummy_hash(hasher)

    def cached_login(self, header: bytes) -> VerifiedLogin | None:
        """The login of this Authorization header if it is cached and current, else None.

        This repeats `_digest` and `is_current`, because it is the hot path.
        """
        found = self._logins.get(blake2b(header, digest_size=16, key=self._key).digest())
        if found is None or found.users_version != self.version() or found.expires_at <= self._clock():
            return None
        return found

    def is_current(self, login: VerifiedLogin) -> bool:
        """Whether a login is valid without looking the user up."""
        return login.users_version == self.version() and login.expires_at > self._clock()

    def is_confirmed(self, login: VerifiedLogin) -> bool:
        """Whether the user of a login is known to have that password still."""
        return login.users_version == self.version()

    async def confirm(self, login: VerifiedLogin) -> None:
        """Check that the user of a login still has that password. Raises AuthError, and while users are unavailable."""
        if not await self._has_password(login):
            raise AuthError("wrong", f"found another password of {login.name!r} now; allowed: to log in again")

    async def _has_password(self, login: VerifiedLogin) -> bool:
        """Whether the user of a login still has that password. Raises AuthError while users are unavailable."""
        if self.is_confirmed(login):
            return True
        version = self.version()
        user = await self._users.get(login.name)
        if user is None or user.password_hash != login.password_hash:
            return False
        login.users_version = UNKNOWN_VERSION if version is None else version
        return True

    async def is_user(self, name: str) -> bool:
        """Whether a user of this name can log in. Raises AuthError while users are unavailable."""
        return await self._users.get(name) is not None

    async def authenticate(self, header: bytes | None, address: str) -> VerifiedLogin:
        """The login of the user with this Authorization header, verified if necessary. Raises AuthError."""
        given_name, password = parse_credentials(header)
        name = await self._stored_name(given_name)
        digest = self._digest(basic_authorization(name, password))
        found = self._logins.get(digest)
        if found is not None and found.expires_at > self._clock():
            if await self._has_password(found):
                return found
            self._logins.pop(digest, None)
        check = self._pending_checks.get(digest)
        if check is None:  # connections of one user often send the same header at once: it is verified only once
            check = asyncio.get_running_loop().create_task(self._verify_password(digest, name, password, address))
            self._pending_checks[digest] = check
            check.add_done_callback(lambda _: self._pending_checks.pop(digest, None))
        verdict = await asyncio.shield(check)
        if isinstance(verdict, AuthError):
            raise AuthError(verdict.reason, verdict.detail, verdict.retry_after)
        return verdict

    async def register(self, header: bytes | None, address: str, *, idempotent: bool = False) -> str:
        """Create a user from the name and password in an Authorization header and return the name. Raises AuthError.

        If `idempotent`, an existing user with this password is accepted like a new one (dialect hspe-go).
        """
        given_name, password = parse_credentials(header)
        name = await self._stored_name(given_name)
        digest = self._digest(basic_authorization(name, password))
        if await self._users.get(name) is None:
            try:
                name = validate_username(given_name)
            except InvalidUsername as error:
                raise AuthError("malformed", str(error)) from None
            if wait := self._registration_limiter.take(address_key(address), self._clock()):
                raise AuthError("often", f"found too many new users from {address}; allowed: one more later", wait)
            version = self.version()
            async with self._registration_pool.reserve_thread(address):
                hashed = await self._registration_pool.run(lambda: self._hasher.hash(password))
            if await self._users.add(UserRecord(name, hashed)):
                self._cache_login(digest, name, hashed, version)
                self._password_limits.add_known_place(address_key(address), name)
                return name
        if idempotent:
            verdict = await self._verify_password(digest, name, password, address)
            if isinstance(verdict, VerifiedLogin):
                return verdict.name
            if verdict.reason != "wrong":
                raise verdict
        raise AuthError(
            "taken", f"found a user {name!r}, or one whose name looks like that; allowed: a name of one's own"
        )

    def close(self) -> None:
        """Stop verifying passwords."""
        self._verification_pool.close()
        self._registration_pool.close()

    def _digest(self, header: bytes) -> bytes:
        return blake2b(header, digest_size=16, key=self._key).digest()

    async def _stored_name(self, name: str) -> str:
        """The name under which a user is stored: normalized, unless an older user has exactly this name."""
        normalized = normalize_username(name)
        return name if normalized != name and await self._users.get(name) is not None else normalized

    async def _verify_password(
        self, digest: bytes, name: str, password: str, address: str
    ) -> VerifiedLogin | AuthError:
        network = address_key(address)
        try:
            self._check_rate_limits(network, name)
            async with self._verification_pool.reserve_thread(network):
                self._check_rate_limits(network, name)  # other callers may have used up the limit meanwhile
                now, version, wrong = self._clock(), self.version(), False
                counted = self._password_limits.take(network, name, now)
                try:
                    user = await self._users.get(name)
                    hashed = self._dummy_hash if user is None else user.password_hash
                    matches = await self._verification_pool.run(lambda: self._matches(hashed, password))
                    wrong = user is None or not matches
                finally:
                    if not wrong:
                        self._password_limits.give_back(counted, now)
        except AuthError as denied:
            return denied
        if user is None or wrong:
            return AuthError("wrong", "found a user or a password that is wrong; allowed: those of a user")
        self._password_limits.add_known_place(network, name)
        return self._cache_login(digest, user.name, user.password_hash, version)

    def _check_rate_limits(self, network: str, name: str) -> None:
        """Raise AuthError after too many wrong passwords."""
        if wait := self._password_limits.retry_after(network, name, self._clock()):
            raise AuthError("often", "found too many wrong passwords; allowed: another try later", wait)

    def _cache_login(self, digest: bytes, name: str, hashed: str, version: int | None) -> VerifiedLogin:
        login = VerifiedLogin(
            name, hashed, self._clock() + self._login_seconds, UNKNOWN_VERSION if version is None else version
        )
        logins = self._logins
        if digest not in logins and len(logins) >= self._max_logins:
            logins.popitem(last=False)
        logins[digest] = login
        logins.move_to_end(digest)
        return login

    def _matches(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except VerifyMismatchError:
            return False


def dummy_hash(hasher: PasswordHasher) -> str:
    """A hash that no password is known for; to verify one takes as long as with a hash that was computed.

    Example:
        >>> dummy_hash(DEFAULT_HASHER)[:31]
        '$argon2id$v=19$m=19456,t=2,p=1$'
    """
    parameters = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    salt, digest = (
        b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (hasher.salt_len, hasher.hash_len)
    )
    return f"$argon2id$v={ARGON2_VERSION}${parameters}${salt}${digest}"


def parse_credentials(header: bytes | None) -> tuple[str, str]:
    """Parse the name and password of an Authorization header (RFC 7617). Raises AuthError if there are none."""
    if header is None:
        raise AuthError("missing", "found no Authorization; allowed: Basic with a name and a password")
    try:
        name, password = parse_basic_authorization(header)
    except ValueError:  # includes errors of base64 and UTF-8
        detail = "found an Authorization that is no name:password; allowed: Basic with that in UTF-8 and base64"
        raise AuthError("malformed", detail) from None
    if not 0 < len(name) <= MAX_NAME_CHARACTERS or any(category(letter) == "Cc" for letter in name):
        allowed = f"allowed: 1 to {MAX_NAME_CHARACTERS} characters, none of control"
        raise AuthError("malformed", f"found the name {name[:MAX_NAME_CHARACTERS]!r}; {allowed}")
    if not password:
        raise AuthError("malformed", f"found no password of {name!r}; allowed: one of at least one character")
    return name, password
