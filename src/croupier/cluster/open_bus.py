"""Opens the bus at a URL."""

from typing import Final

from croupier.cluster.bus import Bus, BusUnavailable
from croupier.cluster.local_bus import LocalBus
from croupier.core.logger import Logger

NATS_SCHEMES: Final = ("nats", "tls", "ws", "wss")


LOCAL_SCHEME: Final = "local"


def local_bus_url(descriptor: int) -> str:
    """Return the URL of a local bus: the descriptor that this process has inherited, see `LocalBus`."""
    return f"{LOCAL_SCHEME}://{descriptor}"


def is_local_bus(url: str) -> bool:
    """Whether a URL is that of a local bus, between the workers of a server."""
    return url.startswith(f"{LOCAL_SCHEME}:")


async def open_bus(url: str, log: Logger) -> Bus:
    """Connect to the bus at a URL. Raises ValueError for another kind of URL, and BusUnavailable."""
    scheme, _, rest = url.partition("://")
    if is_local_bus(url) and rest.isdecimal():
        return await LocalBus.open(int(rest))
    if scheme not in NATS_SCHEMES:
        raise ValueError(f"found --bus {url!r}; allowed: nats://HOST:PORT or tls://HOST:PORT")
    try:
        from croupier.cluster.nats_bus import connect_nats
    except ModuleNotFoundError as error:
        raise BusUnavailable(f'found no {error.name}, the client of NATS; pip install "croupier[bus]"') from None
    return await connect_nats(url, log)
