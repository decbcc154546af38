"""How a server delivers its answers, what goes wrong with some of them, and how else a Game can be written in JSON."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.holdem.requests import Answer


class Manner(Struct, frozen=True):
    """How answers are delivered: in pieces of `size` bytes (0: whole), `pause` seconds apart, `delay` seconds late.

    `chunked` answers have no Content-Length; behind one that `closes` the connection ends. `shouts`: names of headers
    in capital letters, `mumbles`: in small ones. `streams` says whether events are streamed.
    """

    size: int = 0
    pause: float = 0.0
    delay: float = 0.0
    chunked: bool = False
    closes: bool = False
    shouts: bool = False
    mumbles: bool = False
    streams: bool = True

    async def write(self, writer: asyncio.StreamWriter, answer: Answer, *, headless: bool) -> None:
        """Deliver an answer."""
        if self.delay:
            await asyncio.sleep(self.delay)
        data = self.written(answer, headless=headless)
        size = self.size or len(data)
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await writer.drain()
            await asyncio.sleep(self.pause)

    def written(self, answer: Answer, *, headless: bool) -> bytes:
        """The bytes of an answer."""
        headers = {name: value for name, value in answer.headers.items() if name not in LENGTHS}
        chunked = self.chunked and not headless and answer.status != 304
        if chunked:
            headers["transfer-encoding"] = "chunked"
        elif answer.status != 304:
            headers["content-length"] = str(len(answer.body))
        if self.closes:
            headers["connection"] = "close"
        spelt = str.upper if self.shouts else str.lower if self.mumbles else str.title
        lines = [f"HTTP/1.1 {answer.status} {'OK' if answer.status < 300 else 'Refused'}"]
        lines += [f"{spelt(name)}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode()
        if headless or answer.status == 304:
            return head
        return head + (_chunks(answer.body) if chunked else answer.body)


LENGTHS: Final = frozenset({"content-length", "transfer-encoding", "connection"})

PLAIN: Final = Manner()


def _chunks(body: bytes) -> bytes:
    """A body in chunks of seven bytes."""
    parts = [body[at : at + 7] for at in range(0, len(body), 7)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


class Trouble(Struct, frozen=True):
    """One request that goes wrong: the first of a method with so many segments in its path.

    `status` is what it is answered, None for an end of the connection; `done` says that what was asked is done all the
    same, and `seconds` how long it takes to go wrong.
    """

    method: str
    segments: int
    status: int | None = 503
    done: bool = False
    seconds: float = 0.0

    def fits(self, method: str, path: Sequence[str]) -> bool:
        """Whether a request is the one."""
        return (method, len(path)) == (self.method, self.segments)


def dressed(change: Callable[[Any], Any], write: Callable[[Any], str] = json.dumps) -> Callable[[bytes], bytes]:
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


def same(game: Any) -> Any:
    """A Game as it is."""
    return game


def backwards(game: Any) -> Any:
    """Every key in another order."""
    if isinstance(game, Mapping):
        return {key: backwards(value) for key, value in [*game.items()][::-1]}
    return [backwards(one) for one in game] if isinstance(game, list) else game


def more(game: Any) -> Any:
    """Keys that nobody knows, everywhere."""
    if isinstance(game, Mapping):
        return {"note": None, **{key: more(value) for key, value in game.items()}, "extra": {"a": [1, 2]}}
    return [more(one) for one in game] if isinstance(game, list) else game


def example(game: Any) -> Any:
    """The key `small blind`, as in the document's example."""
    table = [{key.replace("small_blind", "small blind"): value for key, value in one.items()} for one in game["table"]]
    return {**game, "table": table}


def pretty(game: Any) -> str:
    """JSON over many lines."""
    return json.dumps(game, indent=4)


def escaped(game: Any) -> str:
    """JSON with every letter of a string escaped that may be."""
    text = json.dumps(game)
    return text.replace("S", "\\u0053").replace("gameID", "game\\u0049D")
