"""The house of hold'em when it closes, and the facts that it tells."""

from croupier.core.session import Commit, HandFinished, Received, Reveal, TableChanged
from croupier.rooms.holdem.wire import PLAYER_LEFT, Act, Join, Open
from tests.rooms.holdem.house_fixture import Parlour, refused

# The end.


def test_a_closing_house_refuses_joins_and_begins_no_hand() -> None:
    """holdem-3.15"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.halt()
    assert refused(parlour.join("cat")) == (503, "holdem-3.15")
    assert refused(parlour.ask(Open("cat"))) == (503, "holdem-3.15")
    assert refused(parlour.join("ann")) == (409, "holdem-3.7")
    parlour.play("ann 10, bob 20, ann fold")
    assert parlour.nets == [(-20, 20)]
    assert (parlour.turn(), parlour.chips()) == ("", {"ann": 9980, "bob": 10_020})
    assert refused(parlour.bet("bob", 0)) == (403, "holdem-4.13")
    assert parlour.leave("ann") == PLAYER_LEFT
    parlour.halt(final=True)
    assert parlour.chips() == {"bob": 10_020}


def test_turns_time_out_in_a_closing_house() -> None:
    """holdem-3.15, holdem-4.16"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.halt()
    parlour.wait(15)
    assert parlour.chips() == {"bob": 10_010}


def test_a_hand_unfinished_at_the_final_close_is_voided() -> None:
    """holdem-3.15"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.play("ann 90")
    parlour.facts.clear()
    parlour.halt(final=True)
    assert parlour.chips() == {"ann": 10_000, "bob": 10_000}
    assert (parlour.turn(), parlour.pots()) == ("", [(0, "")])
    assert parlour.sees("ann")["cards"] == {"hole": [], "flop": None, "turn": None, "river": None}
    assert [type(fact) for fact in parlour.facts] == [HandFinished, Reveal, TableChanged]
    assert parlour.nets == [(0, 0)]
    assert parlour.table().hands == {}
    parlour.wait(1000)
    assert parlour.chips() == {"ann": 10_000, "bob": 10_000}


def test_a_voided_hand_refunds_players_who_left() -> None:
    """holdem-3.15"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.join("cat")
    parlour.play("ann fold, bob 40")
    parlour.leave("bob")
    parlour.halt(final=True)
    assert parlour.chips() == {"ann": 9990, "cat": 10_000}
    assert parlour.nets == [(-10, 10), (0, 0, 0)], "he is told to have his 40 back"


def test_a_finished_hand_shown_during_the_final_close_stands() -> None:
    """holdem-3.15"""
    parlour = Parlour(pause_seconds=5.0)
    parlour.join("ann", "bob")
    parlour.play("ann fold")
    parlour.halt()
    assert parlour.states() == {"ann": "folded", "bob": "called"}
    parlour.halt(final=True)
    assert parlour.nets == [(-10, 10)]
    assert parlour.chips() == {"ann": 9990, "bob": 10_010}
    assert parlour.states() == {"ann": "active", "bob": "active"}


def test_queued_players_are_seated_at_the_final_close() -> None:
    parlour = Parlour(pause_seconds=5.0, seats=2)
    game = parlour.table().guid
    parlour.join("ann", "bob", "cat", game=game)
    parlour.play("ann fold", game)
    parlour.leave("ann", game)
    parlour.halt(final=True)
    assert parlour.chips(game) == {"bob": 10_010, "cat": 10_000}


# Facts.


def test_effects_precede_the_response_with_table_changed_last() -> None:
    parlour = Parlour()
    game = parlour.table().guid
    parlour.join("ann")
    effects = parlour.house.on(Received(7, Join("bob", game)), 0.0)
    assert [type(effect).__name__ for effect in effects] == ["Commit", "TableChanged", "Send"]
    guid = parlour.house.guid_of("ann")
    effects = parlour.house.on(Received(8, Act("ann", game, guid, 0)), 0.0)
    assert [type(effect).__name__ for effect in effects] == ["HandFinished", "Reveal", "Commit", "TableChanged", "Send"]


def test_hands_are_numbered_by_the_house_not_by_the_table() -> None:
    parlour = Parlour()
    for user in ("ann", "bob", "cat"):
        parlour.join("dan", game=parlour.open(user))
    assert [fact.peer for fact in parlour.facts if isinstance(fact, Commit)] == [1, 2, 3]


def test_game_versions_increase_by_one() -> None:
    """holdem-9.1"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.play("ann 10, bob 0, bob 20, ann 40, bob fold")
    versions = [version for _, version in parlour.versions]
    assert versions == [*range(2, 9)]
    assert parlour.table().version == 8
