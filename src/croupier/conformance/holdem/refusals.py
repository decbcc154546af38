"""What a client should not have requested, by the answer of a house: the tester's own or a stranger's."""

import re
from collections.abc import Mapping
from typing import Final

from croupier.conformance.holdem.deviations import HttpDeviation, deviation
from croupier.conformance.results import Outcome
from croupier.rooms.holdem.wire import DECODE_ACT_BODY

CLAUSE_PATTERN: Final = re.compile(rb"holdem-\d+\.\d+")

EXPECTED_REQUESTS: Final[Mapping[str, str]] = {
    "holdem-2.5": "the name and the password of the new user",
    "holdem-2.7": "its own name and password",
    "holdem-2.8": "its own name and password, or none",
    "holdem-3.7": "one request to join a game",
    "holdem-4.4": "an act as in the document",
    "holdem-4.13": "an act in its turn",
    "holdem-4.14": "one act per turn",
    "holdem-7.4": "an act in its turn",
    "holdem-7.5": "its own name and password",
    "holdem-8.3": "a path of the document",
    "holdem-8.4": "a game that exists",
    "holdem-8.5": "its own player, while it is in the game",
    "holdem-8.6": "the method of the path",
    "holdem-8.8": "its own player",
    "holdem-9.5": "a time to wait in seconds",
    "holdem-9.12": "whole numbers for a page of games",
}
"""What a client should send, by the clause with which the request is refused."""

REFUSAL_OUTCOMES: Final[Mapping[str, Outcome]] = {"holdem-8.6": Outcome.FAIL, "holdem-3.7": Outcome.CHOICE}
"""The outcome of a refused request where its clause, which is about servers, does not decide it.

The document names a method for every path, and does not forbid a bot to join again.
"""

EXCUSABLE_CLAUSES: Final = frozenset(
    {"holdem-2.6", "holdem-7.3", "holdem-2.9", "holdem-3.15", "holdem-3.3", "holdem-9.10", "holdem-9.11"}
)
"""Refusals that are not the client's fault: the name is taken, the server is busy, or a limit applies."""


def refusal_clause(body: bytes) -> str | None:
    """Return the clause that a refusal names, as those of our house do; None if it names none."""
    match = CLAUSE_PATTERN.match(body)
    return None if match is None else match[0].decode()


def judge_refusal(clause: str, found: str) -> HttpDeviation | None:
    """Return the deviation of a request that was refused by a clause, None if that is not the client's fault."""
    if clause in EXCUSABLE_CLAUSES:
        return None
    expected = EXPECTED_REQUESTS.get(clause, "a request that is not refused")
    return deviation(clause, expected, found, REFUSAL_OUTCOMES.get(clause))


def judge_act_keys(body: bytes) -> HttpDeviation | None:
    """Return the deviation of an executed act with keys that our house accepts, but the document does not have."""
    try:
        DECODE_ACT_BODY(body)
    except ValueError:
        expected = "the keys action and betAmount, and no others"
        return deviation("holdem-4.2", expected, repr(body[:80]), Outcome.NON_STRICT)
    return None
