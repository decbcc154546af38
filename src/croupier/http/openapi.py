"""The OpenAPI 3.1 document of the hold'em service."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from msgspec.json import schema_components

from croupier.http.routes import ROUTES, Bet, Fold, Operation, Problem, ResponseContent, User
from croupier.rooms.holdem.wire import Dialect, Game
from croupier.version import __version__


def openapi_document(dialect: Dialect) -> dict[str, object]:
    """The OpenAPI 3.1 document of the service in a dialect."""
    types = [Problem, Fold, Bet, User, Game]
    _, schemas = schema_components(types, ref_template="#/components/schemas/{name}")
    paths: dict[str, dict[str, object]] = {}
    for path, operations in ROUTES.items():
        names = re.findall(r"\{(\w+)\}", path)
        paths[path] = {
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
                for name in names
            ],
            **{method.lower(): dict(_operation(operation, dialect)) for method, operation in operations.items()},
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "No-limit hold'em",
            "version": __version__,
            "description": f"The Hacker School Poker Engine's protocol, in dialect {dialect}, and additions to it.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"user": {"type": "http", "scheme": "basic"}},
        },
    }


def _operation(operation: Operation, dialect: Dialect) -> Iterator[tuple[str, object]]:
    yield "operationId", operation.id
    yield "summary", operation.summary
    yield "description", f"See clause {operation.clause}."
    security: list[dict[str, list[str]]] = [{"user": []}]
    if operation.credentials in {"allowed", "none"}:
        security = [{}, *security] if operation.credentials == "allowed" else []
    yield "security", security
    if operation.query:
        yield (
            "parameters",
            [
                {"name": name, "in": "query", "description": description, "schema": schema}
                for name, (description, schema) in operation.query.items()
            ],
        )
    if operation.body:
        schema = {"oneOf": [_schema(python_type) for python_type in operation.body]}
        yield "requestBody", {"required": True, "content": {"application/json": {"schema": schema}}}
    success_content = operation.success_content
    if dialect == "hspe-go" and operation.hspe_go_success_content is not None:
        success_content = operation.hspe_go_success_content
    responses: dict[str, object] = {}
    for status, content in success_content.items():
        responses[str(status)] = _response(status, _media(content, dialect), operation.headers)
    if "ETag" in operation.headers:
        responses["304"] = _response(304, {}, operation.headers)
    error_statuses = {*operation.error_statuses}
    if dialect == "hspe-go":
        error_statuses |= {*operation.hspe_go_error_statuses} | (
            {400} if operation.credentials != "none" else set()
        )  # holdem-7.5
    for status in sorted(error_statuses):
        error_content = {
            "text/plain": {"schema": {"type": "string"}},
            "application/problem+json": {"schema": _schema(Problem)},
        }
        responses[str(status)] = _response(status, error_content, ERROR_HEADERS.get(status, {}))
    yield "responses", responses


ERROR_HEADERS = {
    401: {"WWW-Authenticate": "Basic, in UTF-8."},
    429: {"Retry-After": "Seconds until the request may be repeated."},
}
"""Headers of error responses by status."""


def _response(status: int, content: Mapping[str, object], headers: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {"description": HTTPStatus(status).phrase}
    if headers:
        found["headers"] = {
            name: {"description": description, "schema": {"type": "string"}} for name, description in headers.items()
        }
    if content:
        found["content"] = content
    return found


def _media(content: ResponseContent, dialect: Dialect) -> dict[str, object]:
    if content is None:
        return {}
    if isinstance(content, tuple):
        return {content_type: {"schema": {"type": "string"}} for content_type in content}
    content_type = "application/json" if dialect == "readme" or content == dict[str, Any] else "text/plain"
    return {content_type: {"schema": _schema(content)}}


def _schema(python_type: Any) -> dict[str, Any]:
    (schema,), _ = schema_components([python_type], ref_template="#/components/schemas/{name}")
    return schema
