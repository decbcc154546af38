"""Nobody is told what could still be lost, and what was told is there when the house of hold'em is opened again."""

import asyncio
from asyncio import Future
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from croupier.core.cards import Order
from croupier.core.dealer import dealer_factory
from croupier.core.session import HandFinished
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.http.stored_users import StoredUsers
from croupier.recording import holdem_journal as journals
from croupier.recording.holdem_journal import JOURNAL_TABLE, ROOM_NAME, HoldemJournal, JournalStart, open_journal
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.wire import Close
from croupier.store.records import JournalEntry, StoreUnavailable
from croupier.store.store import open_store
from tests.http.service_fixture import QUICK, Got, Hands, Web, house
from tests.net.raw_client import PATIENCE

TURNS = 32
"""After so many turns of the loop everything has happened that waits for nothing."""


class HeldStore:
    """What a held journal has for a store: whether it is up."""

    down: str | None = None

    def __init__(self) -> None:
        self.event = asyncio.Event()

    async def up(self) -> None:
        await self.event.wait()


class Held(HoldemJournal):
    """A journal whose writing is done by hand. `writings` is what it is to write."""

    def __init__(self, kept: House) -> None:
        self.writings: list[tuple[Sequence[HouseInput], Future[None]]] = []
        self.there = False
        self.rises = HeldStore()
        super().__init__(self.rises, kept, kept.settings, 1, 0)  # type: ignore[arg-type]  # all that is asked of it

    def write(self, facts: Sequence[HouseInput], finished: Iterable[HandFinished]) -> Future[None]:
        future: Future[None] = asyncio.get_running_loop().create_future()
        self.writings.append((facts, future))
        return future

    async def was_written(self, facts: Sequence[HouseInput]) -> bool:
        return self.there

    def done(self, error: Exception | None = None) -> list[HouseInput]:
        heard, future = self.writings.pop(0)
        future.set_result(None) if error is None else future.set_exception(error)
        return [*heard]


class Holding(Web):
    """A service whose journal is written by hand."""

    def __init__(self, **rest: Any) -> None:
        self.clock = Hands()
        self.house = house(1, **rest)
        self.guard = Authenticator(clock=self.clock, hasher=QUICK)
        self.journal = Held(self.house)
        self.service = HoldemApp(self.house, self.guard, clock=self.clock, journal=self.journal)

    def later(self, asked: Awaitable[Got]) -> asyncio.Task[Got]:
        return asyncio.ensure_future(asked)

    async def two(self) -> tuple[str, list[str]]:
        """Ann and bob sit and play."""
        guids = await self.enrol("ann", "bob")
        game = await self.game()
        for user in ("ann", "bob"):
            joining = self.later(self.ask("POST", f"/games/{game}/players/", user))
            await turns()
            self.journal.done()
            assert (await joining).status == 201
        return game, guids


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE):
            await main()

    asyncio.run(limited())


def test_nobody_is_answered_or_shown_what_is_not_durable() -> None:
    """holdem-3.16"""

    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            version = (await web.ask("GET", f"/games/{game}")).headers["x-game-version"]
            polling = web.later(web.ask("GET", f"/games/{game}?wait=60&since={version}", "bob"))
            await turns()
            acting = web.later(web.act(game, "ann", ann, 1, 10))
            await turns()
            looking = [
                web.later(web.ask("GET", path, user))
                for path in (f"/games/{game}", "/games/", f"/games/{game}?wait=0")
                for user in (None, "ann")
            ]
            await turns()
            assert not any(task.done() for task in (polling, acting, *looking))
            web.journal.done()
            answers = [await task for task in (acting, polling, *looking)]
            assert [got.status for got in answers] == [201] + [200] * 7
            after = (await web.ask("GET", f"/games/{game}")).headers["x-game-version"]
            assert after != version
            assert {got.headers.get("x-game-version", after) for got in answers[1:]} == {after}

    run(main)


def test_a_stream_shows_only_what_is_durable() -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            shown: list[bytes] = []
            streaming = asyncio.ensure_future(follow(web, f"/games/{game}/events", shown))
            await turns()
            assert len(shown) == 1
            acting = web.later(web.act(game, "ann", ann, 1, 10))
            await turns()
            assert len(shown) == 1
            web.journal.done()
            await acting
            await turns()
            assert len(shown) == 2
            streaming.cancel()

    run(main)


async def follow(web: Web, path: str, shown: list[bytes]) -> None:
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"accept", b"application/x-ndjson")],
        "client": ("192.0.2.7", 1),
    }

    async def receive() -> dict[str, Any]:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]  # the visitor stays

    async def send(message: Any) -> None:
        if message.get("body"):
            shown.append(message["body"])

    await web.service(scope, receive, send)


def test_what_many_ask_at_the_same_time_is_written_together() -> None:
    async def main() -> None:
        with Holding() as web:
            users = ["ann", "bob", "cid", "dan"]
            await web.enrol(*users)
            game = await web.game()
            joining = [web.later(web.ask("POST", f"/games/{game}/players/", user)) for user in users]
            await turns()
            assert [len(heard) for heard, _ in web.journal.writings] == [4]
            web.journal.done()
            assert [(await each).status for each in joining] == [201] * 4

    run(main)


def test_the_house_hears_what_was_asked_though_there_is_always_more() -> None:
    async def main() -> None:
        with Holding() as web:
            await web.enrol("ann")
            game, asked = await web.game(), []
            while not web.journal.writings:
                asked.append(web.later(web.ask("POST", f"/games/{game}/players/", "ann")))
                await asyncio.sleep(0)
                assert len(asked) < TURNS
            web.journal.done()
            assert {(await each).status for each in asked} == {201, 409}

    run(main)


def test_what_is_asked_while_something_is_written_is_written_together() -> None:
    async def main() -> None:
        with Holding() as web:
            await web.enrol("ann", "bob", "cid")
            game = await web.game()
            first = web.later(web.ask("POST", f"/games/{game}/players/", "ann"))
            await turns()
            second, third = (web.later(web.ask("POST", f"/games/{game}/players/", user)) for user in ("bob", "cid"))
            await turns()
            assert [len(heard) for heard, _ in web.journal.writings] == [1]
            web.journal.done()
            await first
            await turns()
            assert [len(heard) for heard, _ in web.journal.writings] == [2]
            assert not second.done()
            web.journal.done()
            assert [(await second).status, (await third).status] == [201, 201]

    run(main)


def test_a_refusal_is_not_written() -> None:
    async def main() -> None:
        with Holding() as web:
            game, (_, bob) = await web.two()
            assert (await web.act(game, "bob", bob)).status == 403
            assert (await web.ask("POST", f"/games/{game}/players/", "ann")).status == 409
            assert not web.journal.writings

    run(main)


@pytest.mark.parametrize("written", [False, True], ids=["lost", "written after all"])
def test_while_the_store_is_down_everything_is_refused_and_no_turn_ends(written: bool) -> None:
    """holdem-3.17"""

    async def main() -> None:
        with Holding(turn_seconds=15.0) as web:
            game, (ann, bob) = await web.two()
            acting = web.later(web.act(game, "ann", ann, 1, 10))
            await turns()
            looking = web.later(web.ask("GET", f"/games/{game}"))
            await turns()
            joining = web.later(web.ask("POST", "/games/", "ann"))
            await turns()
            web.journal.done(StoreUnavailable("found no space on the disk"))
            for refused in (acting, looking, joining):
                got = await refused
                assert got.status == 503
                assert "holdem-3.17" in got.text
            for _ in range(2):
                web.clock.now += 100.0
                web.service.process_deadlines()
                assert (await web.act(game, "bob", bob)).status == 503
                assert (await web.ask("GET", "/games/")).status == 503
            web.journal.there = written
            web.journal.rises.event.set()
            await turns()
            if not written:
                assert [heard.said is not None for heard in web.journal.done()] == [True]
                await turns()
            assert web.journal.done()[0].opened
            await turns()
            turn = await web.turn(game)
            assert turn["playerID"] == bob, "the act that nobody was told about"
            assert web.house.deadline == web.clock.now + 15.0
            checking = web.later(web.act(game, "bob", bob))
            await turns()
            web.journal.done()
            assert (await checking).status == 201

    run(main)


def test_a_store_that_goes_down_again_at_once_is_waited_for_again() -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            acting = web.later(web.act(game, "ann", ann, 1, 10))
            await turns()
            web.journal.done(StoreUnavailable("once"))
            assert (await acting).status == 503
            web.journal.rises.event.set()
            await turns()
            web.journal.done(StoreUnavailable("twice"))
            await turns()
            web.journal.done()
            await turns()
            web.journal.done()
            await turns()
            assert (await web.ask("GET", f"/games/{game}")).status == 200

    run(main)


# With a real store.


@asynccontextmanager
async def kept(
    path: Path | str,
    seed: int | None = None,
    client_seed: str = "",
    decks: tuple[Order, ...] = (),
    taps: Any = (),
    **settings: Any,
) -> AsyncIterator[Web]:
    """A service whose house is in a store."""

    def build(begun: JournalStart) -> House:
        return House(begun.settings, dealer_factory(begun.server_seed, client_seed.encode()), begun.server_seed(0))

    async with await open_store(str(path)) as store:
        wanted = JournalStart(Settings(**settings), seed, client_seed=client_seed, decks=decks)
        await store.watch_accounts()
        found, journal, now = await open_journal(store, wanted, build)
        web = object.__new__(Web)
        web.clock = Hands()
        web.clock.now = now
        web.house = found
        web.guard = Authenticator(StoredUsers(store), clock=web.clock, hasher=QUICK)
        web.service = HoldemApp(found, web.guard, clock=web.clock, taps=taps, journal=journal)
        await web.service.service.open()
        with web:
            yield web


def test_a_closed_account_has_no_seat_any_more_also_when_the_house_is_opened_again(tmp_path: Path) -> None:
    """holdem-9.13"""

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, games_per_user=1) as web:
            game, (ann, _) = await web.seated("ann", "bob")
            assert (await web.ask("POST", "/games/", "ann")).status == 403
            await web.service.service.execute(Close("bob"))
            table = (await web.ask("GET", f"/games/{game}")).json["table"]
            assert [(one["playerID"], one["wealth"]) for one in table] == [(ann, 10_020)]
        async with kept(path, games_per_user=1) as web:
            assert (await web.ask("GET", f"/games/{game}")).json["table"] == table
            assert (await web.ask("POST", "/games/", "ann")).status == 403

    run(main)


def test_a_house_that_is_opened_again_has_its_users_games_cards_and_turns(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path) as web:
            game, (ann, bob) = await web.seated("ann", "bob")
            assert (await web.act(game, "ann", ann, 1, 10)).status == 201
            before = [(await web.ask("GET", f"/games/{game}", user)).json for user in ("ann", "bob")]
        async with kept(path) as web:
            after = [(await web.ask("GET", f"/games/{game}", user)).json for user in ("ann", "bob")]
            for game_before, game_after in zip(before, after, strict=True):
                del game_before["turn"]["expiry"], game_after["turn"]["expiry"]
            assert after == before
            assert (await web.act(game, "bob", bob, 1, 0)).status == 201
            assert (await web.ask("POST", "/users/", "ann")).status == 403
            flop = (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"]
        async with kept(path) as web:
            assert (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"] == flop

    run(main)


def test_what_was_played_while_the_room_closed_is_heard_again_as_it_was(tmp_path: Path) -> None:
    """A room that closes begins no hands, nor does one that hears its journal."""

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path) as web:
            game, (ann, _) = await web.seated("ann", "bob")
            web.service.halt(final=False)
            assert (await web.act(game, "ann", ann, 0)).status == 201
            assert (await web.turn(game))["playerID"] == ""
            before = web.house.snapshot()

        def build(begun: JournalStart) -> House:
            return House(begun.settings, dealer_factory(begun.server_seed), begun.server_seed(0))

        async with await open_store(str(path)) as store:
            again, _, _ = await open_journal(store, JournalStart(Settings()), build)
        assert again.snapshot() == before
        async with kept(path) as web:
            assert (await web.turn(game))["playerID"]

    run(main)


def test_another_pace_is_kept_though_nobody_plays_yet(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        for seconds in (15.0, 7.0):
            async with kept(path, turn_seconds=seconds) as web:
                pass
        async with kept(path, turn_seconds=7.0) as web:
            assert web.house.settings.turn_seconds == 7.0
            await web.seated("ann", "bob")
            due = web.house.deadline
        async with kept(path, turn_seconds=7.0) as web:
            assert due is not None
            assert web.house.deadline == web.clock.now + 7.0

    run(main)


def test_a_long_evening_goes_on_from_the_state_that_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "MIN_FACTS_PER_SNAPSHOT", 7)
    monkeypatch.setattr(journals, "APPROXIMATE_FACT_BYTES", 1 << 20)

    async def main() -> None:
        path = tmp_path / "kept.db"
        seen: Any = None
        users: dict[str, str] = {}
        game = ""
        for _ in range(6):
            async with kept(path) as web:
                if not users:
                    game, guids = await web.seated("ann", "bob", "cid")
                    users = dict(zip(guids, ("ann", "bob", "cid"), strict=True))
                elif seen is not None:
                    assert (await web.ask("GET", f"/games/{game}")).json["table"] == seen
                for _ in range(11):
                    assert (await web.check_or_call(game, users)).status == 201
                seen = (await web.ask("GET", f"/games/{game}")).json["table"]
        async with await open_store(str(path)) as store:
            snapshot = await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE)
            assert snapshot is not None
            assert 0 < await store.last_seq(ROOM_NAME, JOURNAL_TABLE) - snapshot.seq < 20
            assert await store.find_problems() == []

    run(main)


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ({"seed": 1}, {"seed": 2}, "found the seed 2 for tables that were kept; allowed: theirs, 1"),
        ({}, {"seed": 2}, "found the seed 2 for tables that were kept; allowed: theirs, None"),
        ({}, {"client_seed": "x"}, "found the client seed 'x' for tables that were kept; allowed: theirs, ''"),
        ({}, {"decks": ((1,),)}, "found another --deck for tables that were kept; allowed: none, or another --store"),
    ],
)
def test_a_house_does_not_go_on_with_other_cards(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], told: str
) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, **first):
            pass
        with pytest.raises(ValueError, match=f"^{told}$"):
            async with kept(path, **then):
                pass

    run(main)


@pytest.mark.parametrize("seldom", [1, 1000], ids=["kept", "heard again"])
def test_a_house_does_not_go_on_by_other_stakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seldom: int) -> None:
    monkeypatch.setattr(journals, "MIN_FACTS_PER_SNAPSHOT", seldom)

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path) as web:
            await web.seated("ann", "bob")
        with pytest.raises(ValueError, match="found blinds 5/10 for saved tables; allowed: 10/20, as saved"):
            async with kept(path, blinds="5/10"):
                pass

    run(main)


@pytest.mark.parametrize("seldom", [1, 1000], ids=["kept", "heard again"])
def test_the_pace_may_be_another_one_and_the_past_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seldom: int
) -> None:
    monkeypatch.setattr(journals, "MIN_FACTS_PER_SNAPSHOT", seldom)

    async def main() -> None:
        path, chips = tmp_path / "kept.db", {}
        for seconds in (15.0, 3000.0, 2.0, 15.0):
            async with kept(path, turn_seconds=seconds) as web:
                if not chips:
                    game, guids = await web.seated("ann", "bob", "cid")
                seen = (await web.ask("GET", f"/games/{game}")).json
                now = {one["handle"]: one["wealth"] + one["bet_so_far"] for one in seen["table"]}
                assert chips in ({}, now)
                assert web.house.deadline == web.clock.now + seconds
                await web.check_or_call(game, dict(zip(guids, ("ann", "bob", "cid"), strict=True)))
                web.clock.now += seconds - 0.5
                web.service.process_deadlines()
                await web.service.service.wait_durable()
                seen = (await web.ask("GET", f"/games/{game}")).json
                chips = {one["handle"]: one["wealth"] + one["bet_so_far"] for one in seen["table"]}

    run(main)


def test_a_journal_with_a_gap_is_not_taken_for_one(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path) as web:
            await web.seated("ann", "bob")
        async with await open_store(str(path)) as store:
            last = await store.last_seq(ROOM_NAME, JOURNAL_TABLE)
            await store.append([JournalEntry(ROOM_NAME, JOURNAL_TABLE, last + 2, HouseInput(1.0).to_json(), 1.0)])
        with pytest.raises(ValueError, match=f"found the fact {last + 2} behind the fact {last}"):
            async with kept(path):
                pass

    run(main)


def test_of_two_servers_with_one_store_the_later_one_has_the_room(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path) as first:
            game, (ann, bob) = await first.seated("ann", "bob")
            async with kept(path) as second:
                got = await first.act(game, "ann", ann, 1, 10)
                assert got.status == 503
                assert (await first.ask("GET", f"/games/{game}")).status == 503
                assert (await second.act(game, "ann", ann, 1, 10)).status == 201
                assert (await second.act(game, "bob", bob, 1, 0)).status == 201
        async with await open_store(str(path)) as store:
            assert await store.find_problems() == []

    run(main)


def test_a_closed_account_cannot_log_in(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path) as web:
            assert (await web.ask("POST", "/users/", "ann")).status == 201
        async with await open_store(str(path)) as store:
            await store.close_account("ann", reason="left")
        async with kept(path) as web:
            game = await web.game()
            assert (await web.ask("POST", f"/games/{game}/players/", "ann")).status == 401

    run(main)
