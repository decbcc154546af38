"""The hall: every peer at its own table, alarms that are lazy and never late, and nothing kept of who has left."""

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
    """A table that sets its alarm to whatever it is told, and says when it rang."""

    def __init__(self, peer: Peer, first: float | None) -> None:
        self.peer = peer
        self.deadline: float | None = None
        self._first = first

    def on(self, event: Event[float | None], now: float) -> Sequence[Effect[object]]:
        match event:
            case Joined():
                self.deadline = self._first
                return [Send(self.peer, "welcome")]
            case Received(_, alarm):
                self.deadline = alarm
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


def hall(first: float | None = None, sit: Callable[..., Table] | None = None) -> Hall[float | None, object]:
    return Hall(sit or (lambda peer, dealer: Table(peer, first)), lambda peer: FairDealer(seed(peer)))


def test_a_promise_is_told_before_the_first_word_and_the_seed_after_the_last() -> None:
    room = hall()
    assert room.on(Joined(7), 0.0) == [Commit(7, FAIR_ALGORITHM, sha256(seed(7)).digest()), Send(7, "welcome")]
    assert room.on(Left(7), 0.0) == [Settle(7, 1, 0, 0, None), Reveal(7, FAIR_ALGORITHM, seed(7), b"", 0)]


def test_the_hall_knows_how_many_are_in_it() -> None:
    room = hall()
    for peer in range(1, 5):
        room.on(Joined(peer), 0.0)
    room.on(Left(2), 0.0)
    assert len(room) == 3


@pytest.mark.parametrize(
    "event", [Received(2, None), Malformed(2, Violation("x-1.1", "a", "b")), Left(2)], ids=lambda e: type(e).__name__
)
def test_an_event_goes_to_the_table_of_its_peer(event: Event[float | None]) -> None:
    heard: list[tuple[Peer, object]] = []

    class Ear(Table):
        def on(self, event: Event[float | None], now: float) -> Sequence[Effect[object]]:
            heard.append((self.peer, event))
            return super().on(event, now)

    room = hall(sit=lambda peer, dealer: Ear(peer, None))
    for peer in (1, 2, 3):
        room.on(Joined(peer), 0.0)
    heard.clear()
    room.on(event, 1.0)
    assert heard == [(2, event)]


def test_the_closing_of_the_room_is_told_to_all_tables() -> None:
    room = hall(10.0)
    for peer in (1, 2, 3):
        room.on(Joined(peer), 0.0)
    assert room.on(Closing(), 0.0) == [Drop(1), Drop(2), Drop(3)]


def test_what_only_a_player_hears_is_our_own_mistake() -> None:
    with pytest.raises(AssertionError, match="not for a hall"):
        hall().on(Submitted("x"), 0.0)


def test_without_alarms_the_hall_has_none() -> None:
    room = hall()
    assert room.deadline is None
    room.on(Joined(1), 0.0)
    assert room.deadline is None
    assert room.on(TimedOut(), 100.0) == []


def test_an_alarm_that_moves_forward_rings_in_time() -> None:
    room = hall(100.0)
    room.on(Joined(1), 0.0)
    room.on(Received(1, 5.0), 1.0)
    assert room.deadline == 5.0
    assert room.on(TimedOut(), 5.0) == [Send(1, 5.0)]
    assert room.on(TimedOut(), 100.0) == [], "the old one is forgotten"


def test_an_alarm_that_is_put_off_does_not_ring_early() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Received(1, 50.0), 1.0)
    assert room.on(TimedOut(), 10.0) == []
    assert room.deadline == 50.0
    assert room.on(TimedOut(), 49.9) == []
    assert room.on(TimedOut(), 50.0) == [Send(1, 50.0)]
    assert room.deadline is None


def test_an_alarm_that_is_called_off_does_not_ring() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Received(1, None), 1.0)
    assert room.on(TimedOut(), 10.0) == []
    assert room.deadline is None


def test_the_alarm_of_who_has_left_does_not_ring() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Joined(2), 5.0)
    room.on(Left(1), 6.0)
    assert room.on(TimedOut(), 10.0) == [Send(2, 10.0)]
    assert room.deadline is None


def test_a_peer_that_comes_back_does_not_hear_the_alarm_of_its_past() -> None:
    room = hall(10.0)
    room.on(Joined(1), 0.0)
    room.on(Left(1), 1.0)
    room.on(Joined(1), 2.0)
    room.on(Received(1, 90.0), 2.0)
    assert room.on(TimedOut(), 10.0) == []
    assert room.on(TimedOut(), 90.0) == [Send(1, 90.0)]


moments = st.one_of(st.none(), st.integers(0, 60).map(float))
evenings = st.lists(
    st.one_of(
        st.tuples(st.just("says"), st.integers(1, 4), moments),
        st.tuples(st.just("waits"), st.integers(0, 9).map(float)),
        st.tuples(st.just("leaves"), st.integers(1, 4)),
    ),
    max_size=60,
)


@given(evenings)
def test_every_table_is_rung_when_its_alarm_is_due_and_at_no_other_time(evening: list[tuple[object, ...]]) -> None:
    """Against a model that looks at every table every time; the shell rings the hall whenever its alarm is due."""
    room, now = hall(20.0), 0.0
    due: dict[Peer, float | None] = {}
    for step in evening:
        match step:
            case "says", peer, alarm if peer in due:
                room.on(Received(peer, alarm), now)
                due[peer] = alarm
            case "says", peer, _:
                room.on(Joined(peer), now)
                due[peer] = 20.0
            case "leaves", peer if peer in due:
                room.on(Left(peer), now)
                del due[peer]
            case "waits", seconds:
                now += seconds
            case _:
                pass
        late = [peer for peer, alarm in due.items() if alarm is not None and alarm <= now]
        assert not late or (room.deadline is not None and room.deadline <= now), "the hall asks to be rung in time"
        rung = []
        while room.deadline is not None and room.deadline <= now:
            rung += [effect.peer for effect in room.on(TimedOut(), now)]
        assert sorted(rung) == sorted(late)
        due |= dict.fromkeys(late)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9), st.integers(3, 30)), max_size=40))
def test_a_table_that_is_talked_to_directly_is_rung_in_time(talk: list[tuple[Peer, int, int]]) -> None:
    """The hall hears nothing of what is said, only that no alarm is ever put nearer than three seconds ahead."""

    class Steady(Table):
        def on(self, event: Event[float | None], now: float) -> Sequence[Effect[object]]:
            effects = super().on(event, now)
            self.deadline = now + 20.0 if self.deadline is None else self.deadline
            return effects

    room = Hall(lambda peer, dealer: Steady(peer, 20.0), lambda peer: FairDealer(seed(peer)), 3.0)
    for peer in (1, 2, 3):
        room.on(Joined(peer), 0.0)
    due, now = dict.fromkeys((1, 2, 3), 20.0), 0.0
    for speaker, pause, ahead in talk:
        now += pause
        rung = []
        while room.deadline is not None and room.deadline <= now:
            rung += [effect.peer for effect in room.on(TimedOut(), now) if isinstance(effect, Send)]
        late = [peer for peer, alarm in due.items() if alarm <= now]
        assert sorted(rung) == late
        due |= dict.fromkeys(late, now + 20.0)
        room.table(speaker).on(Received(speaker, now + ahead), now)
        due[speaker] = now + ahead


class Name(int):
    """The number of a peer, counted while anybody remembers it."""

    alive = 0

    def __new__(cls, number: int) -> "Name":
        cls.alive += 1
        return super().__new__(cls, number)

    def __del__(self) -> None:
        Name.alive -= 1


def test_nothing_grows_while_peers_come_and_go() -> None:
    """Ten thousand of them, ten at a time, each with an alarm that never rings."""
    room, most = hall(1e9), 0
    for number in range(1, 10_001):
        room.on(Joined(Name(number)), 0.0)
        if number > 10:
            room.on(Left(number - 10), 0.0)
        most = max(most, Name.alive)
    assert len(room) == 10
    assert most < 200


def test_nothing_grows_while_one_peer_puts_its_alarm_off() -> None:
    room = hall(500.0)
    room.on(Joined(1), 0.0)
    for now in range(10_000):
        room.on(Received(1, now + 500.0), float(now))
        if room.deadline is not None and room.deadline <= now:
            assert room.on(TimedOut(), float(now)) == []
    assert len(room._deadlines) <= 2
