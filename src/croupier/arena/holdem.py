"""No-limit hold'em in the arena: heads-up hands with equal stacks. Seat 0 has the button."""

from collections.abc import Sequence
from dataclasses import replace as with_fields
from functools import partial
from itertools import islice
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from croupier.arena.baselines.holdem import PILOT_PAIRS
from croupier.arena.deals import stream_seed
from croupier.arena.game import Chunk, ReplayedHand
from croupier.arena.heads_up import DEAL_CARDS, DEFAULT_MOVES, NAMES, SEATS, HoldemPlayer, PlayedHand, Seatings
from croupier.arena.leaks import LeakLine
from croupier.arena.plan import Pairing, Plan
from croupier.arena.players import Forfeit
from croupier.arena.servers import is_at_server, play_server
from croupier.arena.tally import Tally, moments_of
from croupier.rooms.holdem.cards import CARDS, Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import STAKES, Stakes
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.simulation import play_out

if TYPE_CHECKING:  # it needs numpy, of the extra `arena`
    from croupier.arena.baselines.holdem.baseline import Baseline

MAX_BASELINES: Final = 256
"""The pairings whose baselines are kept; more of them play a pilot again."""


class HoldemGame:
    """Heads-up no-limit hold'em in the arena. See `Game`. Every hand begins with `stack` chips for each bot."""

    unit: Final = "bb/100"
    min_pairs: Final = 500
    pilot_pairs: Final = PILOT_PAIRS
    estimates_leaks: Final = True

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
        if is_at_server(chunk):
            from croupier.arena.holdem_servers import play_at_server

            return play_server(chunk, partial(play_at_server, chunk))
        baseline = self._baseline_of(chunk) if chunk.plan.adjust else None
        first, second = self._play_seatings(chunk)
        chips = [*map(add, first.nets, second.nets)]
        scale = self._scale
        adjusted = None
        if baseline is not None:
            one, other = chunk.pairing
            seed = stream_seed(chunk.plan, f"samples/{one}-{other}", chunk.number)
            corrections = baseline.corrections((first.hands, second.hands), seed=seed)
            adjusted = moments_of((scale * (won + more), 1) for won, more in zip(chips, corrections, strict=True))
        tally = Tally(chunk.plan.chunk_pairs, plain=moments_of((scale * won, 1) for won in chips), adjusted=adjusted)
        if not chunk.plan.leaks or any(chunk.programs):
            return tally
        from croupier.arena.holdem_trials import try_choices

        return replace(tally, trials=try_choices(chunk, (first.hands, second.hands), scale))

    def replay(self, chunk: Chunk, seating: int) -> Sequence[ReplayedHand]:
        """Play the hands of a seating of bots in process. See `Game`."""
        played = self._play_seating(chunk, seating, deals_of(chunk, seating), keeps_hands=True)
        names, hands = chunk.names(seating), [each.hand for each in played.hands]
        return [ReplayedHand(hand, names, hand.payoff(), self._scale * hand.payoff()[seating]) for hand in hands]

    def leaks(self, tally: Tally) -> tuple[Sequence[LeakLine], Sequence[LeakLine]]:
        """The choices in whose place another one wins more for sure; only plans with `leaks` have them."""
        if tally.trials == ({}, {}):
            return (), ()
        from croupier.arena.holdem_trials import trial_lines

        return trial_lines(tally.trials[0], tally.pairs), trial_lines(tally.trials[1], tally.pairs)

    @property
    def _scale(self) -> float:
        """What a chip that the first bot wins in a hand adds to the value of the pair of hands."""
        return 100 / SEATS / self._new_hand.stakes.big_blind

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
            first += seatings[0].hands
            second += seatings[1].hands
        return first, second

    def _play_seatings(self, chunk: Chunk) -> "tuple[PlayedSeating, PlayedSeating]":
        first = deals_of(chunk, 0)
        second = first if chunk.plan.duplicate else deals_of(chunk, 1)
        if any(chunk.programs):
            from croupier.arena.holdem_programs import play_with_programs  # it needs the server

            hands = play_with_programs(chunk, self._new_hand, (first, second))
            return _seating_of(hands[0], 0), _seating_of(hands[1], 1)
        keeps_hands = chunk.plan.adjust is not None or chunk.plan.leaks
        return (
            self._play_seating(chunk, 0, first, keeps_hands=keeps_hands),
            self._play_seating(chunk, 1, second, keeps_hands=keeps_hands),
        )

    def _play_seating(
        self, chunk: Chunk, seating: int, deals: Sequence[Sequence[Card]], *, keeps_hands: bool
    ) -> "PlayedSeating":
        """Play the hands of a seating. The first bot has seat 0 in seating 0, and seat 1 in seating 1."""
        players: list[HoldemPlayer] = [chunk.player(seating, index, DEFAULT_MOVES) for index in range(SEATS)]
        nets: list[int] = []
        hands: list[PlayedHand] = []
        for player in players:
            player.finished = nets
        seats, names = (players, NAMES) if seating == 0 else (players[::-1], NAMES[::-1])
        turns = [player.play for player in seats]
        for cards in deals:
            hand = self._new_hand.copy()
            hand.deal_from(cards)
            play_out(hand, turns, names)
            nets.append(hand.stacks[seating] - hand.start_stacks[seating])
            if keeps_hands:
                hands.append(PlayedHand(cards, hand))
        return PlayedSeating(nets, hands)


class PlayedSeating(NamedTuple):
    """What the first bot has won in each hand of a seating, in chips, and the hands if somebody needs them.

    Hands that are kept cost time: each has new memory, which the garbage collector visits.
    """

    nets: Sequence[int]
    hands: Sequence[PlayedHand]


def _seating_of(hands: Sequence[PlayedHand], seating: int) -> PlayedSeating:
    """The seating in which these hands were played."""
    return PlayedSeating([played.hand.payoff()[seating] for played in hands], hands)


def deals_of(chunk: Chunk, seating: int) -> Sequence[Sequence[Card]]:
    """The nine cards of each hand of a seating."""
    next_deck = chunk.dealer(seating).next_deck
    return [tuple(islice(next_deck(len(CARDS)), DEAL_CARDS)) for _ in range(chunk.plan.chunk_pairs)]
