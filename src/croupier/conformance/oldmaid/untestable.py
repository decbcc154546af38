"""The clauses of Old Maid that no case tests, each with the reason."""

from collections.abc import Mapping
from typing import Final

from croupier.conformance.clauses import clauses

UNTESTABLE: Final[Mapping[str, str]] = {
    "oldmaid-1.1": "the tester is given the port of a table and cannot find out its default",
    "oldmaid-6.10": "a stuck game is void after 120 seconds unless set otherwise, and no message contains the setting",
    "oldmaid-6.12": "a table may believe out_of_cards: only provably false claims are refused",
    "oldmaid-7.3": "a pause of our player, which no other player has to make",
    "oldmaid-8.10": "the idle limit is 500 seconds unless set otherwise, and no message contains the setting",
    "oldmaid-9.12": "only its owner can stop a table",
    "oldmaid-9.13": "what a table has recorded shows when it is opened again, which only its owner can do",
    "oldmaid-9.14": "only its owner can interrupt a table and open it again",
    "oldmaid-9.15": "only its owner can take a table's disk away",
}
"""Reasons by clause, for clauses that no conversation with a program under test can show."""


def reasons_of_other(other: str) -> Mapping[str, str]:
    """Return why the cases of one role need not test a clause: unless it has another reason, it binds the `other`."""
    reason = f"it binds the {other}, and is tested in that role"
    return {**dict.fromkeys(clauses("oldmaid"), reason), **UNTESTABLE}
