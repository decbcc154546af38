"""Benchmark: games per second of random bots in one process, compared with OpenSpiel where it has the game.

croupier is driven through the public methods of the rules: start, turn, legal, view, play, payoff. On both sides chance
and bots choose uniformly, with Python's random generator. OpenSpiel's blackjack differs: it deals the bank two cards
and has no surrender. OpenSpiel has no seven and a half.
"""

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

from croupier.core.bots import RandomBot
from croupier.core.dealer import Luck
from croupier.core.rules import Turn
from croupier.rooms.blackjack.rules import BLACKJACK
from croupier.rooms.kuhn.rules import CARDS, KUHN
from croupier.rooms.sevenhalf.rules import SevenHalf
from harness import verdict

TARGET = 300_000
SEED = 1
BETS = 10


class FastLuck(Luck):
    """Luck from Python's random generator, as on OpenSpiel's side, so that HMAC is not measured."""

    __slots__ = ("_random",)

    def __init__(self, draw: Callable[[], float]) -> None:
        self._random = draw

    def below(self, bound: int) -> int:
        """Return a random integer from 0 to bound − 1."""
        return int(self._random() * bound)


@dataclass(frozen=True)
class Game:
    """The rules of a game, its cards (one of each), and its name in OpenSpiel."""

    title: str
    rules: Any  # the type of the state does not matter here
    cards: Sequence[str]
    openspiel: str | None


SEVENHALF = SevenHalf(max_bet=BETS * 100)
GAMES: Mapping[str, Game] = {
    "kuhn": Game("Kuhn poker, two random bots", KUHN, CARDS, "kuhn_poker"),
    "sevenhalf": Game(
        f"Seven and a half, a random bot that may raise to {BETS} bets", SEVENHALF, SEVENHALF.cards, None
    ),
    "blackjack": Game("Blackjack, a random bot", BLACKJACK, BLACKJACK.cards, "blackjack"),
}


def croupier(game: Game, games: int) -> int:
    """Play whole games; chance deals a card that has not been dealt yet."""
    rules, cards, size, bot, draw = game.rules, game.cards, len(game.cards), RandomBot(), random.Random(SEED).random
    luck, chance, over = FastLuck(draw), Turn.CHANCE, Turn.OVER
    won = 0
    for _ in range(games):
        state = rules.start()
        while (turn := rules.turn(state)) is not over:
            if turn is chance:
                while (move := cards[int(draw() * size)]) in state.cards:
                    pass
            else:
                move = bot.choose(rules.view(state, turn), rules.legal(state), luck)
            state = rules.play(state, move)
        won += rules.payoff(state)[0]
    return won


def openspiel(name: str, games: int) -> int:
    """Play whole games with OpenSpiel's state objects."""
    game: Any = import_module("pyspiel").load_game(name)
    draw = random.Random(SEED).random
    won = 0
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
        won += int(state.returns()[0])
    return won


def rate(play: Callable[[int], int], seconds: float) -> float:
    """Return games per second, measured over about `seconds`."""
    games, took = 1_000, 0.0
    while took < seconds / 4:
        started = perf_counter()
        play(games)
        took = perf_counter() - started
        games *= 2
    games = int(games / 2 * seconds / took)
    started = perf_counter()
    play(games)
    return games / (perf_counter() - started)


def compare(game: Game, seconds: float, rounds: int) -> None:
    """Measure both in turns, and print the medians and their ratio."""
    players = [partial(croupier, game)]
    if game.openspiel:
        players.append(partial(openspiel, game.openspiel))
    rows = [[rate(player, seconds) for player in players] for _ in range(rounds)]
    ours, *theirs = (median(rates) for rates in zip(*rows, strict=True))
    print(f"{game.title}; one process, medians of {rounds} rounds of {seconds:g} s")
    print(f"  croupier  {ours:>10,.0f} games/s   target {TARGET:,}: {verdict(ours >= TARGET)}")
    if theirs:
        ratio = median(us / them for us, them in rows)
        print(f"  OpenSpiel {theirs[0]:>10,.0f} games/s   ratio {ratio:.2f}")
    else:
        print("  OpenSpiel has no such game")


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"one of {', '.join(GAMES)}; default: all")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rooms = options.rooms or list(GAMES)
    if unknown := [room for room in rooms if room not in GAMES]:
        parser.error(f"found the room {unknown[0]}; allowed: {', '.join(GAMES)}")
    for room in rooms:
        compare(GAMES[room], options.seconds, options.rounds)


if __name__ == "__main__":
    main()
