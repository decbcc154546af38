"""The OpenAPI document is valid, and the service conforms to it."""

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
from croupier.http.holdem_app import HoldemApp
from croupier.http.limits import ServiceLimits
from croupier.http.openapi import openapi_document
from croupier.http.routes import OPERATIONS, ROUTES, find_route
from croupier.net.event_loop import loop_factory
from croupier.net.rate_limiter import RateLimiter
from croupier.rooms.holdem.wire import Join
from tests.http.service_fixture import InProcessService, basic, close, house
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.quick_hashes import QUICK
from tests.sampling import example_count

DIALECTS = ["readme", "hspe-go"]


def test_document_is_served_as_json(run: Run) -> None:
    async def main() -> None:
        for dialect in DIALECTS:
            with InProcessService(dialect) as web:
                got = await web.ask("GET", "/openapi.json")
                assert (got.status, got.headers["content-type"]) == (200, "application/json")
                assert got.json == json.loads(json.dumps(openapi_document(dialect)))  # type: ignore[arg-type]
                assert got.json["openapi"].startswith("3.1.")

    run(main())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_schemas_are_valid(dialect: Any) -> None:
    found: Any = json.loads(json.dumps(openapi_document(dialect)))
    schemas = found["components"]["schemas"]
    assert {"Bet", "Fold", "Game", "Player", "Turn", "Cards", "Pot", "Problem"} <= {*schemas}
    for schema in schemas.values():
        jsonschema_rs.meta.validate(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})
    refs = [line for line in json.dumps(found).split('"') if line.startswith("#/components/schemas/")]
    assert {ref.rpartition("/")[2] for ref in refs} <= {*schemas}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_games_match_their_schema(run: Run, dialect: Any) -> None:
    document: Any = json.loads(json.dumps(openapi_document(dialect)))
    schema = {"$ref": "#/components/schemas/Game", "components": document["components"]}
    validator = jsonschema_rs.validator_for(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})

    async def main() -> None:
        with InProcessService(dialect) as web:
            await web.register("ann", "bob")
            users = {web.house.guid_of(user): user for user in ("ann", "bob")}
            game = await web.game()
            for user in users.values():
                await web.ask("POST", f"/games/{game}/players/", user)
            for _ in range(20):
                for viewer in ("ann", "bob", None):
                    validator.validate((await web.ask("GET", f"/games/{game}", viewer)).json)
                assert (await web.check_or_call(game, users)).status == 201

    run(main())


def test_operations_are_exactly_those_of_the_routes() -> None:
    paths: Any = openapi_document("readme")["paths"]
    for path, operations in ROUTES.items():
        found = find_route(path)
        assert found is not None
        assert found[0] is operations
        assert {*paths[path]} - {"parameters"} == {method.lower() for method in operations}
    assert {*paths} == {*ROUTES}


class ThreadedService:
    """A service in its own thread, with a game of Ann and Bob."""

    def __init__(self, dialect: str) -> None:
        self.dialect: Any = dialect
        self.game = self.player = ""
        self.loop = loop_factory()()
        self.faults: list[tuple[str, dict[str, object]]] = []
        self.thread = Thread(target=self.loop.run_forever, daemon=True)

    def error(self, event: str, **facts: object) -> None:
        self.faults.append((event, facts))

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(2 * TIMEOUT_SECONDS)

    async def open(self) -> HoldemApp:
        game_house = house(dialect=self.dialect, turn_seconds=3600.0)
        game = game_house.games()[0]
        authenticator = Authenticator(
            hasher=QUICK,
            name_limiter=RateLimiter(10**9, 1.0),
            address_limiter=RateLimiter(10**9, 1.0),
            registration_limiter=RateLimiter(10**9, 1.0),
        )
        service = HoldemApp(
            game_house,
            authenticator,
            self.dialect,
            log=self,  # type: ignore[arg-type]
            limits=ServiceLimits(max_wait_seconds=0.0),
        )
        for user in ("ann", "bob"):
            await authenticator.register(basic(user).encode(), "")
            service.service.submit(Join(user, game.guid))
        self.game, self.player = game.guid, game_house.guid_of("ann")
        await service.listen("127.0.0.1", 0)
        return service


@contextmanager
def opened(dialect: str) -> Iterator[tuple[str, ThreadedService]]:
    found = ThreadedService(dialect)
    found.thread.start()
    service: HoldemApp = found.run(found.open())
    try:
        yield f"http://127.0.0.1:{service.address[1]}", found
    finally:
        found.run(close(service))
        found.loop.call_soon_threadsafe(found.loop.stop)
        found.thread.join()
        found.loop.close()


@pytest.mark.extended
@pytest.mark.parametrize(("dialect", "user"), [*product(DIALECTS, ["ann", None])])
def test_service_conforms_to_its_document(dialect: str, user: str | None) -> None:
    fuzz(dialect, user, example_count(10))


@pytest.mark.slow
@pytest.mark.parametrize("user", [None, "ann"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_service_conforms_to_its_document_for_many_requests(dialect: str, user: str | None) -> None:
    fuzz(dialect, user, 100)


def fuzz(dialect: str, user: str | None, examples: int) -> None:
    """Let schemathesis make valid and invalid requests from the document, and check the responses against it.

    Streams have no end, so they are left out.
    """
    with opened(dialect) as (url, service), Session() as session:
        schema = schemathesis.openapi.from_dict(json.loads(json.dumps(openapi_document(service.dialect))))
        names = {"gameID": service.game, "playerID": service.player}
        tested = set()
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.path.endswith("/events"):
                continue
            headers = {} if user is None else {"Authorization": basic(user)}
            excluded = excluded_checks_for(dialect, operation.path, user)
            known = {name: guid for name, guid in names.items() if f"{{{name}}}" in operation.path}
            for fixed, mode in product([None, known] if known else [None], GenerationMode):
                cases = operation.as_strategy(mode, path_parameters=fixed)
                with suppress(Unsatisfiable):  # without parameters there is no invalid request
                    check_cases(
                        cases, examples, base_url=url, session=session, headers=headers, excluded_checks=excluded
                    )
                    tested.add((mode, operation.path, operation.method))
        assert {(path, method.upper()) for mode, path, method in tested if mode is GenerationMode.POSITIVE} == {
            (operation.path, operation.method) for operation in OPERATIONS if operation.id != "get_events"
        }
        assert (GenerationMode.NEGATIVE, "/games/{gameID}/players/{playerID}/acts/", "post") in tested
        assert service.faults == []


def check_cases(cases: SearchStrategy[schemathesis.Case], examples: int, **options: Any) -> None:
    @settings(max_examples=examples, database=None, suppress_health_check=[*HealthCheck])
    @given(cases)
    def conforms(case: schemathesis.Case) -> None:
        case.call_and_validate(**options, timeout=TIMEOUT_SECONDS)

    conforms()


def excluded_checks_for(dialect: str, path: str, user: str | None) -> list[Any]:
    """Checks that do not apply: malformed credentials are 400 here (rulings H1, H5), not 401."""
    if path == "/users/" or (dialect == "hspe-go" and user is None):
        return [ignored_auth, positive_data_acceptance]
    return [ignored_auth] if dialect == "hspe-go" else []
