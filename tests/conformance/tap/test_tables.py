"""Following hold'em tables: streams and responses may overtake each other."""

from croupier.conformance.tap.follow_tables import FollowedTable
from croupier.rooms.holdem.wire import Cards, Game, Player, Pot, Turn

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
