"""Coverage goals of blackjack: the possible outcomes of a round, and strategies that lead to them."""

from random import Random
from typing import Final

from croupier.conformance.servers.components import GameGoals
from croupier.conformance.servers.test_data import AnyClientReferee
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


_goal: Final = GameGoals("blackjack")


def _has_stood(game: WireGame) -> bool:
    """Whether the bank has drawn."""
    return len(game.bank) > 1


def _aces(cards: tuple[str, ...]) -> int:
    return sum(card[0] == "A" for card in cards)


def _has_ten(game: WireGame) -> bool:
    return any(card[0] == "T" for card in (*game.cards, *game.bank))


def _soft(cards: tuple[str, ...]) -> bool:
    return hand_total(cards).is_soft


GOALS: Final = (
    _goal(
        "hit-to-21",
        "A hit to 21 wins at once",
        "3.5",
        lambda g: g.total == TARGET_TOTAL and not _has_stood(g) and len(g.cards) > 2,
        always_hit,
        games=30,
    ),
    _goal("hit-over-21", "A hit over 21 loses at once", "3.6", lambda g: g.total > TARGET_TOTAL, always_hit),
    _goal(
        "bank-has-more",
        "The bank wins with more",
        "3.9",
        lambda g: _has_stood(g) and g.total < g.bank_total <= TARGET_TOTAL,
        always_stand,
    ),
    _goal(
        "client-has-more",
        "The client wins with more",
        "3.9",
        lambda g: _has_stood(g) and g.bank_total < g.total,
        play_carefully,
        games=25,
    ),
    _goal("bank-goes-over", "A bank over 21 loses", "3.9", lambda g: g.bank_total > TARGET_TOTAL, always_stand),
    _goal(
        "tie",
        "A tie is the client's",
        "3.10",
        lambda g: _has_stood(g) and g.total == g.bank_total < TARGET_TOTAL,
        play_carefully,
        games=40,
    ),
    _goal(
        "tie-at-21",
        "A tie at 21 is the bank's",
        "3.10",
        lambda g: _has_stood(g) and g.total == g.bank_total == TARGET_TOTAL,
        always_stand,
        games=150,
    ),
    _goal(
        "bank-draws-one",
        "The bank stands on 17 or more",
        "3.8",
        lambda g: len(g.bank) == 2 and g.bank_total >= BANK_STANDS_AT,
        always_stand,
    ),
    _goal(
        "bank-draws-three",
        "The bank draws as long as it is below 17",
        "3.8",
        lambda g: len(g.bank) >= 4,
        always_stand,
        games=30,
    ),
    _goal(
        "soft-17",
        "The bank stands on a soft 17",
        "3.8",
        lambda g: g.bank_total == BANK_STANDS_AT and _soft(g.bank),
        always_stand,
        games=100,
    ),
    _goal(
        "bank-ace-falls-back-to-1",
        "The bank's ace falls back to 1",
        "3.2",
        lambda g: _aces(g.bank) > 0 and g.bank_total <= TARGET_TOTAL and not _soft(g.bank),
        always_stand,
        games=60,
    ),
    _goal(
        "own-ace-falls-back-to-1",
        "The client's ace falls back to 1",
        "3.2",
        lambda g: _aces(g.cards) > 0 and g.total <= TARGET_TOTAL and not _soft(g.cards),
        play_carefully,
        games=60,
    ),
    _goal(
        "21-in-two-cards-is-paid-once",
        "21 in two cards is paid like any other win",
        "3.11",
        lambda g: is_dealt_21(g) and g.bank_total != TARGET_TOTAL,
        always_stand,
        games=60,
    ),
    _goal("four-cards", "Hit after hit, below 21", "3.4", lambda g: len(g.cards) >= 4, play_carefully, games=25),
    _goal(
        "seven-cards",
        "No card comes twice in a round",
        "3.1",
        lambda g: len(g.cards) + len(g.bank) >= 7,
        play_carefully,
        games=40,
    ),
    _goal(
        "one-card-until-the-client-stands",
        "The bank has one card until the client has stood",
        "3.3",
        lambda g: _has_stood(g) and len(g.cards) > 2,
        play_carefully,
        games=25,
    ),
    _goal("won", "A win pays twice the bet", "5.1", lambda g: g.net > 0, play_carefully),
    _goal("lost", "A loss pays nothing", "5.2", lambda g: g.net == -g.bet, always_hit),
    _goal("surrendered", "A surrender pays half of the bet", "5.3", lambda g: g.bet % 2 == 0, always_surrender),
    _goal(
        "surrendered-odd",
        "Half of an odd bet is rounded down",
        "5.3",
        lambda g: g.bet % 2 == 1 < g.bet,
        always_surrender,
    ),
    _goal("surrendered-one", "Half of a bet of 1 is nothing", "5.3", lambda g: g.bet == 1, always_surrender, games=25),
    _goal("ten", "A card is a rank and a suit, also a ten", "2.6", _has_ten, play_carefully, games=25),
    _goal("ten-as-t", "A ten is sent as T", "2.7", _has_ten, always_stand, games=25),
)


def outline(game: WireGame, over: bool) -> object:
    """In a round, whether the client was dealt 21, and its aces; at its end, the result."""
    aces = (_aces(game.cards) > 0, _soft(game.cards))
    if not over:
        return (is_dealt_21(game), *aces)
    bank = game.bank_total
    return (*aces, game.net > 0, game.total == TARGET_TOTAL, bank == game.total, bank > TARGET_TOTAL)
