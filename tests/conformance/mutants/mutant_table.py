"""An Old Maid table with a mutation, served on a local port."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from croupier.core.session import Address, Drop, Effect, Event, Malformed, Peer, Received, Send
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import Join, Reply, Wire
from tests.conformance.mutants.mutant_wire import MutantWire
from tests.conformance.mutants.mutation import Mutation, Situation
from tests.conformance.mutants.oldmaid_states import WAITING, state_of
from tests.conformance.oldmaid.changed_programs import ChangedSession, serve_table
from tests.conformance.oldmaid.faulty_tables import honest_dealer
from tests.rooms.conversation_fixture import HANG_UP

PLAYERS = 4
JOIN_WINDOW_SECONDS = 1.0


class MutantSession(ChangedSession):
    """A table whose answers are changed, each in the situation of the client that receives it."""

    def __init__(self, house: House, mutation: Mutation) -> None:
        super().__init__(house, lambda _, effects: effects)
        self._mutation = mutation
        self._encode = Wire("table").encode
        self._memory: dict[str, Any] = {}
        self._messages = 0

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        situation = self._situation(event)
        if situation is None:
            return self._changed(self.session.on(event, now), {})
        self._mutation.before(self.session, situation)
        effects = self.session.on(event, now)
        self._mutation.after(self.session, situation)
        self._messages += 1
        return self._changed(effects, {event.peer: situation})  # type: ignore[union-attr]  # it is a message

    def _situation(self, event: Event[Any]) -> Situation | None:
        """The situation of a client that has sent a message, None for other events."""
        match event:
            case Received(peer, message) | Malformed(peer, message):
                client = self.session._clients.get(peer)
                game = client and client.game
                return Situation(state_of(client), message, messages=self._messages, game=game, memory=self._memory)
        return None

    def _changed(self, effects: Sequence[Effect[Any]], situations: Mapping[Peer, Situation]) -> Sequence[Effect[Any]]:
        """The effects with the mutation's messages; the list of players answers a join, whatever the event was."""
        answers: dict[Peer, list[bytes]] = {
            peer: [] for peer, situation in situations.items() if situation.state != WAITING
        }
        states = dict(situations)
        others = []
        for effect in effects:
            match effect:
                case Send(peer, message):
                    if isinstance(message, Reply) and message.players is not None:
                        client = self.session._clients[peer]
                        states[peer] = Situation(WAITING, Join(client.nick), game=client.game, memory=self._memory)
                    answers.setdefault(peer, []).append(self._encode(message))
                case Drop(peer):
                    answers.setdefault(peer, []).append(HANG_UP)
                case _:
                    others.append(effect)
        for peer, messages in answers.items():
            changed = self._mutation.change(states[peer], messages) if peer in states else messages
            others += [Drop(peer) if data == HANG_UP else Send(peer, data) for data in changed]
        return others


def open_mutant_table(mutation: Mutation) -> AbstractAsyncContextManager[Address]:
    """Run a table with a mutation, which has the address that is entered."""
    change_dealer = mutation.dealer or (lambda dealer: dealer)
    house_type: Any = mutation.house or House
    house = house_type(
        Settings(players=PLAYERS, join_window=JOIN_WINDOW_SECONDS),
        lambda number: change_dealer(honest_dealer(1 if mutation.is_shared else number)),
    )
    return serve_table(MutantSession(house, mutation), lambda: MutantWire("table", mutation))
