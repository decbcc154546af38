"""The hall: private tables, lazy but punctual deadlines, and no memory of peers that left."""

from collections.abc import Callable, Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.dealer import FAIR_ALGORITHM, FairDealer
from croupier.core.errors import Violation
from croupier.core.hall import Hall
from croupier.core.session import (
    Closing,
    Commit,
    Drop,
    Effect,
    Event,
    Joined,
    Left,
    Malformed,
    Peer,
    Received,
    Reveal,
    Send,
    Settle,
    Submitted,
    TimedOut,
)


class Table:
    """A table that takes its deadline from each message, and sends the time when it times out."""

    def __init__(self, peer: Peer, first: float | None) -> None:
        self.peer = peer
        self.deadline: float | None = None
        self._first = first

    def on(self, event: Event[float | None], now: float) -> Sequence[Effect[object]]:
        match event:
            case Joined():
                self.deadline = self._first
                return [Send(self.peer, "welcome")]
            case Received(_, deadline):
                self.deadline = deadline
                return []
            case TimedOut():
                self.deadline = None
                return [Send(self.peer, now)]
            case Left():
                return [Settle(self.peer, 1, 0, 0, None)]
            case _:
                self.deadline = None
                return [Drop(self.peer)]


def seed(peer: Peer) -> bytes:
    return sha256(bytes([peer % 256])).digest()


SHORTEST_TIMEOUT = 3.0


def hall(first: float | None = None, open_table: Callable[..., Table] | None = None) -> Hall[float | None, object]:
    make_table = open_table or (lambda peer, dealer: Table(peer, first))
    return Hall(make_table, lambda peer: FairDealer(seed(peer)), SHORTEST_TIMEOUT)


def test_promise_precedes_the_first_message_and_seed_follows_the_last() -> None:
    room = hall()
    assert room.on(Joined(7), 0.0) == [Commit(7, FAIR_ALGORITHM, sha256(seed(7)).digest()), Send(7, "welcome")]
    assert room.on(Left(7), 0.0) == [Settle(7, 1, 0, 0, None), Reveal(7, FAIR_ALGORITHM, seed(7), b"", 0)]


def test_length_of_the_hall_is_the_number_of_peers() -> None:
    room = hall()
    for peer in range(1, 5):
        room.on(Joined(peer), 0.0)
    room.on(Left(2), 0.0)
    assert len(room) == 3


@pytest.mark.parametrize(
    "event", [Received(2, None), Malformed(2, Violation("x-1.1", "a", "b")), Left(2)], ids=lambda e: type(e).__name__
)
def test_event_goes_only_to_the_table_of_its_peer(event: Event[float | None]) -> None:
    received: list[tuple[Peer, object]] = []

    class RecordingTable(Table):
        def on(self, event: Event[float | None], now: float) -> Sequence[Effect[object]]:
            received.append((self.peer, event))
            return super().on(event, now)

    room = hall(open_table=lambda peer, dealer: RecordingTable(peer, None))
    for peer in (1, 2, 3):
        room.on(Joined(peer), 0.0)
    received.clear()
    room.on(event, 1.0)
    assert received == [(2, event)]


def test_closing_goes_to_all_tables() -> None:
    room = hall(10.0)
    for peer in (1, 2, 3):
        room.on(Joined(peer), 0.0)
    assert room.on(Closing(), 0.0) == [Drop(1), Drop(2), Drop(3)]


def test_submitted_event_is_a_bug_of_the_caller() -> None:
    with pytest.raises(AssertionError, match="allowed: events about peers"):
        hall().on(Submitted("x"), 0.0)


def test_hall_has_no_deadline_if_its_tables_have_none() -> None:
    room = hall()
    assert room.deadline is None
    room.on(Joined(1), 0.0)
    assert room.deadline is None
    assert room.on(TimedOut(), 100.0) == []


def test_deadline_that_moves_forward_is_met() -> None:
    room = hall(100.0)
    room.on(Joined(1), 0.0)
    room.on(Received(1, 5.0), 1.0)
    assert room.on(TimedOut(), SHORTEST_TIMEOUT) == [], "the hall only looks at the deadline"
    assert room.deadline == 5.0
    assert room.on(TimedOut(), 5.0) == [Send(1, 5.0)]
    assert room.on(TimedOut(), 100.0) == [], "the former deadline is forgotten"


def test_postponed_deadline_does_not_time_out_early() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Received(1, 50.0), 1.0)
    assert room.on(TimedOut(), 10.0) == []
    assert room.on(TimedOut(), 49.9) == []
    assert room.on(TimedOut(), 50.0) == [Send(1, 50.0)]
    assert room.deadline is None


def test_cancelled_deadline_does_not_time_out() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Received(1, None), 1.0)
    assert room.on(TimedOut(), 10.0) == []
    assert room.deadline is None


def test_table_of_a_peer_that_left_does_not_time_out() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Joined(2), 5.0)
    room.on(Left(1), 6.0)
    assert room.on(TimedOut(), 10.0) == [Send(2, 10.0)]
    assert room.deadline is None


def test_returning_peer_does_not_get_the_deadline_of_its_former_table() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Left(1), 1.0)
    room.on(Joined(1), 2.0)
    room.on(Received(1, 90.0), 2.0)
    assert room.on(TimedOut(), 10.0) == []
    assert room.on(TimedOut(), 90.0) == [Send(1, 90.0)]


schedules = st.lists(
    st.one_of(
        st.tuples(st.just("joins"), st.integers(1, 4)),
        st.tuples(st.sampled_from(["sends", "sends directly"]), st.integers(1, 4), st.integers(3, 60).map(float)),
        st.tuples(st.just("waits"), st.integers(0, 9).map(float)),
        st.tuples(st.just("leaves"), st.integers(1, 4)),
    ),
    max_size=60,
)


@given(schedules)
def test_every_table_times_out_exactly_at_its_deadline(schedule: list[tuple[object, ...]]) -> None:
    """Against a model that checks every table at every step; the caller sends TimedOut whenever the deadline passes."""
    room, now = hall(20.0), 0.0
    due: dict[Peer, float | None] = {}
    for step in schedule:
        match step:
            case "joins", peer if peer not in due:
                room.on(Joined(peer), now)
                due[peer] = 20.0
            case "sends", peer, seconds if due.get(peer) is not None:
                room.on(Received(peer, now + seconds), now)
                due[peer] = now + seconds
            case "sends directly", peer, seconds if due.get(peer) is not None:
                room.table(peer).on(Received(peer, now + seconds), now)
                due[peer] = now + seconds
            case "leaves", peer if peer in due:
                room.on(Left(peer), now)
                del due[peer]
            case "waits", seconds:
                now += seconds
            case _:
                pass
        late = [peer for peer, deadline in due.items() if deadline is not None and deadline <= now]
        assert not late or (room.deadline is not None and room.deadline <= now), (
            "the deadline of the hall is not too late"
        )
        timed_out = []
        while room.deadline is not None and room.deadline <= now:
            timed_out += [effect.peer for effect in room.on(TimedOut(), now)]
        assert sorted(timed_out) == sorted(late)
        due |= dict.fromkeys(late)


class CountedPeer(int):
    """The number of a peer; the class counts the objects that are still referenced."""

    alive = 0

    def __new__(cls, number: int) -> "CountedPeer":
        cls.alive += 1
        return super().__new__(cls, number)

    def __del__(self) -> None:
        CountedPeer.alive -= 1


def test_memory_does_not_grow_while_peers_come_and_go() -> None:
    """Ten thousand peers, ten at a time, each with a deadline that never passes."""
    room, highest = hall(1e9), 0
    for number in range(1, 10_001):
        room.on(Joined(CountedPeer(number)), 0.0)
        if number > 10:
            room.on(Left(number - 10), 0.0)
        highest = max(highest, CountedPeer.alive)
    assert len(room) == 10
    assert highest < 200


def test_memory_does_not_grow_while_a_peer_postpones_its_deadline() -> None:
    room = hall(500.0)
    room.on(Joined(1), 0.0)
    for now in range(10_000):
        room.on(Received(1, now + 500.0), float(now))
        if room.deadline is not None and room.deadline <= now:
            assert room.on(TimedOut(), float(now)) == []
    assert len(room._alarms._heap) <= 2
