"""Old Maid tables that each break one rule, as students' tables do: our table with a mutation."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, override

from croupier.core.dealer import Dealer, Deck, FairDealer, dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.session import Address, Drop, Effect, Event, Joined, Left, Received, Send
from croupier.rooms.oldmaid.cards import JOKER, WIRE_JOKER, Card
from croupier.rooms.oldmaid.house import Effects as HouseEffects
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.lobby import LobbyClient, TableLobby
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
from tests.conformance.oldmaid.changed_programs import (
    ChangedSession,
    ChangedWire,
    EffectChange,
    Effects,
    EncodeChange,
    LineWire,
    serve_table,
)


def honest_dealer(number: int) -> Dealer:
    """The dealers of an honest table."""
    return dealer_factory(lambda game: derive_server_seed(1, "oldmaid", game), shared=True)(number)


def single_deck_dealer(_: int) -> Dealer:
    """The dealers of a table with one deck for all games."""
    return honest_dealer(1)


class SharedDeckDealer(FairDealer):
    """Deals all games that run at the same time from one deck, which is shuffled when a game begins."""

    cards: ClassVar[list[Card]] = []

    @override
    def next_deck(self, size: int) -> Deck:
        self.cards[:] = super().next_deck(size)
        return (self.cards.pop() if self.cards else JOKER for _ in range(size))


def shared_deck_dealer(number: int) -> Dealer:
    """The dealers of a table whose games share a deck."""
    return SharedDeckDealer(derive_server_seed(1, "oldmaid", number))


class JokerEarlyDealer(FairDealer):
    """Deals the joker in the first half of the game."""

    @override
    def next_deck(self, size: int) -> Deck:
        deck = [*super().next_deck(size)]
        return iter(deck if deck.index(JOKER) < size // 2 else deck[::-1])


def joker_early_dealer(number: int) -> Dealer:
    """The dealers of a table that deals the joker early in every game."""
    return JokerEarlyDealer(derive_server_seed(1, "oldmaid", number))


class JokerFirstDealer(FairDealer):
    """Deals the joker to the first player."""

    @override
    def next_deck(self, size: int) -> Deck:
        return iter(sorted(super().next_deck(size), key=lambda card: card != JOKER))


def joker_first_dealer(number: int) -> Dealer:
    """The dealers of a table that deals the joker first in every game."""
    return JokerFirstDealer(derive_server_seed(1, "oldmaid", number))


@dataclass(frozen=True)
class FaultyTable:
    """A faulty table: the clauses that find it, and the cases to run.

    `mutation` changes the effects of an event, and `encode_change` the encoded messages. The table reads with `wire`.
    """

    name: str
    clauses: frozenset[str]
    selection: str
    mutation: Callable[[], EffectChange] = lambda: lambda _, effects: effects
    encode_change: EncodeChange = lambda _, data: data
    dealer: Callable[[int], Dealer] = honest_dealer
    wire: type[Wire] = Wire
    house: type[House] = House
    players: int = 4
    settings: Mapping[str, Any] = field(default_factory=dict)


class NamesClauses(House):
    """Names the clause in refusals of discards, so that a mutation can tell them apart."""

    @override
    def _refusal(self, violation: Violation) -> Answer:
        return refusal(violation)


class OneReadWire(Wire):
    """Takes the bytes of one read as one message."""

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        try:
            json.loads(data)
        except ValueError:
            return (Violation("oldmaid-8.3", "a piece", "JSON"),)
        return Wire("table").feed(data)


class FirstLineWire(Wire):
    """Takes one line from each read, and drops the rest."""

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        line, end, _ = data.partition(b"\n")
        return super().feed(line + end)


class FirstMessageWire(Wire):
    """Drops what follows a message in the same read, and refuses the rest of the message that has begun there."""

    def __init__(self, role: Any) -> None:
        super().__init__(role)
        self._begun = b""

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        self._begun += data
        if not self._begun.startswith(b"{"):
            self._begun = b""
            return (Violation("oldmaid-8.3", "a piece", "JSON"),)
        if found := Wire("table").feed(self._begun):
            self._begun = b""
        return found[:1]


class IgnoresInvalidJson(Wire):
    """Ignores what is not JSON."""

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return [one for one in super().feed(data) if not (isinstance(one, Violation) and one.clause == "oldmaid-8.3")]


def open_faulty_table(faulty: FaultyTable) -> AbstractAsyncContextManager[Address]:
    """Run a faulty table, which has the address that is entered."""
    house = faulty.house(Settings(players=faulty.players, join_window=1.0, **faulty.settings), faulty.dealer)
    return serve_table(
        ChangedSession(house, faulty.mutation()),
        lambda: ChangedWire("table", table_wire(faulty), faulty.encode_change),
    )


def table_wire(faulty: FaultyTable) -> Wire:
    """Return the wire that the table reads with."""
    if faulty.wire is Wire:
        return Wire("table", dialect=faulty.settings.get("dialect", "document"))
    return faulty.wire("table")


# Mutations.


def answers_refused(request: type[Message], clause: str, answer: Message) -> Callable[[], EffectChange]:
    """Gives another answer to a request that a clause refuses."""

    def mutation(event: Event[Any], effects: Effects) -> Effects:
        if not isinstance(event, Received) or not isinstance(event.message, request):
            return effects
        return [
            Send(effect.peer, answer) if _refuses(effect) and clause in str(effect.message.message) else effect  # type: ignore[union-attr]
            for effect in effects
        ]

    return lambda: mutation


def pairs_a_card_with_itself() -> EffectChange:
    """Accepts two cards that are no pair, unless they are the joker."""
    accept = answers_refused(Discard, "oldmaid-5.3", DISCARD_OK)()

    def change(event: Event[Any], effects: Effects) -> Effects:
        is_joker = isinstance(event, Received) and event.message == Discard((WIRE_JOKER, WIRE_JOKER), "false")
        return effects if is_joker else accept(event, effects)

    return change


def puts_the_last_one_out() -> EffectChange:
    """Grants an out_of_cards after the end, and lists nobody as in from then on."""
    grants, has_granted = answers_refused(OutOfCards, "oldmaid-6.9", OK)(), False

    def mutation(event: Event[Any], effects: Effects) -> Effects:
        nonlocal has_granted
        changed = grants(event, effects)
        has_granted |= changed != effects
        if not has_granted:
            return changed
        return [
            Send(effect.peer, Standing((), effect.message.outside + effect.message.inside))
            if isinstance(effect, Send) and isinstance(effect.message, Standing)
            else effect
            for effect in changed
        ]

    return mutation


def _refuses(effect: Effect[Any]) -> bool:
    return isinstance(effect, Send) and isinstance(effect.message, Reply) and effect.message.result == "error"


def changes_effects(change: Callable[[Any], Sequence[Effect[Any]]]) -> Callable[[], EffectChange]:
    """Replaces each effect by others."""
    return lambda: lambda _, effects: [changed for effect in effects for changed in change(effect)]


def changes_messages(kind: type[Message], change: Callable[[Any], Message]) -> Callable[[], EffectChange]:
    """Changes all messages of a kind."""
    return changes_effects(
        lambda effect: (
            [Send(effect.peer, change(effect.message))]
            if isinstance(effect, Send) and isinstance(effect.message, kind)
            else [effect]
        )
    )


def deals_twice() -> EffectChange:
    """Deals the first card of every ten again as the tenth."""
    seen: list[tuple[str, str]] = []

    def deal(reply: Reply) -> Reply:
        if reply.card is None:
            return reply
        seen.append(reply.card)
        return Reply(reply.result, card=seen[-10]) if len(seen) % 10 == 0 else reply

    return changes_messages(Reply, deal)()


hangs_up = changes_effects(lambda effect: [effect, Drop(effect.peer)] if _refuses(effect) else [effect])
"""Disconnects from a client after an error."""

hangs_up_always = changes_effects(lambda effect: [effect, Drop(effect.peer)] if isinstance(effect, Send) else [effect])
"""Closes the connection after each message."""

hangs_up_silently = changes_effects(lambda effect: [Drop(effect.peer)] if _refuses(effect) else [effect])
"""Disconnects from a client in place of an error."""

silent_errors = changes_effects(lambda effect: [] if _refuses(effect) else [effect])
"""Sends no errors."""

never_answers = changes_effects(lambda effect: [] if isinstance(effect, Send) else [effect])
"""Sends nothing."""


def greets() -> EffectChange:
    """Answers a join with "wait"."""

    def mutation(event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Received) and isinstance(event.message, Join) and not effects:
            return [Send(event.peer, Reply("ok", "wait"))]
        return effects

    return mutation


WELCOME: Final = Reply("ok", "welcome")
GREETING: Final = b"Welcome!\r\nJoin the game!\r\n"


def welcomes() -> EffectChange:
    """Sends a message to each player that connects."""

    def mutation(event: Event[Any], effects: Effects) -> Effects:
        return [Send(event.peer, WELCOME)] if isinstance(event, Joined) else effects

    return mutation


class IgnoresDisconnects(House):
    """Ignores disconnects of players who have joined."""

    @override
    def on(self, event: Event[Message], now: float) -> Effects:
        return () if isinstance(event, Left) and self._clients[event.peer].nick else super().on(event, now)


class NoticesAtTheStart(House):
    """Notices who has left while waiting when the game has started, as a thread does that waits for it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._gone: list[Left] = []

    @override
    def on(self, event: Event[Message], now: float) -> Effects:
        client = self._clients.get(event.peer) if isinstance(event, Left) else None
        if isinstance(event, Left) and client is not None and client.nick and not client.is_playing:
            self._gone.append(event)
            return ()
        effects = [*super().on(event, now)]
        for left in [one for one in self._gone if one.peer in self._clients and self._clients[one.peer].is_playing]:
            self._gone.remove(left)
            effects += super().on(left, now)
        return effects


class NoticesLate(House):
    """Looks only now and then who has left."""

    notice_seconds = 0.3

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._left: list[tuple[float, Left]] = []

    @override
    def on(self, event: Event[Message], now: float) -> Effects:
        effects: list[Effect[Any]] = []
        for at, left in [one for one in self._left if one[0] <= now]:
            self._left.remove((at, left))
            effects += super().on(left, now)
        if isinstance(event, Left):
            self._left.append((now + self.notice_seconds, event))
            return effects
        return [*effects, *super().on(event, now)]


class NoticesVeryLate(NoticesLate):
    """Lets seconds pass until it sees who has left."""

    notice_seconds = 3.0


class BackwardsLobby(TableLobby):
    """Seats the players in the reverse order of joining."""

    @property
    @override
    def waiting_clients(self) -> Sequence[LobbyClient]:
        return super().waiting_clients[::-1]


class SeatsBackwards(House):
    """Lists its players, and lets them draw, in the reverse order of joining; this is no fault."""

    def __init__(self, settings: Settings, *args: Any, **options: Any) -> None:
        super().__init__(settings, *args, **options)
        self._lobby = BackwardsLobby(settings.players, settings.join_window)


class RefusesLastPair(House):
    """Refuses every discard when the game is over; this is no fault."""

    @override
    def _handle_message(self, client: LobbyClient, message: Message, now: float) -> HouseEffects:
        if isinstance(message, Discard) and client.game is not None and client.game.is_over:
            return [Send(client.peer, Reply("error", "the game is over"))]
        return super()._handle_message(client, message, now)


class PlaysOneGame(House):
    """Refuses a join as long as a game is running."""

    @override
    def _handle_message(self, client: LobbyClient, message: Message, now: float) -> HouseEffects:
        if isinstance(message, Join) and not all(game.is_over for game in self.games):
            return [Send(client.peer, Reply("error", "a game is running"))]
        return super()._handle_message(client, message, now)


class SharesLobby(TableLobby):
    """Does not look for an address that is taken."""

    @override
    def join(self, client: LobbyClient, join: Join, now: float) -> None:
        super().join(client, Join(join.nick), now)
        if join.port is not None and client.address is not None:
            del self._addresses[client.address]
            client.address = client.address[0], join.port
            self._addresses[client.address] = client

    @override
    def release_address(self, client: LobbyClient) -> None:
        self._addresses.pop(client.address or client.source, None)
        client.address = None


class SharesAddresses(House):
    """Lists two players at the same address."""

    def __init__(self, settings: Settings, *args: Any, **options: Any) -> None:
        super().__init__(settings, *args, **options)
        self._lobby = SharesLobby(settings.players, settings.join_window)


def crashes() -> EffectChange:
    """Disconnects a client that requests the status."""

    def mutation(event: Event[Any], effects: Effects) -> Effects:
        if isinstance(event, Received) and isinstance(event.message, Status):
            return [Drop(event.peer)]
        return effects

    return mutation


def early_last_card(message: Message, data: bytes) -> bytes:
    """Announces the ace of spades as the last card."""
    if isinstance(message, Reply) and message.card == ("A", "spades"):
        return data.replace(b'"ok"', b'"last_card"')
    return data


def _changes_list(change: Callable[[Sequence[Any]], Sequence[Any]]) -> Callable[[], EffectChange]:
    def changed(reply: Reply) -> Message:
        return reply if reply.players is None else Reply(reply.result, players=tuple(change(reply.players)))

    return changes_messages(Reply, changed)


def rotates_lists() -> EffectChange:
    """Sends each player a list that begins with another player."""
    list_count = 0

    def rotate(players: Sequence[Any]) -> Sequence[Any]:
        nonlocal list_count
        list_count += 1
        offset = list_count % len(players)
        return [*players[offset:], *players[:offset]]

    return _changes_list(rotate)()


def _as_python(_: Message, data: bytes) -> bytes:
    return repr(json.loads(data)).encode() + b"\n"


def _printed_quotes(_: Message, data: bytes) -> bytes:
    return data.decode().replace('"', "“").encode()


def _length_prefix(_: Message, data: bytes) -> bytes:
    return b"%d " % len(data) + data


def _spelt(old: bytes, new: bytes) -> EncodeChange:
    return lambda message, data: data.replace(old, new) if isinstance(message, Reply) and message.card else data


def _numeric_values(message: Message, data: bytes) -> bytes:
    if isinstance(message, Reply) and message.card and message.card[0].isdigit():
        return data.replace(b'"%b"' % message.card[0].encode(), message.card[0].encode())
    return data


def _bare_ok(message: Message, data: bytes) -> bytes:
    return b'{"result":"ok"}\n' if message == DISCARD_OK else data


def _nicks_in_braces(message: Message, data: bytes) -> bytes:
    if not isinstance(message, Standing):
        return data
    names = ", ".join(json.dumps(nick) for nick in message.outside)
    return f'{{"in": {json.dumps(message.inside)}, "out": {{{names}}}}}\n'.encode()


def _capital_ok(message: Message, data: bytes) -> bytes:
    return data.replace(b'"ok"', b'"OK"') if isinstance(message, Reply) else data


def _without_card(message: Message, data: bytes) -> bytes:
    return b'{"result":"ok"}\n' if isinstance(message, Reply) and message.card else data


def _faulty(name: str, clauses: str, selection: str, **more: Any) -> FaultyTable:
    return FaultyTable(
        name, frozenset(f"oldmaid-{clause}" for clause in clauses.split()), f"oldmaid/{selection}", **more
    )


FAULTY_TABLES = (
    _faulty("python-dictionaries", "1.3", "4.2", encode_change=_as_python),
    _faulty("printed-quotes", "1.3", "4.2", encode_change=_printed_quotes),
    _faulty("length-before", "1.3", "4.2", encode_change=_length_prefix),
    _faulty("capital-results", "2.3", "4.2", encode_change=_capital_ok),
    _faulty("no-card", "2.3", "4.2", encode_change=_without_card),
    _faulty("card-twice", "4.1", "4.1", mutation=deals_twice),
    _faulty("capital-suits", "2.4", "2.4", encode_change=_spelt(b"spades", b"Spades")),
    _faulty("ten-is-t", "2.4", "2.4", encode_change=_spelt(b'"10"', b'"T"')),
    _faulty("values-are-numbers", "2.4", "2.4", encode_change=_numeric_values),
    _faulty("old-maid-is-joker", "2.4", "2.4", encode_change=_spelt(b'["joker","maid"]', b'["joker","joker"]')),
    _faulty("never-last-card", "4.4", "4.4", encode_change=_spelt(b"last_card", b"ok")),
    _faulty("last-card-early", "4.4", "4.4", encode_change=early_last_card),
    _faulty("same-deck", "4.1", "4.1", dealer=single_deck_dealer),
    _faulty("same-deck-counted", "4.1", "4.1/fair-deal", dealer=single_deck_dealer),
    _faulty("joker-early", "4.1", "4.1/fair-deal", dealer=joker_early_dealer),
    _faulty(
        "draws-out-of-order",
        "4.3",
        "4.3",
        mutation=answers_refused(Draw, "oldmaid-4.3", Reply("ok", card=("3", "spades"))),
    ),
    _faulty(
        "draws-for-ever", "4.5", "4.5", mutation=answers_refused(Draw, "oldmaid-4.5", Reply("ok", card=("3", "spades")))
    ),
    _faulty("any-two-cards", "5.3", "5.3", mutation=answers_refused(Discard, "oldmaid-5.3", DISCARD_OK)),
    _faulty("pairs-with-the-joker", "5.1 5.3", "5.1", mutation=answers_refused(Discard, "oldmaid-5.3", DISCARD_OK)),
    _faulty("card-with-itself", "5.3", "5.3/same-card", mutation=pairs_a_card_with_itself, dealer=joker_first_dealer),
    _faulty("any-spelling", "5.4", "5.4", mutation=answers_refused(Discard, "oldmaid-5.4", DISCARD_OK)),
    _faulty(
        "throws-twice", "5.5", "5.5", mutation=answers_refused(Discard, "oldmaid-5.5", DISCARD_OK), house=NamesClauses
    ),
    _faulty(
        "throws-from-the-deck",
        "5.6",
        "5.6",
        mutation=answers_refused(Discard, "oldmaid-5.6", DISCARD_OK),
        house=NamesClauses,
    ),
    _faulty(
        "throws-of-others",
        "5.7",
        "5.7",
        mutation=answers_refused(Discard, "oldmaid-5.7", DISCARD_OK),
        house=NamesClauses,
    ),
    _faulty("no-message", "2.3", "5.2", encode_change=_bare_ok),
    _faulty("reveals-where-cards-are", "5.12", "5.12", house=NamesClauses),
    _faulty("out-in-braces", "1.3 2.3", "6.5", encode_change=_nicks_in_braces),
    _faulty(
        "winner-last",
        "6.6",
        "6.6",
        mutation=changes_messages(Standing, lambda status: Standing(status.inside, status.outside[::-1])),
    ),
    _faulty(
        "in-forgets-one",
        "6.5",
        "6.5",
        mutation=changes_messages(Standing, lambda status: Standing(status.inside[1:], status.outside)),
    ),
    _faulty("nicks-twice", "3.8", "3.8", mutation=answers_refused(Join, "oldmaid-3.8", Reply("ok"))),
    _faulty("lists-differ", "3.2", "3.2", mutation=rotates_lists),
    _faulty("lists-backwards", "4.3", "4.3", mutation=_changes_list(lambda players: players[::-1])),
    _faulty(
        "lists-its-own-port",
        "3.4",
        "3.4",
        mutation=_changes_list(lambda all_: [((a[0], 9898), nick) for a, nick in all_]),
    ),
    _faulty("says-wait", "2.3 3.2 3.15", "3.2", mutation=greets),
    _faulty(
        "welcomes",
        "1.8",
        "1.8",
        mutation=welcomes,
        encode_change=lambda message, data: GREETING if message == WELCOME else data,
    ),
    _faulty(
        "prompts",
        "1.8",
        "1.8",
        mutation=welcomes,
        encode_change=lambda message, data: b"> " if message == WELCOME else data + b"> ",
    ),
    _faulty("closes-after-answers", "1.8", "3.3", mutation=hangs_up_always),
    _faulty("hangs-up-on-errors", "8.1 2.9", "4.3", mutation=hangs_up),
    _faulty("silent-errors", "4.3", "4.3", mutation=silent_errors),
    _faulty("silent-on-garbage", "8.3", "8.3", wire=IgnoresInvalidJson),
    _faulty("one-read-one-message", "1.4", "1.4", wire=OneReadWire),
    _faulty("one-line-a-read", "1.4", "1.4", wire=FirstLineWire),
    _faulty("one-message-a-read", "1.4", "1.4/tail", wire=FirstMessageWire),
    _faulty("wants-line-ends", "1.3", "1.3", wire=LineWire),
    _faulty(
        "draws-without-a-game",
        "4.6",
        "4.6",
        mutation=answers_refused(Draw, "oldmaid-4.6", Reply("ok", card=("3", "spades"))),
    ),
    _faulty("never-sees-who-leaves", "9.1 9.2", "9.1", house=IgnoresDisconnects),
    _faulty("waits-for-the-dead", "9.2", "9.2", house=IgnoresDisconnects),
    _faulty("seats-the-dead", "3.12 3.8", "3.12", house=IgnoresDisconnects),
    _faulty("notices-at-the-start", "3.12 3.8", "3.12", house=NoticesAtTheStart),
    _faulty("last-one-out", "6.8", "6.9/out-of-cards-last-player", mutation=puts_the_last_one_out),
    _faulty("crashes", "6.7 6.5", "6.5", mutation=crashes),
    _faulty("never-answers", "3.10 3.2", "3.1", mutation=never_answers),
    _faulty("one-port-twice", "3.9", "3.9/port-taken", house=SharesAddresses),
    _faulty("joins-in-a-game", "3.14", "3.14", mutation=answers_refused(Join, "oldmaid-3.14", OK)),
)
"""The faulty tables. `5.1` and `5.3` differ only in the joker."""
