"""Lets a person play in any room: shows what its client receives, and submits the moves of the person."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, Final

from croupier.core.presentation import LEAVE, Presenter, TableCommand, TableView, Text, UnknownAction, text
from croupier.net.event_loop import cancel_all
from croupier.tui.display import Display, open_display
from croupier.tui.seats import Seat
from croupier.tui.table_keys import Choice

REDRAW_SECONDS: Final = 1.0
"""A view with a deadline is shown again after this time."""

HAS_LEFT: Final = text("You have left the table.")

type OpenSeat = Callable[[Callable[[Text], None]], Seat[Any]]
"""Returns a seat on a new connection. Its argument shows a notice while the client is waiting."""


async def interact(presenter: Presenter[Any, Any, Any], open_seat: OpenSeat, place: str, *, plain: bool) -> int:
    """Let a person play at a place, the address of a server, until they leave.

    Return the exit status: 1 if the conversation has ended otherwise. With `plain` the table is shown as lines of text.
    """
    async with open_display(place, presenter.rules, connecting_view(presenter, place), plain=plain) as display:
        return await converse(presenter, open_seat, display)


def connecting_view(presenter: Presenter[Any, Any, Any], place: str) -> TableView:
    """Return the view of a table before the person sits down."""
    blocked = text("Connecting to {place}.", place=place)
    return TableView(title=presenter.title, seats=(), actions=(LEAVE,), blocked=blocked)


async def converse(presenter: Presenter[Any, Any, Any], open_seat: OpenSeat, display: Display) -> int:
    """Let a person play until they leave, in one or several connections. Return the exit status as `interact`."""
    is_seated = False
    while True:
        conversation = Conversation(presenter, open_seat, display)
        command, reason = await conversation.hold()
        is_seated |= conversation.is_seated
        if command is TableCommand.REJOIN:
            continue
        ending = reason or HAS_LEFT
        if is_seated:
            presenter.ended(ending)
            display.show(presenter.table(0.0))
        else:
            display.show(TableView(title=presenter.title, seats=(), status=ending, is_over=True))
        return 1 if command is None else 0


class Conversation:
    """A person's conversation with a server, from joining to leaving."""

    def __init__(self, presenter: Presenter[Any, Any, Any], open_seat: OpenSeat, display: Display) -> None:
        self.is_seated = False
        self._presenter = presenter
        self._display = display
        self._is_waiting_shown = False
        self._seat = open_seat(self._notify_waiting)
        self._is_leaving = False

    async def hold(self) -> tuple[TableCommand | None, Text | None]:
        """Join, play and leave. Return the person's last command, or None and the reason of another end."""
        try:
            async with AsyncExitStack() as stack:
                if not await self._join():
                    return TableCommand.LEAVE, None
                stack.push_async_exit(partial(_leave, self._seat))
                return TableCommand.LEAVE if self._is_leaving else await self._play(), None
        except self._seat.errors as error:
            return None, self._seat.end_reason(error)

    async def _join(self) -> bool:
        """Sit down. Return False if the person has left instead."""
        entering = asyncio.ensure_future(_enter(self._seat))
        leaving = asyncio.ensure_future(self._display.choose())  # nothing else is offered
        try:
            await asyncio.wait({entering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            self._is_leaving = leaving.done()
            if self._is_leaving and self._seat.can_interrupt and not entering.done():
                return False
            await entering
        finally:
            await cancel_all(entering, leaving)
        return True

    async def _play(self) -> TableCommand:
        """Handle what is received, answers to moves, and choices, until the person leaves or sits down again."""
        seat, presenter = self._seat, self._presenter
        answer: asyncio.Future[Text | None] = asyncio.get_running_loop().create_future()  # to the last move
        first_move = presenter.sit(seat.player, seat.purse)
        self.is_seated = True
        if first_move is not None:
            answer = await self._submit(first_move)
        view = self._show()
        received: asyncio.Future[Any] = asyncio.ensure_future(seat.receive())
        choice: asyncio.Future[Choice] = asyncio.ensure_future(self._display.choose())
        try:
            while True:
                awaited: set[asyncio.Future[Any]] = {received, answer, choice}
                timeout = None if view.deadline is None else REDRAW_SECONDS
                await asyncio.wait(awaited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                received = self._receive(received)
                if answer.done():
                    refusal = answer.result()
                    answer = asyncio.get_running_loop().create_future()
                    if refusal is not None:
                        self._is_waiting_shown = False
                        self._display.notify(refusal)
                        # Nothing newer than the last state may ever come: ask for the current one.
                        await cancel_all(received)
                        received = asyncio.ensure_future(seat.receive())
                if choice.done():
                    move = self._move(choice.result())
                    if isinstance(move, TableCommand):
                        return move
                    if move is not None:
                        answer = await self._submit(move)
                    received = self._receive(received)
                    choice = asyncio.ensure_future(self._display.choose())
                view = self._show()
        finally:
            await cancel_all(received, answer, choice)

    def _notify_waiting(self, notice: Text) -> None:
        """Show until the next message that the client is waiting."""
        self._is_waiting_shown = True
        self._display.notify(notice)

    def _receive(self, received: "asyncio.Future[Any]") -> "asyncio.Future[Any]":
        """Present all that the session has handled. Return the future of the next, which never comes after the end."""
        while received.done():
            item = received.result()
            if item is None:
                return asyncio.get_running_loop().create_future()
            self._present(item)
            received = asyncio.ensure_future(self._seat.receive())
        while (item := self._seat.receive_nowait()) is not None:
            self._present(item)
        return received

    def _present(self, item: Any) -> None:
        if self._is_waiting_shown:
            self._is_waiting_shown = False
            self._display.notify(None)
        self._presenter.received(item)

    def _move(self, choice: Choice) -> Any:
        """Return the move or the command of a choice, None if it is not offered any more."""
        try:
            return self._presenter.move(choice.action, choice.amount)
        except UnknownAction:
            self._display.notify(text("The table has changed meanwhile; nothing was sent."))
            return None

    async def _submit(self, move: Any) -> "asyncio.Future[Text | None]":
        """Send a move and present it. Return the future of the answer."""
        answer = asyncio.ensure_future(self._seat.submit(move))
        await asyncio.sleep(0)  # the session handles the move before the client waits for anything
        if not answer.done() or answer.exception() is None:
            self._presenter.sent(move)
        return answer

    def _show(self) -> TableView:
        view = self._presenter.table(self._seat.now())
        self._display.show(view)
        return view


async def _enter(seat: Seat[Any]) -> None:
    try:
        async with asyncio.timeout(seat.timeout_seconds):
            await seat.__aenter__()
    except TimeoutError:
        raise ConnectionError("no answer") from None


async def _leave(seat: Seat[Any], *error: Any) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seat.timeout_seconds):
            await seat.__aexit__(*error)
