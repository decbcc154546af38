"""Leduc poker: a game of one's own, described by its rules so that croupier can solve it.

    croupier solve examples/leduc.py

The deck has two jacks, two queens and two kings. Both players put in one chip and get one card. A round of betting
follows, then a card that both players share is turned up, then another round of betting. At the showdown a player whose
card pairs the shared card wins; otherwise the higher card wins, and equal cards split the pot. In each round the first
player acts first, a raise is 2 chips before the shared card and 4 after it, and there are at most two raises.

Published by F. Southey, M. Bowling et al., "Bayes' Bluff: Opponent Modelling in Poker", 2005. The game is worth
−0.0856064240780 chips to the first player.

A solver needs seven answers, the methods of `Leduc`: each is a pure function of a state. A state is the cards dealt so
far and the actions of each round. Suits never matter, so a card is its rank alone; the odds of the ranks are exact.

>>> state = RULES.start()
>>> for move in ("Q", "K", "check", "raise", "call"):
...     state = RULES.play(state, move)
>>> dict(RULES.odds(state))  # one queen and one king are gone
{'J': Fraction(1, 2), 'Q': Fraction(1, 4), 'K': Fraction(1, 4)}
>>> RULES.payoff(play_moves(state, "Q", "raise", "raise", "call"))  # a pair of queens
(11, -11)
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from croupier import IllegalMove, Turn

RANKS = ("J", "Q", "K")
"""Jack < queen < king."""

CARDS_OF_A_RANK = 2
ANTE = 1
RAISE_SIZES = (2, 4)
"""The chips of a raise in each round."""

MAX_RAISES = 2
"""The most raises in one round."""


class State(NamedTuple):
    """The cards (the first player's, the second player's, the shared one) and the actions of the rounds so far."""

    cards: tuple[str, ...] = ()
    rounds: tuple[tuple[str, ...], ...] = ((),)


class Leduc:
    """The rules. See `croupier.Rules`."""

    seats = 2

    def start(self) -> State:
        """The state before the deal."""
        return State()

    def turn(self, state: State) -> int | Turn:
        """Who is to move: chance deals, the players act in turn, and a fold or the end of the second round ends it."""
        actions = state.rounds[-1]
        if len(state.cards) < 2:
            return Turn.CHANCE
        if "fold" in actions:
            return Turn.OVER
        if is_round_over(actions):
            return Turn.CHANCE if len(state.rounds) == 1 else Turn.OVER
        return len(actions) % 2

    def legal(self, state: State) -> tuple[str, ...]:
        """The ranks that chance may deal, or the actions of the player."""
        turn = self.turn(state)
        if turn is Turn.OVER:
            return ()
        if turn is Turn.CHANCE:
            return tuple(self.odds(state))
        raises = state.rounds[-1].count("raise")
        passive = ("fold", "call") if raises else ("check",)
        return (*passive, "raise") if raises < MAX_RAISES else passive

    def odds(self, state: State) -> Mapping[str, Fraction]:
        """The probability of each rank that is left."""
        if self.turn(state) is not Turn.CHANCE:
            return {}
        left = {rank: CARDS_OF_A_RANK - state.cards.count(rank) for rank in RANKS}
        return {rank: Fraction(count, sum(left.values())) for rank, count in left.items() if count}

    def play(self, state: State, move: str) -> State:
        """The state after a card or an action. The shared card opens the second round."""
        legal = self.legal(state)
        if move not in legal:
            raise IllegalMove(move, legal)
        if move not in RANKS:
            return State(state.cards, (*state.rounds[:-1], (*state.rounds[-1], move)))
        return State((*state.cards, move), (*state.rounds, ()) if len(state.cards) == 2 else state.rounds)

    def payoff(self, state: State) -> tuple[int, int]:
        """The chips that each player has won: those of the loser's in the pot, or none when the pot is split."""
        winner = find_winner(state)
        if winner is None:
            return 0, 0
        won = chips_in_pot(state)[1 - winner]
        return (won, -won) if winner == 0 else (-won, won)

    def view(self, state: State, seat: int) -> tuple[object, ...]:
        """What a player knows: its own card, the shared card and all actions."""
        return state.cards[seat : seat + 1], state.cards[2:], state.rounds


RULES = Leduc()
"""What `croupier solve` reads."""


def is_round_over(actions: tuple[str, ...]) -> bool:
    """Whether a round ends with these actions: two checks or a call."""
    return actions[-1:] == ("call",) or actions == ("check", "check")


def chips_in_pot(state: State) -> list[int]:
    """The chips that each player has put in: a raise adds its size to those of the other player."""
    chips = [ANTE, ANTE]
    for actions, size in zip(state.rounds, RAISE_SIZES, strict=False):
        for number, action in enumerate(actions):
            if action in ("call", "raise"):
                chips[number % 2] = max(chips) + (size if action == "raise" else 0)
    return chips


def find_winner(state: State) -> int | None:
    """The player who wins, None if the pot is split."""
    last = state.rounds[-1]
    if "fold" in last:
        return len(last) % 2  # the next to act, if there were no fold
    first, second, shared = state.cards
    ranking = [(card == shared, RANKS.index(card)) for card in (first, second)]
    return None if ranking[0] == ranking[1] else ranking.index(max(ranking))


def play_moves(state: State, *moves: str) -> State:
    """The state after several moves."""
    for move in moves:
        state = RULES.play(state, move)
    return state
