"""A table at which a program plays by calls: what a person would see of it, and what a person could do."""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Self

from msgspec.structs import replace

from croupier.core.linear import linear_text
from croupier.core.presentation import ActionView, Presenter, TableView, Text, UnknownAction, find_action
from croupier.net.event_loop import cancel_all
from croupier.tui.interaction import OpenSeat, connecting_view, converse
from croupier.tui.table_keys import Choice

MAX_NOTICES: Final = 5
LEAVE: Final = "leave"


class CallDisplay:
    """A `Display` that is read and answered by calls instead of a screen and keys."""

    def __init__(self, view: TableView) -> None:
        self.view = view
        self.notices: deque[Text] = deque(maxlen=MAX_NOTICES)
        self._choices: asyncio.Queue[Choice] = asyncio.Queue()
        self._is_taken = True  # whether the conversation has taken the last choice
        self._is_answered = True  # whether it has also shown a view since
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    def show(self, view: TableView) -> None:
        """See `Display.show`."""
        self.view = view
        self._is_answered = self._is_taken or view.is_over
        self._changed.set()

    def notify(self, notice: Text | None) -> None:
        """See `Display.notify`."""
        if notice is not None:
            self.notices.append(notice)

    async def choose(self) -> Choice:
        """See `Display.choose`."""
        choice = await self._choices.get()
        self._is_taken = True
        return choice

    def answer(self, choice: Choice) -> None:
        """Make a choice."""
        self.notices.clear()
        self._is_taken = self._is_answered = False
        self._choices.put_nowait(choice)

    @property
    def can_act(self) -> bool:
        """Whether the program can do anything but leave."""
        return self._is_answered and self.view.blocked is None and any(each.id != LEAVE for each in self.view.actions)

    async def settle(self) -> None:
        """Wait until the program can act or the table is over."""
        while not (self.can_act or self.view.is_over):
            self._changed.clear()
            await self._changed.wait()


class CallTable:
    """A table with a seat for a program. `open` sits down; `leave` or `close` leaves."""

    def __init__(self, presenter: Presenter[Any, Any, Any], open_seat: OpenSeat, place: str) -> None:
        self._display = CallDisplay(connecting_view(presenter, place))
        self._conversation = asyncio.ensure_future(converse(presenter, open_seat, self._display))

    @property
    def end_reason(self) -> Text | None:
        """Why nothing more will happen at the table, None if something may."""
        return self._display.view.status if self._display.view.is_over else None

    def observe(self) -> dict[str, object]:
        """What a person at this seat sees, as lines of text, and what can be done."""
        view, display = self._display.view, self._display
        can_act = display.can_act
        seconds_left = None if view.deadline is None or not can_act else round(view.deadline)
        return {
            "text": "\n".join(map(str, linear_text(replace(view, actions=())))),
            "your_turn": can_act,
            "seconds_left": seconds_left,
            "is_over": view.is_over,
            "results": [str(result) for result in view.results],
            "notices": [str(notice) for notice in display.notices],
            "actions": self.legal_actions(),
        }

    def legal_actions(self) -> list[Mapping[str, object]]:
        """What can be done now, the most usual first."""
        return [_action_values(action) for action in self._display.view.actions]

    async def act(self, action: str, amount: int | None, wait_seconds: float) -> None:
        """Do something, and wait until something else can be done. Raises UnknownAction if it is not offered now."""
        offered = find_action(self._display.view.actions, action, amount)
        if offered.amount is None and amount is not None:
            raise UnknownAction(f"found {action} {amount}; allowed: {action}, without a number")
        if not self._display.can_act:
            raise UnknownAction(f"found {action} before the last action was answered; observe the table first")
        self._display.answer(Choice(action, amount))
        await self.settle(wait_seconds)

    async def settle(self, seconds: float) -> None:
        """Wait until the program can act or the table is over, for at most this time.

        Raises what has ended the conversation, if it was no end of a game.
        """
        settling = asyncio.ensure_future(self._display.settle())
        await asyncio.wait({settling, self._conversation}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        settling.cancel()
        if self._conversation.done():
            self._conversation.result()

    async def leave(self, wait_seconds: float) -> None:
        """Leave the table, and wait until that is done."""
        if not self._conversation.done():
            self._display.answer(Choice(LEAVE))
            await asyncio.wait({self._conversation}, timeout=wait_seconds)
        await self.close()

    async def close(self) -> None:
        """End the conversation, however far it is."""
        await cancel_all(self._conversation)


def _action_values(action: ActionView) -> Mapping[str, object]:
    """An action: its id, what it is called and leads to, what it costs to leave, and the range of its number."""
    values: dict[str, object] = {"action": action.id, "label": str(action.label), "help": str(action.help)}
    if action.warning is not None:
        values["warning"] = str(action.warning)
    if action.amount is not None:
        presets = {str(name): number for name, number in action.amount.presets}
        values["amount"] = {"low": action.amount.low, "high": action.amount.high, "presets": presets}
    return values
