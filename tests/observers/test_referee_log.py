"""The referee as an observer of a server: violations by the house are errors, those by a client are not."""

from typing import Any

from croupier.core.errors import Violation
from croupier.core.session import Drop, Joined, Left, Malformed, Received, Send
from croupier.observers.referee_log import referee_log
from croupier.rooms.kuhn import ROOM, Settings
from croupier.rooms.kuhn.wire import ACTN, CARD, DISC, STRT


class RecordingLog:
    """A logger that keeps its entries."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, dict[str, object]]] = []

    def error(self, event: str, **facts: object) -> None:
        self.entries.append(("error", {"event": event, **facts}))

    def info(self, event: str, **facts: object) -> None:
        self.entries.append(("info", {"event": event, **facts}))


def logged(*steps: tuple[Any, list[Any]]) -> list[tuple[str, object, object]]:
    """The level, peer and clause of what is logged for events and their effects."""
    log = RecordingLog()
    observer = referee_log(ROOM, Settings(), log, strict=False)
    observer(Joined(1), [], 0.0)
    for event, effects in steps:
        observer(event, effects, 0.0)
    return [(level, facts["peer"], facts["clause"]) for level, facts in log.entries]


START = (Received(1, STRT["P_1"]), [Send(1, CARD["Q"])])


def test_correct_conversation_logs_nothing() -> None:
    assert logged(START, (Received(1, DISC), [Drop(1)]), (Left(1), [])) == []


def test_violation_by_the_house_is_an_error() -> None:
    assert logged(START, (Received(1, ACTN["BET"]), [Send(1, CARD["Q"])])) == [("error", 1, "kuhn-5.4")]


def test_violation_by_a_client_is_information() -> None:
    violation = Violation("kuhn-2.5", "HELO", "a command")
    assert logged(START, (Malformed(1, violation), []))[0] == ("info", 1, "kuhn-2.5")
