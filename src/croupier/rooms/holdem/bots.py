"""Ways to play hold'em: at random, by calling, by raising, by waiting for good cards, and by counting what they win.

A mind has one method. It is shown a `View`, and answers FOLD or the chips to put in: `view.call` calls (or checks),
`view.raising(75)` raises by 75 % of the pot, `view.check_or_fold` puts in nothing. Whatever is in `legal` is valid.
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
    """Checks and calls, whatever comes."""

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- all it needs is the price
        """The call."""
        return view.call


class ManiacBot:
    """Raises by the pot whenever it can, and calls when it cannot."""

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- all it needs is the pot
        """The raise."""
        return view.raise_by_percent(100)


class TightBot:
    """Waits for good cards, plays them fast, and gives up when the board does not help.

    Before the flop it wants so many points of Chen's, and one more for every doubling of the price; with two more than
    it wants it raises. After the flop it bets what beats nine in ten of all hands, and calls with three in four.
    """

    def __init__(self, points: int = 8) -> None:
        if not 0 <= points <= 20:
            raise ValueError(f"found {points} points; allowed: 0 to 20")
        self._points = points

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- nothing is left to luck
        """Raise, call, or put in nothing."""
        if view.board:
            beaten = hand_strength(view.hole, view.board)
            fast, good = beaten >= 0.9, beaten >= 0.75
        else:
            points = chen_points(view.hole) - (view.to_match // view.big_blind).bit_length() + 1
            fast, good = points >= self._points + 2, points >= self._points
        return view.raise_by_percent(75) if fast else view.call if good else view.check_or_fold


class EquityBot:
    """Deals the rest at random again and again, counts its share of the pot, and pays what that is worth.

    The more somebody has paid, the better cards he is taken to hold (`width`).
    """

    def __init__(self, samples: int = 200) -> None:
        if not 2 <= samples <= 100_000:
            raise ValueError(f"found {samples} samples; allowed: 2 to 100000")
        self._samples = samples

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- the view tells the price
        """Raise with clearly more than a fair share, call when the share is worth the price, else put in nothing."""
        ranges: list[Range] = [[(view.hole[0], view.hole[1])]]
        for number, rival in enumerate(sorted(view.rivals, key=lambda one: -one.bet)):
            ranges.append(
                best_hands(minimum_defence_frequency(view, rival)) if number < MAX_RIVAL_RANGES else ALL_HANDS
            )
        share = estimate(ranges, view.board, luck=luck, samples=self._samples)[0].equity
        if share >= 1.3 / len(ranges):
            return view.raise_by_percent(75)
        return view.call if share * (view.pot + view.call) >= view.call else view.check_or_fold


MAX_RIVAL_RANGES: Final = 3
"""So many rivals are given ranges, those with the largest bets; more would hardly fit into one deck with each other."""


def minimum_defence_frequency(view: View, rival: VisiblePlayer) -> float:
    """Which part of all hands a rival plays for what he has paid: all for the big blind, at least the best tenth.

    It is the part that has to call a bet so that no bluff pays: pot / (pot + bet). The pot is taken to be the blinds,
    the bet what he has paid on top of the big blind.
    """
    paid = rival.bet + view.pot_before_round / (len(view.rivals) + 1)
    blinds = 1.5 * view.big_blind
    return max(0.1, blinds / (blinds + max(0, paid - view.big_blind)))


def best_hands(fraction: float) -> Range:
    """The best part (0 to 1) of all hands before the flop, by Chen's points, and by the cards where these are equal."""
    return _ranked_hands()[: round(fraction * len(ALL_HANDS))]


@cache
def _ranked_hands() -> Range:
    return sorted(ALL_HANDS, key=lambda hole: (chen_points(hole), hole[0] // 4 + hole[1] // 4), reverse=True)


def hand_strength(hole: Sequence[Card], board: Sequence[Card]) -> float:
    """The part of all hands that are beaten on this board as it is; ties count half. The board has 3 to 5 cards."""
    unseen = {*range(len(CARDS))}.difference(hole, board)
    ours = rank((*hole, *board))
    others = [rank((*pair, *board)) for pair in combinations(unseen, 2)]
    return sum((other > ours) + (other == ours) / 2 for other in others) / len(others)


HIGH_CARD_HALF_POINTS: Final = {"A": 20, "K": 16, "Q": 14, "J": 12}
"""What the highest card counts, in half points; the others count half of what is printed on them, the ten 5 points."""

GAP_HALF_POINTS: Final = (0, 2, 4, 8, 10)
"""What is taken off for the ranks missing between two cards, in half points."""


def chen_points(hole: Sequence[Card]) -> int:
    """The points of two cards by W. Chen's formula (L. Krieger, "Hold'em Excellence"): 20 for aces, −1 for 7 and 2."""
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
        "deals the rest so many times, 200 by default, and pays what its cards win", EquityBot, int, ("1000",)
    ),
    "tight": BotSpec(
        "plays from so many of Chen's points on, 8 by default, and few hands after the flop", TightBot, int, ("10",)
    ),
    "caller": BotSpec("checks and calls, whatever comes", CallerBot),
    "maniac": BotSpec("raises by the pot whenever it can", ManiacBot),
    "random": BotSpec("every usual move with the same probability", RandomBot),
}
"""Every mind by its name on the command line."""
