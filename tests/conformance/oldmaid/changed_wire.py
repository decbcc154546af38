"""The wire of an Old Maid program whose messages are written in another way."""

from collections.abc import Callable, Sequence

from croupier.core.errors import Violation
from croupier.rooms.oldmaid.wire import Message, Wire, WireRole

type EncodeChange = Callable[[Message, bytes], bytes]


class ChangedWire(Wire):
    """Reads as another wire, and changes the messages that this one has encoded."""

    def __init__(self, role: WireRole, wire: Wire, encode_change: EncodeChange) -> None:
        super().__init__(role)
        self._wire = wire
        self._change = encode_change

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return self._wire.feed(data)

    def encode(self, message: Message) -> bytes:
        return self._change(message, self._wire.encode(message))
