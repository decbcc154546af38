"""What takes no time takes no task: pages and commands are answered at once, as a task would have answered them."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from croupier.http.connection import HttpConnection
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.server import HttpServer
from croupier.observers.counters import RoomCounters
from tests.http.service_fixture import Got, Web, request
from tests.http.test_connections import Cord
from tests.net.raw_client import Run

DIALECTS = pytest.mark.parametrize("dialect", ["readme", "hspe-go"])


class Connected:
    """A connection to a service, without a socket."""

    def __init__(self, web: Web) -> None:
        self.listener = HttpServer(web.service, ConnectionLimits(), RoomCounters())
        self.listener.date_header = b"date: today\r\n"
        self.listener.state.default_headers = [(b"date", b"today")]
        self.line = HttpConnection(self.listener)
        self.wire = Cord()
        self.line.connection_made(self.wire)

    def ask(self, data: bytes) -> Got | None:
        """What was answered before anything else could happen, and in how few writes; None if that was nothing."""
        self.wire.writes.clear()
        self.line.data_received(data)
        if not self.wire.writes:
            return None
        (answer,) = self.wire.writes
        return parsed(answer)

    async def leave(self) -> None:
        self.line.connection_lost(None)
        await asyncio.sleep(0)


def parsed(data: bytes) -> Got:
    head, _, body = data.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    pairs = [line.split(b": ", 1) for line in lines]
    headers = [(name, value) for name, value in pairs]
    if (b"transfer-encoding", b"chunked") in headers:
        headers.remove((b"transfer-encoding", b"chunked"))
        size, _, rest = body.partition(b"\r\n")
        body = rest[: int(size, 16)]
        assert rest[int(size, 16) :] == b"\r\n0\r\n\r\n"
    headers.remove((b"date", b"today"))
    return Got(int(status.split()[1]), headers, body)


@DIALECTS
def test_what_is_said_at_once_is_what_a_task_would_say(run: Run, dialect: str) -> None:
    async def main() -> None:
        with Web(dialect) as web:
            await web.enrol("ann", "bob", "cid")
            guids = {user: web.house.guid_of(user) for user in ("ann", "bob", "cid")}
            game = await web.game()
            for user in ("ann", "bob"):
                await web.ask("POST", f"/games/{game}/players/", user)
            connection = Connected(web)
            tag = (await web.ask("GET", f"/games/{game}", "ann")).headers["etag"]
            acts = f"/games/{game}/players/{guids['bob']}/acts/"
            fold = {"action": 0}
            asks: list[tuple[str, str, str | None, Any, dict[str, str]]] = [
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
            for method, path, user, body, headers in asks:
                data = body if body else None
                at_once = connection.ask(request(method, path, user, data, **headers))
                later = await web.ask(method, path, user, body, headers=headers)
                assert at_once is not None, (method, path)
                assert (at_once.status, at_once.headers, at_once.body) == (later.status, later.headers, later.body)
            await connection.leave()

    run(main())


@DIALECTS
def test_commands_are_done_at_once(run: Run, dialect: str) -> None:
    async def main() -> None:
        with Web(dialect) as web:
            await web.enrol("ann", "bob")
            connection = Connected(web)
            game = await web.game()
            join = request("POST", f"/games/{game}/players/", "ann")
            acts = f"/games/{game}/players/{web.house.guid_of('ann')}/acts/"
            wrong = request("POST", acts, "ann", {"action": 1, "betAmount": 15})
            act = request("POST", acts, "ann", {"action": 0})
            leave = request("DELETE", f"/games/{game}/players/{web.house.guid_of('ann')}", "ann")
            statuses = []
            for what in (join, wrong, act, leave, leave, request("POST", "/games/", "ann")):
                got = connection.ask(what)
                assert got is not None
                statuses.append(got.status)
                assert ("x-fold-reason" in got.headers) == (what is wrong)
                if what is join:
                    await web.ask("POST", f"/games/{game}/players/", "bob")
            # She is first to act in the first hand, and not in the second one, which begins when she has folded.
            out_of_turn, joined = (403, 201) if dialect == "readme" else (409, 202)
            assert statuses == [joined, 201, out_of_turn, 200, 404, joined]
            await connection.leave()

    run(main())


def test_a_request_that_comes_in_parts_is_done_when_it_is_whole(run: Run) -> None:
    async def main() -> None:
        with Web() as web:
            game, guids = await web.seated("ann", "bob")
            connection = Connected(web)
            data = request("POST", f"/games/{game}/players/{guids[0]}/acts/", "ann", {"action": 0})
            for at in range(len(data)):
                assert connection.ask(data[at : at + 1]) is None
                await asyncio.sleep(0)
            while not connection.wire.writes:
                await asyncio.sleep(0)
            assert connection.wire.writes[0].startswith(b"HTTP/1.1 201 Created\r\n")
            assert web.service.counts.games == 1
            await connection.leave()

    run(main())


def test_who_is_not_known_yet_waits_for_his_task(run: Run) -> None:
    async def main() -> None:
        with Web() as web:
            game = await web.game()
            connection = Connected(web)
            for what in (
                request("POST", "/users/", "ann"),
                request("POST", f"/games/{game}/players/", "bob"),
                request("GET", f"/games/{game}", "bob"),
                request("GET", f"/games/{game}?wait=0"),
                request("GET", "/nothing"),
                request("PUT", "/games/", "ann"),
                request("HEAD", "/games/"),
                request("GET", "/games/", Connection="close"),
            ):
                assert connection.ask(what) is None, what
                assert connection.listener.state.tasks
                while connection.listener.state.tasks:
                    await asyncio.sleep(0.001)
                assert connection.wire.writes
            assert connection.wire.closed
            await connection.leave()

    run(main())


def test_with_a_limit_on_requests_everything_is_counted(run: Run) -> None:
    async def main() -> None:
        with Web(limits=ServiceLimits(max_requests=2)) as web:
            connection = Connected(web)
            statuses = []
            for _ in range(3):
                assert connection.ask(request("GET", "/games/")) is None
                while not connection.wire.writes:
                    await asyncio.sleep(0)
                statuses.append(connection.wire.writes[0].split()[1])
                await asyncio.sleep(0)
            assert statuses == [b"200", b"200", b"429"]
            await connection.leave()

    run(main())


def test_our_own_fault_is_told_at_once_too(run: Run) -> None:
    told: list[str] = []

    class Log:
        def error(self, event: str, **facts: object) -> None:
            told.append(f"{event}: {facts['exc_info']!r}")

    def broken(*_: object) -> Any:
        raise IndexError("list index out of range")

    async def main() -> None:
        with Web(log=Log()) as web:
            game, _ = await web.seated("ann", "bob")
            connection = Connected(web)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(web.house, "on", broken)
                patch.setattr(web.house, "game", broken)
                for what in (request("GET", f"/games/{game}"), request("POST", "/games/", "ann")):
                    got = connection.ask(what)
                    assert got is not None
                    assert (got.status, got.text[:12]) == (500, "holdem-8.1: ")
            after = connection.ask(request("GET", f"/games/{game}"))
            assert after is not None
            assert after.status == 200
            await connection.leave()
        assert told == ["our own fault: IndexError('list index out of range')"] * 2

    run(main())


def test_whoever_says_the_same_again_is_not_read_again_and_hears_what_is_new(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        with Web() as web:
            game, guids = await web.seated("ann", "bob")
            connection, parsed_data = Connected(web), []
            feed = HttpToolsProtocol.data_received
            monkeypatch.setattr(
                HttpToolsProtocol, "data_received", lambda self, data: (parsed_data.append(data), feed(self, data))
            )
            polling = request("GET", f"/games/{game}", "ann")
            first = connection.ask(polling)
            assert first is not None
            for _ in range(3):
                again = connection.ask(polling)
                assert again is not None
                assert (again.status, again.headers, again.body) == (first.status, first.headers, first.body)
            assert parsed_data == [polling]
            await web.act(game, "ann", guids[0], 1, 10)
            after = connection.ask(polling)
            assert after is not None
            assert after.json["turn"]["playerID"] == guids[1]
            assert connection.ask(request("GET", f"/games/{game}", "bob")) is not None
            assert connection.ask(polling) is not None
            assert len(parsed_data) == 3
            await connection.leave()

    run(main())


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 400)), max_size=12))
def test_what_is_said_again_is_answered_as_if_it_were_read(steps: list[tuple[int, int]]) -> None:
    """Whole requests, pieces of some, two in one, and one with a body: on two connections, one of which reads all."""

    async def main() -> None:
        with Web() as web:
            game, _ = await web.seated("ann", "bob")
            get, public = request("GET", f"/games/{game}", "ann"), request("GET", "/games/")
            said = [
                get,
                public,
                get + public,
                request("GET", f"/games/{game}", "ann", b"body"),
                request("HEAD", "/games/"),
                b"\r\n",
                request("POST", f"/games/{game}/players/", "ann"),
            ]
            quick, slow = Connected(web), Connected(web)
            heard: list[list[bytes]] = [[], []]
            for what, size in steps:
                for number, connection in enumerate((quick, slow)):
                    connection.wire.writes.clear()
                    connection.line.data_received(said[what][:size])
                    connection.line.data_received(said[what][size:])
                    for _ in range(8):
                        await asyncio.sleep(0)
                    heard[number] += connection.wire.writes
                    if connection is slow:
                        connection.line._repeated_request = None
                assert b"".join(heard[0]) == b"".join(heard[1])
            for connection in (quick, slow):
                await connection.leave()

    asyncio.run(main())
