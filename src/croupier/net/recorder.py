"""Interface between an endpoint and the recorder that stores its games."""

from asyncio import Future
from typing import Any, Protocol

from croupier.core.session import Address, Peer, Settle


class Recorder(Protocol):
    """Stores the games of a house and looks up its clients. A returned future is done when the data is durable."""

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str | None] | None:
        """Look up a client: the reason to refuse it, or None. No future if no lookup is necessary."""
        ...

    def sync_promises(self) -> Future[None] | None:
        """Store the dealer's promise to a client, which receives nothing before that; None if it need not wait."""
        ...

    def settle(self, settled: Settle) -> Future[Any] | None:
        """Store a finished game, whose client receives nothing before that; None if it need not wait."""
        ...

    def leave(self, peer: Peer) -> None:
        """Forget a client that was looked up and has left, admitted or not."""
        ...
