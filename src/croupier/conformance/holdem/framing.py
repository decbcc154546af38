"""Server cases about how requests arrive: cut, pipelined, slow, aborted, and on many connections."""

import asyncio
from typing import Final

from msgspec.json import encode

from croupier.conformance.case import CaseList
from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.deviations import NotReached
from croupier.conformance.holdem.cases import REQUEST_RANK, RETRIES, ROOM, VARIATION_RANK, HoldemServerCase
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import ServerUser, bet
from croupier.conformance.holdem.http_client import ResponseError
from croupier.conformance.holdem.schema import parse_game
from croupier.conformance.results import Outcome
from croupier.core.http_transcript import NOBODY
from croupier.http.wire import ReceivedResponse, SentRequest, encode_chunks

CONCURRENT_CONNECTIONS: Final = 40

LONG_CHUNK_BYTES: Final = 26
"""The length of such a chunk is hexadecimal with two digits, one of them a letter."""

LENGTH_REQUIRED: Final = 411
"""The status with which HTTP lets a server refuse a body without Content-Length."""

FRAMING_CASES: Final = CaseList(HoldemServerCase, ROOM, rank=VARIATION_RANK, retries=RETRIES)
"""The cases of this module."""


@FRAMING_CASES.add("1.8", "byte-by-byte")
async def byte_by_byte(context: HoldemContext) -> None:
    """Requests may arrive byte by byte."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    response = await context.request(role, "GET", f"/games/{game}", delivery=Delivery(1))
    _require_status(context, response, 200, "a request that arrives byte by byte")
    response = await context.request(role, "POST", *_call_target(context, role, game), delivery=Delivery(1))
    _require_status(context, response, 201, "an act that arrives byte by byte")


@FRAMING_CASES.add("1.8", "in-sevens")
async def pieces_of_seven_bytes(context: HoldemContext) -> None:
    """Requests may arrive in pieces."""
    game = await context.seat("ann", "bob")
    for request in ((NOBODY, "GET", "/games/"), ("bob", "GET", f"/games/{game}"), ("ann", "GET", f"/games/{game}")):
        response = await context.request(*request, delivery=Delivery(7))
        _require_status(context, response, 200, "a request that arrives in pieces")


@FRAMING_CASES.add("1.8", "slowly")
async def body_after_head(context: HoldemContext) -> None:
    """A body may arrive later than its head, and in two pieces."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    client = context.idle_client(role)
    data = context.record_request(_call(context, role, game), client)
    head, blank, body = data.partition(b"\r\n\r\n")
    await client.send(head + blank)
    for piece in (body[:9], body[9:]):
        await asyncio.sleep(0.2)
        await client.send(piece)
    await _receive(context, role, 201, "an act whose body arrives later than its head, and in two pieces")


@FRAMING_CASES.add("1.8", "chunked")
async def chunked_body(context: HoldemContext) -> None:
    """A body may be chunked."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    if context.responses[-1][1].version == "1.0":  # RFC 9112, section 6.1
        raise NotReached("the server speaks HTTP/1.0, which has no chunks")
    path, body = _call_target(context, role, game)
    chunks = encode_chunks(body, LONG_CHUNK_BYTES)
    response = await context.request(role, "POST", path, chunks, {"Transfer-Encoding": "chunked"})
    if response.status == LENGTH_REQUIRED:  # RFC 9112, section 6.3
        context.add_deviation("holdem-1.8", "an act in chunks", response.summary, Outcome.CHOICE)
        return
    _require_status(context, response, 201, "an act in chunks")


@FRAMING_CASES.add("1.8", "pipelined")
async def pipelined(context: HoldemContext) -> None:
    """Pipelined requests are answered in order."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    headers = context.with_credentials(role, {})
    client = context.idle_client(role)
    requests = [
        SentRequest("GET", f"/games/{game}", headers),
        SentRequest("GET", "/games/nowhere", headers),
        _call(context, role, game),
        SentRequest("GET", f"/games/{game}", headers),
    ]
    await client.send(b"".join(context.record_request(request, client) for request in requests))
    for number, status in enumerate((200, 404, 201, 200)):
        response = await _receive(context, role, status, "one of several pipelined requests")
        if not response.keeps_open and number + 1 < len(requests):
            # RFC 9112, section 9.3.2: what was not answered is sent again on a new connection
            await client.send(context.record_request(requests[number + 1], client))
    if context.require_game(response).turn.player_id == context.player_id(role, game):
        context.add_deviation("holdem-1.8", "the act that was sent before", "a game without it")


@FRAMING_CASES.add("1.8", "broken-off")
async def aborted_request(context: HoldemContext) -> None:
    """An incomplete request changes nothing."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    client = context.idle_client(role)
    await client.send(context.record_request(_call(context, role, game), client, omitted_bytes=4))
    client.abort()
    await asyncio.sleep(0.05)
    game_state = await context.get_game(role, game)
    if game_state.turn.player_id != context.player_id(role, game):
        context.add_deviation(
            "holdem-1.8",
            f"the turn of {role}: the request is incomplete",
            f"that of {context.role_to_act(game_state) or 'nobody'}",
        )
    response = await context.act(role, game, bet(context.first_call))
    _require_status(context, response, 201, "an act on a new connection")


@FRAMING_CASES.add("1.8", "many-at-once")
async def concurrent_reads(context: HoldemContext) -> None:
    """Many clients may read at the same time."""
    game = await context.seat("ann", "bob")
    responses = await context.send_at_once([SentRequest("GET", f"/games/{game}")] * CONCURRENT_CONNECTIONS)
    expiries = {shown.turn.expiry for one in responses for shown in parse_game(one.body, context.dialect).games}
    if {response.status for response in responses} == {200} and len(expiries) > 1:
        found = f"{' and '.join(sorted(expiries)[:2])} of the same turn"
        context.add_deviation("holdem-5.11", "the same expiry for all clients", found)
    elif len({response.body for response in responses}) > 1 or {response.status for response in responses} != {200}:
        context.add_deviation("holdem-1.8", "the same game for all clients", "different answers")


@FRAMING_CASES.add("1.8", "after-a-body")
async def request_after_body(context: HoldemContext) -> None:
    """A body that the server ignores does not end up in the next request."""
    context.users["ann"] = ServerUser(context.server.new_name("ann"))
    response = await context.request("ann", "POST", "/users/", encode({"note": "unused"}))
    if response.status >= 300:
        raise NotReached("a body is refused where none is wanted")
    response = await context.request("ann", "GET", "/games/")
    _require_status(context, response, 200, "the request after a body that the server has ignored")


@FRAMING_CASES.add("1.1", "a-connection-goes-on", rank=REQUEST_RANK)
async def persistent_connection(context: HoldemContext) -> None:
    """A connection serves more than one request."""
    client = context.idle_client(NOBODY)
    for _ in range(3):
        await context.request(NOBODY, "GET", "/games/")
    if client.close_count:
        context.add_deviation("holdem-1.1", "a persistent connection (HTTP/1.1)", "its end", Outcome.CHOICE)


def _call_target(context: HoldemContext, role: str, game: str) -> tuple[str, bytes]:
    """Return the path and the body of a call."""
    return f"/games/{game}/players/{context.player_id(role, game)}/acts/", encode(bet(context.first_call))


def _call(context: HoldemContext, role: str, game: str) -> SentRequest:
    """Return a call that is sent outside the exchange of the context: nobody follows the game from here on."""
    context.refereed_games.forget(game)
    path, body = _call_target(context, role, game)
    return SentRequest("POST", path, context.with_credentials(role, {}), body)


async def _receive(context: HoldemContext, role: str, status: int, what: str) -> ReceivedResponse:
    try:
        response = await context.idle_client(role).receive()
    except ResponseError as error:
        context.add_response_error(error, f"an answer to {what}")
        raise CaseAborted from None
    response = context.record_response(response)
    _require_status(context, response, status, what)
    return response


def _require_status(context: HoldemContext, response: ReceivedResponse, status: int, what: str) -> None:
    """Require the same class of status as for a request that arrives whole.

    Raises CaseAborted after it has recorded a deviation.
    """
    if response.status // 100 != status // 100:
        context.add_status_deviation("holdem-1.8", status, response, Outcome.FAIL, f" to {what}")
        raise CaseAborted
