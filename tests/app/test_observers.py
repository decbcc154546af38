"""In every room and mode: a tap that raises stops nobody, keeps nothing out of the books, and is counted."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from croupier.app.http_room import HttpRoom as OpenWeb
from croupier.core.session import Drop, Event, Left, Received, Send
from croupier.logs import silent_logger
from croupier.store.store import open_store
from tests.clients import oldmaid_fixtures
from tests.http.service_fixture import Web, house
from tests.net.raw_client import Caller, Notes, Run, kuhn, opened
from tests.net.test_faults import Book
from tests.recording import test_holdem_journal
from tests.recording.fake_store import Ink, balances, by_hand, games_in, kept
from tests.recording.test_house_accounts import HERE
from tests.recording.test_house_recorder import CALLS, until


def full(event: object, effects: object, now: float) -> None:
    raise OSError(28, "No space left on device")


def test_a_tap_that_raises_does_not_stop_a_conversation_nor_the_taps_after_it(run: Run) -> None:
    async def main() -> None:
        heard: list[Event[object]] = []
        session = Notes(
            lambda event, _: [Send(event.peer, "heard"), Drop(event.peer)] if type(event) is Received else [],
        )
        book = Book()
        taps = [full, lambda event, effects, now: heard.append(event)]
        async with opened(session, observers=taps, log=book) as (board, address), Caller(address) as caller:
            await caller.ask(b"one\n", b"heard\n")
            caller.stop_talking()
            assert await caller.rest() == b""
            await session.hears(Left)
            assert [type(event).__name__ for event in heard] == ["Joined", "Said", "Left"]
            assert board.counts.observer_failures == 3
            ((event, facts),) = [entry[1:] for entry in book.entries if entry[0] == "error"]
            assert (event, facts["observer"], facts["failures"]) == ("an observer failed", "full", 1)

    run(main())


def test_a_house_that_keeps_nothing_plays_on(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn(bot="script:CAL"), observers=[full]) as (board, address), Caller(address) as caller:
            await caller.say(b"STRT P_1ACTN BET")
            assert (await caller.hear(16)).startswith(b"CARD C_")
            assert board.counts.games == 1
            assert board.counts.observer_failures

    run(main())


@pytest.mark.parametrize(
    ("journal", "by"),
    [("async", None), ("durable", None), ("durable", "address")],
    ids=["async", "durable", "accounts"],
)
def test_a_game_at_a_house_is_in_the_books_and_its_account_is_released(
    run: Run, tmp_path: Path, journal: Any, by: Any
) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, journal=journal, by=by, taps=[full], **CALLS) as opened:
            async with Caller(opened.address) as caller:
                await caller.say(b"STRT P_1ACTN BET")
                assert (await caller.hear(16)).startswith(b"CARD C_")
            while opened.board.connection_count:
                await asyncio.sleep(0.001)
            if opened.books.purses is not None:
                assert not opened.books.purses._sessions
                assert not opened.books.purses._session_by_peer
            assert opened.board.counts.observer_failures
        (game,) = await games_in(path)
        if by is not None:
            assert await balances(path) == {"cashier": -10, "kuhn": -game.net, HERE: 10 + game.net}

    run(main())


def test_an_act_of_holdem_that_is_durable_is_answered_and_so_is_the_next(tmp_path: Path) -> None:
    async def main() -> None:
        async with test_holdem_journal.kept(tmp_path / "kept.db", taps=[full]) as web:
            game, (ann, bob) = await web.seated("ann", "bob")
            assert (await web.act(game, "ann", ann, 1, 10)).status == 201
            assert (await web.act(game, "bob", bob, 1, 0)).status == 201
            assert web.service.counts.observer_failures

    test_holdem_journal.run(main)


def test_an_act_of_holdem_that_is_not_kept_is_answered(run: Run) -> None:
    async def main() -> None:
        with Web(observers=[full]) as web:
            game, (ann, _) = await web.seated("ann", "bob")
            assert (await web.act(game, "ann", ann, 1, 10)).status == 201

    run(main())


def test_a_room_of_holdem_whose_tap_raises_closes_when_its_last_hand_is_over(run: Run) -> None:
    """The room itself is one of the taps, and hears what the others could not."""

    async def main() -> None:
        found = house()
        web = OpenWeb(found, silent_logger(), [full], clock=asyncio.get_running_loop().time)
        web.halt(final=False)
        async with asyncio.timeout(5):
            await web.wait_drained()

    run(main())


@pytest.mark.parametrize("durable", [False, True], ids=["in memory", "durable"])
def test_a_game_of_old_maid_goes_on_to_its_end(run: Run, tmp_path: Path, durable: bool) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with oldmaid_fixtures.opened(2, kept=path if durable else None, taps=[full]) as table:
            tallies = await oldmaid_fixtures.bots(table, "ann", "bob")
            assert [tally.faults for tally in tallies] == [[], []]
            assert len(table.games) == 1
            assert table.board.counts.observer_failures
        if durable:
            async with await open_store(str(path)) as store:
                assert len(await store.hands("oldmaid")) == 1

    run(main())


def test_an_account_is_released_though_its_table_raises_when_its_client_leaves(run: Run) -> None:
    async def main() -> None:
        async with by_hand(Ink(), accounts=True) as opened:
            on = opened.board.session.on

            def failing(event: Event[object], now: float) -> Any:
                if type(event) is Left:
                    raise RuntimeError("our own fault")
                return on(event, now)

            opened.board.session.on = failing  # type: ignore[method-assign]
            async with Caller(opened.address):
                await until(lambda: opened.board.connection_count == 1)
            await until(lambda: not opened.board.connection_count)
            purses = opened.books.purses
            assert purses is not None
            assert not purses._session_by_peer
            assert not purses._sessions
        assert [str(fault) for fault in run.faults] == ["our own fault"]
        run.faults.clear()

    run(main())
