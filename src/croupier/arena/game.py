"""The interface of a game in the arena, and what it is given to play a chunk."""

from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol

from croupier.arena.deals import bot_stream, deal_stream
from croupier.arena.leaks import LeakLine
from croupier.arena.plan import Pairing, Plan
from croupier.arena.players import NO_CALL, Player
from croupier.arena.tally import Fault, Tally
from croupier.clients.contestants import Contestant
from croupier.core.bots import Bot
from croupier.core.dealer import FairDealer
from croupier.rooms import ROOMS, find_room


@dataclass(frozen=True)
class Chunk:
    """A chunk of a pairing: `plan.chunk_pairs` hands in each of two seatings, 0 and 1.

    `makers` make the two bots, anew for every seating, so that no memory of theirs passes from one to the other.
    `programs` has the bots that play over a connection, which cannot be made. `calls` is described in `Player`.
    """

    plan: Plan
    pairing: Pairing
    number: int
    makers: tuple[Callable[[], Bot[Any, Any]], Callable[[], Bot[Any, Any]]]
    programs: tuple[Contestant | None, Contestant | None] = (None, None)
    calls: MutableSequence[int] = field(default_factory=lambda: [NO_CALL])
    faults: list[Fault] = field(default_factory=list)

    def dealer(self, seating: int) -> FairDealer:
        """The deals of a seating; in both the same in duplicates."""
        return deal_stream(self.plan, self.number, seating)

    def first_hand(self, seating: int) -> int:
        """The number of the first hand of a seating in the pairing, from 1."""
        return (2 * self.number + seating) * self.plan.chunk_pairs + 1

    def names(self, seating: int) -> tuple[str, ...]:
        """The bots by seat in a seating, as the plan names them."""
        first, second = (self.plan.bots[bot] for bot in self.pairing)
        return (first, second) if seating == 0 else (second, first)

    def player[M](self, seating: int, index: int, default_moves: Sequence[M]) -> Player[Any, M]:
        """The first or second bot (`index` 0 or 1) of the pairing, new for a seating."""
        return Player(
            self.makers[index],
            bot_stream(self.plan, self.pairing, self.number, seating, index).luck,
            index=index,
            first_hand=self.first_hand(seating),
            default_moves=default_moves,
            faults=self.faults,
            calls=self.calls,
        )


class ReplayedHand(NamedTuple):
    """A hand that is over: the state of the game, the bots by seat, and what each has won, in coins or chips.

    `value` is what the hand adds to the value of its pair of hands, which is a result of the first bot.
    """

    state: Any
    players: tuple[str, ...]
    net: tuple[int, ...]
    value: float


class Game(Protocol):
    """How the arena plays a room. A room names the class, which is made without arguments, in its extras."""

    unit: str
    """The unit of results, such as `coins/hand`."""
    min_pairs: int
    """The number of pairs before which `until_sure` decides nothing: the intervals are valid asymptotically."""
    baseline: str
    """The id of the baseline for adjusted results."""
    pilot_pairs: int
    """The pairs that are played, and discarded, to fit the baseline to the bots of a pairing."""

    estimates_leaks: bool
    """Whether leaks are estimated by trying other choices, which takes time: only for plans with `leaks`."""

    def play_chunk(self, chunk: Chunk) -> Tally:
        """Play both seatings, and return the results of the first bot in `unit`, one value for each pair.

        The n-th hands of the two seatings are a pair. In games of two seats, the first bot has the first seat in
        seating 0 and the second seat in seating 1. Against a bank, the first bot plays seating 0 and the second bot
        seating 1, and the value of a pair is the difference. Raises Forfeit, from a `Player`.
        """
        ...

    def replay(self, chunk: Chunk, seating: int) -> Sequence[ReplayedHand]:
        """Play the hands of a seating of bots in process, which have been played before. Raises Forfeit."""
        ...

    def leaks(self, tally: Tally) -> tuple[Sequence[LeakLine], Sequence[LeakLine]]:
        """What the choices of each bot cost it; empty where the arena does not know."""
        ...


@cache
def find_game(room: str) -> Game:
    """The game of a room, made once in each process: it may compute values. Raises ValueError if there is none."""
    found = find_room(room)
    if "arena" not in found.extras:
        allowed = ", ".join(name for name, each in ROOMS.items() if "arena" in each.extras)
        raise ValueError(f"found the room {room!r}, which the arena does not play; allowed: {allowed}")
    game: Game = found.load_extra("arena")()
    return game
