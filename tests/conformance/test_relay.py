"""The relay: every byte arrives, both ends are judged, and it can be slow, split and cut."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.clients.game import GameClient
from croupier.clients.play import play_games
from croupier.conformance.channel.delivery import Delivery, Outbox
from croupier.conformance.conversation import Conversation
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    SilenceFound,
    TapEvent,
)
from croupier.conformance.tap.relay import IDLE_TIMEOUT_SECONDS, MAX_BUFFER_BYTES, Relay, relay_endpoint
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, dealer_factory, derive_server_seed
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import (
    Closing,
    Connect,
    Drop,
    Effect,
    EndOfInput,
    EndOutput,
    Event,
    Joined,
    Left,
    Received,
    Send,
    TimedOut,
    Timeouts,
)
from croupier.net.endpoint import Endpoint
from croupier.rooms.kuhn import ROOM
from tests.net.raw_client import LOOPS, TIMEOUT_SECONDS, Run

TARGET = ("192.0.2.9", 1212)


class RelayFixture:
    """A relay without a socket, with one client. The house accepts at once unless `answered` is false."""

    def __init__(self, answered: bool = True, patience: float = 5.0, **manner: Any) -> None:
        self.news: list[TapEvent] = []
        self.now = 0.0
        self.relay = Relay(TARGET, lambda: Conversation(ROOM, answer_timeout=patience), self.news.append, **manner)
        self.effects = self.on(Joined(1, ("192.0.2.1", 40_001)))
        if answered:
            assert self.on(Joined(-1, TARGET)) == []

    def on(self, event: Event[bytes]) -> list[Effect[bytes]]:
        return self.relay.on(event, self.now)

    def until(self, time: float) -> list[tuple[float, Effect[bytes]]]:
        """Let time pass: what was done, and when."""
        done = []
        while (alarm := self.relay.deadline) is not None and alarm <= time:
            self.now = max(self.now, alarm)
            done += [(self.now, effect) for effect in self.on(TimedOut())]
        self.now = time
        return done

    @property
    def faults(self) -> list[tuple[int, str]]:
        found = [
            fault
            for news in self.news
            if not isinstance(news, ConnectionOpened | ConnectionEnded)
            for fault in news.faults
        ]
        return [(fault.verdict.party, fault.verdict.violation.clause) for fault in found]

    @property
    def said(self) -> list[tuple[int, bytes]]:
        return [(news.side, news.data) for news in self.news if isinstance(news, BytesRelayed)]


def test_a_client_is_called_through_and_every_byte_is_passed_on() -> None:
    line = RelayFixture(answered=False)
    assert line.effects == [Connect(-1, TARGET)]
    assert line.on(Received(1, b"STRT")) == []
    assert line.on(Joined(-1, TARGET)) == [Send(-1, b"STRT")]
    assert line.on(Received(1, b" P_1")) == [Send(-1, b" P_1")]
    assert line.on(Received(-1, b"CARD C_Q")) == [Send(1, b"CARD C_Q")]
    assert line.said == [(CLIENT, b"STRT"), (CLIENT, b" P_1"), (HOUSE, b"CARD C_Q")]
    assert line.on(Received(1, b"DISC")) == [Send(-1, b"DISC")]
    assert line.on(Left(1, "closed")) == [Drop(-1)]
    assert line.on(Left(-1, "closed")) == []
    assert line.faults == []
    opened, *_, closed, also, ended = line.news
    assert isinstance(opened, ConnectionOpened)
    assert isinstance(closed, SideClosed)
    assert isinstance(also, SideClosed)
    assert (closed.side, also.side) == (CLIENT, HOUSE)
    assert isinstance(ended, ConnectionEnded)
    assert ended.connection is opened.connection
    assert ended.connection.closed_sides == [CLIENT, HOUSE]
    assert line.relay.deadline is None


def test_both_ends_are_judged_at_the_message_that_shows_it() -> None:
    line = RelayFixture()
    line.on(Received(1, b"ACTN BETSTRT P_1"))
    line.on(Received(-1, b"FAIL W_ACARD C_X"))
    assert line.faults == [(CLIENT, "kuhn-6.2"), (HOUSE, "kuhn-2.6")]
    heard = [news for news in line.news if isinstance(news, BytesRelayed)]
    assert [len(news.lines) for news in heard] == [2, 2]
    assert [fault.line_count for news in heard for fault in news.faults] == [1, 4]


def test_a_house_that_is_silent_is_at_fault_when_its_time_is_over() -> None:
    line = RelayFixture(patience=2.0)
    line.now = 1.0
    line.on(Received(1, b"STRT P_1"))
    assert line.relay.deadline == 3.0
    assert line.until(3.0) == []
    assert line.faults == [(HOUSE, "kuhn-4.1")]
    assert isinstance(line.news[-1], SilenceFound)
    assert line.relay.deadline is None
    assert line.on(Received(-1, b"CARD C_Q")) == [Send(1, b"CARD C_Q")]


@pytest.mark.parametrize(("was_reset", "faults"), [(True, []), (False, [(HOUSE, "kuhn-2.1")])])
def test_a_message_that_a_reset_of_the_house_has_cut_is_not_judged(
    was_reset: bool, faults: list[tuple[int, str]]
) -> None:
    line = RelayFixture()
    line.on(Received(1, b"STRT P_1"))
    assert line.on(Received(-1, b"CARD")) == [Send(1, b"CARD")]
    assert line.on(Left(-1, "Connection reset by peer", was_reset)) == [Drop(1)]
    line.on(Left(1, "closed"))
    assert line.faults == faults


def test_where_no_house_answers_the_client_is_dropped_and_nobody_is_at_fault() -> None:
    line = RelayFixture(answered=False)
    line.on(Received(1, b"STRT P_1"))
    assert line.on(Left(-1, "refused")) == [Drop(1)]
    line.on(Left(1, "closed"))
    assert line.faults == []
    ended = line.news[-1]
    assert isinstance(ended, ConnectionEnded)
    assert ended.connection.note == "no house answers: refused"


def test_a_client_that_ceases_still_gets_its_answers_and_they_are_judged() -> None:
    line = RelayFixture()
    line.on(Received(1, b"STRT P_2ACTN BET"))
    assert line.on(EndOfInput(1)) == [EndOutput(-1)]
    assert line.on(Received(-1, b"CARD C_Q")) == [Send(1, b"CARD C_Q")]
    assert line.faults == []
    assert line.on(Received(-1, b"CARD C_Q")) == [Send(1, b"CARD C_Q")]
    assert line.faults == [(HOUSE, "kuhn-4.2")]
    assert line.on(EndOfInput(-1)) == [Drop(1), Drop(-1)]
    line.on(Left(1, "closed"))
    line.on(Left(-1, "closed"))
    ended = line.news[-1]
    assert isinstance(ended, ConnectionEnded)
    assert (ended.connection.closed_sides, ended.connection.note) == ([CLIENT, HOUSE], "")
    assert line.relay.deadline is None


def test_nothing_is_wrong_with_a_house_that_ends_what_its_client_has_ended() -> None:
    for owed in (b"DISC", b"STRT P_1", b"S"):
        line = RelayFixture(patience=1.0)
        line.on(Received(1, owed))
        assert line.on(EndOfInput(1)) == [EndOutput(-1)]
        assert line.until(9.0) == []
        assert line.on(EndOfInput(-1)) == [Drop(1), Drop(-1)]
        assert line.faults == []


def test_a_house_that_ceases_still_hears_its_client() -> None:
    line = RelayFixture(to_client=Delivery(delay_seconds=1.0))
    line.on(Received(1, b"STRT P_1"))
    assert line.on(Received(-1, b"CARD C_Q")) == []
    assert line.on(EndOfInput(-1)) == []
    assert line.faults == [(HOUSE, "kuhn-8.2")]
    assert line.until(2.0) == [(1.0, Send(1, b"CARD C_Q")), (1.0, EndOutput(1))]
    assert line.on(Received(1, b"DISC")) == [Send(-1, b"DISC")]
    assert line.on(EndOfInput(1)) == [Drop(1), Drop(-1)]


def test_what_is_closed_in_one_direction_does_not_stay_open_for_ever() -> None:
    line = RelayFixture(to_house=Delivery(delay_seconds=50.0))
    line.on(Received(1, b"STRT P_1"))
    line.on(EndOfInput(1))
    assert line.until(49.0) == []
    assert line.until(IDLE_TIMEOUT_SECONDS) == [(50.0, Send(-1, b"STRT P_1")), (50.0, EndOutput(-1))]
    line.on(Received(-1, b"CARD C_Q"))
    assert line.until(2 * IDLE_TIMEOUT_SECONDS + 1.0) == [
        (2 * IDLE_TIMEOUT_SECONDS, Drop(1)),
        (2 * IDLE_TIMEOUT_SECONDS, Drop(-1)),
    ]
    assert line.faults == []


def test_a_client_that_does_not_wait_for_the_house_is_heard_all_the_same() -> None:
    line = RelayFixture(answered=False)
    line.on(Received(1, b"DISC"))
    assert line.on(Left(1, "hung up")) == []
    assert line.on(Joined(-1, TARGET)) == [Send(-1, b"DISC"), Drop(-1)]
    line.on(Left(-1, "closed"))
    assert line.said == [(CLIENT, b"DISC")]
    assert line.faults == []


def test_a_house_that_hangs_up_is_judged_and_its_last_words_still_leave_slowly() -> None:
    line = RelayFixture(to_client=Delivery(max_piece_bytes=4, delay_seconds=1.0))
    line.on(Received(1, b"STRT P_1"))
    assert line.on(Received(-1, b"CARD C_Q")) == []
    assert line.on(Left(-1, "closed")) == []
    assert line.faults == [(HOUSE, "kuhn-8.2")]
    assert line.until(9.0) == [(1.0, Send(1, b"CARD")), (2.0, Send(1, b" C_Q")), (2.0, Drop(1))]


def test_pieces_leave_one_by_one_and_count_from_when_they_are_passed_on() -> None:
    line = RelayFixture(to_house=Delivery(max_piece_bytes=3, delay_seconds=0.5), patience=1.0)
    assert line.on(Received(1, b"STRT P_1")) == []
    assert line.said == []
    assert line.until(1.5) == [(0.5, Send(-1, b"STR")), (1.0, Send(-1, b"T P")), (1.5, Send(-1, b"_1"))]
    assert line.relay.deadline == 2.5, "the house has as long as without a relay"


def test_what_is_gathered_leaves_at_once() -> None:
    line = RelayFixture(to_client=Delivery(gather_seconds=0.2))
    line.on(Received(1, b"STRT P_1"))
    line.on(Received(-1, b"CARD C_Q"))
    line.now = 0.1
    line.on(Received(-1, b"ACTN"))
    assert line.until(1.0) == [(pytest.approx(0.3), Send(1, b"CARD C_QACTN"))]


@pytest.mark.parametrize(
    ("after", "left", "kept"),
    [
        (1, [Send(-1, b"STRT P_1"), Drop(1), Drop(-1)], []),
        (2, [Send(-1, b"STRT P_1DISC"), Drop(1), Drop(-1)], []),
        (3, [Send(-1, b"STRT P_1DISC")], [Send(1, b"CARD C_Q"), Drop(1), Drop(-1)]),
    ],
)
def test_a_connection_is_cut_right_behind_a_message(after: int, left: list[Any], kept: list[Any]) -> None:
    line = RelayFixture(cut_after=after)
    assert line.on(Received(1, b"STRT P_1DISC")) == left
    assert line.on(Received(-1, b"CARD C_QDISC")) == kept
    line.on(Left(1, "closed"))
    line.on(Left(-1, "closed"))
    ended = line.news[-1]
    assert isinstance(ended, ConnectionEnded)
    assert ended.connection.note == f"cut after {after} messages"
    assert len(ended.connection.conversation.lines) == after
    assert line.faults == []
    assert line.relay.deadline is None


def test_what_waits_is_bounded() -> None:
    line = RelayFixture(to_house=Delivery(delay_seconds=60.0))
    assert line.on(Received(1, bytes(MAX_BUFFER_BYTES))) == []
    assert line.on(Received(1, b"!")) == [Drop(1), Drop(-1)]
    line.on(Left(1))
    line.on(Left(-1))
    ended = line.news[-1]
    assert isinstance(ended, ConnectionEnded)
    assert ended.connection.note == f"found more than {MAX_BUFFER_BYTES} bytes that wait for one end"
    assert line.said == []


def test_when_the_relay_closes_every_connection_does() -> None:
    line = RelayFixture()
    assert line.on(Closing()) == []
    assert line.on(Closing(is_final=True)) == [Drop(1), Drop(-1)]
    assert line.on(Received(-1, b"CARD C_Q")) == []


@given(
    chop=st.integers(0, 5),
    delay=st.sampled_from([0.0, 0.25]),
    gather=st.sampled_from([0.0, 0.5]),
    came=st.lists(st.tuples(st.binary(min_size=1, max_size=9), st.sampled_from([0.0, 0.125, 1.0])), max_size=8),
)
def test_whatever_the_manner_every_byte_leaves_in_its_order(
    chop: int, delay: float, gather: float, came: list[tuple[bytes, float]]
) -> None:
    way = Outbox(Delivery(chop, delay, gather))
    now, left = 0.0, []
    for data, pause in came:
        way.push(data, now)
        end = now + pause
        while way.deadline is not None and way.deadline <= end:
            now = max(now, way.deadline)
            left += [(now, piece) for piece in way.pop_due(now)]
        now = end
    while way.deadline is not None:
        now = max(now, way.deadline)
        left += [(now, piece) for piece in way.pop_due(now)]
    assert b"".join(piece for _, piece in left) == b"".join(data for data, _ in came)
    assert way.waiting_bytes == 0
    assert not chop or all(len(piece) <= chop for _, piece in left)
    assert all(later - sooner >= delay for (sooner, _), (later, _) in pairwise(left))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "client says",
                "house says",
                "client ceases",
                "house ceases",
                "client leaves",
                "house leaves",
                "time passes",
            ]
        ),
        st.sampled_from([b"STRT P_1", b"CARD C_Q", b"ACTN BET", b"DISC", b"S", b"\0?", b"FAIL W_A", b"STRT P_2ACTN C"]),
    ),
    max_size=14,
)
MANNERS = st.builds(Delivery, st.integers(0, 3), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 0.7]))


class Board(RelayFixture):
    """A line whose effects are performed as a switchboard would: who is `here` may be spoken to and may speak."""

    def __init__(self, **manner: Any) -> None:
        super().__init__(answered=False, **manner)
        self.here = {1}
        self.gone: set[int] = set()
        self.quiet: set[int] = set()
        self.told: set[int] = set()
        self.sent = {1: b"", -1: b""}
        self.heard = {1: b"", -1: b""}

    def do(self, effects: list[Effect[bytes]]) -> None:
        for effect in effects:
            match effect:
                case Send(peer, data):
                    assert peer in self.here - self.told
                    self.heard[peer] += data
                case EndOutput(peer):
                    assert peer in self.here - self.told
                    self.told.add(peer)
                case Drop(peer):
                    self.here.remove(peer)

    def says(self, peer: int, data: bytes) -> None:
        if peer in self.here - self.quiet:
            self.sent[peer] += data
            self.do(self.on(Received(peer, data)))

    def ceases(self, peer: int) -> None:
        if peer in self.here - self.quiet:
            self.quiet.add(peer)
            self.do(self.on(EndOfInput(peer)))

    def leaves(self, peer: int) -> None:
        if peer not in self.gone:
            self.gone.add(peer)
            self.here.discard(peer)
            self.do(self.on(Left(peer)))

    def passes(self, seconds: float) -> None:
        self.do([effect for _, effect in self.until(self.now + seconds)])


@given(steps=STEPS, answer=st.integers(0, 8), to_house=MANNERS, to_client=MANNERS, cut=st.none() | st.integers(1, 4))
def test_effects_only_address_connected_ends_and_everything_ends_once(
    steps: list[tuple[str, bytes]], answer: int, to_house: Delivery, to_client: Delivery, cut: int | None
) -> None:
    board = Board(to_house=to_house, to_client=to_client, cut_after=cut)
    for number, (deed, data) in enumerate([*steps, ("client leaves", b""), ("house leaves", b"")]):
        if number == answer and -1 not in board.gone:
            board.here.add(-1)
            board.do(board.on(Joined(-1, TARGET)))
        side = 1 if deed.startswith("client") else -1
        if deed.endswith("says"):
            board.says(side, data)
        elif deed.endswith("ceases"):
            board.ceases(side)
        elif deed.endswith("leaves"):
            board.leaves(side)
        else:
            board.passes(1.0)
    board.passes(100.0)
    assert board.sent[1].startswith(board.heard[-1])
    assert board.sent[-1].startswith(board.heard[1])
    assert [type(news) for news in board.news].count(ConnectionEnded) == 1
    assert sorted(news.side for news in board.news if isinstance(news, SideClosed)) == [HOUSE, CLIENT]
    assert board.relay.deadline is None


# Through real sockets.


async def opened(relay: Callable[[tuple[str, int]], Relay]) -> tuple[Any, Any, tuple[str, int]]:
    """A house of Kuhn poker, and a relay before it: both boards, and where the relay is."""
    patience = Timeouts()
    hall = Hall(
        ROOM.house(ROOM.settings(), patience, False),
        dealer_factory(lambda table: derive_server_seed(7, "kuhn", table)),
        patience.shortest,
    )
    house = Endpoint(hall, lambda: ROOM.codec(False, None), SilentLogger())
    target = await house.listen("127.0.0.1", 0)
    board = relay_endpoint(relay(target), close_timeout=0.5)
    return house, board, await board.listen("127.0.0.1", 0)


@pytest.mark.parametrize("loop", LOOPS)
def test_both_directions_close_one_by_one_on_real_sockets(loop: str) -> None:
    news: list[TapEvent] = []

    async def house(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == b"STRT P_1"
        writer.write(b"CARD C_Q")
        writer.write_eof()
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(house, "127.0.0.1", 0)
        relay = Relay(server.sockets[0].getsockname(), lambda: Conversation(ROOM), news.append)
        board = relay_endpoint(relay, close_timeout=0.5)
        reader, writer = await asyncio.open_connection(*await board.listen("127.0.0.1", 0))
        writer.write(b"STRT P_1")
        writer.write_eof()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            assert await reader.read() == b"CARD C_Q"
            writer.close()
            board.halt(final=False)
            await board.wait_drained()
        server.close()
        await server.wait_closed()

    run = Run(LOOPS[loop])
    run(story())
    assert run.faults == []
    assert [type(item) for item in news][-1] is ConnectionEnded
    assert [item.faults for item in news if isinstance(item, BytesRelayed | SideClosed) and item.faults] == []


@pytest.mark.extended
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("manner", [Delivery(), Delivery(max_piece_bytes=1), Delivery(gather_seconds=0.01)])
def test_games_are_played_through_a_relay_on_real_sockets(loop: str, manner: Delivery) -> None:
    news: list[TapEvent] = []

    async def story() -> None:
        house, board, (host, port) = await opened(
            lambda target: Relay(target, lambda: Conversation(ROOM), news.append, to_house=manner, to_client=manner)
        )
        luck = FairDealer(derive_server_seed(3, "relay", 1)).luck
        tally = await play_games(lambda: GameClient(ROOM, host, port), bot_factory(ROOM.bots, "random")(), luck, 30)
        assert tally.fault is None
        assert len(tally.nets) == 30
        for each in (board, house):
            each.halt(final=True)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await each.wait_drained()

    run = Run(LOOPS[loop])
    run(story())
    assert run.faults == []
    assert [
        fault for item in news if isinstance(item, BytesRelayed | SideClosed | SilenceFound) for fault in item.faults
    ] == []
    ended = [item.connection for item in news if isinstance(item, ConnectionEnded)]
    assert sum(passage.conversation.referee.finished_count for passage in ended) == 30


def test_forgotten_lines_and_faults_are_not_kept() -> None:
    line = RelayFixture()
    for _ in range(1000):
        line.on(Received(1, b"ACTN BET"))
        line.on(Received(-1, b"FAIL W_A"))
        for news in line.news:
            news.connection.conversation.forget()
        line.news.clear()
    conversation = line.relay._pipes[1].connection.conversation
    assert (conversation.lines, conversation.faults) == ([], [])
    assert conversation.line_count == 2000
    assert len(conversation.violation_counts) <= 2
