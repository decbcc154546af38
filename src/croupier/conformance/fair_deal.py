"""Counts the cards that a program deals, and finds what a fair deck would almost never deal.

Each test watches one event, such as "this card comes": before each draw the cards that have not been dealt give its
odds. The counts are weighed by betting: the evidence is the likelihood of the draws if the odds of the event were
multiplied by a factor, divided by their likelihood with a fair deck, as an average over `FACTORS`. With a fair deck the
evidence reaches N with a probability of at most 1/N, however often it is looked at and whatever decides how many games
are played (Ville's inequality). So the p-value is 1 / evidence, times the number of tests.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import exp, inf, log, log10
from typing import Final, NamedTuple

MAX_P_VALUE: Final = 1e-6
"""A deal that is at most this likely with a fair deck counts as unfair. It bounds the false alarms of a whole run."""

FACTORS: Final = (0.0, 1 / 4, 1 / 2, 2.0, 4.0, 16.0, inf)
"""The odds that are bet on, as multiples of the fair ones: from an event that never comes to one that always does."""

USED_UP_PART: Final = 0.8
"""The part of a deck that is dealt in several games without a repetition, with a probability of less than 10^-6."""

COUNTED_POSITIONS: Final = 3
"""The cards at this many positions of a deal are counted by themselves, too."""

FIRST_CARDS: Final = 60
"""This many of the first cards of a run are kept."""

ENOUGH_DEALS: Final = 300
"""With this many deals, a card that never comes is found in each room."""

SAME_AS_LAST_GAME: Final = "the card that had the same place in an earlier game of the connection"
SAME_AS_LAST_CONNECTION: Final = "the card that had the same place in a game with other clients"
DEALT_IN_LAST_GAME: Final = "one of the cards of the game before"
REPETITIONS: Final = (SAME_AS_LAST_GAME, SAME_AS_LAST_CONNECTION, DEALT_IN_LAST_GAME)
"""The events of decks that are not shuffled for each game, or for each connection."""

CAUSES: Final[Mapping[tuple[str, bool], str]] = {
    (SAME_AS_LAST_GAME, True): "it may shuffle once for a connection, or seed its random numbers anew for every game",
    (SAME_AS_LAST_CONNECTION, True): "it may seed its random numbers anew on every connection, with similar seeds",
    (DEALT_IN_LAST_GAME, False): "it may not put the cards of a game back into the deck before the next one",
}
"""What a program may do if one of these events comes too often (True) or too rarely."""


class Draw(NamedTuple):
    """A card that was seen, and its position in the deal, counted from 0.

    `events` are events of the room that the draw could have brought, each with the cards that are the event.
    """

    position: int
    card: str
    events: Mapping[str, Collection[str]] = {}


type Deal = Sequence[Draw]
"""The cards of one game that were seen, in any order that does not depend on the cards to come."""


class UnfairDeal(NamedTuple):
    """What a fair deck would almost never deal. `event` came in `times` of `draws` draws.

    `expected_count` is the average with a fair deck, and `log10_p_value` the decimal logarithm of the p-value, which is
    corrected for the number of tests.
    """

    event: str
    times: int
    draws: int
    expected_count: float
    log10_p_value: float

    @property
    def fair(self) -> str:
        """What a fair deck would deal, for people."""
        return f"a freshly shuffled deck in every game: {self.event}, about {self.expected_count:.0f} times"

    @property
    def cause(self) -> str | None:
        """What the program may do: a sentence with the subject "it", None if there is no usual mistake."""
        return CAUSES.get((self.event, self.times > self.expected_count))

    @property
    def found(self) -> str:
        """What was dealt, with the p-value."""
        return f"{self.event}: {self.times} times in {self.draws} draws (p < 10^{-int(-self.log10_p_value)})"


class EventCount:
    """How often an event came, and how often it should have: the draws are counted by their odds."""

    def __init__(self) -> None:
        self._draws: Counter[tuple[int, int, bool]] = Counter()

    def add(self, favourable: int, remaining: int, *, came: bool, times: int = 1) -> None:
        """Count draws of one of `remaining` cards, of which `favourable` are the event."""
        if 0 < favourable < remaining:
            self._draws[favourable, remaining, came] += times

    @property
    def log_evidence(self) -> float:
        """The natural logarithm of the evidence against a fair deck."""
        logs = [self._log_likelihood_ratio(factor) for factor in FACTORS]
        highest = max(logs)
        return highest + log(sum(exp(one - highest) for one in logs) / len(logs))

    def describe(self, event: str, log10_p_value: float) -> UnfairDeal:
        """Return the count for people."""
        return UnfairDeal(
            event,
            sum(count for (_, _, came), count in self._draws.items() if came),
            self._draws.total(),
            sum(count * favourable / remaining for (favourable, remaining, _), count in self._draws.items()),
            log10_p_value,
        )

    def _log_likelihood_ratio(self, factor: float) -> float:
        """The logarithm of the likelihood with the odds times `factor`, divided by that with a fair deck."""
        result = 0.0
        for (favourable, remaining, came), count in self._draws.items():
            fair = favourable / remaining
            biased = 1.0 if factor == inf else factor * favourable / (factor * favourable + remaining - favourable)
            ratio = biased / fair if came else (1.0 - biased) / (1.0 - fair)
            if not ratio:
                return -inf
            result += count * log(ratio)
        return result


class CardCounts:
    """How often each card came: the counts of as many events as there are cards, of which a draw changes few."""

    def __init__(self, cards: Sequence[str], copies: int) -> None:
        self._copies = copies
        self._draws: Counter[int] = Counter()
        self._by_card: dict[str, Counter[tuple[int, int, bool]]] = {card: Counter() for card in cards}

    def add(self, drawn: str, seen: Counter[str]) -> None:
        """Count the draw of a card after those in `seen`."""
        remaining = self._copies * len(self._by_card) - seen.total()
        self._draws[remaining] += 1
        for card in {drawn, *seen}:
            self._by_card[card][self._copies - seen[card], remaining, card == drawn] += 1

    def events(self) -> Iterator[tuple[str, EventCount]]:
        """Yield each card with its count."""
        for card, counts in self._by_card.items():
            event = EventCount()
            other_draws = self._draws.copy()  # before the card was seen for the first time in its game
            for (favourable, remaining, came), times in counts.items():
                event.add(favourable, remaining, came=came, times=times)
                other_draws[remaining] -= times
            for remaining, times in other_draws.items():
                event.add(self._copies, remaining, came=False, times=times)
            yield card, event


class DealCounter:
    """Counts the deals of a run, connection by connection.

    A fresh deck has `copies` of each of the `cards`. At most `room_events` different events of draws are tested.
    `deals` is the number of deals, and `first_cards` are the first ones that were dealt, in their order.
    """

    def __init__(self, cards: Sequence[str], copies: int = 1, room_events: int = 0) -> None:
        self.deals = 0
        self.first_cards: list[str] = []
        self._copies = copies
        self._size = copies * len(cards)
        self._tests = len(cards) * (1 + COUNTED_POSITIONS) + len(REPETITIONS) + room_events
        self._all = CardCounts(cards, copies)
        self._by_position = [CardCounts(cards, copies) for _ in range(COUNTED_POSITIONS)]
        self._events: dict[str, EventCount] = {}
        self._last_connection: dict[tuple[int, int], str] = {}
        self._dealt: Counter[str] = Counter()

    @property
    def has_run_out(self) -> bool:
        """Whether nearly all cards of one deck were dealt, and none again: fresh decks would hardly ever do that."""
        return self._dealt.total() >= USED_UP_PART * self._size and max(self._dealt.values()) <= self._copies

    def add_connection(self, deals: Iterable[Deal]) -> None:
        """Count the deals of a connection, in the order in which they were dealt.

        A deal ends at a card that the deck cannot have: that is not a matter of luck.
        """
        last_cards: Sequence[str] = ()
        last_by_position: dict[int, str] = {}
        for number, deal in enumerate(deals):
            self.deals += bool(deal)
            seen: Counter[str] = Counter()
            for draw in deal:
                if seen[draw.card] == self._copies:
                    break
                repetitions = {
                    SAME_AS_LAST_GAME: _set_of(last_by_position.get(draw.position)),
                    SAME_AS_LAST_CONNECTION: _set_of(self._last_connection.get((number, draw.position))),
                    DEALT_IN_LAST_GAME: last_cards,
                }
                self._count(draw, seen, repetitions)
                if len(self.first_cards) < FIRST_CARDS:
                    self.first_cards.append(draw.card)
                self._dealt[draw.card] += 1
                seen[draw.card] += 1
                self._last_connection[number, draw.position] = draw.card
            last_by_position |= {draw.position: draw.card for draw in deal}
            last_cards = [*seen]

    def find_unfair(self) -> UnfairDeal | None:
        """Return the event that is the least likely with a fair deck, None if all are likely enough."""
        log10_p_value, event, count = min(
            (log10(self._tests) - count.log_evidence / log(10), event, count) for event, count in self._all_events()
        )
        return None if log10_p_value > log10(MAX_P_VALUE) else count.describe(event, log10_p_value)

    def _count(self, draw: Draw, seen: Counter[str], repetitions: Mapping[str, Collection[str]]) -> None:
        """Count a draw after those in `seen`."""
        self._all.add(draw.card, seen)
        if draw.position < COUNTED_POSITIONS:
            self._by_position[draw.position].add(draw.card, seen)
        for event, cards in (*repetitions.items(), *draw.events.items()):
            favourable = self._copies * len(cards) - sum(times for card, times in seen.items() if card in cards)
            count = self._events.setdefault(event, EventCount())
            count.add(favourable, self._size - seen.total(), came=draw.card in cards)

    def _all_events(self) -> Iterator[tuple[str, EventCount]]:
        yield from self._all.events()
        for position, counts in enumerate(self._by_position):
            for card, count in counts.events():
                yield f"{card} as card {position + 1} of the deal", count
        yield from self._events.items()


def _set_of(card: str | None) -> Collection[str]:
    return () if card is None else (card,)
