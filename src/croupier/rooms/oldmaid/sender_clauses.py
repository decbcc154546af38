"""The clause that the sender of a malformed message breaks.

A violation that `Wire` returns names the duty of the receiver, how it answers such a message (section 8). Who judges
the sender names the form that the message should have had (sections 1 to 3).
"""

from collections.abc import Mapping
from typing import Final

from croupier.core.errors import Violation

ANSWER_CLAUSE: Final = "oldmaid-2.3"
"""The clause about the form of answers."""

NO_COMMAND_CLAUSE: Final = "oldmaid-8.5"

_CLAUSES: Final[Mapping[str, str]] = {
    "oldmaid-3.19": "oldmaid-3.3",
    "oldmaid-8.3": "oldmaid-1.3",
    "oldmaid-8.4": "oldmaid-1.3",
    NO_COMMAND_CLAUSE: "oldmaid-2.1",
    "oldmaid-8.6": "oldmaid-2.2",
    "oldmaid-8.7": "oldmaid-2.2",
    "oldmaid-8.8": "oldmaid-1.3",
    "oldmaid-8.9": "oldmaid-1.3",
    "oldmaid-8.11": ANSWER_CLAUSE,
}

_CLAUSES_OF_KEYS: Final[Mapping[str, str]] = {
    "cards": "oldmaid-2.5",
    "last_cards": "oldmaid-2.5",
    "last_card": "oldmaid-2.5",
    "num_cards": "oldmaid-2.10",
    "card_num": "oldmaid-2.10",
}
"""The clauses about the values of keys in requests."""


def sender_clause(violation: Violation, *, is_answer: bool) -> str:
    """Return the clause that the sender of a malformed message breaks; `is_answer` if the receiver waits for one.

    Example:
        >>> sender_clause(Violation("oldmaid-8.7", "card_num 'x'", "an integer", about="card_num"), is_answer=False)
        'oldmaid-2.10'
    """
    if violation.clause == NO_COMMAND_CLAUSE and is_answer:
        return ANSWER_CLAUSE
    return _CLAUSES_OF_KEYS.get(violation.about) or _CLAUSES.get(violation.clause, violation.clause)
