"""The OpenAPI document is valid, and the service conforms to it."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import jsonschema_rs
import pytest

from croupier.http.openapi import openapi_document
from croupier.http.routes import ROUTES, find_route
from tests.http.service_fixture import InProcessService
from tests.net.raw_client import Run
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


@pytest.fixture
def fuzz() -> Callable[[str, str | None, int], None]:
    from tests.http.openapi_fuzz import fuzz  # schemathesis takes long to import

    return fuzz


@pytest.mark.extended
@pytest.mark.parametrize(("dialect", "user"), [*product(DIALECTS, ["ann", None])])
def test_service_conforms_to_its_document(
    dialect: str, user: str | None, fuzz: Callable[[str, str | None, int], None]
) -> None:
    fuzz(dialect, user, example_count(10))


@pytest.mark.slow
@pytest.mark.parametrize("user", [None, "ann"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_service_conforms_to_its_document_for_many_requests(
    dialect: str, user: str | None, fuzz: Callable[[str, str | None, int], None]
) -> None:
    fuzz(dialect, user, 100)
