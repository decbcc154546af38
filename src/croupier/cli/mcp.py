"""`croupier mcp`: an MCP server, through which language models play."""

from typing import Annotated

from cyclopts import Parameter

from croupier.net.addresses import parse_address
from croupier.net.event_loop import run


def mcp(
    *,
    server: Annotated[str | None, Parameter(name=("--server", "-s"))] = None,
    seed: int | None = None,
) -> int:
    """Let a language model play, as an MCP server on standard input and output.

    Its client starts this command and lists its tools: rooms, sit, observe, legal_actions, act and leave. Without
    --server, rooms are opened in this process when the model sits down, with bots at their tables.

    Parameters
    ----------
    server:
        HOST whose rooms are played in, each at its default port, or HOST:PORT of one room.
    seed:
        Seed of the deals in the rooms of this process. [default: random]
    """
    if server is not None and seed is not None:
        raise ValueError("found --seed with --server; allowed: one of them")
    address = None if server is None else parse_address(server)
    from croupier.logs import configure
    from croupier.mcp.places import OwnPlaces, ServerPlaces
    from croupier.mcp.server import make_server

    configure("error")
    run(make_server(lambda: OwnPlaces(seed) if address is None else ServerPlaces(*address)).run_stdio_async())
    return 0
