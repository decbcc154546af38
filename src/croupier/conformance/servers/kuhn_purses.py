"""Finds out which payment in Kuhn poker is wrong, from what the purses of several connections could pay.

Each connection starts with the same purse. Every message that costs a coin shows whether the purse had one. If no size
of the purse explains all answers of the house, but one does together with a single wrong payment, that one is wrong.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from typing import Final, NamedTuple

from croupier.core.errors import Violation
from croupier.core.plural import format_count


class Occasion(Enum):
    """What a payment follows: the end of some games or of any, a message that costs a coin or none, any in a state."""

    ENDING = auto()
    ANY_ENDING = auto()
    COST = auto()
    FREE = auto()
    STATE = auto()


class Payment(NamedTuple):
    """A change of the purse, or none where there must be none, and the clause about it."""

    occasion: Occasion
    clause: str
    title: str


@dataclass(slots=True)
class PurseEvent:
    """What a message of the client and the answer show about its purse.

    `payments` are the occasions that it belongs to. It costs `cost` coins, unless it `is_refused` for lack of them.
    `gain` is what is paid into the purse after it, `net` what the client has won or lost in the game that it ends, and
    `pot` the coins in the pot of that game. `earlier_pots` are the coins in the pots of all games before, and
    `folded_pots` those in the pots of the last of them, if the client has folded them.
    """

    payments: list[Payment] = field(default_factory=list)
    cost: int = 0
    is_answered: bool = False
    is_refused: bool = False
    gain: int = 0
    net: int = 0
    pot: int = 0
    earlier_pots: int = 0
    folded_pots: int = 0

    @property
    def stake(self) -> int:
        """What the client has put into the pot of a game that it has won."""
        return self.gain - self.net


MAX_PURSE_COINS: Final = 1 << 62

USUAL_PURSE_COINS: Final = 10
"""The coins that most houses give to a client."""

ANTES: Final = 2
"""The coins that are in the pot before anybody bets."""

type Purse = Sequence[PurseEvent]
"""What a connection shows about its purse, in order."""


def _has_coin(coins: int) -> bool:
    return coins > 0


class Flaw(NamedTuple):
    """A way to get a payment wrong. `can_pay` decides by the coins in the purse, `change` returns the coins after it.

    `change` takes the coins after a right payment, the event, and the coins with which the purse has started. A purse
    that `may_owe` can hold less than 0 coins.
    """

    title: str
    can_pay: Callable[[int], bool] = _has_coin
    change: Callable[[int, PurseEvent, int], int] = lambda coins, event, start: coins  # noqa: ARG005 -- one signature
    may_owe: bool = False


def _moves(coins: int, *, also_refused: bool = False, may_owe: bool = False) -> Flaw:
    """This many coins are paid into the purse each time."""
    title = f"{format_count(abs(coins), 'coin')} too {'many' if coins > 0 else 'few'} after"
    return Flaw(
        title, change=lambda left, event, _: left + coins * (also_refused or not event.is_refused), may_owe=may_owe
    )


def _pays(title: str, factor: int) -> Flaw:
    """The net of the game is paid this many times."""
    return Flaw(title, change=lambda left, event, _: left + (factor - 1) * event.net)


RIGHT: Final = Flaw("right")
WRONG_COINS: Final = (*map(_moves, (1, -1, 2, -2)), *(_moves(coins, may_owe=True) for coins in (-1, -2)))
WRONG_POTS: Final = (
    Flaw("no pot after", change=lambda left, event, _: left - event.gain),
    Flaw("half of the pot after", change=lambda left, event, _: left - event.gain + event.gain // 2),
    Flaw("only the antes after", change=lambda left, event, _: left - event.gain + min(event.gain, ANTES)),
)
FLAWS: Final[Mapping[Occasion, Sequence[Flaw]]] = {
    Occasion.ENDING: (
        *WRONG_POTS,
        Flaw("the pot for the loser after", change=lambda left, event, _: left + event.pot - event.gain),
        _pays("no payment after", 0),
        _pays("a double payment after", 2),
        _pays("a payment to the wrong player after", -1),
        *WRONG_COINS,
    ),
    Occasion.ANY_ENDING: (
        *WRONG_POTS,
        Flaw("only the coins of the house after", change=lambda left, event, _: left - event.stake * (event.net > 0)),
        Flaw("only its own coins after", change=lambda left, event, _: left - max(event.net, 0)),
        Flaw(
            "the pots of all games before, too, after",
            change=lambda left, event, _: left + event.earlier_pots * (event.net > 0),
        ),
        Flaw(
            "the pots that it has folded just before, too, after",
            change=lambda left, event, _: left + event.folded_pots * (event.net > 0),
        ),
    ),
    Occasion.COST: (
        *WRONG_COINS,
        *(_moves(coins, also_refused=True) for coins in (1, -1)),
        Flaw("credit from an empty purse for", can_pay=lambda _: True),
        Flaw("credit from an empty purse, which is paid back, for", can_pay=lambda _: True, may_owe=True),
        Flaw("no use of the last coin for", can_pay=lambda coins: coins > 1),
        Flaw("no use of any coin for", can_pay=lambda _: False),
    ),
    Occasion.FREE: WRONG_COINS,
    Occasion.STATE: (Flaw("a purse that is full again after", change=lambda _, __, start: start),),
}
"""The flaws that are looked for, the likeliest first."""


def purse_sizes(purse: Purse) -> range:
    """The sizes of a purse that explain all answers on one connection, if every payment is right."""
    spent, least, most = 0, 0, MAX_PURSE_COINS
    for event in purse:
        if event.is_refused:
            most = min(most, spent + event.cost - 1)
        else:
            spent += event.cost
            least = max(least, spent)
        spent -= event.gain
    return range(least, most + 1)


def find_wrong_payment(purses: Sequence[Purse], known_size: int | None = None) -> Violation | None:
    """Return the violation that explains the answers of the house, None if there is no fault or nothing explains it.

    `known_size` is the size of all purses, if it is known. If several payments would explain the answers, it is the one
    that was made most often: most answers could have refuted it; but a purse of USUAL_PURSE_COINS is likelier than
    any other. The purses of a house that keeps accounts differ, too, but no wrong payment explains how.
    """
    sizes = [purse_sizes(purse) for purse in purses]
    least, most = max(each.start for each in sizes), min(each.stop for each in sizes) - 1
    if least <= (least if known_size is None else known_size) <= most:
        return None
    if known_size is not None and least == most:
        return Violation("kuhn-7.1", f"a purse of {format_count(least, 'coin')}", format_count(known_size, "coin"))
    if known_size is not None and not any(event.is_refused for purse in purses for event in purse):
        allowed = f"FAIL N_C when {format_count(known_size, 'coin')} and all winnings are spent"
        return Violation("kuhn-7.2", f"a purse that pays {format_count(least, 'coin')} and all winnings", allowed)
    likely_size = USUAL_PURSE_COINS if known_size is None else known_size
    likely, others = range(likely_size, likely_size + 1), range(1, 2 * least + 1)
    times = Counter(payment for purse in purses for event in purse for payment in event.payments)
    ordered = sorted(purses, key=len)
    for possible in (likely, others) if known_size is None else (likely,):
        for payment, _ in times.most_common():
            for flaw in FLAWS[payment.occasion]:
                if (start := _find_size(ordered, possible, payment, flaw)) is not None:
                    allowed = f"{format_count(start, 'coin')} at the start of each connection, and right payments since"
                    return Violation(payment.clause, f"{flaw.title} {payment.title}", allowed)
    return None


class Contradiction(IntEnum):
    """What an answer of the house shows about a size of the purse that does not explain it."""

    TOO_SMALL = -1
    TOO_LARGE = 1


def _find_size(purses: Sequence[Purse], sizes: range, wrong: Payment, flaw: Flaw) -> int | None:
    """The smallest size of the purse that explains all answers with a flaw in one payment, None if none does.

    A larger purse can always pay for what a smaller one can.
    """

    def contradiction(start: int) -> int:
        return next(filter(None, (_contradiction(purse, start, wrong, flaw) for purse in purses)), 0)

    index = bisect_left(sizes, 0, key=contradiction)
    return sizes[index] if index < len(sizes) and not contradiction(sizes[index]) else None


def _contradiction(purse: Purse, start: int, wrong: Payment, flaw: Flaw) -> Contradiction | None:
    """What the first answer shows that a purse of this size does not give, with a flaw in one payment."""
    coins, least = start, -MAX_PURSE_COINS if flaw.may_owe else 0
    for event in purse:
        is_wrong = wrong in event.payments
        if event.cost:
            can_pay = (flaw if is_wrong else RIGHT).can_pay(coins)
            if can_pay is event.is_refused:
                return Contradiction.TOO_LARGE if can_pay else Contradiction.TOO_SMALL
            coins = max(least, coins - event.cost * can_pay)
        coins += event.gain
        if is_wrong:
            coins = max(least, flaw.change(coins, event, start))
    return None
