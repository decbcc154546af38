"""Several hold'em houses of one room: requests find their house, and the list and the limits span all of them."""

import asyncio
from pathlib import Path

import pytest

from croupier.core.logger import SilentLogger
from croupier.rooms.holdem.table.places import house_of
from croupier.store.sqlite import SqliteEngine
from croupier.store.store import open_store
from tests.app.houses_fixture import stored_room
from tests.net.raw_client import Run


class ErrorLog(SilentLogger):
    """Keeps the errors that are logged."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def error(self, event: str, **facts: object) -> None:
        self.errors.append(f"{event} {facts}")


def test_each_house_has_games_cards_and_a_journal_of_its_own(run: Run, tmp_path: Path) -> None:
    url = str(tmp_path / "kept.db")

    async def main() -> None:
        async with stored_room(url, 3) as web:
            await web.open_houses(1, 2, 3)
            guids = dict(zip(("ann", "bob"), await web.register("ann", "bob"), strict=True))
            games = [game["gameID"] for game in await web.games()]
            assert [house_of(game, 3) for game in games] == [1, 2, 3]
            for game in games:
                for user, guid in guids.items():
                    joined = await web.ask("POST", f"/games/{game}/players/", user)
                    assert (joined.status, joined.json) == (201, guid)
                assert (await web.act(game, "ann", guids["ann"], 0)).status == 201
                assert (await web.ask("GET", f"/games/{game}/hands/1.phh")).status == 200
            holes = {tuple(game["cards"]["hole"]) for game in await web.games("ann")}
            assert len(holes) == 3, "each house deals other cards"
        async with await open_store(url) as store:
            assert [head.table for head in await store.journal_heads("holdem")] == ["house", "house-2", "house-3"]

    run(main())


def test_houses_resume_where_they_were_and_their_number_never_changes(run: Run, tmp_path: Path) -> None:
    """holdem-3.16"""
    url = str(tmp_path / "kept.db")

    async def main() -> None:
        async with stored_room(url, 2) as web:
            await web.open_houses(1, 2)
            await web.register("ann", "bob")
            for user in ("ann", "bob"):
                await web.ask("POST", f"/games/{(await web.games())[1]['gameID']}/players/", user)
            before = await web.games("ann")
            assert before[1]["turn"]["playerID"]
        async with stored_room(url) as web:
            await web.open_houses(1, 2)
            after = await web.games("ann")
            assert [game["cards"] for game in after] == [game["cards"] for game in before]
            assert after[1]["turn"]["playerID"] == before[1]["turn"]["playerID"]
        with pytest.raises(ValueError, match="found --houses 3 for saved tables; allowed: 2, as saved"):
            async with stored_room(url, 3):
                pass

    run(main())


def test_a_new_game_opens_in_the_house_with_fewest_games(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with stored_room(str(tmp_path / "kept.db"), 2, games=2) as web:
            await web.open_houses(1, 2)
            await web.register("ann")
            found = [await web.ask("POST", "/games/", "ann") for _ in range(3)]
            houses = [house_of(opened.headers["location"].rpartition("/")[2], 2) for opened in found[:2]]
            assert houses == [1, 2]
            assert (found[2].status, found[2].text[:11]) == (503, "holdem-3.3:")

    run(main())


def test_the_limit_on_games_of_a_user_counts_all_houses(run: Run, tmp_path: Path) -> None:
    """holdem-9.11"""

    async def main() -> None:
        async with stored_room(str(tmp_path / "kept.db"), 3, games_per_user=2) as web:
            await web.open_houses(1, 2, 3)
            (ann,) = await web.register("ann")
            games = [game["gameID"] for game in await web.games()]
            joined = [await web.ask("POST", f"/games/{game}/players/", "ann") for game in games]
            assert [each.status for each in joined] == [201, 201, 403]
            assert joined[2].text.startswith("holdem-9.11: found a user in 2 games")
            assert (await web.ask("DELETE", f"/games/{games[0]}/players/{ann}", "ann")).status == 200
            assert (await web.ask("POST", f"/games/{games[2]}/players/", "ann")).status == 201

    run(main())


def test_pages_show_the_games_of_all_houses_in_one_order(run: Run, tmp_path: Path) -> None:
    """holdem-9.12"""

    async def main() -> None:
        async with stored_room(str(tmp_path / "kept.db"), 3, games_per_user=0) as web:
            await web.open_houses(3, 1, 2)
            await web.register("ann")
            for _ in range(4):
                await web.ask("POST", "/games/", "ann")
            numbers = [game.number for game in web.group.views.games.tables]
            assert numbers == sorted(set(numbers))
            found, path = [], "/games/?limit=2&after=0"
            while path:
                page = await web.ask("GET", path)
                found += [game["gameID"] for game in page.json]
                path = page.headers.get("link", "").partition("<")[2].partition(">")[0]
            assert found == [game.guid for game in web.group.views.games.tables]

    run(main())


def test_a_game_of_no_house_is_not_found_and_one_of_a_house_that_is_not_open_is_refused(
    run: Run, tmp_path: Path
) -> None:
    """holdem-8.4, holdem-3.17"""

    async def main() -> None:
        async with stored_room(str(tmp_path / "kept.db"), 2) as web:
            await web.open_houses(1)
            await web.register("ann")
            assert (await web.ask("POST", "/games/nonsense/players/", "ann")).status == 404
            other = f"{(await web.games())[0]['gameID'][:-2]}02"
            asked = [("POST", "players/"), ("GET", ""), ("GET", "hands/1.phh")]
            for refused in [await web.ask(method, f"/games/{other}/{rest}", "ann") for method, rest in asked]:
                assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert (await web.ask("GET", "/games/nonsense")).status == 404

    run(main())


def test_what_was_requested_during_a_write_is_written_before_the_store_is_closed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteEngine, "commit_at_once", lambda *_: False)  # each write takes turns of the event loop
    log = ErrorLog()

    async def main() -> None:
        async with stored_room(str(tmp_path / "kept.db"), log=log) as web:
            await web.open_houses(1)
            await web.room.listen("127.0.0.1", 0)
            game, (ann, _) = await web.seat_players("ann", "bob")
            acting = asyncio.create_task(web.act(game, "ann", ann, 1, 10))
            while not web.house_service(1).is_writing:
                await asyncio.sleep(0)
            web.room.halt(final=False)
            web.room.halt(final=True)
            await web.room.wait_drained()
            assert (await acting).status == 201

    run(main())
    assert log.errors == []
