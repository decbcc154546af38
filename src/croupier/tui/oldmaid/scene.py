"""Screen of Old Maid: what it shows, and what its keys do."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from rich.console import RenderableType

from croupier.clients.identify import OtherProtocol
from croupier.clients.ring import RingClient, with_advice
from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat
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
from croupier.rooms.oldmaid.wire import Pick
from croupier.tui.cards import encodable_or
from croupier.tui.frame import terminal_text
from croupier.tui.keys import ENTER
from croupier.tui.number_input import NumberInput
from croupier.tui.oldmaid.table_view import OldMaidTableView, card_count_text, card_face, display_nick
from croupier.tui.scene import Choice, Scene, TableAction

MAX_HISTORY_LINES: Final = 12

ARROW_OFFSETS: Final = {"\x1b[D": -1, "\x1bOD": -1, "\x1b[C": 1, "\x1bOC": 1}
"""The left and right arrow keys as terminals send them, with the change of position."""


class OldMaidScene(Scene[Pick, RingClient]):
    """The screen of a game of Old Maid."""

    TITLE = "Old Maid"
    WELCOME = "Welcome. The player left with the old maid loses."
    errors = (OSError,)

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self._last_result: PlayerResult | None = None
        self._history: deque[str] = deque(maxlen=MAX_HISTORY_LINES)
        self._unreachable: list[Seat] = []
        self._results: list[PlayerResult] = []
        self._chosen_position = 0
        self._offer_notice = ""

    # The client.

    def sit(self, client: RingClient) -> None:
        """Start to show a player who waits for a game."""
        super().sit(client)
        self._last_result = None
        self._history.clear()
        self._unreachable = []
        self._offer_notice = ""

    async def receive(self) -> PlayerEvent | None:
        """Wait for the next event; None after the end of a game. Raises ConnectionError if no game has begun."""
        if self._last_result is None:
            return await self._client.receive()
        if self._client.player.seat is None:
            raise await self._client.find_other_protocol() or ConnectionError(ending_text(self._last_result))
        return None

    async def submit(self, move: Pick) -> None:
        """Pick a card."""
        with suppress(IllegalMove):  # the neighbour who offered may have left
            await self._client.send(move)

    def end_reason(self, error: Exception) -> str:
        """Return the text for an error."""
        text = str(error)
        return text if isinstance(error, OtherProtocol) else f"{text[:1].upper()}{text[1:]}"

    # Events.

    def on_received(self, item: PlayerEvent) -> None:
        """Show an event of the game."""
        self._offer_notice = ""
        match item:
            case OfferReceived():
                self._chosen_position = 0
                self._number_input = NumberInput()
            case OfferMade(nick, num_cards):
                self._offer_notice = f"You offer {card_count_text(num_cards)} to {display_nick(nick)}"
            case NeighbourSkipped(nick, "gone"):
                players = self._client.player.players
                self._unreachable += [seat for seat, (_, other) in enumerate(players) if other == nick]
            case PlayerFinished(result):
                self._last_result = result
                if self._client.player.seat is not None:
                    self._results.append(result)
                self._is_confirming_leave = False
                self._notice = ending_text(result)
            case _:
                pass
        line = event_text(item)
        if line:
            self._history.append(line)

    # The screen.

    def _render_table(self) -> Sequence[RenderableType]:
        if self._player is None or self._player.seat is None:
            return []
        return [OldMaidTableView(self._player, self._unreachable, self._chosen_position)]

    def _score_text(self) -> str:
        lost = sum(result.outcome == "lost" for result in self._results)
        return f"Games: {len(self._results)}   Lost: {lost}"

    def _history_lines(self) -> Iterable[str]:
        return self._history

    # State.

    @property
    def _player(self) -> Player | None:
        """The player's session, None before it has joined a table."""
        return self._client.player if self._is_seated else None

    @property
    def _can_pick(self) -> bool:
        return self._player is not None and bool(self._player.legal)

    @property
    def _is_still_in(self) -> bool:
        """Whether the player is still in the game, and would come last by leaving."""
        player = self._player
        return (
            player is not None
            and player.seat is not None
            and player.result is None
            and player.seat not in player.view.out_seats
        )

    def _status_text(self) -> str:
        player = self._player
        dots = encodable_or("…", "...")
        if player is None or player.seat is None:
            return f"Waiting for other players {dots}"
        if player.result is not None:
            return "The game is over."
        if self._can_pick:
            return f"You are offered {card_count_text(player.offer_size or 0)}: which card do you pick?"
        if player.offer_size is not None:
            return f"Waiting for the neighbour {dots}"
        if player.seat in player.view.out_seats:
            return f"You are out; the others are still playing {dots}"
        return f"{self._offer_notice or 'The others are playing'} {dots}"

    # Choices.

    def _accept_input(self, key: str) -> bool:
        """Move the choice of a card by an arrow or a number. Return whether the key was used."""
        if self._player is None or not self._can_pick:
            return False
        count = self._player.offer_size or 0
        if key in ARROW_OFFSETS:
            self._number_input = NumberInput()
            self._chosen_position = (self._chosen_position + ARROW_OFFSETS[key]) % count
            return True
        if not self._number_input.accept_key(key):
            return False
        if len(self._number_input.digits) > 1 and int(self._number_input.digits) > count:
            self._number_input.digits = key  # start a new number
        if self._number_input.digits and not 1 <= int(self._number_input.digits) <= count:
            self._notice = f"There is no card {self._number_input.digits}; allowed: 1 to {count}."
            self._number_input = NumberInput()
        elif self._number_input.digits:
            self._notice = ""
            self._chosen_position = int(self._number_input.digits) - 1
        return True

    def _choices(self) -> Iterator[Choice[Pick]]:
        if self._can_pick:
            yield Choice(ENTER, f"pick card {self._chosen_position + 1}", Pick(self._chosen_position))
        if self._player is not None and self._player.seat is not None and self._player.result is not None:
            yield Choice(f"n{ENTER}", "another game", TableAction.REJOIN)

    def _leave_warning(self) -> str:
        return "You come last if you leave now." if self._is_still_in else ""

    def _input_hints(self) -> list[str]:
        return [f"[{encodable_or('←', '<-')} {encodable_or('→', '->')} 0-9] choose"] if self._can_pick else []


def ending_text(result: PlayerResult) -> str:
    """Return a text that says how a game ended for the player."""
    place = "" if result.place is None else f" You are number {result.place}."
    match result.outcome:
        case "out":
            return f"The game is over, and you have not lost.{place}"
        case "lost":
            return "You are left with the old maid: you have lost."
        case "ended":
            return f"The game ended early: {with_advice(result.reason)}."


def event_text(event: PlayerEvent) -> str:
    """Return a history line for an event, "" for one that needs none."""
    match event:
        case CardDrawn(card, last):
            return f"You draw {'the last card, ' * last}{card_face(card).name}"
        case PairDiscarded(a, b):
            return f"You throw away {card_face(a).name} and {card_face(b).name}"
        case CardPicked(card):
            return f"You pick {card_face(card).name}"
        case CardGiven(card, nick):
            return f"{display_nick(nick)} picks {card_face(card).name} from you"
        case NeighbourSkipped(nick, why):
            return f"{display_nick(nick)} is {why}"
        case PlaceAnnounced(place):
            return f"You are number {place}"
        case _:
            return _rare_event_text(event)


def _rare_event_text(event: PlayerEvent) -> str:
    """Return a history line for an event that most games have at most once, "" for one that needs none."""
    match event:
        case SeatTaken(players, seat):
            return f"{len(players)} players; you are number {seat + 1}"
        case PairRefused(a, b, reason):
            why = "the game is over" if reason.startswith("oldmaid-6.9:") else terminal_text(reason)
            return f"The table does not take {card_face(a).name} and {card_face(b).name}: {why}"
        case OfferReceived(0):
            return "You are offered an empty hand: it is your turn"
        case OfferWithdrawn():
            return "The neighbour who offered you a hand is gone: it is your turn"
        case HandEmptied():
            return "You have no cards left"
        case _:
            return ""
