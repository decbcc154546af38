"""Changed passwords and closed accounts end access at once (holdem-2.12)."""

import asyncio
import io
from pathlib import Path

import pytest

from croupier.cli.accounts import close, reset_password
from croupier.core.session import Address
from croupier.http import read_api
from croupier.http.auth import DEFAULT_HASHER, QUICK_HASHER, Authenticator
from croupier.http.stored_users import StoredUsers
from croupier.store.store import open_store, upgrade_store
from tests.http.service_fixture import ManualClock, basic, opened, request
from tests.http.test_auth import MutableUsers, authenticate, cached_username
from tests.http.test_streams import follow_game, two_players, wait_for_subscribers
from tests.net.raw_client import Run
from tests.recording.test_holdem_journal import service_with_store


@pytest.mark.parametrize("game_changes", [False, True], ids=["a quiet game", "a game that goes on"])
def test_stream_and_long_poll_of_a_closed_account_end(
    run: Run, monkeypatch: pytest.MonkeyPatch, *, game_changes: bool
) -> None:
    """holdem-2.12"""
    monkeypatch.setattr(read_api, "USERS_CHECK_INTERVAL_SECONDS", 60.0 if game_changes else 0.01)
    users = MutableUsers()
    authenticator = Authenticator(users, clock=ManualClock(), hasher=QUICK_HASHER)

    async def main() -> None:
        async with opened(authenticator=authenticator) as server, two_players(server.address) as (ann, bob):
            game = ann.game
            async with (
                follow_game(server.address, game, "bob") as bob_stream,
                follow_game(server.address, game, "ann") as ann_stream,
            ):
                assert (await bob_stream.game())[1]["cards"]["hole"]
                assert (await ann_stream.game())[1]["cards"]["hole"]
                poll = asyncio.create_task(bob.view("?wait=60"))
                await wait_for_subscribers(server, 3)
                users.change("bob", None)
                if game_changes:
                    await ann.act(1, 10)
                assert await bob_stream.next_event() == ""
                assert bob_stream.ended
                assert (await poll).status == 401
                if not game_changes:
                    await ann.act(1, 10)
                while (event := await ann_stream.next_event()).startswith(":"):
                    pass
                assert '"hole":["' in event
                assert (await ann.view()).status == 200
                assert (await bob.view()).status == 401

    run(main())


def test_change_of_another_account_wakes_no_long_poll(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_api, "USERS_CHECK_INTERVAL_SECONDS", 0.001)
    users = MutableUsers()
    authenticator = Authenticator(users, clock=ManualClock(), hasher=QUICK_HASHER)

    async def main() -> None:
        async with opened(authenticator=authenticator) as server, two_players(server.address) as (ann, bob):
            poll = asyncio.create_task(bob.view("?wait=60"))
            await wait_for_subscribers(server, 1)
            lookups = users.lookups
            users.change("cid", "hash")
            while users.lookups == lookups:
                await asyncio.sleep(0)
            assert not poll.done()
            await ann.act(1, 10)
            assert (await poll).status == 200

    run(main())


@pytest.mark.parametrize("how", ["password", "account"])
def test_change_from_the_command_line_is_effective_when_it_returns(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """holdem-2.12"""
    path = tmp_path / "store"

    monkeypatch.setattr("sys.stdin", io.StringIO("changed\n"))

    def run_command() -> int:
        """Run the command as another process would, with its own event loop and store."""
        if how == "password":
            return reset_password("ann", store=str(path))
        return close("ann", reason="left", store=str(path))

    async def main() -> None:
        async with service_with_store(path) as web:
            await web.register("ann", "bob")
            assert (await web.ask("GET", "/games/", "ann")).status == 200
            assert await asyncio.to_thread(run_command) == 0
            assert (await web.ask("GET", "/games/", "ann")).status == 401
            assert (await web.ask("POST", "/games/", "ann")).status == 401
            assert (await web.ask("GET", "/games/", "bob")).status == 200
            new = await web.ask("GET", "/games/", headers={"authorization": basic("ann", "changed")})
            assert new.status == (200 if how == "password" else 401)

    asyncio.run(upgrade_store(str(path)))
    run(main())


def test_unchanged_login_needs_no_store_read(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            await open_store(str(tmp_path / "store")) as store,
            await open_store(str(tmp_path / "store")) as other,
        ):
            await store.watch_accounts()
            authenticator = Authenticator(StoredUsers(store), clock=ManualClock(), hasher=QUICK_HASHER)
            header = basic("ann").encode()
            await authenticator.register(header, "192.0.2.1")
            assert cached_username(authenticator, header) == "ann"
            await other.add_account("bob", "hash")
            assert cached_username(authenticator, header) == "ann"
            await other.set_password("bob", "other", reason="changed")
            assert cached_username(authenticator, header) is None, "the login has to be confirmed again"
            assert await authenticate(authenticator, header, "192.0.2.1") == "ann"
            assert cached_username(authenticator, header) == "ann"
            authenticator.close()

    run(main())


async def login_status(address: Address, method: str, name: str, password: str, scheme: str = "Basic") -> int:
    """The status of a login on its own connection, without a timeout."""
    header = basic(name, password).replace("Basic", scheme)
    reader, writer = await asyncio.open_connection(*address)
    path = "/users/" if method == "POST" else "/games/"
    writer.write(request(method, path, authorization=header))
    status = int((await reader.readline()).split()[1])
    writer.close()
    await writer.wait_closed()
    return status


@pytest.mark.slow
def test_guessing_with_a_valid_login_is_limited_to_a_hundred_tries_a_minute() -> None:
    """Real argon2 and sockets: a right login, spelled differently each time, before every wrong one."""

    async def main() -> None:
        async with opened(authenticator=Authenticator(hasher=DEFAULT_HASHER, clock=ManualClock())) as server:
            assert await login_status(server.address, "POST", "eve", "secret") == 201
            statuses = []
            for number in range(130):
                letters = [letter.upper() if number >> place & 1 else letter for place, letter in enumerate("basic")]
                assert await login_status(server.address, "GET", "eve", "secret", "".join(letters)) == 200
                statuses.append(await login_status(server.address, "GET", f"user {number}", "guess"))
            assert statuses == [401] * 100 + [429] * 30

    asyncio.run(main())


@pytest.mark.slow
def test_valid_login_is_answered_during_three_hundred_registrations() -> None:
    """Real argon2 and sockets; all clients have one address."""

    async def main() -> None:
        async with opened(authenticator=Authenticator(hasher=DEFAULT_HASHER, login_seconds=0.0)) as server:
            assert await login_status(server.address, "POST", "ann", "secret") == 201
            new = [
                asyncio.create_task(login_status(server.address, "POST", f"user {number}", "secret"))
                for number in range(300)
            ]
            logins = []
            while not all(task.done() for task in new):
                logins.append(await login_status(server.address, "GET", "ann", "secret"))
            assert {*logins} == {200}
            assert {*await asyncio.gather(*new)} == {201}

    asyncio.run(main())
