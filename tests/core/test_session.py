"""Timeouts of peers, and immutability of events and effects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.session import Closing, Drop, Joined, Received, Send, Timeouts

times = st.integers(0, 10**6)


@given(times, times, times)
def test_without_a_move_timeout_only_the_last_message_counts(
    last_received: int, decision_since: int, idle: int
) -> None:
    assert (
        Timeouts(idle).deadline(last_received, decision_since)
        == Timeouts(idle).deadline(last_received, None)
        == last_received + idle
    )


@given(times, times, times, times)
def test_with_both_timeouts_the_earlier_deadline_counts(
    last_received: int, decision_since: int, idle: int, move: int
) -> None:
    assert Timeouts(idle, move).deadline(last_received, decision_since) == min(
        last_received + idle, decision_since + move
    )


@given(times, times, times)
def test_move_timeout_does_not_run_between_decisions(last_received: int, idle: int, move: int) -> None:
    assert Timeouts(idle, move).deadline(last_received, None) == last_received + idle


def test_default_idle_timeout_is_500_seconds() -> None:
    assert Timeouts().deadline(0.0, 0.0) == 500.0


def test_move_timeout_of_0_differs_from_no_move_timeout() -> None:
    assert Timeouts(10.0, 0.0).deadline(5.0, 5.0) == 5.0


@given(st.floats(1, 1000), st.none() | st.floats(0.1, 2000), st.floats(0, 100), st.floats(0, 100))
def test_deadline_after_a_message_is_never_nearer_than_the_shortest_timeout(
    idle: float, move: float | None, now: float, ago: float
) -> None:
    timeouts = Timeouts(idle, move)
    assert timeouts.deadline(now, now) >= now + timeouts.shortest
    assert timeouts.deadline(now, None) >= now + timeouts.shortest
    assert timeouts.deadline(now, now - ago) >= min(timeouts.deadline(now - ago, now - ago), now + timeouts.shortest)


@pytest.mark.parametrize(
    "fact", [Joined(1), Received(1, "x"), Send(1, "x"), Drop(1), Closing(), Timeouts()], ids=lambda f: type(f).__name__
)
def test_events_and_effects_are_immutable(fact: object) -> None:
    name = type(fact).__struct_fields__[0]
    with pytest.raises(AttributeError):
        setattr(fact, name, 2)
    assert fact == type(fact)(*(getattr(fact, field) for field in type(fact).__struct_fields__))
