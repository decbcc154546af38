"""The trace: the conversation, message by message, as a log hears it."""

from croupier.core.errors import Violation
from croupier.core.session import Commit, Drop, Joined, Left, Malformed, Received, Send, Settle, TimedOut
from croupier.observers.message_trace import MessageTrace
from croupier.rooms import HOUSE_ROOMS
from tests.properties.random_session import evening


class Log:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, object]]] = []

    def debug(self, event: str, **facts: object) -> None:
        self.told.append((event, facts))


def traced(event: object, *effects: object) -> list[tuple[str, dict[str, object]]]:
    log = Log()
    MessageTrace(log)(event, effects, 0.0)
    return log.told


def test_what_a_peer_says_is_told() -> None:
    assert traced(Received(3, "STRT P_1")) == [("says", {"peer": 3, "message": "STRT P_1"})]


def test_what_nobody_can_read_is_told_with_its_clause() -> None:
    violation = Violation("kuhn-2.7", "'HELO'", "a code")
    assert traced(Malformed(3, violation)) == [
        ("breaks the protocol", {"peer": 3, "clause": "kuhn-2.7", "found": "'HELO'"})
    ]


def test_what_is_done_about_it_is_told_in_order() -> None:
    told = traced(TimedOut(), Send(1, "DISC"), Drop(1), Settle(1, 4, 0, -1, "state"))
    assert told == [
        ("hears", {"peer": 1, "message": "DISC"}),
        ("is dropped", {"peer": 1}),
        ("settles", {"peer": 1, "hand": 4, "net": -1}),
    ]


def test_seeds_and_states_are_not_for_the_log() -> None:
    """A trace may be read by the players: it must not tell cards that nobody has shown."""
    assert traced(Joined(1), Commit(1, "x", b"secret")) == []
    assert traced(Left(1)) == []
    assert "state" not in str(traced(TimedOut(), Settle(1, 1, 0, 0, "state")))


def test_a_game_is_told_as_it_was_played() -> None:
    room, log = HOUSE_ROOMS["kuhn"], Log()
    trace = MessageTrace(log)
    head = {"deck": "Q K J", "house": "CAL"}
    says = [("says", 1, room.sample_messages[0]), ("says", 1, room.sample_messages[3])]
    for event, effects in evening(room, head, says).facts:
        trace(event, effects, 0.0)
    assert [f"{what} {facts.get('message', facts.get('net'))}" for what, facts in log.told] == [
        "says STRT P_1",
        "hears CARD C_Q",
        "says ACTN BET",
        "hears CARD C_K",
        "settles -2",
    ]
