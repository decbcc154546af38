"""Games against the bank by a program: it is a client of a house that deals the shoes of its seating.

The moves that the house accepts are then replayed with the same shoes, as those of any other bot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace as with_fields
from typing import Any, Final, NamedTuple

from croupier.arena.client_programs import Tables, play_as_client
from croupier.arena.game import Chunk
from croupier.arena.players import Player
from croupier.core.bank import BankMove, BankRules, BankState
from croupier.core.dealer import Dealer, Deck, FairDealer, Luck
from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom
from croupier.core.rules import Turn
from croupier.core.session import Effect, Event, Peer, Received, Send, Session, Settle, Timeouts
from croupier.rooms import blackjack, sevenhalf
from croupier.rooms.blackjack.rules import SURRENDER
from croupier.rooms.blackjack.wire import Err, Mov, Srd
from croupier.rooms.sevenhalf.wire import Ante, Draw, Erro, Pass

PURSE_COINS: Final = 1_000_000
"""The coins of a connection, 10,000 times the bet of a bot in process."""


class Shoe(NamedTuple):
    """The cards of a hand of the seating, and the moves of the program."""

    number: int
    cards: Sequence[str]
    moves: list[BankMove]


class ShoeDealer(FairDealer):
    """Deals the shoes of a seating, in their order, at all tables of the program. `shoe` is the last at its table."""

    def __init__(self, seating: FairDealer, cards: Sequence[str]) -> None:
        super().__init__(bytes(32))
        self._seating = seating
        self._cards = cards
        self.shoe = Shoe(0, (), [])

    def next_deck(self, size: int) -> Deck:
        """The next shoe."""
        self.hands += 1
        number = self._seating.hands
        deck = [*self._seating.next_deck(size)]
        self.shoe = Shoe(number, [self._cards[index] for index in deck], [])
        return iter(deck)


class BankTables(Tables[ShoeDealer]):
    """The tables at which a program plays the shoes of a seating. See `Tables`. `played` has its hands by number."""

    def __init__(self, chunk: Chunk, seating: int, room: HouseRoom, settings: object, shoe: Sequence[str]) -> None:
        super().__init__()
        self.room = room
        self.settings = settings
        self.played: dict[int, Shoe] = {}
        self._first_hand = chunk.first_hand(seating)
        self._hands = chunk.plan.chunk_pairs
        self._seating = chunk.dealer(seating)
        self._shoe = shoe
        self.observers = [self._record_move]

    @property
    def hand(self) -> int:
        """The number of the hand that was dealt last."""
        return self._first_hand + max(0, self._seating.hands - 1)

    @property
    def is_complete(self) -> bool:
        """Whether all shoes of the seating have been played."""
        return all(number in self.played for number in range(self._hands))

    def new_dealer(self) -> ShoeDealer:
        """A dealer of the shoes of the seating."""
        return ShoeDealer(self._seating, self._shoe)

    def open_table(self, peer: Peer, dealer: Dealer, timeouts: Timeouts) -> Session[Any, Any]:
        """A table of the room's house."""
        return self.room.house(self.settings, timeouts, False)(peer, dealer, Purse(PURSE_COINS))

    def settle(self, effect: Settle) -> bool:
        """Count a hand."""
        self.hands += 1
        shoe = self.dealers[effect.peer].shoe
        self.played[shoe.number] = shoe
        assert isinstance(effect.state, BankState)
        return effect.state.node.turn is Turn.OVER

    def _record_move(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- an Observer
        """Add a move that the house accepts to the shoe."""
        if type(event) is Received and (move := move_of(event.message)) is not None and not any(map(_refuses, effects)):
            self.dealers[event.peer].shoe.moves.append(move)


class ReplayBot:
    """Plays the moves of a program again; in a hand that it has left, then the default moves."""

    def __init__(self, default_moves: Sequence[BankMove]) -> None:
        self.moves: list[BankMove] = []
        self._default_moves = default_moves

    def choose(self, view: BankState, legal: Sequence[BankMove], luck: Luck) -> BankMove:  # noqa: ARG002 -- it has decided before
        """The next move."""
        if self.moves:
            return self.moves.pop(0)
        return next(move for move in self._default_moves if move in legal)

    def player(self, chunk: Chunk, seating: int) -> Player[BankState, BankMove]:
        """The player that stands for the program of a seating."""
        return with_fields(chunk, makers=(lambda: self, lambda: self)).player(seating, seating, self._default_moves)


def house_settings(bet: int) -> Mapping[str, tuple[HouseRoom, object]]:
    """The rooms with the settings of their houses, for bots in process that bet this number of coins."""
    return {
        "sevenhalf": (sevenhalf.ROOM, sevenhalf.Settings(bet=bet, max_bet=2 * bet)),
        "blackjack": (blackjack.ROOM, blackjack.Settings(money=PURSE_COINS)),
    }


def play_shoes(chunk: Chunk, seating: int, rules: BankRules, bet: int) -> Sequence[Shoe]:
    """Let the program of a seating play all of its shoes. Raises Forfeit."""
    room, settings = house_settings(bet)[chunk.plan.room]
    tables = BankTables(chunk, seating, room, settings, rules.shoe)
    play_as_client(chunk, seating, tables)
    return [tables.played[number] for number in range(chunk.plan.chunk_pairs)]


def move_of(message: object) -> BankMove | None:
    """The move of a message, None if it is no move."""
    match message:
        case Mov(move):
            return move
        case Srd():
            return SURRENDER
        case Draw():
            return "DRAW"
        case Pass():
            return "PASS"
        case Ante(coins):
            return coins
    return None


def _refuses(effect: Effect[Any]) -> bool:
    return type(effect) is Send and isinstance(effect.message, Err | Erro)
