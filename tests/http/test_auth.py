"""The guard lets in who knows the password, forgets nothing too late, and is not worn down by those who guess."""

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

from croupier.http.auth import DEFAULT_HASHER, Authenticator, AuthError, MemoryUsers, UserRecord, parse_credentials
from croupier.net.rate_limiter import RateLimiter
from tests.net.raw_client import PATIENCE, Run

HERE = "192.0.2.1"
THERE = "192.0.2.2"


class Quick(PasswordHasher):
    """argon2 that takes no time, and keeps what it was asked to verify."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.seen: list[str] = []
        self.hashed = 0

    @property
    def verified(self) -> int:
        return len(self.seen)

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # type: ignore[override]  # noqa: A002
        self.seen.append(str(hash))
        return super().verify(hash, password)

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self.hashed += 1
        return super().hash(password, salt=salt)


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def hasher() -> Quick:
    return Quick()


@pytest.fixture
def guard(clock: Hands, hasher: Quick) -> Iterator[Authenticator]:
    made = Authenticator(clock=clock, hasher=hasher)
    hasher.hashed = 0
    yield made
    made.close()


def basic(name: str, password: str) -> bytes:
    return b"Basic " + b64encode(f"{name}:{password}".encode())


async def fails(guard: Authenticator, header: bytes | None, address: str = HERE) -> AuthError:
    with pytest.raises(AuthError) as caught:
        await guard.authenticate_username(header, address)
    return caught.value


ANN = basic("ann", "secret")
WRONG = basic("ann", "guess")


def test_who_has_enrolled_is_known_by_his_header(run: Run, guard: Authenticator, hasher: Quick) -> None:
    async def main() -> None:
        assert guard.cached_username(ANN) is None
        assert await guard.register(ANN, HERE) == "ann"
        assert guard.cached_username(ANN) == "ann"
        assert await guard.authenticate_username(ANN, HERE) == "ann"
        assert guard.cached_username(WRONG) is None
        assert (hasher.hashed, hasher.verified) == (1, 0)

    run(main())


def test_a_wrong_password_and_an_unknown_name_are_told_the_same(run: Run, guard: Authenticator, hasher: Quick) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        password = await fails(guard, WRONG)
        name = await fails(guard, basic("bob", "secret"))
        assert password.reason == name.reason == "wrong"
        assert password.detail == name.detail
        assert hasher.verified == 2, "who does not exist is verified, too"

    run(main())


def test_an_unknown_name_costs_what_a_wrong_password_costs(run: Run, guard: Authenticator, hasher: Quick) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        await fails(guard, WRONG)
        await fails(guard, basic("bob", "secret"))
        one, other = hasher.seen
        assert one != other
        assert extract_parameters(one) == extract_parameters(other)

    run(main())


def test_passwords_are_kept_as_argon2id_hashes_only(run: Run) -> None:
    users = MemoryUsers()
    guard = Authenticator(users, clock=Hands())

    async def main() -> None:
        await guard.register(ANN, HERE)
        user = await users.get("ann")
        assert user is not None
        assert user.password_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
        assert "secret" not in repr(vars(guard)) + repr(user)
        assert ANN[6:].decode() not in repr(vars(guard)), "not as the header either"

    run(main())
    guard.close()
    assert DEFAULT_HASHER.type.name == "ID"


def test_a_verified_header_is_forgotten_in_time(run: Run, guard: Authenticator, clock: Hands, hasher: Quick) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        clock.now += 599.0
        assert guard.cached_username(ANN) == "ann"
        clock.now += 1.0
        assert guard.cached_username(ANN) is None
        assert await guard.authenticate_username(ANN, HERE) == "ann"
        assert hasher.verified == 1
        assert guard.cached_username(ANN) == "ann"

    run(main())


def test_no_more_than_so_many_headers_are_remembered(run: Run, clock: Hands) -> None:
    guard = Authenticator(clock=clock, hasher=Quick(), max_logins=3)

    async def main() -> None:
        headers = [basic(f"user {number}", "secret") for number in range(5)]
        for header in headers:
            await guard.register(header, HERE)
        assert [guard.cached_username(header) for header in headers] == [None, None, "user 2", "user 3", "user 4"]
        await guard.authenticate_username(headers[0], HERE)
        assert [guard.cached_username(header) for header in headers] == ["user 0", None, None, "user 3", "user 4"]

    run(main())
    guard.close()


def test_failures_are_not_remembered(run: Run, guard: Authenticator, hasher: Quick) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        for _ in range(3):
            assert (await fails(guard, WRONG)).reason == "wrong"
        assert hasher.verified == 3

    run(main())


def test_ten_wrong_passwords_are_the_last_within_a_minute(
    run: Run, guard: Authenticator, clock: Hands, hasher: Quick
) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        clock.now += 600.0
        for _ in range(10):
            assert (await fails(guard, WRONG)).reason == "wrong"
            clock.now += 1.0
        late = await fails(guard, WRONG)
        assert (late.reason, late.retry_after) == ("often", 50.0)
        assert (await fails(guard, ANN)).reason == "often", "the right one could be the eleventh guess"
        assert hasher.verified == 10
        clock.now += 50.0
        assert await guard.authenticate_username(ANN, HERE) == "ann"

    run(main())


def test_others_and_verified_headers_are_not_held_up_by_somebody_who_guesses(run: Run, guard: Authenticator) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        await guard.register(basic("bob", "secret"), HERE)
        for _ in range(11):
            last = await fails(guard, WRONG)
        assert last.reason == "often"
        assert await guard.authenticate_username(ANN, HERE) == "ann", "known"
        assert (await fails(guard, WRONG, THERE)).reason == "wrong", "another address"
        assert (await fails(guard, basic("bob", "guess"))).reason == "wrong", "another name"

    run(main())


def test_an_address_that_tries_many_names_is_held_up_as_well(run: Run, clock: Hands, hasher: Quick) -> None:
    guard = Authenticator(clock=clock, hasher=hasher, address_limiter=RateLimiter(20, 60.0))

    async def main() -> None:
        reasons = [(await fails(guard, basic(f"user {number}", "guess"))).reason for number in range(25)]
        assert reasons == ["wrong"] * 20 + ["often"] * 5
        assert (await fails(guard, basic("user", "guess"), THERE)).reason == "wrong"

    run(main())
    guard.close()


def test_a_right_password_excuses_no_wrong_ones(run: Run, clock: Hands, hasher: Quick) -> None:
    guard = Authenticator(clock=clock, hasher=hasher, login_seconds=1.0)

    async def main() -> None:
        await guard.register(ANN, HERE)
        for _ in range(2):
            for _ in range(5):
                assert (await fails(guard, WRONG)).reason == "wrong"
            clock.now += 1.0
            if hasher.verified < 10:
                assert await guard.authenticate_username(ANN, HERE) == "ann"
        assert (await fails(guard, WRONG)).reason == "often"

    run(main())
    guard.close()


def respelt(header: bytes, number: int) -> bytes:
    """The same credentials in another spelling for every number."""
    letters = [chr(letter).swapcase() if number >> place & 1 else chr(letter) for place, letter in enumerate(b"Basic")]
    return "".join(letters).encode() + b" " * (1 + number // 32) + header[6:]


def test_a_right_login_in_many_spellings_clears_no_count_of_its_address(
    run: Run, guard: Authenticator, clock: Hands, hasher: Quick
) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        clock.now += 600.0
        reasons = []
        for number in range(120):
            assert await guard.authenticate_username(respelt(ANN, number), HERE) == "ann"
            reasons.append((await fails(guard, basic(f"user {number}", "guess"))).reason)
        assert reasons == ["wrong"] * 100 + ["often"] * 20
        assert hasher.verified == 101, "one login, however it is spelt"

    run(main())


def test_a_name_in_another_normalization_is_the_same_user_and_has_the_same_count(
    run: Run, guard: Authenticator
) -> None:
    async def main() -> None:
        composed, decomposed, wide = "Zo\u00eb", "Zoe\u0308", "\uff3ao\u00eb"
        assert await guard.register(basic(decomposed, "secret"), HERE) == composed
        for name in (composed, decomposed, wide):
            assert await guard.authenticate_username(basic(name, "secret"), HERE) == composed
            for _ in range(3):
                assert (await fails(guard, basic(name, "guess"))).reason == "wrong"
        assert (await fails(guard, basic(wide, "guess"))).reason == "wrong"
        assert (await fails(guard, basic(decomposed, "guess"))).reason == "often"

    run(main())


@pytest.mark.parametrize(
    "name", ["ANN", "\u0391\u039d\u039d", "\u0430nn", "a\u200bnn", "a\u00adnn", "ann ", "\u202eann"]
)
def test_a_new_user_is_neither_confusable_nor_invisible(run: Run, guard: Authenticator, name: str) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        with pytest.raises(AuthError) as caught:
            await guard.register(basic(name, "secret"), HERE)
        assert caught.value.reason == ("taken" if name in {"ANN", "\u0391\u039d\u039d"} else "malformed")
        assert (await fails(guard, basic(name, "secret"))).reason == "wrong"

    run(main())


def test_an_ipv6_network_is_counted_as_one_address(run: Run, guard: Authenticator) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        for number in range(10):
            assert (await fails(guard, WRONG, f"2001:db8:0:1::{number:x}")).reason == "wrong"
        assert (await fails(guard, WRONG, "2001:db8:0:1:ffff::")).reason == "often"
        assert (await fails(guard, WRONG, "2001:db8:0:2::")).reason == "wrong"
        for host in ["198.51.100.7"] * 9 + ["::ffff:198.51.100.7"]:
            assert (await fails(guard, WRONG, host)).reason == "wrong"
        assert (await fails(guard, WRONG, "198.51.100.7")).reason == "often"

    run(main())


def test_wrong_passwords_that_come_at_once_are_not_more_than_are_allowed(run: Run, guard: Authenticator) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        many = await asyncio.gather(*(fails(guard, basic("ann", f"guess {number}")) for number in range(50)))
        assert [denied.reason for denied in many].count("wrong") == 10
        assert {denied.reason for denied in many} == {"wrong", "often"}

    run(main())


def test_a_store_that_is_down_makes_no_password_wrong(
    run: Run, guard: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(_: object, name: str) -> None:
        raise AuthError("busy", f"found no store to look for {name} in; allowed: another try later", 1.0)

    async def main() -> None:
        await guard.register(ANN, HERE)
        with monkeypatch.context() as patched:
            patched.setattr(MemoryUsers, "get", down)
            for _ in range(20):
                assert (await fails(guard, WRONG)).reason == "busy"
        assert (await fails(guard, WRONG)).reason == "wrong"

    run(main())


class Slow(Quick):
    """argon2 that hashes nothing before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = Event()

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        assert self.let.wait(PATIENCE)
        return super().hash(password, salt=salt)


def test_a_login_waits_for_no_registration(run: Run, clock: Hands) -> None:
    hasher = Slow()
    hasher.let.set()
    guard = Authenticator(clock=clock, hasher=hasher)

    async def main() -> None:
        await guard.register(ANN, HERE)
        clock.now += 600.0
        hasher.let.clear()
        new = [asyncio.create_task(guard.register(basic(f"user {n}", "secret"), THERE)) for n in range(300)]
        await asyncio.sleep(0)
        assert await guard.authenticate_username(ANN, HERE) == "ann"
        assert not any(task.done() for task in new)
        hasher.let.set()
        assert len({*await asyncio.gather(*new)}) == 300

    run(main())
    guard.close()


class Changing(MemoryUsers):
    """Users whose passwords are changed, and who are closed, by somebody else."""

    def __init__(self) -> None:
        super().__init__()
        self.number: int | None = 1
        self.looked = 0

    def version(self) -> int | None:
        return self.number

    async def get(self, name: str) -> UserRecord | None:
        self.looked += 1
        return await super().get(name)

    def change(self, name: str, hashed: str | None) -> None:
        if hashed is None:
            del self._users[name]
        else:
            self._users[name] = UserRecord(name, hashed)
        if self.number is not None:
            self.number += 1


@pytest.mark.parametrize("watched", [True, False])
def test_a_changed_password_ends_at_once_and_costs_others_no_argon2(
    run: Run, clock: Hands, hasher: Quick, *, watched: bool
) -> None:
    users = Changing()
    users.number = 1 if watched else None
    guard = Authenticator(users, clock=clock, hasher=hasher)
    bob = basic("bob", "secret")

    async def main() -> None:
        await guard.register(ANN, HERE)
        await guard.register(bob, HERE)
        assert guard.cached_username(ANN) == ("ann" if watched else None)
        users.change("ann", hasher.hash("changed"))
        assert guard.cached_username(ANN) is None
        assert (await fails(guard, ANN)).reason == "wrong"
        assert await guard.authenticate_username(basic("ann", "changed"), HERE) == "ann"
        before = hasher.verified
        assert await guard.authenticate_username(bob, HERE) == "bob"
        assert hasher.verified == before
        looked = users.looked
        assert guard.cached_username(bob) == ("bob" if watched else None)
        assert await guard.authenticate_username(bob, HERE) == "bob"
        assert users.looked == looked + (not watched)
        users.change("bob", None)
        assert guard.cached_username(bob) is None
        assert (await fails(guard, bob)).reason == "wrong"

    run(main())
    guard.close()


def test_a_header_that_comes_many_times_at_once_is_verified_once(
    run: Run, guard: Authenticator, clock: Hands, hasher: Quick
) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        clock.now += 600.0
        names = await asyncio.gather(*(guard.authenticate_username(ANN, HERE) for _ in range(100)))
        assert {*names} == {"ann"}
        assert hasher.verified == 1
        wrong = await asyncio.gather(*(fails(guard, WRONG) for _ in range(100)))
        assert {denied.reason for denied in wrong} == {"wrong"}
        assert hasher.verified == 2

    run(main())


def test_who_hangs_up_while_he_is_verified_does_not_hurt_the_others(
    run: Run, guard: Authenticator, clock: Hands
) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        clock.now += 600.0
        first, second = (asyncio.create_task(guard.authenticate_username(ANN, HERE)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "ann"

    run(main())


def test_the_queue_for_the_threads_is_bounded(run: Run, clock: Hands) -> None:
    guard = Authenticator(clock=clock, hasher=Quick(), threads=1, max_queued=4)

    async def main() -> None:
        headers = [basic(f"user {number}", "secret") for number in range(20)]
        found = await asyncio.gather(*(guard.register(header, HERE) for header in headers), return_exceptions=True)
        busy = [denied for denied in found if isinstance(denied, AuthError)]
        assert {(denied.reason, denied.retry_after) for denied in busy} == {("busy", 1.0)}
        assert [name for name in found if isinstance(name, str)] == [f"user {number}" for number in range(4)]
        guesses = await asyncio.gather(
            *(fails(guard, basic(f"x{number}", "guess"), f"192.0.2.{number}") for number in range(20))
        )
        assert [denied.reason for denied in guesses].count("busy") == 16

    run(main())
    guard.close()


def test_a_name_that_somebody_has_is_refused_whatever_the_password(
    run: Run, guard: Authenticator, hasher: Quick
) -> None:
    async def main() -> None:
        await guard.register(ANN, HERE)
        for header in (ANN, WRONG):
            with pytest.raises(AuthError) as caught:
                await guard.register(header, HERE)
            assert caught.value.reason == "taken"
        assert (hasher.hashed, hasher.verified) == (1, 0)

    run(main())


def test_in_dialect_hspe_go_the_same_user_may_enrol_again(run: Run, guard: Authenticator) -> None:
    async def main() -> None:
        assert await guard.register(ANN, HERE, idempotent=True) == "ann"
        assert await guard.register(ANN, HERE, idempotent=True) == "ann"
        with pytest.raises(AuthError) as caught:
            await guard.register(WRONG, HERE, idempotent=True)
        assert caught.value.reason == "taken"
        for _ in range(20):
            with pytest.raises(AuthError) as caught:
                await guard.register(WRONG, HERE, idempotent=True)
        assert caught.value.reason == "often", "this is a way to guess, too"

    run(main())


def test_of_two_who_want_a_name_at_once_one_gets_it(run: Run, guard: Authenticator) -> None:
    async def main() -> None:
        both = await asyncio.gather(guard.register(ANN, HERE), guard.register(WRONG, HERE), return_exceptions=True)
        (name,) = [found for found in both if isinstance(found, str)]
        (denied,) = [found for found in both if isinstance(found, AuthError)]
        assert (name, denied.reason) == ("ann", "taken")
        winner, loser = (ANN, WRONG) if both[0] == "ann" else (WRONG, ANN)
        assert guard.cached_username(winner) == "ann"
        assert guard.cached_username(loser) is None

    run(main())


def test_new_users_from_one_address_are_limited(run: Run, clock: Hands, hasher: Quick) -> None:
    guard = Authenticator(clock=clock, hasher=hasher, registration_limiter=RateLimiter(3, 60.0))
    hasher.hashed = 0

    async def main() -> None:
        for number in range(3):
            await guard.register(basic(f"user {number}", "secret"), HERE)
        with pytest.raises(AuthError) as caught:
            await guard.register(ANN, HERE)
        assert (caught.value.reason, caught.value.retry_after) == ("often", 60.0)
        assert hasher.hashed == 3
        await guard.register(ANN, THERE)
        clock.now += 60.0
        await guard.register(basic("bob", "secret"), HERE)

    run(main())
    guard.close()


def test_the_number_of_users_is_limited(run: Run) -> None:
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
def test_what_holds_no_name_and_password_is_malformed(header: bytes) -> None:
    with pytest.raises(AuthError) as caught:
        parse_credentials(header)
    assert caught.value.reason == "malformed"
    assert "; allowed: " in caught.value.detail


def test_no_header_is_missing() -> None:
    with pytest.raises(AuthError) as caught:
        parse_credentials(None)
    assert caught.value.reason == "missing"


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=":"), min_size=1, max_size=64),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(["Basic ", "basic ", "BASIC  ", " Basic "]),
)
def test_every_name_and_password_is_read_as_it_was_written(name: str, password: str, scheme: str) -> None:
    assert parse_credentials(scheme.encode() + b64encode(f"{name}:{password}".encode())) == (name, password)


@given(st.binary(max_size=60))
def test_any_header_has_credentials_or_is_malformed(header: bytes) -> None:
    for found in (header, b"Basic " + header, b"Basic " + b64encode(header)):
        with suppress(AuthError):
            name, _ = parse_credentials(found)
            assert 1 <= len(name) <= 64
            assert ":" not in name


def test_a_limiter_counts_from_the_first_time() -> None:
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


def test_what_is_given_back_to_a_limiter_is_what_its_window_had() -> None:
    limiter = RateLimiter(2, 60.0)
    limiter.take("ann", 0.0)
    limiter.take("ann", 1.0)
    limiter.give_back("ann", 1.0)
    assert limiter.remaining("ann", 1.0) == (1, 59.0)
    limiter.take("ann", 60.0)
    limiter.give_back("ann", 1.0)
    assert limiter.remaining("ann", 60.0) == (1, 60.0), "that was taken in another window"
    limiter.give_back("ann", 60.0)
    assert limiter.remaining("ann", 60.0) == (2, 0.0)
    limiter.give_back("ann", 60.0)
    assert not limiter._windows


def test_a_limiter_does_not_grow_without_end() -> None:
    limiter = RateLimiter(1, 60.0, max_windows=100)
    for now in range(1000):
        assert limiter.take(now, float(now)) == 0
    assert len(limiter._windows) <= 61, "what is over is gone"
    for number in range(1000):
        assert limiter.take(("flood", number), 2000.0) == 0
    assert len(limiter._windows) == 100
    assert limiter.take(("flood", 999), 2000.0) == 60.0
    assert limiter.take(("flood", 899), 2000.0) == 0, "who has been known longest is forgotten first"


class Counting(OrderedDict[Hashable, Any]):
    """Windows that count how many of them are looked at."""

    steps = 0

    def popitem(self, last: bool = True) -> Any:
        self.steps += 1
        return super().popitem(last)

    def values(self) -> Any:
        for value in super().values():
            self.steps += 1
            yield value


def test_a_limiter_at_its_capacity_takes_a_few_steps_for_a_new_key() -> None:
    limiter = RateLimiter(1, 60.0, max_windows=10_000)
    windows = limiter._windows = Counting()
    for number in range(30_000):
        windows.steps = 0
        limiter.take(number, 60.0 if number == 20_000 else 0.0)
        assert windows.steps <= 4
