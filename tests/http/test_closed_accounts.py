"""The seats of a user whose account is closed are given up, whoever closes it and whenever (holdem-9.13)."""

import asyncio
from pathlib import Path

from croupier.cli.accounts import close
from croupier.http.auth import AuthError
from croupier.http.closed_accounts import ClosedAccountMonitor
from tests.net.raw_client import Run
from tests.recording.test_holdem_journal import kept


async def close_account(name: str, path: Path) -> None:
    """What `croupier accounts close` does in another process; it has a loop and a store of its own here."""
    assert await asyncio.to_thread(lambda: close(name, reason="left", store=str(path))) == 0


def test_a_user_whose_account_is_closed_while_the_server_runs_leaves_all_games(run: Run, tmp_path: Path) -> None:
    """holdem-9.13"""
    path = tmp_path / "kept.db"

    async def main() -> None:
        async with kept(path) as web:
            game, (ann, _) = await web.seated("ann", "bob")
            watch = ClosedAccountMonitor(web.service.service, web.guard, interval=0.001)
            left = asyncio.create_task(web.ask("GET", f"/games/{game}?wait=60"))
            await close_account("bob", path)
            assert [one["playerID"] for one in (await left).json["table"]] == [ann]
            watch.stop()

    run(main())


def test_an_account_that_was_closed_while_no_server_ran_has_no_seat(run: Run, tmp_path: Path) -> None:
    """holdem-9.13"""
    path = tmp_path / "kept.db"

    async def main() -> None:
        async with kept(path) as web:
            game, (ann, _) = await web.seated("ann", "bob")
        await close_account("bob", path)
        async with kept(path) as web:
            left = asyncio.create_task(web.ask("GET", f"/games/{game}?wait=60"))
            await asyncio.sleep(0)
            watch = ClosedAccountMonitor(web.service.service, web.guard, interval=0.001)
            assert [one["playerID"] for one in (await left).json["table"]] == [ann]
            watch.stop()

    run(main())


def test_a_store_that_is_down_is_asked_again(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "kept.db"

    async def main() -> None:
        async with kept(path) as web:
            game, (ann, _) = await web.seated("ann", "bob")
            failures, is_user = [AuthError("busy", "found a store that is down", 1.0)] * 3, web.guard.is_user

            async def sometimes(name: str) -> bool:
                if failures:
                    raise failures.pop()
                return await is_user(name)

            web.guard.is_user = sometimes
            watch = ClosedAccountMonitor(web.service.service, web.guard, interval=0.001)
            left = asyncio.create_task(web.ask("GET", f"/games/{game}?wait=60"))
            await close_account("bob", path)
            assert [one["playerID"] for one in (await left).json["table"]] == [ann]
            assert not failures
            watch.stop()

    run(main())
