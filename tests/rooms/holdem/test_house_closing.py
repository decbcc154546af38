"""Tests of the closing of a hold'em house, and of the order of its effects."""

from croupier.core.session import Commit, HandFinished, Received, Reveal, TableChanged
from croupier.rooms.holdem.wire import PLAYER_LEFT, Act, Join, Open
from tests.rooms.holdem.house_fixture import HouseFixture, refused

# Closing


def test_a_closing_house_refuses_joins_and_begins_no_hand() -> None:
    """holdem-3.15"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.close()
    assert refused(fixture.join("cat")) == (503, "holdem-3.15")
    assert refused(fixture.request(Open("cat"))) == (503, "holdem-3.15")
    assert refused(fixture.join("ann")) == (409, "holdem-3.7")
    fixture.play("ann 10, bob 20, ann fold")
    assert fixture.nets == [(-20, 20)]
    assert (fixture.turn(), fixture.chips()) == ("", {"ann": 9980, "bob": 10_020})
    assert refused(fixture.bet("bob", 0)) == (403, "holdem-4.13")
    assert fixture.leave("ann") == PLAYER_LEFT
    fixture.close(final=True)
    assert fixture.chips() == {"bob": 10_020}


def test_turns_time_out_in_a_closing_house() -> None:
    """holdem-3.15, holdem-4.16"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.close()
    fixture.wait(15)
    assert fixture.chips() == {"bob": 10_010}


def test_a_hand_unfinished_at_the_final_close_is_voided() -> None:
    """holdem-3.15"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.play("ann 90")
    fixture.facts.clear()
    fixture.close(final=True)
    assert fixture.chips() == {"ann": 10_000, "bob": 10_000}
    assert (fixture.turn(), fixture.pots()) == ("", [(0, "")])
    assert fixture.json_view("ann")["cards"] == {"hole": [], "flop": None, "turn": None, "river": None}
    assert [type(fact) for fact in fixture.facts] == [HandFinished, Reveal, TableChanged]
    assert fixture.nets == [(0, 0)]
    assert fixture.table().hands == {}
    fixture.wait(1000)
    assert fixture.chips() == {"ann": 10_000, "bob": 10_000}


def test_a_voided_hand_refunds_players_who_left() -> None:
    """holdem-3.15"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.join("cat")
    fixture.play("ann fold, bob 40")
    fixture.leave("bob")
    fixture.close(final=True)
    assert fixture.chips() == {"ann": 9990, "cat": 10_000}
    assert fixture.nets == [(-10, 10), (0, 0, 0)], "bob, who left, gets 40 chips back"


def test_a_finished_hand_shown_during_the_final_close_stands() -> None:
    """holdem-3.15"""
    fixture = HouseFixture(pause_seconds=5.0)
    fixture.join("ann", "bob")
    fixture.play("ann fold")
    fixture.close()
    assert fixture.states() == {"ann": "folded", "bob": "called"}
    fixture.close(final=True)
    assert fixture.nets == [(-10, 10)]
    assert fixture.chips() == {"ann": 9990, "bob": 10_010}
    assert fixture.states() == {"ann": "active", "bob": "active"}


def test_queued_players_are_seated_at_the_final_close() -> None:
    fixture = HouseFixture(pause_seconds=5.0, seats=2)
    game = fixture.table().guid
    fixture.join("ann", "bob", "cat", game=game)
    fixture.play("ann fold", game)
    fixture.leave("ann", game)
    fixture.close(final=True)
    assert fixture.chips(game) == {"bob": 10_010, "cat": 10_000}


# Effects


def test_effects_precede_the_response_with_table_changed_last() -> None:
    fixture = HouseFixture()
    game = fixture.table().guid
    fixture.join("ann")
    effects = fixture.house.on(Received(7, Join("bob", game)), 0.0)
    assert [type(effect).__name__ for effect in effects] == ["Commit", "TableChanged", "Send"]
    guid = fixture.house.guid_of("ann")
    effects = fixture.house.on(Received(8, Act("ann", game, guid, 0)), 0.0)
    assert [type(effect).__name__ for effect in effects] == ["HandFinished", "Reveal", "Commit", "TableChanged", "Send"]


def test_hands_are_numbered_by_the_house_not_by_the_table() -> None:
    fixture = HouseFixture()
    for user in ("ann", "bob", "cat"):
        fixture.join("dan", game=fixture.open(user))
    assert [fact.peer for fact in fixture.facts if isinstance(fact, Commit)] == [1, 2, 3]


def test_game_versions_increase_by_one() -> None:
    """holdem-9.1"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.play("ann 10, bob 0, bob 20, ann 40, bob fold")
    versions = [version for _, version in fixture.versions]
    assert versions == [*range(2, 9)]
    assert fixture.table().version == 8
