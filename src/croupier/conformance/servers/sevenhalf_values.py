"""Wrong values and scores in seven and a half, with which a house may be right in every game that it plays."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Final

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.servers.test_data import Reading
from croupier.rooms.sevenhalf.rules import CARD_HALVES, CARDS, TARGET_HALVES, payout_in_bets, score
from croupier.rooms.sevenhalf.wire import Ante, Bksc, Bstg, Card, Draw, Gain, Pass, Stbt

FIGURES: Final = "scr"
MAX_FIGURE_HALVES: Final = 24
"""The highest value that is tried: that of a rei that counts twelve."""


def _explains(changed: Mapping[str, int], written: Callable[[int], str], lines: Sequence[DialogueLine]) -> bool:
    """Whether all answers in a dialogue are right if these cards have other values, and scores are written like this.

    No refusal is expected.
    """
    halves = {**CARD_HALVES, **changed}
    own, bank, bet = 0, 0, 0
    is_over = False
    for message in (line.message for line in lines):
        match message:
            case Stbt(bet):
                own, is_over = 0, False
            case Ante(coins):
                bet += coins
            case Draw() | Pass() if own > TARGET_HALVES and not is_over:
                return False
            case Card(card):
                own += halves[card]
            case Bstg():
                is_over = True
                if own <= TARGET_HALVES:
                    return False
            case Bksc(cards, shown):
                totals = [*accumulate(halves[card] for card in cards)]
                if is_over != (own > TARGET_HALVES) or not totals or shown != written(totals[-1]):
                    return False
                *before, bank = totals
                if not is_over and [_stands(each, own) for each in totals] != [False] * len(before) + [True]:
                    return False
            case Gain(coins) if coins != payout_in_bets(own, bank) * bet:
                return False
    return True


def _stands(total: int, own: int) -> bool:
    """Whether the bank draws no more cards: it has more than the client, or seven and a half."""
    return total > own or total == TARGET_HALVES


def _reading(text: str, changed: Mapping[str, int]) -> Reading:
    return Reading(f"it {text}", "sevenhalf-3.2", partial(_explains, changed, score))


def _whole_score(halves: int) -> str:
    """The score of a house that cuts off the half."""
    return score(halves - halves % 2)


def _with_ranks(changed: Mapping[str, int]) -> Mapping[str, int]:
    """The values of all cards of some ranks."""
    return {card: changed[card[0]] for card in CARDS if card[0] in changed}


READINGS: Final = (
    _reading("counts every card rightly", {}),
    Reading("it cuts off the half of a score", "sevenhalf-5.2", partial(_explains, {}, _whole_score)),
    _reading("counts all copes as 0.5, like the cavalls: both are a c", {card: 1 for card in CARDS if "c" in card}),
    *(
        _reading(f"counts {', '.join(ranks)} as {value / 2:g}", _with_ranks(dict.fromkeys(ranks, value)))
        for ranks in (*FIGURES, FIGURES)
        for value in range(MAX_FIGURE_HALVES + 1)
        if value != 1
    ),
    *(
        _reading(
            f"counts {', '.join(FIGURES)} as {values[0] / 2:g} and more",
            _with_ranks(dict(zip(FIGURES, values, strict=True))),
        )
        for first in (8, 10)
        for values in ([first + place for place in range(3)], [2 * (first + place) for place in range(3)])
    ),
)
