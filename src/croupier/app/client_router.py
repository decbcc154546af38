"""The clients that a node has accepted and another node may serve: finds the node, and connects them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from croupier.cluster.relay import AcceptedClient, Relay
from croupier.core.session import Address
from croupier.net.client_addresses import address_key
from croupier.net.connection import Connection
from croupier.net.count_limit import CountLimit
from croupier.net.endpoint import Endpoint
from croupier.net.event_loop import start_task


class ClientRouter:
    """Connects the clients of a room, whose endpoint here is `endpoint`.

    `connect` connects a client here or to another node; it returns the last messages to a client that it refuses. The
    limits of the endpoint apply to the clients here that are not connected to it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        relay: Relay,
        room: str,
        connect: Callable[[AcceptedClient], Awaitable[Sequence[Any]]],
    ) -> None:
        self._endpoint = endpoint
        self._relay = relay
        self._room = room
        self._connect = connect
        self._counts = CountLimit(endpoint.limits.max_connections_per_address, endpoint.limits.max_connections)
        self._clients: set[AcceptedClient] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: set[asyncio.Task[None]] = set()

    def accept(self, address: Address | None) -> AcceptedClient:
        """Make what handles a connection that has been accepted; see `Endpoint.make_connection`."""
        return AcceptedClient(self._relay, address, self._begin)

    async def connect_to(self, process: str, client: AcceptedClient) -> bool:
        """Connect a client to the room in the process of another node; whether that serves it."""
        return await self._relay.open(client, process, self._room, client.address, client.certificate)

    def connect_here(self, client: AcceptedClient) -> None:
        """Connect a client to the endpoint here, unless it has gone."""
        if not client.is_lost:
            client.become(Connection(self._endpoint, address=client.address))

    def close(self, messages: Sequence[Any]) -> None:
        """Send last messages to all clients, and close their connections."""
        for client in [*self._clients]:
            client.refuse(self._encode(messages))

    async def wait_idle(self) -> None:
        """Wait until there are no clients that are not connected to the endpoint here."""
        await self._idle.wait()

    def _begin(self, client: AcceptedClient) -> None:
        """Connect a client, unless there are too many."""
        host = address_key(client.address[0]) if client.address else ""
        reason = self._counts.connection_refusal(host)
        self._counts.add(host)
        self._clients.add(client)
        self._idle.clear()
        client.on_end = lambda: self._end(client, host)
        if reason is not None:
            self._endpoint.counts.refused[reason] += 1
            self._endpoint.log.warning("refused", address=client.address, reason=reason)
            client.refuse(self._encode(self._endpoint.refusal_messages))
            return
        start_task(self._tasks, self._connect_or_refuse(client))

    async def _connect_or_refuse(self, client: AcceptedClient) -> None:
        if messages := await self._connect(client):
            client.refuse(self._encode(messages))

    def _end(self, client: AcceptedClient, host: str) -> None:
        self._counts.remove(host)
        self._clients.discard(client)
        if not self._clients:
            self._idle.set()

    def _encode(self, messages: Sequence[Any]) -> bytes:
        encode = self._endpoint.codec_factory().encode
        return b"".join(map(encode, messages))
