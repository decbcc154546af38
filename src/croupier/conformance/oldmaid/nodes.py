"""Who sits in a ring with the program: our table and our players, and their ends of all connections."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from croupier.conformance.oldmaid.endpoints import Link
from croupier.core.session import Address, Peer, Session


@dataclass(eq=False)
class End:
    """Our end of a connection. `other` is the other one, None when it is the program's, who is behind `link`."""

    node: "Node"
    number: Peer
    other: "End | None" = None
    link: Link | None = None
    dropped: bool = False
    parted: bool = False


@dataclass(eq=False)
class Node:
    """The table, or a player of ours."""

    name: str
    session: Session[Any, Any]
    address: Address
    ends: dict[Peer, End] = field(default_factory=dict)
    alive: bool = True
    called: int = 0
    timer: asyncio.TimerHandle | None = None
