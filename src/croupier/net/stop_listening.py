"""Closing a listening server without losing a connection that the event loop has just accepted."""

import asyncio
from contextlib import suppress

from croupier.net.proxy_listener import ProxyListener


def stop_listening(server: asyncio.Server | ProxyListener) -> None:
    """Accept no more connections now, and close the listening sockets in the next turn of the loop.

    A connection that the loop has accepted, but not given to its protocol yet, would stay open for ever if the server
    closed now.
    """
    loop = asyncio.get_running_loop()
    for sock in server.sockets:
        with suppress(NotImplementedError):  # Windows
            loop.remove_reader(sock.fileno())
    loop.call_soon(server.close)
