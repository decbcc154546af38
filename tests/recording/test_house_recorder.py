"""What is played in a house is written down: without anybody waiting for it, or before anybody is told."""

import asyncio
import re
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from croupier.recording import recorder
from croupier.store.records import WriteRefused
from croupier.store.store import open_store
from tests.net.raw_client import Caller, Run
from tests.recording.fake_store import Ink, by_hand, games_in, kept, turns

CARD = re.compile(rb"CARD C_[JQK]")
CALLS = {"bot": "script:CAL"}


async def silent(caller: Caller) -> None:
    """Nothing comes, though everything has happened that waits for nothing."""
    hearing = asyncio.ensure_future(caller.hear(1))
    await turns()
    assert not hearing.done()
    hearing.cancel()
    await asyncio.wait([hearing])


async def until(what: Any) -> None:
    """Wait until this is so."""
    async with asyncio.timeout(5):
        while not what():
            await asyncio.sleep(0.001)


async def is_cut_off(caller: Caller) -> None:
    """The connection ends without another word."""
    with suppress(ConnectionResetError):
        assert await caller.rest() == b""


async def bet(caller: Caller) -> None:
    """A game to its last word, which the house has not said yet."""
    await caller.say(b"STRT P_1")
    assert CARD.fullmatch(await caller.hear(8))
    await caller.say(b"ACTN BET")


def test_a_winner_is_told_when_his_game_is_durable(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            await silent(caller)
            ink.done()
            assert CARD.fullmatch(await caller.hear(8))
            assert ink.written[0].seq == 1
            assert ink.written[0].table == house.books.run

    run(main())


def test_what_is_said_before_a_game_is_over_waits_for_nothing(run: Run) -> None:
    async def main() -> None:
        async with by_hand(Ink(), bot="script:CHK,BET") as house, Caller(house.address) as caller:
            await caller.ask(b"ACTN BET", b"FAIL W_A")
            await caller.say(b"STRT P_2")
            assert re.fullmatch(rb"CARD C_[JQK]ACTN CHK", await caller.hear(16))

    run(main())


def test_nobody_else_waits(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller, Caller(house.address) as other:
            await bet(caller)
            await until(lambda: ink.waiting)
            await other.say(b"STRT P_1")
            assert CARD.fullmatch(await other.hear(8))
            ink.done()
            assert CARD.fullmatch(await caller.hear(8))

    run(main())


def test_games_that_end_while_a_page_is_written_go_together_on_the_next(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, AsyncExitStack() as stack:
            callers = [await stack.enter_async_context(Caller(house.address)) for _ in range(4)]
            await bet(callers[0])
            await until(lambda: ink.waiting)
            for caller in callers[1:]:
                await bet(caller)
            await until(lambda: house.board.counts.games == 4)
            assert [len(page) for page in ink.games] == [1]
            ink.done()
            assert CARD.fullmatch(await callers[0].hear(8))
            await until(lambda: ink.waiting)
            assert [[game[0] for game in page] for page in ink.games] == [[2, 3, 4]]
            ink.done()
            for caller in callers[1:]:
                assert CARD.fullmatch(await caller.hear(8))

    run(main())


def test_what_is_said_ahead_is_answered_in_order_when_it_may_be(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await caller.say(b"STRT P_1ACTN BETSTRT P_1")
            await until(lambda: ink.waiting)
            await caller.say(b"ACTN ")
            await turns()
            await caller.say(b"BETACTN CHK")
            await silent(caller)
            ink.done()
            assert re.fullmatch(rb"(CARD C_[JQK]){3}", await caller.hear(24))
            await until(lambda: ink.waiting)
            ink.done()
            assert re.fullmatch(rb"CARD C_[JQK]FAIL W_A", await caller.hear(16))

    run(main())


def test_who_has_said_all_he_had_to_say_still_gets_every_answer(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await caller.say(b"STRT P_1ACTN BET")
            await until(lambda: ink.waiting)
            caller.stop_talking()
            await turns()
            ink.done()
            assert re.fullmatch(rb"(CARD C_[JQK]){2}", await caller.rest())

    run(main())


def test_who_leaves_while_he_waits_is_forgotten(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house:
            async with Caller(house.address) as caller:
                await bet(caller)
                await until(lambda: ink.waiting)
                caller.reset()
                await until(lambda: not house.board.connection_count)
            ink.done()
            await turns()
            assert len(ink.written) == 1

    run(main())


def test_the_forfeit_of_who_hangs_up_is_written_down(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink) as house, Caller(house.address) as caller:
            await caller.say(b"STRT P_1")
            assert CARD.fullmatch(await caller.hear(8))
            caller.hang_up()
            await until(lambda: ink.waiting)
            ((game,),) = ink.games
            assert game[:4] == [1, 1, 0, -1]
            ink.done()

    run(main())


def test_without_waiting_the_answer_goes_first_and_the_page_soon_after(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, durable=False, **CALLS) as house, Caller(house.address) as caller:
            for _ in range(3):
                await bet(caller)
                assert CARD.fullmatch(await caller.hear(8))
            await until(lambda: ink.waiting)
            ink.flow()
        games = [game for entry in ink.written for game in msgspec.json.decode(entry.fact)["games"]]
        assert [game[:2] for game in games] == [[1, 1], [1, 2], [1, 3]]

    run(main())


def test_when_too_much_waits_a_client_waits_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MAX_BATCH_GAMES", 2)
    monkeypatch.setattr(recorder, "MAX_WAITING_BATCHES", 2)

    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, durable=False, coins=1000, **CALLS) as house, Caller(house.address) as caller:
            for _ in range(3):
                await bet(caller)
                assert CARD.fullmatch(await caller.hear(8))
            await bet(caller)
            await silent(caller)
            assert [len(page) for page in ink.games] == [2]
            ink.done()
            assert CARD.fullmatch(await caller.hear(8))
            assert [len(page) for page in ink.games] == [2]
            ink.done()

    run(main())


def test_a_page_whose_fate_nobody_knew_is_not_written_twice(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            ink.fail()
            await turns()
            assert house.books.trouble == "the disk is full"
            ink.there = 1
            ink.rises.set()
            assert CARD.fullmatch(await caller.hear(8))
            assert ink.waiting == []
            assert house.books.trouble is None
            await bet(caller)
            await until(lambda: ink.waiting)
            ink.done()
            assert [entry.seq for entry in ink.written] == [2]
            assert CARD.fullmatch(await caller.hear(8))

    run(main())


def test_a_store_that_is_down_for_a_moment_only_delays(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            ink.fail()
            await turns()
            ink.rises.set()
            await until(lambda: ink.waiting)
            ink.fail()  # and once more
            await until(lambda: ink.waiting)
            ink.done()
            assert CARD.fullmatch(await caller.hear(8))
            async with Caller(house.address) as other:
                await other.ask(b"ACTN BET", b"FAIL W_A")

    run(main())


@pytest.mark.parametrize(
    ("room", "goodbye"),
    [("kuhn", b"DISC"), ("sevenhalf", b"ERRO 15the room closes"), ("blackjack", b"ERR\0\0\1\x2cSTP")],
)
def test_a_house_that_cannot_write_begins_no_games_until_it_can(
    run: Run, monkeypatch: pytest.MonkeyPatch, room: str, goodbye: bytes
) -> None:
    """kuhn-8.4, sevenhalf-8.4, blackjack-8.5"""
    monkeypatch.setattr(recorder, "STORE_DOWN_GRACE_SECONDS", 0.01)
    first = {"kuhn": b"STRT P_1", "sevenhalf": b"STRTDRAW", "blackjack": b"PLYBET\0\0\0\1"}[room]
    refusal = b"ERRO 15no seat is free" if room == "sevenhalf" else goodbye

    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, room) as house, Caller(house.address) as playing, Caller(house.address) as idle:
            await playing.say(first)
            assert await playing.hear(1)
            async with Caller(house.address) as leaving:
                await leaving.say(first)
                assert await leaving.hear(1)
            await until(lambda: ink.waiting)
            ink.fail()
            assert await idle.rest() == goodbye
            async with Caller(house.address) as late:
                assert await late.rest() == refusal
            assert house.board.counts.refused["store"] == 1
            ink.rises.set()
            await until(lambda: ink.waiting)
            ink.done()
            await until(lambda: house.books.trouble is None)
            async with Caller(house.address) as again:
                await again.say(first)
                assert await again.hear(1)
                again.hang_up()
                await until(lambda: ink.waiting)
                ink.done()
            playing.hang_up()
            await until(lambda: ink.waiting)
            ink.done()

    run(main())


def test_a_running_game_is_finished_though_the_store_is_down_and_told_when_it_is_back(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "STORE_DOWN_GRACE_SECONDS", 0.01)

    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as playing, Caller(house.address) as idle:
            await playing.say(b"STRT P_1")
            assert CARD.fullmatch(await playing.hear(8))
            async with Caller(house.address) as leaving:
                await leaving.say(b"STRT P_1")
                assert CARD.fullmatch(await leaving.hear(8))
            await until(lambda: ink.waiting)
            ink.fail()
            assert await idle.rest() == b"DISC"
            await playing.say(b"ACTN BET")
            await silent(playing)
            ink.rises.set()
            await until(lambda: ink.waiting)
            ink.done()
            await until(lambda: ink.waiting)
            ink.done()
            assert re.fullmatch(rb"CARD C_[JQK]DISC", await playing.rest())

    run(main())


def test_a_house_that_closes_does_not_wait_for_a_store_that_is_down(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            ink.fail()
            await until(lambda: house.books.trouble)
            house.books.halt(final=True)
            await is_cut_off(caller)
        assert ink.closed

    run(main())


def test_a_store_that_goes_down_while_the_house_closes_is_not_waited_for(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            house.books.halt(final=True)
            ink.fail()
            await is_cut_off(caller)
        assert ink.closed

    run(main())


def test_whoever_writes_into_the_same_run_ends_this_house(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            ink.done(WriteRefused("found facts of another server"))
            await until(lambda: house.board.unavailable_reason)
            assert house.books.trouble == "found facts of another server"
            await is_cut_off(caller)

    run(main())


def test_everything_is_there_when_the_house_has_closed(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        for journal in ("async", "durable"):
            async with kept(path, journal=journal, coins=1000, **CALLS) as house, Caller(house.address) as caller:
                for _ in range(7):
                    await bet(caller)
                    assert CARD.fullmatch(await caller.hear(8))
        games = await games_in(path)
        assert [game.number for game in games] == [*range(1, 8)] * 2
        assert len({game.table for game in games}) == 2
        for game in games:
            assert (game.room, game.seat, abs(game.net), game.done) == ("kuhn", 0, 2, ("BET", "CAL"))
            assert len({*game.cards}) == 2
        async with await open_store(str(path)) as store:
            assert await store.find_problems() == []

    run(main())


def test_each_room_tells_what_was_dealt_and_done(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, "sevenhalf") as house, Caller(house.address) as caller:
            await caller.say(b"STRTDRAWPASS")
            caller.stop_talking()
            assert b"GAIN" in await caller.rest()
        (half,) = await games_in(path, "sevenhalf")
        assert half.done == ("BET 100", "DRAW", "PASS")
        async with kept(path, "blackjack") as house, Caller(house.address) as caller:
            await caller.say(b"PLYBET\0\0\0\x10SRDPLYBET\0\0\0\x10MOV\0SSTP")
            heard = await caller.rest()
            assert heard.count(b"RES") == 2
            assert b"RES\0L\0\0\0\x08" in heard
        surrendered, stood = await games_in(path, "blackjack")
        assert (surrendered.net, surrendered.done) == (-8, ("BET 16", "SRD"))
        assert stood.done == ("BET 16", "S")
        assert len(stood.cards) > 3

    run(main())


def test_any_number_of_servers_may_keep_their_games_in_one_store(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path) as one, kept(path) as other:
            for house in (one, other):
                async with Caller(house.address) as caller:
                    await caller.say(b"STRT P_1DISC")
                    await caller.rest()
        assert [game.net for game in await games_in(path)] == [-1, -1]

    run(main())
