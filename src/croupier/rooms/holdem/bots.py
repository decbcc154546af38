"""Bots for hold'em: random, calling, raising, tight, and equity-based.

A bot has one method, `choose`. It receives a `View` and returns FOLD or the chips to put in: `view.call` calls or
checks, `view.raise_by_percent(75)` raises by 75 % of the pot, `view.check_or_fold` puts in nothing. Every move in
`legal` is valid.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Final

from croupier.core.bots import BotSpec, RandomBot
from croupier.core.dealer import Luck
from croupier.rooms.holdem.cards import CARDS, RANKS, Card
from croupier.rooms.holdem.engine.equity import ALL_HANDS, Range, estimate
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.engine.ranks import rank
from croupier.rooms.holdem.table.views import View, VisiblePlayer


class CallerBot:
    """Always checks or calls.

    Example:
        >>> from croupier import make_luck
        >>> from croupier.holdem import Hand, View, parse_cards
        >>> hand = Hand([1000, 1000], button=0)
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> view = View.of(hand, 0)
        >>> CallerBot().choose(view, view.legal, make_luck())
        10
    """

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- only the call matters
        """Return the call."""
        return view.call


class ManiacBot:
    """Raises by the pot whenever it can, and calls when it cannot.

    Example:
        >>> from croupier import make_luck
        >>> from croupier.holdem import Hand, View, parse_cards
        >>> hand = Hand([1000, 1000], button=0)
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> view = View.of(hand, 0)
        >>> ManiacBot().choose(view, view.legal, make_luck())  # raise to 60
        50
    """

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- only the pot matters
        """Return a raise by the pot, or the call if no raise is legal."""
        return view.raise_by_percent(100)


class TightBot:
    """Plays few hands, raises with the best of them, and gives up if the board does not help.

    Before the flop it plays hands with at least `points` points by Chen's formula, plus one point for every doubling of
    the price; with two points more it raises. After the flop it bets hands that beat 90 % of all hands and calls with
    hands that beat 75 %. Raises ValueError unless `points` is 0 to 20.

    Example:
        >>> from croupier import make_luck
        >>> from croupier.holdem import Hand, View, parse_cards
        >>> hand = Hand([1000, 1000], button=0)
        >>> hand.deal(parse_cards("7sKd2hKc"))
        >>> view = View.of(hand, 0)
        >>> TightBot(points=8).choose(view, view.legal, make_luck())
        'fold'
    """

    def __init__(self, points: int = 8) -> None:
        if not 0 <= points <= 20:
            raise ValueError(f"found {points} points; allowed: 0 to 20")
        self._points = points

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- the bot is deterministic
        """Raise, call, or put in nothing."""
        if view.board:
            strength = hand_strength(view.hole, view.board)
            raises, calls = strength >= 0.9, strength >= 0.75
        else:
            points = chen_points(view.hole) - (view.to_match // view.big_blind).bit_length() + 1
            raises, calls = points >= self._points + 2, points >= self._points
        return view.raise_by_percent(75) if raises else view.call if calls else view.check_or_fold


class EquityBot:
    """Estimates its share of the pot from random deals, and pays at most what that share is worth.

    The more chips a rival has put in, the narrower the range the bot assumes (`minimum_defence_frequency`). Raises
    ValueError unless `samples`, the number of random deals per decision, is 2 to 100000.

    Example:
        >>> from croupier import make_luck
        >>> from croupier.holdem import Hand, View, parse_cards
        >>> hand = Hand([1000, 1000], button=0)
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> view = View.of(hand, 0)
        >>> EquityBot(samples=50).choose(view, view.legal, make_luck(1)) > view.call  # it raises with aces
        True
    """

    def __init__(self, samples: int = 200) -> None:
        if not 2 <= samples <= 100_000:
            raise ValueError(f"found {samples} samples; allowed: 2 to 100000")
        self._samples = samples

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- the view has the price
        """Raise with clearly more than a fair share, call if the share is worth the price, else put in nothing."""
        ranges: list[Range] = [[(view.hole[0], view.hole[1])]]
        for number, rival in enumerate(sorted(view.rivals, key=lambda player: -player.bet)):
            ranges.append(
                best_hands(minimum_defence_frequency(view, rival)) if number < MAX_RIVAL_RANGES else ALL_HANDS
            )
        share = estimate(ranges, view.board, luck=luck, samples=self._samples)[0].equity
        if share >= 1.3 / len(ranges):
            return view.raise_by_percent(75)
        return view.call if share * (view.pot + view.call) >= view.call else view.check_or_fold


MAX_RIVAL_RANGES: Final = 3
"""Only the rivals with the largest bets get restricted ranges: more of these would rarely be dealable together."""


def minimum_defence_frequency(view: View, rival: VisiblePlayer) -> float:
    """Return the fraction of all hands that a rival is assumed to play for their chips: 1 for the big blind, >= 0.1.

    It is the minimum defence frequency, the fraction of hands that must call a bet so that bluffs do not pay:
    pot / (pot + bet). The pot is taken to be the blinds, the bet the rival's chips on top of the big blind.
    """
    paid = rival.bet + view.pot_before_round / (len(view.rivals) + 1)
    blinds = 1.5 * view.big_blind
    return max(0.1, blinds / (blinds + max(0, paid - view.big_blind)))


def best_hands(fraction: float) -> Range:
    """Return the best fraction (0 to 1) of all hands before the flop, by Chen's points, then by card ranks."""
    return _ranked_hands()[: round(fraction * len(ALL_HANDS))]


@cache
def _ranked_hands() -> Range:
    return sorted(ALL_HANDS, key=lambda hole: (chen_points(hole), hole[0] // 4 + hole[1] // 4), reverse=True)


def hand_strength(hole: Sequence[Card], board: Sequence[Card]) -> float:
    """Return the fraction of all other hands beaten on the current board of 3 to 5 cards; ties count half."""
    unseen = {*range(len(CARDS))}.difference(hole, board)
    ours = rank((*hole, *board))
    others = [rank((*pair, *board)) for pair in combinations(unseen, 2)]
    return sum((other > ours) + (other == ours) / 2 for other in others) / len(others)


HIGH_CARD_HALF_POINTS: Final = {"A": 20, "K": 16, "Q": 14, "J": 12}
"""The points of the highest card, in half points. Lower cards count half their number: a ten 5 points."""

GAP_HALF_POINTS: Final = (0, 2, 4, 8, 10)
"""The deduction by the number of ranks missing between the two cards, in half points."""


def chen_points(hole: Sequence[Card]) -> int:
    """Return the points of two hole cards by W. Chen's formula (L. Krieger, "Hold'em Excellence"): 20 for aces.

    Example:
        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> chen_points(parse_cards("AhKh")), chen_points(parse_cards("7d2c"))
        (12, -1)
    """
    high, low = sorted((card // 4 for card in hole), reverse=True)
    points = HIGH_CARD_HALF_POINTS.get(RANKS[high], high + 2)
    if high == low:
        return max(10, 2 * points) // 2
    points += 4 * (hole[0] % 4 == hole[1] % 4)
    gap = high - low - 1
    points -= GAP_HALF_POINTS[min(gap, 4)]
    if gap < 2 and RANKS[high] not in "AKQ":
        points += 2
    return (points + 1) // 2


BOT_SPECS: Final[Mapping[str, BotSpec[View, Move]]] = {
    "equity": BotSpec(
        "estimates its equity from N random deals (default 200) and pays what it is worth", EquityBot, int, ("1000",)
    ),
    "tight": BotSpec(
        "plays hands with at least N of Chen's points (default 8), few after the flop", TightBot, int, ("10",)
    ),
    "caller": BotSpec("always checks or calls", CallerBot),
    "maniac": BotSpec("raises by the pot whenever it can", ManiacBot),
    "random": BotSpec("chooses among the usual moves with equal probability", RandomBot),
}
"""The bots by their names on the command line."""
