"""A visit to a hold'em server that does not do what it should, seen without a terminal."""

import asyncio
from typing import Any, cast

import httpx
import pytest
from rich.console import Console
from rich.live import Live

from croupier.clients.holdem import HoldemClient
from croupier.tui.holdem.interaction import _play_session
from croupier.tui.holdem.scene import HoldemScene
from croupier.tui.keys import END_OF_INPUT
from croupier.tui.table_action import TableAction
from tests.processes import PATIENCE


class Host:
    """A server that answers what it is told to, by method and the end of the path; None: it never does."""

    def __init__(self, **answers: tuple[int, Any] | None) -> None:
        self.answers: dict[str, tuple[int, Any] | None] = {
            "GET_games": (200, [{"gameID": "g"}]),
            "POST_players": (201, "p"),
            "GET_g": (200, ALONE),
            "DELETE_p": (200, ""),
        } | answers
        self.asked: list[str] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        what = f"{request.method}_{request.url.path.rstrip('/').rpartition('/')[2]}"
        self.asked.append(what)
        answer = self.answers[what]
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
    """A visit to such a server, without a terminal; keys are pressed when what they wait for is on the screen."""

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

    def visit(self) -> tuple[TableAction | None, str]:
        async def main() -> tuple[TableAction | None, str]:
            transport = httpx.MockTransport(self.host)
            async with HoldemClient("server", "ann", "secret", retry_timeout=0.0, transport=transport) as client:
                return await _play_session(client, None, self.scene, self._pressed, cast(Live, self))

        async def patient() -> tuple[TableAction | None, str]:
            async with asyncio.timeout(PATIENCE):
                return await main()

        return asyncio.run(patient())


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.tui.holdem.interaction.JOIN_TIMEOUT_SECONDS", 0.05)


def test_a_server_that_does_not_answer_who_joins_is_given_up(hasty: None) -> None:
    with pytest.raises(ConnectionError, match="no answer"):
        Screen(Host(POST_players=None)).visit()


def test_who_wants_to_join_again_is_told_when_nobody_answers(hasty: None) -> None:
    screen = Screen(Host(), ("Waiting for somebody", "q"))
    assert screen.visit() == (TableAction.LEAVE, "")
    screen.host.answers["POST_players"] = None
    assert screen.visit() == (None, "The server is gone: no answer")


def test_who_leaves_does_not_wait_for_a_server_that_does_not_answer(hasty: None) -> None:
    screen = Screen(Host(DELETE_p=None), ("Waiting for somebody", "q"))
    assert screen.visit() == (TableAction.LEAVE, "")
    assert screen.host.asked[-1] == "DELETE_p"


def test_a_refusal_in_the_middle_of_a_game_ends_it() -> None:
    screen = Screen(Host(GET_g=(401, "who?")))
    assert screen.visit() == (None, 'The server refuses: 401 Unauthorized: "who?"')


def test_a_server_that_breaks_the_protocol_is_told_its_clause() -> None:
    screen = Screen(Host(GET_g=(200, TURN | {"cards": {}})))
    assert screen.visit() == (
        None,
        "The server broke the protocol. holdem-5.6: found no hole cards in our own turn; allowed: two",
    )


def test_an_act_that_the_server_refuses_is_told_and_the_turn_comes_back() -> None:
    screen = Screen(
        Host(GET_g=(200, TURN), POST_acts=(503, "later")), ("[c] call 10", "c"), ("503", "[c] call 10", END_OF_INPUT)
    )
    assert screen.visit() == (TableAction.LEAVE, "")
    assert 'The server says: 503 Service Unavailable: "later"' in screen.shown
    assert "[c] call 10" in screen.shown
    assert screen.host.asked.count("POST_acts") == 1


def test_an_act_is_under_way_until_it_is_answered(hasty: None) -> None:
    screen = Screen(
        Host(GET_g=(200, TURN), POST_acts=None), ("[f] fold", "f"), ("on its way", "f"), ("'f' does", END_OF_INPUT)
    )
    assert screen.visit() == (TableAction.LEAVE, "")
    assert "Your act is on its way" in screen.shown
    assert screen.host.asked.count("POST_acts") == 1


def test_who_is_put_out_of_the_game_for_no_reason_that_can_be_seen_is_told_so() -> None:
    host = Host(GET_g=(200, TURN), POST_acts=(404, "gone"))
    screen = Screen(host, ("[f] fold", "f"), ("no seat in this game any more", "j"))
    assert screen.visit() == (TableAction.REJOIN, "")
    assert "DELETE_p" not in host.asked


def test_the_next_hand_is_waited_for() -> None:
    screen = Screen(
        Host(GET_g=(200, {"gameID": "g", "table": [player("ann", "p"), player("bob", "q")]})),
        ("The next hand is about to begin", "q"),
    )
    assert screen.visit() == (TableAction.LEAVE, "")
