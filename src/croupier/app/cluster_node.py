"""Makes a server a node of its cluster, if it has rooms that are divided among nodes, or that other nodes show."""

import os
import platform
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from croupier.app.config import RoomConfig, ServerConfig, is_divided, is_stored
from croupier.app.room_context import OpenRoom
from croupier.core.logger import Logger
from croupier.core.room import HouseRoom
from croupier.rooms.holdem import ROOM as HOLDEM

if TYPE_CHECKING:  # imported at run time only by nodes
    from croupier.cluster.node import Node


@asynccontextmanager
async def cluster_node(
    room_configs: Sequence[RoomConfig], config: ServerConfig, rooms: Mapping[str, OpenRoom], log: Logger
) -> "AsyncIterator[Node | None]":
    """Join the cluster as a node, which leaves it at the end of the context.

    None without a cluster, and without rooms that are divided or houses, whose games the other nodes can watch. `rooms`
    are those that are open, whose connections the node counts for the others.

    Raises ValueError if a setting is invalid, OSError if the bus cannot be reached.
    """
    divided = [each for each in room_configs if is_divided(each, config)]
    if config.bus is None or not (divided or any(isinstance(each.room, HouseRoom) for each in room_configs)):
        yield None
        return
    if not all(is_stored(each, config) for each in divided):
        raise ValueError("found --bus without a store; allowed: both, or neither")
    from croupier.cluster.bus import BusUnavailable
    from croupier.cluster.node import Node
    from croupier.cluster.open_bus import open_bus
    from croupier.cluster.table_views import TableViews
    from croupier.web.house_watching import WatchedHouses

    try:
        node = Node(config.node or _default_name(divided or room_configs), await open_bus(config.bus, log), log)
        houses = WatchedHouses([each.room for each in room_configs], rooms)
        views = TableViews(node.bus, node.process, houses.follow)
        node.connections = lambda: {name: room.connection_count for name, room in rooms.items()}
        node.clients = houses.newest_clients
        await views.start()
        await node.start()
    except BusUnavailable as error:
        raise OSError(str(error)) from error
    try:
        yield node
    finally:
        views.close()
        await node.stop()


def _default_name(room_configs: Sequence[RoomConfig]) -> str:
    return default_node_name(next((each.port for each in room_configs if each.room is HOLDEM), room_configs[0].port))


def default_node_name(port: int) -> str:
    """Return the name of a node that has none: of the machine and the port, or the process if the port is any."""
    name = f"{platform.node() or 'node'}-{port or os.getpid()}"
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[-64:]
