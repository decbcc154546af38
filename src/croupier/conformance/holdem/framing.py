"""Cases for servers about how requests arrive: in pieces, together, slowly, broken off, from many at once."""

import asyncio
from collections.abc import Sequence
from typing import Final

from croupier.conformance.holdem.cases import Deed
from croupier.conformance.holdem.context import NOBODY, Visit
from croupier.conformance.holdem.handwritten import CALL
from croupier.conformance.holdem.requests import Answer, Question, Unreadable
from croupier.conformance.holdem.tolerated import Broken
from croupier.conformance.results import Outcome

CROWD: Final = 40
"""So many connections are made at once."""


async def in_single_bytes(visit: Visit) -> None:
    """Every request of a whole hand comes byte by byte."""
    game, role = await visit.asked("ann", "bob")
    answer = await visit.ask(role, "GET", f"/games/{game}", size=1)
    _same(visit, answer, 200, "a request that comes byte by byte")
    path = f"/games/{game}/players/{visit.player(role, game)}/acts/"
    answer = await visit.ask(role, "POST", path, b'{"action": 1, "betAmount": 10}', size=1)
    _same(visit, answer, 201, "an act that comes byte by byte")


async def in_sevens(visit: Visit) -> None:
    """Requests come in pieces of seven bytes."""
    game = await visit.seat("ann", "bob")
    for question in ((NOBODY, "GET", "/games/"), ("bob", "GET", f"/games/{game}"), ("ann", "GET", f"/games/{game}")):
        answer = await visit.ask(*question, size=7)
        _same(visit, answer, 200, "a request that comes in pieces")


async def in_halves(visit: Visit) -> None:
    """The body of an act comes a moment after its head."""
    game, role = await visit.asked("ann", "bob")
    question = _act(visit, role, game, b'{"action": 1, "betAmount": 10}')
    caller = visit.callers(role)
    head, blank, body = question.written(caller.host).partition(b"\r\n\r\n")
    visit.said(question)
    await caller.say(head + blank)
    await asyncio.sleep(0.2)
    await caller.say(body)
    await _hear(visit, role, 201, "an act whose body comes later than its head")


async def in_chunks(visit: Visit) -> None:
    """The body of an act comes in chunks."""
    game, role = await visit.asked("ann", "bob")
    body = b'3\r\n{"a\r\n1b\r\nction": 1, "betAmount": 10}\r\n0\r\n\r\n'
    path = f"/games/{game}/players/{visit.player(role, game)}/acts/"
    answer = await visit.ask(role, "POST", path, body, {"Transfer-Encoding": "chunked"})
    _same(visit, answer, 201, "an act in chunks")


async def one_behind_another(visit: Visit) -> None:
    """Requests come together, and are answered in their order."""
    game, role = await visit.asked("ann", "bob")
    headers = visit.signed(role, {})
    caller = visit.callers(role)
    questions = [
        Question("GET", f"/games/{game}", headers),
        Question("GET", "/games/nowhere", headers),
        _act(visit, role, game, b'{"action": 1, "betAmount": 10}'),
        Question("GET", f"/games/{game}", headers),
    ]
    for question in questions:
        visit.said(question)
    await caller.say(b"".join(question.written(caller.host) for question in questions))
    for status in (200, 404, 201, 200):
        answer = await _hear(visit, role, status, "one of several requests that come together")
    if visit.read(answer).turn.player_id == visit.player(role, game):
        visit.departs("holdem-1.8", "the act that was sent before", "a game without it")


async def broken_off(visit: Visit) -> None:
    """A request that breaks off in the middle is none, and the next connection works."""
    game, role = await visit.asked("ann", "bob")
    question = _act(visit, role, game, b'{"action": 1, "betAmount": 10}')
    caller = visit.callers(role)
    await caller.say(question.written(caller.host)[:-4])
    caller.break_off()
    await asyncio.sleep(0.05)
    shown = await visit.sees(role, game)
    if shown.turn.player_id != visit.player(role, game):
        visit.departs(
            "holdem-1.8", "ann's turn: her request has not come to its end", f"that of {visit.turn(shown) or 'nobody'}"
        )
    answer = await visit.act(role, game, CALL)
    _same(visit, answer, 201, "an act on a new connection")


async def on_any_connection(visit: Visit) -> None:
    """What was done on one connection is seen on every other."""
    game, role = await visit.asked("ann", "bob")
    shown = await visit.sees(NOBODY, game)
    await visit.act(role, game, CALL)
    after = await visit.sees(NOBODY, game)
    if after.turn == shown.turn and after.table == shown.table:
        visit.departs("holdem-1.8", "the act, on another connection", "the game as it was before")


async def many_at_once(visit: Visit) -> None:
    """Many look at the same time, each on a connection of his own."""
    game = await visit.seat("ann", "bob")
    callers = [visit.server.caller() for _ in range(CROWD)]
    question = Question("GET", f"/games/{game}")
    visit.said(question)
    try:
        answers = await asyncio.gather(*(caller.ask(question) for caller in callers))
    except Unreadable as error:
        visit.unheard(error, f"{CROWD} answers on {CROWD} connections")
        raise Broken from None
    finally:
        await asyncio.gather(*(caller.hang_up() for caller in callers))
    visit.heard(answers[-1])
    if len({answer.body for answer in answers}) > 1 or {answer.status for answer in answers} != {200}:
        visit.departs("holdem-1.8", "the same game for everybody", "different answers")


async def kept_open(visit: Visit) -> None:
    """A connection serves more than one request."""
    caller = visit.callers(NOBODY)
    for _ in range(3):
        await visit.ask(NOBODY, "GET", "/games/")
    if caller.closes:
        visit.departs("holdem-1.1", "a connection that goes on, as HTTP/1.1 has it", "its end", Outcome.CHOICE)


def _act(visit: Visit, role: str, game: str, body: bytes) -> Question:
    path = f"/games/{game}/players/{visit.player(role, game)}/acts/"
    return Question("POST", path, visit.signed(role, {}), body)


async def _hear(visit: Visit, role: str, status: int, what: str) -> Answer:
    try:
        answer = await visit.callers(role).hear()
    except Unreadable as error:
        visit.unheard(error, f"an answer to {what}")
        raise Broken from None
    answer = visit.heard(answer)
    _same(visit, answer, status, what)
    return answer


def _same(visit: Visit, answer: Answer, status: int, what: str) -> None:
    """Delivery changes nothing: the same success or refusal as ever. Raises Broken."""
    if answer.status // 100 != status // 100:
        visit.departs("holdem-1.8", f"status {status} to {what}", answer.text, Outcome.FAIL, got=answer.shown())
        raise Broken


DELIVERIES: Final[Sequence[Deed]] = (
    Deed("holdem-1.1", "a-connection-goes-on", "A connection serves more than one request", kept_open),
    Deed("holdem-1.8", "byte-by-byte", "Requests may come byte by byte", in_single_bytes),
    Deed("holdem-1.8", "in-sevens", "Requests may come cut anywhere", in_sevens),
    Deed("holdem-1.8", "slowly", "A body may come a moment after its head", in_halves),
    Deed("holdem-1.8", "chunked", "A body may come in chunks", in_chunks),
    Deed("holdem-1.8", "pipelined", "Requests that come together are answered in their order", one_behind_another),
    Deed("holdem-1.8", "broken-off", "A request that breaks off in the middle is none", broken_off),
    Deed("holdem-1.8", "on-any-connection", "An act is seen on every connection", on_any_connection),
    Deed("holdem-1.8", "many-at-once", "Many may look at the same time", many_at_once),
)  # fmt: skip
"""What these cases are."""
