"""A ring of Old Maid with a referee who hears all that is said in it, when it is said."""

from typing import Any

from croupier.core.session import Connect, Drop, Effect, Send
from croupier.rooms.oldmaid.referee import TABLE, PlayerVerdict, Referee
from tests.rooms.oldmaid.network import Line, Network, Node

type Heard = tuple[str, str, Any]
"""Who says what to whom; None is that the first has lost the second."""


class Watched(Network):
    """A network whose referee is told everything. `past` is what he was told, and `verdicts` what he found."""

    def __init__(self, *args: Any, **own: Any) -> None:
        self.referee = Referee()
        self.past: list[Heard] = []
        self.verdicts: list[PlayerVerdict] = []
        super().__init__(*args, **own)

    def tell(self, node: Node, other: Node, said: Any) -> None:
        sender, receiver = (TABLE if one is self.table else one.name for one in (node, other))
        self.past.append((sender, receiver, said))
        self.verdicts += told(self.referee, self.past[-1])

    def _do(self, node: Node, effect: Effect[Any]) -> None:
        match effect:
            case Send(peer, message):
                self.tell(node, node.lines[peer].other.node, message)
            case Drop(peer):
                self.tell(node, node.lines[peer].other.node, None)
            case Connect(_, address) if not self._addresses[address].alive:
                self.tell(node, self._addresses[address], None)
            case _:
                pass
        super()._do(node, effect)

    def _arrive(self, line: Line) -> None:
        if line.coming[0] is None and not line.dropped:
            self.tell(line.node, line.other.node, None)
        super()._arrive(line)


def told(referee: Referee, heard: Heard) -> list[PlayerVerdict]:
    """What a referee finds in what he hears."""
    sender, receiver, said = heard
    return [
        *(referee.on_connection_lost(sender, receiver) if said is None else referee.on_message(sender, receiver, said))
    ]
