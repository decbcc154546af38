"""Views of games and the list of games, without HTTP."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

import pytest

from croupier.http.streams import EVENT_STREAM, GameStream
from croupier.http.views import GameViewCache, ViewCache
from croupier.rooms.holdem.wire import Open
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.recording.fake_store import run_pending_callbacks
from tests.rooms.holdem.house_fixture import HouseFixture


class PublishedHouse(HouseFixture):
    """A house whose views are published on demand."""

    def __init__(self, **settings: int) -> None:
        super().__init__(**settings)
        self.views = ViewCache(self.settings)

    def publish(self) -> None:
        self.views.publish(self.house.take_changed_views())

    def listed_games(self, user: str | None) -> list[str]:
        return [game.guid for game in self.views.games_for(user)]

    @property
    def made(self) -> list[str]:
        return [table.guid for table in self.house.games()]


def test_list_shows_own_games_then_free_games_then_others() -> None:
    """holdem-9.12"""
    fixture = PublishedHouse(seats=2, listed=4)
    full = [fixture.open(user) for user in ("ann", "bob", "cat", "dan")]
    for game in full:
        fixture.join("eve", game=game)
    lobby = fixture.made[0]
    fixture.publish()
    assert fixture.listed_games(None) == [lobby, *full[:3]]
    assert fixture.listed_games("dan") == [full[3], lobby, *full[:2]]
    assert {*fixture.listed_games("eve")} == {*full}


def test_pages_of_games_are_in_the_order_of_creation() -> None:
    """holdem-9.12"""
    fixture = PublishedHouse(games_per_user=0)
    made = [fixture.made[0], *(fixture.open("ann") for _ in range(9))]
    found, number, more = list[str](), 0, True
    while more:
        fixture.publish()
        page, more = fixture.views.games_after(number, 4)
        assert len(page) == (4 if more else 2)
        found += [game.guid for game in page]
        number = page[-1].number
        fixture.restart()
        for left_game in found[1:2]:  # earlier pages may change before the next one is requested
            if fixture.house.game(left_game) is not None:
                fixture.leave("ann", left_game)
    assert found == made
    assert fixture.views.games_after(number, 4) == ([], False)


def test_page_has_at_most_as_many_games_as_a_list() -> None:
    """holdem-9.12"""
    fixture = PublishedHouse(games_per_user=0, listed=3)
    for _ in range(5):
        fixture.open("ann")
    fixture.publish()
    page, more = fixture.views.games_after(0, 1000)
    assert len(page) == 3
    assert more


def test_changes_are_shown_when_they_are_published() -> None:
    """holdem-3.16"""
    fixture = PublishedHouse(seats=2, history=1)
    game = fixture.made[0]
    fixture.join("ann", "bob")
    fixture.publish()
    views = fixture.views
    cache = views.games.get(game)
    assert cache is not None

    def shown() -> object:
        users = (None, "ann", "bob", "cat")
        pages = [views.list_view(user) for user in users], [cache.view_for(user) for user in users]
        return pages, cache.version, cache.has_free_seat, dict(cache.shown.hands), fixture.listed_games("cat")

    for change in (
        lambda: fixture.play("ann 10, bob 0"),
        lambda: fixture.join("cat"),  # in the queue: visible only in the order of her list
        lambda: fixture.leave("bob"),
        lambda: fixture.request(Open("dan")),
    ):
        before, hands = shown(), len(cache.shown.hands)
        change()
        assert shown() == before
        fixture.publish()
        assert len(cache.shown.hands) >= hands
        assert cache.version == fixture.table(game).version
        assert cache.shown.view("ann") == fixture.table(game).view("ann")
    assert fixture.listed_games("cat")[0] == game
    assert [each.guid for each in views.games_after(0)[0]] == fixture.made


def test_removed_game_is_no_longer_shown_once_published() -> None:
    fixture = PublishedHouse()
    game = fixture.open("ann")
    fixture.publish()
    fixture.leave("ann", game)
    assert fixture.house.game(game) is None
    assert fixture.views.games.get(game) is not None
    assert fixture.listed_games("ann")[0] == game
    fixture.publish()
    assert fixture.views.games.get(game) is None
    assert game not in fixture.listed_games("ann")


def stream_of(
    game: GameViewCache,
    user: str | None = None,
    *,
    confirm: Callable[[], Coroutine[Any, Any, bool]] | None = None,
    heartbeat_seconds: float = 3600.0,
) -> GameStream:
    """A stream of a game whose viewer needs no confirmation, or that of `confirm`."""

    async def never() -> bool:
        raise AssertionError("confirmed already")

    return GameStream(
        game,
        user,
        EVENT_STREAM,
        None,
        is_open=lambda: True,
        is_confirmed=lambda: confirm is None,
        confirm=confirm or never,
        close=lambda: None,
        heartbeat_seconds=heartbeat_seconds,
    )


class CountedFuture(asyncio.Future[None]):
    """A future that counts the callbacks that wait for it."""

    callback_count = 0

    def add_done_callback(self, callback: Any, *, context: Context | None = None) -> None:
        super().add_done_callback(callback, context=context)
        self.callback_count += 1

    def remove_done_callback(self, callback: Any, /) -> int:
        removed = super().remove_done_callback(callback)
        self.callback_count -= removed
        return removed


def test_long_stream_and_repeated_waits_leave_nothing_behind(run: Run) -> None:
    async def main() -> None:
        fixture = PublishedHouse()
        fixture.publish()
        game = fixture.views.games.get(fixture.made[0])
        assert game is not None

        stream = stream_of(game, heartbeat_seconds=0.0)
        news = asyncio.Event()
        stream.open(news.set)
        assert b"data: {" in (stream.take_piece() or b"")
        for _ in range(100):
            news.clear()
            await news.wait()
            assert stream.take_piece() == EVENT_STREAM.heartbeat
            assert stream.take_piece() == b""
            assert len(game.waiters) == 1
        stream.close()
        disconnected = CountedFuture()
        for _ in range(100):
            await game.wait_for_change(0.0, disconnected)
            assert (disconnected.callback_count, len(game.waiters)) == (0, 0)
        waiting = asyncio.create_task(game.wait_for_change(3600.0, disconnected))
        await asyncio.sleep(0)
        assert disconnected.callback_count == 1
        disconnected.set_result(None)
        await waiting

    run(main())


@pytest.mark.parametrize("is_allowed", [True, False])
def test_stream_whose_viewer_has_to_be_confirmed_goes_on_or_ends(run: Run, *, is_allowed: bool) -> None:
    """holdem-2.12"""

    async def main() -> None:
        fixture = PublishedHouse()
        fixture.publish()
        game = fixture.views.games.get(fixture.made[0])
        assert game is not None
        count = 0

        async def confirm() -> bool:
            nonlocal count
            count += 1
            await asyncio.sleep(0)
            return is_allowed

        stream = stream_of(game, confirm=confirm)
        pieces: list[bytes | None] = []

        def take_all() -> None:
            while piece := stream.take_piece():
                pieces.append(piece)
            if piece is None:
                pieces.append(None)

        stream.open(take_all)
        take_all()
        assert pieces == []
        for user in ("ann", "bob"):
            await run_pending_callbacks()
            fixture.join(user)
            fixture.publish()
        await run_pending_callbacks()
        stream.close()
        if is_allowed:
            assert [piece and piece[:3] for piece in pieces] == [b"id:"] * 3
            assert count == 3
        else:
            assert (pieces, count) == ([None] * 3, 1)

    run(main())


class Viewer:
    """A viewer of a game's stream: `versions` has those that were sent."""

    def __init__(self, game: GameViewCache, user: str | None) -> None:
        self.versions: list[int] = []
        self.stream = stream_of(game, user)
        self._has_news = asyncio.Event()
        self.stream.open(self._read)
        self._read()

    def _read(self) -> None:
        while piece := self.stream.take_piece():
            self.versions.append(int(piece.removeprefix(b"id: ").split(b"\n")[0]))
            self._has_news.set()

    async def wait(self) -> None:
        """Wait for another version."""
        self._has_news.clear()
        await asyncio.wait_for(self._has_news.wait(), TIMEOUT_SECONDS)


def test_state_after_an_own_act_waits_for_the_next_change(run: Run) -> None:
    """holdem-9.6"""

    async def main() -> None:
        fixture = PublishedHouse(seats=2, history=0)
        fixture.join("ann", "bob")
        fixture.publish()
        game = fixture.views.games.get(fixture.made[0])
        assert game is not None
        ann, bob, public = viewers = [Viewer(game, user) for user in ("ann", "bob", None)]

        def news_of(act: str) -> list[bool]:
            """Which of the viewers an act sends the new state at once."""
            fixture.play(act)
            fixture.publish()
            return [viewer.versions[-1] == game.version for viewer in viewers]

        assert news_of("ann 10") == [False, True, True]
        assert news_of("bob 0") == [True, True, True]  # Bob is to act on the flop, too
        assert len(ann.versions) == 2
        assert news_of("bob 0") == [True, False, True]
        await bob.wait()
        assert bob.versions == public.versions
        assert bob.versions[-1] == game.version
        hands = game.shown.finished_count
        assert news_of("ann fold") == [True, True, True]  # another hand begins
        assert game.shown.finished_count == hands + 1
        assert game.shown.is_playing
        for viewer in viewers:
            viewer.stream.close()

    run(main())
