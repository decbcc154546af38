"""Generated faults of hold'em bots: each breaks one clause in one state, at the level of requests."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.conformance.holdem.faulty_programs import clause_names
from tests.conformance.mutants.mutant_bot import (
    BotChange,
    BotRequest,
    BotSituation,
    HoldemBotMutation,
    Json,
    ResponseStream,
    call_amount,
)
from tests.http.service_fixture import basic

type RequestChange = Callable[[BotRequest], BotRequest | bytes]

ACT_STATES = ("before the flop", "after the flop")
REQUEST_STATES = ("registering", "listing", "joining", "waiting", *ACT_STATES)
SIGNED_STATES = ("joining", *ACT_STATES)
"""The states in which credentials are required; when registering, they make the user."""

FOLD = b'{"action": 0}'


def bot(operator: str, state: str, what: str, numbers: str, **more: Any) -> HoldemBotMutation:
    return HoldemBotMutation(operator=operator, state=state, what=what, clauses=clause_names(*numbers.split()), **more)


def while_in(state: str, change: RequestChange) -> BotChange:
    """Change each request in one state."""
    return lambda situation, request: [change(request) if situation.state == state else request]


# Credentials.

CREDENTIALS: Sequence[tuple[str, Callable[[str], str | None]]] = (
    ("no credentials", lambda _: None),
    ("another password", lambda own: basic(_name(own), "another")),
    ("an unknown name", lambda own: basic(f"{_name(own)}-2", "secret")),
    ("credentials that are not base64", lambda own: own.replace("Basic ", "Basic !")),
    ("credentials of another scheme", lambda own: own.replace("Basic", "Bearer")),
    ("credentials without a colon", lambda own: f"Basic {b64encode(_name(own).encode()).decode()}"),
)


def _name(credentials: str) -> str:
    return b64decode(credentials.split()[1]).decode().partition(":")[0]


def credentials() -> Iterator[HoldemBotMutation]:
    """Credentials that are missing or wrong."""
    for state in ("registering", *SIGNED_STATES, "waiting"):
        for what, change in CREDENTIALS:
            is_legal = (state == "waiting" and what == "no credentials") or (
                state == "registering" and what == "an unknown name"
            )
            if is_legal or (state == "registering" and what == "another password"):
                continue
            numbers = "2.5" if state == "registering" else "2.8 2.7" if state == "waiting" else "2.7"

            def changed(request: BotRequest, change: Callable[[str], str | None] = change) -> BotRequest:
                return replace(request, credentials=change(request.credentials or ""))

            yield bot("credentials", state, what, numbers, change=while_in(state, changed))
    looks_only = while_in("registering", lambda request: replace(request, method="GET", path="/games/"))
    yield bot("credentials", "registering", "no user is created", "2.7 2.8", change=looks_only)


# Paths and methods.

PATHS: Sequence[tuple[str, str, Callable[[str], str]]] = (
    ("a path of another name", "8.3", lambda path: path.replace("/games", "/tables").replace("/users", "/accounts")),
    ("a path in capitals", "8.3", lambda path: path.replace("/games", "/Games").replace("/users", "/Users")),
    ("a doubled slash", "8.3", lambda path: f"/{path}"),
    ("a prefix", "8.3", lambda path: f"/api{path}"),
)

METHODS: Mapping[str, Sequence[str]] = {
    "registering": ("PUT", "GET"),
    "listing": ("DELETE", "PATCH"),
    "joining": ("PUT", "GET"),
    "waiting": ("POST", "PUT"),
    "before the flop": ("PUT", "GET"),
    "after the flop": ("PUT", "PATCH"),
}


def targets() -> Iterator[HoldemBotMutation]:
    """Paths and methods that the document does not have, and games and players that do not exist."""
    for state in REQUEST_STATES:
        for what, numbers, change in PATHS:

            def changed(request: BotRequest, change: Callable[[str], str] = change) -> BotRequest:
                return replace(request, path=change(request.path))

            yield bot("path", state, what, numbers, change=while_in(state, changed))
        for method in METHODS[state]:

            def with_method(request: BotRequest, method: str = method) -> BotRequest:
                return replace(request, method=method)

            yield bot("method", state, method, "8.6", change=while_in(state, with_method))
    for state in ("joining", "waiting", *ACT_STATES):

        def unknown_game(request: BotRequest) -> BotRequest:
            _, games, _, *rest = request.path.split("/")
            return replace(request, path="/".join(["", games, "main", *rest]))

        yield bot("target", state, "a game that does not exist", "8.4", change=while_in(state, unknown_game))
    for state in ACT_STATES:
        yield bot("target", state, "its name as playerID", "8.5", change=while_in(state, _with_player("bot")))
        yield bot("target", state, "another player", "8.8", change=_for_another(state))


def _with_player(player: str) -> RequestChange:
    def changed(request: BotRequest) -> BotRequest:
        parts = request.path.split("/")
        return replace(request, path="/".join([*parts[:4], player, *parts[5:]]))

    return changed


def _for_another(state: str) -> BotChange:
    def changed(situation: BotSituation, request: BotRequest) -> Sequence[BotRequest | bytes]:
        if situation.state != state:
            return [request]
        other = next(one["playerID"] for one in situation.game["table"] if one["playerID"] != situation.player)
        return [_with_player(other)(request)]

    return changed


# Acts.

BODIES: Sequence[tuple[str, str, Callable[[Any], Any]]] = (
    ("the amount as text", "4.4", lambda act: {**act, "betAmount": str(act.get("betAmount", 0)), "action": 1}),
    ("the amount with a decimal point", "4.4", lambda act: {"action": 1, "betAmount": float(act.get("betAmount", 0))}),
    ("the amount as null", "4.4", lambda act: {"action": 1, "betAmount": None}),
    ("the amount as true", "4.4", lambda act: {"action": 1, "betAmount": True}),
    ("no amount", "4.4", lambda act: {"action": 1}),
    ("no action", "4.4", lambda act: {"betAmount": act.get("betAmount", 0)}),
    ("the action as a word", "4.4", lambda act: {**act, "action": "bet"}),
    ("the action as text", "4.4", lambda act: {**act, "action": str(act["action"])}),
    ("the action as true", "4.4", lambda act: {**act, "action": bool(act["action"])}),
    ("an action 2", "4.4", lambda act: {**act, "action": 2}),
    ("other keys", "4.4", lambda act: {"type": act["action"], "amount": act.get("betAmount", 0)}),
    ("an array", "4.4", lambda act: [act]),
    ("an object in an object", "4.4", lambda act: {"act": act}),
    ("a number", "4.4", lambda act: act["action"]),
)

RAW_BODIES: Sequence[tuple[str, bytes]] = (
    ("nothing", b""),
    ("a form", b"action=1&betAmount=0"),
    ("single quotes", b"{'action': 1, 'betAmount': 0}"),
    ("half an object", b'{"action": 1, "betAmount"'),
    ("bytes that are not UTF-8", b'{"action": 0, "note": "\xff"}'),
)


def acts() -> Iterator[HoldemBotMutation]:
    """Acts of wrong form."""
    for state in ACT_STATES:
        for what, numbers, change in BODIES:

            def changed(request: BotRequest, change: Callable[[Any], Any] = change) -> BotRequest:
                return replace(request, body=json.dumps(change(json.loads(request.body))).encode())

            yield bot("body", state, what, numbers, change=while_in(state, changed))
        for what, body in RAW_BODIES:

            def with_body(request: BotRequest, body: bytes = body) -> BotRequest:
                return replace(request, body=body)

            yield bot("body", state, what, "4.4", change=while_in(state, with_body))


# Amounts.


def _raise_over(extra_of: Callable[[int], int]) -> Callable[[Json, Json], int | None]:
    """A raise by less than the minimum, where a raise is possible."""

    def amount(game: Json, me: Json) -> int | None:
        call, least = call_amount(game, me), game["turn"]["minimum_raise"]
        extra = extra_of(least)
        return call + extra if 0 < extra < least and me["wealth"] > call + extra else None

    return amount


def _less_than_call(game: Json, me: Json) -> int | None:
    return call_amount(game, me) - 1 if call_amount(game, me) else None


AMOUNTS: Sequence[tuple[str, str, Callable[[Json, Json], int | None]]] = (
    ("a negative bet", "4.8", lambda game, me: -20),
    ("a bet of more than its wealth", "4.9", lambda game, me: me["wealth"] + 1),
    ("a bet of more digits than a number has", "4.9", lambda game, me: 10**30),
    ("a check of every bet", "4.10", lambda game, me: 0),
    ("a chip less than the call", "4.10", _less_than_call),
    ("a raise by one chip", "4.11", _raise_over(lambda _: 1)),
    ("a raise by half the minimum", "4.11", _raise_over(lambda least: least // 2)),
    ("a raise by a chip less than the minimum", "4.11", _raise_over(lambda least: least - 1)),
)
"""Wrong amounts: what, the clauses, and the amount, None where it is not possible."""


def amounts() -> Iterator[HoldemBotMutation]:
    """Bets that are invalid, and the amounts that students confuse."""
    for state in ACT_STATES:
        for what, numbers, amount in AMOUNTS:

            def choose(
                game: Json,
                me: Json,
                random: Random,
                amount: Callable[[Json, Json], int | None] = amount,
                state: str = state,
            ) -> int | None:
                is_here = bool(game["cards"]["flop"]) == (state == "after the flop")
                found = amount(game, me) if is_here else None
                return call_amount(game, me) if found is None else found

            yield bot("amount", state, what, numbers, choose=choose)
    for what, numbers, wrong in (
        ("the total of the round", "4.9 4.11 4.12", lambda game, me: game["turn"]["bet_to_player"]),
        ("its whole wealth and its bet", "4.9", lambda game, me: me["wealth"] + me["bet_so_far"] + 1),
        ("a raise that ignores the call", "4.10 4.11", lambda game, me: game["turn"]["minimum_raise"] - 1),
    ):

        def choose_wrong(
            game: Json, me: Json, random: Random, wrong: Callable[[Json, Json], int] = wrong
        ) -> int | None:
            return wrong(game, me)

        yield bot("amount", "in every turn", what, numbers, choose=choose_wrong)


# Turns.


def _acts_whenever(condition: Callable[[Json, str], bool]) -> Callable[[Json, str], bool]:
    return lambda game, player: game["turn"]["playerID"] == player or condition(game, player)


def _state_of(game: Json, player: str) -> str:
    """The state of a player, "" for a player who is not in the table."""
    return next((str(one["state"]) for one in game["table"] if one["playerID"] == player), "")


def _twice(state: str) -> BotChange:
    return lambda situation, request: [request, request] if situation.state == state else [request]


def _silent_in(state: str, after: int = 0) -> BotChange:
    def changed(situation: BotSituation, request: BotRequest) -> Sequence[BotRequest | bytes]:
        if situation.state != state:
            return [request]
        situation.memory["requests"] = situation.memory.get("requests", 0) + 1
        return [] if situation.memory["requests"] > after else [request]

    return changed


def _leaves(state: str, *, acts_on: bool) -> BotChange:
    """Leave the game in the place of an act; go on acting all the same, or never again."""

    def changed(situation: BotSituation, request: BotRequest) -> Sequence[BotRequest | bytes]:
        if situation.state != state:
            return [request]
        leaving = replace(request, method="DELETE", path=request.path.removesuffix("acts/"), body=b"")
        return [leaving, request] if acts_on else [leaving]

    return changed


def turns() -> Iterator[HoldemBotMutation]:
    """Acts out of turn, twice, or never."""
    conditions: Sequence[tuple[str, Callable[[Json, str], bool]]] = (
        ("acts in every turn", lambda game, player: bool(game["turn"]["playerID"])),
        ("acts while nobody has the turn", lambda game, player: not game["turn"]["playerID"]),
        ("acts as soon as it sits", lambda game, player: True),
        ("acts while it waits for a hand", lambda game, player: _state_of(game, player) == ""),
        ("acts after it has called", lambda game, player: _state_of(game, player) == "called"),
        ("acts after it has folded", lambda game, player: _state_of(game, player) == "folded"),
    )
    for what, condition in conditions:
        yield bot("turn", "while it waits", what, "4.13 4.14", reads_turn=_acts_whenever(condition))
    for state in ACT_STATES:
        yield bot("turn", state, "acts twice", "4.14 4.13", change=_twice(state))
        yield bot("turn", state, "acts after it has left", "8.5 3.14", change=_leaves(state, acts_on=True))
    for state, numbers in (
        ("registering", "1.1 2.2 3.5"), ("listing", "3.5"), ("joining", "3.5"), ("waiting", "4.15"),
        ("before the flop", "4.15"), ("after the flop", "4.15"),
    ):  # fmt: skip
        yield bot("silent", state, "falls silent", numbers, change=_silent_in(state))
    for state in ("waiting", *ACT_STATES):
        yield bot("silent", state, "falls silent the second time", "4.15", change=_silent_in(state, 1))


# HTTP.

HEADS: Sequence[tuple[str, RequestChange]] = (
    ("no Host", lambda request: replace(request, headers=request.headers[1:])),
    ("two Hosts", lambda request: replace(request, headers=(request.headers[0], *request.headers))),
    ("line feeds only", lambda request: request.encode("x").replace(b"\r\n", b"\n")),
    ("a method in small letters", lambda request: replace(request, method=request.method.lower())),
    ("no version", lambda request: request.encode("x").replace(b" HTTP/1.1", b"", 1)),
    ("a target without a slash", lambda request: replace(request, path=request.path.removeprefix("/"))),
    ("a header without a colon", lambda request: replace(request, headers=(*request.headers, "Accept all"))),
)


def heads() -> Iterator[HoldemBotMutation]:
    """Requests that are not HTTP/1.1."""
    for state in REQUEST_STATES:
        for what, change in HEADS:
            yield bot("head", state, what, "1.1", change=while_in(state, change))
    for state in ACT_STATES:

        def shorter(request: BotRequest) -> BotRequest:
            return replace(request, headers=(request.headers[0], f"Content-Length: {len(request.body) - 1}"))

        def without_length(request: BotRequest) -> BotRequest:
            return replace(request, headers=request.headers[:1])

        yield bot("head", state, "a length that is too small", "1.1 4.4", change=while_in(state, shorter))
        yield bot("head", state, "no length", "1.1 4.4", change=while_in(state, without_length))


# Reading.


class OneReadStream(ResponseStream):
    """Takes what one read brings for one response."""

    async def read(self) -> tuple[int, bytes]:
        data = await self.reader.read(65536)
        if not data:
            raise EOFError
        head, _, body = data.partition(b"\r\n\r\n")
        return int(head.split()[1]), body


class UnchunkedStream(ResponseStream):
    """Knows no chunks."""

    async def read_body(self, headers: Mapping[str, str]) -> bytes:
        return await self.reader.readexactly(int(headers["content-length"]))


def _exact_headers(name: str) -> type[ResponseStream]:
    class ExactStream(ResponseStream):
        """Finds the length under one spelling of the header only."""

        async def read(self) -> tuple[int, bytes]:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            if "chunked" in head:
                return int(head.split()[1]), await self.read_body({"transfer-encoding": "chunked"})
            length = next(line for line in head.split("\r\n") if line.startswith(name)).split(":")[1]
            return int(head.split()[1]), await self.reader.readexactly(int(length))

    return ExactStream


def readers() -> Iterator[HoldemBotMutation]:
    """Bots that misread responses."""
    for what, numbers, reader in (
        ("one read is one response", "1.8 1.1", OneReadStream),
        ("chunks are not known", "1.1", UnchunkedStream),
        ("Content-Length in one spelling", "1.1", _exact_headers("Content-Length")),
        ("content-length in one spelling", "1.1", _exact_headers("content-length")),
    ):
        yield bot("reader", "always", what, numbers, reader=reader)


def clients() -> Iterator[HoldemBotMutation]:
    """All mutations of bots."""
    yield from credentials()
    yield from targets()
    yield from acts()
    yield from amounts()
    yield from turns()
    yield from heads()
    yield from readers()
