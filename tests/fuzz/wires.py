"""Targets: the wires of the rooms without HTTP, in both roles, with their sessions, dialects and referees."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from croupier.clients.identify import FirstAnswer
from croupier.conformance.diagnosis import common_dialects, layouts
from croupier.conformance.diagnosis.dialect import DialectCodec, NotInDialectError
from croupier.conformance.oldmaid.dialects import DIALECTS
from croupier.conformance.oldmaid.near_json import TEXT_DIALECTS
from croupier.conformance.oldmaid.reader import MessageReader
from croupier.conformance.oldmaid.scripted_player import parse_input
from croupier.core.codec import RawCodec, SpanCodec
from croupier.core.dealer import dealer_factory
from croupier.core.errors import Violation
from croupier.core.hall import Hall
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Event, Joined, Left, Malformed, Received, Session, Submitted, TimedOut, Timeouts
from croupier.core.spans import SpanReader
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.oldmaid.house import House as OldMaidHouse
from croupier.rooms.oldmaid.settings import Settings as OldMaidSettings
from croupier.rooms.oldmaid.wire import Wire as OldMaidWire
from croupier.rooms.oldmaid.wire import WireRole
from croupier.web.frames import FrameCodec
from tests.fuzz.corpus import transcript_lines
from tests.fuzz.target import Target, allow, every_size, pieces
from tests.properties.inputs import transcript_streams
from tests.rooms.oldmaid.vocabulary import VOCABULARY

PEERS = (1, 2, 3)


def read(codec: Any, chunks: Iterable[bytes]) -> list[Any]:
    return [item for chunk in chunks for item in codec.feed(chunk)]


def check_codec(make_codec: Callable[[], SpanCodec[Any, Any]], data: bytes) -> list[Any]:
    """Read bytes whole and in pieces; return the items. Every way of reading has to find the same."""
    whole, chunks = pieces(data)
    items = read(make_codec(), [whole])
    assert read(make_codec(), chunks) == items
    assert [item for item, _ in make_codec().feed_with_ends(whole)] == items
    assert [span.message for span in SpanReader(make_codec()).feed(whole)] == items
    assert read(FrameCodec(make_codec(), lambda *_: None, deque()), chunks) == items
    assert read(FirstAnswer(make_codec()), chunks) == items
    return items


def event(peer: int, item: Any) -> Event[Any]:
    return Malformed(peer, item) if isinstance(item, Violation) else Received(peer, item)


def converse(session: Session[Any, Any], events: Iterable[Event[Any]]) -> None:
    """Deliver events to a session, one a second, until it drops its peer; then time passes and the peer leaves."""
    now = 0.0
    for each in events:
        now += 1.0
        if any(type(effect) is Drop for effect in session.on(each, now)):
            break
    if session.deadline is not None:
        session.on(TimedOut(), max(now, session.deadline))


def house_target(room: HouseRoom) -> Target:
    house = room.house(room.settings(), Timeouts(), False)
    dealers = dealer_factory(lambda table: b"%032d" % table)

    def run(data: bytes) -> None:
        for is_strict in (False, True):
            check_codec(partial(room.codec, is_strict, None), data)
        items = read(room.codec(False, None), [pieces(data)[0]])
        converse(
            Hall(house, dealers, Timeouts().shortest), [Joined(1), *(event(1, item) for item in items), Left(1, "")]
        )

    return Target(room.name, run, lambda: every_size(transcript_streams(room.name)))


def player_target(room: HouseRoom) -> Target:
    """Our client: messages of ours alternate with those of the server."""

    def run(data: bytes) -> None:
        player = room.player(room.options())
        events = (event(HOUSE, item) for item in read(room.codec(False, room.options()), pieces(data)[1]))
        own = [Submitted(message) for message in room.sample_messages]
        player.on(Joined(HOUSE), 0.0)
        for number, received in enumerate(events):
            legal = [one.message for one in own if one.message in (*player.legal,)]
            if legal:
                player.on(Submitted(legal[number % len(legal)]), float(number))
            player.on(received, float(number))
        player.on(Left(HOUSE, ""), 1e6)

    return Target(f"{room.name}-client", run, lambda: every_size(transcript_streams(room.name)))


@cache
def dialects_of(room: str) -> Sequence[Any]:
    return layouts.dialects(room)


def dialect_target(room: str) -> Target:
    """The tester's readings of bytes that are not in the protocol's spelling."""

    def run(data: bytes) -> None:
        whole, chunks = pieces(data)
        choices = dialects_of(room)
        for at in range(0, len(choices), max(1, len(choices) // 4)):
            read(DialectCodec(choices[(at + len(whole)) % len(choices)]), chunks)
        assert read(DialectCodec(), [whole]) == ([whole] if whole else [])
        assert read(RawCodec(), [whole]) == [whole]
        for pattern in common_dialects.INTEGER_DIALECTS.values():
            allow(NotInDialectError, pattern.read, whole, 0)

    return Target(f"{room}-dialects", run, lambda: every_size(transcript_streams(room)))


def run_oldmaid_table(data: bytes) -> None:
    for is_strict in (False, True):
        items = check_codec(partial(OldMaidWire, "table", strict=is_strict), data)
    house = OldMaidHouse(OldMaidSettings(players=2, join_window=0.0), dealer_factory(lambda game: b"%032d" % game))
    for peer in PEERS:
        house.on(Joined(peer, ("192.0.2.1", peer)), 0.0)
    for number, item in enumerate(items):
        house.on(event(PEERS[number % len(PEERS)], item), float(number))
    if house.deadline is not None:
        house.on(TimedOut(), house.deadline)
    for peer in PEERS:
        house.on(Left(peer, ""), 1e6)


def run_oldmaid_player(data: bytes) -> None:
    for dialect in ("document", "njaal"):
        check_codec(partial(OldMaidWire, "player", dialect=dialect), data)


def run_oldmaid_dialects(data: bytes) -> None:
    whole, chunks = pieces(data)
    readers = [MessageReader("table")]
    dialects = (*DIALECTS, *TEXT_DIALECTS)
    readers += [MessageReader("table", detected_dialect=dialects[(len(whole) + n) % len(dialects)]) for n in (0, 7, 23)]
    for reader in readers:
        for chunk in chunks:
            reader.feed(chunk)
    for text_dialect in TEXT_DIALECTS:
        text_dialect.read(whole, None)
    parse_input(whole)


def oldmaid_corpus(role: WireRole) -> Iterable[bytes]:
    samples = [*map(OldMaidWire(role).encode, VOCABULARY), b'{"cmd": "offer", "num_cards": ""}\n{"cmd": "pick"}\n']
    lines = (f"{line.text}\n".encode() for line in transcript_lines("oldmaid", "<>"))
    return every_size([b"".join(samples), *samples, *lines])


TARGETS = [
    *(make(room) for room in HOUSE_ROOMS.values() for make in (house_target, player_target)),
    *(dialect_target(room) for room in HOUSE_ROOMS),
    Target("oldmaid", run_oldmaid_table, partial(oldmaid_corpus, "table")),
    Target("oldmaid-player", run_oldmaid_player, partial(oldmaid_corpus, "player")),
    Target("oldmaid-dialects", run_oldmaid_dialects, partial(oldmaid_corpus, "table")),
]
