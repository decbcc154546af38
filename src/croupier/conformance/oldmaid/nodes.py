"""The nodes of a ring around the program (the table and the other players), and their connection ends."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from croupier.conformance.oldmaid.endpoints import ProgramConnection
from croupier.core.referee import Party
from croupier.core.session import Address, Peer, Session
from croupier.rooms.oldmaid.referee import TABLE


@dataclass(eq=False)
class ConnectionEnd:
    """Our end of a connection. `remote` is the other end, None if it is the program's, reached by `connection`."""

    node: "RingNode"
    peer: Peer
    remote: "ConnectionEnd | None" = None
    connection: ProgramConnection | None = None
    is_dropped: bool = False
    is_closed: bool = False


@dataclass(eq=False)
class RingNode:
    """The table, or one of our players; `offerer` is the last peer that has offered it a hand."""

    name: str
    session: Session[Any, Any]
    address: Address
    ends: dict[Peer, ConnectionEnd] = field(default_factory=dict)
    is_alive: bool = True
    connection_count: int = 0
    offerer: Peer = 0
    timer: asyncio.TimerHandle | None = None

    @property
    def party(self) -> Party:
        """The node as the referee knows it."""
        return TABLE if self.name == "table" else self.name
