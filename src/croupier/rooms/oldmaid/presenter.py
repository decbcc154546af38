"""What a player of Old Maid sees, in words and cards."""

from collections.abc import Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from croupier.core import card_names
from croupier.core.presentation import (
    BACK,
    LEAVE,
    ActionView,
    CardView,
    Presenter,
    SeatStatus,
    SeatView,
    TableView,
    Text,
    counted,
    leave_action,
    listed,
    text,
    verbatim,
)
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import JOKER, WIRE_CARDS, Card
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.ring.player_events import (
    CardDrawn,
    CardGiven,
    CardPicked,
    HandEmptied,
    NeighbourSkipped,
    OfferMade,
    OfferReceived,
    OfferWithdrawn,
    PairDiscarded,
    PairRefused,
    PlaceAnnounced,
    PlayerEvent,
    PlayerFinished,
    PlayerResult,
    SeatTaken,
)
from croupier.rooms.oldmaid.rules import others_in_ring
from croupier.rooms.oldmaid.wire import Pick

GIVE_UP: Final = leave_action(text("ends the session, and you come last"), text("You come last if you leave now."))
ANOTHER_GAME: Final = ActionView("rejoin", text("Another game"), "n", text("joins the table again"))
PICK_KEYS: Final = [
    key for key in digits[1:] + ascii_lowercase + ascii_uppercase if key.lower() not in {LEAVE.key, ANOTHER_GAME.key}
]
"""The keys of the offered cards, in their order: more than there are cards."""


class OldMaidPresenter(Presenter[Player, PlayerEvent, Pick]):
    """Presents games of Old Maid to one of the players. Its messages are PlayerEvents and Picks."""

    title = text("Old Maid")
    rules = text(
        "All cards are dealt. Two cards of the same rank and the same colour are a pair, and every pair is laid down. "
        "The players sit in a ring: in your turn you pick one card from the hand that your right neighbour offers, and "
        "then your left neighbour picks one of yours. The old maid has no pair: the player left with it loses."
    )
    welcome = text("Welcome. The player left with the old maid loses.")

    def __init__(self) -> None:
        super().__init__()
        self._player: Player
        self._game_count = 0
        self._lost_count = 0
        self._unreachable: set[Seat] = set()
        self._offer: Text | None = None  # our last offer, until something else happens
        self._has_noted_result = False

    def sit(self, player: Player, purse: int | None = None) -> Pick | None:
        """Start to show a player who waits for a game; see `Presenter`."""
        self._player = player
        self._unreachable, self._offer, self._has_noted_result = set(), None, False
        return super().sit(player, purse)

    def received(self, message: PlayerEvent) -> None:
        """Announce an event of the game."""
        self._offer = None
        match message:
            case OfferMade(nick, num_cards):
                self._offer = counted(
                    "You offer {count} card to {name}.",
                    "You offer {count} cards to {name}.",
                    num_cards,
                    name=verbatim(nick),
                )
            case NeighbourSkipped(nick, "gone"):
                players = self._player.players
                self._unreachable |= {seat for seat, (_, other) in enumerate(players) if other == nick}
            case PlayerFinished():
                self._note_result()
            case _:
                pass
        self._announcements.add(*_describe(message))

    def _draw(self, now: float) -> TableView:  # noqa: ARG002 -- picks are not limited in time
        self._note_result()
        return TableView(
            title=self.title,
            seats=tuple(self._seats()),
            score=counted(
                "{count} game, lost: {lost}", "{count} games, lost: {lost}", self._game_count, lost=self._lost_count
            ),
        )

    # Actions.

    def _actions(self) -> Iterator[ActionView]:
        player = self._player
        legal = player.legal
        for number, (_, key) in enumerate(zip(legal, PICK_KEYS, strict=False), start=1):
            label = text("Card {number}", number=number)
            yield ActionView(f"pick-{number}", label, key, text("picks this card of your right neighbour"))
        if player.seat is not None and player.result is not None:
            yield ANOTHER_GAME
        yield GIVE_UP if self._is_still_in else LEAVE

    def _message(self, offered: ActionView, amount: int | None) -> Pick:  # noqa: ARG002 -- a pick has no amount
        return self._player.legal[PICK_KEYS.index(offered.key)]

    @property
    def _is_still_in(self) -> bool:
        """Whether the player is still in the game, and would come last by leaving."""
        player = self._player
        return player.seat is not None and player.result is None and player.seat not in player.view.out_seats

    # The table.

    def _seats(self) -> Iterator[SeatView]:
        """Yield the seats in the order of the ring; the player's own is the last."""
        player = self._player
        if player.seat is None:
            return
        out_seats = player.view.out_seats
        ring = range(len(player.players))
        others = others_in_ring(ring, player.seat)
        right = next((seat for seat in reversed(others) if seat not in {*out_seats, *self._unreachable}), None)
        offered = player.offer_size or 0
        for seat in others:
            nick = player.players[seat][1]
            yield SeatView(
                name=verbatim(nick),
                cards=(BACK,) * offered if seat == right else (),
                caption=_relation(is_left=nick == player.left_nick, is_right=seat == right),
                status=self._away_status(seat),
            )
        yield SeatView(
            name=text("You"),
            cards=card_views(player.hand),
            caption=self._own_caption(),
            status=self._away_status(player.seat) or ("to act" if player.legal else ""),
            is_viewer=True,
        )

    def _own_caption(self) -> Text:
        player = self._player
        return counted(
            "{count} card, pairs laid down: {pairs}",
            "{count} cards, pairs laid down: {pairs}",
            len(player.hand),
            pairs=len(player.view.discarded_pairs),
        )

    def _away_status(self, seat: Seat) -> SeatStatus:
        if seat in self._unreachable:
            return "away"
        return "out" if seat in self._player.view.out_seats else ""

    def _status(self) -> Text:
        player = self._player
        if player.result is not None:
            return text("The game is over.")
        if player.seat is None:
            return text("Waiting for other players.")
        if player.legal:
            return counted(
                "You are offered {count} card: which one do you pick?",
                "You are offered {count} cards: which one do you pick?",
                player.offer_size or 0,
            )
        if player.offer_size is not None:
            return text("Waiting for the neighbour.")
        if player.seat in player.view.out_seats:
            return text("You are out; the others are still playing.")
        return self._offer or text("The others are playing.")

    # Results.

    def _note_result(self) -> None:
        """Note the result of a game once: the player may have it before the event that announces it arrives."""
        result = self._player.result
        if result is None or self._has_noted_result or self._player.seat is None:
            return
        self._has_noted_result = True
        self._game_count += 1
        self._lost_count += result.outcome == "lost"
        self._results.append(
            text("game {number}: {result}", number=self._game_count, result=_result_text(result, self._player))
        )


def _result_text(result: PlayerResult, player: Player) -> Text:
    """Return the result of a game in few words."""
    if result.outcome == "lost":
        return text("lost")
    if result.place is not None:
        return text("number {place} of {players}", place=result.place, players=len(player.players))
    return text("not lost") if result.outcome == "out" else text("ended early")


def _relation(*, is_left: bool, is_right: bool) -> Text | None:
    """Return which neighbour of the player a seat is, None if it is neither."""
    if is_left and is_right:
        return text("left and right neighbour")
    if is_left:
        return text("left neighbour")
    return text("right neighbour") if is_right else None


def _describe(event: PlayerEvent) -> Iterator[Text]:
    """Describe an event in sentences; not every event needs one."""
    match event:
        case CardDrawn(card, is_last):
            drawn = text("You draw the last card, {card}.") if is_last else text("You draw {card}.")
            yield drawn.fill(card=_name(card))
        case PairDiscarded(a, b):
            yield text("You lay down {cards}.", cards=_names(a, b))
        case CardPicked(card):
            yield text("You pick {card}.", card=_name(card))
        case CardGiven(card, nick):
            yield text("{name} picks {card} from you.", name=verbatim(nick), card=_name(card))
        case NeighbourSkipped(nick, reason):
            skipped = text("{name} is out.") if reason == "out" else text("{name} is gone.")
            yield skipped.fill(name=verbatim(nick))
        case PlaceAnnounced(place):
            yield text("You are number {place}.", place=place)
        case PlayerFinished(result):
            yield _describe_end(result)
        case _:
            yield from _describe_rare(event)


def _describe_rare(event: PlayerEvent) -> Iterator[Text]:
    """Describe an event that most games have at most once."""
    match event:
        case SeatTaken(players, seat):
            yield text("{players} players; you are number {number}.", players=len(players), number=seat + 1)
        case PairRefused(a, b, reason):
            why = text("the game is over") if reason.startswith("oldmaid-6.9:") else verbatim(reason)
            yield text("The table does not take {cards}: {reason}.", cards=_names(a, b), reason=why)
        case OfferReceived(0):
            yield text("You are offered an empty hand: it is your turn.")
        case OfferWithdrawn():
            yield text("The neighbour who offered you a hand is gone: it is your turn.")
        case HandEmptied():
            yield text("You have no cards left.")
        case _:
            pass


def _describe_end(result: PlayerResult) -> Text:
    """Describe how a game ended for the player."""
    match result.outcome:
        case "out" if result.place is not None:
            return text("The game is over, and you have not lost: you are number {place}.", place=result.place)
        case "out":
            return text("The game is over, and you have not lost.")
        case "lost":
            return text("You are left with the old maid: you have lost.")
        case "ended":
            return text("The game ended early: {reason}.", reason=verbatim(result.reason))


def card_views(cards: Sequence[Card]) -> tuple[CardView, ...]:
    """Return cards as people see them."""
    return tuple(CARD_VIEWS[card] for card in cards)


def _view_card(card: Card) -> CardView:
    if card == JOKER:
        return card_names.JOKER
    value, suit = WIRE_CARDS[card]
    return card_names.FRENCH_CARDS[("T" if value == "10" else value) + suit[0].upper()]


CARD_VIEWS: Final = tuple(_view_card(card) for card in range(len(WIRE_CARDS)))
"""All cards by number."""


def _name(card: Card) -> Text:
    return CARD_VIEWS[card].name


def _names(*cards: Card) -> Text:
    return listed(map(_name, cards))
