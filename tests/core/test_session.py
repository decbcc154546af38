"""Patience: how long a peer may take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.session import Closing, Drop, Joined, Received, Send, Timeouts

times = st.integers(0, 10**6)


@given(times, times, times)
def test_without_a_limit_on_decisions_only_the_last_message_counts(heard: int, asked: int, idle: int) -> None:
    assert Timeouts(idle).deadline(heard, asked) == Timeouts(idle).deadline(heard, None) == heard + idle


@given(times, times, times, times)
def test_with_both_limits_whichever_ends_first_counts(heard: int, asked: int, idle: int, move: int) -> None:
    assert Timeouts(idle, move).deadline(heard, asked) == min(heard + idle, asked + move)


@given(times, times, times)
def test_between_decisions_their_limit_does_not_run(heard: int, idle: int, move: int) -> None:
    assert Timeouts(idle, move).deadline(heard, None) == heard + idle


def test_patience_lasts_500_seconds_unless_set() -> None:
    assert Timeouts().deadline(0.0, 0.0) == 500.0


def test_no_time_for_a_decision_is_not_the_same_as_no_limit() -> None:
    assert Timeouts(10.0, 0.0).deadline(5.0, 5.0) == 5.0


@given(st.floats(1, 1000), st.none() | st.floats(0.1, 2000), st.floats(0, 100), st.floats(0, 100))
def test_what_is_said_now_never_ends_patience_within_a_glance(
    idle: float, move: float | None, now: float, ago: float
) -> None:
    patience = Timeouts(idle, move)
    assert patience.deadline(now, now) >= now + patience.shortest
    assert patience.deadline(now, None) >= now + patience.shortest
    assert patience.deadline(now, now - ago) >= min(patience.deadline(now - ago, now - ago), now + patience.shortest)


@pytest.mark.parametrize(
    "fact", [Joined(1), Received(1, "x"), Send(1, "x"), Drop(1), Closing(), Timeouts()], ids=lambda f: type(f).__name__
)
def test_facts_are_values_that_nobody_changes(fact: object) -> None:
    name = type(fact).__struct_fields__[0]
    with pytest.raises(AttributeError):
        setattr(fact, name, 2)
    assert fact == type(fact)(*(getattr(fact, field) for field in type(fact).__struct_fields__))
