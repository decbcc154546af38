"""Which programs the arena can let play: commands as clients of its houses, and the servers of addresses."""

from collections.abc import Collection, Sequence
from typing import Final

from croupier.arena.plan import Plan
from croupier.arena.schedule import round_pairings
from croupier.clients.contestants import Contestant, parse_contestant
from croupier.rooms import find_room

CLIENT_ROOMS: Final[Collection[str]] = ("kuhn", "sevenhalf", "blackjack", "holdem")
"""The rooms in which a command can play."""

SERVER_ROOMS: Final[Collection[str]] = ("kuhn", "holdem")
"""The rooms in which an address can play: its server has a seat, or seats others."""

SIDES: Final = {"command": "a client", "address": "a server"}
"""The side of the protocol that a program plays."""


def check_programs(plan: Plan, contestants: Sequence[Contestant]) -> None:
    """Raise ValueError if a program cannot play as the plan says. `contestants` are its bots."""
    for contestant in contestants:
        _check_kind(plan, contestant)
    if plan.room in SERVER_ROOMS:  # against a bank each plays alone
        _check_pairings(plan, contestants)


def check_processes(plan: Plan, option: str) -> None:
    """Raise ValueError if bots of several processes could meet at a server. `option` has asked for the processes."""
    if plan.room == "holdem":
        for bot in plan.bots:
            if parse_contestant(find_room(plan.room), bot).kind == "address":
                raise ValueError(
                    f"found {option} and the server {bot!r}, where our bots could meet; allowed: one process"
                )


def _check_kind(plan: Plan, contestant: Contestant) -> None:
    rooms = {"command": CLIENT_ROOMS, "address": SERVER_ROOMS}
    if contestant.is_program and plan.room not in rooms[contestant.kind]:
        allowed = ["a built-in bot", "FILE.py:CLASS"]
        if plan.room in CLIENT_ROOMS:
            allowed.append(f"a command with {'{url}' if plan.room == 'holdem' else '{host} and {port}'}")
        raise ValueError(f"found the bot {contestant.text!r} ({contestant.kind}); allowed: {', '.join(allowed)}")
    if contestant.kind == "command" and not any(name in contestant.text for name in ("{port}", "{url}")):
        raise ValueError(
            f"found the bot {contestant.text!r}, which cannot know the port; allowed: {{port}} in the command"
        )
    if contestant.kind == "address":
        if plan.room == "holdem":
            from croupier.arena.holdem_servers import parse_game_address  # it needs the client

            parse_game_address(contestant.text)
        option = "--duplicate" if plan.duplicate else "--adjust" if plan.adjust else ""
        if option:
            reason = "deals the cards, and shows not all of them"
            raise ValueError(f"found {option} and the server {contestant.text!r}, which {reason}; allowed: neither")


def _check_pairings(plan: Plan, contestants: Sequence[Contestant]) -> None:
    """Raise ValueError if two programs could meet."""
    schedule = "round-robin" if plan.schedule == "swiss" else plan.schedule  # any two may meet
    for pairing in round_pairings(schedule, len(contestants), [], {}):
        one, other = (contestants[index] for index in pairing)
        if _play_the_same_side(plan, one, other):
            sides = " and ".join(f"{each.text!r} ({SIDES[each.kind]})" for each in (one, other))
            raise ValueError(
                f"found the programs {sides} against each other; allowed: a program against a bot of ours, which "
                "plays the other side, for example with --schedule gauntlet and the bot first"
            )


def _play_the_same_side(plan: Plan, one: Contestant, other: Contestant) -> bool:
    """Whether no bot of ours plays the other side. At a hold'em server of the arena two clients may meet."""
    if plan.room == "holdem" and one.kind == other.kind == "command":
        return False
    return one.is_program and other.is_program
