"""What the scenes of all rooms share: who sits there, what is told, what may be pressed, and what was won."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple, cast

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.clients.game import GameClient
from croupier.core.client_session import ClientSession, FinishedGame
from croupier.tui.cards import encodable_or
from croupier.tui.frame import SceneFrame, terminal_text
from croupier.tui.keys import BACKSPACE, ENTER, ESCAPE
from croupier.tui.number_input import NumberInput
from croupier.tui.table_action import TableAction

SCENE_WIDTH_COLUMNS = 72
MAX_HISTORY_GAMES = 8
"""How many finished games the history shows."""

KEY_NAMES = {ENTER: "Enter", BACKSPACE: "Backspace", ESCAPE: "Esc"}


class Choice[M](NamedTuple):
    """Something that may be done: its keys, its name, and what it says."""

    keys: str
    label: str
    result: M | TableAction


class NumberPrompt[M](NamedTuple):
    """A number that may be typed: what for, what the hint says of it, the highest there is, and what it says."""

    verb: str
    hint: str
    maximum: int
    make_message: Callable[[int], M]


class Scene[M, G: FinishedGame](ABC):
    """What a person sees of a room, and what the keys mean there; made with the address of its house.

    A room says what a message of the house means (`_hear`), what may be done (`_choices`, `_ask`), and how a game is
    shown on the table (`_table`) and in the history (`_row`).
    """

    TITLE: ClassVar[str]
    WELCOME: ClassVar[str]

    def __init__(self, house: str) -> None:
        self._house = house
        self._player: ClientSession[M, G]
        self._number_input = NumberInput()
        self._nets: list[int] = []
        self._earlier_nets: list[int] = []
        self._history: deque[str] = deque(maxlen=MAX_HISTORY_GAMES)
        self._notice = ""
        self._is_notice_stale = False
        self._waiting_notice = ""
        self._goodbye = ""
        self._nets_shown = 0
        self._is_seated = False
        self._is_over = False

    # What the table tells the scene.

    def sit(self, game: GameClient) -> M | None:
        """A conversation has begun: a new count of what it has won. What is said at once, if anything is."""
        self._earlier_nets += self._nets
        self._player = cast(ClientSession[M, G], game.player)
        self._nets = game.nets
        self._notice = self.WELCOME
        self._nets_shown = 0
        self._number_input = NumberInput()
        self._is_seated = True
        return None

    def on_received(self, message: M) -> None:
        """The house has said something."""
        self._waiting_notice = ""
        self._goodbye = ""
        self._show_message(message)

    def on_sent(self, message: M) -> None:  # noqa: ARG002 -- some rooms look at it
        """The person has said something: what was told before is told no longer when there is news."""
        self._is_notice_stale = True

    def show_waiting_notice(self, notice: str) -> None:
        """The house is silent: `notice` is shown until it says something."""
        self._waiting_notice = notice

    def on_house_closed(self) -> None:
        """The house has gone, but others may come to play on."""
        self._add_notice("The house has closed this table.")

    def on_ended(self, reason: str) -> None:
        """The conversation is over; `reason` is for the person."""
        self._notice = f"{self._goodbye} {reason}".strip()
        self._waiting_notice = ""
        self._is_over = True

    @property
    def is_spent(self) -> bool:
        """Whether nothing more can be played on this connection, but could be on a new one."""
        return self._player.is_exhausted

    def press(self, key: str) -> M | TableAction | None:
        """What a key says, None when it says nothing."""
        ask = self._current_prompt()
        if ask is not None and self._number_input.accept_key(key):
            return None
        if ask is not None and self._number_input.digits and key == ENTER:
            return self._submit_number(ask, self._number_input.pop_value())
        self._number_input = NumberInput()
        for choice in self._all_choices():
            if key.lower() in choice.keys:
                return choice.result
        self._notice = f"{KEY_NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """The table as it is now, what was told, what was won, and what may be done."""
        above = self._render_table(self._player.game or self._player.last_game) if self._is_seated else []
        nets = self._earlier_nets + self._nets
        above += [
            Text(terminal_text(f"{self._notice} {self._waiting_notice}".strip()), style="bold"),
            Text(f"Games: {len(nets)}   Coins won: {sum(nets):+d}"),
        ]
        below = [] if self._is_over else [Text(self._hint(), style="reverse")]
        return Constrain(SceneFrame(f"{self.TITLE} at {self._house}", above, self._history, below), SCENE_WIDTH_COLUMNS)

    # What a room says.

    @abstractmethod
    def _show_message(self, message: M) -> None:
        """Tell what the house has said."""

    @abstractmethod
    def _choices(self) -> Iterable[Choice[M]]:
        """What may be done now, besides leaving."""

    def _number_prompt(self) -> NumberPrompt[M] | None:
        """The number that may be typed now."""
        return None

    @abstractmethod
    def _render_table(self, game: G | None) -> list[RenderableType]:
        """The game that is played, or else the last one."""

    @abstractmethod
    def _history_row(self, game: G) -> str:
        """A finished game in one line, without what it has brought."""

    # What all rooms do alike.

    @property
    def _is_playing(self) -> bool:
        return self._player.game is not None

    def _add_notice(self, text: str) -> None:
        """Tell news, behind what was told since the person said something."""
        self._notice = text if self._is_notice_stale else f"{self._notice} {text}".strip()
        self._is_notice_stale = False

    def _add_finished_game(self) -> None:
        """Add a game that has just ended to the history."""
        last = self._player.last_game
        if last is None or len(self._nets) == self._nets_shown:
            return
        self._nets_shown = len(self._nets)
        self._history.append(f"{self._history_row(last)} {last.net:+d}")
        how = f"You {'win' if last.net > 0 else 'lose'} {abs(last.net)}." if last.net else "Nobody wins."
        self._add_notice(how)

    def _all_choices(self) -> list[Choice[M]]:
        """Everything that may be done, and its keys."""
        return [*self._choices(), Choice("q", "leave", TableAction.LEAVE)]

    def _current_prompt(self) -> NumberPrompt[M] | None:
        return None if self.is_spent else self._number_prompt()

    def _submit_number(self, ask: NumberPrompt[M], amount: int) -> M | None:
        """What a number says that has been typed to its end."""
        message = ask.make_message(amount)
        if message in self._player.legal:
            return message
        self._notice = (
            f"You cannot {ask.verb} {amount}; allowed: {f'1 to {ask.maximum}' if ask.maximum else 'no more'}."
        )
        return None

    def _hint(self) -> str:
        """The keys that do something now."""
        if not self._is_seated:
            return f"Connecting {encodable_or('…', '...')}  [q] leave"
        ask = self._current_prompt()
        *choices, leave = [
            f"[{'/'.join(KEY_NAMES.get(key, key) for key in keys)}] {told}" for keys, told, _ in self._all_choices()
        ]
        if ask is not None and self._number_input.digits:
            choices = [f"{ask.verb} {self._number_input.digits}_".capitalize(), "[Enter] do it", "[Esc] never mind"]
        elif ask is not None:
            choices.append(f"[0-9] {ask.hint}")
        return "  ".join([*(choices or [f"Waiting for the house {encodable_or('…', '...')}"]), leave])
