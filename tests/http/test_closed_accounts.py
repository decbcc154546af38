"""Users whose accounts are closed lose their seats (holdem-9.13)."""

import asyncio
from pathlib import Path

from croupier.cli.accounts import close
from croupier.http.auth import AuthError
from croupier.http.closed_accounts import ClosedAccountMonitor
from tests.net.raw_client import Run
from tests.recording.test_holdem_journal import service_with_store


async def close_account(name: str, path: Path) -> None:
    """Run `croupier accounts close` in a thread, with its own event loop and store."""
    assert await asyncio.to_thread(lambda: close(name, reason="left", store=str(path))) == 0


def test_account_closed_while_the_server_runs_loses_its_seats(run: Run, tmp_path: Path) -> None:
    """holdem-9.13"""
    path = tmp_path / "store.db"

    async def main() -> None:
        async with service_with_store(path) as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            monitor = ClosedAccountMonitor(web.service.house_service, web.guard, interval=0.001)
            left = asyncio.create_task(web.ask("GET", f"/games/{game}?wait=60"))
            await close_account("bob", path)
            assert [one["playerID"] for one in (await left).json["table"]] == [ann]
            monitor.stop()

    run(main())


def test_account_closed_while_no_server_ran_loses_its_seats(run: Run, tmp_path: Path) -> None:
    """holdem-9.13"""
    path = tmp_path / "store.db"

    async def main() -> None:
        async with service_with_store(path) as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
        await close_account("bob", path)
        async with service_with_store(path) as web:
            left = asyncio.create_task(web.ask("GET", f"/games/{game}?wait=60"))
            await asyncio.sleep(0)
            monitor = ClosedAccountMonitor(web.service.house_service, web.guard, interval=0.001)
            assert [one["playerID"] for one in (await left).json["table"]] == [ann]
            monitor.stop()

    run(main())


def test_check_is_repeated_after_a_store_failure(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def main() -> None:
        async with service_with_store(path) as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            failures, is_user = [AuthError("busy", "found a store that is down", 1.0)] * 3, web.guard.is_user

            async def fail_at_first(name: str) -> bool:
                if failures:
                    raise failures.pop()
                return await is_user(name)

            web.guard.is_user = fail_at_first
            monitor = ClosedAccountMonitor(web.service.house_service, web.guard, interval=0.001)
            left = asyncio.create_task(web.ask("GET", f"/games/{game}?wait=60"))
            await close_account("bob", path)
            assert [one["playerID"] for one in (await left).json["table"]] == [ann]
            assert not failures
            monitor.stop()

    run(main())
