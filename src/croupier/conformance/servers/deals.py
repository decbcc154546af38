"""Judges the deals of a house under test: reads the cards of every conversation, and counts them over the whole run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from croupier.conformance.conversation import Conversation
from croupier.conformance.fair_deal import ENOUGH_DEALS, Deal, DealCounter, Draw
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt
from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankState

BANK_GOES_OVER: Final = "a card that puts the bank over"
BANK_WINS: Final = "a card with which the bank wins"
CLIENT_GOES_OVER: Final = "a card that puts the client over"
BANK_EVENTS: Final = (BANK_GOES_OVER, BANK_WINS, CLIENT_GOES_OVER)
"""The events of games against a bank."""


@dataclass(frozen=True)
class FairDealRule:
    """What a fair deal is in a room.

    `clause` requires a fresh deck for every game, of `cards`. `deal_of` returns the cards that were seen of a game of
    the room's referee. The known settings of a house may say how many `decks` it shuffles together.
    """

    clause: str
    cards: Sequence[str]
    deal_of: Callable[[Any], Deal]


class DealJudge:
    """Counts the deals of a bench and judges them by the room's rule."""

    def __init__(self, rule: FairDealRule, known_options: Any) -> None:
        self._rule = rule
        self._counter = DealCounter(rule.cards, getattr(known_options, "decks", 1), len(BANK_EVENTS))

    @property
    def has_seen_enough(self) -> bool:
        """Whether the deals show every unfairness that is looked for."""
        return self._counter.deals >= ENOUGH_DEALS

    def observe(self, conversation: Conversation) -> None:
        """Count the deals of a conversation that is over."""
        self._counter.add_connection([self._rule.deal_of(game) for game in conversation.dealt_games])

    def judge(self) -> Attempt:
        """Return the outcome for the deals so far."""
        unfair = self._counter.find_unfair()
        if unfair is not None:
            return Attempt(Outcome.FAIL, failure=Failure(self._rule.clause, unfair.fair, unfair.found))
        if not self.has_seen_enough:
            return Attempt(Outcome.SKIP, f"fewer than {ENOUGH_DEALS} games were dealt")
        return Attempt(Outcome.PASS)


class BankDealReader:
    """Reads the deals of a game against a bank.

    `is_over` decides whether a hand is over, and `wins` whether the bank wins with its hand, the second one, against
    the client's. Cards of the same rank, their first character, are alike.
    """

    def __init__(
        self,
        cards: Sequence[str],
        is_over: Callable[[Sequence[str]], bool],
        wins: Callable[[Sequence[str], Sequence[str]], bool],
    ) -> None:
        self._is_over = is_over
        self._wins = wins
        self._alike = {card: min(other for other in cards if other[0] == card[0]) for card in cards}
        self._events = lru_cache(maxsize=4096)(self._find_events)

    def deal_of(self, game: Any) -> Deal:
        """See `FairDealRule`; all cards are seen, in the order in which they are dealt."""
        state: BankState = game.state
        hands: dict[int, tuple[str, ...]] = {CLIENT_SEAT: (), BANK_SEAT: ()}
        draws: list[Draw] = []
        for position, (card, seat) in enumerate(zip(state.cards, state.receivers, strict=True)):
            bank = None if seat == CLIENT_SEAT else hands[BANK_SEAT]
            draws.append(Draw(position, card, self._events(hands[CLIENT_SEAT], bank)))
            hands[seat] = tuple(sorted((*hands[seat], self._alike[card])))
        return draws

    def _find_events(self, client: tuple[str, ...], bank: tuple[str, ...] | None) -> Mapping[str, frozenset[str]]:
        """The events that a further card of the bank could be, or of the client if `bank` is None, with their cards."""
        if bank is None:
            return {CLIENT_GOES_OVER: self._find_cards(lambda card: self._is_over((*client, card)))}
        if self._is_over(client):
            return {}
        return {
            BANK_GOES_OVER: self._find_cards(lambda card: self._is_over((*bank, card))),
            BANK_WINS: self._find_cards(lambda card: self._wins(client, (*bank, card))),
        }

    def _find_cards(self, holds: Callable[[str], bool]) -> frozenset[str]:
        """The cards for which a condition holds."""
        ranks = {card for card in set(self._alike.values()) if holds(card)}
        return frozenset(card for card, alike in self._alike.items() if alike in ranks)
