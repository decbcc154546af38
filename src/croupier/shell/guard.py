"""The guard at the door of a service: who comes as whom, and how often somebody may be wrong about that (ruling H8)."""

import asyncio
import secrets
from base64 import b64decode
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from time import monotonic
from typing import Literal, Protocol
from unicodedata import category

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from msgspec import Struct

type Reason = Literal["missing", "malformed", "wrong", "taken", "often", "busy", "full"]

PATIENT = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
"""argon2id with the least cost that the OWASP Password Storage Cheat Sheet allows: 19 MiB, two passes, one lane."""

NAME = 64
"""The longest name of a user, in characters."""


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

    async def get(self, name: str) -> User | None:
        """Who has this name."""
        ...

    async def put(self, user: User) -> bool:
        """Keep a new user; False, and nothing is changed, when somebody has the name. Raises Denied when it is full."""
        ...


class Remembered:
    """Users in memory, at most `most` of them."""

    def __init__(self, most: int = 1_000_000) -> None:
        self._users: dict[str, User] = {}
        self._most = most

    async def get(self, name: str) -> User | None:
        """Who has this name."""
        return self._users.get(name)

    async def put(self, user: User) -> bool:
        """Keep a new user; False when somebody has the name."""
        if user.name in self._users:
            return False
        if len(self._users) >= self._most:
            raise Denied("full", f"found {self._most} users; allowed: {self._most}")
        self._users[user.name] = user
        return True


class Quota:
    """How often somebody may do something: `times` within `seconds`, counted from the first of them (clause 2.7).

    It knows at most `most` people; then it forgets whoever it has known longest.
    """

    __slots__ = ("_begun", "most", "seconds", "times")

    def __init__(self, times: int, seconds: float, most: int = 100_000) -> None:
        self.times = times
        self.seconds = seconds
        self.most = most
        self._begun: dict[Hashable, tuple[float, int]] = {}

    def take(self, who: Hashable, now: float) -> float:
        """Do it once more: 0 if that is allowed, else in how many seconds it will be, and nothing is changed."""
        end, taken = self._begun.get(who, (now, 0))
        if end <= now:
            end, taken = now + self.seconds, 0
            if len(self._begun) >= self.most:
                self._sweep(now)
            self._begun.pop(who, None)  # the youngest stand last
        elif taken >= self.times:
            return end - now
        self._begun[who] = end, taken + 1
        return 0.0

    def left(self, who: Hashable, now: float) -> tuple[int, float]:
        """How many times it may still be done, and in how many seconds all of them are there again."""
        end, taken = self._begun.get(who, (now, 0))
        return (self.times - taken, end - now) if end > now else (self.times, 0.0)

    def forgive(self, who: Hashable) -> None:
        """Forget what somebody has done."""
        self._begun.pop(who, None)

    def _sweep(self, now: float) -> None:
        self._begun = {who: span for who, span in self._begun.items() if span[0] > now}
        while len(self._begun) >= self.most:
            del self._begun[next(iter(self._begun))]


class Guard:
    """Knows users by the Authorization header of their requests (RFC 7617).

    A header that was verified is remembered for `remember` seconds by a keyed digest, so that the next request costs a
    look-up: neither it nor its password is kept. Others are verified by argon2 in one of `threads` threads, in about
    the same time whether the user exists or not; when `queue` of them wait already, nobody else may.

    `mistakes` is the quota of wrong passwords for a pair of address and name, `guesses` that of an address whatever the
    names, `enrolments` that of new users from an address. Times are seconds of `clock`.
    """

    def __init__(
        self,
        users: Users | None = None,
        *,
        clock: Callable[[], float] = monotonic,
        hasher: PasswordHasher = PATIENT,
        mistakes: Quota | None = None,
        guesses: Quota | None = None,
        enrolments: Quota | None = None,
        remember: float = 600.0,
        most: int = 10_000,
        threads: int = 2,
        queue: int = 256,
    ) -> None:
        self._users = users if users is not None else Remembered()
        self._clock = clock
        self._hasher = hasher
        self._mistakes = mistakes or Quota(10, 60.0)
        self._guesses = guesses or Quota(100, 60.0)
        self._enrolments = enrolments or Quota(1_000, 60.0)
        self._remember = remember
        self._most = most
        self._queue = queue
        self._waiting = 0
        self._key = secrets.token_bytes(32)
        self._verified: dict[bytes, tuple[str, float]] = {}
        self._checks: dict[bytes, asyncio.Task[str | Denied]] = {}
        self._threads = ThreadPoolExecutor(threads, "guard")
        self._nobody = hasher.hash(secrets.token_bytes(16))

    def known(self, header: bytes) -> str | None:
        """The name of the user whose Authorization header this is, if it was verified lately."""
        found = self.verified(header)
        return None if found is None else found[0]

    def verified(self, header: bytes) -> tuple[str, float] | None:
        """The same, with the time until which that is remembered."""
        found = self._verified.get(blake2b(header, digest_size=16, key=self._key).digest())
        return found if found is not None and self.stands(found[1]) else None

    def stands(self, until: float) -> bool:
        """Whether this time is still to come."""
        return until > self._clock()

    async def check(self, header: bytes | None, address: str) -> str:
        """The name of the user whose Authorization header this is. Raises Denied."""
        name, password = credentials(header)
        digest = self._digest(header)
        found = self._verified.get(digest)
        if found is not None and found[1] > self._clock():
            return found[0]
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
        name, password = credentials(header)
        digest = self._digest(header)
        if await self._users.get(name) is None:
            if wait := self._enrolments.take(address, self._clock()):
                raise Denied("often", f"found too many new users from {address}; allowed: one more later", wait)
            hashed = await self._argon2(lambda: self._hasher.hash(password))
            if await self._users.put(User(name, hashed)):
                self._verify(digest, name)
                return name
        if again:
            verdict = await self._check(digest, name, password, address)
            if verdict == name:
                return name
            if isinstance(verdict, Denied) and verdict.reason != "wrong":
                raise verdict
        raise Denied("taken", f"found a user {name!r}; allowed: a name that nobody has")

    def close(self) -> None:
        """Verify nobody any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _digest(self, header: bytes | None) -> bytes:
        assert header is not None, "there are no credentials without a header"
        return blake2b(header, digest_size=16, key=self._key).digest()

    async def _check(self, digest: bytes, name: str, password: str, address: str) -> str | Denied:
        now = self._clock()
        wait = self._guesses.take(address, now) or self._mistakes.take((address, name), now)
        if wait:
            return Denied("often", "found too many wrong passwords; allowed: another try later", wait)
        user = await self._users.get(name)
        hashed = self._nobody if user is None else user.hashed
        try:
            right = await self._argon2(lambda: self._fits(hashed, password))
        except Denied as busy:
            return busy
        if user is None or not right:
            return Denied("wrong", "found a user or a password that is wrong; allowed: those of a user")
        self._mistakes.forgive((address, name))
        self._guesses.forgive(address)
        self._verify(digest, name)
        return name

    def _verify(self, digest: bytes, name: str) -> None:
        verified = self._verified
        verified.pop(digest, None)  # the youngest stand last
        if len(verified) >= self._most:
            del verified[next(iter(verified))]
        verified[digest] = name, self._clock() + self._remember

    def _fits(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except VerifyMismatchError:
            return False

    async def _argon2[T](self, work: Callable[[], T]) -> T:
        if self._waiting >= self._queue:
            raise Denied("busy", f"found {self._waiting} passwords to be checked; allowed: {self._queue}", 1.0)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1


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
    if not 0 < len(name) <= NAME or any(category(letter) == "Cc" for letter in name):
        raise Denied("malformed", f"found the name {name[:NAME]!r}; allowed: 1 to {NAME} characters, none of control")
    return name, password
