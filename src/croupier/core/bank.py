"""Rules of games between one client and a bank that draws from a shoe by a fixed rule.

Only the order of the shoe is hidden. A game is a small automaton: a `BankNode` knows totals but no hands, and each card
or move leads to another node. A `BankState` is a node with the cards that led to it. The house, the referee, the bots
and the exact solver all use the same automaton; a room only has to define its nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import compress
from typing import Final

from msgspec import Struct

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn

CHANCE: Final = Turn.CHANCE
"""An alias that needs one lookup instead of two; the rules read it at every move."""

CLIENT_SEAT: Final[Seat] = 0
BANK_SEAT: Final[Seat] = 1
"""The two seats. The bank makes no decisions: chance moves for it."""


SIMULATED_BET: Final = 100
"""The bet of a simulated game in coins. It is even, so that half of it is whole."""

type BankMove = str | int
"""A card, the name of an action, or a raise by this number of coins."""


class BankNode:
    """A node of the game's automaton: whose turn it is, and where every move and every card leads.

    `card_receiver` is the seat that gets the next card, and `card_receivers` is the same as a tuple, as states collect
    it. `after_raise` is the node after a raise, None where the client cannot raise. `payoff_half_bets` is the
    client's win in half bets when the game is OVER.
    """

    def __init__(
        self, name: str, turn: Seat | Turn, card_receiver: Seat = CLIENT_SEAT, payoff_half_bets: int = 0
    ) -> None:
        self.name = name
        self.turn = turn
        self.card_receiver = card_receiver
        self.card_receivers = (card_receiver,)
        self.payoff_half_bets = payoff_half_bets
        self.successors: dict[BankMove, BankNode] = {}
        self.moves: tuple[BankMove, ...] = ()
        self.after_raise: BankNode | None = None

    def net(self, bet: int) -> int:
        """The coins that the client has won with this bet when the game is OVER. The bank keeps half coins."""
        return bet * self.payoff_half_bets // 2

    def __repr__(self) -> str:
        return f"<{self.name}>"


class BankState(Struct, frozen=True, gc=False):
    """A node, the cards in dealing order, the seat that received each card, and the bet in coins.

    Both seats know all of it, so a state is also each seat's view.

    Example:
        >>> from croupier.sevenhalf import SEVENHALF
        >>> state: BankState = SEVENHALF.start(bet=100)
        >>> for move in ("DRAW", "7o", "PASS", "6c", "2c"):
        ...     state = SEVENHALF.play(state, move)
        >>> state.cards, state.receivers, SEVENHALF.payoff(state)
        (('7o', '6c', '2c'), (0, 1, 1), (100, -100))
    """

    node: BankNode
    cards: tuple[str, ...] = ()
    receivers: tuple[Seat, ...] = ()
    bet: int = 100

    @property
    def bank_card_count(self) -> int:
        """The number of cards that the bank holds."""
        return self.receivers.count(BANK_SEAT)


def client_cards(state: BankState) -> tuple[str, ...]:
    """The client's cards, in dealing order.

    Example:
        >>> from croupier.blackjack import BLACKJACK
        >>> state = BLACKJACK.start()
        >>> for card in ("AH", "6S", "TD"):
        ...     state = BLACKJACK.play(state, card)
        >>> client_cards(state)
        ('AH', '6S')
    """
    return tuple(card for card, seat in zip(state.cards, state.receivers, strict=True) if seat == CLIENT_SEAT)


def bank_cards(state: BankState) -> tuple[str, ...]:
    """The bank's cards, in dealing order.

    Example:
        >>> from croupier.blackjack import BLACKJACK
        >>> state = BLACKJACK.start()
        >>> for card in ("AH", "6S", "TD"):
        ...     state = BLACKJACK.play(state, card)
        >>> bank_cards(state)
        ('TD',)
    """
    return tuple(compress(state.cards, state.receivers))  # the bank's seat is 1, the client's 0


@dataclass(frozen=True)
class ObservedBankGame:
    """A game against the bank as seen on the wire. Both ends know all of its state."""

    state: BankState
    seat: Seat = CLIENT_SEAT

    @property
    def cards(self) -> tuple[str, ...]:
        """The client's cards, in dealing order."""
        return client_cards(self.state)

    @property
    def bank(self) -> tuple[str, ...]:
        """The bank's cards, in dealing order."""
        return bank_cards(self.state)

    @property
    def bet(self) -> int:
        """The client's bet in coins, with every raise that was not refused."""
        return self.state.bet

    @property
    def net(self) -> int:
        """The coins that the client has won (negative: lost); the game must be over."""
        return self.state.node.net(self.bet)


class RaiseChoices(tuple[BankMove, ...]):
    """The client's legal moves where it may raise: the other moves, then the highest raise.

    Every integer from 1 to the highest raise is contained, but iteration yields only the highest: the value of a hand
    is convex in the bet, so the best raise is either none or the highest.
    """

    __slots__ = ()

    def __contains__(self, move: object) -> bool:
        if type(move) is int:
            return 0 < move <= self[-1]  # type: ignore[operator]  # the last item is an int
        return isinstance(move, str) and super().__contains__(move)


@lru_cache(maxsize=1024)
def _raise_choices(moves: tuple[BankMove, ...], max_raise: int) -> RaiseChoices:
    """Cached: the same bets occur at almost every table."""
    return RaiseChoices((*moves, max_raise))


def possible_nets(start_node: BankNode, cards: Sequence[str], commands: Sequence[str]) -> tuple[int, ...]:
    """The client's possible nets, in coins, for a game with these cards and commands; the first command is `BET 100`.

    A game that ends at a decision of the client was either forfeited or voided, so it has two possible nets.
    Raises LookupError or ValueError if the cards and commands are not a game.
    """
    command, _, coins = commands[0].partition(" ")
    if command != "BET":
        raise ValueError(f"found {commands[0]}; allowed: BET")
    bet, remaining, node = int(coins), [*cards], start_node
    for move in commands[1:]:
        node = _deal_cards(node, remaining).successors[move]
    node = _deal_cards(node, remaining)
    if remaining or node.turn is CHANCE:
        raise ValueError(f"found {len(cards)} cards, {len(remaining)} of them left over; allowed: those of one game")
    return (node.net(bet),) if node.turn is Turn.OVER else (-bet, 0)


def _deal_cards(node: BankNode, cards: list[str]) -> BankNode:
    """Follow cards while it is chance's turn, removing them from the list."""
    while node.turn is CHANCE and cards:
        node = node.successors[cards.pop(0)]
    return node


class BankRules:
    """The `Rules` of a game against the bank, for a shoe of `decks` decks of `cards`.

    `build` returns the node before the first card; it is called on first use. `shoe` lists all cards in the order of a
    deck's indexes. A raise may increase the bet to at most `max_bet` coins.
    """

    seats: Final = 2

    def __init__(self, build: Callable[[], BankNode], cards: Sequence[str], decks: int = 1, max_bet: int = 0) -> None:
        self.cards = tuple(cards)
        self.decks = decks
        self.shoe = self.cards * decks
        self.max_bet = max_bet
        self._build = build

    @cached_property
    def start_node(self) -> BankNode:
        """The node before the first card."""
        return self._build()

    def start(self, bet: int = 100) -> BankState:
        """The state before the first card, with a bet of this many coins."""
        return BankState(self.start_node, bet=bet)

    def turn(self, state: BankState) -> Seat | Turn:
        """CLIENT_SEAT, CHANCE or OVER."""
        return state.node.turn

    def legal(self, state: BankState) -> Sequence[BankMove]:
        """The distinct cards left in the shoe at CHANCE's turn, else the client's moves."""
        node = state.node
        if node.turn is CHANCE:
            return tuple(card for card in self.cards if state.cards.count(card) < self.decks)
        if node.after_raise is None or state.bet >= self.max_bet:
            return node.moves
        return _raise_choices(node.moves, self.max_bet - state.bet)

    def odds(self, state: BankState) -> Mapping[BankMove, Fraction]:
        """The probability of each card: all physical cards left in the shoe are equally likely."""
        if state.node.turn is not CHANCE:
            return {}
        left = len(self.shoe) - len(state.cards)
        return {card: Fraction(self.decks - state.cards.count(str(card)), left) for card in self.legal(state)}

    def play(self, state: BankState, move: BankMove) -> BankState:
        """The state after a card, an action or a raise. Raises IllegalMove."""
        node = state.node
        after = node.successors.get(move)
        if after is not None:
            if node.turn is not CHANCE:
                return BankState(after, state.cards, state.receivers, state.bet)
            cards = state.cards
            if move not in cards or cards.count(move) < self.decks:
                receivers = state.receivers + node.card_receivers
                return BankState(after, cards + (move,), receivers, state.bet)  # type: ignore[operator]  # noqa: RUF005 -- faster; at CHANCE every move is a card
        elif type(move) is int and node.after_raise is not None and 0 < move <= self.max_bet - state.bet:
            return BankState(node.after_raise, state.cards, state.receivers, state.bet + move)
        raise IllegalMove(move, self.legal(state))

    def payoff(self, state: BankState) -> tuple[int, int]:
        """The coins that the client and the bank have won; they sum to 0. The bank keeps half coins."""
        net = state.node.net(state.bet)
        return net, -net

    def view(self, state: BankState, seat: Seat) -> BankState:  # noqa: ARG002 -- both seats see everything
        """The whole state: only the order of the shoe is hidden."""
        return state
