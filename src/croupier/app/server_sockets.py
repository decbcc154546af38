"""The listening sockets of a server of several processes: its supervisor binds them and keeps them open.

So connections that nobody has accepted yet survive the worker that would have accepted them: its successor does.
"""

from collections.abc import Sequence
from typing import Self

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.web_app import bind_web_socket, has_web_app
from croupier.app.worker import is_for_all_workers
from croupier.core.logger import Logger
from croupier.net.listening_socket import BoundSocket, bind_groups, bind_sockets, bound_address, close_sockets


class ServerSockets:
    """The sockets of each worker: host, port and descriptors."""

    def __init__(self, worker_count: int) -> None:
        self.ports: dict[str, int] = {}
        self.document_ports: dict[str, int] = {}
        self.web_port: int | None = None
        self._sockets: list[list[tuple[str, int, Sequence[BoundSocket]]]] = [[] for _ in range(worker_count)]

    @classmethod
    async def bind(cls, room_configs: Sequence[RoomConfig], config: ServerConfig, log: Logger) -> Self:
        """Bind the ports of all rooms and of the web app. Raises OSError."""
        bound = cls(config.workers)
        try:
            await bound._bind_all(room_configs, config, log)
        except BaseException:
            bound.close()
            raise
        return bound

    async def _bind_all(self, room_configs: Sequence[RoomConfig], config: ServerConfig, log: Logger) -> None:
        if has_web_app(config, room_configs):
            web_socket = await bind_web_socket(config)
            self.web_port = self._add(config.host, [[web_socket]])
        for each in room_configs:
            name, count = each.room.name, config.workers if is_for_all_workers(each, config) else 1
            self.ports[name] = await self._bind(config.host, each.port, count)
            if each.document_port is not None:
                try:
                    self.document_ports[name] = await self._bind(config.host, each.document_port, count)
                except OSError as error:
                    log.warning("document port unavailable", room=name, reason=str(error))

    def of_worker(self, slot: int) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
        """The sockets of a worker: host, port and descriptors."""
        return tuple((host, port, tuple(each.fileno() for each in bound)) for host, port, bound in self._sockets[slot])

    def close(self) -> None:
        """Close all sockets."""
        close_sockets(each for sockets in self._sockets for _, _, bound in sockets for each in bound)

    async def _bind(self, host: str, port: int, count: int) -> int:
        """Bind a port for the first `count` workers, and return it."""
        return self._add(host, [await bind_sockets(host, port)] if count == 1 else await bind_groups(host, port, count))

    def _add(self, host: str, groups: Sequence[Sequence[BoundSocket]]) -> int:
        port = bound_address(groups[0][0])[1]
        for group, sockets in zip(groups, self._sockets, strict=False):
            sockets.append((host, port, group))
        return port
