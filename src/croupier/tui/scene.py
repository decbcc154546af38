"""What the scenes of all rooms share: who sits there, what is told, what may be pressed, and what was won."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple, cast

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.clients.game import Game
from croupier.core.client_session import Finished, Guest
from croupier.tui.cards import either
from croupier.tui.frame import Frame, printable
from croupier.tui.keys import BACKSPACE, ENTER, ESCAPE
from croupier.tui.number_input import Number
from croupier.tui.table_action import Wish

WIDTH = 72
PAST = 8
"""How many finished games the history shows."""

NAMES = {ENTER: "Enter", BACKSPACE: "Backspace", ESCAPE: "Esc"}


class Choice[M](NamedTuple):
    """Something that may be done: its keys, its name, and what it says."""

    keys: str
    told: str
    says: M | Wish


class Ask[M](NamedTuple):
    """A number that may be typed: what for, what the hint says of it, the highest there is, and what it says."""

    told: str
    hint: str
    most: int
    says: Callable[[int], M]


class Scene[M, G: Finished](ABC):
    """What a person sees of a room, and what the keys mean there; made with the address of its house.

    A room says what a message of the house means (`_hear`), what may be done (`_choices`, `_ask`), and how a game is
    shown on the table (`_table`) and in the history (`_row`).
    """

    TITLE: ClassVar[str]
    WELCOME: ClassVar[str]

    def __init__(self, house: str) -> None:
        self._house = house
        self._player: Guest[M, G]
        self._number = Number()
        self._settled: list[int] = []
        self._earlier: list[int] = []
        self._past: deque[str] = deque(maxlen=PAST)
        self._told = ""
        self._stale = False
        self._silence = ""
        self._farewell = ""
        self._hands = 0
        self._seated = False
        self._over = False

    # What the table tells the scene.

    def sit(self, game: Game) -> M | None:
        """A conversation has begun: a new count of what it has won. What is said at once, if anything is."""
        self._earlier += self._settled
        self._player = cast(Guest[M, G], game.player)
        self._settled = game.settled
        self._told = self.WELCOME
        self._hands = 0
        self._number = Number()
        self._seated = True
        return None

    def heard(self, message: M) -> None:
        """The house has said something."""
        self._silence = ""
        self._farewell = ""
        self._hear(message)

    def said(self, message: M) -> None:  # noqa: ARG002 -- some rooms look at it
        """The person has said something: what was told before is told no longer when there is news."""
        self._stale = True

    def silent(self, notice: str) -> None:
        """The house is silent: `notice` is shown until it says something."""
        self._silence = notice

    def closed(self) -> None:
        """The house has gone, but others may come to play on."""
        self._tell("The house has closed this table.")

    def ended(self, reason: str) -> None:
        """The conversation is over; `reason` is for the person."""
        self._told = f"{self._farewell} {reason}".strip()
        self._silence = ""
        self._over = True

    @property
    def spent(self) -> bool:
        """Whether nothing more can be played on this connection, but could be on a new one."""
        return self._player.spent

    def press(self, key: str) -> M | Wish | None:
        """What a key says, None when it says nothing."""
        ask = self._asked()
        if ask is not None and self._number.takes(key):
            return None
        if ask is not None and self._number.typed and key == ENTER:
            return self._typed(ask, self._number.taken())
        self._number = Number()
        for choice in self._offered():
            if key.lower() in choice.keys:
                return choice.says
        self._told = f"{NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """The table as it is now, what was told, what was won, and what may be done."""
        above = self._table(self._player.game or self._player.last) if self._seated else []
        nets = self._earlier + self._settled
        above += [
            Text(printable(f"{self._told} {self._silence}".strip()), style="bold"),
            Text(f"Games: {len(nets)}   Coins won: {sum(nets):+d}"),
        ]
        below = [] if self._over else [Text(self._hint(), style="reverse")]
        return Constrain(Frame(f"{self.TITLE} at {self._house}", above, self._past, below), WIDTH)

    # What a room says.

    @abstractmethod
    def _hear(self, message: M) -> None:
        """Tell what the house has said."""

    @abstractmethod
    def _choices(self) -> Iterable[Choice[M]]:
        """What may be done now, besides leaving."""

    def _ask(self) -> Ask[M] | None:
        """The number that may be typed now."""
        return None

    @abstractmethod
    def _table(self, game: G | None) -> list[RenderableType]:
        """The game that is played, or else the last one."""

    @abstractmethod
    def _row(self, game: G) -> str:
        """A finished game in one line, without what it has brought."""

    # What all rooms do alike.

    @property
    def _playing(self) -> bool:
        return self._player.game is not None

    def _tell(self, text: str) -> None:
        """Tell news, behind what was told since the person said something."""
        self._told = text if self._stale else f"{self._told} {text}".strip()
        self._stale = False

    def _finish(self) -> None:
        """Add a game that has just ended to the history."""
        last = self._player.last
        if last is None or len(self._settled) == self._hands:
            return
        self._hands = len(self._settled)
        self._past.append(f"{self._row(last)} {last.net:+d}")
        how = f"You {'win' if last.net > 0 else 'lose'} {abs(last.net)}." if last.net else "Nobody wins."
        self._tell(how)

    def _offered(self) -> list[Choice[M]]:
        """Everything that may be done, and its keys."""
        return [*self._choices(), Choice("q", "leave", Wish.LEAVE)]

    def _asked(self) -> Ask[M] | None:
        return None if self.spent else self._ask()

    def _typed(self, ask: Ask[M], amount: int) -> M | None:
        """What a number says that has been typed to its end."""
        message = ask.says(amount)
        if message in self._player.legal:
            return message
        self._told = f"You cannot {ask.told} {amount}; allowed: {f'1 to {ask.most}' if ask.most else 'no more'}."
        return None

    def _hint(self) -> str:
        """The keys that do something now."""
        if not self._seated:
            return f"Connecting {either('…', '...')}  [q] leave"
        ask = self._asked()
        *choices, leave = [
            f"[{'/'.join(NAMES.get(key, key) for key in keys)}] {told}" for keys, told, _ in self._offered()
        ]
        if ask is not None and self._number.typed:
            choices = [f"{ask.told} {self._number.typed}_".capitalize(), "[Enter] do it", "[Esc] never mind"]
        elif ask is not None:
            choices.append(f"[0-9] {ask.hint}")
        return "  ".join([*(choices or [f"Waiting for the house {either('…', '...')}"]), leave])
