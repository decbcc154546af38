"""An Old Maid player with a mutation: a program under test that runs in the tester's own process."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.core.bots import RandomBot
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.session import Address, Drop, Effect, Event, Peer, Received, Send
from croupier.rooms.oldmaid.player import Options, Player
from croupier.rooms.oldmaid.wire import Wire
from tests.conformance.mutants.mutant_wire import MutantWire
from tests.conformance.mutants.mutation import Mutation, Situation
from tests.conformance.mutants.oldmaid_states import player_state
from tests.conformance.oldmaid.players import TaskProgram
from tests.rooms.conversation_fixture import HANG_UP

PAUSE_SECONDS, POLL_SECONDS, RETRY_SECONDS = 0.01, 0.1, 0.5
"""Short timings of our player."""

DEAF_PORT = 1
"""A port on which the player listens in vain, for `is_serial`."""


class MutantSession:
    """A player whose messages are changed, each in its situation: `game` is the player, `memory` has the request."""

    def __init__(self, player: Player, mutation: Mutation) -> None:
        self.player = player
        self._mutation = mutation
        self._encode = Wire("player").encode
        self._memory: dict[str, Any] = {}
        self._messages = 0

    @property
    def deadline(self) -> float | None:
        return self.player.deadline

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        self._memory["request"] = event.message if isinstance(event, Received) else None
        self._memory["peer"] = event.peer if isinstance(event, Received) else None
        state = player_state(self.player)
        effects = self.player.on(event, now)
        return [changed for effect in effects for changed in self._changed(effect, state)]

    def _changed(self, effect: Effect[Any], state: str) -> Sequence[Effect[Any]]:
        if not isinstance(effect, Send):
            return [effect]
        situation = Situation(state, effect.message, messages=self._messages, game=self.player, memory=self._memory)
        self._messages += 1
        return [
            self._effect(effect.peer, data) for data in self._mutation.change(situation, [self._encode(effect.message)])
        ]

    def _effect(self, peer: Peer, data: bytes) -> Effect[Any]:
        return Drop(peer) if data == HANG_UP else Send(peer, data)


class MutantClient(RingClient):
    """A ring client whose player has a mutation."""

    def __init__(self, mutation: Mutation, config: RingConfig, options: Options, seed: int) -> None:
        super().__init__(config, options, FairDealer(derive_server_seed(seed, "mutant", 1)).luck)
        self._mutation = mutation

    async def _start_player(self, host: str, port: int, options: Options) -> Address:
        address = await super()._start_player(host, port, options)
        self._endpoint.session = MutantSession(self.player, self._mutation)
        self._endpoint.codec_factory = lambda: MutantWire("player", self._mutation)
        return address


async def play_mutant(mutation: Mutation, seed: int, values: Mapping[str, Any]) -> None:
    """Play one game with a mutation."""
    port = DEAF_PORT if mutation.is_serial else None
    options = Options(values["nick"], port, pause=PAUSE_SECONDS, poll_seconds=POLL_SECONDS, retry_seconds=RETRY_SECONDS)
    config = RingConfig((values["host"], values["port"]), host=values["host"])
    luck = FairDealer(derive_server_seed(seed, "mutant", 2)).luck
    client = partial(MutantClient, mutation, config, options, seed)
    await play_ring_games(client, RandomBot(), luck, 1, RingTally(options.nick))


class RingPlayerProgram:
    """Stands for `ProgramUnderTest`: each start is a game of a mutant in this process."""

    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation
        self._seeds = count(1)

    async def start(self, command: str, values: Mapping[str, Any], **more: Any) -> TaskProgram:
        return TaskProgram(play_mutant(self._mutation, next(self._seeds), values))
