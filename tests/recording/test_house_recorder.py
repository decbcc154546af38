"""Game recorder of a house: games are recorded in the background, or before the client receives the result."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from croupier.recording import recorder
from croupier.store.records import SUPERSEDED_MESSAGE, WriteRefused
from croupier.store.store import open_store
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, Run
from tests.recording.fake_store import (
    FakeStore,
    OpenedHouse,
    house_with_fake_store,
    house_with_store,
    run_pending_callbacks,
    stored_games,
)

CARD = re.compile(rb"CARD C_[JQK]")
CALLING_BOT = {"bot": "script:CAL"}


async def expect_silence(caller: RawClient) -> None:
    """Assert that the caller receives nothing, although all pending callbacks have run."""
    receiving = asyncio.ensure_future(caller.receive(1))
    await run_pending_callbacks()
    assert not receiving.done()
    receiving.cancel()
    await asyncio.wait([receiving])


async def wait_until(condition: Any) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():
            await asyncio.sleep(0.001)


async def expect_disconnect(caller: RawClient) -> None:
    """Assert that the connection ends without another message."""
    with suppress(ConnectionResetError):
        assert await caller.read_to_end() == b""


async def play_until_recorded(caller: RawClient) -> None:
    """Play a game up to the result, which the house has not sent yet."""
    await caller.send(b"STRT P_1")
    assert CARD.fullmatch(await caller.receive(8))
    await caller.send(b"ACTN BET")


@asynccontextmanager
async def unwritten_game(**settings: Any) -> AsyncIterator[tuple[FakeStore, OpenedHouse, RawClient]]:
    """A game that has ended, and that the store is writing: the client has not received the result."""
    store = FakeStore()
    async with house_with_fake_store(store, **settings, **CALLING_BOT) as house, RawClient(house.address) as caller:
        await play_until_recorded(caller)
        await wait_until(lambda: store.pending_writes)
        yield store, house, caller


def test_client_receives_the_result_when_the_game_is_durable(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game() as (store, house, caller):
            await expect_silence(caller)
            store.complete_writes()
            assert CARD.fullmatch(await caller.receive(8))
            assert store.written[0].seq == 1
            assert store.written[0].table == house.recorder.run

    run(main())


def test_messages_during_a_game_are_answered_at_once(run: Run) -> None:
    async def main() -> None:
        async with (
            house_with_fake_store(FakeStore(), bot="script:CHK,BET") as house,
            RawClient(house.address) as caller,
        ):
            await caller.exchange(b"ACTN BET", b"FAIL W_A")
            await caller.send(b"STRT P_2")
            assert re.fullmatch(rb"CARD C_[JQK]ACTN CHK", await caller.receive(16))

    run(main())


def test_other_clients_do_not_wait_for_the_write(run: Run) -> None:
    async def main() -> None:
        async with (
            unwritten_game() as (store, house, caller),
            RawClient(house.address) as other,
        ):
            await other.send(b"STRT P_1")
            assert CARD.fullmatch(await other.receive(8))
            store.complete_writes()
            assert CARD.fullmatch(await caller.receive(8))

    run(main())


def test_games_that_end_during_a_write_form_the_next_batch(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        async with house_with_fake_store(store, **CALLING_BOT) as house, AsyncExitStack() as stack:
            callers = [await stack.enter_async_context(RawClient(house.address)) for _ in range(4)]
            await play_until_recorded(callers[0])
            await wait_until(lambda: store.pending_writes)
            for caller in callers[1:]:
                await play_until_recorded(caller)
            await wait_until(lambda: house.endpoint.counts.games == 4)
            assert [len(batch) for batch in store.pending_games] == [1]
            store.complete_writes()
            assert CARD.fullmatch(await callers[0].receive(8))
            await wait_until(lambda: store.pending_writes)
            assert [[game[0] for game in batch] for batch in store.pending_games] == [[2, 3, 4]]
            store.complete_writes()
            for caller in callers[1:]:
                assert CARD.fullmatch(await caller.receive(8))

    run(main())


def test_pipelined_messages_are_answered_in_order_after_the_write(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        async with house_with_fake_store(store, **CALLING_BOT) as house, RawClient(house.address) as caller:
            await caller.send(b"STRT P_1ACTN BETSTRT P_1")
            await wait_until(lambda: store.pending_writes)
            await caller.send(b"ACTN ")
            await run_pending_callbacks()
            await caller.send(b"BETACTN CHK")
            await expect_silence(caller)
            store.complete_writes()
            assert re.fullmatch(rb"(CARD C_[JQK]){3}", await caller.receive(24))
            await wait_until(lambda: store.pending_writes)
            store.complete_writes()
            assert re.fullmatch(rb"CARD C_[JQK]FAIL W_A", await caller.receive(16))

    run(main())


def test_half_closed_client_still_receives_every_answer(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        async with house_with_fake_store(store, **CALLING_BOT) as house, RawClient(house.address) as caller:
            await caller.send(b"STRT P_1ACTN BET")
            await wait_until(lambda: store.pending_writes)
            caller.end_output()
            await run_pending_callbacks()
            store.complete_writes()
            assert re.fullmatch(rb"(CARD C_[JQK]){2}", await caller.read_to_end())

    run(main())


def test_client_that_leaves_during_the_write_is_removed(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        async with house_with_fake_store(store, **CALLING_BOT) as house:
            async with RawClient(house.address) as caller:
                await play_until_recorded(caller)
                await wait_until(lambda: store.pending_writes)
                caller.reset()
                await wait_until(lambda: not house.endpoint.connection_count)
            store.complete_writes()
            await run_pending_callbacks()
            assert len(store.written) == 1

    run(main())


def test_forfeit_of_a_client_that_disconnects_is_recorded(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        async with house_with_fake_store(store) as house, RawClient(house.address) as caller:
            await caller.send(b"STRT P_1")
            assert CARD.fullmatch(await caller.receive(8))
            caller.close()
            await wait_until(lambda: store.pending_writes)
            ((game,),) = store.pending_games
            assert game[:4] == [1, 1, 0, -1]
            store.complete_writes()

    run(main())


def test_async_journal_answers_first_and_writes_soon_after(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        async with (
            house_with_fake_store(store, durable=False, **CALLING_BOT) as house,
            RawClient(house.address) as caller,
        ):
            for _ in range(3):
                await play_until_recorded(caller)
                assert CARD.fullmatch(await caller.receive(8))
            await wait_until(lambda: store.pending_writes)
            store.write_at_once()
        games = [game for entry in store.written for game in msgspec.json.decode(entry.fact)["games"]]
        assert [game[:2] for game in games] == [[1, 1], [1, 2], [1, 3]]

    run(main())


def test_client_waits_when_too_many_batches_are_waiting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MAX_BATCH_GAMES", 2)
    monkeypatch.setattr(recorder, "MAX_WAITING_BATCHES", 2)
    monkeypatch.setattr(recorder, "FLUSH_INTERVAL_SECONDS", 3600.0)  # only a full batch is written

    async def main() -> None:
        store = FakeStore()
        async with (
            house_with_fake_store(store, durable=False, coins=1000, **CALLING_BOT) as house,
            RawClient(house.address) as caller,
        ):
            for _ in range(3):
                await play_until_recorded(caller)
                assert CARD.fullmatch(await caller.receive(8))
            await play_until_recorded(caller)
            await expect_silence(caller)
            assert [len(batch) for batch in store.pending_games] == [2]
            store.complete_writes()
            assert CARD.fullmatch(await caller.receive(8))
            assert [len(batch) for batch in store.pending_games] == [2]
            store.complete_writes()

    run(main())


def test_batch_with_unknown_outcome_is_not_written_twice(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game() as (store, house, caller):
            store.fail_writes()
            await run_pending_callbacks()
            assert house.recorder.trouble == "the disk is full"
            store.stored_seq = 1
            store.is_up.set()
            assert CARD.fullmatch(await caller.receive(8))
            assert store.pending_writes == []
            assert house.recorder.trouble is None
            await play_until_recorded(caller)
            await wait_until(lambda: store.pending_writes)
            store.complete_writes()
            assert [entry.seq for entry in store.written] == [2]
            assert CARD.fullmatch(await caller.receive(8))

    run(main())


def test_short_outage_of_the_store_only_delays_answers(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game() as (store, house, caller):
            store.fail_writes()
            await run_pending_callbacks()
            store.is_up.set()
            await wait_until(lambda: store.pending_writes)
            store.fail_writes()  # a second failure
            await wait_until(lambda: store.pending_writes)
            store.complete_writes()
            assert CARD.fullmatch(await caller.receive(8))
            async with RawClient(house.address) as other:
                await other.exchange(b"ACTN BET", b"FAIL W_A")

    run(main())


@pytest.mark.parametrize(
    ("room", "goodbye"),
    [("kuhn", b"DISC"), ("sevenhalf", b"ERRO 15the room closes"), ("blackjack", b"ERR\0\0\1\x2cSTP")],
)
def test_house_starts_no_games_while_the_store_is_unavailable(
    run: Run, monkeypatch: pytest.MonkeyPatch, room: str, goodbye: bytes
) -> None:
    """kuhn-8.4, sevenhalf-8.4, blackjack-8.5"""
    monkeypatch.setattr(recorder, "STORE_DOWN_GRACE_SECONDS", 0.01)
    first = {"kuhn": b"STRT P_1", "sevenhalf": b"STRTDRAW", "blackjack": b"PLYBET\0\0\0\1"}[room]
    refusal = b"ERRO 15no seat is free" if room == "sevenhalf" else goodbye

    async def main() -> None:
        store = FakeStore()
        async with (
            house_with_fake_store(store, room) as house,
            RawClient(house.address) as playing,
            RawClient(house.address) as idle,
        ):
            await playing.send(first)
            assert await playing.receive(1)
            async with RawClient(house.address) as leaving:
                await leaving.send(first)
                assert await leaving.receive(1)
            await wait_until(lambda: store.pending_writes)
            store.fail_writes()
            assert await idle.read_to_end() == goodbye
            async with RawClient(house.address) as late:
                assert await late.read_to_end() == refusal
            assert house.endpoint.counts.refused["store"] == 1
            store.is_up.set()
            await wait_until(lambda: store.pending_writes)
            store.complete_writes()
            await wait_until(lambda: house.recorder.trouble is None)
            async with RawClient(house.address) as again:
                await again.send(first)
                assert await again.receive(1)
                again.close()
                await wait_until(lambda: store.pending_writes)
                store.complete_writes()
            playing.close()
            await wait_until(lambda: store.pending_writes)
            store.complete_writes()

    run(main())


def test_running_game_continues_during_an_outage_and_its_result_follows(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "STORE_DOWN_GRACE_SECONDS", 0.01)

    async def main() -> None:
        store = FakeStore()
        async with (
            house_with_fake_store(store, **CALLING_BOT) as house,
            RawClient(house.address) as playing,
            RawClient(house.address) as idle,
        ):
            await playing.send(b"STRT P_1")
            assert CARD.fullmatch(await playing.receive(8))
            async with RawClient(house.address) as leaving:
                await leaving.send(b"STRT P_1")
                assert CARD.fullmatch(await leaving.receive(8))
            await wait_until(lambda: store.pending_writes)
            store.fail_writes()
            assert await idle.read_to_end() == b"DISC"
            await playing.send(b"ACTN BET")
            await expect_silence(playing)
            store.is_up.set()
            await wait_until(lambda: store.pending_writes)
            store.complete_writes()
            await wait_until(lambda: store.pending_writes)
            store.complete_writes()
            assert re.fullmatch(rb"CARD C_[JQK]DISC", await playing.read_to_end())

    run(main())


def test_closing_house_does_not_wait_for_an_unavailable_store(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game() as (store, house, caller):
            store.fail_writes()
            await wait_until(lambda: house.recorder.trouble)
            house.recorder.halt(final=True)
            await expect_disconnect(caller)
        assert store.closed

    run(main())


def test_closing_house_does_not_wait_for_a_store_that_fails_meanwhile(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game() as (store, house, caller):
            house.recorder.halt(final=True)
            store.fail_writes()
            await expect_disconnect(caller)
        assert store.closed

    run(main())


def test_house_stops_when_another_server_writes_to_its_run(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game() as (store, house, caller):
            store.complete_writes(WriteRefused("found journal entries of another server"))
            await wait_until(lambda: house.endpoint.unavailable_reason)
            assert house.recorder.trouble == SUPERSEDED_MESSAGE
            await expect_disconnect(caller)

    run(main())


def test_all_games_are_stored_after_the_house_has_closed(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        for journal in ("async", "durable"):
            async with (
                house_with_store(path, journal=journal, coins=1000, **CALLING_BOT) as house,
                RawClient(house.address) as caller,
            ):
                for _ in range(7):
                    await play_until_recorded(caller)
                    assert CARD.fullmatch(await caller.receive(8))
        games = await stored_games(path)
        assert [game.number for game in games] == [*range(1, 8)] * 2
        assert len({game.table for game in games}) == 2
        for game in games:
            assert (game.room, game.seat, abs(game.net), game.done) == ("kuhn", 0, 2, ("BET", "CAL"))
            assert len({*game.cards}) == 2
        async with await open_store(str(path)) as store:
            assert await store.find_problems() == []

    run(main())


def test_each_room_records_cards_and_moves(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with house_with_store(path, "sevenhalf") as house, RawClient(house.address) as caller:
            await caller.send(b"STRTDRAWPASS")
            caller.end_output()
            assert b"GAIN" in await caller.read_to_end()
        (sevenhalf_game,) = await stored_games(path, "sevenhalf")
        assert sevenhalf_game.done == ("BET 100", "DRAW", "PASS")
        async with house_with_store(path, "blackjack") as house, RawClient(house.address) as caller:
            await caller.send(b"PLYBET\0\0\0\x10SRDPLYBET\0\0\0\x10MOV\0SSTP")
            received = await caller.read_to_end()
            assert received.count(b"RES") == 2
            assert b"RES\0L\0\0\0\x08" in received
        surrendered, stood = await stored_games(path, "blackjack")
        assert (surrendered.net, surrendered.done) == (-8, ("BET 16", "SRD"))
        assert stood.done == ("BET 16", "S")
        assert len(stood.cards) > 3

    run(main())


def test_several_servers_can_record_games_in_one_store(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with house_with_store(path) as one, house_with_store(path) as other:
            for house in (one, other):
                async with RawClient(house.address) as caller:
                    await caller.send(b"STRT P_1DISC")
                    await caller.read_to_end()
        assert [game.net for game in await stored_games(path)] == [-1, -1]

    run(main())
