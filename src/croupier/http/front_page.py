"""The page for people at the address of the hold'em service, which is for programs (holdem-9.14)."""

import re
from typing import Final

from croupier.http.messages import Request, Response

HOST_NAME: Final = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]")
"""A host in a Host header, without its port."""

CONTENT_SECURITY_POLICY: Final = b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hold'em for programs · croupier</title>
</head>
<body>
<h1>Hold'em for programs</h1>
<p>This is the hold'em room of croupier. Programs play here by the REST protocol of the Hacker School Poker Engine:
<a href="/openapi.json">its description</a>, <a href="/games/">the games</a>.</p>
{web}
</body>
</html>
"""
WITH_WEB_APP: Final = '<p>People play in a browser: <a href="{url}">{url}</a></p>'
WITHOUT_WEB_APP: Final = "<p>People play in a browser where the server is started with <code>--web-port</code>.</p>"


def wants_front_page(request: Request) -> bool:
    """Whether a request for the path / is that of a browser."""
    if request.method not in {"GET", "HEAD"}:
        return False
    return b"text/html" in (request.fields.get(b"accept") or b"").lower()


def front_page(request: Request, web_port: int | None, *, has_tls: bool) -> Response:
    """Return the page, with a link to the web app if there is one, at the host that the browser has named."""
    host = HOST_NAME.match((request.fields.get(b"host") or b"").decode("latin-1"))
    web = WITHOUT_WEB_APP
    if web_port is not None and host is not None:
        web = WITH_WEB_APP.format(url=f"http{'s' if has_tls else ''}://{host[0]}:{web_port}/")
    body = PAGE.format(web=web).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"content-security-policy", CONTENT_SECURITY_POLICY),
        (b"x-content-type-options", b"nosniff"),
        (b"vary", b"accept, host"),
    ]
    return Response(200, headers, body)
