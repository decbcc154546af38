"""The hold'em service: paths, methods, credentials, sizes, errors, and views of games."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from croupier.core.session import Effect, Event, Received, Send, TableChanged
from croupier.http import views
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.limits import ServiceLimits
from croupier.http.routes import ROUTES, allowed_methods
from croupier.http.views import make_representation
from croupier.net import event_loop
from croupier.net.rate_limiter import RateLimiter
from croupier.rooms.holdem.wire import Open, encode
from tests.http.service_fixture import (
    InProcessConnection,
    InProcessService,
    ManualClock,
    Response,
    basic,
    request,
)
from tests.net.raw_client import Run


@pytest.fixture
def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Use only the default event loop, because these tests have no sockets."""
    return event_loop.loop_factory()


DIALECTS = pytest.mark.parametrize("dialect", ["readme", "hspe-go"])


def example_path(route: str) -> str:
    """A path of a route, with some values for its parameters."""
    return route.format(gameID="nothing", playerID="nobody", hand="1")


# Paths and methods.


@pytest.mark.parametrize(
    "path",
    ["/", "/%20", "/game", "/games/x/y", "/games//", "/games//players", "/games/x/players//acts", "/users/x", "//games",
     "/games/x/players/y/acts/z", "/games/x/hands/1", "/games/x/hands/.phh", "/Games/", "/openapi.json/x"],
)  # fmt: skip
def test_unknown_path_is_404(run: Run, path: str) -> None:
    async def main() -> None:
        with InProcessService() as web:
            for method in ("GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"):
                got = await web.ask(method, path)
                assert (got.status, got.text[:12]) == (404, "" if method == "HEAD" else "holdem-8.3: ")

    run(main())


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("route", ROUTES)
def test_other_method_is_405_with_the_allowed_ones(run: Run, route: str, slash: str) -> None:
    async def main() -> None:
        path, allowed = example_path(route).rstrip("/") + slash, allowed_methods(ROUTES[route])
        with InProcessService() as web:
            for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - {
                *allowed.split(", ")
            }:
                got = await web.ask(method, path, headers={"authorization": "nonsense"}, body=b"x" * 70_000)
                assert (got.status, got.headers["allow"]) == (405, allowed)
                if method != "HEAD":
                    assert got.text == f"holdem-8.6: found {method}; allowed: {got.headers['allow']}\n"

    run(main())


def test_methods_of_the_routes() -> None:
    assert {path: allowed_methods(operations) for path, operations in ROUTES.items()} == {
        "/users/": "POST",
        "/games/": "GET, HEAD, POST",
        "/games/{gameID}": "GET, HEAD",
        "/games/{gameID}/players/": "POST",
        "/games/{gameID}/players/{playerID}": "DELETE",
        "/games/{gameID}/players/{playerID}/acts/": "POST",
        "/games/{gameID}/events": "GET, HEAD",
        "/games/{gameID}/hands/{hand}.phh": "GET, HEAD",
        "/openapi.json": "GET, HEAD",
    }


@DIALECTS
def test_trailing_slash_is_optional(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            await web.register("ann", "bob")
            game = await web.game()
            assert (await web.ask("POST", f"/games/{game}/players", "ann")).status in {201, 202}
            for path in ("/games", f"/games/{game}", "/openapi.json"):
                for user in (None, "ann"):
                    one, other = await web.ask("GET", path, user), await web.ask("GET", path + "/", user)
                    assert one.status == other.status == 200
                    assert (one.headers, one.body) == (other.headers, other.body)
            assert (await web.ask("POST", "/users", "cid")).status == 201
            assert (await web.ask("POST", "/games", "bob")).status in {201, 202}

    run(main())


@DIALECTS
def test_head_is_get_without_a_body(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            await web.register("ann")
            game = await web.game()
            await web.ask("POST", f"/games/{game}/players/", "ann")
            for path in ("/games/", f"/games/{game}", f"/games/{game}?wait=60", "/games/x", "/openapi.json"):
                for user in (None, "ann") if dialect == "readme" else (None,):
                    got = await web.ask("GET", path.partition("?")[0], user)
                    head = await web.ask("HEAD", path, user)
                    assert (head.status, head.headers, head.body) == (got.status, got.headers, b"")

    run(main())


# Errors.


@pytest.mark.parametrize("path", ["/users/", "/games/", "/games/x/players/", "/games/x/players/y/acts/"])
@pytest.mark.parametrize("parts", [1, 3, 1000])
def test_body_of_more_than_64_kib_is_413(run: Run, path: str, parts: int) -> None:
    async def main() -> None:
        with InProcessService() as web:
            await web.register("ann")
            for length, known in ((65_537, True), (65_537, False), (10**18, True)):
                body = b"x" * min(length, 70_000)
                headers = {"content-length": str(length)} if known else {}
                for user in (None, "ann"):
                    got = await web.ask("POST", path, user, body, parts=parts, headers=headers)
                    assert (got.status, got.text[:12]) == (413, "holdem-8.7: "), "with and without credentials"
                    assert got.text.endswith("; allowed: 65536\n")
            got = await web.ask("POST", path, "ann", b"x" * 65_536, parts=parts)
            assert got.status in {400, 403, 404, 201}

    run(main())


def test_client_that_disconnects_during_a_body_is_not_answered(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            for lines in (["Content-Length: 20"], ["Transfer-Encoding: chunked"]):
                client = InProcessConnection(web.service)
                head = "\r\n".join(["POST /games/ HTTP/1.1", "Host: x", *lines, "", ""])
                assert client.ask(head.encode() + b'9\r\n{"action"') is None
                await client.leave()
                assert client.transport.writes == []

    run(main())


BAD_CREDENTIALS = {
    "missing": {},
    "malformed": {"authorization": "Basic !!!"},
    "of another kind": {"authorization": "Bearer abc"},
    "wrong": {"authorization": basic("ann", "guess")},
    "of an unknown user": {"authorization": basic("bob")},
}


@pytest.mark.parametrize(("kind", "headers"), BAD_CREDENTIALS.items(), ids=BAD_CREDENTIALS.keys())
@DIALECTS
def test_bad_credentials_are_refused_everywhere(run: Run, dialect: str, kind: str, headers: dict[str, str]) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            await web.register("ann")
            game = await web.game()
            status = 400 if dialect == "hspe-go" and kind in {"missing", "malformed", "of another kind"} else 401
            wanted = [
                ("POST", "/games/"),
                ("POST", f"/games/{game}/players/"),
                ("POST", f"/games/{game}/players/x/acts/"),
                ("DELETE", f"/games/{game}/players/x"),
            ]
            allowed = [
                ("GET", "/games/"),
                ("GET", f"/games/{game}"),
                ("GET", "/games/nothing"),
                ("GET", f"/games/{game}?wait=x"),
                ("GET", f"/games/{game}/events"),
                ("GET", f"/games/{game}/hands/1.phh"),
            ]
            for method, path in wanted + (allowed if kind != "missing" else []):
                got = await web.ask(method, path, headers=headers)
                assert got.status == status, (method, path)
                challenge = 'Basic realm="croupier", charset="UTF-8"' if status == 401 else None
                assert got.headers.get("www-authenticate") == challenge
                assert "; allowed: " in got.text

    run(main())


@DIALECTS
def test_registration_needs_credentials_and_a_free_name(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            got = await web.ask("POST", "/users/", "ann", b"anything")
            guid = got.json if dialect == "readme" else got.json["PlayerID"]
            assert (got.status, guid) == (201, web.house.guid_of("ann"))
            for headers in ({}, {"authorization": "Basic !!!"}, {"authorization": basic("")}):
                assert (await web.ask("POST", "/users/", headers=headers)).status == 400
            unchanged = await web.ask("POST", "/users/", "ann")
            assert (unchanged.status, unchanged.text[:12]) == (
                (201, '{"PlayerID":') if dialect == "hspe-go" else (403, "holdem-2.6: ")
            )
            other = await web.ask("POST", "/users/", headers={"authorization": basic("ann", "guess")})
            assert (other.status, other.text[:12]) == (
                (403, "holdem-7.1: ") if dialect == "hspe-go" else (403, "holdem-2.6: ")
            )

    run(main())


def test_too_many_wrong_passwords_are_429(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            await web.register("ann")
            guess = {"authorization": basic("ann", "guess")}
            statuses = [(await web.ask("GET", "/games/", headers=guess)).status for _ in range(11)]
            assert statuses == [401] * 10 + [429]
            got = await web.ask("POST", "/games/", headers=guess)
            assert (got.status, got.headers["retry-after"], got.text[:12]) == (429, "60", "holdem-2.9: ")
            assert (await web.ask("GET", "/games/", "ann")).status == 200, "a cached login is not limited"
            web.clock.now += 60.0
            assert (await web.ask("GET", "/games/", headers=guess)).status == 401

    run(main())


def test_too_many_registrations_are_503_or_429(run: Run) -> None:
    async def main() -> None:
        clock = ManualClock()
        authenticator = Authenticator(
            clock=clock, hasher=QUICK_HASHER, registration_limiter=RateLimiter(2, 60.0), max_queued=2
        )
        with InProcessService(authenticator=authenticator) as web:
            responses = await asyncio.gather(
                *(web.ask("POST", "/users/", f"user {n}", address=f"{n}") for n in range(5))
            )
            assert sorted(got.status for got in responses) == [201, 201, 503, 503, 503]
            assert {got.headers.get("retry-after") for got in responses} == {None, "1"}
            assert [(await web.ask("POST", "/users/", f"new {n}")).status for n in range(3)] == [201, 201, 429]

    run(main())


REFUSED = {
    "404": ("GET", "/games/x", 404, "Not Found", "holdem-8.4"),
    "405": ("PUT", "/games/", 405, "Method Not Allowed", "holdem-8.6"),
    "400": ("POST", "/users/", 400, "Bad Request", "holdem-2.5"),
    "401": ("POST", "/games/", 401, "Unauthorized", "holdem-2.7"),
    "the house's": ("DELETE", "/games/x/players/y", 404, "Not Found", "holdem-8.4"),
}


@pytest.mark.parametrize(("method", "path", "status", "title", "clause"), REFUSED.values(), ids=REFUSED.keys())
@DIALECTS
def test_error_is_plain_text_or_a_problem_if_accepted(
    run: Run, dialect: str, method: str, path: str, status: int, title: str, clause: str
) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            await web.register("ann")
            user = "ann" if clause == "holdem-8.4" else None
            plain = await web.ask(method, path, user)
            problem = await web.ask(method, path, user, headers={"accept": "text/html, Application/Problem+JSON;q=0.9"})
            assert plain.headers["content-type"] == "text/plain; charset=utf-8"
            assert problem.headers["content-type"] == "application/problem+json"
            assert plain.status == problem.status
            assert [*problem.json] == ["type", "title", "status", "detail", "clause"]
            assert plain.text == f"{problem.json['clause']}: {problem.json['detail']}\n"
            assert int(problem.headers["content-length"]) == len(problem.body)
            if dialect == "readme":
                assert (problem.status, problem.json["title"], problem.json["clause"]) == (status, title, clause)
                assert problem.json["status"] == status
                assert problem.json["type"] == "about:blank"

    run(main())


MALFORMED_QUERIES = ["wait=x", "wait=-1", "wait=", "wait=1e", "wait=nan", "wait=inf", "wait=1_0", "wait=٣", "wait=."]
MALFORMED_QUERIES += ["since=x", "since=", "since=1.5", "since=--1", "wait=1&since=³"]


@pytest.mark.parametrize("query", MALFORMED_QUERIES)
def test_malformed_parameters_are_400(run: Run, query: str) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game = await web.game()
            got = await web.ask("GET", f"/games/{game}?{query}")
            assert (got.status, got.text[:12]) == (400, "holdem-9.5: ")
            assert (await web.ask("GET", f"/games/nothing?{query}")).status == 400, (
                "malformed parameters are checked first"
            )

    run(main())


LONG_NUMBER = "9" * 5000
VALID_QUERIES = ["wait=0", "wait=0.0&since=-5", "wait=000", "wait=1e-3", "since=1", "other=x", "a&b&&=&%zz"]
VALID_QUERIES += [f"since={LONG_NUMBER}", f"wait={LONG_NUMBER}&since=0"]


@pytest.mark.parametrize("query", VALID_QUERIES)
def test_unknown_and_large_parameters_are_accepted(run: Run, query: str) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game = await web.game()
            assert (await web.ask("GET", f"/games/{game}?{query}")).status == 200
            assert (await web.ask("GET", f"/games/?{query}")).status == 200

    run(main())


def test_internal_error_is_500_and_logged(run: Run) -> None:
    entries: list[tuple[str, dict[str, Any]]] = []

    def broken(event: object, now: float) -> Any:
        raise IndexError("list index out of range")

    class Log:
        def error(self, event: str, **facts: object) -> None:
            entries.append((event, facts))

    async def main() -> None:
        with InProcessService(log=Log()) as web:
            await web.register("ann")
            web.house.on = broken  # type: ignore[method-assign]
            got = await web.ask("POST", "/games/", "ann")
            assert (got.status, got.headers["content-type"]) == (500, "text/plain; charset=utf-8")
            assert "list index" not in got.text
            del web.house.on  # type: ignore[method-assign]
            assert (await web.ask("POST", "/games/", "ann")).status == 201
        ((event, facts),) = entries
        assert event == "internal error"
        assert isinstance(facts["exc_info"], IndexError)
        assert (facts["method"], facts["route"]) == ("POST", "/games/")

    run(main())


# Views.


@DIALECTS
def test_views_equal_the_encoding_of_the_house(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            await web.register("ann", "bob", "cid")
            game = await web.game()
            for user in ("ann", "bob"):
                await web.ask("POST", f"/games/{game}/players/", user)
            await web.ask("POST", "/games/", "ann")
            for user in (None, "ann", "bob", "cid"):
                tables = web.house.games()
                assert len(tables) >= 2
                got = await web.ask("GET", "/games/", user)
                assert got.body == encode([table.view(user) for table in tables], dialect)  # type: ignore[arg-type]
                for table in tables:
                    got = await web.ask("GET", f"/games/{table.guid}", user)
                    if got.status == 200:
                        assert got.body == encode(table.view(user), dialect)  # type: ignore[arg-type]
                        assert got.headers["x-game-version"] == str(table.version)
                    else:
                        assert (dialect, got.status, got.text[:12]) == ("hspe-go", 403, "holdem-7.3: ")
                        assert user not in {player.handle for player in table.view(None).table}

    run(main())


@DIALECTS
def test_headers_of_views(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            game, _ = (
                (await web.game(), await web.register("ann")) if dialect == "hspe-go" else await web.seat_players("ann")
            )
            for path in (f"/games/{game}", "/games/"):
                got = await web.ask("GET", path)
                if dialect == "readme":
                    assert got.headers.pop("content-length") == str(len(got.body))
                    assert got.headers.pop("content-type") == "application/json"
                else:
                    assert got.headers.pop("content-type") == "text/plain; charset=utf-8"
                    assert got.body.endswith(b"}\n" if path != "/games/" else b"]\n")
                etag = got.headers.pop("etag")
                assert etag.startswith('"')
                assert etag.endswith('"')
                if path != "/games/":
                    assert got.headers.pop("x-game-version") == str(web.house.games()[0].version)
                assert got.headers == {"cache-control": "no-cache", "vary": "authorization"}

    run(main())


@DIALECTS
def test_unchanged_view_is_304(run: Run, dialect: str) -> None:
    async def main() -> None:
        with InProcessService(dialect) as web:
            guids = {user: web.house.guid_of(user) for user in ("ann", "bob")}
            await web.register("ann", "bob")
            game = await web.game()
            for user in guids:
                await web.ask("POST", f"/games/{game}/players/", user)
            for path in (f"/games/{game}", "/games/"):
                tags: dict[str, list[str]] = {}
                for _ in range(3):
                    for user in ("ann", "bob", None):
                        got = await web.ask("GET", path, user)
                        tag = got.headers["etag"]
                        tags.setdefault(str(user), []).append(tag)
                        for match in (tag, f"W/{tag}", f'"x", {tag}', "*"):
                            unchanged = await web.ask("GET", path, user, headers={"if-none-match": match})
                            assert (unchanged.status, unchanged.body) == (304, b"")
                            expected = {key: got.headers[key] for key in got.headers if not key.startswith("content-")}
                            assert unchanged.headers == expected
                        waited = await web.ask("GET", f"{path}?wait=0", user, headers={"if-none-match": tag})
                        assert waited.status == 304
                        for match in ('"x"', tag.strip('"'), "", "W/"):
                            other = await web.ask("GET", path, user, headers={"if-none-match": match})
                            assert (other.status, other.body) == (200, got.body)
                    got = await web.check_or_call(game, {guid: user for user, guid in guids.items()})
                    assert got.status == 201
                for found in tags.values():
                    assert len({*found}) == 3, "a new tag after every change"
                assert {*tags["ann"]} & {*tags["bob"]} == set(), "they see other cards"
                assert {*tags["ann"]} & {*tags["None"]} == set()

    run(main())


def test_view_is_rendered_once_per_change_and_viewer(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game, guids = await web.seat_players("ann", "bob")
            await web.register("cid")
            encoded: list[Any] = []
            rendered: list[Any] = []

            def counting_encode(game: Any, dialect: Any) -> bytes:
                encoded.append(game.cards.hole)
                return encode(game, dialect)

            def recording_make_representation(text: bytes, *arguments: Any) -> Any:
                rendered.append(json.loads(text)["cards"]["hole"])
                return make_representation(text, *arguments)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(views, "encode", counting_encode)
                patch.setattr(views, "make_representation", recording_make_representation)
                for turn in range(3):
                    encoded.clear()
                    rendered.clear()
                    for _ in range(5):
                        for user in ("ann", None, "cid", "bob"):
                            await web.ask("GET", f"/games/{game}", user)
                    assert [*map(len, encoded)] == [0], f"turn {turn}: the public"
                    assert sorted(map(len, rendered)) == [0, 2, 2], f"turn {turn}: the public, ann and bob"
                    await web.check_or_call(game, dict(zip(guids, ("ann", "bob"), strict=True)))

    run(main())


def test_hspe_go_list_is_cut_off_at_the_size_limit(run: Run) -> None:
    async def main() -> None:
        with InProcessService("hspe-go", listed=1_000) as web:
            users = [f"somebody with rather a long name {number}" for number in range(600)]
            await web.register(*users[:1])
            for user in users:
                web.service.house_service.submit(Open(user))
            got = await web.ask("GET", "/games/")
            assert len(web.house.games()) >= 600
            assert 130_000 < len(got.body) <= 131_072
            listed = [game["gameID"] for game in got.json]
            assert listed == [table.guid for table in web.house.games()][: len(listed)]

    run(main())


# The house.


def test_observers_are_called_before_the_response_is_sent(run: Run) -> None:
    observed: list[tuple[Event[Any], Sequence[Effect[Any]], float]] = []

    async def main() -> None:
        with InProcessService(observers=[lambda event, effects, now: observed.append((event, effects, now))]) as web:
            game, _ = await web.seat_players("ann", "bob")
            web.clock.now = 3.0
            before = len(observed)
            client = InProcessConnection(web.service)
            written: list[int] = []
            client.transport.write = lambda data: written.append(len(observed))  # type: ignore[method-assign]
            act = {"action": 0}
            path = f"/games/{game}/players/{web.house.guid_of('ann')}/acts/"
            client.connection.data_received(request("POST", path, "ann", act))
            assert written == [before + 1]
            await client.leave()
            event, effects, now = observed[before]
            assert isinstance(event, Received)
            assert now == 3.0
            assert isinstance(effects[-1], Send)
            assert effects[-1].peer == event.peer
            assert any(isinstance(effect, TableChanged) for effect in effects)

    run(main())


def test_each_request_to_the_house_has_its_own_number(run: Run) -> None:
    numbers: list[int] = []

    async def main() -> None:
        with InProcessService(observers=[lambda event, effects, now: numbers.append(event.peer)]) as web:  # type: ignore[union-attr]
            game, _ = await web.seat_players("ann", "bob")
            await web.ask("POST", f"/games/{game}/players/", "ann")
            assert numbers == [1, 2, 3]

    run(main())


def test_deadline_of_the_house_fires(run: Run) -> None:
    """The house uses the real clock here."""

    async def main() -> None:
        with InProcessService(turn_seconds=0.05) as web:
            service = web.service.house_service
            service.clock = service._timer._clock = asyncio.get_running_loop().time
            game, guids = await web.seat_players("ann", "bob")
            first = await web.turn(game)
            assert first["playerID"] == guids[0]
            got = await web.ask("GET", f"/games/{game}?wait=5&since={web.house.games()[0].version}")
            assert [player["handle"] for player in got.json["table"]] == ["bob"]

    run(main())


def test_process_deadlines_with_a_manual_clock(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game, _ = await web.seat_players("ann", "bob", "cid")
            web.clock.now = 14.9
            web.service.house_service.process_deadlines()
            assert len((await web.ask("GET", f"/games/{game}")).json["table"]) == 2
            web.clock.now = 100.0
            web.service.house_service.process_deadlines()
            assert (await web.turn(game))["expiry"] == "1970-01-01T00:01:55.000000Z"

    run(main())


def test_counters(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game, guids = await web.seat_players("ann", "bob")
            await web.act(game, "ann", guids[0], 0)
            counts = web.service.counts
            before = counts.messages_received, counts.messages_sent, counts.bytes_sent
            got = await web.ask("GET", f"/games/{game}")
            missing = await web.ask("GET", "/games/x")
            after = counts.messages_received, counts.messages_sent, counts.bytes_sent
            assert after == (before[0] + 2, before[1] + 2, before[2] + len(got.body) + len(missing.body))
            assert counts.games == 1

    run(main())


def test_rate_limit_and_its_headers(run: Run) -> None:
    async def main() -> None:
        with InProcessService(limits=ServiceLimits(max_requests=5, request_window_seconds=10.0)) as web:
            found: list[Response] = [await web.ask("GET", "/games/") for _ in range(7)]
            assert [got.status for got in found] == [200] * 5 + [429] * 2
            assert [got.headers["ratelimit"] for got in found[:5]] == [
                f'"requests";r={left};t=10' for left in (4, 3, 2, 1, 0)
            ]
            assert {got.headers["ratelimit-policy"] for got in found} == {'"requests";q=5;w=10'}
            assert (found[6].headers["retry-after"], found[6].text[:13]) == ("10", "holdem-9.10: ")
            assert (await web.ask("GET", "/games/", address="192.0.2.2")).status == 200
            web.clock.now += 10.0
            assert (await web.ask("GET", "/games/")).status == 200

    run(main())


def test_no_rate_limit_headers_without_a_limit(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            for _ in range(100):
                got = await web.ask("GET", "/games/")
                assert not {"ratelimit", "ratelimit-policy", "retry-after"} & {*got.headers}

    run(main())
