"""Names the clauses of a room in the test data of its servers: by state, by topic, and those without a test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

UNTESTABLE_REASONS: Final[Mapping[str, str]] = {
    "port": "a server is tested wherever it listens",
    "limits": "the idle limit is 500 seconds, and a limit on decisions is not told",
    "connection limit": "nobody knows for how many connections there is room",
    "forfeited purse": "what was forfeited is not told on the wire, and the next purse is a new one",
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


def shared_clauses(room: str, *, unasked: str, following: str, unchanged: str) -> Mapping[str, str]:
    """The clauses of the cases that all rooms share, by topic.

    Given are the numbers of those about unasked messages, about the next game, and about refusals that change nothing.
    """
    numbers = {**COMMON_NUMBERS, "unasked": unasked, "next": following, "unchanged": unchanged}
    return {topic: f"{room}-{number}" for topic, number in numbers.items()}


def untestable_clauses(room: str, topics: Mapping[str, str]) -> Mapping[str, str]:
    """The reasons why no client can test some clauses, from the topics or the reasons by the number of the clause."""
    return {f"{room}-{number}": UNTESTABLE_REASONS.get(topic, topic) for number, topic in topics.items()}
