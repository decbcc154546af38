"""Views and commands are answered at once without a task, with the same bytes as from a task."""

import asyncio
from typing import Any

import pytest
from httptools import HttpRequestParser
from hypothesis import given
from hypothesis import strategies as st

from croupier.http import request_reader
from croupier.http.connection import State
from croupier.http.limits import ServiceLimits
from tests.http.service_fixture import InProcessConnection, InProcessService, request
from tests.net.raw_client import Run

DIALECTS = pytest.mark.parametrize("dialect", ["readme", "hspe-go"])


@DIALECTS
def test_immediate_responses_equal_those_of_a_task(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect, turn_seconds=1e6) as web:
            await web.register("ann", "bob", "cid")
            guids = {user: web.house.guid_of(user) for user in ("ann", "bob", "cid")}
            game = await web.game()
            for user in ("ann", "bob"):
                await web.ask("POST", f"/games/{game}/players/", user)
            connection = InProcessConnection(web.service)
            tag = (await web.ask("GET", f"/games/{game}", "ann")).headers["etag"]
            acts = f"/games/{game}/players/{guids['bob']}/acts/"
            fold = {"action": 0}
            requests: list[tuple[str, str, str | None, Any, dict[str, str]]] = [
                ("GET", "/games", None, b"", {}),
                ("GET", "/games/", "ann", b"", {}),
                ("GET", f"/games/{game}", None, b"", {}),
                ("GET", f"/games/{game}/", "ann", b"", {}),
                ("GET", f"/games/{game}", "ann", b"", {"if-none-match": tag}),
                ("GET", f"/games/{game}", "ann", b"", {"if-none-match": "*"}),
                ("GET", f"/games/{game}", "bob", b"", {"if-none-match": tag}),
                ("POST", acts, "bob", fold, {}),
                ("POST", acts, "ann", fold, {}),
                ("POST", acts.replace(game, "x"), "bob", fold, {"accept": "application/problem+json"}),
                ("POST", f"/games/{game}/players/", "ann", b"", {}),
                ("DELETE", f"/games/{game}/players/x", "ann", b"", {}),
            ]
            for method, path, user, body, headers in requests:
                data = body if body else None
                await web.ask("GET", "/games/", user)  # its login is cached now
                at_once = connection.ask(request(method, path, user, data, **headers))
                web.clock.now += 1000.0  # the login has to be verified again, in a task
                later = await web.ask(method, path, user, body, headers=headers)
                assert at_once is not None, (method, path)
                assert (at_once.status, at_once.headers, at_once.body) == (later.status, later.headers, later.body)
            await connection.leave()

    run(main())


@DIALECTS
def test_commands_are_performed_at_once(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            await web.register("ann", "bob")
            connection = InProcessConnection(web.service)
            game = await web.game()
            join = request("POST", f"/games/{game}/players/", "ann")
            acts = f"/games/{game}/players/{web.house.guid_of('ann')}/acts/"
            wrong = request("POST", acts, "ann", {"action": 1, "betAmount": 15})
            act = request("POST", acts, "ann", {"action": 0})
            leave = request("DELETE", f"/games/{game}/players/{web.house.guid_of('ann')}", "ann")
            statuses = []
            for data in (join, wrong, act, leave, leave, request("POST", "/games/", "ann")):
                got = connection.ask(data)
                assert got is not None
                statuses.append(got.status)
                assert ("x-fold-reason" in got.headers) == (data is wrong)
                if data is join:
                    await web.ask("POST", f"/games/{game}/players/", "bob")
            # Ann acts first in the first hand, and second in the next one, which begins when she has folded.
            out_of_turn, joined = (403, 201) if dialect == "readme" else (409, 202)
            assert statuses == [joined, 201, out_of_turn, 200, 404, joined]
            await connection.leave()

    run(main())


def test_split_command_is_performed_when_it_is_complete(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game, guids = await web.seat_players("ann", "bob")
            connection = InProcessConnection(web.service)
            data = request("POST", f"/games/{game}/players/{guids[0]}/acts/", "ann", {"action": 0})
            for at in range(len(data) - 1):
                assert connection.ask(data[at : at + 1]) is None
                await asyncio.sleep(0)
            got = connection.ask(data[-1:])
            assert got is not None
            assert got.status == 201
            assert web.service.counts.games == 1
            await connection.leave()

    run(main())


def test_requests_that_need_a_task(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game = await web.game()
            connection = InProcessConnection(web.service)
            for data in (
                request("POST", "/users/", "ann"),
                request("POST", f"/games/{game}/players/", "bob"),
                request("GET", f"/games/{game}", "bob"),
                request("GET", f"/games/{game}?wait=0"),
            ):
                assert connection.ask(data) is None, data
                assert connection.connection.state is State.ANSWERING
                assert len(connection.server.pending) == 1
                assert (await connection.response()).status < 500
                assert not connection.server.pending
            for data, status in (
                (request("GET", "/nothing"), 404),
                (request("PUT", "/games/", "ann"), 405),
                (request("GET", "/openapi.json"), 200),
                (request("GET", "/games/", Connection="close"), 200),
            ):
                got = connection.ask(data)
                assert got is not None
                assert got.status == status
            assert connection.transport.closed
            await connection.leave()

    run(main())


def test_rate_limit_counts_every_request(run: Run) -> None:
    async def main() -> None:
        with InProcessService(limits=ServiceLimits(max_requests=2)) as web:
            connection = InProcessConnection(web.service)
            statuses = []
            for _ in range(3):
                got = connection.ask(request("GET", "/games/"))
                assert got is not None
                statuses.append(got.status)
            assert statuses == [200, 200, 429]
            await connection.leave()

    run(main())


def test_internal_error_is_answered_at_once(run: Run) -> None:
    log: list[str] = []

    class Log:
        def error(self, event: str, **facts: object) -> None:
            log.append(f"{event}: {facts['exc_info']!r}")

    def broken(*_: object) -> Any:
        raise IndexError("list index out of range")

    async def main() -> None:
        with InProcessService(log=Log()) as web:
            game, _ = await web.seat_players("ann", "bob")
            connection = InProcessConnection(web.service)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(web.house, "on", broken)
                patch.setattr(web.service.service.views.games, "get", broken)
                for data in (request("GET", f"/games/{game}"), request("POST", "/games/", "ann")):
                    got = connection.ask(data)
                    assert got is not None
                    assert (got.status, got.text[:12]) == (500, "holdem-8.1: ")
            after = connection.ask(request("GET", f"/games/{game}"))
            assert after is not None
            assert after.status == 200
            await connection.leave()
        assert log == ["internal error: IndexError('list index out of range')"] * 2

    run(main())


def test_repeated_request_is_not_parsed_and_gets_the_new_state(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game, guids = await web.seat_players("ann", "bob")
            parsed_data: list[bytes] = []

            class RecordingParser:
                def __init__(self, protocol: Any) -> None:
                    self._parser = HttpRequestParser(protocol)

                def feed_data(self, data: bytes) -> None:
                    parsed_data.append(data)
                    self._parser.feed_data(data)

                def __getattr__(self, name: str) -> Any:
                    return getattr(self._parser, name)

            monkeypatch.setattr(request_reader, "HttpRequestParser", RecordingParser)
            connection = InProcessConnection(web.service)
            polling = request("GET", f"/games/{game}", "ann")
            first = connection.ask(polling)
            assert first is not None
            for _ in range(3):
                repeated = connection.ask(polling)
                assert repeated is not None
                assert (repeated.status, repeated.headers, repeated.body) == (first.status, first.headers, first.body)
            assert parsed_data == [polling]
            await web.act(game, "ann", guids[0], 1, 10)
            del parsed_data[1:]  # the act is on another connection
            after = connection.ask(polling)
            assert after is not None
            assert after.json["turn"]["playerID"] == guids[1]
            for _ in range(2):
                assert connection.ask(request("GET", f"/games/{game}", "bob")) is not None
                assert connection.ask(polling) is not None
            assert len(parsed_data) == 2, "several requests are recognised"
            await connection.leave()

    run(main())


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 400)), max_size=12))
def test_repeated_requests_are_answered_as_if_parsed(steps: list[tuple[int, int]]) -> None:
    """Whole, split and pipelined requests on two connections, one of which parses repeated requests, too."""

    async def main() -> None:
        with InProcessService() as web:
            game, _ = await web.seat_players("ann", "bob")
            get, public = request("GET", f"/games/{game}", "ann"), request("GET", "/games/")
            requests = [
                get,
                public,
                get + public,
                request("GET", f"/games/{game}", "ann", b"body"),
                request("HEAD", "/games/"),
                b"\r\n",
                request("POST", f"/games/{game}/players/", "ann"),
            ]
            repeating, parsing = InProcessConnection(web.service), InProcessConnection(web.service)
            written: list[list[bytes]] = [[], []]
            for data, size in steps:
                for number, connection in enumerate((repeating, parsing)):
                    connection.transport.writes.clear()
                    connection.connection.data_received(requests[data][:size])
                    connection.connection.data_received(requests[data][size:])
                    for _ in range(8):
                        await asyncio.sleep(0)
                    written[number] += connection.transport.writes
                    if connection is parsing:
                        connection.connection._reader.known_requests.clear()
                assert b"".join(written[0]) == b"".join(written[1])
            for connection in (repeating, parsing):
                await connection.leave()

    asyncio.run(main())
