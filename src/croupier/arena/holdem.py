"""No-limit hold'em in the arena: heads-up hands with equal stacks. Seat 0 has the button."""

from collections.abc import Sequence
from dataclasses import replace as with_fields
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from croupier.arena.baselines.holdem import PILOT_PAIRS, PlayedHand, Seatings
from croupier.arena.game import Chunk
from croupier.arena.leaks import LeakLine
from croupier.arena.plan import Pairing, Plan
from croupier.arena.players import Forfeit, Player
from croupier.arena.tally import Tally, moments_of
from croupier.core.dealer import derive_server_seed
from croupier.rooms.holdem.cards import CARDS, Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.engine.stakes import STAKES, Stakes
from croupier.rooms.holdem.engine.streets import BOARD_CARDS
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.simulation import play_out
from croupier.rooms.holdem.table.views import View

if TYPE_CHECKING:  # it needs numpy, of the extra `arena`
    from croupier.arena.baselines.holdem.baseline import Baseline

DEFAULT_MOVES: Final[Sequence[Move]] = (0, FOLD)
"""What stands for the move of a bot that makes a fault: a check, else a fold."""

SEATS: Final = 2
NAMES: Final = ("1", "2")
"""What the bots of a pairing are called in views."""

MAX_BASELINES: Final = 256
"""The pairings whose baselines are kept; more of them play a pilot again."""

type HoldemPlayer = Player[View, Move]


class HoldemGame:
    """Heads-up no-limit hold'em in the arena. See `Game`. Every hand begins with `stack` chips for each bot."""

    unit: Final = "bb/100"
    min_pairs: Final = 500
    pilot_pairs: Final = PILOT_PAIRS

    def __init__(self, stakes: Stakes = STAKES, stack: int = Settings.stack) -> None:
        self._new_hand = Hand([stack] * SEATS, stakes=stakes)
        self._baselines: dict[tuple[Plan, Pairing], Baseline] = {}

    @property
    def baseline(self) -> str:
        """The id of the baseline. Raises ModuleNotFoundError without numpy (the extra `arena`)."""
        from croupier.arena.baselines.holdem.baseline import BASELINE

        return BASELINE

    def play_chunk(self, chunk: Chunk) -> Tally:
        """Play both seatings. With a baseline, the first chunk of a pairing in each process plays a pilot before."""
        baseline = self._baseline_of(chunk) if chunk.plan.adjust else None
        seatings = self._play_seatings(chunk)
        chips = [first.hand.payoff()[0] + second.hand.payoff()[1] for first, second in zip(*seatings, strict=True)]
        scale = 100 / SEATS / self._new_hand.stakes.big_blind
        adjusted = None
        if baseline is not None:
            corrections = baseline.corrections(seatings, seed=_sample_seed(chunk))
            adjusted = moments_of((scale * (won + more), 1) for won, more in zip(chips, corrections, strict=True))
        return Tally(chunk.plan.chunk_pairs, plain=moments_of((scale * won, 1) for won in chips), adjusted=adjusted)

    def leaks(self, tally: Tally) -> tuple[Sequence[LeakLine], Sequence[LeakLine]]:  # noqa: ARG002 -- see `Game`
        """Nothing: the value of a state is not known."""
        return (), ()

    def _baseline_of(self, chunk: Chunk) -> "Baseline":
        """The baseline of a pairing. Raises Forfeit if a bot forfeits in the pilot."""
        from croupier.arena.baselines.holdem.baseline import Baseline

        key = (chunk.plan, chunk.pairing)
        if key not in self._baselines:
            if len(self._baselines) >= MAX_BASELINES:
                self._baselines.pop(next(iter(self._baselines)))
            self._baselines[key] = Baseline(self._play_pilot(chunk))
        return self._baselines[key]

    def _play_pilot(self, chunk: Chunk) -> Seatings:
        """Play chunks with negative numbers, which do not count. Faults that forfeit in them have the hand 0."""
        plan = replace(chunk.plan, chunk_pairs=min(chunk.plan.chunk_pairs, PILOT_PAIRS))
        first: list[PlayedHand] = []
        second: list[PlayedHand] = []
        while len(first) < PILOT_PAIRS:
            number = -1 - len(first) // plan.chunk_pairs
            pilot = with_fields(chunk, plan=plan, number=number, faults=[])
            try:
                seatings = self._play_seatings(pilot)
            except Forfeit:
                chunk.faults.extend(replace(fault, hand=0) for fault in pilot.faults)
                raise
            first += seatings[0]
            second += seatings[1]
        return first, second

    def _play_seatings(self, chunk: Chunk) -> Seatings:
        first = deals_of(chunk, 0)
        second = first if chunk.plan.duplicate else deals_of(chunk, 1)
        return self._play_seating(chunk, 0, first), self._play_seating(chunk, 1, second)

    def _play_seating(self, chunk: Chunk, seating: int, deals: Sequence[Sequence[Card]]) -> Sequence[PlayedHand]:
        """Play the hands of a seating. The first bot has seat 0 in seating 0, and seat 1 in seating 1."""
        players: list[HoldemPlayer] = [chunk.player(seating, index, DEFAULT_MOVES) for index in range(SEATS)]
        finished: list[PlayedHand] = []
        for player in players:
            player.finished = finished
        seats, names = (players, NAMES) if seating == 0 else (players[::-1], NAMES[::-1])
        choosers = [player.choose for player in seats]
        for cards in deals:
            hand = self._new_hand.copy()
            hand.deal_from(cards)
            play_out(hand, choosers, names)
            finished.append(PlayedHand(cards, hand))
        return finished


def deals_of(chunk: Chunk, seating: int) -> Sequence[Sequence[Card]]:
    """The nine cards of each hand of a seating."""
    next_deck = chunk.dealer(seating).next_deck
    return [tuple(islice(next_deck(len(CARDS)), 2 * SEATS + BOARD_CARDS)) for _ in range(chunk.plan.chunk_pairs)]


def _sample_seed(chunk: Chunk) -> bytes:
    """The seed of the cards that the baseline draws for a chunk."""
    one, other = chunk.pairing
    return derive_server_seed(chunk.plan.seed, f"{chunk.plan.room}/arena/samples/{one}-{other}", chunk.number)
