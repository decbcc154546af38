"""What a person sees of a ring of Old Maid, and what the keys mean there."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.clients.ring import advised
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.ring.player_events import (
    Discarded,
    Drew,
    Gave,
    Kept,
    News,
    Offered,
    Offering,
    Over,
    Passed,
    Picked,
    Result,
    Rid,
    Sat,
    Withdrawn,
    Won,
)
from croupier.rooms.oldmaid.wire import Pick
from croupier.tui.cards import either
from croupier.tui.frame import Frame, printable
from croupier.tui.keys import ENTER, ESCAPE
from croupier.tui.number_input import Number
from croupier.tui.oldmaid.table_view import Felt, face, many, named
from croupier.tui.scene import NAMES, WIDTH, Choice
from croupier.tui.table_action import Wish

WELCOME: Final = "Welcome. Whoever is left with the old maid has lost."

LINES: Final = 12
"""So many of the last lines are kept."""

ARROWS: Final = {"\x1b[D": -1, "\x1bOD": -1, "\x1b[C": 1, "\x1bOC": 1}
"""The arrows to the left and to the right, as terminals send them."""


class OldMaidScene:
    """What is shown and what may be pressed, made with the address of the table."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._player: Player | None = None
        self._past: deque[str] = deque(maxlen=LINES)
        self._gone: list[Seat] = []
        self._results: list[Result] = []
        self._number = Number()
        self._chosen = 0
        self._told = ""
        self._offers = ""
        self._leaving = False
        self._over = False

    # What the table tells the scene.

    def sit(self, player: Player) -> None:
        """A game may begin, the first or another one."""
        self._player = player
        self._past.clear()
        self._gone = []
        self._told = WELCOME
        self._offers = ""
        self._number = Number()
        self._leaving = False

    def heard(self, news: News) -> None:
        """Something has happened."""
        self._offers = ""
        match news:
            case Offered():
                self._chosen = 0
                self._number = Number()
            case Offering(nick, num_cards):
                self._offers = f"You offer {many(num_cards)} to {named(nick)}"
            case Passed(nick, "gone") if self._player is not None:
                self._gone += [seat for seat, (_, other) in enumerate(self._player.players) if other == nick]
            case Over(result):
                if self._player is not None and self._player.seat is not None:
                    self._results.append(result)
                self._leaving = False
                self._told = ending(result)
            case _:
                pass
        line = story(news)
        if line:
            self._past.append(line)

    def ended(self, reason: str) -> None:
        """Everything is over; `reason` is for the person."""
        self._told = reason
        self._over = True

    def press(self, key: str) -> Pick | Wish | None:
        """What a key says, None when it says nothing."""
        leaving, self._leaving = self._leaving, False
        if leaving and key == ESCAPE:
            self._told = ""
            return None
        if self._legal and self._moved(key):
            return None
        for choice in self._offered():
            if key.lower() in choice.keys:
                return self._chosen_to(choice.says, sure=leaving)
        self._told = f"{NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """The ring as it is now, our cards, what was told, how the games have ended, and what may be done."""
        above: list[RenderableType] = []
        if self._player is not None and self._player.seat is not None:
            above.append(Felt(self._player, self._gone, self._chosen))
        if not self._over:
            above.append(Text(self._status()))
        lost = sum(result.outcome == "lost" for result in self._results)
        above += [
            Text(printable(self._told), style="bold"),
            Text(f"Games: {len(self._results)}   Lost: {lost}"),
        ]
        below = [] if self._over else [Text(self._hint(), style="reverse")]
        return Constrain(Frame(f"Old Maid at {self._table}", above, self._past, below), WIDTH)

    # What there is.

    @property
    def _legal(self) -> bool:
        """Whether a card may be picked now."""
        return self._player is not None and bool(self._player.legal)

    @property
    def _playing(self) -> bool:
        """Whether we would come last if we left now."""
        player = self._player
        return (
            player is not None
            and player.seat is not None
            and player.result is None
            and player.seat not in player.view.out
        )

    def _status(self) -> str:
        """What everybody waits for."""
        player = self._player
        dots = either("…", "...")
        if player is None or player.seat is None:
            return f"Waiting for others to play with {dots}"
        if player.result is not None:
            return "The game is over."
        if self._legal:
            return f"You are offered {many(player.offered or 0)}: which one do you pick?"
        if player.offered is not None:
            return f"Your pick is on its way {dots}"
        if player.seat in player.view.out:
            return f"You are out, and the others play on {dots}"
        return f"{self._offers or 'The others play'} {dots}"

    # What may be done.

    def _moved(self, key: str) -> bool:
        """Whether a key has chosen another card."""
        assert self._player is not None, "cards are only chosen in a game"
        count = self._player.offered or 0
        if key in ARROWS:
            self._number = Number()
            self._chosen = (self._chosen + ARROWS[key]) % count
            return True
        if not self._number.takes(key):
            return False
        if len(self._number.typed) > 1 and int(self._number.typed) > count:
            self._number.typed = key  # another number begins
        if self._number.typed and not 1 <= int(self._number.typed) <= count:
            self._told = f"There is no card {self._number.typed}; allowed: 1 to {count}."
            self._number = Number()
        elif self._number.typed:
            self._told = ""
            self._chosen = int(self._number.typed) - 1
        return True

    def _offered(self) -> Iterator[Choice[Pick]]:
        """Everything that may be done, and its keys."""
        if self._legal:
            yield Choice(ENTER, f"pick card {self._chosen + 1}", Pick(self._chosen))
        if self._player is not None and self._player.seat is not None and self._player.result is not None:
            yield Choice(f"n{ENTER}", "another game", Wish.AGAIN)
        yield Choice("q", "leave", Wish.LEAVE)

    def _chosen_to(self, says: Pick | Wish, *, sure: bool) -> Pick | Wish | None:
        """What a choice says. Who is still in is asked whether he is sure that he wants to leave."""
        if says is Wish.LEAVE and self._playing and not sure:
            self._leaving = True
            self._told = "Whoever leaves comes last."
            return None
        self._told = ""
        return says

    def _hint(self) -> str:
        """The keys that do something now."""
        if self._leaving:
            return "[q] leave all the same  [Esc] stay"
        choices = [f"[{'/'.join(NAMES.get(key, key) for key in keys)}] {told}" for keys, told, _ in self._offered()]
        if self._legal:
            choices.insert(0, f"[{either('←', '<-')} {either('→', '->')} 0-9] choose")
        return "  ".join(choices)


def ending(result: Result) -> str:
    """How a game has ended, for a person."""
    place = "" if result.place is None else f" You are number {result.place}."
    match result.outcome:
        case "out":
            return f"The game is over, and you have not lost.{place}"
        case "lost":
            return "You are left with the old maid: you have lost."
        case "ended":
            return f"The game has ended early: {advised(result.reason)}."


def story(news: News) -> str:
    """What has happened, in a line; "" if that need not be told."""
    match news:
        case Drew(card, last):
            return f"You draw {'the last card, ' * last}{face(card).name}"
        case Discarded(a, b):
            return f"You throw away {face(a).name} and {face(b).name}"
        case Picked(card):
            return f"You pick {face(card).name}"
        case Gave(card, nick):
            return f"{named(nick)} picks {face(card).name} from you"
        case Passed(nick, why):
            return f"{named(nick)} is {why}"
        case Won(place):
            return f"You are number {place}"
        case _:
            return _rest(news)


def _rest(news: News) -> str:
    """What happens once in a game, or never."""
    match news:
        case Sat(players, seat):
            return f"{len(players)} players; you are number {seat + 1}"
        case Kept(a, b, reason):
            why = "the game is over" if reason.startswith("oldmaid-6.9:") else printable(reason)
            return f"The table does not take {face(a).name} and {face(b).name}: {why}"
        case Offered(0):
            return "You are offered an empty hand: it is your turn"
        case Withdrawn():
            return "Who offered you his hand is gone: it is your turn"
        case Rid():
            return "You have no cards any more"
        case _:
            return ""
