"""What a switchboard asks of the books of its house."""

from asyncio import Future
from typing import Any, Protocol

from croupier.core.session import Address, Peer, Settle


class Recorder(Protocol):
    """What is written down at a house, and whom that lets in. A ticket is done when what it stands for is durable."""

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str] | None:
        """Look up a client before it is seated: why it cannot be, empty if it can; None where nothing is looked up."""
        ...

    def sync_promises(self) -> Future[None] | None:
        """The dealer has promised a client its cards. Nobody is heard before the ticket is done; None: at once."""
        ...

    def settle(self, settled: Settle) -> Future[Any] | None:
        """Write down a game that is over. Nobody is told of it before the ticket is done; None: at once."""
        ...

    def leave(self, peer: Peer) -> None:
        """Whoever was looked up has left, admitted or not."""
        ...
