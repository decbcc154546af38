"""What all pages of an app share."""

from croupier.core.logger import Logger, SilentLogger
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys, Visitor, set_cookie
from croupier.web.logins import Logins
from croupier.web.render import Renderer
from croupier.web.streams import Streams


class Site:
    """The settings of an app, what renders and streams its pages, and what knows its visitors.

    `keys` sign the cookies; without them, new ones do. Without `logins` there are no accounts.
    """

    def __init__(
        self,
        renderer: Renderer,
        config: WebConfig = WebConfig(),
        keys: SigningKeys | None = None,
        logins: Logins | None = None,
        log: Logger = SilentLogger(),
    ) -> None:
        self.renderer = renderer
        self.config = config
        self.keys = keys or SigningKeys()
        self.logins = logins or Logins(None)
        self.log = log
        self.streams = Streams(config)

    def visitor_cookie(self, visitor: Visitor) -> str:
        """Return the value of the Set-Cookie header with which a browser is known."""
        return set_cookie(self.config.cookie_name, self.keys.encode(visitor), has_tls=self.config.has_tls)
