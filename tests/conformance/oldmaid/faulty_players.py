"""Players of Old Maid that each break one rule, the way students do: ours, with a habit."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.core.bots import RandomBot
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.session import Address, Closing, Drop, Effect, Event, Left, Received, Send
from croupier.rooms.oldmaid.cards import WIRE_CARDS, to_wire
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.wire import (
    OK,
    OUT,
    Discard,
    Draw,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Wire,
    YourTurn,
)

type Effects = Sequence[Effect[Any]]
type Habit = Callable[[Player, Event[Any], Effects], Effects]
type Spelling = Callable[[Message, bytes], bytes]


class Session:
    """A player with a habit. See `Session`."""

    def __init__(self, player: Player, habit: Habit) -> None:
        self.player = player
        self._habit = habit

    @property
    def deadline(self) -> float | None:
        return self.player.deadline

    def on(self, event: Event[Any], now: float) -> Effects:
        return self._habit(self.player, event, self.player.on(event, now))


class Speller(Wire):
    """A wire with a spelling of its own."""

    def __init__(self, wire: Wire, spelt: Spelling) -> None:
        super().__init__("player")
        self._wire = wire
        self._spelt = spelt

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return self._wire.feed(data)

    def encode(self, message: Message) -> bytes:
        return self._spelt(message, self._wire.encode(message))


class Hasty(Wire):
    """Takes what one read brings for one message, and what is none for nothing."""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        try:
            json.loads(data)
        except ValueError:
            return ()
        return Wire("player").feed(data)


@dataclass(frozen=True)
class Rogue:
    """A player with a habit: the clauses under which it is to be found, and the cases in which it is looked for."""

    name: str
    clauses: frozenset[str]
    selections: tuple[str, ...]
    habit: Callable[[], Habit] = lambda: lambda _, __, effects: effects
    spelt: Spelling = lambda _, data: data
    wire: type[Wire] = Wire
    port: int | None = None
    ends: bool = False
    strict: bool = False


class Seat(RingClient):
    """A seat of a rogue in a ring."""

    def __init__(self, rogue: Rogue, config: RingConfig, options: Options) -> None:
        super().__init__(config, options, FairDealer(derive_server_seed(1, "rogue", 1)).luck)
        self._rogue = rogue

    async def _start_player(self, host: str, port: int, options: Options) -> Address:
        own = await super()._start_player(host, port, options)
        self._endpoint.session = Session(self.player, self._rogue.habit())
        self._endpoint.codec_factory = lambda: Speller(self._rogue.wire("player"), self._rogue.spelt)
        return own


async def played(rogue: Rogue, values: Mapping[str, object]) -> None:
    """Play one game, in the way of the rogue."""
    if rogue.ends:
        return
    options = Options(str(values["nick"]), rogue.port, pause=0.01, poll_seconds=0.1, retry_seconds=0.5)
    way = RingConfig((str(values["host"]), int(str(values["port"]))))
    luck = FairDealer(derive_server_seed(2, "rogue", 1)).luck
    await play_ring_games(partial(Seat, rogue, way, options), RandomBot(), luck, 1, RingTally(options.nick))
    await asyncio.sleep(0)


# Habits.


def unsaid(kind: type[Message], answer: Message | None = None) -> Callable[[], Habit]:
    """Never says something to anybody; and takes it that the table has answered this, if it was for the table."""

    def habit(player: Player, _: Event[Any], effects: Effects) -> Effects:
        found: list[Effect[Any]] = []
        for effect in effects:
            if not isinstance(effect, Send) or not isinstance(effect.message, kind):
                found.append(effect)
            elif answer is not None:
                found += habit(player, _, player.on(Received(TABLE, answer), 0.0))
        return found

    return lambda: habit


def instead(change: Callable[[Player, Message], Message | None]) -> Callable[[], Habit]:
    """Says something else; None is nothing."""

    def habit(player: Player, _: Event[Any], effects: Effects) -> Effects:
        found: list[Effect[Any]] = []
        for effect in effects:
            if isinstance(effect, Send):
                message = change(player, effect.message)
                if message is not None:
                    found.append(Send(effect.peer, message))
            else:
                found.append(effect)
        return found

    return lambda: habit


def answering(kind: type[Message], message: Message | None) -> Callable[[], Habit]:
    """Answers a request with this, whatever it should be."""

    def habit(_: Player, event: Event[Any], effects: Effects) -> Effects:
        if not isinstance(event, Received) or not isinstance(event.message, kind):
            return effects
        found: list[Effect[Any]] = []
        for effect in effects:
            if isinstance(effect, Send) and effect.peer == event.peer and isinstance(effect.message, Reply):
                if message is not None:
                    found.append(Send(effect.peer, message))
            else:
                found.append(effect)
        return found

    return lambda: habit


def said_too(kind: type[Message], more: Message, times: int = 1) -> Callable[[], Habit]:
    """Says something more to the same end, behind something, the first so many times."""
    left = times

    def make() -> Habit:
        left = times

        def habit(_: Player, __: Event[Any], effects: Effects) -> Effects:
            nonlocal left
            found: list[Effect[Any]] = []
            for effect in effects:
                found.append(effect)
                if isinstance(effect, Send) and isinstance(effect.message, kind) and left:
                    left -= 1
                    found.append(Send(effect.peer, more))
            return found

        return habit

    assert left > 0
    return make


def never_errs() -> Habit:
    """Says nothing where an error is due."""

    def habit(_: Player, __: Event[Any], effects: Effects) -> Effects:
        return [
            effect
            for effect in effects
            if not (isinstance(effect, Send) and isinstance(effect.message, Reply) and effect.message.result == "error")
        ]

    return habit


def gives_up(clause: str) -> Callable[[], Habit]:
    """Hangs up on everybody instead of an error."""

    def habit(player: Player, _: Event[Any], effects: Effects) -> Effects:
        for effect in effects:
            if (
                isinstance(effect, Send)
                and isinstance(effect.message, Reply)
                and clause in (effect.message.message or "")
            ):
                return player.on(Closing(), 0.0)
        return effects

    return lambda: habit


def clings() -> Habit:
    """Waits for ever for who is gone."""

    def habit(player: Player, event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Left) and event.peer != TABLE:
            return [effect for effect in effects if isinstance(effect, Drop)]
        return effects

    return habit


def leaves_early() -> Habit:
    """Hangs up when it has three cards."""

    def habit(player: Player, _: Event[Any], effects: Effects) -> Effects:
        return player.on(Closing(), 0.0) if len(player.hand) == 3 else effects

    return habit


def eager() -> Habit:
    """Draws as soon as the list is there, whoever is first."""
    drawn = False

    def habit(player: Player, _: Event[Any], effects: Effects) -> Effects:
        nonlocal drawn
        if drawn or not player.seat:
            return effects
        drawn = True
        return [*effects, Send(TABLE, Draw())]

    return habit


def _another(player: Player, message: Message) -> Message:
    """A card that he does not have, in the place of one that he gives."""
    if isinstance(message, Reply) and message.card is not None:
        return Reply("ok", card=next(to_wire(card) for card in range(len(WIRE_CARDS)) if card not in player.hand))
    return message


def _change(kind: type[Message], change: Callable[[Any], Message]) -> Callable[[], Habit]:
    return instead(lambda _, message: change(message) if isinstance(message, kind) else message)


def _spelt(kind: type[Message], old: bytes, new: bytes) -> Spelling:
    return lambda message, data: data.replace(old, new) if isinstance(message, kind) else data


def _python(_: Message, data: bytes) -> bytes:
    return repr(json.loads(data)).encode() + b"\n"


def _texts(message: Message, data: bytes) -> bytes:
    if isinstance(message, Pick | Offer):
        said = json.loads(data)
        return json.dumps({key: str(value) for key, value in said.items()}).encode() + b"\n"
    return data


def _rogue(name: str, clauses: str, selections: str, **more: Any) -> Rogue:
    return Rogue(
        name,
        frozenset(f"oldmaid-{clause}" for clause in clauses.split()),
        tuple(f"oldmaid/{selection}" for selection in selections.split()),
        **more,
    )


ROGUES = (
    _rogue("never-joins", "3.1", "3.1/joins 4.7/first", ends=True),
    _rogue("python-dictionaries", "8.3", "4.7/first", spelt=_python),
    _rogue("commands-in-capitals", "8.6", "4.7/first", spelt=_spelt(Draw, b"draw", b"DRAW")),
    _rogue("numbers-as-text", "8.7", "7.2/offered", spelt=_texts),
    _rogue("keeps-pairs", "5.11", "5.11 4.8", habit=unsaid(Discard, Reply("error", "no"))),
    _rogue("never-out-of-cards", "7.12", "7.12", habit=unsaid(OutOfCards, OK)),
    _rogue("out-with-cards", "7.12 6.2", "4.8", habit=said_too(Discard, OutOfCards())),
    _rogue("passes-no-turn", "4.7", "4.7", habit=unsaid(YourTurn)),
    _rogue("passes-twice", "4.7", "4.7", habit=said_too(YourTurn, YourTurn())),
    _rogue("no-answer-to-a-turn", "4.8", "4.8", habit=answering(YourTurn, None)),
    _rogue("denies-the-turn", "4.8", "4.8/your-turn", habit=answering(YourTurn, Reply("error", "no"))),
    _rogue("draws-out-of-turn", "4.3 4.8", "4.8", habit=eager),
    _rogue("offers-one-more", "7.2", "7.1 7.2", habit=_change(Offer, lambda offer: Offer(offer.num_cards + 1))),
    _rogue("picks-beyond", "7.4", "7.2", habit=_change(Pick, lambda pick: Pick(pick.card_num + 60))),
    _rogue("counts-from-one", "7.4", "7.4", habit=_change(Pick, lambda pick: Pick(pick.card_num + 1)), strict=True),
    _rogue("never-picks", "7.2", "7.2/offered", habit=unsaid(Pick)),
    _rogue("always-out", "7.9 7.2", "7.2", habit=answering(Offer, OUT)),
    _rogue("never-out", "7.9", "7.9", habit=answering(Offer, OK)),
    _rogue("gives-another-card", "7.5", "7.5 7.1", habit=instead(_another)),
    _rogue("gives-no-card", "2.3 7.5", "7.5", habit=_change(Reply, lambda told: Reply(told.result))),
    _rogue("never-errs", "7.6 7.7 8.6", "7.6 7.7 8.6", habit=never_errs),
    _rogue("gives-up-on-a-wrong-pick", "7.6", "7.6", habit=gives_up("oldmaid-7.6")),
    _rogue("gives-up-on-a-second-turn", "4.11", "4.11", habit=gives_up("oldmaid-4.11")),
    _rogue("one-read-one-message", "1.4 4.7 4.8 3.1", "1.4", wire=Hasty),
    _rogue("waits-for-the-dead", "9.6", "9.6/left-gone-before-ok 9.6/left-gone-before-pick", habit=clings),
    _rogue("leaves-early", "4.7 4.8 7.8", "4.8", habit=leaves_early),
    _rogue("does-not-listen", "3.17", "3.17 3.16", port=1),
)
