"""Whoever looks after a server is told whether its rooms can be played in."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from croupier.shell.health import beside, health


class Room:
    def __init__(self, trouble: str | None = None) -> None:
        self.trouble = trouble


def test_all_is_well_when_every_room_is() -> None:
    status, body = health(["kuhn", "holdem"], {"kuhn": Room(), "holdem": Room()})
    assert status == "200 OK"
    assert json.loads(body) == {"status": "ok", "rooms": {"kuhn": {"status": "ok"}, "holdem": {"status": "ok"}}}


@pytest.mark.parametrize(
    ("rooms", "reason"),
    [({"kuhn": Room(), "holdem": Room("no space")}, "no space"), ({"kuhn": Room()}, "it is not open yet")],
)
def test_a_room_that_is_down_says_why_and_the_others_are_well(rooms: dict[str, Room], reason: str) -> None:
    status, body = health(["kuhn", "holdem"], rooms)
    assert status == "503 Service Unavailable"
    found = {"kuhn": {"status": "ok"}, "holdem": {"status": "down", "reason": reason}}
    assert json.loads(body) == {"status": "down", "rooms": found}


def other(environ: dict[str, Any], start_response: Callable[..., object]) -> Sequence[bytes]:
    start_response("204 No Content", [])
    return [environ["PATH_INFO"].encode()]


@pytest.mark.parametrize(
    ("method", "path", "status", "length"),
    [
        ("GET", "/healthz", "200 OK", 49),
        ("HEAD", "/healthz", "200 OK", 0),
        ("POST", "/healthz", "204 No Content", 8),
        ("GET", "/metrics", "204 No Content", 8),
    ],
)
def test_only_its_own_path_is_answered(method: str, path: str, status: str, length: int) -> None:
    said: list[str] = []
    ask: Any = beside(other, ["kuhn"], {"kuhn": Room()})
    body = b"".join(ask({"PATH_INFO": path, "REQUEST_METHOD": method}, lambda told, _: said.append(told)))
    assert (said, len(body)) == ([status], length)
