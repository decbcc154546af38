"""The games of a case are followed by referees, as long as every change of them is known."""

from msgspec import structs
from msgspec.json import encode

from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest, bet
from croupier.conformance.holdem.refereed_games import RefereedGames
from croupier.conformance.suite import Config
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.rooms.holdem.wire import Act, Game
from tests.rooms.holdem.house_fixture import HouseFixture, duel

DONE = ReceivedResponse(201, {}, b"")
REFUSED = ReceivedResponse(403, {}, b"")


class Case:
    """Ann and bob at a table of our house, followed from outside."""

    def __init__(self, *, is_enabled: bool = True) -> None:
        self.house: HouseFixture = duel()
        self.game = self.house.table().guid
        server = ServerUnderTest(("127.0.0.1", 1), Config(timeout=1.0))
        self.games = RefereedGames(server, is_enabled=is_enabled)
        for user in ("ann", "bob"):
            self.games.join(JoinedSeat(user, self.game, self.guid(user)))

    def guid(self, user: str) -> str:
        return self.house.house.guid_of(user)

    def act(self, user: str, chips: int, response: ReceivedResponse = DONE) -> None:
        path = f"/games/{self.game}/players/{self.guid(user)}/acts/"
        self.games.on_response(SentRequest("POST", path, (), encode(bet(chips))), response)

    def view(self) -> Game:
        return self.house.view(None, self.game)

    def clauses(self, game: Game | None = None) -> list[str]:
        found = self.games.on_game("", game or self.view(), is_readable=True)
        return [violation.clause for violation in found]


def with_states(game: Game, *states: str) -> Game:
    table = [structs.replace(player, state=state) for player, state in zip(game.table, states, strict=True)]
    return structs.replace(game, table=table)


def test_a_game_is_read_before_the_first_act() -> None:
    case = Case()
    assert case.games.needs_look(case.game)
    assert case.clauses() == []
    assert not case.games.needs_look(case.game)


def test_a_rule_that_a_game_breaks_is_found_once() -> None:
    case = Case()
    assert case.clauses() == []
    case.act("ann", 10)
    assert case.clauses() == ["holdem-4.5", "holdem-6.7"]  # the house has not got the act
    assert case.clauses() == []


def test_a_case_judges_what_a_refusal_should_not_have_changed() -> None:
    case = Case()
    case.act("bob", 10, REFUSED)
    assert case.clauses(with_states(case.view(), "folded", "active")) == []


def test_acts_of_both_are_followed() -> None:
    case = Case()
    for user, chips in (("ann", 10), ("bob", 0)):
        assert case.clauses() == []
        case.house.request(Act(user, case.game, case.guid(user), 1, chips))
        case.act(user, chips)
    assert case.games.needs_look(case.game)
    assert case.clauses() == []


def test_a_wrong_state_alone_leaves_the_game_doubtful() -> None:
    case = Case()
    assert case.clauses(with_states(case.view(), "active", "called")) == ["holdem-5.9"]
    assert case.games.doubtful == case.game
    assert case.clauses(with_states(case.view(), "active", "called")) == []


def test_nothing_is_followed_if_it_is_disabled() -> None:
    case = Case(is_enabled=False)
    assert not case.games.needs_look(case.game)
    assert case.clauses(with_states(case.view(), "folded", "folded")) == []


def test_a_game_that_shows_a_player_who_waits_is_still_followed() -> None:
    case = Case()
    assert case.clauses() == []
    case.games.join(JoinedSeat("cat", case.game, "waiting"))
    game = case.view()
    waiting = structs.replace(game.table[0], player_id="waiting", state="folded", bet_so_far=0, small_blind=False)
    assert case.clauses(structs.replace(game, table=[*game.table, waiting])) == ["holdem-5.20"]
    assert case.games.follows(case.game)
