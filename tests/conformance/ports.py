"""A port for a server that a test starts by itself, or at which nothing listens."""

from croupier.net.reserved_port import ReservedPort


async def free_port() -> int:
    """Return a port that nothing uses at the moment."""
    port = await ReservedPort.open()
    port.close()
    return port.number
