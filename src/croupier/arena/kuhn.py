"""Kuhn poker in the arena: hands are walks through the table of states, and pairs are counted by their ends."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final, NamedTuple

from croupier.arena.baselines.kuhn import BASELINE, RANDOM_VALUES, Policy, corrections
from croupier.arena.game import Chunk, ReplayedHand
from croupier.arena.kuhn_leaks import kuhn_leaks
from croupier.arena.leaks import LeakLine, leak_lines
from croupier.arena.players import Player, lot
from croupier.arena.servers import is_at_server, play_server
from croupier.arena.tally import Tally, moments_of
from croupier.core.dealer import Luck
from croupier.core.rules import Turn
from croupier.rooms.kuhn.rules import DEALS, DEFAULT_ACTIONS, START_STATE, KuhnAction, KuhnState, View

type KuhnPlayer = Player[View, KuhnAction]

type FrozenPolicy = tuple[tuple[View, tuple[tuple[KuhnAction, Fraction], ...]], ...]
"""A policy that can be the key of a cache."""


def walk(state: KuhnState) -> Iterator[KuhnState]:
    """A state and all that can follow it."""
    yield state
    for after in state.next.values():
        yield from walk(after)


VIEWS: Final = {state: state.views[state.turn] for state in walk(START_STATE) if isinstance(state.turn, int)}
"""The view of the seat to act at each decision."""

ACTIONS: Final = {view: state.actions for state, view in VIEWS.items()}
"""The legal actions at each view."""

ENDS: Final = tuple(state for state in walk(START_STATE) if state.turn is Turn.OVER)
"""The ends of the tree; tallies refer to them by their index."""

INDEX_OF_END: Final = {state: index for index, state in enumerate(ENDS)}


class PlayedSeating(NamedTuple):
    """The ends of the hands of a seating, and the policies of P_1 and P_2 if they are known."""

    ends: Sequence[KuhnState]
    policies: tuple[FrozenPolicy | None, FrozenPolicy | None]


class KuhnGame:
    """Kuhn poker in the arena. See `Game`."""

    unit: Final = "coins/hand"
    min_pairs: Final = 100
    baseline: Final = BASELINE
    pilot_pairs: Final = 0
    estimates_leaks: Final = False

    def play_chunk(self, chunk: Chunk) -> Tally:
        """Play both seatings; `ends` counts pairs by `index of the first end · len(ENDS) + index of the second`."""
        if is_at_server(chunk):  # which deals, and hides its cards after a fold
            from croupier.arena.kuhn_servers import play_against_server

            return play_server(chunk, partial(play_against_server, chunk))
        seatings = play_program(chunk) if any(chunk.programs) else [play_seating(chunk, seating) for seating in (0, 1)]
        pairs = Counter(zip(*(seating.ends for seating in seatings), strict=True))
        values = [adjusted_values(seating.policies) for seating in seatings]
        first, second = seatings[0].policies
        plain = (((one.payoff[0] + other.payoff[1]) / 2, count) for (one, other), count in pairs.items())
        adjusted = (((values[0][one] - values[1][other]) / 2, count) for (one, other), count in pairs.items())
        return Tally(
            chunk.plan.chunk_pairs,
            plain=moments_of(plain),
            adjusted=moments_of(adjusted) if chunk.plan.adjust else None,
            ends={INDEX_OF_END[one] * len(ENDS) + INDEX_OF_END[two]: count for (one, two), count in pairs.items()},
            known=(first is not None, second is not None),
        )

    def replay(self, chunk: Chunk, seating: int) -> Sequence[ReplayedHand]:
        """Play the hands of a seating of bots in process. See `Game`."""
        names = chunk.names(seating)
        ends = play_seating(chunk, seating).ends
        return [ReplayedHand(end, names, end.payoff, end.payoff[seating] / 2) for end in ends]

    def leaks(self, tally: Tally) -> tuple[Sequence[LeakLine], Sequence[LeakLine]]:
        """What the choices of each bot cost it, compared with a best response to what the other played."""
        first, second = Counter[KuhnState](), Counter[KuhnState]()
        for key, count in tally.ends.items():
            one, other = divmod(key, len(ENDS))
            first[ENDS[one]] += count
            second[ENDS[other]] += count
        hands = 2 * tally.pairs
        return leak_lines(kuhn_leaks((first, second)), hands), leak_lines(kuhn_leaks((second, first)), hands)


def play_seating(chunk: Chunk, seating: int) -> PlayedSeating:
    """Play a seating with bots in process."""
    players = [chunk.player(seating, index, DEFAULT_ACTIONS) for index in (0, 1)]
    seats = players if seating == 0 else players[::-1]
    first, second = (freeze(player) if player.is_known else None for player in seats)
    policies = (first, second)
    ends = play_hands(seats, policies, chunk.dealer(seating).luck, chunk.plan.chunk_pairs)
    return PlayedSeating(ends, policies)


def play_program(chunk: Chunk) -> Sequence[PlayedSeating]:
    """Play both seatings with a bot in process and a program."""
    from croupier.arena.kuhn_programs import Seating, play_against_client

    index = 0 if chunk.programs[0] else 1
    seatings, policies = [], []
    for number in (0, 1):
        player = chunk.player(number, 1 - index, DEFAULT_ACTIONS)
        policy = freeze(player) if player.is_known else None
        seatings.append(Seating(chunk, number, index, player, _chooser(player, policy)))
        policies.append((None, policy) if number == index else (policy, None))
    play_against_client(chunk, index, seatings)
    return [PlayedSeating(seating.counted_ends(), both) for seating, both in zip(seatings, policies, strict=True)]


def freeze(player: KuhnPlayer) -> FrozenPolicy:
    """Ask a known bot once for its probabilities at each of its views."""
    return tuple((view, tuple(player.policy(view, actions).items())) for view, actions in ACTIONS.items())


def thaw(policy: FrozenPolicy) -> Policy:
    """The policy as a table."""
    return {view: dict(chances) for view, chances in policy}


@lru_cache(maxsize=256)
def adjusted_values(policies: tuple[FrozenPolicy | None, FrozenPolicy | None]) -> Mapping[KuhnState, float]:
    """What P_1 wins at each end, with the corrections of chance and of the seats whose policies are known."""
    first, second = (thaw(policy) if policy is not None else None for policy in policies)
    sums = corrections(RANDOM_VALUES, (first, second))
    return {end: float(end.payoff[0] + sums[end]) for end in ENDS}


def play_hands(
    seats: Sequence[KuhnPlayer], policies: tuple[FrozenPolicy | None, FrozenPolicy | None], deals: Luck, hands: int
) -> Sequence[KuhnState]:
    """Play hands, and return their ends. `policies` has those of the seats that are known; they are drawn from."""
    finished: list[KuhnState] = []
    steps = [_stepper(player, policy) for player, policy in zip(seats, policies, strict=True)]
    for player in seats:
        player.finished = finished
    below, over = deals.below, Turn.OVER
    for _ in range(hands):
        state = DEALS[below(6)]
        while (seat := state.turn) is not over:
            state = steps[seat](state)  # type: ignore[index]  # the cards have been dealt, so it is a seat
        finished.append(state)
    return finished


def _chooser(player: KuhnPlayer, policy: FrozenPolicy | None) -> Callable[[View, Sequence[KuhnAction]], KuhnAction]:
    """A function that returns the move of the player at a view."""
    if policy is None:
        return player.choose
    lots = {view: lot(chances) for view, chances in policy}
    return lambda view, _: player.draw(lots[view])


def _stepper(player: KuhnPlayer, policy: FrozenPolicy | None) -> Callable[[KuhnState], KuhnState]:
    """A function that moves at a decision of the player."""
    if policy is not None:
        draw, lots = player.draw, _lots(policy)
        return lambda state: draw(lots[state])
    choose, views = player.choose, VIEWS
    return lambda state: state.next[choose(views[state], state.actions)]


@lru_cache(maxsize=256)
def _lots(policy: FrozenPolicy) -> Mapping[KuhnState, tuple[KuhnState, ...]]:
    """For every decision the states after it, each as often as the policy says in proportion."""
    lots = {view: lot(chances) for view, chances in policy}
    return {state: tuple(state.next[move] for move in lots[view]) for state, view in VIEWS.items()}
