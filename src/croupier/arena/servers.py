"""The servers of addresses as contestants: the other bot plays at them as a client, and they deal.

Only what both ends see counts, so the results are the nets that the client's session follows.
"""

from collections.abc import Awaitable, Callable, Sequence

from croupier.arena.game import Chunk
from croupier.arena.players import Forfeit, Player, has_forfeited, make_fault
from croupier.arena.tally import Tally, moments_of
from croupier.clients.holdem_api import Refusal
from croupier.clients.programs import terminated_as_interrupted
from croupier.core.dealer import Luck
from croupier.core.errors import Violation


def is_at_server(chunk: Chunk) -> bool:
    """Whether one of the bots is a server."""
    return any(program is not None and program.kind == "address" for program in chunk.programs)


def play_server(chunk: Chunk, play_seating: Callable[[int], Sequence[float]]) -> Tally:
    """Play both seatings of a chunk; `play_seating` returns the results of the first bot in the hands of one."""
    with terminated_as_interrupted():
        results = [play_seating(seating) for seating in (0, 1)]
    return Tally(
        chunk.plan.chunk_pairs, plain=moments_of(((one + other) / 2, 1) for one, other in zip(*results, strict=True))
    )


class SilentServer(Exception):
    """A server that lets the client wait. It forfeits at once: nobody wants to wait three times."""


class Visit[V, M]:
    """The bot in process at a server, in one seating of a chunk: it plays for a client. `nets` has its hands."""

    def __init__(self, chunk: Chunk, seating: int, default_moves: Sequence[M]) -> None:
        self.server = 0 if chunk.programs[0] else 1
        self.bot = 1 - self.server
        self.nets: list[int] = []
        self._chunk = chunk
        self._seating = seating
        self._hands = chunk.plan.chunk_pairs
        self._player: Player[V, M] = chunk.player(seating, self.bot, default_moves)
        self._player.finished = self.nets

    @property
    def address(self) -> str:
        """The address of the server."""
        contestant = self._chunk.programs[self.server]
        assert contestant is not None, "it is a server"
        return contestant.text

    @property
    def is_complete(self) -> bool:
        """Whether all hands of the seating have been played."""
        return len(self.nets) >= self._hands

    @property
    def counted_nets(self) -> Sequence[int]:
        """What the first bot of the pairing has won in each hand of the seating."""
        nets = self.nets[: self._hands]
        return nets if self.bot == 0 else [-net for net in nets]

    def choose(self, view: V, legal: Sequence[M], luck: Luck) -> M:  # noqa: ARG002 -- the player has its own
        """The player's move. Raises Forfeit."""
        return self._player.choose(view, legal)

    async def play(self, play_once: Callable[[], Awaitable[None]], no_hand: str) -> None:
        """Play at the server again and again until the seating is complete.

        `play_once` plays on one connection, or in one seat. What the server does wrong is a fault of its own, and so is
        a connection on which no hand is finished, with the reason `no_hand`. Raises Forfeit.
        """
        while not self.is_complete:
            hands_before = len(self.nets)
            reason, is_silent = "", False
            try:
                await play_once()
            except (Violation, Refusal, ConnectionError) as error:
                reason = str(error)
            except SilentServer as silence:
                reason, is_silent = str(silence), True
            if not reason and len(self.nets) == hands_before:
                reason = no_hand
            if reason:
                hand = self._chunk.first_hand(self._seating) + len(self.nets)
                self._chunk.faults.append(make_fault(self.server, hand, reason))
                if is_silent or has_forfeited(self.server, self._chunk.faults):
                    raise Forfeit(self.server)
