"""The service is described to programs as it is: the description is valid, and the service keeps to it."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import product
from threading import Thread
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from requests import Session
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from croupier.http.auth import Authenticator
from croupier.http.holdem_app import HoldemApp, HoldemServer, open_holdem_server
from croupier.http.limits import ServiceLimits
from croupier.http.openapi import ROUTES, find_route, openapi_document
from croupier.net.event_loop import loop_factory
from croupier.net.rate_limiter import RateLimiter
from croupier.rooms.holdem.wire import Join
from tests.http.service_fixture import QUICK, Web, basic, close, house
from tests.net.raw_client import PATIENCE, Run
from tests.sampling import sampled

DIALECTS = ["readme", "hspe-go"]


def test_the_description_is_served_as_json(run: Run) -> None:
    async def main() -> None:
        for dialect in DIALECTS:
            with Web(dialect) as web:
                got = await web.ask("GET", "/openapi.json")
                assert (got.status, got.headers["content-type"]) == (200, "application/json")
                assert got.json == json.loads(json.dumps(openapi_document(dialect)))  # type: ignore[arg-type]
                assert got.json["openapi"].startswith("3.1.")

    run(main())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_schemas_are_valid(dialect: Any) -> None:
    found: Any = json.loads(json.dumps(openapi_document(dialect)))
    schemas = found["components"]["schemas"]
    assert {"Bet", "Fold", "Game", "Player", "Turn", "Cards", "Pot", "Problem"} <= {*schemas}
    for schema in schemas.values():
        jsonschema_rs.meta.validate(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})
    refs = [line for line in json.dumps(found).split('"') if line.startswith("#/components/schemas/")]
    assert {ref.rpartition("/")[2] for ref in refs} <= {*schemas}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_everything_that_is_shown_has_the_shape_that_is_described(run: Run, dialect: Any) -> None:
    described: Any = json.loads(json.dumps(openapi_document(dialect)))
    schema = {"$ref": "#/components/schemas/Game", "components": described["components"]}
    fits = jsonschema_rs.validator_for(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})

    async def main() -> None:
        with Web(dialect) as web:
            await web.enrol("ann", "bob")
            users = {web.house.guid_of(user): user for user in ("ann", "bob")}
            game = await web.game()
            for user in users.values():
                await web.ask("POST", f"/games/{game}/players/", user)
            for _ in range(20):
                for viewer in ("ann", "bob", None):
                    fits.validate((await web.ask("GET", f"/games/{game}", viewer)).json)
                assert (await web.check_or_call(game, users)).status == 201

    run(main())


def test_every_operation_of_the_description_is_there_and_no_other() -> None:
    paths: Any = openapi_document("readme")["paths"]
    for route in ROUTES:
        found = find_route(route.path)
        assert found is not None
        assert found[0] is route
        assert {*paths[route.path]} - {"parameters"} == {method.lower() for method in route.operations}
    assert {*paths} == {route.path for route in ROUTES}


class Open:
    """A service in a thread of its own, at which Ann and Bob play."""

    def __init__(self, dialect: str) -> None:
        self.dialect: Any = dialect
        self.game = self.player = ""
        self.loop = loop_factory()()
        self.faults: list[tuple[str, dict[str, object]]] = []
        self.thread = Thread(target=self.loop.run_forever, daemon=True)

    def error(self, event: str, **facts: object) -> None:
        self.faults.append((event, facts))

    def do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(2 * PATIENCE)

    async def open(self) -> HoldemServer:
        tables = house(dialect=self.dialect, turn_seconds=3600.0)
        game = tables.games()[0]
        guard = Authenticator(
            hasher=QUICK,
            name_limiter=RateLimiter(10**9, 1.0),
            address_limiter=RateLimiter(10**9, 1.0),
            registration_limiter=RateLimiter(10**9, 1.0),
        )
        service = HoldemApp(
            tables,
            guard,
            self.dialect,
            log=self,  # type: ignore[arg-type]
            limits=ServiceLimits(max_wait_seconds=0.0),
        )
        for user in ("ann", "bob"):
            await guard.register(basic(user).encode(), "")
            service.service.execute_now(Join(user, game.guid))
        self.game, self.player = game.guid, tables.guid_of("ann")
        return await open_holdem_server(service, "127.0.0.1", 0)


@contextmanager
def opened(dialect: str) -> Iterator[tuple[str, Open]]:
    found = Open(dialect)
    found.thread.start()
    service: HoldemServer = found.do(found.open())
    try:
        yield f"http://127.0.0.1:{service.address[1]}", found
    finally:
        found.do(close(service))
        found.loop.call_soon_threadsafe(found.loop.stop)
        found.thread.join()
        found.loop.close()


@pytest.mark.parametrize(("dialect", "user"), sampled(product(DIALECTS, ["ann", None]), 3))
def test_no_request_that_the_description_suggests_finds_a_difference(dialect: str, user: str | None) -> None:
    fuzz(dialect, user, 10)


@pytest.mark.slow
@pytest.mark.parametrize("user", [None, "ann"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_request_of_very_many_finds_a_difference(dialect: str, user: str | None) -> None:
    fuzz(dialect, user, 100)


def fuzz(dialect: str, user: str | None, examples: int) -> None:
    """Have schemathesis make requests from the description, good and bad ones, and judge what comes back by it.

    Streams have no end, so they are left out.
    """
    with opened(dialect) as (url, service), Session() as session:
        schema = schemathesis.openapi.from_dict(json.loads(json.dumps(openapi_document(service.dialect))))
        names = {"gameID": service.game, "playerID": service.player}
        tried = set()
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.path.endswith("/events"):
                continue
            headers = {} if user is None else {"Authorization": basic(user)}
            excluded = allowed(dialect, operation.path, user)
            known = {name: guid for name, guid in names.items() if f"{{{name}}}" in operation.path}
            for fixed, mode in product([None, known] if known else [None], GenerationMode):
                cases = operation.as_strategy(mode, path_parameters=fixed)
                with suppress(Unsatisfiable):  # there is nothing wrong to ask where there is nothing to fill in
                    judge(cases, examples, base_url=url, session=session, headers=headers, excluded_checks=excluded)
                    tried.add((mode, operation.path, operation.method))
        assert {(path, method.upper()) for mode, path, method in tried if mode is GenerationMode.POSITIVE} == {
            (route.path, method) for route in ROUTES for method in route.operations if route.name != "events"
        }
        assert (GenerationMode.NEGATIVE, "/games/{gameID}/players/{playerID}/acts/", "post") in tried
        assert service.faults == []


def judge(cases: SearchStrategy[schemathesis.Case], examples: int, **how: Any) -> None:
    @settings(max_examples=examples, database=None, suppress_health_check=[*HealthCheck])
    @given(cases)
    def keeps_to_it(case: schemathesis.Case) -> None:
        case.call_and_validate(**how, timeout=PATIENCE)

    keeps_to_it()


def allowed(dialect: str, path: str, user: str | None) -> list[Any]:
    """What schemathesis would complain of: credentials that are none are 400 here (rulings H1, H5), not 401."""
    if path == "/users/" or (dialect == "hspe-go" and user is None):
        return [ignored_auth, positive_data_acceptance]
    return [ignored_auth] if dialect == "hspe-go" else []
