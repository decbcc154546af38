"""The clauses that random hands check."""

from collections.abc import Mapping
from typing import Final

WALK_CLAUSES: Final[Mapping[str, str]] = {
    "holdem-2.2": "Every user is told a GUID",
    "holdem-3.5": "Who joins plays from the beginning of the next hand",
    "holdem-3.10": "Who leaves is no more at the table",
    "holdem-3.11": "What somebody has bet who leaves stays in the pots",
    "holdem-3.13": "Who is broke leaves the game",
    "holdem-4.1": "Every valid act is accepted",
    "holdem-4.4": "An act that is none changes nothing",
    "holdem-4.5": "A bet adds what it says",
    "holdem-4.6": "Everybody may fold in his turn",
    "holdem-4.7": "Every invalid bet folds the hand",
    "holdem-4.8": "No bet is below nothing",
    "holdem-4.9": "No bet is above the wealth",
    "holdem-4.10": "No bet is below the call",
    "holdem-4.11": "No raise is below the smallest",
    "holdem-4.13": "Nobody acts out of turn",
    "holdem-5.3": "A Game has its keys and types in all games",
    "holdem-5.4": "Every card is written as it should be",
    "holdem-5.5": "The cards of every street are there in time",
    "holdem-5.6": "Nobody is shown what is not his",
    "holdem-5.7": "A Player has its keys and types in all games",
    "holdem-5.8": "The table lists those who play",
    "holdem-5.9": "Every state is what it should be",
    "holdem-5.10": "Every turn tells what has to be matched",
    "holdem-5.11": "Every turn tells when it ends",
    "holdem-5.13": "Every pot names who has paid into it",
    "holdem-5.14": "Who has folded is still named in the pots",
    "holdem-5.15": "There are as many pots as are needed",
    "holdem-5.17": "No chip is made or lost",
    "holdem-6.1": "No card is dealt twice",
    "holdem-6.2": "The button moves on",
    "holdem-6.3": "Both blinds are posted in every hand",
    "holdem-6.4": "Of two, the button acts first before the flop and last after it",
    "holdem-6.5": "The board grows and never changes",
    "holdem-6.6": "The first to act is the right one",
    "holdem-6.7": "A round is over when all have acted and bet the same",
    "holdem-6.8": "The smallest raise is that of the last full one",
    "holdem-6.12": "Side pots are what they should be",
    "holdem-6.13": "Who is left alone wins everything",
    "holdem-6.14": "The best hand wins",
    "holdem-6.15": "Equal hands share",
}
"""The clauses that walks check, with the title of the case for each."""

FORM_CLAUSES: Final = frozenset(
    {"holdem-2.2", "holdem-3.10", "holdem-5.3", "holdem-5.4", "holdem-5.5", "holdem-5.7", "holdem-5.11", "holdem-4.4"}
)
"""Clauses about form, which every response is checked against."""
