"""Requests that schemathesis makes from the OpenAPI document, and its checks of the responses."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import product
from threading import Thread
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from requests import Session
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.http.limits import ServiceLimits
from croupier.http.openapi import openapi_document
from croupier.http.routes import OPERATIONS
from croupier.net.event_loop import loop_factory
from croupier.net.rate_limiter import RateLimiter
from croupier.rooms.holdem.wire import Join
from tests.http.service_fixture import basic, close, house
from tests.net.raw_client import TIMEOUT_SECONDS


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
            hasher=QUICK_HASHER,
            name_limiter=RateLimiter(10**9, 1.0),
            address_limiter=RateLimiter(10**9, 1.0),
            registration_limiter=RateLimiter(10**9, 1.0),
        )
        service = HoldemApp(
            game_house,
            authenticator,
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
