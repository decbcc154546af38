"""Which ends a round of blackjack can have, and how a client plays for them."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from croupier.conformance.servers.test_data import Aim, Goal, Referee
from croupier.rooms.blackjack.referee import Game
from croupier.rooms.blackjack.rules import BEST, STANDS, hand
from croupier.rooms.blackjack.wire import MOV, PLY, SRD, Bet

BETS: Final = (10, 10, 10, 5, 1, 7)


def most_bet(referee: Referee) -> int:
    """The largest bet, where a bet is expected; 0 elsewhere."""
    return max((message.coins for message in referee.legal if isinstance(message, Bet)), default=0)


def held(game: Game) -> int:
    """What the client's cards count."""
    return hand(game.cards).total


def dealt_21(game: Game) -> bool:
    """Whether the first two cards of the client, and no more, make 21."""
    return len(game.cards) == 2 and held(game) == BEST


def _bets(referee: Referee, luck: Random) -> object | None:
    """What is said until the cards are there, None behind them."""
    if referee.game is not None:
        return None
    most = most_bet(referee)
    return Bet(min(most, luck.choice(BETS))) if most else PLY


def moves(referee: Referee, luck: Random) -> object:
    """Anything that is allowed, but no goodbye."""
    return _bets(referee, luck) or luck.choice((MOV["H"], MOV["H"], MOV["S"], SRD))


def standing(referee: Referee, luck: Random) -> object:
    """Stand on whatever there is."""
    return _bets(referee, luck) or MOV["S"]


def hitting(referee: Referee, luck: Random) -> object:
    """Hit to the end."""
    return _bets(referee, luck) or MOV["H"]


def careful(referee: Referee, luck: Random) -> object:
    """Hit up to 17 or so, and stand."""
    game = referee.game
    if game is None:
        return _bets(referee, luck)
    return MOV["H"] if held(game) < luck.randint(15, 19) else MOV["S"]


def surrendering(referee: Referee, luck: Random) -> object:
    """Bet, and give it up."""
    return _bets(referee, luck) or SRD


def _end(
    slug: str, title: str, clause: str, found: Callable[[Game, int, int], bool], aim: Aim, *, games: int = 12
) -> Goal:
    """A goal told by the last round, and by what client and bank had in it."""

    def seen(referee: Referee) -> bool:
        game = referee.last
        return isinstance(game, Game) and found(game, held(game), hand(game.bank).total)

    return Goal(slug, title, f"blackjack-{clause}", seen, aim, games)


def _stood(game: Game) -> bool:
    """Whether the bank has drawn."""
    return len(game.bank) > 1


def _aces(cards: tuple[str, ...]) -> int:
    return sum(card[0] == "A" for card in cards)


def _has_ten(game: Game) -> bool:
    return any(card[0] == "T" for card in (*game.cards, *game.bank))


def _soft(cards: tuple[str, ...]) -> bool:
    return hand(cards).soft


GOALS: Final = (
    _end(
        "hit-to-21",
        "A hit to 21 wins at once",
        "3.5",
        lambda g, own, _: own == BEST and not _stood(g) and len(g.cards) > 2,
        hitting,
        games=30,
    ),
    _end("hit-over-21", "A hit over 21 loses at once", "3.6", lambda _, own, __: own > BEST, hitting),
    _end(
        "bank-has-more",
        "The bank wins with more",
        "3.9",
        lambda g, own, bank: _stood(g) and own < bank <= BEST,
        standing,
    ),
    _end(
        "client-has-more",
        "The client wins with more",
        "3.9",
        lambda g, own, bank: _stood(g) and bank < own,
        careful,
        games=25,
    ),
    _end("bank-goes-over", "A bank over 21 loses", "3.9", lambda _, __, bank: bank > BEST, standing),
    _end(
        "tie", "A tie is the client's", "3.10", lambda g, own, bank: _stood(g) and own == bank < BEST, careful, games=40
    ),
    _end(
        "tie-at-21",
        "A tie at 21 is the bank's",
        "3.10",
        lambda g, own, bank: _stood(g) and own == bank == BEST,
        standing,
        games=150,
    ),
    _end(
        "bank-draws-one",
        "The bank stands on 17 or more",
        "3.8",
        lambda g, _, bank: len(g.bank) == 2 and bank >= STANDS,
        standing,
    ),
    _end(
        "bank-draws-three",
        "The bank draws as long as it is below 17",
        "3.8",
        lambda g, _, __: len(g.bank) >= 4,
        standing,
        games=30,
    ),
    _end(
        "soft-17",
        "The bank stands on a soft 17",
        "3.8",
        lambda g, _, bank: bank == STANDS and _soft(g.bank),
        standing,
        games=100,
    ),
    _end(
        "bank-ace-falls-back-to-1",
        "The bank's ace falls back to 1",
        "3.2",
        lambda g, _, bank: _aces(g.bank) > 0 and bank <= BEST and not _soft(g.bank),
        standing,
        games=60,
    ),
    _end(
        "own-ace-falls-back-to-1",
        "The client's ace falls back to 1",
        "3.2",
        lambda g, own, _: _aces(g.cards) > 0 and own <= BEST and not _soft(g.cards),
        careful,
        games=60,
    ),
    _end(
        "21-in-two-cards-is-paid-once",
        "21 in two cards is paid like any other win",
        "3.11",
        lambda g, _, bank: dealt_21(g) and bank != BEST,
        standing,
        games=60,
    ),
    _end("four-cards", "Hit after hit, below 21", "3.4", lambda g, _, __: len(g.cards) >= 4, careful, games=25),
    _end(
        "seven-cards",
        "No card comes twice in a round",
        "3.1",
        lambda g, _, __: len(g.cards) + len(g.bank) >= 7,
        careful,
        games=40,
    ),
    _end(
        "one-card-until-the-client-stands",
        "The bank has one card until the client has stood",
        "3.3",
        lambda g, _, __: _stood(g) and len(g.cards) > 2,
        careful,
        games=25,
    ),
    _end("won", "A win pays twice the bet", "5.1", lambda g, _, __: g.net > 0, careful),
    _end("lost", "A loss pays nothing", "5.2", lambda g, _, __: g.net == -g.bet, hitting),
    _end("surrendered", "A surrender pays half of the bet", "5.3", lambda g, _, __: g.bet % 2 == 0, surrendering),
    _end(
        "surrendered-odd",
        "Half of an odd bet is rounded down",
        "5.3",
        lambda g, _, __: g.bet % 2 == 1 < g.bet,
        surrendering,
    ),
    _end(
        "surrendered-one", "Half of a bet of 1 is nothing", "5.3", lambda g, _, __: g.bet == 1, surrendering, games=25
    ),
    _end("ten", "A card is a rank and a suit, also a ten", "2.6", lambda g, _, __: _has_ten(g), careful, games=25),
    _end("ten-as-t", "A ten is sent as T", "2.7", lambda g, _, __: _has_ten(g), standing, games=25),
)


def outline(game: Any, over: bool) -> object:
    """21 in two cards or not, aces; at the end, how it was won."""
    aces = (_aces(game.cards) > 0, _soft(game.cards))
    if not over:
        return (dealt_21(game), *aces)
    bank = hand(game.bank).total
    return (*aces, game.net > 0, held(game) == BEST, bank == held(game), bank > BEST)
