"""The table at which programs play hold'em in the arena: whose users are there, its deals, and its finished hands.

Every hand begins with equal stacks. The button alternates, and each deal belongs to one of the two seatings of a chunk,
that is, to the bot on the button.
"""

import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

from croupier.arena.game import Chunk
from croupier.arena.heads_up import DEAL_CARDS, SEATS, PlayedHand
from croupier.core.dealer import Deck, FairDealer
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.wire import Guid, Leave

type DealNumbers = tuple[Sequence[int], Sequence[int]]
"""The numbers of the deals of both seatings."""


def table_deals(pairs: int, *, duplicate: bool) -> Sequence[DealNumbers]:
    """The deals that are played at each table of a chunk.

    In duplicates both seatings have the same deals, so they are dealt at two tables, for each of which the programs are
    started anew: no program sees a deal twice.
    """
    numbers = range(pairs)
    if not duplicate:
        return [(numbers, numbers)]
    return [(numbers[::2], numbers[1::2]), (numbers[1::2], numbers[::2])]


@dataclass
class SeatingDeals:
    """The deals of a seating: nine cards each. `played` has the finished hands by the number of the deal."""

    deals: Sequence[Sequence[Card]]
    played: dict[int, PlayedHand] = field(default_factory=dict)


class Deal(NamedTuple):
    """A deal at the table: its seating, its number there (None if it does not count), and its cards."""

    seating: int
    number: int | None
    cards: Sequence[Card]


class HandDealer(FairDealer):
    """Deals one hand of the house, which has this number."""

    def __init__(self, table: "ArenaTable", hand: int) -> None:
        super().__init__(bytes(32), hand.to_bytes(8))
        self._table = table
        self._hand = hand

    def next_deck(self, size: int) -> Deck:
        """The cards of the hand; only nine of them can come."""
        self.hands += 1
        surplus = tuple(islice(super().next_deck(size), DEAL_CARDS))
        return iter(self._table.deal(self._hand, surplus).cards)


class ArenaTable:
    """A house with one game that counts, in which two bots play the deals with these `numbers` of both `seatings`.

    `owners` has the bots (0 and 1: the first and second of the pairing) by their user names, and `running` the programs
    that run. `hands` is the number of hands that are over, and `last_deal` that of the running hand, or of the last
    one. `epoch` is the Unix time in seconds at which the time of the house is 0.
    """

    def __init__(
        self, chunk: Chunk, new_hand: Hand, seatings: Sequence[SeatingDeals], numbers: DealNumbers, epoch: float
    ) -> None:
        self.owners: dict[str, int] = {}
        self.running: set[int] = set()
        self.hands = 0
        self.last_deal = Deal(0, None, ())
        self._chunk = chunk
        self._seatings = seatings
        self._remaining = [deque(numbers[0]), deque(numbers[1])]
        self._missing = len(numbers[0]) + len(numbers[1])
        self._deals: dict[int, Deal] = {}
        stakes = new_hand.stakes
        settings = Settings(
            blinds=f"{stakes.small_blind}/{stakes.big_blind}",
            ante=stakes.ante,
            stack=new_hand.start_stacks[0],
            seats=SEATS,
            games_per_user=1,
            turn_seconds=chunk.plan.answer_seconds,
        )
        dealers = partial(HandDealer, self)
        self.house = House(settings, dealers, secrets.token_bytes(32), epoch, resets_stacks=True)
        [self._table] = self.house.games()
        self.game: Guid = self._table.guid

    def hand_number(self, deal: Deal | None = None) -> int:
        """The number of the hand with a deal in the pairing; by default of the running hand."""
        seating, number, _ = deal or self.last_deal
        return self._chunk.first_hand(seating) + (number or 0)

    @property
    def is_complete(self) -> bool:
        """Whether all deals have been played."""
        return not self._missing

    def deal(self, hand: int, surplus: Sequence[Card]) -> Deal:
        """The deal for a hand of the house: the next one of the bot with the button; if it has no more, `surplus`."""
        big_blind = self._table.seats.big_blind
        owners = [self.owner_of(each.user) for each in self._table.seats.seated_participants]
        deal = Deal(0, None, surplus)
        if big_blind is not None and {*owners} == {*range(SEATS)}:  # else a user of nobody plays
            seating = 1 - self.owners[big_blind.user]
            if self._remaining[seating]:
                number = self._remaining[seating].popleft()
                deal = Deal(seating, number, self._seatings[seating].deals[number])
            else:
                deal = Deal(seating, None, surplus)
        self._deals[hand] = self.last_deal = deal
        return deal

    def owner_of(self, user: str) -> int | None:
        """The bot that plays as this user: for a new user, the running program that is not at the table.

        None if there is no such program: then a program has joined as two users.
        """
        if user not in self.owners:
            present = {self.owners.get(each.user) for each in self._table.seats.participants}
            absent = self.running - present
            if absent:
                self.owners[user] = min(absent)
        return self.owners.get(user)

    @property
    def is_playing(self) -> bool:
        """Whether a hand is running."""
        return self._table.playing

    def is_seated(self, bot: int) -> bool:
        """Whether a bot is at the table."""
        return self._participant(bot) is not None

    def waiting_bot(self) -> int | None:
        """The bot whose turn it is; None if it is nobody's."""
        seated = ((bot, self._participant(bot)) for bot in range(SEATS))
        return next((bot for bot, at in seated if at is not None and self._table.waits_for(at)), None)

    def leave_requests(self, bot: int | None) -> Sequence[Leave]:
        """The requests with which all users of a bot leave; without one, those of users of nobody."""
        return [
            Leave(each.user, table.guid, each.guid)
            for table in self.house.games()
            for each in table.seats.participants
            if self.owners.get(each.user) == bot
        ]

    def running_hand(self) -> Hand:
        """The running hand as the arena plays it."""
        hand = self._table.hand
        assert hand is not None, "a bot is to act"
        return as_played(hand, self.last_deal.cards)

    def settle(self, finished: FinishedHand) -> Deal:
        """Count a finished hand, and return its deal."""
        deal = self._deals.pop(finished.hand_number)
        if finished.table == self.game:
            self.hands += 1
            if deal.number is not None:
                hand = as_played(finished.hand, deal.cards)
                self._seatings[deal.seating].played[deal.number] = PlayedHand(deal.cards, hand)
                self._missing -= 1
        return deal

    def _participant(self, bot: int) -> Participant | None:
        participants = self._table.seats.participants
        return next((each for each in participants if self.owner_of(each.user) == bot), None)


def as_played(hand: Hand, cards: Sequence[Card]) -> Hand:
    """The same hand with seat 0 on the button, and all cards known."""
    button = hand.button
    played = Hand([*hand.start_stacks], stakes=hand.stakes)
    played.deal_from(cards)
    for entry in hand.log:
        match entry:
            case ("bet", _, chips):
                played.bet(chips)
            case ("fold", _):
                played.fold()
            case ("leave", seat):
                played.leave((seat - button) % SEATS)
    return played
