"""Users who create too many games, before and after a restart of the house."""

import asyncio
from pathlib import Path

import pytest

from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import Close
from tests.recording.test_holdem_journal import service_with_store


async def create_too_many_games(path: Path, users: int, times: int) -> None:
    """Let users create more games than are allowed; another user can still create one, also after a restart."""
    names = [f"mal{number}" for number in range(users)]
    async with service_with_store(path) as web:
        await web.register(*names, "ann")
        answers = await asyncio.gather(*(web.ask("POST", "/games/", name) for name in names for _ in range(times)))
        assert {got.status for got in answers} == {201, 403}
        assert (await web.ask("POST", "/games/", "ann")).status == 201
        listed = await web.ask("GET", "/games/")
        assert len(listed.body) < 100_000
    async with service_with_store(path) as web:
        assert len(web.house.games()) == users * Settings().games_per_user + 2
        assert (await web.ask("POST", "/games/", "ann")).status == 201
        assert (await web.ask("GET", "/games/")).headers.get("link", "") == listed.headers.get("link", "")
        for name in names:
            await web.service.house_service.execute(Close(name))
        assert len(web.house.games()) == 3


def test_one_user_cannot_exhaust_the_games(tmp_path: Path) -> None:
    """holdem-9.11, holdem-9.12, holdem-9.13"""
    asyncio.run(create_too_many_games(tmp_path / "kept.db", 1, 40))


@pytest.mark.slow
def test_many_users_cannot_exhaust_the_games(tmp_path: Path) -> None:
    """holdem-9.11, holdem-9.12, holdem-9.13"""
    asyncio.run(create_too_many_games(tmp_path / "kept.db", 40, 100))
