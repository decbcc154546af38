"""Alarms ring in order, once, and only if they are neither removed nor superseded."""

from croupier.core.alarms import Alarms


def test_the_earliest_alarm_of_a_key_rings_once() -> None:
    alarms = Alarms[str]()
    assert alarms.next_at is None
    for due in (5.0, 3.0, 4.0):
        alarms.set("a", due)
    alarms.set("b", 1.0)
    assert alarms.next_at == 1.0
    assert [*alarms.ring(3.5)] == [(1.0, "b"), (3.0, "a")]
    assert [*alarms.ring(9.0)] == []


def test_an_alarm_that_is_removed_does_not_ring() -> None:
    alarms = Alarms[str]()
    alarms.set("a", 1.0)
    alarms.set("b", 2.0)
    alarms.remove("a")
    alarms.remove("a")
    assert [*alarms.ring(9.0)] == [(2.0, "b")]
    alarms.set("c", 3.0)
    alarms.clear()
    assert alarms.next_at is None


def test_an_alarm_that_is_set_while_others_ring_rings_in_its_turn() -> None:
    alarms = Alarms[int]()
    alarms.set(0, 0.0)
    rung = []
    for due, key in alarms.ring(5.0):
        rung.append((due, key))
        alarms.set(key + 1, due + 2.0)
    assert rung == [(0.0, 0), (2.0, 1), (4.0, 2)]
    assert alarms.next_at == 6.0


def test_outdated_entries_are_pruned() -> None:
    alarms = Alarms[int]()
    for number in range(10_000):
        alarms.set(number, float(number))
        alarms.remove(number)
    assert len(alarms._heap) < 100
