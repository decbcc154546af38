"""Base class of the screens of games against a house."""

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
KEY_NAMES = {ENTER: "Enter", BACKSPACE: "Backspace", ESCAPE: "Esc"}


class Choice[M](NamedTuple):
    """A choice: its keys, its label, and the message or action it results in."""

    keys: str
    label: str
    result: M | TableAction


class NumberPrompt[M](NamedTuple):
    """A number that may be entered: its purpose as a verb, its hint, its maximum, and its message."""

    verb: str
    hint: str
    maximum: int
    make_message: Callable[[int], M]


class Scene[M, G: FinishedGame](ABC):
    """The screen of a game: what it shows, and what its keys do. `house` is the address of the house.

    Subclasses describe messages of the house (`_show_message`), the choices (`_choices`, `_number_prompt`), the table
    (`_render_table`) and a line of the history (`_history_row`).
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

    # Events.

    def sit(self, game: GameClient) -> M | None:
        """Start to show a connection. Return a message to send at once, if any."""
        self._earlier_nets += self._nets
        self._player = cast(ClientSession[M, G], game.player)
        self._nets = game.nets
        self._notice = self.WELCOME
        self._nets_shown = 0
        self._number_input = NumberInput()
        self._is_seated = True
        return None

    def on_received(self, message: M) -> None:
        """Show a message of the house."""
        self._waiting_notice = ""
        self._goodbye = ""
        self._show_message(message)

    def on_sent(self, message: M) -> None:  # noqa: ARG002 -- some subclasses use it
        """Note that a message was sent: the next notice replaces the current one."""
        self._is_notice_stale = True

    def show_waiting_notice(self, notice: str) -> None:
        """Show a notice until the house sends a message."""
        self._waiting_notice = notice

    def on_house_closed(self) -> None:
        """Show that the house closed the connection, when a new one can continue the game."""
        self._add_notice("The house has closed this table.")

    def on_ended(self, reason: str) -> None:
        """Show the reason why the session has ended."""
        self._notice = f"{self._goodbye} {reason}".strip()
        self._waiting_notice = ""
        self._is_over = True

    @property
    def is_spent(self) -> bool:
        """Whether this connection allows no further game; a new one may."""
        return self._player.is_exhausted

    def press(self, key: str) -> M | TableAction | None:
        """Handle a key. Return the message or table action it means, None if there is nothing to do."""
        prompt = self._current_prompt()
        if prompt is not None and self._number_input.accept_key(key):
            return None
        if prompt is not None and self._number_input.digits and key == ENTER:
            return self._submit_number(prompt, self._number_input.pop_value())
        self._number_input = NumberInput()
        for choice in self._all_choices():
            if key.lower() in choice.keys:
                return choice.result
        self._notice = f"{KEY_NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """Return the screen: table, notice, results, history and keys."""
        above = self._render_table(self._player.game or self._player.last_game) if self._is_seated else []
        nets = self._earlier_nets + self._nets
        above += [
            Text(terminal_text(f"{self._notice} {self._waiting_notice}".strip()), style="bold"),
            Text(f"Games: {len(nets)}   Coins won: {sum(nets):+d}"),
        ]
        below = [] if self._is_over else [Text(self._hint(), style="reverse")]
        return Constrain(SceneFrame(f"{self.TITLE} at {self._house}", above, self._history, below), SCENE_WIDTH_COLUMNS)

    # Implemented by subclasses.

    @abstractmethod
    def _show_message(self, message: M) -> None:
        """Describe a message of the house."""

    @abstractmethod
    def _choices(self) -> Iterable[Choice[M]]:
        """Return the current choices, without leaving."""

    def _number_prompt(self) -> NumberPrompt[M] | None:
        """Return the number that may be entered now, None if there is none."""
        return None

    @abstractmethod
    def _render_table(self, game: G | None) -> list[RenderableType]:
        """Render the current game, or the last one."""

    @abstractmethod
    def _history_row(self, game: G) -> str:
        """Return a finished game as one line, without its result in coins."""

    # Shared by all rooms.

    @property
    def _is_playing(self) -> bool:
        return self._player.game is not None

    def _add_notice(self, text: str) -> None:
        """Append to the notice, or replace it if it is from before the last message that was sent."""
        self._notice = text if self._is_notice_stale else f"{self._notice} {text}".strip()
        self._is_notice_stale = False

    def _add_finished_game(self) -> None:
        """Add a game that has just ended to the history."""
        last = self._player.last_game
        if last is None or len(self._nets) == self._nets_shown:
            return
        self._nets_shown = len(self._nets)
        self._history.append(f"{self._history_row(last)} {last.net:+d}")
        self._add_notice(f"You {'win' if last.net > 0 else 'lose'} {abs(last.net)}." if last.net else "Nobody wins.")

    def _all_choices(self) -> list[Choice[M]]:
        """Return all choices with their keys."""
        return [*self._choices(), Choice("q", "leave", TableAction.LEAVE)]

    def _current_prompt(self) -> NumberPrompt[M] | None:
        return None if self.is_spent else self._number_prompt()

    def _submit_number(self, prompt: NumberPrompt[M], amount: int) -> M | None:
        """Return the message for a number that was entered, None with a notice if it is not legal."""
        message = prompt.make_message(amount)
        if message in self._player.legal:
            return message
        self._notice = (
            f"You cannot {prompt.verb} {amount}; allowed: {f'1 to {prompt.maximum}' if prompt.maximum else 'no more'}."
        )
        return None

    def _hint(self) -> str:
        """Return the line of keys that do something now."""
        if not self._is_seated:
            return f"Connecting {encodable_or('…', '...')}  [q] leave"
        prompt = self._current_prompt()
        *choices, leave = [
            f"[{'/'.join(KEY_NAMES.get(key, key) for key in keys)}] {label}" for keys, label, _ in self._all_choices()
        ]
        if prompt is not None and self._number_input.digits:
            choices = [f"{prompt.verb} {self._number_input.digits}_".capitalize(), "[Enter] confirm", "[Esc] cancel"]
        elif prompt is not None:
            choices.append(f"[0-9] {prompt.hint}")
        return "  ".join([*(choices or [f"Waiting for the house {encodable_or('…', '...')}"]), leave])
