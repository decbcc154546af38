"""Floods of new games, against a house that keeps its journal: what is left of them when it is opened again."""

import asyncio
import re
from pathlib import Path

import pytest

from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import Close
from tests.clients.test_holdem import FIRST, url
from tests.http.service_fixture import opened
from tests.recording.test_holdem_journal import kept


async def flood(path: Path, users: int, times: int) -> None:
    """Each of these users makes games, more than are allowed; then somebody else makes one, also after a restart."""
    names = [f"mal{number}" for number in range(users)]
    async with kept(path) as web:
        await web.enrol(*names, "ann")
        answers = await asyncio.gather(*(web.ask("POST", "/games/", name) for name in names for _ in range(times)))
        assert {got.status for got in answers} == {201, 403}
        assert (await web.ask("POST", "/games/", "ann")).status == 201
        listed = await web.ask("GET", "/games/")
        assert len(listed.body) < 100_000
    async with kept(path) as web:
        assert len(web.house.games()) == users * Settings().games_per_user + 2
        assert (await web.ask("POST", "/games/", "ann")).status == 201
        assert (await web.ask("GET", "/games/")).headers.get("link", "") == listed.headers.get("link", "")
        for name in names:
            await web.service.service.execute(Close(name))
        assert len(web.house.games()) == 3


def test_a_user_who_floods_a_house_with_games_leaves_room_for_others(tmp_path: Path) -> None:
    """holdem-9.11, holdem-9.12, holdem-9.13"""
    asyncio.run(flood(tmp_path / "kept.db", 1, 40))


@pytest.mark.slow
def test_users_who_flood_a_house_with_games_leave_room_for_others(tmp_path: Path) -> None:
    """holdem-9.11, holdem-9.12, holdem-9.13"""
    asyncio.run(flood(tmp_path / "kept.db", 40, 100))


@pytest.mark.slow
def test_the_first_bot_of_the_tutorial_plays_twenty_times_of_twenty(capsys: pytest.CaptureFixture[str]) -> None:
    """Also with more hands than the chips last for: both bots join again when they are broke."""
    assert "hands=100" in FIRST

    async def main() -> None:
        for _ in range(20):
            async with opened(stack=200) as service:
                program = FIRST.replace("http://127.0.0.1:8080", url(service)).replace("hands=100", "hands=30")
                async with asyncio.timeout(10):
                    await asyncio.to_thread(exec, compile(program, "first_bot.py", "exec"), {})

    asyncio.run(main())
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if re.fullmatch(r"30 hands, [+-]\d+ chips ", line)]) == 20
