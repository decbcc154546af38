"""Answers to commands that wait for durability need no task, and are sent in one write; views never wait."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from croupier.http.connection import HttpConnection
from croupier.http.holdem_service import MAX_GATHERED_REQUESTS
from croupier.store.records import StoreUnavailable
from tests.http.service_fixture import InProcessConnection, InProcessService, Response, parse_response, request
from tests.net.raw_client import Run
from tests.recording.fake_store import run_pending_callbacks
from tests.recording.test_holdem_journal import ServiceWithManualJournal
from tests.sampling import example_count


def responses(connection: InProcessConnection) -> list[Response]:
    """The responses since the last call, each sent in one write."""
    answers = [parse_response(answer) for answer in connection.transport.writes]
    connection.transport.writes.clear()
    return answers


def is_same(one: Response, other: Response) -> bool:
    return (one.status, one.headers, one.body) == (other.status, other.headers, other.body)


def bet(game: str, guid: str, user: str, chips: int) -> bytes:
    return request("POST", f"/games/{game}/players/{guid}/acts/", user, {"action": 1, "betAmount": chips})


def test_actions_are_answered_without_a_task_once_durable_and_views_at_once(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            actor, viewer, public = connections = [InProcessConnection(web.service) for _ in range(3)]
            gets = ((viewer, request("GET", f"/games/{game}", "bob")), (public, request("GET", "/games/")))
            before = [await web.ask("GET", f"/games/{game}", "bob"), await web.ask("GET", "/games/")]

            def is_shown(wanted: list[Response]) -> bool:
                got = [connection.ask(get) for connection, get in gets]
                return all(one is not None and is_same(one, other) for one, other in zip(got, wanted, strict=True))

            assert actor.ask(bet(game, ann, "ann", 10)) is None
            assert is_shown(before)
            await run_pending_callbacks()
            assert [len(entries) for entries, _ in web.store.pending_writes] == [1]
            assert is_shown(before)
            assert [len(client.server.pending) for client in connections].count(1) == 1, "only the action waits"
            assert not actor.transport.writes
            web.store.complete_write()
            while not actor.transport.writes:
                assert is_shown(before) or (await web.turn(game))["playerID"] == bob
                await asyncio.sleep(0)
            assert [got.status for got in responses(actor)] == [201]
            after = [await web.ask("GET", f"/games/{game}", "bob"), await web.ask("GET", "/games/")]
            assert after[0].json["turn"]["playerID"] == bob
            assert is_shown(after)
            for client in connections:
                await client.leave()

    run(main())


def test_polling_client_sees_an_action_when_it_is_answered(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, guids = await web.seat_two()
            poller, get = InProcessConnection(web.service), request("GET", f"/games/{game}", "ann")
            for user, guid, chips in (("ann", guids[0], 10), ("bob", guids[1], 0)):
                before = poller.ask(get)
                assert before is not None
                acting = web.start_task(web.act(game, user, guid, 1, chips))
                await run_pending_callbacks()
                repeated = poller.ask(get)
                assert repeated is not None
                assert is_same(repeated, before)
                web.store.complete_write()
                assert (await acting).status == 201
                got = poller.ask(get)
                assert got is not None
                assert not is_same(got, before)
                assert is_same(got, await web.ask("GET", f"/games/{game}", "ann"))
            await poller.leave()

    run(main())


@contextmanager
def store_that_writes_at_once(web: ServiceWithManualJournal) -> Iterator[list[list[Any]]]:
    """Let the store complete each write before `append` returns; the batches are added to the result."""
    append: Any = web.store.append
    batches: list[list[Any]] = []

    def append_at_once(*arguments: Any) -> Any:
        future = append(*arguments)
        batches.append(web.store.complete_write())
        return future

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web.store, "append", append_at_once)
        yield batches


def test_acts_of_one_turn_are_answered_in_the_turn_that_commits_them(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            with store_that_writes_at_once(web) as batches:
                actors = [InProcessConnection(web.service) for _ in range(2)]
                assert actors[0].ask(bet(game, ann, "ann", 10)) is None
                assert actors[1].ask(bet(game, bob, "bob", 0)) is None
                await asyncio.sleep(0)
                assert [got.status for actor in actors for got in responses(actor)] == [201, 201]
                assert [len(batch) for batch in batches] == [2]
            for actor in actors:
                await actor.leave()

    run(main())


def test_many_requests_of_one_turn_are_committed_before_its_end_if_the_store_writes_at_once(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            actors = [InProcessConnection(web.service) for _ in range(MAX_GATHERED_REQUESTS + 1)]
            with store_that_writes_at_once(web) as batches:
                actors[0].ask(bet(game, ann, "ann", 10))
                await asyncio.sleep(0)
                for number, actor in enumerate(actors[1:-1]):
                    assert actor.ask(bet(game if number % 2 else "elsewhere", bob, "bob", 0)) is None
                last = actors[-1].ask(bet(game, ann, "ann", 0))
                assert last is not None
                answered = [got.status for actor in actors[:-1] for got in responses(actor)]
                assert answered[:3] == [201, 404, 201], "bob's check, and all after it, in the same turn"
                assert len(answered) == MAX_GATHERED_REQUESTS
                assert len(batches) == 2
            for actor in actors:
                await actor.leave()

    run(main())


def test_lone_game_is_answered_without_a_turn_if_the_store_writes_at_once(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            actor = InProcessConnection(web.service)
            with store_that_writes_at_once(web) as batches:
                assert actor.ask(bet(game, ann, "ann", 10)) is None, "not known yet how fast the store is"
                await asyncio.sleep(0)
                assert [got.status for got in responses(actor)] == [201]
                for user, guid, status in (("bob", bob, 201), ("ann", ann, 403), ("bob", bob, 201)):
                    answered = actor.ask(bet(game, guid, user, 0))
                    assert answered is not None
                    assert answered.status == status
                assert [len(batch) for batch in batches] == [1, 1, 1]
                elsewhere = actor.ask(request("POST", "/games/", "ann"))
                assert elsewhere is None, "gathered with other games"
                await asyncio.sleep(0)
                assert [got.status for got in responses(actor)] == [201]
            await actor.leave()

    run(main())


def test_store_that_fails_at_once_refuses_the_act_without_a_turn(run: Run) -> None:
    """holdem-3.17"""

    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            actor = InProcessConnection(web.service)
            with store_that_writes_at_once(web):
                actor.ask(bet(game, ann, "ann", 10))
                await asyncio.sleep(0)
                responses(actor)
            append: Any = web.store.append

            def fail_at_once(*arguments: Any) -> Any:
                future = append(*arguments)
                web.store.complete_write(StoreUnavailable("found no space on the disk"))
                return future

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(web.store, "append", fail_at_once)
                refused = actor.ask(bet(game, bob, "bob", 0))
                assert refused is not None
                assert refused.status == 503
                assert "holdem-3.17" in refused.text
            await actor.leave()

    run(main())


def test_response_that_cannot_be_sent_ends_its_connection_and_no_other(run: Run) -> None:
    async def main() -> None:
        errors: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context["exception"]))
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            broken, actor = InProcessConnection(web.service), InProcessConnection(web.service)
            broken.transport.write = lambda _: 1 // 0
            aborted: list[bool] = []
            broken.transport.abort = lambda: aborted.append(True)
            broken.ask(bet(game, ann, "ann", 10))
            actor.ask(bet(game, bob, "bob", 0))
            await run_pending_callbacks()
            web.store.complete_write()
            await run_pending_callbacks()
            assert [got.status for got in responses(actor)] == [201]
            assert aborted == [True]
            assert [type(error) for error in errors] == [ZeroDivisionError]
            for connection in (broken, actor):
                await connection.leave()

    run(main())


def test_refusal_without_a_change_is_not_written(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (_, bob) = await web.seat_two()
            actor = InProcessConnection(web.service)
            assert actor.ask(bet(game, bob, "bob", 0)) is None
            await run_pending_callbacks()
            assert [got.status for got in responses(actor)] == [403]
            assert not web.store.pending_writes
            await actor.leave()

    run(main())


def test_requests_after_a_waiting_one_are_answered_in_order(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            connection = InProcessConnection(web.service)
            get = request("GET", f"/games/{game}", "bob")
            assert connection.ask(bet(game, ann, "ann", 10) + get + bet(game, bob, "bob", 0)) is None
            assert connection.ask(get) is None
            while (got := len(connection.transport.writes)) < 4:
                await run_pending_callbacks()
                if web.store.pending_writes:
                    web.store.complete_write()
                elif len(connection.transport.writes) == got:
                    break
            answers = b"".join(connection.transport.writes).split(b"HTTP/1.1 ")[1:]
            assert [answer[:3] for answer in answers] == [b"201", b"200", b"201", b"200"]
            await connection.leave()

    run(main())


def test_disconnected_client_gets_no_response_but_its_action_counts(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            actor = InProcessConnection(web.service)
            actor.ask(bet(game, ann, "ann", 10))
            await actor.leave()
            await run_pending_callbacks()
            web.store.complete_write()
            await run_pending_callbacks()
            assert actor.transport.writes == []
            assert (await web.turn(game))["playerID"] == bob

    run(main())


def test_store_failure_answers_waiting_commands_at_once_and_views_stay(run: Run) -> None:
    """holdem-3.17"""

    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor, viewer, other = connections = [InProcessConnection(web.service) for _ in range(3)]
            get, act = request("GET", f"/games/{game}"), bet(game, ann, "ann", 10)
            before = viewer.ask(get)
            assert before is not None
            assert actor.ask(act) is None
            await run_pending_callbacks()
            assert other.ask(request("POST", f"/games/{game}/players/", "ann")) is None
            web.store.complete_write(StoreUnavailable("found no space on the disk"))
            await run_pending_callbacks()
            for _ in range(2):
                for connection in (actor, other):
                    (refused,) = responses(connection)
                    assert refused.status == 503
                    assert "holdem-3.17" in refused.text
                    refused_at_once = connection.ask(act)
                    assert refused_at_once is not None
                    assert refused_at_once.status == 503
                seen = viewer.ask(get)
                assert seen is not None
                assert is_same(seen, before)
            for connection in connections:
                await connection.leave()

    run(main())


def test_internal_error_answers_waiting_requests(run: Run) -> None:
    def broken(*_: object) -> Any:
        raise IndexError("list index out of range")

    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor, viewer = InProcessConnection(web.service), InProcessConnection(web.service)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(web.house, "on", broken)
                patch.setattr(web.service.service.views.games, "get", broken)
                actor.ask(bet(game, ann, "ann", 10))
                viewer.connection.data_received(request("GET", f"/games/{game}"))
                await run_pending_callbacks()
                for connection in (actor, viewer):
                    (got,) = responses(connection)
                    assert (got.status, got.text[:12]) == (500, "holdem-8.1: ")
            await actor.leave()
            await viewer.leave()

    run(main())


def test_waiting_request_is_answered_and_closed_when_the_server_closes(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            connection = InProcessConnection(web.service)
            connection.ask(bet(game, ann, "ann", 10))
            await run_pending_callbacks()
            connection.server.date_header = b"date: today\r\n"
            connection.server.close()
            draining = asyncio.ensure_future(connection.server.drain(5.0))
            await run_pending_callbacks()
            assert not draining.done()
            web.store.complete_write()
            await run_pending_callbacks()
            (answer,) = connection.transport.writes
            head = b"HTTP/1.1 201 Created\r\ndate: today\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            assert answer == head
            assert connection.transport.closed
            await connection.leave()
            await draining

    run(main())


def test_drain_timeout_closes_waiting_connections(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor = InProcessConnection(web.service)
            actor.ask(bet(game, ann, "ann", 10))
            await run_pending_callbacks()
            draining = asyncio.ensure_future(actor.server.drain(0.0))
            while not actor.transport.closed:
                await asyncio.sleep(0)
            await actor.leave()
            await draining
            assert not actor.transport.writes
            web.store.complete_write()
            await run_pending_callbacks()

    run(main())


def test_half_closed_client_is_answered_once_durable(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            connection = InProcessConnection(web.service)
            connection.ask(bet(game, ann, "ann", 10))
            assert connection.connection.eof_received()
            await run_pending_callbacks()
            web.store.complete_write()
            await run_pending_callbacks()
            assert connection.transport.writes[0].startswith(b"HTTP/1.1 201 ")
            assert connection.transport.closed
            await connection.leave()

    run(main())


async def data(connection: HttpConnection, data: bytes, size: int) -> None:
    """Send data in two chunks, with a turn of the loop after each."""
    for chunk in (data[:size], data[size:]):
        if chunk:
            connection.data_received(chunk)
        await asyncio.sleep(0)


@example([(2, 1, False), (2, 1, False), (4, 1, False)])
@settings(max_examples=example_count(25))
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 500), st.booleans()), max_size=12))
def test_service_with_a_journal_responds_like_one_without(steps: list[tuple[int, int, bool]]) -> None:
    """For any requests on one connection, and any times of becoming durable: the same bytes in the same order.

    In the example the answer to the second request comes between the head and the body of the third.
    """

    async def main() -> None:
        with ServiceWithManualJournal() as durable_service, InProcessService() as memory_service:
            game, (ann, bob) = await durable_service.seat_two()
            assert await memory_service.seat_players("ann", "bob") == (game, [ann, bob])
            get = request("GET", f"/games/{game}", "ann")
            requests = [
                get,
                get + get,
                bet(game, ann, "ann", 10),
                bet(game, bob, "bob", 0),
                bet(game, ann, "ann", 0) + get,
                request("GET", "/games/", "bob", b"body"),
                request("HEAD", "/games/"),
                b"\r\n",
            ]
            immediate, deferred = (
                InProcessConnection(memory_service.service),
                InProcessConnection(durable_service.service),
            )
            for what, size, durable in steps:
                for connection in (immediate, deferred):
                    await data(connection.connection, requests[what], size)
                if durable and durable_service.store.pending_writes:
                    durable_service.store.complete_write()
            expected = -1
            while durable_service.store.pending_writes or expected < len(deferred.transport.writes):
                expected = len(deferred.transport.writes)
                await run_pending_callbacks()
                if durable_service.store.pending_writes:
                    durable_service.store.complete_write()
                await run_pending_callbacks()
            assert b"".join(deferred.transport.writes) == b"".join(immediate.transport.writes)
            for connection in (immediate, deferred):
                await connection.leave()

    asyncio.run(main())


@pytest.mark.parametrize("size", [65_537, 100_000, 300_000])
def test_unused_body_leaves_the_connection_open(size: int, run: Run) -> None:
    """holdem-1.7"""

    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor, viewer = InProcessConnection(web.service), InProcessConnection(web.service)
            read = []
            viewer.transport.pause_reading, viewer.transport.resume_reading = (
                lambda: read.append(False),
                lambda: read.append(True),
            )
            assert actor.ask(bet(game, ann, "ann", 10)) is None
            got = viewer.ask(request("GET", f"/games/{game}", None, b"x" * size))
            assert got is not None
            assert got.status == 200
            await run_pending_callbacks()
            web.store.complete_write()
            await run_pending_callbacks()
            assert [got.status for got in responses(actor)] == [201]
            assert read[-1:] != [False]
            assert viewer.ask(request("GET", "/games/")) is not None
            for client in (actor, viewer):
                await client.leave()

    run(main())
