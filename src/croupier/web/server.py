"""The server of the web app, on the loop of the rooms."""

from croupier.web.app import close, halt, wait_closed
from croupier.web.http_server import AppServer


class WebServer(AppServer):
    """Serves the web app on a bound socket, until it is closed."""

    def halt(self) -> None:
        """Take no more seats. Games that are running go on, as far as their rooms let them."""
        halt(self._app)

    async def close(self) -> None:
        """Leave all tables, end all streams, and close the server. Raises what it has failed with."""
        close(self._app)
        await wait_closed(self._app)
        await super().close()
