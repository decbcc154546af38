"""Who sits in a ring with the program: our table and our players, and their ends of all connections."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from croupier.conformance.oldmaid.endpoints import ProgramConnection
from croupier.core.session import Address, Peer, Session


@dataclass(eq=False)
class ConnectionEnd:
    """Our end of a connection. `other` is the other one, None when it is the program's, who is behind `link`."""

    node: "RingNode"
    peer: Peer
    remote: "ConnectionEnd | None" = None
    connection: ProgramConnection | None = None
    is_dropped: bool = False
    is_closed: bool = False


@dataclass(eq=False)
class RingNode:
    """The table, or a player of ours."""

    name: str
    session: Session[Any, Any]
    address: Address
    ends: dict[Peer, ConnectionEnd] = field(default_factory=dict)
    is_alive: bool = True
    connection_count: int = 0
    timer: asyncio.TimerHandle | None = None
