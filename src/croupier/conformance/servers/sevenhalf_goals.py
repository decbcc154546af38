"""Coverage goals of seven and a half: the possible outcomes of a game, and strategies that lead to them."""

from functools import partial
from random import Random
from typing import Final

from croupier.conformance.conversation import AnyClientReferee
from croupier.conformance.servers.components import RARE, GameGoals
from croupier.rooms.sevenhalf.interpretation import WireGame
from croupier.rooms.sevenhalf.rules import TARGET_HALVES, total
from croupier.rooms.sevenhalf.wire import DRAW, PASS, STRT, Ante


def _draw_until(halves: int, referee: AnyClientReferee, luck: Random) -> object:  # noqa: ARG001 -- a ClientStrategy
    """Draw at least one card, and more below a total in halves; then pass."""
    game = referee.game
    if game is None:
        return STRT
    return PASS if game.cards and game.total >= halves else DRAW


draw_one_card: Final = partial(_draw_until, 0)
draw_to_best: Final = partial(_draw_until, TARGET_HALVES)


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


def _has_ante(game: WireGame) -> bool:
    """Whether there was an ANTE in the game: nothing else changes a bet."""
    return game.state.bet not in {1, 10, 50, 100}


def _has_won(game: WireGame) -> bool:
    """Whether the client has won with seven and a half."""
    return game.total == TARGET_HALVES != game.bank_total


def _is_bank_over(game: WireGame) -> bool:
    """Whether the bank is over, and the client is below seven and a half."""
    return game.total < TARGET_HALVES < game.bank_total


def _is_bank_ahead(game: WireGame) -> bool:
    """Whether the bank has more than the client, and is not over."""
    return game.total < game.bank_total <= TARGET_HALVES


def _was_level(game: WireGame) -> bool:
    """Whether the bank was level with the client, below seven and a half, before its last card."""
    before = (total(game.bank[:count]) for count in range(1, len(game.bank)))
    return game.total < TARGET_HALVES and game.total in before


_passing: Final = GameGoals("sevenhalf", draw_one_card)
_drawing: Final = GameGoals("sevenhalf", draw_to_best)
_raising: Final = GameGoals("sevenhalf", raise_often)

GOALS: Final = (
    _passing("2.5", "score-with-a-half", "A score ends in a half or in none", lambda g: g.bank_total % 2 == 1),
    _passing("2.5", "score-below-ten", "A score below ten begins with a zero", lambda g: g.bank_total < 20),
    _drawing(
        "3.1",
        "any-suit",
        "Cards of every suit, in one spelling",
        lambda g: len({card[1] for card in g.state.cards}) >= 3,
    ),
    _passing("3.2", "figures", "A figure is worth a half", lambda g: any(card[0] in "scr" for card in g.state.cards)),
    _drawing("3.3", "seven-cards", "No card comes twice in a game", lambda g: len(g.state.cards) >= 7, RARE),
    _drawing("3.4", "four-cards", "Four cards of a client add up", lambda g: len(g.cards) >= 4),
    _drawing("3.5", "one-deck", "Player and bank draw from one deck", lambda g: len(g.state.cards) >= 5),
    _passing(
        "3.6", "bank-draws-one", "The bank stops as soon as it is ahead", lambda g: not g.is_over and len(g.bank) == 1
    ),
    _passing("3.6", "bank-draws-three", "The bank draws as long as it has less", lambda g: len(g.bank) >= 3),
    _passing("3.6", "bank-passes-level", "The bank draws on when it is level below seven and a half", _was_level),
    _drawing(
        "3.7", "one-card-against-a-bust", "One card of the bank against a player that is over", lambda g: g.is_over
    ),
    _passing("5.1", "bank-cards-in-order", "BKSC states how many cards, and which", lambda g: len(g.bank) >= 2),
    _passing(
        "5.2", "score-of-a-bank-that-is-over", "The score is the sum, also over ten", lambda g: g.bank_total >= 20
    ),
    _raising(
        "5.3", "over-with-antes", "A client that is over loses the antes, too", lambda g: g.is_over and _has_ante(g)
    ),
    _raising(
        "5.3",
        "bank-over-with-antes",
        "A bank that is over pays for the antes, too",
        lambda g: _is_bank_over(g) and _has_ante(g),
    ),
    _raising(
        "5.3",
        "bank-ahead-with-antes",
        "A bank that is ahead takes the antes, too",
        lambda g: _is_bank_ahead(g) and _has_ante(g),
    ),
    _raising(
        "5.3",
        "best-with-antes",
        "Seven and a half wins twice the antes, too",
        lambda g: _has_won(g) and _has_ante(g),
        RARE,
    ),
    _drawing("5.4", "over", "A client that is over loses, whatever the bank has", lambda g: g.is_over),
    _passing("5.5", "bank-over", "The bank is over and pays", _is_bank_over),
    _drawing("5.6", "best-against-less", "Seven and a half against a bank that has not wins twice", _has_won),
    _drawing(
        "5.7",
        "level",
        "Seven and a half on both sides: nobody wins",
        lambda g: g.total == g.bank_total == TARGET_HALVES,
        RARE,
    ),
    _passing("5.8", "bank-ahead", "The bank is ahead and wins", _is_bank_ahead),
)


def outline(game: WireGame, over: bool) -> object:
    """In a game, whether the client has seven and a half; at its end, the result, and whether the bank drew again."""
    is_best = game.total == TARGET_HALVES
    if not over:
        return is_best
    bank = game.bank_total
    return (game.is_over, is_best, bank > TARGET_HALVES, bank == game.total, min(2, len(game.bank)))
