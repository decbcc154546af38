"""Old Maid players that each break one rule, as students' players do: our player with a mutation."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, override

from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.session import Closing, Connect, Drop, Effect, Event, Left, Malformed, Peer, Received, Send
from croupier.rooms.oldmaid.cards import WIRE_CARDS, to_wire
from croupier.rooms.oldmaid.player import TABLE, Player
from croupier.rooms.oldmaid.wire import (
    OK,
    OUT,
    Discard,
    Draw,
    Join,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Standing,
    Status,
    Wire,
    YourTurn,
)
from tests.conformance.oldmaid.changed_programs import (
    ChangedSession,
    ChangedWire,
    DecodingWire,
    Effects,
    EncodeChange,
    LineWire,
    play_one_game,
    quick_options,
)

type Mutation = Callable[[Player, Event[Any], Effects], Effects]


class OneReadWire(Wire):
    """Takes the bytes of one read as one message, and ignores what is not JSON."""

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        try:
            json.loads(data)
        except ValueError:
            return ()
        return Wire("player").feed(data)


@dataclass(frozen=True)
class FaultyPlayer:
    """A faulty player: the clauses that find it, and the cases to run."""

    name: str
    clauses: frozenset[str]
    selections: tuple[str, ...]
    mutation: Callable[[], Mutation] = lambda: lambda _, __, effects: effects
    encode_change: EncodeChange = lambda _, data: data
    wire: type[Wire] = Wire
    port: int | None = None
    strict: bool = False


async def play_faulty(faulty: FaultyPlayer, values: Mapping[str, object]) -> None:
    """Play one game as a faulty player."""
    luck, bot_luck = (FairDealer(derive_server_seed(seed, "rogue", 1)).luck for seed in (1, 2))
    await play_one_game(
        values,
        quick_options(values, port=faulty.port),
        luck,
        bot_luck,
        wrap_session=lambda player: ChangedSession(player, partial(faulty.mutation(), player)),
        wrap_codec=lambda _: ChangedWire("player", faulty.wire("player"), faulty.encode_change),
    )
    await asyncio.sleep(0)


# Mutations.


def never_sends(kind: type[Message], answer: Message | None = None) -> Callable[[], Mutation]:
    """Never sends a kind of message; pretends that the table has sent `answer`."""

    def mutation(player: Player, _: Event[Any], effects: Effects) -> Effects:
        changed: list[Effect[Any]] = []
        for effect in effects:
            if not isinstance(effect, Send) or not isinstance(effect.message, kind):
                changed.append(effect)
            elif answer is not None:
                changed += mutation(player, _, player.on(Received(TABLE, answer), 0.0))
        return changed

    return lambda: mutation


def replaces(change: Callable[[Player, Message], Message | None]) -> Callable[[], Mutation]:
    """Sends another message instead; None sends nothing."""

    def mutation(player: Player, _: Event[Any], effects: Effects) -> Effects:
        changed: list[Effect[Any]] = []
        for effect in effects:
            if isinstance(effect, Send):
                message = change(player, effect.message)
                if message is not None:
                    changed.append(Send(effect.peer, message))
            else:
                changed.append(effect)
        return changed

    return lambda: mutation


def answers_with(kind: type[Message], message: Message | None) -> Callable[[], Mutation]:
    """Answers a request with `message`, whatever the right answer is."""

    def mutation(_: Player, event: Event[Any], effects: Effects) -> Effects:
        if not isinstance(event, Received) or not isinstance(event.message, kind):
            return effects
        changed: list[Effect[Any]] = []
        for effect in effects:
            if isinstance(effect, Send) and effect.peer == event.peer and isinstance(effect.message, Reply):
                if message is not None:
                    changed.append(Send(effect.peer, message))
            else:
                changed.append(effect)
        return changed

    return lambda: mutation


def also_sends(kind: type[Message], extra: Message, times: int = 1) -> Callable[[], Mutation]:
    """Sends another message after a kind of message, the first `times` times."""
    left = times

    def make() -> Mutation:
        left = times

        def mutation(_: Player, __: Event[Any], effects: Effects) -> Effects:
            nonlocal left
            changed: list[Effect[Any]] = []
            for effect in effects:
                changed.append(effect)
                if isinstance(effect, Send) and isinstance(effect.message, kind) and left:
                    left -= 1
                    changed.append(Send(effect.peer, extra))
            return changed

        return mutation

    assert left > 0
    return make


def _is_error(message: Message) -> bool:
    return isinstance(message, Reply) and message.result == "error"


never_errs = replaces(lambda _, message: None if _is_error(message) else message)
"""Sends no errors."""


def gives_up(clause: str) -> Callable[[], Mutation]:
    """Disconnects from all peers instead of sending an error."""

    def mutation(player: Player, _: Event[Any], effects: Effects) -> Effects:
        for effect in effects:
            if (
                isinstance(effect, Send)
                and isinstance(effect.message, Reply)
                and clause in (effect.message.message or "")
            ):
                return player.on(Closing(), 0.0)
        return effects

    return lambda: mutation


def hangs_up_on_the_unreadable() -> Mutation:
    """Disconnects from who sends what cannot be read, without an error."""

    def mutation(player: Player, event: Event[Any], effects: Effects) -> Effects:
        return [Drop(event.peer)] if isinstance(event, Malformed) else effects

    return mutation


def hangs_up_after_an_error(clause: str) -> Callable[[], Mutation]:
    """Disconnects from who sends what this clause refuses, after the error."""

    def mutation(_: Player, event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Malformed) and event.violation.clause == clause:
            return [*effects, Drop(event.peer)]
        return effects

    return lambda: mutation


def asks_before(held_effect: Callable[[Effect[Any]], bool]) -> Callable[[], Mutation]:
    """Asks for the status before it does something, and waits for the answer."""

    def make() -> Mutation:
        held: list[Effect[Any]] = []

        def mutation(_: Player, event: Event[Any], effects: Effects) -> Effects:
            if any(map(held_effect, effects)):
                held.extend(effects)
                return [Send(TABLE, Status())]
            if isinstance(event, Received) and isinstance(event.message, Standing):
                effects = [*held, *effects]
                held.clear()
            return effects

        return mutation

    return make


def reads_one_neighbour() -> Mutation:
    """Reads only its left neighbour until an offer is answered, as a program with one thread does."""
    held: list[Effect[Any]] = []
    is_waiting = False

    def mutation(_: Player, event: Event[Any], effects: Effects) -> Effects:
        nonlocal is_waiting
        if is_waiting and isinstance(event, Malformed):
            held.extend(effects)
            return []
        if is_waiting and isinstance(event, Received) and isinstance(event.message, Reply):
            is_waiting = False
            effects = [*held, *effects]
            held.clear()
        is_waiting |= any(isinstance(effect, Send) and isinstance(effect.message, Offer) for effect in effects)
        return effects

    return mutation


def discards_no_pair_when_offered(player: Player, event: Event[Any], effects: Effects) -> Effects:
    """Throws away its first two cards before it picks."""
    if isinstance(event, Received) and isinstance(event.message, Offer) and len(player.hand) > 1:
        first, second = map(to_wire, player.hand[:2])
        return [Send(TABLE, Discard((first, second), "true")), *effects]
    return effects


def calls_late() -> Mutation:
    """Connects to its left neighbour only when it has a turn to pass on."""
    held: list[Effect[Any]] = []

    def mutation(_: Player, event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Received) and isinstance(event.message, YourTurn):
            effects = [*effects, *held]
            held.clear()
            return effects
        held.extend(effect for effect in effects if isinstance(effect, Connect))
        return [effect for effect in effects if not isinstance(effect, Connect)]

    return mutation


def reads_its_left_neighbour_late() -> Mutation:
    """Reads what its left neighbour sends only while it waits for an answer, as a program with one thread does."""
    neighbours: set[Peer] = set()
    held: list[Effect[Any]] = []

    def mutation(_: Player, event: Event[Any], effects: Effects) -> Effects:
        asked = {
            effect.peer
            for effect in effects
            if isinstance(effect, Send) and isinstance(effect.message, Offer | YourTurn)
        }
        neighbours.update(asked)
        is_refused = any(isinstance(effect, Send) and _is_error(effect.message) for effect in effects)
        if isinstance(event, Received) and event.peer in neighbours and is_refused:
            held.extend(effects)
            return []
        if asked:
            effects = [*effects, *held]
            held.clear()
        return effects

    return mutation


def waits_for_the_dead() -> Mutation:
    """Waits forever for players who are gone."""

    def mutation(player: Player, event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Left) and event.peer != TABLE:
            return [effect for effect in effects if isinstance(effect, Drop)]
        return effects

    return mutation


def leaves_early() -> Mutation:
    """Disconnects with three cards."""

    def mutation(player: Player, _: Event[Any], effects: Effects) -> Effects:
        return player.on(Closing(), 0.0) if len(player.hand) == 3 else effects

    return mutation


def draws_at_once() -> Mutation:
    """Draws as soon as the list arrives, even if not first."""
    drawn = False

    def mutation(player: Player, _: Event[Any], effects: Effects) -> Effects:
        nonlocal drawn
        if drawn or not player.seat:
            return effects
        drawn = True
        return [*effects, Send(TABLE, Draw())]

    return mutation


def _give_another_card(player: Player, message: Message) -> Message:
    """Gives a card that is not in the player's hand."""
    if isinstance(message, Reply) and message.card is not None:
        return Reply("ok", card=next(to_wire(card) for card in range(len(WIRE_CARDS)) if card not in player.hand))
    return message


def _change(kind: type[Message], change: Callable[[Any], Message]) -> Callable[[], Mutation]:
    return replaces(lambda _, message: change(message) if isinstance(message, kind) else message)


def _spelt(kind: type[Message], old: bytes, new: bytes) -> EncodeChange:
    return lambda message, data: data.replace(old, new) if isinstance(message, kind) else data


def _as_python(_: Message, data: bytes) -> bytes:
    return repr(json.loads(data)).encode() + b"\n"


def _misstate_last_cards(discard: Discard) -> Discard:
    return Discard(discard.cards, "false" if discard.last_cards == "true" else "true")


def _numbers_as_text(message: Message, data: bytes) -> bytes:
    if isinstance(message, Pick | Offer):
        value_by_key = json.loads(data)
        return json.dumps({key: str(value) for key, value in value_by_key.items()}).encode() + b"\n"
    return data


def _faulty(name: str, clauses: str, selections: str, **extra: Any) -> FaultyPlayer:
    return FaultyPlayer(
        name,
        frozenset(f"oldmaid-{clause}" for clause in clauses.split()),
        tuple(f"oldmaid/{selection}" for selection in selections.split()),
        **extra,
    )


FAULTY_PLAYERS = (
    _faulty("never-joins", "3.1", "3.1/joins 4.7/first", mutation=never_sends(Join)),
    _faulty("python-dictionaries", "1.3", "4.7/first", encode_change=_as_python),
    _faulty("suits-in-the-singular", "5.4", "5.11/last-cards", encode_change=_spelt(Discard, b's"]', b'"]')),
    _faulty("commands-in-capitals", "2.2", "4.7/first", encode_change=_spelt(Draw, b"draw", b"DRAW")),
    _faulty("numbers-as-text", "2.10", "7.2/offered", encode_change=_numbers_as_text),
    _faulty("keeps-pairs", "5.11", "5.11 4.8", mutation=never_sends(Discard, Reply("error", "no"))),
    _faulty("misstates-last-cards", "5.10", "5.10", mutation=_change(Discard, _misstate_last_cards)),
    _faulty("discards-no-pair", "5.1", "7.8/picks-a-pair", mutation=lambda: discards_no_pair_when_offered),
    _faulty("never-out-of-cards", "7.12", "7.12", mutation=never_sends(OutOfCards, OK)),
    _faulty("out-with-cards", "7.12 6.2", "4.8", mutation=also_sends(Discard, OutOfCards())),
    _faulty("passes-no-turn", "4.7", "4.7", mutation=never_sends(YourTurn)),
    _faulty("passes-twice", "4.7", "4.7", mutation=also_sends(YourTurn, YourTurn())),
    _faulty("no-answer-to-a-turn", "4.8", "4.8", mutation=answers_with(YourTurn, None)),
    _faulty("denies-the-turn", "4.8", "4.8/your-turn", mutation=answers_with(YourTurn, Reply("error", "no"))),
    _faulty("draws-out-of-turn", "4.3 4.8", "4.8", mutation=draws_at_once),
    _faulty("offers-one-more", "7.2", "7.1 7.2", mutation=_change(Offer, lambda offer: Offer(offer.num_cards + 1))),
    _faulty("picks-beyond", "7.4", "7.2", mutation=_change(Pick, lambda pick: Pick(pick.card_num + 60))),
    _faulty("counts-from-one", "7.4", "7.4", mutation=_change(Pick, lambda pick: Pick(pick.card_num + 1)), strict=True),
    _faulty("never-picks", "7.2", "7.2/offered", mutation=never_sends(Pick)),
    _faulty("always-out", "7.9 7.2", "7.2", mutation=answers_with(Offer, OUT)),
    _faulty("never-out", "7.9", "7.9", mutation=answers_with(Offer, OK)),
    _faulty("gives-another-card", "7.5", "7.5 7.1", mutation=replaces(_give_another_card)),
    _faulty("gives-no-card", "2.3 7.5", "7.5", mutation=_change(Reply, lambda reply: Reply(reply.result))),
    _faulty("never-errs", "7.6 7.7 8.6", "7.6 7.7 8.6", mutation=never_errs),
    _faulty("gives-up-on-a-wrong-pick", "7.6", "7.6", mutation=gives_up("oldmaid-7.6")),
    _faulty("one-read-one-message", "1.4", "1.4/byte-by-byte 1.4/halves", wire=OneReadWire),
    _faulty("decodes-reads", "1.4", "1.4/cut-letters", wire=DecodingWire),
    _faulty("wants-line-ends", "1.3", "1.4/table-in-pieces", wire=LineWire),
    _faulty(
        "waits-for-the-dead", "9.6", "9.6/left-gone-before-ok 9.6/left-gone-before-pick", mutation=waits_for_the_dead
    ),
    _faulty("leaves-early", "4.7 4.8 7.8", "4.8", mutation=leaves_early),
    _faulty("calls-late", "3.16", "3.16", mutation=calls_late),
    _faulty("does-not-listen", "3.17", "3.17 3.16", port=1),
)
