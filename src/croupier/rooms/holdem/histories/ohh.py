"""Writer of Open Hand History (version 1.4.7), the JSON format that hand trackers read.

Player ids are our seat numbers, from 0; seats in the format are numbered from 1. The amount of an action is the number
of chips it adds, also for antes and blinds. The pots do not include a returned bet. In histories of other programs, the
fields with defaults may be missing, and amounts may have decimals.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.streets import FLOP_CARDS, STREET_NAMES
from croupier.rooms.holdem.histories.notation import CARD_TEXTS, seat_order

OHH_VERSION: Final = "1.4.7"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

type OhhActionName = Literal[
    "Dealt Cards", "Mucks Cards", "Shows Cards", "Post Ante", "Post SB", "Post BB", "Straddle", "Fold", "Check", "Bet",
    "Raise", "Call", "Stands Up",
]  # fmt: skip

BLIND_NAMES: Final[Sequence[OhhActionName]] = ("Post SB", "Post BB", "Straddle")


class OhhBetLimit(Struct, frozen=True):
    """The betting structure: no limit, no cap."""

    bet_type: str = "NL"
    bet_cap: int = 0


class OhhPlayer(Struct, frozen=True, kw_only=True):
    """A player who was dealt in."""

    id: int
    seat: int = 0
    name: str
    starting_stack: float


class OhhAction(Struct, frozen=True, kw_only=True):
    """An action of a player, ours with an OhhActionName. `amount` is the chips added; `cards` are set if known."""

    action_number: int = 0
    player_id: int
    action: str
    amount: float | UnsetType = UNSET
    is_allin: bool | UnsetType = UNSET
    cards: list[str] | UnsetType = UNSET


class OhhRound(Struct, kw_only=True):
    """A betting round, or the showdown. `cards` are the cards added to the board."""

    id: int = 0
    street: str
    cards: list[str] = []
    actions: list[OhhAction]


class OhhPlayerWin(Struct, frozen=True):
    """The chips that a player wins from a pot."""

    player_id: int
    win_amount: float


class OhhPot(Struct, frozen=True):
    """A pot that has been won. Number 0 is the main pot."""

    number: int
    amount: float
    player_wins: list[OhhPlayerWin] = []
    rake: float = 0


class OhhHistory(Struct, frozen=True, kw_only=True):
    """The history of one hand."""

    spec_version: str = OHH_VERSION
    site_name: str = "croupier"
    network_name: str = "croupier"
    internal_version: str = OHH_VERSION
    tournament: bool = False
    game_number: str
    start_date_utc: str
    table_name: str
    game_type: str = "Holdem"
    bet_limit: OhhBetLimit = OhhBetLimit()
    table_size: int
    currency: str = "PPC"
    dealer_seat: int
    small_blind_amount: int
    big_blind_amount: int
    ante_amount: int
    flags: list[str]
    players: list[OhhPlayer]
    rounds: list[OhhRound]
    pots: list[OhhPot]


class OhhDocument(Struct, frozen=True):
    """The root object: a file with one hand."""

    ohh: OhhHistory


def to_ohh(
    hand: Hand,
    *,
    players: Sequence[str] | None = None,
    table: str = "",
    number: int = 0,
    open_seats: Collection[int] | None = None,
    started_at: datetime | None = None,
) -> bytes:
    """Format a hand, finished or not, as Open Hand History JSON.

    `players` are the names by seat. The document contains the hole cards of the seats in `open_seats` (None: of all
    seats) and the hole cards shown at the showdown. The format requires a start time; without `started_at` it is
    1970-01-01.

    Example:
        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> from croupier.rooms.holdem.engine.stakes import Stakes
        >>> hand = Hand([1000, 1000], stakes=Stakes(5, 10))
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> hand.fold()
        >>> document = msgspec.json.decode(to_ohh(hand, players=["Ann", "Bob"]))
        >>> [action["action"] for action in document["ohh"]["rounds"][0]["actions"]]
        ['Post SB', 'Post BB', 'Dealt Cards', 'Dealt Cards', 'Fold']
        >>> document["ohh"]["pots"][0]["player_wins"]
        [{'player_id': 1, 'win_amount': 10}]
    """
    count = len(hand.stacks)
    start_date = (started_at or EPOCH).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    names = players if players is not None else [f"p{seat + 1}" for seat in range(count)]
    writer = _OhhWriter(hand, open_seats)
    writer.write()
    history = OhhHistory(
        game_number=str(number),
        start_date_utc=start_date,
        table_name=table,
        table_size=count,
        dealer_seat=hand.button + 1,
        small_blind_amount=hand.stakes.small_blind,
        big_blind_amount=hand.stakes.big_blind,
        ante_amount=hand.stakes.ante,
        flags=["Observed"],
        players=[
            OhhPlayer(id=seat, seat=seat + 1, name=names[seat], starting_stack=hand.start_stacks[seat])
            for seat in range(count)
        ],
        rounds=writer.rounds,
        pots=_won_pots(hand),
    )
    return msgspec.json.encode(OhhDocument(history))


def _won_pots(hand: Hand) -> list[OhhPot]:
    numbers = sorted({award.pot for award in hand.awards})
    pots = []
    for number in numbers:
        won = [award for award in hand.awards if award.pot == number]
        wins = [OhhPlayerWin(award.seat, award.chips) for award in won]
        pots.append(OhhPot(number, sum(award.chips for award in won), wins))
    return pots


def _card_texts(cards: Sequence[Card]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]


class _OhhWriter:
    """Converts a hand round by round."""

    def __init__(self, hand: Hand, known: Collection[int] | None) -> None:
        self.hand = hand
        self.known_seats = known
        self.stacks = [*hand.start_stacks]
        self.bets = [0 for _ in self.stacks]
        self.rounds: list[OhhRound] = []
        self._add_round(STREET_NAMES[0].capitalize(), [])

    def write(self) -> None:
        """Write all rounds."""
        hand = self.hand
        self._post_forced_bets()
        top = hand.blinds[-1][1]
        dealt = Counter[int]()
        for entry in hand.log:
            match entry:
                case ("deal", seat, cards):
                    if seat is None:
                        self._add_board(cards)
                        top = 0
                        continue
                    dealt[seat] += 1
                    if dealt[seat] == 2:
                        is_known = self.known_seats is None or seat in self.known_seats
                        self._add_action(
                            seat, "Dealt Cards", cards=_card_texts(hand.holes[seat]) if is_known else UNSET
                        )
                case ("bet", seat, chips):
                    total = self.bets[seat] + chips
                    name: OhhActionName = (
                        "Check" if not chips else "Call" if total <= top else "Raise" if top else "Bet"
                    )
                    self._pay(seat, name, chips)
                    top = max(top, total)
                case ("fold", seat):
                    self._add_action(seat, "Fold")
                case (_, seat):
                    self._add_action(seat, "Fold")
                    self._add_action(seat, "Stands Up")
        if hand.over and hand.showdown_order:
            self._add_round("Showdown", [])
            for seat in hand.showdown_order:
                self._add_action(seat, "Shows Cards", cards=_card_texts(hand.holes[seat]))

    def _post_forced_bets(self) -> None:
        hand, seats = self.hand, seat_order(len(self.stacks), self.hand.button)
        if ante := hand.stakes.ante:
            for seat in seats:
                self._pay(seat, "Post Ante", min(ante, self.stacks[seat]))
            self.bets = [0 for _ in self.bets]
        for (seat, chips), name in zip(hand.blinds, BLIND_NAMES, strict=False):
            if posted := min(chips, self.stacks[seat]):
                self._pay(seat, name, posted)

    def _add_board(self, cards: Sequence[Card]) -> None:
        """Add cards to the board: they open a new street, unless they complete the flop."""
        flop = self.rounds[-1].cards
        if len(self.rounds) == 2 and len(flop) < FLOP_CARDS:
            flop += _card_texts(cards)
            return
        self._add_round(STREET_NAMES[len(self.rounds)].capitalize(), _card_texts(cards))
        self.bets = [0 for _ in self.bets]

    def _add_round(self, street: str, cards: list[str]) -> None:
        self.rounds.append(OhhRound(id=len(self.rounds), street=street, cards=cards, actions=[]))

    def _pay(self, seat: int, name: OhhActionName, chips: int) -> None:
        self.stacks[seat] -= chips
        self.bets[seat] += chips
        if chips:
            self._add_action(seat, name, amount=chips, is_allin=not self.stacks[seat])
        else:
            self._add_action(seat, name)

    def _add_action(
        self,
        seat: int,
        name: OhhActionName,
        *,
        amount: int | UnsetType = UNSET,
        is_allin: bool | UnsetType = UNSET,
        cards: list[str] | UnsetType = UNSET,
    ) -> None:
        actions = self.rounds[-1].actions
        number = len(actions)
        actions.append(
            OhhAction(action_number=number, player_id=seat, action=name, amount=amount, is_allin=is_allin, cards=cards)
        )
