"""A simulated network of Old Maid with a referee that observes all messages when they are sent."""

from typing import Any

from croupier.core.referee import Disconnected, Party, Sent, Verdict
from croupier.core.session import Connect, Drop, Effect, Send
from croupier.rooms.oldmaid.referee import TABLE, Referee
from tests.rooms.oldmaid.network import Connection, Network, Node

type ObservedMessage = tuple[Party, Party, Any]
"""Sender, receiver and message; None means that the sender has lost the connection to the receiver."""


class RefereedNetwork(Network):
    """A network whose referee observes all messages. `past` are the observed messages, `verdicts` its verdicts."""

    def __init__(self, *args: Any, **own: Any) -> None:
        self.referee = Referee()
        self.observed: list[ObservedMessage] = []
        self.verdicts: list[Verdict] = []
        super().__init__(*args, **own)

    def observe(self, node: Node, other: Node, message: Any) -> None:
        sender, receiver = (TABLE if one is self.table else one.name for one in (node, other))
        self.observed.append((sender, receiver, message))
        self.verdicts += check_message(self.referee, self.observed[-1])

    def _perform(self, node: Node, effect: Effect[Any]) -> None:
        match effect:
            case Send(peer, message):
                self.observe(node, node.connections[peer].other.node, message)
            case Drop(peer):
                self.observe(node, node.connections[peer].other.node, None)
            case Connect(_, address) if not self._addresses[address].alive:
                self.observe(node, self._addresses[address], None)
            case _:
                pass
        super()._perform(node, effect)

    def _arrive(self, connection: Connection) -> None:
        if connection.incoming[0] is None and not connection.dropped:
            self.observe(connection.node, connection.other.node, None)
        super()._arrive(connection)


def check_message(referee: Referee, observed: ObservedMessage) -> list[Verdict]:
    """The verdicts of a referee on an observed message."""
    sender, receiver, message = observed
    event = Disconnected(sender, receiver) if message is None else Sent(sender, receiver, message)
    return [*referee.on(event)]
