"""Which programs the arena can let play: clients of the rooms whose house it can serve."""

from collections.abc import Collection, Sequence
from typing import Final

from croupier.arena.plan import Plan
from croupier.arena.schedule import round_pairings
from croupier.clients.contestants import Contestant

CLIENT_ROOMS: Final[Collection[str]] = ("kuhn", "sevenhalf", "blackjack")
"""The rooms in which a command can play."""


def check_programs(plan: Plan, contestants: Sequence[Contestant]) -> None:
    """Raise ValueError if a program cannot play as the plan says. `contestants` are its bots."""
    for contestant in contestants:
        allowed = "a built-in bot, FILE.py:CLASS"
        if contestant.kind == "command" and plan.room in CLIENT_ROOMS:
            continue
        if contestant.is_program:
            if plan.room in CLIENT_ROOMS:
                allowed += ", a command with {host} and {port}"
            raise ValueError(f"found the bot {contestant.text!r} ({contestant.kind}); allowed: {allowed}")
    schedule = "round-robin" if plan.schedule == "swiss" else plan.schedule  # any two may meet
    if plan.room != "kuhn":
        return  # against the bank, each plays alone
    for one, other in round_pairings(schedule, len(contestants), [], {}):
        if contestants[one].is_program and contestants[other].is_program:
            raise ValueError(
                f"found the programs {contestants[one].text!r} and {contestants[other].text!r} against each other, but "
                f"both are clients, and a client of Kuhn poker plays against a house; allowed: a program against a "
                f"bot of ours, for example with --schedule gauntlet and the bot first"
            )
