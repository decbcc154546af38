"""Judges the deals of a house under test: reads the cards of every conversation, and counts them over the whole run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.fair_deal import ENOUGH_DEALS, Deal, DealCounter, Draw
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt
from croupier.core.bank import CLIENT_SEAT, BankNode, ObservedBankGame
from croupier.core.rules import Seat, Turn

BANK_LOSES: Final = "a card with which the bank loses"
BANK_WINS: Final = "a card with which the client does not win"
CLIENT_LOSES: Final = "a card with which the client loses"
MIN_DECK_CARDS: Final = 40
"""A deck of fewer cards may come up without a repetition by chance."""

BANK_EVENTS: Final = (BANK_LOSES, BANK_WINS, CLIENT_LOSES)
"""The events of games against a bank: its last card, and a card of the client that ends the game."""


@dataclass(frozen=True)
class FairDealRule:
    """What a fair deal is in a room.

    `clause` requires a fresh deck for every game, of `cards`. `deal_of` returns the cards that were seen of a game of
    the room's referee. The known settings of a house may say how many `decks` it shuffles together. `enough_deals` show
    every unfairness that is looked for.
    """

    clause: str
    cards: Sequence[str]
    deal_of: Callable[[Any], Deal]
    enough_deals: int = ENOUGH_DEALS


class DealJudge:
    """Counts the deals of a bench and judges them by the room's rule."""

    def __init__(self, rule: FairDealRule, known_options: Any) -> None:
        self._rule = rule
        self._decks = getattr(known_options, "decks", 1)
        self._counter = DealCounter(rule.cards, self._decks, len(BANK_EVENTS))

    @property
    def has_seen_enough(self) -> bool:
        """Whether the deals show every unfairness that is looked for."""
        return self._counter.deals >= self._rule.enough_deals

    @property
    def first_cards(self) -> Sequence[str]:
        """The first cards that were dealt."""
        return self._counter.first_cards

    def has_run_out(self, games: Sequence[Any]) -> bool:
        """Whether the house has dealt a deck to its end, in all games so far or in those of one conversation."""
        conversation = DealCounter(self._rule.cards, self._decks)
        conversation.add_connection(map(self._rule.deal_of, games))
        return len(self._rule.cards) >= MIN_DECK_CARDS and (self._counter.has_run_out or conversation.has_run_out)

    def observe(self, games: Sequence[Any]) -> None:
        """Count the deals of games that were dealt one after the other."""
        self._counter.add_connection([self._rule.deal_of(game) for game in games])

    def judge(self) -> Attempt:
        """Return the outcome for the deals so far."""
        unfair = self._counter.find_unfair()
        if unfair is not None:
            cause = None if unfair.cause is None else Cause(unfair.cause, is_guess=True)
            failure = Failure(self._rule.clause, unfair.fair, unfair.found).explained(cause)
            return Attempt(Outcome.FAIL, failure=failure)
        if not self.has_seen_enough:
            return Attempt(Outcome.SKIP, f"fewer than {self._rule.enough_deals} games were dealt")
        return Attempt(Outcome.PASS)


class BankDealReader:
    """Reads the deals of a game against a bank, from the node of its rules before the first card.

    All cards are seen, in the order in which they are dealt.
    """

    def __init__(self, start_node: BankNode) -> None:
        self._start_node = start_node
        self._events = cache(_find_events)

    def deal_of(self, game: ObservedBankGame) -> Deal:
        """See `FairDealRule`."""
        node = self._start_node
        draws: list[Draw] = []
        for position, (card, seat) in enumerate(zip(game.state.cards, game.state.receivers, strict=True)):
            if node.turn is not Turn.CHANCE:
                node = next(after for after in node.successors.values() if _deals_to(after, seat))
            draws.append(Draw(position, card, self._events(node)))
            node = node.successors[card]
        return draws


def _deals_to(node: BankNode, seat: Seat) -> bool:
    return node.turn is Turn.CHANCE and node.card_receiver == seat


def _find_events(node: BankNode) -> Mapping[str, frozenset[str]]:
    """The events that the next card could be, each with its cards."""
    events: dict[str, set[str]] = {event: set() for event in BANK_EVENTS}
    for card, after in node.successors.items():
        if node.card_receiver == CLIENT_SEAT:
            events[CLIENT_LOSES] |= {str(card)} if _is_lost(after) else set()
        elif after.turn is Turn.OVER:
            events[BANK_LOSES if after.payoff_half_bets > 0 else BANK_WINS].add(str(card))
    return {event: frozenset(cards) for event, cards in events.items()}


@cache
def _is_lost(node: BankNode) -> bool:
    """Whether the client loses, whatever happens."""
    if node.turn is Turn.OVER:
        return node.payoff_half_bets < 0
    return node.turn is Turn.CHANCE and all(map(_is_lost, node.successors.values()))
