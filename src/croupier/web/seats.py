"""Seats: what a person in a browser acts through."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from croupier.core.presentation import Presenter, TableCommand, TableView, Text, new_items, text
from croupier.web.feed import Feed, RenderTable, Snapshot
from croupier.web.frames import MAX_FRAMES, FrameView, message_frame

ANSWER_SECONDS: Final = 1.0
"""An action waits this long for the answer of the table; a later answer reaches the browser by the stream."""

WAITING_VIEW_SECONDS: Final = 0.05
"""A view that only waits for an answer is published after this time, because the answer mostly comes at once."""

LEFT: Final = text("You have left the table.")
TABLE_CLOSED: Final = text("The house has closed the connection.")
SERVER_CLOSING: Final = text("The server is shutting down.")


class StaleVersion(Exception):
    """The action belongs to an older version of the table than the current one."""


class Seat(ABC):
    """A person's seat at a table, and the feed of what the person sees.

    `on_over` is called when nothing more will happen at the seat. `close_reason` is shown when the house closes it.
    """

    _presenter: Presenter[Any, Any, Any]

    def __init__(self, render: RenderTable, max_frames: int = MAX_FRAMES) -> None:
        self._loop = asyncio.get_running_loop()
        self._frames: deque[FrameView] = deque(maxlen=max_frames)
        self._frame_count = 0
        self._publish_timer: asyncio.Handle | None = None
        self._answered = asyncio.Event()
        self.on_over: Callable[[], None] | None = None
        self.close_reason = TABLE_CLOSED
        self.feed = Feed(self._snapshot(), render)

    @property
    def version(self) -> str:
        """The version of the current snapshot."""
        return self.feed.snapshot.version

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen at this seat."""
        return self.feed.is_over

    @property
    def shared_id(self) -> str | None:
        """The same for all browsers that have this seat; None if no other browser can have it."""
        return None

    async def submit(self, action: str, amount: int | None, version: str) -> bool:
        """Do an action of the view with this version, and return whether it was answered within ANSWER_SECONDS.

        Raises StaleVersion, and UnknownAction if the view does not offer the action.
        """
        if version != self.version:
            raise StaleVersion
        self._answered.clear()
        self._act(action, amount)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while self._is_waiting:
                    await self._answered.wait()
                    self._answered.clear()
        except TimeoutError:
            return False
        finally:
            self.publish_now()
        return True

    def detach(self) -> None:
        """Leave the seat to the other browsers that have it."""
        self.leave()

    def leave(self) -> None:
        """Leave the table: the person gives up the seat."""
        self.close(LEFT)

    @abstractmethod
    def close(self, reason: Text) -> None:
        """End the seat, unless it has ended."""

    def _act(self, action: str, amount: int | None) -> None:
        """Do an action. Raises UnknownAction."""
        match self._presenter.move(action, amount):
            case TableCommand.LEAVE:
                self.leave()
            case TableCommand.REJOIN:
                self._rejoin()
            case move:
                self._make_move(move)

    @abstractmethod
    def _rejoin(self) -> None:
        """Sit down again at the same table."""

    @abstractmethod
    def _make_move(self, move: Any) -> None:
        """Send a move, and show it."""

    def _end(self, reason: Text) -> None:
        """Show that nothing more will happen at the seat."""
        self._presenter.ended(reason)
        self._changed()

    @property
    @abstractmethod
    def _is_waiting(self) -> bool:
        """Whether an answer of the table is due."""

    @abstractmethod
    def _view(self) -> TableView:
        """Return the table as the person sees it now."""

    def _add_frame(self, sender: str, frame_text: str, data: bytes, clause: str = "") -> None:
        """Show a message with its bytes."""
        self._frame_count += 1
        self._frames.append(message_frame(sender, frame_text, data, clause, self._frame_count))

    # Publishing.

    @property
    def _is_ended(self) -> bool:
        """Whether the last view is known, though perhaps not published yet."""
        return self._view().is_over

    def _changed(self) -> None:
        """Publish the view soon; several changes in one turn of the loop become one version."""
        self._answered.set()
        if self._publish_timer is None or not self._is_waiting:
            self._cancel_publishing()
            if self._is_waiting:
                self._publish_timer = self._loop.call_later(WAITING_VIEW_SECONDS, self.publish_now)
            else:
                self._publish_timer = self._loop.call_soon(self.publish_now)

    def publish_now(self) -> None:
        """Publish what has changed, if anything has."""
        if self._publish_timer is not None:
            self._cancel_publishing()
            self.feed.publish(self._snapshot(self.feed.snapshot.view))
            if self.feed.snapshot.view.is_over and not self.is_over:
                self.feed.end()
                if self.on_over is not None:
                    self.on_over()

    def _cancel_publishing(self) -> None:
        if self._publish_timer is not None:
            self._publish_timer.cancel()
            self._publish_timer = None

    def _snapshot(self, before: TableView | None = None) -> Snapshot:
        view = self._view()
        return Snapshot(view, (*self._frames,), self._loop.time(), news=news(before, view))


def news(before: TableView | None, view: TableView) -> Sequence[Text]:
    """Return the announcements that an earlier view did not have, and how the game waits or has ended, if that is new.

    >>> [str(each) for each in news(TableView(title=text("A"), seats=()), TableView(title=text("A"), seats=()))]
    []
    """
    found = [*new_items(() if before is None else before.announcements, view.announcements)]
    status = view.blocked or view.status
    if status is not None and (before is None or status != (before.blocked or before.status)):
        found.append(status)
    return found
