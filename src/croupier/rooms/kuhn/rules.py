"""Rules of Kuhn poker: three cards, one ante each, at most one bet, the higher card wins (docs/protocols/kuhn.md, 3).

The rules are tables. `BETTING_TREE` gives the legal actions after each history. All states are built on import: 1
before the deal, 3 with one card dealt, and 9 for each of the six deals.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from croupier.core.cards import Pack
from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn

type Rank = Literal["J", "Q", "K"]
type KuhnAction = Literal["CHK", "BET", "CAL", "FLD"]
type Move = Rank | KuhnAction
type BettingHistory = tuple[KuhnAction, ...]

CARDS: Final[tuple[Rank, ...]] = ("J", "Q", "K")
"""Jack < queen < king (kuhn-3.1)."""

PACK: Final = Pack(CARDS, {"C_J": "J", "C_Q": "Q", "C_K": "K"})

P_1: Final = 0
P_2: Final = 1

SEATS: Final = {"P_1": P_1, "P_2": P_2}
"""The seats by their names."""

ANTE: Final = 1
BET: Final = 1

ACTION_COST: Final[Mapping[KuhnAction, int]] = {"CHK": 0, "BET": BET, "CAL": BET, "FLD": 0}
"""The coins that an action puts into the pot (kuhn-3.4)."""

DEFAULT_ACTIONS: Final[tuple[KuhnAction, ...]] = ("CHK", "FLD")
"""What is played in place of a bot that fails: it puts no coin in."""

BETTING_TREE: Final[Mapping[BettingHistory, tuple[Seat, tuple[KuhnAction, ...]]]] = {
    (): (P_1, ("CHK", "BET")),
    ("CHK",): (P_2, ("CHK", "BET")),
    ("BET",): (P_2, ("CAL", "FLD")),
    ("CHK", "BET"): (P_1, ("CAL", "FLD")),
}
"""The seat to act and its legal actions, by the history before them (kuhn-3.3)."""

SHOWDOWN: Final = "showdown"

TERMINAL_HISTORIES: Final[Mapping[BettingHistory, tuple[Seat | Literal["showdown"], int]]] = {
    ("CHK", "CHK"): (SHOWDOWN, ANTE),
    ("CHK", "BET", "CAL"): (SHOWDOWN, ANTE + BET),
    ("CHK", "BET", "FLD"): (P_2, ANTE),
    ("BET", "CAL"): (SHOWDOWN, ANTE + BET),
    ("BET", "FLD"): (P_1, ANTE),
}
"""The winner (or a showdown) and the coins won, by the final history (kuhn-3.5, kuhn-5)."""


def coins_in_pot(history: BettingHistory, seat: Seat) -> int:
    """The coins that a seat has put into the pot: the ante and its bets.

    >>> coins_in_pot(("CHK", "BET"), P_2)
    2
    """
    return ANTE + sum(ACTION_COST[action] for action in history[seat::2])


def beats(card: Rank, other: Rank) -> bool:
    """Whether a card wins a showdown against another one (kuhn-3.5).

    >>> beats("K", "Q")
    True
    """
    return CARDS.index(card) > CARDS.index(other)


class View(NamedTuple):
    """An information set: the seat's own card (None before it is dealt) and the actions so far.

    Example:
        >>> view = View("K", ("CHK", "BET"))
        >>> view.card, view.history[-1]
        ('K', 'BET')
    """

    card: Rank | None
    history: BettingHistory


class KuhnState:
    """A node of the game tree: the cards dealt and the actions taken. Each node is a single object."""

    __slots__ = ("actions", "cards", "history", "legal", "next", "odds", "payoff", "turn", "views")

    def __init__(self, cards: tuple[Rank, ...], history: BettingHistory = ()) -> None:
        self.cards = cards
        self.history = history
        self.turn: Seat | Turn = Turn.CHANCE
        self.legal: tuple[Move, ...] = ()
        self.actions: tuple[KuhnAction, ...] = ()
        self.next: dict[Move, KuhnState] = {}
        self.odds: dict[Move, Fraction] = {}
        self.payoff: tuple[int, int] = (0, 0)
        self.views = tuple(View(cards[seat] if seat < len(cards) else None, history) for seat in (P_1, P_2))

    def __repr__(self) -> str:
        return f"<{' '.join((*self.cards, *self.history)) or 'start'}>"


def _build_deal(cards: tuple[Rank, ...]) -> KuhnState:
    """The chance nodes of the tree: a card for P_1, then a different one for P_2 (kuhn-3.2)."""
    if len(cards) == 2:
        return _build_betting(cards, ())
    state = KuhnState(cards)
    left = [card for card in CARDS if card not in cards]
    state.legal = tuple(left)
    state.odds = {card: Fraction(1, len(left)) for card in left}
    state.next = {card: _build_deal((*cards, card)) for card in left}
    return state


def _build_betting(cards: tuple[Rank, ...], history: BettingHistory) -> KuhnState:
    """The players' decision nodes after one deal."""
    state = KuhnState(cards, history)
    if history in BETTING_TREE:
        state.turn, actions = BETTING_TREE[history]
        state.legal = state.actions = actions
        state.next = {action: _build_betting(cards, (*history, action)) for action in actions}
    else:
        state.turn = Turn.OVER
        winner, coins = TERMINAL_HISTORIES[history]
        if winner == SHOWDOWN:
            winner = P_1 if beats(cards[P_1], cards[P_2]) else P_2
        state.payoff = (coins, -coins) if winner == P_1 else (-coins, coins)
    return state


START_STATE: Final = _build_deal(())

DEALS: Final = tuple(state for first in START_STATE.next.values() for state in first.next.values())
"""The six deals, which are equally likely (kuhn-3.2)."""


class Kuhn:
    """The rules of Kuhn poker. See `croupier.core.rules.Rules`.

    Example:
    >>> state = KUHN.start()
    >>> for move in ("Q", "K", "CHK", "BET"):
    ...     state = KUHN.play(state, move)
    >>> KUHN.legal(state)
    ('CAL', 'FLD')
    >>> KUHN.payoff(KUHN.play(state, "CAL"))
    (-2, 2)
    """

    seats: Final = 2

    def start(self) -> KuhnState:
        """The state before the first card."""
        return START_STATE

    def turn(self, state: KuhnState) -> Seat | Turn:
        """The seat to act (P_1 or P_2), or Turn.CHANCE or Turn.OVER."""
        return state.turn

    def legal(self, state: KuhnState) -> tuple[Move, ...]:
        """The cards that may be dealt, or the legal actions of the seat to act."""
        return state.legal

    def odds(self, state: KuhnState) -> Mapping[Move, Fraction]:
        """The probability of each card left in the deck."""
        return state.odds

    def play(self, state: KuhnState, move: Move) -> KuhnState:
        """Return the state after a deal or an action. Raises IllegalMove."""
        try:
            return state.next[move]
        except KeyError:
            raise IllegalMove(move, state.legal) from None

    def payoff(self, state: KuhnState) -> tuple[int, int]:
        """The coins that P_1 and P_2 have won; the sum is 0."""
        return state.payoff

    def view(self, state: KuhnState, seat: Seat) -> View:
        """The information set of a seat."""
        return state.views[seat]


KUHN: Final = Kuhn()


def nets(cards: Sequence[str], commands: Sequence[str], seat: Seat) -> tuple[int, ...]:
    """The coins that a seat may have won with these cards and actions. An unfinished game was forfeited or voided.

    Raises LookupError if the cards and actions are not a game.

    >>> nets(["K", "Q"], ["BET", "CAL"], 0)
    (2,)
    >>> nets(["K", "Q"], ["BET"], 0)
    (-2, 0)
    """
    state = START_STATE
    for move in (*cards, *commands):
        state = state.next[move]  # type: ignore[index]  # an unknown move raises KeyError
    if state.turn is Turn.OVER:
        return (state.payoff[(P_1, P_2)[seat]],)
    return (-coins_in_pot(state.history, seat), 0)
