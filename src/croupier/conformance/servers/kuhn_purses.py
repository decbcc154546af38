"""Finds out which payment in Kuhn poker is wrong, from several purses that were emptied in different games.

Each connection starts with the same purse. The games played until it is empty show how large it was, if every payment
is right. If the sizes differ, and they differ by the same number of coins for each time that one kind of event came,
this event is paid wrongly.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from croupier.core.errors import Violation
from croupier.rooms.kuhn.referee import WireGame
from croupier.rooms.kuhn.rules import ACTION_COST, BETTING_TREE, BettingHistory

MAX_WRONG_COINS: Final = 4
"""A payment may be wrong by at most this many coins: twice the largest one."""


class Event(NamedTuple):
    """Something in a game that moves coins: its end for the client, an action of the client, or its ante."""

    clause: str
    title: str


type Purse = Sequence[WireGame]
"""The games after which a purse was empty."""


def find_wrong_payment(purses: Sequence[Purse]) -> Violation | None:
    """Return the violation that explains why the purses differ, None if they do not or nothing explains it."""
    if not all(purses):  # the house keeps accounts
        return None
    sizes = [-sum(game.net for game in games) for games in purses]
    if len({*sizes}) == 1:
        return None
    counts = [Counter(event for game in games for event in _events(game)) for games in purses]
    last_events = [{*_events(games[-1])} for games in purses]
    for event in dict.fromkeys(event for count in counts for event in count):
        times = [count[event] for count in counts]
        is_last = [event in events for events in last_events]
        for coins in range(-MAX_WRONG_COINS, MAX_WRONG_COINS + 1):
            if coins and _explains(coins, sizes, times, is_last):
                found = f"{abs(coins)} coins too {'many' if coins > 0 else 'few'} after each of these: {event.title}"
                return Violation(
                    event.clause,
                    found,
                    f"purses of one size; by their games they had {', '.join(map(str, sizes))} coins",
                )
    return None


def _explains(coins: int, sizes: Sequence[int], times: Sequence[int], is_last: Sequence[bool]) -> bool:
    """Whether all purses had one size if the client gets this many coins too many at each event.

    A purse has never less than 0 coins, so what is taken at the last event may be lost.
    """
    possible = [
        {size - coins * number, size - coins * (number - (last and coins < 0))}
        for size, number, last in zip(sizes, times, is_last, strict=True)
    ]
    return bool(set.intersection(*possible))


def _events(game: WireGame) -> Iterator[Event]:
    """The events of a game that is over."""
    seat = ("P_1", "P_2")[game.seat]
    actions = " ".join(game.history)
    yield Event(_ending_clause(game.history), f"a game of {seat} is {'won' if game.net > 0 else 'lost'} by {actions}")
    won = "won" if game.net > 0 else "lost"
    for _ in range(abs(game.net)):
        yield Event("kuhn-7.4", f"a coin that {seat} has {won} after {' '.join(_own_decisions(game))}")
    for turn, action in enumerate(game.history):
        before = game.history[:turn]
        if BETTING_TREE[before][0] == game.seat and ACTION_COST[action]:
            yield Event("kuhn-7.3", f"ACTN {action} of {seat}{' after ' if before else ''}{' '.join(before)}")
    yield Event("kuhn-7.2", f"STRT {seat}")


def _own_decisions(game: WireGame) -> Sequence[str]:
    """The actions up to the client's last one."""
    last = max(turn for turn in range(len(game.history)) if BETTING_TREE[game.history[:turn]][0] == game.seat)
    return game.history[: last + 1]


def _ending_clause(history: BettingHistory) -> str:
    if history[-1] == "FLD":
        return "kuhn-5.3"
    return "kuhn-5.1" if history == ("CHK", "CHK") else "kuhn-5.2"
