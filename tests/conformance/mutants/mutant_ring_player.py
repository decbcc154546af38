"""An Old Maid player with a mutation: a program under test that runs in the tester's own process."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.session import Drop, Effect, Event, Peer, Received, Send
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.wire import Wire
from tests.conformance.mutants.mutant_wire import MutantWire
from tests.conformance.mutants.mutation import Mutation, Situation
from tests.conformance.mutants.oldmaid_states import player_state
from tests.conformance.oldmaid.changed_programs import ChangedSession, play_one_game, quick_options
from tests.conformance.oldmaid.players import TaskProgram
from tests.rooms.conversation_fixture import HANG_UP

DEAF_PORT = 1
"""A port on which the player listens in vain, for `is_serial`."""


class MutantSession(ChangedSession):
    """A player whose messages are changed, each in its situation: `game` is the player, `memory` has the request."""

    def __init__(self, player: Player, mutation: Mutation) -> None:
        super().__init__(player, lambda _, effects: effects)
        self._mutation = mutation
        self._encode = Wire("player").encode
        self._memory: dict[str, Any] = {}
        self._messages = 0

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        self._memory["request"] = event.message if isinstance(event, Received) else None
        self._memory["peer"] = event.peer if isinstance(event, Received) else None
        state = player_state(self.session)
        effects = self.session.on(event, now)
        return [changed for effect in effects for changed in self._changed(effect, state)]

    def _changed(self, effect: Effect[Any], state: str) -> Sequence[Effect[Any]]:
        if not isinstance(effect, Send):
            return [effect]
        situation = Situation(state, effect.message, messages=self._messages, game=self.session, memory=self._memory)
        self._messages += 1
        return [
            self._effect(effect.peer, data) for data in self._mutation.change(situation, [self._encode(effect.message)])
        ]

    def _effect(self, peer: Peer, data: bytes) -> Effect[Any]:
        return Drop(peer) if data == HANG_UP else Send(peer, data)


async def play_mutant(mutation: Mutation, seed: int, values: Mapping[str, Any]) -> None:
    """Play one game with a mutation."""
    luck, bot_luck = (FairDealer(derive_server_seed(seed, "mutant", number)).luck for number in (1, 2))
    await play_one_game(
        values,
        quick_options(values, port=DEAF_PORT if mutation.is_serial else None),
        luck,
        bot_luck,
        wrap_session=lambda player: MutantSession(player, mutation),
        wrap_codec=lambda _: MutantWire("player", mutation),
    )


class RingPlayerProgram:
    """Stands for `ProgramUnderTest`: each start is a game of a mutant in this process."""

    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation
        self._seeds = count(1)

    async def start(self, command: str, values: Mapping[str, Any], **more: Any) -> TaskProgram:
        return TaskProgram(play_mutant(self._mutation, next(self._seeds), values))
