"""Who waits for a change of a game hears of it at once, and a stream tells everybody what he may know."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from croupier.core.session import Address
from croupier.http.holdem_app import HoldemServer
from croupier.http.limits import ConnectionLimits, ServiceLimits
from tests.http.service_fixture import Web, answer, ask, opened, request
from tests.net.raw_client import PATIENCE, Caller, Run


class Guest:
    """Somebody with a name and a connection of his own."""

    def __init__(self, name: str, caller: Caller, guid: str, game: str) -> None:
        self.name = name
        self.caller = caller
        self.guid = guid
        self.game = game

    async def act(self, action: int = 1, amount: int = 0) -> None:
        path = f"/games/{self.game}/players/{self.guid}/acts/"
        got = await ask(self.caller, "POST", path, self.name, {"action": action, "betAmount": amount})
        assert got.status == 201, got
        assert "x-fold-reason" not in got.headers

    async def see(self, query: str = "", **headers: str) -> Any:
        return await ask(self.caller, "GET", f"/games/{self.game}{query}", self.name, **headers)


async def first_game(caller: Caller) -> str:
    found: str = (await ask(caller, "GET", "/games/")).json[0]["gameID"]
    return found


@asynccontextmanager
async def two(address: Address) -> AsyncIterator[tuple[Guest, Guest]]:
    """Ann and Bob, in a hand: it is Ann's turn, who has posted 10 of 20."""
    async with Caller(address) as one, Caller(address) as other:
        game = await first_game(one)
        guests = []
        for name, caller in (("ann", one), ("bob", other)):
            guid = (await ask(caller, "POST", "/users/", name)).json
            await ask(caller, "POST", f"/games/{game}/players/", name)
            guests.append(Guest(name, caller, guid, game))
        yield guests[0], guests[1]


class Stream:
    """A stream of a game that is being heard."""

    def __init__(self, caller: Caller, headers: Mapping[str, str]) -> None:
        self._caller = caller
        self._rest = b""
        self.headers = headers
        self.ended = False

    async def piece(self) -> str:
        """Everything up to the next empty line, or line, as the manner of the stream is."""
        end = b"\n" if "ndjson" in self.headers["content-type"] else b"\n\n"
        while end not in self._rest:
            size = b""
            while not size.endswith(b"\r\n"):
                size += await self._caller.hear(1)
            data = await self._caller.hear(int(size, 16) + 2)
            if data == b"\r\n":
                self.ended = True
                return ""
            self._rest += data[:-2]
        piece, _, self._rest = self._rest.partition(end)
        return piece.decode()

    async def game(self) -> tuple[int | None, Any]:
        """The next game, with its version where that is told."""
        piece = await self.piece()
        if "ndjson" in self.headers["content-type"]:
            return None, json.loads(piece)
        first, second = piece.split("\n")
        assert first.startswith("id: ")
        assert second.startswith("data: ")
        return int(first[4:]), json.loads(second[6:])


@asynccontextmanager
async def following(address: Address, game: str, user: str | None = None, **headers: str) -> AsyncIterator[Stream]:
    async with Caller(address) as caller:
        await caller.say(request("GET", f"/games/{game}/events", user, **headers))
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += await caller.hear(1)
        status, *lines = head.decode().split("\r\n")[:-2]
        assert status == "HTTP/1.1 200 OK"
        pairs = (line.split(": ", 1) for line in lines)
        yield Stream(caller, {name.lower(): value for name, value in pairs})


async def crowd(found: HoldemServer, size: int) -> None:
    """Wait until so many wait for news."""
    async with asyncio.timeout(PATIENCE):
        while found.app.subscriber_count != size:
            await asyncio.sleep(0.001)


# Long polls.


def test_who_waits_is_answered_when_the_game_changes(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, two(found.address) as (ann, bob):
            before = await ann.see()
            version = before.headers["x-game-version"]
            assert before.json["turn"]["playerID"] == ann.guid
            await bob.caller.say(request("GET", f"/games/{ann.game}?wait=30&since={version}", "bob"))
            await crowd(found, 1)
            await ann.act(1, 10)
            got = await answer(bob.caller)
            assert got.json["turn"]["playerID"] == bob.guid
            assert int(got.headers["x-game-version"]) > int(version)
            assert len(got.json["cards"]["hole"]) == 2
            await crowd(found, 0)

    run(main())


def test_who_knows_another_version_is_answered_at_once(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, two(found.address) as (ann, _):
            plain = await ann.see()
            version = int(plain.headers["x-game-version"])
            for since in (version - 1, version + 1, -1, 10**30):
                got = await ann.see(f"?wait=30&since={since}")
                assert (got.status, got.body) == (200, plain.body)

    run(main())


def test_who_has_waited_long_enough_sees_what_there_is(run: Run) -> None:
    async def main() -> None:
        async with opened(limits=ServiceLimits(max_wait_seconds=0.01)) as found, two(found.address) as (ann, _):
            plain = await ann.see()
            version, tag = plain.headers["x-game-version"], plain.headers["etag"]
            for query in ("?wait=0", f"?wait=0&since={version}", "?wait=0.01", f"?wait=1000&since={version}"):
                assert (await ann.see(query)).body == plain.body
                same = await ann.see(query, If_None_Match=tag)
                assert (same.status, same.body) == (304, b"")

    run(main())


def test_a_wait_ends_with_the_game(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, two(found.address) as (ann, bob), Caller(found.address) as waiting:
            await ask(ann.caller, "POST", "/games/", "ann")
            game = next(
                one["gameID"] for one in (await ask(bob.caller, "GET", "/games/")).json if one["gameID"] != ann.game
            )
            await waiting.say(request("GET", f"/games/{game}?wait=30"))
            async with following(found.address, game) as stream:
                await stream.game()
                await crowd(found, 2)
                gone = await ask(ann.caller, "DELETE", f"/games/{game}/players/{ann.guid}", "ann")
                assert gone.status == 200
                got = await answer(waiting)
                assert (got.status, got.text[:12]) == (404, "holdem-9.4: ")
                while not stream.ended:
                    await stream.piece()

    run(main())


def test_who_hangs_up_waits_no_longer(run: Run) -> None:
    async def main() -> None:
        reception = ConnectionLimits(close_timeout=0.05)
        async with opened(reception=reception) as found, two(found.address) as (ann, _):
            async with Caller(found.address) as poll, following(found.address, ann.game) as stream:
                await poll.say(request("GET", f"/games/{ann.game}?wait=60"))
                await stream.game()
                await crowd(found, 2)
                poll.reset()
                await crowd(found, 1)
            await crowd(found, 0)

    run(main())


def test_nobody_waits_longer_than_the_service(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, two(found.address) as (ann, bob), Caller(found.address) as poll:
            version = (await bob.see()).headers["x-game-version"]
            await poll.say(request("GET", f"/games/{ann.game}?wait=60&since={version}", "bob"))
            async with following(found.address, ann.game, "bob") as stream:
                await stream.game()
                await crowd(found, 2)
                end = asyncio.ensure_future(found.stop(PATIENCE))
                got = await answer(poll)
                assert got.status == 200
                assert got.json["turn"]["playerID"] == "", "the hand was void"
                assert [player["wealth"] for player in got.json["table"]] == [10_000, 10_000]
                assert (await stream.game())[1] == got.json
                assert await stream.piece() == ""
                assert stream.ended
                await end

    run(main())


# Streams.


@pytest.mark.parametrize("accept", ["text/event-stream", "application/x-ndjson"])
def test_a_stream_tells_the_whole_game_at_once_and_after_every_change(run: Run, accept: str) -> None:
    async def main() -> None:
        async with (
            opened() as found,
            two(found.address) as (ann, bob),
            following(found.address, ann.game, Accept=accept) as stream,
        ):
            assert stream.headers["content-type"] == accept
            assert stream.headers["cache-control"] == "no-store"
            for turn, guest in enumerate((ann, bob, bob, ann)):
                version, game = await stream.game()
                got = await ask(guest.caller, "GET", f"/games/{ann.game}")
                assert game == got.json
                if accept == "text/event-stream":
                    assert version == int(got.headers["x-game-version"])
                await guest.act(1, 10 if turn == 0 else 0)

    run(main())


def test_hole_cards_are_streamed_to_their_owner_only(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, two(found.address) as (ann, bob), Caller(found.address) as other:
            await ask(other, "POST", "/users/", "cid")
            holes = [(await guest.see()).json["cards"]["hole"] for guest in (ann, bob)]
            for user, hole in (("ann", holes[0]), ("bob", holes[1]), ("cid", []), (None, [])):
                async with following(found.address, ann.game, user) as stream:
                    _, game = await stream.game()
                    assert game["cards"]["hole"] == hole

    run(main())


def test_what_was_heard_before_is_not_told_again(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, two(found.address) as (ann, _):
            version = (await ann.see()).headers["x-game-version"]
            async with following(found.address, ann.game, Last_Event_ID=version) as stream:
                await crowd(found, 1)
                await ann.act(1, 10)
                assert (await stream.game())[0] == int(version) + 1
            for last in ("0", "x", "", "-1", "9" * 5000):
                async with following(found.address, ann.game, Last_Event_ID=last) as stream:
                    assert (await stream.game())[0] == int(version) + 1

    run(main())


@pytest.mark.parametrize(("accept", "alive"), [("text/event-stream", ": nothing new"), ("application/x-ndjson", "")])
def test_a_stream_without_news_is_kept_alive(run: Run, accept: str, alive: str) -> None:
    async def main() -> None:
        async with (
            opened(limits=ServiceLimits(heartbeat_seconds=0.01)) as found,
            two(found.address) as (ann, _),
            following(found.address, ann.game, Accept=accept) as stream,
        ):
            await stream.game()
            for _ in range(3):
                assert await stream.piece() == alive
            await ann.act(1, 10)
            while (piece := await stream.piece()) == alive:
                pass
            assert ann.guid in piece

    run(main())


@pytest.mark.parametrize("path", ["/games/nothing/events", "/games/nothing/events?x", "/games/nothing/events/"])
def test_there_is_no_stream_of_no_game(run: Run, path: str) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            got = await ask(caller, "GET", path)
            assert (got.status, got.text[:12]) == (404, "holdem-8.4: ")
            assert (await ask(caller, "HEAD", path)).status == 404

    run(main())


def test_the_head_of_a_stream_ends(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            game = await first_game(caller)
            await caller.say(request("HEAD", f"/games/{game}/events") + request("GET", "/games/"))
            got = await answer(caller, head=True)
            assert (got.status, got.headers["content-type"]) == (200, "text/event-stream")
            assert (await answer(caller)).json[0]["gameID"] == game

    run(main())


def test_in_dialect_hspe_go_only_who_sits_there_follows_with_credentials(run: Run) -> None:
    async def main() -> None:
        async with opened("hspe-go") as found, Caller(found.address) as caller:
            game = await first_game(caller)
            await ask(caller, "POST", "/users/", "ann")
            for path in (f"/games/{game}/events", f"/games/{game}?wait=30", f"/games/{game}"):
                got = await ask(caller, "GET", path, "ann")
                assert (got.status, got.text[:12]) == (403, "holdem-7.3: ")
            await ask(caller, "POST", f"/games/{game}/players/", "ann")
            async with following(found.address, game, "ann") as stream:
                assert (await stream.game())[1]["table"][0]["handle"] == "ann"

    run(main())


# Limits.


def test_streams_and_long_polls_are_limited_for_everybody_and_together(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(
                limits=ServiceLimits(max_streams=3, max_streams_per_user=2),
                reception=ConnectionLimits(close_timeout=0.05),
            ) as found,
            two(found.address) as (ann, bob),
            following(found.address, ann.game, "ann"),
            Caller(found.address) as poll,
        ):
            await poll.say(request("GET", f"/games/{ann.game}?wait=30", "ann"))
            await crowd(found, 2)
            for path in (f"/games/{ann.game}/events", f"/games/{ann.game}?wait=30"):
                got = await ask(ann.caller, "GET", path, "ann")
                assert (got.status, got.headers["retry-after"], got.text[:13]) == (429, "1", "holdem-9.10: ")
            async with following(found.address, ann.game, "bob"):
                await crowd(found, 3)
                assert (await ask(bob.caller, "GET", f"/games/{ann.game}/events")).status == 429
                assert (await ask(bob.caller, "GET", f"/games/{ann.game}")).status == 200
            await crowd(found, 2)
            async with following(found.address, ann.game):
                await crowd(found, 3)

    run(main())


def test_a_slow_reader_is_told_what_is_newest(run: Run) -> None:
    """What cannot be sent yet waits in one place only: what is newest when there is room."""

    async def main() -> None:
        with Web() as web:
            game, guids = await web.seated("ann", "bob")
            told: list[bytes] = []
            room, full = asyncio.Event(), asyncio.Event()
            left: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

            async def receive() -> dict[str, Any]:
                return await left

            async def send(message: Any) -> None:
                if message.get("body"):
                    told.append(message["body"])
                    full.set()
                    await room.wait()
                    room.clear()

            headers = [(b"accept", b"application/x-ndjson")]
            path = f"/games/{game}/events"
            scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
            stream = asyncio.ensure_future(web.service(scope, receive, send))
            await full.wait()
            for _ in range(50):
                await web.check_or_call(game, dict(zip(guids, ("ann", "bob"), strict=True)))
            newest = (await web.ask("GET", f"/games/{game}")).json
            full.clear()
            room.set()
            await full.wait()
            assert len(told) == 2
            assert json.loads(told[1]) == newest
            left.set_result({"type": "http.disconnect"})
            room.set()
            await stream

    run(main())
