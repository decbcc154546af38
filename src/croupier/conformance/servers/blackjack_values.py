"""Wrong values of cards in blackjack, with which a house may be right in every round that it plays."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Literal

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.servers.test_data import Reading
from croupier.rooms.blackjack.rules import (
    BANK_STANDS_AT,
    HIT,
    RANK_VALUES,
    STAND,
    SURRENDER,
    TARGET_TOTAL,
    client_wins,
    hand_total,
)
from croupier.rooms.blackjack.wire import Bet, Crd, Mov, Res, Srd, Trn

type Points = Callable[[Sequence[str]], int]
"""The total of cards."""

type AceRule = Literal["one", "eleven", "all alike", "below 21"]
"""How aces are counted: always 1, always 11, all of them 11 or all of them 1, or 11 only if that makes less than 21."""

ACE_EXTRA: Final = 10
"""How much more an ace counts as 11 than as 1."""


def _with_aces(rule: AceRule, cards: Sequence[str]) -> int:
    """The total of cards with this rule for aces."""
    low, aces = hand_total(cards).low, sum(card[0] == "A" for card in cards)
    extra = {"one": 0, "eleven": aces, "all alike": aces, "below 21": aces > 0}[rule] * ACE_EXTRA
    limit = {"one": 0, "eleven": 1 << 30, "all alike": TARGET_TOTAL, "below 21": TARGET_TOTAL - 1}[rule]
    return low + extra if low + extra <= limit else low


def _when_dealt(cards: Sequence[str]) -> int:
    """The total of cards if an ace keeps the value that was the best one when it came."""
    total = 0
    for card in cards:
        value = RANK_VALUES[card[0]]
        total += value + ACE_EXTRA if card[0] == "A" and total + value + ACE_EXTRA <= TARGET_TOTAL else value
    return total


def _with_one_lowered(cards: Sequence[str]) -> int:
    """The total of cards if all aces count 11, but one of them 1 where that would be too much."""
    low, aces = hand_total(cards).low, sum(card[0] == "A" for card in cards)
    total = low + ACE_EXTRA * aces
    return total - ACE_EXTRA if aces and total > TARGET_TOTAL else total


def _with_values(changed: Mapping[str, int], cards: Sequence[str]) -> int:
    """The total of cards of which some ranks have other values."""
    low = sum(changed.get(card[0], RANK_VALUES[card[0]]) for card in cards)
    return low + ACE_EXTRA if low + ACE_EXTRA <= TARGET_TOTAL and any(card[0] == "A" for card in cards) else low


def _explains(client_points: Points, bank_points: Points, lines: Sequence[DialogueLine]) -> bool:
    """Whether all answers in a dialogue are right if cards are counted like this. Refused messages are not expected."""
    client: list[str] = []
    bank: list[str] = []
    bet, move = 0, ""
    for message in (line.message for line in lines):
        match message:
            case Bet(coins):
                client, bank, bet, move = [], [], coins, ""
            case Mov(move):
                pass
            case Srd():
                move = SURRENDER
            case Crd("C", card):
                client.append(card)
            case Crd(_, card):
                if move == STAND and bank_points(bank) >= BANK_STANDS_AT:
                    return False
                bank.append(card)
            case Trn() if move == HIT and client_points(client) >= TARGET_TOTAL:
                return False
            case Res(result, coins) if move != SURRENDER:
                own, other = client_points(client), bank_points(bank)
                has_won = client_wins(own, other) if move == STAND else own == TARGET_TOTAL
                is_over = other >= BANK_STANDS_AT if move == STAND else own >= TARGET_TOTAL
                if not (move and is_over) or (result, coins) != ("W" if has_won else "L", 2 * bet * has_won):
                    return False
    return True


def _right_points(cards: Sequence[str]) -> int:
    return hand_total(cards).total


ACE_MISTAKES: Final[Mapping[str, Points]] = {
    "counts every ace as 1": partial(_with_aces, "one"),
    "counts every ace as 11": partial(_with_aces, "eleven"),
    "counts either all aces of a hand as 11 or all as 1": partial(_with_aces, "all alike"),
    "counts only one ace of a hand as 1, and the others as 11": _with_one_lowered,
    "counts an ace as 11 only if that makes less than 21": partial(_with_aces, "below 21"),
    "counts an ace as 11 for ever if that was right when it came": _when_dealt,
}
WRONG_VALUES: Final[Mapping[str, int]] = {"0": 0, "1": 1, "11": 11, "more than 21": TARGET_TOTAL + 1}
"""Values that a house may give to a ten or a figure. What it makes of the code of a letter is often more than 21."""

VALUE_MISTAKES: Final[Mapping[str, Points]] = {
    "counts J, Q and K as 11, 12 and 13": partial(_with_values, {"J": 11, "Q": 12, "K": 13}),
    **{
        f"counts {', '.join(ranks)} as {text}": partial(_with_values, dict.fromkeys(ranks, value))
        for ranks in ("J", "Q", "K", "T", "JQK", "TJQK")
        for text, value in WRONG_VALUES.items()
    },
}
"""The total of a hand by what a house does that counts like this."""


def _reading(text: str, client_points: Points, bank_points: Points) -> Reading:
    return Reading(f"it {text}", "blackjack-3.2", partial(_explains, client_points, bank_points))


READINGS: Final = (
    _reading("counts every card rightly", _right_points, _right_points),
    *(_reading(text, points, points) for text, points in {**ACE_MISTAKES, **VALUE_MISTAKES}.items()),
    *(_reading(f"{text}, in the bank's hand only", _right_points, points) for text, points in ACE_MISTAKES.items()),
)
