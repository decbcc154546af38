"""Games against the bank in the arena: both bots play the same shoes, each alone, and their results are compared."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import fsum
from typing import ClassVar, Final, NamedTuple

from croupier.arena.baselines.bank import BASELINE, BankValues
from croupier.arena.game import Chunk, ReplayedHand
from croupier.arena.leaks import Leak, LeakLine, leak_lines
from croupier.arena.players import Player, lot
from croupier.arena.tally import Moments, Tally, moments_of
from croupier.core.bank import CHANCE, SIMULATED_BET, BankMove, BankRules, BankState, client_cards
from croupier.core.rules import Turn
from croupier.rooms.blackjack.rules import BLACKJACK, HIT, STAND, SURRENDER
from croupier.rooms.sevenhalf.rules import SevenHalf, total

type BankPlayer = Player[BankState, BankMove]

type Losses = dict[str, list[float]]
"""For every choice, in words, that was not the best: the coins that it cost each time."""


class Hand(NamedTuple):
    """A finished hand: the win in coins, and with the luck of the cards removed."""

    plain: float
    adjusted: float


class PlayedSeating(NamedTuple):
    """The hands of a bot, and whether it publishes its probabilities."""

    hands: Sequence[Hand]
    is_known: bool


class BankGame(ABC):
    """A game against the bank. See `Game`.

    `rules` are those of the room, `default_moves` stand for the move of a bot that makes a fault, and `verbs` describe
    moves in leaks; any other move is a raise.
    """

    unit: Final = "bets/hand"
    min_pairs: Final = 200  # adjusted results are skewed: with 100, sequences miss the mean in up to 6.5% of matches
    baseline: Final = BASELINE
    pilot_pairs: Final = 0
    estimates_leaks: Final = False
    rules: ClassVar[BankRules]
    default_moves: ClassVar[Sequence[BankMove]]
    verbs: ClassVar[Mapping[BankMove, str]]

    @cached_property
    def values(self) -> BankValues:
        """The value of every state; computed on first use."""
        return BankValues(self.rules)

    def play_chunk(self, chunk: Chunk) -> Tally:
        """Let each bot play all shoes of its seating."""
        losses: tuple[Losses, Losses] = ({}, {})
        first, second = (self._play_seating(chunk, seating, losses[seating]) for seating in (0, 1))
        pairs = [*zip(first.hands, second.hands, strict=True)]
        return Tally(
            chunk.plan.chunk_pairs,
            plain=_moments([one.plain - other.plain for one, other in pairs]),
            adjusted=_moments([one.adjusted - other.adjusted for one, other in pairs]) if chunk.plan.adjust else None,
            leaks=(_leaks(losses[0]), _leaks(losses[1])),
            known=(first.is_known, second.is_known),
        )

    def replay(self, chunk: Chunk, seating: int) -> Sequence[ReplayedHand]:
        """Let a bot in process play the shoes of its seating. See `Game`."""
        player: BankPlayer = chunk.player(seating, seating, self.default_moves)
        name = chunk.names(seating)[:1]
        bet = SIMULATED_BET if seating == 0 else -SIMULATED_BET  # results are compared
        hands: list[ReplayedHand] = []
        player.finished = hands
        for cards in self._deal_shoes(chunk, seating):
            state = self._play_out(player, cards)
            net = self.rules.payoff(state)[0]
            hands.append(ReplayedHand(state, name, (net,), net / bet))
        return hands

    def leaks(self, tally: Tally) -> tuple[Sequence[LeakLine], Sequence[LeakLine]]:
        """The choices of each bot that were not the best; only adjusted results have them."""
        return leak_lines(tally.leaks[0], tally.pairs), leak_lines(tally.leaks[1], tally.pairs)

    def _play_seating(self, chunk: Chunk, seating: int, losses: Losses) -> PlayedSeating:
        """Let the bot of a seating play its shoes; what its choices lose is added to `losses`."""
        if chunk.programs[seating]:
            return self._play_program(chunk, seating, losses)
        player: BankPlayer = chunk.player(seating, seating, self.default_moves)
        hands: list[Hand] = []
        player.finished = hands
        for cards in self._deal_shoes(chunk, seating):
            hands.append(self._play_hand(chunk, player, cards, losses))  # noqa: PERF401 -- the player sees the list grow
        return PlayedSeating(hands, player.is_known)

    def _play_program(self, chunk: Chunk, seating: int, losses: Losses) -> PlayedSeating:
        """Let a program play at a house, and replay its moves."""
        from croupier.arena.bank_programs import ReplayBot, play_shoes

        bot, hands = ReplayBot(self.default_moves), []
        player = bot.player(chunk, seating)
        for shoe in play_shoes(chunk, seating, self.rules, SIMULATED_BET):
            bot.moves = shoe.moves
            hands.append(self._play_hand(chunk, player, iter(shoe.cards), losses))
        return PlayedSeating(hands, is_known=False)

    def _play_hand(self, chunk: Chunk, player: BankPlayer, cards: Iterator[str], losses: Losses) -> Hand:
        """Play a hand; without adjusted results, its adjusted win is the plain one."""
        if chunk.plan.adjust:
            return self._play_adjusted(player, cards, losses)
        win = self.rules.payoff(self._play_out(player, cards))[0]
        return Hand(win, win)

    def _play_out(self, player: BankPlayer, cards: Iterator[str]) -> BankState:
        """Play a hand to its end."""
        state = self.rules.start(SIMULATED_BET)
        while (turn := state.node.turn) is not Turn.OVER:
            move = next(cards) if turn is CHANCE else self._decide(player, state)[0]
            state = self.rules.play(state, move)
        return state

    def _deal_shoes(self, chunk: Chunk, seating: int) -> Iterator[Iterator[str]]:
        """The cards of each hand of a seating, in the order of the shoe."""
        dealer, shoe = chunk.dealer(seating), self.rules.shoe
        for _ in range(chunk.plan.chunk_pairs):
            deck = dealer.next_deck(len(shoe))
            yield (shoe[index] for index in deck)

    def _play_adjusted(self, player: BankPlayer, cards: Iterator[str], losses: Losses) -> Hand:
        """Play a hand, and replace the luck of its cards by the values before and after each decision."""
        rules, value = self.rules, self.values.value
        state = rules.start(SIMULATED_BET)
        start_value, change = value(state), 0.0
        while (turn := state.node.turn) is not Turn.OVER:
            if turn is CHANCE:
                state = rules.play(state, next(cards))
                continue
            move, chances = self._decide(player, state)
            after = rules.play(state, move)
            before, now = value(state), value(after)
            change += (now if chances is None else self._expected_value(state, chances)) - before
            if before > now:
                losses.setdefault(self.describe(state, move), []).append(before - now)
            state = after
        return Hand(rules.payoff(state)[0], start_value + change)

    def _decide(self, player: BankPlayer, state: BankState) -> tuple[BankMove, Mapping[BankMove, Fraction] | None]:
        """A move, and the probabilities from which it was drawn if the bot publishes them."""
        legal = self.rules.legal(state)
        if not player.is_known:
            return player.choose(state, legal), None
        chances = player.policy(state, legal)
        return player.draw(lot(tuple(chances.items()))), chances

    def _expected_value(self, state: BankState, chances: Mapping[BankMove, Fraction]) -> float:
        """The average value after a move that is drawn with these probabilities."""
        return fsum(
            float(chance) * self.values.value(self.rules.play(state, move))
            for move, chance in chances.items()
            if chance
        )

    def describe(self, state: BankState, move: BankMove) -> str:
        """A choice in words."""
        return f"{self.verbs.get(move, 'raises')} {self.situation(state)}"

    @abstractmethod
    def situation(self, state: BankState) -> str:
        """What the client has before a decision, in words."""


class SevenHalfGame(BankGame):
    """Seven and a half, where a bot may raise to twice the bet. See `Game`."""

    rules = SevenHalf(max_bet=2 * SIMULATED_BET)
    default_moves = ("PASS", "DRAW")
    verbs: ClassVar[Mapping[BankMove, str]] = {"DRAW": "draws", "PASS": "passes"}

    def situation(self, state: BankState) -> str:
        """What the client has before a decision, in words."""
        return f"with {total(client_cards(state)) / 2:g} points"


class BlackjackGame(BankGame):
    """Blackjack with one deck. See `Game`."""

    rules = BLACKJACK
    default_moves = (STAND,)
    verbs: ClassVar[Mapping[BankMove, str]] = {HIT: "hits", STAND: "stands", SURRENDER: "surrenders"}

    def situation(self, state: BankState) -> str:
        """What the client has before a decision, in words."""
        own, _, up = state.node.name.partition(" against ")
        return f"with {own} against {'an ace' if up == '11' else up}"


def _moments(coins: Sequence[float]) -> Moments:
    """The moments of wins in bets."""
    return moments_of((win / SIMULATED_BET, 1) for win in coins)


def _leaks(losses: Losses) -> Mapping[str, Leak]:
    return {choice: Leak(len(coins), fsum(coins) / SIMULATED_BET) for choice, coins in sorted(losses.items())}
