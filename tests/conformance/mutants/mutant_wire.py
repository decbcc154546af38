"""The wire of an Old Maid mutant."""

from collections.abc import Sequence
from typing import Any, override

from croupier.core.errors import Violation
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.wire import Message, Wire, WireRole
from tests.conformance.mutants.mutation import Mutation


class MutantWire(Wire):
    """Reads with the mutation's reader. Messages of the session are bytes already."""

    def __init__(self, role: WireRole, mutation: Mutation) -> None:
        super().__init__(role)
        self._read = mutation.new_reader(ROOM) if mutation.new_reader is not None else lambda data: [data]  # type: ignore[arg-type]  # readers need its codec

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return [message for piece in self._read(data) for message in super(MutantWire, self).feed(piece)]

    @override
    def encode(self, message: Any) -> bytes:
        return message if isinstance(message, bytes) else super().encode(message)
