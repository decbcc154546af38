"""Kuhn poker: three cards, an ante each, one bet at most, and the higher card wins (docs/protocols/kuhn.md, 3).

The rules are tables. BETTING is the tree of what may be done; the states are its nodes under each of the six deals, all
built once: 1 before the deal, 3 with one card dealt, and 9 for each deal.
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

ANTE: Final = 1
BET: Final = 1

ACTION_COST: Final[Mapping[KuhnAction, int]] = {"CHK": 0, "BET": BET, "CAL": BET, "FLD": 0}
"""What an action puts into the pot (kuhn-3.4)."""

BETTING_TREE: Final[Mapping[BettingHistory, tuple[Seat, tuple[KuhnAction, ...]]]] = {
    (): (P_1, ("CHK", "BET")),
    ("CHK",): (P_2, ("CHK", "BET")),
    ("BET",): (P_2, ("CAL", "FLD")),
    ("CHK", "BET"): (P_1, ("CAL", "FLD")),
}
"""Who decides after what has been done, and between what (kuhn-3.3)."""

SHOWDOWN: Final = "showdown"

TERMINAL_HISTORIES: Final[Mapping[BettingHistory, tuple[Seat | Literal["showdown"], int]]] = {
    ("CHK", "CHK"): (SHOWDOWN, ANTE),
    ("CHK", "BET", "CAL"): (SHOWDOWN, ANTE + BET),
    ("CHK", "BET", "FLD"): (P_2, ANTE),
    ("BET", "CAL"): (SHOWDOWN, ANTE + BET),
    ("BET", "FLD"): (P_1, ANTE),
}
"""Who wins, and how much, after what has been done (kuhn-3.5, kuhn-5)."""


def beats(card: Rank, other: Rank) -> bool:
    """Whether a card is the higher one at a showdown (kuhn-3.5)."""
    return CARDS.index(card) > CARDS.index(other)


class View(NamedTuple):
    """What a seat knows: its own card (None before it is dealt) and what has been done."""

    card: Rank | None
    history: BettingHistory


class KuhnState:
    """A node of the game: the cards dealt so far and what has been done. There is one object for each."""

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
    """Chance's part of the tree: a card for P_1, then a different one for P_2 (kuhn-3.2)."""
    if len(cards) == 2:
        return _build_betting(cards, ())
    state = KuhnState(cards)
    left = [card for card in CARDS if card not in cards]
    state.legal = tuple(left)
    state.odds = {card: Fraction(1, len(left)) for card in left}
    state.next = {card: _build_deal((*cards, card)) for card in left}
    return state


def _build_betting(cards: tuple[Rank, ...], history: BettingHistory) -> KuhnState:
    """The players' part of the tree, under one deal."""
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


class Kuhn:
    """The rules of Kuhn poker as questions about a `State`."""

    seats: Final = 2

    def start(self) -> KuhnState:
        """Before the first card."""
        return START_STATE

    def turn(self, state: KuhnState) -> Seat | Turn:
        """P_1, P_2, CHANCE or OVER."""
        return state.turn

    def legal(self, state: KuhnState) -> tuple[Move, ...]:
        """The cards that may be dealt, or the actions of whoever's turn it is."""
        return state.legal

    def odds(self, state: KuhnState) -> Mapping[Move, Fraction]:
        """The cards left in the deck, each with the same probability."""
        return state.odds

    def play(self, state: KuhnState, move: Move) -> KuhnState:
        """Deal a card, or act. Raises IllegalMove."""
        try:
            return state.next[move]
        except KeyError:
            raise IllegalMove(move, state.legal) from None

    def payoff(self, state: KuhnState) -> tuple[int, int]:
        """The coins that P_1 and P_2 have won; they add up to 0."""
        return state.payoff

    def view(self, state: KuhnState, seat: Seat) -> View:
        """The seat's own card and what has been done."""
        return state.views[seat]


KUHN: Final = Kuhn()


def nets(cards: Sequence[str], commands: Sequence[str], seat: Seat) -> tuple[int, ...]:
    """What a seat may have won by these cards and actions; a game that is not over was forfeited, or is void.

    Raises LookupError on what is no game.
    """
    state = START_STATE
    for move in (*cards, *commands):
        state = state.next[move]  # type: ignore[index]  # a move that there is not is not found
    if state.turn is Turn.OVER:
        return (state.payoff[(P_1, P_2)[seat]],)
    paid = sum(ACTION_COST[action] for action in state.history[seat::2])
    return (-ANTE - paid, 0)
