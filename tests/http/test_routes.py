"""Paths and methods stand for the requests to the house (holdem-1.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.http.routes import OPERATIONS, parse_command
from croupier.rooms.holdem.wire import ACTION_BET, Act, HoldemRequest, Join, Leave, Open, RequestRefused
from tests.http.service_fixture import house
from tests.net.raw_client import Run

COMMANDS: dict[tuple[str, str], HoldemRequest] = {
    ("POST", "/games"): Open("ann"),
    ("POST", "/games/g/players"): Join("ann", "g"),
    ("POST", "/games/g/players/p/acts"): Act("ann", "g", "p", ACTION_BET, 20),
    ("DELETE", "/games/g/players/p"): Leave("ann", "g", "p"),
}


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_is_parsed_with_and_without_a_trailing_slash(command: tuple[str, str], slash: str) -> None:
    """holdem-1.2, holdem-1.3"""
    method, path = command
    body = b'{"action": 1, "betAmount": 20}'
    assert parse_command(method, path + slash, "ann", body) == COMMANDS[command]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/"),
        ("POST", ""),
        ("POST", "/game"),
        ("POST", "//games"),
        ("POST", "/games//"),
        ("POST", "/Games/"),
        ("GET", "/games/"),
        ("PUT", "/games/g/players/"),
        ("POST", "/games/g"),
        ("POST", "/games//players/"),
        ("POST", "/games/g/players/p"),
        ("POST", "/games/g/players//acts/"),
        ("POST", "/games//players/p/acts/"),
        ("POST", "/games/g/players/p/acts//"),
        ("POST", "/games/g/players/p/acts/1"),
        ("DELETE", "/games/g/players/"),
        ("DELETE", "/games//players/p"),
        ("DELETE", "/games/g/players/p/acts/"),
        ("DELETE", "/games/g"),
        ("post", "/games/"),
    ],
)
def test_unknown_commands_are_refused(method: str, path: str) -> None:
    """holdem-8.3"""
    found = parse_command(method, path, "ann", b"")
    assert isinstance(found, RequestRefused)
    assert (found.status, found.clause) == (404, "holdem-8.3")


def test_unneeded_bodies_are_ignored() -> None:
    """holdem-1.7"""
    for (method, path), request in COMMANDS.items():
        if "acts" not in path:
            assert parse_command(method, path, "ann", b"\xff{") == request


@given(st.text(max_size=30), st.sampled_from(["GET", "POST", "DELETE", "PUT"]))
def test_arbitrary_requests_are_parsed_or_refused(path: str, method: str) -> None:
    found = parse_command(method, path, "ann", b"")
    assert isinstance(found, RequestRefused) or path.startswith("/games")


def test_every_operation_of_the_routes_has_a_handler(run: Run) -> None:
    async def main() -> None:
        app = HoldemApp(house(), Authenticator(hasher=QUICK_HASHER))
        assert {*app.handlers} == {operation.id for operation in OPERATIONS}
        app.authenticator.close()

    run(main())
