"""Requests for houses of other nodes: sent to the owner over the bus, once.

A request is sent again only if it was certainly not performed: nobody served the owner's subject, or it was not the
owner any more. If no answer comes, the client gets 503 (holdem-3.17): the act may have been carried out, and the game
shows it. So no act is ever applied twice, and requests need no identity of their own.
"""

import asyncio
from asyncio import Future
from collections import defaultdict
from collections.abc import Callable, Container
from typing import Final

from msgspec.json import encode

from croupier.cluster.bus import Bus, BusUnavailable, NotDelivered
from croupier.cluster.directory import Directory
from croupier.cluster.messages import (
    Forwarded,
    HandWanted,
    NodeRequest,
    PositionWanted,
    Reply,
    Views,
    ViewsWanted,
    decode_reply,
    decode_request,
    decode_views,
    node_subject,
)
from croupier.cluster.mirror import ViewMirror, ViewPublisher
from croupier.http.holdem_answers import STORE_DOWN, Answered, refusal
from croupier.http.house_group import HouseGroup
from croupier.observers.counters import ClusterCounters
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.places import house_of
from croupier.rooms.holdem.wire import Created, Guid, HoldemRequest, HoldemResponse, Open, Queued

ANSWER_SECONDS: Final = 2.5
"""The time that the owner has for an answer."""

OWNER_SECONDS: Final = 1.0
"""A request waits this long for a house that is changing its owner."""

LOOK_SECONDS: Final = 0.02
"""The time between two looks for the owner."""

VIEW_SECONDS: Final = 1.0
"""An answer waits at most this long for the views that show what the request has changed."""


class Forwarder:
    """Sends requests to the nodes that own their houses, and performs those of other nodes here."""

    def __init__(
        self,
        bus: Bus,
        group: HouseGroup,
        directory: Directory,
        publisher: ViewPublisher,
        *,
        node: str,
        now: Callable[[], float],
        counts: ClusterCounters,
    ) -> None:
        self.mirror: ViewMirror
        self._limits: defaultdict[str, set[asyncio.Timeout]] = defaultdict(set)  # of answers, by node
        self._bus = bus
        self._counts = counts
        self._group = group
        self._directory = directory
        self._node = node
        self._publisher = publisher
        self._now = now

    # As `Elsewhere` of the group.

    def submit(self, house: int | None, request: HoldemRequest) -> Answered:
        """Forward a request to the owner of a house; None is any house that can open a game."""
        loop = asyncio.get_running_loop()
        return asyncio.Task(self._submit(house, request), loop=loop, eager_start=True)  # it is sent in this turn

    def look_up(self, house: int) -> Future[None]:
        """Wait until the views show what the owner of a house shows now. Raises HTTPError if they do not."""
        return asyncio.get_running_loop().create_task(self._look_up(house))

    def find_hand(self, house: int, game: Guid, number: int) -> Future[FinishedHand | None]:
        """Ask the owner of a house for a finished hand."""
        return asyncio.get_running_loop().create_task(self._find_hand(house, HandWanted(game, number)))

    async def fetch_views(self, house: int, after: int) -> Views:
        """Return a page of the tables of a house from its owner. Raises BusUnavailable."""
        return decode_views((await self._ask(house, ViewsWanted(house, after))).answer)

    async def _submit(self, house: int | None, request: HoldemRequest) -> HoldemResponse:
        try:
            reply = await self._ask(house, Forwarded(request))
        except BusUnavailable:
            return STORE_DOWN
        await self.mirror.wait_for(reply.house, reply.position, VIEW_SECONDS)
        response = reply.response
        if isinstance(response, Created | Queued) and self._group.views.games.get(response.game) is None:
            return STORE_DOWN  # it was carried out, but cannot be shown
        return response

    async def _look_up(self, house: int) -> None:
        try:
            reply = await self._ask(house, PositionWanted(house))
        except BusUnavailable:
            raise refusal(STORE_DOWN) from None
        if not await self.mirror.wait_for(house, reply.position, VIEW_SECONDS):
            raise refusal(STORE_DOWN)

    async def _find_hand(self, house: int, wanted: HandWanted) -> FinishedHand | None:
        try:
            return (await self._ask(house, wanted)).hand
        except BusUnavailable:
            raise refusal(STORE_DOWN) from None

    async def _ask(self, house: int | None, request: NodeRequest) -> Reply:
        """Ask the owner of a house, which may be this node meanwhile.

        Raises BusUnavailable: there is no owner for a while, or the request may have been performed.
        """
        body, end = encode(request), self._now() + OWNER_SECONDS
        while True:
            owner = self._owner(house)
            if owner == self._node:
                reply = await self.perform(request)
            elif owner is not None:
                reply = await self._request(owner, body)
            else:
                reply = Reply(is_owner=False)
            if reply.is_owner:
                return reply
            if self._now() >= end or self._group.trouble is not None:
                raise BusUnavailable("the house has no owner")
            await asyncio.sleep(LOOK_SECONDS)

    async def _request(self, owner: str, body: bytes) -> Reply:
        """Send a request to a node, and wait for the answer as long as that node lives.

        Raises BusUnavailable: it may have been performed.
        """
        began = self._now()
        try:
            async with asyncio.timeout(None) as limit:
                self._limits[owner].add(limit)
                reply = decode_reply(await self._bus.request(node_subject(owner), body, ANSWER_SECONDS))
        except NotDelivered:
            reply = Reply(is_owner=False)
        except (BusUnavailable, TimeoutError) as error:
            self._counts.forwarded["lost"] += 1
            raise BusUnavailable(f"{owner} did not answer") from error
        finally:
            self._limits[owner].discard(limit)
        self._counts.forwarded["answered" if reply.is_owner else "undelivered"] += 1
        if reply.is_owner:
            self._counts.forward_times.observe(self._now() - began)
        return reply

    def give_up(self, live: Container[str]) -> None:
        """Wait no longer for answers of nodes that are not among those that live."""
        now = asyncio.get_running_loop().time()
        for owner in [owner for owner in self._limits if owner not in live]:
            for limit in self._limits.pop(owner):
                limit.reschedule(now)

    def _owner(self, house: int | None) -> str | None:
        if house is not None:
            return self._directory.live_owner(house, self._now())
        owners = self._directory.owners(self._now())
        return min(owners, default=None, key=lambda node: (node == self._node, node))

    # Requests of other nodes.

    async def answer(self, body: bytes) -> bytes:
        """Perform a request of another node, and return the reply."""
        return encode(await self.perform(decode_request(body)))

    async def perform(self, request: NodeRequest) -> Reply:
        """Perform a request if its house runs here."""
        if isinstance(request, Forwarded):
            return await self._perform(request.request)
        house = house_of(request.game, self._group.houses) if isinstance(request, HandWanted) else request.house
        if house is None or house not in self._group.services:
            return Reply(is_owner=False)
        match request:
            case HandWanted(game, number):
                hand = self._group.find_hand(game, number)
                return Reply() if not isinstance(hand, FinishedHand) else Reply.of_hand(hand)
            case ViewsWanted(_, after):
                return Reply.of_views(self._publisher.page(house, after))
            case PositionWanted():
                return Reply(position=self._publisher.position(house))

    async def _perform(self, request: HoldemRequest) -> Reply:
        answer = self._group.submit_here(request)
        if answer is None:
            return Reply(is_owner=False)
        response = await answer if isinstance(answer, Future) else answer
        game = getattr(response if isinstance(request, Open) else request, "game", "")
        house = house_of(game, self._group.houses) or 0
        return Reply.of(response, house, self._publisher.position(house))
