"""The guard at the door of a service: who comes as whom, and how often somebody may be wrong about that (ruling H8)."""

import asyncio
import secrets
from base64 import b64decode, b64encode
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from hashlib import blake2b
from time import monotonic
from typing import Final, Literal, Protocol
from unicodedata import category

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from msgspec import Struct

from croupier.core.usernames import MAX_CHARACTERS, Misnamed, normalized, skeleton, username
from croupier.net.client_addresses import counted
from croupier.net.rate_limiter import RateLimiter

type Reason = Literal["missing", "malformed", "wrong", "taken", "often", "busy", "full"]

PATIENT = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
"""argon2id with the least cost that the OWASP Password Storage Cheat Sheet allows: 19 MiB, two passes, one lane."""

UNKNOWN: Final = -1
"""The version of a login that has to be looked up again at its next use."""


class Denied(Exception):
    """Somebody is not let in. `wait` is in how many seconds it is worth another try, None if waiting does not help."""

    def __init__(self, reason: Reason, detail: str, wait: float | None = None) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail = detail
        self.wait = wait


class User(Struct, frozen=True):
    """Somebody with a name and a password, of which an argon2 hash is kept."""

    name: str
    hashed: str


class Users(Protocol):
    """Where users are kept."""

    def version(self) -> int | None:
        """A number that is another one as soon as a user has a new password or is closed; None while nobody knows."""
        ...

    async def get(self, name: str) -> User | None:
        """Who has this name. Raises Denied while nobody knows."""
        ...

    async def put(self, user: User) -> bool:
        """Keep a new user; False, and nothing is changed, when the name is too much like somebody's.

        Raises Denied when it is full.
        """
        ...


class Remembered:
    """Users in memory, at most `most` of them."""

    def __init__(self, most: int = 1_000_000) -> None:
        self._users: dict[str, User] = {}
        self._skeletons: set[str] = set()
        self._most = most

    def version(self) -> int | None:
        """Always the same: passwords in memory are never changed."""
        return 0

    async def get(self, name: str) -> User | None:
        """Who has this name."""
        return self._users.get(name)

    async def put(self, user: User) -> bool:
        """Keep a new user; False when somebody has a name that looks like this one."""
        if (alike := skeleton(user.name)) in self._skeletons:
            return False
        if len(self._users) >= self._most:
            raise Denied("full", f"found {self._most} users; allowed: {self._most}")
        self._users[user.name] = user
        self._skeletons.add(alike)
        return True


class Login(Struct, gc=False):
    """A user whose password was verified: it stands until a time, while users are of this version."""

    name: str
    hashed: str
    until: float
    version: int


class Workers:
    """Threads that compute argon2: at most `queue` callers wait for them, and `each` of one address."""

    def __init__(self, name: str, threads: int, queue: int, each: int) -> None:
        self._executor = ThreadPoolExecutor(threads, name)
        self._free = asyncio.Semaphore(threads)
        self._queue = queue
        self._each = each
        self._waiting: Counter[str] = Counter()
        self._size = 0

    @asynccontextmanager
    async def thread(self, address: str) -> AsyncIterator[None]:
        """Wait for a thread, first come first served. Raises Denied when too many wait already."""
        if self._size >= self._queue or self._waiting[address] >= self._each:
            raise Denied("busy", f"found {self._size} passwords to be checked; allowed: {self._queue}", 1.0)
        self._size += 1
        self._waiting[address] += 1
        try:
            async with self._free:
                yield
        finally:
            self._size -= 1
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]

    async def run[T](self, work: Callable[[], T]) -> T:
        """Do something in the thread that was waited for."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """Do nothing more."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class Guard:
    """Knows users by the Authorization header of their requests (RFC 7617).

    A login is remembered for `remember` seconds by a keyed digest of its header in canonical form, so that the next
    request costs a look-up: neither the header nor its password is kept. When users have changed since, it is compared
    with what is kept of the user now. Others are verified by argon2 in one of `threads` threads, in about the same time
    whether the user exists or not; new users have a thread of their own. For each of both at most `queue` may wait.

    `mistakes` limits wrong passwords for a pair of address and name, `guesses` those of an address whatever the names,
    `enrolments` new users from an address. Right passwords count for nothing, and excuse nothing. Addresses are
    `counted`, times are seconds of `clock`.
    """

    def __init__(
        self,
        users: Users | None = None,
        *,
        clock: Callable[[], float] = monotonic,
        hasher: PasswordHasher = PATIENT,
        mistakes: RateLimiter | None = None,
        guesses: RateLimiter | None = None,
        enrolments: RateLimiter | None = None,
        remember: float = 600.0,
        most: int = 10_000,
        threads: int = 2,
        queue: int = 1024,
    ) -> None:
        self._users = users if users is not None else Remembered()
        self.version = self._users.version
        self._clock = clock
        self._hasher = hasher
        self._mistakes = mistakes or RateLimiter(10, 60.0)
        self._guesses = guesses or RateLimiter(100, 60.0)
        self._enrolments = enrolments or RateLimiter(1_000, 60.0)
        self._remember = remember
        self._most = most
        self._key = secrets.token_bytes(32)
        self._verified: OrderedDict[bytes, Login] = OrderedDict()  # the oldest first
        self._checks: dict[bytes, asyncio.Task[Login | Denied]] = {}
        self._verifying = Workers("guard", threads, queue, (queue + 1) // 2)
        self._enrolling = Workers("enrolment", 1, queue, queue)
        self._nobody = hasher.hash(secrets.token_bytes(16))

    def known(self, header: bytes) -> str | None:
        """The name of the user whose Authorization header this is, if it was verified lately."""
        found = self.verified(header)
        return None if found is None else found.name

    def verified(self, header: bytes) -> Login | None:
        """The login of such a user."""
        found = self._verified.get(self._digest(header))
        return found if found is not None and self.stands(found) else None

    def stands(self, login: Login) -> bool:
        """Whether a login is good without another look at the user."""
        return login.version == self.version() and login.until > self._clock()

    async def confirmed(self, login: Login) -> bool:
        """Whether the user of a login still has that password. Raises Denied while nobody knows."""
        version = self.version()
        if login.version == version:
            return True
        user = await self._users.get(login.name)
        if user is None or user.hashed != login.hashed:
            return False
        login.version = UNKNOWN if version is None else version
        return True

    async def is_user(self, name: str) -> bool:
        """Whether somebody can log in under this name. Raises Denied while nobody knows."""
        return await self._users.get(name) is not None

    async def check(self, header: bytes | None, address: str) -> str:
        """The name of the user whose Authorization header this is. Raises Denied."""
        return (await self.verify(header, address)).name

    async def verify(self, header: bytes | None, address: str) -> Login:
        """The login of the user whose Authorization header this is. Raises Denied."""
        given, password = credentials(header)
        name = await self._spelt(given)
        digest = self._digest(canonical(name, password))
        found = self._verified.get(digest)
        if found is not None and found.until > self._clock():
            if await self.confirmed(found):
                return found
            self._verified.pop(digest, None)
        check = self._checks.get(digest)
        if check is None:  # many connections of one user come with the same header at once: it is verified once
            check = asyncio.get_running_loop().create_task(self._check(digest, name, password, address))
            self._checks[digest] = check
            check.add_done_callback(lambda _: self._checks.pop(digest, None))
        verdict = await asyncio.shield(check)
        if isinstance(verdict, Denied):
            raise Denied(verdict.reason, verdict.detail, verdict.wait)
        return verdict

    async def enrol(self, header: bytes | None, address: str, *, again: bool = False) -> str:
        """Make a user of the name and password in an Authorization header: the name. Raises Denied.

        With `again`, a user who is there already and has this password is as welcome as a new one (dialect hspe-go).
        """
        given, password = credentials(header)
        name = await self._spelt(given)
        digest = self._digest(canonical(name, password))
        if await self._users.get(name) is None:
            try:
                name = username(given)
            except Misnamed as error:
                raise Denied("malformed", str(error)) from None
            if wait := self._enrolments.take(counted(address), self._clock()):
                raise Denied("often", f"found too many new users from {address}; allowed: one more later", wait)
            version = self.version()
            async with self._enrolling.thread(address):
                hashed = await self._enrolling.run(lambda: self._hasher.hash(password))
            if await self._users.put(User(name, hashed)):
                self._keep(digest, name, hashed, version)
                return name
        if again:
            verdict = await self._check(digest, name, password, address)
            if isinstance(verdict, Login):
                return verdict.name
            if verdict.reason != "wrong":
                raise verdict
        raise Denied("taken", f"found a user {name!r}, or one whose name looks like that; allowed: a name of one's own")

    def close(self) -> None:
        """Verify nobody any more."""
        self._verifying.close()
        self._enrolling.close()

    def _digest(self, header: bytes) -> bytes:
        return blake2b(header, digest_size=16, key=self._key).digest()

    async def _spelt(self, name: str) -> str:
        """A name as its user is kept: normalized, unless an older user has just this one."""
        spelt = normalized(name)
        return name if spelt != name and await self._users.get(name) is not None else spelt

    async def _check(self, digest: bytes, name: str, password: str, address: str) -> Login | Denied:
        place = counted(address)
        pair = place, name
        try:
            self._let_guess(place, pair)
            async with self._verifying.thread(place):
                self._let_guess(place, pair)  # others may have guessed meanwhile
                now, version, wrong = self._clock(), self.version(), False
                self._guesses.take(place, now)
                self._mistakes.take(pair, now)
                try:
                    user = await self._users.get(name)
                    hashed = self._nobody if user is None else user.hashed
                    fits = await self._verifying.run(lambda: self._fits(hashed, password))
                    wrong = user is None or not fits
                finally:
                    if not wrong:
                        self._guesses.give_back(place, now)
                        self._mistakes.give_back(pair, now)
        except Denied as denied:
            return denied
        if user is None or wrong:
            return Denied("wrong", "found a user or a password that is wrong; allowed: those of a user")
        return self._keep(digest, user.name, user.hashed, version)

    def _let_guess(self, place: str, pair: tuple[str, str]) -> None:
        """Let somebody try a password. Raises Denied after too many wrong ones."""
        now = self._clock()
        if wait := max(self._guesses.wait(place, now), self._mistakes.wait(pair, now)):
            raise Denied("often", "found too many wrong passwords; allowed: another try later", wait)

    def _keep(self, digest: bytes, name: str, hashed: str, version: int | None) -> Login:
        login = Login(name, hashed, self._clock() + self._remember, UNKNOWN if version is None else version)
        verified = self._verified
        if digest not in verified and len(verified) >= self._most:
            verified.popitem(last=False)
        verified[digest] = login
        verified.move_to_end(digest)
        return login

    def _fits(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except VerifyMismatchError:
            return False


def canonical(name: str, password: str) -> bytes:
    """The Authorization header of a name and a password, as most clients write it."""
    return b"Basic " + b64encode(f"{name}:{password}".encode())


def credentials(header: bytes | None) -> tuple[str, str]:
    """The name and the password in an Authorization header (RFC 7617). Raises Denied when there are none."""
    if header is None:
        raise Denied("missing", "found no Authorization; allowed: Basic with a name and a password")
    scheme, _, coded = header.strip().partition(b" ")
    try:
        if scheme.lower() != b"basic":
            raise ValueError
        name, colon, password = b64decode(coded.strip(), validate=True).decode().partition(":")
        if not colon:
            raise ValueError
    except ValueError:  # which errors of base64 and of UTF-8 are, too
        told = "found an Authorization that is no name:password; allowed: Basic with that in UTF-8 and base64"
        raise Denied("malformed", told) from None
    if not 0 < len(name) <= MAX_CHARACTERS or any(category(letter) == "Cc" for letter in name):
        told = f"allowed: 1 to {MAX_CHARACTERS} characters, none of control"
        raise Denied("malformed", f"found the name {name[:MAX_CHARACTERS]!r}; {told}")
    if not password:
        raise Denied("malformed", f"found no password of {name!r}; allowed: one of at least one character")
    return name, password
