"""Unusual but valid ways to deliver responses, injected faults, and alternative JSON forms of a Game."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.channel.delivery import Delivery
from croupier.http.wire import ReceivedResponse, encode_chunks


class ResponseDelivery(Delivery, frozen=True):
    """How responses are delivered; see `Delivery`.

    `is_chunked` responses have no Content-Length. `closes_connection` closes the connection after each response.
    """

    is_chunked: bool = False
    closes_connection: bool = False
    has_upper_case_headers: bool = False
    has_lower_case_headers: bool = False

    def encode(self, response: ReceivedResponse, *, without_body: bool) -> bytes:
        """Encode a response."""
        headers = {name: value for name, value in response.headers.items() if name not in FRAMING_HEADERS}
        chunked = self.is_chunked and not without_body and response.status != 304
        if chunked:
            headers["transfer-encoding"] = "chunked"
        elif response.status != 304:
            headers["content-length"] = str(len(response.body))
        if self.closes_connection:
            headers["connection"] = "close"
        spell = str.upper if self.has_upper_case_headers else str.lower if self.has_lower_case_headers else str.title
        lines = [f"HTTP/1.1 {response.status} {'OK' if response.status < 300 else 'Refused'}"]
        lines += [f"{spell(name)}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode()
        if without_body or response.status == 304:
            return head
        return head + (encode_chunks(response.body, CHUNK_BYTES) if chunked else response.body)


FRAMING_HEADERS: Final = frozenset({"content-length", "transfer-encoding", "connection"})

CHUNK_BYTES: Final = 7

DEFAULT_DELIVERY: Final = ResponseDelivery()


class RequestFault(Struct, frozen=True):
    """A fault injected into the first request for an operation, such as `post_players`.

    `status` and `body` are those of the response; the status is None for a closed connection. `is_executed`: the
    request is executed nevertheless.
    """

    operation: str
    status: int | None = 503
    is_executed: bool = False
    body: bytes = b"the server is busy; try again later\n"


def game_transform(change: Callable[[Any], Any], write: Callable[[Any], str] = json.dumps) -> Callable[[bytes], bytes]:
    """Return a transform of response bodies that changes every Game and writes it with `write`."""

    def transform(body: bytes) -> bytes:
        try:
            found = json.loads(body)
        except ValueError:
            return body
        if isinstance(found, list):
            return write([change(game) for game in found]).encode()
        return write(change(found)).encode() if isinstance(found, dict) and "table" in found else body

    return transform


def unchanged(game: Any) -> Any:
    """Return a Game as it is."""
    return game


def reverse_keys(game: Any) -> Any:
    """Reverse the order of the keys in all objects."""
    if isinstance(game, Mapping):
        return {key: reverse_keys(value) for key, value in [*game.items()][::-1]}
    return [reverse_keys(one) for one in game] if isinstance(game, list) else game


def add_unknown_keys(game: Any) -> Any:
    """Add unknown keys to all objects."""
    if isinstance(game, Mapping):
        return {"note": None, **{key: add_unknown_keys(value) for key, value in game.items()}, "extra": {"a": [1, 2]}}
    return [add_unknown_keys(one) for one in game] if isinstance(game, list) else game


def spell_key_as_example(game: Any) -> Any:
    """Write the key `small blind` of the document's example."""
    table = [{key.replace("small_blind", "small blind"): value for key, value in one.items()} for one in game["table"]]
    return {**game, "table": table}


def fill_board(game: Any) -> Any:
    """Show cards in place of those that are still to come."""
    board = {"flop": ["2C", "3C", "4C"], "turn": ["5D"], "river": ["7H"]}
    return {**game, "cards": game["cards"] | {part: game["cards"][part] or cards for part, cards in board.items()}}


def fill_hole(game: Any) -> Any:
    """Show two cards to those who have none."""
    return {**game, "cards": game["cards"] | {"hole": game["cards"]["hole"] or ["8C", "9D"]}}


def merge_pots(game: Any) -> Any:
    """Show all chips in the main pot."""
    pots = game["pots"]
    return {**game, "pots": [{**pots[0], "size": sum(pot["size"] for pot in pots)}]}


def hide_turn(game: Any) -> Any:
    """Show no turn to those who have no cards."""
    return game if game["cards"]["hole"] else {**game, "turn": game["turn"] | {"playerID": ""}}


def cut_expiry(game: Any) -> Any:
    """Write the expiry without decimals."""
    expiry = re.sub(r"\.\d+", "", game["turn"]["expiry"])
    return {**game, "turn": game["turn"] | {"expiry": expiry}}


def write_in_array(found: Any) -> str:
    """Write a single Game as an array of one."""
    return json.dumps(found if isinstance(found, list) else [found])


def strip_quotes(body: bytes) -> bytes:
    """Write a GUID without its quotes, and leave every other body as it is."""
    text = body.strip()
    return text[1:-1] if text[:1] == text[-1:] == b'"' else body


def indent_json(game: Any) -> str:
    """Write JSON with indentation."""
    return json.dumps(game, indent=4)


def escape_json(game: Any) -> str:
    """Write JSON with some letters of strings escaped."""
    text = json.dumps(game)
    return text.replace("S", "\\u0053").replace("gameID", "game\\u0049D")
