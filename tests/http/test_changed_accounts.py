"""A password that was changed, and an account that was closed, show nothing more from then on (holdem-2.12)."""

import asyncio
import io
from base64 import b64encode
from pathlib import Path

import pytest

from croupier.cli.accounts import close, reset_password
from croupier.core.session import Address
from croupier.http import read_api
from croupier.http.auth import DEFAULT_HASHER, Authenticator
from croupier.http.stored_users import StoredUsers
from croupier.store.store import open_store, upgrade_store
from tests.http.service_fixture import QUICK, Hands, opened, request
from tests.http.test_auth import Changing
from tests.http.test_streams import crowd, following, two
from tests.net.raw_client import Run
from tests.recording.test_holdem_journal import kept


@pytest.mark.parametrize("moves", [False, True], ids=["a quiet game", "a game that goes on"])
def test_a_stream_and_a_long_poll_of_a_closed_account_end(
    run: Run, monkeypatch: pytest.MonkeyPatch, *, moves: bool
) -> None:
    """holdem-2.12"""
    monkeypatch.setattr(read_api, "USERS_CHECK_INTERVAL_SECONDS", 60.0 if moves else 0.01)
    users = Changing()
    guard = Authenticator(users, clock=Hands(), hasher=QUICK)

    async def main() -> None:
        async with opened(guard=guard) as found, two(found.address) as (ann, bob):
            game = ann.game
            async with following(found.address, game, "bob") as his, following(found.address, game, "ann") as hers:
                assert (await his.game())[1]["cards"]["hole"]
                assert (await hers.game())[1]["cards"]["hole"]
                poll = asyncio.create_task(bob.see("?wait=60"))
                await crowd(found, 3)
                users.change("bob", None)
                if moves:
                    await ann.act(1, 10)
                assert await his.piece() == ""
                assert his.ended
                assert (await poll).status == 401
                if not moves:
                    await ann.act(1, 10)
                while (piece := await hers.piece()).startswith(":"):
                    pass
                assert '"hole":["' in piece
                assert (await ann.see()).status == 200
                assert (await bob.see()).status == 401

    run(main())


def test_a_change_of_others_wakes_no_long_poll(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_api, "USERS_CHECK_INTERVAL_SECONDS", 0.001)
    users = Changing()
    guard = Authenticator(users, clock=Hands(), hasher=QUICK)

    async def main() -> None:
        async with opened(guard=guard) as found, two(found.address) as (ann, bob):
            poll = asyncio.create_task(bob.see("?wait=60"))
            await crowd(found, 1)
            looked = users.looked
            users.change("cid", "hash")
            while users.looked == looked:
                await asyncio.sleep(0)
            assert not poll.done()
            await ann.act(1, 10)
            assert (await poll).status == 200

    run(main())


@pytest.mark.parametrize("how", ["password", "account"])
def test_what_the_command_line_changes_is_over_when_it_returns(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """holdem-2.12"""
    path = tmp_path / "store"

    monkeypatch.setattr("sys.stdin", io.StringIO("changed\n"))

    def changes() -> int:
        """What another process does; it is a loop and a store of its own here."""
        if how == "password":
            return reset_password("ann", store=str(path))
        return close("ann", reason="left", store=str(path))

    async def main() -> None:
        async with kept(path) as web:
            await web.enrol("ann", "bob")
            assert (await web.ask("GET", "/games/", "ann")).status == 200
            assert await asyncio.to_thread(changes) == 0
            assert (await web.ask("GET", "/games/", "ann")).status == 401
            assert (await web.ask("POST", "/games/", "ann")).status == 401
            assert (await web.ask("GET", "/games/", "bob")).status == 200
            header = f"Basic {b64encode(b'ann:changed').decode()}"
            new = await web.ask("GET", "/games/", headers={"authorization": header})
            assert new.status == (200 if how == "password" else 401)

    asyncio.run(upgrade_store(str(path)))
    run(main())


def test_a_login_that_nobody_has_changed_is_no_read_of_the_store(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            await open_store(str(tmp_path / "store")) as store,
            await open_store(str(tmp_path / "store")) as other,
        ):
            await store.watch_accounts()
            guard = Authenticator(StoredUsers(store), clock=Hands(), hasher=QUICK)
            header = b"Basic " + b64encode(b"ann:secret")
            await guard.register(header, "192.0.2.1")
            assert guard.cached_username(header) == "ann"
            await other.add_account("bob", "hash")
            assert guard.cached_username(header) == "ann"
            await other.set_password("bob", "other", reason="changed")
            assert guard.cached_username(header) is None, "it is looked at once more"
            assert await guard.authenticate_username(header, "192.0.2.1") == "ann"
            assert guard.cached_username(header) == "ann"
            guard.close()

    run(main())


async def asked_for(address: Address, method: str, name: str, password: str, scheme: str = "Basic") -> int:
    """The status of a login from a connection of its own, however long it takes."""
    header = f"{scheme} {b64encode(f'{name}:{password}'.encode()).decode()}"
    reader, writer = await asyncio.open_connection(*address)
    path = "/users/" if method == "POST" else "/games/"
    writer.write(request(method, path, authorization=header))
    status = int((await reader.readline()).split()[1])
    writer.close()
    await writer.wait_closed()
    return status


@pytest.mark.slow
def test_a_guesser_with_a_login_of_its_own_has_a_hundred_tries_a_minute() -> None:
    """Real argon2 and sockets: a right login in another spelling between every two wrong ones."""

    async def main() -> None:
        async with opened(guard=Authenticator(hasher=DEFAULT_HASHER, clock=Hands())) as found:
            assert await asked_for(found.address, "POST", "eve", "secret") == 201
            statuses = []
            for number in range(130):
                letters = [letter.upper() if number >> place & 1 else letter for place, letter in enumerate("basic")]
                assert await asked_for(found.address, "GET", "eve", "secret", "".join(letters)) == 200
                statuses.append(await asked_for(found.address, "GET", f"user {number}", "guess"))
            assert statuses == [401] * 100 + [429] * 30

    asyncio.run(main())


@pytest.mark.slow
def test_a_right_login_is_answered_while_three_hundred_register() -> None:
    """Real argon2 and sockets, one address for all."""

    async def main() -> None:
        async with opened(guard=Authenticator(hasher=DEFAULT_HASHER, login_seconds=0.0)) as found:
            assert await asked_for(found.address, "POST", "ann", "secret") == 201
            new = [
                asyncio.create_task(asked_for(found.address, "POST", f"user {number}", "secret"))
                for number in range(300)
            ]
            logins = []
            while not all(task.done() for task in new):
                logins.append(await asked_for(found.address, "GET", "ann", "secret"))
            assert {*logins} == {200}
            assert {*await asyncio.gather(*new)} == {201}

    asyncio.run(main())
