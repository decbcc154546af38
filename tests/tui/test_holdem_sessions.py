"""Hold'em sessions with a misbehaving server, without a terminal."""

import asyncio
from typing import Any, cast

import httpx
import pytest
from rich.console import Console
from rich.live import Live

from croupier.clients.holdem import HoldemClient
from croupier.tui.holdem.scene import HoldemScene
from croupier.tui.interaction import play_session
from croupier.tui.keys import END_OF_INPUT
from croupier.tui.scene import TableAction
from croupier.tui.terminal import Terminal
from tests.processes import PATIENCE


class Host:
    """A mock server. `answers` maps METHOD_LAST-PATH-SEGMENT to status and JSON, or to None for no answer at all."""

    def __init__(self, **answers: tuple[int, Any] | None) -> None:
        self.answers: dict[str, tuple[int, Any] | None] = {
            "GET_games": (200, [{"gameID": "g"}]),
            "POST_players": (201, "p"),
            "GET_g": (200, ALONE),
            "DELETE_p": (200, ""),
        } | answers
        self.requests: list[str] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        endpoint = f"{request.method}_{request.url.path.rstrip('/').rpartition('/')[2]}"
        self.requests.append(endpoint)
        answer = self.answers[endpoint]
        if answer is None:
            await asyncio.get_running_loop().create_future()
        assert answer is not None
        return httpx.Response(answer[0], json=answer[1])


def player(handle: str, guid: str, **more: object) -> dict[str, object]:
    return {"playerID": guid, "handle": handle, "wealth": 100, **more}


ALONE = {"gameID": "g", "table": [player("ann", "p")]}
TURN = {
    "gameID": "g",
    "table": [player("ann", "p", small_blind=True, bet_so_far=10), player("bob", "q", bet_so_far=20)],
    "turn": {"playerID": "p", "bet_so_far": 10, "bet_to_player": 20, "minimum_raise": 20, "expiry": "soon"},
    "cards": {"hole": ["AS", "AH"]},
    "pots": [{"size": 30, "players": ["p", "q"]}],
}


class Screen:
    """A session with a `Host`. Each entry of `keys` has texts to wait for on the screen, and the key to press then."""

    def __init__(self, host: Host, *keys: tuple[str, ...]) -> None:
        self.host = host
        self.scene = HoldemScene("server", lambda: 0.0)
        self.shown = ""
        self._keys = list(keys)
        self._pressed: asyncio.Queue[str] = asyncio.Queue()

    def update(self, picture: Any, *, refresh: bool) -> None:
        assert refresh
        console = Console(width=72, height=40, force_terminal=True, color_system=None)
        with console.capture() as capture:
            console.print(picture)
        self.shown = capture.get()
        if self._keys and all(text in self.shown for text in self._keys[0][:-1]):
            self._pressed.put_nowait(self._keys.pop(0)[-1])

    def play(self) -> tuple[TableAction | None, str]:
        async def main() -> tuple[TableAction | None, str]:
            transport = httpx.MockTransport(self.host)
            async with HoldemClient("server", "ann", "secret", retry_timeout=0.0, transport=transport) as client:
                terminal = Terminal(self.scene.draw, self._pressed, cast(Live, self))
                return await play_session(self.scene, client.sit(), terminal)

        async def with_timeout() -> tuple[TableAction | None, str]:
            async with asyncio.timeout(PATIENCE):
                return await main()

        return asyncio.run(with_timeout())


@pytest.fixture
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HoldemScene, "timeout_seconds", 0.05)


def test_joining_times_out(short_timeout: None) -> None:
    with pytest.raises(ConnectionError, match="no answer"):
        Screen(Host(POST_players=None)).play()


def test_rejoining_times_out(short_timeout: None) -> None:
    screen = Screen(Host(), ("Waiting for another player", "q"))
    assert screen.play() == (TableAction.LEAVE, "")
    screen.host.answers["POST_players"] = None
    assert screen.play() == (None, "The server is gone: no answer")


def test_leaving_times_out(short_timeout: None) -> None:
    screen = Screen(Host(DELETE_p=None), ("Waiting for another player", "q"))
    assert screen.play() == (TableAction.LEAVE, "")
    assert screen.host.requests[-1] == "DELETE_p"


def test_a_refusal_during_a_game_ends_the_session() -> None:
    screen = Screen(Host(GET_g=(401, "who?")))
    assert screen.play() == (None, 'The server refused the request: 401 Unauthorized: "who?"')


def test_a_violation_of_the_server_shows_its_clause() -> None:
    screen = Screen(Host(GET_g=(200, TURN | {"cards": {}})))
    assert screen.play() == (
        None,
        "The server broke the protocol. holdem-5.6: found no hole cards in our own turn; allowed: two",
    )


def test_after_a_refused_act_the_player_can_act_again() -> None:
    screen = Screen(
        Host(GET_g=(200, TURN), POST_acts=(503, "later")), ("[c] call 10", "c"), ("503", "[c] call 10", END_OF_INPUT)
    )
    assert screen.play() == (TableAction.LEAVE, "")
    assert 'The server answers: 503 Service Unavailable: "later"' in screen.shown
    assert "[c] call 10" in screen.shown
    assert screen.host.requests.count("POST_acts") == 1


def test_only_one_act_is_sent_at_a_time(short_timeout: None) -> None:
    screen = Screen(
        Host(GET_g=(200, TURN), POST_acts=None),
        ("[f] fold", "f"),
        ("Waiting for the server", "f"),
        ("'f' does", END_OF_INPUT),
    )
    assert screen.play() == (TableAction.LEAVE, "")
    assert "Waiting for the server" in screen.shown
    assert screen.host.requests.count("POST_acts") == 1


def test_an_unexplained_loss_of_the_seat_is_shown() -> None:
    host = Host(GET_g=(200, TURN), POST_acts=(404, "gone"))
    screen = Screen(host, ("[f] fold", "f"), ("no longer have a seat in this game", "j"))
    assert screen.play() == (TableAction.REJOIN, "")
    assert "DELETE_p" not in host.requests


def test_waiting_for_the_next_hand() -> None:
    screen = Screen(
        Host(GET_g=(200, {"gameID": "g", "table": [player("ann", "p"), player("bob", "q")]})),
        ("The next hand is about to begin", "q"),
    )
    assert screen.play() == (TableAction.LEAVE, "")
