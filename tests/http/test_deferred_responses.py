"""Responses that wait for durability need no task, and are sent in one write once they are durable."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.http.connection import HttpConnection
from croupier.store.records import StoreUnavailable
from tests.http.service_fixture import InProcessService, Response, request
from tests.http.test_immediate_responses import InProcessConnection, parse_response
from tests.net.raw_client import Run
from tests.recording.test_holdem_journal import ServiceWithManualJournal, run_pending_callbacks


def responses(connection: InProcessConnection) -> list[Response]:
    """The responses since the last call, each sent in one write."""
    answers = [parse_response(answer) for answer in connection.transport.writes]
    connection.transport.writes.clear()
    return answers


def is_same(one: Response, other: Response) -> bool:
    return (one.status, one.headers, one.body) == (other.status, other.headers, other.body)


def bet(game: str, guid: str, user: str, chips: int) -> bytes:
    return request("POST", f"/games/{game}/players/{guid}/acts/", user, {"action": 1, "betAmount": chips})


def test_actions_and_views_are_answered_without_a_task_once_durable(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            actor, early, late, public = connections = [InProcessConnection(web) for _ in range(4)]
            get = request("GET", f"/games/{game}", "bob")
            assert actor.ask(bet(game, ann, "ann", 10)) is None
            assert early.ask(get) is None, "the action was sent before"
            await run_pending_callbacks()
            assert [len(entries) for entries, _ in web.journal.pending_writes] == [1]
            assert late.ask(get) is None
            assert public.ask(request("GET", "/games/")) is None
            await run_pending_callbacks()
            assert not any(client.transport.writes or client.server.state.tasks for client in connections)
            web.journal.complete_write()
            await run_pending_callbacks()
            assert [got.status for got in responses(actor)] == [201]
            page, listed = await web.ask("GET", f"/games/{game}", "bob"), await web.ask("GET", "/games/")
            assert page.json["turn"]["playerID"] == bob
            for connection, wanted in ((early, page), (late, page), (public, listed)):
                (got,) = responses(connection)
                assert is_same(got, wanted)
            for client in connections:
                await client.leave()

    run(main())


def test_polling_client_gets_one_response_per_request(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, guids = await web.seat_two()
            poller, get = InProcessConnection(web), request("GET", f"/games/{game}", "ann")
            for user, guid, chips in (("ann", guids[0], 10), ("bob", guids[1], 0)):
                assert poller.ask(get) is not None
                acting = web.start_task(web.act(game, user, guid, 1, chips))
                await asyncio.sleep(0)
                assert poller.ask(get) is None, "a repeated request"
                await run_pending_callbacks()
                assert not poller.transport.writes
                web.journal.complete_write()
                assert (await acting).status == 201
                await run_pending_callbacks()
                (got,) = responses(poller)
                assert is_same(got, await web.ask("GET", f"/games/{game}", "ann"))
            await poller.leave()

    run(main())


def test_refusal_without_a_change_releases_waiting_views(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (_, bob) = await web.seat_two()
            actor, viewer = InProcessConnection(web), InProcessConnection(web)
            assert actor.ask(bet(game, bob, "bob", 0)) is None
            assert viewer.ask(request("GET", f"/games/{game}")) is None
            await run_pending_callbacks()
            assert [got.status for got in (*responses(actor), *responses(viewer))] == [403, 200]
            await actor.leave()
            await viewer.leave()

    run(main())


def test_requests_after_a_waiting_one_are_answered_in_order(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, bob) = await web.seat_two()
            connection = InProcessConnection(web)
            get = request("GET", f"/games/{game}", "bob")
            assert connection.ask(bet(game, ann, "ann", 10) + get + bet(game, bob, "bob", 0)) is None
            assert connection.ask(get) is None
            while (got := len(connection.transport.writes)) < 4:
                await run_pending_callbacks()
                if web.journal.pending_writes:
                    web.journal.complete_write()
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
            actor, viewer = InProcessConnection(web), InProcessConnection(web)
            actor.ask(bet(game, ann, "ann", 10))
            viewer.ask(request("GET", f"/games/{game}"))
            await actor.leave()
            await viewer.leave()
            await run_pending_callbacks()
            web.journal.complete_write()
            await run_pending_callbacks()
            assert actor.transport.writes == viewer.transport.writes == []
            assert (await web.turn(game))["playerID"] == bob

    run(main())


def test_store_failure_answers_waiting_requests_at_once(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor, viewer, other = connections = [InProcessConnection(web) for _ in range(3)]
            get, act = request("GET", f"/games/{game}"), bet(game, ann, "ann", 10)
            assert viewer.ask(get) is not None
            assert actor.ask(act) is None
            await run_pending_callbacks()
            assert viewer.ask(get) is None, "a repeated request"
            assert other.ask(request("POST", f"/games/{game}/players/", "ann")) is None
            web.journal.complete_write(StoreUnavailable("found no space on the disk"))
            for _ in range(2):
                await run_pending_callbacks()
                for connection in connections:
                    response = b"".join(connection.transport.writes)
                    assert response.startswith(b"HTTP/1.1 503 ")
                    assert b"holdem-3.17" in response
                for connection, data in ((actor, act), (viewer, get), (other, act)):
                    assert connection.ask(data) is None
            for connection in connections:
                await connection.leave()

    run(main())


def test_internal_error_answers_waiting_requests(run: Run) -> None:
    def broken(*_: object) -> Any:
        raise IndexError("list index out of range")

    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor, viewer = InProcessConnection(web), InProcessConnection(web)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(web.house, "on", broken)
                patch.setattr(web.house, "game", broken)
                actor.ask(bet(game, ann, "ann", 10))
                viewer.ask(request("GET", f"/games/{game}"))
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
            connection = InProcessConnection(web)
            connection.ask(bet(game, ann, "ann", 10))
            await run_pending_callbacks()
            connection.server.close()
            draining = asyncio.ensure_future(connection.server.drain(5.0))
            await run_pending_callbacks()
            assert not draining.done()
            web.journal.complete_write()
            await run_pending_callbacks()
            (answer,) = connection.transport.writes
            assert answer.startswith(b"HTTP/1.1 201 Created\r\ndate: today\r\nconnection: close\r\n")
            assert connection.transport.closed
            await connection.leave()
            await draining

    run(main())


def test_drain_timeout_closes_waiting_connections(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor, viewer = InProcessConnection(web), InProcessConnection(web)
            actor.ask(bet(game, ann, "ann", 10))
            viewer.ask(request("GET", f"/games/{game}"))
            await run_pending_callbacks()
            for connection in (actor, viewer):
                draining = asyncio.ensure_future(connection.server.drain(0.0))
                while not connection.transport.closed:
                    await asyncio.sleep(0)
                await connection.leave()
                await draining
                assert not connection.transport.writes
            web.journal.complete_write()
            await run_pending_callbacks()

    run(main())


def test_half_closed_client_is_answered_once_durable(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            connection = InProcessConnection(web)
            connection.ask(bet(game, ann, "ann", 10))
            assert connection.connection.eof_received()
            await run_pending_callbacks()
            web.journal.complete_write()
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


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 500), st.booleans()), max_size=12))
def test_service_with_a_journal_responds_like_one_without(steps: list[tuple[int, int, bool]]) -> None:
    """For any requests on one connection, and any times of becoming durable: the same bytes in the same order."""

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
            immediate, deferred = InProcessConnection(memory_service), InProcessConnection(durable_service)
            for what, size, durable in steps:
                for connection in (immediate, deferred):
                    await data(connection.connection, requests[what], size)
                if durable and durable_service.journal.pending_writes:
                    durable_service.journal.complete_write()
            expected = -1
            while durable_service.journal.pending_writes or expected < len(deferred.transport.writes):
                expected = len(deferred.transport.writes)
                await run_pending_callbacks()
                if durable_service.journal.pending_writes:
                    durable_service.journal.complete_write()
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
            actor, viewer = InProcessConnection(web), InProcessConnection(web)
            read = []
            viewer.transport.pause_reading, viewer.transport.resume_reading = (
                lambda: read.append(False),
                lambda: read.append(True),
            )
            assert actor.ask(bet(game, ann, "ann", 10)) is None
            assert viewer.ask(request("GET", f"/games/{game}", None, b"x" * size)) is None
            await run_pending_callbacks()
            web.journal.complete_write()
            await run_pending_callbacks()
            assert [got.status for got in responses(viewer)] == [200]
            assert [got.status for got in responses(actor)] == [201]
            assert read[-1:] == [True]
            assert viewer.ask(request("GET", "/games/")) is not None
            for client in (actor, viewer):
                await client.leave()

    run(main())
