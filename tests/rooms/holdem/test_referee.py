"""Tests of the referee: no violations at our own table, and the right clauses for broken rules."""

from collections.abc import Sequence
from random import Random

import pytest
from msgspec import structs

from croupier.core.errors import Violation
from croupier.rooms.holdem.observed.bet_clauses import invalid_bet_clause
from croupier.rooms.holdem.referee import PUBLIC, Referee
from croupier.rooms.holdem.wire import (
    ACTION_BET,
    ACTION_FOLD,
    Act,
    ActDone,
    Cards,
    Game,
    HoldemRequest,
    Join,
    Leave,
    Pot,
    RequestRefused,
)
from tests.rooms.holdem.house_fixture import SHOWDOWN, HouseFixture
from tests.sampling import example_count

USERS = ("ann", "bob", "cat", "dan", "eve")
BETS = ((ACTION_FOLD, 0), *((ACTION_BET, chips) for chips in (0, 10, 20, 60, 9_985, 10_000)))
LOOK_INTERVALS = (0.0, 0.0, 0.01, 0.02, 0.05)


class RefereeSession:
    """Users of a house, and a referee that observes them."""

    def __init__(self, players: int, seed: int = 1, decks: str = "", **settings: object) -> None:
        self.users = USERS[:players]
        self.fixture = HouseFixture(decks, seed, **settings)
        self.game = self.fixture.table().guid
        self.referee = Referee(self.fixture.settings.stakes, self.fixture.settings.stack)
        self.found: list[Violation] = []
        for user in self.users:
            self.fixture.join(user)
            self.report(user, Join(user, self.game), 201)
            self.look()

    def guid(self, user: str) -> str:
        return self.fixture.house.guid_of(user)

    def look(self, user: str | None = None) -> None:
        self.see(self.fixture.view(user, self.game), user)

    def see(self, game: Game, user: str | None = None) -> None:
        self.found += self.referee.on_shown(PUBLIC if user is None else self.guid(user), game)

    def report(self, user: str, request: HoldemRequest, status: int) -> None:
        self.found += self.referee.on_exchange(self.guid(user), request, status)

    def report_act(self, user: str, action: int, chips: int, status: int) -> None:
        self.report(user, Act(user, self.game, self.guid(user), action, chips), status)

    def act(self, user: str, action: int, chips: int = 0) -> None:
        answer = self.fixture.request(Act(user, self.game, self.guid(user), action, chips))
        status = 201 if isinstance(answer, ActDone) else answer.status if isinstance(answer, RequestRefused) else 0
        self.report_act(user, action, chips, status)
        self.look()

    def turn(self) -> str:
        return self.fixture.turn(self.game)

    @property
    def clauses(self) -> set[str]:
        return {violation.clause for violation in self.found}


def play(session: RefereeSession, luck: Random, acts: int, bets: Sequence[tuple[int, int]] = BETS) -> None:
    """Play random acts, valid or not, in or out of turn."""
    for _ in range(acts):
        for user in session.users:
            if session.fixture.table(session.game).player_guid(user) is None:
                session.fixture.join(user)
                session.report(user, Join(user, session.game), 201)
                session.look()
        session.look(luck.choice(session.users))
        user = session.turn()
        if not user:
            return
        chance = luck.random()
        if chance < 0.1:
            session.act(luck.choice(session.users), ACTION_BET, 20)
        elif chance < 0.15 and len(session.users) > 2:
            session.fixture.leave(user, session.game)
            session.report(user, Leave(user, session.game, session.guid(user)), 200)
            session.look()
        else:
            session.act(user, *luck.choice(bets))


def play_short_stacks(session: RefereeSession, seed: int) -> None:
    bets = [(ACTION_FOLD, 0), *((ACTION_BET, chips) for chips in (0, 10, 20, 40, 60, 45, 75, 90, 110))]
    play(session, Random(seed), 150, bets)


@pytest.mark.parametrize("seed", range(12))
def test_our_own_table_has_no_violations(seed: int) -> None:
    session = RefereeSession(2 + seed % 4, seed)
    play(session, Random(seed), 120)
    assert session.found == []
    assert session.referee.hand_count > 3
    assert session.referee.hand_count - 1 <= session.referee.finished_count <= session.referee.hand_count
    assert session.referee.last_game is not None
    assert not session.referee.is_lost


class WealthSession(RefereeSession):
    """A session at a table that shows as the minimum raise what the wealth of the player allows (holdem-5.10, P38)."""

    def see(self, game: Game, user: str | None = None) -> None:
        turn = game.turn
        wealth = next((player.wealth for player in game.table if player.player_id == turn.player_id), 0)
        smallest = max(0, min(turn.minimum_raise, wealth - (turn.bet_to_player - turn.bet_so_far)))
        super().see(structs.replace(game, turn=structs.replace(turn, minimum_raise=smallest)), user)


@pytest.mark.parametrize("seed", [4, 16, 23])
def test_the_minimum_raise_may_be_what_the_wealth_allows(seed: int) -> None:
    """In these hands a player who may not raise again has chips left for less than a full raise."""
    session = WealthSession(3 + seed % 3, seed, stack=90)
    play_short_stacks(session, seed)
    assert session.found == []


class JoinedPotsSession(RefereeSession):
    """A session at a table that divides its pots at the end of a round only (holdem-5.15, P17), or never."""

    divides = True
    street_pots = 1
    board: object = None

    def see(self, game: Game, user: str | None = None) -> None:
        board = (game.cards.flop, game.cards.turn, game.cards.river)
        if board != self.board and self.divides:
            self.board, self.street_pots = board, len(game.pots)
        *pots, last = game.pots[: self.street_pots]
        size = last.size + sum(pot.size for pot in game.pots[self.street_pots :])
        super().see(structs.replace(game, pots=(*pots, Pot(size, last.players))), user)


@pytest.mark.parametrize("seed", range(8))
def test_pots_may_be_divided_at_the_end_of_a_round(seed: int) -> None:
    session = JoinedPotsSession(3 + seed % 3, seed, stack=200)
    play_short_stacks(session, seed)
    assert session.found == []


def test_pots_are_divided_at_the_end_of_a_round() -> None:
    session = JoinedPotsSession(5, seed=8, stack=200)
    session.divides = False
    play_short_stacks(session, 8)
    assert session.clauses == {"holdem-6.12"}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "settings", [{"ante": 7}, {"straddle": 50}, {"ante": 30, "straddle": 40, "stack": 700}], ids=str
)
def test_antes_and_straddles_are_no_violations(settings: dict[str, int], seed: int) -> None:
    session = RefereeSession(2 + seed % 4, seed, **settings)
    play(session, Random(seed), 120)
    assert session.found == []
    assert session.referee.hand_count > 3


def play_unwatched(session: RefereeSession, luck: Random, steps: int, leave_chance: float) -> None:
    """Play valid and invalid acts; each user looks only before their own turn, and may leave without looking."""

    def may_leave(user: str) -> bool:
        is_leaving = seats.player_guid(user) is not None and luck.random() < leave_chance
        if is_leaving:
            session.fixture.leave(user, session.game)
            session.report(user, Leave(user, session.game, session.guid(user)), 200)
        return is_leaving

    seats = session.fixture.table(session.game)
    for _ in range(steps):
        session.fixture.wait(luck.choice(LOOK_INTERVALS))
        user = luck.choice(session.users)
        if seats.player_guid(user) is None:
            session.fixture.join(user)
            session.report(user, Join(user, session.game), 201)
        elif not may_leave(user):
            session.look(user)
            if session.turn() == user:
                action, chips = luck.choice(BETS)
                act = Act(user, session.game, session.guid(user), action, chips)
                assert isinstance(session.fixture.request(act), ActDone)
                session.report_act(user, action, chips, 201)
                may_leave(user)


@pytest.mark.hypothesis
@pytest.mark.parametrize("settings", [{}, {"pause_seconds": 0.04}, {"ante": 5, "straddle": 45}], ids=str)
@pytest.mark.parametrize("leave_chance", [0, 0.01, 0.05])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_players_who_leave_between_two_looks_are_no_violations(
    players: int, leave_chance: float, settings: dict[str, float]
) -> None:
    for seed in range(example_count(10)):
        session = RefereeSession(players, seed, **settings)
        play_unwatched(session, Random(seed), 200, leave_chance)
        assert session.found == []
        assert not session.referee.is_lost
        assert session.referee.hand_count > 3


def test_a_player_who_goes_broke_in_a_hand_between_two_looks_is_no_violation() -> None:
    """The pauses around a hand without a decision show its players before and after it."""
    session = RefereeSession(2, decks=f"{SHOWDOWN}/2C AS 2D AH KS QH 9C 8D 4H", pause_seconds=1.0)
    session.act("ann", ACTION_BET, 9_985)
    session.act("bob", ACTION_BET, 9_975)
    for _ in range(3):
        session.act("bob", ACTION_BET)
        session.act("ann", ACTION_BET)
    assert session.fixture.chips(session.game) == {"ann": 19_995, "bob": 5}
    session.fixture.wait(1.0)  # the last chips of bob are the small blind, and lost
    session.fixture.join("cat")
    session.report("cat", Join("cat", session.game), 201)
    session.look()
    assert session.fixture.chips(session.game) == {"ann": 20_000}
    session.fixture.wait(1.0)
    session.look()
    assert session.fixture.turn(session.game) in {"ann", "cat"}
    assert session.found == []
    assert not session.referee.is_lost
    assert session.referee.seated_players == {session.guid("ann"), session.guid("cat")}


@pytest.mark.parametrize("pause_seconds", [0, 1.0])
def test_an_act_in_a_hand_that_has_not_been_displayed_is_no_violation(pause_seconds: float) -> None:
    session = RefereeSession(2, pause_seconds=pause_seconds)
    for user, action, chips in (("ann", ACTION_FOLD, 0), ("bob", ACTION_BET, 30), ("ann", ACTION_BET, 20)):
        act = Act(user, session.game, session.guid(user), action, chips)
        assert isinstance(session.fixture.request(act), ActDone)
        session.report_act(user, action, chips, 201)
        session.fixture.wait(1.0)
    session.look()
    assert session.fixture.view(None, session.game).cards.flop, "the second hand has come to its flop"
    session.act("ann", ACTION_FOLD)
    session.fixture.wait(1.0)
    session.look()
    assert session.found == []
    assert session.referee.player_to_act() == session.guid("ann")


def test_bets_of_the_player_to_act_are_legal() -> None:
    session = RefereeSession(2)
    assert [chips for chips in range(31) if chips in session.referee.legal] == [10, *range(30, 31)]
    session.report(session.turn(), Leave(session.turn(), session.game, session.guid(session.turn())), 200)
    assert session.referee.legal == ()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 500, 25))
def test_our_own_table_has_no_violations_in_long_sessions(first: int) -> None:
    for seed in range(first, first + 25):
        session = RefereeSession(2 + seed % 4, seed)
        play(session, Random(seed), 200)
        assert session.found == [], seed


def test_an_accepted_act_out_of_turn_is_a_violation() -> None:
    session = RefereeSession(2)
    session.report_act("bob", ACTION_BET, 20, 201)
    assert session.clauses == {"holdem-4.13"}
    assert session.referee.is_lost


@pytest.mark.parametrize("players", [2, 3])
def test_a_fold_by_a_refused_act_out_of_turn_is_a_violation(players: int) -> None:
    """The hand of all players is the second one; the server folds for the refused player at its turn."""
    session = RefereeSession(players)
    session.act(session.turn(), ACTION_FOLD)
    first = session.turn()
    refused = session.users[(session.users.index(first) + 1) % players]
    session.report_act(refused, ACTION_BET, 20, 403)
    session.act(first, ACTION_BET, 10 if players == 2 else 20)
    assert (session.turn(), session.found) == (refused, [])
    session.fixture.request(Act(refused, session.game, session.guid(refused), ACTION_FOLD, 0))
    session.look()
    assert [violation.clause for violation in session.found] == ["holdem-4.13"]


def test_a_refused_valid_bet_is_a_violation() -> None:
    session = RefereeSession(2)
    session.report_act("ann", ACTION_BET, 10, 400)
    assert session.clauses == {"holdem-4.1"}


def test_a_refused_invalid_bet_is_a_violation() -> None:
    session = RefereeSession(2)
    session.report_act("ann", ACTION_BET, 15, 400)
    assert session.clauses == {"holdem-4.7"}


@pytest.mark.parametrize(
    ("chips", "clause"), [(-1, "4.8"), (9991, "4.9"), (5, "4.10"), (15, "4.11"), (10, ""), (30, ""), (9990, "")]
)
def test_every_bet_is_valid_or_breaks_a_clause(chips: int, clause: str) -> None:
    session = RefereeSession(2)
    running = session.referee.game
    assert running is not None
    assert invalid_bet_clause(running.hand.legal, chips, 9990) == (f"holdem-{clause}" if clause else None)


def test_an_accepted_invalid_bet_is_found_at_the_next_observation() -> None:
    session = RefereeSession(3)
    session.act("ann", ACTION_FOLD)
    session.report_act(session.turn(), ACTION_BET, 25, 201)
    session.look()
    assert session.found[0].clause == "holdem-4.11"


def test_an_invalid_bet_that_is_displayed_is_described() -> None:
    session = RefereeSession(2)
    user = session.turn()
    session.report_act(user, ACTION_BET, 25, 201)
    game = session.fixture.view(None, session.game)
    table = [
        structs.replace(one, bet_so_far=35, wealth=9965, state="called") if one.player_id == session.guid(user) else one
        for one in game.table
    ]
    session.see(structs.replace(game, table=table, pots=[structs.replace(game.pots[0], size=55)]))
    (violation,) = session.found
    assert violation.clause == "holdem-4.11"
    assert violation.found == f"bet_so_far 35 of {user}: the bet of 25 was accepted"
    assert violation.allowed == "a fold: this bet is invalid"


@pytest.mark.parametrize("players", [2, 3])
def test_a_player_who_is_removed_for_an_invalid_bet_should_have_stayed(players: int) -> None:
    session = RefereeSession(players)
    if players > 2:
        session.act("ann", ACTION_FOLD)  # the first hand is dealt to two
    user = session.turn()
    session.report_act(user, ACTION_BET, -1, 201)
    session.fixture.leave(user, session.game)
    session.look()
    (violation,) = session.found
    assert violation.clause == "holdem-4.7"
    assert violation.found == f"a table without {session.guid(user)}"


@pytest.mark.parametrize(("raised", "last"), [(9490, (ACTION_BET, 9480)), (9990, (ACTION_FOLD, 0))])
def test_a_folded_short_call_is_found_after_the_next_act(raised: int, last: tuple[int, int]) -> None:
    session = RefereeSession(3)
    for user, action, chips in (("ann", ACTION_BET, 990), ("bob", ACTION_BET, 980), ("bob", ACTION_BET, 0)):
        session.act(user, action, chips)
    session.act("ann", ACTION_FOLD)  # with 9000 chips left
    acts = [("bob", ACTION_BET, 20), ("cat", ACTION_BET, raised), ("ann", ACTION_BET, 8980), ("bob", *last)]
    for user, action, chips in acts:
        done = (ACTION_FOLD, 0) if user == "ann" else (action, chips)
        session.fixture.request(Act(user, session.game, session.guid(user), *done))
        session.report_act(user, action, chips, 201)
    session.look()
    assert [violation.clause for violation in session.found] == ["holdem-4.10"]


@pytest.mark.parametrize("players", [2, 3])
def test_a_hand_that_ends_before_all_have_acted_breaks_the_rule_about_rounds(players: int) -> None:
    session = RefereeSession(players)
    if players > 2:
        session.act("ann", ACTION_FOLD)  # all three are dealt in from here on
    first, *others = [session.turn(), *(user for user in session.users if user != session.turn())]
    session.fixture.request(Act(first, session.game, session.guid(first), ACTION_BET, 500))
    session.report_act(first, ACTION_BET, 500, 201)
    for _ in others:
        user = session.turn()
        session.fixture.request(Act(user, session.game, session.guid(user), ACTION_FOLD, 0))
    session.look()
    assert [(violation.clause, violation.found) for violation in session.found] == [
        ("holdem-6.7", "the end of the hand")
    ]


def with_wrong_total(game: Game, chips: int) -> Game:
    return structs.replace(game, turn=structs.replace(game.turn, bet_to_player=chips))


def test_what_a_wrong_total_to_match_leads_to_is_not_reported() -> None:
    session = RefereeSession(2)
    game = session.fixture.view(None, session.game)
    table = [structs.replace(one, state="called") for one in game.table]
    session.see(structs.replace(with_wrong_total(game, 15), table=table))
    session.see(structs.replace(game, table=[structs.replace(one, wealth=one.wealth - 5) for one in game.table]))
    assert session.clauses == {"holdem-5.10"}
    assert session.referee.is_lost


def test_a_wrong_total_to_match_is_not_taken_for_the_end_of_a_hand_by_folds() -> None:
    session = RefereeSession(3)
    acts = [("ann", ACTION_BET, 9950), ("bob", ACTION_BET, 9940), ("bob", ACTION_BET, 0), ("ann", ACTION_FOLD, 0)]
    acts += [("bob", ACTION_BET, 100), ("cat", ACTION_FOLD, 0), ("ann", ACTION_FOLD, 0)]  # with 20 chips left
    for user, action, chips in acts:
        session.act(user, action, chips)
    for user, chips in (("cat", 41), ("ann", 10)):
        session.fixture.request(Act(user, session.game, session.guid(user), ACTION_BET, chips))
        session.report_act(user, ACTION_BET, chips, 201)
    session.see(with_wrong_total(session.fixture.view(None, session.game), 20))
    assert session.clauses == {"holdem-5.10"}


def with_button_moved_on(game: Game, places: int) -> Game:
    """Return the first game of a hand with the blinds and the turn at other players."""
    for _ in range(places):
        before = dict(zip((one.player_id for one in game.table), (game.table[-1], *game.table), strict=False))
        table = [
            structs.replace(
                one,
                wealth=one.wealth + one.bet_so_far - before[one.player_id].bet_so_far,
                bet_so_far=before[one.player_id].bet_so_far,
                small_blind=before[one.player_id].small_blind,
            )
            for one in game.table
        ]
        player = next(one for one in table if before[one.player_id].player_id == game.turn.player_id)
        turn = structs.replace(game.turn, player_id=player.player_id, bet_so_far=player.bet_so_far)
        pot = structs.replace(game.pots[0], players=tuple(one.player_id for one in table if one.bet_so_far))
        game = structs.replace(game, table=table, turn=turn, pots=[pot])
    return game


@pytest.mark.parametrize(
    ("sees_flop", "clauses"),
    [(False, [set(), {"holdem-6.4"}, {"holdem-6.2"}]), (True, [set(), {"holdem-6.2"}, {"holdem-6.2"}])],
)
@pytest.mark.parametrize("places", [0, 1, 2])
def test_the_button_moves_on_when_somebody_has_joined(
    places: int, clauses: Sequence[set[str]], *, sees_flop: bool
) -> None:
    session = RefereeSession(3)  # cat has joined while ann and bob play
    for user, chips in (("ann", 10), ("bob", 0), ("bob", 0))[: 3 * sees_flop]:
        session.act(user, ACTION_BET, chips)
    session.fixture.request(Act("ann", session.game, session.guid("ann"), ACTION_FOLD, 0))
    session.report_act("ann", ACTION_FOLD, 0, 201)
    session.see(with_button_moved_on(session.fixture.view(None, session.game), places))
    assert session.clauses == clauses[places]


@pytest.mark.parametrize(("places", "clauses"), [(0, set()), (1, set()), (2, {"holdem-6.2"})])
def test_no_player_posts_the_small_blind_twice_when_somebody_has_left(places: int, clauses: set[str]) -> None:
    session = RefereeSession(4)
    session.act("ann", ACTION_FOLD)  # all are dealt in from here on: bob has the button, cat the small blind
    session.fixture.leave("bob", session.game)
    session.report("bob", Leave("bob", session.game, session.guid("bob")), 200)
    session.look()
    for user in ("ann", "cat"):
        session.fixture.request(Act(user, session.game, session.guid(user), ACTION_FOLD, 0))
        session.report_act(user, ACTION_FOLD, 0, 201)
    session.see(with_button_moved_on(session.fixture.view(None, session.game), places))
    assert session.clauses == clauses


def test_a_turn_after_an_invalid_bet_that_folds_is_a_violation_of_the_rule_about_the_bet() -> None:
    session = RefereeSession(3)
    session.act("ann", ACTION_FOLD)  # the first hand is dealt to two
    for user in ("bob", "cat"):
        wealth = next(one.wealth for one in session.fixture.view(None, session.game).table if one.handle == user)
        session.act(user, ACTION_BET, wealth)
    game = session.fixture.view(None, session.game)
    session.report_act("ann", ACTION_BET, -1, 201)
    session.see(structs.replace(game, cards=Cards((), ("AS", "2H", "3H"), None, None)))
    (violation,) = session.found
    assert violation.clause == "holdem-4.8"
    assert violation.found == f"the turn of {session.guid('ann')}"


@pytest.mark.parametrize("board", [("AS", "2H", "3H"), ("AS", "2H", "3H", "4H", "5H")])
def test_a_turn_after_the_last_decision_is_a_violation(board: Sequence[str]) -> None:
    session = RefereeSession(2)
    session.act("ann", ACTION_BET, 9990)
    game = session.fixture.view(None, session.game)
    session.report_act("bob", ACTION_BET, 9980, 201)
    table = [structs.replace(one, wealth=0, bet_so_far=0) for one in game.table]
    pots = [structs.replace(game.pots[0], size=20_000)]
    cards = Cards((), tuple(board[:3]), tuple(board[3:4]) or None, tuple(board[4:]) or None)
    session.see(structs.replace(game, table=table, pots=pots, cards=cards))
    (violation,) = session.found
    assert violation.clause == "holdem-6.14"
    assert violation.found == f"the turn of {session.guid('bob')}"


def test_wrong_blinds_are_described() -> None:
    session = RefereeSession(2)
    game = session.fixture.view(None, session.game)
    bets = [one.bet_so_far for one in game.table]
    table = [
        structs.replace(one, bet_so_far=bet, wealth=10_000 - bet)
        for one, bet in zip(game.table, reversed(bets), strict=True)
    ]
    session = RefereeSession(0)
    for one in table:
        session.report(one.handle, Join(one.handle, game.game_id), 201)
    session.see(structs.replace(game, table=table))
    assert [violation.allowed for violation in session.found if violation.clause == "holdem-6.3"] == [
        "a stack of 9990 and a bet of 10: the small blind",
        "a stack of 9980 and a bet of 20: the big blind",
    ]


def test_missing_hole_cards_are_described() -> None:
    session = RefereeSession(2)
    game = session.fixture.view("ann", session.game)
    session.see(structs.replace(game, cards=structs.replace(game.cards, hole=())), "ann")
    (violation,) = session.found
    assert violation == Violation("holdem-5.6", "no hole cards for a player of the hand", "two hole cards")


def test_a_missing_chip_is_a_violation() -> None:
    session = RefereeSession(2)
    game = session.fixture.view(None, session.game)
    session.see(Game(game.game_id, game.table, game.turn, game.cards, (Pot(29, game.pots[0].players),)))
    assert "holdem-5.17" in session.clauses


def test_pots_without_the_bets_of_the_round_are_described() -> None:
    session = RefereeSession(2)
    game = session.fixture.view(None, session.game)
    session.see(Game(game.game_id, game.table, game.turn, game.cards, (Pot(0, ()),)))
    assert session.found[0] == Violation("holdem-5.17", "19970 chips: the pots lack the bets of this round", "20000")


def test_hole_cards_shown_to_the_public_are_a_violation() -> None:
    session = RefereeSession(2)
    session.see(session.fixture.view("ann", session.game))
    (violation,) = session.found
    assert violation.clause == "holdem-5.6"
    assert violation.found.endswith(" for the public")


def test_hole_cards_of_a_player_who_was_not_dealt_in_are_a_violation() -> None:
    session = RefereeSession(3)
    session.see(session.fixture.view("ann", session.game), "cat")
    (violation,) = session.found
    assert violation.clause == "holdem-5.6"
    assert violation.found.endswith(" for a player who was not dealt in")


def test_a_hole_card_on_the_board_is_a_violation() -> None:
    session = RefereeSession(2, decks=SHOWDOWN)
    for user in session.users:
        session.look(user)
    session.fixture.play("ann 10, bob 0", session.game)
    session.report_act("ann", ACTION_BET, 10, 201)
    session.report_act("bob", ACTION_BET, 0, 201)
    game = session.fixture.view(None, session.game)
    session.see(Game(game.game_id, game.table, game.turn, Cards((), ("AS", "2H", "3H")), game.pots))
    assert session.clauses == {"holdem-6.1"}


def test_a_hole_card_twice_is_a_violation() -> None:
    session = RefereeSession(2)
    game = session.fixture.view("ann", session.game)
    session.see(Game(game.game_id, game.table, game.turn, Cards(("AS", "AS")), game.pots), "ann")
    assert session.clauses == {"holdem-6.1"}


def test_a_board_that_changes_is_a_violation_of_the_deal() -> None:
    session = RefereeSession(2, decks=SHOWDOWN)
    for user, chips in (("ann", 10), ("bob", 0), ("bob", 0)):
        session.act(user, ACTION_BET, chips)
    session.fixture.play("ann 0", session.game)
    session.report_act("ann", ACTION_BET, 0, 201)
    game = session.fixture.view(None, session.game)
    flop = game.cards.flop
    assert flop is not None
    session.see(Game(game.game_id, game.table, game.turn, Cards((), flop[::-1], game.cards.turn), game.pots))
    assert session.clauses == {"holdem-6.5"}


@pytest.mark.parametrize(("order", "clauses"), [((0, 1, 2), set()), ((1, 2, 0), set()), ((2, 1, 0), {"holdem-5.3"})])
def test_the_players_of_a_table_sit_in_a_circle(order: Sequence[int], clauses: set[str]) -> None:
    session = RefereeSession(3)
    session.act(session.turn(), ACTION_FOLD)
    game = session.fixture.view(None, session.game)
    table = tuple(game.table[seat] for seat in order)
    session.see(Game(game.game_id, table, game.turn, game.cards, game.pots))
    assert session.clauses == clauses


def test_bets_that_do_not_add_up_to_the_pots_are_violations_of_the_blinds() -> None:
    session = RefereeSession(2)
    referee, game = Referee(), session.fixture.view(None, session.game)
    for user in session.users:
        referee.on_exchange(session.guid(user), Join(user, session.game), 201)
    table = [structs.replace(one, bet_so_far=0) for one in game.table]
    violations = referee.on_shown(PUBLIC, structs.replace(game, table=table))
    assert violations[0].clause == "holdem-6.3"


def test_a_waiting_player_in_the_table_can_still_be_followed() -> None:
    session = RefereeSession(2)
    session.fixture.join("cat")
    session.report("cat", Join("cat", session.game), 201)
    game = session.fixture.view(None, session.game)
    waiting = structs.replace(game.table[0], player_id=session.guid("cat"), small_blind=False)
    session.see(structs.replace(game, table=(*game.table, waiting)))
    assert session.clauses == {"holdem-5.20"}
    assert not session.referee.is_lost


def test_no_bet_was_taken_for_a_fold_because_a_waiting_player_is_shown() -> None:
    """Without the raise, the short all-in would end the hand, and a split pot would leave the displayed chips."""
    session = RefereeSession(3, blinds="10/40")
    for _ in range(3):
        session.act(session.turn(), ACTION_FOLD)
    session.act("cat", ACTION_BET, 9_975)
    session.act("ann", ACTION_FOLD)
    session.act("bob", ACTION_BET, 9_935)
    session.act("bob", ACTION_FOLD)
    session.fixture.join("dan")
    session.report("dan", Join("dan", session.game), 201)
    for user, chips in (("ann", 80), ("bob", 25)):  # ann raises, and bob has not even the big blind
        session.fixture.request(Act(user, session.game, session.guid(user), ACTION_BET, chips))
        session.report_act(user, ACTION_BET, chips, 201)
        game = session.fixture.view(None, session.game)
        waiting = structs.replace(game.table[0], player_id=session.guid("dan"), small_blind=False, bet_so_far=0)
        session.see(structs.replace(game, table=(*game.table, waiting)))
    assert session.clauses == {"holdem-5.20"}
    assert not session.referee.is_lost


def test_players_who_wait_are_shown_folded_before_the_hand_is_known() -> None:
    session = RefereeSession(2)
    referee = Referee()
    game = session.fixture.view(None, session.game)
    for user in (*session.users, "cat"):
        referee.on_exchange(session.guid(user), Join(user, session.game), 201)
    waiting = structs.replace(
        game.table[0], player_id=session.guid("cat"), state="folded", bet_so_far=0, small_blind=False
    )
    violations = referee.on_shown(PUBLIC, structs.replace(game, table=(*game.table, waiting)))
    assert [violation.clause for violation in violations] == ["holdem-5.20"]
    assert not referee.is_lost


def test_a_hand_without_the_player_to_act_is_a_violation() -> None:
    session = RefereeSession(2)
    game = session.fixture.view(None, session.game)
    referee = Referee()
    for user in session.users:
        referee.on_exchange(session.guid(user), Join(user, session.game), 201)
    violations = referee.on_shown(PUBLIC, structs.replace(game, table=game.table[1:]))
    assert [violation.clause for violation in violations] == ["holdem-5.8"]


def test_a_wrong_winner_is_a_violation() -> None:
    session = RefereeSession(2, decks=SHOWDOWN)
    for user in session.users:
        session.look(user)
    for user, chips in (("ann", 10), ("bob", 0), ("bob", 0), ("ann", 0), ("bob", 0), ("ann", 0), ("bob", 0)):
        session.act(user, ACTION_BET, chips)
    session.fixture.play("ann 0", session.game)
    session.report_act("ann", ACTION_BET, 0, 201)
    game = session.fixture.view(None, session.game)
    table = [
        type(one)(one.player_id, one.handle, one.state, one.wealth + (40 if one.handle == "bob" else -40),
                  one.bet_so_far, one.small_blind)
        for one in game.table
    ]  # fmt: skip
    session.see(Game(game.game_id, table, game.turn, game.cards, game.pots))
    assert session.clauses == {"holdem-6.14"}


def test_nothing_is_reported_after_the_hand_is_lost() -> None:
    session = RefereeSession(2)
    session.report_act("bob", ACTION_BET, 20, 201)
    session.report_act("bob", ACTION_BET, 20, 201)
    session.see(session.fixture.view("ann", session.game))
    assert len(session.found) == 1
