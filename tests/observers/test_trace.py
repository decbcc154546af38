"""MessageTrace logs every message of a room at level debug."""

from croupier.core.errors import Violation
from croupier.core.session import Commit, Drop, Joined, Left, Malformed, Received, Send, Settle, TimedOut
from croupier.observers.message_trace import MessageTrace
from croupier.rooms import HOUSE_ROOMS
from tests.properties.random_session import run_session


class RecordingLogger:
    """Records log entries."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, dict[str, object]]] = []

    def debug(self, event: str, **facts: object) -> None:
        self.entries.append((event, facts))


def traced(event: object, *effects: object) -> list[tuple[str, dict[str, object]]]:
    log = RecordingLogger()
    MessageTrace(log)(event, effects, 0.0)
    return log.entries


def test_received_message_is_logged() -> None:
    assert traced(Received(3, "STRT P_1")) == [("received", {"peer": 3, "message": "STRT P_1"})]


def test_malformed_message_is_logged_with_its_clause() -> None:
    violation = Violation("kuhn-2.7", "'HELO'", "a code")
    assert traced(Malformed(3, violation)) == [("violation", {"peer": 3, "clause": "kuhn-2.7", "found": "'HELO'"})]


def test_effects_are_logged_in_order() -> None:
    entries = traced(TimedOut(), Send(1, "DISC"), Drop(1), Settle(1, 4, 0, -1, "state"))
    assert entries == [
        ("sent", {"peer": 1, "message": "DISC"}),
        ("dropped", {"peer": 1}),
        ("settled", {"peer": 1, "hand": 4, "net": -1}),
    ]


def test_seeds_and_states_are_not_logged() -> None:
    """Players may read the trace, so it must not contain cards that were not shown."""
    assert traced(Joined(1), Commit(1, "x", b"secret")) == []
    assert traced(Left(1)) == []
    assert "state" not in str(traced(TimedOut(), Settle(1, 1, 0, 0, "state")))


def test_game_is_logged_in_order() -> None:
    room, log = HOUSE_ROOMS["kuhn"], RecordingLogger()
    trace = MessageTrace(log)
    head = {"deck": "Q K J", "house": "CAL"}
    steps = [("says", 1, room.sample_messages[0]), ("says", 1, room.sample_messages[3])]
    for happened, effects in run_session(room, head, steps).facts:
        trace(happened, effects, 0.0)
    assert [f"{event} {facts.get('message', facts.get('net'))}" for event, facts in log.entries] == [
        "received STRT P_1",
        "sent CARD C_Q",
        "received ACTN BET",
        "sent CARD C_K",
        "settled -2",
    ]
