"""Tables of hold'em are followed from what passes a relay, though streams and answers overtake each other."""

from croupier.conformance.proxy.follow_tables import FollowedTable
from croupier.rooms.holdem.wire import Cards, Game, Player, Pot, Turn

BEGUN = Game(
    "game",
    [Player("ann", "ann", "active", 9990, 10, True), Player("bob", "bob", "active", 9980, 20, False)],
    Turn("ann", 10, 20, 20, "2026-01-01T00:00:15Z"),
    Cards(()),
    [Pot(30, ["ann", "bob"])],
)
"""The first hand, in which nobody has acted yet."""


def test_a_stream_may_show_somebody_before_he_is_answered() -> None:
    table = FollowedTable()
    table.start_following()
    table.on_join("ann", 0.0, sure=True)
    assert table.on_view(BEGUN, "ann", 0.1, 0.1, None, sure=False) == ()
    assert table.hands == 0
    table.on_join("bob", 0.2, sure=True)
    assert table.hands == 1
    assert table.referee is not None
    assert table.referee.player_to_act() == "ann"
