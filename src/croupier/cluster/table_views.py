"""Views of private tables for the other nodes, which ask for them while somebody watches: otherwise nothing is sent.

A node that shows a table of another one asks for a view that is newer than the one that it has; the node of the table
answers when there is one. So every view that arrives is the newest one, and a slow node skips views.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import count
from typing import Final

from msgspec import Struct
from msgspec.json import Decoder, encode

from croupier.cluster.bus import Bus, BusUnavailable
from croupier.cluster.node import Node
from croupier.core.presentation import TableView
from croupier.core.session import Peer
from croupier.net.event_loop import wait_set
from croupier.net.timer import Timer

WAIT_SECONDS: Final = 1.0
"""The node of a table waits this long for a newer view before it answers that there is none."""

ANSWER_SECONDS: Final = WAIT_SECONDS + 2.5
"""The time that it has for an answer."""

ASK_AGAIN_SECONDS: Final = 0.25
"""The pause before a node is asked again that has not answered."""

IDLE_SECONDS: Final = 5.0
"""A table is followed for this long after the last question for it."""

MAX_FOLLOWED: Final = 100
"""The number of tables that a node follows for others at a time."""

TAG_CHARACTERS: Final = 6
"""Of the process of a node, these first ones are the node's tag in the ids of its tables."""


class ViewWanted(Struct, frozen=True, gc=False, omit_defaults=True):
    """A question for the table of a client in a room of the node. `known` is the number of the last view, 0 if none."""

    room: str
    peer: Peer
    known: int = 0


class ViewAnswer(Struct, frozen=True, gc=False, omit_defaults=True):
    """The answer: the number of the newest view, 0 if there is no such table, and the view if it is not known.

    With `is_full` the node follows no more tables now.
    """

    number: int = 0
    view: TableView | None = None
    is_full: bool = False


decode_wanted: Final = Decoder(ViewWanted).decode
decode_answer: Final = Decoder(ViewAnswer).decode


def view_subject(process: str) -> str:
    """Return the subject on which the process of a node is asked for views."""
    return f"croupier.table.{process}"


class FollowedTable:
    """A table that is followed for other nodes, until its `views` end. `numbers` number them."""

    def __init__(self, views: AsyncGenerator[TableView], numbers: Iterator[int]) -> None:
        self.removal = Timer()
        self._numbers = numbers
        self._number = 0
        self._view: TableView | None = None
        self._changed = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._follow(views))

    @property
    def is_over(self) -> bool:
        """Whether no newer view will come."""
        return self._task.done()

    def close(self) -> None:
        """Follow the table no longer."""
        self._task.cancel()

    async def newer_view(self, known: int) -> ViewAnswer:
        """Return the newest view if it has another number than the known one, perhaps after a while."""
        if self._number == known and self.is_over:
            return ViewAnswer()
        if self._number == known:
            await wait_set(self._changed, WAIT_SECONDS)
        return ViewAnswer(self._number, None if self._number == known else self._view)

    async def _follow(self, views: AsyncGenerator[TableView]) -> None:
        async with aclosing(views):
            async for view in views:
                if view != self._view:
                    self._view, self._number = view, next(self._numbers)
                    self._changed.set()
                    self._changed.clear()


class TableViews:
    """The tables of this node that others watch. `follow` returns the views of a client's table in a room, if any."""

    def __init__(self, bus: Bus, process: str, follow: Callable[[str, Peer], AsyncGenerator[TableView] | None]) -> None:
        self._bus = bus
        self._process = process
        self._follow = follow
        self._numbers = count(1)
        self._tables: dict[tuple[str, Peer], FollowedTable] = {}

    async def start(self) -> None:
        """Answer the questions of the other nodes. Raises BusUnavailable."""
        await self._bus.serve(view_subject(self._process), self._answer)

    def close(self) -> None:
        """Follow no table any more."""
        for key in [*self._tables]:
            self._remove(key)

    async def _answer(self, body: bytes) -> bytes:
        wanted = decode_wanted(body)
        key = wanted.room, wanted.peer
        if (table := self._tables.get(key)) is not None and table.is_over and not wanted.known:
            self._remove(key)
            table = None
        if table is None:
            if len(self._tables) >= MAX_FOLLOWED:
                return encode(ViewAnswer(is_full=True))
            if (views := self._follow(*key)) is None:
                return encode(ViewAnswer())
            table = self._tables[key] = FollowedTable(views, self._numbers)
        table.removal.set(IDLE_SECONDS, self._remove, key)
        return encode(await table.newer_view(wanted.known))

    def _remove(self, key: tuple[str, Peer]) -> None:
        removed = self._tables.pop(key)
        removed.close()
        removed.removal.cancel()


class RoomElsewhere:
    """A room at the other nodes of a cluster. Each node has a tag; `own_tag` is that of this one."""

    def __init__(self, node: Node, room: str) -> None:
        self.own_tag = _tag(node.process)
        self._node = node
        self._room = room

    @property
    def connection_count(self) -> int:
        """The number of connections to the room there."""
        return self._node.connections_elsewhere(self._room)

    @property
    def newest_clients(self) -> Mapping[str, Sequence[Peer]]:
        """The numbers of the newest clients of a house, the newest first, by the tag of their node."""
        return {_tag(process): peers for process, peers in self._node.clients_elsewhere(self._room).items()}

    def views(self, tag: str, peer: Peer) -> AsyncGenerator[TableView | None]:
        """Yield what everybody may see of a client's table whenever it has changed, and None while its node is silent.

        The views end with the table, or when its node does not answer any more.
        """
        processes = self._node.clients_elsewhere(self._room)
        return self._ask(next((each for each in processes if _tag(each) == tag), ""), peer)

    async def _ask(self, process: str, peer: Peer) -> AsyncGenerator[TableView | None]:
        """Ask a process for views until the table has ended, or the process is gone."""
        known = 0
        while process and not self._node.is_gone(process):
            wanted = encode(ViewWanted(self._room, peer, known))
            try:
                answer = decode_answer(await self._node.bus.request(view_subject(process), wanted, ANSWER_SECONDS))
                if answer.is_full:
                    raise BusUnavailable("the node follows no more tables")
            except BusUnavailable:
                known = 0
                yield None
                await asyncio.sleep(ASK_AGAIN_SECONDS)
                continue
            if answer.number == 0:
                return
            known = answer.number
            if answer.view is not None:
                yield answer.view
                if answer.view.is_over:
                    return


def _tag(process: str) -> str:
    return process[:TAG_CHARACTERS]
