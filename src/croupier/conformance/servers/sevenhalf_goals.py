"""Coverage goals of seven and a half: the possible outcomes of a game, and strategies that lead to them."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from croupier.conformance.servers.test_data import AnyClientReferee, ClientStrategy, CoverageGoal
from croupier.core.bank import bank_cards, client_cards
from croupier.rooms.sevenhalf.interpretation import WireGame
from croupier.rooms.sevenhalf.rules import TARGET_HALVES, total
from croupier.rooms.sevenhalf.wire import DRAW, PASS, STRT, Ante


def hand_total(game: WireGame) -> int:
    """The total of the client's cards, in halves."""
    return total(client_cards(game.state))


def has_raised(game: WireGame) -> bool:
    """Whether the client has raised and not yet drawn."""
    return game.state.node is game.state.node.after_raise


def draw_to_best(referee: AnyClientReferee, luck: Random) -> object:  # noqa: ARG001 -- a ClientStrategy
    """Draw up to seven and a half, and then pass."""
    game = referee.game
    if game is None:
        return STRT
    return PASS if game.state.cards and hand_total(game) == TARGET_HALVES else DRAW


def draw_one_card(referee: AnyClientReferee, luck: Random) -> object:  # noqa: ARG001 -- a ClientStrategy
    """Draw one card, and pass."""
    game = referee.game
    if game is None:
        return STRT
    return PASS if game.state.cards else DRAW


def raise_often(referee: AnyClientReferee, luck: Random) -> object:
    """Raise after every card, and pass late."""
    game = referee.game
    if game is None:
        return STRT
    if not game.state.cards or has_raised(game):
        return DRAW
    if hand_total(game) >= luck.randint(8, TARGET_HALVES):
        return PASS
    return Ante(luck.choice((1, 10, 20, 50)))


def play_randomly(referee: AnyClientReferee, luck: Random) -> object:
    """Any allowed message; one time in five, if possible, an ANTE."""
    game = referee.game
    if game is not None and game.state.node.after_raise is not None and luck.random() < 0.2:
        return Ante(luck.choice((1, 10, 20)))
    return luck.choice(referee.legal)


def _end(
    slug: str,
    title: str,
    clause: str,
    holds: Callable[[WireGame, int, int], bool],
    strategy: ClientStrategy,
    *,
    games: int = 12,
) -> CoverageGoal:
    """A goal that is reached by the last game, the total of the client and that of the bank, in halves."""

    def is_reached(referee: AnyClientReferee) -> bool:
        game = referee.last_game
        return isinstance(game, WireGame) and holds(game, hand_total(game), total(bank_cards(game.state)))

    return CoverageGoal(slug, title, f"sevenhalf-{clause}", is_reached, strategy, games)


def _bank(game: WireGame) -> int:
    return len(bank_cards(game.state))


def _has_ante(game: WireGame) -> bool:
    """Whether there was an ANTE in the game: nothing else changes a bet."""
    return game.state.bet not in {1, 10, 50, 100}


GOALS: Final = (
    _end(
        "over", "Who is over loses, whatever the bank has", "5.4", lambda _, own, __: own > TARGET_HALVES, draw_to_best
    ),
    _end(
        "bank-over", "The bank is over and pays", "5.5", lambda _, own, bank: own < TARGET_HALVES < bank, draw_one_card
    ),
    _end(
        "best-against-less",
        "Seven and a half against a bank that has not wins twice",
        "5.6",
        lambda _, own, bank: own == TARGET_HALVES != bank,
        draw_to_best,
        games=40,
    ),
    _end(
        "level",
        "Seven and a half on both sides: nobody wins",
        "5.7",
        lambda _, own, bank: own == bank == TARGET_HALVES,
        draw_to_best,
        games=100,
    ),
    _end(
        "bank-ahead",
        "The bank is ahead and wins",
        "5.8",
        lambda _, own, bank: own < bank <= TARGET_HALVES,
        draw_one_card,
    ),
    _end(
        "over-with-antes",
        "Who is over loses the antes, too",
        "5.3",
        lambda g, own, _: own > TARGET_HALVES and _has_ante(g),
        raise_often,
    ),
    _end(
        "bank-over-with-antes",
        "A bank that is over pays for the antes, too",
        "5.3",
        lambda g, own, bank: own < TARGET_HALVES < bank and _has_ante(g),
        raise_often,
        games=25,
    ),
    _end(
        "bank-ahead-with-antes",
        "A bank that is ahead takes the antes, too",
        "5.3",
        lambda g, own, bank: own < bank <= TARGET_HALVES and _has_ante(g),
        raise_often,
        games=25,
    ),
    _end(
        "best-with-antes",
        "Seven and a half wins twice the antes, too",
        "5.3",
        lambda g, own, bank: own == TARGET_HALVES != bank and _has_ante(g),
        raise_often,
        games=60,
    ),
    _end(
        "bank-draws-one",
        "The bank stops as soon as it is ahead",
        "3.6",
        lambda g, own, _: own <= TARGET_HALVES and _bank(g) == 1,
        draw_one_card,
    ),
    _end(
        "bank-draws-three",
        "The bank draws on as long as it is behind",
        "3.6",
        lambda g, _, __: _bank(g) >= 3,
        draw_one_card,
        games=25,
    ),
    _end(
        "bank-passes-level",
        "The bank draws on when it is level below seven and a half",
        "3.6",
        lambda g, own, _: _was_level(g, own),
        draw_one_card,
        games=40,
    ),
    _end(
        "one-card-against-a-bust",
        "One card of the bank against a player that is over",
        "3.7",
        lambda _, own, __: own > TARGET_HALVES,
        draw_to_best,
    ),
    _end(
        "figures",
        "A figure is worth a half",
        "3.2",
        lambda g, _, __: any(c[0] in "scr" for c in g.state.cards),
        draw_one_card,
    ),
    _end(
        "four-cards",
        "Four cards of a client add up",
        "3.4",
        lambda g, _, __: len(client_cards(g.state)) >= 4,
        draw_to_best,
        games=40,
    ),
    _end(
        "one-deck",
        "Player and bank draw from one deck",
        "3.5",
        lambda g, _, __: len(g.state.cards) >= 5,
        draw_to_best,
        games=25,
    ),
    _end(
        "seven-cards",
        "No card comes twice in a game",
        "3.3",
        lambda g, _, __: len(g.state.cards) >= 7,
        draw_to_best,
        games=60,
    ),
    _end(
        "score-with-a-half",
        "A score ends in a half or in none",
        "2.5",
        lambda _, __, bank: bank % 2 == 1,
        draw_one_card,
    ),
    _end(
        "score-below-ten", "A score below ten begins with a nought", "2.5", lambda _, __, bank: bank < 20, draw_one_card
    ),
    _end(
        "score-of-a-bank-that-is-over",
        "The score is the sum, also over ten",
        "5.2",
        lambda _, __, bank: bank >= 20,
        draw_one_card,
        games=40,
    ),
    _end(
        "bank-cards-in-order",
        "BKSC tells how many cards and which",
        "5.1",
        lambda g, _, __: _bank(g) >= 2,
        draw_one_card,
    ),
    _end(
        "any-suit",
        "Cards of every suit, in one spelling",
        "3.1",
        lambda g, _, __: len({c[1] for c in g.state.cards}) >= 3,
        draw_to_best,
        games=25,
    ),
)


def _was_level(game: WireGame, own: int) -> bool:
    """Whether the bank was level with the client, below seven and a half, before its last card."""
    drawn = bank_cards(game.state)
    return own < TARGET_HALVES and any(total(drawn[:number]) == own for number in range(1, len(drawn)))


def outline(game: Any, over: bool) -> object:
    """In a game, whether the client has seven and a half; at its end, the result, and whether the bank drew again."""
    own = hand_total(game)
    if not over:
        return own == TARGET_HALVES
    bank = total(bank_cards(game.state))
    return (own > TARGET_HALVES, own == TARGET_HALVES, bank > TARGET_HALVES, bank == own, min(2, _bank(game)))
