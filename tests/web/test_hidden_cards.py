"""Cards that a viewer has not seen never reach the browser: swapping them changes no byte that it receives."""

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Self

import httpx
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from croupier.clients.inbox import Inbox
from croupier.core.cards import Order
from croupier.core.dealer import Dealer, FairDealer, dealer_factory, derive_server_seed
from croupier.core.logger import SilentLogger
from croupier.core.presentation import ActionView, TableView
from croupier.core.room import HouseRoom
from croupier.core.session import (
    Effect,
    Event,
    HandFinished,
    Joined,
    Left,
    Notify,
    Observer,
    Received,
    Send,
    Settle,
)
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.recording.holdem_journal import hand_record
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings as HoldemSettings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.wire import Guid
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid.cards import CARD_COUNT, JOKER, WIRE_CARDS, Card, is_pair
from croupier.rooms.oldmaid.house import House as TableHouse
from croupier.rooms.oldmaid.player import Options, Player
from croupier.rooms.oldmaid.ring.player_events import CardDrawn
from croupier.rooms.oldmaid.settings import Settings as RingSettings
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, Message, Pick, Wire
from croupier.store.records import JournalHead, StoredHand
from croupier.web.cookies import Visitor
from croupier.web.frames import FrameCodec
from croupier.web.records import Records
from croupier.web.ring_seat import RingTable
from croupier.web.rooms import RoomEntry
from tests.rooms.oldmaid.network import Network, Node
from tests.sampling import example_count, extended
from tests.web.app_fixture import Browser, house, serve, stream
from tests.web.hidden_cards import (
    CONFIG,
    SETTLE_SECONDS,
    Recorder,
    Step,
    browser_of,
    page_paths,
    run_alike,
    shared_steps,
)

MOVES = st.lists(st.integers(0, 9), max_size=6)
"""Numbers of actions, counted through those that the view offers."""

LOBBY_EVENTS = "/lobby/events"

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Decks cannot be shrunk, and games take too long to try."""

SEEDS = st.integers(0, 2**32)
"""Seeds of the decks, and of the order of the cards that are swapped."""


def view(app: Any, browser: Browser) -> TableView | None:
    """The table as a browser's person sees it, None after its end."""
    table = next(iter(app.state.tables.of_session(browser.session)), None)
    return None if table is None else table.seat.feed.snapshot.view


async def act(browser: Browser, actions: Sequence[ActionView], move: int) -> httpx.Response:
    """Do one of the actions that the view offers, with the lowest amount that it allows."""
    action = actions[move % len(actions)]
    await browser.get(browser.table)
    return await browser.act(action.id, **({} if action.amount is None else {"amount": str(action.amount.low)}))


class Played(NamedTuple):
    """What browsers received of a game, and for each deal the cards that the protocol has shown to the person.

    The protocol shows the same in the first `certain` steps, whatever the other cards are.
    """

    steps: list[Step]
    certain: int
    shown: list[list[str]]


def swapped(
    decks: Sequence[Order], shown: Sequence[Sequence[str]], names: Sequence[str], luck: random.Random
) -> list[Order]:
    """Decks in which the cards that were not shown are in any other order. Equal cards are shown in their order."""
    found = []
    for number, deck in enumerate(decks):
        seen = [*shown[number]] if number < len(shown) else []
        hidden = []
        for position, card in enumerate(deck):
            name = names[card % len(names)]
            if name in seen:
                seen.remove(name)
            else:
                hidden.append(position)
        order = [*hidden]
        luck.shuffle(order)
        cards = [*deck]
        for position, other in zip(hidden, order, strict=True):
            cards[position] = deck[other]
        found.append(tuple(cards))
    return found


# Houses.

HOUSE_SETTINGS: dict[str, list[dict[str, Any]]] = {
    "kuhn": [{"bot": f"script:{script}"} for script in ("CHK", "BET", "CAL", "FLD", "CHK,FLD", "BET,CAL")],
    "sevenhalf": [{}, {"dialect": "lenient"}],
    "blackjack": [{}, {"decks": 2}],
}


def cards_of(message: Any) -> Sequence[str]:
    """The cards that a message of a house shows."""
    for name in ("rank", "card"):
        if hasattr(message, name):
            return [getattr(message, name)]
    return getattr(message, "cards", ())


async def play_house(room: HouseRoom, decks: Sequence[Order], moves: Sequence[int], options: dict[str, Any]) -> Played:
    """Play against a house, while a visitor watches."""
    wire: list[str] = []
    shown: list[list[str]] = [[]]

    def observe(event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        wire.append(f"{now} {event}")
        for effect in effects:
            if isinstance(effect, Send):
                wire.append(str(effect.message))
                shown[-1] += cards_of(effect.message)
            elif isinstance(effect, Settle):
                shown.append([])

    async with serve(house(room, decks, observers=[observe], **options), config=CONFIG) as app:
        person = await browser_of(app, "p").play(room.name)
        address = f"/watch/{room.name}-1"
        async with (
            stream(app, person) as events,
            stream(app, person, LOBBY_EVENTS) as lobby,
            stream(app, person, f"{address}/events") as watched,
        ):
            recorder = Recorder(app, person, browser_of(app, "v"), [events, lobby, watched], watched=address)
            await recorder.look(wire)
            for move in moves:
                if (table := view(app, person)) is None:
                    break
                await recorder.look(wire, await act(person, table.actions, move))
            await recorder.browse(wire)
    return Played(recorder.steps, len(recorder.steps), shown)


@pytest.mark.parametrize("room", extended(HOUSE_ROOMS.values(), 3), ids=HOUSE_ROOMS)
@given(st.data(), MOVES, SEEDS)
@settings(max_examples=example_count(30), phases=PHASES)
def test_swapping_unseen_cards_of_a_house_changes_no_byte(
    room: HouseRoom, data: st.DataObject, moves: list[int], seed: int
) -> None:
    luck, options = random.Random(seed), data.draw(st.sampled_from(HOUSE_SETTINGS[room.name]))
    size = len(room.pack) * options.get("decks", 1)
    decks = [tuple(luck.sample(range(size), size)) for _ in range(3)]
    one = run_alike(play_house(room, decks, moves, options))
    others = swapped(decks, one.shown, room.pack.names, luck)
    other = run_alike(play_house(room, others, moves, options))
    assert shared_steps(one.steps, other.steps) == one.certain == len(other.steps)


# Hold'em.


class HandStore:
    """The finished hands of a table, with what the web app uses of a store.

    `on_shown` is called with the number of each hand, and the cards that everybody has seen at its end.
    """

    def __init__(self, on_shown: Callable[[int, Sequence[str]], None]) -> None:
        self._on_shown = on_shown
        self._hands: list[StoredHand] = []

    def observe(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        """Store the hands that have ended."""
        for effect in effects:
            if isinstance(effect, HandFinished) and isinstance(effect.state, FinishedHand):
                self._hands.append(hand_record(effect, now))
                hand = effect.state.hand
                holes = (card for seat in hand.showdown_order for card in hand.holes[seat])
                self._on_shown(effect.hand_number, card_names([*hand.board, *holes]))

    def paths(self, game: Guid) -> list[str]:
        """ROOM/TABLE/NUMBER of the finished hands and of the running one."""
        return [f"holdem/{game}/{number}" for number in range(1, len(self._hands) + 2)]

    async def hands(self, room: str, *, limit: int) -> list[StoredHand]:
        return [hand for hand in reversed(self._hands) if hand.room == room][:limit]

    async def hand(self, room: str, table: str, number: int) -> StoredHand | None:
        found = [hand for hand in self._hands if (hand.room, hand.table, hand.number) == (room, table, number)]
        return found[0] if found else None

    async def journal_heads(self, room: str) -> list[JournalHead]:
        return []  # of houses


async def play_holdem(decks: Sequence[Order], moves: Sequence[int]) -> Played:
    """Play hold'em with another person; the first one is recorded, and a visitor who watches the table."""
    server_seed = derive_server_seed(1, HOLDEM.name, 0)
    deal = dealer_factory(lambda _: server_seed, b"", decks, shared=True)
    shown: list[list[str]] = []

    def next_dealer(hand: int) -> Dealer:
        shown.append([])
        return deal(hand)

    known: list[str] = []

    def show(hand: int, cards: Sequence[str]) -> None:
        known.extend(cards)
        shown[hand - 1].extend({*cards} - {*shown[hand - 1]})

    store = HandStore(show)
    holdem_house = House(HoldemSettings(), next_dealer, server_seed)
    clock = asyncio.get_running_loop().time
    room = HoldemApp(holdem_house, Authenticator(hasher=QUICK_HASHER), clock=clock, observers=[store.observe])

    def observe(game: Guid, user: str) -> None:
        found = room.service.views.games.get(game)
        assert found is not None, "a game with players is open"
        known.extend(found.view_for(each).body.decode() for each in (user, None))
        names = {*re.findall(r"\w+", known[-2])} & {*HOLDEM.pack.names}
        for cards in shown[-2:]:  # a showdown is shown together with the next hand
            cards.extend(names.difference(cards))

    records = Records(lambda: store)
    async with serve(RoomEntry(HOLDEM, holdem_house.settings, room), config=CONFIG, records=records) as app:
        person = await browser_of(app, "p").play(HOLDEM.name)
        other = await browser_of(app, "o").play(HOLDEM.name)
        game, user = person.table.rpartition("/")[2], Visitor("p" * 22, 0).user
        async with (
            stream(app, person) as events,
            stream(app, other),
            stream(app, person, f"/watch/{game}/events") as watched,
            stream(app, person, LOBBY_EVENTS) as lobby,
        ):
            streams = [events, watched, lobby]
            recorder = Recorder(app, person, browser_of(app, "v"), streams, lambda: store.paths(game))
            observe(game, user)
            await recorder.look(known)
            certain = 1
            for move in moves:
                actor = await to_act(app, person, other)
                table = view(app, actor)
                assert table is not None, "a person who can act has a table"
                answer = await act(actor, table.actions[:-1], move)
                observe(game, user)
                await recorder.look(known, *([answer] if actor is person else []))
                if len(shown) == 1:  # unseen cards decide who wins the hand at a showdown
                    certain = len(recorder.steps)
            await recorder.browse(known)
        room.service.halt(final=True)
        room.authenticator.close()
    return Played(recorder.steps, certain, shown)


async def to_act(app: Any, *browsers: Browser) -> Browser:
    """Wait until one of the people can act."""
    while True:
        for browser in browsers:
            table = view(app, browser)
            if table is not None and len(table.actions) > 1:
                return browser
        await asyncio.sleep(SETTLE_SECONDS)


@given(st.lists(st.integers(0, 9), max_size=12), SEEDS)
@settings(max_examples=example_count(20), phases=PHASES)
def test_swapping_unseen_cards_of_holdem_changes_no_byte(moves: list[int], seed: int) -> None:
    luck = random.Random(seed)
    size = len(HOLDEM.pack)
    decks = [tuple(luck.sample(range(size), size)) for _ in range(len(moves) + 2)]
    one = run_alike(play_holdem(decks, moves))
    other = run_alike(play_holdem(swapped(decks, one.shown, HOLDEM.pack.names, luck), moves))
    assert shared_steps(one.steps, other.steps) >= one.certain


# Old Maid.

PERSON = "ann"


class SimulatedRoom:
    """What the lobby shows of the simulated table."""

    connection_count = 0
    unavailable_reason = None


class NetworkClient:
    """A player of a simulated network with the interface of a RingClient: the same game takes the same course.

    The network has no bytes, so `codec` gets those of each message here.
    """

    def __init__(self, deck: Order, observer: Observer, codec: FrameCodec[Any]) -> None:
        self.player = Player(Options(PERSON), FairDealer(bytes(32)).luck)
        self.network: Network
        self.wire: list[str] = []
        self._deck = deck
        self._observer = observer
        self._codec = codec
        self._events: Inbox[Any] = Inbox()

    async def __aenter__(self) -> Self:
        self.network = Network(3, decks=[self._deck], people={PERSON: self._observe})
        self.player = self._node.player
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    @property
    def _node(self) -> Node:
        return next(node for node in self.network.players if node.name == PERSON)

    async def receive(self) -> Any:
        return await self._events.wait()

    def submit(self, pick: Pick) -> None:
        self.network.pick(self._node, pick)

    def drawn_by_others(self) -> list[Card]:
        """The cards that were dealt to the other players."""
        others = [node for node in self.network.players if node.name != PERSON]
        return [event.card for node in others for _, event in node.events if isinstance(event, CardDrawn)]

    def _observe(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        self.wire.append(f"{now} {event} {[str(effect.message) for effect in effects if isinstance(effect, Send)]}")
        if isinstance(event, Received):
            assert self._codec.feed(Wire("player").encode(event.message)) == [event.message]
        self._observer(event, effects, now)
        for effect in effects:
            if isinstance(effect, Send):
                self._codec.encode(effect.message)
            if isinstance(effect, Notify):
                self._events.put(effect.notice)


class RingPlayed(NamedTuple):
    """What browsers received of a game, and the cards that others were dealt; see `Played`."""

    steps: list[Step]
    certain: int
    dealt_to_others: list[Card]


async def play_oldmaid(deck: Order, moves: Sequence[int]) -> RingPlayed:
    """Play Old Maid with two bots, until the person has no more moves."""
    clients: list[NetworkClient] = []

    def make_client(
        table: RingTable, nick: str, observers: Sequence[Observer], wrap_codec: Callable[[Wire], FrameCodec[Any]]
    ) -> NetworkClient:
        clients.append(NetworkClient(deck, *observers, wrap_codec(Wire("player"))))
        return clients[-1]

    entry = RoomEntry(OLDMAID, RingSettings(), SimulatedRoom(), address=("127.0.0.1", 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("croupier.web.ring_seat.BOTS_AFTER_SECONDS", 1e9)
        patch.setattr("croupier.web.ring_seat.RingTable.client", make_client)
        async with serve(entry, config=CONFIG) as app:
            person = await browser_of(app, "p").play(OLDMAID.name)
            (client,) = clients
            async with stream(app, person) as events, stream(app, person, LOBBY_EVENTS) as lobby:
                recorder = Recorder(app, person, browser_of(app, "v"), [events, lobby])
                await recorder.look(client.wire)
                picks, certain = iter(moves), None
                for connection, has_arrived in client.network.walk():
                    if not has_arrived or connection.node.name != PERSON:
                        continue
                    await recorder.follow(client.wire)
                    if legal := client.player.legal:
                        certain = certain or len(recorder.steps)
                        if (move := next(picks, None)) is None:
                            break
                        await recorder.look(client.wire)
                        table = view(app, person)
                        assert table is not None
                        await recorder.look(client.wire, await act(person, table.actions[: len(legal)], move))
                await recorder.look(client.wire)
                await recorder.browse(client.wire)
    return RingPlayed(recorder.steps, certain or len(recorder.steps), client.drawn_by_others())


def swapped_hands(deck: Order, others: Sequence[Card], luck: random.Random) -> Order:
    """A deck in which the pairs of the other players are in any other order, and the old maid is elsewhere.

    The hands keep their pairs, so that a person sees the same game until one of the swapped cards is picked. The old
    maid changes its place with a card whose partner the person has.
    """
    pairs = [(card, card + 1) for card in range(0, JOKER, 2) if card in others and card + 1 in others]
    order = [luck.sample(pair, 2) for pair in luck.sample(pairs, len(pairs))]
    places = {
        card: other for pair, new in zip(pairs, order, strict=True) for card, other in zip(pair, new, strict=True)
    }
    singles = [card for card in others if card != JOKER and card ^ 1 not in others]
    if JOKER in others:
        single = luck.choice(singles)
        places |= {JOKER: single, single: JOKER}
    return tuple(places.get(card, card) for card in deck)


@given(st.lists(st.integers(0, 9), max_size=4), SEEDS)
@settings(max_examples=example_count(20), phases=PHASES)
def test_swapping_the_hands_of_the_others_in_old_maid_changes_no_byte(moves: list[int], seed: int) -> None:
    luck = random.Random(seed)
    deck = tuple(luck.sample(range(CARD_COUNT), CARD_COUNT))
    one = run_alike(play_oldmaid(deck, moves))
    other = run_alike(play_oldmaid(swapped_hands(deck, one.dealt_to_others, luck), moves))
    assert shared_steps(one.steps, other.steps) >= one.certain


async def watch_oldmaid(deck: Order) -> list[bytes]:
    """Return what a visitor receives who watches the deal of a game, its pairs, and its end."""
    table_settings = RingSettings(players=3)
    table = TableHouse(table_settings, dealer_factory(lambda _: bytes(32), b"", [deck], shared=True))
    endpoint = SharedEndpoint(table, partial(Wire, "table"), SilentLogger())
    hands: list[list[Card]] = [[] for _ in range(table_settings.players)]

    def receive(seat: int, message: Message) -> None:
        endpoint.handle_and_flush(Received(seat + 1, message))

    async with serve(RoomEntry(OLDMAID, table_settings, endpoint), config=CONFIG) as app:
        visitor = browser_of(app, "v")
        for seat in range(table_settings.players):
            endpoint.handle_and_flush(Joined(seat + 1, ("127.0.0.1", seat + 1)))
            receive(seat, Join(f"player {seat}"))
        async with stream(app, visitor, "/watch/oldmaid-1/events") as watched:
            pages = []
            for turn, card in enumerate(deck):
                seat = turn % len(hands)
                receive(seat, Draw())
                hands[seat].append(card)
                if turn % 10 == 0:
                    await asyncio.sleep(SETTLE_SECONDS)
                    pages += [await visitor.get(path) for path in ("/watch/oldmaid-1", "/watch/oldmaid-1/text")]
            for seat, hand in enumerate(hands):
                for one, other in combinations(hand, 2):
                    if is_pair(one, other):
                        receive(seat, Discard((WIRE_CARDS[one], WIRE_CARDS[other])))
                await asyncio.sleep(SETTLE_SECONDS)
                pages += [await visitor.get(path) for path in page_paths(app) if "{" not in path]
                pages.append(await visitor.get("/watch/oldmaid-1"))
            assert b"lays down a pair" in watched.body
            for seat in range(1, table_settings.players):
                endpoint.handle_and_flush(Left(seat + 1))
            await watched.wait_for(b"event: end")
            return [*(page.content for page in pages), *(repr(message).encode() for message in watched.messages)]


def other_pairs(deck: Order, luck: random.Random) -> Order:
    """A deck in which pairs stand in for each other, and cards for their partners; its game takes the same course."""
    pairs = [(card, card + 1) for card in range(0, JOKER, 2)]
    places = {JOKER: JOKER}
    for pair, other in zip(pairs, luck.sample(pairs, len(pairs)), strict=True):
        places |= zip(pair, luck.sample(other, 2), strict=True)
    return tuple(places[card] for card in deck)


@given(SEEDS)
@settings(max_examples=example_count(10), phases=PHASES)
def test_swapping_the_cards_of_old_maid_changes_no_byte_that_watchers_receive(seed: int) -> None:
    luck = random.Random(seed)
    deck = tuple(luck.sample(range(CARD_COUNT), CARD_COUNT))
    assert run_alike(watch_oldmaid(deck)) == run_alike(watch_oldmaid(other_pairs(deck, luck)))
