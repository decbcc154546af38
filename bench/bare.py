"""HTTP yardstick: a bare ASGI application on uvicorn that sends one fixed response to every request.

The response is read from a file in wire format: status line, headers (the Date header is ignored) and body.
"""

import argparse
import socket
from importlib import import_module
from pathlib import Path
from typing import Any

KEEP_ALIVE_SECONDS = 500


class Bare:
    """ASGI application that sends `response` to every request."""

    def __init__(self, response: bytes) -> None:
        head, _, body = response.partition(b"\r\n\r\n")
        status, *lines = head.split(b"\r\n")
        headers = [tuple(line.split(b": ", 1)) for line in lines if not line.startswith(b"date: ")]  # uvicorn adds it
        self.start = {"type": "http.response.start", "status": int(status.split()[1]), "headers": headers}
        self.body = {"type": "http.response.body", "body": body}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002 -- the signature of ASGI
        """Send the response."""
        await send(self.start)
        await send(self.body)


def main() -> None:
    """Serve on a free port until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("response", type=Path, metavar="FILE")
    app = Bare(parser.parse_args().response.read_bytes())
    uvicorn = import_module("uvicorn")  # installed by `make bench` only
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    host, port = listener.getsockname()
    print(f"bare {host}:{port}", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
