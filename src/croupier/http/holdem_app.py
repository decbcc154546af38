"""The hold'em table as a web service: requests become messages to the house, and its answers responses.

What is asked most, the state of a game, is there as bytes that were rendered once for every change. It is written
without any further ado, and so are the answers to commands, as soon as they are durable; only what has to wait for
something else gets a task.
"""

from collections.abc import Callable, MutableMapping, Sequence
from math import ceil
from ssl import SSLContext
from time import monotonic
from typing import Any

from croupier.core.session import Address, Tap
from croupier.http.auth import Denied, Guard
from croupier.http.deferred import Later, Response
from croupier.http.holdem_service import Desk
from croupier.http.limits import Limits, Reception
from croupier.http.openapi import find
from croupier.http.read_api import Watching
from croupier.http.responses import STATUS, Asked, Failed, Gone, Reply, asked, body, denied, refusal, sent, verified
from croupier.http.server import Listener
from croupier.http.streams import Receive, Send
from croupier.http.views import lines
from croupier.logs import Log, silence
from croupier.net.client_addresses import TrustedProxies, counted
from croupier.net.rate_limiter import RateLimiter
from croupier.observers.counters import Counts
from croupier.recording.holdem_journal import Journal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.wire import Answer, Dialect, Headers, Made, Refused, parse, response

type Scope = MutableMapping[str, Any]
"""The scope of a request, as ASGI has it."""


class Service:
    """The house of hold'em behind HTTP, as an ASGI application. `clock` tells the `now` of the house in seconds."""

    def __init__(
        self,
        house: House,
        guard: Guard,
        dialect: Dialect = "readme",
        *,
        clock: Callable[[], float] = monotonic,
        log: Log | None = None,
        taps: Sequence[Tap] = (),
        limits: Limits = Limits(),
        journal: Journal | None = None,
        promises: Promises | None = None,
        proxies: TrustedProxies = TrustedProxies(),
    ) -> None:
        self.counts = Counts()
        self.limits = limits
        self.log = log or silence()
        self.desk = Desk(
            house, dialect, clock, taps=taps, counts=self.counts, log=self.log, journal=journal, promises=promises
        )
        self._dialect: Dialect = dialect
        self._guard = guard
        self._watching = Watching(self.desk, guard, dialect, limits)
        self._proxies = proxies
        self._quota = None if limits.requests is None else RateLimiter(limits.requests, limits.span)

    @property
    def waiting(self) -> int:
        """How many wait for news, in long polls and streams."""
        return self._watching.crowd.size

    def ring(self) -> None:
        """Let the house hear of the alarms that are due: for whoever moves its clock by hand."""
        self.desk.ring()

    def halt(self, *, final: bool) -> None:
        """Tell the house that it closes. When that is final, nobody waits for news any more."""
        self.desk.halt(final=final)

    def close(self) -> None:
        """Verify nobody any more."""
        self._guard.close()

    # What takes no task.

    def at_hand(self, scope: Scope) -> Response | Later | None:
        """The whole response to GET, later while something is asked that cannot be seen; None where it takes a task."""
        if scope["method"] != "GET" or self._quota is not None:
            return None
        if self.desk.busy:
            if self._watching.look(scope) is None or (settled := self.desk.watch()) is None:
                return None
            return Later(settled, lambda: self._seen(scope))
        return self._seen(scope)

    def _seen(self, scope: Scope) -> Response | None:
        """What is to be seen now."""
        if not self.desk.settled:
            return None
        try:
            found = self._watching.at_hand(scope)
        except Exception as error:
            return self._at_once(refusal(self._fault(scope, error), b""))
        if found is None:
            return None
        shown, same = found
        counts = self.counts
        counts.messages_received += 1
        counts.messages_sent += 1
        if same:
            return STATUS[304], lines(shown.told) + b"\r\n"
        counts.bytes_sent += len(shown.text)
        return STATUS[200], shown.rest

    def promptly(self, scope: Scope, data: bytes) -> Response | Later | None:
        """Do what a user who is known commands, with the whole body of his request: the response, as `at_hand`.

        None, and nothing is done, where it takes a task.
        """
        if self._quota is not None or len(data) > self.limits.body:
            return None
        authorization, accept = None, b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                authorization = value
            elif name == b"accept":
                accept = value
        if authorization is None or (user := self._guard.known(authorization)) is None:
            return None
        message = parse(scope["method"], scope["path"], user, data, self._dialect)
        if isinstance(message, Refused):
            return None
        if self.desk.prompt:
            return self._told(scope, accept, lambda: self.desk.ask(message))
        answer = self.desk.put(message)
        return Later(answer, lambda: self._told(scope, accept, answer.result))

    def _told(self, scope: Scope, accept: bytes, answer: Callable[[], Answer]) -> Response:
        """The response to a command that has been answered so."""
        try:
            reply = self._answered(answer())
        except Failed as failed:
            reply = refusal(failed, accept)
        except Exception as error:
            reply = refusal(self._fault(scope, error), accept)
        return self._at_once(reply)

    def _at_once(self, reply: Reply) -> Response:
        self.counts.messages_received += 1
        self._count(reply)
        return sent(reply)

    # What takes one.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever it is."""
        assert scope["type"] == "http", f"{scope['type']} is not for a web service"
        self.counts.messages_received += 1
        question = asked(scope, receive, self._proxies)
        try:
            reply = await self._reply(question, send)
        except Failed as failed:
            reply = refusal(failed, question.accept)
        except Gone:
            return
        except Exception as error:
            reply = refusal(self._fault(scope, error), question.accept)
        if reply is not None:
            await self._send(reply, question, send)

    async def _reply(self, question: Asked, send: Send) -> Reply | None:
        """The answer to a request, None when it has been sent already. Raises Failed, in the order of holdem-8.2."""
        scope = question.scope
        method, path = scope["method"], scope["path"]
        found = find(path)
        if found is None:
            raise Failed(404, "holdem-8.3", f"found the path {path[:100]!r}; allowed: those of /openapi.json")
        route, names = found
        if method not in route.methods:
            allowed = ", ".join(route.methods)
            raise Failed(405, "holdem-8.6", f"found {method}; allowed: {allowed}", (b"allow", allowed.encode()))
        self._ration(question)
        if method in {"GET", "HEAD"}:
            if route.name in {"games", "game"}:
                return await self._watching.see(question, names)
            await self._watching.show(question, send)
            self.counts.messages_sent += 1
            return None
        data = await body(question, self.limits.body)
        if route.name == "users":
            return await self._enrol(question)
        login = await verified(question, "holdem-2.7", self._guard, self._dialect)
        message = parse(method, path, login.name, data, self._dialect)
        return self._answered(message if isinstance(message, Refused) else await self.desk.answer(message))

    async def _enrol(self, question: Asked) -> Reply:
        again = self._dialect == "hspe-go"
        try:
            name = await self._guard.enrol(question.authorization, question.address, again=again)
        except Denied as reason:
            raise denied(reason, "holdem-2.5", self._dialect) from None
        return self._answered(Made(self.desk.house.guid(name), ""))

    def _answered(self, answer: Answer) -> Reply:
        if type(answer) is Refused:
            raise Failed(answer.status, answer.clause, answer.detail)
        return Reply(*response(answer, self._dialect, self.desk.house))

    async def _send(self, reply: Reply, question: Asked, send: Send) -> None:
        if question.scope["method"] == "HEAD":
            reply = Reply(reply.status, reply.headers)
        self._count(reply)
        headers = [*reply.headers, *self._left(question)] if self._quota is not None else reply.headers
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _count(self, reply: Reply) -> None:
        self.counts.messages_sent += 1
        self.counts.bytes_sent += len(reply.body)

    def _fault(self, scope: Scope, error: Exception) -> Failed:
        found = find(scope["path"])  # and not the path itself, in which somebody may have put anything
        route = None if found is None else found[0].path
        self.log.error("our own fault", method=scope["method"], route=route, exc_info=error)
        return Failed(500, "holdem-8.1", "found a fault of our own; allowed: none")

    # The limit on requests (holdem-9.10).

    def _ration(self, question: Asked) -> None:
        if self._quota is not None and (wait := self._quota.take(counted(question.address), self.desk.clock())):
            told = f"found more than {self._quota.times} requests in {self._quota.seconds:g} s; allowed: so many"
            raise Failed(429, "holdem-9.10", told, (b"retry-after", b"%d" % ceil(wait)))

    def _left(self, question: Asked) -> Headers:
        """The limit, and what is left of it (draft-ietf-httpapi-ratelimit-headers)."""
        assert self._quota is not None, "nothing is left of no limit"
        left, seconds = self._quota.left(counted(question.address), self.desk.clock())
        return [
            (b"ratelimit-policy", b'"requests";q=%d;w=%d' % (self._quota.times, ceil(self._quota.seconds))),
            (b"ratelimit", b'"requests";r=%d;t=%d' % (left, ceil(seconds))),
        ]


class Opened:
    """A service that listens at `address`."""

    def __init__(self, service: Service, listener: Listener, address: Address) -> None:
        self.service = service
        self.address = address
        self._listener = listener

    @property
    def connected(self) -> int:
        """How many connections there are."""
        return len(self._listener.lines)

    async def stop(self, seconds: float = 5.0) -> None:
        """Void what is being played, answer what was asked, for so many seconds, and close all connections."""
        self._listener.close()  # before those who wait are answered, so that they are told
        self.service.halt(final=True)
        await self._listener.empty(seconds)
        self.service.close()


async def open_service(
    service: Service,
    host: str,
    port: int,
    *,
    ssl: SSLContext | None = None,
    reception: Reception = Reception(),
) -> Opened:
    """Open a service on an address; port 0 picks a free one. Raises OSError when it cannot be had."""
    listener = Listener(service, reception, service.counts, room="holdem")
    return Opened(service, listener, await listener.listen(host, port, ssl))
