"""Coverage goals of blackjack: the possible outcomes of a round, and strategies that lead to them."""

from random import Random
from typing import Final

from croupier.conformance.conversation import AnyClientReferee
from croupier.conformance.servers.components import RARE, GameGoals
from croupier.rooms.blackjack.referee import WireGame
from croupier.rooms.blackjack.rules import BANK_STANDS_AT, TARGET_TOTAL, hand_total
from croupier.rooms.blackjack.wire import MOV, PLY, SRD, Bet

BET_CHOICES: Final = (10, 10, 10, 5, 1, 7)


def max_bet(referee: AnyClientReferee) -> int:
    """The largest possible bet if a bet is expected, otherwise 0."""
    return max((message.coins for message in referee.legal if isinstance(message, Bet)), default=0)


def is_dealt_21(game: WireGame) -> bool:
    """Whether the client has exactly two cards that make 21."""
    return len(game.cards) == 2 and game.total == TARGET_TOTAL


def _bets(referee: AnyClientReferee, luck: Random) -> object | None:
    """The message that starts a round or bets; None once the cards are dealt."""
    if referee.game is not None:
        return None
    limit = max_bet(referee)
    return Bet(min(limit, luck.choice(BET_CHOICES))) if limit else PLY


def play_randomly(referee: AnyClientReferee, luck: Random) -> object:
    """Any allowed message except a goodbye."""
    return _bets(referee, luck) or luck.choice((MOV["H"], MOV["H"], MOV["S"], SRD))


def always_stand(referee: AnyClientReferee, luck: Random) -> object:
    """Always stand."""
    return _bets(referee, luck) or MOV["S"]


def always_hit(referee: AnyClientReferee, luck: Random) -> object:
    """Hit until the round is over."""
    return _bets(referee, luck) or MOV["H"]


def play_carefully(referee: AnyClientReferee, luck: Random) -> object:
    """Hit up to about 17, and stand."""
    game = referee.game
    if game is None:
        return _bets(referee, luck)
    return MOV["H"] if game.total < luck.randint(15, 19) else MOV["S"]


def always_surrender(referee: AnyClientReferee, luck: Random) -> object:
    """Bet, and surrender."""
    return _bets(referee, luck) or SRD


def _has_stood(game: WireGame) -> bool:
    """Whether the bank has drawn."""
    return len(game.bank) > 1


def _has_ten(game: WireGame) -> bool:
    return any(card[0] == "T" for card in game.state.cards)


def _has_ace(cards: tuple[str, ...]) -> bool:
    return any(card[0] == "A" for card in cards)


def _soft(cards: tuple[str, ...]) -> bool:
    return hand_total(cards).is_soft


def _has_hard_ace(cards: tuple[str, ...]) -> bool:
    """Whether cards have an ace that counts 1, and do not go over 21."""
    return _has_ace(cards) and not _soft(cards) and hand_total(cards).total <= TARGET_TOTAL


_standing: Final = GameGoals("blackjack", always_stand)
_hitting: Final = GameGoals("blackjack", always_hit)
_surrendering: Final = GameGoals("blackjack", always_surrender)
_careful: Final = GameGoals("blackjack", play_carefully)

GOALS: Final = (
    _careful("2.6", "ten", "A card is a rank and a suit, also a ten", _has_ten),
    _standing("2.7", "ten-as-t", "A ten is sent as T", _has_ten),
    _careful("3.1", "seven-cards", "No card comes twice in a round", lambda g: len(g.state.cards) >= 7),
    _standing(
        "3.2", "bank-ace-falls-back-to-1", "The bank's ace falls back to 1", lambda g: _has_hard_ace(g.bank), RARE
    ),
    _careful(
        "3.2", "own-ace-falls-back-to-1", "The client's ace falls back to 1", lambda g: _has_hard_ace(g.cards), RARE
    ),
    _careful(
        "3.3",
        "one-card-until-the-client-stands",
        "The bank has one card until the client has stood",
        lambda g: _has_stood(g) and len(g.cards) > 2,
    ),
    _careful("3.4", "four-cards", "Hit after hit, below 21", lambda g: len(g.cards) >= 4),
    _hitting(
        "3.5",
        "hit-to-21",
        "A hit to 21 wins at once",
        lambda g: g.total == TARGET_TOTAL and not _has_stood(g) and len(g.cards) > 2,
    ),
    _hitting("3.6", "hit-over-21", "A hit over 21 loses at once", lambda g: g.total > TARGET_TOTAL),
    _standing(
        "3.8",
        "bank-draws-one",
        "The bank stands on 17 or more",
        lambda g: len(g.bank) == 2 and g.bank_total >= BANK_STANDS_AT,
    ),
    _standing("3.8", "bank-draws-three", "The bank draws as long as it is below 17", lambda g: len(g.bank) >= 4),
    _standing(
        "3.8",
        "soft-17",
        "The bank stands on a soft 17",
        lambda g: g.bank_total == BANK_STANDS_AT and _soft(g.bank),
        RARE,
    ),
    _standing(
        "3.9",
        "bank-has-more",
        "The bank wins with more",
        lambda g: _has_stood(g) and g.total < g.bank_total <= TARGET_TOTAL,
    ),
    _careful("3.9", "client-has-more", "The client wins with more", lambda g: _has_stood(g) and g.bank_total < g.total),
    _standing("3.9", "bank-goes-over", "A bank over 21 loses", lambda g: g.bank_total > TARGET_TOTAL),
    _careful("3.10", "tie", "A tie is the client's", lambda g: g.total == g.bank_total < TARGET_TOTAL),
    _standing(
        "3.10", "tie-at-21", "A tie at 21 is the bank's", lambda g: g.total == g.bank_total == TARGET_TOTAL, RARE
    ),
    _standing(
        "3.11",
        "21-in-two-cards-is-paid-once",
        "21 in two cards is paid like any other win",
        lambda g: is_dealt_21(g) and g.bank_total != TARGET_TOTAL,
        RARE,
    ),
    _careful("5.1", "won", "A win pays twice the bet", lambda g: g.net > 0),
    _hitting("5.2", "lost", "A loss pays nothing", lambda g: g.net == -g.bet),
    _surrendering("5.3", "surrendered", "A surrender pays half of the bet", lambda g: g.bet % 2 == 0),
    _surrendering("5.3", "surrendered-odd", "Half of an odd bet is rounded down", lambda g: g.bet % 2 == 1 < g.bet),
    _surrendering("5.3", "surrendered-one", "Half of a bet of 1 is nothing", lambda g: g.bet == 1),
)


def outline(game: WireGame, over: bool) -> object:
    """In a round, whether the client was dealt 21, and its aces; at its end, the result."""
    aces = (_has_ace(game.cards), _soft(game.cards))
    if not over:
        return (is_dealt_21(game), *aces)
    bank = game.bank_total
    return (*aces, game.net > 0, game.total == TARGET_TOTAL, bank == game.total, bank > TARGET_TOTAL)
