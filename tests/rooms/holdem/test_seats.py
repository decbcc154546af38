"""Tests of the seats of a table, its queue, and the button."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from croupier.rooms.holdem.table.register import Register
from croupier.rooms.holdem.table.seats import Participant, Seats


def seats_of(chairs: int) -> Seats:
    return Seats("game", chairs, 100, Register())


def add_players(seats: Seats, *users: str) -> dict[str, Participant]:
    return {user: seats.add(user, f"guid of {user}") for user in users}


def names(participants: list[Participant]) -> str:
    return " ".join(participant.user for participant in participants)


def button(seats: Seats) -> tuple[str, str]:
    """Move the button for the next hand of all seated players. Return the names of the button and the big blind."""
    dealt = seats.seated_participants
    place = seats.pass_button(dealt)
    return dealt[place].user, dealt[(place + (1 if len(dealt) == 2 else 2)) % len(dealt)].user


def test_a_new_player_takes_the_first_free_seat() -> None:
    """holdem-3.5"""
    seats = seats_of(4)
    players = add_players(seats, "ann", "bob", "cat")
    assert [participant.chair for participant in players.values()] == [0, 1, 2]
    seats.remove(players["bob"])
    assert seats.add("dan", "d").chair == 1
    assert seats.add("eve", "e").chair == 3
    assert names(seats.seated_participants) == "ann dan cat eve"
    assert {participant.chips for participant in seats.seated_participants} == {100}


def test_the_queue_is_served_in_order() -> None:
    """holdem-3.1, holdem-3.6, holdem-3.9"""
    seats = seats_of(2)
    players = add_players(seats, "ann", "bob", "cat", "dan", "eve")
    assert names(seats.seated_participants) == "ann bob"
    assert [participant.chips for participant in players.values()] == [100, 100, 0, 0, 0]
    seats.remove(players["ann"])
    assert not seats.has_free_seat
    assert seats.add("fay", "f").chair is None
    seats.fill_from_queue()
    assert names(seats.seated_participants) == "cat bob"
    seats.remove(players["dan"])
    for user in ("cat", "bob"):
        seats.remove(players[user])
    seats.fill_from_queue()
    assert names(seats.seated_participants) == "eve fay"


def test_a_seat_is_free_if_unoccupied_and_not_waited_for() -> None:
    """holdem-3.1"""
    seats = seats_of(2)
    ann, bob, cat = add_players(seats, "ann", "bob", "cat").values()
    assert (len(seats.participants), seats.has_free_seat) == (3, False)
    seats.remove(ann)
    assert (len(seats.participants), seats.has_free_seat) == (2, False)
    seats.remove(cat)
    assert (len(seats.participants), seats.has_free_seat) == (1, True)
    seats.remove(bob)
    assert (len(seats.participants), seats.has_free_seat) == (0, True)


def test_players_are_found_by_name_and_guid_until_they_leave() -> None:
    seats = seats_of(2)
    ann, _, cat = add_players(seats, "ann", "bob", "cat").values()
    assert seats.by_user("ann") is seats.by_guid("guid of ann") is ann
    assert seats.by_user("cat") is seats.by_guid("guid of cat") is cat
    seats.remove(cat)
    assert seats.by_user("cat") is seats.by_guid("guid of cat") is None
    seats.remove(ann)
    assert ann.chair is seats.by_user("ann") is None


def test_the_button_starts_at_the_first_seat_and_moves_clockwise() -> None:
    """holdem-6.2, holdem-6.3"""
    seats = seats_of(4)
    add_players(seats, "ann", "bob", "cat", "dan")
    assert [button(seats) for _ in range(5)] == [
        ("ann", "cat"),
        ("bob", "dan"),
        ("cat", "ann"),
        ("dan", "bob"),
        ("ann", "cat"),
    ]


def test_two_players_alternate_the_button() -> None:
    """holdem-6.4"""
    seats = seats_of(10)
    add_players(seats, "ann", "bob")
    assert [button(seats) for _ in range(3)] == [("ann", "bob"), ("bob", "ann"), ("ann", "bob")]


def test_the_button_skips_empty_seats() -> None:
    """holdem-6.2"""
    seats = seats_of(5)
    players = add_players(seats, "ann", "bob", "cat", "dan", "eve")
    assert button(seats) == ("ann", "cat")
    seats.remove(players["bob"])
    assert button(seats) == ("cat", "eve")
    seats.remove(players["cat"])
    assert button(seats) == ("dan", "ann")
    seats.add("fay", "f")
    assert button(seats) == ("eve", "fay")


def test_when_three_players_become_two_the_big_blind_gets_the_button() -> None:
    """holdem-6.2: otherwise a remaining player would post it twice in a row."""
    for gone, expected in (("ann", ("cat", "bob")), ("bob", ("cat", "ann")), ("cat", ("bob", "ann"))):
        seats = seats_of(3)
        players = add_players(seats, "ann", "bob", "cat")
        assert button(seats) == ("ann", "cat")
        seats.remove(players[gone])
        assert button(seats) == expected


def test_a_new_player_does_not_make_the_big_blind_pay_twice() -> None:
    """holdem-6.2"""
    seats = seats_of(4)
    players = add_players(seats, "ann", "bob", "cat", "dan")
    seats.remove(players["bob"])
    seats.remove(players["cat"])
    assert button(seats) == ("ann", "dan")
    add_players(seats, "eve", "fay")
    assert names(seats.seated_participants) == "ann eve fay dan"
    assert button(seats) == ("fay", "ann")


@given(st.integers(2, 6), st.lists(st.integers(0, 5), max_size=40))
def test_no_player_posts_two_big_blinds_in_a_row(chairs: int, moves: list[int]) -> None:
    """holdem-6.2, also if players join and leave between the hands."""
    seats = seats_of(chairs)
    add_players(seats, "0", "1")
    last = ""
    for number, move in enumerate(moves):
        participant = seats.by_user(str(move))
        if participant is None:
            seats.add(str(move), f"{move} in {number}")
        elif len(seats.seated_participants) > 2:
            seats.remove(participant)
        seats.fill_from_queue()
        _, blind = button(seats)
        assert blind != last
        last = blind


def test_players_post_equally_many_big_blinds() -> None:
    """holdem-6.3"""
    seats = seats_of(6)
    add_players(seats, *"abcdef")
    posted = Counter(button(seats)[1] for _ in range(60))
    assert set(posted.values()) == {10}
