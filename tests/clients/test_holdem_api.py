"""Requests of the hold'em client against a server that implements only the document."""

from typing import Any

import msgspec
import pytest

from croupier.clients import holdem_api
from croupier.clients.game_watcher import POLL_INTERVAL_SECONDS, GameWatcher
from croupier.clients.holdem_api import ApiRequest, ApiResponse, HoldemApi, JoinedGame, Refusal
from croupier.clients.holdem_seat import HoldemSeat
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer
from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.engine.legal import FOLD
from croupier.rooms.holdem.wire import Act, encode
from tests.clients.independent_server import IndependentServer, streaming, versioned

DIALECTS: Any = ["readme", "hspe-go"]
CALLER = bot_factory(BOT_SPECS, "caller")()
LUCK = FairDealer(bytes(32)).luck


def seated(server: IndependentServer, *others: str) -> tuple[HoldemApi, HoldemSeat]:
    """Seat ann and these other users; return ann's API and seat."""
    ann = server.client()
    server.run(ann.register())
    session = server.run(HoldemSeat(ann).__aenter__())
    if others:
        server.house.join(*others)
    return ann, session


def first_answers(*responses: ApiResponse | ConnectionError, when: str = "") -> Any:
    """Override the answers to the first requests that match `when`; later ones are answered by the server."""
    left = list(responses)

    def override(request: ApiRequest) -> ApiResponse | ConnectionError | None:
        return left.pop(0) if left and when in f"{request.method} {request.path}" else None

    return override


# Users and games


@pytest.mark.parametrize("dialect", DIALECTS)
def test_register_returns_the_guid_in_both_dialects(dialect: Any) -> None:
    server = IndependentServer(dialect)
    ann = server.client()
    assert server.run(ann.register()) == server.house.house.guid_of("ann")
    assert ann.dialect == dialect


def test_register_of_an_existing_user_returns_no_guid() -> None:
    server = IndependentServer()
    server.run(server.client().register())
    assert server.run(server.client().register()) is None


def test_wrong_password_is_refused_at_the_next_request() -> None:
    server = IndependentServer()
    server.run(server.client().register())
    liar = server.client(password="guessed")
    server.run(liar.register())
    with pytest.raises(Refusal, match="401 Unauthorized: who are you") as refused:
        server.run(liar.join())
    assert (refused.value.status, refused.value.detail, refused.value.retry_after_seconds) == (
        401,
        "who are you?",
        None,
    )


def test_user_name_with_a_colon_is_an_error() -> None:
    with pytest.raises(ValueError, match="colon"):
        HoldemApi(IndependentServer(), "an:n", "secret", 1.0)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_join_takes_the_first_game(dialect: Any) -> None:
    server = IndependentServer(dialect)
    game = server.house.table().guid
    ann, session = seated(server)
    assert session.joined_game == JoinedGame(game, server.house.house.guid_of("ann"))
    assert [listed.game_id for listed in server.run(ann.list_games())] == [game]
    assert server.run(ann.get_game(game)).table[0].handle == "ann"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_create_game_joins_it(dialect: Any) -> None:
    server = IndependentServer(dialect)
    ann = server.client()
    server.run(ann.register())
    joined = server.run(ann.create_game())
    assert joined.player == server.house.house.guid_of("ann")
    assert [listed.handle for listed in server.house.view(None, joined.game).table] == ["ann"]


def test_given_dialect_is_used_from_the_first_request() -> None:
    server = IndependentServer("hspe-go")
    server.users["ann"] = "secret"
    ann = server.client(dialect="hspe-go")
    assert server.run(ann.get_game(server.house.table().guid)).table == []
    assert {request.path[-1] for request in server.requests} == {"/"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_given_dialect_is_not_changed_by_answers(dialect: Any) -> None:
    server = IndependentServer("readme" if dialect == "hspe-go" else "hspe-go")
    server.users["ann"] = "secret"
    ann = server.client(dialect=dialect)
    server.run(ann.register())
    server.run(ann.join())
    assert ann.dialect == dialect


def test_join_prefers_games_with_players() -> None:
    server = IndependentServer()
    game = server.house.open("bob")
    _, session = seated(server)
    assert session.joined_game.game == game


def paged(server: IndependentServer, size: int) -> Any:
    """Override that lists the games on pages of this size."""

    def override(request: ApiRequest) -> ApiResponse | None:
        path, _, query = request.path.partition("?")
        if (request.method, path) != ("GET", "/games/"):
            return None
        games = [table.view() for table in server.house.house.games()]
        if not query:
            return ApiResponse(200, {"link": '</games/?after=0>; rel="first"'}, encode(games[-size:], "readme"))
        start = int(query.removeprefix("after="))
        more = start + size < len(games)
        link = {"link": f'</games/?after={start + size}>; rel="next"'} if more else {}
        return ApiResponse(200, link, encode(games[start : start + size], "readme"))

    return override


def test_list_games_follows_pages() -> None:
    server = IndependentServer(games_per_user=0)
    made = [server.house.table().guid, *(server.house.open("bob") for _ in range(6))]
    ann = server.client()
    server.run(ann.register())
    server.override = paged(server, 3)
    assert [game.game_id for game in server.run(ann.list_games())] == made
    assert server.request_lines[1:] == ["GET /games/", *(f"GET /games/?after={start}" for start in (0, 3, 6))]


def test_join_reads_only_the_first_page() -> None:
    server = IndependentServer(games_per_user=0)
    made = [server.house.open("bob") for _ in range(6)]
    server.override = paged(server, 3)
    _, session = seated(server)
    assert session.joined_game.game == made[3]
    assert server.request_lines == ["POST /users/", "GET /games/", f"POST /games/{made[3]}/players/"]


@pytest.mark.parametrize("path", ["http://127.0.0.1:1/games/?after=1", "//other/games/?after=1", "/users/?after=1"])
def test_links_to_other_places_are_ignored(path: str) -> None:
    server = IndependentServer()
    server.users["ann"] = "secret"
    server.override = first_answers(ApiResponse(200, {"link": f'<{path}>; rel="first"'}, b"[]"))
    assert server.run(server.client().list_games()) == []


def test_circular_pages_end() -> None:
    server = IndependentServer()
    server.users["ann"] = "secret"
    page = ApiResponse(200, {"link": '</games/?after=0>; rel="first", </games/?after=1>; rel="next"'}, b"[]")
    server.override = lambda _: page
    assert server.run(server.client().list_games()) == []
    assert len(server.requests) == 2


def test_endless_pages_are_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_api, "MAX_GAME_LIST_BYTES", 2_000)
    server = IndependentServer(games_per_user=0)
    server.users["ann"] = "secret"
    for _ in range(20):
        server.house.open("bob")
    server.override = paged(server, 1)
    with pytest.raises(Violation, match=r"holdem-9\.12"):
        server.run(server.client().list_games())


def test_new_game_without_a_location_is_a_violation() -> None:
    server = IndependentServer()
    server.override = first_answers(ApiResponse(201, {}, b'"2fd3"'))
    with pytest.raises(Violation, match=r"holdem-3\.3"):
        server.run(server.client().create_game())


def test_join_skips_full_games() -> None:
    server = IndependentServer(seats=2)
    server.house.join("bob", "cat")
    _, session = seated(server)
    first, second = server.house.house.games()
    assert session.joined_game.game == second.guid
    assert first.player_guid("ann") is None


def test_join_of_a_full_game_queues() -> None:
    server = IndependentServer(seats=2)
    server.house.join("bob", "cat")
    ann = server.client()
    server.run(ann.register())
    joined = server.run(ann.join(server.house.table().guid))
    assert joined.is_queued
    server.run(ann.leave(joined))
    assert server.house.table().player_guid("ann") is None


def test_join_skips_games_that_have_ended() -> None:
    server = IndependentServer()
    server.override = first_answers(ApiResponse(404, {}, b""), when="/players/")
    _, session = seated(server)
    assert server.request_lines[-2:] == [f"POST /games/{server.house.table().guid}/players/", "POST /games/"]
    assert session.joined_game.game == server.house.house.games()[1].guid


def test_join_raises_other_refusals() -> None:
    server = IndependentServer()
    server.override = first_answers(ApiResponse(400, {}, b"no\n"), when="/players/")
    with pytest.raises(Refusal, match="400 Bad Request: no"):
        seated(server)


def test_join_of_a_game_with_our_seat_succeeds() -> None:
    server = IndependentServer()
    ann, session = seated(server)
    assert server.run(ann.join()) == session.joined_game


def test_leaving_twice_is_no_error() -> None:
    server = IndependentServer()
    ann, session = seated(server)
    for _ in range(2):
        server.run(ann.leave(session.joined_game))
    assert not server.house.table().seats.participants


def test_fold_has_no_amount_and_an_invalid_bet_returns_the_reason() -> None:
    server = IndependentServer()
    ann, session = seated(server, "bob")
    act = Act("ann", session.joined_game.game, session.joined_game.player, 1, 15)
    assert "found 15" in server.run(ann.act(act))
    assert msgspec.json.decode(server.requests[-1].body) == {"action": 1, "betAmount": 15}
    server.house.play("bob fold")
    assert server.run(ann.act(msgspec.structs.replace(act, action=0))) is None
    assert msgspec.json.decode(server.requests[-1].body) == {"action": 0}


# A server that does not answer


def test_request_is_repeated_after_a_lost_connection() -> None:
    server = IndependentServer()
    server.override = first_answers(ConnectionError("refused"), ConnectionError("reset"), ApiResponse(503, {}, b""))
    assert server.run(server.client().register())
    assert server.delays == [0.1, 0.2, 0.4]


def test_unreachable_server_is_a_connection_error() -> None:
    server = IndependentServer()
    server.override = lambda _: ConnectionError("refused")
    with pytest.raises(ConnectionError, match="no answer to POST /users/: refused"):
        server.run(server.client(retry_timeout=5.0).register())
    assert server.delays == [0.1, 0.2, 0.4, 0.8, 1.6]


def test_busy_server_is_asked_again_after_retry_after() -> None:
    server = IndependentServer()
    server.override = first_answers(ApiResponse(429, {"retry-after": "7"}, b"slowly\n"))
    server.run(server.client().register())
    assert server.delays == [7.0]


def test_retry_after_beyond_the_timeout_is_raised() -> None:
    server = IndependentServer()
    server.override = lambda _: ApiResponse(429, {"retry-after": "60"}, b"slowly\n")
    with pytest.raises(Refusal) as refused:
        server.run(server.client().register())
    assert (refused.value.status, refused.value.retry_after_seconds) == (429, 60.0)
    assert server.delays == []


@pytest.mark.parametrize("after", ["", "soon", "-5", "9" * 500])
def test_invalid_retry_after_is_ignored(after: str) -> None:
    server = IndependentServer()
    server.override = first_answers(ApiResponse(429, {"retry-after": after}, b""))
    server.run(server.client().register())
    assert server.delays == [0.1]


def test_refusal_has_status_and_text() -> None:
    assert str(ApiResponse(418, {}, b"short\n").to_refusal()) == "418 I'm a Teapot: short"
    assert str(ApiResponse(799, {}, b"").to_refusal()) == "799 unknown status"
    assert len(ApiResponse(400, {}, b"x" * 10_000).to_refusal().detail) == 500


# Looking


def test_server_without_extensions_is_polled_every_fifty_milliseconds() -> None:
    server = IndependentServer()
    ann, session = seated(server, "bob")
    lookout = GameWatcher(ann, session.joined_game.game)
    server.run(lookout.next_game())
    assert server.delays == []
    server.house.now = 14.93  # the turn ends at 15
    server.run(lookout.next_game())
    assert server.delays == [POLL_INTERVAL_SECONDS] * 2
    assert server.house.turn() == ""


def test_etag_is_sent_and_not_modified_yields_no_game() -> None:
    server = IndependentServer()
    ann, session = seated(server, "bob")
    game = server.run(ann.get_game(session.joined_game.game))
    answer = server.answer(server.requests[-1])
    lookout = GameWatcher(ann, game.game_id)
    server.override = first_answers(
        ApiResponse(200, {"etag": '"1"'}, answer.body), ApiResponse(304, {"etag": '"1"'}, b""), when="GET"
    )
    server.run(lookout.next_game())
    server.house.play("ann 10")
    server.run(lookout.next_game())
    assert [request.headers.get("if-none-match") for request in server.requests[-3:]] == [None, '"1"', '"1"']


def test_not_modified_without_an_etag_is_a_violation() -> None:
    server = IndependentServer()
    ann, session = seated(server, "bob")
    server.override = lambda _: ApiResponse(304, {}, b"")
    with pytest.raises(Violation, match=r"holdem-9\.2"):
        server.run(GameWatcher(ann, session.joined_game.game).next_game())


def test_streams_are_used_if_the_server_has_them() -> None:
    server = IndependentServer()
    server.override = streaming(server)
    ann, session = seated(server, "bob")
    lookout = GameWatcher(ann, session.joined_game.game)
    server.run(lookout.next_game())
    for line in ("ann 10", "bob 0"):
        server.house.play(line)
        server.run(lookout.next_game())
    path = f"GET /games/{session.joined_game.game}"
    assert server.request_lines[-3:] == [path, f"{path}/events", f"{path}/events"]
    assert server.requests[-1].headers["accept"] == "application/x-ndjson"
    assert server.stream_restarts == [True, False]
    lookout.refresh()
    server.run(lookout.next_game())
    server.house.play("bob 20")
    server.run(lookout.next_game())
    assert server.stream_restarts == [True, False, True]
    assert server.delays == []


def test_broken_stream_is_reopened() -> None:
    server = IndependentServer()
    ann, session = seated(server, "bob")
    stream, broken = streaming(server), [ConnectionError("reset")]
    server.override = lambda request: broken.pop() if broken and request.path.endswith("/events") else stream(request)
    lookout = GameWatcher(ann, session.joined_game.game)
    server.run(lookout.next_game())
    server.house.play("ann 10")
    server.run(lookout.next_game())
    server.house.play("bob 0")
    server.run(lookout.next_game())
    path = f"GET /games/{session.joined_game.game}"
    assert server.request_lines[-4:] == [path, f"{path}/events", path, f"{path}/events"]
    assert server.delays == [POLL_INTERVAL_SECONDS]


def test_long_polling_is_used_without_streams() -> None:
    server = IndependentServer()
    server.override = versioned(server)
    ann, session = seated(server, "bob")
    lookout = GameWatcher(ann, session.joined_game.game)
    server.run(lookout.next_game())
    for line in ("ann 10", "bob 0", "bob 0"):
        server.house.play(line)
        version = server.house.table().version
        server.run(lookout.next_game())
    path = f"GET /games/{session.joined_game.game}"
    assert server.request_lines[-2:] == [f"{path}?wait=25&since={version - 2}", f"{path}?wait=25&since={version - 1}"]


def test_long_polling_without_delay_falls_back_to_the_poll_interval() -> None:
    server = IndependentServer()
    server.override = versioned(server)
    ann, session = seated(server, "bob")
    lookout = GameWatcher(ann, session.joined_game.game)
    server.run(lookout.next_game())
    server.house.now = 14.93
    server.run(lookout.next_game())
    assert server.delays == [POLL_INTERVAL_SECONDS] * 2


# A stay at a table


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("able", ["no", "versions", "streams"])
def test_hand_is_played_at_every_kind_of_server(dialect: Any, able: str) -> None:
    server = IndependentServer(dialect)
    meddling = {"no": lambda _: None, "versions": versioned(server), "streams": streaming(server)}
    server.override = meddling[able]
    _, session = seated(server, "bob")
    for _ in range(40):
        server.run(session.next_game())
        act = session.player.decide(CALLER, LUCK)
        if act is not None:
            assert server.run(session.make_move(act)) is None
        if server.house.turn() == "bob":
            turn = server.house.view().turn
            server.house.bet("bob", turn.bet_to_player - turn.bet_so_far)
    assert len(session.nets) >= 3
    assert set(session.nets) <= {-20, 0, 20}
    assert server.house.table().player_guid("ann")


def test_illegal_move_is_not_sent() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.run(session.next_game())
    request_count = len(server.requests)
    with pytest.raises(IllegalMove):
        server.run(session.make_move(15))
    assert len(server.requests) == request_count
    assert server.run(session.make_move(10)) is None


def test_act_without_an_answer_is_decided_again_if_it_has_not_arrived() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.run(session.next_game())
    server.override = first_answers(ConnectionError("reset"), when="/acts/")
    assert "reset" in server.run(session.make_move(10))
    assert not session.player.legal
    server.run(session.next_game())
    assert 10 in session.player.legal
    assert server.run(session.make_move(10)) is None


def test_act_without_an_answer_is_not_repeated_if_it_has_arrived() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.run(session.next_game())

    def arrives(request: ApiRequest) -> ConnectionError | None:
        if not request.path.endswith("/acts/"):
            return None
        server.answer(request)
        return ConnectionError("reset")

    server.override = arrives
    server.run(session.make_move(10))
    server.run(session.next_game())
    assert server.house.turn() == "bob"
    assert not session.player.legal


def test_act_refused_by_a_busy_server_is_decided_again() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.run(session.next_game())
    server.override = first_answers(
        ApiResponse(429, {"retry-after": "3"}, b"slowly\n"),
        ApiResponse(429, {"retry-after": "999999999"}, b""),
        when="/acts/",
    )
    assert server.run(session.make_move(10)) == "429 Too Many Requests: slowly"
    assert server.delays == [3.0]
    server.run(session.next_game())
    server.house.now -= 30  # the turn has not timed out
    server.run(session.make_move(10))
    assert server.delays == [3.0, 30.0]
    server.run(session.next_game())
    assert 10 in session.player.legal


@pytest.mark.parametrize("dialect", DIALECTS)
def test_act_after_the_turn_changes_nothing(dialect: Any) -> None:
    server = IndependentServer(dialect)
    _, session = seated(server, "bob")
    server.run(session.next_game())
    server.house.leave("bob")
    reason = server.run(session.make_move(10))
    assert reason.startswith("403" if dialect == "readme" else "409")
    server.run(session.next_game())
    assert session.nets == [20]
    assert not session.player.is_exhausted


def test_act_without_a_seat_ends_the_session() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.run(session.next_game())
    server.house.wait(16)
    assert server.run(session.make_move(FOLD)).startswith("404")
    assert session.player.is_exhausted
    assert server.run(session.next_game()) is None
    request_count = len(server.requests)
    server.run(session.leave())
    assert len(server.requests) == request_count


def test_revoked_credentials_are_a_refusal() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.run(session.next_game())
    server.users["ann"] = "changed"
    for flow in (session.make_move(10), session.next_game()):
        with pytest.raises(Refusal, match="401"):
            server.run(flow)


def test_ended_game_ends_the_session() -> None:
    server = IndependentServer()
    _, session = seated(server)
    server.run(session.next_game())
    server.override = first_answers(ApiResponse(404, {}, b""), when="GET")
    assert server.run(session.next_game()) is None
    assert session.player.is_exhausted
    assert session.nets == []


def test_inconsistent_game_is_a_violation() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.override = first_answers(ApiResponse(200, {}, b"<html>"), when="GET")
    with pytest.raises(Violation, match=r"holdem-1\.5"):
        server.run(session.next_game())


def test_turn_without_cards_is_a_violation() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    public = server.answer(ApiRequest("GET", f"/games/{session.joined_game.game}"))
    server.override = first_answers(public, when="GET")
    with pytest.raises(Violation, match=r"holdem-5\.6"):
        server.run(session.next_game())


def test_queued_player_sees_the_public_view_until_it_is_seated() -> None:
    server = IndependentServer("hspe-go")
    server.house.join("bob", "cat")
    _, session = seated(server)
    game = server.run(session.next_game())
    assert game is not None
    assert [listed.handle for listed in game.table] == ["bob", "cat"]
    assert [(request.is_anonymous, "authorization" in request.headers) for request in server.requests[-2:]] == [
        (False, True),
        (True, False),
    ]
    server.house.play("bob fold")
    server.run(session.next_game())
    assert session.player.view is not None


def test_player_seated_between_two_requests_sees_its_cards() -> None:
    server = IndependentServer("hspe-go")
    server.house.join("bob", "cat")
    _, session = seated(server)

    def seats(request: ApiRequest) -> None:
        if request.is_anonymous:
            server.house.play("bob fold")
            server.override = lambda _: None

    server.override = seats
    server.run(session.next_game())
    assert session.player.view is not None
    assert session.player.view.hole


def test_leaving_frees_the_seat() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    server.run(session.leave())
    assert server.house.table().player_guid("ann") is None


def test_leave_uses_the_guid_at_the_table_if_ours_is_unknown() -> None:
    server = IndependentServer()
    _, session = seated(server, "bob")
    ann = server.client()
    server.run(ann.register())
    second_session = server.run(HoldemSeat(ann, session.joined_game.game).__aenter__())
    assert second_session.joined_game.player == ""
    server.run(second_session.next_game())
    assert server.run(second_session.make_move(10)) is None
    server.run(second_session.leave())
    assert server.house.table().player_guid("ann") is None
