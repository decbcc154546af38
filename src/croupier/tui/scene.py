"""What the screens of all rooms have in common: their parts, and the meaning of keys."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Any, ClassVar, NamedTuple

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.tui.frame import SceneFrame, terminal_text
from croupier.tui.keys import BACKSPACE, ENTER, ESCAPE
from croupier.tui.number_input import NumberInput

SCENE_WIDTH_COLUMNS = 72
KEY_NAMES = {ENTER: "Enter", BACKSPACE: "Backspace", ESCAPE: "Esc"}


class TableAction(Enum):
    """An action of a person that is no message, and ends the current connection."""

    LEAVE = "leave"
    REJOIN = "sit down again, on a new connection"


class PrefilledNumber(NamedTuple):
    """The result of a choice that fills in a number, for the person to confirm with Enter."""

    number: int


class Choice[M](NamedTuple):
    """A choice: its keys, its label, and the move, number or action it results in."""

    keys: str
    label: str
    result: M | PrefilledNumber | TableAction


class NumberPrompt[M](NamedTuple):
    """A number that may be entered: its purpose as a verb, its hint, the allowed numbers as text, and its move.

    `make_move` returns None for a number that is not allowed.
    """

    verb: str
    hint: str
    allowed: str
    make_move: Callable[[int], M | None]


class Scene[M, C: AbstractAsyncContextManager[Any]](ABC):
    """A room for a person: what its screen shows, what its keys do, and how moves get to the room's client.

    `place` is the address of the server. The client is entered to join a table and exited to leave it; joining and
    leaving may take `timeout_seconds` each. `can_leave_early` is whether the person may leave before the client has
    joined. `errors` are the exceptions that end the session. The screen is drawn when something happens, and at least
    every `redraw_seconds`.
    """

    TITLE: ClassVar[str]
    WELCOME: ClassVar[str]
    errors: ClassVar[tuple[type[Exception], ...]]
    can_leave_early: ClassVar[bool] = True
    timeout_seconds: ClassVar[float | None] = None
    redraw_seconds: ClassVar[float | None] = None

    def __init__(self, place: str) -> None:
        self._place = place
        self._client: C
        self._is_seated = False
        self._number_input = NumberInput()
        self._notice = ""
        self._waiting_notice = ""
        self._is_confirming_leave = False
        self._is_over = False

    # The client.

    def sit(self, client: C) -> M | None:
        """Start to show a client that has joined. Return a move to submit at once, if any."""
        self._client = client
        self._is_seated = True
        self._number_input = NumberInput()
        self._is_confirming_leave = False
        self._notice = self.WELCOME
        return None

    @abstractmethod
    async def receive(self) -> Any:
        """Wait for the next thing to show; None if there will be nothing more."""

    @abstractmethod
    async def submit(self, move: M) -> str | None:
        """Send a move. Return None, or the reason why the server did not accept it."""

    @abstractmethod
    def end_reason(self, error: Exception) -> str:
        """Return the text for one of `errors`; raise the error if it is to end the program."""

    # Events.

    @abstractmethod
    def on_received(self, item: Any) -> None:
        """Show what was received."""

    def on_closed(self) -> None:  # noqa: B027 -- not every room shows it
        """Show that there will be nothing more."""

    def on_submitted(self, move: M) -> None:  # noqa: ARG002 -- subclasses use it
        """Note that a move is about to be sent."""
        self._notice = ""

    def on_answered(self, refusal: str | None) -> None:  # noqa: B027 -- not every room shows it
        """Show the answer to a move, as `submit` returned it."""

    def on_ended(self, reason: str) -> None:
        """Show the reason why the session has ended."""
        self._notice = reason
        self._waiting_notice = ""
        self._is_over = True

    def show_waiting_notice(self, notice: str) -> None:
        """Show a notice until something is received."""
        self._waiting_notice = notice

    # Keys.

    def press(self, key: str) -> M | TableAction | None:
        """Handle a key. Return the move or table action it means, None if there is nothing to do."""
        was_confirming, self._is_confirming_leave = self._is_confirming_leave, False
        if was_confirming and key == ESCAPE:
            self._notice = ""
            return None
        if self._accept_input(key):
            return None
        prompt = self._number_prompt()
        if prompt is not None and self._number_input.digits and key == ENTER:
            return self._submit_number(prompt, self._number_input.pop_value())
        self._number_input = NumberInput()
        for choice in self._all_choices():
            if key.lower() in choice.keys:
                if choice.result is TableAction.LEAVE and not was_confirming and (warning := self._leave_warning()):
                    self._is_confirming_leave = True
                    self._notice = warning
                    return None
                if isinstance(choice.result, PrefilledNumber):
                    self._number_input.digits = str(choice.result.number)
                    return None
                return choice.result
        self._notice = f"{KEY_NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """Return the screen: table, status, notice, score, history and keys."""
        above = [*self._render_table()]
        if not self._is_over and (status := self._status_text()):
            above.append(Text(status))
        above += [
            Text(terminal_text(f"{self._notice} {self._waiting_notice}".strip()), style="bold"),
            Text(self._score_text()),
        ]
        below = [] if self._is_over else [Text(self._hint(), style="reverse")]
        return Constrain(
            SceneFrame(f"{self.TITLE} at {self._place}", above, self._history_lines(), below), SCENE_WIDTH_COLUMNS
        )

    # Implemented by subclasses.

    @abstractmethod
    def _choices(self) -> Iterable[Choice[M]]:
        """Return the current choices, without leaving."""

    @abstractmethod
    def _render_table(self) -> Sequence[RenderableType]:
        """Render the table; nothing before there is one."""

    @abstractmethod
    def _score_text(self) -> str:
        """Return a line with the results so far."""

    @abstractmethod
    def _history_lines(self) -> Iterable[str]:
        """Return the latest events or games, oldest first."""

    def _number_prompt(self) -> NumberPrompt[M] | None:
        """Return the number that may be entered now, None if there is none."""
        return None

    def _accept_input(self, key: str) -> bool:
        """Apply a key that enters something and is no choice. Return whether the key was used."""
        return self._number_prompt() is not None and self._number_input.accept_key(key)

    def _leave_warning(self) -> str:
        """Return what is lost by leaving now, which has to be confirmed; "" if nothing is."""
        return ""

    def _status_text(self) -> str:
        """Return a line that says what the game is waiting for; "" for none."""
        return ""

    def _input_hints(self) -> list[str]:
        """Return what comes before the choices in the line of keys."""
        return []

    # Shared by all rooms.

    def _all_choices(self) -> list[Choice[M]]:
        """Return all choices with their keys."""
        return [*self._choices(), Choice("q", "leave", TableAction.LEAVE)]

    def _submit_number(self, prompt: NumberPrompt[M], number: int) -> M | None:
        """Return the move for a number that was entered, None with a notice if it is not allowed."""
        move = prompt.make_move(number)
        if move is None:
            self._notice = f"You cannot {prompt.verb} {number}; allowed: {prompt.allowed}."
        return move

    def _hint(self) -> str:
        """Return the line of keys that do something now."""
        if self._is_confirming_leave:
            return "[q] leave anyway  [Esc] stay"
        prompt = self._number_prompt()
        *choices, leave = [
            f"[{'/'.join(KEY_NAMES.get(key, key) for key in keys)}] {label}" for keys, label, _ in self._all_choices()
        ]
        if prompt is not None and self._number_input.digits:
            choices = [f"{prompt.verb} {self._number_input.digits}_".capitalize(), "[Enter] confirm", "[Esc] cancel"]
        elif prompt is not None:
            choices.append(f"[0-9] {prompt.hint}")
        return "  ".join([*self._input_hints(), *choices, leave])
