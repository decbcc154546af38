"""Changes of single messages in their parsed form."""

from collections.abc import Callable, Sequence
from typing import Any

from croupier.core.room import HouseRoom
from tests.conformance.mutants.mutation import Change, Mutation, Situation, clauses
from tests.rooms.conversation_fixture import HANG_UP

type Rewrite = Callable[[Situation, list[Any]], Sequence[Any]]
"""Maps the correct messages, parsed, to those that are sent; bytes are sent as they are."""


def rewriting(room: HouseRoom, rewrite: Rewrite) -> Change:
    """A change of parsed messages."""
    encode = room.codec(True, None).encode

    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        if situation.message is None:
            return messages
        parsed = [
            data if data == HANG_UP else room.codec(True, None).feed(data)[0]  # of what the house itself has sent
            for data in messages
        ]
        changed = rewrite(situation, parsed)
        return [message if isinstance(message, bytes) else encode(message) for message in changed]

    return change


class Rewritten:
    """Makes the mutations of a room's house that change its messages in their parsed form."""

    def __init__(self, room: HouseRoom) -> None:
        self._room = room

    def __call__(self, operator: str, state: str, what: str, rewrite: Rewrite, *numbers: str) -> Mutation:
        return Mutation(
            room=self._room.name,
            role="server",
            operator=operator,
            state=state,
            what=what,
            clauses=clauses(self._room.name, *numbers),
            change=rewriting(self._room, rewrite),
        )


def little_endian(data: bytes, at: int, size: int = 4) -> bytes:
    """The bytes of a number in the opposite order."""
    return data[:at] + data[at : at + size][::-1] + data[at + size :]
