"""Games with rules (`croupier.core.rules.Rules`) as numbers."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from croupier.clients.luck import make_luck
from croupier.core.bank import CLIENT_SEAT, BankMove, BankRules, BankState, bank_cards, client_cards
from croupier.core.bots import BotSpec
from croupier.core.dealer import Luck
from croupier.core.rules import Rules, Seat, Turn
from croupier.environments.encoding import EncodedGame
from croupier.environments.information_state import information_state_string
from croupier.strategy.shoe import reachable_nodes
from croupier.strategy.simulation import draw_move

MAX_STATES: Final = 100_000
"""The largest game whose views are counted one by one."""

RAISE: Final = "RAISE"
"""The action of the highest raise against a bank; lower ones are never better."""


class RulesGame(EncodedGame):
    """A game with rules. See `EncodedGame`. A unit of rewards is `coins_per_unit` coins."""

    coins_per_unit: int

    def __init__(self, name: str, rules: Rules[Any, Any], bots: Mapping[str, BotSpec[Any, Any]]) -> None:
        self.name = name
        self.rules = rules
        self.bots = bots

    @abstractmethod
    def name_of(self, move: Any) -> str:
        """The name of the action of a move."""

    @abstractmethod
    def encode(self, view: Any) -> Sequence[float]:
        """A view as a number for each feature."""

    def deal(self, seed: int, number: int) -> "RulesHand":
        """See `EncodedGame`."""
        return RulesHand(self, make_luck(seed, f"{self.name} environment", number))


class IndexGame(RulesGame):
    """A small game: there is a feature for each view, and that of the present view is 1.

    Raises ValueError if the game has too many states.
    """

    unit = "coins"
    coins_per_unit = 1

    def __init__(self, name: str, rules: Rules[Any, Any], bots: Mapping[str, BotSpec[Any, Any]]) -> None:
        super().__init__(name, rules, bots)
        self.seats = rules.seats
        self.max_loss = 0.0
        self._indexes: dict[Any, int] = {}
        names: dict[str, None] = {}
        for count, state in enumerate(_walk(rules), start=1):
            if count > MAX_STATES:
                raise ValueError(f"found a game of more than {MAX_STATES:,} states; allowed: a smaller one")
            turn = rules.turn(state)
            if turn is Turn.CHANCE:
                continue
            for seat in range(rules.seats):
                self._indexes.setdefault(rules.view(state, seat), len(self._indexes))
            if turn is Turn.OVER:
                self.max_loss = max(self.max_loss, *(-float(coins) for coins in rules.payoff(state)))
            else:
                legal: Any = rules.legal(state)
                names.update(dict.fromkeys(map(self.name_of, legal)))
        self.action_names = tuple(names)
        self.feature_names = tuple(map(str, self._indexes))
        self.feature_highs = (1.0,) * len(self._indexes)

    def name_of(self, move: Any) -> str:
        """See `RulesGame`."""
        return str(move)

    def encode(self, view: Any) -> Sequence[float]:
        """See `RulesGame`."""
        features = [0.0] * len(self._indexes)
        features[self._indexes[view]] = 1.0
        return features


class BankGame(RulesGame):
    """A game against the bank: the features are the number of cards of each kind in both hands, and the bet in bets."""

    seats = 1
    unit = "bets"

    def __init__(self, name: str, rules: BankRules, bots: Mapping[str, BotSpec[Any, Any]]) -> None:
        super().__init__(name, rules, bots)
        start = rules.start()
        self.coins_per_unit = start.bet
        self._cards = rules.cards
        nodes = reachable_nodes(rules.start_node)
        can_raise = rules.max_bet > start.bet and any(node.after_raise is not None for node in nodes)
        names = [str(move) for node in nodes if node.turn == CLIENT_SEAT for move in node.moves]
        self.action_names = (*dict.fromkeys(names), *([RAISE] if can_raise else ()))
        max_bet = max(rules.max_bet, start.bet) / start.bet if can_raise else 1.0
        self.max_loss = max(-node.payoff_half_bets / 2 for node in nodes) * max_bet
        cards = [f"{owner} {card}" for owner in ("own", "bank") for card in rules.cards]
        self.feature_names = (*cards, "bet")
        self.feature_highs = (*(len(cards) * (float(rules.decks),)), max_bet)

    def name_of(self, move: BankMove) -> str:
        """See `RulesGame`."""
        return RAISE if isinstance(move, int) else move

    def encode(self, view: BankState) -> Sequence[float]:
        """See `RulesGame`."""
        own, bank = client_cards(view), bank_cards(view)
        counts = [float(hand.count(card)) for hand in (own, bank) for card in self._cards]
        return [*counts, view.bet / self.coins_per_unit]


class RulesHand:
    """A hand of a game with rules. See `EncodedHand`."""

    def __init__(self, game: RulesGame, luck: Luck) -> None:
        self._game = game
        self._luck = luck
        self._state = game.rules.start()
        self._deal()

    @property
    def turn(self) -> Seat | None:
        """See `EncodedHand`."""
        turn = self._game.rules.turn(self._state)
        return None if isinstance(turn, Turn) else turn

    @property
    def moves(self) -> Mapping[int, Any]:
        """See `EncodedHand`."""
        game = self._game
        return {game.action_names.index(game.name_of(move)): move for move in self.legal}

    @property
    def legal(self) -> Any:
        """See `EncodedHand`."""
        return () if self.turn is None else self._game.rules.legal(self._state)

    def play(self, move: Any) -> None:
        """See `EncodedHand`."""
        self._state = self._game.rules.play(self._state, move)
        self._deal()

    def view(self, seat: Seat) -> Any:
        """See `EncodedHand`."""
        return self._game.rules.view(self._state, seat)

    def observe(self, seat: Seat) -> Sequence[float]:
        """See `EncodedHand`."""
        return self._game.encode(self.view(seat))

    def describe(self, seat: Seat) -> str:
        """See `EncodedHand`."""
        return information_state_string(self._game.rules, self._state, seat)

    def rewards(self) -> Sequence[float]:
        """See `EncodedHand`."""
        payoff = self._game.rules.payoff(self._state)[: self._game.seats]
        return [float(coins) / self._game.coins_per_unit for coins in payoff]

    def _deal(self) -> None:
        """Let chance move until a seat is to act, or the hand is over."""
        rules = self._game.rules
        while rules.turn(self._state) is Turn.CHANCE:
            self._state = rules.play(self._state, draw_move(rules.odds(self._state), self._luck))


def _walk(rules: Rules[Any, Any]) -> Iterator[Any]:
    """Yield all states of a game, depth first."""
    waiting = [rules.start()]
    while waiting:
        state = waiting.pop()
        yield state
        turn = rules.turn(state)
        moves: Any = rules.odds(state) if turn is Turn.CHANCE else () if turn is Turn.OVER else rules.legal(state)
        waiting.extend(rules.play(state, move) for move in reversed([*moves]))
