"""Long polls and streams deliver each change at once, with only what the viewer may see."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from croupier.core.session import Address
from croupier.http.holdem_app import HoldemApp
from croupier.http.limits import ConnectionLimits, ServiceLimits
from tests.http.service_fixture import InProcessConnection, InProcessService, answer, ask, first_game, opened, request
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, Run


class Player:
    """A player with a connection."""

    def __init__(self, name: str, caller: RawClient, guid: str, game: str) -> None:
        self.name = name
        self.caller = caller
        self.guid = guid
        self.game = game

    async def act(self, action: int = 1, amount: int = 0) -> None:
        path = f"/games/{self.game}/players/{self.guid}/acts/"
        got = await ask(self.caller, "POST", path, self.name, {"action": action, "betAmount": amount})
        assert got.status == 201, got
        assert "x-fold-reason" not in got.headers

    async def view(self, query: str = "", **headers: str) -> Any:
        return await ask(self.caller, "GET", f"/games/{self.game}{query}", self.name, **headers)


@asynccontextmanager
async def two_players(address: Address) -> AsyncIterator[tuple[Player, Player]]:
    """Ann and Bob in a hand. It is Ann's turn; she has posted 10 of 20."""
    async with RawClient(address) as one, RawClient(address) as other:
        game = await first_game(one)
        players = []
        for name, caller in (("ann", one), ("bob", other)):
            guid = (await ask(caller, "POST", "/users/", name)).json
            await ask(caller, "POST", f"/games/{game}/players/", name)
            players.append(Player(name, caller, guid, game))
        yield players[0], players[1]


class Stream:
    """A client of a stream."""

    def __init__(self, caller: RawClient, headers: Mapping[str, str]) -> None:
        self._caller = caller
        self._rest = b""
        self.headers = headers
        self.ended = False

    async def next_event(self) -> str:
        """The next event, or line of NDJSON; empty at the end of the stream."""
        end = b"\n" if "ndjson" in self.headers["content-type"] else b"\n\n"
        while end not in self._rest:
            size = b""
            while not size.endswith(b"\r\n"):
                size += await self._caller.receive(1)
            data = await self._caller.receive(int(size, 16) + 2)
            if data == b"\r\n":
                self.ended = True
                return ""
            self._rest += data[:-2]
        event, _, self._rest = self._rest.partition(end)
        return event.decode()

    async def game(self) -> tuple[int | None, Any]:
        """The next state of the game, with its version if the format contains that."""
        event = await self.next_event()
        if "ndjson" in self.headers["content-type"]:
            return None, json.loads(event)
        first, second = event.split("\n")
        assert first.startswith("id: ")
        assert second.startswith("data: ")
        return int(first[4:]), json.loads(second[6:])


@asynccontextmanager
async def follow_game(address: Address, game: str, user: str | None = None, **headers: str) -> AsyncIterator[Stream]:
    async with RawClient(address) as caller:
        await caller.send(request("GET", f"/games/{game}/events", user, **headers))
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += await caller.receive(1)
        status, *lines = head.decode().split("\r\n")[:-2]
        assert status == "HTTP/1.1 200 OK"
        pairs = (line.split(": ", 1) for line in lines)
        yield Stream(caller, {name.lower(): value for name, value in pairs})


async def wait_for_subscribers(app: HoldemApp, size: int) -> None:
    """Wait until the service has this many long polls and streams."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while app.subscriber_count != size:
            await asyncio.sleep(0.001)


# Long polls.


def test_long_poll_is_answered_when_the_game_changes(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, two_players(server.address) as (ann, bob):
            before = await ann.view()
            version = before.headers["x-game-version"]
            assert before.json["turn"]["playerID"] == ann.guid
            await bob.caller.send(request("GET", f"/games/{ann.game}?wait=30&since={version}", "bob"))
            await wait_for_subscribers(server, 1)
            await ann.act(1, 10)
            got = await answer(bob.caller)
            assert got.json["turn"]["playerID"] == bob.guid
            assert int(got.headers["x-game-version"]) > int(version)
            assert len(got.json["cards"]["hole"]) == 2
            await wait_for_subscribers(server, 0)

    run(main())


def test_long_poll_for_another_version_is_answered_at_once(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, two_players(server.address) as (ann, _):
            plain = await ann.view()
            version = int(plain.headers["x-game-version"])
            for since in (version - 1, version + 1, -1, 10**30):
                got = await ann.view(f"?wait=30&since={since}")
                assert (got.status, got.body) == (200, plain.body)

    run(main())


def test_long_poll_that_times_out_gets_the_current_state(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(limits=ServiceLimits(max_wait_seconds=0.01)) as server,
            two_players(server.address) as (ann, _),
        ):
            plain = await ann.view()
            version, tag = plain.headers["x-game-version"], plain.headers["etag"]
            for query in ("?wait=0", f"?wait=0&since={version}", "?wait=0.01", f"?wait=1000&since={version}"):
                assert (await ann.view(query)).body == plain.body
                unchanged = await ann.view(query, If_None_Match=tag)
                assert (unchanged.status, unchanged.body) == (304, b"")

    run(main())


def test_long_poll_ends_with_the_game(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, two_players(server.address) as (ann, bob), RawClient(server.address) as waiting:
            await ask(ann.caller, "POST", "/games/", "ann")
            game = next(
                one["gameID"] for one in (await ask(bob.caller, "GET", "/games/")).json if one["gameID"] != ann.game
            )
            await waiting.send(request("GET", f"/games/{game}?wait=30"))
            async with follow_game(server.address, game) as stream:
                await stream.game()
                await wait_for_subscribers(server, 2)
                left = await ask(ann.caller, "DELETE", f"/games/{game}/players/{ann.guid}", "ann")
                assert left.status == 200
                got = await answer(waiting)
                assert (got.status, got.text[:12]) == (404, "holdem-9.4: ")
                while not stream.ended:
                    await stream.next_event()

    run(main())


def test_disconnected_subscribers_are_removed(run: Run) -> None:
    async def main() -> None:
        connection_limits = ConnectionLimits(close_timeout=0.05)
        async with opened(connection_limits=connection_limits) as server, two_players(server.address) as (ann, _):
            async with RawClient(server.address) as poll, follow_game(server.address, ann.game) as stream:
                await poll.send(request("GET", f"/games/{ann.game}?wait=60"))
                await stream.game()
                await wait_for_subscribers(server, 2)
                poll.reset()
                await wait_for_subscribers(server, 1)
            await wait_for_subscribers(server, 0)

    run(main())


def test_long_polls_and_streams_end_with_the_service(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, two_players(server.address) as (ann, bob), RawClient(server.address) as poll:
            version = (await bob.view()).headers["x-game-version"]
            await poll.send(request("GET", f"/games/{ann.game}?wait=60&since={version}", "bob"))
            async with follow_game(server.address, ann.game, "bob") as stream:
                await stream.game()
                await wait_for_subscribers(server, 2)
                end = asyncio.ensure_future(server.stop(TIMEOUT_SECONDS))
                got = await answer(poll)
                assert got.status == 200
                assert got.json["turn"]["playerID"] == "", "the hand was voided"
                assert [player["wealth"] for player in got.json["table"]] == [10_000, 10_000]
                assert (await stream.game())[1] == got.json
                assert await stream.next_event() == ""
                assert stream.ended
                await end

    run(main())


# Streams.


@pytest.mark.parametrize("accept", ["text/event-stream", "application/x-ndjson"])
def test_stream_sends_the_game_at_once_and_after_every_change(run: Run, accept: str) -> None:
    async def main() -> None:
        async with (
            opened() as server,
            two_players(server.address) as (ann, bob),
            follow_game(server.address, ann.game, Accept=accept) as stream,
        ):
            assert stream.headers["content-type"] == accept
            assert stream.headers["cache-control"] == "no-store"
            for turn, player in enumerate((ann, bob, bob, ann)):
                version, game = await stream.game()
                got = await ask(player.caller, "GET", f"/games/{ann.game}")
                assert game == got.json
                if accept == "text/event-stream":
                    assert version == int(got.headers["x-game-version"])
                await player.act(1, 10 if turn == 0 else 0)

    run(main())


def test_hole_cards_are_streamed_only_to_their_owner(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, two_players(server.address) as (ann, bob), RawClient(server.address) as other:
            await ask(other, "POST", "/users/", "cid")
            holes = [(await player.view()).json["cards"]["hole"] for player in (ann, bob)]
            for user, hole in (("ann", holes[0]), ("bob", holes[1]), ("cid", []), (None, [])):
                async with follow_game(server.address, ann.game, user) as stream:
                    _, game = await stream.game()
                    assert game["cards"]["hole"] == hole

    run(main())


def test_stream_resumes_after_the_last_event_id(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, two_players(server.address) as (ann, _):
            version = (await ann.view()).headers["x-game-version"]
            async with follow_game(server.address, ann.game, Last_Event_ID=version) as stream:
                await wait_for_subscribers(server, 1)
                await ann.act(1, 10)
                assert (await stream.game())[0] == int(version) + 1
            for last in ("0", "x", "", "-1", "9" * 5000):
                async with follow_game(server.address, ann.game, Last_Event_ID=last) as stream:
                    assert (await stream.game())[0] == int(version) + 1

    run(main())


@pytest.mark.parametrize(
    ("accept", "heartbeat"), [("text/event-stream", ": nothing new"), ("application/x-ndjson", "")]
)
def test_stream_without_changes_sends_heartbeats(run: Run, accept: str, heartbeat: str) -> None:
    async def main() -> None:
        async with (
            opened(limits=ServiceLimits(heartbeat_seconds=0.01)) as server,
            two_players(server.address) as (ann, _),
            follow_game(server.address, ann.game, Accept=accept) as stream,
        ):
            await stream.game()
            for _ in range(3):
                assert await stream.next_event() == heartbeat
            await ann.act(1, 10)
            while (event := await stream.next_event()) == heartbeat:
                pass
            assert ann.guid in event

    run(main())


@pytest.mark.parametrize("path", ["/games/nothing/events", "/games/nothing/events?x", "/games/nothing/events/"])
def test_stream_of_an_unknown_game_is_404(run: Run, path: str) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            got = await ask(caller, "GET", path)
            assert (got.status, got.text[:12]) == (404, "holdem-8.4: ")
            assert (await ask(caller, "HEAD", path)).status == 404

    run(main())


def test_head_of_a_stream_ends(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            game = await first_game(caller)
            await caller.send(request("HEAD", f"/games/{game}/events") + request("GET", "/games/"))
            got = await answer(caller, head=True)
            assert (got.status, got.headers["content-type"]) == (200, "text/event-stream")
            assert (await answer(caller)).json[0]["gameID"] == game

    run(main())


def test_in_dialect_hspe_go_only_players_may_follow_with_credentials(run: Run) -> None:
    async def main() -> None:
        async with opened("hspe-go") as server, RawClient(server.address) as caller:
            game = await first_game(caller)
            await ask(caller, "POST", "/users/", "ann")
            for path in (f"/games/{game}/events", f"/games/{game}?wait=30", f"/games/{game}"):
                got = await ask(caller, "GET", path, "ann")
                assert (got.status, got.text[:12]) == (403, "holdem-7.3: ")
            await ask(caller, "POST", f"/games/{game}/players/", "ann")
            async with follow_game(server.address, game, "ann") as stream:
                assert (await stream.game())[1]["table"][0]["handle"] == "ann"

    run(main())


# Limits.


def test_streams_and_long_polls_are_limited_per_user_and_in_total(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(
                limits=ServiceLimits(max_streams=3, max_streams_per_user=2),
                connection_limits=ConnectionLimits(close_timeout=0.05),
            ) as server,
            two_players(server.address) as (ann, bob),
            follow_game(server.address, ann.game, "ann"),
            RawClient(server.address) as poll,
        ):
            await poll.send(request("GET", f"/games/{ann.game}?wait=30", "ann"))
            await wait_for_subscribers(server, 2)
            for path in (f"/games/{ann.game}/events", f"/games/{ann.game}?wait=30"):
                got = await ask(ann.caller, "GET", path, "ann")
                assert (got.status, got.headers["retry-after"], got.text[:13]) == (429, "1", "holdem-9.10: ")
            async with follow_game(server.address, ann.game, "bob"):
                await wait_for_subscribers(server, 3)
                assert (await ask(bob.caller, "GET", f"/games/{ann.game}/events")).status == 429
                assert (await ask(bob.caller, "GET", f"/games/{ann.game}")).status == 200
            await wait_for_subscribers(server, 2)
            async with follow_game(server.address, ann.game):
                await wait_for_subscribers(server, 3)

    run(main())


def test_slow_reader_gets_the_newest_state(run: Run) -> None:
    """States that cannot be sent yet are skipped: only the newest one is sent when the client reads."""

    async def main() -> None:
        with InProcessService() as web:
            game, guids = await web.seat_players("ann", "bob")
            client = InProcessConnection(web.service)
            headers = {"Accept": "application/x-ndjson"}
            client.connection.data_received(request("GET", f"/games/{game}/events", **headers))
            sent = client.transport.writes

            async def wait_for_writes(count: int) -> None:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    while len(sent) < count:
                        await asyncio.sleep(0)

            await wait_for_writes(2)  # the head and the first state
            client.connection.pause_writing()
            for _ in range(50):
                await web.check_or_call(game, dict(zip(guids, ("ann", "bob"), strict=True)))
                await asyncio.sleep(0)
            newest = (await web.ask("GET", f"/games/{game}")).json
            assert len(sent) == 2
            client.connection.resume_writing()
            await wait_for_writes(3)
            assert json.loads(sent[2].split(b"\r\n")[1]) == newest
            await client.leave()
            await wait_for_subscribers(web.service, 0)

    run(main())


def test_requests_after_a_stream_are_answered_in_their_order(run: Run) -> None:
    """A request that was sent before, and is recognised, does not overtake one that waits for the end of the stream."""

    async def main() -> None:
        with InProcessService() as web:
            game = await web.game()
            client = InProcessConnection(web.service)
            again = request("GET", "/openapi.json")
            client.connection.data_received(again)
            client.connection.data_received(request("GET", f"/games/{game}/events", Content_Length="3"))
            client.connection.data_received(b"abc" + request("GET", "/nothing"))  # is read with the rest of the body
            client.transport.writes.clear()
            web.service.halt(final=True)
            client.connection.data_received(again)
            await asyncio.sleep(0)
            answers = b"".join(client.transport.writes)
            assert 0 <= answers.find(b"HTTP/1.1 404") < answers.find(b"HTTP/1.1 200")
            await client.leave()

    run(main())
