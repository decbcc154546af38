"""Authenticator: logins, expiry, limits on wrong passwords, registration; and the rate limiter."""

import asyncio
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import suppress
from threading import Event
from typing import Any

import pytest
from argon2 import PasswordHasher, extract_parameters
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.basic_auth import basic_authorization as basic
from croupier.http import password_limits
from croupier.http.auth import DEFAULT_HASHER, Authenticator, AuthError, MemoryUsers, UserRecord, parse_credentials
from croupier.http.password_limits import PasswordLimits
from croupier.net.rate_limiter import RateLimiter
from tests.http.service_fixture import ManualClock
from tests.net.raw_client import TIMEOUT_SECONDS, Run

ADDRESS = "192.0.2.1"
OTHER_ADDRESS = "192.0.2.2"


class FastHasher(PasswordHasher):
    """Fast argon2 that records the hashes it verifies."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified_hashes: list[str] = []
        self.hash_count = 0

    @property
    def verify_count(self) -> int:
        return len(self.verified_hashes)

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # type: ignore[override]  # noqa: A002
        self.verified_hashes.append(str(hash))
        return super().verify(hash, password)

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self.hash_count += 1
        return super().hash(password, salt=salt)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1000.0)


@pytest.fixture
def hasher() -> FastHasher:
    return FastHasher()


@pytest.fixture
def authenticator(clock: ManualClock, hasher: FastHasher) -> Iterator[Authenticator]:
    new_authenticator = Authenticator(clock=clock, hasher=hasher)
    hasher.hash_count = 0
    yield new_authenticator
    new_authenticator.close()


async def authenticate(authenticator: Authenticator, header: bytes | None, address: str) -> str:
    return (await authenticator.authenticate(header, address)).name


def cached_username(authenticator: Authenticator, header: bytes) -> str | None:
    found = authenticator.cached_login(header)
    return None if found is None else found.name


async def auth_error(authenticator: Authenticator, header: bytes | None, address: str = ADDRESS) -> AuthError:
    with pytest.raises(AuthError) as caught:
        await authenticate(authenticator, header, address)
    return caught.value


ANN = basic("ann", "secret")
WRONG = basic("ann", "guess")


def test_registered_user_is_recognised_by_the_header(
    run: Run, authenticator: Authenticator, hasher: FastHasher
) -> None:
    async def main() -> None:
        assert cached_username(authenticator, ANN) is None
        assert await authenticator.register(ANN, ADDRESS) == "ann"
        assert cached_username(authenticator, ANN) == "ann"
        assert await authenticate(authenticator, ANN, ADDRESS) == "ann"
        assert cached_username(authenticator, WRONG) is None
        assert (hasher.hash_count, hasher.verify_count) == (1, 0)

    run(main())


def test_wrong_password_and_unknown_name_get_the_same_error(
    run: Run, authenticator: Authenticator, hasher: FastHasher
) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        password = await auth_error(authenticator, WRONG)
        name = await auth_error(authenticator, basic("bob", "secret"))
        assert password.reason == name.reason == "wrong"
        assert password.detail == name.detail
        assert hasher.verify_count == 2, "a password of an unknown user is verified, too"

    run(main())


def test_unknown_name_costs_as_much_as_a_wrong_password(
    run: Run, authenticator: Authenticator, hasher: FastHasher
) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        await auth_error(authenticator, WRONG)
        await auth_error(authenticator, basic("bob", "secret"))
        one, other = hasher.verified_hashes
        assert one != other
        assert extract_parameters(one) == extract_parameters(other)

    run(main())


def test_passwords_are_stored_only_as_argon2id_hashes(run: Run) -> None:
    users = MemoryUsers()
    authenticator = Authenticator(users, clock=ManualClock(1000.0))

    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        user = await users.get("ann")
        assert user is not None
        assert user.password_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
        assert "secret" not in repr(vars(authenticator)) + repr(user)
        assert ANN[6:].decode() not in repr(vars(authenticator)), "not as the header either"

    run(main())
    authenticator.close()
    assert DEFAULT_HASHER.type.name == "ID"


def test_cached_login_expires(run: Run, authenticator: Authenticator, clock: ManualClock, hasher: FastHasher) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        clock.now += 599.0
        assert cached_username(authenticator, ANN) == "ann"
        clock.now += 1.0
        assert cached_username(authenticator, ANN) is None
        assert await authenticate(authenticator, ANN, ADDRESS) == "ann"
        assert hasher.verify_count == 1
        assert cached_username(authenticator, ANN) == "ann"

    run(main())


def test_number_of_cached_logins_is_limited(run: Run, clock: ManualClock) -> None:
    authenticator = Authenticator(clock=clock, hasher=FastHasher(), max_logins=3)

    async def main() -> None:
        headers = [basic(f"user {number}", "secret") for number in range(5)]
        for header in headers:
            await authenticator.register(header, ADDRESS)
        assert [cached_username(authenticator, header) for header in headers] == [
            None,
            None,
            "user 2",
            "user 3",
            "user 4",
        ]
        await authenticate(authenticator, headers[0], ADDRESS)
        assert [cached_username(authenticator, header) for header in headers] == [
            "user 0",
            None,
            None,
            "user 3",
            "user 4",
        ]

    run(main())
    authenticator.close()


def test_failures_are_not_cached(run: Run, authenticator: Authenticator, hasher: FastHasher) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        for _ in range(3):
            assert (await auth_error(authenticator, WRONG)).reason == "wrong"
        assert hasher.verify_count == 3

    run(main())


def test_ten_wrong_passwords_per_minute_are_allowed(
    run: Run, authenticator: Authenticator, clock: ManualClock, hasher: FastHasher
) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        clock.now += 600.0
        for _ in range(10):
            assert (await auth_error(authenticator, WRONG)).reason == "wrong"
            clock.now += 1.0
        late = await auth_error(authenticator, WRONG)
        assert (late.reason, late.retry_after) == ("often", 50.0)
        assert (await auth_error(authenticator, ANN)).reason == "often", "even the right password is refused"
        assert hasher.verify_count == 10
        clock.now += 50.0
        assert await authenticate(authenticator, ANN, ADDRESS) == "ann"

    run(main())


def test_guessing_does_not_block_other_users_and_cached_logins(run: Run, authenticator: Authenticator) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        await authenticator.register(basic("bob", "secret"), ADDRESS)
        for _ in range(11):
            last = await auth_error(authenticator, WRONG)
        assert last.reason == "often"
        assert await authenticate(authenticator, ANN, ADDRESS) == "ann", "the login is cached"
        assert (await auth_error(authenticator, WRONG, OTHER_ADDRESS)).reason == "wrong", "another address"
        assert (await auth_error(authenticator, basic("bob", "guess"))).reason == "wrong", "another name"

    run(main())


def test_wrong_passwords_for_many_names_are_limited_per_address(
    run: Run, clock: ManualClock, hasher: FastHasher
) -> None:
    authenticator = Authenticator(clock=clock, hasher=hasher, address_limiter=RateLimiter(20, 60.0))

    async def main() -> None:
        reasons = [(await auth_error(authenticator, basic(f"user {number}", "guess"))).reason for number in range(25)]
        assert reasons == ["wrong"] * 20 + ["often"] * 5
        assert (await auth_error(authenticator, basic("user", "guess"), OTHER_ADDRESS)).reason == "wrong"

    run(main())
    authenticator.close()


def test_right_password_does_not_reset_the_limit(run: Run, clock: ManualClock, hasher: FastHasher) -> None:
    authenticator = Authenticator(clock=clock, hasher=hasher, login_seconds=1.0)

    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        for _ in range(2):
            for _ in range(5):
                assert (await auth_error(authenticator, WRONG)).reason == "wrong"
            clock.now += 1.0
            if hasher.verify_count < 10:
                assert await authenticate(authenticator, ANN, ADDRESS) == "ann"
        assert (await auth_error(authenticator, WRONG)).reason == "often"

    run(main())
    authenticator.close()


def respell(header: bytes, number: int) -> bytes:
    """The same credentials, spelled differently for each number."""
    letters = [chr(letter).swapcase() if number >> index & 1 else chr(letter) for index, letter in enumerate(b"Basic")]
    return "".join(letters).encode() + b" " * (1 + number // 32) + header[6:]


def test_respelled_right_logins_do_not_reset_the_address_limit(
    run: Run, authenticator: Authenticator, clock: ManualClock, hasher: FastHasher
) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        clock.now += 600.0
        reasons = []
        for number in range(120):
            assert await authenticate(authenticator, respell(ANN, number), ADDRESS) == "ann"
            reasons.append((await auth_error(authenticator, basic(f"user {number}", "guess"))).reason)
        assert reasons == ["wrong"] * 100 + ["often"] * 20
        assert hasher.verify_count == 101, "one login in all spellings"

    run(main())


def test_other_normalizations_of_a_name_are_the_same_user(run: Run, authenticator: Authenticator) -> None:
    async def main() -> None:
        composed, decomposed, wide = "Zo\u00eb", "Zoe\u0308", "\uff3ao\u00eb"
        assert await authenticator.register(basic(decomposed, "secret"), ADDRESS) == composed
        for name in (composed, decomposed, wide):
            assert await authenticate(authenticator, basic(name, "secret"), ADDRESS) == composed
            for _ in range(3):
                assert (await auth_error(authenticator, basic(name, "guess"))).reason == "wrong"
        assert (await auth_error(authenticator, basic(wide, "guess"))).reason == "wrong"
        assert (await auth_error(authenticator, basic(decomposed, "guess"))).reason == "often"

    run(main())


@pytest.mark.parametrize(
    "name", ["ANN", "\u0391\u039d\u039d", "\u0430nn", "a\u200bnn", "a\u00adnn", "ann ", "\u202eann"]
)
def test_confusable_and_invisible_names_are_refused(run: Run, authenticator: Authenticator, name: str) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        with pytest.raises(AuthError) as caught:
            await authenticator.register(basic(name, "secret"), ADDRESS)
        assert caught.value.reason == ("taken" if name in {"ANN", "\u0391\u039d\u039d"} else "malformed")
        assert (await auth_error(authenticator, basic(name, "secret"))).reason == "wrong"

    run(main())


def test_ipv6_network_counts_as_one_address(run: Run, authenticator: Authenticator) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        for number in range(10):
            assert (await auth_error(authenticator, WRONG, f"2001:db8:0:1::{number:x}")).reason == "wrong"
        assert (await auth_error(authenticator, WRONG, "2001:db8:0:1:ffff::")).reason == "often"
        assert (await auth_error(authenticator, WRONG, "2001:db8:0:2::")).reason == "wrong"
        for host in ["198.51.100.7"] * 9 + ["::ffff:198.51.100.7"]:
            assert (await auth_error(authenticator, WRONG, host)).reason == "wrong"
        assert (await auth_error(authenticator, WRONG, "198.51.100.7")).reason == "often"

    run(main())


def test_guessing_from_many_networks_is_limited_per_name(run: Run, authenticator: Authenticator) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        networks = [f"2001:db8:{number >> 16:x}:{number & 0xFFFF:x}::1" for number in range(300)]
        reasons = [(await auth_error(authenticator, WRONG, network)).reason for network in networks]
        assert reasons == ["wrong"] * 100 + ["often"] * 200
        assert (await auth_error(authenticator, basic("bob", "guess"), networks[-1])).reason == "wrong"

    run(main())


def test_guessing_from_many_networks_does_not_keep_users_out_where_they_have_logged_in(
    run: Run, authenticator: Authenticator, clock: ManualClock
) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        assert await authenticate(authenticator, ANN, OTHER_ADDRESS) == "ann"
        clock.now += 600.0  # the login is no longer cached
        for number in range(101):
            error = await auth_error(authenticator, WRONG, f"2001:db8:0:{number:x}::1")
        assert error.reason == "often"
        assert (await auth_error(authenticator, ANN, "203.0.113.9")).reason == "often"
        assert await authenticate(authenticator, ANN, ADDRESS) == "ann"
        assert (await auth_error(authenticator, WRONG, ADDRESS)).reason == "wrong"

    run(main())


def test_number_of_known_networks_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_limits, "MAX_KNOWN_PLACES", 2)
    limits = PasswordLimits(RateLimiter(10, 60.0), RateLimiter(10, 60.0), RateLimiter(1, 60.0))
    for place in ("a", "b", "a", "c"):
        limits.add_known_place(place, "ann")
    limits.take("d", "ann", 0.0)
    assert [limits.retry_after(place, "ann", 20.0) for place in "abc"] == [0.0, 40.0, 0.0]


def test_concurrent_wrong_passwords_are_limited(run: Run, authenticator: Authenticator) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        errors = await asyncio.gather(
            *(auth_error(authenticator, basic("ann", f"guess {number}")) for number in range(50))
        )
        assert [denied.reason for denied in errors].count("wrong") == 10
        assert {denied.reason for denied in errors} == {"wrong", "often"}

    run(main())


def test_store_failure_does_not_count_as_a_wrong_password(
    run: Run, authenticator: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(_: object, name: str) -> None:
        raise AuthError("busy", f"found no store to look for {name} in; allowed: another try later", 1.0)

    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        with monkeypatch.context() as patched:
            patched.setattr(MemoryUsers, "get", down)
            for _ in range(20):
                assert (await auth_error(authenticator, WRONG)).reason == "busy"
        assert (await auth_error(authenticator, WRONG)).reason == "wrong"

    run(main())


class BlockingHasher(FastHasher):
    """argon2 that blocks until `may_hash` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.may_hash = Event()

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        assert self.may_hash.wait(TIMEOUT_SECONDS)
        return super().hash(password, salt=salt)


def test_login_does_not_wait_for_registrations(run: Run, clock: ManualClock) -> None:
    hasher = BlockingHasher()
    hasher.may_hash.set()
    authenticator = Authenticator(clock=clock, hasher=hasher)

    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        clock.now += 600.0
        hasher.may_hash.clear()
        new = [
            asyncio.create_task(authenticator.register(basic(f"user {n}", "secret"), OTHER_ADDRESS)) for n in range(300)
        ]
        await asyncio.sleep(0)
        assert await authenticate(authenticator, ANN, ADDRESS) == "ann"
        assert not any(task.done() for task in new)
        hasher.may_hash.set()
        assert len({*await asyncio.gather(*new)}) == 300

    run(main())
    authenticator.close()


class MutableUsers(MemoryUsers):
    """Users that another process may change; `lookups` counts calls of `get`."""

    def __init__(self) -> None:
        super().__init__()
        self.number: int | None = 1
        self.lookups = 0

    def version(self) -> int | None:
        return self.number

    async def get(self, name: str) -> UserRecord | None:
        self.lookups += 1
        return await super().get(name)

    def change(self, name: str, hashed: str | None) -> None:
        if hashed is None:
            del self._users[name]
        else:
            self._users[name] = UserRecord(name, hashed)
        if self.number is not None:
            self.number += 1


@pytest.mark.parametrize("watched", [True, False])
def test_changed_password_is_effective_at_once_without_argon2_for_others(
    run: Run, clock: ManualClock, hasher: FastHasher, *, watched: bool
) -> None:
    users = MutableUsers()
    users.number = 1 if watched else None
    authenticator = Authenticator(users, clock=clock, hasher=hasher)
    bob = basic("bob", "secret")

    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        await authenticator.register(bob, ADDRESS)
        assert cached_username(authenticator, ANN) == ("ann" if watched else None)
        users.change("ann", hasher.hash("changed"))
        assert cached_username(authenticator, ANN) is None
        assert (await auth_error(authenticator, ANN)).reason == "wrong"
        assert await authenticate(authenticator, basic("ann", "changed"), ADDRESS) == "ann"
        before = hasher.verify_count
        assert await authenticate(authenticator, bob, ADDRESS) == "bob"
        assert hasher.verify_count == before
        lookups = users.lookups
        assert cached_username(authenticator, bob) == ("bob" if watched else None)
        assert await authenticate(authenticator, bob, ADDRESS) == "bob"
        assert users.lookups == lookups + (not watched)
        users.change("bob", None)
        assert cached_username(authenticator, bob) is None
        assert (await auth_error(authenticator, bob)).reason == "wrong"

    run(main())
    authenticator.close()


def test_concurrent_uses_of_one_header_are_verified_once(
    run: Run, authenticator: Authenticator, clock: ManualClock, hasher: FastHasher
) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        clock.now += 600.0
        names = await asyncio.gather(*(authenticate(authenticator, ANN, ADDRESS) for _ in range(100)))
        assert {*names} == {"ann"}
        assert hasher.verify_count == 1
        wrong = await asyncio.gather(*(auth_error(authenticator, WRONG) for _ in range(100)))
        assert {denied.reason for denied in wrong} == {"wrong"}
        assert hasher.verify_count == 2

    run(main())


def test_cancelled_login_does_not_affect_concurrent_ones(
    run: Run, authenticator: Authenticator, clock: ManualClock
) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        clock.now += 600.0
        first, second = (asyncio.create_task(authenticate(authenticator, ANN, ADDRESS)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "ann"

    run(main())


def test_queue_for_the_threads_is_bounded(run: Run, clock: ManualClock) -> None:
    authenticator = Authenticator(clock=clock, hasher=FastHasher(), threads=1, max_queued=4)

    async def main() -> None:
        headers = [basic(f"user {number}", "secret") for number in range(20)]
        found = await asyncio.gather(
            *(authenticator.register(header, ADDRESS) for header in headers), return_exceptions=True
        )
        busy = [denied for denied in found if isinstance(denied, AuthError)]
        assert {(denied.reason, denied.retry_after) for denied in busy} == {("busy", 1.0)}
        assert [name for name in found if isinstance(name, str)] == [f"user {number}" for number in range(4)]
        guesses = await asyncio.gather(
            *(auth_error(authenticator, basic(f"x{number}", "guess"), f"192.0.2.{number}") for number in range(20))
        )
        assert [denied.reason for denied in guesses].count("busy") == 16

    run(main())
    authenticator.close()


def test_taken_name_is_refused_with_any_password(run: Run, authenticator: Authenticator, hasher: FastHasher) -> None:
    async def main() -> None:
        await authenticator.register(ANN, ADDRESS)
        for header in (ANN, WRONG):
            with pytest.raises(AuthError) as caught:
                await authenticator.register(header, ADDRESS)
            assert caught.value.reason == "taken"
        assert (hasher.hash_count, hasher.verify_count) == (1, 0)

    run(main())


def test_idempotent_registration_accepts_the_same_user(run: Run, authenticator: Authenticator) -> None:
    async def main() -> None:
        assert await authenticator.register(ANN, ADDRESS, idempotent=True) == "ann"
        assert await authenticator.register(ANN, ADDRESS, idempotent=True) == "ann"
        with pytest.raises(AuthError) as caught:
            await authenticator.register(WRONG, ADDRESS, idempotent=True)
        assert caught.value.reason == "taken"
        for _ in range(20):
            with pytest.raises(AuthError) as caught:
                await authenticator.register(WRONG, ADDRESS, idempotent=True)
        assert caught.value.reason == "often", "registering can be used to guess, too"

    run(main())


def test_concurrent_registrations_of_a_name_have_one_winner(run: Run, authenticator: Authenticator) -> None:
    async def main() -> None:
        results = await asyncio.gather(
            authenticator.register(ANN, ADDRESS), authenticator.register(WRONG, ADDRESS), return_exceptions=True
        )
        (name,) = [found for found in results if isinstance(found, str)]
        (denied,) = [found for found in results if isinstance(found, AuthError)]
        assert (name, denied.reason) == ("ann", "taken")
        winner, loser = (ANN, WRONG) if results[0] == "ann" else (WRONG, ANN)
        assert cached_username(authenticator, winner) == "ann"
        assert cached_username(authenticator, loser) is None

    run(main())


def test_registrations_are_limited_per_address(run: Run, clock: ManualClock, hasher: FastHasher) -> None:
    authenticator = Authenticator(clock=clock, hasher=hasher, registration_limiter=RateLimiter(3, 60.0))
    hasher.hash_count = 0

    async def main() -> None:
        for number in range(3):
            await authenticator.register(basic(f"user {number}", "secret"), ADDRESS)
        with pytest.raises(AuthError) as caught:
            await authenticator.register(ANN, ADDRESS)
        assert (caught.value.reason, caught.value.retry_after) == ("often", 60.0)
        assert hasher.hash_count == 3
        await authenticator.register(ANN, OTHER_ADDRESS)
        clock.now += 60.0
        await authenticator.register(basic("bob", "secret"), ADDRESS)

    run(main())
    authenticator.close()


def test_number_of_users_is_limited(run: Run) -> None:
    users = MemoryUsers(2)

    async def main() -> None:
        assert await users.add(UserRecord("ann", "1"))
        assert not await users.add(UserRecord("ann", "2"))
        assert await users.add(UserRecord("bob", "3"))
        with pytest.raises(AuthError, match="found 2 users; allowed: 2") as caught:
            await users.add(UserRecord("cid", "4"))
        assert caught.value.reason == "full"
        assert await users.get("ann") == UserRecord("ann", "1")
        assert await users.get("cid") is None

    run(main())


MALFORMED = {
    "no scheme": b"YW5uOnNlY3JldA==",
    "another scheme": b"Bearer YW5uOnNlY3JldA==",
    "no credentials": b"Basic",
    "nothing": b"",
    "no base64": b"Basic !!!",
    "half a letter": b"Basic YW5uOnNlY3JldA",
    "no colon": b"Basic " + b64encode(b"ann"),
    "no password": basic("ann", ""),
    "no name": b"Basic " + b64encode(b":secret"),
    "not UTF-8": b"Basic " + b64encode(b"\xff:secret"),
    "a name that is too long": basic("a" * 65, "secret"),
    "a line end in the name": basic("a\nb", "secret"),
    "a control character of another sort": basic("a\x9bb", "secret"),
}


@pytest.mark.parametrize("header", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_header(header: bytes) -> None:
    with pytest.raises(AuthError) as caught:
        parse_credentials(header)
    assert caught.value.reason == "malformed"
    assert "; allowed: " in caught.value.detail


def test_missing_header() -> None:
    with pytest.raises(AuthError) as caught:
        parse_credentials(None)
    assert caught.value.reason == "missing"


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=":"), min_size=1, max_size=64),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(["Basic ", "basic ", "BASIC  ", " Basic "]),
)
def test_any_name_and_password_are_parsed(name: str, password: str, scheme: str) -> None:
    assert parse_credentials(scheme.encode() + b64encode(f"{name}:{password}".encode())) == (name, password)


@given(st.binary(max_size=60))
def test_any_header_is_parsed_or_malformed(header: bytes) -> None:
    for found in (header, b"Basic " + header, b"Basic " + b64encode(header)):
        with suppress(AuthError):
            name, _ = parse_credentials(found)
            assert 1 <= len(name) <= 64
            assert ":" not in name


def test_rate_window_starts_with_the_first_action() -> None:
    limiter = RateLimiter(2, 60.0)
    assert limiter.remaining("ann", 0.0) == (2, 0.0)
    assert [limiter.take("ann", now) for now in (0.0, 20.0, 30.0, 59.0, 60.0, 61.0, 62.0)] == [
        0,
        0,
        30.0,
        1.0,
        0,
        0,
        58.0,
    ]
    assert limiter.remaining("ann", 62.0) == (0, 58.0)
    assert (limiter.retry_after("ann", 62.0), limiter.retry_after("bob", 62.0)) == (58.0, 0.0)
    assert limiter.take("bob", 62.0) == 0


def test_rate_limiter_gives_back_only_in_the_same_window() -> None:
    limiter = RateLimiter(2, 60.0)
    limiter.take("ann", 0.0)
    limiter.take("ann", 1.0)
    limiter.give_back("ann", 1.0)
    assert limiter.remaining("ann", 1.0) == (1, 59.0)
    limiter.take("ann", 60.0)
    limiter.give_back("ann", 1.0)
    assert limiter.remaining("ann", 60.0) == (1, 60.0), "that action was counted in another window"
    limiter.give_back("ann", 60.0)
    assert limiter.remaining("ann", 60.0) == (2, 0.0)
    limiter.give_back("ann", 60.0)
    assert not limiter._windows


def test_number_of_rate_windows_is_limited() -> None:
    limiter = RateLimiter(1, 60.0, max_windows=100)
    for now in range(1000):
        assert limiter.take(now, float(now)) == 0
    assert len(limiter._windows) <= 61, "expired windows are removed"
    for number in range(1000):
        assert limiter.take(("flood", number), 2000.0) == 0
    assert len(limiter._windows) == 100
    assert limiter.take(("flood", 999), 2000.0) == 60.0
    assert limiter.take(("flood", 899), 2000.0) == 0, "the oldest window is evicted first"


class CountingWindows(OrderedDict[Hashable, Any]):
    """Windows that count how many of them are visited."""

    steps = 0

    def popitem(self, last: bool = True) -> Any:
        self.steps += 1
        return super().popitem(last)

    def values(self) -> Any:
        for value in super().values():
            self.steps += 1
            yield value


def test_full_rate_limiter_adds_a_key_in_constant_time() -> None:
    limiter = RateLimiter(1, 60.0, max_windows=10_000)
    windows = limiter._windows = CountingWindows()
    for number in range(30_000):
        windows.steps = 0
        limiter.take(number, 60.0 if number == 20_000 else 0.0)
        assert windows.steps <= 4
