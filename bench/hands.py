"""How many hands of no-limit hold'em are played in a second, beside OpenSpiel and PokerKit driven in the same way.

Every engine plays whole hands through its public calls, from packs that were shuffled before: it posts the blinds,
deals, asks whose turn it is and what he may do, moves, and pays at the showdown. Stacks are 10,000, blinds 10/20.
Callers check and call. Random players choose with equal chances among fold (where there is something to call), check or
call, a raise by the pot, and all in, as far as these are legal: the moves of OpenSpiel's universal_poker with the
abstraction `fcpa`, which has no raise where nobody could answer it, and one of two raises that are the same.

OpenSpiel is in requirements/bench.txt, PokerKit in requirements/dev.txt. The engines take turns; the best round of each
counts, for whatever else a machine does only ever slows one down.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from random import Random
from time import process_time
from typing import Any, Final
from warnings import simplefilter

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.rules import BLINDS, STACK, Hand
from harness import verdict

SEED: Final = 1
PACKS: Final = 997
RATIO: Final = 1.2
"""How many times OpenSpiel's rate is wanted."""

type Decks = Sequence[tuple[int, ...]]
type Play = Callable[[int, int, Decks], int]
"""So many hands for so many seats with these packs, used in turn; it gives what the first seat has won."""


@dataclass(frozen=True)
class Course:
    """Seats, whether they play at random, and the hands a second that are wanted."""

    title: str
    seats: int
    random: bool
    target: int


COURSES: Final = (
    Course("heads-up, callers", 2, False, 60_000),
    Course("six players, callers", 6, False, 30_000),
    Course("six players, random", 6, True, 35_000),
)


def croupier_callers(seats: int, hands: int, decks: Decks) -> int:
    """Ours, checked and called."""
    stacks, over, won = [STACK] * seats, Turn.OVER, 0
    for number in range(hands):
        deck = decks[number % PACKS]
        hand = Hand(stacks)
        at = 0
        while (seat := hand.turn) is not over:
            if isinstance(seat, int):
                hand.bet(hand.to_match - hand.bets[seat])
            else:
                end = at + hand.wanted
                hand.deal(deck[at:end])
                at = end
        won += hand.payoff()[0]
    return won


def croupier_random(seats: int, hands: int, decks: Decks) -> int:
    """Ours, played at random."""
    stacks, chance, over, won, draw = [STACK] * seats, Turn.CHANCE, Turn.OVER, 0, Random(SEED).random
    for number in range(hands):
        deck = decks[number % PACKS]
        hand = Hand(stacks)
        at = 0
        while (seat := hand.turn) is not over:
            if seat is chance:
                end = at + hand.wanted
                hand.deal(deck[at:end])
                at = end
                continue
            legal = hand.legal
            call, bounds = legal.call, legal.bounds
            moves = [call]
            if call:
                moves.append(-1)
            if bounds is not None and legal.answered:
                everything = bounds[1]
                moves.append(everything)
                pot = legal.share()
                if pot is not None and pot != everything:
                    moves.append(pot)
            move = moves[int(draw() * len(moves))]
            if move >= 0:
                hand.bet(move)
            else:
                hand.fold()
        won += hand.payoff()[0]
    return won


def universal_poker(seats: int) -> Any:
    """OpenSpiel's game. Its seats are in the order of the blinds; heads-up the second one is the button."""
    small, big = BLINDS
    blinds, first = ([big, small], [2, 1, 1, 1]) if seats == 2 else ([small, big] + [0] * (seats - 2), [3, 1, 1, 1])
    settings = {
        "betting": "nolimit",
        "numPlayers": seats,
        "numRounds": 4,
        "blind": " ".join(map(str, blinds)),
        "stack": " ".join([str(STACK)] * seats),
        "firstPlayer": " ".join(map(str, first)),
        "numSuits": 4,
        "numRanks": 13,
        "numHoleCards": 2,
        "numBoardCards": "0 3 1 1",
        "bettingAbstraction": "fcpa",
    }
    return import_module("pyspiel").load_game("universal_poker", settings)


def openspiel_callers(seats: int, hands: int, decks: Decks) -> int:
    """OpenSpiel's, checked and called."""
    game, call, won = universal_poker(seats), 1, 0
    for number in range(hands):
        cards = iter(decks[number % PACKS])
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(next(cards) if state.is_chance_node() else call)
        won += int(state.returns()[0])
    return won


def openspiel_random(seats: int, hands: int, decks: Decks) -> int:
    """OpenSpiel's, played at random."""
    game, draw, won = universal_poker(seats), Random(SEED).random, 0
    for number in range(hands):
        cards = iter(decks[number % PACKS])
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
        won += int(state.returns()[0])
    return won


def pokerkit(seats: int, hands: int, decks: Decks, *, random: bool) -> int:
    """PokerKit's, in either way. Its unknown cards are burnt, which it remarks on."""
    kit: Any = import_module("pokerkit")
    names = [name[0] + name[1].lower() for name in CARDS]
    ours = {"HOLE_DEALING", "BOARD_DEALING", "CARD_BURNING"}
    game = kit.NoLimitTexasHoldem(
        tuple(each for each in kit.Automation if each.name not in ours),
        ante_trimming_status=True,
        raw_antes=0,
        raw_blinds_or_straddles=BLINDS,
        min_bet=BLINDS[1],
    )
    draw, won = Random(SEED).random, 0
    for number in range(hands):
        deck = [names[card] for card in decks[number % PACKS]]
        state = game((STACK,) * seats, seats)
        at = 0
        while state.status:
            if state.can_deal_hole():
                state.deal_hole(deck[at])
                at += 1
            elif state.can_burn_card():
                state.burn_card("??")
            elif state.can_deal_board():
                end = at + (3 if at == 2 * seats else 1)
                state.deal_board("".join(deck[at:end]))
                at = end
            elif random:
                at_random(state, draw)
            else:
                state.check_or_call()
        won += state.payoffs[0]
    return won


def at_random(state: Any, draw: Callable[[], float]) -> None:
    """One random move of PokerKit's."""
    moves: list[Callable[[], object]] = [state.check_or_call]
    if state.checking_or_calling_amount:
        moves.append(state.fold)
    if state.can_complete_bet_or_raise_to():
        pot = state.pot_completion_betting_or_raising_to_amount
        most = state.max_completion_betting_or_raising_to_amount
        moves += [partial(state.complete_bet_or_raise_to, size) for size in {min(pot, most), most}]
    moves[int(draw() * len(moves))]()


ENGINES: Final[Mapping[str, tuple[Play, Play]]] = {
    "croupier": (croupier_callers, croupier_random),
    "OpenSpiel": (openspiel_callers, openspiel_random),
    "PokerKit": (partial(pokerkit, random=False), partial(pokerkit, random=True)),
}


def rate(play: Play, seats: int, seconds: float, decks: Decks) -> float:
    """Hands a second of processor time, over about so many seconds."""
    hands, took = 8, 0.0
    while took < seconds:
        hands *= 2
        started = process_time()
        play(seats, hands, decks)
        took = process_time() - started
    return hands / took


def compare(course: Course, seconds: float, rounds: int) -> bool:
    """Play one course with all engines in turns, print the best rates, and tell whether the targets are met."""
    luck = Random(SEED)
    decks = [tuple(luck.sample(range(len(CARDS)), len(CARDS))) for _ in range(PACKS)]
    best = dict.fromkeys(ENGINES, 0.0)
    for _ in range(rounds):
        for name, plays in ENGINES.items():
            best[name] = max(best[name], rate(plays[course.random], course.seats, seconds, decks))
    ours = best["croupier"]
    fast, faster = ours >= course.target, ours >= RATIO * best["OpenSpiel"]
    print(f"{course.title}; one process, best of {rounds} rounds of {seconds:g} s")
    print(f"  croupier  {ours:>9,.0f} hands/s   target {course.target:,}: {verdict(fast)}")
    print(f"  OpenSpiel {best['OpenSpiel']:>9,.0f} hands/s   ratio {ours / best['OpenSpiel']:.2f}, "
          f"target {RATIO}: {verdict(faster)}")  # fmt: skip
    print(f"  PokerKit  {best['PokerKit']:>9,.0f} hands/s   ratio {ours / best['PokerKit']:.0f}")
    return fast and faster


def main() -> int:
    """Run the benchmark from the command line; the exit status tells whether all targets are met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    simplefilter("ignore", UserWarning)
    met = [compare(course, options.seconds, options.rounds) for course in COURSES]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
