"""Tables of Old Maid that each break one rule, the way students do: ours, with a habit."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from croupier.core.dealer import Dealer, dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.session import Address, Drop, Effect, Event, Left, Received, Send
from croupier.logs import silent_logger
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import (
    DISCARD_OK,
    OK,
    Answer,
    Discard,
    Draw,
    Join,
    Message,
    OutOfCards,
    Reply,
    Standing,
    Status,
    Wire,
    refusal,
)
from tests.net.raw_client import TIMEOUT_SECONDS

type Effects = Sequence[Effect[Any]]
type Habit = Callable[[Event[Any], Effects], Effects]
type Spelling = Callable[[Message, bytes], bytes]


def dealt(number: int) -> Dealer:
    """The dealers of an honest table."""
    return dealer_factory(lambda game: derive_server_seed(1, "oldmaid", game), shared=True)(number)


def once(_: int) -> Dealer:
    """Those of a table that has one deck for all games."""
    return dealt(1)


@dataclass(frozen=True)
class Rogue:
    """A table with a habit: the clauses under which it is to be found, and what is tried at it.

    `habit` changes what it does about an event, and `spelt` how it spells a message. It hears with `wire`.
    """

    name: str
    clauses: frozenset[str]
    selection: str
    habit: Callable[[], Habit] = lambda: lambda _, effects: effects
    spelt: Spelling = lambda _, data: data
    dealer: Callable[[int], Dealer] = dealt
    wire: type[Wire] = Wire
    house: type[House] = House
    players: int = 4
    settings: Mapping[str, Any] = field(default_factory=dict)


class Telling(House):
    """Says why it refuses a discard, so that a habit can tell the reasons apart."""

    def _refusal(self, violation: Violation) -> Answer:
        return refusal(violation)


class Speller(Wire):
    """A wire with a spelling of its own."""

    def __init__(self, wire: Wire, spelt: Spelling) -> None:
        super().__init__("table")
        self._wire = wire
        self._spelt = spelt

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return self._wire.feed(data)

    def encode(self, message: Message) -> bytes:
        return self._spelt(message, self._wire.encode(message))


class Hasty(Wire):
    """Takes what one read brings for one message."""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        try:
            json.loads(data)
        except ValueError:
            return (Violation("oldmaid-8.3", "a piece", "JSON"),)
        return Wire("table").feed(data)


class Deaf(Wire):
    """Says nothing to what is no JSON."""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return [one for one in super().feed(data) if not (isinstance(one, Violation) and one.clause == "oldmaid-8.3")]


class LineByLine(Wire):
    """A message ends with a line end, and not before."""

    def __init__(self, role: Any) -> None:
        super().__init__(role)
        self._line = b""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        self._line += data
        whole, end, self._line = self._line.rpartition(b"\n")
        return super().feed(whole + end)


class Session:
    """A house with a habit."""

    def __init__(self, house: House, habit: Habit) -> None:
        self.house = house
        self._habit = habit

    @property
    def deadline(self) -> float | None:
        return self.house.deadline

    @property
    def playing(self) -> bool:
        return self.house.playing

    def on(self, event: Event[Any], now: float) -> Effects:
        return self._habit(event, self.house.on(event, now))


@asynccontextmanager
async def opened(rogue: Rogue) -> AsyncIterator[Address]:
    """The table of a rogue."""
    house = rogue.house(Settings(players=rogue.players, join_window=1.0, **rogue.settings), rogue.dealer)
    board = SharedEndpoint(
        Session(house, rogue.habit()),
        lambda: Speller(wired(rogue), rogue.spelt),
        silent_logger(),
    )
    try:
        yield await board.listen("127.0.0.1", 0)
    finally:
        board.halt(final=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await board.wait_drained()


def wired(rogue: Rogue) -> Wire:
    """What it hears with, in its dialect."""
    if rogue.wire is Wire:
        return Wire("table", dialect=rogue.settings.get("dialect", "document"))
    return rogue.wire("table")


# Habits.


def instead(request: type[Message], clause: str, answer: Message) -> Callable[[], Habit]:
    """Answers a request otherwise that should be refused by a clause."""

    def habit(event: Event[Any], effects: Effects) -> Effects:
        if not isinstance(event, Received) or not isinstance(event.message, request):
            return effects
        return [
            Send(effect.peer, answer) if _refuses(effect) and clause in str(effect.message.message) else effect  # type: ignore[union-attr]
            for effect in effects
        ]

    return lambda: habit


def _refuses(effect: Effect[Any]) -> bool:
    return isinstance(effect, Send) and isinstance(effect.message, Reply) and effect.message.result == "error"


def rewritten(change: Callable[[Reply], Message]) -> Callable[[], Habit]:
    """Answers otherwise."""

    def habit(_: Event[Any], effects: Effects) -> Effects:
        return [
            Send(effect.peer, change(effect.message))
            if isinstance(effect, Send) and isinstance(effect.message, Reply)
            else effect
            for effect in effects
        ]

    return lambda: habit


def standing(change: Callable[[Standing], Standing]) -> Callable[[], Habit]:
    """Tells the status otherwise."""

    def habit(_: Event[Any], effects: Effects) -> Effects:
        return [
            Send(effect.peer, change(effect.message))
            if isinstance(effect, Send) and isinstance(effect.message, Standing)
            else effect
            for effect in effects
        ]

    return lambda: habit


def twice_dealt() -> Habit:
    """Deals the first card of every game again as the tenth."""
    seen: list[tuple[str, str]] = []

    def habit(_: Event[Any], effects: Effects) -> Effects:
        found: list[Effect[Any]] = []
        for effect in effects:
            match effect:
                case Send(peer, Reply(card=tuple(card)) as reply):
                    seen.append(card)
                    again = Reply(reply.result, card=seen[-10]) if len(seen) % 10 == 0 else reply
                    found.append(Send(peer, again))
                case _:
                    found.append(effect)
        return found

    return habit


def hangs_up() -> Habit:
    """Hangs up on whoever is told an error."""

    def habit(_: Event[Any], effects: Effects) -> Effects:
        return [
            more
            for effect in effects
            for more in ([effect, Drop(effect.peer)] if _refuses(effect) else [effect])  # type: ignore[union-attr]
        ]

    return habit


def greets() -> Habit:
    """Tells who joins that he has to wait."""

    def habit(event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Received) and isinstance(event.message, Join) and not effects:
            return [Send(event.peer, Reply("ok", "wait"))]
        return effects

    return habit


def silent_errors() -> Habit:
    """Answers nothing where an error is due."""

    def habit(_: Event[Any], effects: Effects) -> Effects:
        return [effect for effect in effects if not _refuses(effect)]

    return habit


class Ghostly(House):
    """Never hears that somebody has left who has joined."""

    def on(self, event: Event[Message], now: float) -> Effects:
        return () if isinstance(event, Left) and self._clients[event.peer].nick else super().on(event, now)


def crashes() -> Habit:
    """Hangs up on everybody when the status is asked for."""

    def habit(event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Received) and isinstance(event.message, Status):
            return [Drop(event.peer)]
        return effects

    return habit


def never_answers() -> Habit:
    """Listens, and that is all."""
    return lambda _, effects: [effect for effect in effects if not isinstance(effect, Send)]


def early(message: Message, data: bytes) -> bytes:
    """Calls the ace of spades the last card."""
    if isinstance(message, Reply) and message.card == ("A", "spades"):
        return data.replace(b'"ok"', b'"last_card"')
    return data


def rotated() -> Habit:
    """Gives everybody a list that begins with somebody else."""
    turn = 0

    def habit(_: Event[Any], effects: Effects) -> Effects:
        nonlocal turn
        found: list[Effect[Any]] = []
        for effect in effects:
            match effect:
                case Send(peer, Reply(players=tuple(players)) as reply):
                    turn += 1
                    at = turn % len(players)
                    found.append(Send(peer, Reply(reply.result, players=(*players[at:], *players[:at]))))
                case _:
                    found.append(effect)
        return found

    return habit


def _python(_: Message, data: bytes) -> bytes:
    return repr(json.loads(data)).encode() + b"\n"


def _quoted(_: Message, data: bytes) -> bytes:
    return data.decode().replace('"', "“").encode()


def _framed(_: Message, data: bytes) -> bytes:
    return b"%d " % len(data) + data


def _spelt(old: bytes, new: bytes) -> Spelling:
    return lambda message, data: data.replace(old, new) if isinstance(message, Reply) and message.card else data


def _numbers(message: Message, data: bytes) -> bytes:
    if isinstance(message, Reply) and message.card and message.card[0].isdigit():
        return data.replace(b'"%b"' % message.card[0].encode(), message.card[0].encode())
    return data


def _listed(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Callable[[], Habit]:
    def changed(reply: Reply) -> Message:
        return reply if reply.players is None else Reply(reply.result, players=change(reply.players))

    return rewritten(changed)


def _bare(message: Message, data: bytes) -> bytes:
    return b'{"result":"ok"}\n' if message == DISCARD_OK else data


def _braces(message: Message, data: bytes) -> bytes:
    if not isinstance(message, Standing):
        return data
    names = ", ".join(json.dumps(nick) for nick in message.outside)
    return f'{{"in": {json.dumps(message.inside)}, "out": {{{names}}}}}\n'.encode()


def _error(message: Message, data: bytes) -> bytes:
    return data.replace(b'"ok"', b'"OK"') if isinstance(message, Reply) else data


def _missing(message: Message, data: bytes) -> bytes:
    return b'{"result":"ok"}\n' if isinstance(message, Reply) and message.card else data


def _rogue(name: str, clauses: str, selection: str, **more: Any) -> Rogue:
    return Rogue(name, frozenset(f"oldmaid-{clause}" for clause in clauses.split()), f"oldmaid/{selection}", **more)


ROGUES = (
    _rogue("python-dictionaries", "1.3", "4.2", spelt=_python),
    _rogue("printed-quotes", "1.3", "4.2", spelt=_quoted),
    _rogue("length-before", "1.3", "4.2", spelt=_framed),
    _rogue("capital-results", "2.3", "4.2", spelt=_error),
    _rogue("no-card", "2.3", "4.2", spelt=_missing),
    _rogue("card-twice", "4.1", "4.1", habit=twice_dealt),
    _rogue("capital-suits", "2.4", "2.4", spelt=_spelt(b"spades", b"Spades")),
    _rogue("ten-is-t", "2.4", "2.4", spelt=_spelt(b'"10"', b'"T"')),
    _rogue("values-are-numbers", "2.4", "2.4", spelt=_numbers),
    _rogue("old-maid-is-joker", "2.4", "2.4", spelt=_spelt(b'["joker","maid"]', b'["joker","joker"]')),
    _rogue("never-last-card", "4.4", "4.4", spelt=_spelt(b"last_card", b"ok")),
    _rogue("last-card-early", "4.4", "4.4", spelt=early),
    _rogue("same-deck", "4.1", "4.1", dealer=once),
    _rogue("draws-out-of-order", "4.3", "4.3", habit=instead(Draw, "oldmaid-4.3", Reply("ok", card=("3", "spades")))),
    _rogue("draws-for-ever", "4.5", "4.5", habit=instead(Draw, "oldmaid-4.5", Reply("ok", card=("3", "spades")))),
    _rogue("any-two-cards", "5.3", "5.3", habit=instead(Discard, "oldmaid-5.3", DISCARD_OK)),
    _rogue("pairs-with-the-joker", "5.1 5.3", "5.1", habit=instead(Discard, "oldmaid-5.3", DISCARD_OK)),
    _rogue("any-spelling", "5.4", "5.4", habit=instead(Discard, "oldmaid-5.4", DISCARD_OK)),
    _rogue("throws-twice", "5.5", "5.5", habit=instead(Discard, "oldmaid-5.5", DISCARD_OK), house=Telling),
    _rogue("throws-from-the-deck", "5.6", "5.6", habit=instead(Discard, "oldmaid-5.6", DISCARD_OK), house=Telling),
    _rogue("throws-of-others", "5.7", "5.7", habit=instead(Discard, "oldmaid-5.7", DISCARD_OK), house=Telling),
    _rogue("no-message", "2.3", "5.2", spelt=_bare),
    _rogue("out-at-any-time", "6.2", "6.2", habit=instead(OutOfCards, "oldmaid-6.2", OK)),
    _rogue("out-twice", "6.3", "6.3", habit=instead(OutOfCards, "oldmaid-6.3", OK)),
    _rogue("out-in-braces", "1.3 2.3", "6.5", spelt=_braces),
    _rogue("winner-last", "6.6", "6.6", habit=standing(lambda told: Standing(told.inside, told.outside[::-1]))),
    _rogue("in-forgets-one", "6.5", "6.5", habit=standing(lambda told: Standing(told.inside[1:], told.outside))),
    _rogue("nicks-twice", "3.8", "3.8", habit=instead(Join, "oldmaid-3.8", Reply("ok"))),
    _rogue("lists-differ", "3.2", "3.2", habit=rotated),
    _rogue("lists-backwards", "3.3", "3.3", habit=_listed(lambda players: players[::-1])),
    _rogue(
        "lists-its-own-port", "3.4", "3.4", habit=_listed(lambda all_: tuple(((a[0], 9898), nick) for a, nick in all_))
    ),
    _rogue("says-wait", "2.3 3.2 3.15", "3.2", habit=greets),
    _rogue("hangs-up-on-errors", "8.1 2.9", "4.3", habit=hangs_up),
    _rogue("silent-errors", "4.3", "4.3", habit=silent_errors),
    _rogue("silent-on-garbage", "8.3", "8.3", wire=Deaf),
    _rogue("one-read-one-message", "1.4", "1.4", wire=Hasty),
    _rogue("wants-line-ends", "1.3", "1.3", wire=LineByLine),
    _rogue("draws-without-a-game", "4.6", "4.6", habit=instead(Draw, "oldmaid-4.6", Reply("ok", card=("3", "spades")))),
    _rogue("never-sees-who-leaves", "9.1 9.2", "9.1", house=Ghostly),
    _rogue("waits-for-the-dead", "9.2", "9.2", house=Ghostly),
    _rogue("seats-the-dead", "3.12 3.8", "3.12", house=Ghostly),
    _rogue("crashes", "6.7 6.5", "6.5", habit=crashes),
    _rogue("never-answers", "3.10 3.2", "3.1", habit=never_answers),
    _rogue("joins-in-a-game", "3.14", "3.14", habit=instead(Join, "oldmaid-3.14", OK)),
)
"""Every rogue. `5.1` and `5.3` are told apart by the joker alone."""
