"""A hand as an Open Hand History object, the JSON that hand trackers read (version 1.4.7).

Players are numbered as the seats, from 0, and their seats from 1. What a player puts in with an action is told as what
he adds, antes and blinds included; what nobody has called is not in the pots.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.histories.notation import SPELLINGS, order

VERSION: Final = "1.4.7"
STREETS: Final = ("Preflop", "Flop", "Turn", "River")
FLOP: Final = 3
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

type Name = Literal[
    "Dealt Cards", "Mucks Cards", "Shows Cards", "Post Ante", "Post SB", "Post BB", "Straddle", "Fold", "Check", "Bet",
    "Raise", "Call", "Stands Up",
]  # fmt: skip


class Limit(Struct, frozen=True):
    """No limit, and no cap on what can be lost in a hand."""

    bet_type: str = "NL"
    bet_cap: int = 0


class Player(Struct, frozen=True):
    """Somebody who was dealt in."""

    id: int
    seat: int
    name: str
    starting_stack: int


class Action(Struct, frozen=True):
    """What somebody has done. `amount` is what he adds; `cards` are told if they are known."""

    action_number: int
    player_id: int
    action: Name
    amount: int | UnsetType = UNSET
    is_allin: bool | UnsetType = UNSET
    cards: list[str] | UnsetType = UNSET


class Round(Struct):
    """A betting round, or the showdown; `cards` are those that it adds to the board."""

    id: int
    street: str
    cards: list[str]
    actions: list[Action]


class Win(Struct, frozen=True):
    """What a player wins of a pot."""

    player_id: int
    win_amount: int


class Pot(Struct, frozen=True):
    """A pot that has been won: 0 is the main pot."""

    number: int
    amount: int
    player_wins: list[Win]
    rake: int = 0


class History(Struct, frozen=True, kw_only=True):
    """The history of one hand."""

    spec_version: str = VERSION
    site_name: str = "croupier"
    network_name: str = "croupier"
    internal_version: str = VERSION
    tournament: bool = False
    game_number: str
    start_date_utc: str
    table_name: str
    game_type: str = "Holdem"
    bet_limit: Limit = Limit()
    table_size: int
    currency: str = "PPC"
    dealer_seat: int
    small_blind_amount: int
    big_blind_amount: int
    ante_amount: int
    hero_player_id: int | UnsetType = UNSET
    flags: list[str]
    players: list[Player]
    rounds: list[Round]
    pots: list[Pot]


class Document(Struct, frozen=True):
    """A file with one hand."""

    ohh: History


def to_ohh(
    hand: Hand,
    *,
    players: Sequence[str] | None = None,
    table: str = "",
    number: int = 0,
    open: Collection[int] | None = None,  # noqa: A002 -- as in `to_phh`
    begun: datetime | None = None,
    hero: int | None = None,
    table_size: int | None = None,
) -> bytes:
    """A hand as Open Hand History, JSON. It may be unfinished.

    `players` are the names by seat, `hero` is the seat that tells the hand, if one does. Hole cards are told of the
    seats in `open` (None: of all), and of those who have shown them. The format wants to know when a hand has `begun`;
    it is 1970 by default.
    """
    count = len(hand.stacks)
    begun_at = (begun or EPOCH).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    names = players if players is not None else [f"p{seat + 1}" for seat in range(count)]
    teller = _Teller(hand, open)
    teller.tell()
    history = History(
        game_number=str(number),
        start_date_utc=begun_at,
        table_name=table,
        table_size=table_size or count,
        dealer_seat=hand.button + 1,
        small_blind_amount=hand.blinds[0],
        big_blind_amount=hand.blinds[1],
        ante_amount=hand.ante,
        hero_player_id=UNSET if hero is None else hero,
        flags=["Observed"] if hero is None else [],
        players=[Player(seat, seat + 1, names[seat], teller.begun[seat]) for seat in range(count)],
        rounds=teller.rounds,
        pots=_pots(hand),
    )
    return msgspec.json.encode(Document(history))


def _pots(hand: Hand) -> list[Pot]:
    """The pots as they were won, those that have a winner."""
    numbers = sorted({award.pot for award in hand.awards})
    found = []
    for number in numbers:
        won = [award for award in hand.awards if award.pot == number]
        wins = [Win(award.seat, award.chips) for award in won]
        found.append(Pot(number, sum(award.chips for award in won), wins))
    return found


def _names(cards: Sequence[Card]) -> list[str]:
    return [SPELLINGS[card] for card in cards]


class _Teller:
    """Tells a hand round by round."""

    def __init__(self, hand: Hand, known: Collection[int] | None) -> None:
        self.hand = hand
        self.known = known
        self.begun = [stack + paid for stack, paid in zip(hand.stacks, hand.paid, strict=True)]
        for award in hand.awards:
            self.begun[award.seat] -= award.chips
        self.left = list(self.begun)
        self.bets = [0 for _ in self.left]
        self.rounds = [Round(0, STREETS[0], [], [])]

    def tell(self) -> None:
        """Tell all of it."""
        hand = self.hand
        self._post()
        top = max(hand.blinds[1], hand.straddle if len(self.left) > 2 else 0)
        dealt = Counter[int]()
        for entry in hand.log:
            match entry:
                case ("deal", seat, cards):
                    if seat is None:
                        self._board(cards)
                        top = 0
                        continue
                    dealt[seat] += 1
                    if dealt[seat] == 2:
                        told = self.known is None or seat in self.known
                        self._add(seat, "Dealt Cards", cards=_names(hand.holes[seat]) if told else UNSET)
                case ("bet", seat, chips):
                    total = self.bets[seat] + chips
                    name: Name = "Check" if not chips else "Call" if total <= top else "Raise" if top else "Bet"
                    self._pay(seat, name, chips)
                    top = max(top, total)
                case ("fold", seat):
                    self._add(seat, "Fold")
                case (_, seat):
                    self._add(seat, "Fold")
                    self._add(seat, "Stands Up")
        if hand.turn is Turn.OVER and hand.shown:
            self.rounds.append(Round(len(self.rounds), "Showdown", [], []))
            for seat in hand.shown:
                self._add(seat, "Shows Cards", cards=_names(hand.holes[seat]))

    def _post(self) -> None:
        """Antes, blinds, straddle."""
        hand, seats = self.hand, order(len(self.left), self.hand.button)
        if hand.ante:
            for seat in seats:
                self._pay(seat, "Post Ante", min(hand.ante, self.left[seat]))
            self.bets = [0 for _ in self.bets]
        straddler = seats[2] if len(seats) > 2 else seats[0]
        forced: list[tuple[int, Name, int]] = [
            (hand.small_blind, "Post SB", hand.blinds[0]),
            (hand.big_blind, "Post BB", hand.blinds[1]),
            (straddler, "Straddle", hand.straddle if len(seats) > 2 else 0),
        ]
        for seat, name, chips in forced:
            if posted := min(chips, self.left[seat]):
                self._pay(seat, name, posted)

    def _board(self, cards: Sequence[Card]) -> None:
        """The next cards of the board: a new street, unless they are the rest of the flop."""
        flop = self.rounds[-1].cards
        if 0 < len(flop) < FLOP and self.rounds[-1].street == STREETS[1]:
            flop += _names(cards)
            return
        street = len(self.rounds)
        self.rounds.append(Round(street, STREETS[street], _names(cards), []))
        self.bets = [0 for _ in self.bets]

    def _pay(self, seat: int, name: Name, chips: int) -> None:
        self.left[seat] -= chips
        self.bets[seat] += chips
        if chips:
            self._add(seat, name, amount=chips, is_allin=not self.left[seat])
        else:
            self._add(seat, name)

    def _add(
        self,
        seat: int,
        name: Name,
        *,
        amount: int | UnsetType = UNSET,
        is_allin: bool | UnsetType = UNSET,
        cards: list[str] | UnsetType = UNSET,
    ) -> None:
        actions = self.rounds[-1].actions
        actions.append(Action(len(actions), seat, name, amount, is_allin, cards))
