"""How a server delivers its answers, what goes wrong with some of them, and how else a Game can be written in JSON."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.holdem.http_client import ReceivedResponse


class ResponseDelivery(Struct, frozen=True):
    """How answers are delivered: in pieces of `size` bytes (0: whole), `pause` seconds apart, `delay` seconds late.

    `chunked` answers have no Content-Length; behind one that `closes` the connection ends. `shouts`: names of headers
    in capital letters, `mumbles`: in small ones. `streams` says whether events are streamed.
    """

    piece_bytes: int = 0
    pause_seconds: float = 0.0
    delay_seconds: float = 0.0
    is_chunked: bool = False
    closes_connection: bool = False
    has_upper_case_headers: bool = False
    has_lower_case_headers: bool = False
    allows_streams: bool = True

    async def write(self, writer: asyncio.StreamWriter, response: ReceivedResponse, *, without_body: bool) -> None:
        """Deliver an answer."""
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        data = self.encode(response, without_body=without_body)
        size = self.piece_bytes or len(data)
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await writer.drain()
            await asyncio.sleep(self.pause_seconds)

    def encode(self, response: ReceivedResponse, *, without_body: bool) -> bytes:
        """The bytes of an answer."""
        headers = {name: value for name, value in response.headers.items() if name not in FRAMING_HEADERS}
        chunked = self.is_chunked and not without_body and response.status != 304
        if chunked:
            headers["transfer-encoding"] = "chunked"
        elif response.status != 304:
            headers["content-length"] = str(len(response.body))
        if self.closes_connection:
            headers["connection"] = "close"
        spelt = str.upper if self.has_upper_case_headers else str.lower if self.has_lower_case_headers else str.title
        lines = [f"HTTP/1.1 {response.status} {'OK' if response.status < 300 else 'Refused'}"]
        lines += [f"{spelt(name)}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode()
        if without_body or response.status == 304:
            return head
        return head + (_chunks(response.body) if chunked else response.body)


FRAMING_HEADERS: Final = frozenset({"content-length", "transfer-encoding", "connection"})

DEFAULT_DELIVERY: Final = ResponseDelivery()


def _chunks(body: bytes) -> bytes:
    """A body in chunks of seven bytes."""
    parts = [body[at : at + 7] for at in range(0, len(body), 7)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


class RequestFault(Struct, frozen=True):
    """One request that goes wrong: the first of a method with so many segments in its path.

    `status` is what it is answered, None for an end of the connection; `done` says that what was asked is done all the
    same, and `seconds` how long it takes to go wrong.
    """

    method: str
    segments: int
    status: int | None = 503
    is_executed: bool = False
    delay_seconds: float = 0.0

    def matches(self, method: str, path: Sequence[str]) -> bool:
        """Whether a request is the one."""
        return (method, len(path)) == (self.method, self.segments)


def game_transform(change: Callable[[Any], Any], write: Callable[[Any], str] = json.dumps) -> Callable[[bytes], bytes]:
    """A change of every Game in a body, and how it is written."""

    def dress(body: bytes) -> bytes:
        try:
            found = json.loads(body)
        except ValueError:
            return body
        if isinstance(found, list):
            return write([change(game) for game in found]).encode()
        return write(change(found)).encode() if isinstance(found, dict) and "table" in found else body

    return dress


def unchanged(game: Any) -> Any:
    """A Game as it is."""
    return game


def reverse_keys(game: Any) -> Any:
    """Every key in another order."""
    if isinstance(game, Mapping):
        return {key: reverse_keys(value) for key, value in [*game.items()][::-1]}
    return [reverse_keys(one) for one in game] if isinstance(game, list) else game


def add_unknown_keys(game: Any) -> Any:
    """Keys that nobody knows, everywhere."""
    if isinstance(game, Mapping):
        return {"note": None, **{key: add_unknown_keys(value) for key, value in game.items()}, "extra": {"a": [1, 2]}}
    return [add_unknown_keys(one) for one in game] if isinstance(game, list) else game


def spell_key_as_example(game: Any) -> Any:
    """The key `small blind`, as in the document's example."""
    table = [{key.replace("small_blind", "small blind"): value for key, value in one.items()} for one in game["table"]]
    return {**game, "table": table}


def indent_json(game: Any) -> str:
    """JSON over many lines."""
    return json.dumps(game, indent=4)


def escape_json(game: Any) -> str:
    """JSON with every letter of a string escaped that may be."""
    text = json.dumps(game)
    return text.replace("S", "\\u0053").replace("gameID", "game\\u0049D")
