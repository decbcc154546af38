"""The requests of a bot are judged by what it could know when it sent them."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from croupier.conformance.holdem.request_checks import (
    MAX_REPEATS,
    dialogue_lines,
    judge_repetition,
    judge_requests,
    lines_until,
)
from croupier.conformance.holdem.test_server import RecordedRequest
from croupier.conformance.results import Outcome
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.rooms.holdem.engine.hand import Hand

GAME, PLAYER = "g1", "p1"
SHOWN = f'{{"gameID":"{GAME}","turn":{{"playerID":"{PLAYER}"}}}}'.encode()


class Conversation:
    """The requests of one bot, one a second, with their responses."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self.malformed: list[bytes] = []
        self.house = SimpleNamespace(guid_of=lambda _: PLAYER)

    def add(self, method: str, path: str, status: int, body: bytes = b"", hosts: int = 1) -> None:
        headers = (("Host", "x"),) * hosts
        request = SentRequest(method, path, headers, b'{"action": 0}' if "acts" in path else b"")
        response = ReceivedResponse(status, {}, body)
        at = float(len(self.requests))
        self.requests.append(RecordedRequest(at, request, "bot", request.encode("x"), response, response_data=body))

    def clauses(self) -> Sequence[str]:
        return [clause for clause, _ in self.outcomes()]

    def outcomes(self) -> Sequence[tuple[str, Outcome]]:
        found: Any = self
        return [(deviation.clause, deviation.outcome) for deviation in judge_requests(found)]


def seated() -> Conversation:
    conversation = Conversation()
    conversation.add("POST", f"/games/{GAME}/players/", 201, f'"{PLAYER}"'.encode())
    conversation.add("GET", f"/games/{GAME}", 200, SHOWN)
    return conversation


def act(conversation: Conversation, clause: str, player: str = PLAYER) -> None:
    conversation.add("POST", f"/games/{GAME}/players/{player}/acts/", 403, f"holdem-{clause}: found".encode())


def test_an_act_in_a_turn_that_has_just_ended_is_no_fault() -> None:
    conversation = seated()
    act(conversation, "4.13")
    assert conversation.clauses() == []


def test_an_act_without_a_look_at_the_turn_is_a_fault() -> None:
    conversation = seated()
    conversation.add("GET", f"/games/{GAME}", 200, SHOWN.replace(PLAYER.encode(), b"p2"))
    act(conversation, "4.13")
    assert conversation.clauses() == ["holdem-4.13"]


def test_the_dialogue_ends_with_the_wrong_one_of_two_equal_requests() -> None:
    conversation: Any = seated()
    conversation.add("POST", f"/games/{GAME}/players/{PLAYER}/acts/", 201, b"1")
    act(conversation, "4.13")
    conversation.add("GET", f"/games/{GAME}", 200, SHOWN)
    (found,) = judge_requests(conversation)
    lines = dialogue_lines(conversation)
    shown = lines_until(lines, found.got)
    assert [line.data for line in shown[-2:]] == [conversation.requests[3].data, b"holdem-4.13: found"]
    assert lines_until(lines, b"") == lines


def test_a_bot_that_sends_nothing_but_a_refused_request_does_not_go_on() -> None:
    conversation: Any = Conversation()
    for _ in range(MAX_REPEATS):
        assert judge_repetition(conversation) is None
        conversation.add("POST", "/users/", 403, b"holdem-2.6: found the name of a user")
    found = judge_repetition(conversation)
    assert found is not None
    assert (found.clause, found.actual) == ("holdem-2.6", "POST /users/ again and again")
    conversation.add("GET", "/games/", 200, b"[]")
    assert judge_repetition(conversation) is None


def test_an_act_of_a_player_that_has_left_is_a_fault() -> None:
    conversation = seated()
    conversation.add("DELETE", f"/games/{GAME}/players/{PLAYER}", 200)
    act(conversation, "8.5")
    assert conversation.clauses() == ["holdem-8.5"]


def test_an_act_that_arrives_after_the_bot_has_left_because_it_was_asked_to_end_is_no_fault() -> None:
    conversation = seated()
    conversation.add("DELETE", f"/games/{GAME}/players/{PLAYER}", 200)
    act(conversation, "8.5")
    conversation.requests[-1].is_after_stop = True
    assert conversation.clauses() == []


def leave(conversation: Conversation, player: str = PLAYER) -> None:
    path = f"/games/{GAME}/players/{player}"
    conversation.add("DELETE", path, 404, b"holdem-8.5: found the player")


def test_leaving_a_game_in_which_the_player_was_just_shown_is_no_fault() -> None:
    conversation = seated()
    leave(conversation)
    assert conversation.clauses() == []


def test_leaving_a_game_in_which_the_player_was_never_shown_is_no_fault() -> None:
    conversation = Conversation()
    conversation.add("POST", f"/games/{GAME}/players/", 201, f'"{PLAYER}"'.encode())
    conversation.add("GET", f"/games/{GAME}", 200, SHOWN.replace(PLAYER.encode(), b"p2"))
    leave(conversation)
    assert conversation.clauses() == []


def test_leaving_a_game_that_was_shown_without_the_player_is_a_choice() -> None:
    conversation = seated()
    conversation.add("GET", f"/games/{GAME}", 200, SHOWN.replace(PLAYER.encode(), b"p2"))
    leave(conversation)
    assert conversation.outcomes() == [("holdem-8.5", Outcome.CHOICE)]


def test_leaving_twice_is_a_choice() -> None:
    conversation = seated()
    conversation.add("DELETE", f"/games/{GAME}/players/{PLAYER}", 200)
    leave(conversation)
    assert conversation.outcomes() == [("holdem-8.5", Outcome.CHOICE)]


def test_a_player_that_was_shown_in_chunks_is_known() -> None:
    conversation = seated()
    for request in conversation.requests:
        request.response_data = b"2\r\n" + b"\r\n2\r\n".join(request.response_data[at : at + 2] for at in range(20))
    act(conversation, "8.5")
    assert conversation.clauses() == []


def test_leaving_as_another_player_is_a_fault() -> None:
    conversation = seated()
    leave(conversation, player=GAME)
    assert conversation.outcomes() == [("holdem-8.5", Outcome.FAIL)]


def test_an_act_with_the_guid_of_the_game_as_that_of_the_player_is_a_fault() -> None:
    conversation = seated()
    act(conversation, "8.5", GAME)
    assert conversation.clauses() == ["holdem-8.5"]


def test_an_act_of_a_player_that_has_joined_again_is_no_fault() -> None:
    conversation = seated()
    conversation.add("DELETE", f"/games/{GAME}/players/{PLAYER}", 200)
    conversation.add("POST", f"/games/{GAME}/players/", 201, f'"{PLAYER}"'.encode())
    conversation.add("GET", f"/games/{GAME}", 200, SHOWN)
    act(conversation, "8.5")
    assert conversation.clauses() == []


def test_a_player_that_no_response_has_shown_is_a_fault() -> None:
    conversation = seated()
    act(conversation, "8.5", player="bot")
    assert conversation.clauses() == ["holdem-8.5"]


def test_a_small_raise_over_an_all_in_breaks_the_minimum() -> None:
    hand = Hand([500, 1000, 1000], button=0)
    hand.deal([0, 1, 2, 3, 4, 5])
    hand.bet(500)  # all-in
    conversation = seated()
    conversation.add("POST", f"/games/{GAME}/players/{PLAYER}/acts/", 201)
    request = conversation.requests[-1]
    request.hand = hand
    request.request = replace(request.request, body=b'{"action": 1, "betAmount": 700}')
    request.response = ReceivedResponse(201, {"x-fold-reason": "found 700"}, b"")
    assert conversation.clauses() == ["holdem-4.11"]


def test_a_request_has_one_host() -> None:
    conversation = Conversation()
    conversation.add("GET", "/games/", 200, b"[]", hosts=2)
    assert conversation.clauses() == ["holdem-1.1"]
