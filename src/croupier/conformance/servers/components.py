"""What the test data of a room is made of: cases, and clauses by state or topic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from croupier.conformance.case import Retries
from croupier.conformance.conditions import GameCondition, was_played
from croupier.conformance.servers.scenarios import play_until
from croupier.conformance.servers.test_data import ClientStrategy, HouseServerCase, Scenario

AT_LEAST_TRIES: Final = 2
TRY_SECONDS: Final = 0.1
GOAL_SECONDS: Final = 0.3
ROOM_CASE_SECONDS: Final = 0.5
"""How long a case is tried until it comes up by chance: in general, a goal, another case of one room."""

VALID_INPUT_RANK: Final = 0
GAME_RANK: Final = 1
INVALID_INPUT_RANK: Final = 2
"""The order of the cases: simple ones first."""

USUAL_GAMES: Final = 40
RARE: Final = 150
"""How many games are played on a connection for a goal that most games, or only a few, can reach."""


def server_case(
    clause: str, slug: str, title: str, *scenarios: Scenario, seconds: float = TRY_SECONDS, **more: Any
) -> HouseServerCase:
    """A case about a clause, tried for `seconds` and at least twice. `more` are fields of the case."""
    return HouseServerCase(
        clause=clause,
        slug=slug,
        title=title,
        scenarios=scenarios,
        retries=Retries(AT_LEAST_TRIES, seconds=seconds),
        **more,
    )


def room_case(room: str, number: str, slug: str, title: str, *scenarios: Scenario, **more: Any) -> HouseServerCase:
    """A case that only one room has, about the clause with this number; `more` are further fields of it."""
    fields = {"seconds": ROOM_CASE_SECONDS, "rank": INVALID_INPUT_RANK, **more}
    return server_case(f"{room}-{number}", slug, title, *scenarios, **fields)


@dataclass(frozen=True)
class GameGoals:
    """Makes the coverage goals of a room: games are played with a strategy until a condition holds for one."""

    room: str
    strategy: ClientStrategy | None = None
    max_games: int = USUAL_GAMES

    def __call__(self, number: str, slug: str, title: str, holds: GameCondition, max_games: int = 0) -> HouseServerCase:
        """A goal of the clause with this number; at most `max_games` games are played on a connection."""
        scenario = play_until(was_played(holds), self.strategy, max_games or self.max_games)
        return server_case(
            f"{self.room}-{number}",
            slug,
            title,
            scenario,
            hits=3,
            seconds=GOAL_SECONDS,
            rank=GAME_RANK,
            is_rare=max_games == RARE,
        )


UNTESTABLE_REASONS: Final[Mapping[str, str]] = {
    "port": "a server is tested wherever it listens",
    "limits": "the idle limit is 500 seconds, and a limit on decisions does not show on the wire",
    "connection limit": "nobody knows for how many connections there is room",
    "forfeited purse": "what was forfeited does not show on the wire, and the next purse is a new one",
    "stop": "a client cannot make a server stop",
    "way of closing": "how a connection is closed does not show in what was said",
}
"""Why no client can test a clause, by its topic, as far as rooms have such clauses in common."""

COMMON_NUMBERS: Final[Mapping[str, str]] = {
    "speaks first": "1.2",
    "tables": "1.2",
    "stream": "1.3",
    "cut": "2.1",
    "goodbye": "8.1",
    "close": "8.2",
}
"""The clauses, by topic, that have the same number in all rooms."""


@dataclass(frozen=True)
class StateClauses:
    """Names the clauses that govern the answer of a room's house by groups of states."""

    room: str
    groups: Mapping[str, Sequence[str]]

    def __call__(self, **numbers: str) -> Mapping[str, str]:
        """The clauses by state, from their numbers by group. Later groups take precedence."""
        return {state: f"{self.room}-{number}" for group, number in numbers.items() for state in self.groups[group]}

    def everywhere(self, number: str) -> Mapping[str, str]:
        """The same clause in all states."""
        return self(**dict.fromkeys(self.groups, number))


def shared_clauses(
    room: str, *, unasked: str, following: str, unchanged: str, errors: str, **more: str
) -> Mapping[str, str]:
    """The clauses of the cases that all rooms share, by topic.

    Given are the numbers of those about unasked messages, about the next game, about refusals that change nothing, and
    about errors of the client, which are never answered. `more` are topics that not all rooms have: `letters` is about
    upper and lower case, `purse` about the coins of a client.
    """
    numbers = {
        **COMMON_NUMBERS,
        "unasked": unasked,
        "next": following,
        "unchanged": unchanged,
        "errors": errors,
        **more,
    }
    return {topic: f"{room}-{number}" for topic, number in numbers.items()}


def untestable_clauses(room: str, topics: Mapping[str, str]) -> Mapping[str, str]:
    """The reasons why no client can test some clauses, from the topics or the reasons by the number of the clause."""
    return {f"{room}-{number}": UNTESTABLE_REASONS.get(topic, topic) for number, topic in topics.items()}
