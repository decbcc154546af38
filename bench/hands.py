"""Benchmark: hands of no-limit hold'em per second, compared with OpenSpiel and PokerKit.

Each engine plays whole hands through its public API: blinds, deal, turn and legal moves, moves, showdown. Stacks are
10,000, blinds 10/20. Callers check and call. Random players choose uniformly among fold (if there is a bet to call),
check or call, a pot-sized raise and all-in, as far as these are legal: the moves of OpenSpiel's universal_poker with
the abstraction `fcpa`, which omits raises that no player could answer, and one of two equal raises.

Cards are drawn uniformly without replacement from the same random numbers for all engines. croupier receives the
shuffled deck, the others receive card by card what they ask for. Settings are parsed once, not per hand. The rate of
OpenSpiel when it enumerates the remaining cards at each deal is printed as well.

OpenSpiel is in requirements/bench.txt, PokerKit in requirements/dev.txt. The engines take turns. The best round of each
counts, because other load on the machine can only slow an engine down.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from random import Random
from time import process_time
from typing import Any, Final
from warnings import simplefilter

from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import STAKES
from croupier.rooms.holdem.settings import Settings
from harness import verdict

SEED: Final = 1
STACK: Final = Settings.stack
DECK: Final = [*range(len(CARDS))]
RATIO: Final = 1.2
"""Target: rate relative to OpenSpiel's."""

type Draw = Callable[[], float]
type Play = Callable[[int, int, Draw], int]
"""A function of seats, number of hands and random numbers that plays and returns the first seat's winnings."""


@dataclass(frozen=True)
class Scenario:
    """Seats, whether they play at random, and the target in hands per second."""

    title: str
    seats: int
    random: bool
    target: int


SCENARIOS: Final = (
    Scenario("heads-up, callers", 2, False, 60_000),
    Scenario("six players, callers", 6, False, 30_000),
    Scenario("six players, random", 6, True, 35_000),
)


def drawn(seats: int, draw: Draw) -> list[int]:
    """Draw the cards of a hand from a new deck."""
    pop = DECK[:].pop
    return [pop(int(draw() * left)) for left in range(len(DECK), len(DECK) - 2 * seats - 5, -1)]


def croupier(seats: int, hands: int, draw: Draw, *, random: bool) -> int:
    """Play with croupier's engine."""
    new_hand, won = Hand([STACK] * seats), 0
    for _ in range(hands):
        hand = new_hand.copy()
        hand.deal_from(drawn(seats, draw))
        if random:
            while moves := hand.fcpa:
                hand.play(moves[int(draw() * len(moves))])
        else:
            while not hand.over:
                hand.call()
        won += hand.payoff()[0]
    return won


def universal_poker(seats: int) -> Any:
    """Return OpenSpiel's game. Its seats are in the order of the blinds; heads-up the second one is the button."""
    small, big = STAKES.small_blind, STAKES.big_blind
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


def openspiel(seats: int, hands: int, draw: Draw, *, random: bool, pack: bool) -> int:
    """Play with OpenSpiel. Without `pack`, chance outcomes are enumerated for every card."""
    game, call, won = universal_poker(seats), 1, 0
    for _ in range(hands):
        cards = iter(drawn(seats, draw) if pack else ())
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node() and pack:
                state.apply_action(next(cards))
            elif random or state.is_chance_node():
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
            else:
                state.apply_action(call)
        won += int(state.returns()[0])
    return won


def pokerkit(seats: int, hands: int, draw: Draw, *, random: bool) -> int:
    """PokerKit's, in either way. Its unknown cards are burnt, which it remarks on."""
    kit: Any = import_module("pokerkit")
    names = [name[0] + name[1].lower() for name in CARDS]
    ours = {"HOLE_DEALING", "BOARD_DEALING", "CARD_BURNING"}
    game = kit.NoLimitTexasHoldem(
        tuple(each for each in kit.Automation if each.name not in ours),
        ante_trimming_status=True,
        raw_antes=0,
        raw_blinds_or_straddles=(STAKES.small_blind, STAKES.big_blind),
        min_bet=STAKES.big_blind,
    )
    won = 0
    for _ in range(hands):
        deck = [names[card] for card in drawn(seats, draw)]
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


def at_random(state: Any, draw: Draw) -> None:
    """Make a random move in PokerKit."""
    moves: list[Callable[[], object]] = [state.check_or_call]
    if state.checking_or_calling_amount:
        moves.append(state.fold)
    if state.can_complete_bet_or_raise_to():
        pot = state.pot_completion_betting_or_raising_to_amount
        maximum = state.max_completion_betting_or_raising_to_amount
        moves += [partial(state.complete_bet_or_raise_to, size) for size in {min(pot, maximum), maximum}]
    moves[int(draw() * len(moves))]()


def engines(*, random: bool) -> Mapping[str, Play]:
    """Return the engines to compare, by name."""
    return {
        "croupier": partial(croupier, random=random),
        "OpenSpiel": partial(openspiel, random=random, pack=True),
        "OpenSpiel, asked for cards": partial(openspiel, random=random, pack=False),
        "PokerKit": partial(pokerkit, random=random),
    }


def rate(play: Play, seats: int, seconds: float) -> float:
    """Return hands per second of CPU time, measured over at least `seconds`."""
    hands, took = 8, 0.0
    while took < seconds:
        hands *= 2
        started = process_time()
        play(seats, hands, Random(SEED).random)
        took = process_time() - started
    return hands / took


def compare(scenario: Scenario, seconds: float, rounds: int) -> bool:
    """Play a scenario with all engines in turns and print the best rates. Return whether the targets are met."""
    plays = engines(random=scenario.random)
    best = dict.fromkeys(plays, 0.0)
    for _ in range(rounds):
        for name, play in plays.items():
            best[name] = max(best[name], rate(play, scenario.seats, seconds))
    ours = best.pop("croupier")
    fast, faster = ours >= scenario.target, ours >= RATIO * best["OpenSpiel"]
    print(f"{scenario.title}; one process, best of {rounds} rounds of {seconds:g} s")
    print(f"  {'croupier':<30}{ours:>9,.0f} hands/s   target {scenario.target:,}: {verdict(fast)}")
    for name, other in best.items():
        wanted = f", target {RATIO}: {verdict(faster)}" if name == "OpenSpiel" else ""
        print(f"  {name:<30}{other:>9,.0f} hands/s   ratio {ours / other:.{2 if ours < 10 * other else 0}f}{wanted}")
    return fast and faster


def main() -> int:
    """Run the benchmark. Return the exit status: 0 if all targets are met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    simplefilter("ignore", UserWarning)
    met = [compare(scenario, options.seconds, options.rounds) for scenario in SCENARIOS]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
