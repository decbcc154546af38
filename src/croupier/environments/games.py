"""The games of the environments, by the name of their room."""

from typing import Any

from croupier.core.bank import SIMULATED_BET, BankRules
from croupier.environments.encoding import EncodedGame
from croupier.environments.holdem_game import HoldemGame
from croupier.environments.rules_game import BankGame, IndexGame
from croupier.rooms import find_room
from croupier.rooms.sevenhalf.rules import MAX_TOTAL_BET, SevenHalf
from croupier.simulation import Game, game_rules


def find_game(game: Game, **options: Any) -> EncodedGame:
    """The game of a room, or of rules. Raises ValueError on an unknown one, or a bad option.

    Old Maid has no rules for a whole game: its players deal among themselves, and no program knows all cards.
    """
    name = game if isinstance(game, str) else type(game).__name__
    rules = game_rules(game) if isinstance(game, str) else game
    if game == "sevenhalf" and options.keys() == {"max_bet"}:
        rules = _rules_with_raises(options.pop("max_bet"))
    if options and rules is not None:
        raise ValueError(f"found the options {', '.join(options)} for {name}; allowed: none")
    bots = find_room(game).bots if isinstance(game, str) else {}
    if rules is None:
        return HoldemGame(bots, **options)
    return BankGame(name, rules, bots) if isinstance(rules, BankRules) else IndexGame(name, rules, bots)


def _rules_with_raises(max_bet: int) -> SevenHalf:
    """The rules of seven and a half, where the bet may be raised to `max_bet` coins. Raises ValueError."""
    if not SIMULATED_BET <= max_bet <= MAX_TOTAL_BET:
        raise ValueError(f"found the highest bet {max_bet}; allowed: {SIMULATED_BET} to {MAX_TOTAL_BET}")
    return SevenHalf(max_bet)
