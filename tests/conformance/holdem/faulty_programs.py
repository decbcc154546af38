"""Hold'em servers that each break one rule, as students' servers do: our server with changed responses or parts."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from time import time
from typing import Any, NamedTuple, override
from unittest.mock import patch

from msgspec.structs import replace

from croupier.core.dealer import Dealer, dealer_factory, derive_server_seed
from croupier.core.rules import Seat
from croupier.http.auth import QUICK_HASHER, Authenticator, AuthError, parse_credentials
from croupier.http.holdem_app import HoldemApp
from croupier.http.messages import Answer, Request, Response, run_later, settle
from croupier.rooms.holdem.engine.awards import Award
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.engine.ranks import rank
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table import table
from croupier.rooms.holdem.table.seats import Participant, Seats
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import (
    ACT_DONE,
    ACTION_FOLD,
    PLAYER_LEFT,
    Act,
    Created,
    HoldemRequest,
    HoldemResponse,
    RequestRefused,
)


class Reply(NamedTuple):
    """A response before it is sent. `json` is its body as JSON, None if it is not JSON."""

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

    def with_json(self, value: Any) -> "Reply":
        return self._replace(body=json.dumps(value).encode())

    @property
    def route(self) -> str:
        return f"{self.method} " + re.sub(r"(games|players)/[^/]+", r"\1/:", self.path.strip("/"))


type ResponseTransform = Callable[[Reply], Reply]


DOCUMENTED = re.compile(r"/(users|games(/[^/]+(/players(/[^/]+(/acts)?)?)?)?)/?")
ADDED = {"x-game-version", "etag"}


def only_documented(request: Request) -> Request:
    """Return a request as seen by a server without our extensions of the document."""
    headers = [(name, value) for name, value in request.headers if name not in {b"accept", b"if-none-match"}]
    path = request.path if DOCUMENTED.fullmatch(request.path) else "/nowhere"
    return replace(request, path=path, query=b"", headers=headers, fields=dict(headers))


class FaultyApp(HoldemApp):
    """Our application, with every response changed before it is sent."""

    change: ResponseTransform = staticmethod(lambda reply: reply)
    missing_route: str = ""
    missing_status: int = 405
    document_only: bool = False
    delay: Callable[[int], float] = staticmethod(lambda _: 0.0)
    beside: Callable[["FaultyApp", Reply], None] = staticmethod(lambda _app, _reply: None)
    request_count: int = 0

    @override
    def open(self, request: Request) -> Answer | None:
        return run_later(self._answer_changed(request)) if request.is_complete else None

    @override
    def respond(self, request: Request) -> Answer:
        return run_later(self._answer_changed(request))

    async def _answer_changed(self, request: Request) -> Response:
        self.request_count += 1
        await asyncio.sleep(self.delay(self.request_count))
        asked = only_documented(request) if self.document_only else request
        asked.disconnected = request.watch_disconnect()
        asked.is_complete = True
        if self.missing_route and Reply(request.method, asked.path, 0, {}, b"").route == self.missing_route:
            return Response(self.missing_status, [(b"content-length", b"0")])
        answer = super().open(asked)
        assert answer is not None
        response = await settle(answer)
        if asked.path.endswith("/events") or b"wait=" in asked.query:
            return response
        headers = {name.decode(): value.decode() for name, value in response.headers}
        reply = Reply(request.method, asked.path, response.status, headers, response.body)
        self.beside(self, reply)
        if self.document_only:
            reply = reply._replace(headers={name: value for name, value in headers.items() if name not in ADDED})
        if request.method != "HEAD":
            reply = self.change(reply)
            reply.headers["content-length"] = str(len(reply.body))
        changed = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        return Response(reply.status, changed, reply.body)


@dataclass(frozen=True)
class FaultyServer:
    """A faulty server: the clauses of which one must be found broken, and what is changed.

    A server with a `missing_route` answers its `missing_status` there; a `document_only` one has no extensions.
    Response number n takes `delay(n)` seconds. `beside` changes more than the request has.
    """

    clauses: frozenset[str]
    change: ResponseTransform | None = None
    house: type[House] = House
    hand: type[Hand] = Hand
    table: type[Table] = Table
    dealer: Callable[[Dealer], Dealer] = lambda dealer: dealer
    settings: Mapping[str, Any] = field(default_factory=dict)
    authenticator: type[Authenticator] = Authenticator
    missing_route: str = ""
    missing_status: int = 405
    document_only: bool = False
    delay: Callable[[int], float] = lambda _: 0.0
    beside: Callable[[FaultyApp, Reply], None] = lambda _app, _reply: None


@asynccontextmanager
async def open_faulty_server(
    faulty: FaultyServer, seed: int = 1, dialect: str = "readme", **settings: Any
) -> AsyncIterator[FaultyApp]:
    """Run a faulty server on a free port."""
    all_settings = Settings(**{"dialect": dialect, **faulty.settings, **settings})
    fair_dealer = dealer_factory(lambda deal: derive_server_seed(seed, "holdem", deal))
    with patch.object(table, "Hand", faulty.hand), patch("croupier.rooms.holdem.house.Table", faulty.table):
        house = faulty.house(
            all_settings,
            lambda number: faulty.dealer(fair_dealer(number)),
            derive_server_seed(seed, "guids", 0),
            epoch=0.0,
        )
        service = FaultyApp(house, faulty.authenticator(hasher=QUICK_HASHER), clock=time)
        service.missing_route, service.missing_status = faulty.missing_route, faulty.missing_status
        service.document_only = faulty.document_only
        service.delay = faulty.delay
        service.beside = faulty.beside
        if faulty.change is not None:
            service.change = faulty.change
        await service.listen("127.0.0.1", 0)
        try:
            yield service
        finally:
            await service.stop(1.0)
            service.authenticator.close()


# Wrong responses.


def in_games(change: Callable[[Any], Any]) -> ResponseTransform:
    """Return a transform of every Game in a response."""

    def changed(reply: Reply) -> Reply:
        value = reply.json
        if reply.status != 200 or reply.method != "GET":
            return reply
        if isinstance(value, list):
            return reply.with_json([change(game) for game in value])
        return reply.with_json(change(value)) if isinstance(value, dict) and "gameID" in value else reply

    return changed


def status(route: str, before: int, after: int) -> ResponseTransform:
    """Return a transform of one status of a route."""
    return lambda reply: reply._replace(status=after) if (reply.route, reply.status) == (route, before) else reply


def of_players(change: Callable[[Any], Any]) -> ResponseTransform:
    return in_games(lambda game: {**game, "table": [change(one) for one in game["table"]]})


def of_turn(change: Callable[[Any], Any]) -> ResponseTransform:
    return in_games(lambda game: {**game, "turn": change(game["turn"]) if game["turn"]["playerID"] else game["turn"]})


def of_cards(change: Callable[[Any], Any]) -> ResponseTransform:
    return in_games(lambda game: {**game, "cards": change(game["cards"])})


def spelt(change: Callable[[str], str]) -> ResponseTransform:
    return of_cards(lambda cards: {part: names and [change(name) for name in names] for part, names in cards.items()})


def without(key: str) -> Callable[[Any], Any]:
    return lambda value: {name: value for name, value in value.items() if name != key}


def unquoted(route: str) -> ResponseTransform:
    return lambda reply: (
        reply._replace(body=reply.body.strip(b'"')) if reply.route == route and reply.status == 201 else reply
    )


def lost_folded(game: Any) -> Any:
    folded = {one["playerID"] for one in game["table"] if one["state"] == "folded"}
    pots = [{**pot, "players": [guid for guid in pot["players"] if guid not in folded]} for pot in game["pots"]]
    return {**game, "pots": pots}


def one_pot(game: Any) -> Any:
    pots = game["pots"]
    players: Sequence[str] = max((pot["players"] for pot in pots), key=len, default=[])
    return {**game, "pots": [{"size": sum(pot["size"] for pot in pots), "players": players}]}


def twice(game: Any) -> Any:
    """Repeat the viewer's first hole card in the flop."""
    cards = game["cards"]
    if cards["hole"] and cards["flop"]:
        return {**game, "cards": {**cards, "flop": [cards["hole"][0], *cards["flop"][1:]]}}
    return game


def to_call(turn: Any) -> Any:
    return {**turn, "bet_to_player": turn["bet_to_player"] - turn["bet_so_far"]}


# Wrong play.


class WorstHandWins(Hand):
    __slots__ = ()

    @override
    def _showdown_awards(self) -> list[Award]:
        """The worst hand wins everything."""
        live = [seat for seat, out in enumerate(self.folded) if not out]
        worst = max(live, key=lambda seat: rank(self.holes[seat] + self.board))
        return [Award(0, worst, sum(self.paid), 1)]


class RakedHand(Hand):
    __slots__ = ()

    @override
    def _end_hand(self, awards: list[Award]) -> None:
        first, *rest = awards
        super()._end_hand([Award(first.pot, first.seat, first.chips - 1, first.rank), *rest])


class AnyRaise(Hand):
    __slots__ = ()

    @override
    @property
    def legal(self) -> Legal:
        """Any raise is legal."""
        value = super().legal
        if value.raise_range is None or not isinstance(self.turn, int):
            return value
        return Legal(
            value.to_call, value.call, (value.to_call + 1, value.raise_range[1]), value.pot, value.can_be_answered
        )

    @override
    def try_play(self, move: object) -> bool:
        previous = self.min_raise
        if isinstance(move, int) and isinstance(self.turn, int) and move > self.to_match - self.bets[self.turn]:
            self.min_raise = 1
        is_legal = super().try_play(move)
        if isinstance(move, int):
            self.min_raise = max(self.min_raise, previous) if is_legal else previous
        return is_legal


class ClampedBets(Hand):
    """A bet beyond the stack is an all-in."""

    __slots__ = ()

    @override
    def try_play(self, move: object) -> bool:
        if isinstance(move, int) and isinstance(self.turn, int):
            move = min(move, self.stacks[self.turn])
        return super().try_play(move)


class NegativeBetCalls(Hand):
    """A negative bet is a call."""

    __slots__ = ()

    @override
    def try_play(self, move: object) -> bool:
        if isinstance(move, int) and isinstance(self.turn, int) and move < 0:
            move = self.to_match - self.bets[self.turn]
        return super().try_play(move)


class ShortBetCalls(Hand):
    """A bet below the call is a call."""

    __slots__ = ()

    @override
    def try_play(self, move: object) -> bool:
        if isinstance(move, int) and isinstance(self.turn, int):
            amount_to_call = min(self.to_match - self.bets[self.turn], self.stacks[self.turn])
            move = amount_to_call if 0 <= move < amount_to_call else move
        return super().try_play(move)


class Reopening(Hand):
    """Every raise reopens the betting."""

    __slots__ = ()

    @override
    def try_play(self, move: object) -> bool:
        self._no_reopen = 0
        return super().try_play(move)

    @override
    @property
    def legal(self) -> Legal:
        self._no_reopen = 0
        return super().legal


class NoOption(Hand):
    """The big blind has no option if nobody has raised."""

    __slots__ = ()

    @override
    def _continue_betting(self, seat: Seat) -> None:
        if (
            not self.street
            and self.to_act == 1 << seat
            and seat == self.big_blind
            and self.to_match == self.stakes.big_blind
        ):
            self._close_round()
        else:
            super()._continue_betting(seat)


class NoSidePots(Hand):
    """An all-in player wins the whole pot."""

    __slots__ = ()

    @override
    def _showdown_awards(self) -> list[Award]:
        live = [seat for seat, out in enumerate(self.folded) if not out]
        best = min(live, key=lambda seat: rank(self.holes[seat] + self.board))
        return [Award(0, best, sum(self.paid), 1)]


class BigBlindFirst(Hand):
    """Heads-up, the big blind acts first before the flop, too."""

    __slots__ = ()

    @override
    def _open_round(self) -> None:
        super()._open_round()
        if len(self.stacks) == 2 and not self.street and isinstance(self.turn, int):
            self.turn = self.big_blind


class ReversedBlindsOfTwo(Hand):
    """Heads-up, the button posts the big blind, and the small blind acts first in every round."""

    __slots__ = ()

    @override
    @property
    def blinds(self) -> list[tuple[Seat, int]]:
        if len(self.start_stacks) == 2:
            self.small_blind, self.big_blind = 1 - self.button, self.button
        return super().blinds


class Houses:
    """Houses that accept what they should refuse, or the other way round."""

    class OutOfTurn(House):
        @override
        def _handle_request(self, request: HoldemRequest, now: float, effects: Any) -> HoldemResponse:
            value = super()._handle_request(request, now, effects)
            is_out_of_turn = isinstance(value, RequestRefused) and value.clause == "holdem-4.13"
            return ACT_DONE if is_out_of_turn else value

    class ForOthers(House):
        @override
        def _handle_request(self, request: HoldemRequest, now: float, effects: Any) -> HoldemResponse:
            value = super()._handle_request(request, now, effects)
            if isinstance(value, RequestRefused) and value.clause == "holdem-8.8":
                assert not isinstance(request, Created)
                joined_table = self._register.get(request.game)  # type: ignore[union-attr]
                participant = joined_table.seats.by_guid(request.player)  # type: ignore[union-attr]
                assert participant is not None
                return super()._handle_request(
                    type(request)(**{**_fields(request), "user": participant.user}), now, effects
                )
            return value

    class Strict(House):
        """An invalid bet is refused."""

        @override
        def _handle_request(self, request: HoldemRequest, now: float, effects: Any) -> HoldemResponse:
            if isinstance(request, Act) and request.action:
                joined_table = self._register.get(request.game)
                if joined_table is not None and joined_table._hand is not None:
                    participant = joined_table.seats.by_guid(request.player)
                    is_bet = participant is not None and joined_table.waits_for(participant)
                    if is_bet and request.amount not in joined_table._hand.hand.legal:
                        return RequestRefused(400, "holdem-4.7", "found an invalid bet; allowed: a valid one")
            return super()._handle_request(request, now, effects)

    class Staying(House):
        """A leave is confirmed and ignored."""

        @override
        def _handle_request(self, request: HoldemRequest, now: float, effects: Any) -> HoldemResponse:
            if type(request).__name__ == "Leave":
                joined_table = self._register.get(request.game)  # type: ignore[union-attr]
                if joined_table is not None and joined_table.seats.by_guid(request.player) is not None:  # type: ignore[union-attr]
                    return PLAYER_LEFT
            return super()._handle_request(request, now, effects)


def _fields(request: Any) -> dict[str, Any]:
    return {name: getattr(request, name) for name in request.__struct_fields__}


class FixedButton(Table):
    """The button never moves."""

    @override
    def _start_hand(self, dealt: list[Participant]) -> None:
        self.seats._button = -1
        self.seats.big_blind = None
        super()._start_hand(dealt)


def with_seats(seats: type[Seats]) -> type[Table]:
    """Return a table with faulty seats."""

    class TableWithSeats(Table):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            self.seats.__class__ = seats

    return TableWithSeats


class BackwardButton(Seats):
    """The button goes round the table the other way."""

    __slots__ = ()

    @override
    def pass_button(self, dealt: Sequence[Participant]) -> Seat:
        chairs = [participant.chair for participant in dealt if participant.chair is not None]
        button = next((seat for seat in range(len(chairs) - 1, -1, -1) if chairs[seat] < self._button), len(chairs) - 1)
        self._button, self.big_blind = chairs[button], None
        return button


class EitherFirstButton(Seats):
    """The first button is with the second player in every other game."""

    __slots__ = ()
    games = count()

    @override
    def pass_button(self, dealt: Sequence[Participant]) -> Seat:
        if self._button < 0 and next(self.games) % 2:
            self._button = dealt[0].chair or 0
        return super().pass_button(dealt)


class HighestFreeSeat(Seats):
    """A newcomer gets the free seat with the highest number, but the first player that with the lowest."""

    __slots__ = ()

    @override
    def _take_seat(self, participant: Participant) -> None:
        free = [chair for chair, taken in enumerate(self._chairs) if taken is None]
        participant.chair = free[-1 if self.seated_participants else 0]
        participant.chips = self._stack
        self._chairs[participant.chair] = participant


class SkippingButton(BackwardButton):
    """The button goes on by two players."""

    __slots__ = ()

    @override
    def pass_button(self, dealt: Sequence[Participant]) -> Seat:
        Seats.pass_button(self, dealt)
        self.big_blind = None
        return Seats.pass_button(self, dealt)


class LastComeFirstServed(Seats):
    """A free seat goes to the last of the queue."""

    __slots__ = ()

    @override
    def fill_from_queue(self) -> None:
        while self._queue and None in self._chairs:
            self._take_seat(self._queue.popitem()[1])


class ForgottenQueue(Seats):
    """A seat that becomes free stays free."""

    __slots__ = ()

    @override
    def fill_from_queue(self) -> None:
        pass


class NeverFull(Table):
    """Every join gets a seat."""

    @override
    def join(self, user: str, guid: str, now: float, *, is_person: bool = False) -> bool:
        super().join(user, guid, now, is_person=is_person)
        return True


class AnyPassword(Authenticator):
    """Any password is accepted."""

    @override
    def _matches(self, hashed: str, password: str) -> bool:
        return True


class ReRegisters(Authenticator):
    """A registered name can be registered again."""

    @override
    async def register(self, header: bytes | None, address: str, *, idempotent: bool = False) -> str:

        try:
            return await super().register(header, address, idempotent=idempotent)
        except AuthError as denied:
            if denied.reason == "taken":
                return parse_credentials(header)[0]
            raise


class ObjectNamesTaken(Authenticator):
    """Names that every object of JavaScript has are taken."""

    @override
    async def register(self, header: bytes | None, address: str, *, idempotent: bool = False) -> str:
        if (name := parse_credentials(header)[0]) in {"constructor", "toString", "valueOf"}:
            raise AuthError("taken", name)
        return await super().register(header, address, idempotent=idempotent)


def clause_names(*numbers: str) -> frozenset[str]:
    return frozenset(f"holdem-{number}" for number in numbers)


ACTS = "POST games/:/players/:/acts"
JOIN = "POST games/:/players"


def fold_malformed(app: FaultyApp, reply: Reply) -> None:
    """Fold the hand of a player whose malformed act is refused."""
    if (reply.route, reply.status) == (ACTS, 400):
        _, game, _, player, _ = reply.path.strip("/").split("/")
        joined_table = app.house_service.house.game(game)
        participant = joined_table and joined_table.seats.by_guid(player)
        if participant:
            app.service.submit(Act(participant.user, game, player, ACTION_FOLD, 0))


FAULTY_SERVERS: dict[str, FaultyServer] = {
    "users-200": FaultyServer(clause_names("2.2"), status("POST users", 201, 200)),
    "users-without-quotes": FaultyServer(clause_names("2.2"), unquoted("POST users")),
    "join-200": FaultyServer(clause_names("3.5"), status(JOIN, 201, 200)),
    "join-without-quotes": FaultyServer(clause_names("3.5"), unquoted(JOIN)),
    "acts-200": FaultyServer(clause_names("4.1"), status(ACTS, 201, 200)),
    "out-of-turn-400": FaultyServer(clause_names("4.13"), status(ACTS, 403, 400)),
    "unknown-game-400": FaultyServer(clause_names("8.4"), status("GET games/:", 404, 400)),
    "no-user-403": FaultyServer(
        clause_names("2.7"), lambda reply: reply._replace(status=403) if reply.status == 401 else reply
    ),
    "leave-204": FaultyServer(clause_names("3.10"), status("DELETE games/:/players/:", 200, 204)),
    "object-names-taken": FaultyServer(clause_names("2.2"), authenticator=ObjectNamesTaken),
    "name-again-201": FaultyServer(clause_names("2.6"), authenticator=ReRegisters),
    "no-password": FaultyServer(clause_names("2.7", "2.8"), authenticator=AnyPassword),
    "wealth-as-text": FaultyServer(clause_names("5.7"), of_players(lambda one: {**one, "wealth": str(one["wealth"])})),
    "bets-as-floats": FaultyServer(
        clause_names("5.7"), of_players(lambda one: {**one, "bet_so_far": float(one["bet_so_far"])})
    ),
    "no-handle": FaultyServer(clause_names("5.7"), of_players(without("handle"))),
    "no-minimum-raise": FaultyServer(clause_names("5.10"), of_turn(without("minimum_raise"))),
    "no-expiry": FaultyServer(clause_names("5.10"), of_turn(without("expiry"))),
    "no-pots": FaultyServer(clause_names("5.3"), in_games(without("pots"))),
    "expiry-as-words": FaultyServer(clause_names("5.11"), of_turn(lambda turn: {**turn, "expiry": "in 15 seconds"})),
    "state-waiting": FaultyServer(
        clause_names("5.7"), of_players(lambda one: {**one, "state": one["state"].replace("active", "waiting")})
    ),
    "always-active": FaultyServer(clause_names("5.9"), of_players(lambda one: {**one, "state": "active"})),
    "nobody-small-blind": FaultyServer(clause_names("5.7"), of_players(lambda one: {**one, "small_blind": False})),
    "what-is-to-call": FaultyServer(clause_names("5.10"), of_turn(to_call)),
    "minimum-raise-20": FaultyServer(clause_names("6.8"), of_turn(lambda turn: {**turn, "minimum_raise": 20})),
    "small-letters": FaultyServer(clause_names("5.4"), spelt(str.lower)),
    "ten-as-10": FaultyServer(clause_names("5.4"), spelt(lambda name: name.replace("T", "10"))),
    "no-null": FaultyServer(
        clause_names("5.5"), of_cards(lambda cards: {part: names or [] for part, names in cards.items()})
    ),
    "turn-as-string": FaultyServer(
        clause_names("5.5"), of_cards(lambda cards: {**cards, "turn": (cards["turn"] or [None])[0]})
    ),
    "a-card-twice": FaultyServer(clause_names("6.1"), in_games(twice)),
    "folded-not-in-pots": FaultyServer(clause_names("5.14"), in_games(lost_folded)),
    "one-pot-only": FaultyServer(clause_names("6.12"), in_games(one_pot)),
    "list-in-object": FaultyServer(
        clause_names("5.1"),
        lambda reply: (
            reply.with_json({"games": reply.json}) if reply.route == "GET games" and reply.status == 200 else reply
        ),
    ),
    "no-json": FaultyServer(
        clause_names("1.5"),
        lambda reply: (
            reply._replace(body=b"<p>Game</p>") if reply.route == "GET games/:" and reply.status == 200 else reply
        ),
    ),
    "no-utf-8": FaultyServer(
        clause_names("1.5"),
        lambda reply: (
            reply._replace(body=b'{"gameID": "\xff"}')
            if reply.route == "GET games/:" and reply.status == 200
            else reply
        ),
    ),
    "worst-hand-wins": FaultyServer(clause_names("6.14"), hand=WorstHandWins),
    "rake": FaultyServer(clause_names("5.17"), hand=RakedHand),
    "malformed-folds": FaultyServer(clause_names("4.4"), beside=fold_malformed),
    "any-raise": FaultyServer(clause_names("4.11"), hand=AnyRaise),
    "too-much-is-all-in": FaultyServer(clause_names("4.9"), hand=ClampedBets),
    "below-nothing-is-a-call": FaultyServer(clause_names("4.8"), hand=NegativeBetCalls),
    "too-little-is-a-call": FaultyServer(clause_names("4.10"), hand=ShortBetCalls),
    "every-raise-reopens": FaultyServer(clause_names("4.12", "6.9"), hand=Reopening),
    "no-option": FaultyServer(clause_names("6.6"), hand=NoOption),
    "all-in-wins-all": FaultyServer(clause_names("6.12", "6.14"), hand=NoSidePots),
    "big-blind-first": FaultyServer(clause_names("6.4"), hand=BigBlindFirst),
    "blinds-of-two-reversed": FaultyServer(clause_names("6.4"), hand=ReversedBlindsOfTwo),
    "out-of-turn-accepted": FaultyServer(clause_names("4.13"), house=Houses.OutOfTurn),
    "acts-for-others": FaultyServer(clause_names("8.8"), house=Houses.ForOthers),
    "invalid-is-refused": FaultyServer(clause_names("4.7", "4.8", "4.9", "4.10", "4.11"), house=Houses.Strict),
    "nobody-leaves": FaultyServer(clause_names("3.10", "3.11", "3.12", "3.14"), house=Houses.Staying),
    "button-stays": FaultyServer(clause_names("6.2"), table=FixedButton),
    "no-queue": FaultyServer(clause_names("3.6"), table=NeverFull),
    "button-backwards": FaultyServer(clause_names("6.2"), table=with_seats(BackwardButton)),
    "button-by-two": FaultyServer(clause_names("6.2"), table=with_seats(SkippingButton)),
    "last-come-first-served": FaultyServer(clause_names("3.9"), table=with_seats(LastComeFirstServed)),
    "forgotten-queue": FaultyServer(clause_names("3.9"), table=with_seats(ForgottenQueue)),
}
