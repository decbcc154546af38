"""Games of one client against a bank that draws by a fixed rule from a shoe, where nothing is hidden but the shoe.

What such a game has come to is a `Node` of a small automaton that knows totals and no hands: which card leads where.
A `State` is a node with the cards that led to it. The same table serves the house, the referee, the bots and the exact
solver; a room only has to draw it.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from msgspec import Struct

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn

CHANCE: Final = Turn.CHANCE
"""The same by a name that takes one look-up: the rules ask for it at every move."""

CLIENT_SEAT: Final[Seat] = 0
BANK_SEAT: Final[Seat] = 1
"""The two seats. The bank never decides anything: chance moves for it."""


type BankMove = str | int
"""A card, the name of an action, or a raise: so many coins on top of the bet."""


class BankNode:
    """What a game has come to, whatever the cards: whose turn it is, and where every move and every card leads.

    `taker` is the seat that the next card goes to. `raised` is where a raise leads, None where there is none. `pays` is
    what the client has won, in half bets, when it is OVER.
    """

    __slots__ = ("after_raise", "card_receiver", "moves", "name", "payoff_half_bets", "successors", "turn")

    def __init__(
        self, name: str, turn: Seat | Turn, card_receiver: Seat = CLIENT_SEAT, payoff_half_bets: int = 0
    ) -> None:
        self.name = name
        self.turn = turn
        self.card_receiver = card_receiver
        self.payoff_half_bets = payoff_half_bets
        self.successors: dict[BankMove, BankNode] = {}
        self.moves: tuple[BankMove, ...] = ()
        self.after_raise: BankNode | None = None

    def __repr__(self) -> str:
        return f"<{self.name}>"


class BankState(Struct, frozen=True, gc=False):
    """A node, the cards in the order in which they were dealt, how many of them the bank holds, and the bet in coins.

    Everything in it is known to both seats, so it is also what a seat may see.
    """

    node: BankNode
    cards: tuple[str, ...] = ()
    bank_card_count: int = 0
    bet: int = 100


class RaiseChoices(tuple[BankMove, ...]):
    """What the client may do where it may raise: the moves, and at the end the highest raise of all those there are.

    Every number from 1 to the highest raise is contained. The highest is the only one that is listed: what a hand is
    worth is convex in the bet, so that the best raise is none or the highest.
    """

    __slots__ = ()

    def __contains__(self, move: object) -> bool:
        if type(move) is int:
            return 0 < move <= self[-1]  # type: ignore[operator]  # the last one is a number
        return isinstance(move, str) and super().__contains__(move)


@lru_cache(maxsize=1024)
def _raise_choices(moves: tuple[BankMove, ...], max_raise: int) -> RaiseChoices:
    """The moves and raises, made once while bets stay the same."""
    return RaiseChoices((*moves, max_raise))


def possible_nets(start_node: BankNode, cards: Sequence[str], commands: Sequence[str]) -> tuple[int, ...]:
    """What the client may have won with these cards and commands, the first of which is its bet: `BET 100`.

    A game that ends with a decision of the client was forfeited, or is void. Raises LookupError or ValueError on what
    is no game.
    """
    word, _, coins = commands[0].partition(" ")
    if word != "BET":
        raise ValueError(f"found {commands[0]}; allowed: BET")
    bet, left, node = int(coins), [*cards], start_node
    for move in commands[1:]:
        node = _deal_cards(node, left).successors[move]
    node = _deal_cards(node, left)
    if left or node.turn is CHANCE:
        raise ValueError(f"found {len(left)} cards too many, or too few")
    return (bet * node.payoff_half_bets // 2,) if node.turn is Turn.OVER else (-bet, 0)


def _deal_cards(node: BankNode, cards: list[str]) -> BankNode:
    """Where the next cards lead, as long as it is chance's turn; they are taken from those that are left."""
    while node.turn is CHANCE and cards:
        node = node.successors[cards.pop(0)]
    return node


class BankRules:
    """The rules of such a game, for a shoe of so many decks of these cards.

    `first` is the node before the first card. `shoe` has every one of the cards, in the order of a deck's numbers. A
    raise may make the bet `max_bet` coins in all.
    """

    seats: Final = 2

    def __init__(self, start_node: BankNode, cards: Sequence[str], decks: int = 1, max_bet: int = 0) -> None:
        self.cards = tuple(cards)
        self.decks = decks
        self.shoe = self.cards * decks
        self.max_bet = max_bet
        self.start_node = start_node

    def start(self, bet: int = 100) -> BankState:
        """Before the first card, with so many coins bet."""
        return BankState(self.start_node, (), 0, bet)

    def turn(self, state: BankState) -> Seat | Turn:
        """CLIENT, CHANCE or OVER."""
        return state.node.turn

    def legal(self, state: BankState) -> Sequence[BankMove]:
        """The cards left in the shoe, or what the client may do."""
        node = state.node
        if node.turn is CHANCE:
            return tuple(card for card in self.cards if state.cards.count(card) < self.decks)
        if node.after_raise is None or state.bet >= self.max_bet:
            return node.moves
        return _raise_choices(node.moves, self.max_bet - state.bet)

    def odds(self, state: BankState) -> Mapping[BankMove, Fraction]:
        """The cards left in the shoe: each physical card is as likely as any other."""
        if state.node.turn is not CHANCE:
            return {}
        whole = len(self.shoe) - len(state.cards)
        return {card: Fraction(self.decks - state.cards.count(str(card)), whole) for card in self.legal(state)}

    def play(self, state: BankState, move: BankMove) -> BankState:
        """Deal a card, act, or raise. Raises IllegalMove."""
        node = state.node
        after = node.successors.get(move)
        if after is not None:
            if node.turn is not CHANCE:
                return BankState(after, state.cards, state.bank_card_count, state.bet)
            cards = state.cards
            if move not in cards or cards.count(move) < self.decks:
                return BankState(after, cards + (move,), state.bank_card_count + node.card_receiver, state.bet)  # type: ignore[operator]  # noqa: RUF005 -- faster; only a card leads on from here
        elif type(move) is int and node.after_raise is not None and 0 < move <= self.max_bet - state.bet:
            return BankState(node.after_raise, state.cards, state.bank_card_count, state.bet + move)
        raise IllegalMove(move, self.legal(state))

    def payoff(self, state: BankState) -> tuple[int, int]:
        """The coins that the client and the bank have won; they add up to 0. Half coins are the bank's."""
        net = state.bet * state.node.payoff_half_bets // 2
        return net, -net

    def view(self, state: BankState, seat: Seat) -> BankState:  # noqa: ARG002 -- both seats see everything
        """Everything: the only secret is the order of the shoe."""
        return state
