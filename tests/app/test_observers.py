"""Failing observers, in every room and mode: games continue and are recorded, and the failures are counted."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from croupier.app.holdem_room import HoldemRoom
from croupier.core.logger import SilentLogger
from croupier.core.session import Drop, Event, Left, Received, Send
from croupier.http.auth import Authenticator
from croupier.http.local_houses import HouseSource, LoadedHouse
from croupier.rooms.holdem.settings import Settings
from croupier.store.store import open_store
from tests.clients import oldmaid_fixtures
from tests.http.service_fixture import InProcessService, house
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, kuhn, opened
from tests.net.test_faults import RecordingLogger
from tests.recording import test_holdem_journal
from tests.recording.fake_store import FakeStore, balances, house_with_fake_store, house_with_store, stored_games
from tests.recording.test_house_accounts import LOCAL_ACCOUNT
from tests.recording.test_house_recorder import CALLING_BOT, wait_until


def failing_observer(event: object, effects: object, now: float) -> None:
    raise OSError(28, "No space left on device")


def test_failing_observer_stops_neither_the_room_nor_other_observers(run: Run) -> None:
    async def main() -> None:
        events: list[Event[object]] = []
        session = RecordingSession(
            lambda event, _: [Send(event.peer, "received"), Drop(event.peer)] if type(event) is Received else [],
        )
        book = RecordingLogger()
        taps = [failing_observer, lambda event, effects, now: events.append(event)]
        async with opened(session, observers=taps, log=book) as (endpoint, address), RawClient(address) as caller:
            await caller.exchange(b"one\n", b"received\n")
            caller.end_output()
            assert await caller.read_to_end() == b""
            await session.wait_for(Left)
            assert [type(event).__name__ for event in events] == ["Joined", "Received", "Left"]
            assert endpoint.counts.observer_failures == 3
            ((event, facts),) = [entry[1:] for entry in book.entries if entry[0] == "error"]
            assert (event, facts["observer"], facts["failures"]) == ("an observer failed", "failing_observer", 1)

    run(main())


def test_house_without_a_journal_plays_on(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(**kuhn(bot="script:CAL"), observers=[failing_observer]) as (endpoint, address),
            RawClient(address) as caller,
        ):
            await caller.send(b"STRT P_1ACTN BET")
            assert (await caller.receive(16)).startswith(b"CARD C_")
            assert endpoint.counts.games == 1
            assert endpoint.counts.observer_failures

    run(main())


@pytest.mark.parametrize(
    ("journal", "by"),
    [("async", None), ("durable", None), ("durable", "address")],
    ids=["async", "durable", "accounts"],
)
def test_game_is_recorded_and_its_account_released(run: Run, tmp_path: Path, journal: Any, by: Any) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with house_with_store(path, journal=journal, by=by, taps=[failing_observer], **CALLING_BOT) as opened:
            async with RawClient(opened.address) as caller:
                await caller.send(b"STRT P_1ACTN BET")
                assert (await caller.receive(16)).startswith(b"CARD C_")
            while opened.endpoint.connection_count:
                await asyncio.sleep(0.001)
            if opened.recorder.purses is not None:
                assert not opened.recorder.purses._sessions
                assert not opened.recorder.purses._session_by_peer
            assert opened.endpoint.counts.observer_failures
        (game,) = await stored_games(path)
        if by is not None:
            assert await balances(path) == {"cashier": -10, "kuhn": -game.net, LOCAL_ACCOUNT: 10 + game.net}

    run(main())


def test_durable_holdem_acts_are_answered(tmp_path: Path) -> None:
    async def main() -> None:
        async with test_holdem_journal.service_with_store(tmp_path / "kept.db", taps=[failing_observer]) as web:
            game, (ann, bob) = await web.seat_players("ann", "bob")
            assert (await web.act(game, "ann", ann, 1, 10)).status == 201
            assert (await web.act(game, "bob", bob, 1, 0)).status == 201
            assert web.service.counts.observer_failures

    test_holdem_journal.run(main)


def test_holdem_acts_in_memory_are_answered(run: Run) -> None:
    async def main() -> None:
        with InProcessService(observers=[failing_observer]) as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            assert (await web.act(game, "ann", ann, 1, 10)).status == 201

    run(main())


def test_holdem_room_with_a_failing_observer_closes(run: Run) -> None:
    """The room itself is an observer, and is called although another observer fails."""

    async def main() -> None:
        async def load(number: int) -> LoadedHouse:
            return LoadedHouse(house(), asyncio.get_running_loop().time)

        settings = Settings()
        source = HouseSource(load, b"")
        web = HoldemRoom(source, settings, Authenticator(), SilentLogger(), observers=[failing_observer])
        await web.houses.open(1)
        web.halt(final=False)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await web.wait_drained()

    run(main())


@pytest.mark.parametrize("durable", [False, True], ids=["in memory", "durable"])
def test_oldmaid_game_is_finished(run: Run, tmp_path: Path, durable: bool) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with oldmaid_fixtures.open_table(2, store=path if durable else None, taps=[failing_observer]) as table:
            tallies = await oldmaid_fixtures.play_with_bots(table, "ann", "bob")
            assert [tally.faults for tally in tallies] == [[], []]
            assert len(table.games) == 1
            assert table.endpoint.counts.observer_failures
        if durable:
            async with await open_store(str(path)) as store:
                assert len(await store.hands("oldmaid")) == 1

    run(main())


def test_account_is_released_if_the_table_raises(run: Run) -> None:
    async def main() -> None:
        async with house_with_fake_store(FakeStore(), accounts=True) as opened:
            handle = opened.endpoint.session.on

            def failing(event: Event[object], now: float) -> Any:
                if type(event) is Left:
                    raise RuntimeError("internal error")
                return handle(event, now)

            opened.endpoint.session.on = failing  # type: ignore[method-assign]
            async with RawClient(opened.address):
                await wait_until(lambda: opened.endpoint.connection_count == 1)
            await wait_until(lambda: not opened.endpoint.connection_count)
            purses = opened.recorder.purses
            assert purses is not None
            assert not purses._session_by_peer
            assert not purses._sessions
        assert [str(fault) for fault in run.faults] == ["internal error"]
        run.faults.clear()

    run(main())
