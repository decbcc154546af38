"""A house with accounts in a cluster: every node serves it, and one node at a time has the purse of an account."""

import asyncio
from collections.abc import Sequence
from typing import Any

from croupier.app.client_router import ClientRouter
from croupier.cluster.node import Node
from croupier.cluster.relay import AcceptedClient, Opened, StreamEnd
from croupier.core.session import Address
from croupier.net.local_connection import connect_stream
from croupier.recording.recorded_room import RecordedEndpoint
from croupier.recording.recorder import GameRecorder


class DividedHouse(RecordedEndpoint):
    """The endpoint of a house at one of its nodes.

    A client whose account has a session at another node is connected there, because its connections share one purse.
    Any other is connected here, and this node takes the account.
    """

    def __init__(self, node: Node, room: str, recorder: GameRecorder, *session_and_codec: Any, **options: Any) -> None:
        super().__init__(recorder, *session_and_codec, **options)
        assert recorder.purses is not None, "the house has accounts"
        self._purses = recorder.purses
        self._node = node
        self._router = ClientRouter(self, node.relay, room, self._connect)
        node.relay.servers[room] = self._serve

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why clients are refused now, or None if they are not."""
        return self._node.trouble or super().unavailable_reason

    def make_connection(self, address: Address | None = None) -> asyncio.Protocol:
        """Make what finds out where the session of a client is."""
        return self._router.accept(address)

    async def _connect(self, client: AcceptedClient) -> Sequence[Any]:
        """Connect a client where its session is; see `ClientRouter`."""
        if self._node.trouble is not None:
            self.counts.refused["cluster"] += 1
            return self.refusal_messages
        await self._purses.claim(
            client.address,
            client.certificate or {},
            elsewhere=lambda holder: self._router.connect_to(holder.process, client),
            here=lambda: self._router.connect_here(client),
        )
        return ()

    def _serve(self, end: StreamEnd, opened: Opened) -> bool:
        """Connect a client of another node if the session of its account is here."""
        if not self._purses.is_held(opened.address, opened.certificate or {}):
            return False
        connect_stream(end, self, opened.address, opened.certificate)
        return True

    def halt(self, *, final: bool) -> None:
        """Accept no more connections; if `final`, also disconnect all clients."""
        super().halt(final=final)
        if final:
            self._router.close(self.refusal_messages)

    async def wait_drained(self) -> None:
        """Wait until all clients are disconnected; see `RecordedEndpoint`."""
        await self._router.wait_idle()
        await super().wait_drained()
