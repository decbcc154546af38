"""Kuhn poker against a program: it is a client of a house whose seat the other bot plays.

The program chooses its seats (kuhn-4.1). Each of its seats belongs to one seating of the chunk, which has deals of its
own: the n-th hand in that seat gets the n-th deal. In duplicates the two seatings have the same deals, in the second
one in another order, so that a program cannot know a card from the hand in the other seat.
"""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from croupier.arena.client_programs import Tables, play_as_client
from croupier.arena.deals import bot_stream
from croupier.arena.game import Chunk
from croupier.arena.players import Forfeit, Player
from croupier.core.dealer import Dealer, Deck, FairDealer, Luck
from croupier.core.private_table import Purse
from croupier.core.rules import Seat, Turn
from croupier.core.session import Effect, Event, Peer, Received, Session, Settle, Timeouts
from croupier.rooms.kuhn import ROOM, Settings
from croupier.rooms.kuhn.house import House
from croupier.rooms.kuhn.rules import CARDS, DEALS, DEFAULT_ACTIONS, SEATS, KuhnAction, KuhnState, View
from croupier.rooms.kuhn.wire import Message, Strt

PURSE_COINS: Final = 1_000_000_000
"""The coins of a connection: no program runs out of them."""

MAX_SURPLUS: Final = 2
"""A program forfeits when it has played as many times the hands of the chunk in one seat, and too few in the other."""

type Choose = Callable[[View, Sequence[KuhnAction]], KuhnAction]


class Seating:
    """The hands of a program in one of its seats. `ends` has their ends, by the number of the deal."""

    def __init__(self, chunk: Chunk, number: int, index: int, player: Player[View, KuhnAction], choose: Choose) -> None:
        self.choose = choose
        self.ends: dict[int, KuhnState] = {}
        self.first_hand = chunk.first_hand(number)
        self._luck = chunk.dealer(number).luck
        self._hands = hands = chunk.plan.chunk_pairs
        self._deals = [DEALS[self._luck.below(len(DEALS))] for _ in range(hands)]
        order = bot_stream(chunk.plan, chunk.pairing, chunk.number, number, index).next_deck(hands)
        self._order = [*order] if number else [*range(hands)]
        self._dealt = 0
        self._missing = {*range(hands)}
        player.finished = self.ends

    def deal(self) -> tuple[int, KuhnState]:
        """The number of the next deal, and the deal. Surplus hands have deals, too, but do not count."""
        dealt = self._dealt
        self._dealt += 1
        if dealt >= self._hands:
            return dealt, DEALS[self._luck.below(len(DEALS))]
        number = self._order[dealt]
        return number, self._deals[number]

    def finish(self, number: int, end: KuhnState) -> None:
        """Note the end of a hand."""
        self.ends[number] = end
        self._missing.discard(number)

    @property
    def is_complete(self) -> bool:
        """Whether all hands of the seating are over."""
        return not self._missing

    @property
    def has_surplus(self) -> bool:
        """Whether the program has played far more hands than count."""
        return len(self.ends) >= MAX_SURPLUS * self._hands

    def counted_ends(self) -> Sequence[KuhnState]:
        """The ends of the hands that count, in the order of their deals."""
        return [self.ends[number] for number in range(self._hands)]


class SeatDealer(FairDealer):
    """Deals the hands of the seating to which the client's seat belongs. `seat` is set before each deal."""

    def __init__(self, seatings: Sequence[Seating]) -> None:
        super().__init__(bytes(32))
        self.seat: Seat = 0
        self.number = 0
        self._seatings = seatings

    @property
    def seating(self) -> Seating:
        """The seating of the current hand."""
        return self._seatings[self.seat]

    def next_deck(self, size: int) -> Deck:
        """The cards of the next deal, as indices; the third card is never dealt."""
        assert size == len(CARDS), "it deals Kuhn poker"
        self.hands += 1
        self.number, deal = self.seating.deal()
        return iter([CARDS.index(card) for card in deal.cards])


class SeatedTable:
    """A table of the house that informs its dealer of the client's seat. See `Session`."""

    def __init__(self, house: House, dealer: SeatDealer, tables: "KuhnTables") -> None:
        self._house = house
        self._dealer = dealer
        self._tables = tables
        self._is_playing = False

    @property
    def deadline(self) -> float | None:
        """The time at which the client times out."""
        return self._house.deadline

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Message]]:
        """Pass an event to the house; messages after the last hand of the chunk have no answer."""
        if type(event) is Received:
            if self._tables.is_over:
                return ()
            if type(event.message) is Strt and not self._is_playing:
                self._dealer.seat = SEATS[event.message.player]
                self._is_playing = True
        effects = self._house.on(event, now)
        if any(type(effect) is Settle for effect in effects):
            self._is_playing = False
        return effects


class KuhnTables(Tables[SeatDealer]):
    """The tables at which a program plays both seatings. See `Tables`. `seatings` are by the program's seat."""

    room = ROOM
    settings = Settings(coins=PURSE_COINS)

    def __init__(self, seatings: Sequence[Seating]) -> None:
        super().__init__()
        self.seatings = seatings
        self._last = SeatDealer(seatings)

    @property
    def hand(self) -> int:
        """The number of the hand that was dealt last."""
        return self._last.seating.first_hand + self._last.number

    @property
    def is_complete(self) -> bool:
        """Whether both seatings are over."""
        return all(seating.is_complete for seating in self.seatings)

    @property
    def imbalance(self) -> str | None:
        """Whether the program plays in one seat too often."""
        for seat, seating in enumerate(self.seatings):
            if seating.has_surplus:
                return f"it plays as P_{seat + 1} too often; allowed: both seats, as often as each other"
        return None

    def new_dealer(self) -> SeatDealer:
        """A dealer of hands of the chunk."""
        self._last = SeatDealer(self.seatings)
        return self._last

    def open_table(self, peer: Peer, dealer: Dealer, timeouts: Timeouts) -> Session[Message, Message]:
        """A table whose house is the other bot."""
        return SeatedTable(House(peer, dealer, self, Purse(PURSE_COINS), timeouts), self.dealers[peer], self)

    def choose(self, view: View, legal: Sequence[KuhnAction], luck: Luck) -> KuhnAction:  # noqa: ARG002 -- the bot has its own
        """The move of the other bot; the program has the other seat."""
        started = monotonic()
        try:
            return self.seatings[1 - len(view.history) % 2].choose(view, legal)
        except Forfeit as forfeit:
            self.forfeit = forfeit
            raise
        finally:
            self.thinking_seconds += monotonic() - started

    def settle(self, effect: Settle) -> bool:
        """Count a hand. One that the program has left is finished with its default moves."""
        self._last = self.dealers[effect.peer]
        self.hands += 1
        state = effect.state
        assert isinstance(state, KuhnState)
        is_finished = state.turn is Turn.OVER
        seating = self._last.seating
        while isinstance(seat := state.turn, int):
            if seat == self._last.seat:
                state = state.next[next(action for action in DEFAULT_ACTIONS if action in state.actions)]
            else:
                state = state.next[seating.choose(state.views[seat], state.actions)]
        seating.finish(self._last.number, state)
        return is_finished


def play_against_client(chunk: Chunk, index: int, seatings: Sequence[Seating]) -> None:
    """Let a program (0 or 1 of the pairing) play both seatings, given in their order. Raises Forfeit."""
    by_seat = seatings if index == 0 else seatings[::-1]
    play_as_client(chunk, index, KuhnTables(by_seat))
