"""Tests of the seat set tables."""

from croupier.rooms.holdem.engine.seat_sets import ALL_SEATS, HAS_SEVERAL, NEXT_IN_SET, SEAT_BITS, SEATS_IN_SET
from croupier.rooms.holdem.engine.stakes import MAX_SEATS


def members(seats: int) -> list[int]:
    return [seat for seat in range(MAX_SEATS) if seats >> seat & 1]


def test_seats_in_set_are_in_ascending_order() -> None:
    assert [list(seats) for seats in SEATS_IN_SET] == [members(seats) for seats in range(ALL_SEATS + 1)]


def test_one_element_sets_and_set_sizes_are_right() -> None:
    assert [members(seats) for seats in SEAT_BITS] == [[seat] for seat in range(MAX_SEATS)]
    assert [*HAS_SEVERAL] == [len(members(seats)) > 1 for seats in range(ALL_SEATS + 1)]


def test_next_in_set_is_the_first_member_clockwise() -> None:
    for seats in range(1, ALL_SEATS + 1):
        for seat in range(MAX_SEATS):
            round_table = [(seat + step) % MAX_SEATS for step in range(1, MAX_SEATS + 1)]
            assert NEXT_IN_SET[seats][seat] == next(other for other in round_table if seats >> other & 1)


def test_a_single_seat_is_next_after_itself() -> None:
    for seat in range(MAX_SEATS):
        assert NEXT_IN_SET[1 << seat][seat] == seat


def test_the_empty_set_can_be_looked_up() -> None:
    assert SEATS_IN_SET[0] == ()
    assert len(NEXT_IN_SET[0]) == MAX_SEATS
