"""What has to wait for the disk takes no task either: it is said in one piece as soon as it is durable, or never."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.http.connection import HttpConnection
from croupier.store.records import StoreUnavailable
from tests.http.service_fixture import Got, Web, request
from tests.http.test_immediate_responses import Connected, parsed
from tests.net.raw_client import Run
from tests.recording.test_holdem_journal import Holding, turns


def heard(connection: Connected) -> list[Got]:
    """What was answered since this was asked last, each in one write."""
    answers = [parsed(answer) for answer in connection.wire.writes]
    connection.wire.writes.clear()
    return answers


def same(one: Got, other: Got) -> bool:
    return (one.status, one.headers, one.body) == (other.status, other.headers, other.body)


def bet(game: str, guid: str, user: str, chips: int) -> bytes:
    return request("POST", f"/games/{game}/players/{guid}/acts/", user, {"action": 1, "betAmount": chips})


def test_who_acts_or_looks_is_answered_without_a_task_when_it_is_durable(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, bob) = await web.two()
            actor, early, late, public = connections = [Connected(web) for _ in range(4)]
            look = request("GET", f"/games/{game}", "bob")
            assert actor.ask(bet(game, ann, "ann", 10)) is None
            assert early.ask(look) is None, "it has been asked before"
            await turns()
            assert [len(words) for words, _ in web.journal.writings] == [1]
            assert late.ask(look) is None
            assert public.ask(request("GET", "/games/")) is None
            await turns()
            assert not any(each.wire.writes or each.listener.state.tasks for each in connections)
            web.journal.done()
            await turns()
            assert [got.status for got in heard(actor)] == [201]
            page, listed = await web.ask("GET", f"/games/{game}", "bob"), await web.ask("GET", "/games/")
            assert page.json["turn"]["playerID"] == bob
            for connection, wanted in ((early, page), (late, page), (public, listed)):
                (got,) = heard(connection)
                assert same(got, wanted)
            for each in connections:
                await each.leave()

    run(main())


def test_whoever_polls_is_answered_once_for_everything_that_becomes_durable(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, guids = await web.two()
            poller, look = Connected(web), request("GET", f"/games/{game}", "ann")
            for user, guid, chips in (("ann", guids[0], 10), ("bob", guids[1], 0)):
                assert poller.ask(look) is not None
                acting = web.later(web.act(game, user, guid, 1, chips))
                await asyncio.sleep(0)
                assert poller.ask(look) is None, "the very same again"
                await turns()
                assert not poller.wire.writes
                web.journal.done()
                assert (await acting).status == 201
                await turns()
                (got,) = heard(poller)
                assert same(got, await web.ask("GET", f"/games/{game}", "ann"))
            await poller.leave()

    run(main())


def test_a_refusal_that_changes_nothing_lets_those_who_look_go_on(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (_, bob) = await web.two()
            actor, looker = Connected(web), Connected(web)
            assert actor.ask(bet(game, bob, "bob", 0)) is None
            assert looker.ask(request("GET", f"/games/{game}")) is None
            await turns()
            assert [got.status for got in (*heard(actor), *heard(looker))] == [403, 200]
            await actor.leave()
            await looker.leave()

    run(main())


def test_what_comes_behind_a_request_that_waits_is_answered_behind_it(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, bob) = await web.two()
            connection = Connected(web)
            look = request("GET", f"/games/{game}", "bob")
            assert connection.ask(bet(game, ann, "ann", 10) + look + bet(game, bob, "bob", 0)) is None
            assert connection.ask(look) is None
            while (got := len(connection.wire.writes)) < 4:
                await turns()
                if web.journal.writings:
                    web.journal.done()
                elif len(connection.wire.writes) == got:
                    break
            answers = b"".join(connection.wire.writes).split(b"HTTP/1.1 ")[1:]
            assert [answer[:3] for answer in answers] == [b"201", b"200", b"201", b"200"]
            await connection.leave()

    run(main())


def test_nothing_is_said_to_who_has_gone_and_his_act_is_an_act(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, bob) = await web.two()
            actor, looker = Connected(web), Connected(web)
            actor.ask(bet(game, ann, "ann", 10))
            looker.ask(request("GET", f"/games/{game}"))
            await actor.leave()
            await looker.leave()
            await turns()
            web.journal.done()
            await turns()
            assert actor.wire.writes == looker.wire.writes == []
            assert (await web.turn(game))["playerID"] == bob

    run(main())


def test_a_store_that_is_down_is_told_at_once_to_those_who_wait(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            actor, looker, other = connections = [Connected(web) for _ in range(3)]
            look, act = request("GET", f"/games/{game}"), bet(game, ann, "ann", 10)
            assert looker.ask(look) is not None
            assert actor.ask(act) is None
            await turns()
            assert looker.ask(look) is None, "the very same again"
            assert other.ask(request("POST", f"/games/{game}/players/", "ann")) is None
            web.journal.done(StoreUnavailable("found no space on the disk"))
            for _ in range(2):
                await turns()
                for connection in connections:
                    told = b"".join(connection.wire.writes)
                    assert told.startswith(b"HTTP/1.1 503 ")
                    assert b"holdem-3.17" in told
                for connection, said in ((actor, act), (looker, look), (other, act)):
                    assert connection.ask(said) is None
            for connection in connections:
                await connection.leave()

    run(main())


def test_a_fault_of_our_own_while_somebody_waits_is_told_him(run: Run) -> None:
    def broken(*_: object) -> Any:
        raise IndexError("list index out of range")

    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            actor, looker = Connected(web), Connected(web)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(web.house, "on", broken)
                patch.setattr(web.house, "game", broken)
                actor.ask(bet(game, ann, "ann", 10))
                looker.ask(request("GET", f"/games/{game}"))
                await turns()
                for connection in (actor, looker):
                    (got,) = heard(connection)
                    assert (got.status, got.text[:12]) == (500, "holdem-8.1: ")
            await actor.leave()
            await looker.leave()

    run(main())


def test_who_waits_when_the_house_closes_is_answered_and_then_seen_off(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            connection = Connected(web)
            connection.ask(bet(game, ann, "ann", 10))
            await turns()
            connection.listener.close()
            emptying = asyncio.ensure_future(connection.listener.drain(5.0))
            await turns()
            assert not emptying.done()
            web.journal.done()
            await turns()
            (answer,) = connection.wire.writes
            assert answer.startswith(b"HTTP/1.1 201 Created\r\ndate: today\r\nconnection: close\r\n")
            assert connection.wire.closed
            await connection.leave()
            await emptying

    run(main())


def test_who_waits_for_longer_than_a_house_that_closes_is_not_waited_for(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            actor, looker = Connected(web), Connected(web)
            actor.ask(bet(game, ann, "ann", 10))
            looker.ask(request("GET", f"/games/{game}"))
            await turns()
            for connection in (actor, looker):
                emptying = asyncio.ensure_future(connection.listener.drain(0.0))
                while not connection.wire.closed:
                    await asyncio.sleep(0)
                await connection.leave()
                await emptying
                assert not connection.wire.writes
            web.journal.done()
            await turns()

    run(main())


def test_who_ends_his_side_while_he_waits_is_answered(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            connection = Connected(web)
            connection.ask(bet(game, ann, "ann", 10))
            assert connection.line.eof_received()
            await turns()
            web.journal.done()
            await turns()
            assert connection.wire.writes[0].startswith(b"HTTP/1.1 201 ")
            assert connection.wire.closed
            await connection.leave()

    run(main())


async def said(line: HttpConnection, data: bytes, size: int) -> None:
    """Say something in two pieces, and let the loop turn."""
    for piece in (data[:size], data[size:]):
        if piece:
            line.data_received(piece)
        await asyncio.sleep(0)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 500), st.booleans()), max_size=12))
def test_a_house_that_is_written_down_says_what_another_one_says(steps: list[tuple[int, int, bool]]) -> None:
    """On one connection, whatever is asked and whenever something becomes durable: the same bytes in the same order."""

    async def main() -> None:
        with Holding() as held, Web() as prompt:
            game, (ann, bob) = await held.two()
            assert await prompt.seated("ann", "bob") == (game, [ann, bob])
            look = request("GET", f"/games/{game}", "ann")
            words = [
                look,
                look + look,
                bet(game, ann, "ann", 10),
                bet(game, bob, "bob", 0),
                bet(game, ann, "ann", 0) + look,
                request("GET", "/games/", "bob", b"body"),
                request("HEAD", "/games/"),
                b"\r\n",
            ]
            quick, slow = Connected(prompt), Connected(held)
            for what, size, durable in steps:
                for connection in (quick, slow):
                    await said(connection.line, words[what], size)
                if durable and held.journal.writings:
                    held.journal.done()
            expected = -1
            while held.journal.writings or expected < len(slow.wire.writes):
                expected = len(slow.wire.writes)
                await turns()
                if held.journal.writings:
                    held.journal.done()
                await turns()
            assert b"".join(slow.wire.writes) == b"".join(quick.wire.writes)
            for connection in (quick, slow):
                await connection.leave()

    asyncio.run(main())


@pytest.mark.parametrize("size", [65_537, 100_000, 300_000])
def test_a_body_that_nobody_wants_leaves_the_connection_open_to_requests(size: int, run: Run) -> None:
    """holdem-1.7"""

    async def main() -> None:
        with Holding() as web:
            game, (ann, _) = await web.two()
            actor, viewer = Connected(web), Connected(web)
            read = []
            viewer.wire.pause_reading, viewer.wire.resume_reading = (
                lambda: read.append(False),
                lambda: read.append(True),
            )
            assert actor.ask(bet(game, ann, "ann", 10)) is None
            assert viewer.ask(request("GET", f"/games/{game}", None, b"x" * size)) is None
            await turns()
            web.journal.done()
            await turns()
            assert [got.status for got in heard(viewer)] == [200]
            assert [got.status for got in heard(actor)] == [201]
            assert read[-1:] == [True]
            assert viewer.ask(request("GET", "/games/")) is not None
            for each in (actor, viewer):
                await each.leave()

    run(main())
