"""Following hold'em tables: streams and responses may overtake each other."""

from msgspec.structs import replace

from croupier.conformance.tap.follow_tables import FollowedTable, FollowedTables
from croupier.conformance.tap.shown_turns import contradiction
from croupier.rooms.holdem.wire import Act, Cards, Game, Player, Pot, Turn

FIRST_HAND = Game(
    "game",
    [Player("ann", "ann", "active", 9990, 10, True), Player("bob", "bob", "active", 9980, 20, False)],
    Turn("ann", 10, 20, 20, "2026-01-01T00:00:15Z"),
    Cards(()),
    [Pot(30, ["ann", "bob"])],
)
"""The first hand before any act."""


def test_stream_shows_a_player_before_the_join_response() -> None:
    table = FollowedTable()
    table.start_following()
    table.on_join("ann", 0.0, is_certain=True)
    assert table.on_view(FIRST_HAND, "ann", 0.1, 0.1, None, is_certain=False) == ()
    assert table.games == 0
    table.on_join("bob", 0.2, is_certain=True)
    assert table.games == 1
    assert table.referee is not None
    assert table.referee.player_to_act() == "ann"


def test_view_that_was_overtaken_by_an_act_is_not_taken_for_the_next_hand() -> None:
    table = FollowedTable()
    table.start_following()
    table.on_join("ann", 0.0, is_certain=True)
    table.on_join("bob", 0.1, is_certain=True)
    table.on_view(FIRST_HAND, "ann", 0.2, 0.2, None, is_certain=True)
    table.on_act(Act("ann", "game", "ann", 1, 10), 201, 0.4, 0.5, is_certain=True)
    assert table.on_view(FIRST_HAND, "bob", 0.3, 0.6, None, is_certain=False) == ()
    table.on_leave("bob", 0.7, is_certain=True)
    idle = Game("game", [Player("ann", "ann", "folded", 10020, 0, False)], Turn("", 0, 0, 0, ""), Cards(()), [])
    assert table.on_view(idle, "ann", 0.8, 0.8, None, is_certain=True) == ()
    table.on_join("bob", 0.9, is_certain=True)
    second = Game(
        "game",
        [Player("ann", "ann", "active", 10000, 20, False), Player("bob", "bob", "active", 9990, 10, True)],
        Turn("bob", 10, 20, 20, "2026-01-01T00:00:30Z"),
        Cards(()),
        [Pot(30, ["ann", "bob"])],
    )
    assert table.on_view(second, "", 1.0, 1.0, None, is_certain=True) == ()
    assert table.referee is not None
    assert table.games == 2


def test_table_that_shows_players_before_they_play_is_followed_after_an_uncertain_join() -> None:
    """holdem-5.20, which is tolerated"""
    table = FollowedTable()
    table.start_following()
    table.on_join("ann", 0.0, is_certain=True)
    table.on_join("bob", 0.1, is_certain=True)
    table.on_view(FIRST_HAND, "", 0.2, 0.2, None, is_certain=True)
    table.on_act(Act("ann", "game", "ann", 0), 201, 0.3, 0.5, is_certain=True)
    table.on_join("cid", 0.6, is_certain=False)  # while ann has folded
    second = Game(
        "game",
        [
            Player("ann", "ann", "active", 9970, 20, False),
            Player("bob", "bob", "active", 10000, 10, True),
            Player("cid", "cid", "folded", 10000, 0, False),
        ],
        Turn("bob", 10, 20, 20, "2026-01-01T00:00:30Z"),
        Cards(()),
        [Pot(30, ["ann", "bob"])],
    )
    assert table.on_view(second, "", 0.7, 0.7, None, is_certain=True) == ()
    assert table.games == 2


def test_invalid_bet_after_a_right_view_alone_is_held_against_the_player() -> None:
    table = FollowedTable()
    table.start_following()
    table.on_join("ann", 0.0, is_certain=True)
    table.on_join("bob", 0.1, is_certain=True)
    act = Act("ann", "game", "ann", 1, 0)
    for shown in (FIRST_HAND, replace(FIRST_HAND, turn=replace(FIRST_HAND.turn, bet_to_player=10)), FIRST_HAND):
        found = table.on_view(shown, "", 0.2, 0.2, None, is_certain=True)
        invalid = table.judge_bet(act)
        assert [violation.clause for violation in found] == ([] if shown is FIRST_HAND else ["holdem-5.10"])
        assert (None if invalid is None else f"{invalid}") == (
            "holdem-4.10: found a bet of 0 by ann; allowed: 10 to call, 30 to 9990 to raise"
            if shown is FIRST_HAND
            else None
        )
        assert table.is_misleading is (shown is not FIRST_HAND)
    wrong = replace(FIRST_HAND, turn=replace(FIRST_HAND.turn, bet_to_player=10))
    assert table.on_view(wrong, "", 0.3, 0.3, None, is_certain=False) == ()
    assert table.judge_bet(act) is not None, "a stream may show an earlier state"
    assert table.on_view(wrong, "", 0.4, 9.0, None, is_certain=True) == ()
    assert table.judge_bet(act) is None, "the turn may be over"
    table.stop_following()
    assert table.is_misleading


def test_expiry_of_a_turn_does_not_change() -> None:
    table = FollowedTable()
    table.start_following()
    table.on_join("ann", 0.0, is_certain=True)
    table.on_join("bob", 0.1, is_certain=True)
    later = replace(FIRST_HAND, turn=replace(FIRST_HAND.turn, expiry="2026-01-01T00:00:16Z"))
    found = [table.on_view(shown, "", 0.2, 0.2, None, is_certain=True) for shown in (FIRST_HAND, FIRST_HAND, later)]
    assert [[str(violation) for violation in each] for each in found] == [
        [],
        [],
        ["holdem-5.11: found 2026-01-01T00:00:16Z; allowed: the same expiry as before, 2026-01-01T00:00:15Z"],
    ]
    assert table.on_view(later, "", 9.0, 9.0, None, is_certain=True) == (), "the turn may have timed out"


def test_act_is_out_of_turn_only_while_no_turn_may_have_been_shown() -> None:
    tables = FollowedTables()
    turns = tables.table("game").shown_turns
    bobs_turn = replace(FIRST_HAND, turn=replace(FIRST_HAND.turn, player_id="bob"))
    assert turns.broken_clause("ann") is None, "the tap has not seen the player join"
    turns.on_join("ann")
    assert turns.broken_clause("ann") == "holdem-4.13"
    turns.on_view(FIRST_HAND, "bob", 0.1)
    turns.on_view(bobs_turn, "ann", 0.2)
    assert turns.broken_clause("ann") is None, "the turn may have expired meanwhile"
    turns.on_refused_act("ann")
    assert turns.broken_clause("ann") is None
    turns.on_view(bobs_turn, "ann", 0.3)
    assert turns.broken_clause("ann") == "holdem-4.13", "the player has seen that it was too late"
    turns.on_view(FIRST_HAND, "ann", 0.3)
    turns.on_act("ann", 0.3)
    assert turns.broken_clause("ann") == "holdem-4.14"
    turns.on_view(FIRST_HAND, None, 0.5)
    turns.on_act("ann", 0.4)
    assert turns.broken_clause("ann") is None, "the turn was shown after the act was requested"
    turns.on_join("ann")
    tables.on_unread_games()
    assert turns.broken_clause("ann") is None


def test_folded_bet_is_held_against_a_player_by_what_it_was_shown() -> None:
    turns = FollowedTable().shown_turns
    bet = Act("ann", "game", "ann", 1, 20)
    found = "found a bet of 20 by ann, folded with the reason: too low; allowed:"
    assert f"{turns.judge_folded_bet(bet, 'too low')}" == f"holdem-4.7: {found} a valid bet"
    wrong = replace(FIRST_HAND, turn=replace(FIRST_HAND.turn, bet_to_player=10, minimum_raise=30))
    assert f"{contradiction(wrong)}" == "holdem-5.10: found bet_to_player 10; allowed: 20, the highest bet, or more"
    turns.on_view(wrong, "ann", 0.1)
    assert turns.judge_folded_bet(bet, "too low") is None
    assert contradiction(FIRST_HAND) is None
    turns.on_view(FIRST_HAND, "ann", 0.2)
    assert f"{turns.judge_folded_bet(bet, 'too low')}" == f"holdem-4.11: {found} 10 to call, 30 to 9990 to raise"
    turns.on_view(replace(FIRST_HAND, turn=replace(FIRST_HAND.turn, minimum_raise=0)), "ann", 0.3)
    assert turns.judge_folded_bet(bet, "too low") is None


def test_players_are_named_in_verdicts() -> None:
    tables = FollowedTables()
    ann, stranger = "5a15e825-01e9-40e5-99a3-3a8fc840e760", "297a7592-8734-4d11-a695-074915901a41"
    tables.set_guid("ann", ann)
    tables.set_guid("bob", "2")
    assert tables.with_names(f"{ann} with 20, {stranger} with 2") == f"ann with 20, {stranger} with 2"
