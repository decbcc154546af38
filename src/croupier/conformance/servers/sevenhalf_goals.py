"""Coverage goals of seven and a half: the possible outcomes of a game, and strategies that lead to them."""

from random import Random
from typing import Final

from croupier.conformance.servers.components import GameGoals
from croupier.conformance.servers.test_data import AnyClientReferee, ClientStrategy
from croupier.rooms.sevenhalf.interpretation import WireGame
from croupier.rooms.sevenhalf.rules import TARGET_HALVES, total
from croupier.rooms.sevenhalf.wire import DRAW, PASS, STRT, Ante


def _draw_until(halves: int) -> ClientStrategy:
    """Draw at least one card, and more below a total in halves; then pass."""

    def strategy(referee: AnyClientReferee, luck: Random) -> object:  # noqa: ARG001 -- a ClientStrategy
        game = referee.game
        if game is None:
            return STRT
        return PASS if game.cards and game.total >= halves else DRAW

    return strategy


draw_one_card: Final = _draw_until(0)
draw_to_best: Final = _draw_until(TARGET_HALVES)


def raise_often(referee: AnyClientReferee, luck: Random) -> object:
    """Raise after every card, and pass late."""
    game = referee.game
    if game is None:
        return STRT
    if not game.cards or game.has_raised:
        return DRAW
    if game.total >= luck.randint(8, TARGET_HALVES):
        return PASS
    return Ante(luck.choice((1, 10, 20, 50)))


def play_randomly(referee: AnyClientReferee, luck: Random) -> object:
    """Any allowed message; one time in five, if possible, an ANTE."""
    game = referee.game
    if game is not None and game.state.node.after_raise is not None and luck.random() < 0.2:
        return Ante(luck.choice((1, 10, 20)))
    return luck.choice(referee.legal)


_goal: Final = GameGoals("sevenhalf")


def _has_ante(game: WireGame) -> bool:
    """Whether there was an ANTE in the game: nothing else changes a bet."""
    return game.state.bet not in {1, 10, 50, 100}


def _was_level(game: WireGame) -> bool:
    """Whether the bank was level with the client, below seven and a half, before its last card."""
    before = (total(game.bank[:count]) for count in range(1, len(game.bank)))
    return game.total < TARGET_HALVES and game.total in before


GOALS: Final = (
    _goal("over", "Who is over loses, whatever the bank has", "5.4", lambda g: g.is_over, draw_to_best),
    _goal(
        "bank-over", "The bank is over and pays", "5.5", lambda g: g.total < TARGET_HALVES < g.bank_total, draw_one_card
    ),
    _goal(
        "best-against-less",
        "Seven and a half against a bank that has not wins twice",
        "5.6",
        lambda g: g.total == TARGET_HALVES != g.bank_total,
        draw_to_best,
        games=40,
    ),
    _goal(
        "level",
        "Seven and a half on both sides: nobody wins",
        "5.7",
        lambda g: g.total == g.bank_total == TARGET_HALVES,
        draw_to_best,
        games=100,
    ),
    _goal(
        "bank-ahead",
        "The bank is ahead and wins",
        "5.8",
        lambda g: g.total < g.bank_total <= TARGET_HALVES,
        draw_one_card,
    ),
    _goal(
        "over-with-antes", "Who is over loses the antes, too", "5.3", lambda g: g.is_over and _has_ante(g), raise_often
    ),
    _goal(
        "bank-over-with-antes",
        "A bank that is over pays for the antes, too",
        "5.3",
        lambda g: g.total < TARGET_HALVES < g.bank_total and _has_ante(g),
        raise_often,
        games=25,
    ),
    _goal(
        "bank-ahead-with-antes",
        "A bank that is ahead takes the antes, too",
        "5.3",
        lambda g: g.total < g.bank_total <= TARGET_HALVES and _has_ante(g),
        raise_often,
        games=25,
    ),
    _goal(
        "best-with-antes",
        "Seven and a half wins twice the antes, too",
        "5.3",
        lambda g: g.total == TARGET_HALVES != g.bank_total and _has_ante(g),
        raise_often,
        games=60,
    ),
    _goal(
        "bank-draws-one",
        "The bank stops as soon as it is ahead",
        "3.6",
        lambda g: not g.is_over and len(g.bank) == 1,
        draw_one_card,
    ),
    _goal(
        "bank-draws-three",
        "The bank draws on as long as it is behind",
        "3.6",
        lambda g: len(g.bank) >= 3,
        draw_one_card,
        games=25,
    ),
    _goal(
        "bank-passes-level",
        "The bank draws on when it is level below seven and a half",
        "3.6",
        _was_level,
        draw_one_card,
        games=40,
    ),
    _goal(
        "one-card-against-a-bust",
        "One card of the bank against a player that is over",
        "3.7",
        lambda g: g.is_over,
        draw_to_best,
    ),
    _goal(
        "figures",
        "A figure is worth a half",
        "3.2",
        lambda g: any(card[0] in "scr" for card in g.state.cards),
        draw_one_card,
    ),
    _goal("four-cards", "Four cards of a client add up", "3.4", lambda g: len(g.cards) >= 4, draw_to_best, games=40),
    _goal(
        "one-deck",
        "Player and bank draw from one deck",
        "3.5",
        lambda g: len(g.state.cards) >= 5,
        draw_to_best,
        games=25,
    ),
    _goal(
        "seven-cards", "No card comes twice in a game", "3.3", lambda g: len(g.state.cards) >= 7, draw_to_best, games=60
    ),
    _goal(
        "score-with-a-half", "A score ends in a half or in none", "2.5", lambda g: g.bank_total % 2 == 1, draw_one_card
    ),
    _goal(
        "score-below-ten", "A score below ten begins with a nought", "2.5", lambda g: g.bank_total < 20, draw_one_card
    ),
    _goal(
        "score-of-a-bank-that-is-over",
        "The score is the sum, also over ten",
        "5.2",
        lambda g: g.bank_total >= 20,
        draw_one_card,
        games=40,
    ),
    _goal(
        "bank-cards-in-order", "BKSC tells how many cards and which", "5.1", lambda g: len(g.bank) >= 2, draw_one_card
    ),
    _goal(
        "any-suit",
        "Cards of every suit, in one spelling",
        "3.1",
        lambda g: len({card[1] for card in g.state.cards}) >= 3,
        draw_to_best,
        games=25,
    ),
)


def outline(game: WireGame, over: bool) -> object:
    """In a game, whether the client has seven and a half; at its end, the result, and whether the bank drew again."""
    is_best = game.total == TARGET_HALVES
    if not over:
        return is_best
    bank = game.bank_total
    return (game.is_over, is_best, bank > TARGET_HALVES, bank == game.total, min(2, len(game.bank)))
