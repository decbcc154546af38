"""Conversations of a person with a misbehaving hold'em server, without a terminal."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Self

import msgspec
import pytest

from croupier.clients.holdem import HoldemClient
from croupier.clients.holdem_api import ApiRequest, ApiResponse
from croupier.core.presentation import TableCommand, TableView, Text, verbatim
from croupier.rooms.holdem.presenter import HoldemPresenter
from croupier.tui.holdem_seat import HoldemTableSeat, clock_offset
from croupier.tui.interaction import Conversation
from croupier.tui.table_keys import Choice
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

    async def request(self, request: ApiRequest) -> ApiResponse:
        endpoint = f"{request.method}_{request.path.rstrip('/').rpartition('/')[2]}"
        self.requests.append(endpoint)
        answer = self.answers[endpoint]
        if answer is None:
            await asyncio.get_running_loop().create_future()
        assert answer is not None
        return ApiResponse(answer[0], {}, msgspec.json.encode(answer[1]))

    def stream(self, request: ApiRequest) -> "Host":
        return self

    async def read(self) -> ApiResponse:
        raise AssertionError("a server without versions has no streams")

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        pass


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


class ScriptedDisplay:
    """A display whose person makes each choice of the `script` when its text is in a view or a notice."""

    def __init__(self, *script: tuple[str, str]) -> None:
        self.notices: list[str] = []
        self._script = list(script)
        self._choices: asyncio.Queue[Choice] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    def show(self, view: TableView) -> None:
        shown = [view.status, view.blocked, *view.announcements, *(action.label for action in view.actions)]
        self._see(" ".join(map(str, shown)))

    def notify(self, notice: Text | None) -> None:
        self.notices.append("" if notice is None else str(notice))
        self._see(self.notices[-1])

    async def choose(self) -> Choice:
        return await self._choices.get()

    def _see(self, words: str) -> None:
        if self._script and self._script[0][0] in words:
            self._choices.put_nowait(Choice(self._script.pop(0)[1]))


def hold(
    host: Host, *script: tuple[str, str], waiting: Sequence[str] = ()
) -> tuple[TableCommand | None, str, list[str]]:
    """Hold a conversation; return the person's last command, the reason of another end, and the notices.

    `waiting` are notices of the client, which waits for the server.
    """
    display = ScriptedDisplay(*script)

    async def main() -> tuple[TableCommand | None, Text | None]:
        async with (
            asyncio.timeout(PATIENCE),
            HoldemClient("server", "ann", "secret", retry_timeout=0.0, exchange=host) as client,
        ):
            seat = HoldemTableSeat(client.sit(), lambda: 0.0)

            def open_seat(notify: Callable[[Text], None]) -> HoldemTableSeat:
                for words in waiting:
                    notify(verbatim(words))
                return seat

            return await Conversation(HoldemPresenter(), open_seat, display).hold()

    command, reason = asyncio.run(main())
    return command, "" if reason is None else str(reason), display.notices


@pytest.fixture
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HoldemTableSeat, "timeout_seconds", 0.05)


LEFT = (TableCommand.LEAVE, "", [])


def test_joining_times_out(short_timeout: None) -> None:
    assert hold(Host(POST_players=None))[:2] == (None, "The server is gone: No answer.")


def test_leaving_times_out(short_timeout: None) -> None:
    host = Host(DELETE_p=None)
    assert hold(host, ("Waiting for another player", "leave")) == LEFT
    assert host.requests[-1] == "DELETE_p"


def test_a_refusal_during_a_game_ends_the_conversation() -> None:
    reason = 'The server refused the request: 401 Unauthorized: "who?"'
    assert hold(Host(GET_g=(401, "who?")))[:2] == (None, reason)


def test_a_violation_of_the_server_shows_its_clause() -> None:
    reason = "The server broke the protocol. holdem-5.6: found no hole cards in our own turn; allowed: two"
    assert hold(Host(GET_g=(200, TURN | {"cards": {}})))[:2] == (None, reason)


def test_a_notice_that_the_client_waits_ends_with_the_next_message() -> None:
    _, _, notices = hold(Host(), ("Waiting for another player", "leave"), waiting=["It is silent."])
    assert notices == ["It is silent.", ""]


def test_after_a_refused_act_the_person_can_act_again() -> None:
    host = Host(GET_g=(200, TURN), POST_acts=(503, "later"))
    command, _, notices = hold(host, ("Call 10", "call"), ("503", "leave"))
    assert command is TableCommand.LEAVE
    assert notices == ['The server answers: 503 Service Unavailable: "later".']
    assert host.requests.count("POST_acts") == 1


def test_only_one_act_is_sent_at_a_time(short_timeout: None) -> None:
    host = Host(GET_g=(200, TURN), POST_acts=None)
    texts = ("Fold", "fold"), ("Waiting for the server", "fold"), ("The table has changed", "leave")
    command, _, notices = hold(host, *texts)
    assert command is TableCommand.LEAVE
    assert notices == ["The table has changed meanwhile; nothing was sent."]
    assert host.requests.count("POST_acts") == 1


def test_an_unexplained_loss_of_the_seat_is_shown() -> None:
    host = Host(GET_g=(200, TURN), POST_acts=(404, "gone"))
    command = hold(host, ("Fold", "fold"), ("no longer have a seat in this game", "rejoin"))[0]
    assert command is TableCommand.REJOIN
    assert "DELETE_p" not in host.requests


@pytest.mark.parametrize(
    ("reply", "offset"),
    [
        (ApiResponse(200, {"date": "Thu, 01 Jan 1970 00:01:00 GMT"}, b""), 50.5),
        (ApiResponse(200, {"date": "Thu, 01 Jan 1970 00:00:11 GMT"}, b""), 0.0),
        (ApiResponse(200, {"date": "yesterday"}, b""), 0.0),
        (ApiResponse(200, {}, b""), 0.0),
        (ConnectionError("gone"), 0.0),
    ],
)
def test_a_wrong_clock_is_corrected_by_the_servers(reply: ApiResponse | ConnectionError, offset: float) -> None:
    class Api:
        """An API whose server gives this reply."""

        exchange: Any

        async def request(self, request: ApiRequest) -> ApiResponse:
            assert request.path == "/games/"
            if isinstance(reply, ConnectionError):
                raise reply
            return reply

    api: Any = Api()
    api.exchange = api
    assert asyncio.run(clock_offset(api, lambda: 10.0)) == offset
