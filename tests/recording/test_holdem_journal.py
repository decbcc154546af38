"""Hold'em journal: answers wait until their cause is durable, and a reopened house resumes where it was."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import Any

import pytest

from croupier.core.cards import Order
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.http.stored_users import StoredUsers
from croupier.recording import journal as event_journal
from croupier.recording.holdem_journal import JOURNAL_TABLE, ROOM_NAME, HoldemJournal, JournalStart, open_journal
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.wire import Close
from croupier.store.records import JournalEntry, StoreUnavailable
from croupier.store.store import open_store
from tests.http.service_fixture import (
    InProcessConnection,
    InProcessService,
    ManualClock,
    Response,
    house,
    request,
)
from tests.recording.fake_store import TURNS, ManualStore, run, run_pending_callbacks


class ServiceWithManualJournal(InProcessService):
    """A service whose journal is written when the test says so."""

    def __init__(self, **settings: Any) -> None:
        self.clock = ManualClock()
        self.house = house(1, **settings)
        self.guard = Authenticator(clock=self.clock, hasher=QUICK_HASHER)
        self.store = ManualStore(lambda fact: [HouseInput.from_json(fact)])
        journal = HoldemJournal(self.store, self.house, self.house.settings)  # type: ignore[arg-type]  # has what it uses
        self.service = HoldemApp(self.house, self.guard, clock=self.clock, journal=journal)

    def start_task(self, request: Awaitable[Response]) -> asyncio.Task[Response]:
        return asyncio.ensure_future(request)

    async def seat_two(self) -> tuple[str, list[str]]:
        """Seat ann and bob; return the game and their GUIDs."""
        guids = await self.register("ann", "bob")
        game = await self.game()
        for user in ("ann", "bob"):
            joining = self.start_task(self.ask("POST", f"/games/{game}/players/", user))
            await run_pending_callbacks()
            self.store.complete_write()
            assert (await joining).status == 201
        return game, guids


def test_answers_wait_and_views_show_the_last_durable_state() -> None:
    """holdem-3.16"""

    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            paths = [(path, user) for path in (f"/games/{game}", "/games/") for user in (None, "ann", "bob")]

            async def look() -> list[tuple[int, dict[str, str], bytes]]:
                found = [await web.ask("GET", path, user) for path, user in paths]
                return [(got.status, got.headers, got.body) for got in found]

            before = await look()
            version = before[0][1]["x-game-version"]
            polling = web.start_task(web.ask("GET", f"/games/{game}?wait=60&since={version}", "bob"))
            await run_pending_callbacks()
            acting = web.start_task(web.act(game, "ann", ann, 1, 10))
            opening = web.start_task(web.ask("POST", "/games/", "bob"))
            await run_pending_callbacks()
            assert len(web.house.games()) == 2
            assert await look() == before
            assert (await web.ask("GET", f"/games/{web.house.games()[1].guid}")).status == 404
            assert not any(task.done() for task in (polling, acting, opening))
            web.store.complete_write()
            assert [(await task).status for task in (acting, opening, polling)] == [201, 201, 200]
            after = await look()
            assert all(now != then for now, then in zip(after, before, strict=True))
            assert (await polling).headers["x-game-version"] == after[0][1]["x-game-version"] != version
            assert (await web.turn(game))["playerID"] == bob

    run(main)


def test_finished_hand_is_shown_once_durable() -> None:
    async def main() -> None:
        with ServiceWithManualJournal(history=1) as web:
            game, guids = await web.seat_two()
            for number, user in ((1, "ann"), (2, "bob")):
                hand = f"/games/{game}/hands/{number}.phh"
                folding = web.start_task(web.act(game, user, guids[number - 1], 0))
                await run_pending_callbacks()
                assert (await web.ask("GET", hand)).status == 404
                if number == 2:
                    assert (await web.ask("GET", f"/games/{game}/hands/1.phh")).status == 200, "still the last one"
                web.store.complete_write()
                assert (await folding).status == 201
                assert (await web.ask("GET", hand)).status == 200
            assert (await web.ask("GET", f"/games/{game}/hands/1.phh")).status == 404

    run(main)


def test_stream_shows_only_durable_states() -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            viewer = InProcessConnection(web.service)
            viewer.connection.data_received(request("GET", f"/games/{game}/events"))
            chunks = viewer.transport.writes
            await run_pending_callbacks()
            assert len(chunks) == 2, "the head and the first state"
            acting = web.start_task(web.act(game, "ann", ann, 1, 10))
            await run_pending_callbacks()
            assert len(chunks) == 2
            web.store.complete_write()
            await acting
            await run_pending_callbacks()
            assert len(chunks) == 3
            await viewer.leave()

    run(main)


def test_simultaneous_requests_are_written_together() -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            users = ["ann", "bob", "cid", "dan"]
            await web.register(*users)
            game = await web.game()
            joining = [web.start_task(web.ask("POST", f"/games/{game}/players/", user)) for user in users]
            await run_pending_callbacks()
            assert [len(inputs) for inputs, _ in web.store.pending_writes] == [4]
            web.store.complete_write()
            assert [(await task).status for task in joining] == [201] * 4

    run(main)


def test_write_starts_although_requests_keep_arriving() -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            await web.register("ann")
            game, requests = await web.game(), []
            while not web.store.pending_writes:
                requests.append(web.start_task(web.ask("POST", f"/games/{game}/players/", "ann")))
                await asyncio.sleep(0)
                assert len(requests) < TURNS
            web.store.complete_write()
            assert {(await task).status for task in requests} == {201, 409}

    run(main)


def test_requests_during_a_write_form_the_next_write() -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            await web.register("ann", "bob", "cid")
            game = await web.game()
            first = web.start_task(web.ask("POST", f"/games/{game}/players/", "ann"))
            await run_pending_callbacks()
            second, third = (
                web.start_task(web.ask("POST", f"/games/{game}/players/", user)) for user in ("bob", "cid")
            )
            await run_pending_callbacks()
            assert [len(inputs) for inputs, _ in web.store.pending_writes] == [1]
            web.store.complete_write()
            await first
            await run_pending_callbacks()
            assert [len(inputs) for inputs, _ in web.store.pending_writes] == [2]
            assert not second.done()
            web.store.complete_write()
            assert [(await second).status, (await third).status] == [201, 201]

    run(main)


def test_refused_requests_are_not_written() -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (_, bob) = await web.seat_two()
            assert (await web.act(game, "bob", bob)).status == 403
            assert (await web.ask("POST", f"/games/{game}/players/", "ann")).status == 409
            assert not web.store.pending_writes

    run(main)


@pytest.mark.parametrize("is_written", [False, True], ids=["lost", "written after all"])
def test_requests_are_refused_and_turns_paused_during_an_outage(is_written: bool) -> None:
    """holdem-3.17"""

    async def main() -> None:
        with ServiceWithManualJournal(turn_seconds=15.0) as web:
            game, (ann, bob) = await web.seat_two()
            acting = web.start_task(web.act(game, "ann", ann, 1, 10))
            await run_pending_callbacks()
            before = (await web.ask("GET", f"/games/{game}")).json
            joining = web.start_task(web.ask("POST", "/games/", "ann"))
            await run_pending_callbacks()
            web.store.complete_write(StoreUnavailable("found no space on the disk"))
            for refused in (acting, joining):
                got = await refused
                assert got.status == 503
                assert "holdem-3.17" in got.text
            for _ in range(2):
                web.clock.now += 100.0
                web.service.house_service.process_deadlines()
                assert (await web.act(game, "bob", bob)).status == 503
                assert (await web.ask("GET", f"/games/{game}")).json == before
                assert (await web.ask("GET", "/games/")).json == [before]
            web.store.is_written = is_written
            web.store.is_up.set()
            await run_pending_callbacks()
            if not is_written:
                assert [inputs.said is not None for inputs in web.store.complete_write()] == [True]
                await run_pending_callbacks()
            assert web.store.complete_write()[0].opened
            await run_pending_callbacks()
            turn = await web.turn(game)
            assert turn["playerID"] == bob, "the act took effect although its request was refused"
            assert web.house.deadline == web.clock.now + 15.0
            checking = web.start_task(web.act(game, "bob", bob))
            await run_pending_callbacks()
            web.store.complete_write()
            assert (await checking).status == 201

    run(main)


def test_second_outage_during_recovery_is_waited_for() -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            acting = web.start_task(web.act(game, "ann", ann, 1, 10))
            await run_pending_callbacks()
            web.store.complete_write(StoreUnavailable("once"))
            assert (await acting).status == 503
            web.store.is_up.set()
            await run_pending_callbacks()
            web.store.complete_write(StoreUnavailable("twice"))
            while not web.store.pending_writes:
                await asyncio.sleep(0.001)
            web.store.complete_write()
            await run_pending_callbacks()
            web.store.complete_write()
            await run_pending_callbacks()
            assert (await web.ask("GET", f"/games/{game}")).status == 200

    run(main)


# With a real store.


async def wait_for_views(web: InProcessService, game: str) -> None:
    """Wait until the current state of a game is durable and shown."""
    while (await web.ask("GET", f"/games/{game}")).headers["x-game-version"] != str(web.house.games()[0].version):
        await asyncio.sleep(0.001)


@asynccontextmanager
async def service_with_store(
    path: Path | str,
    seed: int | None = None,
    client_seed: str = "",
    decks: tuple[Order, ...] = (),
    taps: Any = (),
    **settings: Any,
) -> AsyncIterator[InProcessService]:
    """A service whose house has its journal in a store."""

    async with await open_store(str(path)) as store:
        wanted = JournalStart(seed, client_seed=client_seed, decks=decks, settings=Settings(**settings))
        await store.watch_accounts()
        house_in_store, journal = await open_journal(store, wanted)
        web = object.__new__(InProcessService)
        web.clock = ManualClock()
        web.clock.now = journal.last_time
        web.house = house_in_store
        web.guard = Authenticator(StoredUsers(store), clock=web.clock, hasher=QUICK_HASHER)
        web.service = HoldemApp(house_in_store, web.guard, clock=web.clock, observers=taps, journal=journal)
        await web.service.house_service.open()
        with web:
            yield web


def test_closed_account_loses_its_seats_permanently(tmp_path: Path) -> None:
    """holdem-9.13"""

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path, games_per_user=1) as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            assert (await web.ask("POST", "/games/", "ann")).status == 403
            await web.service.house_service.execute(Close("bob"))
            table = (await web.ask("GET", f"/games/{game}")).json["table"]
            assert [(player["playerID"], player["wealth"]) for player in table] == [(ann, 10_020)]
        async with service_with_store(path, games_per_user=1) as web:
            assert (await web.ask("GET", f"/games/{game}")).json["table"] == table
            assert (await web.ask("POST", "/games/", "ann")).status == 403

    run(main)


def test_reopened_house_has_its_users_games_cards_and_turns(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path) as web:
            game, (ann, bob) = await web.seat_players("ann", "bob")
            assert (await web.act(game, "ann", ann, 1, 10)).status == 201
            before = [(await web.ask("GET", f"/games/{game}", user)).json for user in ("ann", "bob")]
        async with service_with_store(path) as web:
            after = [(await web.ask("GET", f"/games/{game}", user)).json for user in ("ann", "bob")]
            for game_before, game_after in zip(before, after, strict=True):
                del game_before["turn"]["expiry"], game_after["turn"]["expiry"]
            assert after == before
            assert (await web.act(game, "bob", bob, 1, 0)).status == 201
            assert (await web.ask("POST", "/users/", "ann")).status == 403
            flop = (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"]
        async with service_with_store(path) as web:
            assert (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"] == flop

    run(main)


def test_inputs_during_a_shutdown_are_replayed_unchanged(tmp_path: Path) -> None:
    """A closing room starts no hands, and neither does the replay of its journal."""

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path) as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            web.service.halt(final=False)
            assert (await web.act(game, "ann", ann, 0)).status == 201
            assert (await web.turn(game))["playerID"] == ""
            before = web.house.snapshot()

        async with await open_store(str(path)) as store:
            replayed, _ = await open_journal(store, JournalStart(settings=Settings()))
        assert replayed.snapshot() == before
        async with service_with_store(path) as web:
            assert (await web.turn(game))["playerID"]

    run(main)


def test_changed_turn_time_is_stored_before_any_game(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        for seconds in (15.0, 7.0):
            async with service_with_store(path, turn_seconds=seconds) as web:
                pass
        async with service_with_store(path, turn_seconds=7.0) as web:
            assert web.house.settings.turn_seconds == 7.0
            await web.seat_players("ann", "bob")
            deadline = web.house.deadline
        async with service_with_store(path, turn_seconds=7.0) as web:
            assert deadline is not None
            assert web.house.deadline == web.clock.now + 7.0

    run(main)


def test_long_journal_is_resumed_from_its_snapshot_once_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_journal, "MIN_FACTS_PER_SNAPSHOT", 7)
    monkeypatch.setattr(event_journal, "APPROXIMATE_FACT_BYTES", 1 << 20)

    async def main() -> None:
        path = tmp_path / "kept.db"
        state: Any = None
        users: dict[str, str] = {}
        game = ""
        for _ in range(6):
            async with service_with_store(path) as web:
                if not users:
                    game, guids = await web.seat_players("ann", "bob", "cid")
                    users = dict(zip(guids, ("ann", "bob", "cid"), strict=True))
                elif state is not None:
                    assert (await web.ask("GET", f"/games/{game}")).json["table"] == state
                for _ in range(11):
                    assert (await web.check_or_call(game, users)).status == 201
                state = (await web.ask("GET", f"/games/{game}")).json["table"]
            async with await open_store(str(path)) as store:
                assert (await store.prune(inf, [])).facts > 0
        async with await open_store(str(path)) as store:
            snapshot = await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE)
            assert snapshot is not None
            assert 0 < await store.last_seq(ROOM_NAME, JOURNAL_TABLE) - snapshot.seq < 20
            assert await store.find_problems() == []

    run(main)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"seed": 1}, {"seed": 2}, "found the seed 2 for saved tables; allowed: 1, as saved"),
        ({}, {"seed": 2}, "found the seed 2 for saved tables; allowed: None, as saved"),
        ({}, {"client_seed": "x"}, "found the client seed 'x' for saved tables; allowed: '', as saved"),
        ({}, {"decks": ((1,),)}, "found another --deck for saved tables; allowed: none, or another --store"),
    ],
)
def test_house_does_not_resume_with_other_cards(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path, **first):
            pass
        with pytest.raises(ValueError, match=f"^{message}$"):
            async with service_with_store(path, **second):
                pass

    run(main)


@pytest.mark.parametrize("facts_per_snapshot", [1, 1000], ids=["snapshot", "replay"])
def test_house_does_not_resume_with_other_blinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts_per_snapshot: int
) -> None:
    monkeypatch.setattr(event_journal, "MIN_FACTS_PER_SNAPSHOT", facts_per_snapshot)

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path) as web:
            await web.seat_players("ann", "bob")
        with pytest.raises(ValueError, match="found blinds 5/10 for saved tables; allowed: 10/20, as saved"):
            async with service_with_store(path, blinds="5/10"):
                pass

    run(main)


@pytest.mark.parametrize("facts_per_snapshot", [1, 1000], ids=["snapshot", "replay"])
def test_turn_time_can_change_without_changing_the_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts_per_snapshot: int
) -> None:
    monkeypatch.setattr(event_journal, "MIN_FACTS_PER_SNAPSHOT", facts_per_snapshot)

    async def main() -> None:
        path, chips = tmp_path / "kept.db", {}
        for seconds in (15.0, 3000.0, 2.0, 15.0):
            async with service_with_store(path, turn_seconds=seconds) as web:
                if not chips:
                    game, guids = await web.seat_players("ann", "bob", "cid")
                state = (await web.ask("GET", f"/games/{game}")).json
                now = {player["handle"]: player["wealth"] + player["bet_so_far"] for player in state["table"]}
                assert chips in ({}, now)
                assert web.house.deadline == web.clock.now + seconds
                await web.check_or_call(game, dict(zip(guids, ("ann", "bob", "cid"), strict=True)))
                web.clock.now += seconds - 0.5
                web.service.house_service.process_deadlines()
                await wait_for_views(web, game)
                state = (await web.ask("GET", f"/games/{game}")).json
                chips = {player["handle"]: player["wealth"] + player["bet_so_far"] for player in state["table"]}

    run(main)


def test_journal_with_a_gap_is_rejected(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path) as web:
            await web.seat_players("ann", "bob")
        async with await open_store(str(path)) as store:
            last = await store.last_seq(ROOM_NAME, JOURNAL_TABLE)
            await store.append([JournalEntry(ROOM_NAME, JOURNAL_TABLE, last + 2, HouseInput(1.0).to_json(), 1.0)])
        with pytest.raises(ValueError, match=f"found entry {last + 2} after entry {last}"):
            async with service_with_store(path):
                pass

    run(main)


def test_later_server_takes_over_the_room(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path) as first:
            game, (ann, bob) = await first.seat_players("ann", "bob")
            async with service_with_store(path) as second:
                got = await first.act(game, "ann", ann, 1, 10)
                assert got.status == 503
                assert (await first.ask("GET", f"/games/{game}")).status == 503
                assert (await second.act(game, "ann", ann, 1, 10)).status == 201
                assert (await second.act(game, "bob", bob, 1, 0)).status == 201
        async with await open_store(str(path)) as store:
            assert await store.find_problems() == []

    run(main)


def test_closed_account_cannot_log_in(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with service_with_store(path) as web:
            assert (await web.ask("POST", "/users/", "ann")).status == 201
        async with await open_store(str(path)) as store:
            await store.close_account("ann", reason="left")
        async with service_with_store(path) as web:
            game = await web.game()
            assert (await web.ask("POST", f"/games/{game}/players/", "ann")).status == 401

    run(main)
