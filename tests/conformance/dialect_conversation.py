"""A conversation of a client with a faulty house, recorded chunk by chunk."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.causes import likely_cause
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Joined, Malformed, Received, Send
from croupier.core.transcript import Transcript, house_settings, make_hall
from croupier.rooms.blackjack import ROOM as BLACKJACK
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.sevenhalf import ROOM as SEVENHALF
from tests.rooms.blackjack.test_rogue_houses import ROGUES as BLACKJACK_ROGUES
from tests.rooms.conversation_fixture import GREETING, HANG_UP
from tests.rooms.kuhn.test_rogue_houses import ROGUES as KUHN_ROGUES
from tests.rooms.sevenhalf.test_rogue_houses import ROGUES as SEVENHALF_ROGUES

ROGUES: list[tuple[HouseRoom, Any, Mapping[str, str]]] = [
    *((KUHN, rogue, rogue.head) for rogue in KUHN_ROGUES),
    *(
        (SEVENHALF, rogue, {"deck": rogue.game[0], "bet": str(rogue.game[1]), **rogue.head})
        for rogue in SEVENHALF_ROGUES
    ),
    *((BLACKJACK, rogue, {"deck": rogue.deck, **rogue.head}) for rogue in BLACKJACK_ROGUES),
]
"""Every rogue house of the rooms, with the head of its paper."""

NAMES = [f"{room.name}: {rogue.name}" for room, rogue, _ in ROGUES]


class DialectConversation(NamedTuple):
    """A conversation, its pieces, and what its codecs were fed."""

    room: HouseRoom
    conversation: Conversation
    wire: list[tuple[int, bytes]]
    own: Any
    strict: bool

    @property
    def clause(self) -> str:
        """The clause that the house has broken."""
        return next(f.verdict.violation.clause for f in self.conversation.faults if f.verdict.party == HOUSE)

    @property
    def cause(self) -> str:
        found = likely_cause(
            self.room, None, b"", self.conversation, wire_log=self.wire, known_options=self.own, strict=self.strict
        )
        return str(found or "")


def hear(room: HouseRoom, rogue: Any, head: Mapping[str, str]) -> DialectConversation:
    """The conversation up to the first fault of the house, or to the end of its referee's patience."""
    paper = Transcript("hearing", "a hearing", (), {**head, "strict": "yes"} if rogue.strict else head, ())
    own = house_settings(room, paper)
    house = make_hall(room, paper)
    house.on(Joined(1), 0.0)
    inward, outward = (room.codec(rogue.strict, own) for _ in range(2))
    found = DialectConversation(room, Conversation(room, own, strict=rogue.strict), [], own, rogue.strict)
    act = rogue.habit

    def judged() -> bool:
        return any(fault.verdict.party == HOUSE for fault in found.conversation.faults)

    def send(answers: Any) -> None:
        for data in answers:
            if data == HANG_UP:
                found.conversation.on_disconnect(HOUSE, 0.0)
                continue
            found.wire.append((HOUSE, data))
            if not judged():
                found.conversation.on_data(HOUSE, data, 0.0)

    send(act(GREETING, []))
    for line in rogue.says:
        for item in inward.feed(line):
            if judged():
                return found
            garbled = isinstance(item, Violation)
            said = line if garbled else inward.encode(item)
            found.wire.append((CLIENT, said))
            found.conversation.on_data(CLIENT, said, 0.0)
            effects = house.on(Malformed(1, item) if garbled else Received(1, item), 0.0)
            answers = [
                HANG_UP if isinstance(effect, Drop) else outward.encode(effect.message)
                for effect in effects
                if isinstance(effect, Send | Drop)
            ]
            send(act(str(item).encode() if garbled else said, answers))
    if not judged() and found.conversation.deadline is not None:
        found.conversation.on_timeout(found.conversation.deadline)
    return found
