"""The bytes of the requests and responses that the REST service of hold'em would carry for a person.

They have no Host, Authorization and Date: a browser's seat has no connection of its own, and a password is a secret.
"""

from collections.abc import Callable

from croupier.http.messages import HTTPError, Response, encode_headers, encode_response
from croupier.rooms.holdem.wire import Dialect, Game, Guid, HoldemResponse, RequestRefused, render_response


def request_bytes(request: str) -> bytes:
    r"""Return the bytes of a request that is given as its method, its path and, if it has one, its body.

    >>> request_bytes("DELETE /games/1/players/2")
    b'DELETE /games/1/players/2 HTTP/1.1\r\n\r\n'
    """
    head, _, body = request.partition(" {")
    data = b"{" + body.encode() if body else b""
    content = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(data))] if data else []
    return b"%s HTTP/1.1\r\n%s\r\n%s" % (head.encode(), encode_headers(content), data)


def answer_bytes(answer: HoldemResponse, dialect: Dialect, public_view: Callable[[Guid], Game]) -> bytes:
    """Return the bytes of the response to a command; see `render_response`."""
    if isinstance(answer, RequestRefused):
        response = HTTPError(answer.status, answer.clause, answer.detail).response(None)
    else:
        response = Response(*render_response(answer, dialect, public_view))
    return encode_response(response, b"")
