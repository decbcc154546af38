"""Servers of hold'em that each break one rule, the way students do: ours, with something in front of it or inside."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import time
from typing import Any, NamedTuple
from unittest.mock import patch

from argon2 import PasswordHasher

from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat
from croupier.http.auth import Authenticator, AuthError, parse_credentials
from croupier.http.holdem_app import HoldemApp, HoldemServer, open_holdem_server
from croupier.http.streams import Receive, SendChunk
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.engine.pots import Award
from croupier.rooms.holdem.engine.ranks import rank
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table import table
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import (
    ACT_DONE,
    PLAYER_LEFT,
    Act,
    Created,
    HoldemRequest,
    HoldemResponse,
    RequestRefused,
)

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Reply(NamedTuple):
    """An answer on its way out. `json` is its body, None where that is none."""

    method: str
    path: str
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def told(self, found: Any) -> "Reply":
        return self._replace(body=json.dumps(found).encode())

    @property
    def route(self) -> str:
        return f"{self.method} " + re.sub(r"(games|players)/[^/]+", r"\1/:", self.path.strip("/"))


type Change = Callable[[Reply], Reply]


DOCUMENTED = re.compile(r"/(users|games(/[^/]+(/players(/[^/]+(/acts)?)?)?)?)/?")
ADDED = {"x-game-version", "etag"}


def only_documented(scope: Any) -> Any:
    """A request as a server sees it that has none of our additions."""
    kept = [(name, value) for name, value in scope["headers"] if name not in {b"accept", b"if-none-match"}]
    known = scope["path"] if DOCUMENTED.fullmatch(scope["path"]) else "/nowhere"
    return {**scope, "path": known, "query_string": b"", "headers": kept}


class Shim(HoldemApp):
    """Our service, every answer of which is changed before it goes out."""

    change: Change = staticmethod(lambda reply: reply)
    hasnt: str = ""
    documented: bool = False
    delay: Callable[[int], float] = staticmethod(lambda _: 0.0)
    heard: int = 0

    def try_get(self, scope: Any) -> None:
        return None

    def try_command(self, scope: Any, body: bytes) -> None:
        return None

    async def __call__(self, scope: Any, receive: Receive, send: SendChunk) -> None:
        sent: list[Any] = []
        pieces = 0
        data = b""

        async def heard() -> Any:
            nonlocal pieces, data
            message = await receive()
            pieces += 1
            data += message.get("body", b"")
            return message

        async def keep(message: Any) -> None:
            sent.append(message)

        self.heard += 1
        await asyncio.sleep(self.delay(self.heard))
        if self.documented:
            scope = only_documented(scope)
        if scope["path"].endswith("/events") or "wait=" in scope["query_string"].decode():
            await super().__call__(scope, receive, send)
            return
        if self.hasnt and Reply(scope["method"], scope["path"], 0, {}, b"").route == self.hasnt:
            await send({"type": "http.response.start", "status": 405, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        await super().__call__(scope, heard, keep)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        body = b"".join(message.get("body", b"") for message in sent[1:])
        reply = Reply(scope["method"], scope["path"], sent[0]["status"], headers, body)
        if self.documented:
            reply = reply._replace(headers={name: told for name, told in headers.items() if name not in ADDED})
        if scope["method"] != "HEAD":
            reply = self.change(reply)
            reply.headers["content-length"] = str(len(reply.body))
        told = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": told})
        await send({"type": "http.response.body", "body": reply.body})


@dataclass(frozen=True)
class Rogue:
    """One of them: the clauses of which one has to be found broken, and how it is made.

    One that `hasnt` a route answers 405 there, and a `documented` one has no additions. The n-th answer takes
    `delay(n)` seconds.
    """

    clauses: frozenset[str]
    change: Change | None = None
    house: type[House] = House
    hand: type[Hand] = Hand
    table: type[Table] = Table
    settings: Mapping[str, Any] = field(default_factory=dict)
    guard: type[Authenticator] = Authenticator
    hasnt: str = ""
    documented: bool = False
    delay: Callable[[int], float] = lambda _: 0.0


@asynccontextmanager
async def opened(rogue: Rogue, seed: int = 1, dialect: str = "readme", **settings: Any) -> AsyncIterator[HoldemServer]:
    """A rogue that listens on a free port."""
    known = Settings(**{"dialect": dialect, **rogue.settings, **settings})
    with patch.object(table, "Hand", rogue.hand), patch("croupier.rooms.holdem.house.Table", rogue.table):
        place = rogue.house(
            known,
            dealer_factory(lambda deal: derive_server_seed(seed, "holdem", deal)),
            derive_server_seed(seed, "guids", 0),
            epoch=0.0,
        )
        service = Shim(place, rogue.guard(hasher=QUICK), known.dialect, clock=time)
        service.hasnt = rogue.hasnt
        service.documented = rogue.documented
        service.delay = rogue.delay  # type: ignore[method-assign]
        if rogue.change is not None:
            service.change = rogue.change  # type: ignore[method-assign]
        found = await open_holdem_server(service, "127.0.0.1", 0)
        try:
            yield found
        finally:
            await found.stop(1.0)


# What is told wrongly.


def everywhere(change: Callable[[Any], Any]) -> Change:
    """Change every Game that is told."""

    def changed(reply: Reply) -> Reply:
        found = reply.json
        if reply.status != 200 or reply.method != "GET":
            return reply
        if isinstance(found, list):
            return reply.told([change(game) for game in found])
        return reply.told(change(found)) if isinstance(found, dict) and "gameID" in found else reply

    return changed


def status(route: str, before: int, after: int) -> Change:
    """Another status for what a route answers."""
    return lambda reply: reply._replace(status=after) if (reply.route, reply.status) == (route, before) else reply


def of_players(change: Callable[[Any], Any]) -> Change:
    return everywhere(lambda game: {**game, "table": [change(one) for one in game["table"]]})


def of_turn(change: Callable[[Any], Any]) -> Change:
    return everywhere(lambda game: {**game, "turn": change(game["turn"]) if game["turn"]["playerID"] else game["turn"]})


def of_cards(change: Callable[[Any], Any]) -> Change:
    return everywhere(lambda game: {**game, "cards": change(game["cards"])})


def spelt(change: Callable[[str], str]) -> Change:
    return of_cards(lambda cards: {part: names and [change(name) for name in names] for part, names in cards.items()})


def without(key: str) -> Callable[[Any], Any]:
    return lambda found: {name: value for name, value in found.items() if name != key}


def unquoted(route: str) -> Change:
    return lambda reply: (
        reply._replace(body=reply.body.strip(b'"')) if reply.route == route and reply.status == 201 else reply
    )


def lost_folded(game: Any) -> Any:
    folded = {one["playerID"] for one in game["table"] if one["state"] == "folded"}
    pots = [{**pot, "players": [guid for guid in pot["players"] if guid not in folded]} for pot in game["pots"]]
    return {**game, "pots": pots}


def one_pot(game: Any) -> Any:
    pots = game["pots"]
    players = max((pot["players"] for pot in pots), key=len, default=[])
    return {**game, "pots": [{"size": sum(pot["size"] for pot in pots), "players": players}]}


def twice(game: Any) -> Any:
    """The flop begins with the first hole card of whoever looks."""
    cards = game["cards"]
    if cards["hole"] and cards["flop"]:
        return {**game, "cards": {**cards, "flop": [cards["hole"][0], *cards["flop"][1:]]}}
    return game


def to_call(turn: Any) -> Any:
    return {**turn, "bet_to_player": turn["bet_to_player"] - turn["bet_so_far"]}


# What is played wrongly.


class Lowest(Hand):
    __slots__ = ()

    def _showdown_awards(self) -> list[Award]:
        """The worst hand wins everything."""
        live = [seat for seat, out in enumerate(self.folded) if not out]
        worst = max(live, key=lambda seat: rank(self.holes[seat] + self.board))
        return [Award(0, worst, sum(self.paid), 1)]


class Raked(Hand):
    __slots__ = ()

    def _end_hand(self, awards: list[Award]) -> None:
        first, *rest = awards
        super()._end_hand([Award(first.pot, first.seat, first.chips - 1, first.rank), *rest])


class AnyRaise(Hand):
    __slots__ = ()

    @property
    def legal(self) -> Legal:
        """Any raise is legal."""
        found = super().legal
        if found.raise_range is None or not isinstance(self.turn, int):
            return found
        return Legal(
            found.to_call, found.call, (found.to_call + 1, found.raise_range[1]), found.pot, found.can_be_answered
        )

    def bet(self, chips: int) -> None:
        kept = self.min_raise
        if isinstance(self.turn, int) and chips > self.to_match - self.bets[self.turn]:
            self.min_raise = 1
        try:
            super().bet(chips)
        except IllegalMove:
            self.min_raise = kept
            raise
        self.min_raise = max(self.min_raise, kept)


class Bounded(Hand):
    """What is too much is all-in."""

    __slots__ = ()

    def bet(self, chips: int) -> None:
        super().bet(min(chips, self.stacks[self.turn]) if isinstance(self.turn, int) else chips)


class Positive(Hand):
    """What is below nothing is nothing."""

    __slots__ = ()

    def bet(self, chips: int) -> None:
        call = self.to_match - self.bets[self.turn] if isinstance(self.turn, int) else 0
        super().bet(call if chips < 0 else chips)


class Generous(Hand):
    """What is less than the call is taken for it."""

    __slots__ = ()

    def bet(self, chips: int) -> None:
        if isinstance(self.turn, int):
            owed = min(self.to_match - self.bets[self.turn], self.stacks[self.turn])
            chips = owed if 0 <= chips < owed else chips
        super().bet(chips)


class Reopening(Hand):
    """Every raise opens the betting again."""

    __slots__ = ()

    def bet(self, chips: int) -> None:
        self._no_reopen = 0
        super().bet(chips)

    @property
    def legal(self) -> Legal:
        self._no_reopen = 0
        return super().legal


class NoOption(Hand):
    """The big blind is not asked when nobody has raised."""

    __slots__ = ()

    def _continue_betting(self, seat: Seat) -> None:
        if not self.street and self._to_act == 1 << seat and seat == self.big_blind and self.to_match == self.blinds[1]:
            self._close_round()
        else:
            super()._continue_betting(seat)


class NoSidePots(Hand):
    """Who is all-in wins everything all the same."""

    __slots__ = ()

    def _showdown_awards(self) -> list[Award]:
        live = [seat for seat, out in enumerate(self.folded) if not out]
        best = min(live, key=lambda seat: rank(self.holes[seat] + self.board))
        return [Award(0, best, sum(self.paid), 1)]


class BigBlindFirst(Hand):
    """Of two the big blind acts first, also before the flop."""

    __slots__ = ()

    def _open_round(self) -> None:
        super()._open_round()
        if len(self.stacks) == 2 and not self.street and isinstance(self.turn, int):
            self.turn = self.big_blind


class Houses:
    """Houses that take what they should not, or the other way round."""

    class OutOfTurn(House):
        def _acted(self, table: Table, sitter: Participant, act: Act, now: float, effects: Any) -> HoldemResponse:
            return super()._handle_act(table, sitter, act, now, effects) if table.waits_for(sitter) else ACT_DONE

    class ForOthers(House):
        def _answer(self, request: HoldemRequest, now: float, effects: Any) -> HoldemResponse:
            found = super()._handle_request(request, now, effects)
            if isinstance(found, RequestRefused) and found.clause == "holdem-8.8":
                assert not isinstance(request, Created)
                place = self._tables[request.game]  # type: ignore[union-attr]
                sitter = place.called(request.player)  # type: ignore[union-attr]
                assert sitter is not None
                return super()._handle_request(type(request)(**{**_fields(request), "user": sitter.user}), now, effects)
            return found

    class Strict(House):
        """An invalid bet is refused."""

        def _acted(self, table: Table, sitter: Participant, act: Act, now: float, effects: Any) -> HoldemResponse:
            hand = table._hand
            if act.action and hand is not None and table.waits_for(sitter) and act.amount not in hand.legal:
                return RequestRefused(400, "holdem-4.7", "found an invalid bet; allowed: a valid one")
            return super()._handle_act(table, sitter, act, now, effects)

    class Staying(House):
        """Nobody can leave."""

        def _answer(self, request: HoldemRequest, now: float, effects: Any) -> HoldemResponse:
            if type(request).__name__ == "Leave":
                kept = self._tables.get(request.game)  # type: ignore[union-attr]
                if kept is not None and kept.called(request.player) is not None:  # type: ignore[union-attr]
                    return PLAYER_LEFT
            return super()._handle_request(request, now, effects)


def _fields(request: Any) -> dict[str, Any]:
    return {name: getattr(request, name) for name in request.__struct_fields__}


class Fixed(Table):
    """The button stays where it was."""

    def _start_hand(self, dealt: list[Participant]) -> None:
        self._seats._button = -1
        self._seats._big_blind = None
        super()._start_hand(dealt)


class Overfull(Table):
    """There is always a seat."""

    def join(self, user: str, guid: str, now: float) -> bool:
        super().join(user, guid, now)
        return True


class OpenDoor(Authenticator):
    """Any password will do."""

    def cached_username(self, header: bytes) -> str | None:
        return None

    def _matches(self, hashed: str, password: str) -> bool:
        return True


class Again(Authenticator):
    """Who is there already is made again."""

    async def register(self, header: bytes | None, address: str, *, idempotent: bool = False) -> str:

        try:
            return await super().register(header, address, idempotent=idempotent)
        except AuthError as denied:
            if denied.reason == "taken":
                return parse_credentials(header)[0]
            raise


def c(*numbers: str) -> frozenset[str]:
    return frozenset(f"holdem-{number}" for number in numbers)


ACTS = "POST games/:/players/:/acts"
JOIN = "POST games/:/players"

ROGUES: dict[str, Rogue] = {
    "users-200": Rogue(c("2.2"), status("POST users", 201, 200)),
    "users-without-quotes": Rogue(c("2.2"), unquoted("POST users")),
    "join-200": Rogue(c("3.5"), status(JOIN, 201, 200)),
    "join-without-quotes": Rogue(c("3.5"), unquoted(JOIN)),
    "acts-200": Rogue(c("4.1"), status(ACTS, 201, 200)),
    "out-of-turn-400": Rogue(c("4.13"), status(ACTS, 403, 400)),
    "unknown-game-400": Rogue(c("8.4"), status("GET games/:", 404, 400)),
    "no-user-403": Rogue(c("2.7"), lambda reply: reply._replace(status=403) if reply.status == 401 else reply),
    "leave-204": Rogue(c("3.10"), status("DELETE games/:/players/:", 200, 204)),
    "name-again-201": Rogue(c("2.6"), guard=Again),
    "no-password": Rogue(c("2.7", "2.8"), guard=OpenDoor),
    "wealth-as-text": Rogue(c("5.7"), of_players(lambda one: {**one, "wealth": str(one["wealth"])})),
    "bets-as-floats": Rogue(c("5.7"), of_players(lambda one: {**one, "bet_so_far": float(one["bet_so_far"])})),
    "no-handle": Rogue(c("5.7"), of_players(without("handle"))),
    "no-minimum-raise": Rogue(c("5.10"), of_turn(without("minimum_raise"))),
    "no-expiry": Rogue(c("5.10"), of_turn(without("expiry"))),
    "no-pots": Rogue(c("5.3"), everywhere(without("pots"))),
    "expiry-as-words": Rogue(c("5.11"), of_turn(lambda turn: {**turn, "expiry": "in 15 seconds"})),
    "state-waiting": Rogue(
        c("5.7"), of_players(lambda one: {**one, "state": one["state"].replace("active", "waiting")})
    ),
    "always-active": Rogue(c("5.9"), of_players(lambda one: {**one, "state": "active"})),
    "nobody-small-blind": Rogue(c("6.3"), of_players(lambda one: {**one, "small_blind": False})),
    "what-is-to-call": Rogue(c("5.10"), of_turn(to_call)),
    "minimum-raise-20": Rogue(c("6.8"), of_turn(lambda turn: {**turn, "minimum_raise": 20})),
    "small-letters": Rogue(c("5.4"), spelt(str.lower)),
    "ten-as-10": Rogue(c("5.4"), spelt(lambda name: name.replace("T", "10"))),
    "no-null": Rogue(c("5.5"), of_cards(lambda cards: {part: names or [] for part, names in cards.items()})),
    "turn-as-string": Rogue(c("5.5"), of_cards(lambda cards: {**cards, "turn": (cards["turn"] or [None])[0]})),
    "a-card-twice": Rogue(c("6.1"), everywhere(twice)),
    "folded-not-in-pots": Rogue(c("5.14"), everywhere(lost_folded)),
    "one-pot-only": Rogue(c("6.12"), everywhere(one_pot)),
    "list-in-object": Rogue(
        c("5.1"),
        lambda reply: (
            reply.told({"games": reply.json}) if reply.route == "GET games" and reply.status == 200 else reply
        ),
    ),
    "no-json": Rogue(
        c("1.5"),
        lambda reply: (
            reply._replace(body=b"<p>Game</p>") if reply.route == "GET games/:" and reply.status == 200 else reply
        ),
    ),
    "worst-hand-wins": Rogue(c("6.14"), hand=Lowest),
    "rake": Rogue(c("5.17"), hand=Raked),
    "any-raise": Rogue(c("4.11"), hand=AnyRaise),
    "too-much-is-all-in": Rogue(c("4.9"), hand=Bounded),
    "below-nothing-is-a-call": Rogue(c("4.8"), hand=Positive),
    "too-little-is-a-call": Rogue(c("4.10"), hand=Generous),
    "every-raise-reopens": Rogue(c("4.12", "6.9"), hand=Reopening),
    "no-option": Rogue(c("6.6"), hand=NoOption),
    "all-in-wins-all": Rogue(c("6.12", "6.14"), hand=NoSidePots),
    "big-blind-first": Rogue(c("6.4"), hand=BigBlindFirst),
    "out-of-turn-accepted": Rogue(c("4.13"), house=Houses.OutOfTurn),
    "acts-for-others": Rogue(c("8.8"), house=Houses.ForOthers),
    "invalid-is-refused": Rogue(c("4.7", "4.8", "4.9", "4.10", "4.11"), house=Houses.Strict),
    "nobody-leaves": Rogue(c("3.10", "3.11", "3.12", "3.14"), house=Houses.Staying),
    "button-stays": Rogue(c("6.2"), table=Fixed),
    "no-queue": Rogue(c("3.6"), table=Overfull),
    "small-blinds": Rogue(c("6.3"), settings={"blinds": "5/10"}),
    "small-stacks": Rogue(c("3.1"), settings={"stack": 5000}),
}
