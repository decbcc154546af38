"""The clauses of Old Maid that no case tests, each with the reason."""

from collections.abc import Collection, Mapping
from typing import Final

from croupier.conformance.case import Case
from croupier.conformance.clauses import clauses

UNTESTABLE: Final[Mapping[str, str]] = {
    "oldmaid-1.1": "at which port a table listens is told to the tester, and not found out by it",
    "oldmaid-6.10": "a stuck game is void after 120 seconds unless that is set, and nothing tells to what",
    "oldmaid-6.12": "a table may believe whoever says to be out of cards: only provably false claims are refused",
    "oldmaid-7.3": "a pause of ours for the sake of others: nobody else has to make one",
    "oldmaid-8.10": "the idle limit is 500 seconds unless it is set, and nothing tells to what",
    "oldmaid-9.12": "nobody but its owner can stop a table",
    "oldmaid-9.13": "what a table has written down shows when it is opened again, which only its owner can do",
    "oldmaid-9.14": "nobody but its owner can interrupt a table, and open it again",
    "oldmaid-9.15": "nobody but its owner can take a table's disk away",
}
"""Reasons by clause, for clauses that no conversation with a program under test can show."""


def untested_clauses(cases: Collection[Case], other: str) -> Mapping[str, str]:
    """Return the clauses that the cases of one role do not test, each with the reason.

    A clause without a reason of its own binds the `other` role.
    """
    tested = {case.clause for case in cases}
    reason = f"it binds the {other}, and is tested in that role"
    return {name: UNTESTABLE.get(name, reason) for name in clauses("oldmaid") if name not in tested}
