"""What a client of hold'em does at any server of the document: it asks, pauses and asks again, and sends no bad bet."""

from typing import Any

import msgspec
import pytest

from croupier.clients import holdem_api
from croupier.clients.holdem_api import (
    POLL_INTERVAL_SECONDS,
    ApiRequest,
    ApiResponse,
    ConnectionFailed,
    Delay,
    GameWatcher,
    HoldemApi,
    JoinedGame,
    Refusal,
)
from croupier.clients.seat_session import SeatSession
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer
from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.engine.legal import FOLD
from croupier.rooms.holdem.wire import Act, encode
from tests.clients.independent_server import Stranger, streaming, versioned

DIALECTS: Any = ["readme", "hspe-go"]
CALLER = bot_factory(BOT_SPECS, "caller")()
LUCK = FairDealer(bytes(32)).luck


def seated(stranger: Stranger, *others: str) -> tuple[HoldemApi, SeatSession]:
    """Ann has sat down, and these others have."""
    ann = stranger.client()
    stranger.run(ann.register())
    stay = SeatSession(ann, stranger.run(ann.join()))
    if others:
        stranger.parlour.join(*others)
    return ann, stay


def once(*replies: ApiResponse | ConnectionFailed, when: str = "") -> Any:
    """These answers to the first requests with this in their line; then those of the server."""
    left = list(replies)

    def meddle(ask: ApiRequest) -> ApiResponse | ConnectionFailed | None:
        return left.pop(0) if left and when in f"{ask.method} {ask.path}" else None

    return meddle


# Users and games


@pytest.mark.parametrize("dialect", DIALECTS)
def test_enrolling_tells_the_guid_in_both_dialects(dialect: Any) -> None:
    stranger = Stranger(dialect)
    ann = stranger.client()
    assert stranger.run(ann.register()) == stranger.parlour.house.guid_of("ann")
    assert ann.dialect == dialect


def test_who_is_a_user_already_is_not_told_his_guid_by_the_document() -> None:
    stranger = Stranger()
    stranger.run(stranger.client().register())
    assert stranger.run(stranger.client().register()) == ""


def test_another_password_shows_when_something_is_asked() -> None:
    stranger = Stranger()
    stranger.run(stranger.client().register())
    liar = stranger.client(password="guessed")
    stranger.run(liar.register())
    with pytest.raises(Refusal, match="401 Unauthorized: who are you") as refused:
        stranger.run(liar.join())
    assert (refused.value.status, refused.value.detail, refused.value.retry_after_seconds) == (
        401,
        "who are you?",
        None,
    )


def test_a_name_with_a_colon_cannot_be_told() -> None:
    with pytest.raises(ValueError, match="colon"):
        HoldemApi("an:n", "secret", 1.0)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_joining_any_game_takes_the_first(dialect: Any) -> None:
    stranger = Stranger(dialect)
    game = stranger.parlour.table().guid
    ann, stay = seated(stranger)
    assert stay.joined_game == JoinedGame(game, stranger.parlour.house.guid_of("ann"))
    assert [one.game_id for one in stranger.run(ann.list_games())] == [game]
    assert stranger.run(ann.get_game(game)).table[0].handle == "ann"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_opening_a_game_joins_it(dialect: Any) -> None:
    stranger = Stranger(dialect)
    ann = stranger.client()
    stranger.run(ann.register())
    place = stranger.run(ann.create_game())
    assert place.player == stranger.parlour.house.guid_of("ann")
    assert [one.handle for one in stranger.parlour.view(None, place.game).table] == ["ann"]


def test_a_dialect_that_is_given_is_spoken_from_the_first_request() -> None:
    stranger = Stranger("hspe-go")
    stranger.users["ann"] = "secret"
    ann = stranger.client(dialect="hspe-go")
    assert stranger.run(ann.get_game(stranger.parlour.table().guid)).table == []
    assert {ask.path[-1] for ask in stranger.asked} == {"/"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_that_is_given_is_kept_whatever_the_answers_look_like(dialect: Any) -> None:
    stranger = Stranger("readme" if dialect == "hspe-go" else "hspe-go")
    stranger.users["ann"] = "secret"
    ann = stranger.client(dialect=dialect)
    stranger.run(ann.register())
    stranger.run(ann.join())
    assert ann.dialect == dialect


def test_a_game_at_which_somebody_sits_comes_before_an_empty_one() -> None:
    stranger = Stranger()
    game = stranger.parlour.open("bob")
    _, stay = seated(stranger)
    assert stay.joined_game.game == game


def paged(stranger: Stranger, size: int) -> Any:
    """What makes a stranger show its games on pages of this size."""

    def meddle(ask: ApiRequest) -> ApiResponse | None:
        path, _, query = ask.path.partition("?")
        if (ask.method, path) != ("GET", "/games/"):
            return None
        games = [table.view() for table in stranger.parlour.house.games()]
        if not query:
            return ApiResponse(200, {"link": '</games/?after=0>; rel="first"'}, encode(games[-size:], "readme"))
        start = int(query.removeprefix("after="))
        more = start + size < len(games)
        link = {"link": f'</games/?after={start + size}>; rel="next"'} if more else {}
        return ApiResponse(200, link, encode(games[start : start + size], "readme"))

    return meddle


def test_a_client_that_lists_all_games_follows_the_pages() -> None:
    stranger = Stranger(games_per_user=0)
    made = [stranger.parlour.table().guid, *(stranger.parlour.open("bob") for _ in range(6))]
    ann = stranger.client()
    stranger.run(ann.register())
    stranger.meddle = paged(stranger, 3)
    assert [game.game_id for game in stranger.run(ann.list_games())] == made
    assert stranger.lines[1:] == ["GET /games/", *(f"GET /games/?after={start}" for start in (0, 3, 6))]


def test_a_client_that_wants_a_seat_asks_for_one_page() -> None:
    stranger = Stranger(games_per_user=0)
    made = [stranger.parlour.open("bob") for _ in range(6)]
    stranger.meddle = paged(stranger, 3)
    _, stay = seated(stranger)
    assert stay.joined_game.game == made[3]
    assert stranger.lines == ["POST /users/", "GET /games/", f"POST /games/{made[3]}/players/"]


@pytest.mark.parametrize("path", ["http://127.0.0.1:1/games/?after=1", "//other/games/?after=1", "/users/?after=1"])
def test_a_link_that_leads_elsewhere_is_not_followed(path: str) -> None:
    stranger = Stranger()
    stranger.users["ann"] = "secret"
    stranger.meddle = once(ApiResponse(200, {"link": f'<{path}>; rel="first"'}, b"[]"))
    assert stranger.run(stranger.client().list_games()) == []


def test_pages_that_lead_in_a_circle_are_left() -> None:
    stranger = Stranger()
    stranger.users["ann"] = "secret"
    page = ApiResponse(200, {"link": '</games/?after=0>; rel="first", </games/?after=1>; rel="next"'}, b"[]")
    stranger.meddle = lambda _: page
    assert stranger.run(stranger.client().list_games()) == []
    assert len(stranger.asked) == 2


def test_pages_without_end_break_a_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_api, "MAX_GAME_LIST_BYTES", 2_000)
    stranger = Stranger(games_per_user=0)
    stranger.users["ann"] = "secret"
    for _ in range(20):
        stranger.parlour.open("bob")
    stranger.meddle = paged(stranger, 1)
    with pytest.raises(Violation, match=r"holdem-9\.12"):
        stranger.run(stranger.client().list_games())


def test_a_new_game_without_its_address_breaks_a_clause() -> None:
    stranger = Stranger()
    stranger.meddle = once(ApiResponse(201, {}, b'"2fd3"'))
    with pytest.raises(Violation, match=r"holdem-3\.3"):
        stranger.run(stranger.client().create_game())


def test_a_full_game_is_passed_by_where_another_has_a_seat() -> None:
    stranger = Stranger(seats=2)
    stranger.parlour.join("bob", "cat")
    _, stay = seated(stranger)
    first, second = stranger.parlour.house.games()
    assert stay.joined_game.game == second.guid
    assert first.player_guid("ann") is None


def test_a_game_that_was_asked_for_is_waited_for() -> None:
    stranger = Stranger(seats=2)
    stranger.parlour.join("bob", "cat")
    ann = stranger.client()
    stranger.run(ann.register())
    place = stranger.run(ann.join(stranger.parlour.table().guid))
    assert place.is_queued
    stranger.run(ann.leave(place))
    assert stranger.parlour.table().player_guid("ann") is None


def test_a_game_that_has_ended_since_it_was_listed_is_passed_by() -> None:
    stranger = Stranger()
    stranger.meddle = once(ApiResponse(404, {}, b""), when="/players/")
    _, stay = seated(stranger)
    assert stranger.lines[-2:] == [f"POST /games/{stranger.parlour.table().guid}/players/", "POST /games/"]
    assert stay.joined_game.game == stranger.parlour.house.games()[1].guid


def test_a_game_that_refuses_us_is_not_passed_by() -> None:
    stranger = Stranger()
    stranger.meddle = once(ApiResponse(400, {}, b"no\n"), when="/players/")
    with pytest.raises(Refusal, match="400 Bad Request: no"):
        seated(stranger)


def test_who_sits_there_already_has_joined() -> None:
    stranger = Stranger()
    ann, stay = seated(stranger)
    assert stranger.run(ann.join()) == stay.joined_game


def test_leaving_twice_is_no_fault() -> None:
    stranger = Stranger()
    ann, stay = seated(stranger)
    for _ in range(2):
        stranger.run(ann.leave(stay.joined_game))
    assert len(stranger.parlour.table()) == 0


def test_a_fold_has_no_amount_and_a_bad_bet_tells_why_it_was_a_fold() -> None:
    stranger = Stranger()
    ann, stay = seated(stranger, "bob")
    act = Act("ann", stay.joined_game.game, stay.joined_game.player, 1, 15)
    assert "found 15" in stranger.run(ann.act(act))
    assert msgspec.json.decode(stranger.asked[-1].body) == {"action": 1, "betAmount": 15}
    stranger.parlour.play("bob fold")
    assert stranger.run(ann.act(msgspec.structs.replace(act, action=0))) == ""
    assert msgspec.json.decode(stranger.asked[-1].body) == {"action": 0}


# A server that does not answer


def test_a_server_that_is_gone_for_a_moment_is_asked_again() -> None:
    stranger = Stranger()
    stranger.meddle = once(ConnectionFailed("refused"), ConnectionFailed("reset"), ApiResponse(503, {}, b""))
    assert stranger.run(stranger.client().register())
    assert stranger.paused == [0.1, 0.2, 0.4]


def test_a_server_that_stays_away_is_a_connection_error() -> None:
    stranger = Stranger()
    stranger.meddle = lambda _: ConnectionFailed("refused")
    with pytest.raises(ConnectionError, match="no answer to POST /users/: refused"):
        stranger.run(stranger.client(patience=5.0).register())
    assert stranger.paused == [0.1, 0.2, 0.4, 0.8, 1.6]


def test_a_server_that_is_busy_is_asked_again_when_it_says() -> None:
    stranger = Stranger()
    stranger.meddle = once(ApiResponse(429, {"retry-after": "7"}, b"slowly\n"))
    stranger.run(stranger.client().register())
    assert stranger.paused == [7.0]


def test_who_has_to_wait_for_longer_than_his_patience_is_told_for_how_long() -> None:
    stranger = Stranger()
    stranger.meddle = lambda _: ApiResponse(429, {"retry-after": "60"}, b"slowly\n")
    with pytest.raises(Refusal) as refused:
        stranger.run(stranger.client().register())
    assert (refused.value.status, refused.value.retry_after_seconds) == (429, 60.0)
    assert stranger.paused == []


@pytest.mark.parametrize("after", ["", "soon", "-5", "9" * 500])
def test_a_time_that_is_none_is_not_waited_for(after: str) -> None:
    stranger = Stranger()
    stranger.meddle = once(ApiResponse(429, {"retry-after": after}, b""))
    stranger.run(stranger.client().register())
    assert stranger.paused == [0.1]


def test_a_refusal_is_told_as_it_was_found() -> None:
    assert str(ApiResponse(418, {}, b"short\n").to_refusal()) == "418 I'm a Teapot: short"
    assert str(ApiResponse(799, {}, b"").to_refusal()) == "799 unknown status"
    assert len(ApiResponse(400, {}, b"x" * 10_000).to_refusal().detail) == 500


# Looking


def test_a_server_of_the_document_is_asked_every_fifty_milliseconds() -> None:
    stranger = Stranger()
    ann, stay = seated(stranger, "bob")
    lookout = GameWatcher(ann, stay.joined_game.game)
    stranger.run(lookout.next_game())
    assert stranger.paused == []
    stranger.parlour.now = 14.93  # the turn ends at 15
    stranger.run(lookout.next_game())
    assert stranger.paused == [POLL_INTERVAL_SECONDS] * 2
    assert stranger.parlour.turn() == ""


def test_a_tag_is_sent_back_and_no_news_is_no_game() -> None:
    stranger = Stranger()
    ann, stay = seated(stranger, "bob")
    game = stranger.run(ann.get_game(stay.joined_game.game))
    seen = stranger.answer(stranger.asked[-1])
    lookout = GameWatcher(ann, game.game_id)
    stranger.meddle = once(
        ApiResponse(200, {"etag": '"1"'}, seen.body), ApiResponse(304, {"etag": '"1"'}, b""), when="GET"
    )
    stranger.run(lookout.next_game())
    stranger.parlour.play("ann 10")
    stranger.run(lookout.next_game())
    assert [ask.headers.get("if-none-match") for ask in stranger.asked[-3:]] == [None, '"1"', '"1"']


def test_no_news_where_nothing_was_seen_yet_breaks_a_clause() -> None:
    stranger = Stranger()
    ann, stay = seated(stranger, "bob")
    stranger.meddle = lambda _: ApiResponse(304, {}, b"")
    with pytest.raises(Violation, match=r"holdem-9\.2"):
        stranger.run(GameWatcher(ann, stay.joined_game.game).next_game())


def test_a_server_that_tells_of_changes_is_listened_to() -> None:
    stranger = Stranger()
    stranger.meddle = streaming(stranger)
    ann, stay = seated(stranger, "bob")
    lookout = GameWatcher(ann, stay.joined_game.game)
    stranger.run(lookout.next_game())
    for line in ("ann 10", "bob 0"):
        stranger.parlour.play(line)
        stranger.run(lookout.next_game())
    path = f"GET /games/{stay.joined_game.game}"
    assert stranger.lines[-3:] == [path, f"{path}/events", f"{path}/events"]
    assert stranger.asked[-1].headers["accept"] == "application/x-ndjson"
    assert stranger.followed == [True, False]
    lookout.refresh()
    stranger.run(lookout.next_game())
    stranger.parlour.play("bob 20")
    stranger.run(lookout.next_game())
    assert stranger.followed == [True, False, True]
    assert stranger.paused == []


def test_a_stream_that_breaks_off_is_opened_again() -> None:
    stranger = Stranger()
    ann, stay = seated(stranger, "bob")
    stream, broken = streaming(stranger), [ConnectionFailed("reset")]
    stranger.meddle = lambda ask: broken.pop() if broken and ask.path.endswith("/events") else stream(ask)
    lookout = GameWatcher(ann, stay.joined_game.game)
    stranger.run(lookout.next_game())
    stranger.parlour.play("ann 10")
    stranger.run(lookout.next_game())
    stranger.parlour.play("bob 0")
    stranger.run(lookout.next_game())
    path = f"GET /games/{stay.joined_game.game}"
    assert stranger.lines[-4:] == [path, f"{path}/events", path, f"{path}/events"]
    assert stranger.paused == [POLL_INTERVAL_SECONDS]


def test_a_server_without_streams_is_asked_to_hold_back_its_answer() -> None:
    stranger = Stranger()
    stranger.meddle = versioned(stranger)
    ann, stay = seated(stranger, "bob")
    lookout = GameWatcher(ann, stay.joined_game.game)
    stranger.run(lookout.next_game())
    for line in ("ann 10", "bob 0", "bob 0"):
        stranger.parlour.play(line)
        version = stranger.parlour.table().version
        stranger.run(lookout.next_game())
    path = f"GET /games/{stay.joined_game.game}"
    assert stranger.lines[-2:] == [f"{path}?wait=25&since={version - 2}", f"{path}?wait=25&since={version - 1}"]


def test_a_server_that_does_not_hold_back_its_answer_is_not_overrun() -> None:
    stranger = Stranger()
    stranger.meddle = versioned(stranger)
    ann, stay = seated(stranger, "bob")
    lookout = GameWatcher(ann, stay.joined_game.game)
    stranger.run(lookout.next_game())
    stranger.parlour.now = 14.93
    stranger.run(lookout.next_game())
    assert stranger.paused == [POLL_INTERVAL_SECONDS] * 2


# A stay at a table


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("able", ["no", "versions", "streams"])
def test_a_hand_is_played_at_any_server(dialect: Any, able: str) -> None:
    stranger = Stranger(dialect)
    meddling = {"no": lambda _: None, "versions": versioned(stranger), "streams": streaming(stranger)}
    stranger.meddle = meddling[able]
    _, stay = seated(stranger, "bob")
    for _ in range(40):
        stranger.run(stay.next_game())
        act = stay.player.decide(CALLER, LUCK)
        if act is not None:
            assert stranger.run(stay.make_move(act)) == ""
        if stranger.parlour.turn() == "bob":
            turn = stranger.parlour.view().turn
            stranger.parlour.bet("bob", turn.bet_to_player - turn.bet_so_far)
    assert len(stay.nets) >= 3
    assert set(stay.nets) <= {-20, 0, 20}
    assert stranger.parlour.table().player_guid("ann")


def test_a_move_that_is_not_legal_is_not_sent() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.run(stay.next_game())
    asked = len(stranger.asked)
    with pytest.raises(IllegalMove):
        stranger.run(stay.make_move(15))
    assert len(stranger.asked) == asked
    assert stranger.run(stay.make_move(10)) == ""


def test_an_act_whose_answer_is_lost_is_never_sent_again_unless_it_has_not_arrived() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.run(stay.next_game())
    stranger.meddle = once(ConnectionFailed("reset"), when="/acts/")
    assert "reset" in stranger.run(stay.make_move(10))
    assert not stay.player.legal
    stranger.run(stay.next_game())
    assert 10 in stay.player.legal
    assert stranger.run(stay.make_move(10)) == ""


def test_an_act_whose_answer_is_lost_but_which_has_arrived_is_not_sent_again() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.run(stay.next_game())

    def arrives(ask: ApiRequest) -> ConnectionFailed | None:
        if not ask.path.endswith("/acts/"):
            return None
        stranger.answer(ask)
        return ConnectionFailed("reset")

    stranger.meddle = arrives
    stranger.run(stay.make_move(10))
    stranger.run(stay.next_game())
    assert stranger.parlour.turn() == "bob"
    assert not stay.player.legal


def test_an_act_that_a_busy_server_refuses_is_thought_over_again() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.run(stay.next_game())
    stranger.meddle = once(
        ApiResponse(429, {"retry-after": "3"}, b"slowly\n"),
        ApiResponse(429, {"retry-after": "999999999"}, b""),
        when="/acts/",
    )
    assert stranger.run(stay.make_move(10)) == "429 Too Many Requests: slowly"
    assert stranger.paused == [3.0]
    stranger.run(stay.next_game())
    stranger.parlour.now -= 30  # the turn is not over
    stranger.run(stay.make_move(10))
    assert stranger.paused == [3.0, 30.0]
    stranger.run(stay.next_game())
    assert 10 in stay.player.legal


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_act_that_comes_when_the_turn_is_over_changes_nothing(dialect: Any) -> None:
    stranger = Stranger(dialect)
    _, stay = seated(stranger, "bob")
    stranger.run(stay.next_game())
    stranger.parlour.leave("bob")
    told = stranger.run(stay.make_move(10))
    assert told.startswith("403" if dialect == "readme" else "409")
    stranger.run(stay.next_game())
    assert stay.nets == [20]
    assert not stay.player.is_exhausted


def test_an_act_that_comes_when_we_are_out_ends_the_stay() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.run(stay.next_game())
    stranger.parlour.wait(16)
    assert stranger.run(stay.make_move(FOLD)).startswith("404")
    assert stay.player.is_exhausted
    assert stranger.run(stay.next_game()) is None
    asked = len(stranger.asked)
    stranger.run(stay.leave())
    assert len(stranger.asked) == asked


def test_credentials_that_are_no_longer_good_are_a_refusal() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.run(stay.next_game())
    stranger.users["ann"] = "changed"
    for errand in (stay.make_move(10), stay.next_game()):
        with pytest.raises(Refusal, match="401"):
            stranger.run(errand)


def test_a_game_that_is_gone_ends_the_stay() -> None:
    stranger = Stranger()
    _, stay = seated(stranger)
    stranger.run(stay.next_game())
    stranger.meddle = once(ApiResponse(404, {}, b""), when="GET")
    assert stranger.run(stay.next_game()) is None
    assert stay.player.is_exhausted
    assert stay.nets == []


def test_a_game_that_makes_no_sense_breaks_a_clause() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.meddle = once(ApiResponse(200, {}, b"<html>"), when="GET")
    with pytest.raises(Violation, match=r"holdem-1\.5"):
        stranger.run(stay.next_game())


def test_our_turn_without_our_cards_breaks_a_clause() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    public = stranger.answer(ApiRequest("GET", f"/games/{stay.joined_game.game}"))
    stranger.meddle = once(public, when="GET")
    with pytest.raises(Violation, match=r"holdem-5\.6"):
        stranger.run(stay.next_game())


def test_who_waits_at_the_published_server_watches_as_the_public_until_he_is_seated() -> None:
    stranger = Stranger("hspe-go")
    stranger.parlour.join("bob", "cat")
    _, stay = seated(stranger)
    game = stranger.run(stay.next_game())
    assert game is not None
    assert [one.handle for one in game.table] == ["bob", "cat"]
    assert [(ask.is_anonymous, "authorization" in ask.headers) for ask in stranger.asked[-2:]] == [
        (False, True),
        (True, False),
    ]
    stranger.parlour.play("bob fold")
    stranger.run(stay.next_game())
    assert stay.player.view is not None


def test_who_is_seated_between_two_looks_sees_his_cards_all_the_same() -> None:
    stranger = Stranger("hspe-go")
    stranger.parlour.join("bob", "cat")
    _, stay = seated(stranger)

    def seats(ask: ApiRequest) -> None:
        if ask.is_anonymous:
            stranger.parlour.play("bob fold")
            stranger.meddle = lambda _: None

    stranger.meddle = seats
    stranger.run(stay.next_game())
    assert stay.player.view is not None
    assert stay.player.view.hole


def test_leaving_gives_the_seat_back() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    stranger.run(stay.leave())
    assert stranger.parlour.table().player_guid("ann") is None


def test_who_does_not_know_his_guid_leaves_under_the_one_at_the_table() -> None:
    stranger = Stranger()
    _, stay = seated(stranger, "bob")
    ann = stranger.client()
    stranger.run(ann.register())
    again = SeatSession(ann, stranger.run(ann.join(stay.joined_game.game)))
    assert again.joined_game.player == ""
    stranger.run(again.next_game())
    assert stranger.run(again.make_move(10)) == ""
    stranger.run(again.leave())
    assert stranger.parlour.table().player_guid("ann") is None


def test_pauses_are_asked_for_and_not_made() -> None:
    errand = HoldemApi("ann", "secret", 1.0).register()
    assert isinstance(next(errand), ApiRequest)
    assert errand.send(ConnectionFailed("reset")) == Delay(0.1)
