"""The referee follows a table from outside: it is silent about ours, and names the clause that another breaks."""

from random import Random

import pytest

from croupier.core.errors import Violation
from croupier.rooms.holdem.referee import Referee, invalid_bet_clause
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD, Act, ActDone, Cards, Game, Pot, RequestRefused
from tests.rooms.holdem.house_fixture import SHOWDOWN, Parlour

USERS = ("ann", "bob", "cat", "dan", "eve")


class Evening:
    """Users at a parlour, and a referee who comes with them."""

    def __init__(self, players: int, seed: int = 1, decks: str = "", **settings: object) -> None:
        self.users = USERS[:players]
        self.parlour = Parlour(decks, seed, **settings)
        self.game = self.parlour.table().guid
        self.referee = Referee()
        self.found: list[Violation] = []
        for user in self.users:
            self.parlour.join(user)
            self.referee.player_joined(self.guid(user))
            self.look()

    def guid(self, user: str) -> str:
        return self.parlour.house.guid_of(user)

    def look(self, user: str | None = None) -> None:
        self.see(self.parlour.view(user, self.game), user)

    def see(self, game: Game, user: str | None = None) -> None:
        self.found += self.referee.observe(game, "" if user is None else self.guid(user))

    def act(self, user: str, action: int, chips: int = 0) -> None:
        answer = self.parlour.ask(Act(user, self.game, self.guid(user), action, chips))
        status = 201 if isinstance(answer, ActDone) else answer.status if isinstance(answer, RequestRefused) else 0
        self.found += self.referee.player_acted(self.guid(user), action, chips, status)
        self.look()

    def turn(self) -> str:
        return self.parlour.turn(self.game)

    @property
    def clauses(self) -> set[str]:
        return {violation.clause for violation in self.found}


def play(evening: Evening, luck: Random, acts: int) -> None:
    """Play anything, valid or not, in turn or not."""
    for _ in range(acts):
        for user in evening.users:
            if evening.parlour.table(evening.game).player_guid(user) is None:
                evening.parlour.join(user)
                evening.referee.player_joined(evening.guid(user))
                evening.look()
        evening.look(luck.choice(evening.users))
        user = evening.turn()
        if not user:
            return
        chance = luck.random()
        if chance < 0.1:
            evening.act(luck.choice(evening.users), ACTION_BET, 20)
        elif chance < 0.15 and len(evening.users) > 2:
            evening.parlour.leave(user, evening.game)
            evening.referee.player_left(evening.guid(user))
            evening.look()
        else:
            evening.act(
                user,
                *luck.choice(
                    (
                        (ACTION_FOLD, 0),
                        (ACTION_BET, 0),
                        (ACTION_BET, 10),
                        (ACTION_BET, 20),
                        (ACTION_BET, 60),
                        (ACTION_BET, 10_000),
                    )
                ),
            )


@pytest.mark.parametrize("seed", range(12))
def test_our_own_table_has_no_violations(seed: int) -> None:
    evening = Evening(2 + seed % 4, seed)
    play(evening, Random(seed), 120)
    assert evening.found == []
    assert evening.referee.hand_count > 3
    assert not evening.referee.is_lost


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 500))
def test_our_own_table_has_no_violations_in_long_sessions(seed: int) -> None:
    evening = Evening(2 + seed % 4, seed)
    play(evening, Random(seed), 200)
    assert evening.found == []


def test_an_accepted_act_out_of_turn_is_a_violation() -> None:
    evening = Evening(2)
    evening.found += evening.referee.player_acted(evening.guid("bob"), ACTION_BET, 20, 201)
    assert evening.clauses == {"holdem-4.13"}
    assert evening.referee.is_lost


def test_a_refused_valid_bet_is_a_violation() -> None:
    evening = Evening(2)
    evening.found += evening.referee.player_acted(evening.guid("ann"), ACTION_BET, 10, 400)
    assert evening.clauses == {"holdem-4.1"}


def test_a_refused_invalid_bet_is_a_violation() -> None:
    evening = Evening(2)
    evening.found += evening.referee.player_acted(evening.guid("ann"), ACTION_BET, 15, 400)
    assert evening.clauses == {"holdem-4.7"}


@pytest.mark.parametrize(
    ("chips", "clause"), [(-1, "4.8"), (9991, "4.9"), (5, "4.10"), (15, "4.11"), (10, ""), (30, ""), (9990, "")]
)
def test_every_bet_is_valid_or_breaks_a_clause(chips: int, clause: str) -> None:
    evening = Evening(2)
    running = evening.referee.observed
    assert running is not None
    assert invalid_bet_clause(running.hand.legal, chips, 9990) == (f"holdem-{clause}" if clause else "")


def test_an_accepted_invalid_bet_is_found_at_the_next_observation() -> None:
    evening = Evening(3)
    evening.act("ann", ACTION_FOLD)
    evening.found += evening.referee.player_acted(evening.guid(evening.turn()), ACTION_BET, 25, 201)
    evening.look()
    assert evening.found[0].clause == "holdem-4.11"


def test_a_missing_chip_is_a_violation() -> None:
    evening = Evening(2)
    game = evening.parlour.view(None, evening.game)
    evening.see(Game(game.game_id, game.table, game.turn, game.cards, (Pot(29, game.pots[0].players),)))
    assert "holdem-5.17" in evening.clauses


def test_hole_cards_shown_to_the_public_are_a_violation() -> None:
    evening = Evening(2)
    evening.see(evening.parlour.view("ann", evening.game))
    assert evening.clauses == {"holdem-5.6"}


def test_a_hole_card_on_the_board_is_a_violation() -> None:
    evening = Evening(2, decks=SHOWDOWN)
    for user in evening.users:
        evening.look(user)
    evening.parlour.play("ann 10, bob 0", evening.game)
    evening.referee.player_acted(evening.guid("ann"), ACTION_BET, 10, 201)
    evening.referee.player_acted(evening.guid("bob"), ACTION_BET, 0, 201)
    game = evening.parlour.view(None, evening.game)
    evening.see(Game(game.game_id, game.table, game.turn, Cards((), ("AS", "2H", "3H")), game.pots))
    assert evening.clauses == {"holdem-6.1"}


def test_a_wrong_winner_is_a_violation() -> None:
    evening = Evening(2, decks=SHOWDOWN)
    for user in evening.users:
        evening.look(user)
    for user, chips in (("ann", 10), ("bob", 0), ("bob", 0), ("ann", 0), ("bob", 0), ("ann", 0), ("bob", 0)):
        evening.act(user, ACTION_BET, chips)
    evening.parlour.play("ann 0", evening.game)
    evening.referee.player_acted(evening.guid("ann"), ACTION_BET, 0, 201)
    game = evening.parlour.view(None, evening.game)
    table = [
        type(one)(one.player_id, one.handle, one.state, one.wealth + (40 if one.handle == "bob" else -40),
                  one.bet_so_far, one.small_blind)
        for one in game.table
    ]  # fmt: skip
    evening.see(Game(game.game_id, table, game.turn, game.cards, game.pots))
    assert evening.clauses == {"holdem-6.14"}


def test_nothing_is_reported_after_the_hand_is_lost() -> None:
    evening = Evening(2)
    evening.found += evening.referee.player_acted(evening.guid("bob"), ACTION_BET, 20, 201)
    evening.found += evening.referee.player_acted(evening.guid("bob"), ACTION_BET, 20, 201)
    evening.see(evening.parlour.view("ann", evening.game))
    assert len(evening.found) == 1
